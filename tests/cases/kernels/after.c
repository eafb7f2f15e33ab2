// run: print --after workshare --device opencl
// What a pass has made of kernels.
void scale(int n, float *x) {
#pragma omp target parallel for map(tofrom: x[0:n]) schedule(static, 4)
  for (int i = 0; i < n; i++) x[i] *= 2;
}
