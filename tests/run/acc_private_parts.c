// Parts of arrays of which each gang, or each iteration, has a copy of its own: `private` and `firstprivate` of them.
#include <stdio.h>
#include <stdlib.h>

enum { N = 48, W = 8 };

static int failures;

static void expect(int holds, const char *what)
{
  if (!holds) {
    printf("wrong: %s\n", what);
    failures++;
  }
}

static int triangle(int i) { return W * i + W * (W - 1) / 2; }

// Iterations that shared the elements would see each other's.
static void own(int *sums, int *w)
{
#pragma acc parallel loop gang copyout(sums[0 : N]) private(w[0 : W])
  for (int i = 0; i < N; i++) {
    for (int k = 0; k < W; k++) w[k] = i + k;
    int sum = 0;
    for (int k = 0; k < W; k++) sum += w[k];
    sums[i] = sum;
  }
}

int main(void)
{
  int sums[N], w[W], *far = malloc(W * sizeof *far), right = 0;
  double first[W], *z = malloc(N * sizeof *z), out[N];
  for (int k = 0; k < W; k++) w[k] = far[k] = -1 - k, first[k] = k * 0.5;
  for (int i = 0; i < N; i++) z[i] = i, sums[i] = 0;

  // All elements of an array, by its name and as a part.
  own(sums, far);
  for (int i = 0; i < N; i++) right += sums[i] == triangle(i);
  for (int k = 0; k < W; k++) right += far[k] == -1 - k;
  expect(right == N + W, "elements behind a pointer, private");
#pragma acc parallel loop gang copyout(sums) private(w[0 : W])
  for (int i = 0; i < N; i++) {
    for (int k = 0; k < W; k++) w[k] = i + k;
    int sum = 0;
    for (int k = 0; k < W; k++) sum += w[k];
    sums[i] = sum;
  }
  right = 0;
  for (int i = 0; i < N; i++) right += sums[i] == triangle(i);
  for (int k = 0; k < W; k++) right += w[k] == -1 - k;
  expect(right == N + W, "a whole array as a part, private");

  // A part that does not begin with the first element.
#pragma acc parallel loop gang copyout(sums) private(w[2 : 4])
  for (int i = 0; i < N; i++) {
    for (int k = 2; k < 6; k++) w[k] = i * k;
    sums[i] = w[2] + w[3] + w[4] + w[5];
  }
  right = 0;
  for (int i = 0; i < N; i++) right += sums[i] == 14 * i;
  expect(right == N && w[2] == -3 && w[5] == -6, "the middle of an array, private");

  // Copies begin with what is there, and what they become is lost.
#pragma acc parallel loop copyout(out) firstprivate(z[0 : N])
  for (int i = 0; i < N; i++) out[i] = z[i];
  right = 0;
  for (int i = 0; i < N; i++) right += out[i] == i;
  expect(right == N, "elements behind a pointer, with their values");
#pragma acc parallel num_gangs(4) copyout(out) firstprivate(first[1 : 3])
  {
    first[1] += 1, first[3] *= 2;
#pragma acc loop gang
    for (int i = 0; i < N; i++) out[i] = first[1] + first[2] + first[3];
  }
  right = 0;
  for (int i = 0; i < N; i++) right += out[i] == 1.5 + 1 + 3;
  for (int k = 0; k < W; k++) right += first[k] == k * 0.5;
  expect(right == N + W, "the middle of an array, with its values");
  printf("%d failures\n", failures);
  free(far);
  free(z);
  return failures != 0;
}
