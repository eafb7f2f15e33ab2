// Reductions and mappers that blocks declare: those of the block around a region hold in it, the innermost before others.
#include <stdio.h>
#include <stdlib.h>

#define N 100

typedef struct { long sum; int count; } pair;
typedef struct { int n, *data; } list;

static void join(pair *to, const pair *from)
{
  to->sum += from->sum;
  to->count += from->count;
}
#pragma omp declare target to(join)
#pragma omp declare reduction(both : pair : omp_out.sum = -1) initializer(omp_priv = (pair){ 0, 0 })

static int failures;

static void expect(int holds, const char *what)
{
  if (!holds) {
    printf("wrong: %s\n", what);
    failures++;
  }
}

static pair in_a_function(void)
{
#pragma omp declare reduction(both : pair : join(&omp_out, &omp_in)) initializer(omp_priv = (pair){ 0, 0 })
  pair p = { 5, 0 };
#pragma omp target teams distribute parallel for reduction(both : p)
  for (int i = 0; i < N; i++) {
    p.sum += i;
    p.count++;
  }
  return p;
}

int main(void)
{
  pair p = in_a_function();
  expect(p.sum == 5 + N * (N - 1) / 2 && p.count == N, "the block of a function");

  p = (pair){ 1, 1 };
  int least = 50;
  {
    struct own { int value; } low = { 60 };
#pragma omp declare reduction(low : struct own : omp_out.value = omp_in.value < omp_out.value ? omp_in.value : omp_out.value) \
  initializer(omp_priv = (struct own){ 1000 })
#pragma omp declare reduction(both : pair : omp_out.sum = omp_in.sum > omp_out.sum ? omp_in.sum : omp_out.sum, omp_out.count += omp_in.count) \
  initializer(omp_priv = (pair){ 0, 0 })
#pragma omp target map(tofrom : p, low)
#pragma omp parallel for num_threads(4) reduction(low : low) reduction(both : p)
    for (int i = 0; i < N; i++) {
      if (90 - i < low.value) low.value = 90 - i;
      p.sum++;
      p.count++;
    }
    least = low.value;
  }
  {
    // Not for the block before.
#pragma omp declare reduction(both : pair : omp_out.sum -= omp_in.sum) initializer(omp_priv = (pair){ 0, 0 })
  }
  expect(least == 90 - N + 1, "a type of the block");
  expect(p.sum == N / 4 && p.count == 1 + N, "the innermost of three");

  list l = { N, malloc(N * sizeof(int)) };
  for (int i = 0; i < N; i++) l.data[i] = i;
  int there = 0, total = 0;
  {
#pragma omp declare mapper(list v) map(v.n, v.data[0 : v.n])
#pragma omp target data map(tofrom : l)
    {
#pragma omp target map(tofrom : total)
      for (int i = 0; i < l.n; i++) total += l.data[i]++;
    }
  }
  {
    // Not for what stands before and beside it.
#pragma omp declare mapper(list v) map(to : v.n)
    there = 1;
  }
  expect(there && total == N * (N - 1) / 2 && l.data[0] == 1 && l.data[N - 1] == N, "a mapper of a block");
  free(l.data);
  if (failures == 0) puts("ok");
  return failures != 0;
}
