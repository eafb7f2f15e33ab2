/* The routines of OpenMP and OpenACC that regions call. */

int omp_get_thread_num(void) { return (int)me()->number; }
int omp_get_num_threads(void) { return (int)me()->size; }
int omp_get_max_threads(void) {
  Thread *thread = me();
  u32 most = thread->wanted ? thread->wanted : default_threads;
  return (int)(thread->limit && thread->limit < most ? thread->limit : most);
}
void omp_set_num_threads(int wanted) {
  if (wanted > 0) default_threads = (u32)wanted < CORES ? (u32)wanted : CORES;
}
int omp_get_num_procs(void) { return (int)CORES; }
int omp_in_parallel(void) { return me()->active != 0; }
void omp_set_dynamic(int it) { me()->is_dynamic = it != 0; }
int omp_get_dynamic(void) { return me()->is_dynamic; }
int omp_get_cancellation(void) { return 0; }
void omp_set_nested(int it) {}
int omp_get_nested(void) { return 0; }
void omp_set_schedule(u32 kind, int chunk) {
  /* static, dynamic, guided, auto: 1 to 4 */
  static const unsigned char kinds[] = {0, STATIC, DYNAMIC, GUIDED, AUTO};
  kind &= 0x7fffffff;
  if (kind >= 1 && kind <= 4) me()->schedule = kinds[kind], me()->schedule_chunk = chunk;
}
void omp_get_schedule(u32 *kind, int *chunk) {
  int it = me()->schedule;
  *kind = it == STATIC ? 1 : it == GUIDED ? 3 : it == AUTO ? 4 : 2;
  *chunk = me()->schedule_chunk > 0 ? me()->schedule_chunk : 1;
}
int omp_get_thread_limit(void) { return (int)(me()->limit ? me()->limit : CORES); }
int omp_get_supported_active_levels(void) { return 1; }
void omp_set_max_active_levels(int it) {
  if (it >= 0) me()->levels = it > 1 ? 1 : it;
}
int omp_get_max_active_levels(void) { return me()->levels; }
int omp_get_level(void) { return (int)me()->level; }
int omp_get_active_level(void) { return (int)me()->active; }
int omp_get_ancestor_thread_num(int level) {
  Thread *thread = me();
  if (level < 0 || level > (int)thread->level) return -1;
  if (level == (int)thread->level) return (int)thread->number;
  return level && thread->active ? (int)core_number() : 0;
}
int omp_get_team_size(int level) {
  Thread *thread = me();
  if (level < 0 || level > (int)thread->level) return -1;
  if (level == (int)thread->level) return (int)thread->size;
  return level && thread->active ? (int)the_team.size : 1;
}
int omp_in_final(void) { return (int)me()->in_final; }
int omp_in_explicit_task(void) { return (int)me()->in_task; }
int omp_get_max_task_priority(void) { return 0; }
int omp_get_num_teams(void) { return (int)me()->teams; }
int omp_get_team_num(void) { return (int)me()->team; }
void omp_set_num_teams(int it) {}
int omp_get_max_teams(void) { return 0; }
void omp_set_teams_thread_limit(int it) {}
int omp_get_teams_thread_limit(void) { return 0; }
int omp_get_proc_bind(void) { return 0; }
int omp_get_num_places(void) { return 0; }
int omp_get_place_num(void) { return -1; }
int omp_get_default_device(void) { return 0; }
int omp_get_num_devices(void) { return 1; }
int omp_get_device_num(void) { return 0; }
int omp_get_initial_device(void) { return 1; }
int omp_is_initial_device(void) { return 0; }

/* The default, whatever is no host, this kind of device, and where one is. */
int acc_on_device(int kind) { return kind == 1 || kind == 4 || kind == 9 || kind == -1; }

double omp_get_wtime(void) { return (double)cycles() * 1e-9; }
double omp_get_wtick(void) { return 1e-9; }

void omp_init_lock(int *lock) { *lock = 0; }
void omp_init_lock_with_hint(int *lock, int hint) { *lock = 0; }
void omp_destroy_lock(int *lock) {}
void omp_set_lock(int *lock) { acquire(lock); }
void omp_unset_lock(int *lock) { release(lock); }
int omp_test_lock(int *lock) { return !__atomic_exchange_n(lock, 1, __ATOMIC_ACQUIRE); }

