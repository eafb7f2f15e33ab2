/* Runs a kernel of a test program on the host, the last word of the command: buffers at fixed addresses, dumped before and after. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

void prepare(void *const *slots);

int main(int count, char **words) {
    void *slots[16];
    size_t sizes[16];
    int buffers = (count - 2) / 2;
    void (*kernel)(void *const *) = (void (*)(void *const *))dlsym(RTLD_DEFAULT, words[count - 1]);
    if (!kernel) { fprintf(stderr, "no kernel %s\n", words[count - 1]); return 1; }
    for (int i = 0; i < buffers; i++) {
        void *at = (void *)strtoull(words[1 + 2 * i], 0, 16);
        sizes[i] = strtoull(words[2 + 2 * i], 0, 10);
        slots[i] = mmap(at, sizes[i], PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
        if (slots[i] != at) { perror("mmap"); return 1; }
    }
    prepare(slots);
    for (int i = 0; i < buffers; i++) fwrite(slots[i], 1, sizes[i], stdout);
    kernel(slots);
    for (int i = 0; i < buffers; i++) fwrite(slots[i], 1, sizes[i], stdout);
    return 0;
}
