//! Which memory of a device is handed out, and which is kept for the next who asks.
//!
//! Asking the driver for memory takes longer than a small kernel runs, and giving it back waits for
//! everything that runs. So small blocks are cut from chunks, blocks that come back are kept by size,
//! and only what is large beyond a limit goes back at once. [`Heap`] does not call the driver:
//! [`Heap::take`] says what to ask for, [`Heap::put`] what to give back; [`block`] and [`free`] do so, of a [`Source`].

use std::collections::BTreeMap;

use crate::{DeviceError, Result};

/// What the driver is asked for where small blocks are to be cut.
pub(crate) const CHUNK: usize = 4 << 20;
/// Blocks up to this size are.
const SMALL: usize = CHUNK / 16;
/// Blocks begin at multiples of this, as the driver's do.
pub(crate) const GRAIN: usize = 256;
/// Blocks of this size and more are multiples of it: the GPU's pages.
const PAGE: usize = 2 << 20;

/// Whose memory a block is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// A piece of a chunk, which is never given back.
    Chunk,
    /// The driver's, of the device.
    Device,
    /// The driver's, of the host.
    Host,
    /// The driver's, moving between both.
    Shared,
}

/// A block that is handed out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Block {
    pub(crate) size: usize,
    pub(crate) origin: Origin,
}

/// What to do for a new block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// Here it is.
    At(u64),
    /// Ask the driver for a chunk, hand it over with [`Heap::add_chunk`], ask again.
    NeedsChunk,
    /// Ask the driver for so many bytes, hand them over with [`Heap::add`].
    Needs(usize),
}

/// The memory of a device.
#[derive(Debug)]
pub(crate) struct Heap {
    /// Handed out, by address.
    used: BTreeMap<u64, Block>,
    /// Kept, by size: pieces of chunks.
    small: BTreeMap<usize, Vec<u64>>,
    /// Kept, by size: blocks of the driver's.
    large: BTreeMap<usize, Vec<u64>>,
    /// Bytes in `large`.
    kept: usize,
    /// So many bytes at most are kept there.
    limit: usize,
    /// What is left of the newest chunk.
    rest: (u64, usize),
}

impl Heap {
    /// A heap that keeps so much memory at most.
    pub(crate) fn new(limit: usize) -> Heap {
        Heap {
            used: BTreeMap::new(),
            small: BTreeMap::new(),
            large: BTreeMap::new(),
            kept: 0,
            limit,
            rest: (0, 0),
        }
    }

    /// A block of `bytes`.
    pub(crate) fn take(&mut self, bytes: usize) -> Found {
        let size = rounded(bytes);
        // One that is larger by an eighth will do.
        let fitting = size..=size.saturating_add(size / 8);
        if size > SMALL {
            let found = first_of(self.large.range_mut(fitting));
            let Some((size, at)) = found else { return Found::Needs(size) };
            self.kept -= size;
            self.used.insert(at, Block { size, origin: Origin::Device });
            return Found::At(at);
        }
        let (size, at) = match first_of(self.small.range_mut(fitting)) {
            Some(found) => found,
            None => {
                let (at, left) = self.rest;
                if left < size {
                    return Found::NeedsChunk;
                }
                self.rest = (at + size as u64, left - size);
                (size, at)
            }
        };
        self.used.insert(at, Block { size, origin: Origin::Chunk });
        Found::At(at)
    }

    /// A chunk that the driver has given.
    pub(crate) fn add_chunk(&mut self, at: u64) {
        let (old, left) = self.rest;
        if left > 0 {
            self.small.entry(left).or_default().push(old);
        }
        self.rest = (at, CHUNK);
    }

    /// Memory that the driver has given and that is handed out.
    pub(crate) fn add(&mut self, at: u64, size: usize, origin: Origin) {
        self.used.insert(at, Block { size, origin });
    }

    /// Takes a block back; an answer is to be given to the driver.
    pub(crate) fn put(&mut self, at: u64) -> Option<(u64, Origin)> {
        let block = self.used.remove(&at)?;
        match block.origin {
            Origin::Chunk => self.small.entry(block.size).or_default().push(at),
            Origin::Device if block.size <= self.limit - self.kept => {
                self.kept += block.size;
                self.large.entry(block.size).or_default().push(at);
            }
            Origin::Device | Origin::Host | Origin::Shared => return Some((at, block.origin)),
        }
        None
    }

    /// All memory that is kept and can be given back: it is wanted elsewhere.
    pub(crate) fn drain(&mut self) -> Vec<u64> {
        self.kept = 0;
        std::mem::take(&mut self.large).into_values().flatten().collect()
    }

