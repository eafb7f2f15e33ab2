/* The clock of the device, in nanoseconds, and waiting by it. */
#ifndef __ferry_globaltimer
static __device__ unsigned long __ferry_globaltimer(void)
{
  unsigned long now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}
#endif
static __device__ void __ferry_wait(unsigned long nanoseconds)
{
  const unsigned long start = __ferry_globaltimer();
  while (__ferry_globaltimer() - start < nanoseconds)
    __nanosleep(1000);
}
static __device__ int __ferry_c_usleep(unsigned microseconds)
{
  __ferry_wait(microseconds * 1000ul);
  return 0;
}
static __device__ unsigned __ferry_c_sleep(unsigned seconds)
{
  __ferry_wait(seconds * 1000000000ul);
  return 0;
}
template <class T> static __device__ int __ferry_c_nanosleep(const T *time, void *)
{
  __ferry_wait(time->tv_sec * 1000000000ul + time->tv_nsec);
  return 0;
}
static __device__ int __ferry_c_sched_yield(void)
{
  __nanosleep(0);
  return 0;
}
static __device__ double __ferry_c_wtime(void) { return (double)__ferry_globaltimer() * 1e-9; }
static __device__ double __ferry_c_wtick(void) { return 1e-6; }
static __device__ long __ferry_c_clock(void) { return (long)(__ferry_globaltimer() / 1000); }
