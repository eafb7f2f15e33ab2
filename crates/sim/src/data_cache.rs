//! Data caches: each core has its own copies of lines of the accelerator's memory, and nobody tells it of other cores' writes.
//!
//! A write-back cache keeps what is written until the line is flushed or makes room for another, and writes back whole lines; a
//! write-through cache writes at once and keeps old copies. Programs write back and invalidate by registers of the core. With checks on, an
//! access that would see or lose what another core has written is a fault: a flush that is missing, a line that two cores write.

use crate::config::{self, WritePolicy};
use crate::fault::FaultKind;
use crate::shared::Memory;

/// What a core asks of its cache for some bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Flush {
    pub(crate) writes_back: bool,
    pub(crate) invalidates: bool,
}

/// A copy of a line.
#[derive(Clone, Debug)]
struct Line {
    address: u64,
    bytes: Vec<u8>,
    /// A bit for each byte that was written and is not in memory.
    dirty: u128,
    /// When it was used last.
    used: u64,
}

#[derive(Clone, Debug, Default)]
struct Cache {
    /// `ways` places for each set.
    places: Vec<Option<Line>>,
    uses: u64,
}

/// The caches of all cores.
#[derive(Clone, Debug)]
pub(crate) struct DataCaches {
    cores: Vec<Cache>,
    line: u64,
    ways: usize,
    sets: u64,
    policy: WritePolicy,
    /// Cycles for a line to come or go, beside the latency of the memory.
    transfer: u64,
    pub(crate) is_checked: bool,
}

/// What an access has asked of memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Cost {
    /// Waits for memory.
    pub(crate) misses: u32,
    /// Lines and words that go there; nobody waits for them.
    pub(crate) writes: u32,
}

impl DataCaches {
    pub(crate) fn new(config: &config::DataCache, cores: u32) -> DataCaches {
        let sets = config.size / config.line / config.ways;
        let cache = || Cache { places: vec![None; (sets * config.ways) as usize], uses: 0 };
        DataCaches {
            cores: (0..cores).map(|_| cache()).collect(),
            line: u64::from(config.line),
            ways: config.ways as usize,
            sets: u64::from(sets),
            policy: config.policy,
            transfer: u64::from(config.transfer),
            is_checked: false,
        }
    }

    /// Cycles of a line on its way.
    pub(crate) fn transfer(&self) -> u64 {
        self.transfer
    }

    pub(crate) fn clear(&mut self) {
        self.cores.iter_mut().flat_map(|it| &mut it.places).for_each(|it| *it = None);
    }

    /// The pieces of an access, by lines: address, offset in the access, length.
    fn pieces(
        &self,
        address: u64,
        len: usize,
    ) -> impl Iterator<Item = (u64, usize, usize)> + use<> {
        let line = self.line;
        let mut at = 0;
        std::iter::from_fn(move || {
            let begin = address + at as u64;
            let room = usize::try_from(line - begin % line).unwrap_or(len);
            let count = room.min(len - at);
            let piece = (count > 0).then_some((begin, at, count));
            at += count;
            piece
        })
    }

    fn find(&self, core: u32, line: u64) -> Option<&Line> {
        let set = usize::try_from(line / self.line % self.sets).ok()? * self.ways;
        let places = self.cores.get(core as usize)?.places.get(set..set + self.ways)?;
        places.iter().flatten().find(|it| it.address == line)
    }

    /// Bits of the bytes of a line.
    fn bits(&self, address: u64, len: usize) -> u128 {
        let all = if len >= 128 { u128::MAX } else { (1 << len) - 1 };
        all << (address % self.line)
    }

    /// Another core that has written these bytes, or any of the line, and has not written them back.
    fn other_writer(&self, core: u32, address: u64, bits: u128) -> Option<u32> {
        let line = address - address % self.line;
        let others = (0..self.cores.len() as u32).filter(|it| *it != core);
        others.into_iter().find(|it| self.find(*it, line).is_some_and(|it| it.dirty & bits != 0))
    }

