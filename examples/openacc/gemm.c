/*
 * gemm: C = alpha A B + beta C for square matrices stored row by row.
 *
 * The two outer loops are independent and become one wide loop (`collapse`); the sum over k stays
 * inside one thread. A and B go to the device, C goes and comes back.
 *
 * Usage: gemm [n]
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void gemm(int n, double alpha, const double *a, const double *b, double beta, double *c)
{
#pragma acc parallel loop collapse(2) copyin(a[0:n * n], b[0:n * n]) copy(c[0:n * n])
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            double sum = 0.0;
#pragma acc loop seq
            for (int k = 0; k < n; k++)
                sum += a[i * n + k] * b[k * n + j];
            c[i * n + j] = alpha * sum + beta * c[i * n + j];
        }
    }
}

/* The same product in another order of summation: rows of B are read as they lie in memory. */
static void gemm_serial(int n, double alpha, const double *a, const double *b, double beta,
                        double *c)
{
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++)
            c[i * n + j] *= beta;
        for (int k = 0; k < n; k++) {
            double factor = alpha * a[i * n + k];
            for (int j = 0; j < n; j++)
                c[i * n + j] += factor * b[k * n + j];
        }
    }
}

/* Memory for `count` values; a program without memory has nothing to compute. */
static void *allocate(size_t count, size_t size)
{
    void *memory = calloc(count, size);
    if (memory == NULL) {
        fprintf(stderr, "gemm: out of memory\n");
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
    if (*end != '\0' || value < 1 || value > 20000) {
        fprintf(stderr, "gemm: `%s` is not a size between 1 and 20000\n", argv[index]);
        exit(2);
    }
    return (int)value;
}

/* The larger of two errors; not a number is worse than any number. */
static double worse(double a, double b)
{
    return a >= b || isnan(a) ? a : b;
}

int main(int argc, char **argv)
{
    int n = size_argument(argc, argv, 1, 320);
    size_t elements = (size_t)n * n;
    double *a = allocate(elements, sizeof *a);
    double *b = allocate(elements, sizeof *b);
    double *c = allocate(elements, sizeof *c);
    double *expected = allocate(elements, sizeof *expected);

    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            int at = i * n + j;
            a[at] = (double)((i + 2 * j) % 17) / 17.0;
            b[at] = (double)((3 * i + j) % 13) / 13.0;
            c[at] = expected[at] = (double)((i + j) % 5);
        }
    }

    gemm(n, 1.5, a, b, 0.25, c);
    gemm_serial(n, 1.5, a, b, 0.25, expected);

    /* Relative to the largest element: the order of summation may differ, the result may not. */
    double error = 0.0, largest = 0.0;
    for (size_t i = 0; i < elements; i++) {
        error = worse(error, fabs(c[i] - expected[i]));
        largest = fmax(largest, fabs(expected[i]));
    }
    error /= largest;

    int ok = error <= 1e-13 * sqrt((double)n);
    printf("gemm: %s, %d x %d, relative error %.2e\n", ok ? "ok" : "FAILED", n, n, error);

    free(a);
    free(b);
    free(c);
    free(expected);
    return ok ? 0 : 1;
}
