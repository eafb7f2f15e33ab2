/*
 * spmv: y = A x for a sparse matrix in compressed rows (CSR).
 *
 * Row r owns the entries row_start[r] .. row_start[r + 1] - 1: rows differ in length, and x is read
 * wherever the columns point. Rows are shared out, each row is summed by the lanes of one thread.
 *
 * Usage: spmv [rows]
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
    int rows, entries;
    int *row_start; /* rows + 1 of them */
    int *column;
    double *value;
} Csr;

static void multiply(const Csr *matrix, const double *x, double *y)
{
    int rows = matrix->rows;
    const int *row_start = matrix->row_start, *column = matrix->column;
    const double *value = matrix->value;

#pragma omp target teams distribute parallel for map(from: y[0:rows]) \
    map(to: row_start[0:rows + 1], x[0:rows]) \
    map(to: column[0:matrix->entries], value[0:matrix->entries])
    for (int row = 0; row < rows; row++) {
        double sum = 0.0;
#pragma omp simd reduction(+: sum)
        for (int k = row_start[row]; k < row_start[row + 1]; k++)
            sum += value[k] * x[column[k]];
        y[row] = sum;
    }
}

static void multiply_serial(const Csr *matrix, const double *x, double *y)
{
    for (int row = 0; row < matrix->rows; row++) {
        double sum = 0.0;
        for (int k = matrix->row_start[row]; k < matrix->row_start[row + 1]; k++)
            sum += matrix->value[k] * x[matrix->column[k]];
        y[row] = sum;
    }
}

/* Memory for `count` values; a program without memory has nothing to compute. */
static void *allocate(size_t count, size_t size)
{
    void *memory = calloc(count, size);
    if (memory == NULL) {
        fprintf(stderr, "spmv: out of memory\n");
        exit(1);
    }
    return memory;
}

static unsigned next_random(unsigned *state)
{
    *state = 1664525u * *state + 1013904223u;
    return *state >> 8;
}

/* Mostly short rows and a few long ones, as in the graph of a network. */
static Csr random_matrix(int rows)
{
    unsigned state = 2024;
    Csr matrix = {.rows = rows, .row_start = allocate((size_t)rows + 1, sizeof(int))};

    for (int row = 0; row < rows; row++) {
        int length = 4 + (int)(next_random(&state) % 8);
        if (row % 100 == 0)
            length *= 10;
        matrix.row_start[row + 1] = matrix.row_start[row] + length;
    }

    matrix.entries = matrix.row_start[rows];
    matrix.column = allocate(matrix.entries, sizeof(int));
    matrix.value = allocate(matrix.entries, sizeof(double));
    for (int k = 0; k < matrix.entries; k++) {
        matrix.column[k] = (int)(next_random(&state) % (unsigned)rows);
        matrix.value[k] = (double)(next_random(&state) % 2000) / 1000.0 - 1.0;
    }
    return matrix;
}

/* Reads a positive size from the command line; anything else ends the program with status 2. */
static int size_argument(int argc, char **argv, int index, int fallback)
{
    if (index >= argc)
        return fallback;
    char *end;
    long value = strtol(argv[index], &end, 10);
    if (*end != '\0' || value < 1 || value > 10000000) {
        fprintf(stderr, "spmv: `%s` is not a size between 1 and 10000000\n", argv[index]);
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
    int rows = size_argument(argc, argv, 1, 200000);
    Csr matrix = random_matrix(rows);
    double *x = allocate(rows, sizeof *x);
    double *y = allocate(rows, sizeof *y);
    double *expected = allocate(rows, sizeof *expected);

    for (int i = 0; i < rows; i++)
        x[i] = 1.0 / (1.0 + i % 10);

    multiply(&matrix, x, y);
    multiply_serial(&matrix, x, expected);

    double error = 0.0;
    for (int i = 0; i < rows; i++)
        error = worse(error, fabs(y[i] - expected[i]));

    int ok = error <= 1e-12;
    printf("spmv: %s, %d rows, %d entries, largest error %.2e\n", ok ? "ok" : "FAILED", rows,
           matrix.entries, error);

    free(matrix.row_start);
    free(matrix.column);
    free(matrix.value);
    free(x);
    free(y);
    free(expected);
    return ok ? 0 : 1;
}
