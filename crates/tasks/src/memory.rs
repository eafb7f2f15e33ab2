//! Memory of buffers that host and cores share: where it lies, and what of it is taken.
//!
//! It lies at the same addresses on both sides, below 4 GiB, so that a pointer means the same everywhere and fits into the
//! 32 bits of a core. Its first [`NEAR`] bytes are the near memory. Blocks begin and end with a line.
#![allow(unsafe_code, reason = "memory of several processes")]

use std::collections::BTreeMap;
use std::ptr;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use crate::view::{LINE, PAGE};

/// Bytes of the near memory.
pub(crate) const NEAR: usize = 6 << 20;
/// Where it begins, if nothing else is there.
const BASE: usize = 0x4000_0000;
const MOST: usize = 0xa000_0000;
const LEAST: usize = 16 << 20;

/// All of it.
pub(crate) struct Memory {
    pub(crate) base: usize,
    pub(crate) length: usize,
    pub(crate) file: i32,
    /// A second mapping, which shows what is in memory.
    pub(crate) main: usize,
    /// A byte per line: whether the host has written it and not flushed.
    marks: usize,
    blocks: Mutex<Blocks>,
}

#[derive(Default)]
struct Blocks {
    free: BTreeMap<usize, usize>,
    used: BTreeMap<usize, usize>,
}

/// Where a block is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Where {
    Far,
    Near,
}

static MEMORY: OnceLock<Option<Memory>> = OnceLock::new();

/// Makes the memory; `is_shared`: other processes will see it. Nothing if there is no room.
pub(crate) fn make(is_shared: bool) -> Option<&'static Memory> {
    MEMORY.get_or_init(|| Memory::new(is_shared)).as_ref()
}

/// The memory, if it was made.
pub(crate) fn memory() -> Option<&'static Memory> {
    MEMORY.get()?.as_ref()
}

impl Memory {
    fn new(is_shared: bool) -> Option<Self> {
        if !is_shared {
            return Self::alone();
        }
        let mut length = MOST;
        // SAFETY: new files and mappings; one with a fixed address replaces nothing.
        unsafe {
            let file = libc::memfd_create(c"ferry-tasks".as_ptr(), libc::MFD_CLOEXEC);
            if file < 0 {
                return None;
            }
            let mut limit = libc::rlimit { rlim_cur: libc::RLIM_INFINITY, rlim_max: 0 };
            libc::getrlimit(libc::RLIMIT_FSIZE, &raw mut limit);
            if limit.rlim_cur != libc::RLIM_INFINITY {
                length = length.min(limit.rlim_cur as usize / PAGE * PAGE);
            }
            let access = libc::PROT_READ | libc::PROT_WRITE;
            let kind = libc::MAP_SHARED | libc::MAP_NORESERVE;
            while length >= LEAST {
                if libc::ftruncate(file, length as i64) == 0 {
                    let fixed = kind | libc::MAP_FIXED_NOREPLACE;
                    let at = libc::mmap(BASE as *mut _, length, access, fixed, file, 0);
                    if at as usize == BASE {
                        let main = libc::mmap(ptr::null_mut(), length, access, kind, file, 0);
                        let shared = libc::MAP_SHARED | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
                        let marks =
                            libc::mmap(ptr::null_mut(), length / LINE, access, shared, -1, 0);
                        if main == libc::MAP_FAILED || marks == libc::MAP_FAILED {
                            return None;
                        }
                        libc::madvise(at, length, libc::MADV_HUGEPAGE);
                        let blocks = Self::all(length);
                        let (main, marks) = (main as usize, marks as usize);
                        return Some(Self { base: BASE, length, file, main, marks, blocks });
                    }
                    if at != libc::MAP_FAILED {
                        libc::munmap(at, length);
                    }
                }
                length = length / 2 / PAGE * PAGE;
            }
        }
        None
    }

