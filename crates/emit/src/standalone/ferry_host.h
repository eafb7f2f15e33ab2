/* What programs call that `ferry emit` has written: data that lives on a device, and kernels.

   A table says which bytes of the host have a copy on the device, and how often each was asked for. A region enters
   its data, runs its kernel and leaves its data: bytes are copied to the device when they come into the table and
   back when they leave it, as the marks of each item say. */
#ifndef FERRY_HOST_H
#define FERRY_HOST_H

typedef long long ferry_i64;
typedef unsigned long long ferry_u64;
typedef __UINTPTR_TYPE__ ferry_word;
typedef __SIZE_TYPE__ ferry_size;

/* Something that a region or a directive names: a variable, or the data behind a pointer. */
struct ferry_item {
  void *base;       /* the variable or the pointer's value; a value itself with FERRY_VALUE */
  void *begin;      /* its first byte */
  ferry_i64 size;   /* bytes */
  ferry_i64 how;    /* marks, from below */
  const char *name; /* as the source says it */
};

#define FERRY_ALLOC 0                    /* a place on the device, and no copy */
#define FERRY_TO 0x1                     /* copied there when it comes into the table */
#define FERRY_FROM 0x2                   /* copied back when it leaves it */
#define FERRY_ALWAYS 0x4                 /* copied in any case */
#define FERRY_DELETE 0x8                 /* leaves the table, whoever else has asked for it */
#define FERRY_POINTEE 0x10               /* base is the address of a pointer, whose copy is made to point there */
#define FERRY_ARGUMENT 0x20              /* passed to the kernel */
#define FERRY_RETURN 0x40                /* base becomes the address on the device */
#define FERRY_PRIVATE 0x80               /* a copy for this kernel alone */
#define FERRY_VALUE 0x100                /* base is what is passed */
#define FERRY_IMPLICIT 0x200             /* a part of it may be there already */
#define FERRY_CLOSE 0x400                /* (for devices that share memory) */
#define FERRY_PRESENT 0x1000             /* it must be there */
#define FERRY_HOLD 0x2000                /* asked for until the region ends, FERRY_DELETE or not */
#define FERRY_ATTACH 0x4000              /* FERRY_POINTEE, if the pointer is on the device */
#define FERRY_OPTIONAL (1LL << 32)       /* used if it is there */
#define FERRY_ZERO (1LL << 33)           /* filled with zeros when it comes */
#define FERRY_UNCOUNTED (1LL << 34)      /* not asked for, only used */
#define FERRY_DETACH (1LL << 35)         /* the pointer is let go at the end */
#define FERRY_WHOLE (1LL << 36)          /* all of it must be there, or nothing */
#define FERRY_EXACT (1LL << 37)          /* with FERRY_IMPLICIT: all of it */
#define FERRY_OBJECT (1LL << 38)         /* update: the whole that begin leads to */
#define FERRY_STRIDED (1LL << 44)        /* update: begin leads to steps, size is their number */
#define FERRY_MEMBER_OF(item) ((ferry_i64)((item) + 1) << 48) /* a part of another item */

/* One dimension of an update whose elements do not follow each other. */
struct ferry_dim {
  ferry_u64 offset, count, stride;
};

/* Devices by number: the one there is, and the host. */
#define FERRY_DEVICE -1
#define FERRY_HOST -10

/* A variable that is on the device from the start; or, if it is a room, one that uses that place when it is
   mapped. */
struct ferry_variable {
  void *host;
  const char *name;
  ferry_size size;
  int is_room;
};

/* The kernels and variables of a file. */
struct ferry_module {
  const char *text, *end;
  struct ferry_variable *variables;
  int count;
  void *handle, *memory;
  struct ferry_module *next;
  ferry_word fault; /* where kernels say what they found wrong with themselves, if they can */
};

struct ferry_kernel {
  struct ferry_module *module;
  const char *name;
  void (*host)(void *const *); /* the same for the host, if the source lets it be asked */
  void *handle;
  int most, has_memory, is_fixed;
};

#define FERRY_KERNEL(name, host) { &ferry_module, name, host, 0, 0, 0 }

