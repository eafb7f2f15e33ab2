//! Workers that look for work or sleep, and who wakes them.
//!
//! A worker without work first searches, then sleeps. Who makes work wakes a sleeper only if nobody searches; the last
//! searcher that finds something wakes the next. A worker says that it sleeps, passes a barrier, and looks once more; who
//! makes work publishes it, passes the other side of that barrier, and looks whether somebody sleeps: one of the two sees
//! the other. Whatever makes work rings: a deque, a hardware queue, the end of a finish scope.

use crate::sync::{AtomicU32, Ordering, fence, heavy_barrier, light_barrier, sleep, wake};

const SEARCHING: u32 = 1;
const SLEEPING: u32 = 1 << 16;

/// Zeroed memory is one in which nobody waits; it may be shared with other processes.
#[repr(C, align(128))]
pub(crate) struct Idle {
    /// How many sleep, and how many search.
    state: AtomicU32,
    /// Changes with each ring.
    rings: AtomicU32,
}

impl Idle {
    /// One in which nobody waits, elsewhere than in zeroed memory.
    #[cfg(test)]
    #[allow(dead_code, reason = "of another test, which builds this file upon other atomics")]
    pub(crate) fn new() -> Self {
        Self { state: AtomicU32::new(0), rings: AtomicU32::new(0) }
    }

    /// A worker begins to search.
    pub(crate) fn search(&self) {
        self.state.fetch_add(SEARCHING, Ordering::AcqRel);
    }

    /// A searcher has found something. If it was the last one, another looks for what else there is.
    pub(crate) fn found(&self) {
        let before = self.state.fetch_sub(SEARCHING, Ordering::AcqRel);
        if before % SLEEPING == SEARCHING && before >= SLEEPING {
            self.ring_one();
        }
    }

    /// A searcher sleeps until somebody rings, unless there is something after all. It searches again then.
    pub(crate) fn rest(&self, is_something: impl FnOnce() -> bool) {
        self.state.fetch_add(SLEEPING - SEARCHING, Ordering::AcqRel);
        let rings = self.rings.load(Ordering::Acquire);
        heavy_barrier();
        if !is_something() {
            sleep(&self.rings, rings);
        }
        self.state.fetch_sub(SLEEPING - SEARCHING, Ordering::AcqRel);
    }

    /// Work was published for one worker.
    #[inline(always)]
    pub(crate) fn publish(&self) {
        light_barrier();
        let state = self.state.load(Ordering::Relaxed);
        if state >= SLEEPING && state.is_multiple_of(SLEEPING) {
            self.ring_one();
        }
    }

    /// The same for workers of another process.
    pub(crate) fn publish_across(&self) {
        fence(Ordering::SeqCst);
        self.publish();
    }

    /// Whether somebody searches or sleeps.
    #[inline(always)]
    pub(crate) fn is_anybody(&self) -> bool {
        self.state.load(Ordering::Relaxed) != 0
    }

    #[cold]
    fn ring_one(&self) {
        self.rings.fetch_add(1, Ordering::AcqRel);
        wake(&self.rings, 1);
    }

    /// Something that a certain worker waits for has happened.
    #[cold]
    pub(crate) fn ring_all(&self) {
        self.rings.fetch_add(1, Ordering::AcqRel);
        wake(&self.rings, u32::MAX >> 1);
    }
}
