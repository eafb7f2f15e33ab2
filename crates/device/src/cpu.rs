//! The host's processor as a device, in this process.
//!
//! In mode [`Memory::Shared`] (`cpu`) host addresses are device addresses and a map moves nothing.
//! In mode [`Memory::Copies`] (`cpu:copy`) mapped data get memory of their own in the same process:
//! what programs of clang expect of their host device, and a quick test of maps. A pointer that was
//! not mapped is still readable there; only `cpu:separate` notices it.
//!
//! Kernels are functions: those of the host's compiler are called where they lie, images are shared
//! objects and loaded. Teams and threads are made by the kernel itself.

use std::collections::HashMap;
use std::ffi::{CStr, c_void};
use std::mem;
use std::sync::{Mutex, MutexGuard, PoisonError};

use abi::entry::KernelFn;
use abi::image::Payload;

use crate::gpu::{llvm, parts};
use crate::library::{self, Library};
use crate::memory::{DevicePtr, MemoryKind};
use crate::{
    Convention, Device, DeviceError, Held, Kernel, Launch, Module, Result, Symbol, parameters,
};

/// Whether a map makes a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Memory {
    /// Host addresses are device addresses.
    Shared,
    /// Every map is a copy.
    Copies,
}

/// `e_machine` of images that this process can load.
pub(crate) const MACHINE: u16 = if cfg!(target_arch = "aarch64") { 183 } else { 62 };

/// The device.
#[derive(Debug)]
pub struct Cpu {
    memory: Memory,
    modules: Mutex<Modules>,
    blocks: Mutex<Blocks>,
}

/// Freed memory is kept for the next request of the same size up to here, as LLVM's runtime does.
const KEPT_SIZE: usize = 1 << 13;
/// More freed blocks of one size than this are given back.
const KEPT_BLOCKS: usize = 64;

/// Small blocks that were handed out, with their sizes, and those that came back, by size.
#[derive(Debug, Default)]
struct Blocks {
    used: HashMap<u64, usize>,
    free: HashMap<usize, Vec<u64>>,
}

impl Blocks {
    /// A kept block that fits.
    fn take(&mut self, bytes: usize, align: usize) -> Option<u64> {
        let kept = self.free.get_mut(&bytes)?;
        let fitting = kept.iter().rposition(|at| at % align as u64 == 0)?;
        let at = kept.swap_remove(fitting);
        self.used.insert(at, bytes);
        Some(at)
    }

    /// Keeps a block, or says that it should be given back.
    fn keep(&mut self, at: u64) -> bool {
        let Some(bytes) = self.used.remove(&at) else { return false };
        let kept = self.free.entry(bytes).or_default();
        let has_room = kept.len() < KEPT_BLOCKS;
        if has_room {
            kept.push(at);
        }
        has_room
    }
}

#[derive(Debug, Default)]
struct Modules {
    loaded: HashMap<u64, Library>,
    last: u64,
}

impl Cpu {
    /// A device with that memory.
    pub fn new(memory: Memory) -> Cpu {
        Cpu { memory, modules: Mutex::default(), blocks: Mutex::default() }
    }

    fn modules(&self) -> MutexGuard<'_, Modules> {
        self.modules.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn blocks(&self) -> MutexGuard<'_, Blocks> {
        self.blocks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn find(&self, module: Module, name: &CStr) -> Result<(u64, usize)> {
        match self.modules().loaded.get(&module.0) {
            Some(library) => library.find(name),
            None => Err(DeviceError::BadImage("it is not loaded any more".into())),
        }
    }
}

#[allow(unsafe_code, reason = "memory and kernels of the process, by address")]
impl Device for Cpu {
    fn name(&self) -> &str {
        match self.memory {
            Memory::Shared => "cpu",
            Memory::Copies => "cpu:copy",
        }
    }

    fn shares_host_memory(&self) -> bool {
        self.memory == Memory::Shared
    }

    fn runs_in_process(&self) -> bool {
        true
    }

