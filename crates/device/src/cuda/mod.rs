//! NVIDIA GPUs, through the CUDA driver.
//!
//! The driver's library is opened when the first such device is: nothing is linked, and its absence is
//! an answer. Images are machine code or assembly ([`image`]); a kernel takes one 8-byte parameter
//! per argument. One that is made for blocks of one thread gets a block for each team; others share
//! their iterations among as many threads as there are.
//!
//! - [`driver`]: the library, and what its answers mean
//! - [`context`]: one GPU
//! - [`streams`]: what is done in an order ([`crate::gpu::pool`]); each call has one, so threads do not wait for each other
//! - [`batch`]: small kernels that nobody waits for, started together
//! - [`bus`]: large copies
//!
//! Memory that is given back is kept for the next who asks ([`crate::gpu::heap`]).
//!
//! A kernel that crashes takes the context with it: the call that waited for it says so, and every
//! later call that the device is lost.
#![allow(
    clippy::wildcard_enum_match_arm,
    reason = "the driver's codes: a hundred, of which few matter"
)]

mod batch;
mod bus;
mod context;
mod driver;
mod image;
mod streams;

use std::collections::HashMap;
use std::ffi::{CStr, CString, c_void};
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use abi::requires;
use cudarc::driver::sys::{
    self, CUcontext, CUfunction, CUfunction_attribute_enum as Attribute, CUmemAttach_flags_enum,
    CUmodule, CUresult,
};

use crate::gpu::heap::{self, GRAIN, Heap, Origin, Source};
use crate::gpu::mailbox::{self, Mailbox};
use crate::gpu::pool::Order;
use crate::gpu::pool::{Own, Pool, Work};
use crate::gpu::relay::Relay;
use crate::gpu::stream::{self, Gpu};
use crate::gpu::{llvm, parts, shape};
use crate::memory::{DevicePtr, MemoryKind};
use crate::{
    Convention, Device, DeviceError, Held, Kernel, Launch, Module, Result, Stream, Symbol, Upcalls,
};
use batch::{Keeper, Start};
use bus::Bus;
use context::{Context, Entered};
use driver::{check, crash, failure};
use streams::{Line, Streams};

/// The device.
#[derive(Debug)]
pub struct Cuda {
    context: Context,
    keeper: Option<Arc<Keeper>>,
    pool: Pool,
    relay: Relay,
    modules: Mutex<Modules>,
    heap: Mutex<Heap>,
    /// Where launches in a stream leave parts of sums, by the stream.
    parts: Mutex<HashMap<usize, Vec<Parts>>>,
    /// Where teams of kernels by LLVM leave theirs, by the stream.
    teams: Mutex<HashMap<usize, Vec<Parts>>>,
    /// Kernels of it may print.
    prints: AtomicBool,
    /// Where kernels leave regions for the host.
    mailbox: OnceLock<Mailbox>,
    /// Why it is of no use any more.
    lost: OnceLock<String>,
}

// SAFETY: handles of the driver may be used from all threads at once.
#[allow(unsafe_code, reason = "handles of a library that is safe for threads")]
unsafe impl Send for Cuda {}
// SAFETY: as above.
#[allow(unsafe_code, reason = "handles of a library that is safe for threads")]
unsafe impl Sync for Cuda {}

#[derive(Debug, Default)]
struct Modules {
    loaded: HashMap<u64, Arc<[CUmodule]>>,
    last: u64,
    /// By their numbers; none where the image is gone.
    kernels: Vec<Option<Entry>>,
}

/// A kernel, and how it wants to be run.
#[derive(Clone, Copy, Debug)]
struct Entry {
    module: Module,
    handle: CUfunction,
    like: shape::Kernel,
    /// How many places it takes for what its groups leave, and how many words each leaves there.
    sums: [usize; 2],
    /// What LLVM says of it, if it has compiled it.
    environment: Option<llvm::Environment>,
}

/// Memory for the parts of a sum.
#[derive(Clone, Copy, Debug)]
struct Parts {
    at: u64,
    bytes: usize,
}

/// What programs may require and most GPUs cannot give: some reach all of the host's memory.
pub(crate) fn gives(number: usize) -> u32 {
    let reaches = Context::reaches_host(number).unwrap_or(false);
    if reaches { requires::UNIFIED_SHARED_MEMORY } else { 0 }
}

