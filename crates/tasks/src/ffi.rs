//! What `ferry_tasks.h` calls. The header caches, for each thread, what [`ferry_tasks_self`] answers.
//!
//! Nothing unwinds from here: what fails ends the program with a message.
#![allow(unsafe_code, reason = "C calls these")]

use std::ffi::{c_char, c_int, c_void};
use std::ptr;
use std::slice;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::finish::Finish;
use crate::hardware::Body;
use crate::loops::{self, Domain};
use crate::memory::{Where, memory};
use crate::pool::{self, Worker};
use crate::{core, memory, report};

/// A buffer that tasks of a scope write to.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Buffer {
    at: *mut c_void,
    size: usize,
}

/// What a thread is here: a host worker; null on an accelerator core.
pub type Own = *const c_void;

/// The worker that the calling thread is.
#[unsafe(no_mangle)]
pub extern "C" fn ferry_tasks_self() -> Own {
    if core::current().is_some() { ptr::null() } else { ptr::from_ref(pool::worker()).cast() }
}

/// The worker behind what the header holds; none on a core.
///
/// # Safety
/// What [`ferry_tasks_self`] has answered in this thread, or null.
#[inline(always)]
unsafe fn of(own: Own) -> Option<&'static Worker> {
    // SAFETY: the caller's promise; workers live as long as the process.
    unsafe { own.cast::<Worker>().as_ref() }
}

/// Makes a task, wherever this is called.
///
/// # Safety
/// So many bytes can be read at the arguments, and the function takes them.
pub(crate) unsafe fn make(
    body: Body,
    from: *mut c_void,
    size: usize,
    place: *const c_char,
    is_for_cores: bool,
) {
    // SAFETY: the caller's promise.
    unsafe {
        match core::current() {
            Some(core) => core.make(body, from, size, place, is_for_cores),
            None => pool::worker().make(body, from, size, place),
        }
    }
}

/// `async`: a task for whoever is free.
///
/// # Safety
/// So many bytes can be read at the arguments, and the function takes them; `own` as of [`ferry_tasks_self`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferry_tasks_async(
    own: Own,
    body: Option<Body>,
    from: *mut c_void,
    size: usize,
    place: *const c_char,
) {
    let Some(body) = body else { return };
    // SAFETY: the caller's promise.
    unsafe {
        match of(own) {
            Some(worker) => worker.make(body, from, size, place),
            None => make_elsewhere(body, from, size, place),
        }
    }
}

/// The header does not know what this thread is: it is a core.
///
/// # Safety
/// As [`ferry_tasks_async`].
#[cold]
unsafe fn make_elsewhere(body: Body, from: *mut c_void, size: usize, place: *const c_char) {
    // SAFETY: the caller's promise.
    unsafe { make(body, from, size, place, false) };
}

/// `asyncDSP`: a task for the accelerator. Where there is none the host runs it.
///
/// # Safety
/// As [`ferry_tasks_async`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferry_tasks_async_core(
    body: Option<Body>,
    from: *mut c_void,
    size: usize,
    place: *const c_char,
) {
    let Some(body) = body else { return };
    // SAFETY: the caller's promise.
    unsafe {
        if core::current().is_some() {
            return make(body, from, size, place, true);
        }
        let worker = pool::worker();
        let Some(cross) = &worker.pool.cross else { return worker.make(body, from, size, place) };
        // Outside of any scope it is done when the call returns.
        let is_alone = worker.finish.get().is_null();
        if is_alone {
            worker.start_finish();
        }
        let finish = worker.finish.get();
        if let Some(scope) = finish.as_ref() {
            worker.count_in(scope);
            while !cross.send(body, from, size, place, finish, true) {
                // Descriptors come back when cores are done.
                if !cross.look(worker, || ()) {
                    std::thread::yield_now();
                }
            }
        }
        if is_alone {
            worker.end_finish();
        }
    }
}

/// `start_finish`.
///
/// # Safety
/// So many pointers to buffers can be read; `own` as of [`ferry_tasks_self`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferry_tasks_start_finish(
    own: Own,
    number: c_int,
    buffers: *const *const Buffer,
) {
    // SAFETY: the caller's promise.
    unsafe {
        match of(own) {
            Some(worker) if !worker.crosses => {
                worker.start_finish();
            }
            worker => start_elsewhere(worker, number, buffers),
        }
    }
}

/// A scope on a core, or on a host with cores.
///
/// # Safety
/// As [`ferry_tasks_start_finish`].
#[inline(never)]
unsafe fn start_elsewhere(
    worker: Option<&'static Worker>,
    number: c_int,
    buffers: *const *const Buffer,
) {
    if let (None, Some(core)) = (worker, core::current()) {
        return core.start_finish();
    }
    let worker = worker.unwrap_or_else(pool::worker);
    let scope = worker.start_finish();
    if worker.crosses {
        // SAFETY: the caller's promise.
        unsafe { name_written(worker, scope, number, buffers) };
    }
}

/// Names the buffers that tasks of a scope write to.
///
/// # Safety
/// As [`ferry_tasks_start_finish`].
#[inline(never)]
unsafe fn name_written(
    worker: &'static Worker,
    scope: &Finish,
    number: c_int,
    buffers: *const *const Buffer,
) {
    {
        let number = usize::try_from(number).unwrap_or(0);
        let list = match number {
            0 => &[],
            // SAFETY: the caller's promise.
            _ => unsafe { slice::from_raw_parts(buffers, number) },
        };
        // SAFETY: as above.
        let list =
            list.iter().filter_map(|it| unsafe { it.as_ref() }).map(|it| (it.at as usize, it.size));
        scope.set_written(list);
        // What the host has written before is visible to all tasks of the outermost scope.
        if scope.outer.get().is_null() {
            for (at, size) in scope.written() {
                worker.flush(*at, *size);
            }
        }
    }
}

