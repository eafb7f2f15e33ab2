//! What host images of flang call: the device half of LLVM's runtime, in its plainest legal form.
//!
//! flang makes kernels for the host as it makes them for a GPU. One thread is a legal team, so a
//! parallel region runs its body once and a worksharing loop all of its iterations.

use std::ffi::c_void;

use abi::Ident;
use device::parameters;

use crate::error::Error;
use crate::guard::guard;

/// A kernel begins; -1 says: run the user's code.
#[unsafe(no_mangle)]
pub extern "C" fn __kmpc_target_init(_environment: *mut c_void, _launch: *mut c_void) -> i32 {
    -1
}

/// A kernel ends.
#[unsafe(no_mangle)]
pub extern "C" fn __kmpc_target_deinit() {}

/// A parallel region: calls `body(&thread, &thread, args…)`.
///
/// # Safety
/// `body` is a function that takes two addresses and `count` more words, `args` holds them.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments, reason = "the interface's")]
pub unsafe extern "C" fn __kmpc_parallel_51(
    _location: *const Ident,
    _thread: i32,
    _condition: i32,
    _threads: i32,
    _bind: i32,
    body: *const c_void,
    _wrapper: *const c_void,
    args: *const u64,
    count: i64,
) {
    guard(&"parallel region", true, || {
        let (thread, bound) = (0i32, 0i32);
        let count = usize::try_from(count).unwrap_or(0);
        let mut words = vec![&raw const thread as u64, &raw const bound as u64];
        if count > 0 && !args.is_null() {
            // SAFETY: the caller's promise.
            words.extend(unsafe { std::slice::from_raw_parts(args, count) });
        }
        // SAFETY: the caller's promise; the two numbers live during the call.
        unsafe { parameters::call(body as usize, &words) }.map_err(|error| Error::Device {
            doing: "running a parallel region",
            what: None,
            error,
        })
    });
}

/// The loops of one type of counter. `count` is the number of iterations: flang 19 says that, though LLVM's own device
/// library takes it for the last one and runs one more.
macro_rules! loops {
    ($type:ty, $for_loop:ident, $distribute:ident, $distribute_for:ident) => {
        /// A loop shared by the threads of a team.
        ///
        /// # Safety
        /// `body` may be called with each number below `count` and `argument`.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $for_loop(
            _location: *const Ident,
            body: unsafe extern "C" fn($type, *mut c_void),
            argument: *mut c_void,
            count: $type,
            _threads: $type,
            _chunk: $type,
        ) {
            for index in 0..count {
                // SAFETY: the caller's promise.
                unsafe { body(index, argument) };
            }
        }

        /// A loop shared by teams.
        ///
        /// # Safety
        /// As above.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $distribute(
            location: *const Ident,
            body: unsafe extern "C" fn($type, *mut c_void),
            argument: *mut c_void,
            count: $type,
            _chunk: $type,
        ) {
            // SAFETY: the caller's promise.
            unsafe { $for_loop(location, body, argument, count, 0, 0) };
        }

        /// A loop shared by teams and their threads.
        ///
        /// # Safety
        /// As above.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $distribute_for(
            location: *const Ident,
            body: unsafe extern "C" fn($type, *mut c_void),
            argument: *mut c_void,
            count: $type,
            _threads: $type,
            _block: $type,
            _chunk: $type,
        ) {
            // SAFETY: the caller's promise.
            unsafe { $for_loop(location, body, argument, count, 0, 0) };
        }
    };
}

loops!(
    i32,
    __kmpc_for_static_loop_4,
    __kmpc_distribute_static_loop_4,
    __kmpc_distribute_for_static_loop_4
);
loops!(
    u32,
    __kmpc_for_static_loop_4u,
    __kmpc_distribute_static_loop_4u,
    __kmpc_distribute_for_static_loop_4u
);
loops!(
    i64,
    __kmpc_for_static_loop_8,
    __kmpc_distribute_static_loop_8,
    __kmpc_distribute_for_static_loop_8
);
loops!(
    u64,
    __kmpc_for_static_loop_8u,
    __kmpc_distribute_static_loop_8u,
    __kmpc_distribute_for_static_loop_8u
);

/// Memory that the threads of a team share.
#[unsafe(no_mangle)]
pub extern "C" fn __kmpc_alloc_shared(bytes: usize) -> *mut c_void {
    // SAFETY: asks for memory, nothing else.
    unsafe { libc::malloc(bytes.max(1)) }
}

/// Gives it back.
///
/// # Safety
/// From [`__kmpc_alloc_shared`], and not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __kmpc_free_shared(at: *mut c_void, _bytes: usize) {
    // SAFETY: the caller's promise.
    unsafe { libc::free(at) };
}
