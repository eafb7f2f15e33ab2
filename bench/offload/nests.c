/* Nests of loops as people write them, of several kinds and types: products of matrices, transpositions, convolutions,
 * stencils, sums along columns, reductions, triangles, loops that are dealt while they run, a histogram. Prints for each
 * its times in nanoseconds, and a sum of its results. All numbers are small integers: every order of additions gives the
 * same sum. */
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef SERIAL
#define NEST(words)
#else
#define PRAGMA(words) _Pragma(#words)
#define NEST(words) PRAGMA(omp target teams distribute parallel for words)
#endif

static void product_double(int n, const double *restrict a, const double *restrict b, double *restrict c)
{
    NEST(collapse(2) map(to: a[0:n * n], b[0:n * n]) map(from: c[0:n * n]))
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double s = 0;
            for (int k = 0; k < n; k++)
                s += a[i * n + k] * b[k * n + j];
            c[i * n + j] = s;
        }
}

static void product_float(int n, const float *restrict a, const float *restrict b, float *restrict c)
{
    NEST(collapse(2) map(to: a[0:n * n], b[0:n * n]) map(from: c[0:n * n]))
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            float s = 0;
            for (int k = 0; k < n; k++)
                s += a[i * n + k] * b[k * n + j];
            c[i * n + j] = s;
        }
}

static void product_int(int n, const int *restrict a, const int *restrict b, int *restrict c)
{
    NEST(collapse(2) map(to: a[0:n * n], b[0:n * n]) map(from: c[0:n * n]))
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            int s = 0;
            for (int k = 0; k < n; k++)
                s += a[i * n + k] * b[k * n + j];
            c[i * n + j] = s;
        }
}

/* The second operand is transposed. */
static void product_nt(int n, const double *restrict a, const double *restrict b, double *restrict c)
{
    NEST(collapse(2) map(to: a[0:n * n], b[0:n * n]) map(from: c[0:n * n]))
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double s = 0;
            for (int k = 0; k < n; k++)
                s += a[i * n + k] * b[j * n + k];
            c[i * n + j] = s;
        }
}

static void product_nt_int(int n, const int *restrict a, const int *restrict b, int *restrict c)
{
    NEST(collapse(2) map(to: a[0:n * n], b[0:n * n]) map(from: c[0:n * n]))
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            int s = 0;
            for (int k = 0; k < n; k++)
                s += a[i * n + k] * b[j * n + k];
            c[i * n + j] = s;
        }
}

/* The first operand is transposed. */
static void product_tn(int n, const float *restrict a, const float *restrict b, float *restrict c)
{
    NEST(collapse(2) map(to: a[0:n * n], b[0:n * n]) map(from: c[0:n * n]))
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            float s = 0;
            for (int k = 0; k < n; k++)
                s += a[k * n + i] * b[k * n + j];
            c[i * n + j] = s;
        }
}

/* Only rows are shared. */
static void product_rows(int n, const double *restrict a, const double *restrict b, double *restrict c)
{
    NEST(map(to: a[0:n * n], b[0:n * n]) map(from: c[0:n * n]))
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double s = 0;
            for (int k = 0; k < n; k++)
                s += a[i * n + k] * b[k * n + j];
            c[i * n + j] = s;
        }
}

/* Sums are kept in memory. */
static void product_memory(int n, const double *restrict a, const double *restrict b, double *restrict c)
{
    NEST(collapse(2) map(to: a[0:n * n], b[0:n * n]) map(from: c[0:n * n]))
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            c[i * n + j] = 0;
            for (int k = 0; k < n; k++)
                c[i * n + j] += a[i * n + k] * b[k * n + j];
        }
}

/* Rows of the result are summed up one product after the other. */
static void product_ikj(int n, const double *restrict a, const double *restrict b, double *restrict c)
{
    NEST(map(to: a[0:n * n], b[0:n * n]) map(from: c[0:n * n]))
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++)
            c[i * n + j] = 0;
        for (int k = 0; k < n; k++)
            for (int j = 0; j < n; j++)
                c[i * n + j] += a[i * n + k] * b[k * n + j];
    }
}

/* Many small products. */
static void product_batch(int n, const float *restrict a, const float *restrict b, float *restrict c)
{
    int many = n * n / 256;
    NEST(collapse(3) map(to: a[0:n * n], b[0:n * n]) map(from: c[0:n * n]))
    for (int m = 0; m < many; m++)
        for (int i = 0; i < 16; i++)
            for (int j = 0; j < 16; j++) {
                float s = 0;
                for (int k = 0; k < 16; k++)
                    s += a[m * 256 + i * 16 + k] * b[m * 256 + k * 16 + j];
                c[m * 256 + i * 16 + j] = s;
            }
}

static void transpose_double(int n, const double *restrict a, const double *restrict b, double *restrict c)
{
    (void)b;
    NEST(collapse(2) map(to: a[0:n * n]) map(from: c[0:n * n]))
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            c[j * n + i] = a[i * n + j];
}

