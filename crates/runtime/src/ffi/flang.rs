//! What host images of flang call: the device half of LLVM's runtime, on the threads of its host half.
//!
//! flang makes kernels for the host as it makes them for a GPU. One team runs each of them, which is legal; a parallel
//! region runs on the threads of libomp, and a worksharing loop is shared by them. Where libomp is not loaded the team has
//! one thread.

use std::ffi::c_void;
use std::mem;
use std::sync::OnceLock;

use abi::Ident;
use device::parameters;

use crate::error::Error;
use crate::guard::guard;
use crate::{fork, host};

/// The body of a parallel region as libomp calls it: the numbers of its thread, and what it was given.
type Body = unsafe extern "C" fn(*mut i32, *mut i32, *mut c_void);
type Fork = unsafe extern "C" fn(*const Ident, i32, Body, ...);
type Ask = unsafe extern "C" fn(*const Ident) -> i32;
type Say = unsafe extern "C" fn(*const Ident, i32);
type Request = unsafe extern "C" fn(*const Ident, i32, i32);
type Number = unsafe extern "C" fn() -> i32;

/// What is needed of libomp.
#[derive(Clone, Copy)]
struct Threads {
    fork: Fork,
    global: Ask,
    barrier: Say,
    serial: Say,
    end_serial: Say,
    request: Request,
    number: Number,
    count: Number,
}

fn threads() -> Option<Threads> {
    static THREADS: OnceLock<Option<Threads>> = OnceLock::new();
    // SAFETY: functions of these names have these types in every libomp.
    *fork::once(&THREADS, || unsafe {
        let serial = host::find(c"__kmpc_serialized_parallel")?;
        let end_serial = host::find(c"__kmpc_end_serialized_parallel")?;
        Some(Threads {
            fork: mem::transmute::<*mut c_void, Fork>(host::find(c"__kmpc_fork_call")?),
            global: mem::transmute::<*mut c_void, Ask>(host::find(c"__kmpc_global_thread_num")?),
            barrier: mem::transmute::<*mut c_void, Say>(host::find(c"__kmpc_barrier")?),
            serial: mem::transmute::<*mut c_void, Say>(serial),
            end_serial: mem::transmute::<*mut c_void, Say>(end_serial),
            request: mem::transmute::<*mut c_void, Request>(host::find(
                c"__kmpc_push_num_threads",
            )?),
            number: mem::transmute::<*mut c_void, Number>(host::find(c"omp_get_thread_num")?),
            count: mem::transmute::<*mut c_void, Number>(host::find(c"omp_get_num_threads")?),
        })
    })
}

/// The calling thread's number in its team, and how many that has.
fn place() -> (u64, u64) {
    let Some(threads) = threads() else { return (0, 1) };
    // SAFETY: functions of libomp that take nothing.
    let (number, count) = unsafe { ((threads.number)(), (threads.count)()) };
    (u64::try_from(number).unwrap_or(0), u64::try_from(count).unwrap_or(1).max(1))
}

/// Waits for the threads of the team. flang asks for no barrier behind a worksharing loop of a kernel, and LLVM's own device
/// library has none there: what follows may read what other threads have written.
fn end_of_loop(location: *const Ident) {
    let Some(threads) = threads().filter(|_| place().1 > 1) else { return };
    // SAFETY: functions of libomp; all threads of the team call this.
    unsafe { (threads.barrier)(location, (threads.global)(location)) };
}

/// A kernel begins; -1 says: run the user's code.
#[unsafe(no_mangle)]
pub extern "C" fn __kmpc_target_init(_environment: *mut c_void, _launch: *mut c_void) -> i32 {
    -1
}

/// A kernel ends.
#[unsafe(no_mangle)]
pub extern "C" fn __kmpc_target_deinit() {}

/// A parallel region, and the words it is given.
struct Region {
    body: usize,
    words: Vec<u64>,
}

impl Region {
    /// Calls `body(&thread, &bound, words…)` on the calling thread.
    fn run(&self, thread: *const i32, bound: *const i32) {
        guard(&"parallel region", true, || {
            let mut words = vec![thread as u64, bound as u64];
            words.extend(&self.words);
            // SAFETY: the promise of who began the region; the two numbers live during the call.
            unsafe { parameters::call(self.body, &words) }.map_err(|error| Error::Device {
                doing: "running a parallel region",
                what: None,
                error,
            })
        });
    }
}

