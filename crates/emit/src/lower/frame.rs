//! What stands around the user's text: declarations before it, tables and registration after it.
//!
//! The structures are those of crate `abi`; the tests of the runtime check that both sides agree.
//! Line markers say that none of this is the user's, so his warnings do not speak of it.

use abi::{MapType, names};

/// Declarations of everything that generated text uses.
pub(super) fn before() -> String {
    let call = "const struct __ferry_ident *, __ferry_i64, int, void **, void **, \
                __ferry_i64 *, __ferry_i64 *, void **, void **";
    let (kernel, begin) = (names::KERNEL, names::DATA_BEGIN);
    let (end, update) = (names::DATA_END, names::DATA_UPDATE);
    let (control, coexecute) = (names::CONTROL, names::COEXECUTE);
    let (queue_begin, queue_end) = (names::QUEUE_BEGIN, names::QUEUE_END);
    let (task_begin, task_end) = (names::TASK_BEGIN, names::TASK_END);
    let queue_wait = names::QUEUE_WAIT;
    let (push, count) = (names::PUSH_COMPONENT, names::COMPONENT_COUNT);
    format!(
        "# 1 \"<ferry>\" 3
typedef int __ferry_i64 __attribute__((mode(DI)));
typedef unsigned __ferry_u64 __attribute__((mode(DI)));
typedef unsigned __ferry_word __attribute__((mode(pointer)));
typedef __typeof__(sizeof(0)) __ferry_size;
struct __ferry_ident {{ int __r1, __flags, __r2, __length; const char *__text; }};
struct __ferry_args {{ unsigned __version, __count; void **__bases, **__begins; \
__ferry_i64 *__sizes, *__types; void **__names, **__mappers; __ferry_u64 __trips, __flags; \
unsigned __teams[3], __limit[3], __memory; }};
struct __ferry_region {{ unsigned __version, __flags; const char *__name; \
void (*__cpu)(void *const *); }};
struct __ferry_entry {{ void *__addr; const char *__name; __ferry_u64 __size; \
int __flags, __data; }};
struct __ferry_dim {{ __ferry_u64 __offset, __count, __stride; }};
extern int {kernel}(const struct __ferry_ident *, __ferry_i64, int, int, const void *, \
struct __ferry_args *);
struct __ferry_split {{ __ferry_i64 __trips, __begin, __step, __behind; int __begin_entry, \
__bound_entry, __sum_count, __window_count; const int *__sums; \
void (*__join)(void *const *, void *const *, int); const int *__windows; \
void (*__window)(void *const *, __ferry_i64 *); }};
extern void {coexecute}(const struct __ferry_ident *, __ferry_i64, const void *, \
struct __ferry_args *, const struct __ferry_split *);
extern void {begin}({call});
extern void {end}({call});
extern void {update}({call});
extern void {control}(const struct __ferry_ident *, int, const char *, __ferry_i64, \
__ferry_i64);
struct __ferry_dependence {{ const volatile void *__at; __ferry_i64 __kind; }};
extern void {queue_begin}(const struct __ferry_ident *, __ferry_i64, __ferry_i64);
extern void {queue_end}(void);
extern void {queue_wait}(const struct __ferry_ident *, __ferry_i64, int, const __ferry_i64 *, \
__ferry_i64, __ferry_i64);
extern void {task_begin}(const struct __ferry_ident *, int, int, \
const struct __ferry_dependence *);
extern void {task_end}(void);
extern void {push}(void *, void *, void *, __ferry_i64, __ferry_i64, void *);
extern __ferry_i64 {count}(void *);
static __inline__ __attribute__((unused)) void *__ferry_value(const volatile void *__p, \
__ferry_size __n) {{ void *__v = 0; __builtin_memcpy(&__v, (const void *)__p, __n); return __v; }}
static __inline__ __attribute__((unused)) const volatile void *__ferry_low(const volatile void *__a, \
const volatile void *__b) {{ return __a < __b ? __a : __b; }}
static __inline__ __attribute__((unused)) const volatile void *__ferry_high(const volatile void *__a, \
const volatile void *__b) {{ return __a > __b ? __a : __b; }}
static __inline__ __attribute__((unused)) __ferry_i64 __ferry_device(__ferry_i64 __n) \
{{ return __n == -1 ? {host} : __n; }}
static __inline__ __attribute__((unused)) __ferry_i64 __ferry_trips(__ferry_i64 __b, \
__ferry_i64 __e, __ferry_i64 __s) {{ __ferry_i64 __n = __s > 0 ? (__e - __b + __s - 1) / __s : \
__s < 0 ? (__b - __e - __s - 1) / -__s : 0; return __n > 0 ? __n : 0; }}
static __inline__ __attribute__((unused)) __ferry_i64 __ferry_bytes(__ferry_i64 __n, \
__ferry_i64 __each) {{ __ferry_i64 __b; return !__builtin_mul_overflow(__n, __each, &__b) ? __b : \
__n < 0 ? {least} : {most_bytes}; }}
static __inline__ __attribute__((unused)) __ferry_i64 __ferry_extent(__ferry_i64 __n, \
__ferry_i64 __each) {{ return __n > 0 ? __ferry_bytes(__n, __each) : 0; }}
static __inline__ __attribute__((unused)) __ferry_i64 __ferry_side_by_side(__ferry_i64 __n, \
__ferry_i64 __each, __ferry_i64 __step) {{ return __n <= 1 || __each == __step || !__each ? \
__ferry_bytes(__n, __each) : {gaps}; }}
static __inline__ __attribute__((unused)) void *__ferry_table(__ferry_i64 __n, __ferry_size __each) {{ \
__ferry_size __b; return __n >= 0 && __n <= 0x7fffffff && \
!__builtin_mul_overflow((__ferry_size)__n, __each, &__b) ? __builtin_malloc(__b + 1) : 0; }}
static __inline__ __attribute__((unused)) void __ferry_drop_table(void *__p) {{ \
void *__t; __builtin_memcpy(&__t, __p, sizeof(__t)); __builtin_free(__t); }}
struct __ferry_scope {{ const struct __ferry_ident *__place; __ferry_i64 __device; int __count; \
void **__bases, **__begins; __ferry_i64 *__sizes, *__types; void **__names; }};
static __inline__ __attribute__((unused)) void __ferry_enter(struct __ferry_scope *__s, \
const struct __ferry_ident *__place, __ferry_i64 __device, int __count, void **__b, void **__p, \
__ferry_i64 *__z, __ferry_i64 *__t, void **__n, void **__m) {{ \
__ferry_size __w = (__ferry_size)__count * 8; char *__c; \
{begin}(__place, __device, __count, __b, __p, __z, __t, __n, __m); \
if (!__count || !(__c = __builtin_malloc(__w * 5))) return; \
__s->__place = __place; __s->__device = __device; __s->__count = __count; \
__s->__bases = __builtin_memcpy(__c, __b, __w); \
__s->__begins = __builtin_memcpy(__c + __w, __p, __w); \
__s->__sizes = __builtin_memcpy(__c + 2 * __w, __z, __w); \
__s->__types = __builtin_memcpy(__c + 3 * __w, __t, __w); \
__s->__names = __builtin_memcpy(__c + 4 * __w, __n, __w); }}
static __inline__ __attribute__((unused)) void __ferry_leave(struct __ferry_scope *__s) {{ \
if (!__s->__count) return; \
{end}(__s->__place, __s->__device, __s->__count, __s->__bases, __s->__begins, __s->__sizes, \
__s->__types, __s->__names, 0); __builtin_free(__s->__bases); }}
static __inline__ __attribute__((unused)) __ferry_i64 __ferry_decay(__ferry_i64 __own, \
__ferry_i64 __asked) {{ return (__own & ~{copies}) | (__own & __asked & {copies}) | (__asked & {kept}); }}
static __inline__ __attribute__((unused)) __ferry_i64 __ferry_storage(__ferry_i64 __asked) \
{{ return __asked & ~{spoken}; }}
static __inline__ __attribute__((unused)) __ferry_i64 __ferry_member(__ferry_i64 __of) \
{{ return (__ferry_i64)((__ferry_u64)(__of < {most} ? __of : {most}) << {shift}); }}
",
        host = abi::DEVICE_HOST,
        least = "(-0x7fffffffffffffffll - 1)",
        most_bytes = "0x7fffffffffffffffll",
        gaps = format_args!("({}ll)", abi::map::GAPS),
        copies = COPIES.0,
        spoken = SPOKEN.0,
        most = MapType::MOST_PARENT,
        shift = MapType::MEMBER_OF_SHIFT,
        kept = kept().0,
    )
}