/// The GPUs of the driver.
pub(crate) fn found() -> Result<Option<Vec<String>>> {
    Context::names().map(Some)
}

impl Cuda {
    /// The GPU with that number, as the driver counts them.
    pub fn open(number: usize) -> Result<Cuda> {
        let context = Context::open(number)?;
        /// So much of its memory, a fourth, is kept when it is given back; other programs and the
        /// program's own CUDA code want some too.
        const KEPT: usize = 4;
        let heap = Mutex::new(Heap::new(context.memory / KEPT));
        let keeper = Keeper::new(context.handle, context.driver);
        let relay = Relay::new(Box::new(Bus::default()))?;
        Ok(Cuda {
            context,
            pool: Pool::new(Box::new(Streams(keeper.clone()))),
            keeper,
            relay,
            modules: Mutex::default(),
            heap,
            parts: Mutex::default(),
            teams: Mutex::default(),
            prints: AtomicBool::new(false),
            mailbox: OnceLock::new(),
            lost: OnceLock::new(),
        })
    }

    fn modules(&self) -> MutexGuard<'_, Modules> {
        self.modules.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn heap(&self) -> MutexGuard<'_, Heap> {
        self.heap.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes the context current, if it is of any use.
    fn enter(&self) -> Result<Entered> {
        match self.lost.get() {
            Some(why) => Err(DeviceError::Lost(why.clone())),
            None => self.context.enter(),
        }
    }

    /// Puts something into a stream of its own, and waits for it.
    fn waited(&self, what: &'static str, act: impl FnOnce(&mut Own) -> CUresult) -> Result<()> {
        stream::waited(self, |it| it.put(Work::Own, |on| check(what, act(on))))
    }

    fn entry(&self, kernel: Kernel) -> Result<Entry> {
        let number = usize::try_from(kernel.0).unwrap_or(usize::MAX);
        let found = self.modules().kernels.get(number).copied().flatten();
        found.ok_or_else(|| DeviceError::BadImage("it is not loaded any more".into()))
    }

    fn handles(&self, module: Module) -> Result<Arc<[CUmodule]>> {
        let found = self.modules().loaded.get(&module.0).cloned();
        found.ok_or_else(|| DeviceError::BadImage("it is not loaded any more".into()))
    }

    /// Where so many sums have their parts in a launch of this stream. The context is current.
    fn parts(&self, on: &Own, [sums, words]: [usize; 2], blocks: u32) -> Result<Vec<u64>> {
        /// Bytes of a word.
        const WORD: usize = 8;
        /// Bytes that are asked for at least: launches of few blocks are followed by larger ones.
        const LEAST: usize = 16 << 10;
        if sums == 0 {
            return Ok(Vec::new());
        }
        let words = usize::try_from(blocks).unwrap_or(usize::MAX).saturating_mul(words);
        let bytes = words.saturating_mul(WORD).saturating_add(abi::image::LAUNCH_HEADER);
        let of = on.handle() as usize;
        let all = || self.parts.lock().unwrap_or_else(PoisonError::into_inner);
        let fitting = |it: &&Parts| it.bytes >= bytes;
        let kept = all().get(&of).map_or(0, |it| it.iter().filter(fitting).count());
        for _ in kept..sums {
            let bytes = bytes.next_power_of_two().max(LEAST);
            let at = heap::block(self, bytes)?;
            // SAFETY: memory of this device that nobody else knows.
            #[allow(unsafe_code, reason = "memory that was just made")]
            let cleared = unsafe { sys::cuMemsetD8Async(at, 0, bytes, on.handle().cast()) };
            check("filling memory", cleared)?;
            all().entry(of).or_default().push(Parts { at, bytes });
        }
        let all = all();
        let parts = all.get(&of).into_iter().flatten().filter(fitting);
        Ok(parts.map(|it| it.at).take(sums).collect())
    }

