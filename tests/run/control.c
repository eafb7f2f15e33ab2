/* Directives outside of regions: what they set is what routines and regions see, and where code runs
   is known in it. */
#include <openacc.h>
#include <stdio.h>

static int wrong;

#define CHECK(condition) \
  do { \
    if (!(condition)) { \
      wrong++; \
      printf("%d: %s\n", __LINE__, #condition); \
    } \
  } while (0)

static void where(int *device, int *host)
{
  *device = *host = -1;
#pragma acc serial copyout(device[0:1], host[0:1])
  {
    *device = acc_on_device(acc_device_not_host);
    *host = acc_on_device(acc_device_host);
  }
}

int main(void)
{
  int device, host, a[4] = {1, 2, 3, 4};
  int first = acc_get_default_async();
#pragma acc init
#pragma acc set default_async(7)
  CHECK(acc_get_default_async() == 7);
#pragma acc set if(a[0] == 2) default_async(8)
  CHECK(acc_get_default_async() == 7);
  if (a[0] == 1) {
#pragma acc set if(a[0] == 1) default_async(acc_async_default)
  }
  CHECK(acc_get_default_async() == first);

  where(&device, &host);
  CHECK(device == 1 && host == 0);
  CHECK(acc_on_device(acc_device_host) && !acc_on_device(acc_device_not_host));
#pragma acc set device_type(host)
  CHECK(acc_get_device_type() == acc_device_host);
  where(&device, &host);
  CHECK(device == 0 && host == 1);
#pragma acc set device_type(default) device_num(a[0] - 1)
  CHECK(acc_get_device_type() != acc_device_host && acc_get_device_type() != acc_device_none);
  where(&device, &host);
  CHECK(device == 1 && host == 0);

  /* Shut down, a device has lost its data. */
#pragma acc enter data copyin(a)
  CHECK(acc_is_present(a, sizeof a));
#pragma acc shutdown device_type(host)
#pragma acc shutdown if(a[0] == 2)
  CHECK(acc_is_present(a, sizeof a));
#pragma acc shutdown device_num(0)
  CHECK(!acc_is_present(a, sizeof a));
#pragma acc enter data copyin(a)
#pragma acc shutdown
  CHECK(!acc_is_present(a, sizeof a));
#pragma acc init device_type(multicore) device_num(0)
  where(&device, &host);
  CHECK(device == 1 && host == 0);
  return wrong != 0;
}
