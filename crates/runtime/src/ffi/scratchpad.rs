//! `ferry_cluster.h` where there is no scratchpad: plain memory, and transfers that are done at once.

use std::ffi::{c_uint, c_void};

/// Memory for what a program would keep beside the cores.
#[unsafe(no_mangle)]
pub extern "C" fn ferry_l1_malloc(bytes: usize) -> *mut c_void {
    // SAFETY: any length may be asked for; 0 gets an address too, as on the cluster.
    unsafe { libc::malloc(bytes.max(1)) }
}

/// Gives it back.
///
/// # Safety
/// `memory` is null or came from [`ferry_l1_malloc`], and was not given back.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferry_l1_free(memory: *mut c_void) {
    // SAFETY: the caller's promise.
    unsafe { libc::free(memory) }
}

/// Copies, and answers that there is nothing to wait for.
///
/// # Safety
/// Both ranges have so many bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferry_dma(to: *mut c_void, from: *const c_void, bytes: usize) -> c_uint {
    if bytes > 0 {
        // SAFETY: the caller's promise.
        unsafe { libc::memmove(to, from, bytes) };
    }
    0
}

/// The same for rows.
///
/// # Safety
/// Both sides have `rows` rows of so many bytes, at these distances.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferry_dma_2d(
    to: *mut c_void,
    from: *const c_void,
    bytes: usize,
    rows: usize,
    to_step: usize,
    from_step: usize,
) -> c_uint {
    for row in 0..if bytes > 0 { rows } else { 0 } {
        let to = to.cast::<u8>().wrapping_add(row.wrapping_mul(to_step));
        let from = from.cast::<u8>().wrapping_add(row.wrapping_mul(from_step));
        // SAFETY: the caller's promise.
        unsafe { libc::memmove(to.cast(), from.cast(), bytes) };
    }
    0
}

/// All transfers are done when they have been started.
#[unsafe(no_mangle)]
pub extern "C" fn ferry_dma_wait(_transfer: c_uint) {}
