// env: FERRY_DEVICE=cpu
// env: FERRY_DEVICE=cpu*2
// env: FERRY_DEVICE=cpu:copy*2
// env: FERRY_DEVICE=cpu:separate*2
#include "ferry_test.h"
#include <limits.h>

extern int omp_target_memcpy_rect(void *, const void *, size_t, int, const size_t *, const size_t *, const size_t *,
                                  const size_t *, const size_t *, int, int);
extern int omp_target_memcpy_async(void *, const void *, size_t, size_t, size_t, int, int, int, void *);
extern void *omp_target_memset(void *, int, size_t, int);
extern int omp_target_associate_ptr(const void *, const void *, size_t, size_t, int);
extern int omp_target_disassociate_ptr(const void *, int);
extern int omp_target_is_accessible(const void *, size_t, int);
extern int omp_pause_resource(int, int);
extern void __tgt_interop_init(struct ident *, int, void **, int, int, int, void *, int);
extern void __tgt_interop_destroy(struct ident *, int, void **, int, int, void *, int);
extern intptr_t omp_get_interop_int(void *, int, int *);
extern const char *omp_get_interop_str(void *, int, int *);

KERNEL(add_one) {
    int *a = args[0];
    for (int i = 0; i < 4; i++) a[i]++;
}

#ifndef DEVICE_UNIT
/* What the directive becomes. */
void GOMP_taskwait(void);

int main(void) {
    int host = omp_get_initial_device(), last = omp_get_num_devices() - 1;
    CHECK(omp_target_alloc(0, 0) == NULL);
    int *there = omp_target_alloc(64, 0), *further = omp_target_alloc(64, last);
    int a[4] = {1, 2, 3, 4}, b[4] = {0};
    CHECK(omp_target_memcpy(there, a, sizeof a, 0, 0, 0, host) == 0);
    CHECK(omp_target_memcpy(further, there, sizeof a, 16, 0, last, 0) == 0);
    CHECK(omp_target_memcpy_async(b, further, sizeof a, 0, 16, host, last, 0, NULL) == 0);
    GOMP_taskwait();
    CHECK(memcmp(a, b, sizeof a) == 0);
    CHECK(omp_target_memcpy(b, a, 4, 0, 4, -1, host) == 0 && b[0] == 2);
    CHECK(omp_target_memcpy(NULL, a, 0, 0, 0, 0, host) == 0);
    CHECK(omp_target_memcpy(NULL, a, 4, 0, 0, 0, host) != 0);
    CHECK(omp_target_memset(there, 0x11, 8, 0) == there);
    CHECK(omp_target_memcpy(b, there, 16, 0, 0, host, 0) == 0 && b[1] == 0x11111111 && b[2] == 3);

    /* The middle of a 4x4 block into a 2x2 one. */
    int block[4][4], piece[2][2];
    for (int i = 0; i < 16; i++) block[0][i] = i;
    size_t volume[] = {2, 2}, zero[] = {0, 0}, one[] = {1, 1}, four[] = {4, 4}, two[] = {2, 2};
    CHECK(omp_target_memcpy_rect(NULL, NULL, 0, 0, 0, 0, 0, 0, 0, 0, 0) == INT_MAX);
    CHECK(omp_target_memcpy_rect(there, block, 4, 2, volume, zero, one, two, four, 0, host) == 0);
    CHECK(omp_target_memcpy_rect(piece, there, 4, 2, volume, zero, zero, two, two, host, 0) == 0);
    CHECK(piece[0][0] == 5 && piece[0][1] == 6 && piece[1][0] == 9 && piece[1][1] == 10);
    CHECK(omp_target_memcpy_rect(piece, there, 0, 2, volume, zero, zero, two, two, host, 0) != 0);

    /* Associated memory is used on every device, and stays whatever is deleted. */
    int mine[4] = {10, 20, 30, 40};
    CHECK(omp_target_associate_ptr(mine, there, sizeof mine, 16, 0) == 0);
    CHECK(omp_target_associate_ptr(mine, there, sizeof mine, 16, 0) == 0);
    CHECK(omp_target_associate_ptr(mine, further, sizeof mine, 0, 0) != 0);
    CHECK(omp_target_associate_ptr(NULL, there, 4, 0, 0) != 0);
    CHECK(omp_target_is_present(mine, 0) && omp_get_mapped_ptr(mine + 1, 0) == there + 5);
    UPDATE((struct item){mine, mine, sizeof mine, TO, 0, 0});
    TARGET(add_one, {mine, mine, sizeof mine, TOFROM | PARAM, ";mine;t.c;1;1;;", 0});
    CHECK(mine[0] == 10);
    EXIT((struct item){mine, mine, sizeof mine, DELETE, 0, 0});
    UPDATE((struct item){mine, mine, sizeof mine, FROM, 0, 0});
    CHECK(mine[0] == 11 && mine[3] == 41);
    CHECK(omp_target_disassociate_ptr(mine, 0) == 0 && omp_target_disassociate_ptr(mine, 0) != 0);
    CHECK(!omp_target_is_present(mine, 0) && omp_target_is_present(mine, host));
    ENTER((struct item){mine, mine, sizeof mine, TO, 0, 0});
    CHECK(omp_target_disassociate_ptr(mine, 0) != 0);
    EXIT((struct item){mine, mine, sizeof mine, DELETE, 0, 0});

    CHECK(omp_target_is_accessible(there, 64, 0) && omp_target_is_accessible(mine, 4, host));
    CHECK(omp_target_is_accessible(mine, 4, 0) == !has_copies());
    CHECK(omp_get_mapped_ptr(mine, host) == mine && omp_get_mapped_ptr(mine, 99) == NULL);
    CHECK(omp_target_alloc(8, 99) == NULL);
    CHECK(omp_pause_resource(1, 0) == 0 && omp_pause_resource(1, 99) != 0);
    omp_target_free(there, 0);
    omp_target_free(there, 0); /* said, not done */
    omp_target_free(further, last);
    omp_target_free(NULL, 0);

    void *object = NULL;
    int code = 9;
    CHECK(omp_get_interop_int(object, -5, &code) == 0 && code == -1);
    __tgt_interop_init(NULL, 0, &object, 2, 0, 0, NULL, 0);
    CHECK(object && omp_get_interop_int(object, -5, &code) == 0 && code == 0);
    CHECK(strcmp(omp_get_interop_str(object, -4, &code), "ferry") == 0 && code == 0);
    CHECK(omp_get_interop_str(object, -5, &code) == NULL && code == -3);
    CHECK(omp_get_interop_int(object, -10, &code) == 0 && code == -2);
    __tgt_interop_destroy(NULL, 0, &object, 0, 0, NULL, 0);
    CHECK(object == NULL);
    printf("%s\n", failures ? "failed" : "passed");
    return failures != 0;
}
#endif
