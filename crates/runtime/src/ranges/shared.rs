//! A table that many threads use: the protocol of busy ranges.
//!
//! No lock is held across a call of the device. A thread that copies or allocates marks the range busy
//! and lets go of the table; others that find the range sleep until it is settled, then look again.
//!
//! A call whose copies wait in a queue is a *stage*: it counts up and, if it is a region, down again, while
//! the copies that others would need are not made. So nobody else sees the ranges that a stage makes
//! before it ends; most have gone by then. There is one stage at a time.

use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};

use device::DevicePtr;

use crate::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use crate::table::{Fit, Mapped, Table};

/// The table, and who waits for it.
#[derive(Debug, Default)]
pub(crate) struct Shared {
    table: Mutex<Table>,
    settled: Condvar,
    /// Threads that wait for `settled`; changed and asked under the lock, so that nobody is woken
    /// (which costs a call of the system) when nobody sleeps.
    waiting: AtomicUsize,
    /// Held by the thread that has a stage.
    stage: Mutex<()>,
}

thread_local! {
    /// The address of the table that this thread has a stage on; 0 if none.
    static STAGE: Cell<usize> = const { Cell::new(0) };
}

/// A stage, until it is dropped.
pub(crate) struct Stage<'a> {
    shared: &'a Shared,
    /// Keys of the ranges it has made.
    pub(crate) made: Vec<usize>,
    /// What the thread had before.
    outer: usize,
    _held: Option<MutexGuard<'a, ()>>,
}

impl Drop for Stage<'_> {
    fn drop(&mut self) {
        STAGE.set(self.outer);
        if self.made.is_empty() {
            return;
        }
        let mut table = self.shared.lock();
        for key in &self.made {
            if let Some(mapped) = table.get_mut(*key) {
                mapped.staged = false;
            }
        }
        self.shared.wake(table);
    }
}

/// What a look-up found, copied out of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    /// Where the range begins on the host: its key.
    pub(crate) key: usize,
    pub(crate) fit: Fit,
    /// Where the address that was looked up lies on the device.
    pub(crate) device: DevicePtr,
}

impl Shared {
    pub(crate) fn lock(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Looks up, waiting while the range that is found is busy. The answer holds while the guard
    /// lives.
    pub(crate) fn look_up(&self, at: usize, size: usize) -> (MutexGuard<'_, Table>, Option<Found>) {
        let mut table = self.lock();
        loop {
            let found = match table.find(at, size) {
                None => None,
                Some((mapped, _)) if mapped.busy || mapped.staged && !self.is_staging() => {
                    self.waiting.fetch_add(1, Ordering::Relaxed);
                    table = self.settled.wait(table).unwrap_or_else(PoisonError::into_inner);
                    self.waiting.fetch_sub(1, Ordering::Relaxed);
                    continue;
                }
                Some((mapped, fit)) => {
                    Some(Found { key: mapped.begin, fit, device: mapped.translate(at) })
                }
            };
            return (table, found);
        }
    }

    fn address(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }

    /// Begins a stage of the current thread.
    pub(crate) fn stage(&self) -> Stage<'_> {
        // A tool that is called back may make calls of its own.
        let _held = self.hold_stage();
        let outer = STAGE.replace(self.address());
        Stage { shared: self, made: Vec::new(), outer, _held }
    }

    /// Lets no other thread have a stage; nothing if the current one has.
    pub(crate) fn hold_stage(&self) -> Option<MutexGuard<'_, ()>> {
        let lock = || self.stage.lock().unwrap_or_else(PoisonError::into_inner);
        (!self.is_staging()).then(lock)
    }

    /// Has the current thread a stage here?
    pub(crate) fn is_staging(&self) -> bool {
        STAGE.get() == self.address()
    }

    /// Ends the time in which a range was busy; `change` is made while nobody else looks.
    pub(crate) fn settle<T>(&self, key: usize, change: impl FnOnce(&mut Mapped) -> T) -> Option<T> {
        let mut table = self.lock();
        let result = table.get_mut(key).map(|mapped| {
            mapped.busy = false;
            change(mapped)
        });
        self.wake(table);
        result
    }

    /// Takes a busy range out.
    pub(crate) fn drop_busy(&self, key: usize) -> Option<Mapped> {
        let mut table = self.lock();
        let removed = table.remove(key);
        self.wake(table);
        removed
    }

    /// Lets go of the table, of which a range is busy no more.
    fn wake(&self, table: MutexGuard<'_, Table>) {
        let is_awaited = self.waiting.load(Ordering::Relaxed) > 0;
        drop(table);
        if is_awaited {
            self.settled.notify_all();
        }
    }
}
