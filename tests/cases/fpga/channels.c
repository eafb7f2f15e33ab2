// run: check
// A channel has one region that writes it and a later one that reads it, inside of what declares it.
void good(int n, int *a, int *b) {
  int t[64];
#pragma acc data copyin(a[0:n]) copyout(b[0:n]) pipe(t)
  {
#pragma acc parallel loop pipeout(t)
    for (int i = 0; i < 64; i++) t[i] = a[i];
#pragma acc parallel loop pipein(t)
    for (int i = 0; i < 64; i++) b[i] = t[i];
  }
}
void undeclared(int n, int *a) {
  int t[64];
#pragma acc data copyin(a[0:n]) create(t)
  {
#pragma acc parallel loop pipeout(t)
    for (int i = 0; i < 64; i++) t[i] = a[i];
  }
}
void unread(int n, int *a) {
  int t[64];
#pragma acc data copyin(a[0:n]) pipe(t)
  {
#pragma acc parallel loop pipeout(t)
    for (int i = 0; i < 64; i++) t[i] = a[i];
  }
}
void unwritten(int n, int *b, float *t) {
#pragma acc data copyout(b[0:n]) pipe(t[0:n])
  {
#pragma acc parallel loop pipein(t)
    for (int i = 0; i < n; i++) b[i] = t[i];
  }
}
void turned(int n, int *b, float *t) {
#pragma acc data copy(b[0:n]) pipe(t[0:n])
  {
#pragma acc parallel loop pipein(t)
    for (int i = 0; i < n; i++) b[i] = t[i];
#pragma acc parallel loop pipeout(t)
    for (int i = 0; i < n; i++) t[i] = b[i];
  }
}
void twice(int n, int *b, float *t) {
#pragma acc data copy(b[0:n]) pipe(t[0:n])
  {
#pragma acc parallel loop pipeout(t)
    for (int i = 0; i < n; i++) t[i] = b[i];
#pragma acc parallel loop pipeout(t)
    for (int i = 0; i < n; i++) t[i] = 2 * b[i];
#pragma acc parallel loop pipein(t)
    for (int i = 0; i < n; i++) b[i] = t[i];
  }
}
void both_ways(int n, int *b, float *t) {
#pragma acc data copy(b[0:n]) pipe(t[0:n])
  {
#pragma acc parallel loop pipeout(t)
    for (int i = 1; i < n; i++) t[i] = t[i - 1] + b[i];
#pragma acc parallel loop pipein(t)
    for (int i = 0; i < n; i++) b[i] = t[i] = 3;
  }
}
