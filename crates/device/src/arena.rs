//! The memory of a device in another process: one range of device addresses and, where both sides map one file, the
//! host's view of it.
//!
//! The host reserves the range at the device addresses too, so that nothing of its own can come to
//! lie there and a device pointer that it follows faults. The first page is not handed out: the
//! sides use it for themselves. Behind each block that the host sees there are bytes whose change tells of a kernel
//! that has written beyond its data. The file is as long as what was handed out at most: a kernel that runs on beyond it faults, and
//! does not use up the memory of the machine.
#![allow(unsafe_code, reason = "maps memory and copies by address")]

use std::env;
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::blocks::{Blocks, Taken};
use crate::kept::Kept;
use crate::memory::of_machine;
use crate::{DeviceError, DevicePtr, Result};

/// What the range of a device and its first page are multiples of.
pub(crate) const PAGE: usize = 1 << 16;
/// How many bytes of memory a device has.
pub(crate) const MEMORY_VARIABLE: &str = "FERRY_DEVICE_MEMORY";
/// Pages of freed blocks from this size on are counted, and are given back where they are too many.
const LARGE: usize = 32 << 20;
/// A device keeps this part of the machine's memory for its next blocks.
const KEPT_SHARE: usize = 8;
/// What the file grows by.
const GROWTH: usize = 1 << 20;
/// Bytes behind each block that nobody may write; looked at when it is freed.
const GUARD: usize = 64;
/// The same behind blocks of a page and more.
const LARGE_GUARD: usize = 4096;
/// What they hold.
const MARK: u8 = 0xfb;
/// Where device addresses begin if nothing lies there: far from what systems choose by themselves.
const LOWEST: usize = 0x1000_0000_0000;

/// What is behind the range.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Backing {
    /// A memory file, which the other side maps too.
    Memory,
    /// Memory of the other side alone.
    Elsewhere,
}

/// The memory of a device, seen from the host.
#[derive(Debug)]
pub(crate) struct Arena {
    /// What both sides map.
    pub(crate) file: Option<File>,
    /// First device address.
    pub(crate) base: usize,
    /// Nothing of the host's can lie there.
    is_reserved: bool,
    /// Where the host sees it.
    view: Option<usize>,
    pub(crate) size: usize,
    /// How much of it the file has; changed by who holds `blocks`.
    len: AtomicUsize,
    blocks: Mutex<Blocks>,
    /// Large parts that are free and have their pages; changed by who holds `blocks`.
    kept: Mutex<Kept>,
    /// How many bytes those may be.
    keeps: usize,
}

impl Arena {
    /// Memory for device `number`: `limit` bytes, or as much as the machine has.
    pub(crate) fn new(number: usize, limit: Option<usize>, backing: Backing) -> Result<Arena> {
        let failed = |error: io::Error| {
            DeviceError::Failed(format!("its memory cannot be reserved: {error}"))
        };
        let wanted = limit.unwrap_or_else(machine_memory_at_most).max(1).next_multiple_of(PAGE);
        // Beyond that the system would end the program.
        let most = match backing {
            Backing::Memory => file_limit(),
            Backing::Elsewhere => usize::MAX,
        };
        if limit.is_some() && wanted > most.saturating_sub(PAGE) {
            return Err(DeviceError::Failed(format!(
                "it is to have {wanted} bytes of memory, and the size of files is limited to {most} \
                 (ulimit -f)"
            )));
        }
        let mut size = wanted.saturating_add(PAGE).min(most / PAGE * PAGE);
        let file = match backing {
            Backing::Memory => Some(memory_file().map_err(failed)?),
            Backing::Elsewhere => None,
        };
        loop {
            match Arena::reserve(file.as_ref(), number, size) {
                Ok((base, view)) => {
                    let blocks = Mutex::new(Blocks::new(size - PAGE));
                    let len = AtomicUsize::new(PAGE);
                    let (kept, keeps) = (Mutex::default(), of_machine() / KEPT_SHARE);
                    let is_reserved = true;
                    let arena =
                        Arena { file, base, is_reserved, view, size, len, blocks, kept, keeps };
                    return Ok(arena);
                }
                // A limit on addresses: less will do, unless the user has said how much.
                Err(_) if limit.is_none() && size > (64 << 20) => {
                    size = (size / 2).next_multiple_of(PAGE);
                }
                Err(error) => return Err(failed(error)),
            }
        }
    }

