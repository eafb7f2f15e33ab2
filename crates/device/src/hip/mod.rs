//! AMD's GPUs, through AMD's runtime.
//!
//! The runtime's library is opened when the first such device is: nothing is linked, and its absence is
//! an answer. Images are machine code for one kind of GPU ([`image`]). Kernels are those of [`crate::cuda`], in
//! the same language: one 8-byte parameter per argument, and blocks of one thread where that is what a kernel
//! is made for.
//!
//! - [`runtime`]: the library, and what its answers mean
//! - [`image`]: which images a GPU runs
//! - [`streams`]: what is done in an order ([`crate::gpu::pool`])
//!
//! Memory that is given back is kept for the next who asks ([`crate::gpu::heap`]).

mod image;
mod runtime;
mod streams;

use std::collections::HashMap;
use std::ffi::{CStr, CString, c_int, c_void};
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::gpu::heap::{self, GRAIN, Heap, Origin, Source};
use crate::gpu::parts;
use crate::gpu::pool::{Own, Pool, Work};
use crate::gpu::shape::{self, Spread};
use crate::gpu::stream::{self, Gpu};
use crate::memory::{DevicePtr, MemoryKind};
use crate::{
    Convention, Device, DeviceError, Held, Kernel, Launch, Module, Result, Stream, Symbol,
};
use runtime::{BLOCK_MEMORY, Code, DEINITIALIZED, MOST_THREADS, NOT_FOUND, OUT_OF_MEMORY, Runtime};
use runtime::{SUCCESS, UNITS};
use streams::Streams;

/// The device.
#[derive(Debug)]
pub struct Hip {
    runtime: &'static Runtime,
    /// As the runtime counts.
    number: c_int,
    /// Multiprocessors.
    units: usize,
    memory: usize,
    /// What it is called, with its settings.
    target: String,
    pool: Pool,
    modules: Mutex<Modules>,
    heap: Mutex<Heap>,
    /// Kernels of it may print.
    prints: AtomicBool,
}

#[derive(Debug, Default)]
struct Modules {
    loaded: HashMap<u64, Arc<[Loaded]>>,
    last: u64,
    /// By their numbers; none where the image is gone.
    kernels: Vec<Option<Entry>>,
}

/// A code object that is loaded. The runtime may read its bytes later too, so they are kept.
#[derive(Debug)]
struct Loaded {
    handle: Handle,
    _bytes: Vec<u64>,
}

/// A kernel, and how it wants to be run.
#[derive(Clone, Copy, Debug)]
struct Entry {
    module: Module,
    handle: Handle,
    like: shape::Kernel,
}

/// Something of the runtime's.
#[derive(Clone, Copy, Debug)]
struct Handle(*mut c_void);

// SAFETY: handles of the runtime may be used from all threads at once.
#[allow(unsafe_code, reason = "handles of a library that is safe for threads")]
unsafe impl Send for Handle {}
// SAFETY: as above.
#[allow(unsafe_code, reason = "handles of a library that is safe for threads")]
unsafe impl Sync for Handle {}

/// The device is the current one of this thread; the one before is put back when this is dropped.
struct Entered {
    runtime: &'static Runtime,
    before: Option<c_int>,
}

impl Drop for Entered {
    #[allow(unsafe_code, reason = "asks the runtime")]
    fn drop(&mut self) {
        if let Some(before) = self.before {
            // SAFETY: it was the current one of this thread.
            let _ = unsafe { (self.runtime.enter)(before) };
        }
    }
}

fn address(at: DevicePtr) -> *mut c_void {
    at.0 as *mut c_void
}

/// The GPUs of the runtime.
#[allow(unsafe_code, reason = "asks the runtime")]
pub(crate) fn found() -> Result<Option<Vec<String>>> {
    let runtime = runtime::start()?;
    let mut count = 0;
    // SAFETY: the runtime is started, and writes one number.
    runtime.check("counting GPUs", unsafe { (runtime.count)(&raw mut count) })?;
    match count {
        1.. => (0..count).map(|it| runtime.target(it)).collect::<Result<_>>().map(Some),
        _ => Err(DeviceError::Failed("AMD's runtime offers no GPU here".into())),
    }
}

