// Functions with several ends, records, pointers into them, and variables that pointers reach as well.
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#define N 100

struct point { float at[2]; int kind; };
struct pair { int low, high; };

static int clamp(int x, int low, int high) {
  if (x < low) return low;
  if (x > high)
    return high;
  else if (x == 50)
    x = -x;
  return x;
}

static float far(const struct point *p) {
  float square = p->at[0] * p->at[0] + p->at[1] * p->at[1];
  if (p->kind == 2) return -sqrtf(square);
  return sqrtf(square);
}

static void put(int *to, int value) {
  if (value < 0) return;
  *to = value;
}

int main(void) {
  struct point p[N];
  float d[N], least = 1e9f, most = 0;
  int a[N], away = 0, last = 7, *alias = &last, seen = 0;
  for (int i = 0; i < N; i++) p[i] = (struct point){{i, 3}, i % 3}, a[i] = i;

#pragma omp target map(to : p) map(from : d) map(tofrom : away, least, most)
  {
    away = !omp_is_initial_device();
    for (int i = 0; i < N; i++) {
      d[i] = far(&p[i]);
      least = fminf(least, d[i]);
      most = fmaxf(d[i], most);
    }
  }
#pragma omp target map(tofrom : a)
  for (int i = 0; i < N; i++) {
    struct pair p;
    p.low = clamp(a[i], 10, 60);
    p.high = clamp(i, 40, 45);
    put(&a[i], p.low + p.high - 2 * abs(i - 50));
  }
  // The pointer leads to the variable: both are one object there, too.
#pragma omp target data map(tofrom : last)
#pragma omp target map(tofrom : last) map(tofrom : alias[0 : 1]) map(tofrom : seen)
  for (int i = 0; i < 10; i++) {
    last += i;
    seen += *alias;
    alias[0] += 1;
  }

  int wrong = !away;
  float low = 1e9f, high = 0;
  for (int i = 0; i < N; i++) {
    float square = (float)i * i + 9;
    float want = i % 3 == 2 ? -sqrtf(square) : sqrtf(square);
    wrong |= d[i] != want;
    low = fminf(low, want), high = fmaxf(want, high);
    int value = clamp(i, 10, 60) + clamp(i, 40, 45) - 2 * (i < 50 ? 50 - i : i - 50);
    wrong |= a[i] != (value < 0 ? i : value);
  }
  int sum = 7, all = 0;
  for (int i = 0; i < 10; i++) sum += i, all += sum, sum += 1;
  return wrong || low != least || high != most || last != sum || seen != all;
}
