// Parts of arrays that gangs ask to have near: written ones, such with two and three dimensions, rows, a promise.
#include <openacc.h>
#include <stdio.h>

enum { N = 1003, PIECE = 64, ROWS = 37, COLUMNS = 96, DEEP = 8 };

static int wrong;

static void same(const char *what, double got, double wanted)
{
  if (got != wanted && wrong++ < 5) printf("%s: %g, not %g\n", what, got, wanted);
}

/* Each gang works on its own part, several times: what one round writes the next one reads. The last part reaches
   beyond the array. */
static void rounds(int n, double *restrict a, double *b)
{
#pragma acc parallel loop gang num_gangs(5) vector_length(32) copy(a[0 : n]) copyout(b[0 : n])
  for (int g = 0; g < n; g += PIECE) {
#pragma acc cache(a[g : PIECE])
    for (int round = 0; round < 3; round++) {
#pragma acc loop vector
      for (int i = g; i < g + PIECE; i++)
        if (i < n) b[i] = a[i] + (i > g ? a[i - 1] : 1);
#pragma acc loop vector
      for (int i = g; i < g + PIECE; i++)
        if (i < n) a[i] += b[i];
    }
  }
}

static void rounds_here(int n, double *a, double *b)
{
  for (int g = 0; g < n; g += PIECE)
    for (int round = 0; round < 3; round++) {
      for (int i = g; i < g + PIECE && i < n; i++)
        b[i] = a[i] + (i > g ? a[i - 1] : 1);
      for (int i = g; i < g + PIECE && i < n; i++)
        a[i] += b[i];
    }
}

static double a[N], b[N], kept[N], kept_b[N];
static float image[ROWS][COLUMNS], blurred[ROWS][COLUMNS], turned[ROWS][COLUMNS];
static int volume[DEEP][DEEP][DEEP], sums[DEEP][DEEP][DEEP];

/* A row and its neighbours, 32 columns and theirs. */
static void blur(const float (*restrict from)[COLUMNS], float (*to)[COLUMNS])
{
#pragma acc parallel loop gang collapse(2) copyin(from[0 : ROWS][0 : COLUMNS]) copy(to[0 : ROWS][0 : COLUMNS])
  for (int i = 1; i < ROWS - 1; i++)
    for (int j0 = 0; j0 < COLUMNS; j0 += 32) {
#pragma acc cache(from[i - 1 : 3][j0 - 1 : 34])
#pragma acc loop vector
      for (int j = j0; j < j0 + 32; j++)
        if (j > 0 && j < COLUMNS - 1)
          to[i][j] = from[i - 1][j] + from[i + 1][j] + 2 * from[i][j] + from[i][j - 1] * from[i][j + 1];
    }
}

int main(void)
{
  int on_host = 1;
  for (int i = 0; i < N; i++)
    a[i] = kept[i] = i * 7 % 31;
  rounds(N, a, b);
  rounds_here(N, kept, kept_b);
  for (int i = 0; i < N; i++)
    same("rounds", a[i], kept[i]), same("rounds, copied", b[i], kept_b[i]);

  for (int i = 0; i < ROWS; i++)
    for (int j = 0; j < COLUMNS; j++)
      image[i][j] = turned[i][j] = (i * 5 + j * 3) % 17;
  blur((const float(*)[COLUMNS])image, blurred);
  for (int i = 1; i < ROWS - 1; i++)
    for (int j = 1; j < COLUMNS - 1; j++)
      same("blurred", blurred[i][j],
        image[i - 1][j] + image[i + 1][j] + 2 * image[i][j] + image[i][j - 1] * image[i][j + 1]);

  /* A tile of two rows is turned within itself; others have the next. */
#pragma acc parallel loop gang collapse(2) copy(turned)
  for (int i = 0; i < ROWS - 1; i += 2)
    for (int j0 = 0; j0 < COLUMNS; j0 += 16) {
#pragma acc cache(turned[i : 2][j0 : 16])
#pragma acc loop vector
      for (int j = 0; j < 16; j++) {
        float upper = turned[i][j0 + j];
        turned[i][j0 + j] = turned[i + 1][j0 + j] + 1;
        turned[i + 1][j0 + j] = upper;
      }
#pragma acc loop vector
      for (int j = 0; j < 8; j++) {
        float left = turned[i][j0 + j];
        turned[i][j0 + j] = turned[i][j0 + 15 - j];
        turned[i][j0 + 15 - j] = left;
      }
    }
  for (int i = 0; i < ROWS; i++)
    for (int j = 0; j < COLUMNS; j++) {
      const int other = j / 16 * 16 + 15 - j % 16;
      const float wanted = i == ROWS - 1 ? image[i][j] : i % 2 ? image[i - 1][j] : image[i + 1][other] + 1;
      same("turned", turned[i][j], wanted);
    }

  /* Whole planes; only read, whatever else is written. */
  for (int i = 0; i < DEEP * DEEP * DEEP; i++)
    volume[i / DEEP / DEEP][i / DEEP % DEEP][i % DEEP] = i * i % 23;
  int *const out = &sums[0][0][0];
#pragma acc parallel loop gang copyin(volume) copyout(out[0 : DEEP * DEEP * DEEP])
  for (int i = 0; i < DEEP; i++) {
#pragma acc cache(readonly : volume[i : 1])
#pragma acc loop vector
    for (int j = 0; j < DEEP * DEEP; j++)
      out[i * DEEP * DEEP + j] = volume[i][j % DEEP][j / DEEP] + volume[i == 0][j / DEEP][0];
  }
  for (int i = 0; i < DEEP; i++)
    for (int j = 0; j < DEEP * DEEP; j++)
      same("planes", sums[i][j / DEEP][j % DEEP], volume[i][j % DEEP][j / DEEP] + volume[i == 0][j / DEEP][0]);

#pragma acc parallel copyout(on_host)
  on_host = acc_on_device(acc_device_host);
  if (on_host) printf("on the host\n");
  return wrong != 0 || on_host;
}