impl Hip {
    /// The GPU with that number, as the runtime counts them.
    #[allow(unsafe_code, reason = "asks the runtime")]
    pub fn open(number: usize) -> Result<Hip> {
        let runtime = runtime::start()?;
        let (mut count, mut units, mut memory) = (0, 0, 0);
        // SAFETY: the runtime is started, and writes one number.
        runtime.check("counting GPUs", unsafe { (runtime.count)(&raw mut count) })?;
        let ordinal = c_int::try_from(number).unwrap_or(c_int::MAX);
        if ordinal >= count {
            let s = if count == 1 { "" } else { "s" };
            return Err(DeviceError::Failed(format!("AMD's runtime offers {count} GPU{s} here")));
        }
        // SAFETY: the ordinal is one of the runtime's; each call writes one number.
        unsafe {
            let asked = (runtime.attribute)(&raw mut units, UNITS, ordinal);
            runtime.check("asking what the GPU is like", asked)?;
            let asked = (runtime.total_memory)(&raw mut memory, ordinal);
            runtime.check("asking for the size of memory", asked)?;
        }
        Ok(Hip {
            runtime,
            number: ordinal,
            units: usize::try_from(units).unwrap_or(1).max(1),
            memory,
            target: runtime.target(ordinal)?,
            pool: Pool::new(Box::new(Streams(runtime))),
            modules: Mutex::default(),
            // A fourth is kept when it is given back; other programs want some too.
            heap: Mutex::new(Heap::new(memory / 4)),
            prints: AtomicBool::new(false),
        })
    }

    fn modules(&self) -> MutexGuard<'_, Modules> {
        self.modules.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn heap(&self) -> MutexGuard<'_, Heap> {
        self.heap.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes it the current device of this thread until the answer is dropped.
    #[allow(unsafe_code, reason = "asks the runtime")]
    fn enter(&self) -> Result<Entered> {
        let runtime = self.runtime;
        let mut before = 0;
        // SAFETY: writes the number of a device, or changes nothing.
        unsafe {
            runtime.check("asking for the device", (runtime.current)(&raw mut before))?;
            if before == self.number {
                return Ok(Entered { runtime, before: None });
            }
            runtime.check("choosing a GPU", (runtime.enter)(self.number))?;
        }
        Ok(Entered { runtime, before: Some(before) })
    }

    /// Puts something into a stream of its own, and waits for it.
    fn waited(&self, what: &'static str, act: impl FnOnce(&mut Own) -> Code) -> Result<()> {
        let put = |on: &mut Own| self.runtime.check(what, act(on));
        stream::waited(self, |it| it.put(Work::Own, put))
    }

    fn entry(&self, kernel: Kernel) -> Result<Entry> {
        let number = usize::try_from(kernel.0).unwrap_or(usize::MAX);
        let found = self.modules().kernels.get(number).copied().flatten();
        found.ok_or_else(|| DeviceError::BadImage("it is not loaded any more".into()))
    }

    /// Memory of another kind, which is asked for seldom: the runtime's, each time.
    #[allow(unsafe_code, reason = "asks the runtime")]
    fn of_kind(&self, bytes: usize, origin: Origin) -> Result<u64> {
        /// For all devices, and at an address that both sides know.
        const HOST_FLAGS: u32 = 0x1 | 0x2;
        const MANAGED_FLAGS: u32 = 0x1;
        let _here = self.enter()?;
        let (runtime, mut at) = (self.runtime, ptr::null_mut());
        // SAFETY: each writes one address.
        let code = unsafe {
            match origin {
                Origin::Shared => (runtime.malloc_managed)(&raw mut at, bytes, MANAGED_FLAGS),
                Origin::Host | Origin::Device | Origin::Chunk => {
                    (runtime.malloc_host)(&raw mut at, bytes, HOST_FLAGS)
                }
            }
        };
        match code {
            OUT_OF_MEMORY => return Err(DeviceError::OutOfMemory { bytes }),
            code => runtime.check("allocating memory", code)?,
        }
        self.heap().add(at as u64, bytes, origin);
        Ok(at as u64)
    }

    fn loaded(&self, module: Module) -> Result<Arc<[Loaded]>> {
        let found = self.modules().loaded.get(&module.0).cloned();
        found.ok_or_else(|| DeviceError::BadImage("it is not loaded any more".into()))
    }

    /// The name of a kernel or variable in any of several code objects: what `find` answers first that is
    /// not "there is none".
    fn search<T>(
        &self,
        all: &[Loaded],
        name: &CStr,
        find: impl Fn(*mut c_void) -> (Code, T),
    ) -> Result<T> {
        for loaded in all {
            match find(loaded.handle.0) {
                (SUCCESS, found) => return Ok(found),
                (NOT_FOUND, _) => {}
                (code, _) => return Err(self.runtime.failure("looking for a name", code)),
            }
        }
        Err(DeviceError::NotFound(name.to_string_lossy().into_owned()))
    }

