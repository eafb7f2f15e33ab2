/* What is a word, a type, a function or a macro in the languages of devices is a plain name in C. */
#include <omp.h>
#include <stdio.h>
float sinf(float), expf(float), fabsf(float);
double fmod(double, double);

struct class { int this, half, new; };
struct float4 { int global, M_PI, template; };
struct image2d_t { struct float4 kernel; union { int dim3, bool; } private; };
enum operator { sampler_t = 3, constexpr = 4 };

#pragma omp begin declare target
static int barrier(int get_global_id) { return get_global_id + 1; }
static int typename(int max) { return max * 2; }
static int popcount(int local, int threadIdx) { return local - threadIdx; }
static int printf_(int uchar) { int pipe = uchar; return pipe; }
static float sine(float x)
{
  float sin = sinf(x), exp = expf(x);
  float fabs = fabsf(sin - exp);
  return fabs;
}
static int blockIdx(struct class *class, struct image2d_t image)
{
  int delete = class->this + class->half;
  class->new = delete;
  goto namespace;
  delete = 0;
namespace:
  switch (class->half) {
  case sampler_t: goto catch;
  default: return -1;
  }
catch:
  return delete + image.kernel.template + image.kernel.M_PI + image.private.bool;
}
#pragma omp end declare target

int main(void)
{
  int vec_step = 1, image2d_t = 2, bool = 3, class = 4, M_PI = 5, NAN = 6, INFINITY = 7, half = 8, this = 9, warpSize = 10;
  int local = 11, global = 12, kernel = 13, constant = 14, pipe = 15, uint = 16, float4 = 17, size_t = 18, true = 19;
  int operator = 20, template = 21, typename_ = 22, nullptr = 23, FLT_MAX = 24, INT_MAX = 25, exp = 26, dim3 = 27, or = 28;
  int asm_ = 29, event_t = 30, CLK_LOCAL_MEM_FENCE = 31, barrier_ = 32, __shared__ = 33, clock = 34, y1 = 35, EOF_ = 36;
  int r = 0, on_device = 0, sum = 0, mapped[3] = { 1, 2, 3 };
  int wanted = 0;
  for (int i = 1; i <= 36; i++)
    wanted += i * i;
#pragma omp target map(tofrom: r) map(from: on_device)
  {
    on_device = !omp_is_initial_device();
    r = vec_step * vec_step + image2d_t * image2d_t + bool * bool + class * class + M_PI * M_PI + NAN * NAN
      + INFINITY * INFINITY + half * half + this * this + warpSize * warpSize + local * local + global * global
      + kernel * kernel + constant * constant + pipe * pipe + uint * uint + float4 * float4 + size_t * size_t + true * true
      + operator * operator + template * template + typename_ * typename_ + nullptr * nullptr + FLT_MAX * FLT_MAX
      + INT_MAX * INT_MAX + exp * exp + dim3 * dim3 + or * or + asm_ * asm_ + event_t * event_t
      + CLK_LOCAL_MEM_FENCE * CLK_LOCAL_MEM_FENCE + barrier_ * barrier_ + __shared__ * __shared__ + clock * clock + y1 * y1
      + EOF_ * EOF_;
  }
  int wrong = r != wanted;
  struct class record = { 1, 3, 0 };
  struct image2d_t other = { { 1, 10, 100 }, { 1000 } };
  float there = 0;
#pragma omp target map(tofrom: record) map(to: other) map(from: r, there)
  {
    struct class own = record;
    r = blockIdx(&own, other) + barrier(1) * 10000 + typename(3) * 100000 + popcount(9, 8) * 1000000 + printf_(2) * 10000000;
    record.new = own.new;
    there = sine(0.5f);
  }
  wrong += r != 21621114 + 0 * (int)there || record.new != 4;
  wrong += !(there > 1.169 && there < 1.1694);
#pragma omp target teams distribute parallel for reduction(+: sum) map(to: mapped)
  for (int private = 0; private < 3; private++) {
    int generic = mapped[private], try = private;
    sum += generic * barrier(try);
  }
  wrong += sum != 14;
  printf("%d wrong (%d %d %g %d)\n", wrong, r, record.new, there, sum);
  return wrong || !on_device;
}
