// Parallelism that the compiler finds: values flow between the loops of one construct, what is carried
// from one iteration to the next stays in order, and nothing of that is the host's to see before the end.
#include <openacc.h>
#include <stdio.h>

static int failures;

static void expect(int holds, const char *what)
{
  if (!holds) {
    printf("wrong: %s\n", what);
    failures++;
  }
}

#define N 2000

static void flow(void)
{
  int i, last = -1, a[N], b[N];
  long sum = 0;
#pragma acc kernels copyout(a, b)
  {
    for (i = 0; i < N; i++) {
      int square = i * i % 1000;
      a[i] = square;
    }
    b[0] = a[0];
    for (i = 1; i < N; i++)
      b[i] = b[i - 1] + a[i];
    for (i = 0; i < N; i++)
      sum += a[i];
    for (i = 0; i < N; i++)
      last = a[i];
  }
  long right = 0;
  int ok = 1;
  for (int k = 0; k < N; k++) {
    right += k * k % 1000;
    ok = ok && a[k] == k * k % 1000 && b[k] == right;
  }
  expect(ok, "loops of one construct");
  expect(sum == right, "a sum that no clause names");
  expect(last == a[N - 1] && i == N, "last values");
}

static void marked(void)
{
  int shift[N + 1], index[N], scattered[N] = {0}, temp;
  for (int i = 0; i <= N; i++)
    shift[i] = i;
  for (int i = 0; i < N; i++)
    index[i] = (i * 7) % N;
#pragma acc kernels loop auto
  for (int i = 0; i < N; i++)
    shift[i + 1] = shift[i] + 1;
#pragma acc kernels copyin(index) copy(scattered)
  {
#pragma acc loop independent private(temp)
    for (int i = 0; i < N; i++) {
      temp = index[i];
      scattered[temp] += i;
    }
  }
  int ok = 1;
  for (int i = 0; i < N; i++)
    ok = ok && shift[i + 1] == i + 1 && scattered[(i * 7) % N] == i;
  expect(ok, "loops that are vouched for and others");
  long total = 0;
#pragma acc parallel loop auto gang copyin(index) reduction(+ : total)
  for (int i = 0; i < N; i++)
    total += index[i];
  expect(total == (long)N * (N - 1) / 2, "a loop that is to be proven");
}

/* Iterations that are vouched for have scalars of their own; last values and flags come back. */
static void vouched(void)
{
  int i, j, found = 0, temp = 0, index[N], sums[N], marks[N];
  for (i = 0; i < N; i++) {
    index[i] = (i * 7) % N;
    marks[i] = 0;
    sums[i] = -1;
  }
#pragma acc kernels loop independent gang worker copyin(index) copy(sums)
  for (i = 0; i < N; i++) {
    temp = 0;
    for (j = 0; j < 5; j++)
      temp += index[i] + j;
    sums[index[i]] = temp;
  }
  int ok = i == N && j == 5;
  for (int k = 0; k < N; k++)
    ok = ok && sums[k] == 5 * k + 10;
  expect(ok, "scalars of iterations that are vouched for");
#pragma acc kernels loop independent private(i) copyin(sums) copy(marks)
  for (i = 0; i < N; i++)
    if (sums[i] > N) {
      marks[i] = 1;
      found = found | 1;
    }
  int count = 0;
  for (int k = 0; k < N; k++)
    count += marks[k] == (5 * k + 10 > N);
  expect(found == 1 && count == N, "a flag that iterations raise");
}

/* On a device of its own the host's variable changes only when the construct ends. */
static void scalars(void)
{
  int x = 1, y = 0;
#pragma acc kernels
  {
    x = x + 1;
    y = x * 10;
  }
  expect(x == 2 && y == 20, "scalars come back");
  int z = 3;
#pragma acc parallel num_gangs(1)
  z = 4;
  expect(z == 3, "not from other constructs");
}

int main(void)
{
  flow();
  marked();
  vouched();
  scalars();
  return failures != 0;
}
