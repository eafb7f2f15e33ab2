# Where all cores begin: stacks in L1, 4 KiB each from its end; core 0 runs the kernel, the others wait for work.
.section .text.start, "ax"
.globl _start
_start:
    csrr t0, mhartid
    li sp, 0x10040000
    slli t1, t0, 12
    sub sp, sp, t1
    bnez t0, 1f
    la a0, slots
    call KERNEL
    li a0, 0
    li t0, 0x10203000
    sw a0, 0(t0)
2:  j 2b
1:  call ferry_worker
    j 1b

.section .data
.balign 8
.globl slots
.type slots, @object
.size slots, 512
slots:
    .space 512
