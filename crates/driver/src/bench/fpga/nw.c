// The best alignment of two sequences, in place.
#include "support.h"
#ifndef N
#define N 40
#endif

static int score[N][N], same[N][N];

int main(void) {
    const int gap = 10;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            same[i][j] = (int)some(21) - 10;
    for (int i = 0; i < N; i++)
        score[i][0] = score[0][i] = -i * gap;
#pragma acc serial copy(score) copyin(same)
    for (int i = 1; i < N; i++)
        for (int j = 1; j < N; j++) {
            int a = score[i - 1][j - 1] + same[i][j], b = score[i][j - 1] - gap, d = score[i - 1][j] - gap;
            int x = a > b ? a : b;
            score[i][j] = x > d ? x : d;
        }
    show_ints("score", &score[0][0], (long)N * N);
    return 0;
}
