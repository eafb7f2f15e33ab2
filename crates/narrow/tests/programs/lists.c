/* Lists and trees in the host's memory, walked by loops and by recursion; mutual recursion. */
#include "device.h"

struct node { int value; struct node *next; struct node *child[2]; };

#ifdef HOST
static struct node *build(struct node **free, int depth, int value) {
    struct node *it = (*free)++;
    it->value = value;
    if (depth) {
        it->child[0] = build(free, depth - 1, value * 2 + 1);
        it->child[1] = build(free, depth - 1, value * 2 + 2);
    }
    return it;
}
void prepare(void *const *slots) {
    struct node *list = slots[0];
    for (int i = 0; i < 50; i++) {
        struct node *it = i % 2 ? (struct node *)slots[1] + i : list + i;
        struct node *next = i % 2 ? list + i + 1 : (struct node *)slots[1] + i + 1;
        it->value = i * i - 100;
        it->next = i < 49 ? next : 0;
    }
    struct node *free = (struct node *)((char *)slots[2] + 64);
    *(struct node **)slots[2] = build(&free, 5, 0);
}
#endif

NOINLINE static int sum(struct node *t) { return t ? t->value + sum(t->child[0]) + sum(t->child[1]) : 0; }
static int odd(struct node *n);
NOINLINE static int even(struct node *n) { return n ? n->value + odd(n->next) : 0; }
NOINLINE static int odd(struct node *n) { return n ? -n->value + even(n->next) : 0; }
NOINLINE static void mirror(struct node *t) {
    if (!t) return;
    struct node *left = t->child[0];
    t->child[0] = t->child[1], t->child[1] = left;
    mirror(t->child[0]), mirror(t->child[1]);
}

void __ferry_k_test(void *const *slots) {
    struct node *list = slots[0];
    int *out = slots[3];
    int total = 0;
    for (struct node *it = list; it; it = it->next) total += it->value;
    out[0] = total;
    out[1] = even(list);
    struct node *root = *(struct node **)slots[2];
    out[2] = sum(root);
    mirror(root);
    /* The list backwards, in place. */
    struct node *back = 0;
    for (struct node *it = list; it;) {
        struct node *next = it->next;
        it->next = back, back = it, it = next;
    }
    out[3] = back->value;
    /* A list of its own on the stack, with one node of the host at its end. */
    struct node own[4];
    for (int i = 0; i < 4; i++) own[i].value = i, own[i].next = i < 3 ? &own[i + 1] : back;
    int steps = 0;
    for (struct node *it = own; it && steps < 20; it = it->next) out[4 + steps++] = it->value;
}
