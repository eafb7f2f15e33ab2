// A time loop whose grids go to the device and back in every round.
#include <stdio.h>
#include <stdlib.h>

static void relax(int n, int steps, double *restrict grid, double *restrict next, double *restrict weight) {
    for (int t = 0; t < steps; t++) {
#pragma omp target teams distribute parallel for map(tofrom: weight[0:n]) map(tofrom: grid[0:n], next[0:n])
        for (int i = 1; i < n - 1; i++)
            next[i] = weight[i] * (grid[i - 1] + grid[i + 1]);
#pragma omp target teams distribute parallel for map(tofrom: grid[0:n], next[0:n])
        for (int i = 0; i < n; i++)
            grid[i] = next[i];
    }
}

int main(void) {
    enum { N = 500 };
    double *grid = malloc(N * sizeof *grid);
    double *next = malloc(N * sizeof *next);
    double *weight = malloc(N * sizeof *weight);
    for (int i = 0; i < N; i++) {
        grid[i] = next[i] = i % 7;
        weight[i] = 7;
    }
#pragma acc parallel loop copy(weight[0:N])
    for (int i = 0; i < N; i++)
        weight[i] = 0.25 + (i & 1) * 0.25;
    relax(N, 10, grid, next, weight);
    for (int i = 0; i < N; i += 50)
        printf("%.9f %.9f %.9f\n", grid[i], next[i], weight[i]);
    return 0;
}
