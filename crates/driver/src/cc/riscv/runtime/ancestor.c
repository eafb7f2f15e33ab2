/* Regions that go back to the host. The host reads and writes by itself what the cores see; what it cannot do is to run
 * mappers, which are code of the cluster. */

typedef struct { int reserved, flags, others, length; const char *text; } Place;
typedef struct {
  u32 version, count;
  void **bases, **begins;
  i64 *sizes, *types;
  void **names, **mappers;
} RegionArgs;
typedef struct { u32 version, flags; const char *name; } RegionName;
/* What a mapper pushes: base, begin, size, type. */
typedef struct { u64 *list, count, room; } Components;
/* What is asked, its words, data at an address; and the components. */
typedef struct { u64 kind, words[5], data, bytes; Components made; } HandedBack;

static void begin_region(const Place *place, const RegionName *region, RegionArgs *args, HandedBack *ask) {
  const char *name = region->name, *text = place->text;
  u64 length = 0, more = 0, count = args->count;
  while (name[length]) length++;
  while (text[more]) more++;
  ask->bytes = 8 * (3 + 5 * count) + length + more;
  u64 *frame = malloc(ask->bytes);
  if (!frame) ferry_crash("no memory for a region that goes back to the host");
  frame[0] = count;
  frame[1] = length;
  frame[2] = 0;
  for (u64 i = 0; i < count; i++) {
    u64 *entry = frame + 3 + 5 * i;
    entry[0] = (u64)args->bases[i];
    entry[1] = (u64)args->begins[i];
    entry[2] = (u64)args->sizes[i];
    entry[3] = (u64)args->types[i];
    entry[4] = args->mappers && args->mappers[i] ? i + 1 : 0;
  }
  char *texts = (char *)(frame + 3 + 5 * count);
  memcpy(texts, name, length);
  memcpy(texts + length, text, more);
  ask->data = (u64)frame;
  ask->kind = MAIL_REGION;
}

/* Answers the number of an entry whose mapper is to push components, or 0 when the region is done. */
u64 ferry_hand_back(const Place *place, const RegionName *region, RegionArgs *args, HandedBack *ask) {
  if (!ask->kind) begin_region(place, region, args, ask);
  void *frame = ask->kind == MAIL_REGION ? (void *)ask->data : NULL;
  if (ask->kind == MAIL_MAPPER) {
    ask->data = (u64)ask->made.list;
    ask->bytes = 32 * ask->made.count;
  }
  /* Another core may be ahead. */
  do ferry_ask(ASK_REGION, low(ask), 0, 0);
  while (ask->kind == MAIL_REGION);
  free(frame);
  ask->made.count = 0;
  if (ask->kind == MAIL_MAPPER) return ask->words[0];
  free(ask->made.list);
  return 0;
}

void __tgt_push_mapper_component(Components *to, void *base, void *begin, i64 size, i64 type, void *name) {
  if (to->count == to->room) {
    to->room = to->room ? 2 * to->room : 16;
    to->list = realloc(to->list, 32 * to->room);
    if (!to->list) ferry_crash("no memory for the components of a mapper");
  }
  u64 *it = to->list + 4 * to->count++;
  it[0] = (u64)base;
  it[1] = (u64)begin;
  it[2] = (u64)size;
  it[3] = (u64)type;
}

i64 __tgt_mapper_num_components(Components *of) { return (i64)of->count; }
