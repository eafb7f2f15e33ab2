/* Loops whose arrays are brought into the scratchpad, some rounds at a time.
 *
 * The compiler says for each array which elements a round touches (lines over rounds); here it is decided how many
 * rounds make a tile, and whether all of that holds and fits. Each core has buffers of its own: while it computes
 * one tile, the next one comes and the last one goes. Arrays of which every round may touch all are brought once. */

enum { NEAR_ARRAYS = 8, NEAR_REACHES = 4, NEAR_SLOTS = 3 };
enum { NEAR_WRITES = 1, NEAR_FILLS = 2, NEAR_STILL = 4 };
enum { NEAR_NONE, NEAR_MOVING, NEAR_ALL }; /* which arrays are brought */

/* Run once for a loop or a tile, from a cold cache: short code is fast code. */
#define APART __attribute__((noinline, minsize))

typedef struct { i64 low, low_step, high, high_step; } Reach;
typedef struct {
  char *base;
  u64 size; /* of an element */
  Reach reach[NEAR_REACHES];
  u32 reaches, flags;
} Array;

/* The same in 32 bits, counted from the first element that any round touches. */
typedef struct { int low, low_step, high, high_step; } Near;
typedef struct {
  u64 start;  /* where the first element lies */
  i64 origin; /* its subscript */
  u32 size, elements, flags, reaches;
  u32 is_whole, needs_in, slots;
  u32 of_round; /* elements that a round touches at most */
  u32 buffer, room; /* of the first core, or of all */
  Near reach[NEAR_REACHES];
} Brought;

/* What a core has in its buffers, and which transfers are under way. */
typedef struct {
  u32 tile[NEAR_ARRAYS][NEAR_SLOTS]; /* the tile that was brought, and one more; 0 for none */
  u32 in[NEAR_ARRAYS][NEAR_SLOTS], out[NEAR_ARRAYS][NEAR_SLOTS];
} Mine;

typedef struct {
  u32 tiles, rounds, each; /* each: tiles of a core, side by side */
  u32 share, more;         /* rounds of a core at least; cores that have one more */
  u32 is_single; /* one buffer: nothing comes before its turn */
  u32 count, first_core, cores, memory, pitch;
  u32 mine; /* where those of all cores lie, with this distance */
  Brought arrays[NEAR_ARRAYS];
} Plan;
_Static_assert(sizeof(Plan) <= NEAR_ROOM, "what compiled programs leave room for");

#define MINE(plan, core) ((Mine __device *)(u64)((plan)->mine + (plan)->pitch * ((core) - (plan)->first_core)))

INLINE int near_low(const Brought *it, u32 first, u32 last) {
  int least = 0x7fffffff;
  for (u32 i = 0; i < it->reaches; i++) {
    int step = it->reach[i].low_step, at = it->reach[i].low + step * (int)(step < 0 ? last : first);
    if (at < least) least = at;
  }
  return least;
}
INLINE int near_high(const Brought *it, u32 first, u32 last) {
  int most = 0;
  for (u32 i = 0; i < it->reaches; i++) {
    int step = it->reach[i].high_step, at = it->reach[i].high + step * (int)(step < 0 ? first : last);
    if (at > most) most = at;
  }
  return most;
}

/* Cores have equal shares, and tiles are equal parts of them, as far as rounds can be divided so. */
INLINE u32 near_begin_of(const Plan *plan, u32 tile) {
  u32 core = tile / plan->each, part = tile - core * plan->each;
  u32 share = plan->share + (core < plan->more), first = core * plan->share + (core < plan->more ? core : plan->more);
  u32 least = share / plan->each, more = share - least * plan->each;
  return first + part * least + (part < more ? part : more);
}
APART u32 __ferry_near_first(Plan *plan, u32 tile) { return near_begin_of(plan, tile); }
APART u32 __ferry_near_end(Plan *plan, u32 tile) { return near_begin_of(plan, tile + 1); }
APART u32 __ferry_near_tiles(Plan *plan) { return plan->tiles; }

