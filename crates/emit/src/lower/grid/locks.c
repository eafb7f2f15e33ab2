/* Locks of the runtime: words that are looked at and changed while the one lock of the device is held. A lock that
   nests counts how often its owner has it. */
__ferry_fn __attribute__((always_inline)) int __ferry_try_lock(__ferry_of_thread volatile __ferry_far int *lock)
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
__ferry_fn __attribute__((always_inline)) void __ferry_set_lock(__ferry_of_thread volatile __ferry_far int *lock)
{
  while (!__ferry_try_lock(__ferry_mine_and lock))
    ;
}
__ferry_fn __attribute__((always_inline)) void __ferry_clear_lock(__ferry_of_thread volatile __ferry_far int *lock)
{
  for (;;)
    if (__ferry_try()) {
      lock[0] = 0;
      __ferry_give();
      return;
    }
}
__ferry_fn __attribute__((always_inline)) int __ferry_try_nest(__ferry_of_thread volatile __ferry_far int *lock, int owner)
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
__ferry_fn __attribute__((always_inline)) void __ferry_set_nest(__ferry_of_thread volatile __ferry_far int *lock, int owner)
{
  while (!__ferry_try_nest(__ferry_mine_and lock, owner))
    ;
}
__ferry_fn __attribute__((always_inline)) void __ferry_leave_nest(__ferry_of_thread volatile __ferry_far int *lock)
{
  for (;;)
    if (__ferry_try()) {
      lock[0] = lock[0] - 1;
      __ferry_give();
      return;
    }
}
#define __ferry_lock_took(lock) __ferry_try_lock(__ferry_mine_and (volatile __ferry_far int *)(lock))
#define __ferry_lock_set(lock) __ferry_set_lock(__ferry_mine_and (volatile __ferry_far int *)(lock))
#define __ferry_lock_put(lock) __ferry_clear_lock(__ferry_mine_and (volatile __ferry_far int *)(lock))
#define __ferry_lock_nested(lock) \
  __ferry_try_nest(__ferry_mine_and (volatile __ferry_far int *)(lock), (int)__ferry_thread() + 1)
#define __ferry_lock_nest(lock) \
  __ferry_set_nest(__ferry_mine_and (volatile __ferry_far int *)(lock), (int)__ferry_thread() + 1)
#define __ferry_lock_unnest(lock) __ferry_leave_nest(__ferry_mine_and (volatile __ferry_far int *)(lock))