    fn hold(&self) -> Option<Box<dyn Held + '_>> {
        Some(Box::new((self.modules(), self.blocks())))
    }

    fn accepts(&self, image: &[u8]) -> bool {
        Payload::of(image) == Payload::Elf { machine: MACHINE }
    }

    fn load(&self, image: &[u8]) -> Result<Module> {
        // Initialisers of the image run now and may call back: no lock is held.
        // Code that LLVM has compiled and Ferry has linked takes variables from the program, unless it is told otherwise.
        let is_open = parts::has_name(image, &llvm::IN_IMAGES) && !library::is_bound(image);
        let library = Library::from_bytes_for(image, self.memory == Memory::Copies && is_open)?;
        let mut modules = self.modules();
        modules.last += 1;
        let number = modules.last;
        modules.loaded.insert(number, library);
        Ok(Module(number))
    }

    fn unload(&self, module: Module) -> Result<()> {
        let library = self.modules().loaded.remove(&module.0);
        if let Some(library) = library {
            library.close();
        }
        Ok(())
    }

    fn symbol(&self, module: Module, name: &CStr) -> Result<Symbol> {
        self.find(module, name).map(|(at, size)| Symbol { address: DevicePtr(at), size })
    }

    fn kernel(&self, module: Module, name: &CStr) -> Result<Kernel> {
        self.find(module, name).map(|(at, _)| Kernel(at))
    }

    fn host_kernel(&self, function: KernelFn) -> Result<Kernel> {
        match self.memory {
            Memory::Shared => Ok(Kernel(function as usize as u64)),
            // It would use the host's own global variables instead of this device's.
            Memory::Copies => Err(DeviceError::Unsupported("running code of the host's process")),
        }
    }

    fn alloc(&self, bytes: usize, align: usize, _kind: MemoryKind) -> Result<DevicePtr> {
        let mut at: *mut c_void = std::ptr::null_mut();
        let align = align.max(mem::align_of::<*mut c_void>());
        if bytes <= KEPT_SIZE
            && let Some(kept) = self.blocks().take(bytes, align)
        {
            return Ok(DevicePtr(kept));
        }
        // SAFETY: `at` is a place for the answer; `align` is a power of two by contract.
        match unsafe { libc::posix_memalign(&raw mut at, align, bytes) } {
            0 => {
                if bytes <= KEPT_SIZE {
                    self.blocks().used.insert(at as u64, bytes);
                }
                Ok(DevicePtr(at as u64))
            }
            _ => Err(DeviceError::OutOfMemory { bytes }),
        }
    }

    unsafe fn free(&self, ptr: DevicePtr) -> Result<()> {
        if self.blocks().keep(ptr.0) {
            return Ok(());
        }
        // SAFETY: by contract it came from `alloc`, that is from `posix_memalign`.
        unsafe { libc::free(ptr.0 as *mut c_void) };
        Ok(())
    }

    unsafe fn copy_in(&self, dst: DevicePtr, src: *const u8, len: usize) -> Result<()> {
        // SAFETY: both ranges are the caller's promise; `copy` allows them to overlap, which they
        // do where a program maps what it got from this very device.
        unsafe { std::ptr::copy(src, dst.0 as *mut u8, len) };
        Ok(())
    }

    unsafe fn copy_out(&self, dst: *mut u8, src: DevicePtr, len: usize) -> Result<()> {
        // SAFETY: as in `copy_in`.
        unsafe { std::ptr::copy(src.0 as *const u8, dst, len) };
        Ok(())
    }

    unsafe fn copy_within(&self, dst: DevicePtr, src: DevicePtr, len: usize) -> Result<()> {
        // SAFETY: both ranges are memory of this process by the caller's promise.
        unsafe { std::ptr::copy(src.0 as *const u8, dst.0 as *mut u8, len) };
        Ok(())
    }

    unsafe fn fill(&self, dst: DevicePtr, byte: u8, len: usize) -> Result<()> {
        // SAFETY: the range is memory of this process by the caller's promise.
        unsafe { std::ptr::write_bytes(dst.0 as *mut u8, byte, len) };
        Ok(())
    }

    unsafe fn launch(&self, kernel: Kernel, args: &[u64], launch: &Launch<'_>) -> Result<()> {
        match launch.convention {
            Convention::Slots => {
                // SAFETY: the number came from `kernel` or `host_kernel`; by contract the function
                // has this convention and takes these arguments.
                unsafe {
                    let function: KernelFn = mem::transmute(kernel.0 as usize);
                    function(args.as_ptr().cast());
                }
                Ok(())
            }
            // SAFETY: as above.
            Convention::Parameters => unsafe { parameters::call(kernel.0 as usize, args) },
        }
    }
}

#[cfg(test)]
#[allow(unsafe_code, reason = "tests the border")]
mod tests {
    use super::*;

    const LAUNCH: Launch<'static> = Launch {
        convention: Convention::Slots,
        teams: 0,
        limit: 0,
        trip_count: 0,
        group_memory: 0,
        name: "kernel",
        source: "",
    };

    unsafe extern "C" fn double_it(args: *const *mut c_void) {
        // SAFETY: launched below with the address of one number.
        unsafe { **args.cast::<*mut i64>() *= 2 };
    }

    #[test]
    fn a_host_kernel_gets_its_slots() {
        let cpu = Cpu::new(Memory::Shared);
        let kernel = cpu.host_kernel(double_it).unwrap();
        let mut number = 21i64;
        // SAFETY: the kernel takes the address of one number.
        unsafe { cpu.launch(kernel, &[&raw mut number as u64], &LAUNCH) }.unwrap();
        assert_eq!(number, 42);
        assert!(Cpu::new(Memory::Copies).host_kernel(double_it).is_err());
    }

    #[test]
    fn memory_is_aligned_and_holds_what_is_copied() {
        let cpu = Cpu::new(Memory::Copies);
        let at = cpu.alloc(64, 64, MemoryKind::Device).unwrap();
        assert_eq!(at.0 % 64, 0);
        let (text, mut back) = (*b"ferry", [0u8; 6]);
        // SAFETY: 64 bytes were allocated, all copies are shorter, and the memory is freed last.
        unsafe {
            cpu.fill(at, b'!', 64).unwrap();
            cpu.copy_in(at, text.as_ptr(), 5).unwrap();
            cpu.copy_out(back.as_mut_ptr(), at, 6).unwrap();
            cpu.free(at).unwrap();
        }
        assert_eq!(&back, b"ferry!");
    }

    #[test]
    fn small_blocks_are_used_again_where_they_fit() {
        let cpu = Cpu::new(Memory::Copies);
        let first = cpu.alloc(24, 16, MemoryKind::Device).unwrap();
        // SAFETY: allocated above, and freed once.
        unsafe { cpu.free(first) }.unwrap();
        let other = cpu.alloc(32, 16, MemoryKind::Device).unwrap();
        let again = cpu.alloc(24, 16, MemoryKind::Device).unwrap();
        assert_eq!(first, again);
        assert_ne!(first, other);
        assert_ne!(cpu.alloc(24, 16, MemoryKind::Device).unwrap(), again);
    }

    #[test]
    fn no_memory_is_a_value() {
        let error = Cpu::new(Memory::Copies).alloc(usize::MAX / 2, 16, MemoryKind::Device);
        assert_eq!(error, Err(DeviceError::OutOfMemory { bytes: usize::MAX / 2 }));
    }
}
