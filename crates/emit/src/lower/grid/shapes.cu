# 1 "<ferry>" 3
/* The value that another thread of the bundle has. */
template <class T> static __device__ T __ferry_from(T own, int lane)
{
  unsigned parts[(sizeof(T) + 3) / 4] = {};
  memcpy(parts, &own, sizeof(T));
  for (unsigned &part : parts)
    part = __shfl_sync(~0u, part, lane);
  memcpy(&own, parts, sizeof(T));
  return own;
}
/* One over a root, as the two say it, bit by bit: shown for all numbers. The root by the approximation
   of its inverse and one step, and the inverse by two from there; the last bit is told by nothing
   else where the root is just below a power of two. */
static __device__ float __ferry_inverse_root(float x)
{
  const bool is_low = x < 0x1p-100f;
  const float z = is_low ? x * 0x1p64f : x;
  float first;
  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(first) : "f"(z));
  const float near = __fmul_rn(z, first);
  const float root = __fmaf_rn(__fmaf_rn(-near, near, z), __fmul_rn(0.5f, first), near);
  float y = __fmaf_rn(__fmaf_rn(-root, first, 1.0f), first, first);
  y = __fmaf_rn(__fmaf_rn(-root, y, 1.0f), y, y);
  if ((__float_as_uint(root) & 0x7fffff) == 0x7fffff)
    y = __uint_as_float(__float_as_uint(y) | 1);
  if (is_low)
    y *= 0x1p32f;
  return z == 0 || z == __int_as_float(0x7f800000) ? first : y;
}
