// Records that are packed or aligned by attributes and pragmas are the same on both sides: sizes, places of members, arrays of them.
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#define N 10

struct __attribute__((packed)) packed { char tag; double value; short last; };
struct aligned { char tag; float value; } __attribute__((aligned(64)));
struct __attribute__((packed, aligned(4))) both { char tag; long value; };
struct members { char tag; int value __attribute__((packed)); char far __attribute__((aligned(16))); };
#pragma pack(push, 2)
struct pushed { char tag; double value; };
#pragma pack(pop)
typedef double loose __attribute__((aligned(4)));
struct named { int tag; loose value; };
struct nested { char tag; struct packed packed; union __attribute__((packed)) { char c; long l; } either; struct aligned aligned; };

// Arrays at the end of records that have no length of their own, as C and as GNU C write them.
struct flexible { char tag; double values[]; };
struct empty { int count; short pairs[0][2]; };

static int flexible(void)
{
  int wrong = 0, sizes[2] = {0};
  struct flexible *f = calloc(1, sizeof *f + N * sizeof(double));
  struct empty *e = calloc(1, sizeof *e + N * sizeof(short[2]));
#pragma omp target teams distribute parallel for map(from : sizes) \
    map(tofrom : f[ : 1], f->values[ : N], e[ : 1], e->pairs[ : N])
  for (int i = 0; i < N; i++) {
    f->values[i] = i / 2.0;
    e->pairs[i][0] = (short)i;
    *(e->pairs[i] + 1) = (short)-i;
    if (i == 0) f->tag = 'f', e->count = N, sizes[0] = sizeof *f, sizes[1] = sizeof(struct empty);
  }
  wrong += f->tag != 'f' || e->count != N || sizes[0] != sizeof *f || sizes[1] != sizeof *e;
  for (int i = 0; i < N; i++) wrong += f->values[i] != i / 2.0 || e->pairs[i][0] != i || e->pairs[i][1] != -i;
  free(f);
  free(e);
  return wrong;
}

int main(void) {
  struct packed packed[N] = {0};
  struct aligned aligned[N] = {0};
  struct both both[N] = {0};
  struct members members[N] = {0};
  struct pushed pushed[N] = {0};
  struct named named[N] = {0};
  struct nested nested[N] = {0};
  size_t sizes[8] = {0};
  int wrong = 0;
#pragma omp target map(from : sizes)
  {
    size_t all[] = {sizeof(struct packed), sizeof(struct aligned), sizeof(struct both), sizeof(struct members),
        sizeof(struct pushed), sizeof(struct named), sizeof(struct nested), offsetof(struct nested, either.l)};
    for (int i = 0; i < 8; i++)
      sizes[i] = all[i];
  }
  const size_t want[] = {11, 64, 12, 32, 10, 12, 128, 12};
  for (int i = 0; i < 8; i++)
    wrong += sizes[i] != want[i];
#pragma omp target teams distribute parallel for \
    map(tofrom : packed, aligned, both, members, pushed, named, nested)
  for (int i = 0; i < N; i++) {
    packed[i] = (struct packed){'p', i + 0.5, (short)-i};
    aligned[i].value = (float)i;
    both[i].value = i * 1000000007L;
    members[i] = (struct members){'m', -i, (char)(i + 1)};
    pushed[i].value = i / 4.0;
    named[i].value = i * 3.0;
    nested[i].packed = packed[i];
    nested[i].either.l = i << 20;
    nested[i].aligned = aligned[i];
  }
  for (int i = 0; i < N; i++) {
    wrong += packed[i].tag != 'p' || packed[i].value != i + 0.5 || packed[i].last != -i;
    wrong += aligned[i].value != (float)i || both[i].value != i * 1000000007L || both[i].tag != 0;
    wrong += members[i].tag != 'm' || members[i].value != -i || members[i].far != i + 1;
    wrong += pushed[i].value != i / 4.0 || named[i].value != i * 3.0 || named[i].tag != 0;
    wrong += nested[i].packed.last != -i || nested[i].either.l != i << 20 || nested[i].aligned.value != (float)i;
  }
  wrong += flexible();
  // What the region is told stays there.
  int told = 5;
#pragma omp target firstprivate(told)
  told = 6;
  wrong += told != 5;
  if (wrong)
    printf("%d differences\n", wrong);
  return wrong != 0;
}