    #[allow(unsafe_code, reason = "asks the runtime")]
    fn variable(&self, all: &[Loaded], name: &CStr) -> Result<Symbol> {
        self.search(all, name, |handle| {
            let (mut at, mut size) = (ptr::null_mut(), 0);
            let find = self.runtime.variable;
            // SAFETY: a module that is loaded; writes an address and a size.
            let code = unsafe { find(&raw mut at, &raw mut size, handle, name.as_ptr()) };
            (code, Symbol { address: DevicePtr(at as u64), size })
        })
    }

    /// The wish of a kernel about its threads, if an image has one.
    #[allow(unsafe_code, reason = "reads a variable of an image")]
    fn spread(&self, all: &[Loaded], kernel: &CStr) -> Option<Spread> {
        let name = CString::new(abi::image::spread(&kernel.to_string_lossy())).ok()?;
        let variable = self.variable(all, &name).ok()?;
        let mut words = [0_u32; 3];
        // SAFETY: the variable has three words, as has the place for them.
        let read = unsafe { self.copy_out(words.as_mut_ptr().cast(), variable.address, 12) };
        read.ok().and_then(|()| Spread::of(words))
    }

    #[allow(unsafe_code, reason = "asks the runtime")]
    fn load_part(&self, part: &[u8]) -> Result<Loaded> {
        // At an address that is aligned as the numbers in it want it.
        let mut bytes = vec![0_u64; part.len().div_ceil(8)];
        let mut handle = ptr::null_mut();
        // SAFETY: as many bytes as there are, into room for them that is new; then a code object, whole, which
        // stays as long as the module.
        let code = unsafe {
            ptr::copy_nonoverlapping(part.as_ptr(), bytes.as_mut_ptr().cast(), part.len());
            (self.runtime.load)(&raw mut handle, bytes.as_ptr().cast())
        };
        match code {
            SUCCESS => Ok(Loaded { handle: Handle(handle), _bytes: bytes }),
            code => {
                let failure = self.runtime.failure("loading an image", code);
                Err(DeviceError::BadImage(failure.to_string()))
            }
        }
    }
}

#[allow(unsafe_code, reason = "asks the runtime")]
impl Source for Hip {
    fn with_heap<T>(&self, act: impl FnOnce(&mut Heap) -> T) -> T {
        act(&mut self.heap())
    }

    fn ask(&self, bytes: usize) -> Result<Option<u64>> {
        let _here = self.enter()?;
        let mut at = ptr::null_mut();
        // SAFETY: writes one address.
        match unsafe { (self.runtime.malloc)(&raw mut at, bytes) } {
            OUT_OF_MEMORY => Ok(None),
            code => self.runtime.check("allocating memory", code).map(|()| Some(at as u64)),
        }
    }

    fn give_back(&self, at: u64, origin: Origin) -> Result<()> {
        let _here = self.enter()?;
        let at = address(DevicePtr(at));
        // SAFETY: it came from the runtime, as memory of that kind, and is not used again.
        let code = unsafe {
            match origin {
                Origin::Device | Origin::Shared => (self.runtime.free)(at),
                Origin::Host => (self.runtime.free_host)(at),
                Origin::Chunk => SUCCESS,
            }
        };
        self.runtime.check("freeing memory", code)
    }

    fn settle(&self) -> Result<()> {
        stream::wait_for_left(self)
    }
}

#[allow(unsafe_code, reason = "memory and kernels of a GPU, by address")]
impl Gpu for Hip {
    fn pool(&self) -> &Pool {
        &self.pool
    }

    fn enter(&self) -> Result<Box<dyn Held>> {
        let here = Hip::enter(self)?;
        // That needs no memory where there is nothing to put back.
        Ok(if here.before.is_some() { Box::new(here) } else { Box::new(()) })
    }

    /// What kernels print appears when they were waited for.
    fn may_leave(&self) -> bool {
        !self.prints.load(Ordering::Relaxed)
    }

    unsafe fn put_copy_in(
        &self,
        on: &mut Own,
        dst: DevicePtr,
        src: *const u8,
        len: usize,
    ) -> Result<()> {
        let mut from = src;
        if let Some(room) = on.room_to_read(len)? {
            // SAFETY: `len` bytes at `src` can be read by contract, and the room, which nobody
            // else uses, has as many.
            unsafe { ptr::copy_nonoverlapping(src, room, len) };
            from = room;
        } else {
            on.reads_later();
        }
        // SAFETY: both ranges are the caller's promise or the stream's own, until that was waited for; the
        // source is only read.
        let code = unsafe {
            (self.runtime.copy_in)(address(dst), from.cast_mut().cast(), len, on.handle())
        };
        self.runtime.check("copying to the device", code)
    }

