// Data that persist, as compiled code asks for them: `persistent STEPS`, 0 for without end. Each step makes all words of two variables
// the next number and commits; a line tells each number that counts. What is found at first is told too, or that it is torn.
#include "../../../../include/ferry/ferry_memory.h"
#include <stdio.h>
#include <stdlib.h>

struct kind {
  const void *origin;
  unsigned long size, align;
  const char *kind, *name, *file;
  unsigned int line, is_reference;
};
extern void *__ferry_instance(const struct kind *, void **);

#ifndef WORDS
#define WORDS 3000
#endif

static long many[WORDS], few[3];

int main(int argc, char **argv) {
  struct kind kinds[2] = {{many, sizeof many, 8, "persistent", "many", "persistent.c", 20, 0},
                          {few, sizeof few, 8, "persistent", "few", "persistent.c", 20, 0}};
  void *slots[2];
  long *a = __ferry_instance(&kinds[0], &slots[0]), *b = __ferry_instance(&kinds[1], &slots[1]);
  long value = a[0];
  for (int i = 0; i < WORDS; i++)
    if (a[i] != value || b[i % 3] != value)
      return printf("torn: %ld and %ld\n", a[i], b[i % 3]), 2;
  printf("found %ld\n", value);
  fflush(stdout);
  long steps = argc > 1 ? atol(argv[1]) : 0;
  for (long step = 1; steps == 0 || step <= steps; step++) {
    value++;
    for (int i = 0; i < WORDS; i++)
      a[i] = b[i % 3] = value;
    if (ferry_memkind_commit() != 0)
      return 3;
    printf("%ld\n", value);
    fflush(stdout);
  }
  return 0;
}