INLINE u32 near_buffer(const Plan *plan, const Brought *it, u32 tile) {
  if (it->is_whole) return it->buffer;
  return it->buffer + plan->pitch * (core_number() - plan->first_core) + it->room * (tile % it->slots);
}
APART i64 __ferry_near_low(Plan *plan, u32 array, u32 tile) {
  Brought *it = &plan->arrays[array];
  if (it->is_whole) return it->origin;
  return it->origin + near_low(it, near_begin_of(plan, tile), near_begin_of(plan, tile + 1) - 1);
}
APART DEVICE void *__ferry_near_at(Plan *plan, u32 array, u32 tile) {
  return (void *)(u64)near_buffer(plan, &plan->arrays[array], tile);
}

APART static u32 near_move(Plan *plan, Brought *it, u32 tile, int comes) {
  u32 first = near_begin_of(plan, tile), last = near_begin_of(plan, tile + 1) - 1;
  u32 low_end = (u32)near_low(it, first, last), bytes = ((u32)near_high(it, first, last) - low_end) * it->size;
  char *there = (char *)(it->start + low_end * it->size), *here = (char *)(u64)near_buffer(plan, it, tile);
  return comes ? ferry_dma(here, there, bytes) : ferry_dma(there, here, bytes);
}

APART static void near_bring(Plan *plan, Mine __device *mine, u32 tile) {
  for (u32 i = 0; i < plan->count; i++) {
    Brought *it = &plan->arrays[i];
    if (it->is_whole) continue;
    u32 slot = tile % it->slots;
    if (mine->tile[i][slot] == tile + 1) continue;
    ferry_dma_wait(mine->out[i][slot]);
    mine->out[i][slot] = 0;
    mine->tile[i][slot] = tile + 1;
    mine->in[i][slot] = it->needs_in ? near_move(plan, it, tile, 1) : 0;
  }
}

/* A core begins with a tile: its data are there, and those of the next are on their way. */
APART void __ferry_near_enter(Plan *plan, u32 tile) {
  Mine __device *mine = MINE(plan, core_number());
  near_bring(plan, mine, tile);
  for (u32 i = 0; i < plan->count; i++) {
    if (plan->arrays[i].is_whole) continue;
    u32 slot = tile % plan->arrays[i].slots;
    ferry_dma_wait(mine->in[i][slot]);
    mine->in[i][slot] = 0;
  }
  u32 next = tile + 1;
  if (!plan->is_single && next < plan->tiles && next % plan->each) near_bring(plan, mine, next);
}

/* And ends with it: what was written goes back. */
APART void __ferry_near_leave(Plan *plan, u32 tile) {
  Mine __device *mine = MINE(plan, core_number());
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  for (u32 i = 0; i < plan->count; i++) {
    Brought *it = &plan->arrays[i];
    if (it->is_whole) continue;
    u32 slot = tile % it->slots;
    mine->tile[i][slot] = 0;
    if (it->flags & NEAR_WRITES) mine->out[i][slot] = near_move(plan, it, tile, 0);
  }
}

/* Behind the loop: all that was written is where it belongs. */
APART void __ferry_near_finish(Plan *plan) {
  if (!plan->count) return;
  for (u32 core = 0; core < plan->cores; core++) {
    Mine __device *mine = MINE(plan, plan->first_core + core);
    for (u32 i = 0; i < plan->count; i++)
      for (u32 slot = 0; slot < NEAR_SLOTS; slot++) {
        ferry_dma_wait(mine->in[i][slot]);
        ferry_dma_wait(mine->out[i][slot]);
      }
  }
  ferry_l1_free((void *)(u64)plan->memory);
  plan->count = 0;
}

typedef struct { u64 address, bytes, writes, is_there; } Range;

INLINE i64 at_round(i64 at, i64 step, u32 round) { return at + step * (i64)round; }

