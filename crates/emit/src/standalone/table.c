/* ---- What is on the device: ranges of the host's memory, in the order of their addresses ---- */

struct range {
  char *base, *begin, *end;   /* on the host */
  ferry_word device, memory;  /* its place on the device; the memory to give back, if it has any of its own */
  long count, hold;           /* how often it was asked for */
  const char *name;
};
/* The count of what stays for ever. */
#define FOREVER (1L << 60)

/* A pointer whose copy on the device points to data there. */
struct attached {
  char *pointer;
  ferry_word value;
  int count;
};

/* Where a pointer leads that may come to the device later than its data. */
struct lead {
  char *pointer, *target, *data;
  ferry_word device;
};

static struct range *ranges;
static struct attached *attachments;
static struct lead *leads;
static int range_count, range_room, attached_count, attached_room, lead_count, lead_room;
static struct ferry_module *modules;
static int is_open;
/* 0 is the device, 1 the host. */
static int default_device;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const char *place = "";

static void fail(const char *format, ...) {
  va_list words;
  fflush(stdout);
  fprintf(stderr, "error: %s: ", place);
  va_start(words, format);
  vfprintf(stderr, format, words);
  va_end(words);
  fprintf(stderr, "\n");
  exit(1);
}

/* Room for one element more. */
static void *grown(void *list, int count, int *room, ferry_size size) {
  if (count < *room) return list;
  *room = *room ? 2 * *room : 16;
  list = realloc(list, *room * size);
  if (!list) fail("out of memory");
  return list;
}

static int has(const struct ferry_item *item, ferry_i64 marks) { return (item->how & marks) == marks; }
static const char *named(const struct ferry_item *item) { return item->name ? item->name : "data"; }
static int is_member(const struct ferry_item *item) { return item->how >> 48 != 0; }

enum fit { PART, WHOLE };

/* The first range that begins at or behind an address. */
static int first_from(const char *at) {
  int low = 0, high = range_count;
  while (low < high) {
    int middle = (low + high) / 2;
    if (ranges[middle].begin < at) low = middle + 1;
    else high = middle;
  }
  return low;
}

/* The range that has some of these bytes, and whether it has all. Where there are none, it may begin behind them. */
static struct range *find(const char *at, ferry_i64 size, enum fit *fit) {
  int next = first_from(at);
  *fit = WHOLE;
  struct range *here = next < range_count && ranges[next].begin == at ? &ranges[next] : next > 0 ? &ranges[next - 1] : 0;
  if (size == 0) {
    struct range *above = next < range_count ? &ranges[next] : 0;
    if (here && (at < here->end || at < here->base)) return here;
    return above && at >= above->base ? above : 0;
  }
  if (here && at < here->end) {
    if (at + size > here->end) *fit = PART;
    return here;
  }
  if (next < range_count && ranges[next].begin < at + size) {
    *fit = PART;
    return &ranges[next];
  }
  return 0;
}

static ferry_word on_device(const struct range *range, const char *at) {
  return range->device + (ferry_word)(at - range->begin);
}

static struct range *add_range(struct range range) {
  ranges = grown(ranges, range_count, &range_room, sizeof *ranges);
  int at = first_from(range.begin);
  memmove(ranges + at + 1, ranges + at, (range_count++ - at) * sizeof *ranges);
  ranges[at] = range;
  return ranges + at;
}

static void remove_range(struct range *range) {
  int kept = 0;
  for (int i = 0; i < attached_count; i++)
    if (attachments[i].pointer < range->begin || attachments[i].pointer >= range->end)
      attachments[kept++] = attachments[i];
  attached_count = kept;
  kept = 0;
  for (int i = 0; i < lead_count; i++)
    if (leads[i].data != range->begin) leads[kept++] = leads[i];
  lead_count = kept;
  if (range->memory) device_free(range->memory);
  memmove(range, range + 1, (ranges + --range_count - range) * sizeof *range);
}

/* ---- Copies, which leave attached pointers as they are on each side ---- */

static void copy(const struct range *range, char *begin, ferry_i64 size, int is_back) {
  char *at = begin < range->begin ? range->begin : begin;
  char *end = begin + size > range->end ? range->end : begin + size;
  while (at < end) {
    char *next = end, *behind = end;
    for (int i = 0; i < attached_count; i++) {
      char *pointer = attachments[i].pointer;
      if (pointer + sizeof(void *) > at && pointer < next) next = pointer, behind = pointer + sizeof(void *);
    }
    if (next > at && is_back) device_read(at, on_device(range, at), next - at);
    if (next > at && !is_back) device_write(on_device(range, at), at, next - at);
    at = behind;
  }
}

