/* Runs a test program on the host: buffers at fixed addresses, dumped before and after. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

void prepare(void *const *slots);
void KERNEL(void *const *slots);

int main(int count, char **words) {
    void *slots[16];
    size_t sizes[16];
    int buffers = (count - 1) / 2;
    for (int i = 0; i < buffers; i++) {
        void *at = (void *)strtoull(words[1 + 2 * i], 0, 16);
        sizes[i] = strtoull(words[2 + 2 * i], 0, 10);
        slots[i] = mmap(at, sizes[i], PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
        if (slots[i] != at) { perror("mmap"); return 1; }
    }
    prepare(slots);
    for (int i = 0; i < buffers; i++) fwrite(slots[i], 1, sizes[i], stdout);
    KERNEL(slots);
    for (int i = 0; i < buffers; i++) fwrite(slots[i], 1, sizes[i], stdout);
    return 0;
}
