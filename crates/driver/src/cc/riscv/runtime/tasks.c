/* Tasks run where they are made: that is one of the orders that the standard allows, and keeps all dependences. */

typedef struct Task {
  void *shared;
  void *run; /* not read: see routines */
  int part;
  u64 data1, data2;
} Task;
typedef int Routine(int, Task *);

/* What tasks run, by number: a table of nothing but functions, so that it is known what a call of one may reach. */
#define ROUTINES 256
static Routine *routines[ROUTINES];
static u32 routine_count;
static int routine_lock;

static u32 routine_number(Routine *run) {
  acquire(&routine_lock);
  u32 i = 0;
  while (i < routine_count && routines[i] != run) i++;
  if (i == ROUTINES) ferry_crash("more kinds of tasks than the runtime has room for");
  if (i == routine_count) routines[routine_count++] = run;
  release(&routine_lock);
  return i;
}

/* Before what the compiler's code knows of a task: the number of what it runs, where it is, whether it is final, and what
   its thread ran before. */
#define HEAD 16
#define FINAL 2u
enum { NOT_BEGUN, RUNNING, GOES_ON };

Task *__kmpc_omp_task_alloc(void *place, int id, int flags, size_t bytes, size_t shared_bytes, Routine *run) {
  size_t own = (bytes + 15) & ~15ul;
  char *memory = ferry_l1_malloc(HEAD + own + shared_bytes);
  if (!memory) memory = malloc(HEAD + own + shared_bytes);
  if (!memory) ferry_crash("no memory for a task");
  ((u32 *)memory)[0] = routine_number(run);
  ((u32 *)memory)[1] = NOT_BEGUN;
  ((u32 *)memory)[2] = (u32)flags & FINAL;
  Task *task = (Task *)(memory + HEAD);
  task->shared = memory + HEAD + own;
  task->part = 0;
  return task;
}
Task *__kmpc_omp_target_task_alloc(void *place, int id, int flags, size_t bytes, size_t shared_bytes, Routine *run, i64 device) {
  return __kmpc_omp_task_alloc(place, id, flags, bytes, shared_bytes, run);
}

static void free_task(Task *task) {
  char *memory = (char *)task - HEAD;
  if ((u64)memory >> 32) free(memory);
  else ferry_l1_free(memory);
}

/* What a thread answers of the task that it runs, and again of the one around it. */
static void begin_task(Task *task) {
  u32 *head = (u32 *)((char *)task - HEAD);
  Thread *thread = me();
  head[3] = thread->in_task | thread->in_final << 1;
  thread->in_task = 1;
  if (head[2]) thread->in_final = 1;
}
static void end_task(Task *task) {
  u32 before = ((u32 *)((char *)task - HEAD))[3];
  Thread *thread = me();
  thread->in_task = before & 1;
  thread->in_final = before >> 1;
}

/* The parts of an untied task ask for the next one while they run. */
static int run_task(int id, Task *task) {
  u32 *head = (u32 *)((char *)task - HEAD);
  if (head[1] == RUNNING) {
    head[1] = GOES_ON;
    return 0;
  }
  begin_task(task);
  do {
    head[1] = RUNNING;
    routines[head[0]](id, task);
  } while (head[1] == GOES_ON);
  end_task(task);
  free_task(task);
  return 0;
}

int __kmpc_omp_task(void *place, int id, Task *task) { return run_task(id, task); }
int __kmpc_omp_task_with_deps(void *place, int id, Task *task, int count, void *list, int weak, void *weak_list) {
  return run_task(id, task);
}
/* Tasks that are at their end only when somebody says so. */
static int unfulfilled;
void *__kmpc_task_allow_completion_event(void *place, int id, Task *task) {
  __atomic_fetch_add(&unfulfilled, 1, __ATOMIC_ACQ_REL);
  return &unfulfilled;
}
void omp_fulfill_event(u64 event) { __atomic_fetch_sub(&unfulfilled, 1, __ATOMIC_ACQ_REL); }
static void wait_for_tasks(void) {
  while (__atomic_load_n(&unfulfilled, __ATOMIC_ACQUIRE) > 0) pause_for(8);
}

void __kmpc_omp_task_begin_if0(void *place, int id, Task *task) { begin_task(task); }
void __kmpc_omp_task_complete_if0(void *place, int id, Task *task) {
  end_task(task);
  free_task(task);
}
int __kmpc_omp_taskwait(void *place, int id) {
  wait_for_tasks();
  return 0;
}
int __kmpc_omp_taskyield(void *place, int id, int part) { return 0; }
void __kmpc_omp_wait_deps(void *place, int id, int count, void *list, int weak, void *weak_list) { wait_for_tasks(); }
void __kmpc_omp_taskwait_deps_51(void *place, int id, int count, void *list, int weak, void *weak_list, int nowait) {
  if (!nowait) wait_for_tasks();
}

/* Reductions of tasks: nobody else adds meanwhile, so tasks add to the originals. */
void *__kmpc_taskred_init(int id, int count, void *list) { return NULL; }
void *__kmpc_task_reduction_init(int id, int count, void *list) { return NULL; }
void *__kmpc_taskred_modifier_init(void *place, int id, int is_loop, int count, void *list) { return NULL; }
void *__kmpc_task_reduction_modifier_init(void *place, int id, int is_loop, int count, void *list) { return NULL; }
void __kmpc_task_reduction_modifier_fini(void *place, int id, int is_loop) {}
void *__kmpc_task_reduction_get_th_data(int id, void *group, void *item) { return item; }
void __kmpc_omp_reg_task_with_affinity(void *place, int id, Task *task, int count, void *list) {}

void __kmpc_taskgroup(void *place, int id) {}
void __kmpc_end_taskgroup(void *place, int id) { wait_for_tasks(); }

/* One task with all iterations, if there are any: the compiler's code reads its bounds from the task, and `copy` tells it
   that the last iteration is among them. */
static void run_loop(int id, Task *task, u64 *lower, u64 *upper, void (*copy)(Task *, Task *, int)) {
  if ((i64)*lower > (i64)*upper) return;
  if (copy) copy(task, task, 1);
  run_task(id, task);
}
void __kmpc_taskloop(void *place, int id, Task *task, int if_value, u64 *lower, u64 *upper, i64 step, int is_nogroup,
                     int kind, u64 grain, void (*copy)(Task *, Task *, int)) {
  run_loop(id, task, lower, upper, copy);
}
void __kmpc_taskloop_5(void *place, int id, Task *task, int if_value, u64 *lower, u64 *upper, i64 step, int is_nogroup,
                       int kind, u64 grain, int modifier, void (*copy)(Task *, Task *, int)) {
  run_loop(id, task, lower, upper, copy);
}
