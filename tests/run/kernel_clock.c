// Kernels ask for the time, and wait.
#include <omp.h>
#include <sched.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static double slept(int microseconds) {
  double begin = omp_get_wtime();
  usleep((unsigned)microseconds);
  return omp_get_wtime() - begin;
}
#pragma omp declare target enter(slept)

int main(void) {
  double times[4] = {0}, tick = 0;
  int on_device = 0, went_back = 0, rounds = 0;
#pragma omp target map(tofrom : times) map(from : on_device, went_back, tick, rounds)
  {
    on_device = !omp_is_initial_device();
    tick = omp_get_wtick();
    times[0] = slept(2000);
    times[1] = slept(20000);
    struct timespec time = {0, 3000000};
    double begin = omp_get_wtime();
    nanosleep(&time, 0);
    times[2] = omp_get_wtime() - begin;
    clock_t first = clock();
    went_back = 0;
    rounds = 0;
    for (double last = begin; rounds < 100; rounds++) {
      double now = omp_get_wtime();
      went_back += now < last;
      last = now;
      went_back += sched_yield() != 0;
    }
    went_back += clock() < first;
  }
  int wrong = !on_device || went_back || rounds != 100 || tick <= 0 || tick > 0.1;
  wrong += times[0] < 0.0019 || times[1] < 0.019 || times[2] < 0.0029 || times[1] > 10;
  if (wrong)
    printf("%d %d %g %g %g\n", on_device, went_back, times[0], times[1], times[2]);
  return wrong;
}
