// The cheapest way through a grid, row by row.
#include "support.h"
#ifndef COLS
#define COLS 64
#define ROWS 12
#endif

static int wall[ROWS][COLS], cost[COLS], last[COLS];

int main(void) {
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLS; j++)
            wall[i][j] = (int)some(10);
    for (int j = 0; j < COLS; j++)
        last[j] = wall[0][j];
#pragma acc data copyin(wall) copy(last) create(cost)
    for (int t = 1; t < ROWS; t++) {
#pragma acc parallel loop num_gangs(1) num_workers(1) vector_length(1)
        for (int j = 0; j < COLS; j++) {
            int least = last[j];
            if (j > 0)
                least = last[j - 1] < least ? last[j - 1] : least;
            if (j < COLS - 1)
                least = last[j + 1] < least ? last[j + 1] : least;
            cost[j] = wall[t][j] + least;
        }
#pragma acc parallel loop num_gangs(1) num_workers(1) vector_length(1)
        for (int j = 0; j < COLS; j++)
            last[j] = cost[j];
    }
    show_ints("last", last, COLS);
    return 0;
}
