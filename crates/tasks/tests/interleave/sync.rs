//! What the cores are built on, of the model checker. Both sides of a barrier are full ones here.

pub(crate) use loom::sync::atomic::{AtomicIsize, AtomicPtr, AtomicU32, Ordering, fence};

use loom::sync::{Condvar, Mutex};

loom::lazy_static! {
    /// Sleepers of all numbers: who is woken looks whether it was meant.
    static ref SLEEPERS: (Mutex<()>, Condvar) = (Mutex::new(()), Condvar::new());
}

pub(crate) fn store_then_fence(at: &AtomicIsize, value: isize) {
    at.store(value, Ordering::Release);
    fence(Ordering::SeqCst);
}

pub(crate) fn light_barrier() {
    fence(Ordering::SeqCst);
}

pub(crate) fn heavy_barrier() {
    fence(Ordering::SeqCst);
}

/// Sleeps while the number is this one, for ever if nobody wakes: that is a failure.
pub(crate) fn sleep(at: &AtomicU32, value: u32) {
    let (lock, signal) = &*SLEEPERS;
    let guard = lock.lock().unwrap();
    if at.load(Ordering::SeqCst) == value {
        drop(signal.wait(guard).unwrap());
    }
}

pub(crate) fn wake(_: &AtomicU32, threads: u32) {
    let (lock, signal) = &*SLEEPERS;
    let _guard = lock.lock().unwrap();
    if threads == 1 { signal.notify_one() } else { signal.notify_all() }
}

pub(crate) fn relax() {
    loom::thread::yield_now();
}