    /// Where a kernel by LLVM finds the place for what its teams leave: two counters, the address of the place, and the
    /// place behind them. Counters are zero when it begins. The context is current.
    fn launch_environment(&self, on: &Own, [bytes, length]: [usize; 2]) -> Result<u64> {
        /// Counters and the address, and what keeps the place aligned.
        const HEADER: u64 = 64;
        let bytes = bytes.saturating_mul(length).saturating_add(HEADER as usize);
        let of = on.handle() as usize;
        let all = || self.teams.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = all().get(&of).and_then(|it| it.iter().find(|it| it.bytes >= bytes).copied());
        let at = match kept {
            Some(kept) => kept.at,
            None => heap::block(self, bytes)?,
        };
        let place = at + HEADER;
        // SAFETY: memory of this device, of at least these words, used by this stream alone.
        #[allow(unsafe_code, reason = "memory that is ours")]
        let written = unsafe {
            let stream = on.handle().cast();
            let mut code = sys::cuMemsetD32Async(at, 0, 2, stream);
            for (offset, half) in [(8, place as u32), (12, (place >> 32) as u32)] {
                if code == CUresult::CUDA_SUCCESS && kept.is_none() {
                    code = sys::cuMemsetD32Async(at + offset, half, 1, stream);
                }
            }
            code
        };
        check("filling memory", written)?;
        if kept.is_none() {
            all().entry(of).or_default().push(Parts { at, bytes });
        }
        Ok(at)
    }

    /// Memory of another kind, which is asked for seldom: the driver's, each time.
    #[allow(unsafe_code, reason = "asks the driver")]
    fn of_kind(&self, bytes: usize, origin: Origin) -> Result<u64> {
        let (mut at, mut host) = (0, ptr::null_mut());
        // SAFETY: each writes one address; the context is current.
        let code = unsafe {
            match origin {
                Origin::Shared => {
                    let flags = CUmemAttach_flags_enum::CU_MEM_ATTACH_GLOBAL as u32;
                    sys::cuMemAllocManaged(&raw mut at, bytes, flags)
                }
                Origin::Host | Origin::Device | Origin::Chunk => {
                    let flags = sys::CU_MEMHOSTALLOC_PORTABLE | sys::CU_MEMHOSTALLOC_DEVICEMAP;
                    sys::cuMemHostAlloc(&raw mut host, bytes, flags)
                }
            }
        };
        match code {
            CUresult::CUDA_ERROR_OUT_OF_MEMORY => return Err(DeviceError::OutOfMemory { bytes }),
            code => check("allocating memory", code)?,
        }
        // Both sides know memory of the host by the same address.
        let at = if host.is_null() { at } else { host as u64 };
        self.heap().add(at, bytes, origin);
        Ok(at)
    }
}

/// The arguments of a kernel as the driver takes them; `bytes` is how many there are. All parameters have 8
/// bytes, so they lie as the kernel wants them.
fn arguments(args: &[u64], bytes: &mut usize) -> [*mut c_void; 5] {
    [
        ptr::without_provenance_mut(sys::CU_LAUNCH_PARAM_BUFFER_POINTER_AS_INT as usize),
        args.as_ptr().cast_mut().cast(),
        ptr::without_provenance_mut(sys::CU_LAUNCH_PARAM_BUFFER_SIZE_AS_INT as usize),
        ptr::from_mut(bytes).cast(),
        ptr::without_provenance_mut(sys::CU_LAUNCH_PARAM_END_AS_INT as usize),
    ]
}

#[allow(unsafe_code, reason = "asks the driver")]
impl Source for Cuda {
    fn with_heap<T>(&self, act: impl FnOnce(&mut Heap) -> T) -> T {
        act(&mut self.heap())
    }

    fn ask(&self, bytes: usize) -> Result<Option<u64>> {
        let _here = self.enter()?;
        let mut at = 0;
        // SAFETY: writes one address; the context is current.
        match unsafe { sys::cuMemAlloc_v2(&raw mut at, bytes) } {
            CUresult::CUDA_ERROR_OUT_OF_MEMORY => Ok(None),
            code => check("allocating memory", code).map(|()| Some(at)),
        }
    }