/// What is copied.
const COPIES: MapType = MapType(MapType::TO.0 | MapType::FROM.0);

/// How a mapper's user reaches the object holds for its storage; copies are its parts' own.
const SPOKEN: MapType = MapType(COPIES.0 | MapType::TARGET_PARAM.0 | MapType::RETURN_PARAM.0);

/// What a mapper's user says of the whole holds for its parts.
fn kept() -> MapType {
    MapType::ALWAYS | MapType::DELETE | MapType::CLOSE | MapType::PRESENT | MapType::HOLD
}

/// The same for mappers in the languages of grids, as macros.
pub(super) fn mapper_macros() -> String {
    let numbers = [
        ("COPIES", COPIES.0),
        ("SPOKEN", SPOKEN.0),
        ("KEPT", kept().0),
        ("MOST_PARENT", MapType::MOST_PARENT as u64),
        ("PARENT_SHIFT", u64::from(MapType::MEMBER_OF_SHIFT)),
    ];
    let define = |(name, number): (&str, u64)| format!("#define __FERRY_{name} {number}l\n");
    numbers.map(define).concat()
}

/// One row of the binary's table.
#[derive(Clone, Debug)]
pub(super) struct Row {
    /// C expression of the address.
    pub(super) address: String,
    /// The symbol on the device.
    pub(super) name: String,
    /// C expression of the size; 0 for kernels.
    pub(super) size: String,
    pub(super) flags: i32,
    pub(super) data: u32,
}

