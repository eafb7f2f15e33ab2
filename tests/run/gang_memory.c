// Arrays that are private to a gang and shared by its vector lanes; parts of arrays that a loop asks to have near.
#include <openacc.h>
#include <stdio.h>

enum { N = 1000, PIECE = 64 };

/* What is before and behind a piece is read where it is; the last piece reaches beyond the array. */
static void differences(int n, const int *restrict from, int *to)
{
#pragma acc parallel loop gang copyin(from[0 : n]) copy(to[0 : n])
  for (int g = 0; g < n; g += PIECE) {
#pragma acc cache(readonly : from[g : PIECE])
#pragma acc loop vector
    for (int i = g; i < g + PIECE; i++)
      if (i < n) to[i] = from[i] - from[n - 1 - i];
  }
}

static int a[N + 2 * PIECE], b[N + 2 * PIECE], wide[N + 2];

int main(void)
{
  int wrong = 0, on_host = 1, piece[PIECE];
  for (int i = 0; i < N + 2 * PIECE; i++)
    a[i] = i * i % 1009;
#pragma acc parallel num_gangs(7) vector_length(32) copyin(a) copyout(b) private(piece)
  {
#pragma acc loop gang private(piece)
    for (int g = 0; g < N; g += PIECE) {
#pragma acc loop vector
      for (int i = 0; i < PIECE; i++)
        piece[i] = a[g + i];
#pragma acc loop vector
      for (int i = 0; i < PIECE; i++)
        b[g + i] = piece[PIECE - 1 - i];
    }
  }
#pragma acc parallel loop gang copyin(a) copyout(wide)
  for (int g = 1; g < N; g += PIECE) {
#pragma acc cache(a[g - 1 : PIECE + 2])
#pragma acc loop vector
    for (int i = g; i < g + PIECE; i++)
      if (i <= N) wide[i] = a[i - 1] + 2 * a[i] + 3 * a[i + 1];
  }
  for (int i = 1; i <= N; i++)
    wrong += wide[i] != a[i - 1] + 2 * a[i] + 3 * a[i + 1];
  differences(N, a, wide);
  for (int i = 0; i < N; i++)
    wrong += wide[i] != a[i] - a[N - 1 - i];
#pragma acc parallel copyout(on_host)
  on_host = acc_on_device(acc_device_host);
  for (int i = 0; i < N; i++)
    wrong += b[i] != a[i / PIECE * PIECE + PIECE - 1 - i % PIECE];
  if (wrong || on_host) printf("%d differences, on the host: %d\n", wrong, on_host);
  return wrong != 0 || on_host != 0;
}
