//! Memory of a device that is simulated in this process, as both sides see it.
//!
//! One range of the process, far above 4 GiB and with a multiple of 4 GiB in it, so that addresses need all of their
//! bits. Every access of a kernel is checked: it must lie in one block, or, where the device shares the host's memory,
//! in memory that the process has.
#![allow(unsafe_code, reason = "maps memory and copies by address")]

use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use sim::{HostMemory, Refusal};

use crate::blocks::Blocks;
use crate::memory::of_machine;
use crate::{DeviceError, DevicePtr, Result};

/// A multiple of 4 GiB that lies in the memory of the first device.
const BOUNDARY: usize = 0x2000_0000_0000;
/// So much of the memory lies before it.
const BEFORE: usize = 1 << 20;
/// Kernels of a device that shares memory find out page by page what is there.
const PAGE: u64 = 4096;

/// The memory.
#[derive(Debug)]
pub(crate) struct Memory {
    base: usize,
    size: usize,
    blocks: Mutex<Blocks>,
}

impl Memory {
    pub(crate) fn new(number: usize) -> Result<Memory> {
        let mut size = of_machine().min(1 << 38).next_multiple_of(PAGE as usize);
        loop {
            match reserve(BOUNDARY - BEFORE + (number << 40), size) {
                Ok(base) => {
                    return Ok(Memory { base, size, blocks: Mutex::new(Blocks::new(size)) });
                }
                // A limit on addresses.
                Err(_) if size > (64 << 20) => size = (size / 2).next_multiple_of(PAGE as usize),
                Err(error) => {
                    let why = format!("its memory cannot be reserved: {error}");
                    return Err(DeviceError::Failed(why));
                }
            }
        }
    }

    pub(crate) fn blocks(&self) -> MutexGuard<'_, Blocks> {
        self.blocks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn bytes(&self) -> usize {
        self.size
    }

    pub(crate) fn alloc(&self, bytes: usize, align: usize) -> Result<DevicePtr> {
        let offset = self.blocks().take(bytes, 0, align.min(PAGE as usize));
        let offset = offset.ok_or(DeviceError::OutOfMemory { bytes })?;
        Ok(DevicePtr((self.base + offset) as u64))
    }

    pub(crate) fn free(&self, at: DevicePtr) -> Result<()> {
        let offset = (at.0 as usize).wrapping_sub(self.base);
        match self.blocks().give(offset) {
            Some(_) => Ok(()),
            None => Err(DeviceError::Failed(format!("no memory was allocated at {at}"))),
        }
    }

    /// Bytes that were asked for at an address; `None` if no block begins there.
    pub(crate) fn size_of_block(&self, at: u64) -> Option<usize> {
        let offset = (at as usize).checked_sub(self.base)?;
        self.blocks().taken(offset).map(|it| it.asked)
    }

    /// Whether an address lies in the range.
    pub(crate) fn owns(&self, at: u64) -> bool {
        (self.base as u64..(self.base + self.size) as u64).contains(&at)
    }

    /// Whether one block has all of a range.
    pub(crate) fn has(&self, at: u64, bytes: u64) -> bool {
        self.around(at).is_some_and(|it| it.end - at >= bytes)
    }

    /// The block around an address.
    pub(crate) fn around(&self, at: u64) -> Option<Range<u64>> {
        let offset = (at as usize).checked_sub(self.base)?;
        let (start, len) = self.blocks().around(offset)?;
        let start = (self.base + start) as u64;
        Some(start..start + len as u64)
    }
}

/// What a variable of the environment says of cycles, if it is there.
pub(crate) fn number_of_cycles(variable: &str) -> Result<Option<u64>> {
    let Ok(word) = std::env::var(variable) else { return Ok(None) };
    let number = word.trim().parse();
    let wrong = |_| DeviceError::Failed(format!("{variable}: `{word}` is no number of cycles"));
    number.map(Some).map_err(wrong)
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: a range that `reserve` has given to us alone.
        unsafe { libc::munmap(self.base as *mut libc::c_void, self.size) };
    }
}

fn reserve(wish: usize, size: usize) -> io::Result<usize> {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    let access = libc::PROT_READ | libc::PROT_WRITE;
    let map = |at: usize, flags: i32| {
        // SAFETY: no mapping is replaced: either the system chooses, or it must not replace.
        let at = unsafe { libc::mmap(at as *mut libc::c_void, size, access, flags, -1, 0) };
        if at == libc::MAP_FAILED { Err(io::Error::last_os_error()) } else { Ok(at as usize) }
    };
    map(wish, flags | libc::MAP_FIXED_NOREPLACE).or_else(|_| map(0, flags))
}

/// What kernels reach, during one stretch of a run.
#[derive(Debug)]
pub(crate) struct View<'a> {
    memory: &'a Memory,
    /// Whether they reach all of the process.
    is_shared: bool,
    /// What was found to be there last, to be read and to be written.
    readable: Range<u64>,
    writable: Range<u64>,
}