    fn reserve(
        file: Option<&File>,
        number: usize,
        size: usize,
    ) -> io::Result<(usize, Option<usize>)> {
        if let Some(file) = file {
            file.set_len(PAGE as u64)?;
        }
        let base = match keep_free(LOWEST + (number << 40), size) {
            Ok(base) => base,
            Err(_) => map(0, size, libc::PROT_NONE, NOTHING, -1)?,
        };
        let Some(file) = file else { return Ok((base, None)) };
        let flags = libc::MAP_SHARED | libc::MAP_NORESERVE;
        let access = libc::PROT_READ | libc::PROT_WRITE;
        match map(0, size, access, flags, file.as_raw_fd()) {
            Ok(view) => Ok((base, Some(view))),
            Err(error) => {
                unmap(base, size);
                Err(error)
            }
        }
    }

    /// The other side has the range elsewhere.
    pub(crate) fn moved_to(&mut self, base: usize) {
        if base != self.base {
            unmap(self.base, self.size);
            self.base = base;
            self.is_reserved = keep_free(base, self.size).is_ok();
        }
    }

    /// The other side has memory of its own behind the range.
    pub(crate) fn not_shared(&mut self) {
        self.file = None;
        if let Some(view) = self.view.take() {
            unmap(view, self.size);
        }
    }

    /// Whether an address is one of the range and can be none of the host's.
    pub(crate) fn owns(&self, at: DevicePtr) -> bool {
        let offset = (at.0 as usize).checked_sub(self.base);
        self.is_reserved && offset.is_some_and(|it| it < self.size)
    }

    /// Lets nobody take or give memory until the answer is dropped.
    pub(crate) fn hold(&self) -> MutexGuard<'_, impl Sized> {
        self.blocks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Memory for a program; never the first page.
    pub(crate) fn alloc(&self, bytes: usize, align: usize) -> Result<DevicePtr> {
        let mut blocks = self.blocks.lock().unwrap_or_else(PoisonError::into_inner);
        let align = align.min(PAGE);
        let guard = match self.view {
            Some(_) if bytes < PAGE => GUARD,
            Some(_) => LARGE_GUARD,
            None => 0,
        };
        // Where memory is short the guard is what can be done without.
        let offset = blocks.take(bytes, guard, align).or_else(|| blocks.take(bytes, 0, align));
        let offset = offset.ok_or(DeviceError::OutOfMemory { bytes })?;
        if let Some(taken) = blocks.taken(offset) {
            if self.reach(PAGE + offset + taken.bytes).is_err() {
                blocks.give(offset);
                return Err(DeviceError::OutOfMemory { bytes });
            }
            let range = PAGE + offset..PAGE + offset + taken.bytes;
            self.kept.lock().unwrap_or_else(PoisonError::into_inner).take(&range);
            self.guard(offset, taken).fill(MARK);
        }
        Ok(DevicePtr((self.base + PAGE + offset) as u64))
    }

    /// Makes the file so long at least; the caller holds the lock.
    fn reach(&self, end: usize) -> io::Result<()> {
        let Some(file) = self.file.as_ref().filter(|_| end > self.len.load(Ordering::Relaxed))
        else {
            return Ok(());
        };
        let len = end.next_multiple_of(GROWTH).min(self.size);
        file.set_len(len as u64)?;
        self.len.store(len, Ordering::Relaxed);
        Ok(())
    }

