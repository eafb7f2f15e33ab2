// generic: 1
/* Small structures that are handed over by value, with pointers in them: they stay what they are. The one generic access
   stores the result. */
#include "device.h"

#ifdef HOST
void prepare(void *const *slots) { (void)slots; }
#endif

struct span { int *p; long n; };
struct counted { int n; int *p; };
struct one { int *p; };
struct two { int *p, *q; };
struct scaled { int *p; double by; };
struct nested { struct one inner; unsigned short n, m; };
union either { int *p; struct one inner; };

NOINLINE static int sum(struct span s) {
    int x = 0;
    for (long i = 0; i < s.n; i++) x = x * 3 + s.p[i];
    return x;
}
NOINLINE static int counted(int before, struct counted s, int behind) { return before * s.p[s.n] + behind; }
NOINLINE static int first(struct one s) { return s.p[0]; }
NOINLINE static struct one behind(struct one s) { return (struct one){s.p + 1}; }
NOINLINE static struct two turned(struct two t) { return (struct two){t.q, t.p}; }
NOINLINE static struct span cut(struct span s, long by) {
    if (by > 1) s = cut(s, by - 1);
    s.p++, s.n--;
    return s;
}
NOINLINE static int scaled(struct scaled s) { return (int)(s.p[2] * s.by); }
NOINLINE static int nested(struct nested s, struct two t) { return s.inner.p[s.n] * 5 + t.q[s.m]; }
NOINLINE static int either(union either u) { return u.p[6]; }

void __ferry_k_test(void *const *slots) {
    int near[8], other[8], x = 0;
    for (int i = 0; i < 8; i++) near[i] = i * i + 1, other[i] = 100 - i;
    struct span s = {near, 8};
    struct counted c = {3, other};
    struct two t = {near, other};
    x += sum(cut(s, 3)) + sum(s);
    x = x * 7 + counted(2, c, 9);
    x = x * 7 + first(behind(behind((struct one){near})));
    x = x * 7 + *turned(t).p - *turned(turned(t)).p;
    x = x * 7 + scaled((struct scaled){other, 2.5});
    x = x * 7 + nested((struct nested){{near}, 3, 4}, turned(t));
    x = x * 7 + either((union either){other});
    *(int *)slots[1] = x;
}
