# Where all cores begin, for each region anew: a stack in the scratchpad, then C.
# The linker is told __stack_top, __stack_first (bytes of the stack of core 0) and __stack_other.
    .section .text.start, "ax", @progbits
    .globl _start
_start:
    csrr a0, mhartid
    lui t0, %hi(__stack_top)
    addi t0, t0, %lo(__stack_top)
    lui t1, %hi(__stack_first)
    addi t1, t1, %lo(__stack_first)
    beqz a0, 1f
    sub t0, t0, t1
    lui t1, %hi(__stack_other)
    addi t1, t1, %lo(__stack_other)
    addi t2, a0, -1
    mul t2, t2, t1
    sub t0, t0, t2
1:  sub t2, t0, t1
    csrw 0x7d1, zero
    mv sp, t0
    csrw 0x7d0, t2
    csrw 0x7d1, t0
    # What the C library has for each thread, `errno`.
    lui tp, %hi(ferry_thread_data)
    addi tp, tp, %lo(ferry_thread_data)
    slli t1, a0, 6
    add tp, tp, t1
    call ferry_begin
2:  j 2b

    .section .l1, "aw", @progbits
    .p2align 4
ferry_thread_data:
    .zero 64 * 64

    .section .text.start, "ax", @progbits
# void ferry_run_kernel(unsigned kernel, unsigned slots)
    .globl ferry_run_kernel
ferry_run_kernel:
    mv t0, a0
    mv a0, a1
    jr t0

# unsigned ferry_ask(unsigned what, unsigned a, unsigned b, unsigned c): the host answers.
    .globl ferry_ask
ferry_ask:
    ecall
    ret
