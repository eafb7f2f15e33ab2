//! Clocks: who measures a region wants it done.
//!
//! Programs that Ferry links call these in the place of the C library's (`--wrap`); the library itself does not.

use std::ffi::c_int;
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

macro_rules! clocks {
    ($($name:literal $wrap:ident = $theirs:path, ($($param:ident: $type:ty),*) -> $result:ty;)*) => {$(
        /// The C library's; regions before the call are done.
        ///
        /// # Safety
        /// Called by compiled code, as the C library asks.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $wrap($($param: $type),*) -> $result {
            guard(&$name, true, left::wait);
            // SAFETY: the caller's promise.
            unsafe { $theirs($($param),*) }
        }
    )*};
}

unsafe extern "C" {
    fn clock() -> libc::clock_t;
    fn timespec_get(at: *mut libc::timespec, base: c_int) -> c_int;
}

clocks! {
    "clock_gettime" __wrap_clock_gettime = libc::clock_gettime, (which: libc::clockid_t, at: *mut libc::timespec) -> c_int;
    "gettimeofday" __wrap_gettimeofday = libc::gettimeofday, (at: *mut libc::timeval, zone: *mut libc::timezone) -> c_int;
    "time" __wrap_time = libc::time, (at: *mut libc::time_t) -> libc::time_t;
    "clock" __wrap_clock = clock, () -> libc::clock_t;
    "timespec_get" __wrap_timespec_get = timespec_get, (at: *mut libc::timespec, base: c_int) -> c_int;
}
