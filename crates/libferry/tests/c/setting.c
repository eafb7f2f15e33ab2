// env: FERRY_DEVICE=abacus
// status: 1
// stderr: FERRY_DEVICE: there is no device `abacus`
// stderr: help: choose among cpu (
#include "ferry_test.h"
#ifndef DEVICE_UNIT
int main(void) { return omp_get_num_devices(); }
#endif
