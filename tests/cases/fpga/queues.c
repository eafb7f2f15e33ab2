// run: explain --fpga %
// Channels between regions that run at the same time are queues; others are arrays, and the report says why.
#define N 4096
static float a[N], b[N], c[N], t[N], u[N], v[N];

void smooth(void) {
#pragma acc data copyin(a) copyout(b) create(c) pipe(t, u, v)
  {
#pragma acc parallel loop num_gangs(1) num_workers(1) vector_length(1) pipeout(t)
    for (int i = 0; i < N; i++) t[i] = a[i] * 0.5f;
#pragma acc parallel loop num_gangs(1) num_workers(1) vector_length(1) pipein(t) pipeout(u, v)
    for (int i = 0; i < N; i++) {
      float it = t[i];
      u[i] = it + 1;
      v[i] = it * it;
      c[i] = it;
    }
#pragma acc parallel loop num_gangs(1) num_workers(1) vector_length(1) pipein(u, v)
    for (int i = 0; i < N; i++) b[i] = u[i] + v[N - 1 - i] + c[i];
  }
}
