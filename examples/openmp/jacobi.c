/*
 * jacobi: the temperature of a square plate whose left edge is held hot (Laplace's equation).
 *
 * Each sweep replaces every inner point by the mean of its four neighbours, until no point
 * changes by more than `TOLERANCE`. The plate stays on the device for all sweeps (the
 * `target data` region); only the largest change comes back after each one.
 *
 * Usage: jacobi [points per side] [largest number of sweeps]
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define TOLERANCE 5e-4

/* Relaxes `plate` in place and returns the number of sweeps; `next` is room for one sweep. */
static int relax(int n, int max_sweeps, double *plate, double *next)
{
    int sweeps = 0;
    double change = 2.0 * TOLERANCE;

#pragma omp target data map(tofrom: plate[0:n * n]) map(alloc: next[0:n * n])
    while (change > TOLERANCE && sweeps < max_sweeps) {
        change = 0.0;

#pragma omp target teams distribute parallel for collapse(2) reduction(max: change) \
    map(tofrom: change)
        for (int i = 1; i < n - 1; i++) {
            for (int j = 1; j < n - 1; j++) {
                int at = i * n + j;
                next[at] = 0.25 * (plate[at - n] + plate[at + n] + plate[at - 1] + plate[at + 1]);
                change = fmax(change, fabs(next[at] - plate[at]));
            }
        }

#pragma omp target teams distribute parallel for collapse(2)
        for (int i = 1; i < n - 1; i++) {
            for (int j = 1; j < n - 1; j++)
                plate[i * n + j] = next[i * n + j];
        }

        sweeps++;
    }
    return sweeps;
}

static int relax_serial(int n, int max_sweeps, double *plate, double *next)
{
    int sweeps = 0;
    double change = 2.0 * TOLERANCE;

    while (change > TOLERANCE && sweeps < max_sweeps) {
        change = 0.0;
        for (int i = 1; i < n - 1; i++) {
            for (int j = 1; j < n - 1; j++) {
                int at = i * n + j;
                next[at] = 0.25 * (plate[at - n] + plate[at + n] + plate[at - 1] + plate[at + 1]);
                change = fmax(change, fabs(next[at] - plate[at]));
            }
        }
        for (int i = 1; i < n - 1; i++) {
            for (int j = 1; j < n - 1; j++)
                plate[i * n + j] = next[i * n + j];
        }
        sweeps++;
    }
    return sweeps;
}

/* A cold plate with a left edge at 1. */
static void heat_left_edge(int n, double *plate)
{
    for (int i = 0; i < n; i++)
        plate[i * n] = 1.0;
}

/* Memory for `count` values; a program without memory has nothing to compute. */
static void *allocate(size_t count, size_t size)
{
    void *memory = calloc(count, size);
    if (memory == NULL) {
        fprintf(stderr, "jacobi: out of memory\n");
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
    if (*end != '\0' || value < 3 || value > 20000) {
        fprintf(stderr, "jacobi: `%s` is not a size between 3 and 20000\n", argv[index]);
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
    int n = size_argument(argc, argv, 1, 160);
    int max_sweeps = size_argument(argc, argv, 2, 2000);
    size_t points = (size_t)n * n;
    double *plate = allocate(points, sizeof *plate);
    double *expected = allocate(points, sizeof *expected);
    double *next = allocate(points, sizeof *next);

    heat_left_edge(n, plate);
    heat_left_edge(n, expected);

    int sweeps = relax(n, max_sweeps, plate, next);
    int sweeps_serial = relax_serial(n, max_sweeps, expected, next);

    double error = 0.0;
    for (size_t i = 0; i < points; i++)
        error = worse(error, fabs(plate[i] - expected[i]));

    int ok = error <= 1e-12 && sweeps == sweeps_serial;
    printf("jacobi: %s, %d x %d points, %d sweeps, largest error %.2e\n", ok ? "ok" : "FAILED",
           n, n, sweeps, error);

    free(plate);
    free(expected);
    free(next);
    return ok ? 0 : 1;
}
