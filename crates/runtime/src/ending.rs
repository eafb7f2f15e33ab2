//! The end of the program while other threads still use devices, which C allows.
//!
//! From the moment the program ends, calls of other threads than the one that ends it do not come back: what they need
//! goes away. What calls use that were made before stays.
#![allow(unsafe_code, reason = "asks the C library to call back at exit")]

use std::sync::Once;
use std::sync::atomic::{AtomicI32, AtomicUsize, Ordering};

use crate::host;

/// The thread that ends the program; 0 while nobody does.
static ENDED_BY: AtomicI32 = AtomicI32::new(0);

/// Calls under way.
static INSIDE: AtomicUsize = AtomicUsize::new(0);

/// From now on the end of the program is heard of, before anything of it goes.
pub(crate) fn watch() {
    static WATCHED: Once = Once::new();
    // SAFETY: a C function without arguments that never unwinds.
    WATCHED.call_once(|| unsafe {
        libc::atexit(begin);
    });
}

extern "C" fn begin() {
    ENDED_BY.store(thread(), Ordering::SeqCst);
}

fn thread() -> i32 {
    // SAFETY: asks for a number, nothing else.
    unsafe { libc::gettid() }
}

/// Does another thread end the program?
fn is_over() -> bool {
    let by = ENDED_BY.load(Ordering::SeqCst);
    by != 0 && by != thread()
}

/// Does not return if another thread ends the program. Threads of a kernel go on: somebody waits for them.
pub(crate) fn stop() {
    if is_over() && host::current_device().is_none() {
        loop {
            std::thread::park();
        }
    }
}

/// A call is under way until this is dropped.
#[derive(Debug)]
pub(crate) struct Inside(());

/// A call of the program begins.
pub(crate) fn enter() -> Inside {
    INSIDE.fetch_add(1, Ordering::SeqCst);
    let inside = Inside(());
    if is_over() {
        drop(inside);
        stop();
        return enter_last();
    }
    inside
}

/// The same for a thread of a kernel.
fn enter_last() -> Inside {
    INSIDE.fetch_add(1, Ordering::SeqCst);
    Inside(())
}

impl Drop for Inside {
    fn drop(&mut self) {
        INSIDE.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Does the program end while calls are under way?
pub(crate) fn is_crowded() -> bool {
    ENDED_BY.load(Ordering::SeqCst) != 0 && INSIDE.load(Ordering::SeqCst) > 0
}
