/* Bit-fields lie on every device where the host's compiler puts them, and compute as it computes. */
#include <omp.h>
#include <stdio.h>
#include <string.h>

enum colour { RED, GREEN, BLUE = 6 };
struct mixed {
  unsigned a : 3;
  int b : 5;
  _Bool c : 1;
  unsigned d : 27;
  char plain;
  signed char e : 4, f : 4;
  unsigned long g : 40;
  long h : 33;
  short : 0;
  unsigned short i : 9;
  enum colour j : 4;
  double real;
  unsigned : 5;
  unsigned k : 32;
  int l : 32;
  long long m : 64;
};
struct __attribute__((packed)) tight {
  unsigned a : 3;
  unsigned long b : 40;
  int c : 20;
  char d;
  unsigned e : 11;
};
#pragma pack(push, 2)
struct pushed {
  char a;
  int b : 17;
  double c;
  unsigned d : 31;
};
#pragma pack(pop)
union either {
  unsigned low : 4;
  int sign : 7;
  unsigned char bytes[4];
  struct {
    unsigned : 8;
    unsigned high : 6;
    int last : 3;
  };
};
struct nested {
  int x : 6;
  struct mixed in;
  struct {
    unsigned y : 10, z : 10;
  };
  struct tight row[2];
  union either either;
};
struct held {
  struct nested nested;
  struct pushed pushed;
  long seen[64];
};

#pragma omp begin declare target
static int count(int *calls) { return ++*calls; }
static struct mixed made(int n)
{
  struct mixed it = { .a = n, .b = -n, .c = n, .g = 0xabcdef0123, .j = BLUE, .m = -1, .plain = 7, .f = -8 };
  return it;
}
static void work(struct held *to, int n)
{
  struct nested *s = &to->nested;
  long *seen = to->seen;
  int at = 0, calls = 0;
  seen[at++] = s->in.a - 10 < 0;
  seen[at++] = s->in.k - 10 > 0;
  seen[at++] = (s->in.a = 13);
  seen[at++] = (s->in.b = 31);
  seen[at++] = (s->in.c = 42);
  seen[at++] = s->in.a++;
  seen[at++] = ++s->in.a;
  seen[at++] = s->in.a--;
  seen[at++] = --s->in.b;
  seen[at++] = s->in.c--;
  seen[at++] = s->in.c--;
  seen[at++] = s->in.d += 0x7ffffff;
  seen[at++] = s->in.e -= 9;
  seen[at++] = s->in.f <<= 2;
  seen[at++] = s->in.g |= 1ul << 39;
  seen[at++] = (long)s->in.g;
  seen[at++] = s->in.h = -(1l << 32);
  seen[at++] = s->in.h;
  seen[at++] = s->in.i ^= 0x1ff;
  seen[at++] = s->in.j = GREEN;
  seen[at++] = s->in.k *= 3u;
  seen[at++] = s->in.l /= -2;
  seen[at++] = s->in.m %= 1000;
  seen[at++] = s->in.m;
  s->in.real *= 2;
  s->in.plain++;
  seen[at++] = s->y, seen[at++] = s->z;
  s->y = n, s->z = s->y * 2;
  s->x = -n;
  for (int i = 0; i < 2; i++) {
    s->row[i].a = n + i;
    s->row[i].b = (1ul << 39) + n + i;
    s->row[i].c -= n;
    s->row[i].d = 'a' + i;
    s->row[i].e += s->row[i].a;
    seen[at++] = s->row[i].b >> 30;
    seen[at++] = s->row[i].c;
  }
  s->either.low = 9;
  seen[at++] = s->either.sign;
  s->either.high = 41;
  s->either.last = -2;
  seen[at++] = s->either.bytes[1];
  seen[at++] = (s + count(&calls) - 1)->x;
  (s + count(&calls) - 2)->x = 3;
  seen[at++] = calls;
  struct mixed own = made(n), other = own;
  other.a = 1;
  seen[at++] = own.a, seen[at++] = own.b, seen[at++] = own.c, seen[at++] = own.j, seen[at++] = own.m;
  seen[at++] = (long)own.g, seen[at++] = own.f, seen[at++] = other.a, seen[at++] = other.plain, seen[at++] = own.k;
  const struct tight table[] = { { 1, 2, -3, 'x', 5 }, { .b = 0x7fffffffff, .e = n } };
  seen[at++] = table[0].c, seen[at++] = table[1].b == 0x7fffffffff, seen[at++] = table[1].e;
  seen[at++] = made(n + 1).b;
  union either one;
  one.sign = -3;
  seen[at++] = one.low;
  seen[at++] = sizeof(struct nested) + 1000 * sizeof(struct pushed);
  to->pushed.b = n * 4099;
  to->pushed.c = to->pushed.b;
  to->pushed.d = ~0u;
}
#pragma omp end declare target

static void begin(struct held *it)
{
  memset(it, 0, sizeof *it);
  it->nested.in = (struct mixed){ 5, -7, 1, 99, 'p', 3, -2, 77, -5, 300, BLUE, 1.5, 0xfffffff0, -77, -123456789012345 };
  it->nested.y = 1000, it->nested.z = 3;
  it->nested.row[1] = (struct tight){ 7, 1, -9, 'z', 2000 };
}

int main(void)
{
  static struct held here[4], there[4];
  int wrong = 0, on_device = 0;
  for (int i = 0; i < 4; i++) {
    begin(&here[i]), begin(&there[i]);
    work(&here[i], i * 5 + 1);
  }
#pragma omp target teams distribute parallel for map(tofrom: there)
  for (int i = 0; i < 4; i++)
    work(&there[i], i * 5 + 1);
  struct mixed one = made(3);
#pragma omp target map(tofrom: on_device) map(from: one)
  {
    on_device = !omp_is_initial_device();
    struct mixed mine = made(4);
    one = mine;
    one.a += 3;
  }
  for (int i = 0; i < 4; i++) {
    wrong += memcmp(&here[i].nested, &there[i].nested, sizeof(struct nested)) != 0;
    wrong += memcmp(&here[i].pushed, &there[i].pushed, sizeof(struct pushed)) != 0;
    for (int k = 0; k < 64; k++)
      if (here[i].seen[k] != there[i].seen[k])
        printf("%d: %d is %ld (%ld)\n", i, k, there[i].seen[k], here[i].seen[k]), wrong++;
  }
  wrong += one.a != 7 || one.b != -4 || one.j != BLUE || one.g != 0xabcdef0123;
  printf("%d wrong\n", wrong);
  return wrong || !on_device;
}