    /// The bytes of a block behind those that were asked for.
    #[allow(
        clippy::mut_from_ref,
        reason = "they are memory that both processes map, not of `self`"
    )]
    fn guard(&self, offset: usize, taken: Taken) -> &mut [u8] {
        let Some(view) = self.view else { return &mut [] };
        let at = (view + PAGE + offset + taken.asked) as *mut u8;
        // SAFETY: the block lies in the view and is used, so nobody else has it; the caller holds the
        // lock. A kernel that writes there is what is looked for.
        unsafe { std::slice::from_raw_parts_mut(at, taken.bytes - taken.asked) }
    }

    pub(crate) fn free(&self, at: DevicePtr) -> Result<()> {
        let offset = (at.0 as usize).wrapping_sub(self.base + PAGE);
        let mut blocks = self.blocks.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(taken) = blocks.taken(offset) else {
            return Err(DeviceError::Failed(format!("no memory was allocated at {at}")));
        };
        let overrun = self.guard(offset, taken).iter().position(|it| *it != MARK);
        let bytes = blocks.give(offset).unwrap_or(0);
        if let Some(file) = self.file.as_ref().filter(|_| bytes >= LARGE) {
            let first = (PAGE + offset).next_multiple_of(PAGE);
            let end = (PAGE + offset + bytes) / PAGE * PAGE;
            let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
            for range in kept.add(first..end, self.keeps) {
                let mode = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE;
                let [at, len] = [range.start, range.len()].map(|it| it as libc::off_t);
                // SAFETY: a call on our own file; while the lock is held nobody has taken any of the
                // range again. That it may fail costs memory only.
                unsafe { libc::fallocate(file.as_raw_fd(), mode, at, len) };
            }
        }
        match overrun {
            Some(at) => Err(DeviceError::Overrun { behind: at + 1 }),
            None => Ok(()),
        }
    }

    /// Where the host sees these bytes; `None` if they are not all in the file, or not seen.
    pub(crate) fn seen(&self, at: DevicePtr, len: usize) -> Option<*mut u8> {
        let offset = (at.0 as usize).checked_sub(self.base)?;
        let end = offset.checked_add(len)?;
        let view = self.view.filter(|_| end <= self.len.load(Ordering::Relaxed))?;
        Some((view + offset) as *mut u8)
    }

    /// Refuses bytes of the range that the file has not.
    pub(crate) fn check(&self, at: DevicePtr, len: usize) -> Result<()> {
        let offset = (at.0 as usize).checked_sub(self.base);
        if self.view.is_none() || offset.is_none_or(|it| it >= self.size) {
            return Ok(());
        }
        let missing = || DeviceError::Failed(format!("{len} bytes at {at} are not memory of it"));
        self.seen(at, len).map(|_| ()).ok_or_else(missing)
    }

    /// Where processes of this machine and user find the file.
    pub(crate) fn path(&self) -> Option<String> {
        let file = self.file.as_ref()?;
        Some(format!("/proc/{}/fd/{}", std::process::id(), file.as_raw_fd()))
    }

    /// The first page, where the host sees it.
    pub(crate) fn first_page(&self) -> Option<*mut u8> {
        self.view.map(|it| it as *mut u8)
    }
}

impl Drop for Arena {
    fn drop(&mut self) {
        if let Some(view) = self.view {
            unmap(view, self.size);
        }
        if self.is_reserved {
            unmap(self.base, self.size);
        }
    }
}

/// The limit of memory that the user sets.
pub(crate) fn limit() -> Result<Option<usize>> {
    let text = env::var(MEMORY_VARIABLE).unwrap_or_default();
    let text = text.trim();
    if text.is_empty() {
        return Ok(None);
    }
    text.parse().map(Some).map_err(|_| {
        DeviceError::Failed(format!("{MEMORY_VARIABLE}={text} is not a number of bytes"))
    })
}

/// Maps the range in the helper, at its device addresses.
pub(crate) fn map_here(file: &File, base: usize, size: usize) -> io::Result<()> {
    let flags = libc::MAP_SHARED | libc::MAP_NORESERVE | libc::MAP_FIXED_NOREPLACE;
    let access = libc::PROT_READ | libc::PROT_WRITE;
    let at = map(base, size, access, flags, file.as_raw_fd())?;
    if at == base { Ok(()) } else { Err(io::Error::other("device addresses are taken")) }
}