/// What each thread of a parallel region runs.
///
/// # Safety
/// `region` is one that lives until the region ends.
unsafe extern "C" fn member(thread: *mut i32, bound: *mut i32, region: *mut c_void) {
    // SAFETY: the caller's promise.
    let region = unsafe { &*region.cast::<Region>() };
    region.run(thread, bound);
}

/// A parallel region: each thread of a new team calls `body(&thread, &bound, args…)`.
///
/// # Safety
/// `body` is a function that takes two addresses and `count` more words, `args` holds them.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments, reason = "the interface's")]
pub unsafe extern "C" fn __kmpc_parallel_51(
    location: *const Ident,
    _thread: i32,
    condition: i32,
    wanted: i32,
    _bind: i32,
    body: *const c_void,
    _wrapper: *const c_void,
    args: *const u64,
    count: i64,
) {
    let count = usize::try_from(count).unwrap_or(0);
    let words = if count > 0 && !args.is_null() {
        // SAFETY: the caller's promise.
        unsafe { std::slice::from_raw_parts(args, count) }.to_vec()
    } else {
        Vec::new()
    };
    let mut region = Region { body: body as usize, words };
    let Some(threads) = threads() else {
        let (thread, bound) = (0, 0);
        return region.run(&raw const thread, &raw const bound);
    };
    // SAFETY: functions of libomp, called as compilers call them; the region lives until they return.
    unsafe {
        let number = (threads.global)(location);
        if condition == 0 {
            let bound = 0;
            (threads.serial)(location, number);
            region.run(&raw const number, &raw const bound);
            return (threads.end_serial)(location, number);
        }
        if wanted > 0 {
            (threads.request)(location, number, wanted);
        }
        (threads.fork)(location, 1, member, (&raw mut region).cast::<c_void>());
    }
}

/// The loops of one type of counter. `count` is the number of iterations: flang 19 says that, though LLVM's own device
/// library takes it for the last one and runs one more.
macro_rules! loops {
    ($type:ty, $share:ident, $for_loop:ident, $distribute:ident, $distribute_for:ident) => {
        /// Calls `body` for the iterations of the calling thread, which follow each other.
        ///
        /// # Safety
        /// As below.
        unsafe fn $share(
            body: unsafe extern "C" fn($type, *mut c_void),
            argument: *mut c_void,
            count: $type,
        ) {
            let (number, threads) = place();
            // No loop has fewer than no iterations.
            let all = u128::try_from(count).unwrap_or(0);
            let part = |it: u64| {
                <$type>::try_from(all * u128::from(it) / u128::from(threads)).unwrap_or(count)
            };
            for index in part(number)..part(number + 1) {
                // SAFETY: the caller's promise.
                unsafe { body(index, argument) };
            }
        }

        /// A loop shared by the threads of a team.
        ///
        /// # Safety
        /// `body` may be called with each number below `count` and `argument`.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $for_loop(
            location: *const Ident,
            body: unsafe extern "C" fn($type, *mut c_void),
            argument: *mut c_void,
            count: $type,
            _threads: $type,
            _chunk: $type,
        ) {
            // SAFETY: the caller's promise.
            unsafe { $share(body, argument, count) };
            end_of_loop(location);
        }

        /// A loop shared by teams, of which there is one.
        ///
        /// # Safety
        /// As above.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $distribute(
            _location: *const Ident,
            body: unsafe extern "C" fn($type, *mut c_void),
            argument: *mut c_void,
            count: $type,
            _chunk: $type,
        ) {
            for index in 0..count {
                // SAFETY: the caller's promise.
                unsafe { body(index, argument) };
            }
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
    share_i32,
    __kmpc_for_static_loop_4,
    __kmpc_distribute_static_loop_4,
    __kmpc_distribute_for_static_loop_4
);
loops!(
    u32,
    share_u32,
    __kmpc_for_static_loop_4u,
    __kmpc_distribute_static_loop_4u,
    __kmpc_distribute_for_static_loop_4u
);
loops!(
    i64,
    share_i64,
    __kmpc_for_static_loop_8,
    __kmpc_distribute_static_loop_8,
    __kmpc_distribute_for_static_loop_8
);
loops!(
    u64,
    share_u64,
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
