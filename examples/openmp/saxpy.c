/*
 * saxpy: y = a x + y, the smallest program worth offloading.
 *
 * The arrays travel for this one loop only: x goes in, y goes in and comes back.
 *
 * Usage: saxpy [n]
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void saxpy(int n, float a, const float *x, float *y)
{
#pragma omp target teams distribute parallel for map(to: x[0:n]) map(tofrom: y[0:n])
    for (int i = 0; i < n; i++)
        y[i] = a * x[i] + y[i];
}

static void saxpy_serial(int n, float a, const float *x, float *y)
{
    for (int i = 0; i < n; i++)
        y[i] = a * x[i] + y[i];
}

/* Memory for `count` values; a program without memory has nothing to compute. */
static void *allocate(size_t count, size_t size)
{
    void *memory = calloc(count, size);
    if (memory == NULL) {
        fprintf(stderr, "saxpy: out of memory\n");
        exit(1);
    }
    return memory;
}

/* Reads a positive size from the command line; anything else ends the program with status 2. */
static int size_argument(int argc, char **argv, int index, int fallback)
{
    if (index >= argc)
        return fallback;
    char *end;
    long value = strtol(argv[index], &end, 10);
    if (*end != '\0' || value < 1 || value > 100000000) {
        fprintf(stderr, "saxpy: `%s` is not a size between 1 and 100000000\n", argv[index]);
        exit(2);
    }
    return (int)value;
}

/* The larger of two errors; not a number is worse than any number. */
static float worse(float a, float b)
{
    return a >= b || isnan(a) ? a : b;
}

int main(int argc, char **argv)
{
    int n = size_argument(argc, argv, 1, 4000000);
    float *x = allocate(n, sizeof *x);
    float *y = allocate(n, sizeof *y);
    float *expected = allocate(n, sizeof *expected);

    for (int i = 0; i < n; i++) {
        x[i] = 0.5f * (float)(i % 1000);
        y[i] = expected[i] = (float)(i % 77) - 38.0f;
    }

    saxpy(n, 2.5f, x, y);
    saxpy_serial(n, 2.5f, x, expected);

    float error = 0.0f;
    for (int i = 0; i < n; i++)
        error = worse(error, fabsf(y[i] - expected[i]));

    /* A device may fuse the multiplication and the addition: one rounding of a value near 1300. */
    int ok = error <= 2e-4f;
    printf("saxpy: %s, n = %d, largest error %.2e\n", ok ? "ok" : "FAILED", n, error);

    free(x);
    free(y);
    free(expected);
    return ok ? 0 : 1;
}
