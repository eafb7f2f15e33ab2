//! Threads that map and unmap the same and overlapping ranges, as regions do.

#[path = "../../src/mapping/shared.rs"]
mod shared;
#[path = "../../src/mapping/table.rs"]
mod table;

use std::collections::BTreeSet;
use std::sync::Arc;

use device::DevicePtr;

use crate::MOST;
use crate::sync::{Job, Mutex, run};
use shared::Shared;
use table::{Counter, Fit, Mapped};

/// A device that remembers what it has given.
#[derive(Default)]
struct Memory(Mutex<(u64, BTreeSet<u64>)>);

impl Memory {
    fn alloc(&self) -> DevicePtr {
        let mut memory = self.0.lock().unwrap();
        memory.0 += 0x1000;
        let at = memory.0;
        memory.1.insert(at);
        DevicePtr(at)
    }

    fn free(&self, at: DevicePtr) {
        assert!(self.0.lock().unwrap().1.remove(&at.0), "freed twice, or never given");
    }

    fn assert_has(&self, at: DevicePtr) {
        let found = self.0.lock().unwrap().1.iter().any(|it| (*it..it + 0x1000).contains(&at.0));
        assert!(found, "a place that is not the device's: {at:?}");
    }
}

/// As a region maps; the place of the data, unless they lie in part elsewhere.
fn acquire(shared: &Shared, memory: &Memory, begin: usize, size: usize) -> Option<DevicePtr> {
    let (mut table, found) = shared.look_up(begin, size);
    if let Some(found) = found {
        if found.fit == Fit::Partial {
            return None;
        }
        table.get_mut(found.key).unwrap().acquire(Counter::Dynamic);
        return Some(found.device);
    }
    let mut mapped = Mapped::new(begin, begin, size, Counter::Dynamic);
    mapped.busy = true;
    table.insert(mapped);
    drop(table);
    let place = memory.alloc();
    shared.settle(begin, |mapped| (mapped.owned, mapped.device) = (place, place));
    Some(place)
}

/// As a region unmaps, copying back what nobody else has.
fn release(shared: &Shared, memory: &Memory, begin: usize, size: usize) {
    let (mut table, found) = shared.look_up(begin, size);
    let key = found.expect("mapped data are still there").key;
    let mapped = table.get_mut(key).unwrap();
    if !mapped.release(Counter::Dynamic, false, true) {
        return;
    }
    mapped.busy = true;
    let place = mapped.device;
    drop(table);
    memory.assert_has(place);
    // Still busy, so nobody has taken a reference meanwhile.
    memory.free(shared.drop_busy(key).unwrap().owned);
}

fn check(ranges: &[(usize, usize)]) {
    let tried = run(MOST, || {
        let (shared, memory) = (Arc::new(Shared::default()), Arc::new(Memory::default()));
        let job = |(begin, size): (usize, usize)| -> Job {
            let (shared, memory) = (Arc::clone(&shared), Arc::clone(&memory));
            Box::new(move || {
                if let Some(place) = acquire(&shared, &memory, begin, size) {
                    memory.assert_has(place);
                    release(&shared, &memory, begin, size);
                }
            })
        };
        (ranges.len(), ranges.iter().copied().map(job).collect())
    });
    assert!(tried.as_ref().is_ok_and(|it| *it > 100), "{tried:?}");
}

#[test]
fn one_range_of_three_threads() {
    check(&[(0x100, 8), (0x100, 8), (0x100, 8)]);
}

#[test]
fn ranges_inside_and_across_each_other() {
    check(&[(0x100, 16), (0x104, 4), (0x108, 16)]);
}
