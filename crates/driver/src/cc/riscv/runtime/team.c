/* Teams of cores: who runs what, and how they wait for one another.
 *
 * Core 0 begins every region; the others sleep until it forks. One parallel region is spread over the cores at a
 * time: those inside of it have one thread. Teams of a league run one after the other. */

#define MOST_CORES 64
#define LOOPS 8

/* A loop whose iterations are dealt out while it runs. */
typedef struct {
  int lock;
  u32 number;    /* which loop of the team has it; 0 for none */
  u32 finished;  /* threads that have left it */
  u64 next, count, chunk;
  u64 ordered;   /* the iteration whose turn it is */
  int kind;
} Loop;

typedef struct {
  void (*run)(int *, int *, void *);
  void *pack;
  u32 size;
  int single_lock;
  u32 singles;
  u32 plan, version; /* of a loop whose arrays are brought near, and which of them */
} Team;

/* What a core knows of the thread it runs. */
typedef struct {
  u32 number, size;       /* in its team */
  u32 level, active;      /* parallel regions around it; those of more than one thread */
  u32 wanted;             /* by the next `num_threads`; 0 for all */
  u32 teams_wanted, limit_wanted;
  u32 team, teams;        /* in its league */
  u32 limit;              /* threads of a team at most */
  u32 singles, loop_number;
  u64 my_next, my_end, my_ordered, my_stride;  /* of the loop it is in */
  int is_ordered_done, loop_is_static;
  int levels, is_dynamic, schedule, schedule_chunk;
  u32 in_task, in_final;  /* whether it runs a task that was made, and one that is final */
} Thread;

/* Apart, so that what is known of one is not lost by what is done with another. */
IN_L1 static Team the_team;
IN_L1 static Loop loops[LOOPS];
static void *copied;  /* what `copyprivate` hands round */
IN_L1 static Thread threads[MOST_CORES];
static u32 default_threads;

/* Variables of which each thread has its own are found by it. */
__attribute__((always_inline)) u32 ferry_core(void) { return core_number(); }

INLINE Thread *me(void) { return &threads[core_number()]; }

/* Lets some time pass without asking anything of memory. */
static void pause_for(u32 rounds) {
  for (u32 i = 0; i < rounds; i++) {
    u32 left;
    __asm__ volatile("divu %0, %1, %2" : "=r"(left) : "r"(rounds), "r"(1));
  }
}

static void acquire(int *lock) {
  while (__atomic_exchange_n(lock, 1, __ATOMIC_ACQUIRE)) pause_for(2);
}

static void release(int *lock) { __atomic_store_n(lock, 0, __ATOMIC_RELEASE); }