/* ---- Pointers ---- */

static char *host_pointer(const void *at) {
  char *value;
  memcpy(&value, at, sizeof value);
  return value;
}

static struct attached *attachment(const char *pointer) {
  for (int i = 0; i < attached_count; i++)
    if (attachments[i].pointer == pointer) return attachments + i;
  return 0;
}

static void write_pointer(const struct range *range, char *pointer, ferry_word value) {
  device_write(on_device(range, pointer), &value, sizeof value);
  device_wait();
}

static void attach(char *pointer, ferry_word value, int is_counted) {
  enum fit fit;
  struct range *range = find(pointer, sizeof(void *), &fit);
  if (!range || fit == PART) return;
  struct attached *known = attachment(pointer);
  if (known && known->value == value) {
    known->count += is_counted;
    return;
  }
  if (!known) {
    attachments = grown(attachments, attached_count, &attached_room, sizeof *attachments);
    known = attachments + attached_count++;
  }
  *known = (struct attached){ pointer, value, 1 };
  write_pointer(range, pointer, value);
}

/* The copy of a pointer has the host's value again. */
static void let_go(char *pointer) {
  enum fit fit;
  struct range *range = find(pointer, sizeof(void *), &fit);
  struct attached *known = attachment(pointer);
  if (!range || fit == PART) return;
  if (known) *known = attachments[--attached_count];
  write_pointer(range, pointer, (ferry_word)host_pointer(pointer));
}

static void attach_pointee(char *pointer) {
  enum fit fit;
  char *target = host_pointer(pointer);
  struct range *range = target ? find(target, 0, &fit) : 0;
  if (!target) let_go(pointer);
  if (range) attach(pointer, on_device(range, target), 1);
}

static void detach(char *pointer, int is_final) {
  struct attached *known = attachment(pointer);
  if (known && (is_final || --known->count == 0)) let_go(pointer);
}

/* ---- Into the table ---- */

static long *counter(struct range *range, const struct ferry_item *item) {
  return has(item, FERRY_HOLD) ? &range->hold : &range->count;
}

static void partly(const struct ferry_item *item, const struct range *range) {
  fail("`%s` (%lld bytes) is mapped in part only: `%s` is, the rest is not", named(item), item->size,
       range->name ? range->name : "data");
}

/* The place that the variables of files have for these bytes. */
static ferry_word room(const char *at, ferry_i64 size) {
  for (struct ferry_module *module = modules; module; module = module->next)
    for (int i = 0; i < module->count; i++) {
      struct ferry_variable *it = module->variables + i;
      char *begin = it->host;
      if (it->is_room && at >= begin && at + size <= begin + it->size)
        return variable_at(module, it->name) + (at - begin);
    }
  return 0;
}

/* Finds or makes the place of an item; answers whether it has one. */
static int acquire(const struct ferry_item *item, ferry_size padding, int is_counted, ferry_word *at) {
  char *begin = item->begin;
  enum fit fit;
  if (!begin) return 0;
  struct range *range = find(begin, item->size, &fit);
  int is_copied = has(item, FERRY_TO) && item->size > 0;
  if (range) {
    if (fit == PART && (has(item, FERRY_EXACT) || !has(item, FERRY_IMPLICIT))) partly(item, range);
    if (is_counted) ++*counter(range, item);
    int is_new = !is_counted && range->count + range->hold == 1;
    if (is_copied && (is_new || has(item, FERRY_ALWAYS))) copy(range, begin, item->size, 0);
    *at = on_device(range, begin);
    return 1;
  }
  if (has(item, FERRY_PRESENT)) fail("`%s` is not on the device", named(item));
  if (item->size == 0 || has(item, FERRY_OPTIONAL)) return 0;
  if (has(item, FERRY_EXACT) && is_of_device((ferry_word)begin)) return 0;
  struct range made = { item->base, begin, begin + item->size, room(begin, item->size), 0, 0, 0, item->name };
  *counter(&made, item) = 1;
  if (!made.device) {
    made.memory = device_alloc(padding + item->size);
    if (!made.memory) fail("no memory on the device for `%s` (%lld bytes)", named(item), item->size);
    made.device = made.memory + padding;
  }
  if (has(item, FERRY_ZERO) && !is_copied) device_clear(made.device, item->size);
  *at = made.device;
  range = add_range(made);
  if (is_copied) copy(range, begin, item->size, 0);
  for (int i = 0; i < lead_count; i++) {
    struct lead it = leads[i];
    int is_inside = it.pointer >= made.begin && it.pointer + sizeof(void *) <= made.end;
    if (is_inside && host_pointer(it.pointer) == it.target) attach(it.pointer, it.device, 0);
  }
  return 1;
}

