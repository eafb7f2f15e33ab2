//! A table that many threads use: the protocol of busy ranges.
//!
//! No lock is held across a call of the device. A thread that copies or allocates marks the range busy
//! and lets go of the table; others that find the range sleep until it is settled, then look again.

use std::sync::atomic::{AtomicUsize, Ordering};

use device::DevicePtr;

use super::table::{Fit, Mapped, Table};
use crate::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// The table, and who waits for it.
#[derive(Debug, Default)]
pub(crate) struct Shared {
    table: Mutex<Table>,
    settled: Condvar,
    /// Threads that wait for `settled`; changed and asked under the lock, so that nobody is woken
    /// (which costs a call of the system) when nobody sleeps.
    waiting: AtomicUsize,
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
                Some((mapped, _)) if mapped.busy => {
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