INLINE void wait_for_team(u32 barrier) {
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  (void)BARRIER_ARRIVE(barrier);
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

static void run_share(u32 number) {
  Thread *thread = me();
  thread->number = number;
  thread->size = the_team.size;
  thread->level = 1;
  thread->active = the_team.size > 1;
  thread->singles = 0;
  thread->loop_number = 0;
  thread->team = threads[0].team;
  thread->teams = threads[0].teams;
  thread->limit = threads[0].limit;
  thread->wanted = 0;
  thread->in_task = thread->in_final = 0;
  int ids[2] = {(int)number, (int)number};
  the_team.run(&ids[0], &ids[1], the_team.pack);
}

/* A team of one thread inside of another, or where one was asked for. */
static void run_alone(void (*run)(int *, int *, void *), void *pack) {
  Thread *thread = me();
  Thread before = *thread;
  thread->number = 0;
  thread->size = 1;
  thread->level++;
  thread->wanted = 0;
  thread->in_task = thread->in_final = 0;
  int ids[2] = {(int)before.number, 0};
  run(&ids[0], &ids[1], pack);
  u32 singles = before.singles;
  *thread = before;
  thread->singles = singles;
}

void ferry_fork(void (*run)(int *, int *, void *), void *pack) {
  Thread *thread = me();
  u32 size = thread->wanted ? thread->wanted : default_threads;
  thread->wanted = 0;
  if (size > CORES) size = CORES;
  if (thread->limit && size > thread->limit) size = thread->limit;
  if (thread->active || size <= 1 || core_number()) {
    run_alone(run, pack);
    return;
  }
  Thread before = *thread;
  the_team.run = run;
  the_team.pack = pack;
  the_team.size = size;
  the_team.singles = 0;
  for (u32 i = 0; i < LOOPS; i++) loops[i].number = 0;
  BARRIER_COUNT(0) = size;
  BARRIER_COUNT(1) = size;
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  EVENT_RAISE(0) = (size >= 32 ? ~0u : (1u << size) - 1) & ~1u;
  run_share(0);
  wait_for_team(0);
  *thread = before;
}

void ferry_fork_teams(void (*run)(int *, int *, void *), void *pack) {
  Thread *thread = me();
  Thread before = *thread;
  u32 teams = thread->teams_wanted ? thread->teams_wanted : 1;
  u32 limit = thread->limit_wanted;
  if (!limit || (before.limit && before.limit < limit)) limit = before.limit;
  thread->teams_wanted = thread->limit_wanted = 0;
  for (u32 i = 0; i < teams; i++) {
    thread->team = i;
    thread->teams = teams;
    thread->limit = limit;
    int ids[2] = {0, 0};
    run(&ids[0], &ids[1], pack);
  }
  before.teams_wanted = before.limit_wanted = 0;
  *thread = before;
}

static void work(u32 core) {
  EVENT_MASK = 1;
  for (;;) {
    (void)EVENT_WAIT;
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    run_share(core);
    wait_for_team(0);
  }
}

/* Written by the host before a region begins. Kernels read their slots one after the other: in the scratchpad that takes
 * a cycle each, outside of it fifteen. They hold pointers of the host, so they are not all that IN_L1 says. */
u32 ferry_kernel;
__attribute__((section(".l1"))) u64 ferry_slots[SLOTS];

ROOT void ferry_begin(u32 core) {
  Thread *thread = &threads[core];
  thread->level = thread->active = thread->wanted = 0;
  thread->number = 0;
  thread->size = 1;
  thread->team = 0;
  thread->teams = 1;
  thread->limit = 0;
  thread->teams_wanted = thread->limit_wanted = 0;
  thread->loop_number = thread->singles = 0;
  thread->levels = 1;
  thread->is_dynamic = 0;
  thread->schedule = 0;
  if (core) work(core);
  the_team.single_lock = 0;
  the_team.size = 1;
  the_team.version = 0;
  default_threads = CORES;
  ferry_run_kernel(ferry_kernel, low(ferry_slots));
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  EXIT = 0;
}

void __kmpc_push_num_threads(void *place, int id, int wanted) { me()->wanted = wanted > 0 ? wanted : 1; }
void __kmpc_push_proc_bind(void *place, int id, int kind) {}
void __kmpc_push_num_teams(void *place, int id, int teams, int limit) {
  me()->teams_wanted = teams > 0 ? teams : 0;
  me()->limit_wanted = limit > 0 ? limit : 0;
}
void __kmpc_push_num_teams_51(void *place, int id, int least, int most, int limit) {
  __kmpc_push_num_teams(place, id, most, limit);
}
void __kmpc_set_thread_limit(void *place, int id, int limit) { me()->limit = limit > 0 ? limit : 0; }
int __kmpc_global_thread_num(void *place) { return (int)core_number(); }
void __kmpc_begin(void *place, int flags) {}
void __kmpc_end(void *place) {}
int __kmpc_ok_to_fork(void *place) { return 1; }

/* A region whose `if` is false: the compiler calls its body between these two. */
typedef struct { u32 number, size; } Serial;
IN_L1 static Serial serials[MOST_CORES][8];
IN_L1 static u32 serial_depth[MOST_CORES];

void __kmpc_serialized_parallel(void *place, int id) {
  Thread *thread = me();
  u32 core = core_number(), depth = serial_depth[core]++ & 7;
  serials[core][depth].number = thread->number;
  serials[core][depth].size = thread->size;
  thread->number = 0;
  thread->size = 1;
  thread->level++;
  thread->wanted = 0;
}

void __kmpc_end_serialized_parallel(void *place, int id) {
  Thread *thread = me();
  u32 core = core_number(), depth = --serial_depth[core] & 7;
  thread->number = serials[core][depth].number;
  thread->size = serials[core][depth].size;
  thread->level--;
}

/* Barriers: of the whole team, where there is more than one thread. */
void __kmpc_barrier(void *place, int id) {
  if (me()->size > 1) wait_for_team(1);
}
int __kmpc_cancel_barrier(void *place, int id) {
  __kmpc_barrier(place, id);
  return 0;
}
int __kmpc_cancel(void *place, int id, int kind) { return 0; }
int __kmpc_cancellationpoint(void *place, int id, int kind) { return 0; }
void __kmpc_flush(void *place) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }

int __kmpc_master(void *place, int id) { return me()->number == 0; }
void __kmpc_end_master(void *place, int id) {}
int __kmpc_masked(void *place, int id, int filter) { return me()->number == (u32)filter; }
void __kmpc_end_masked(void *place, int id) {}

void __kmpc_critical(void *place, int id, int *name) { acquire(name); }
void __kmpc_critical_with_hint(void *place, int id, int *name, u32 hint) { acquire(name); }
void __kmpc_end_critical(void *place, int id, int *name) { release(name); }

int __kmpc_single(void *place, int id) {
  Thread *thread = me();
  if (thread->size <= 1) return 1;
  u32 mine = ++thread->singles;
  acquire(&the_team.single_lock);
  int is_first = the_team.singles < mine;
  if (is_first) the_team.singles = mine;
  release(&the_team.single_lock);
  return is_first;
}
void __kmpc_end_single(void *place, int id) {}

void __kmpc_copyprivate(void *place, int id, size_t bytes, void *data, void (*copy)(void *, void *), int is_giver) {
  if (me()->size <= 1) return;
  if (is_giver) copied = data;
  wait_for_team(1);
  if (!is_giver) copy(data, copied);
  wait_for_team(1);
}

/* Reductions: every thread adds its own under a lock. */
int __kmpc_reduce_nowait(void *place, int id, int count, size_t bytes, void *data, void (*combine)(void *, void *), int *lock) {
  if (me()->size > 1) acquire(lock);
  return 1;
}
void __kmpc_end_reduce_nowait(void *place, int id, int *lock) {
  if (me()->size > 1) release(lock);
}
int __kmpc_reduce(void *place, int id, int count, size_t bytes, void *data, void (*combine)(void *, void *), int *lock) {
  return __kmpc_reduce_nowait(place, id, count, bytes, data, combine, lock);
}
void __kmpc_end_reduce(void *place, int id, int *lock) {
  __kmpc_end_reduce_nowait(place, id, lock);
  __kmpc_barrier(place, id);
}
