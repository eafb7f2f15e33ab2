// run: translate --to openmp
// run: translate --to openmp --profile gcc --diff
// Calls that both runtimes have: the program needs no header of ours.
#include <openacc.h> // devices
#include <stdlib.h>
#include <string.h>
int main(void) {
    acc_init(acc_device_default);
    if (acc_get_num_devices(acc_device_not_host) < 1) return 0;
    acc_set_device_num(0, acc_device_not_host);
    float host[8], one = 1;
    float *there = acc_malloc( 8 *
                               sizeof *there );
    acc_memcpy_to_device(there, host, sizeof host);
    acc_memcpy_from_device(host, there, sizeof host);
    acc_free(there);
#pragma acc enter data copyin(one, host)
    if (acc_is_present(&one, sizeof one) && acc_deviceptr(host))
        setenv("ACC_DEVICE_NUM", "1", 1);
    return getenv("ACC_DEVICE_TYPE") != NULL && acc_on_device(acc_device_host);
}