impl View<'_> {
    pub(crate) fn new(memory: &Memory, is_shared: bool) -> View<'_> {
        View { memory, is_shared, readable: 0..0, writable: 0..0 }
    }

    /// Whether all of a range can be read.
    pub(crate) fn reaches(&mut self, address: u64, bytes: u64) -> bool {
        usize::try_from(bytes).is_ok_and(|it| self.find(address, it, false).is_ok())
    }

    /// Looks for what is around an address.
    #[cold]
    fn find(&mut self, address: u64, len: usize, writes: bool) -> std::result::Result<(), Refusal> {
        if let Some(block) = self.memory.around(address) {
            let fits = block.end - address >= len as u64;
            (self.readable, self.writable) = (block.clone(), block);
            return if fits { Ok(()) } else { Err(Refusal::Unmapped) };
        }
        if !self.is_shared || self.memory.owns(address) {
            return Err(Refusal::Unmapped);
        }
        // A byte of each page: the system says whether it is there, and nothing faults.
        let end = address.checked_add(len as u64).ok_or(Refusal::Unmapped)?;
        let pages = address / PAGE * PAGE..end.div_ceil(PAGE) * PAGE;
        for page in pages.clone().step_by(PAGE as usize) {
            let mut byte = 0u8;
            let here = page.max(address);
            if !move_byte(here, &mut byte, false) {
                return Err(Refusal::Unmapped);
            }
            // What was read is written again; a kernel that writes there is what was asked for.
            if writes && !move_byte(here, &mut byte, true) {
                return Err(Refusal::ReadOnly);
            }
        }
        if writes {
            self.writable = pages.clone();
        }
        self.readable = pages;
        Ok(())
    }
}

/// Reads or writes a byte of this process, if it is there.
fn move_byte(at: u64, byte: &mut u8, writes: bool) -> bool {
    let here = libc::iovec { iov_base: (&raw mut *byte).cast(), iov_len: 1 };
    let there = libc::iovec { iov_base: at as *mut libc::c_void, iov_len: 1 };
    // SAFETY: the system checks the address; our own byte is valid.
    let moved = unsafe {
        match writes {
            true => {
                libc::process_vm_writev(libc::getpid(), &raw const here, 1, &raw const there, 1, 0)
            }
            false => {
                libc::process_vm_readv(libc::getpid(), &raw const here, 1, &raw const there, 1, 0)
            }
        }
    };
    moved == 1
}

fn has(known: &Range<u64>, address: u64, len: usize) -> bool {
    known.start <= address && known.end.checked_sub(address).is_some_and(|it| it >= len as u64)
}

impl HostMemory for View<'_> {
    fn read(&mut self, address: u64, into: &mut [u8]) -> std::result::Result<(), Refusal> {
        if !has(&self.readable, address, into.len()) {
            self.find(address, into.len(), false)?;
        }
        // SAFETY: all of it is a block of ours, or was found to be there; who frees it while a kernel
        // uses it has a wrong program.
        unsafe { std::ptr::copy(address as *const u8, into.as_mut_ptr(), into.len()) };
        Ok(())
    }

    fn write(&mut self, address: u64, from: &[u8]) -> std::result::Result<(), Refusal> {
        if !has(&self.writable, address, from.len()) {
            self.find(address, from.len(), true)?;
        }
        // SAFETY: as above.
        unsafe { std::ptr::copy(from.as_ptr(), address as *mut u8, from.len()) };
        Ok(())
    }

    fn update(
        &mut self,
        address: u64,
        change: &mut dyn FnMut(u32) -> u32,
    ) -> std::result::Result<u32, Refusal> {
        if !has(&self.writable, address, 4) {
            self.find(address, 4, true)?;
        }
        // SAFETY: as above, and aligned by contract; threads of the host may use it as well.
        let word = unsafe { AtomicU32::from_ptr(address as *mut u32) };
        let mut old = word.load(Ordering::SeqCst);
        loop {
            let new = change(old);
            match word.compare_exchange(old, new, Ordering::SeqCst, Ordering::SeqCst) {
                Ok(it) => return Ok(it),
                Err(it) => old = it,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accesses_stay_in_their_block() {
        let memory = Memory::new(7).unwrap();
        let one = memory.alloc(24, 8).unwrap().0;
        let mut view = View::new(&memory, false);
        assert!(one >> 32 != 0, "{one:#x}");
        assert_eq!(view.write(one + 16, &[7; 8]), Ok(()));
        let mut bytes = [0; 8];
        assert_eq!(view.read(one + 16, &mut bytes), Ok(()));
        assert_eq!(bytes, [7; 8]);
        assert_eq!(view.read(one + 17, &mut bytes), Err(Refusal::Unmapped), "one byte beyond");
        assert_eq!(view.read(one + 24, &mut bytes), Err(Refusal::Unmapped));
        let own = 5u64;
        assert_eq!(view.read((&raw const own) as u64, &mut bytes), Err(Refusal::Unmapped));
        memory.free(DevicePtr(one)).unwrap();
        assert!(memory.free(DevicePtr(one)).is_err(), "twice");
    }

    #[test]
    fn blocks_cross_a_multiple_of_four_gib() {
        let memory = Memory::new(8).unwrap();
        let start = memory.alloc(2 << 20, 16).unwrap().0;
        assert_ne!(start >> 32, (start + (2 << 20) - 1) >> 32, "{start:#x}");
    }

    #[test]
    fn memory_of_the_process_is_reached_if_it_is_there() {
        let memory = Memory::new(9).unwrap();
        let mut view = View::new(&memory, true);
        let mut own = 5u64;
        let at = (&raw mut own) as u64;
        let mut bytes = [0; 8];
        assert_eq!(view.read(at, &mut bytes), Ok(()));
        assert_eq!(bytes, 5u64.to_le_bytes());
        assert_eq!(view.write(at, &6u64.to_le_bytes()), Ok(()));
        assert_eq!(view.update(at, &mut |it| it + 1), Ok(6));
        // SAFETY: a place of our own; the compiler does not know who wrote it.
        assert_eq!(unsafe { std::ptr::read_volatile(&raw const own) }, 7);
        assert_eq!(view.read(0x10, &mut bytes), Err(Refusal::Unmapped));
        assert_eq!(view.read(u64::MAX - 3, &mut bytes), Err(Refusal::Unmapped));
        static FIXED: &str = "may be read only";
        assert_eq!(view.write(FIXED.as_ptr() as u64, b"x"), Err(Refusal::ReadOnly));
    }
}
