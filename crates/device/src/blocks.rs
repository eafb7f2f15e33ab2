//! Which parts of a range of memory are taken: a best fit in logarithmic time.
//!
//! Offsets and lengths are multiples of [`GRAIN`]. Neighbouring free blocks are always merged.

use std::collections::{BTreeMap, BTreeSet};

/// What every block is a multiple of.
const GRAIN: usize = 16;

/// The blocks of one range that begins at offset 0.
#[derive(Debug)]
pub(crate) struct Blocks {
    /// Free blocks by offset, and the same by length.
    free: BTreeMap<usize, usize>,
    by_length: BTreeSet<(usize, usize)>,
    taken: BTreeMap<usize, Taken>,
}

/// A block that is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Taken {
    /// All of it.
    pub(crate) bytes: usize,
    /// What was asked for, at its begin.
    pub(crate) asked: usize,
}

impl Blocks {
    pub(crate) fn new(length: usize) -> Blocks {
        let mut blocks =
            Blocks { free: BTreeMap::new(), by_length: BTreeSet::new(), taken: BTreeMap::new() };
        blocks.add_free(0, length - length % GRAIN);
        blocks
    }

    /// Takes `asked` bytes and at least `spare` behind them, aligned to a power of two; `None` if no free
    /// block is large enough.
    pub(crate) fn take(&mut self, asked: usize, spare: usize, align: usize) -> Option<usize> {
        let bytes = asked.checked_add(spare)?.max(1).checked_next_multiple_of(GRAIN)?;
        let align = align.max(GRAIN);
        // Exactly so much is enough where the block is aligned already.
        let fits = |&&(length, offset): &&(usize, usize)| {
            let start = offset.next_multiple_of(align);
            start - offset <= length - bytes
        };
        let least = (bytes, 0);
        let surely = bytes.checked_add(align)?;
        let near = self.by_length.range(least..).take(8).find(fits);
        let found = near.or_else(|| self.by_length.range((surely, 0)..).next()).copied();
        let (length, offset) = found?;
        self.remove_free(offset, length);
        let start = offset.next_multiple_of(align);
        self.add_free(offset, start - offset);
        self.add_free(start + bytes, offset + length - start - bytes);
        self.taken.insert(start, Taken { bytes, asked });
        Some(start)
    }

    /// The block that begins here and is used.
    pub(crate) fn taken(&self, offset: usize) -> Option<Taken> {
        self.taken.get(&offset).copied()
    }

    /// The block that has this byte and is used: where it begins, and how many bytes were asked for.
    pub(crate) fn around(&self, offset: usize) -> Option<(usize, usize)> {
        let (start, taken) = self.taken.range(..=offset).next_back()?;
        (offset - start < taken.asked).then_some((*start, taken.asked))
    }

    /// Gives a block back that begins here; answers its length, `None` if there is none.
    pub(crate) fn give(&mut self, offset: usize) -> Option<usize> {
        let Taken { bytes, .. } = self.taken.remove(&offset)?;
        let (mut start, mut length) = (offset, bytes);
        if let Some((&before, &size)) = self.free.range(..offset).next_back()
            && before + size == offset
        {
            self.remove_free(before, size);
            (start, length) = (before, length + size);
        }
        if let Some(&size) = self.free.get(&(offset + bytes)) {
            self.remove_free(offset + bytes, size);
            length += size;
        }
        self.add_free(start, length);
        Some(bytes)
    }

    fn add_free(&mut self, offset: usize, length: usize) {
        if length > 0 {
            self.free.insert(offset, length);
            self.by_length.insert((length, offset));
        }
    }

    fn remove_free(&mut self, offset: usize, length: usize) {
        self.free.remove(&offset);
        self.by_length.remove(&(length, offset));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_given_back_is_one_block_again() {
        let mut blocks = Blocks::new(1 << 20);
        let taken: Vec<usize> =
            (1..200).map(|it| blocks.take(it * 7, 0, 1 << (it % 9)).unwrap()).collect();
        for (at, offset) in taken.iter().enumerate() {
            assert_eq!(offset % (1 << ((at + 1) % 9)), 0, "aligned");
        }
        let mut ranges: Vec<_> = blocks.taken.iter().map(|(a, b)| (*a, a + b.bytes)).collect();
        ranges.sort_unstable();
        assert!(ranges.windows(2).all(|it| it[0].1 <= it[1].0), "nothing overlaps");
        taken.iter().rev().for_each(|it| assert!(blocks.give(*it).is_some()));
        assert_eq!(blocks.free.into_iter().collect::<Vec<_>>(), [(0, 1 << 20)]);
    }

    #[test]
    fn what_does_not_fit_is_refused_and_nothing_is_lost() {
        let mut blocks = Blocks::new(4096);
        assert_eq!(blocks.take(4097, 0, 16), None);
        assert_eq!(blocks.take(usize::MAX, 0, 16), None);
        assert_eq!(blocks.take(4096, 0, 16), Some(0));
        assert_eq!(blocks.take(1, 0, 16), None);
        assert_eq!(blocks.give(16), None, "no block begins there");
        assert_eq!(blocks.give(0), Some(4096));
        assert_eq!(blocks.take(4096, 0, 4096), Some(0));
    }
}