/// `end_finish`.
///
/// # Safety
/// `own` as of [`ferry_tasks_self`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferry_tasks_end_finish(own: Own) {
    // SAFETY: the caller's promise.
    match unsafe { of(own) } {
        Some(worker) => worker.end_finish(),
        None => end_elsewhere(),
    }
}

#[cold]
fn end_elsewhere() {
    match core::current() {
        Some(core) => core.end_finish(),
        None => pool::worker().end_finish(),
    }
}

/// `forasync`.
///
/// # Safety
/// So many bytes can be read at the arguments, and as many domains as there are dimensions; the kernel takes the arguments
/// and that many numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferry_tasks_forasync(
    kernel: *const c_void,
    arguments: *const c_void,
    size: usize,
    dimensions: c_int,
    domains: *const Domain,
    mode: c_int,
    place: *const c_char,
) {
    if kernel.is_null() || domains.is_null() || !(1..=3).contains(&dimensions) {
        report::fail(
            &format!("{}: `forasync` over {dimensions} dimensions", report::place(place)),
            "give a function and one to three domains",
        );
    }
    let width = pool::pool().map_or(1, |it| it.width() + it.settings.cores as usize);
    // SAFETY: the caller's promise.
    unsafe {
        let domains = slice::from_raw_parts(domains, dimensions as usize);
        loops::start(kernel as usize, (arguments, size), domains, mode != 0, width, place);
    }
}

/// `ws_malloc`: a buffer that both sides see; null where there is no room, and on a core.
#[unsafe(no_mangle)]
pub extern "C" fn ferry_tasks_malloc(size: usize, near: c_int) -> *mut c_void {
    if core::current().is_some() {
        return ptr::null_mut();
    }
    // Cores are started before there are buffers, so that all of them see the same memory.
    let worker = pool::worker();
    let memory = memory::make(worker.crosses);
    let at = if near != 0 { Where::Near } else { Where::Far };
    memory.and_then(|it| it.take(size, at)).map_or(ptr::null_mut(), |it| it as *mut c_void)
}

/// `ws_free`.
#[unsafe(no_mangle)]
pub extern "C" fn ferry_tasks_free(at: *mut c_void) {
    let is_there = at.is_null()
        || (core::current().is_none() && memory().is_some_and(|it| it.give(at as usize)));
    if !is_there {
        report::fail(
            &format!("`ws_free` of {at:p}, which is no buffer of `ws_malloc`"),
            "free each buffer once, on the host, with the pointer that `ws_malloc` gave",
        );
    }
}

/// `ws_cacheWbInv`.
#[unsafe(no_mangle)]
pub extern "C" fn ferry_tasks_flush(at: *mut c_void, size: usize) {
    match core::current() {
        Some(core) => core.flush(),
        None => pool::worker().flush(at as usize, size),
    }
}

/// `ws_dspPtr`: a pointer to a buffer as cores have it.
#[unsafe(no_mangle)]
pub extern "C" fn ferry_tasks_core_pointer(at: *const c_void) -> u32 {
    let is_there =
        core::current().is_some() || memory().is_some_and(|it| it.block_of(at as usize).is_some());
    match u32::try_from(at as usize) {
        Ok(pointer) if is_there => pointer,
        _ => report::fail(
            &format!("`ws_dspPtr` of {at:p}, which is not within a buffer of `ws_malloc`"),
            "accelerator cores see buffers of `ws_malloc` only",
        ),
    }
}

/// What was done so far, for `ws_statistics`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Statistics {
    host_tasks: u64,
    host_steals: u64,
    core_tasks: u64,
    core_steals: u64,
    sent: u64,
    taken: u64,
    host_flushes: u64,
    core_flushes: u64,
}

/// Fills in what was done.
///
/// # Safety
/// The place can be written, or is null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferry_tasks_statistics(to: *mut Statistics) {
    let mut all = Statistics::default();
    let get = |it: &AtomicU64| it.load(Ordering::Relaxed);
    if let Some(pool) = pool::pool() {
        for it in pool.workers() {
            all.host_tasks += get(&it.facts.tasks);
            all.host_steals += get(&it.facts.steals);
            all.sent += get(&it.facts.sent);
            all.taken += get(&it.facts.taken);
            all.host_flushes += get(&it.facts.flushes);
        }
        for (_, it) in pool.hardware.cores() {
            all.core_tasks += get(&it.tasks);
            all.core_steals += get(&it.steals);
            all.core_flushes += get(&it.flushes);
        }
    }
    // SAFETY: the caller's promise.
    if let Some(to) = unsafe { to.as_mut() } {
        *to = all;
    }
}

/// 1 on an accelerator core, 0 on the host.
#[unsafe(no_mangle)]
pub extern "C" fn ferry_tasks_is_core() -> c_int {
    core::current().is_some().into()
}

/// The process of a core, so that tests can kill it; 0 while there is none.
#[unsafe(no_mangle)]
pub extern "C" fn ferry_tasks_core_process(core: c_int) -> c_int {
    let pool = pool::pool();
    let core = u32::try_from(core).ok().and_then(|it| pool?.hardware.core(it));
    core.map_or(0, |it| it.process.load(Ordering::Relaxed))
}
