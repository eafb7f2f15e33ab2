#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct point { int x; double y; char c; };
static long check(const void *at, size_t bytes) {
  const unsigned char *p = at; unsigned long h = 14695981039346656037ul;
  for (size_t i = 0; i < bytes; i++) h = (h ^ p[i]) * 1099511628211ul;
  return (long)(h >> 8);
}
#define SHOW(name, n, a) printf("%s %d %lx\n", name, n, check(a, sizeof(*a) * (size_t)(n)))
static int whole[200][37];
#pragma omp declare target
int inside[1024];
#pragma omp end declare target
void scale(int n, double *a, const double *b) {
#pragma omp target teams distribute parallel for map(tofrom: a[0:n]) map(to: b[0:n])
  for (int i = 0; i < n; i++) a[i] = a[i] * 2 + b[i];
}
int main(void) {
  static const int sizes[] = {0, 1, 2, 7, 8, 9, 63, 100, 1000, 4099};
  for (int k = 0; k < 10; k++) {
    int n = sizes[k];
    int *a = malloc(4 * (n + 2)), *b = malloc(4 * (n + 2)); double *d = malloc(8 * (2 * n + 2)); struct point *p = calloc(n + 1, sizeof *p);
    for (int i = 0; i < n + 2; i++) a[i] = i * 7 % 31, b[i] = -i;
    for (int i = 0; i < 2 * n + 2; i++) d[i] = i * .5;
    for (int i = 0; i < n; i++) p[i].x = i, p[i].y = i * .25, p[i].c = (char)i;
#pragma omp target teams distribute parallel for map(to: a[0:n+2]) map(tofrom: b[0:n+2])
    for (int i = 0; i < n; i++) b[i + 1] = a[i] + a[i + 1] * 3 - a[i + 2];
    SHOW("stencil", n + 2, b);
#pragma omp target parallel for map(tofrom: d[0:2*n+2])
    for (int i = 0; i < n; i++) d[2 * i] += d[2 * i + 1];
    SHOW("stride", 2 * n + 2, d);
#pragma omp target parallel for map(tofrom: p[0:n])
    for (int i = 0; i < n; i++) { p[i].y += p[i].x; if (p[i].x % 3 == 0) p[i].c = 'z'; }
    SHOW("structs", n, p);
#pragma acc parallel loop copy(b[0:n])
    for (int i = n - 1; i >= 0; i--) b[i] = b[i] * 2 + i;
    SHOW("down", n, b);
#pragma omp target parallel for map(tofrom: a[0:n])
    for (int i = 0; i < n; i += 3) a[i] = -a[i];
    SHOW("steps", n, a);
#pragma omp target parallel for map(to: a[0:n]) map(tofrom: b[0:n])
    for (int i = 0; i < n; i++) b[n - 1 - i] = a[i];
    SHOW("turned", n, b);
    scale(n, d, d + n);
    scale(n, d, d);
    SHOW("aliased", 2 * n, d);
    int last = -1;
#pragma omp target parallel for map(tofrom: a[0:n], last) lastprivate(last)
    for (int i = 0; i < n; i++) { a[i]++; last = a[i]; }
    if (n) SHOW("lastprivate", 1, (&last));
    long sum = 0;
#pragma omp target parallel for map(to: a[0:n]) reduction(+: sum)
    for (int i = 0; i < n; i++) { if (a[i] < 0) continue; sum += a[i] * (long)i; }
    printf("sum %ld\n", sum);
    int i;
#pragma omp target parallel for map(tofrom: a[0:n]) lastprivate(i)
    for (i = 0; i < n; i++) a[i] ^= i;
    SHOW("outer variable", n, a);
#pragma omp target parallel for map(tofrom: a[0:n]) schedule(dynamic, 2)
    for (i = 0; i < n; i++) a[i] += i;
    SHOW("dynamic", n, a);
    free(a), free(b), free(d), free(p);
  }
  for (int n = 1; n <= 70; n += 23) {
    int *a = malloc(4 * n * n), *b = malloc(4 * n * n), *c = malloc(4 * n * n);
    for (int i = 0; i < n * n; i++) a[i] = i % 13, b[i] = i % 11, c[i] = i % 7;
#pragma omp target teams distribute parallel for collapse(2) map(to: a[0:n*n], b[0:n*n]) map(tofrom: c[0:n*n])
    for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) { c[i*n+j] *= 2; for (int k = 0; k < n; k++) c[i*n+j] += a[i*n+k] * b[k*n+j]; }
    SHOW("product", n * n, c);
    int i, j, k; /* of which the regions make their own */
#pragma acc parallel loop copyin(a[0:n*n], b[0:n*n]) copy(c[0:n*n])
    for (i = 0; i < n; i++)
      for (j = 0; j < n; j++) { long sum = 0; for (k = 0; k < n; k++) sum += a[i*n+k] * b[k*n+j]; c[i*n+j] ^= (int)sum; }
    SHOW("counters", n * n, c);
#pragma omp target parallel for map(to: a[0:n*n]) map(tofrom: c[0:n*n])
    for (int j = 0; j < n; j++) { int s = 0; for (int i = 0; i < n; i++) s += a[i*n+j]; c[j] = s; }
    SHOW("columns", n * n, c);
#pragma omp target parallel for map(to: a[0:n*n]) map(tofrom: c[0:n*n])
    for (int i = 1; i < n - 1; i++) for (int j = 1; j < n - 1; j++) c[i*n+j] = a[(i-1)*n+j] + a[(i+1)*n+j] - a[i*n+j-1] + a[i*n+j+1];
    SHOW("five points", n * n, c);
#pragma omp target parallel for map(tofrom: c[0:n*n])
    for (int p = 0; p < n; p++) for (int q = p; q < n; q++) c[p*n+q] = p * q;
    SHOW("triangle", n * n, c);
#pragma omp target parallel for map(tofrom: c[0:n*n])
    for (int p = 0; p < n; p++) for (int q = 0; q < p; q++) { c[p*n+q] = p + q; c[q*n+p] = p - q; }
    SHOW("both triangles", n * n, c);
    free(a), free(b), free(c);
  }
  /* Few rounds, each with much to do. */
  static const int rounds[] = {0, 1, 2, 7, 8, 9, 17};
  for (int k = 0; k < 7; k++) {
    int n = rounds[k], m = 600;
    int *a = malloc(4 * (n + 2) * m), *c = malloc(4 * (n + 2) * m);
    for (int i = 0; i < (n + 2) * m; i++) a[i] = i % 101, c[i] = i % 103;
#pragma omp target parallel for map(to: a[0:(n+2)*m]) map(tofrom: c[0:(n+2)*m])
    for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) c[i*m+j+m] += a[i*m+j] - a[(i+2)*m+j];
    SHOW("few", (n + 2) * m, c);
#pragma omp target parallel for collapse(2) map(tofrom: c[0:(n+2)*m])
    for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) c[i*m+j] *= i + j;
    SHOW("few collapsed", (n + 2) * m, c);
    free(a), free(c);
  }
#pragma omp target parallel for map(tofrom: whole)
  for (int i = 0; i < 200; i++) for (int j = 0; j < 37; j++) whole[i][j] = i * j + whole[i][36 - j];
  SHOW("array", 200, whole);
#pragma omp target parallel for
  for (int i = 0; i < 1024; i++) inside[i] = i * i;
#pragma omp target update from(inside)
  SHOW("inside", 1024, inside);
  /* Across a multiple of 4 GiB: the device's memory begins 1 MiB before one. */
  int big = 1 << 19; int *x = malloc(4l * big), *y = malloc(4l * big);
  for (int i = 0; i < big; i++) x[i] = i, y[i] = 1;
#pragma omp target teams distribute parallel for map(to: x[0:big]) map(tofrom: y[0:big])
  for (int i = 0; i < big; i++) y[i] += x[i];
  SHOW("across", big, y);
  return 0;
}
