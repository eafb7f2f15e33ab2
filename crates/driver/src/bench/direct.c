/* Loops of one core over the host's memory, without a scratchpad: as the compiler makes them of C, and by hand, for the three
 * kinds of hardware. By hand, what crosses a multiple of 4 GiB is done in two parts, so that the upper half of an address is the
 * same throughout a loop; interrupts, where they must be masked, are masked once in an iteration. Nothing is unrolled: neither
 * are the compiler's. N is the size; slots: the matrices, N * N numbers each; the last slot is the number of the one to read. */
typedef unsigned long size_t;
typedef unsigned u32;
typedef unsigned long long u64;

#define ALL (N * N)
#define FROM slots[(size_t)slots[7]]
#define OTHER slots[1]
#define TO slots[6]
unsigned ferry_bench_cycles;

static inline u32 now(void) {
  u32 it;
  __asm__ volatile("csrr %0, cycle" : "=r"(it)::"memory");
  return it;
}
#define BEGIN unsigned start = now();
#define END ferry_bench_cycles = now() - start;

void __ferry_k_sum(void *const *slots) {
  BEGIN
  const int *from = FROM;
  int *to = TO, sum = 0;
  for (int i = 0; i < ALL; i++) sum += from[i];
  *to = sum;
  END
}
void __ferry_k_scale(void *const *slots) {
  BEGIN
  const int *from = FROM;
  int *to = TO;
  for (int i = 0; i < ALL; i++) to[i] = 3 * from[i];
  END
}
void __ferry_k_product(void *const *slots) {
  BEGIN
  const int *from = FROM, *other = OTHER;
  int *to = TO;
  for (int i = 0; i < N; i++) {
    int sum = 0;
    for (int j = 0; j < N; j++) sum += from[i * N + j] * other[j];
    to[i] = sum;
  }
  END
}
/* Each number says where the next one is: what a list costs. */
typedef struct node { struct node *next; } node;
void __ferry_k_chain(void *const *slots) {
  BEGIN
  const node *it = FROM;
  int *to = TO, steps = 0;
  for (; it; it = it->next) steps++;
  *to = steps;
  END
}

/* Accesses by hand; in MASK and UNMASK those of one iteration. NEXT: what t5 and t6 point to goes into them. */
#if defined MAPPED
#define MASK "csrrci %[status], mstatus, 8\n"
#define UNMASK "csrw mstatus, %[status]\n"
#define LOAD(to, low, high) "sw " high ", 0(%[extension])\n lw " to ", 0(" low ")\n"
#define STORE(from, low, high) "sw " high ", 0(%[extension])\n sw " from ", 0(" low ")\n"
#define NEXT "sw t6, 0(%[extension])\n lw t4, 0(t5)\n sw t6, 0(%[extension])\n lw t6, 4(t5)\n mv t5, t4\n"
#elif defined CSR
#define MASK
#define UNMASK
#define LOAD(to, low, high) "csrw 0x7c0, " high "\n lw " to ", 0(" low ")\n"
#define STORE(from, low, high) "csrw 0x7c0, " high "\n sw " from ", 0(" low ")\n"
#define NEXT "csrw 0x7c0, t6\n lw t4, 0(t5)\n csrw 0x7c0, t6\n lw t6, 4(t5)\n mv t5, t4\n"
#else
#define MASK
#define UNMASK
#define LOAD(to, low, high) ".insn r 0x0b, 2, 0, " to ", " low ", " high "\n"
#define STORE(from, low, high) ".insn r4 0x2b, 2, 0, x0, " low ", " high ", " from "\n"
#define NEXT ".insn r 0x0b, 3, 0, t5, t5, t6\n"
#endif
#define EXTENSION [extension] "r"(0x10200bf8)

