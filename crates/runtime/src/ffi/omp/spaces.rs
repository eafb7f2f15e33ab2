//! Memory spaces and allocators of devices.
//!
//! A device that shares the host's memory has the host runtime's spaces and allocators. One with
//! memory of its own has none that the host could allocate from: the answer is "none", as the standard
//! allows, and memory there is had by `omp_target_alloc`.

use std::ffi::c_int;
use std::slice;

use super::{INITIAL_DEVICE, device};
use crate::devices::{Target, all};
use crate::guard::answer;

const NO_SPACE: usize = usize::MAX;
const NO_ALLOCATOR: usize = 0;
/// The predefined spaces, numbered from 0; the allocator of each has the next number.
const SPACES: usize = 5;

fn is_host_memory(number: c_int) -> bool {
    match device(number) {
        Ok(Target::Host) => true,
        Ok(Target::Device(device)) => device.shares_memory,
        Err(_) => false,
    }
}

/// # Safety
/// The list has so many elements, or is null.
unsafe fn space(count: c_int, list: *const c_int, space: usize) -> usize {
    let count = usize::try_from(count).unwrap_or(0);
    if count == 0 || list.is_null() || !list.is_aligned() || space >= SPACES {
        return NO_SPACE;
    }
    // SAFETY: the caller's promise.
    let devices = unsafe { slice::from_raw_parts(list, count) };
    if devices.iter().all(|it| is_host_memory(*it)) { space } else { NO_SPACE }
}

fn allocator(of: usize) -> usize {
    if of == NO_SPACE { NO_ALLOCATOR } else { of + 1 }
}

/// The space of one device; "none" if the host cannot allocate there.
#[unsafe(no_mangle)]
pub extern "C" fn omp_get_device_memspace(number: c_int, of: usize) -> usize {
    // SAFETY: one element, which lives during the call.
    answer("omp_get_device_memspace", NO_SPACE, || Ok(unsafe { space(1, &raw const number, of) }))
}

/// The space that all these devices share.
///
/// # Safety
/// The list has `count` elements.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn omp_get_devices_memspace(
    count: c_int,
    list: *const c_int,
    of: usize,
) -> usize {
    // SAFETY: the caller's promise.
    answer("omp_get_devices_memspace", NO_SPACE, || Ok(unsafe { space(count, list, of) }))
}

/// The space that a device shares with the host: the host's is not shared by more than those that share all of it.
#[unsafe(no_mangle)]
pub extern "C" fn omp_get_device_and_host_memspace(number: c_int, of: usize) -> usize {
    omp_get_device_memspace(number, of)
}

/// The space that all these devices share with the host.
///
/// # Safety
/// The list has `count` elements.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn omp_get_devices_and_host_memspace(
    count: c_int,
    list: *const c_int,
    of: usize,
) -> usize {
    // SAFETY: the caller's promise.
    unsafe { omp_get_devices_memspace(count, list, of) }
}

/// The space that all devices share, the host among them.
#[unsafe(no_mangle)]
pub extern "C" fn omp_get_devices_all_memspace(of: usize) -> usize {
    answer("omp_get_devices_all_memspace", NO_SPACE, || {
        let shares = all().iter().all(|it| it.shares_memory);
        Ok(if shares { omp_get_device_memspace(INITIAL_DEVICE, of) } else { NO_SPACE })
    })
}

/// The allocator of [`omp_get_device_and_host_memspace`].
#[unsafe(no_mangle)]
pub extern "C" fn omp_get_device_and_host_allocator(number: c_int, of: usize) -> usize {
    allocator(omp_get_device_and_host_memspace(number, of))
}

/// The allocator of [`omp_get_devices_and_host_memspace`].
///
/// # Safety
/// The list has `count` elements.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn omp_get_devices_and_host_allocator(
    count: c_int,
    list: *const c_int,
    of: usize,
) -> usize {
    // SAFETY: the caller's promise.
    allocator(unsafe { omp_get_devices_and_host_memspace(count, list, of) })
}

/// The allocator of [`omp_get_devices_all_memspace`].
#[unsafe(no_mangle)]
pub extern "C" fn omp_get_devices_all_allocator(of: usize) -> usize {
    allocator(omp_get_devices_all_memspace(of))
}

/// What parts of memory are multiples of: bytes of a page.
pub(super) fn page_size() -> usize {
    // SAFETY: a question to the system.
    let bytes = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    usize::try_from(bytes).ok().filter(|it| *it > 0).unwrap_or(4096)
}

/// The bytes of a page of a space; 0 of none.
#[unsafe(no_mangle)]
pub extern "C" fn omp_get_memspace_pagesize(of: usize) -> usize {
    if of < SPACES { page_size() } else { 0 }
}

/// The allocator of [`omp_get_device_memspace`].
#[unsafe(no_mangle)]
pub extern "C" fn omp_get_device_allocator(number: c_int, of: usize) -> usize {
    allocator(omp_get_device_memspace(number, of))
}

/// The allocator of [`omp_get_devices_memspace`].
///
/// # Safety
/// The list has `count` elements.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn omp_get_devices_allocator(
    count: c_int,
    list: *const c_int,
    of: usize,
) -> usize {
    // SAFETY: the caller's promise.
    allocator(unsafe { omp_get_devices_memspace(count, list, of) })
}

/// How many resources a space has: one, which is all of its memory; a space that is none has none.
#[unsafe(no_mangle)]
pub extern "C" fn omp_get_memspace_num_resources(of: usize) -> c_int {
    c_int::from(of < SPACES)
}

/// The space of some resources of another: with its only one it is the same.
///
/// # Safety
/// The list has `count` elements.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn omp_get_submemspace(of: usize, count: c_int, list: *const c_int) -> usize {
    if count != 1 || list.is_null() || !list.is_aligned() || of >= SPACES {
        return NO_SPACE;
    }
    // SAFETY: the caller's promise.
    if unsafe { *list } == 0 { of } else { NO_SPACE }
}