static void transpose_float(int n, const float *restrict a, const float *restrict b, float *restrict c)
{
    NEST(collapse(2) map(to: a[0:n * n], b[0:n * n]) map(from: c[0:n * n]))
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            c[i * n + j] = a[j * n + i] + b[i * n + j];
}

static void convolve_float(int n, const float *restrict a, const float *restrict b, float *restrict c)
{
    int w = 5;
    NEST(collapse(2) map(to: a[0:n * n], b[0:n * n]) map(from: c[0:n * n]))
    for (int i = 0; i < n - w; i++)
        for (int j = 0; j < n - w; j++) {
            float s = 0;
            for (int p = 0; p < w; p++)
                for (int q = 0; q < w; q++)
                    s += b[p * w + q] * a[(i + p) * n + j + q];
            c[i * n + j] = s;
        }
}

static void convolve_int(int n, const int *restrict a, const int *restrict b, int *restrict c)
{
    NEST(collapse(2) map(to: a[0:n * n], b[0:n * n]) map(from: c[0:n * n]))
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < n - 1; j++) {
            int s = 0;
            for (int p = -1; p <= 1; p++)
                for (int q = -1; q <= 1; q++)
                    s += b[(p + 1) * 3 + q + 1] * a[(i + p) * n + j + q];
            c[i * n + j] = s;
        }
}

static void stencil_2d(int n, const double *restrict a, const double *restrict b, double *restrict c)
{
    (void)b;
    NEST(collapse(2) map(to: a[0:n * n]) map(from: c[0:n * n]))
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < n - 1; j++)
            c[i * n + j] = a[i * n + j] * 4 - a[i * n + j - 1] - a[i * n + j + 1] - a[(i - 1) * n + j] - a[(i + 1) * n + j];
}

/* n = m * m: a cube with sides of m, and less than a row is left. */
static int side(int n)
{
    int m = 1;
    while ((m + 1) * (m + 1) * (m + 1) <= n * n)
        m++;
    return m;
}

static void stencil_7(int n, const double *restrict a, const double *restrict b, double *restrict c)
{
    (void)b;
    int m = side(n);
    NEST(collapse(3) map(to: a[0:n * n]) map(from: c[0:n * n]))
    for (int i = 1; i < m - 1; i++)
        for (int j = 1; j < m - 1; j++)
            for (int k = 1; k < m - 1; k++) {
                int at = (i * m + j) * m + k;
                c[at] = 6 * a[at] - a[at - 1] - a[at + 1] - a[at - m] - a[at + m] - a[at - m * m] - a[at + m * m];
            }
}

static void stencil_27(int n, const float *restrict a, const float *restrict b, float *restrict c)
{
    int m = side(n);
    NEST(collapse(3) map(to: a[0:n * n], b[0:n * n]) map(from: c[0:n * n]))
    for (int i = 1; i < m - 1; i++)
        for (int j = 1; j < m - 1; j++)
            for (int k = 1; k < m - 1; k++) {
                float s = 0;
                for (int x = -1; x <= 1; x++)
                    for (int y = -1; y <= 1; y++)
                        for (int z = -1; z <= 1; z++)
                            s += b[(x + 1) * 9 + (y + 1) * 3 + z + 1] * a[((i + x) * m + j + y) * m + k + z];
                c[(i * m + j) * m + k] = s;
            }
}

static void columns(int n, const float *restrict a, const float *restrict b, float *restrict c)
{
    (void)b;
    NEST(map(to: a[0:n * n]) map(tofrom: c[0:n * n]))
    for (int j = 0; j < n; j++) {
        float s = 0;
        for (int i = 0; i < n; i++)
            s += a[i * n + j];
        c[j] = s;
    }
}

/* A step of Jacobi's method and its largest change. */
static void step_change(int n, const double *restrict a, const double *restrict b, double *restrict c)
{
    double change = 0;
    (void)b;
    NEST(collapse(2) map(to: a[0:n * n]) map(tofrom: c[0:n * n]) reduction(max: change))
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < n - 1; j++) {
            c[i * n + j] = a[i * n + j - 1] + a[i * n + j + 1] + a[(i - 1) * n + j] + a[(i + 1) * n + j];
            change = fmax(change, fabs(c[i * n + j] - a[i * n + j]));
        }
    c[0] = change;
}

static void norm(int n, const double *restrict a, const double *restrict b, double *restrict c)
{
    double sum = 0;
    NEST(collapse(2) map(to: a[0:n * n], b[0:n * n]) reduction(+: sum))
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            sum += a[i * n + j] * b[i * n + j];
    c[0] = sum;
}

static void dot(int n, const float *restrict a, const float *restrict b, float *restrict c)
{
    int sum = 0;
    NEST(map(to: a[0:n * n], b[0:n * n]) reduction(+: sum))
    for (int i = 0; i < n * n; i++)
        sum += a[i] * b[i] > 1;
    c[0] = (float)sum;
}

