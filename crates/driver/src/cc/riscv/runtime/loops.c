/* Loops: which iterations are whose. */

enum {
  STATIC_CHUNKED = 33, STATIC, DYNAMIC, GUIDED, RUNTIME, AUTO,
  ORDERED_LOWEST = 64, /* an ordered loop; the kinds again from here, less 32 */
  DISTRIBUTE_CHUNKED = 91, DISTRIBUTE
};
#define MODIFIERS (1 << 29 | 1 << 30)

/* The bounds become those of part `number` of `parts`: one piece, or the first of pieces of `chunk` iterations. */
#define STATIC_LOOPS(SUFFIX, T, U) \
  INLINE U trips_##SUFFIX(T lower, T upper, T step) { \
    if (step == 1) return upper < lower ? 0 : (U)upper - (U)lower + 1; \
    if (step > 0) return upper < lower ? 0 : ((U)upper - (U)lower) / (U)step + 1; \
    return lower < upper ? 0 : ((U)lower - (U)upper) / ((U)0 - (U)step) + 1; \
  } \
  INLINE void share_##SUFFIX(int is_chunked, u32 number, u32 parts, int *is_last, T *lower, T *upper, T *stride, \
                             T step, T chunk) { \
    U trips = trips_##SUFFIX(*lower, *upper, step); \
    if (is_chunked) { \
      if (chunk < 1) chunk = 1; \
      T span = chunk * step; \
      *stride = span * (T)parts; \
      if (is_last) *is_last = trips && number == ((trips - 1) / (U)chunk) % parts; \
      *lower += span * (T)number; \
      *upper = *lower + span - step; \
      return; \
    } \
    *stride = (T)trips * step; \
    if (trips < parts) { \
      if (is_last) *is_last = number + 1 == trips; \
      if (number < trips) { \
        *lower += (T)number * step; \
        *upper = *lower; \
      } else { \
        *lower = *upper + step; \
      } \
      return; \
    } \
    U small = trips / parts, more = trips % parts; \
    U first = number * small + (number < more ? number : more); \
    U mine = small + (number < more); \
    *lower += (T)first * step; \
    *upper = *lower + (T)(mine - 1) * step; \
    if (is_last) *is_last = number == parts - 1; \
  } \
  void __kmpc_for_static_init_##SUFFIX(void *place, int id, int kind, int *is_last, T *lower, T *upper, T *stride, \
                                       T step, T chunk) { \
    Thread *thread = me(); \
    kind &= ~MODIFIERS; \
    if (kind == DISTRIBUTE_CHUNKED || kind == DISTRIBUTE) \
      share_##SUFFIX(kind == DISTRIBUTE_CHUNKED, thread->team, thread->teams, is_last, lower, upper, stride, step, chunk); \
    else \
      share_##SUFFIX(kind == STATIC_CHUNKED, thread->number, thread->size, is_last, lower, upper, stride, step, chunk); \
  } \
  void __kmpc_team_static_init_##SUFFIX(void *place, int id, int *is_last, T *lower, T *upper, T *stride, T step, T chunk) { \
    Thread *thread = me(); \
    share_##SUFFIX(1, thread->team, thread->teams, is_last, lower, upper, stride, step, chunk); \
  } \
  /* First among teams, then within the team's part. */ \
  void __kmpc_dist_for_static_init_##SUFFIX(void *place, int id, int kind, int *is_last, T *lower, T *upper, T *team_upper, \
                                            T *stride, T step, T chunk) { \
    Thread *thread = me(); \
    T end = *upper; \
    int team_is_last = 0, thread_is_last = 0; \
    T ignored; \
    share_##SUFFIX(0, thread->team, thread->teams, &team_is_last, lower, upper, &ignored, step, 0); \
    if (step > 0 ? *upper > end : *upper < end) *upper = end; \
    *team_upper = *upper; \
    share_##SUFFIX((kind & ~MODIFIERS) == STATIC_CHUNKED, thread->number, thread->size, &thread_is_last, lower, upper, \
                   stride, step, chunk); \
    if (is_last) *is_last = team_is_last && thread_is_last; \
  }

STATIC_LOOPS(4, int, u32)
STATIC_LOOPS(4u, u32, u32)
STATIC_LOOPS(8, i64, u64)
STATIC_LOOPS(8u, u64, u64)

void __kmpc_for_static_fini(void *place, int id) {}
void __kmpc_distribute_static_fini(void *place, int id) {}

/* Loops that are dealt out as threads ask. Iterations are counted from 0; the thread keeps where the loop begins. */
typedef struct { u64 lower, step; } Origin;
IN_L1 static Origin origins[MOST_CORES];

