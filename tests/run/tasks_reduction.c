/* Regions that take part in a reduction of tasks. */
#include <omp.h>
#include <stdio.h>

static int failures;

static void expect(int holds, const char *what) {
  if (!holds) {
    printf("wrong: %s\n", what);
    failures++;
  }
}

/* Outside of parallel regions, where a task may be run at once. */
static void alone(void) {
  int sum = 0, gate = 0, on_device = 0;
#pragma omp taskgroup task_reduction(+ : sum)
  {
    for (int k = 1; k <= 5; k++) {
#pragma omp target in_reduction(+ : sum) nowait firstprivate(k)
      sum += k;
    }
#pragma omp target map(tofrom : gate) depend(out : gate) nowait
    gate = 7;
#pragma omp target in_reduction(+ : sum) nowait depend(in : gate) map(to : gate)
    sum += gate;
#pragma omp target in_reduction(+ : sum) map(from : on_device)
    {
      sum += 100;
      on_device = !omp_is_initial_device();
    }
#pragma omp task in_reduction(+ : sum)
    sum += 1000;
  }
  expect(sum == 15 + 7 + 100 + 1000 && on_device, "regions and tasks add to one sum");
}

/* Inside, where many threads run them. */
static void in_a_team(void) {
  int sum = 0, gate = 0;
  double parts[3] = {0};
#pragma omp parallel num_threads(4)
#pragma omp single
#pragma omp taskgroup task_reduction(+ : sum, parts)
  {
    for (int k = 1; k <= 20; k++) {
#pragma omp target in_reduction(+ : sum, parts) nowait firstprivate(k)
      {
        sum += k;
        parts[k % 3] += omp_is_initial_device() ? 0.5 : 1;
      }
    }
#pragma omp target map(tofrom : gate) depend(out : gate) nowait
    gate = 7;
#pragma omp target in_reduction(+ : sum) nowait depend(in : gate) map(to : gate)
    sum += gate;
  }
  expect(sum == 210 + 7, "sums of a team");
  expect(parts[0] == 6 && parts[1] == 7 && parts[2] == 7, "arrays too");
}

int main(void) {
  alone();
  in_a_team();
  return failures != 0;
}