    fn give_back(&self, at: u64, origin: Origin) -> Result<()> {
        let _here = self.enter()?;
        // SAFETY: it came from the driver, as memory of that kind, and is not used again.
        let code = unsafe {
            match origin {
                Origin::Host => sys::cuMemFreeHost(at as *mut c_void),
                Origin::Device | Origin::Shared => sys::cuMemFree_v2(at),
                Origin::Chunk => CUresult::CUDA_SUCCESS,
            }
        };
        check("freeing memory", code)
    }

    fn settle(&self) -> Result<()> {
        stream::wait_for_left(self)
    }
}

#[allow(unsafe_code, reason = "memory and kernels of a GPU, by address")]
impl Gpu for Cuda {
    fn pool(&self) -> &Pool {
        &self.pool
    }

    fn enter(&self) -> Result<Box<dyn Held>> {
        Cuda::enter(self).map(Entered::held)
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
            // SAFETY: as above; what the relay has read may change.
            let done = unsafe { self.relay.copy_in(on.handle(), dst.0, src, len) };
            if let Some(done) = done {
                return done;
            }
            // From memory that is not locked the driver has read when it returns, but whose is not?
            on.reads_later();
        }
        // SAFETY: both ranges are the caller's promise or the stream's own, until that was waited for.
        let code =
            unsafe { sys::cuMemcpyHtoDAsync_v2(dst.0, from.cast(), len, on.handle().cast()) };
        check("copying to the device", code)
    }

    unsafe fn put_copy_out(
        &self,
        on: &mut Own,
        dst: *mut u8,
        src: DevicePtr,
        len: usize,
    ) -> Result<Option<*const u8>> {
        let room = on.room(len);
        if room.is_none() {
            // SAFETY: the caller's promise.
            let done = unsafe { self.relay.copy_out(on.handle(), dst, src.0, len) };
            if let Some(done) = done {
                return done.map(|()| None);
            }
        }
        let to = room.unwrap_or(dst);
        // SAFETY: both ranges are the caller's promise or the stream's own, until it was waited for.
        let code = unsafe { sys::cuMemcpyDtoHAsync_v2(to.cast(), src.0, len, on.handle().cast()) };
        check("copying from the device", code).map(|()| room.map(<*mut u8>::cast_const))
    }

    unsafe fn put_fill(&self, on: &mut Own, dst: DevicePtr, byte: u8, len: usize) -> Result<()> {
        // SAFETY: the range is the caller's promise.
        let code = unsafe { sys::cuMemsetD8Async(dst.0, byte, len, on.handle().cast()) };
        check("filling memory", code)
    }

    unsafe fn put_launch(
        &self,
        on: &mut Own,
        kernel: Kernel,
        args: &[u64],
        launch: &Launch<'_>,
    ) -> Result<()> {
        /// Threads that a multiprocessor has room for.
        const FULL: usize = 2048;
        /// What every GPU passes to kernels.
        const MOST_ARGUMENTS: usize = 4096 / 8;
        if args.len() > MOST_ARGUMENTS {
            return Err(DeviceError::Unsupported("kernels with more than 512 arguments"));
        }
        self.mailbox.get().map_or(Ok(()), Mailbox::launched)?;
        let entry = self.entry(kernel)?;
        let is_llvm = launch.convention == Convention::Parameters;
        let [blocks, threads] = match is_llvm {
            true => {
                let most = u32::try_from(entry.like.most).unwrap_or(u32::MAX);
                llvm::shape(entry.environment, most, launch)
            }
            false => shape::of(self.context.shape, entry.like, launch),
        };
        let units = self.context.shape.units;
        // One that leaves most of the GPU to others, so that it may start a moment later.
        let is_small = blocks as usize <= units;
        // One whose blocks all run at once: it takes less time than the driver does to start it.
        let is_short = (blocks as usize).saturating_mul(threads as usize) <= units * FULL;
        let parts = self.parts(on, entry.sums, blocks)?;
        let args: &[u64] = if parts.is_empty() { args } else { &[args, &parts].concat() };
        let reduction = entry.environment.filter(|it| is_llvm && it.reduces());
        let with_place;
        let args = match (reduction, args) {
            (Some(it), [_, rest @ ..]) => {
                with_place = [&[self.launch_environment(on, it.reduction)?], rest].concat();
                with_place.as_slice()
            }
            _ => args,
        };
        let is_plain = reduction.is_none() && launch.group_memory == 0;
        let is_gathered = |order| match order {
            Order::Any => is_plain && is_small && parts.is_empty(),
            Order::Chain => is_plain && is_short,
        };
        let gatherer = on.gatherer::<Line>().filter(|it| is_gathered(it.1));
        if gatherer.is_some_and(|(line, order)| {
            line.gather(&Start { kernel: entry.handle, blocks, threads, args, order })
        }) {
            return Ok(());
        }
        let mut bytes = args.len() * 8;
        let mut extra = arguments(args, &mut bytes);
        let extra = if args.is_empty() { ptr::null_mut() } else { extra.as_mut_ptr() };
        // SAFETY: the kernel is of this context and takes these arguments by contract; the
        // driver copies them before it returns.
        let code = unsafe {
            sys::cuLaunchKernel(
                entry.handle,
                blocks,
                1,
                1,
                threads,
                1,
                1,
                launch.group_memory,
                on.handle().cast(),
                ptr::null_mut(),
                extra,
            )
        };
        check("running a kernel", code)
    }

    fn calls_host(&self) -> bool {
        self.mailbox.get().is_some()
    }

    /// What kernels print appears when they were waited for.
    fn may_leave(&self) -> bool {
        !self.prints.load(Ordering::Relaxed)
    }

    /// A crash makes the device useless. Whose kernel it was is told what it did, all others that the
    /// device is lost.
    fn noted(&self, error: DeviceError, kernel: Option<&str>) -> DeviceError {
        let why = match (&error, kernel) {
            (DeviceError::Fault { what, .. }, Some(name)) => {
                format!("kernel `{name}` has crashed: {what}")
            }
            (DeviceError::Fault { what, .. }, None) => format!("kernel has crashed: {what}"),
            (DeviceError::Earlier { .. }, _) => error.to_string(),
            _ => return error,
        };
        let is_news = self.lost.set(why).is_ok();
        let is_of_nobody = matches!(error, DeviceError::Fault { .. }) && kernel.is_none();
        match self.lost.get() {
            Some(why) if !is_news || is_of_nobody => DeviceError::Lost(why.clone()),
            _ => error,
        }
    }
}

