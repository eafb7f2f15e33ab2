//! Which memory of a device is handed out, and which is kept for the next who asks.
//!
//! Asking the driver for memory takes longer than a small kernel runs, and giving it back waits for
//! everything that runs. So small blocks are cut from chunks, blocks that come back are kept by size,
//! and only what is large beyond a limit goes back at once. Nothing here calls the driver:
//! [`Heap::take`] says what to ask for, [`Heap::put`] what to give back.

use std::collections::BTreeMap;

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
