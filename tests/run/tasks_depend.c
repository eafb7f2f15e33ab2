// Dependences of newer versions: all memory, sets, waiting without waiting, transparent tasks.
#include <omp.h>
#include <stdio.h>
#include <unistd.h>

int main(void) {
  int wrong = 0, a = 0, b = 0, c = 0, in_task = 0;
#pragma omp parallel num_threads(4)
#pragma omp single
  {
#pragma omp task depend(out : a) shared(a)
    {
      usleep(2000);
      a = 1;
    }
#pragma omp task depend(out : b) shared(b)
    b = 1;
#pragma omp task depend(out : omp_all_memory) shared(a, b, c)
    c = a + b;
#pragma omp task depend(inoutset : c) shared(c)
    {
#pragma omp atomic
      c += 10;
    }
#pragma omp task depend(inoutset : c) shared(c)
    {
#pragma omp atomic
      c += 100;
    }
#pragma omp taskwait nowait depend(in : c) depend(out : a)
#pragma omp task depend(in : a) shared(a, c)
    a = c;
#pragma omp taskwait
    wrong += a != 112;

    // The child of a transparent task stands among its siblings.
    int x = 1, from_outside = 5;
#pragma omp task depend(out : x) shared(x)
    {
      usleep(2000);
      x = 2;
    }
#pragma omp task transparent(omp_impex) shared(x) firstprivate(from_outside)
    {
      from_outside++;
#pragma omp task depend(inout : x) shared(x) firstprivate(from_outside)
      {
        usleep(2000);
        x = x * 10 + from_outside;
      }
    }
#pragma omp task depend(in : x) shared(x, wrong)
    wrong += x != 26;
#pragma omp taskwait
    wrong += from_outside != 5;
    // A device region that waits for everything.
    int before = 0, after = 0;
#pragma omp task depend(out : before) shared(before)
    {
      usleep(2000);
      before = 7;
    }
#pragma omp target depend(inout : omp_all_memory) nowait map(tofrom : before, after)
    after = before + 1;
#pragma omp task depend(in : after) shared(after, wrong)
    wrong += after != 8;
#pragma omp taskwait
    int explicit_level = 0;
#pragma omp task shared(in_task)
    in_task = omp_get_num_threads();
#pragma omp taskgraph
    {
#pragma omp task shared(explicit_level)
      explicit_level = 1;
    }
    wrong += explicit_level != 1;
  }
  wrong += in_task != 4;
  if (wrong)
    printf("%d differences: %d %d %d\n", wrong, a, b, c);
  return wrong != 0;
}