/* Bytes to leave free before a structure of which only the tail is mapped, for the alignment of its members. */
static ferry_size padding(const struct ferry_item *items, int count, int i) {
  ferry_word base = (ferry_word)items[i].base;
  int is_parent = i + 1 < count && items[i + 1].how >> 48 == i + 1;
  if (is_member(items + i) || !is_parent || !base) return 0;
  ferry_word align = base & -base;
  return (ferry_word)items[i].begin % (align < 16 ? align : 16);
}

static void remember(char *pointer, const struct ferry_item *item, ferry_word device) {
  enum fit fit;
  struct range *range = find(item->begin, item->size, &fit);
  if (!range) return;
  int i = 0;
  while (i < lead_count && leads[i].pointer != pointer) i++;
  leads = grown(leads, i, &lead_room, sizeof *leads);
  leads[i] = (struct lead){ pointer, item->base, range->begin, device };
  lead_count += i == lead_count;
}

/* No object has such a size. */
static void check_size(const struct ferry_item *item) {
  if (has(item, FERRY_STRIDED) || (item->size >= 0 && item->size < 0x7fffffffffffffffll)) return;
  if (item->size == FERRY_GAPS) fail("the elements of `%s` do not follow each other", named(item));
  if (item->size < 0) fail("`%s` has a negative size (%lld bytes)", named(item), item->size);
  fail("`%s` has more bytes than there are addresses", named(item));
}

static void enter(struct ferry_item *items, int count) {
  for (int i = 0; i < count; i++) {
    struct ferry_item item = items[i];
    char *pointer = item.base;
    ferry_word at;
    enum fit fit;
    if (item.how & (FERRY_VALUE | FERRY_PRIVATE)) continue;
    check_size(&item);
    if (has(&item, FERRY_POINTEE | FERRY_UNCOUNTED)) {
      attach_pointee(pointer);
      continue;
    }
    int is_counted = !is_member(&item) && !has(&item, FERRY_UNCOUNTED);
    if (has(&item, FERRY_POINTEE)) {
      struct ferry_item slot = item;
      slot.begin = pointer, slot.size = sizeof(void *), slot.how &= ~(ferry_i64)(FERRY_TO | FERRY_ALWAYS);
      if (!has(&item, FERRY_ATTACH)) acquire(&slot, 0, is_counted, &at);
      item.base = host_pointer(pointer);
      is_counted = 1;
    }
    int is_there = acquire(&item, padding(items, count, i), is_counted, &at);
    ferry_word base = is_there ? at - ((char *)item.begin - (char *)item.base) : (ferry_word)item.base;
    if (has(&item, FERRY_RETURN)) items[i].base = (void *)base;
    if (!is_there || !has(&item, FERRY_POINTEE)) continue;
    if (has(&item, FERRY_ATTACH) && !has(&item, FERRY_DETACH)) remember(pointer, &item, base);
    struct range *range = find(pointer, sizeof(void *), &fit);
    if (!has(&item, FERRY_ATTACH) || (range && fit == WHOLE)) attach(pointer, base, has(&item, FERRY_DETACH));
  }
}

/* ---- Out of the table: what came last goes first ---- */

static void release(const struct ferry_item *item) {
  char *begin = item->begin;
  enum fit fit;
  struct range *range = begin ? find(begin, item->size, &fit) : 0;
  int is_part = is_member(item) && !has(item, FERRY_POINTEE);
  int is_implicit = has(item, FERRY_IMPLICIT);
  if (!begin) return;
  if (range && fit == PART && !is_implicit) {
    if (has(item, FERRY_WHOLE)) partly(item, range);
    range = 0;
  }
  if (!range) {
    if (has(item, FERRY_PRESENT)) fail("`%s` is not on the device", named(item));
    return;
  }
  long *mine = counter(range, item), other = range->count + range->hold - *mine;
  int is_last = 0;
  if (*mine != 0 && *mine < FOREVER) {
    is_last = other == 0 && (has(item, FERRY_DELETE) || *mine == 1);
    if (has(item, FERRY_DELETE)) *mine = 1;
    if (!is_part && !has(item, FERRY_UNCOUNTED)) --*mine;
  }
  if (has(item, FERRY_FROM) && (has(item, FERRY_ALWAYS) || is_last) && item->size > 0)
    copy(range, begin, item->size, 1);
  if (!is_part && range->count == 0 && range->hold == 0) remove_range(range);
}

