//! How many tasks of a finish scope are not done, exact for the worker that waits for them (its home).
//!
//! Home counts in a number of its own, others in a shared one, which may go below zero: the sum is what is pending. Home's
//! number changes only while home runs, so a sum that home finds zero was zero when the shared number was read; tasks
//! are counted before what makes them is done, so it stays zero. Before home sleeps it moves its number into the shared
//! one and marks that; who then brings the sum to zero wakes it. Whoever has counted down does not look at the scope again.

use std::cell::Cell;

use crate::sync::{AtomicIsize, Ordering};

/// The shared number counts in these; the lowest bit says that home sleeps.
const ONE: isize = 2;
const ASLEEP: isize = 1;

/// Tasks that are pending.
pub(crate) struct Count {
    own: Cell<isize>,
    shared: AtomicIsize,
}

impl Count {
    /// None.
    pub(crate) fn new() -> Self {
        Self { own: Cell::new(0), shared: AtomicIsize::new(0) }
    }

    /// Home counts a task more, or one less.
    #[inline(always)]
    pub(crate) fn add_at_home(&self, tasks: isize) {
        self.own.set(self.own.get() + tasks);
    }

    /// Another worker has made a task. Its own task is pending, so the sum is not zero.
    pub(crate) fn add_away(&self) {
        self.shared.fetch_add(ONE, Ordering::Relaxed);
    }

    /// Another worker has done a task; says whether home sleeps and must be woken.
    pub(crate) fn done_away(&self) -> bool {
        self.shared.fetch_sub(ONE, Ordering::AcqRel) == ONE + ASLEEP
    }

    /// Whether all are done. Home asks.
    #[inline(always)]
    pub(crate) fn is_zero(&self) -> bool {
        self.own.get() * ONE + self.shared.load(Ordering::Acquire) == 0
    }

    /// Home is about to sleep; says whether all are done, and it should not.
    pub(crate) fn fall_asleep(&self) -> bool {
        let own = self.own.replace(0) * ONE + ASLEEP;
        self.shared.fetch_add(own, Ordering::AcqRel) + own == ASLEEP
    }

    /// While home is marked asleep: whether all are done.
    pub(crate) fn is_zero_asleep(&self) -> bool {
        self.shared.load(Ordering::Acquire) == ASLEEP
    }

    /// Home is awake again.
    pub(crate) fn wake_up(&self) {
        self.shared.fetch_sub(ASLEEP, Ordering::Acquire);
    }
}
