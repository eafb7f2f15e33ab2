/* The tool as a library: says at the end what it has heard. */
#include "acc_prof.h"

__attribute__((destructor)) static void finish(void) {
    fprintf(stderr, "%stool: %s\n", heard, is_wrong ? "wrong" : "right");
}