/* What a pointer without a length stands for when it leaves: the data it leads to, or else itself. */
static int as_entered(struct ferry_item *item) {
  enum fit fit;
  struct range *range = item->begin ? find(item->begin, 0, &fit) : 0;
  if (range) {
    item->begin = range->begin, item->size = range->end - range->begin;
    return 1;
  }
  range = find(item->base, sizeof(void *), &fit);
  item->begin = item->base, item->size = sizeof(void *), item->how &= ~(ferry_i64)FERRY_POINTEE;
  return range && fit == WHOLE;
}

static void leave(struct ferry_item *items, int count) {
  for (int i = count - 1; i >= 0; i--) {
    struct ferry_item found = items[i], *item = &found;
    enum fit fit;
    if (item->how & (FERRY_VALUE | FERRY_PRIVATE)) continue;
    check_size(item);
    if (has(item, FERRY_OBJECT) && !as_entered(item)) continue;
    if (has(item, FERRY_POINTEE | FERRY_UNCOUNTED)) {
      detach(item->base, has(item, FERRY_DELETE));
      continue;
    }
    if (has(item, FERRY_POINTEE | FERRY_DETACH)) {
      struct range *range = find(item->begin, item->size, &fit);
      if (range && *counter(range, item) > 0) detach(item->base, 0);
    }
    release(item);
  }
}

/* ---- Updates ---- */

static void move(const struct ferry_item *item, char *begin, ferry_i64 size) {
  enum fit fit;
  struct range *range = find(begin, size, &fit);
  if (range && fit == PART) {
    if (has(item, FERRY_WHOLE)) partly(item, range);
    range = 0;
  }
  if (!range) {
    if (has(item, FERRY_PRESENT)) fail("`%s` is not on the device", named(item));
    return;
  }
  if (has(item, FERRY_OBJECT)) begin = range->begin, size = range->end - range->begin;
  if (has(item, FERRY_TO)) copy(range, begin, size, 0);
  if (has(item, FERRY_FROM)) copy(range, begin, size, 1);
}

/* The elements of some dimensions, outermost first; the stride of the last is the size of one. */
static void move_strided(const struct ferry_item *item, char *at, const struct ferry_dim *dims, ferry_i64 count) {
  if (count == 1) {
    move(item, at + dims->offset * dims->stride, dims->count * dims->stride);
    return;
  }
  for (ferry_u64 i = 0; i < dims->count; i++)
    move_strided(item, at + (dims->offset + i) * dims->stride, dims + 1, count - 1);
}

static void update(struct ferry_item *items, int count) {
  for (int i = 0; i < count; i++) {
    struct ferry_item *item = items + i;
    if (item->how & (FERRY_VALUE | FERRY_PRIVATE) || (has(item, FERRY_OBJECT) && !item->begin)) continue;
    check_size(item);
    if (has(item, FERRY_STRIDED)) move_strided(item, item->base, item->begin, item->size);
    else move(item, item->begin, item->size);
  }
}

/* ---- Regions ---- */

static char *base_of(const struct ferry_item *item) {
  return has(item, FERRY_POINTEE) && !has(item, FERRY_VALUE) ? host_pointer(item->base) : item->base;
}

static void run_on_host(struct ferry_kernel *kernel, struct ferry_item *items, int count) {
  void *slots[count + 1], *copies[count + 1];
  int used = 0, copied = 0;
  if (!kernel->host) fail("`%s` was not written for the host", kernel->name);
  for (int i = 0; i < count; i++) {
    struct ferry_item *item = items + i;
    if (!has(item, FERRY_ARGUMENT)) continue;
    slots[used] = base_of(item);
    if (has(item, FERRY_PRIVATE) && !has(item, FERRY_VALUE) && item->size > 0) {
      char *own = copies[copied++] = malloc(item->size);
      if (!own) fail("out of memory");
      if (has(item, FERRY_TO)) memcpy(own, item->begin, item->size);
      slots[used] = own + ((char *)item->base - (char *)item->begin);
    }
    used++;
  }
  kernel->host(slots);
  while (copied > 0) free(copies[--copied]);
}

/* How many blocks of how many threads: enough to fill the device, and no more than there are iterations for. */
static void shape(const struct ferry_kernel *kernel, ferry_u64 trips, unsigned *blocks, unsigned *threads) {
  ferry_u64 most = (ferry_u64)device_units * (kernel->has_memory ? 8 : 16), wanted;
  *blocks = *threads = 1;
  if (kernel->most == 1) return;
  *threads = trips == 0 || trips / 2048 >= (ferry_u64)device_units ? DEVICE_THREADS : 128;
  if (*threads > (unsigned)kernel->most || kernel->is_fixed) *threads = kernel->most;
  wanted = trips == 0 ? most : (trips + *threads - 1) / *threads;
  *blocks = wanted < most ? wanted : most;
}

