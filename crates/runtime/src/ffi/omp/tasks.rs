//! Locks, tasks and tools, as far as the runtime of the host's compiler lacks them.

use std::ffi::{c_int, c_void};
use std::mem;

use crate::guard::{answer, guard};
use crate::{host, tool};

type Init = unsafe extern "C" fn(*mut c_void);

/// Makes a lock as the host runtime does; what a hint says may be ignored.
///
/// # Safety
/// The lock is memory for one, of the kind that the function initialises.
unsafe fn init(name: &'static std::ffi::CStr, lock: *mut c_void) {
    // SAFETY: a function of that name has that type; the caller's promise.
    unsafe {
        if let Some(function) = host::find(name) {
            mem::transmute::<*mut c_void, Init>(function)(lock);
        }
    }
}

/// A lock; the hint changes nothing.
///
/// # Safety
/// Memory for a lock.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn omp_init_lock_with_hint(lock: *mut c_void, _hint: c_int) {
    // SAFETY: the caller's promise.
    let init = || unsafe { init(c"omp_init_lock", lock) };
    guard(&"omp_init_lock_with_hint", false, || {
        init();
        Ok(())
    });
}

/// A lock that its owner may set again; the hint changes nothing.
///
/// # Safety
/// Memory for such a lock.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn omp_init_nest_lock_with_hint(lock: *mut c_void, _hint: c_int) {
    let name = "omp_init_nest_lock_with_hint";
    // SAFETY: the caller's promise.
    let init = || unsafe { init(c"omp_init_nest_lock", lock) };
    guard(&name, false, || {
        init();
        Ok(())
    });
}

/// The host's runtimes have no free-agent threads.
#[unsafe(no_mangle)]
pub extern "C" fn omp_is_free_agent() -> c_int {
    0
}

/// As above.
#[unsafe(no_mangle)]
pub extern "C" fn omp_ancestor_is_free_agent(_level: c_int) -> c_int {
    0
}

/// Says something to the tool; negative if nobody hears.
#[unsafe(no_mangle)]
pub extern "C" fn omp_control_tool(
    command: c_int,
    modifier: c_int,
    argument: *mut c_void,
) -> c_int {
    answer("omp_control_tool", -1, || Ok(tool::control(command, modifier, argument)))
}
