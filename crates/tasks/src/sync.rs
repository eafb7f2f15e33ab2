//! Atomics, barriers and sleeping that the cores of this crate are built on.
//!
//! [`crate::deque`], [`crate::newest`], [`crate::count`] and [`crate::idle`] name no others, so that `tests/interleave` can build them upon
//! those of a model checker.
#![allow(unsafe_code, reason = "calls of the system that Rust has no names for")]

use std::sync::atomic::AtomicBool;

pub(crate) use std::sync::atomic::{AtomicIsize, AtomicPtr, AtomicU32, Ordering, fence};

/// Stores; no later load comes before it.
#[inline(always)]
pub(crate) fn store_then_fence(at: &AtomicIsize, value: isize) {
    if cfg!(target_arch = "x86_64") {
        // An exchange is a full barrier there, and takes half the time of `mfence`.
        at.swap(value, Ordering::SeqCst);
    } else {
        at.store(value, Ordering::Release);
        fence(Ordering::SeqCst);
    }
}

/// Whether [`heavy_barrier`] makes other threads of the process pass a barrier.
static IS_ASYMMETRIC: AtomicBool = AtomicBool::new(false);

/// Asks the system for barriers of one side. Comes before other threads use any.
pub(crate) fn prepare_barriers() {
    let register = libc::MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED;
    // SAFETY: a call without pointers.
    let is_there = unsafe { libc::syscall(libc::SYS_membarrier, register, 0, 0) } == 0;
    IS_ASYMMETRIC.store(is_there, Ordering::Relaxed);
}

/// What is stored before is seen by who passes a [`heavy_barrier`], or what that thread stored before is seen after this.
#[inline(always)]
pub(crate) fn light_barrier() {
    if IS_ASYMMETRIC.load(Ordering::Relaxed) {
        std::sync::atomic::compiler_fence(Ordering::SeqCst);
    } else {
        fence(Ordering::SeqCst);
    }
}

/// The other side of [`light_barrier`]: rare and slow.
pub(crate) fn heavy_barrier() {
    fence(Ordering::SeqCst);
    if IS_ASYMMETRIC.load(Ordering::Relaxed) {
        let all = libc::MEMBARRIER_CMD_PRIVATE_EXPEDITED;
        // SAFETY: a call without pointers.
        unsafe { libc::syscall(libc::SYS_membarrier, all, 0, 0) };
    }
}

/// Sleeps while the number is this one, and a second at most. Other processes may wake the thread.
pub(crate) fn sleep(at: &AtomicU32, value: u32) {
    let second = libc::timespec { tv_sec: 1, tv_nsec: 0 };
    // SAFETY: the number lives; the time is read only.
    unsafe {
        libc::syscall(libc::SYS_futex, at.as_ptr(), libc::FUTEX_WAIT, value, &raw const second)
    };
}

/// Wakes so many threads that sleep there.
pub(crate) fn wake(at: &AtomicU32, threads: u32) {
    // SAFETY: the number lives.
    unsafe { libc::syscall(libc::SYS_futex, at.as_ptr(), libc::FUTEX_WAKE, threads) };
}

/// Lets others run while this thread waits for a few instructions of theirs.
pub(crate) fn relax() {
    std::thread::yield_now();
}

/// Whether barriers of one side cost the other side nothing.
#[inline(always)]
pub(crate) fn is_asymmetric() -> bool {
    IS_ASYMMETRIC.load(Ordering::Relaxed)
}