static void run_on_device(struct ferry_kernel *kernel, struct ferry_item *items, int count, ferry_u64 trips) {
  ferry_word arguments[count + 2], copies[count + 1];
  unsigned blocks, threads;
  int used = 0, copied = 0;
  enum fit fit;
  enter(items, count);
  for (int i = 0; i < count; i++) {
    struct ferry_item *item = items + i;
    if (!has(item, FERRY_ARGUMENT)) continue;
    ferry_word before = base_of(item) - (char *)item->begin, at;
    if (has(item, FERRY_VALUE)) {
      arguments[used++] = (ferry_word)item->base;
      continue;
    }
    if (has(item, FERRY_PRIVATE) && item->size > 0) {
      at = copies[copied++] = device_alloc(item->size);
      if (!at) fail("no memory on the device for `%s` (%lld bytes)", named(item), item->size);
      if (has(item, FERRY_TO)) device_write(at, item->begin, item->size);
    } else {
      struct range *range = has(item, FERRY_PRIVATE) ? 0 : find(item->begin, item->size, &fit);
      at = range ? on_device(range, item->begin) : (ferry_word)item->begin;
    }
    arguments[used++] = at + before;
  }
  if (!kernel->handle) find_kernel(kernel);
  shape(kernel, trips, &blocks, &threads);
  device_run(kernel, arguments, used, blocks, threads);
  leave(items, count);
  device_wait();
  while (copied > 0) device_free(copies[--copied]);
}

/* ---- What programs call ---- */

void ferry_add_module(struct ferry_module *module) {
  module->next = modules;
  modules = module;
}

static void open_all(void) {
  if (is_open) return;
  is_open = 1;
  open_device();
  for (struct ferry_module *module = modules; module; module = module->next) {
    load_module(module);
    for (int i = 0; i < module->count; i++) {
      struct ferry_variable *it = module->variables + i;
      char *begin = it->host;
      if (it->is_room) continue;
      add_range((struct range){ begin, begin, begin + it->size, variable_at(module, it->name), 0, FOREVER, 0,
                                it->name });
    }
  }
}

/* Begins a call; answers whether it is for the device. */
static int begins(const char *where, ferry_i64 device) {
  pthread_mutex_lock(&lock);
  place = where;
  if (device == FERRY_HOST) return 0;
  if (device == FERRY_DEVICE) device = default_device;
  if (device == 1) return 0;
  if (device != 0) fail("there is no device %lld: 0 is the device, 1 is the host", device);
  open_all();
  use_device();
  return 1;
}

static void ends(void) { pthread_mutex_unlock(&lock); }

struct ferry_item *ferry_new_items(const char *where, ferry_i64 count) {
  int is_few = count >= 0 && count < 0x7fffffff;
  struct ferry_item *items = is_few ? malloc((ferry_size)count * sizeof *items + 1) : 0;
  if (!items) {
    pthread_mutex_lock(&lock);
    place = where;
    fail("there is no memory for the %lld items of this directive", count);
  }
  return items;
}

void ferry_free_items(struct ferry_item **items) { free(*items); }

void ferry_enter_data(const char *where, ferry_i64 device, struct ferry_item *items, int count) {
  if (begins(where, device)) enter(items, count), device_wait();
  ends();
}

void ferry_exit_data(const char *where, ferry_i64 device, struct ferry_item *items, int count) {
  if (begins(where, device)) leave(items, count), device_wait();
  ends();
}

void ferry_update(const char *where, ferry_i64 device, struct ferry_item *items, int count) {
  if (begins(where, device)) update(items, count), device_wait();
  ends();
}

void ferry_run(const char *where, ferry_i64 device, struct ferry_kernel *kernel, struct ferry_item *items, int count,
               ferry_u64 trips) {
  int is_there = begins(where, device);
  if (is_there) run_on_device(kernel, items, count, trips);
  ends();
  if (!is_there) run_on_host(kernel, items, count);
}

void ferry_enter_scope(struct ferry_scope *scope, const char *where, ferry_i64 device, struct ferry_item *items,
                       int count) {
  struct ferry_item *kept = malloc(count * sizeof *items + 1);
  ferry_enter_data(where, device, items, count);
  if (!kept) fail("out of memory");
  *scope = (struct ferry_scope){ where, device, memcpy(kept, items, count * sizeof *items), count };
}

void ferry_leave(struct ferry_scope *scope) {
  if (!scope->items) return;
  ferry_exit_data(scope->place, scope->device, scope->items, scope->count);
  free(scope->items);
}