    unsafe fn put_copy_out(
        &self,
        on: &mut Own,
        dst: *mut u8,
        src: DevicePtr,
        len: usize,
    ) -> Result<Option<*const u8>> {
        let room = on.room(len);
        let to = room.unwrap_or(dst);
        // SAFETY: both ranges are the caller's promise or the stream's own, until that was waited for.
        let code = unsafe { (self.runtime.copy_out)(to.cast(), address(src), len, on.handle()) };
        let copied = self.runtime.check("copying from the device", code);
        copied.map(|()| room.map(<*mut u8>::cast_const))
    }

    unsafe fn put_fill(&self, on: &mut Own, dst: DevicePtr, byte: u8, len: usize) -> Result<()> {
        // SAFETY: the range is the caller's promise.
        let code =
            unsafe { (self.runtime.fill)(address(dst), c_int::from(byte), len, on.handle()) };
        self.runtime.check("filling memory", code)
    }

    unsafe fn put_launch(
        &self,
        on: &mut Own,
        kernel: Kernel,
        args: &[u64],
        launch: &Launch<'_>,
    ) -> Result<()> {
        if launch.convention == Convention::Parameters {
            return Err(DeviceError::Unsupported("kernels of other compilers"));
        }
        let entry = self.entry(kernel)?;
        let [blocks, threads] =
            shape::of(shape::Gpu { units: self.units, memory: None }, entry.like, launch);
        // AMD counts all threads of a launch with 32 bits.
        let blocks = blocks.min(u32::MAX / threads.max(1));
        /// What `hipModuleLaunchKernel` calls the pieces of `extra`.
        const POINTER: usize = 1;
        const SIZE: usize = 2;
        const END: usize = 3;
        let mut bytes = args.len() * 8;
        // All parameters have 8 bytes, so the arguments lie as the kernel wants them.
        let mut extra: [*mut c_void; 5] = [
            ptr::without_provenance_mut(POINTER),
            args.as_ptr().cast_mut().cast(),
            ptr::without_provenance_mut(SIZE),
            (&raw mut bytes).cast(),
            ptr::without_provenance_mut(END),
        ];
        let extra = if args.is_empty() { ptr::null_mut() } else { extra.as_mut_ptr() };
        let none: *mut c_void = ptr::null_mut();
        // SAFETY: the kernel is of this device and takes these arguments by contract; the runtime copies
        // them before it returns.
        let code = unsafe {
            (self.runtime.launch)(
                entry.handle.0,
                blocks,
                1,
                1,
                threads,
                1,
                1,
                0,
                on.handle(),
                none.cast(),
                extra,
            )
        };
        self.runtime.check("running a kernel", code)
    }
}

#[allow(unsafe_code, reason = "memory and kernels of a GPU, by address")]
impl Device for Hip {
    fn name(&self) -> &str {
        "hip"
    }

    fn shares_host_memory(&self) -> bool {
        false
    }

    fn memory(&self) -> usize {
        self.memory
    }

