//! The clock of the standard: who measures a region wants it done.

use std::sync::OnceLock;

use super::explicit::next;
use crate::guard::guard;
use crate::left;

/// Seconds since some moment; regions before the call are done.
///
/// # Safety
/// Called by compiled code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __wrap_omp_get_wtime() -> f64 {
    static NEXT: OnceLock<usize> = OnceLock::new();
    guard(&"omp_get_wtime", true, left::wait);
    match next::<unsafe extern "C" fn() -> f64>(&NEXT, c"omp_get_wtime") {
        // SAFETY: takes nothing.
        Some(theirs) => unsafe { theirs() },
        None => own(),
    }
}

/// Where no threading runtime has one.
fn own() -> f64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: writes one value.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut now) };
    now.tv_sec as f64 + now.tv_nsec as f64 * 1e-9
}
