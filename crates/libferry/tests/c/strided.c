// env: FERRY_DEVICE=cpu
// env: FERRY_DEVICE=cpu:copy
// env: FERRY_DEVICE=cpu:separate
#include "ferry_test.h"

KERNEL(negate) {
    double *m = args[0];
    for (int i = 0; i < 200; i++) m[i] = -m[i];
}

#ifndef DEVICE_UNIT
struct dimension { uint64_t offset, count, stride; };

int main(void) {
    double m[10][20];
    for (int i = 0; i < 200; i++) m[0][i] = i + 1;
    struct item whole = {m, m, sizeof m, TO | PARAM, ";m;t.c;1;1;;", 0};
    ENTER(whole);
    TARGET(negate, whole);
    /* update from(m[0:5:2][5:10]) as clang passes it */
    struct dimension odd[] = {{0, 5, 320}, {5, 10, 8}, {0, 1, 8}};
    UPDATE({m, odd, 3, FROM | NON_CONTIG, ";m[0:5:2][5:10];t.c;1;1;;", 0});
    int moved = 0, wrong = 0;
    for (int i = 0; i < 10; i++)
        for (int j = 0; j < 20; j++) {
            int expected = i % 2 == 0 && j >= 5 && j < 15;
            moved += m[i][j] < 0;
            wrong += has_copies() && (m[i][j] < 0) != expected;
        }
    CHECK(wrong == 0 && moved == (has_copies() ? 50 : 200));
    /* Full rows, and one column. */
    struct dimension rows[] = {{3, 4, 160}, {0, 20, 8}, {0, 1, 8}}, column[] = {{0, 10, 160}, {0, 1, 8}, {0, 1, 8}};
    UPDATE({m, rows, 3, FROM | NON_CONTIG, 0, 0});
    UPDATE({m, column, 3, FROM | NON_CONTIG, 0, 0});
    CHECK(m[3][0] < 0 && m[6][19] < 0 && m[9][0] < 0);
    EXIT({m, m, sizeof m, FROM, 0, 0});
    CHECK(m[9][19] == -200);
    printf("%s\n", failures ? "failed" : "passed");
    return failures != 0;
}
#endif
