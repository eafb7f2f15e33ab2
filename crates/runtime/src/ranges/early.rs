//! Data that came to the device before the pointer that leads to it.
//!
//! `enter data map(to: s.a[0:n])` says nothing of `s`. When `s` is mapped later, and its member still
//! holds the same address, the member's copy on the device is attached to the data that are there
//! already, as it would have been in the other order.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use abi::POINTER_SIZE;
use device::DevicePtr;

/// What a pointer of the host leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lead {
    /// The value it had.
    pub(crate) host: usize,
    /// What its copy on the device is to hold.
    pub(crate) device: DevicePtr,
    /// Key of the range that holds the data.
    pub(crate) data: usize,
}

/// Pointers of the host, by their address, whose data are on one device.
#[derive(Debug, Default)]
pub(crate) struct Early {
    leads: Mutex<Leads>,
    /// How many there are; asked without the lock.
    count: AtomicUsize,
}

#[derive(Debug, Default)]
pub(super) struct Leads {
    by_pointer: BTreeMap<usize, Lead>,
    /// The same as pairs of data and pointer: what leads to a range is found without looking at all others.
    by_data: BTreeSet<(usize, usize)>,
}

impl Early {
    pub(super) fn lock(&self) -> MutexGuard<'_, Leads> {
        self.leads.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Remembers where the pointer at `pointer` leads.
    pub(crate) fn add(&self, pointer: usize, lead: Lead) {
        let mut leads = self.lock();
        if let Some(old) = leads.by_pointer.insert(pointer, lead) {
            leads.by_data.remove(&(old.data, pointer));
        }
        leads.by_data.insert((lead.data, pointer));
        self.count.store(leads.by_pointer.len(), Ordering::Relaxed);
    }

    /// Pointers that lie in a range of the host, with where they lead.
    pub(crate) fn within(&self, begin: usize, size: usize) -> Vec<(usize, Lead)> {
        if self.count.load(Ordering::Relaxed) == 0 || size < POINTER_SIZE {
            return Vec::new();
        }
        let last = begin.saturating_add(size - POINTER_SIZE);
        self.lock().by_pointer.range(begin..=last).map(|(at, lead)| (*at, *lead)).collect()
    }

    /// The data of a range are on the device no more.
    pub(crate) fn forget(&self, data: usize) {
        if self.count.load(Ordering::Relaxed) == 0 {
            return;
        }
        let mut leads = self.lock();
        while let Some(&(_, pointer)) = leads.by_data.range((data, 0)..=(data, usize::MAX)).next() {
            leads.by_data.remove(&(data, pointer));
            leads.by_pointer.remove(&pointer);
        }
        self.count.store(leads.by_pointer.len(), Ordering::Relaxed);
    }

    /// Nothing is on the device any more.
    pub(crate) fn clear(&self) {
        *self.lock() = Leads::default();
        self.count.store(0, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leads_are_found_while_their_data_stay() {
        let early = Early::default();
        let lead = |data: usize| Lead { host: data, device: DevicePtr(data as u64), data };
        early.add(108, lead(0x1000));
        early.add(116, lead(0x2000));
        let found = |early: &Early, begin, size| -> Vec<usize> {
            early.within(begin, size).into_iter().map(|it| it.0).collect()
        };
        assert_eq!(found(&early, 100, 24), [108, 116]);
        assert_eq!(found(&early, 100, 16), [108]);
        assert_eq!(found(&early, 109, 14), [] as [usize; 0]);
        early.forget(0x1000);
        assert_eq!(found(&early, 100, 24), [116]);
        early.add(116, lead(0x3000));
        early.forget(0x2000);
        assert_eq!(found(&early, 100, 24), [116], "it leads elsewhere by now");
        early.clear();
        assert_eq!(found(&early, 100, 24), [] as [usize; 0]);
    }
}
