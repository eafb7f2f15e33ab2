//! Regions that a kernel hands back: the host is the device then, and what the kernel sees is what is mapped from.
//!
//! The frame has the region's name, its place and its entries as compiled code wrote them; addresses are the
//! kernel's. The runtime maps them by the same rules as everywhere, to a device whose memory is the host's own. How the
//! host reaches what the kernel sees is a plugin's to say ([`Sight`]).
#![allow(unsafe_code, reason = "memory of two machines, by address")]

use std::ptr;
use std::sync::Arc;

use crate::memory::{DevicePtr, MemoryKind};
use crate::upcalls::{HandedBack, Original};
use crate::{Device, DeviceError, Kernel, Launch, Result, Upcalls};

/// What a kernel sees that waits for the host.
pub(crate) trait Sight: Send + Sync {
    /// Copies from there.
    ///
    /// # Safety
    /// As [`Device::copy_out`].
    unsafe fn read(&self, dst: *mut u8, src: DevicePtr, len: usize) -> Result<()>;

    /// Copies to there.
    ///
    /// # Safety
    /// As [`Device::copy_in`].
    unsafe fn write(&self, dst: DevicePtr, src: *const u8, len: usize) -> Result<()>;

    /// What a mapper there pushes for an entry (base, begin, size, type).
    fn components(&self, mapper: u64, entry: [u64; 4]) -> Result<Vec<[u64; 4]>>;
}

/// Words of an entry: base, begin, size, type, mapper.
const ENTRY: usize = 5;

/// Runs the region that a frame describes.
pub(crate) fn run(
    sight: &Arc<dyn Sight>,
    upcalls: Option<&Arc<dyn Upcalls>>,
    frame: &[u8],
) -> Result<()> {
    let nonsense =
        || DeviceError::Failed("a kernel asks for a region in words that are not known".into());
    let upcalls = upcalls.ok_or_else(|| {
        DeviceError::Failed(
            "the program does not say that kernels hand regions back (`requires reverse_offload`)"
                .into(),
        )
    })?;
    let mut head = frame.as_chunks::<8>().0.iter().map(|it| u64::from_le_bytes(*it));
    let mut word = || head.next().ok_or_else(nonsense);
    let (count, name, _launch) = (word()?, word()?, word()?);
    let count = usize::try_from(count).ok().filter(|it| *it < frame.len()).ok_or_else(nonsense)?;
    let rest = frame.get(24..).ok_or_else(nonsense)?;
    let (entries, texts) = rest.split_at_checked(count * ENTRY * 8).ok_or_else(nonsense)?;
    let words: Vec<u64> =
        entries.as_chunks::<8>().0.iter().map(|it| u64::from_le_bytes(*it)).collect();
    let entries = words.as_chunks::<ENTRY>().0;
    let name = usize::try_from(name).map_err(|_| nonsense())?;
    let (region, place) = texts.split_at_checked(name).ok_or_else(nonsense)?;
    let text = |it: &[u8]| String::from_utf8_lossy(it).into_owned();
    let handed_back = HandedBack { region: text(region), place: text(place), entries };
    let host = || -> Box<dyn Device> {
        Box::new(Host { sight: Arc::clone(sight), upcalls: Arc::clone(upcalls) })
    };
    upcalls.hand_back(&handed_back, &host)
}

/// The host, as kernels see it.
struct Host {
    sight: Arc<dyn Sight>,
    upcalls: Arc<dyn Upcalls>,
}

impl Device for Host {
    fn name(&self) -> &str {
        "host"
    }

    fn shares_host_memory(&self) -> bool {
        false
    }

    fn original(&self, at: usize, size: usize) -> Result<Option<Original>> {
        Ok(self.upcalls.original(DevicePtr(at as u64), size))
    }

    fn components(&self, mapper: u64, entry: [u64; 4]) -> Result<Vec<[u64; 4]>> {
        self.sight.components(mapper, entry)
    }

    fn alloc(&self, bytes: usize, align: usize, _kind: MemoryKind) -> Result<DevicePtr> {
        let mut at = ptr::null_mut();
        // SAFETY: `at` is a place for the answer; an alignment that is none is an error there.
        match unsafe { libc::posix_memalign(&raw mut at, align.max(16), bytes) } {
            0 => Ok(DevicePtr(at as u64)),
            _ => Err(DeviceError::OutOfMemory { bytes }),
        }
    }

    unsafe fn free(&self, ptr: DevicePtr) -> Result<()> {
        // SAFETY: the caller gives back what it got above, once.
        unsafe { libc::free(ptr.0 as *mut libc::c_void) };
        Ok(())
    }

    unsafe fn copy_in(&self, dst: DevicePtr, src: *const u8, len: usize) -> Result<()> {
        // SAFETY: the caller's promise: what it calls the host is what the kernel sees.
        unsafe { self.sight.read(dst.0 as *mut u8, DevicePtr(src as u64), len) }
    }

    unsafe fn copy_out(&self, dst: *mut u8, src: DevicePtr, len: usize) -> Result<()> {
        // SAFETY: likewise.
        unsafe { self.sight.write(DevicePtr(dst as u64), src.0 as *const u8, len) }
    }

    unsafe fn fill(&self, dst: DevicePtr, byte: u8, len: usize) -> Result<()> {
        // SAFETY: memory that was allocated above.
        unsafe { ptr::write_bytes(dst.0 as *mut u8, byte, len) };
        Ok(())
    }

    unsafe fn launch(&self, _kernel: Kernel, args: &[u64], launch: &Launch<'_>) -> Result<()> {
        self.upcalls.run(launch.name, launch.source, args)
    }
}
