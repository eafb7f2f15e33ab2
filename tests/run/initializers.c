/* Lists name members of members, elements of them, and members of unions more than once; steps of short integers wrap round. */
#include <omp.h>
#include <stdio.h>

struct point { short x, y; };
struct item {
  union {
    struct { short low, high; };
    int both;
  };
  struct { struct point at[2]; int weight; } in;
  union { int number; float real; } last;
};

static int wrong_item(const struct item *it, int i) {
  return it->low != i || it->high != -i || it->in.at[0].x != 0 || it->in.at[0].y != i + 1 || it->in.at[1].x != i + 2 ||
         it->in.at[1].y != i + 3 || it->in.weight != 7 || it->last.real != i * 0.5f;
}

int main(void) {
  enum { N = 40 };
  struct item items[N], again[N];
  int steps[N], teams = 0, wrong = 0;
#pragma omp target teams distribute parallel for num_teams(3) map(from : items, again, steps) map(tofrom : teams)
  for (int i = 0; i < N; i++) {
    items[i] = (struct item){
        .low = i, .in.at[1].x = i + 2, .in.weight = 7, .high = -i, .in.at[0].y = i + 1, .in.at[1].y = i + 3,
        .last.number = 5, .last.real = i * 0.5f};
    struct item other = {.in = {.at = {{9, 9}, {9, 9}}, .weight = 9}, .both = -1, .in.at[0] = {.y = i + 1}, .in.weight = 7};
    other.in.at[1] = (struct point){.y = i + 3, .x = i + 2};
    other.low = i, other.high = -i, other.last.real = i * 0.5f;
    again[i] = other;
    signed char c = -128 + i % 2;
    short s = 32766 + i % 2;
    int count = 0;
    c--;
    count += c > 0;
    s++;
    count += 2 * (s < 0);
    signed char d = 127;
    count += 4 * (d++ > 0) + 8 * (d < 0) + 16 * (--d > 0) + 32 * (d-- == 127);
    short in[2] = {32767, -32768};
    count += 64 * (++in[0] < 0) + 128 * (in[1]-- < 0 && in[1] > 0);
    steps[i] = count;
    if (i == 0 && omp_get_num_teams() == 3)
      teams = 1;
  }
  for (int i = 0; i < N; i++) {
    wrong += wrong_item(&items[i], i) || wrong_item(&again[i], i);
    wrong += steps[i] != 4 + 8 + 16 + 32 + 64 + 128 + (i % 2 == 0) + 2 * (i % 2);
  }
  if (wrong || teams != 1)
    printf("%d wrong, %d\n", wrong, teams);
  return wrong != 0 || teams != 1;
}