    fn hold(&self) -> Option<Box<dyn Held + '_>> {
        Some(Box::new((self.modules(), self.heap(), self.pool.hold())))
    }

    fn accepts(&self, image: &[u8]) -> bool {
        image::runs_on(image, &self.target)
    }

    fn load(&self, image: &[u8]) -> Result<Module> {
        let _here = self.enter()?;
        let loaded: Result<Vec<Loaded>> =
            parts::of(image).into_iter().map(|it| self.load_part(it)).collect();
        let loaded = loaded?;
        if parts::has_name(image, &["printf", "hostcall"]) {
            self.prints.store(true, Ordering::Relaxed);
        }
        let mut modules = self.modules();
        modules.last += 1;
        let number = modules.last;
        modules.loaded.insert(number, loaded.into());
        Ok(Module(number))
    }

    fn unload(&self, module: Module) -> Result<()> {
        let mut modules = self.modules();
        for kernel in &mut modules.kernels {
            kernel.take_if(|it| it.module == module);
        }
        let loaded = modules.loaded.remove(&module.0);
        drop(modules);
        stream::wait_for_left(self)?;
        let _here = self.enter()?;
        for it in loaded.iter().flat_map(|it| it.iter()) {
            // SAFETY: a module of this device; kernels of it are not started any more.
            match unsafe { (self.runtime.unload)(it.handle.0) } {
                // At the end of a program the runtime may be gone before.
                DEINITIALIZED => {}
                code => self.runtime.check("unloading an image", code)?,
            }
        }
        Ok(())
    }

    fn symbol(&self, module: Module, name: &CStr) -> Result<Symbol> {
        let loaded = self.loaded(module)?;
        let _here = self.enter()?;
        self.variable(&loaded, name)
    }

    fn kernel(&self, module: Module, name: &CStr) -> Result<Kernel> {
        let loaded = self.loaded(module)?;
        let _here = self.enter()?;
        let handle = self.search(&loaded, name, |handle| {
            let mut function = ptr::null_mut();
            // SAFETY: a module that is loaded; writes a handle.
            let code = unsafe { (self.runtime.function)(&raw mut function, handle, name.as_ptr()) };
            (code, function)
        })?;
        let ask = |attribute| {
            let mut answer = 0;
            // SAFETY: a kernel that was just found; writes a number.
            let asked =
                unsafe { (self.runtime.kernel_attribute)(&raw mut answer, attribute, handle) };
            let asked = self.runtime.check("asking what a kernel is like", asked);
            asked.map(|()| usize::try_from(answer).unwrap_or(0))
        };
        let like = shape::Kernel {
            most: ask(MOST_THREADS)?.max(1),
            memory: ask(BLOCK_MEMORY)?,
            at_once: None,
            spread: self.spread(&loaded, name).unwrap_or(Spread::EVEN),
        };
        let mut modules = self.modules();
        modules.kernels.push(Some(Entry { module, handle: Handle(handle), like }));
        Ok(Kernel(modules.kernels.len() as u64 - 1))
    }

    fn alloc(&self, bytes: usize, align: usize, kind: MemoryKind) -> Result<DevicePtr> {
        if align > GRAIN {
            return Err(DeviceError::Unsupported("memory that is aligned to more than 256 bytes"));
        }
        let at = match kind {
            MemoryKind::Device => heap::block(self, bytes)?,
            MemoryKind::Host => self.of_kind(bytes, Origin::Host)?,
            MemoryKind::Shared => self.of_kind(bytes, Origin::Shared)?,
        };
        Ok(DevicePtr(at))
    }

    fn owns(&self, at: DevicePtr) -> bool {
        self.heap().has(at.0)
    }

    unsafe fn free(&self, ptr: DevicePtr) -> Result<()> {
        heap::free(self, ptr.0)
    }

    unsafe fn lock_host(&self, at: *mut u8, bytes: usize) -> Result<()> {
        const PORTABLE: u32 = 1;
        let _here = self.enter()?;
        // SAFETY: memory of the program by contract, which stays until it is unlocked.
        let code = unsafe { (self.runtime.lock)(at.cast(), bytes, PORTABLE) };
        self.runtime.check("locking memory", code)
    }

    unsafe fn unlock_host(&self, at: *mut u8) -> Result<()> {
        let _here = self.enter()?;
        // SAFETY: it was locked by contract.
        let code = unsafe { (self.runtime.unlock)(at.cast()) };
        self.runtime.check("unlocking memory", code)
    }

    stream::by_streams!();

    unsafe fn copy_within(&self, dst: DevicePtr, src: DevicePtr, len: usize) -> Result<()> {
        let (what, runtime) = ("copying within the device", self.runtime);
        if len == 0 {
            return Ok(());
        }
        if dst.0.abs_diff(src.0) >= len as u64 {
            // SAFETY: both are memory of this device and do not overlap.
            return self.waited(what, |on| unsafe {
                (runtime.copy_within)(address(dst), address(src), len, on.handle())
            });
        }
        let between = self.alloc(len, GRAIN, MemoryKind::Device)?;
        // SAFETY: `between` has `len` bytes and overlaps with neither; one copy follows the other.
        let copied = self.waited(what, |on| unsafe {
            match (runtime.copy_within)(address(between), address(src), len, on.handle()) {
                SUCCESS => (runtime.copy_within)(address(dst), address(between), len, on.handle()),
                code => code,
            }
        });
        // SAFETY: it came from `alloc` above, and the copies are done.
        unsafe { self.free(between) }.and(copied)
    }

    fn synchronize(&self) -> Result<()> {
        // Threads wait for their own; this is for the program's own code in HIP.
        let _here = self.enter()?;
        // SAFETY: waits for the current device.
        self.runtime.check("waiting", unsafe { (self.runtime.wait_for_all)() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_without_gpus_is_told_so() {
        // Where there is one, this opens it, and there are never so many.
        let error = Hip::open(1 << 20).map(|_| ()).unwrap_err().to_string();
        assert!(error.contains("AMD"), "{error}");
    }
}
