// env: FERRY_DEVICE=cpu OMP_NUM_THREADS=2
// env: FERRY_DEVICE=cpu:copy OMP_NUM_THREADS=2
// flags: -fopenmp
/* Devices give up what they keep, names lead to devices and back, and what is not there is said. */
#include "ferry_test.h"
#include <stddef.h>
#include <unistd.h>
KERNEL(try_inside) {
    extern int omp_pause_resource(int, int);
    *(int *)args[0] = omp_pause_resource(1, 0);
}
#ifndef DEVICE_UNIT
extern int omp_pause_resource(int, int), omp_pause_resource_all(int), omp_get_device_from_uid(const char *);
extern const char *omp_get_uid_from_device(int);
extern size_t omp_get_device_memspace(int, size_t), omp_get_device_allocator(int, size_t);
extern int omp_get_memspace_num_resources(size_t);
extern size_t omp_get_submemspace(size_t, int, const int *);
extern void *omp_alloc(size_t, size_t);
extern void omp_free(void *, size_t), omp_init_lock_with_hint(int *, int), omp_set_lock(int *), omp_unset_lock(int *);
static int threads(void) {
    char text[64];
    sprintf(text, "ls /proc/%d/task | wc -l", getpid());
    FILE *list = popen(text, "r");
    int count = 0;
    if (fscanf(list, "%d", &count) != 1) count = -1;
    pclose(list);
    return count;
}
int main(void) {
    int a = 5, kept = 7, result = 0, lock = -1;
#pragma omp parallel num_threads(2)
    {
        int inside = 0;
        TARGET(try_inside, {&inside, &inside, 4, TOFROM | PARAM, ";inside;t.c;1;1;;", 0});
        if (inside == 0) failures++;
    }
    CHECK(threads() > 1);
    ENTER({&a, &a, 4, TO, ";a;t.c;1;1;;", 0});
    CHECK(omp_pause_resource(1, 0) == 0 && omp_target_is_present(&a, 0));
    CHECK(omp_pause_resource(2, 0) == 0 && !omp_target_is_present(&a, 0));
    EXIT({&a, &a, 4, FROM, ";a;t.c;1;1;;", 0}); /* is gone already */
    CHECK(a == 5);
    CHECK(omp_pause_resource_all(2) == 0);
    for (int i = 0; i < 100 && threads() > 1; i++) usleep(20000);
    CHECK(threads() == 1);
    CHECK(omp_pause_resource(1, 99) != 0 && omp_pause_resource(77, 0) != 0);
    TARGET(try_inside, {&result, &result, 4, TOFROM | PARAM, ";result;t.c;1;1;;", 0});
    CHECK(result != 0);
    for (int i = 0; i <= omp_get_num_devices(); i++) CHECK(omp_get_device_from_uid(omp_get_uid_from_device(i)) == i);
    CHECK(!omp_get_uid_from_device(99) && omp_get_device_from_uid("nobody") == -4);
    CHECK(omp_get_device_memspace(0, 0) == (has_copies() ? SIZE_MAX : 0));
    const int first = 0, second = 1;
    CHECK(omp_get_memspace_num_resources(3) == 1 && omp_get_memspace_num_resources(SIZE_MAX) == 0);
    CHECK(omp_get_submemspace(3, 1, &first) == 3 && omp_get_submemspace(3, 1, &second) == SIZE_MAX);
    size_t allocator = omp_get_device_allocator(0, 0);
    CHECK(allocator == !has_copies());
    int *memory = omp_alloc(4, allocator ? allocator : 1);
    *memory = 3;
    omp_free(memory, allocator ? allocator : 1);
    omp_init_lock_with_hint(&lock, 2);
    omp_set_lock(&lock);
    omp_unset_lock(&lock);
    (void)kept;
    printf("%s\n", failures ? "failed" : "passed");
    return failures != 0;
}
#endif
