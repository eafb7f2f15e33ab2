// Work for the simulated cluster: every core computes rows of a product of two matrices in the scratchpad, over
// and over, and meets the others at a barrier. KIND is the type of the elements, SIZE that of the matrices, L1 where
// the scratchpad begins, STACKS where it ends.

#define BARRIER (*(volatile int *)0x10204204)
#define EXIT (*(volatile int *)0x10203000)
#define CORES 8
#define TEXT(it) TEXT_OF(it)
#define TEXT_OF(it) #it

__attribute__((naked, section(".text.start"))) void _start(void)
{
    // A stack of 4 KiB for each core, at the end of the scratchpad.
    __asm__("csrr a0, mhartid\n"
            "slli t0, a0, 12\n"
            "li sp, " TEXT(STACKS) "\n"
            "sub sp, sp, t0\n"
            "j work\n");
}

__attribute__((used)) static void work(int core)
{
    KIND(*a)[SIZE] = (void *)L1;
    KIND(*b)[SIZE] = (void *)(L1 + SIZE * SIZE * sizeof(KIND));
    KIND(*c)[SIZE] = (void *)(L1 + 2 * SIZE * SIZE * sizeof(KIND));
    for (int i = core; i < SIZE; i += CORES)
        for (int j = 0; j < SIZE; j++) {
            a[i][j] = i + j;
            b[i][j] = i - j;
        }
    (void)BARRIER;
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = core; i < SIZE; i += CORES)
            for (int j = 0; j < SIZE; j++) {
                KIND sum = 0;
                for (int k = 0; k < SIZE; k++)
                    sum += a[i][k] * b[k][j];
                c[i][j] = sum;
            }
        (void)BARRIER;
    }
    if (core == 0)
        EXIT = (int)c[1][2];
    for (;;)
        __asm__ volatile("wfi");
}
