/* Variables with addresses in them from the beginning; variables that the host may write; texts. */
#include "device.h"

static int numbers[8] = {1, 2, 3, 4, 5, 6, 7, 8};
static int *middle = &numbers[3];
static int *const ends[2] = {numbers, numbers + 7};
struct entry { char tag; int *p; const char *text; int (*f)(int); struct entry *next; };
static int twice(int x) { return 2 * x; }
static int square(int x) { return x * x; }
static struct entry second = {'b', &numbers[5], "second", square, 0};
static struct entry first = {'a', numbers + 2, "first", twice, &second};
struct __attribute__((packed)) tight { char c; int *p; short s; };
static struct tight tight = {3, &numbers[6], 9};
static const char *const words[] = {"zero", "one", 0, "three"};
static uintptr_t as_number = (uintptr_t)&numbers[1];
int *written_by_host;
long shared = 40;
static int zeros[100];
static struct { int n; int *p; } array[3] = {{1, numbers}, {2, 0}, {3, &numbers[4]}};

#ifdef HOST
void prepare(void *const *slots) {
    for (int i = 0; i < 16; i++) ((int *)slots[0])[i] = i + 500;
}
#endif

NOINLINE static int length(const char *text) {
    int n = 0;
    while (text[n]) n++;
    return n;
}

void __ferry_k_test(void *const *slots) {
    int *host = slots[0];
    long *out = slots[1];
    int k = 0;
    out[k++] = *middle, out[k++] = *ends[0] + *ends[1];
    for (struct entry *e = &first; e; e = e->next) out[k++] = e->tag + *e->p + length(e->text) + e->f(7);
    out[k++] = tight.c + *tight.p + tight.s;
    for (int i = 0; i < 4; i++) out[k++] = words[i] ? length(words[i]) : -1;
    out[k++] = *(int *)as_number;
    if (written_by_host == 0) written_by_host = host + 3;
    out[k++] = *written_by_host;
    shared += 2;
    out[k++] = shared;
    middle = host + 5;
    out[k++] = *middle;
    middle = &numbers[3];
    for (int i = 0; i < 100; i++) zeros[i] += i;
    out[k++] = zeros[50];
    for (int i = 0; i < 3; i++) out[k++] = array[i].n + (array[i].p ? *array[i].p : 0);
    array[1].p = host;
    out[k++] = *array[1].p;
    first.p = host + 1;
    out[k++] = *first.p + length("literal");
}