    /// The core's copy of a line; comes from memory if it has none.
    fn copy_of(
        &mut self,
        memory: &mut Memory,
        core: u32,
        line: u64,
        cost: &mut Cost,
    ) -> Option<&mut Line> {
        let (ways, size) = (self.ways, self.line as usize);
        let set = usize::try_from(line / self.line % self.sets).ok()? * ways;
        let cache = self.cores.get_mut(core as usize)?;
        cache.uses += 1;
        let uses = cache.uses;
        let places = cache.places.get_mut(set..set + ways)?;
        let is_it = |it: &Option<Line>| it.as_ref().is_some_and(|it| it.address == line);
        let at = match places.iter().position(is_it) {
            Some(at) => at,
            None => {
                let age = |it: &Option<Line>| it.as_ref().map_or(0, |it| it.used);
                let at = (0..ways).min_by_key(|it| places.get(*it).map_or(0, age))?;
                let place = places.get_mut(at)?;
                if let Some(old) = place.take().filter(|it| it.dirty != 0) {
                    write_back(memory, &old);
                    cost.writes += 1;
                }
                let bytes = memory.get(line, size)?.to_vec();
                cost.misses += 1;
                *place = Some(Line { address: line, bytes, dirty: 0, used: 0 });
                at
            }
        };
        let found = places.get_mut(at)?.as_mut()?;
        found.used = uses;
        Some(found)
    }

    pub(crate) fn load(
        &mut self,
        memory: &mut Memory,
        core: u32,
        address: u64,
        into: &mut [u8],
    ) -> Result<Cost, FaultKind> {
        let mut cost = Cost::default();
        for (address, at, count) in self.pieces(address, into.len()) {
            let (line, bits) = (address - address % self.line, self.bits(address, count));
            if self.is_checked
                && let Some(writer) = self.other_writer(core, address, bits)
            {
                return Err(FaultKind::NotFlushed { address, writer });
            }
            let is_checked = self.is_checked;
            let Some(copy) = self.copy_of(memory, core, line, &mut cost) else { continue };
            let begin = (address - line) as usize;
            let own = copy.bytes.get(begin..begin + count).unwrap_or_default();
            let now = memory.get(address, count).unwrap_or_default();
            let is_old =
                own.iter().zip(now).enumerate().any(|(offset, (own, now))| {
                    own != now && copy.dirty >> (begin + offset) & 1 == 0
                });
            if is_checked && is_old {
                return Err(FaultKind::OldCopy { address });
            }
            if let Some(into) = into.get_mut(at..at + count) {
                into.copy_from_slice(own);
            }
        }
        Ok(cost)
    }

    pub(crate) fn store(
        &mut self,
        memory: &mut Memory,
        core: u32,
        address: u64,
        from: &[u8],
    ) -> Result<Cost, FaultKind> {
        let mut cost = Cost::default();
        for (address, at, count) in self.pieces(address, from.len()) {
            let (line, bits) = (address - address % self.line, self.bits(address, count));
            if self.is_checked
                && let Some(other) = self.other_writer(core, address, u128::MAX)
            {
                return Err(FaultKind::SharedLine { address: line, other });
            }
            let from = from.get(at..at + count).unwrap_or_default();
            let begin = (address - line) as usize;
            let is_through = self.policy == WritePolicy::WriteThrough;
            if is_through {
                if let Some(bytes) = memory.get_mut(address, count) {
                    bytes.copy_from_slice(from);
                }
                cost.writes += 1;
                if self.find(core, line).is_none() {
                    continue;
                }
            }
            let Some(copy) = self.copy_of(memory, core, line, &mut cost) else { continue };
            if let Some(bytes) = copy.bytes.get_mut(begin..begin + count) {
                bytes.copy_from_slice(from);
            }
            if !is_through {
                copy.dirty |= bits;
            }
        }
        Ok(cost)
    }

    /// Writes back and drops copies of these bytes; how many lines were looked for and written.
    pub(crate) fn flush(
        &mut self,
        memory: &mut Memory,
        core: u32,
        (address, len): (u32, u32),
        flush: Flush,
    ) -> (u64, u32) {
        let (first, end) = (u64::from(address), u64::from(address) + u64::from(len));
        let first = first - first % self.line;
        let looked = (end.saturating_sub(first)).div_ceil(self.line);
        let Some(cache) = self.cores.get_mut(core as usize) else { return (0, 0) };
        let mut written = 0;
        for place in &mut cache.places {
            let Some(line) = place.as_mut().filter(|it| (first..end).contains(&it.address)) else {
                continue;
            };
            if flush.writes_back && line.dirty != 0 {
                write_back(memory, line);
                line.dirty = 0;
                written += 1;
            }
            if flush.invalidates {
                *place = None;
            }
        }
        (looked.min(cache.places.len() as u64), written)
    }
}

/// Writes a whole line, as hardware does: also bytes that only others have written since.
fn write_back(memory: &mut Memory, line: &Line) {
    if let Some(bytes) = memory.get_mut(line.address, line.bytes.len()) {
        bytes.copy_from_slice(&line.bytes);
    }
}
