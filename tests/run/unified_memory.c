// Data that nobody maps: a device that shares the program's memory follows its pointers, and nothing is copied.
#include <omp.h>
#include <stdlib.h>

#pragma omp requires unified_shared_memory

struct link {
  int value;
  struct link *next;
};

static int counted[64];

static struct link *list_of(int length)
{
  struct link *first = 0;
  for (int i = length; i > 0; i--) {
    struct link *one = malloc(sizeof *one);
    *one = (struct link){ i, first };
    first = one;
  }
  return first;
}

int main(void)
{
  struct link *list = list_of(100);
  int total = 0, on_device = 0, on_stack[32] = { 0 };
  double *rows[8];
  for (int i = 0; i < 8; i++)
    rows[i] = calloc(16, sizeof **rows);

#pragma omp target map(tofrom : total, on_device)
  {
    on_device = !omp_is_initial_device();
    for (struct link *it = list; it; it = it->next) {
      total += it->value;
      it->value = -it->value;
    }
  }
  // What one region writes the host sees, and what the host writes then the next region.
  int negative = 0;
  for (struct link *it = list; it; it = it->next)
    negative += it->value, it->value = 7;
#pragma omp target teams distribute parallel for collapse(2)
  for (int i = 0; i < 8; i++)
    for (int k = 0; k < 16; k++)
      rows[i][k] += i * 16 + k + list->value;
#pragma omp target teams distribute parallel for
  for (int i = 0; i < 64; i++) {
    counted[i]++;
    if (i < 32)
      on_stack[i] = i;
  }

  int wrong = total != 5050 || negative != -5050 || !on_device;
  for (int i = 0; i < 8; i++)
    for (int k = 0; k < 16; k++)
      wrong |= rows[i][k] != i * 16 + k + 7;
  for (int i = 0; i < 64; i++)
    wrong |= counted[i] != 1 || on_stack[i % 32] != i % 32;
  wrong |= !omp_target_is_accessible(rows[3], 16 * sizeof **rows, omp_get_default_device());
  return wrong;
}
