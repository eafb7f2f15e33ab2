// env: FERRY_DEVICE=cpu
// env: FERRY_DEVICE=cpu:copy
// env: FERRY_DEVICE=cpu:separate
#include "ferry_test.h"

struct vector { long length; double *data; };

KERNEL(fill_it) {
    struct vector *v = args[0];
    for (long i = 0; i < v->length; i++) v->data[i] = i + 0.5;
}

#ifndef DEVICE_UNIT
/* declare mapper(struct vector v) map(v.length, v.data[0:v.length]), as clang makes it */
static void vector_mapper(void *handle, void *base, void *begin, int64_t size, int64_t type, void *name) {
    struct vector *v = begin;
    (void)size;
    int64_t first = __tgt_mapper_num_components(handle) << 48, how = type & TOFROM;
    int64_t parent = (int64_t)1 << 48;
    __tgt_push_mapper_component(handle, base, v, sizeof *v, type & ~(int64_t)TOFROM, name);
    __tgt_push_mapper_component(handle, base, &v->length, 8, (first + parent) | how, name);
    __tgt_push_mapper_component(handle, &v->data, v->data, v->length * 8, (first + parent) | how | PTR_AND_OBJ, name);
}

int main(void) {
    double values[5] = {0};
    struct vector v = {5, values};
    struct item mapped = {&v, &v, sizeof v, TOFROM | PARAM, ";v;t.c;1;1;;", vector_mapper};
    /* Inside a mapper the first component is not counted: the compiler maps the object too. */
    struct item object = {&v, &v, sizeof v, PARAM, ";v;t.c;1;1;;", 0};
    ENTER(object);
    TARGET(fill_it, mapped);
    CHECK(v.data == values && values[0] == 0.5 && values[4] == 4.5);
    ENTER(mapped);
    values[1] = 9;
    UPDATE({&v, &v, sizeof v, TO, 0, vector_mapper});
    values[1] = 0;
    UPDATE({&v, &v, sizeof v, FROM, 0, vector_mapper});
    CHECK(values[1] == (has_copies() ? 9 : 0));
    EXIT(mapped);
    CHECK(!omp_target_is_present(values, 0));
    EXIT((struct item){&v, &v, sizeof v, DELETE, 0, 0});
    CHECK(!omp_target_is_present(&v, 0));
    printf("%s\n", failures ? "failed" : "passed");
    return failures != 0;
}
#endif
