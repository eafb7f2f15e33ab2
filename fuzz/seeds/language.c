/* One use of each construct of the language. */
typedef unsigned long size_t;
typedef int (*op)(int, int);
typedef float v4 __attribute__((vector_size(16)));
enum color { RED, GREEN = 4, BLUE, };
struct point { double x, y; unsigned flags : 3, : 0, more : 5; };
union word { int i; float f; struct { short lo, hi; }; };
struct flex { size_t n; double data[]; };
struct __attribute__((packed, aligned(4))) tight { char c; long l; };
extern int printf(const char *restrict format, ...) __attribute__((format(printf, 1, 2)));
static _Thread_local int counter;
_Static_assert(sizeof(int) == 4, "int has 32 bits");
int table[] = { [3] = 1, [5 ... 7] = 2, 9 };
struct point origin = { .y = 1.0, .x = 0x1p-3 };
const char *text = "a" "\x41\n\u00e9" "b";
int old_style(a, b) int a; double b; { return a + (int)b; }
static inline int add(int a, int b) { return a + b; }
_Noreturn void stop(void);
__int128 wide = 1;
double _Complex z = 2.0 + 3.0i;
void *jump[2];
int vla(int n, double m[static 2][n]) {
  double a[n][n + 1];
  typeof(a[0][0]) s = 0;
  __auto_type t = (v4){ 1, 2, 3, 4 };
  for (int i = 0, j = n; i < n && j > 0; i++, --j) s += a[i][j - 1] * m[0][i] + t[0];
  return (int)s + sizeof a + _Alignof(double) + __builtin_offsetof(struct flex, data[1]);
}
int control(int x, op f) {
  __label__ out;
  static void *labels[] = { &&one, &&out };
  goto *labels[x & 1];
one:
  switch (x) {
  case 0: case 2 ... 4: x <<= 1; break;
  case BLUE: { x ^= ~x; } __attribute__((fallthrough));
  default: do x--; while (x > 0);
  }
  while (1) { if (x) continue; else break; }
  x = x ? : f(1, 2), x = ({ int y = x; y * y; });
  int g = _Generic(x, int: 1, float: 2, default: 3);
  __asm__ volatile ("nop" : "+r"(x) : "i"(4) : "memory");
  return (x >= g ? x : -g) + !x + *&x + (char)'a' + L'\0' - 'ab';
out:
  return ((struct point){ 1, 2 }).x > 0 && add(1, 2) != 010 || 0b11 % 3;
}
