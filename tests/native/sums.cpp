// Templates, lambdas, collapsed loops and reductions over teams; regions run on a device.
#include <omp.h>

#include <cstdio>
#include <vector>

template <typename T> T sum(const std::vector<T> &v) {
  const T *p = v.data();
  const long n = (long)v.size();
  T total = 0;
#pragma omp target teams distribute parallel for map(to : p[0 : n]) reduction(+ : total)
  for (long i = 0; i < n; i++)
    total += p[i];
  return total;
}

template <typename F> int applied(int n, F f) {
  int most = -1;
#pragma omp target teams distribute parallel for collapse(2) map(to : f) reduction(max : most)
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      if (f(i, j) > most)
        most = f(i, j);
  return most;
}

int main() {
  std::vector<int> whole(100000);
  std::vector<double> real(12345);
  long expect = 0;
  for (size_t i = 0; i < whole.size(); i++)
    whole[i] = (int)(i % 97), expect += whole[i];
  for (size_t i = 0; i < real.size(); i++)
    real[i] = 0.5;
  int on_host = 1, number = -1;
#pragma omp target map(from : on_host, number)
  {
    on_host = omp_is_initial_device();
    number = omp_get_num_teams();
  }
  int faults = 0;
  faults += sum(whole) != expect;
  faults += sum(real) != 0.5 * 12345;
  int k = 3;
  faults += applied(40, [=](int i, int j) { return i * k + j; }) != 39 * 3 + 39;
  faults += on_host != 0 || number != 1;
  faults += omp_get_num_devices() < 1;
  printf(faults ? "wrong: %d\n" : "right\n", faults);
  return faults != 0;
}
