/* Bits of a record that the compiler would lay out otherwise: the host's compiler puts the first into the lowest. */
static __device__ long __ferry_sign(unsigned long value, unsigned width)
{
  return (long)(value << (64 - width)) >> (64 - width);
}
static __device__ unsigned long __ferry_bits(const unsigned char *bytes, unsigned bit, unsigned width)
{
  unsigned long value = 0;
  for (unsigned at = bit / 8, last = (bit + width - 1) / 8, from = at; at <= last; at++) {
    const long shift = (long)(at - from) * 8 - bit % 8;
    value |= shift < 0 ? (unsigned long)bytes[at] >> -shift : (unsigned long)bytes[at] << shift;
  }
  return value & ~0ul >> (64 - width);
}
static __device__ unsigned long __ferry_swap_bits(
    unsigned char *bytes, unsigned bit, unsigned width, unsigned long value)
{
  const unsigned long old = __ferry_bits(bytes, bit, width), mask = ~0ul >> (64 - width);
  for (unsigned at = bit / 8, last = (bit + width - 1) / 8, from = at; at <= last; at++) {
    const long shift = (long)(at - from) * 8 - bit % 8;
    const unsigned char own = (unsigned char)(shift < 0 ? mask << -shift : mask >> shift);
    const unsigned char put = (unsigned char)(shift < 0 ? value << -shift : value >> shift);
    bytes[at] = (unsigned char)((bytes[at] & ~own) | (put & own));
  }
  return old;
}
static __device__ unsigned long __ferry_put_bits(
    unsigned char *bytes, unsigned bit, unsigned width, unsigned long value)
{
  __ferry_swap_bits(bytes, bit, width, value);
  return value & ~0ul >> (64 - width);
}
