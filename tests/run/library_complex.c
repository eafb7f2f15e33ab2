// Functions of complex numbers in regions.
#include <complex.h>
#include <omp.h>
#include <stdio.h>

static int is_near(double complex a, double complex b) { return cabs(a - b) < 1e-12 * (1 + cabs(b)); }

int main(void)
{
  double complex z[4] = { 1 + 2 * I, -3 + 0.5 * I, -1 - I, 2 }, made[4][6];
  double angle[4];
  int away = 0, right;
#pragma omp target parallel for map(to : z) map(from : made, angle) map(tofrom : away)
  for (int i = 0; i < 4; i++) {
    made[i][0] = cexp(z[i]);
    made[i][1] = clog(z[i]);
    made[i][2] = csqrt(z[i]);
    made[i][3] = cpow(z[i], 1.5 - 0.5 * I);
    made[i][4] = csin(z[i]);
    made[i][5] = ccos(z[i]);
    angle[i] = carg(z[i]);
    if (i == 3) away = !omp_is_initial_device();
  }
  right = away;
  for (int i = 0; i < 4; i++) {
    right &= is_near(made[i][0], cexp(z[i])) && is_near(made[i][1], clog(z[i])) && is_near(made[i][2], csqrt(z[i]));
    right &= is_near(made[i][3], cpow(z[i], 1.5 - 0.5 * I)) && is_near(made[i][4], csin(z[i]));
    right &= is_near(made[i][5], ccos(z[i])) && is_near(angle[i], carg(z[i]));
  }
  if (!right) printf("wrong: functions of complex numbers\n");
  return !right;
}
