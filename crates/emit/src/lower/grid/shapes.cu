# 1 "<ferry>" 3
/* One over a root, as the two say it, bit by bit: shown for all numbers. The root by the approximation of its inverse
   and one step, and the inverse by two from there; of these the first rounds upwards, or the second would stay at a
   power of two where the root is just below one. What is no number behind zero and infinity is where the
   approximation is right. Of numbers below 2^-100 only zero is served. */
static __device__ float __ferry_inverse_root_of_large(float z)
{
  float first;
  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(first) : "f"(z));
  const float near = __fmul_rn(z, first), half = __fmul_rn(0.5f, first);
  const float root = __fmaf_rn(__fmaf_rn(-near, near, z), half, near);
  const float up = __fmaf_ru(__fmaf_rn(-root, first, 1.0f), first, first);
  return fmaxf(__fmaf_rn(__fmaf_rn(-root, up, 1.0f), up, up), half);
}
static __device__ float __ferry_inverse_root(float x)
{
  const bool is_low = x < 0x1p-100f;
  const float y = __ferry_inverse_root_of_large(is_low ? x * 0x1p64f : x);
  return is_low ? y * 0x1p32f : y;
}
