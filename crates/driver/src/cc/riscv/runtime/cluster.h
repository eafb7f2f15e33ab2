/* The cluster as the runtime's C sees it. Compiled for LP64, as all device code is, and narrowed with it. */
typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long i64;
typedef unsigned long size_t;
typedef void *va_slots;

#define DEVICE __attribute__((annotate("ferry.device")))
#define ROOT __attribute__((annotate("ferry.root"), used))
/* In the scratchpad: what all cores look at often. */
#define IN_L1 __attribute__((section(".l1"), annotate("ferry.device")))
#define __device __attribute__((address_space(1)))
#define REGISTER(at) (*(volatile u32 __device *)(at))
#define INLINE static inline __attribute__((always_inline))
#define NULL ((void *)0)

#define EXIT REGISTER(0x10203000)
#define CORES REGISTER(0x10203004)
#define EVENT_WAIT REGISTER(0x10204000)
#define EVENT_MASK REGISTER(0x10204004)
#define EVENT_RAISE(event) REGISTER(0x10204040 + 4 * (event))
#define BARRIER_COUNT(barrier) REGISTER(0x10204200 + 16 * (barrier))
#define BARRIER_ARRIVE(barrier) REGISTER(0x10204204 + 16 * (barrier))
#define DMA_FROM REGISTER(0x10204400)
#define DMA_FROM_HIGH REGISTER(0x10204404)
#define DMA_TO REGISTER(0x10204408)
#define DMA_TO_HIGH REGISTER(0x1020440c)
#define DMA_BYTES REGISTER(0x10204410)
#define DMA_FROM_STEP REGISTER(0x10204414)
#define DMA_TO_STEP REGISTER(0x10204418)
#define DMA_ROWS REGISTER(0x1020441c)
#define DMA_START REGISTER(0x10204420)
#define DMA_CHOSEN REGISTER(0x10204428)
#define DMA_WAIT REGISTER(0x1020442c)

/* The host is asked for ASK_PRINT and its like, which stand before this text. */
extern u32 ferry_ask(u32 what, u32 a, u32 b, u32 c);
extern void ferry_run_kernel(u32 kernel, u32 slots);

INLINE u32 core_number(void) {
  u32 it;
  __asm__("csrr %0, mhartid" : "=r"(it));
  return it;
}

/* The low half of an address: of what lies in the cluster that is all of it. */
INLINE u32 low(const volatile void *it) { return (u32)(u64)it; }
