//! A program that forks: the child gets locks that nobody holds.
//!
//! While a process is copied, the thread that forks holds all locks of the library, so that no other
//! thread is in the middle of a change that only it could finish. This is the one place that knows them
//! all, in the order in which threads take one inside another:
//!
//! 1. the stage of each device: a call that is not through with the mapping table
//! 2. [`once`]: what is made when it is first needed
//! 3. the registry
//! 4. of each device: table, early pointers, rooms, memory by hand; locks of its plugin
//! 5. those inside of which no other is taken: work in queues, idle threads, callbacks, the trace
//!
//! Threads of the library, and the locks with which they are handed work, are left behind by a fork; the
//! lists of them know their process. In the child ranges that another thread was working on are settled,
//! or forgotten if they had no place yet; the trace is its parent's.
#![allow(unsafe_code, reason = "asks the C library to call back around fork")]

use std::cell::{Cell, RefCell};
use std::sync::{Mutex, MutexGuard, Once, OnceLock, PoisonError};

use device::Held;

use crate::ffi::profile;
use crate::{devices, left, queue, registry, runner, trace};

thread_local! {
    /// What the thread holds from before until after it forks.
    static HELD: RefCell<Vec<Box<dyn Held>>> = const { RefCell::new(Vec::new()) };
    /// The thread is making something, see [`once`].
    static IS_MAKING: Cell<bool> = const { Cell::new(false) };
}

/// Held while something is made.
static MAKING: Mutex<()> = Mutex::new(());

/// See [`once`]; nothing if the thread makes something already.
struct Making(#[allow(dead_code, reason = "held")] MutexGuard<'static, ()>);

impl Making {
    fn begin() -> Option<Making> {
        if IS_MAKING.get() {
            return None;
        }
        let held = MAKING.lock().unwrap_or_else(PoisonError::into_inner);
        IS_MAKING.set(true);
        Some(Making(held))
    }
}

impl Drop for Making {
    fn drop(&mut self) {
        IS_MAKING.set(false);
    }
}

/// What is made when it is first needed and takes time: no process is copied meanwhile, as nobody would
/// finish it in the child.
pub(crate) fn once<T>(cell: &OnceLock<T>, make: impl FnOnce() -> T) -> &T {
    if let Some(made) = cell.get() {
        return made;
    }
    let _making = Making::begin();
    cell.get_or_init(make)
}

/// From now on forks are prepared for.
pub(crate) fn watch() {
    static WATCHED: Once = Once::new();
    // SAFETY: C functions without arguments that never unwind.
    WATCHED.call_once(|| unsafe {
        libc::pthread_atfork(Some(before), Some(after), Some(in_child));
    });
}

extern "C" fn before() {
    let held = loop {
        let devices = devices::opened();
        let mut held: Vec<Box<dyn Held>> = Vec::new();
        held.extend(devices.iter().filter_map(|it| it.mapping.hold_stage()));
        held.extend(Making::begin().map(|it| Box::new(it) as Box<dyn Held>));
        // Devices may have been opened while this thread waited.
        if devices.len() != devices::opened().len() {
            continue;
        }
        held.push(registry::hold());
        held.extend(devices.iter().flat_map(|it| it.hold()));
        held.extend([queue::hold(), runner::hold(), profile::hold()]);
        held.extend(trace::hold());
        break held;
    };
    // A thread that ends while it forks has nothing to keep: then nothing is held either.
    let _ = HELD.try_with(|it| it.replace(held));
}

extern "C" fn after() {
    let held = HELD.try_with(RefCell::take);
    drop(held);
}

extern "C" fn in_child() {
    after();
    queue::forget_all();
    left::forget();
    for device in devices::opened() {
        device.mapping.settle_all();
    }
    trace::leave();
}
