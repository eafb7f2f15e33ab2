// Memory that kernels ask for themselves, and which device they are on.
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures;

static void expect(int holds, const char *what)
{
  if (!holds) {
    printf("wrong: %s\n", what);
    failures++;
  }
}

#pragma omp begin declare target
struct node { struct node *next; int value; };

static struct node *put(struct node *list, int value)
{
  struct node *fresh = malloc(sizeof *fresh);
  if (!fresh) return list;
  fresh->next = list;
  fresh->value = value;
  return fresh;
}

static struct node *kept;
#pragma omp end declare target

int main(void)
{
  int there = 0;
#pragma omp target map(from : there)
  there = !omp_is_initial_device();
  expect(there, "regions leave the host");
  enum { N = 200 };
  int sums[N];
#pragma omp target teams distribute parallel for map(from : sums)
  for (int i = 0; i < N; i++) {
    int *own = malloc((size_t)(i + 1) * sizeof(int)), *clear = calloc((size_t)i + 1, sizeof(int));
    sums[i] = 0;
    if (own && clear && own != clear) {
      for (int j = 0; j <= i; j++) own[j] = j;
      for (int j = 0; j <= i; j++) sums[i] += own[j] + clear[j];
    }
    free(own);
    free(clear);
  }
  int right = 1;
  for (int i = 0; i < N; i++) right = right && sums[i] == i * (i + 1) / 2;
  expect(right, "each iteration has its own");

  int sum = 0, again = 0;
#pragma omp target
  for (int i = 0; i < 10; i++) kept = put(kept, i);
#pragma omp target map(from : sum)
  {
    sum = 0;
    for (struct node *it = kept; it; it = it->next) sum = 10 * sum % 1000003 + it->value;
  }
  long wanted = 0;
  for (int i = 9; i >= 0; i--) wanted = 10 * wanted % 1000003 + i;
  expect(sum == wanted, "it stays from one kernel to the next");
  // More than there is, if nothing came back.
#pragma omp target map(from : again)
  {
    again = 0;
    while (kept) {
      struct node *next = kept->next;
      free(kept);
      kept = next;
    }
    for (int turn = 0; turn < 100; turn++) {
      char *block = malloc(1 << 20);
      if (block) {
        memset(block, turn, 1 << 20);
        again += block[turn] == turn;
      }
      free(block);
    }
  }
  expect(again == 100, "what is given back is given out again");

  int bad = 99;
#pragma omp target map(from : bad)
  {
    omp_alloctrait_t traits[1] = { { omp_atk_alignment, 512 } };
    omp_allocator_handle_t mine = omp_init_allocator(omp_default_mem_space, 1, traits);
    char *a = omp_alloc(100, mine), *b = omp_aligned_alloc(2048, 4096, omp_default_mem_alloc);
    int *c = omp_calloc(8, sizeof(int), mine);
    bad = !a || !b || !c || (uintptr_t)a % 512 != 0 || (uintptr_t)b % 2048 != 0;
    for (int i = 0; !bad && i < 8; i++) bad = c[i] != 0;
    omp_free(a, mine);
    omp_free(b, omp_default_mem_alloc);
    omp_free(c, mine);
    omp_destroy_allocator(mine);
  }
  expect(bad == 0, "allocators align what they hand out");

  int number = -1;
  for (int device = 0; device < omp_get_num_devices(); device++) {
#pragma omp target device(device) map(from : number)
    number = omp_get_device_num();
    expect(number == device, "the device knows its number");
  }
  return failures != 0;
}
