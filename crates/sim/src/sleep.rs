//! When each core has its turn, and who sleeps.

use crate::config::MOST_CORES;
use crate::hart::key;

/// Beyond every key.
pub(crate) const NOBODY: u64 = u64::MAX;

/// Room for all cores and the one that is nobody; a power of two, so that a mask keeps indices inside.
const ROOM: usize = 128;
const _: () = assert!((MOST_CORES as usize) < ROOM);

/// Keys of the cores that are awake and do not run just now.
#[derive(Clone, Debug)]
pub(crate) struct Sleepers {
    /// The earliest last; before all of them stands [`NOBODY`].
    queue: [u64; ROOM],
    /// The place of the last one.
    last: usize,
    /// What each core is told when it wakes.
    values: Vec<u32>,
    /// Whether another core than the one that runs may have its turn sooner than was thought.
    pub(crate) disturbed: bool,
}

#[allow(clippy::indexing_slicing, reason = "a mask keeps the index in the array")]
impl Sleepers {
    pub(crate) fn new(cores: u32) -> Sleepers {
        let values = vec![0; cores as usize];
        Sleepers { queue: [NOBODY; ROOM], last: 0, values, disturbed: false }
    }

    /// Nobody is awake.
    pub(crate) fn clear(&mut self) {
        self.last = 0;
    }

    /// A core that was not in the queue.
    #[inline(always)]
    pub(crate) fn insert(&mut self, key: u64) {
        self.last = (self.last + 1) % ROOM;
        let mut at = self.last;
        // Most often it has become the latest of all, but they are few.
        while self.queue[at.wrapping_sub(1) % ROOM] < key {
            self.queue[at % ROOM] = self.queue[at.wrapping_sub(1) % ROOM];
            at -= 1;
        }
        self.queue[at % ROOM] = key;
    }

    /// Takes out the first; [`NOBODY`] stays.
    #[inline(always)]
    pub(crate) fn take(&mut self) -> u64 {
        let first = self.queue[self.last % ROOM];
        self.last = self.last.saturating_sub(1);
        first
    }

    /// The key of who is next.
    #[inline(always)]
    pub(crate) fn first(&self) -> u64 {
        self.queue[self.last % ROOM]
    }

    pub(crate) fn wake(&mut self, core: u32, time: u64, value: u32) {
        self.insert(key(time, core));
        if let Some(it) = self.values.get_mut(core as usize) {
            *it = value;
        }
        self.disturbed = true;
    }

    pub(crate) fn value(&self, core: usize) -> u32 {
        self.values.get(core).copied().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_earliest_is_first_and_nobody_is_last() {
        let mut sleepers = Sleepers::new(64);
        assert_eq!(sleepers.take(), NOBODY);
        for time in [5, 3, 9, 1, 7] {
            sleepers.insert(key(time, 2));
        }
        sleepers.wake(3, 4, 42);
        let mut taken = Vec::new();
        while sleepers.first() != NOBODY {
            taken.push(sleepers.take() >> 6);
        }
        assert_eq!(taken, [1, 3, 4, 5, 7, 9]);
        assert_eq!(sleepers.value(3), 42);
        for core in 0..64 {
            sleepers.insert(key(10, core));
        }
        assert_eq!(sleepers.first(), 10 << 6, "all cores have room");
    }
}
