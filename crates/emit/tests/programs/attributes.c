/* What the host compiler is told: attributes, symbols, registers, thread-local and inline. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int log_[8], logged;
static void __attribute__((constructor)) early(void) { log_[logged++] = 1; }
__attribute__((noinline, noclone)) static int base(int x) { return x + 1; }
static int other(int) __attribute__((alias("base")));
extern int strange(int) __asm__("plain_symbol");
int strange(int x) { return x * 2; }
int plain_symbol(int);
static void done(int *p) { log_[logged++] = *p; }
static int scoped(void) { __attribute__((cleanup(done))) int x = 5; return x; }
inline int everywhere(int x) { return x - 1; }
extern inline int everywhere(int x);
static inline __attribute__((always_inline)) int always(int x) { return x ^ 1; }
__attribute__((section("my_section"), used)) static int placed = 77;
extern int __start_my_section[], __stop_my_section[];
static __thread int own = 6;
_Thread_local int visible_own;
__attribute__((weak)) extern int absent(void);
static int add(int a, int b) {
  int sum;
#if defined(__x86_64__)
  __asm__ volatile("mov %[a], %[sum]\n\tadd %[b], %[sum]" : [sum] "=&r"(sum) : [a] "r"(a), [b] "r"(b) : "cc");
  register int fixed __asm__("r12") = sum;
  __asm__("" : "+r"(fixed));
  __asm__ goto("test %0, %0\n\tjz %l1" : : "r"(fixed) : "cc" : zero);
  return fixed;
zero:
  return -1;
#else
  sum = a + b;
  return sum ? sum : -1;
#endif
}
static _Noreturn void leave(int status) { printf("leaving\n"); fflush(stdout); _Exit(status); }
int main(void) {
  scoped();
  printf("%d %d %d\n", logged, log_[0], log_[1]);
  printf("%d %d %d\n", other(4), plain_symbol(4), everywhere(4));
  printf("%d %d %d\n", always(4), *__start_my_section, (int)(__stop_my_section - __start_my_section));
  printf("%d %d %d\n", own, visible_own, absent != 0);
  printf("%d %d\n", add(2, 3), add(2, -2));
  placed++;
  leave(0);
}