    /// Whether an address lies in a block that is handed out.
    pub(crate) fn has(&self, at: u64) -> bool {
        let below = self.used.range(..=at).next_back();
        below.is_some_and(|(begin, block)| at - begin < block.size as u64)
    }
}

/// Where the memory of a heap comes from.
pub(crate) trait Source {
    /// Does something with the heap while nobody else does.
    fn with_heap<T>(&self, act: impl FnOnce(&mut Heap) -> T) -> T;

    /// Memory of the driver's, of so many bytes; `None` if it has none left.
    fn ask(&self, bytes: usize) -> Result<Option<u64>>;

    /// Gives memory back to the driver that nothing uses any more.
    fn give_back(&self, at: u64, origin: Origin) -> Result<()>;

    /// Waits for all that may still use memory that was put back into the heap.
    fn settle(&self) -> Result<()>;
}

/// A block of the device's own memory; what is only kept is given up for it if need be.
pub(crate) fn block(source: &impl Source, bytes: usize) -> Result<u64> {
    loop {
        match source.with_heap(|it| it.take(bytes)) {
            Found::At(at) => return Ok(at),
            Found::NeedsChunk => match source.ask(CHUNK)? {
                Some(at) => source.with_heap(|it| it.add_chunk(at)),
                // A little may be left of what a chunk needs all of.
                None => return alone(source, bytes, rounded(bytes)),
            },
            Found::Needs(size) => return alone(source, bytes, size),
        }
    }
}

/// A block that is the driver's as a whole.
fn alone(source: &impl Source, bytes: usize, size: usize) -> Result<u64> {
    let mut found = source.ask(size)?;
    if found.is_none() {
        let kept = source.with_heap(Heap::drain);
        if !kept.is_empty() {
            source.settle()?;
            kept.into_iter().try_for_each(|it| source.give_back(it, Origin::Device))?;
            found = source.ask(size)?;
        }
    }
    let at = found.ok_or(DeviceError::OutOfMemory { bytes })?;
    source.with_heap(|it| it.add(at, size, Origin::Device));
    Ok(at)
}

/// Takes a block back. The next who gets it comes after all that still uses it.
pub(crate) fn free(source: &impl Source, at: u64) -> Result<()> {
    match source.with_heap(|it| it.put(at)) {
        None => Ok(()),
        Some((at, origin)) => {
            source.settle()?;
            source.give_back(at, origin)
        }
    }
}

/// The first block of these sizes.
fn first_of<'a>(
    lists: impl Iterator<Item = (&'a usize, &'a mut Vec<u64>)>,
) -> Option<(usize, u64)> {
    lists.into_iter().find_map(|(size, list)| list.pop().map(|at| (*size, at)))
}

/// What a block of so many bytes takes: sizes have steps of an eighth at most, so that a block fits
/// the next who asks for about as much.
fn rounded(bytes: usize) -> usize {
    let step = match bytes {
        0..=2048 => GRAIN,
        2049..PAGE => (bytes.next_power_of_two() / 16).max(GRAIN),
        PAGE.. => PAGE,
    };
    bytes.max(1).checked_next_multiple_of(step).unwrap_or(bytes)
}

#[cfg(test)]
mod tests {
    use std::cell::{Cell, RefCell};

    use super::*;

    /// A heap with its first chunk, at an address that tells.
    fn heap() -> Heap {
        let mut heap = Heap::new(64 << 20);
        assert_eq!(heap.take(10), Found::NeedsChunk);
        heap.add_chunk(0x1000_0000);
        heap
    }

    #[test]
    fn blocks_do_not_overlap_and_come_back() {
        let mut heap = heap();
        let (Found::At(first), Found::At(second)) = (heap.take(4096), heap.take(100)) else {
            panic!("the chunk has room");
        };
        assert!(second >= first + 4096 && second % GRAIN as u64 == 0);
        assert!(heap.has(first) && heap.has(first + 4095) && heap.has(second + 99));
        assert_eq!(heap.put(first), None);
        assert!(!heap.has(first));
        assert_eq!(heap.take(4000), Found::At(first), "what came back goes out again");
        assert_eq!(heap.put(0x77), None, "what was not handed out is not taken back");
    }

    #[test]
    fn a_chunk_that_is_too_small_by_now_is_not_lost() {
        let mut heap = heap();
        let mut count = 0;
        while let Found::At(_) = heap.take(200_000) {
            count += 1;
        }
        assert!(count >= 16, "{count}");
        let (at, left) = heap.rest;
        assert!(left > 0);
        heap.add_chunk(0x2000_0000);
        assert_eq!(heap.take(left / 8 * 7), Found::At(at), "its rest is a block");
    }

