// run: translate --to openmp --report text
// A construct sums up what a loop inside adds to without a word: a team's threads add to copies too.

int loop(const int *a, int n) {
  int x = 0;
#pragma acc parallel reduction(+:x) copyin(a[0:n])
  {
#pragma acc loop
    for (int i = 0; i < n; i++) x += a[i];
  }
  return x;
}

int inner(const int *a, int n) {
  int x = 0;
#pragma acc parallel reduction(+:x) copyin(a[0:n])
  {
#pragma acc loop gang
    for (int i = 0; i < n; i++) {
#pragma acc loop vector
      for (int j = 0; j < 2; j++) x += a[i];
    }
  }
  return x;
}
