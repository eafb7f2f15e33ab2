//! Which host ranges a device knows, and how often each is held: the table itself.
//!
//! Ordered by host address, so a look-up costs the logarithm of the number of mappings. Ranges never
//! overlap. Each has two counts, of which one may be infinite; it leaves when both are zero.
//!
//! Pure: no device, no lock, no clock. Locks and copies are in [`super`].

use std::collections::BTreeMap;
use std::ops::Bound;

use device::DevicePtr;

use crate::args::Name;
use crate::graph::Ticket;

/// A count that neither grows nor shrinks: variables of the program, associated pointers.
pub(crate) const INFINITE: u64 = u64::MAX;

/// Which of the two counts is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Counter {
    /// Everything but the next; `delete` resets it.
    Dynamic,
    /// Structured regions that promise the data to stay.
    Hold,
}

/// One mapped range.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mapped {
    /// Where the object begins that the range is part of.
    pub(crate) base: usize,
    /// First byte on the host.
    pub(crate) begin: usize,
    /// One past the last byte.
    pub(crate) end: usize,
    /// What to give back to the device when the range leaves; null if nothing.
    pub(crate) owned: DevicePtr,
    /// Where `begin` lies on the device.
    pub(crate) device: DevicePtr,
    pub(crate) dynamic: u64,
    pub(crate) hold: u64,
    /// The device has the data by itself: nothing is copied because they come or go.
    pub(crate) is_original: bool,
    /// A thread is copying or allocating: others wait and look again.
    pub(crate) busy: bool,
    /// Made by a call that is not through with the table: only its own thread sees it, others wait.
    pub(crate) staged: bool,
    /// The last work of each queue that uses the range without being counted.
    pub(crate) uses: Vec<(i64, Ticket)>,
    /// Pointers inside the range that were made to point to device data, by the host address of the
    /// pointer.
    pub(crate) attached: BTreeMap<usize, Attached>,
    /// As the user wrote it, for reports.
    pub(crate) name: Option<Name>,
}

/// A pointer that was made to point to device data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Attached {
    /// What its device copy holds.
    pub(crate) value: DevicePtr,
    /// How often it was attached and not detached; not less than one.
    pub(crate) count: u32,
}

impl Mapped {
    /// A range with one reference and no place on the device yet.
    pub(crate) fn new(base: usize, begin: usize, size: usize, counter: Counter) -> Mapped {
        let (dynamic, hold) = match counter {
            Counter::Dynamic => (1, 0),
            Counter::Hold => (0, 1),
        };
        Mapped {
            base,
            begin,
            end: begin.saturating_add(size),
            owned: DevicePtr::NULL,
            device: DevicePtr::NULL,
            dynamic,
            hold,
            is_original: false,
            busy: false,
            staged: false,
            uses: Vec::new(),
            attached: BTreeMap::new(),
            name: None,
        }
    }

    /// A range that stays whatever the program says: the device address is given.
    pub(crate) fn permanent(begin: usize, size: usize, device: DevicePtr) -> Mapped {
        let mapped = Mapped::new(begin, begin, size, Counter::Dynamic);
        Mapped { device, dynamic: INFINITE, ..mapped }
    }

    pub(crate) fn size(&self) -> usize {
        self.end - self.begin
    }

    /// Where a host address, which may lie before the range, is on the device.
    pub(crate) fn translate(&self, host: usize) -> DevicePtr {
        DevicePtr(self.device.0.wrapping_add(host.wrapping_sub(self.begin) as u64))
    }

    pub(crate) fn is_unreferenced(&self) -> bool {
        self.dynamic == 0 && self.hold == 0
    }

    /// Adds a reference.
    pub(crate) fn acquire(&mut self, counter: Counter) {
        let count = self.count_mut(counter);
        *count = count.saturating_add(1);
    }

    /// This is the only reference; so members of a parent made a moment ago still get copied.
    pub(crate) fn is_fresh(&self) -> bool {
        self.dynamic.saturating_add(self.hold) == 1
    }

    /// How many references there are of one kind.
    pub(crate) fn count(&self, counter: Counter) -> u64 {
        match counter {
            Counter::Dynamic => self.dynamic,
            Counter::Hold => self.hold,
        }
    }

