//! How many devices there are, which is the default, where the calling thread runs, and what devices
//! give up when asked.
//!
//! These stand before the host runtime's functions of the same names: that runtime knows neither our
//! devices nor whether one of its threads runs a kernel.

use std::ffi::{CStr, CString, c_char, c_int};
use std::ptr;
use std::sync::OnceLock;

use super::{INITIAL_DEVICE, device, initial_device};
use crate::devices::{DeviceState, Target, all, opened};
use crate::error::Error;
use crate::guard::{answer, guard};
use crate::{host, queue, runner, tool};

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
pub extern "C" fn __wrap_omp_get_default_device() -> c_int {
    guard(&"omp_get_default_device", false, || Ok(host::default_device()))
}

/// Sets the device of regions that name none, for the current task.
#[unsafe(no_mangle)]
pub extern "C" fn __wrap_omp_set_default_device(number: c_int) {
    guard(&"omp_set_default_device", false, || {
        host::set_default_device(number);
        Ok(())
    });
}

/// Data stay, all else that is kept only for speed goes.
const SOFT: c_int = 1;
/// Mapped data go too.
const HARD: c_int = 2;
/// The tool ends; devices are left alone.
const STOP_TOOL: c_int = 3;

const PAUSED: c_int = 0;
const NOT_PAUSED: c_int = -1;

/// Inside a region nothing can be given up: the caller stands on it.
fn can_pause(kind: c_int) -> bool {
    let is_outside = host::current_device().is_none() && !host::is_in_parallel();
    is_outside && matches!(kind, SOFT | HARD | STOP_TOOL)
}

fn pause(kind: c_int, device: &DeviceState) -> Result<(), Error> {
    if kind == STOP_TOOL {
        tool::stop();
        return Ok(());
    }
    // What queues still have to do refers to what goes.
    queue::wait(device.number, None);
    runner::end_idle();
    if kind == HARD { device.unmap_all() } else { Ok(()) }
}

/// Lets a device give up what it keeps: threads without work; with "hard" also everything that is
/// mapped, which is lost, while variables of the program stay.
#[unsafe(no_mangle)]
pub extern "C" fn omp_pause_resource(kind: c_int, number: c_int) -> c_int {
    answer("omp_pause_resource", NOT_PAUSED, || {
        let target = device(number)?;
        if !can_pause(kind) {
            return Ok(NOT_PAUSED);
        }
        match target {
            Target::Host if kind == STOP_TOOL => tool::stop(),
            Target::Host => return Ok(host::pause(kind).unwrap_or(NOT_PAUSED)),
            Target::Device(device) => pause(kind, device)?,
        }
        Ok(PAUSED)
    })
}

/// As [`omp_pause_resource`], for all devices and the host.
#[unsafe(no_mangle)]
pub extern "C" fn omp_pause_resource_all(kind: c_int) -> c_int {
    answer("omp_pause_resource_all", NOT_PAUSED, || {
        if !can_pause(kind) {
            return Ok(NOT_PAUSED);
        }
        if kind == STOP_TOOL {
            tool::stop();
            return Ok(PAUSED);
        }
        opened().iter().try_for_each(|it| pause(kind, it))?;
        Ok(host::pause(kind).unwrap_or(PAUSED))
    })
}

/// As [`omp_pause_resource`]: the name by which another host runtime asks.
#[unsafe(no_mangle)]
pub extern "C" fn tgt_pause_resource(kind: c_int, number: c_int) -> c_int {
    omp_pause_resource(kind, number)
}

/// The names of all devices and, last, of the host.
fn names() -> &'static [CString] {
    static NAMES: OnceLock<Vec<CString>> = OnceLock::new();
    NAMES.get_or_init(|| {
        let devices = all().iter().map(|it| format!("ferry:{}:{}", it.kind, it.number));
        devices
            .chain(["ferry:host".into()])
            .map(|it| CString::new(it).unwrap_or_default())
            .collect()
    })
}

/// A name that tells the device from all others while the program runs; null if there is none.
#[unsafe(no_mangle)]
pub extern "C" fn omp_get_uid_from_device(number: c_int) -> *const c_char {
    answer("omp_get_uid_from_device", ptr::null(), || {
        let number = if number == INITIAL_DEVICE { initial_device() } else { number };
        let name = usize::try_from(number).ok().and_then(|it| names().get(it));
        Ok(name.map_or(ptr::null(), |it| it.as_ptr()))
    })
}

/// The device with that name.
///
/// # Safety
/// Null, or a text that ends with a zero byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn omp_get_device_from_uid(name: *const c_char) -> c_int {
    const INVALID: c_int = -4;
    if name.is_null() {
        return INVALID;
    }
    // SAFETY: the caller's promise.
    let name = unsafe { CStr::from_ptr(name) };
    answer("omp_get_device_from_uid", INVALID, || {
        let found = names().iter().position(|it| it.as_c_str() == name);
        Ok(found.map_or(INVALID, |it| it as c_int))
    })
}