/// A mapping that takes addresses and no memory.
const NOTHING: i32 = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;

/// Takes exactly these addresses.
fn keep_free(at: usize, size: usize) -> io::Result<usize> {
    map(at, size, libc::PROT_NONE, NOTHING | libc::MAP_FIXED_NOREPLACE, -1)
}

fn map(at: usize, size: usize, access: i32, flags: i32, file: i32) -> io::Result<usize> {
    // SAFETY: no existing mapping is replaced: either the system chooses, or it must not replace.
    let at = unsafe { libc::mmap(at as *mut libc::c_void, size, access, flags, file, 0) };
    if at == libc::MAP_FAILED { Err(io::Error::last_os_error()) } else { Ok(at as usize) }
}

fn unmap(at: usize, size: usize) {
    // SAFETY: a range that `map` has given to us alone.
    unsafe { libc::munmap(at as *mut libc::c_void, size) };
}

fn memory_file() -> io::Result<File> {
    // SAFETY: the name is a constant that ends with a zero byte.
    let fd = unsafe { libc::memfd_create(c"ferry-device-memory".as_ptr(), libc::MFD_CLOEXEC) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel just gave this descriptor to us alone.
    Ok(unsafe { File::from_raw_fd(fd) })
}

/// The size that a file may have; a memory file too.
fn file_limit() -> usize {
    // SAFETY: two numbers are written to a place of our own.
    let limit = unsafe {
        let mut limit: libc::rlimit = std::mem::zeroed();
        libc::getrlimit(libc::RLIMIT_FSIZE, &raw mut limit);
        limit.rlim_cur
    };
    usize::try_from(limit).unwrap_or(usize::MAX)
}

/// The machine's memory; one number stands for the range of each device.
fn machine_memory_at_most() -> usize {
    of_machine().min(1 << 39)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_has_what_was_handed_out() {
        let arena = Arena::new(7, Some(64 << 20), Backing::Memory).unwrap();
        let len = || arena.file.as_ref().unwrap().metadata().unwrap().len() as usize;
        assert_eq!(len(), PAGE);
        let first = arena.alloc(100, 16).unwrap();
        assert_eq!(len(), GROWTH);
        assert!(arena.seen(first, GROWTH - PAGE).is_some() && arena.check(first, 100).is_ok());
        assert!(arena.seen(first, GROWTH).is_none() && arena.check(first, GROWTH).is_err());
        let second = arena.alloc(9 << 20, 16).unwrap();
        assert_eq!(len(), 10 << 20);
        arena.free(second).unwrap();
        arena.alloc(8 << 20, 16).unwrap();
        assert_eq!(len(), 10 << 20);
        assert!(arena.alloc(64 << 20, 16).is_err());
        assert!(arena.check(DevicePtr(1), 8).is_ok(), "not in the range");
    }

    #[test]
    fn pages_of_large_blocks_are_kept_up_to_a_limit() {
        use std::os::unix::fs::MetadataExt;
        let mut arena = Arena::new(8, Some(256 << 20), Backing::Memory).unwrap();
        arena.keeps = 64 << 20;
        let pages = || arena.file.as_ref().unwrap().metadata().unwrap().blocks() / 2048;
        let used = |mib: usize| {
            let at = arena.alloc(mib << 20, 16).unwrap();
            let seen = arena.seen(at, mib << 20).unwrap();
            // SAFETY: so many bytes, which nobody else has.
            unsafe { seen.write_bytes(1, mib << 20) };
            at
        };
        arena.free(used(40)).unwrap();
        assert!(pages() >= 40, "kept: {}", pages());
        let again = used(40);
        assert!(pages() < 50, "the same pages: {}", pages());
        let other = used(40);
        arena.free(again).unwrap();
        arena.free(other).unwrap();
        assert!((40..50).contains(&pages()), "the older ones are gone: {}", pages());
        let last = used(80);
        arena.free(last).unwrap();
        assert!(pages() < 5, "more than may be kept: {}", pages());
    }
}
