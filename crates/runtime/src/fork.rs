//! A program that forks: the child gets locks that nobody holds.
//!
//! While a process is copied, the thread that forks holds all locks of the library, so that no other
//! thread is in the middle of a change that only it could finish. Ranges that another thread is
//! copying at that moment stay busy in the child; its own data it maps as ever.
#![allow(unsafe_code, reason = "asks the C library to call back around fork")]

use std::cell::RefCell;
use std::sync::Once;

use device::Held;

use crate::{devices, queue, registry, runner};

thread_local! {
    /// What the thread holds from before until after it forks.
    static HELD: RefCell<Vec<Box<dyn Held>>> = const { RefCell::new(Vec::new()) };
}

/// From now on forks are prepared for.
pub(crate) fn watch() {
    static WATCHED: Once = Once::new();
    // SAFETY: C functions without arguments that never unwind.
    WATCHED.call_once(|| unsafe {
        libc::pthread_atfork(Some(before), Some(after), Some(after));
    });
}

extern "C" fn before() {
    let mut held: Vec<Box<dyn Held>> = vec![queue::hold(), registry::hold(), runner::hold()];
    for device in devices::opened() {
        held.extend(device.hold());
    }
    // A thread that ends while it forks has nothing to keep: then nothing is held either.
    let _ = HELD.try_with(|it| it.replace(held));
}

extern "C" fn after() {
    let held = HELD.try_with(RefCell::take);
    drop(held);
}
