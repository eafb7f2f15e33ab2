// Bit-fields of packed records and unions in kernels lie where the host's compiler puts them: by attribute, by pragma, nested, as values, begun in lists.
#include <stdio.h>
#include <string.h>

#define N 24

struct __attribute__((packed)) tight {
  char tag;
  unsigned a : 5;
  signed b : 11;
  double middle;
  unsigned c : 21;
  _Bool d : 1;
};
#pragma pack(push, 2)
struct halves {
  long long wide : 40;
  int rest : 31;
  short last;
};
#pragma pack(pop)
union either {
  unsigned low : 7;
  signed high : 13;
  unsigned char bytes[4];
};
struct both {
  short before;
  struct tight tight;
  union either either;
  unsigned plain : 3, more : 9;
};

#pragma omp begin declare target
static struct tight made(int i) {
  return (struct tight){.tag = 't', .b = -i, .middle = i * 0.5, .c = 99, .d = i % 2};
}
static long work(struct both *it, struct halves *half, int i) {
  it->tight.a += 3;
  it->tight.b ^= i;
  it->tight.c <<= 2;
  it->tight.d = !it->tight.d;
  it->either.high = -i;
  it->plain++;
  half->wide -= 1L << 33;
  half->rest = half->rest * 3 + i;
  half->last--;
  union either begun, other = {.low = 100}, first = {3};
  begun.high = -5;
  struct halves list[2] = {{1, -2, 3}, {.rest = i}};
  struct tight copy = made(i);
  copy.b--;
  long old = copy.c++;
  return made(i + 1).b + copy.b + begun.high + other.low + first.low + list[0].rest * list[0].last
      + list[1].rest + list[1].last + old + copy.c + (it->tight.a == 31) + sizeof *it + sizeof *half;
}
#pragma omp end declare target

int main(void) {
  struct both here[N], there[N];
  struct halves half_here[N], half_there[N];
  long own[N], sums[N];
  int wrong = 0;
  memset(here, 0x6b, sizeof here);
  memset(half_here, 0x35, sizeof half_here);
  memcpy(there, here, sizeof here);
  memcpy(half_there, half_here, sizeof half_here);
  for (int i = 0; i < N; i++)
    own[i] = work(&here[i], &half_here[i], i);
  struct tight value = {.tag = 'v', .a = 17, .b = -1000, .c = 123456};
#pragma omp target teams distribute parallel for map(tofrom : there, half_there) map(from : sums) firstprivate(value)
  for (int i = 0; i < N; i++) {
    value.a = (unsigned)i;
    sums[i] = work(&there[i], &half_there[i], i) + value.b + value.c + value.a;
  }
  for (int i = 0; i < N; i++)
    wrong += sums[i] != own[i] - 1000 + 123456 + i || memcmp(&here[i], &there[i], sizeof here[i])
        || memcmp(&half_here[i], &half_there[i], sizeof half_here[i]);
  wrong += value.a != 17;
  if (wrong)
    printf("%d differences\n", wrong);
  return wrong != 0;
}