    /// Takes a reference away (`update`), or forces the count down first (`delete`); is it the last?
    ///
    /// The answer is about this release even when nothing is counted.
    pub(crate) fn release(&mut self, counter: Counter, delete: bool, update: bool) -> bool {
        let other = match counter {
            Counter::Dynamic => self.hold,
            Counter::Hold => self.dynamic,
        };
        let count = self.count_mut(counter);
        // What this count does not hold, it cannot let go.
        if *count == INFINITE || *count == 0 {
            return false;
        }
        let is_last = other == 0 && (delete || *count == 1);
        if delete {
            *count = 1;
        }
        if update {
            *count = count.saturating_sub(1);
        }
        is_last
    }

    fn count_mut(&mut self, counter: Counter) -> &mut u64 {
        match counter {
            Counter::Dynamic => &mut self.dynamic,
            Counter::Hold => &mut self.hold,
        }
    }
}

/// How a range that was looked up lies to the one that was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fit {
    /// Wholly inside.
    Contained,
    /// They share bytes, but the one looked up reaches beyond.
    Partial,
}

/// All ranges of one device.
#[derive(Debug)]
pub(crate) struct Table {
    /// With one range at the very end that holds nothing, [`LAST`]: most programs have few ranges at a
    /// time, and a tree that is never empty does not give its memory back between them.
    ranges: BTreeMap<usize, Mapped>,
}

/// Where no object of a program begins.
const LAST: usize = usize::MAX;

impl Default for Table {
    fn default() -> Table {
        let last = Mapped::permanent(LAST, 0, DevicePtr::NULL);
        Table { ranges: BTreeMap::from([(LAST, last)]) }
    }
}

impl Table {
    /// The range that holds, or shares bytes with, `size` bytes at `at`.
    ///
    /// With no bytes the base counts too: `&a[0]` finds a mapping of `a[5:3]`.
    pub(crate) fn find(&self, at: usize, size: usize) -> Option<(&Mapped, Fit)> {
        let end = at.saturating_add(size);
        if size > 0 {
            // Mostly one look tells: the last range that begins before the end of these bytes.
            let last = self.ranges.range(..end).next_back().map(|(_, it)| it);
            let last = last.filter(|it| it.end > at)?;
            if last.begin <= at {
                let fit = if end <= last.end { Fit::Contained } else { Fit::Partial };
                return Some((last, fit));
            }
        }
        let below = self.ranges.range(..=at).next_back().map(|(_, it)| it);
        let above = || self.ranges.range((Bound::Excluded(at), Bound::Unbounded)).next();
        if size == 0 {
            let below = below.filter(|it| at < it.end || at < it.base);
            let found = below.or_else(|| above().map(|(_, it)| it).filter(|it| at >= it.base));
            return found.map(|it| (it, Fit::Contained));
        }
        if let Some(below) = below.filter(|it| at < it.end) {
            return Some((below, if end <= below.end { Fit::Contained } else { Fit::Partial }));
        }
        let above = above().map(|(_, it)| it).filter(|it| end > it.begin);
        above.map(|it| (it, Fit::Partial))
    }

    /// The same, to be changed.
    pub(crate) fn find_mut(&mut self, at: usize, size: usize) -> Option<(&mut Mapped, Fit)> {
        let (key, fit) = self.find(at, size).map(|(it, fit)| (it.begin, fit))?;
        self.ranges.get_mut(&key).map(|it| (it, fit))
    }

    /// The range that begins exactly here.
    pub(crate) fn get_mut(&mut self, begin: usize) -> Option<&mut Mapped> {
        self.ranges.get_mut(&begin)
    }

    /// Puts a range in; the caller has looked and found that it overlaps none.
    pub(crate) fn insert(&mut self, mapped: Mapped) {
        self.ranges.insert(mapped.begin, mapped);
    }

    pub(crate) fn remove(&mut self, begin: usize) -> Option<Mapped> {
        self.ranges.remove(&begin)
    }

    /// All ranges, in the order of their addresses.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Mapped> {
        self.ranges.range(..LAST).map(|(_, it)| it)
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Mapped> {
        self.ranges.range_mut(..LAST).map(|(_, it)| it)
    }
}

#[cfg(test)]
#[path = "table_tests.rs"]
mod tests;
