/* Iterations that take numbers from counters: compaction, a partition in two lists, a stack that is emptied, and loops with
   `continue`. Every element is somewhere, once. */
#include <omp.h>
#include <stdio.h>
#include <string.h>

enum { N = 5000 };
static int key[N], kept[N], low[N], high[2 * N], seen[N];
static struct { long left; int spare; } stack = { N, 3 };
static unsigned char taken[N];

static int check(const char *what, int right)
{
  if (!right)
    printf("%s is wrong\n", what);
  return right;
}

int main(void)
{
  int right = 1, many = 0, few = 0, on_host = 0;
  for (int i = 0; i < N; i++)
    key[i] = i * 37 % 101;
#pragma omp target teams distribute parallel for map(tofrom: many, kept, on_host)
  for (int i = 0; i < N; i++) {
    if (omp_is_initial_device())
      on_host = 1;
    if (key[i] % 3 != 0) {
      const int value = i;
      int at;
#pragma omp atomic capture
      at = many++;
      const int behind = value;
      kept[at] = behind;
    }
  }
  int expected = 0;
  for (int i = 0; i < N; i++)
    expected += key[i] % 3 != 0;
  for (int i = 0; i < many; i++)
    seen[kept[i]]++;
  int good = many == expected;
  for (int i = 0; i < N; i++)
    good &= seen[i] == (key[i] % 3 != 0);
  right &= check("compaction", good && !on_host);

  many = 0;
  memset(seen, 0, sizeof seen);
#pragma omp target teams distribute parallel for collapse(2) map(tofrom: many, few, low, high)
  for (int i = 0; i < N / 50; i++)
    for (int j = 0; j < 50; j++) {
      const int here = i * 50 + j;
      int at = -1;
      if (key[here] % 7 == 2)
        continue;
      if (key[here] & 1) {
#pragma omp atomic capture
        { at = many; many += 1; }
        low[at] = here;
      } else {
#pragma omp atomic capture
        { few += 2; at = few; }
        high[at - 1] = here;
        if (here < 0)
          continue;
      }
    }
  for (int i = 0; i < many; i++)
    seen[low[i]] += 1;
  for (int i = 1; i < few; i += 2)
    seen[high[i]] += 2;
  good = 1;
  for (int i = 0; i < N; i++)
    good &= seen[i] == (key[i] % 7 == 2 ? 0 : key[i] & 1 ? 1 : 2);
  right &= check("partition", good);

#pragma acc parallel loop copy(stack, taken)
  for (int i = 0; i < N; i++) {
    long at;
#pragma acc atomic capture
    at = --stack.left;
    taken[at] = 1;
  }
  good = stack.left == 0 && stack.spare == 3;
  for (int i = 0; i < N; i++)
    good &= taken[i];
  right &= check("stack", good);
  puts(right ? "right" : "wrong");
  return !right;
}
