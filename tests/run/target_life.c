// How long data lives on a device: counts, presence, updates, addresses of device data on the host.
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

static int failures;

static void expect(int holds, const char *what)
{
  if (!holds) {
    printf("wrong: %s\n", what);
    failures++;
  }
}

int main(void)
{
  enum { N = 64 };
  int a[N], device = omp_get_default_device(), *p = malloc(N * sizeof *p);
  for (int i = 0; i < N; i++) a[i] = p[i] = i;
  expect(omp_get_num_devices() > 0, "there is a device");

  expect(!omp_target_is_present(a, device), "nothing is there at first");
#pragma omp target enter data map(to : a)
#pragma omp target enter data map(to : a)
  expect(omp_target_is_present(a, device), "it is there");
#pragma omp target exit data map(release : a)
  expect(omp_target_is_present(a, device), "one user is left");
#pragma omp target data map(tofrom : a) map(to : p[0 : N])
  {
    expect(omp_target_is_present(&a[N - 1], device) && omp_target_is_present(p, device), "both are");
#pragma omp target map(present, alloc : a)
    a[3] = 33;
#pragma omp target update from(a[3 : 1])
    expect(a[3] == 33, "one element comes back");
    a[4] = 44;
#pragma omp target update to(a[4 : 1])
#pragma omp target
    a[5] = a[4] + 1;
#pragma omp target data use_device_ptr(p)
    {
#pragma omp target is_device_ptr(p)
      p[1] = 11;
    }
#pragma omp target data use_device_addr(a)
    {
#pragma omp target has_device_addr(a)
      a[6] = 66;
    }
#pragma omp target update from(p[0 : N])
  }
  expect(p[1] == 11, "through a device pointer");
  expect(!omp_target_is_present(p, device), "the region's end is its end");
#pragma omp target update from(a)
  expect(a[5] == 45 && a[6] == 66, "updates to and from");
#pragma omp target exit data map(delete : a)
  expect(!omp_target_is_present(a, device), "nothing is left");

  int *q = omp_target_alloc(N * sizeof *q, device);
#pragma omp target teams distribute parallel for is_device_ptr(q)
  for (int i = 0; i < N; i++) q[i] = 3 * i;
  omp_target_memcpy(p, q, N * sizeof *q, 0, 0, omp_get_initial_device(), device);
  expect(p[N - 1] == 3 * (N - 1), "memory of the device");
  omp_target_free(q, device);

  int there = 1, here = 0;
#pragma omp target if (0) map(from : here)
  here = omp_is_initial_device();
#pragma omp target device(device) map(from : there)
  there = omp_is_initial_device() ? -1 : omp_get_device_num();
  expect(here == 1 && there == device, "if and device say where");
  free(p);
  return failures != 0;
}