/* What stands in the way of bringing an array; NULL if nothing does. */
APART static const char *near_measure(const Array *from, Brought *it, u32 rounds) {
  i64 least = 0, most = 0;
  const i64 far = (i64)1 << 60, large = 0x7fffffff;
  u32 last = rounds - 1;
  for (u32 i = 0; i < from->reaches; i++) {
    const Reach *r = &from->reach[i];
    if (r->low > far || r->low < -far || r->high > far || r->high < -far) return "its subscripts are too large";
    if (r->low_step > large || r->low_step < -large || r->high_step > large || r->high_step < -large)
      return "its subscripts are too large";
    i64 low[2] = {r->low, at_round(r->low, r->low_step, last)}, high[2] = {r->high, at_round(r->high, r->high_step, last)};
    if (high[0] <= low[0] || high[1] <= low[1]) return "some rounds touch none of it";
    i64 lower = low[0] < low[1] ? low[0] : low[1], higher = high[0] > high[1] ? high[0] : high[1];
    if (!i || lower < least) least = lower;
    if (!i || higher > most) most = higher;
  }
  if (from->size > large || (u64)(most - least) > (u64)large / from->size) return "it is too large";
  /* Written elements belong to one round each. */
  if (from->flags & NEAR_WRITES && rounds > 1) {
    int rises = 1, falls = 1;
    for (u32 end = 0; end < 2; end++) {
      u32 here = end ? last - 1 : 0, next = here + 1;
      for (u32 i = 0; i < from->reaches; i++)
        for (u32 k = 0; k < from->reaches; k++) {
          const Reach *a = &from->reach[i], *b = &from->reach[k];
          rises &= at_round(a->high, a->high_step, here) <= at_round(b->low, b->low_step, next);
          falls &= at_round(a->high, a->high_step, next) <= at_round(b->low, b->low_step, here);
        }
    }
    if (!rises && !falls) return "several rounds touch the same elements, and write";
  }
  it->origin = least;
  it->start = (u64)from->base + (u64)least * from->size;
  it->size = (u32)from->size;
  it->elements = (u32)(most - least);
  it->flags = from->flags;
  it->reaches = from->reaches;
  for (u32 i = 0; i < from->reaches; i++) {
    const Reach *r = &from->reach[i];
    it->reach[i].low = (int)(r->low - least);
    it->reach[i].low_step = (int)r->low_step;
    it->reach[i].high = (int)(r->high - least);
    it->reach[i].high_step = (int)r->high_step;
  }
  const Near *only = &it->reach[0];
  int step = only->low_step < 0 ? -only->low_step : only->low_step, span = only->high - only->low;
  int is_dense = it->reaches == 1 && only->low_step == only->high_step && step == span;
  it->needs_in = !(from->flags & NEAR_FILLS && is_dense);
  u32 of_round = (u32)(near_high(it, 0, 0) - near_low(it, 0, 0)), of_last = (u32)(near_high(it, last, last) - near_low(it, last, last));
  if (of_last > of_round) of_round = of_last;
  /* Nearly all of it in each round: there is nothing to be gained by tiles. */
  it->is_whole = !(from->flags & NEAR_WRITES) && (from->flags & NEAR_STILL || (rounds > 1 && of_round > it->elements / 2));
  it->of_round = of_round;
  Range range = {it->start, (u64)it->elements * it->size, (from->flags & NEAR_WRITES) != 0, 0};
  ferry_ask(ASK_RANGE, low(&range), 0, 0);
  if (!range.is_there) return "it does not lie in one piece of mapped data, or the host may write there meanwhile";
  return NULL;
}

/* Bytes of a buffer for tiles of so many rounds. */
APART static u32 near_room(const Brought *it, u32 rounds, u32 tile) {
  u32 last = rounds - tile;
  u32 one = (u32)(near_high(it, 0, tile - 1) - near_low(it, 0, tile - 1));
  u32 other = (u32)(near_high(it, last, rounds - 1) - near_low(it, last, rounds - 1));
  return ((one > other ? one : other) * it->size + 7) & ~7u;
}

