/* Locks of the runtime: words that are looked at and changed while the one lock of the device is held. A lock that
   nests counts how often its owner has it. */
static __device__ int __ferry_try_lock(volatile int *lock)
{
  for (;;)
    if (__ferry_try()) {
      const int is_free = lock[0] == 0;
      if (is_free)
        lock[0] = 1;
      __ferry_give();
      return is_free;
    }
}
static __device__ void __ferry_set_lock(volatile int *lock)
{
  while (!__ferry_try_lock(lock))
    ;
}
static __device__ void __ferry_clear_lock(volatile int *lock)
{
  for (;;)
    if (__ferry_try()) {
      lock[0] = 0;
      __ferry_give();
      return;
    }
}
static __device__ int __ferry_try_nest(volatile int *lock, int owner)
{
  for (;;)
    if (__ferry_try()) {
      const int is_mine = lock[0] == 0 || lock[1] == owner;
      const int count = is_mine ? lock[0] + 1 : 0;
      if (is_mine) {
        lock[0] = count;
        lock[1] = owner;
      }
      __ferry_give();
      return count;
    }
}
static __device__ void __ferry_set_nest(volatile int *lock, int owner)
{
  while (!__ferry_try_nest(lock, owner))
    ;
}
static __device__ void __ferry_leave_nest(volatile int *lock)
{
  for (;;)
    if (__ferry_try()) {
      lock[0] = lock[0] - 1;
      __ferry_give();
      return;
    }
}
#define __ferry_lock_took(lock) __ferry_try_lock((volatile int *)(lock))
#define __ferry_lock_set(lock) __ferry_set_lock((volatile int *)(lock))
#define __ferry_lock_put(lock) __ferry_clear_lock((volatile int *)(lock))
#define __ferry_lock_nested(lock) __ferry_try_nest((volatile int *)(lock), (int)__ferry_thread() + 1)
#define __ferry_lock_nest(lock) __ferry_set_nest((volatile int *)(lock), (int)__ferry_thread() + 1)
#define __ferry_lock_unnest(lock) __ferry_leave_nest((volatile int *)(lock))
