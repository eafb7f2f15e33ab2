// Mathematical functions of both types on the device.
#include <omp.h>

#include <cmath>
#include <cstdio>

static bool near(double a, double b) { return std::fabs(a - b) <= 1e-5 * (1 + std::fabs(b)); }

int main() {
  int faults = 0, on_host = 1;
  double d[12] = {0};
  float f[8] = {0};
  double x = 0.7, y = 2.3;
#pragma omp target map(from : d, f, on_host)
  {
    on_host = omp_is_initial_device();
    float s = (float)x, t = (float)y;
    d[0] = std::sin(x), d[1] = std::exp(x), d[2] = std::pow(x, y), d[3] = std::sqrt(y), d[4] = std::atan2(x, y);
    d[5] = std::floor(y), d[6] = std::fabs(-x), d[7] = std::log(y), d[8] = std::fmax(x, y), d[9] = std::tanh(x);
    d[10] = std::erf(x), d[11] = std::fma(x, y, 1);
    f[0] = std::cos(s), f[1] = std::log10(t), f[2] = std::pow(s, t), f[3] = std::sqrt(t), f[4] = std::ceil(t);
    f[5] = std::exp2(s), f[6] = std::cbrt(t), f[7] = std::hypot(s, t);
  }
  double de[12] = {std::sin(x),  std::exp(x), std::pow(x, y),    std::sqrt(y), std::atan2(x, y), std::floor(y),
                   std::fabs(x), std::log(y), std::fmax(x, y),   std::tanh(x), std::erf(x),      std::fma(x, y, 1)};
  double fe[8] = {std::cos(x), std::log10(y), std::pow(x, y), std::sqrt(y), std::ceil(y), std::exp2(x), std::cbrt(y),
                  std::hypot(x, y)};
  for (int i = 0; i < 12; i++)
    faults += !near(d[i], de[i]);
  for (int i = 0; i < 8; i++)
    faults += !near(f[i], fe[i]);
  faults += on_host;
  printf(faults ? "wrong: %d\n" : "right\n", faults);
  return faults != 0;
}