/* Room for the arrays of a plan: the fewest tiles that fit, and several for each core where they are not small. */
APART static int near_fit(Plan *plan, int version) {
  enum { LARGE = 4096, MOST_EACH = 8 };
  u32 rounds = plan->rounds, least = rounds / plan->cores, share = least + (rounds % plan->cores != 0);
  plan->share = least;
  plan->more = rounds - least * plan->cores;
  u32 whole = 0, bytes = 0;
  for (u32 i = 0; i < plan->count; i++) {
    Brought *it = &plan->arrays[i];
    if (it->flags & NEAR_STILL && version != NEAR_ALL) continue;
    it->slots = it->flags & NEAR_WRITES && it->needs_in ? 3 : 2;
    if (it->is_whole) {
      it->room = (it->elements * it->size + 7) & ~7u;
      whole += it->room;
    } else {
      bytes += near_room(it, rounds, share);
    }
  }
  u32 each = bytes / LARGE + 1;
  if (each > MOST_EACH) each = MOST_EACH;
  if (each > least) each = least;
  /* The last attempt is without a second buffer, so nothing comes while a core computes. */
  for (int is_last = 0;;) {
    u32 tile = (share + each - 1) / each, own = sizeof(Mine);
    for (u32 i = 0; i < plan->count; i++) {
      Brought *it = &plan->arrays[i];
      if (it->is_whole || (it->flags & NEAR_STILL && version != NEAR_ALL)) continue;
      it->room = near_room(it, rounds, tile);
      it->buffer = own;
      if (is_last) it->slots = 1;
      own += it->room * it->slots;
      if (own > 1u << 24) break;
    }
    /* Cores begin in different banks. */
    plan->pitch = ((own + 63) & ~63u) + 8;
    if (own <= 1u << 24 && (plan->memory = heap_take(whole + plan->pitch * plan->cores)) != 0) {
      plan->each = each;
      plan->is_single = is_last;
      plan->tiles = each * plan->cores;
      plan->mine = plan->memory + whole;
      return 1;
    }
    if (is_last) return 0;
    is_last = each == least;
    each *= 2;
    if (each > least) each = least;
  }
}