/// The rows, as one static array in the section that the linker gathers.
pub(super) fn rows(rows: &[Row]) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let section = names::ENTRY_SECTION;
    let mut text = format!(
        "static const struct __ferry_entry __ferry_entries[{}] __attribute__((section(\"{section}\"), \
         used, aligned(8))) = {{\n",
        rows.len()
    );
    for row in rows {
        text.push_str(&format!(
            "  {{ (void *){}, {}, {}, {}, {} }},\n",
            row.address,
            super::stub::quoted(&row.name),
            row.size,
            row.flags,
            row.data
        ));
    }
    text.push_str("};\n");
    text
}

/// Registers the binary's table once, however many units it has.
pub(super) fn registration() -> String {
    let (start, stop) = (names::ENTRIES_START, names::ENTRIES_STOP);
    let (images, count) = (names::IMAGES, names::IMAGE_COUNT);
    let (register, unregister) = (names::REGISTER, names::UNREGISTER);
    let once = "__attribute__((weak, visibility(\"hidden\")))";
    format!(
        "struct __ferry_binary {{ int __count; const void *__images; \
const struct __ferry_entry *__begin, *__end; }};
extern const struct __ferry_entry {start}[], {stop}[] __attribute__((visibility(\"hidden\")));
extern const char {images}[] {once};
extern const int {count} {once};
extern void {register}(struct __ferry_binary *);
extern void {unregister}(struct __ferry_binary *);
{once} struct __ferry_binary __ferry_binary_table;
{once} int __ferry_is_registered;
{once} __attribute__((destructor(101))) void __ferry_unregister(void) {{
  if (!__ferry_is_registered) return;
  __ferry_is_registered = 0;
  {unregister}(&__ferry_binary_table);
}}
{once} __attribute__((constructor(101))) void __ferry_register(void) {{
  if (__ferry_is_registered) return;
  __ferry_is_registered = 1;
  if (&{count}) {{ __ferry_binary_table.__count = {count}; \
__ferry_binary_table.__images = {images}; }}
  __ferry_binary_table.__begin = {start};
  __ferry_binary_table.__end = {stop};
  {register}(&__ferry_binary_table);
}}
"
    )
}
