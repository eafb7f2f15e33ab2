//! What is mapped to one device, for many threads at once: the ranges, below the walks that change them.
//!
//! [`Mapping`] guards a [`Table`] by busy marks ([`shared`]): no lock is held across a call of the
//! device. A thread waits only while it has no range busy itself, so nobody waits in a circle.
//!
//! - [`early`]: data that are there before the pointer to them
//! - [`rooms`]: variables that an image has room for

pub(crate) mod early;
pub(crate) mod rooms;
mod shared;

use std::sync::atomic::{AtomicUsize, Ordering};

use device::{DevicePtr, Held, Original};

use crate::sync::MutexGuard;
use crate::table::{self, Fit, Mapped, Table};
pub(crate) use shared::Found;
use shared::{Shared, Stage};

/// The table of one device.
#[derive(Debug, Default)]
pub(crate) struct Mapping {
    shared: Shared,
    /// How many ranges of a device that shares the host's memory lie elsewhere nevertheless.
    elsewhere: AtomicUsize,
    /// Pointers that are attached when they come.
    pub(crate) early: early::Early,
    /// Where images have room for variables that are mapped on demand.
    pub(crate) rooms: rooms::Rooms,
}

impl Mapping {
    pub(crate) fn lock(&self) -> MutexGuard<'_, Table> {
        self.shared.lock()
    }

    /// Lets nobody look until the answer is dropped.
    pub(crate) fn hold(&'static self) -> Box<dyn Held> {
        Box::new((self.lock(), self.early.lock(), self.rooms.lock()))
    }

    /// Lets nobody begin a call whose copies wait in a queue; nothing if the current thread makes one.
    pub(crate) fn hold_stage(&'static self) -> Option<Box<dyn Held>> {
        self.shared.hold_stage().map(|it| Box::new(it) as Box<dyn Held>)
    }

    /// The threads are gone that worked on busy ranges.
    pub(crate) fn settle_all(&self) {
        let mut table = self.lock();
        let mut lost = Vec::new();
        for it in table.iter_mut() {
            if it.busy && it.device.is_null() {
                lost.push(it.begin);
            }
            (it.busy, it.staged) = (false, false);
        }
        for key in lost {
            table.remove(key);
        }
    }

    /// Begins a call of the current thread whose copies wait in a queue.
    pub(crate) fn stage(&self) -> Stage<'_> {
        self.shared.stage()
    }

    /// Looks up, waiting while the range that is found is busy. The answer holds while the guard
    /// lives.
    pub(crate) fn look_up(&self, at: usize, size: usize) -> (MutexGuard<'_, Table>, Option<Found>) {
        self.shared.look_up(at, size)
    }

    /// Where an address lies on the device, if all of its bytes are mapped.
    pub(crate) fn translate(&self, at: usize, size: usize) -> Option<DevicePtr> {
        let (_table, found) = self.look_up(at, size);
        found.filter(|it| it.fit == Fit::Contained).map(|it| it.device)
    }

    /// Ends the time in which a range was busy; `change` is made while nobody else looks.
    pub(crate) fn settle<T>(&self, key: usize, change: impl FnOnce(&mut Mapped) -> T) -> Option<T> {
        self.shared.settle(key, change)
    }

    /// Takes a busy range out.
    pub(crate) fn drop_busy(&self, key: usize) -> Option<Mapped> {
        self.shared.drop_busy(key)
    }

    /// Maps a range for good unless it is mapped already, and says whether it did.
    pub(crate) fn add_permanent(&self, mapped: Mapped) -> bool {
        let (mut table, found) = self.look_up(mapped.begin, mapped.size());
        if found.is_some() {
            return false;
        }
        if mapped.device.0 != mapped.begin as u64 {
            self.elsewhere.fetch_add(1, Ordering::Relaxed);
        }
        table.insert(mapped);
        true
    }

    /// Takes the range out that begins here, if `allow` agrees.
    pub(crate) fn remove_if(
        &self,
        begin: usize,
        allow: impl FnOnce(&Mapped) -> bool,
    ) -> Option<Mapped> {
        let (mut table, found) = self.look_up(begin, 1);
        let key = found.map(|it| it.key).filter(|key| *key == begin)?;
        if !table.get_mut(key).is_some_and(|it| allow(it)) {
            return None;
        }
        let removed = table.remove(key)?;
        if removed.device.0 != removed.begin as u64 {
            self.elsewhere.fetch_sub(1, Ordering::Relaxed);
        }
        Some(removed)
    }

    /// Takes everything out but what is mapped for good.
    pub(crate) fn clear(&self) -> Vec<Mapped> {
        self.early.clear();
        let mut table = self.lock();
        let is_counted = |it: &&Mapped| it.dynamic != table::INFINITE && !it.busy && !it.staged;
        let keys: Vec<usize> = table.iter().filter(is_counted).map(|it| it.begin).collect();
        keys.into_iter().filter_map(|key| table.remove(key)).collect()
    }

    /// The range that begins exactly here, copied.
    pub(crate) fn at(&self, begin: usize) -> Option<Mapped> {
        let (mut table, found) = self.look_up(begin, 1);
        let key = found.map(|it| it.key).filter(|key| *key == begin)?;
        table.get_mut(key).cloned()
    }

    /// The host address whose data lie at this address of the device.
    pub(crate) fn host_of(&self, device: DevicePtr) -> Option<usize> {
        self.lock().iter().find_map(|it| {
            let offset = usize::try_from(device.0.checked_sub(it.device.0)?).ok()?;
            (!it.busy && offset < it.size()).then(|| it.begin.wrapping_add(offset))
        })
    }

    /// The host's own version of what lies at an address of the device.
    pub(crate) fn original(&self, at: DevicePtr, size: usize) -> Option<Original> {
        let bytes = (size as u64).max(1);
        let touches = |it: &Mapped| {
            let end = it.device.0.saturating_add(it.size() as u64);
            at.0 < end && it.device.0 < at.0.saturating_add(bytes)
        };
        let begin = self.lock().iter().find(|it| touches(it)).map(|it| it.begin)?;
        // A thread may be copying: it is waited for.
        let (mut table, found) = self.look_up(begin, 1);
        let mapped = table.get_mut(found?.key).filter(|it| touches(it))?;
        let offset = at.0.wrapping_sub(mapped.device.0);
        let is_whole = at.0 >= mapped.device.0 && offset + size as u64 <= mapped.size() as u64;
        Some(Original { address: (mapped.begin as u64).wrapping_add(offset), is_whole })
    }

    /// Bytes of the device's memory that mapped data have.
    pub(crate) fn owned_bytes(&self) -> usize {
        self.lock().iter().filter(|it| !it.owned.is_null()).map(Mapped::size).sum()
    }

    /// A range of a device that shares memory has got storage of its own.
    pub(crate) fn moved_away(&self) {
        self.elsewhere.fetch_add(1, Ordering::Relaxed);
    }

    /// A range of a device that shares memory has left the table.
    pub(crate) fn left(&self, range: &Mapped) {
        if range.device.0 != range.begin as u64 {
            self.elsewhere.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// No address of this table differs from the host's; only asked of devices that share memory.
    pub(crate) fn is_identity(&self) -> bool {
        self.elsewhere.load(Ordering::Relaxed) == 0
    }

    /// Forgets the texts of names: the binary that holds them goes.
    pub(crate) fn forget_names(&self) {
        for mapped in self.lock().iter_mut() {
            mapped.name = None;
        }
    }

    /// A copy of all ranges, for dumps.
    pub(crate) fn snapshot(&self) -> Vec<Mapped> {
        self.lock().iter().cloned().collect()
    }
}
