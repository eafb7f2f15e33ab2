//! Regions whose data are all on the device: one look at the table when they begin, one when they end.
//!
//! Nothing is copied, made or attached for such a region; its entries are only counted. What is not as
//! plain as that takes the walks of [`super::begin`] and [`super::end`].

use abi::MapType;
use smallvec::SmallVec;

use crate::args::{Item, MapArgs};
use crate::mapping::{Cx, counter};
use crate::table::{Counter, Fit, Mapped, Table};

/// Entries that are counted.
#[derive(Debug, Default)]
pub(crate) struct Present {
    /// Where each entry of the call lies on the device; 0 if it is not mapped.
    pub(crate) places: SmallVec<[u64; 16]>,
    /// The keys of their ranges, and which count each has.
    held: SmallVec<[(usize, Counter); 16]>,
}

/// What needs more than a count.
const MORE: MapType = MapType(
    MapType::ALWAYS.0
        | MapType::DELETE.0
        | MapType::PTR_AND_OBJ.0
        | MapType::RETURN_PARAM.0
        | MapType::ATTACH.0
        | MapType::DETACH.0
        | MapType::UNCOUNTED.0
        | MapType::NON_CONTIG.0,
);

impl Present {
    /// Counts all entries of a call, if each is there wholly; else nothing is done, and the answer is false.
    pub(crate) fn acquire(&mut self, cx: &Cx<'_>, args: &MapArgs) -> bool {
        let is_watched = cx.watch.is_on() || cx.watch.has_tools();
        if is_watched || cx.later.is_some() || cx.device.shares_memory || cx.device.is_ancestor {
            return false;
        }
        // Regions without maps do not look.
        let mut table = None;
        for (_, item) in args.items() {
            if item.is_unmapped() {
                self.places.push(0);
                continue;
            }
            let table = table.get_or_insert_with(|| cx.device.mapping.lock());
            let Some(place) = self.hold(table, &item) else {
                self.let_go(table);
                return false;
            };
            self.places.push(place);
        }
        true
    }

    /// Counts an entry; answers where it lies.
    fn hold(&mut self, table: &mut Table, item: &Item) -> Option<u64> {
        let is_plain = item.mapper.is_none() && !item.map.has_any(MORE);
        if !is_plain || item.map.parent().is_some() || item.begin == 0 || item.size == 0 {
            return None;
        }
        // Mostly it is looked for from its begin.
        let end = item.begin.saturating_add(item.size);
        if let Some(mapped) = table.get_mut(item.begin).filter(|it| end <= it.end) {
            return self.count(mapped, item);
        }
        let (mapped, fit) = table.find_mut(item.begin, item.size)?;
        if fit == Fit::Contained { self.count(mapped, item) } else { None }
    }

    fn count(&mut self, mapped: &mut Mapped, item: &Item) -> Option<u64> {
        if mapped.busy || mapped.staged {
            return None;
        }
        let counter = counter(item.map);
        mapped.acquire(counter);
        self.held.push((mapped.begin, counter));
        Some(mapped.translate(item.begin).0)
    }

    /// Ends it; false if somebody has let go of some data meanwhile, so that they go with this region: nothing
    /// was done then.
    pub(crate) fn release(&self, cx: &Cx<'_>) -> bool {
        if self.held.is_empty() {
            return true;
        }
        let mut table = cx.device.mapping.lock();
        for (done, (key, counter)) in self.held.iter().enumerate() {
            let mapped = table.get_mut(*key).filter(|it| !it.busy && !it.staged);
            let Some(mapped) = mapped.filter(|it| !it.is_fresh() && it.count(*counter) > 0) else {
                for (key, counter) in self.held.iter().take(done) {
                    if let Some(mapped) = table.get_mut(*key) {
                        mapped.acquire(*counter);
                    }
                }
                return false;
            };
            mapped.release(*counter, false, true);
        }
        true
    }

    /// Undoes it.
    fn let_go(&self, table: &mut Table) {
        for (key, counter) in &self.held {
            if let Some(mapped) = table.get_mut(*key) {
                mapped.release(*counter, false, true);
            }
        }
    }
}
