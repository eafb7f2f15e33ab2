// Data regions inside each other and inside statements; the text of their bodies stays as it is.
#include <omp.h>

static int a[10];

static void enter(void)
{
#pragma omp target enter data map(to : a)
}

int main(void)
{
  int device = omp_get_default_device(), present = 0, line = 0;
  enter();
#pragma omp target data map(tofrom : a)
  {
    if (a[0] == 0)
#pragma omp target data map(tofrom : a)
      for (int i = 0; i < 3; i++) {
#pragma omp target
        a[i]++; }
    line = __LINE__;
  }
#pragma omp target exit data map(from : a)
  present = omp_target_is_present(a, device);
#pragma omp target map(tofrom : device)
  device = omp_is_initial_device() ? -1 : 0;
  return !(a[2] == 1 && a[3] == 0 && line == 22 && !present && device == 0);
}
