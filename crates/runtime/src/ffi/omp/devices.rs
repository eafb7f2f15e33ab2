//! How many devices there are, which is the default, and where the calling thread runs.
//!
//! These stand before the host runtime's functions of the same names: that runtime knows neither our
//! devices nor whether one of its threads runs a kernel.

use std::ffi::c_int;

use super::{device, initial_device};
use crate::ffi::{answer, guard};
use crate::host;

/// The number of devices, the host not counted.
#[unsafe(no_mangle)]
pub extern "C" fn omp_get_num_devices() -> c_int {
    guard(&"omp_get_num_devices", false, || Ok(initial_device()))
}

/// The number that stands for the host.
#[unsafe(no_mangle)]
pub extern "C" fn omp_get_initial_device() -> c_int {
    guard(&"omp_get_initial_device", false, || Ok(initial_device()))
}

/// The device that the calling thread runs on.
#[unsafe(no_mangle)]
pub extern "C" fn omp_get_device_num() -> c_int {
    guard(&"omp_get_device_num", false, || {
        Ok(host::current_device().map_or_else(initial_device, |it| it as c_int))
    })
}

/// Does the calling thread run on the host?
#[unsafe(no_mangle)]
pub extern "C" fn omp_is_initial_device() -> c_int {
    guard(&"omp_is_initial_device", false, || Ok(c_int::from(host::current_device().is_none())))
}

/// The device of regions that name none.
#[unsafe(no_mangle)]
pub extern "C" fn omp_get_default_device() -> c_int {
    guard(&"omp_get_default_device", false, || Ok(host::default_device()))
}

/// Sets the device of regions that name none, for the current task.
#[unsafe(no_mangle)]
pub extern "C" fn omp_set_default_device(number: c_int) {
    guard(&"omp_set_default_device", false, || {
        host::set_default_device(number);
        Ok(())
    });
}

/// Lets a device give up what it keeps only for speed. Ours keep nothing but what is mapped.
#[unsafe(no_mangle)]
pub extern "C" fn omp_pause_resource(_kind: c_int, number: c_int) -> c_int {
    answer("omp_pause_resource", -1, || device(number).map(|_| 0))
}

/// As [`omp_pause_resource`], for all devices.
#[unsafe(no_mangle)]
pub extern "C" fn omp_pause_resource_all(_kind: c_int) -> c_int {
    0
}

/// As [`omp_pause_resource`]: the name by which another host runtime asks.
#[unsafe(no_mangle)]
pub extern "C" fn tgt_pause_resource(kind: c_int, number: c_int) -> c_int {
    omp_pause_resource(kind, number)
}
