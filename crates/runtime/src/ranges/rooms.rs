//! Variables of the program that an image has room for although no directive declares them: functions
//! of the image use them by name. Mapping such a variable takes that room instead of new memory.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use device::DevicePtr;

/// Rooms of one device, by host address: bytes, and where.
#[derive(Debug, Default)]
pub(crate) struct Rooms {
    rooms: Mutex<BTreeMap<usize, (usize, DevicePtr)>>,
    /// How many there are; asked without the lock.
    count: AtomicUsize,
}

impl Rooms {
    pub(super) fn lock(&self) -> MutexGuard<'_, BTreeMap<usize, (usize, DevicePtr)>> {
        self.rooms.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn add(&self, host: usize, size: usize, device: DevicePtr) {
        let mut rooms = self.lock();
        rooms.insert(host, (size, device));
        self.count.store(rooms.len(), Ordering::Relaxed);
    }

    pub(crate) fn remove(&self, host: usize) {
        let mut rooms = self.lock();
        rooms.remove(&host);
        self.count.store(rooms.len(), Ordering::Relaxed);
    }

    /// The room for these bytes, if they are all of one variable.
    pub(crate) fn find(&self, host: usize, size: usize) -> Option<DevicePtr> {
        if self.count.load(Ordering::Relaxed) == 0 {
            return None;
        }
        let rooms = self.lock();
        let (begin, (bytes, device)) = rooms.range(..=host).next_back()?;
        let offset = host - begin;
        let fits = offset.checked_add(size).is_some_and(|end| end <= *bytes);
        fits.then(|| device.offset(offset))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_a_variable_have_their_place_in_its_room() {
        let rooms = Rooms::default();
        assert_eq!(rooms.find(100, 4), None);
        rooms.add(100, 40, DevicePtr(0x1000));
        assert_eq!(rooms.find(100, 40), Some(DevicePtr(0x1000)));
        assert_eq!(rooms.find(108, 32), Some(DevicePtr(0x1008)));
        assert_eq!(rooms.find(108, 33), None);
        assert_eq!(rooms.find(99, 4), None);
        rooms.remove(100);
        assert_eq!(rooms.find(100, 4), None);
    }
}