static void loop_begins(int kind, u64 count, u64 chunk) {
  Thread *thread = me();
  kind &= ~MODIFIERS;
  if (kind >= ORDERED_LOWEST) kind -= 32;
  if (kind == RUNTIME) {
    kind = thread->schedule ? thread->schedule : DYNAMIC;
    chunk = thread->schedule_chunk > 0 ? thread->schedule_chunk : 1;
    if (kind == STATIC && thread->schedule_chunk > 0) kind = STATIC_CHUNKED;
  }
  if (kind == AUTO) kind = STATIC;
  if ((i64)chunk < 1) chunk = 1;
  thread->is_ordered_done = 0;
  thread->my_next = thread->my_end = thread->my_ordered = 0;
  u32 number = ++thread->loop_number;
  if (thread->size <= 1) return;
  Loop *loop = &loops[number % LOOPS];
  for (;;) {
    acquire(&loop->lock);
    if (loop->number == number) break;
    if (loop->number == 0) {
      loop->number = number;
      loop->finished = 0;
      loop->next = 0;
      loop->count = count;
      loop->ordered = 0;
      if (kind == STATIC) chunk = count / thread->size + (count % thread->size != 0);
      loop->chunk = chunk ? chunk : 1;
      loop->kind = kind;
      break;
    }
    release(&loop->lock); /* one of LOOPS loops before is not at its end */
  }
  release(&loop->lock);
  thread->my_stride = 0;
}

/* The next iterations of this thread, from 0; false if there are none. */
static int loop_next(u64 count, u64 *first, u64 *end, int *is_last) {
  Thread *thread = me();
  if (thread->size <= 1) {
    if (thread->my_next) return 0;
    thread->my_next = 1;
    *first = 0;
    *end = count;
    if (is_last) *is_last = count != 0;
    return count != 0;
  }
  Loop *loop = &loops[thread->loop_number % LOOPS];
  if (loop->kind == STATIC || loop->kind == STATIC_CHUNKED) {
    /* Every thread can tell by itself. */
    u64 begin = (thread->my_stride * thread->size + thread->number) * loop->chunk;
    thread->my_stride++;
    *first = begin;
    *end = begin + loop->chunk;
  } else {
    acquire(&loop->lock);
    u64 left = loop->count - loop->next, take = loop->chunk;
    if (loop->kind == GUIDED) {
      u64 share = left / (2 * thread->size);
      if (share > take) take = share;
    }
    if (take > left) take = left;
    *first = loop->next;
    loop->next += take;
    *end = loop->next;
    release(&loop->lock);
  }
  if (*end > loop->count) *end = loop->count;
  if (*first >= *end) {
    acquire(&loop->lock);
    if (++loop->finished == thread->size) loop->number = 0;
    release(&loop->lock);
    return 0;
  }
  if (is_last) *is_last = *end == loop->count;
  thread->my_ordered = *first;
  return 1;
}

#define DYNAMIC_LOOPS(SUFFIX, T, U) \
  IN_L1 static U counts_##SUFFIX[MOST_CORES]; \
  void __kmpc_dispatch_init_##SUFFIX(void *place, int id, int kind, T lower, T upper, T step, T chunk) { \
    Origin *origin = &origins[core_number()]; \
    origin->lower = (u64)lower; \
    origin->step = (u64)step; \
    U count = trips_##SUFFIX(lower, upper, step); \
    counts_##SUFFIX[core_number()] = count; \
    loop_begins(kind, count, (u64)chunk); \
  } \
  void __kmpc_dist_dispatch_init_##SUFFIX(void *place, int id, int kind, int *is_last, T lower, T upper, T step, T chunk) { \
    Thread *thread = me(); \
    T stride; \
    int last = 0; \
    share_##SUFFIX(0, thread->team, thread->teams, &last, &lower, &upper, &stride, step, 0); \
    if (is_last) *is_last = last; \
    __kmpc_dispatch_init_##SUFFIX(place, id, kind, lower, upper, step, chunk); \
  } \
  int __kmpc_dispatch_next_##SUFFIX(void *place, int id, int *is_last, T *lower, T *upper, T *stride) { \
    Origin *origin = &origins[core_number()]; \
    u64 first, end; \
    int last = 0; \
    if (!loop_next(counts_##SUFFIX[core_number()], &first, &end, &last)) return 0; \
    *lower = (T)(origin->lower + first * origin->step); \
    *upper = (T)(origin->lower + (end - 1) * origin->step); \
    *stride = (T)origin->step; \
    if (is_last) *is_last = last; \
    return 1; \
  } \
  void __kmpc_dispatch_fini_##SUFFIX(void *place, int id) { iteration_ends(); }

static void iteration_ends(void);
DYNAMIC_LOOPS(4, int, u32)
DYNAMIC_LOOPS(4u, u32, u32)
DYNAMIC_LOOPS(8, i64, u64)
DYNAMIC_LOOPS(8u, u64, u64)
void __kmpc_dispatch_deinit(void *place, int id) {}

static void await_turn(Thread *thread) {
  Loop *loop = &loops[thread->loop_number % LOOPS];
  while (__atomic_load_n(&loop->ordered, __ATOMIC_ACQUIRE) != thread->my_ordered)
    ;
}

void __kmpc_ordered(void *place, int id) {
  Thread *thread = me();
  if (thread->size > 1) await_turn(thread);
}

void __kmpc_end_ordered(void *place, int id) {
  Thread *thread = me();
  if (thread->size <= 1) return;
  thread->is_ordered_done = 1;
  __atomic_store_n(&loops[thread->loop_number % LOOPS].ordered, thread->my_ordered + 1, __ATOMIC_RELEASE);
}

/* Of an ordered loop. Who had nothing in order lets the next pass all the same. */
static void iteration_ends(void) {
  Thread *thread = me();
  if (thread->size <= 1) return;
  if (!thread->is_ordered_done) {
    await_turn(thread);
    __kmpc_end_ordered(NULL, 0);
  }
  thread->is_ordered_done = 0;
  thread->my_ordered++;
}