typedef struct { u32 low, high; } address;
static inline address of(const void *it) {
  address a = {(u32)(u64)it, (u32)((u64)it >> 32)};
  return a;
}
/* How many of these bytes lie before the next multiple of 4 GiB. */
static inline u32 before(u32 low, u32 bytes) {
  u32 room = 0 - low;
  return room && room < bytes ? room : bytes;
}
static inline void step(address *it, u32 bytes) {
  it->low += bytes;
  it->high += it->low < bytes;
}

void __ferry_k_sum_by_hand(void *const *slots) {
  BEGIN
  address from = of(FROM);
  int *to = TO, sum = 0;
  for (u32 left = ALL * 4, part; left; left -= part) {
    part = before(from.low, left);
    u32 at = from.low, value, status;
    __asm__ volatile("1:\n" MASK LOAD("%[value]", "%[at]", "%[high]") UNMASK
                     "addi %[at], %[at], 4\n add %[sum], %[sum], %[value]\n bne %[at], %[end], 1b\n"
                     : [at] "+&r"(at), [sum] "+&r"(sum), [value] "=&r"(value), [status] "=&r"(status)
                     : [high] "r"(from.high), [end] "r"(from.low + part), EXTENSION : "memory");
    step(&from, part);
  }
  *to = sum;
  END
}
void __ferry_k_scale_by_hand(void *const *slots) {
  BEGIN
  address from = of(FROM), to = of(TO);
  for (u32 left = ALL * 4, part; left; left -= part) {
    part = before(to.low, before(from.low, left));
    u32 at = from.low, there = to.low, value, status;
    __asm__ volatile("1:\n" MASK LOAD("%[value]", "%[at]", "%[high]") "addi %[at], %[at], 4\n mul %[value], %[value], %[three]\n"
                     STORE("%[value]", "%[there]", "%[high_there]") UNMASK
                     "addi %[there], %[there], 4\n bne %[at], %[end], 1b\n"
                     : [at] "+&r"(at), [there] "+&r"(there), [value] "=&r"(value), [status] "=&r"(status)
                     : [high] "r"(from.high), [high_there] "r"(to.high), [end] "r"(from.low + part), [three] "r"(3), EXTENSION
                     : "memory");
    step(&from, part);
    step(&to, part);
  }
  END
}
void __ferry_k_product_by_hand(void *const *slots) {
  BEGIN
  address from = of(FROM);
  int *to = TO;
  for (int i = 0; i < N; i++) {
    address other = of(OTHER);
    int sum = 0;
    for (u32 left = N * 4, part; left; left -= part) {
      part = before(other.low, before(from.low, left));
      u32 at = from.low, there = other.low, value, factor, status;
      __asm__ volatile("1:\n" MASK LOAD("%[value]", "%[at]", "%[high]") LOAD("%[factor]", "%[there]", "%[high_there]") UNMASK
                       "addi %[at], %[at], 4\n mul %[value], %[value], %[factor]\n addi %[there], %[there], 4\n"
                       "add %[sum], %[sum], %[value]\n bne %[at], %[end], 1b\n"
                       : [at] "+&r"(at), [there] "+&r"(there), [sum] "+&r"(sum), [value] "=&r"(value), [factor] "=&r"(factor),
                         [status] "=&r"(status)
                       : [high] "r"(from.high), [high_there] "r"(other.high), [end] "r"(from.low + part), EXTENSION
                       : "memory");
      step(&from, part);
      step(&other, part);
    }
    to[i] = sum;
  }
  END
}
void __ferry_k_chain_by_hand(void *const *slots) {
  BEGIN
  address it = of(FROM);
  int *to = TO, steps = 0;
  u32 any, status;
  __asm__ volatile("mv t5, %[low]\n mv t6, %[high]\n 1:\n" MASK NEXT UNMASK
                   "addi %[steps], %[steps], 1\n or %[any], t5, t6\n bnez %[any], 1b\n"
                   : [steps] "+&r"(steps), [any] "=&r"(any), [status] "=&r"(status)
                   : [low] "r"(it.low), [high] "r"(it.high), EXTENSION : "t4", "t5", "t6", "memory");
  *to = steps;
  END
}