    /// Memory of this process alone, which the system may give in large pages.
    fn alone() -> Option<Self> {
        let kind = libc::MAP_PRIVATE
            | libc::MAP_ANONYMOUS
            | libc::MAP_NORESERVE
            | libc::MAP_FIXED_NOREPLACE;
        let mut length = MOST;
        while length >= LEAST {
            // SAFETY: a new mapping that replaces nothing.
            unsafe {
                let at = libc::mmap(
                    BASE as *mut _,
                    length,
                    libc::PROT_READ | libc::PROT_WRITE,
                    kind,
                    -1,
                    0,
                );
                if at as usize == BASE {
                    libc::madvise(at, length, libc::MADV_HUGEPAGE);
                    return Some(Self {
                        base: BASE,
                        length,
                        file: -1,
                        main: BASE,
                        marks: 0,
                        blocks: Self::all(length),
                    });
                }
                if at != libc::MAP_FAILED {
                    libc::munmap(at, length);
                }
            }
            length = length / 2 / PAGE * PAGE;
        }
        None
    }

    /// Nothing is taken.
    fn all(length: usize) -> Mutex<Blocks> {
        let free = BTreeMap::from([(0, NEAR), (NEAR, length - NEAR)]);
        Mutex::new(Blocks { free, used: BTreeMap::new() })
    }

    fn blocks(&self) -> MutexGuard<'_, Blocks> {
        self.blocks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A block; nothing if there is no room.
    pub(crate) fn take(&self, bytes: usize, at: Where) -> Option<usize> {
        let bytes = bytes.max(1).checked_next_multiple_of(LINE)?;
        let mut blocks = self.blocks();
        let fits = |(from, length): (&usize, &usize)| {
            let is_there = (*from < NEAR) == (at == Where::Near);
            (is_there && *length >= bytes).then_some((*from, *length))
        };
        let (from, length) = blocks.free.iter().find_map(fits)?;
        blocks.free.remove(&from);
        if length > bytes {
            blocks.free.insert(from + bytes, length - bytes);
        }
        blocks.used.insert(from, bytes);
        Some(self.base + from)
    }

    /// Gives a block back; says whether there was one.
    pub(crate) fn give(&self, at: usize) -> bool {
        let mut blocks = self.blocks();
        let Some(mut from) = at.checked_sub(self.base) else { return false };
        let Some(mut length) = blocks.used.remove(&from) else { return false };
        // Joined with its neighbours, unless they are of the other memory.
        if let Some(next) =
            blocks.free.get(&(from + length)).copied().filter(|_| from + length != NEAR)
        {
            blocks.free.remove(&(from + length));
            length += next;
        }
        let before = blocks.free.range(..from).next_back().map(|(at, length)| (*at, *length));
        if let Some((at, before)) =
            before.filter(|(at, length)| at + length == from && from != NEAR)
        {
            blocks.free.remove(&at);
            (from, length) = (at, length + before);
        }
        blocks.free.insert(from, length);
        true
    }

    /// The part of the memory between an address and so many bytes behind it, within one block.
    pub(crate) fn part(&self, at: usize, bytes: usize) -> Option<(usize, usize)> {
        let offset = at.checked_sub(self.base)?;
        let blocks = self.blocks();
        let (from, length) = blocks.used.range(..=offset).next_back()?;
        (offset + bytes <= from + length && offset < from + length).then_some((offset, bytes))
    }

    /// The block that has an address: where it begins.
    pub(crate) fn block_of(&self, at: usize) -> Option<usize> {
        let offset = at.checked_sub(self.base)?;
        let blocks = self.blocks();
        let (from, length) = blocks.used.range(..=offset).next_back()?;
        (offset < from + length).then_some(self.base + from)
    }

    fn mark(&self, line: usize) -> Option<&AtomicU8> {
        // SAFETY: a byte per line.
        (self.marks != 0 && line < self.length / LINE)
            .then(|| unsafe { &*((self.marks + line) as *const AtomicU8) })
    }

    /// Whether the host has written a line and not flushed it.
    pub(crate) fn is_unflushed(&self, line: usize) -> bool {
        self.mark(line).is_some_and(|it| it.load(Ordering::Relaxed) != 0)
    }

    pub(crate) fn set_unflushed(&self, line: usize, is: bool) {
        if let Some(it) = self.mark(line).filter(|it| (it.load(Ordering::Relaxed) != 0) != is) {
            it.store(is.into(), Ordering::Relaxed);
        }
    }
}
