//! When each core has its turn, and who sleeps.

use crate::hart::key;

/// The key of a core that sleeps.
pub(crate) const ASLEEP: u64 = u64::MAX;

#[derive(Clone, Debug)]
pub(crate) struct Sleepers {
    /// The place of each core in the order of time.
    keys: Vec<u64>,
    /// What each is told when it wakes.
    values: Vec<u32>,
    /// Whether another core than the one that runs may have its turn sooner than was thought.
    pub(crate) disturbed: bool,
}

impl Sleepers {
    pub(crate) fn new(cores: u32) -> Sleepers {
        let count = cores as usize;
        Sleepers { keys: vec![ASLEEP; count], values: vec![0; count], disturbed: false }
    }

    pub(crate) fn set(&mut self, core: usize, key: u64) {
        if let Some(it) = self.keys.get_mut(core) {
            *it = key;
        }
    }

    pub(crate) fn wake(&mut self, core: u32, time: u64, value: u32) {
        self.set(core as usize, key(time, core));
        if let Some(it) = self.values.get_mut(core as usize) {
            *it = value;
        }
        self.disturbed = true;
    }

    pub(crate) fn value(&self, core: usize) -> u32 {
        self.values.get(core).copied().unwrap_or(0)
    }

    /// Who is next, its key, and the key of the one behind.
    #[inline(always)]
    pub(crate) fn next(&self) -> (usize, u64, u64) {
        let (mut core, mut first, mut second) = (0, ASLEEP, ASLEEP);
        for (index, &key) in self.keys.iter().enumerate() {
            let is_first = key < first;
            second = if is_first { first } else { second.min(key) };
            core = if is_first { index } else { core };
            first = first.min(key);
        }
        (core, first, second)
    }
}
