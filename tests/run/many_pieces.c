// Many small pieces come and go, each led to by a pointer of an array: four times as many take about four times as long.
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double seconds(void) {
  struct timespec now;
  timespec_get(&now, TIME_UTC);
  return now.tv_sec + now.tv_nsec * 1e-9;
}

static double took(int n, int *wrong) {
  double **pieces = malloc(n * sizeof *pieces);
  for (int i = 0; i < n; i++) {
    pieces[i] = malloc(4 * sizeof(double));
    pieces[i][3] = i;
  }
  double start = seconds();
  for (int i = 0; i < n; i++) {
#pragma omp target enter data map(to : pieces[i][0 : 4])
  }
  double *middle = pieces[n / 2];
  int was = -1;
#pragma omp target map(from : was)
  was = !omp_is_initial_device() && middle[3] == n / 2;
  *wrong |= was != 1;
  for (int i = 0; i < n; i++) {
#pragma omp target exit data map(from : pieces[i][0 : 4])
  }
  double time = seconds() - start;
  for (int i = 0; i < n; i++) {
    *wrong |= pieces[i][3] != i;
    free(pieces[i]);
  }
  free(pieces);
  return time;
}

int main(void) {
  int wrong = 0;
  took(100, &wrong);
  double few = 0, many = 1;
  // A machine that is busy in between says nothing.
  for (int tries = 0; tries < 3 && many > 12 * few; tries++) {
    few = took(5000, &wrong), many = took(20000, &wrong);
    if (few < 0.05)
      few = 0.05;
  }
  if (many > 12 * few)
    printf("%g s became %g s\n", few, many);
  return wrong || many > 12 * few;
}