/* Data that lives until a scope is left. */
struct ferry_scope {
  const char *place;
  ferry_i64 device;
  struct ferry_item *items;
  int count;
};

/* Items that a directive repeats. */
struct ferry_item *ferry_new_items(const char *place, ferry_i64 count);
void ferry_free_items(struct ferry_item **items);
void ferry_enter_data(const char *place, ferry_i64 device, struct ferry_item *items, int count);
void ferry_exit_data(const char *place, ferry_i64 device, struct ferry_item *items, int count);
void ferry_update(const char *place, ferry_i64 device, struct ferry_item *items, int count);
void ferry_run(const char *place, ferry_i64 device, struct ferry_kernel *kernel, struct ferry_item *items, int count,
               ferry_u64 trips);
void ferry_enter_scope(struct ferry_scope *scope, const char *place, ferry_i64 device, struct ferry_item *items,
                       int count);
void ferry_leave(struct ferry_scope *scope);
void ferry_add_module(struct ferry_module *module);
/* Newer than many headers. */
void *omp_get_mapped_ptr(const void *at, int device);

/* The kernels of a file stand beside it, under its name with one letter more, and become part of the program. */
#ifndef FERRY_KERNELS
#define FERRY_KERNELS __FILE__ "@ENDING@"
#endif
#define FERRY_MODULE(variables, count) \
  __asm__(".pushsection .rodata\n.balign 16\nferry_text:\n.incbin \"" FERRY_KERNELS "\"\n" \
          "ferry_text_end:\n.byte 0\n.popsection"); \
  extern const char ferry_text[] __attribute__((visibility("hidden"))); \
  extern const char ferry_text_end[] __attribute__((visibility("hidden"))); \
  static struct ferry_module ferry_module = { ferry_text, ferry_text_end, variables, count, 0, 0, 0 }; \
  static __attribute__((constructor)) void ferry_module_is_there(void) { ferry_add_module(&ferry_module); }

/* Small things that tables of items are made with. */
#define FERRY_HELPER static __inline__ __attribute__((unused))
FERRY_HELPER void *ferry_value(const volatile void *from, ferry_size size) {
  void *value = 0;
  __builtin_memcpy(&value, (const void *)from, size);
  return value;
}
FERRY_HELPER const volatile void *ferry_low(const volatile void *a, const volatile void *b) { return a < b ? a : b; }
FERRY_HELPER const volatile void *ferry_high(const volatile void *a, const volatile void *b) { return a > b ? a : b; }
FERRY_HELPER ferry_i64 ferry_device(ferry_i64 number) { return number == -1 ? FERRY_HOST : number; }
#define FERRY_GAPS (-0x7fffffffffffffffll)
/* A size that is negative or too large stays one that nothing has. */
FERRY_HELPER ferry_i64 ferry_bytes(ferry_i64 count, ferry_i64 each) {
  ferry_i64 bytes;
  if (!__builtin_mul_overflow(count, each, &bytes)) return bytes;
  return count < 0 ? -0x7fffffffffffffffll - 1 : 0x7fffffffffffffffll;
}
FERRY_HELPER ferry_i64 ferry_extent(ferry_i64 count, ferry_i64 each) { return count > 0 ? ferry_bytes(count, each) : 0; }
/* The bytes of elements that follow each other. */
FERRY_HELPER ferry_i64 ferry_side_by_side(ferry_i64 count, ferry_i64 each, ferry_i64 step) {
  return count <= 1 || each == step || !each ? ferry_bytes(count, each) : FERRY_GAPS;
}
FERRY_HELPER ferry_i64 ferry_trips(ferry_i64 begin, ferry_i64 end, ferry_i64 step) {
  ferry_i64 count = step > 0 ? (end - begin + step - 1) / step : step < 0 ? (begin - end - step - 1) / -step : 0;
  return count > 0 ? count : 0;
}
FERRY_HELPER int ferry_add_item(struct ferry_item *items, int count, struct ferry_item item) {
  struct ferry_item *last = items + count - 1;
  if (count > 0 && last->base == item.base && last->how == item.how && last->size > 0 &&
      (char *)last->begin + last->size == (char *)item.begin)
    return last->size += item.size, count;
  items[count] = item;
  return count + 1;
}

#endif
