//! Memory: objects at addresses, which of their bytes have a value, and who touched them last.

use super::{Result, fail};

/// Who touches memory, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Access {
    pub(super) team: u64,
    pub(super) thread: u64,
    /// Barriers passed.
    pub(super) epoch: u64,
    /// Atomic, or under a lock.
    pub(super) is_exempt: bool,
}

impl Access {
    /// Whether nothing orders two accesses.
    fn races_with(self, other: Access) -> bool {
        let is_same = self.team == other.team && self.thread == other.thread;
        let is_ordered = self.team == other.team && self.epoch != other.epoch;
        !is_same && !is_ordered
    }
}

/// Who has touched a byte that several may touch.
#[derive(Clone, Debug, Default)]
struct Touched {
    write: Option<Access>,
    reads: Vec<Access>,
}

/// A variable or other piece of memory.
#[derive(Clone, Debug)]
struct Object {
    base: u64,
    bytes: Vec<u8>,
    known: Vec<bool>,
    /// Of memory that threads share.
    touched: Option<Vec<Touched>>,
}

/// All objects, by address.
#[derive(Clone, Debug)]
pub(super) struct Memory {
    objects: Vec<Object>,
    next: u64,
    /// Whether accesses that nothing orders are errors.
    pub(super) checks_races: bool,
}

/// Bytes that are free between objects, so that what is behind one is nobody's.
const GAP: u64 = 64;

impl Memory {
    pub(super) fn new() -> Memory {
        Memory { objects: Vec::new(), next: 0x10000, checks_races: true }
    }

    /// A new object; its bytes have no value yet.
    pub(super) fn allocate(&mut self, size: u64, is_shared: bool) -> Result<u64> {
        let Some(length) = usize::try_from(size).ok().filter(|it| *it <= 1 << 28) else {
            return fail("an object is too large");
        };
        let base = self.next;
        self.next = (base + size + GAP).next_multiple_of(64);
        self.objects.push(Object {
            base,
            bytes: vec![0; length],
            known: vec![false; length],
            touched: is_shared.then(|| vec![Touched::default(); length]),
        });
        Ok(base)
    }

    pub(super) fn free(&mut self, base: u64) {
        if let Ok(at) = self.objects.binary_search_by_key(&base, |it| it.base) {
            self.objects.remove(at);
        }
    }

    fn find(&self, address: u64, size: u64) -> Result<(usize, std::ops::Range<usize>)> {
        let at = self.objects.partition_point(|it| it.base <= address);
        let found = at.checked_sub(1).and_then(|at| Some((at, self.objects.get(at)?)));
        if let Some((at, object)) = found {
            let start = address - object.base;
            let end = start.saturating_add(size);
            if end <= object.bytes.len() as u64 {
                return Ok((at, start as usize..end as usize));
            }
        }
        let what =
            if address < 0x10000 { "a null pointer" } else { "an address outside of objects" };
        fail(format!("{size} bytes are used at {what}"))
    }

    /// Orders all that was done before all that comes: a kernel has ended.
    pub(super) fn order(&mut self) {
        for touched in self.objects.iter_mut().filter_map(|it| it.touched.as_mut()) {
            touched.fill(Touched::default());
        }
    }

    fn touch(
        &mut self,
        at: usize,
        range: &std::ops::Range<usize>,
        who: Access,
        is_write: bool,
    ) -> Result<()> {
        if !self.checks_races || who.is_exempt {
            return Ok(());
        }
        let object = self.objects.get_mut(at);
        let Some(touched) = object.and_then(|it| it.touched.as_mut()) else { return Ok(()) };
        for byte in touched.get_mut(range.clone()).into_iter().flatten() {
            let by_write = byte.write.is_some_and(|it| it.races_with(who));
            let by_read = is_write && byte.reads.iter().any(|it| it.races_with(who));
            if by_write || by_read {
                return fail(
                    "two threads use the same memory, one writes it, and nothing orders them",
                );
            }
            if is_write {
                byte.write = Some(who);
                byte.reads.clear();
            } else if !byte.reads.contains(&who) {
                byte.reads.retain(|it| it.team != who.team || it.epoch == who.epoch);
                byte.reads.push(who);
            }
        }
        Ok(())
    }

    /// Bytes, and which of them have a value.
    pub(super) fn read(
        &mut self,
        address: u64,
        size: u64,
        who: Access,
    ) -> Result<(Vec<u8>, Vec<bool>)> {
        let (at, range) = self.find(address, size)?;
        self.touch(at, &range, who, false)?;
        let object = self.objects.get(at);
        let bytes = object.and_then(|it| it.bytes.get(range.clone())).unwrap_or_default();
        let known = object.and_then(|it| it.known.get(range)).unwrap_or_default();
        Ok((bytes.to_vec(), known.to_vec()))
    }

    pub(super) fn write(
        &mut self,
        address: u64,
        bytes: &[u8],
        known: &[bool],
        who: Access,
    ) -> Result<()> {
        let (at, range) = self.find(address, bytes.len() as u64)?;
        self.touch(at, &range, who, true)?;
        self.put(at, range, bytes, known);
        Ok(())
    }

    fn put(&mut self, at: usize, range: std::ops::Range<usize>, bytes: &[u8], known: &[bool]) {
        let Some(object) = self.objects.get_mut(at) else { return };
        if let Some(to) = object.bytes.get_mut(range.clone()) {
            to.copy_from_slice(bytes);
        }
        if let Some(to) = object.known.get_mut(range).filter(|it| it.len() == known.len()) {
            to.copy_from_slice(known);
        }
    }

    /// Gives bytes a value before anybody runs.
    pub(super) fn fill(&mut self, address: u64, bytes: &[u8]) -> Result<()> {
        let (at, range) = self.find(address, bytes.len() as u64)?;
        self.put(at, range, bytes, &vec![true; bytes.len()]);
        Ok(())
    }

    /// What is at an address, for those who look from outside.
    pub(super) fn peek(&self, address: u64, size: u64) -> Result<&[u8]> {
        let (at, range) = self.find(address, size)?;
        Ok(self.objects.get(at).and_then(|it| it.bytes.get(range)).unwrap_or_default())
    }
}
