//! The newest tasks of a worker, which it adds and takes without a barrier while nobody else wants them.
//!
//! A lock that its owner holds without an atomic operation: the owner says that it is busy and looks whether somebody claims
//! the tasks; who claims them says so and passes the other side of the barrier between them, which is rare and slow. Others come here only if
//! there is nothing in any deque, so no task is out of reach.

use std::cell::Cell;

use crate::sync::{AtomicU32, Ordering, heavy_barrier, light_barrier, relax};

/// How many there are at most.
pub(crate) const ROOM: usize = 8;

/// A ring of pointers to tasks.
pub(crate) struct Newest<T> {
    busy: AtomicU32,
    claim: AtomicU32,
    length: AtomicU32,
    first: Cell<usize>,
    slots: [Cell<*mut T>; ROOM],
}

impl<T> Newest<T> {
    pub(crate) fn new() -> Self {
        Self {
            busy: AtomicU32::new(0),
            claim: AtomicU32::new(0),
            length: AtomicU32::new(0),
            first: Cell::new(0),
            slots: [const { Cell::new(std::ptr::null_mut()) }; ROOM],
        }
    }

    /// How many there are, roughly.
    #[inline(always)]
    pub(crate) fn len(&self) -> usize {
        self.length.load(Ordering::Relaxed) as usize
    }

    #[inline(always)]
    fn slot(&self, at: usize) -> Option<&Cell<*mut T>> {
        self.slots.get(at % ROOM)
    }

    /// The owner's side of the lock.
    #[inline(always)]
    fn enter(&self) {
        self.busy.store(1, Ordering::Relaxed);
        light_barrier();
        if self.claim.load(Ordering::Acquire) != 0 {
            self.give_way();
        }
    }

    #[cold]
    fn give_way(&self) {
        loop {
            self.busy.store(0, Ordering::Release);
            while self.claim.load(Ordering::Acquire) != 0 {
                relax();
            }
            self.busy.store(1, Ordering::Relaxed);
            light_barrier();
            if self.claim.load(Ordering::Acquire) == 0 {
                return;
            }
        }
    }

    #[inline(always)]
    fn leave(&self) {
        self.busy.store(0, Ordering::Release);
    }

    /// Adds a task; answers with the oldest where there is no room for both. Only the owner calls it.
    #[inline(always)]
    pub(crate) fn push(&self, task: *mut T) -> Option<*mut T> {
        self.enter();
        let (first, length) = (self.first.get(), self.len());
        let mut oldest = None;
        if length == ROOM {
            oldest = self.slot(first).map(Cell::get);
            self.first.set(first + 1);
        } else {
            self.length.store(length as u32 + 1, Ordering::Relaxed);
        }
        if let Some(slot) = self.slot(first + length) {
            slot.set(task);
        }
        self.leave();
        oldest
    }

    /// Adds a task if there is room and nobody claims any; says whether it did. Only the owner calls it.
    #[inline(always)]
    pub(crate) fn try_push(&self, task: *mut T) -> bool {
        let length = self.len();
        if length == ROOM {
            return false;
        }
        self.busy.store(1, Ordering::Relaxed);
        light_barrier();
        let is_mine = self.claim.load(Ordering::Acquire) == 0;
        if is_mine {
            let length = self.len();
            if let Some(slot) = self.slot(self.first.get() + length) {
                slot.set(task);
            }
            self.length.store(length as u32 + 1, Ordering::Relaxed);
        }
        self.leave();
        is_mine
    }

    /// Takes the newest. Only the owner calls it.
    #[inline(always)]
    pub(crate) fn pop(&self) -> Option<*mut T> {
        // Others only take: what the owner sees as empty is empty.
        if self.len() == 0 {
            return None;
        }
        self.enter();
        let length = self.len();
        let task = match length.checked_sub(1) {
            Some(last) => {
                self.length.store(last as u32, Ordering::Relaxed);
                self.slot(self.first.get() + last).map(Cell::get)
            }
            None => None,
        };
        self.leave();
        task
    }

    /// Takes the oldest, for another worker.
    #[cold]
    pub(crate) fn claim(&self) -> Option<*mut T> {
        if self.len() == 0
            || self.claim.compare_exchange(0, 1, Ordering::AcqRel, Ordering::Relaxed).is_err()
        {
            return None;
        }
        heavy_barrier();
        while self.busy.load(Ordering::Acquire) != 0 {
            relax();
        }
        let (first, length) = (self.first.get(), self.len());
        let mut task = None;
        if length != 0 {
            task = self.slot(first).map(Cell::get);
            self.first.set(first + 1);
            self.length.store(length as u32 - 1, Ordering::Relaxed);
        }
        self.claim.store(0, Ordering::Release);
        task
    }
}