/* Which arrays are brought; the plan is made for those. Called before the loop, by who meets it; so many cores will share it. */
APART static int near_begin(Plan *plan, Array *arrays, u32 count, u64 rounds, int is_collapsed, const char *what, u32 cores) {
  plan->count = 0;
  if (!rounds) return NEAR_NONE;
  int is_alone = cores == 1;
  plan->cores = rounds < cores ? (u32)rounds : cores;
  plan->first_core = is_alone ? core_number() : 0;
  plan->rounds = (u32)rounds;
  const char *why = NULL;
  u32 which = 0;
  if (rounds > 0x7fffffff) why = "the loop has too many rounds";
  if (is_collapsed && !is_alone && rounds < cores) why = "the outer loop has fewer rounds than there are cores";
  for (; !why && which < count; which++) why = near_measure(&arrays[which], &plan->arrays[which], plan->rounds);
  for (u32 i = 0; !why && i < count; i++)
    for (u32 k = 0; k < i; k++) {
      Brought *a = &plan->arrays[i], *b = &plan->arrays[k];
      u64 a_end = a->start + (u64)a->elements * a->size, b_end = b->start + (u64)b->elements * b->size;
      if ((a->flags | b->flags) & NEAR_WRITES && a->start < b_end && b->start < a_end) why = "two arrays overlap", which = i + 1;
    }
  /* While one word comes from outside the engine moves so many bytes for each core; below SETUP it is not worth it. */
  enum { DMA_BYTES_OF_ACCESS = 120, SETUP = 4096 };
  u64 touched = 0, moved = 0;
  for (u32 i = 0; !why && i < count; i++) {
    Brought *it = &plan->arrays[i];
    touched += (u64)it->of_round * it->size * plan->rounds;
    moved += (u64)it->elements * it->size << (it->flags & NEAR_WRITES && it->needs_in);
  }
  if (!why && touched < SETUP + moved / (DMA_BYTES_OF_ACCESS / 4)) why = "too few elements are touched", which = 0;
  if (why) {
    u64 of_one[3] = {(u64)what, which, (u64)why}, of_all[2] = {(u64)what, (u64)why};
    if (which)
      ferry_print(3, "%s: none; of number %u %s", of_one);
    else
      ferry_print(3, "%s: none; %s", of_all);
    return NEAR_NONE;
  }
  plan->count = count;
  int version = NEAR_ALL;
  if (!near_fit(plan, version)) {
    version = NEAR_MOVING;
    u32 moving = 0;
    for (u32 i = 0; i < count; i++) moving += !(plan->arrays[i].flags & NEAR_STILL);
    if (moving == 0 || moving == count || !near_fit(plan, version)) version = NEAR_NONE;
  }
  u64 slots[4] = {(u64)what, plan->tiles, (plan->rounds + plan->tiles - 1) / (plan->tiles ? plan->tiles : 1), 0};
  if (version == NEAR_NONE) {
    plan->count = 0;
    ferry_print(3, "%s: none, they do not fit into the scratchpad", slots);
    return version;
  }
  ferry_print(3, version == NEAR_ALL ? "%s: all, %u tiles of %u rounds" : "%s: those that move, %u tiles of %u rounds", slots);
  u32 at = plan->memory;
  for (u32 core = 0; core < plan->cores; core++) {
    u32 __device *word = (u32 __device *)(u64)(plan->mine + plan->pitch * core);
    for (u32 i = 0; i < sizeof(Mine) / 4; i++) word[i] = 0;
  }
  u32 transfers[NEAR_ARRAYS], started = 0;
  for (u32 i = 0; i < count; i++) {
    Brought *it = &plan->arrays[i];
    if (it->flags & NEAR_STILL && version != NEAR_ALL) {
      it->is_whole = 1; /* not brought: nobody asks for it */
      continue;
    }
    if (!it->is_whole) {
      it->buffer += plan->mine;
      continue;
    }
    it->buffer = at;
    at += it->room;
    transfers[started++] = ferry_dma((void *)(u64)it->buffer, (void *)it->start, (u64)it->elements * it->size);
  }
  for (u32 i = 0; i < started; i++) ferry_dma_wait(transfers[i]);
  return version;
}

APART int __ferry_near_begin(Plan *plan, Array *arrays, u32 count, u64 rounds, int is_collapsed, const char *what) {
  return near_begin(plan, arrays, count, rounds, is_collapsed, what, me()->active || core_number() ? 1 : CORES);
}

/* The same for a loop that a team has met: one thread asks, all get the answer. A team of one inside of another has none. */
static int has_plan(void) { return me()->size > 1 || !me()->active; }

APART void __ferry_near_begin_in_team(Array *arrays, u32 count, u64 rounds, int is_collapsed, const char *what) {
  if (!has_plan() || !(the_team.plan = heap_take(sizeof(Plan)))) return;
  the_team.version = (u32)near_begin((Plan *)(u64)the_team.plan, arrays, count, rounds, is_collapsed, what, me()->size);
  if (!the_team.version) ferry_l1_free((void *)(u64)the_team.plan);
}
APART int __ferry_near_of_team(void) { return has_plan() ? (int)the_team.version : NEAR_NONE; }
APART DEVICE void *__ferry_near_plan_of_team(void) { return (void *)(u64)the_team.plan; }
APART void __ferry_near_finish_in_team(void) {
  __ferry_near_finish((Plan *)(u64)the_team.plan);
  ferry_l1_free((void *)(u64)the_team.plan);
  the_team.version = NEAR_NONE;
}
