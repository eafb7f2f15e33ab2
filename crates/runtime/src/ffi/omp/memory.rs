//! Device memory by hand, and whether something is there.

use std::ffi::{c_int, c_void};
use std::ptr;

use ::device::MemoryKind;

use super::{INITIAL_DEVICE, device, initial_device};
use crate::devices::Target;
use crate::ffi::hand;
use crate::guard::answer;
use crate::registry;

/// Allocates; null if there is no memory, no bytes were asked for or there is no such device.
pub(super) fn allocate(
    routine: &'static str,
    bytes: usize,
    number: c_int,
    kind: MemoryKind,
) -> *mut c_void {
    answer(routine, ptr::null_mut(), || {
        let target = device(number)?;
        match bytes {
            0 => Ok(ptr::null_mut()),
            bytes => hand::allocate(target, bytes, kind),
        }
    })
}

/// Gives memory of [`allocate`] back.
pub(super) fn release(routine: &'static str, at: *mut c_void, number: c_int) {
    answer(routine, (), || {
        let target = device(number)?;
        if at.is_null() { Ok(()) } else { hand::release(target, at) }
    });
}

/// Allocates memory of a device.
#[unsafe(no_mangle)]
pub extern "C" fn omp_target_alloc(bytes: usize, number: c_int) -> *mut c_void {
    allocate("omp_target_alloc", bytes, number, MemoryKind::Device)
}

/// Frees memory of [`omp_target_alloc`].
#[unsafe(no_mangle)]
pub extern "C" fn omp_target_free(at: *mut c_void, number: c_int) {
    release("omp_target_free", at, number);
}

/// Is the byte at this host address mapped to the device?
#[unsafe(no_mangle)]
pub extern "C" fn omp_target_is_present(at: *const c_void, number: c_int) -> c_int {
    answer("omp_target_is_present", 0, || {
        if at.is_null() {
            return Ok(0);
        }
        Ok(match device(number)? {
            Target::Host => 1,
            Target::Device(device) => {
                registry::current().resolve(device)?;
                c_int::from(device.mapping.translate(at as usize, 1).is_some())
            }
        })
    })
}

/// Can the device use these bytes by this very address?
#[unsafe(no_mangle)]
pub extern "C" fn omp_target_is_accessible(at: *const c_void, size: usize, number: c_int) -> c_int {
    answer("omp_target_is_accessible", 0, || {
        if at.is_null() {
            return Ok(0);
        }
        Ok(match device(number)? {
            Target::Host => 1,
            Target::Device(device) => c_int::from(
                device.shares_memory
                    || registry::current().is_unified()
                    || device.has_allocated(at as u64, size),
            ),
        })
    })
}

/// Where the byte at this host address lies on the device; null if it is not mapped.
#[unsafe(no_mangle)]
pub extern "C" fn omp_get_mapped_ptr(at: *const c_void, number: c_int) -> *mut c_void {
    let is_host = number == INITIAL_DEVICE || number == initial_device();
    answer("omp_get_mapped_ptr", ptr::null_mut(), || {
        // Asking for a device that is not there has an answer.
        let Ok(Target::Device(device)) = device(number) else {
            return Ok(if is_host { at.cast_mut() } else { ptr::null_mut() });
        };
        if at.is_null() {
            return Ok(ptr::null_mut());
        }
        registry::current().resolve(device)?;
        device.make_known()?;
        let found = device.mapping.translate(at as usize, 1);
        Ok(found.map_or(ptr::null_mut(), |it| it.0 as *mut c_void))
    })
}