#[allow(unsafe_code, reason = "memory and kernels of a GPU, by address")]
impl Device for Cuda {
    fn name(&self) -> &str {
        "cuda"
    }

    fn shares_host_memory(&self) -> bool {
        false
    }

    fn memory(&self) -> usize {
        self.context.memory
    }

    fn hold(&self) -> Option<Box<dyn Held + '_>> {
        Some(Box::new((self.modules(), self.heap(), self.pool.hold())))
    }

    fn answer(&self, upcalls: Arc<dyn Upcalls>) -> Result<()> {
        let _here = self.enter()?;
        let page = self.of_kind(mailbox::BYTES, Origin::Host)? as *mut u8;
        // SAFETY: as many bytes of the host, locked, which nobody else knows and which are never given back.
        let mailbox = unsafe {
            ptr::write_bytes(page, 0, mailbox::BYTES);
            Mailbox::start(page, upcalls)?
        };
        // Asked for once.
        let _ = self.mailbox.set(mailbox);
        Ok(())
    }

    fn mailbox(&self) -> Option<DevicePtr> {
        self.mailbox.get().map(Mailbox::address)
    }

    fn accepts(&self, image: &[u8]) -> bool {
        image::runs_on(image, self.context.capability)
    }

    fn load(&self, image: &[u8]) -> Result<Module> {
        let _here = self.enter()?;
        let handles = image::load_all(image, self.context.driver)?;
        if parts::has_name(image, &["vprintf", "__assertfail"]) {
            self.prints.store(true, Ordering::Relaxed);
        }
        let mut modules = self.modules();
        modules.last += 1;
        let number = modules.last;
        modules.loaded.insert(number, handles.into());
        Ok(Module(number))
    }

    fn unload(&self, module: Module) -> Result<()> {
        let mut modules = self.modules();
        for kernel in &mut modules.kernels {
            kernel.take_if(|it| it.module == module);
        }
        let handles = modules.loaded.remove(&module.0);
        drop(modules);
        stream::wait_for_left(self)?;
        let _here = self.enter()?;
        self.keeper.iter().for_each(|it| it.forget());
        for handle in handles.iter().flat_map(|it| it.iter()) {
            // SAFETY: a module of this context; kernels of it are not started any more.
            match unsafe { sys::cuModuleUnload(*handle) } {
                // At the end of a program the driver may be gone before.
                CUresult::CUDA_ERROR_DEINITIALIZED => {}
                code => check("unloading an image", code)?,
            }
        }
        Ok(())
    }

    fn settle(
        &self,
        module: Module,
        number: usize,
        count: usize,
        functions: &[[u64; 2]],
    ) -> Result<()> {
        let Ok(name) = CString::new(llvm::DEVICE_ENVIRONMENT) else { return Ok(()) };
        // An image without LLVM's device library asks for nothing.
        let Ok(symbol) = self.symbol(module, &name) else { return Ok(()) };
        let rows: Vec<u64> = functions.iter().flatten().copied().collect();
        let mut table = DevicePtr::NULL;
        if !rows.is_empty() {
            /// Bytes of an address on GPUs.
            const ADDRESS: usize = 8;
            let bytes = rows.len() * ADDRESS;
            table = self.alloc(bytes, GRAIN, MemoryKind::Device)?;
            // SAFETY: as many bytes as were allocated; it stays as long as the image may use it.
            unsafe { self.copy_in(table, rows.as_ptr().cast(), bytes) }?;
        }
        /// Warps that a multiprocessor has at once, on all GPUs that are supported.
        const WARPS: usize = 64;
        let warps = self.context.shape.units * WARPS;
        let bytes = llvm::device_environment(number, count, (table.0, functions.len()), warps);
        let len = bytes.len().min(symbol.size);
        // SAFETY: a variable of the image, of that many bytes.
        unsafe { self.copy_in(symbol.address, bytes.as_ptr(), len) }
    }

    fn symbol(&self, module: Module, name: &CStr) -> Result<Symbol> {
        let handles = self.handles(module)?;
        let _here = self.enter()?;
        image::search(&handles, name, "looking for a variable", |handle| {
            let (mut at, mut size) = (0, 0);
            // SAFETY: a module that is loaded; writes an address and a size.
            let code = unsafe {
                sys::cuModuleGetGlobal_v2(&raw mut at, &raw mut size, handle, name.as_ptr())
            };
            (code, Symbol { address: DevicePtr(at), size })
        })
    }

    fn kernel(&self, module: Module, name: &CStr) -> Result<Kernel> {
        let handles = self.handles(module)?;
        let _here = self.enter()?;
        let handle = image::search(&handles, name, "looking for a kernel", |handle| {
            let mut function = ptr::null_mut();
            // SAFETY: a module that is loaded; writes a handle.
            let code =
                unsafe { sys::cuModuleGetFunction(&raw mut function, handle, name.as_ptr()) };
            (code, function)
        })?;
        let ask = |attribute| {
            let mut answer = 0;
            // SAFETY: a kernel that was just found; writes a number.
            let asked = unsafe { sys::cuFuncGetAttribute(&raw mut answer, attribute, handle) };
            check("asking what a kernel is like", asked)
                .map(|()| usize::try_from(answer).unwrap_or(0))
        };
        let most = ask(Attribute::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?.max(1);
        let at_once = shape::THREADS.map(|threads| {
            let (mut blocks, threads) = (0, i32::try_from(threads).unwrap_or(1));
            // SAFETY: as above.
            let asked = unsafe {
                let at = &raw mut blocks;
                sys::cuOccupancyMaxActiveBlocksPerMultiprocessor(at, handle, threads, 0)
            };
            usize::try_from(blocks).ok().filter(|_| asked == CUresult::CUDA_SUCCESS)
        });
        let like = shape::Kernel {
            most,
            memory: ask(Attribute::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)?,
            at_once: match at_once {
                [Some(large), Some(small)] if most >= shape::THREADS[0] => Some([large, small]),
                _ => None,
            },
            spread: image::spread(&handles, name).unwrap_or(shape::Spread::EVEN),
        };
        let sums = image::sums(&handles, name);
        let is_llvm = name.to_bytes().starts_with(llvm::KERNEL.as_bytes());
        let environment = if is_llvm { image::environment(&handles, name) } else { None };
        let mut modules = self.modules();
        modules.kernels.push(Some(Entry { module, handle, like, sums, environment }));
        Ok(Kernel(modules.kernels.len() as u64 - 1))
    }

    fn alloc(&self, bytes: usize, align: usize, kind: MemoryKind) -> Result<DevicePtr> {
        if align > GRAIN {
            return Err(DeviceError::Unsupported("memory that is aligned to more than 256 bytes"));
        }
        let at = match kind {
            MemoryKind::Device => {
                if let Some(why) = self.lost.get() {
                    return Err(DeviceError::Lost(why.clone()));
                }
                heap::block(self, bytes)?
            }
            MemoryKind::Host | MemoryKind::Shared => {
                let _here = self.enter()?;
                let is_host = kind == MemoryKind::Host;
                self.of_kind(bytes, if is_host { Origin::Host } else { Origin::Shared })?
            }
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
        let _here = self.enter()?;
        let flags = sys::CU_MEMHOSTREGISTER_PORTABLE;
        // SAFETY: memory of the program by contract, which stays until it is unlocked.
        check("locking memory", unsafe { sys::cuMemHostRegister_v2(at.cast(), bytes, flags) })
    }

    unsafe fn unlock_host(&self, at: *mut u8) -> Result<()> {
        let _here = self.enter()?;
        // SAFETY: it was locked by contract.
        check("unlocking memory", unsafe { sys::cuMemHostUnregister(at.cast()) })
    }

    stream::by_streams!();

    unsafe fn copy_within(&self, dst: DevicePtr, src: DevicePtr, len: usize) -> Result<()> {
        let what = "copying within the device";
        if len == 0 {
            return Ok(());
        }
        if dst.0.abs_diff(src.0) >= len as u64 {
            // SAFETY: both are memory of this device and do not overlap.
            return self.waited(what, |on| unsafe {
                sys::cuMemcpyDtoDAsync_v2(dst.0, src.0, len, on.handle().cast())
            });
        }
        let between = self.alloc(len, GRAIN, MemoryKind::Device)?;
        // SAFETY: `between` has `len` bytes and overlaps with neither; one copy follows the other.
        let copied = self.waited(what, |on| unsafe {
            match sys::cuMemcpyDtoDAsync_v2(between.0, src.0, len, on.handle().cast()) {
                CUresult::CUDA_SUCCESS => {
                    sys::cuMemcpyDtoDAsync_v2(dst.0, between.0, len, on.handle().cast())
                }
                code => code,
            }
        });
        // SAFETY: it came from `alloc` above, and the copies are done.
        unsafe { self.free(between) }.and(copied)
    }

    fn peer_handle(&self) -> u64 {
        self.context.handle as u64
    }

    unsafe fn copy_to_peer(
        &self,
        peer: &dyn Device,
        dst: DevicePtr,
        src: DevicePtr,
        len: usize,
    ) -> Result<()> {
        if peer.name() != self.name() {
            return Err(DeviceError::Unsupported("direct copies to devices of another kind"));
        }
        let (to, from) = (peer.peer_handle() as CUcontext, self.context.handle);
        self.waited("copying to another GPU", |on| {
            // SAFETY: both ranges are the caller's promise, in the contexts of their devices, which
            // stay as long as these.
            unsafe { sys::cuMemcpyPeerAsync(dst.0, to, src.0, from, len, on.handle().cast()) }
        })
    }

    fn synchronize(&self) -> Result<()> {
        // Other threads wait for their own; this is for the program's CUDA code.
        let _here = self.enter()?;
        if let Some(keeper) = &self.keeper {
            keeper.flush();
        }
        // SAFETY: waits for the current context.
        let waited = unsafe { sys::cuCtxSynchronize() };
        match crash(waited) {
            Some(_) => Err(self.noted(failure("waiting", waited), None)),
            None => check("waiting", waited),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_without_gpus_is_told_so() {
        // Where there is one, this opens it, and there are never so many.
        let error = Cuda::open(1 << 20).map(|_| ()).unwrap_err().to_string();
        assert!(error.contains("NVIDIA") || error.contains("GPU"), "{error}");
    }
}