    #[test]
    fn large_blocks_are_kept_up_to_the_limit() {
        let mut heap = heap();
        let Found::Needs(size) = heap.take(40 << 20) else { panic!("too large for a chunk") };
        heap.add(0x4000_0000, size, Origin::Device);
        heap.add(0x8000_0000, size, Origin::Device);
        assert_eq!(heap.put(0x4000_0000), None);
        assert_eq!(heap.put(0x8000_0000), Some((0x8000_0000, Origin::Device)), "beyond the limit");
        assert_eq!(heap.take(20 << 20), Found::Needs(20 << 20), "twice as large does not fit");
        assert_eq!(heap.take(38 << 20), Found::At(0x4000_0000), "a little larger does");
        assert_eq!(heap.put(0x4000_0000), None);
        assert_eq!(heap.drain(), [0x4000_0000]);
        assert_eq!(heap.take(40 << 20), Found::Needs(size), "nothing is kept any more");
    }

    #[test]
    fn memory_of_another_kind_goes_back_at_once() {
        let mut heap = heap();
        heap.add(0x5000, 4096, Origin::Host);
        assert_eq!(heap.put(0x5000), Some((0x5000, Origin::Host)));
    }

    /// A driver with so many bytes.
    struct Small {
        heap: RefCell<Heap>,
        left: Cell<usize>,
        sizes: RefCell<BTreeMap<u64, usize>>,
        calls: RefCell<Vec<&'static str>>,
    }

    impl Source for Small {
        fn with_heap<T>(&self, act: impl FnOnce(&mut Heap) -> T) -> T {
            act(&mut self.heap.borrow_mut())
        }

        fn ask(&self, bytes: usize) -> Result<Option<u64>> {
            if bytes > self.left.get() {
                return Ok(None);
            }
            self.left.set(self.left.get() - bytes);
            let at = (self.sizes.borrow().len() as u64 + 1) << 32;
            self.sizes.borrow_mut().insert(at, bytes);
            self.calls.borrow_mut().push("ask");
            Ok(Some(at))
        }

        fn give_back(&self, at: u64, _: Origin) -> Result<()> {
            self.left.set(self.left.get() + self.sizes.borrow()[&at]);
            self.calls.borrow_mut().push("back");
            Ok(())
        }

        fn settle(&self) -> Result<()> {
            self.calls.borrow_mut().push("settle");
            Ok(())
        }
    }

    fn small(bytes: usize) -> Small {
        Small {
            heap: RefCell::new(Heap::new(64 << 20)),
            left: Cell::new(bytes),
            sizes: RefCell::default(),
            calls: RefCell::default(),
        }
    }

    #[test]
    fn what_is_kept_is_given_up_under_pressure_when_nothing_uses_it() {
        let source = small(100 << 20);
        let first = block(&source, 50 << 20).unwrap();
        free(&source, first).unwrap();
        assert_eq!(block(&source, 50 << 20).unwrap(), first, "kept for the next");
        free(&source, first).unwrap();
        assert_eq!(*source.calls.borrow(), ["ask"]);
        assert_ne!(block(&source, 80 << 20).unwrap(), first);
        assert_eq!(*source.calls.borrow(), ["ask", "settle", "back", "ask"]);
        let error = block(&source, 30 << 20).unwrap_err();
        assert_eq!(error, DeviceError::OutOfMemory { bytes: 30 << 20 });
    }

    #[test]
    fn little_memory_is_enough_for_small_blocks() {
        let source = small(CHUNK - 1);
        let at = block(&source, 100).unwrap();
        assert_ne!(block(&source, 100).unwrap(), at);
        assert_eq!(block(&source, CHUNK), Err(DeviceError::OutOfMemory { bytes: CHUNK }));
    }

    #[test]
    fn what_goes_back_to_the_driver_is_not_in_use() {
        let source = small(1 << 30);
        let at = block(&source, 65 << 20).unwrap();
        free(&source, at).unwrap();
        assert_eq!(*source.calls.borrow(), ["ask", "settle", "back"], "more than is kept");
    }

    #[test]
    fn sizes_waste_little_and_never_shrink() {
        for bytes in [1, 255, 256, 257, 2048, 2049, 5000, 100_000, SMALL + 1, PAGE - 1, PAGE + 1] {
            let size = rounded(bytes);
            assert!(size >= bytes && size.is_multiple_of(GRAIN), "{bytes}: {size}");
            assert!(size <= bytes + bytes / 8 + GRAIN || size <= bytes + PAGE, "{bytes}: {size}");
        }
        assert_eq!(rounded(usize::MAX), usize::MAX, "too much stays too much");
    }
}