typedef struct { int lock, count; u32 owner; } Nest;
void omp_init_nest_lock(Nest *it) { it->lock = it->count = 0, it->owner = 0; }
void omp_init_nest_lock_with_hint(Nest *it, int hint) { omp_init_nest_lock(it); }
void omp_destroy_nest_lock(Nest *it) {}
int omp_test_nest_lock(Nest *it) {
  u32 mine = core_number() + 1;
  if (__atomic_load_n(&it->owner, __ATOMIC_ACQUIRE) != mine) {
    if (__atomic_exchange_n(&it->lock, 1, __ATOMIC_ACQUIRE)) return 0;
    __atomic_store_n(&it->owner, mine, __ATOMIC_RELEASE);
  }
  return ++it->count;
}
void omp_set_nest_lock(Nest *it) {
  while (!omp_test_nest_lock(it))
    ;
}
void omp_unset_nest_lock(Nest *it) {
  if (--it->count) return;
  __atomic_store_n(&it->owner, 0, __ATOMIC_RELEASE);
  release(&it->lock);
}

/* An allocator is its alignment: the only trait that makes a difference here. */
typedef struct { u32 key; u64 value; } Trait;
enum { ALIGNMENT = 2, MADE = 1 << 16 };
u64 omp_init_allocator(u64 space, int count, Trait *traits) {
  for (int i = 0; i < count; i++)
    if (traits[i].key == ALIGNMENT) return MADE + traits[i].value;
  return MADE;
}
static size_t aligned_to(u64 allocator, size_t least) {
  size_t it = allocator > MADE ? allocator - MADE : 16;
  return it < least ? least : it;
}
void omp_destroy_allocator(u64 it) {}
void omp_set_default_allocator(u64 it) {}
u64 omp_get_default_allocator(void) { return 1; }
void *omp_aligned_alloc(size_t align, size_t bytes, u64 allocator) {
  return bytes ? allocate(bytes, aligned_to(allocator, align)) : NULL;
}
void *omp_alloc(size_t bytes, u64 allocator) { return omp_aligned_alloc(16, bytes, allocator); }
void *omp_aligned_calloc(size_t align, size_t count, size_t bytes, u64 allocator) {
  if (!count || !bytes || count > ~0ul / bytes) return NULL;
  void *it = allocate(count * bytes, aligned_to(allocator, align));
  if (it) memset(it, 0, count * bytes);
  return it;
}
void *omp_calloc(size_t count, size_t bytes, u64 allocator) { return omp_aligned_calloc(16, count, bytes, allocator); }
void *omp_realloc(void *old, size_t bytes, u64 allocator, u64 before) {
  if (bytes) return realloc(old, bytes);
  free(old);
  return NULL;
}
void omp_free(void *it, u64 allocator) { free(it); }
void *__kmpc_alloc(int id, size_t bytes, void *allocator) { return omp_alloc(bytes, 1); }
void *__kmpc_aligned_alloc(int id, size_t align, size_t bytes, void *allocator) { return omp_aligned_alloc(align, bytes, 1); }
void __kmpc_free(int id, void *it, void *allocator) { free(it); }

/* Data of which every thread has its own. */
typedef struct Own {
  struct Own *next;
  void *original;
  char *copies;
} Own;
static Own *owned;
static int owned_lock;
void *__kmpc_threadprivate_cached(void *place, int id, void *original, size_t bytes, void ***cache) {
  acquire(&owned_lock);
  Own *it = owned;
  while (it && it->original != original) it = it->next;
  size_t room = (bytes + 15) & ~15ul;
  if (!it) {
    it = malloc(sizeof(Own) + room * MOST_CORES);
    if (!it) ferry_crash("no memory for data that each thread has for itself");
    it->original = original;
    it->copies = (char *)(it + 1);
    for (u32 core = 0; core < CORES; core++) memcpy(it->copies + room * core, original, bytes);
    it->next = owned;
    owned = it;
  }
  release(&owned_lock);
  return it->copies + room * core_number();
}
void __kmpc_threadprivate_register(void *place, void *data, void *make, void *copy, void *end) {}
