//! Threads that map and unmap the same and overlapping ranges, as regions do.

#[path = "../../src/ranges/shared.rs"]
mod shared;

use std::collections::BTreeSet;
use std::sync::Arc;

use device::DevicePtr;

use crate::graph::{Graph, Hire, Key, Reserved};
use crate::sync::{Job, Mutex, run};
use crate::table::{Counter, Fit, Mapped};
use crate::{MOST, worker};
use shared::Shared;

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

/// As a region unmaps, copying back what nobody else has; memory goes when no queue uses it.
fn release(shared: &Shared, memory: &Memory, graph: &Graph<Job>, (begin, size): (usize, usize)) {
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
    let removed = shared.drop_busy(key).unwrap();
    let uses = removed.uses;
    graph.wait(false, |it| uses.iter().any(|(_, ticket)| it.has(*ticket)), || ());
    memory.free(removed.owned);
}

/// As a region in a queue: it maps and unmaps when it is called, and the data are used in its turn.
fn region_in_queue(
    (shared, memory, graph): (&Shared, &Arc<Memory>, &Graph<Job>),
    queue: i64,
    (begin, size): (usize, usize),
) {
    let mut stage = shared.stage();
    let Reserved { ticket, end, .. } = graph.reserve(Key { device: 0, queue });
    let (mut table, found) = shared.look_up(begin, size);
    if let Some(found) = found {
        table.get_mut(found.key).unwrap().acquire(Counter::Dynamic);
        drop(table);
    } else {
        let mut mapped = Mapped::new(begin, begin, size, Counter::Dynamic);
        (mapped.busy, mapped.staged) = (true, true);
        stage.made.push(begin);
        table.insert(mapped);
        drop(table);
        let place = memory.alloc();
        shared.settle(begin, |mapped| (mapped.owned, mapped.device) = (place, place));
    }
    let (mut table, found) = shared.look_up(begin, size);
    let key = found.expect("mapped data are still there").key;
    let mapped = table.get_mut(key).unwrap();
    let place = mapped.device;
    let (mut after, mut owned) = (Vec::from_iter(end), None);
    if mapped.release(Counter::Dynamic, false, true) {
        let removed = table.remove(key).unwrap();
        after.extend(removed.uses.iter().map(|it| it.1));
        owned = Some(removed.owned);
    } else {
        mapped.uses.push((queue, ticket));
    }
    drop(table);
    let memory = Arc::clone(memory);
    let work: Job = Box::new(move || {
        memory.assert_has(place);
        if let Some(owned) = owned {
            memory.free(owned);
        }
    });
    let _hire: Hire = graph.fill(ticket, &after, Some(work));
}

fn check(ranges: &[(usize, usize)]) {
    let tried = run(MOST, || {
        let (shared, memory) = (Arc::new(Shared::default()), Arc::new(Memory::default()));
        let job = |(begin, size): (usize, usize)| -> Job {
            let (shared, memory) = (Arc::clone(&shared), Arc::clone(&memory));
            Box::new(move || {
                if let Some(place) = acquire(&shared, &memory, begin, size) {
                    memory.assert_has(place);
                    release(&shared, &memory, &Graph::new(0), (begin, size));
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

#[test]
fn regions_in_queues_beside_one_in_place() {
    let range = (0x100, 8);
    let tried = run(MOST, || {
        let (shared, memory) = (Arc::new(Shared::default()), Arc::new(Memory::default()));
        let graph = Arc::new(Graph::new(0));
        let in_place: Job = {
            let (shared, memory, graph) =
                (Arc::clone(&shared), Arc::clone(&memory), Arc::clone(&graph));
            Box::new(move || {
                let place = acquire(&shared, &memory, range.0, range.1).unwrap();
                memory.assert_has(place);
                release(&shared, &memory, &graph, range);
            })
        };
        let in_queue = |queue: i64| -> Job {
            let (shared, memory, graph) =
                (Arc::clone(&shared), Arc::clone(&memory), Arc::clone(&graph));
            Box::new(move || {
                region_in_queue((&shared, &memory, &graph), queue, range);
                let ends = graph.ask(|it| it.ends(0, Some(&[queue])));
                graph.wait(false, |it| ends.iter().any(|end| it.has(*end)), || ());
            })
        };
        (3, vec![in_place, in_queue(1), in_queue(2), worker(Arc::clone(&graph))])
    });
    assert!(tried.as_ref().is_ok_and(|it| *it > 100), "{tried:?}");
}