/* One half of a symmetric matrix, by rows and by columns. */
static void triangle_rows(int n, const double *restrict a, const double *restrict b, double *restrict c)
{
    (void)b;
    NEST(map(to: a[0:n * n]) map(tofrom: c[0:n * n]))
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) {
            double s = 0;
            for (int k = 0; k < n; k++)
                s += a[i * n + k] * a[j * n + k];
            c[i * n + j] = s;
        }
}

static void triangle_columns(int n, const double *restrict a, const double *restrict b, double *restrict c)
{
    (void)b;
    NEST(map(to: a[0:n * n]) map(tofrom: c[0:n * n]))
    for (int i = 0; i < n; i++)
        for (int j = i; j < n; j++) {
            double s = 0;
            for (int k = 0; k < n; k++)
                s += a[k * n + i] * a[k * n + j];
            c[i * n + j] = s;
        }
}

static void product_dynamic(int n, const double *restrict a, const double *restrict b, double *restrict c)
{
    NEST(collapse(2) schedule(dynamic) map(to: a[0:n * n], b[0:n * n]) map(from: c[0:n * n]))
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double s = 0;
            for (int k = 0; k < n; k++)
                s += a[i * n + k] * b[k * n + j];
            c[i * n + j] = s;
        }
}

/* How soon points leave a circle: each iteration takes its own time. */
static void escape(int n, const float *restrict a, const float *restrict b, float *restrict c)
{
    (void)a, (void)b;
    NEST(collapse(2) schedule(dynamic) map(from: c[0:n * n]))
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            float x = 0, y = 0;
            int k = 0;
            while (k < 100 && x * x + y * y < 4) {
                float next = x * x - y * y + 3.0f * (float)j / (float)n - 2;
                y = 2 * x * y + 3.0f * (float)i / (float)n - 1.5f;
                x = next;
                k++;
            }
            c[i * n + j] = (float)(k > 50);
        }
}

static void histogram(int n, const int *restrict a, const int *restrict b, int *restrict c)
{
    NEST(map(to: a[0:n * n], b[0:n * n]) map(tofrom: c[0:256]))
    for (int i = 0; i < n * n; i++) {
        int bin = (a[i] * 37 + b[i] * 11 + 200) & 255;
#ifndef SERIAL
#pragma omp atomic
#endif
        c[bin]++;
    }
}

#define MEASURE(name, type, side, rounds)                                                                     \
    do {                                                                                                      \
        int n = (side), all = n * n;                                                                          \
        type *a = malloc(sizeof(type) * all), *b = malloc(sizeof(type) * all), *c = malloc(sizeof(type) * all); \
        for (int i = 0; i < all; i++)                                                                         \
            a[i] = (type)(i % 7 - 3), b[i] = (type)(i % 5 - 1), c[i] = 0;                                     \
        for (int round = 0; round < (rounds); round++) {                                                      \
            double begin = omp_get_wtime();                                                                   \
            name(n, a, b, c);                                                                                 \
            printf(#name " %.0f\n", (omp_get_wtime() - begin) * 1e9);                                         \
        }                                                                                                     \
        double sum = 0;                                                                                       \
        for (int i = 0; i < all; i++)                                                                         \
            sum += c[i] * (i % 11 + 1);                                                                       \
        printf(#name "/sum %.0f\n", sum);                                                                     \
        free(a), free(b), free(c);                                                                            \
    } while (0)

int main(int argc, char **argv)
{
    int r = argc > 1 ? atoi(argv[1]) : 10;
    MEASURE(product_double, double, 701, r);
    MEASURE(product_float, float, 640, r);
    MEASURE(product_int, int, 509, r);
    MEASURE(product_nt, double, 701, r);
    MEASURE(product_nt_int, int, 509, r);
    MEASURE(product_tn, float, 640, r);
    MEASURE(product_rows, double, 601, r);
    MEASURE(product_memory, double, 601, r);
    MEASURE(product_ikj, double, 601, r);
    MEASURE(product_batch, float, 1024, r);
    MEASURE(transpose_double, double, 2001, r);
    MEASURE(transpose_float, float, 2048, r);
    MEASURE(convolve_float, float, 1501, r);
    MEASURE(convolve_int, int, 1501, r);
    MEASURE(stencil_2d, double, 2001, r);
    MEASURE(stencil_7, double, 2001, r);
    MEASURE(stencil_27, float, 1501, r);
    MEASURE(columns, float, 2001, r);
    MEASURE(step_change, double, 1201, r);
    MEASURE(norm, double, 701, r);
    MEASURE(dot, float, 1001, r);
    MEASURE(triangle_rows, double, 701, r);
    MEASURE(triangle_columns, double, 701, r);
    MEASURE(product_dynamic, double, 601, r);
    MEASURE(escape, float, 601, r);
    MEASURE(histogram, int, 1001, 1);
    return 0;
}
