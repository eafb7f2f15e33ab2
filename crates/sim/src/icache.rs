//! The instruction cache: which lines are there, and when one that is not will be.
//!
//! Tags only: instructions themselves come from [`crate::code`]. Cores ask when they come to another line. They
//! may ask a few cycles out of order; a line that is on its way is waited for by everybody.

use crate::config::InstructionCache;

#[derive(Clone, Debug)]
pub(crate) struct Cache {
    /// Of each set the lines, and when they arrive.
    ways: Vec<Way>,
    /// The way of each set that is replaced next.
    next: Vec<u32>,
    assoc: usize,
    set_mask: u32,
    miss: u64,
    /// Bits of an address within a line.
    pub(crate) line_bits: u32,
    /// Changes whenever a line is replaced.
    pub(crate) generation: u64,
}

#[derive(Clone, Copy, Debug)]
struct Way {
    line: u32,
    arrives: u64,
}

/// No address has this line: it would be beyond the last one.
const EMPTY: u32 = u32::MAX;

/// Bits of a line where there is no cache and every fetch is a hit.
const WITHOUT_CACHE: u32 = 4;

impl Cache {
    pub(crate) fn new(config: Option<&InstructionCache>) -> Cache {
        let Some(config) = config else {
            let (ways, next) = (Vec::new(), Vec::new());
            let (assoc, line_bits) = (0, WITHOUT_CACHE);
            return Cache { ways, next, assoc, set_mask: 0, miss: 0, line_bits, generation: 0 };
        };
        let sets = config.size / (config.ways * config.line);
        Cache {
            ways: vec![Way { line: EMPTY, arrives: 0 }; (sets * config.ways) as usize],
            next: vec![0; sets as usize],
            assoc: config.ways as usize,
            set_mask: sets - 1,
            miss: u64::from(config.miss),
            line_bits: config.line.trailing_zeros(),
            generation: 0,
        }
    }

    /// Cycles until instructions of this line are there, and whether it had to be fetched.
    #[inline]
    pub(crate) fn fetch(&mut self, line: u32, time: u64) -> (u64, bool) {
        let set = (line & self.set_mask) as usize;
        let first = set * self.assoc;
        let Some(ways) = self.ways.get_mut(first..first + self.assoc) else { return (0, false) };
        if let Some(way) = ways.iter().find(|it| it.line == line) {
            return (way.arrives.saturating_sub(time), false);
        }
        if let (Some(next), false) = (self.next.get_mut(set), ways.is_empty()) {
            if let Some(way) = ways.get_mut(*next as usize) {
                *way = Way { line, arrives: time + self.miss };
                self.generation += 1;
            }
            *next = (*next + 1) % self.assoc as u32;
            return (self.miss, true);
        }
        (0, false)
    }

    pub(crate) fn clear(&mut self) {
        self.ways.fill(Way { line: EMPTY, arrives: 0 });
        self.generation += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cache() -> Cache {
        Cache::new(Some(&InstructionCache { size: 256, ways: 2, line: 16, miss: 20 }))
    }

    #[test]
    fn a_line_is_fetched_once_and_waited_for_by_all() {
        let mut cache = cache();
        assert_eq!(cache.fetch(7, 100), (20, true));
        assert_eq!(cache.fetch(7, 105), (15, false), "it is on its way");
        assert_eq!(cache.fetch(7, 120), (0, false));
        cache.clear();
        assert_eq!(cache.fetch(7, 200), (20, true));
    }

    #[test]
    fn a_set_holds_as_many_lines_as_it_has_ways() {
        let mut cache = cache();
        for line in [0, 8, 16] {
            assert!(cache.fetch(line, 0).1);
        }
        assert_eq!(cache.fetch(8, 50), (0, false));
        assert!(cache.fetch(0, 50).1, "the oldest was replaced");
    }

    #[test]
    fn without_a_cache_every_fetch_is_a_hit() {
        assert_eq!(Cache::new(None).fetch(1, 0), (0, false));
    }
}
