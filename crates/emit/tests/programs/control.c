/* Statements: dangling else, switch with ranges and jumps inwards, labels as values, goto. */
#include <stdio.h>
static int dangling(int a, int b) {
  if (a) { if (b) return 1; } else return 2;
  if (a) if (b) return 3; else return 4;
  return 5;
}
static int ranges(long v) {
  switch (v) {
    int never;
  case -5 ... -1: return 1;
  case 0: case 1: never = 2; return never;
  default: return 9;
  case 'a' ... 'z': return 3;
  case 0x100000000: return 4;
  }
}
static int duff(int n) {
  int done = 0, rounds = (n + 3) / 4;
  switch (n % 4) {
  case 0: do { done++;
  case 3:      done++;
  case 2:      done++;
  case 1:      done++;
          } while (--rounds > 0);
  }
  return done;
}
static int machine(const char *code) {
  static void *const steps[] = { &&add, &&sub, &&stop };
  int total = 0;
next: goto *steps[*code++ - '0'];
add: total += 3; goto next;
sub: total -= 1; goto next;
stop: return total;
}
static int loops(void) {
  int total = 0, i;
  for (i = 0, total = 1; i < 10; i++, total += 2) { if (i == 3) continue; if (i == 7) break; }
  for (;;) if (total++ > 20) break; else continue;
  while (total > 15) total--;
  do total++; while (total < 18);
  while ((i = total--) > 16) ;
  return total + i;
}
static int value(int n) { return ({ int m = n; while (m > 10) m -= 10; m; }) + ({ n; }); }
static void none(void) { return; }
int main(void) {
  printf("%d %d %d\n", dangling(1, 0), dangling(0, 0), dangling(1, 1));
  printf("%d %d %d %d %d\n", ranges(-3), ranges(1), ranges('k'), ranges(0x100000000), ranges(7));
  printf("%d %d %d %d\n", duff(10), machine("00102"), loops(), value(47));
  none();
  { lonely: ; }
  if (0) goto lonely;
  return 0;
}
