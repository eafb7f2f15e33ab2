//! Any device that an OpenCL driver on this machine offers.
//!
//! Images are texts in OpenCL C ([`abi::image::OPENCL`]): the driver compiles them when they are
//! loaded. Memory is shared virtual memory where the device has that and the pointers of 2.0: an address means
//! the same on both sides, so pointers inside of mapped data can be followed. Other devices get the text for 1.2, and
//! memory in a few buffers ([`buffers`]).
//!
//! A kernel takes one 8-byte parameter per argument, and one for each sum: memory of the launch for what
//! its groups have summed up; in 1.2 then all buffers, and where the stacks of its threads are. One that says it wants groups of one thread gets a group for each team;
//! others share their iterations among as many threads as there are. On a processor a group is one
//! thread, which takes iterations that follow each other.
//!
//! Every call has a queue that nobody else uses meanwhile ([`crate::gpu::pool`]), so calls may return before their work is done.
//!
//! The library of drivers is opened when the first such device is: its absence is an answer.

mod buffers;
mod choose;
mod program;
mod queues;

use std::collections::{BTreeSet, HashMap};
use std::ffi::{CStr, c_void};
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use abi::names::{VARIABLES_INIT, VARIABLES_SIZE, of_file};
use abi::requires;
use abi::target::{Kind, Vendor};
use cache::Cache;
use cl3::command_queue as queue;
use cl3::context;
use cl3::memory::{self, CL_MEM_READ_WRITE, CL_MEM_SVM_ATOMICS, CL_MEM_SVM_FINE_GRAIN_BUFFER};
use cl3::types::{CL_BLOCKING, CL_NON_BLOCKING, cl_bool, cl_context, cl_event, cl_int};

use crate::gpu::heap::{self, Heap, Origin, Source};
use crate::gpu::mailbox::{self, Mailbox};
use crate::gpu::parts;
use crate::gpu::pool::{Own, Pool, STAGED, Work};
use crate::gpu::stream::{self, Gpu};
use crate::memory::{DevicePtr, MemoryKind, PIECE, in_pieces};
use crate::{
    Build, Device, DeviceError, Held, Kernel, Launch, Module, Result, Stream, Symbol, Upcalls,
};
use buffers::Buffers;
use choose::{Both, Chosen, Level, Reach};
use program::{Entry, Program, WORD};
use queues::Queues;

/// What memory is aligned to: drivers align to their largest type, and take no more than that.
const ALIGNED: usize = 128;

/// The device.
#[derive(Debug)]
pub struct OpenCl {
    name: &'static str,
    /// The first line of images that it takes.
    mark: String,
    /// It stands in for another device.
    emulates: bool,
    chosen: Chosen,
    context: cl_context,
    pool: Pool,
    /// What drivers have compiled before.
    cache: Cache,
    modules: Mutex<Modules>,
    memory: Memory,
    blocks: Mutex<Blocks>,
    /// Memory for parts of sums, by queue: the launches of one queue run one after another.
    parts: Mutex<HashMap<usize, Vec<Parts>>>,
    /// Memory for stacks of threads, likewise.
    stacks: Mutex<HashMap<usize, Parts>>,
    /// Kernels of it may print.
    prints: AtomicBool,
    /// Where kernels leave regions for the host.
    mailbox: OnceLock<Mailbox>,
}

/// Where the memory of a device comes from.
#[derive(Debug)]
enum Memory {
    /// It is memory of the host's addresses.
    Shared,
    /// It is places in buffers.
    Buffers(Buffers),
}

// SAFETY: handles of OpenCL may be used from all threads at once, except that the arguments of a
// kernel may not; those are set under the lock of [`Entry`].
#[allow(unsafe_code, reason = "handles of a library that is safe for threads")]
unsafe impl Send for OpenCl {}
// SAFETY: as above.
#[allow(unsafe_code, reason = "handles of a library that is safe for threads")]
unsafe impl Sync for OpenCl {}

#[derive(Debug, Default)]
struct Modules {
    loaded: HashMap<u64, Vec<Program>>,
    kernels: HashMap<u64, Arc<Entry>>,
    last: u64,
}

/// What was handed out and is kept, and what the driver knows of it.
#[derive(Debug)]
struct Blocks {
    heap: Heap,
    /// What the driver was asked for.
    of_driver: BTreeSet<u64>,
    /// Grows with every change of that: kernels must be told of the memory that they reach.
    version: u64,
}

/// Memory for what the groups of a launch have summed up: a word that counts groups, 0 between launches, and
/// a word for each group.
#[derive(Debug)]
struct Parts {
    at: DevicePtr,
    bytes: usize,
}

/// What programs may require and not every device can give: some reach all of the program's memory, some have memory that
/// the host sees while kernels run.
pub(crate) fn gives(number: usize) -> u32 {
    let Ok(chosen) = choose::device(number, Level::V20) else { return 0 };
    let unified = match chosen.reach {
        Reach::System | Reach::Process => requires::UNIFIED_SHARED_MEMORY,
        Reach::Own => 0,
    };
    let reverse = if chosen.seen_by_both.is_some() { requires::REVERSE_OFFLOAD } else { 0 };
    unified | reverse
}

/// The devices of all drivers.
pub(crate) fn found() -> Result<Option<Vec<String>>> {
    let all = choose::all()?;
    match all.is_empty() {
        true => Err(DeviceError::Failed("OpenCL offers no device here".into())),
        false => Ok(Some(all.into_iter().map(choose::name).collect())),
    }
}

/// The version of OpenCL after which nothing is used for a kind of device.
fn level(kind: Kind) -> Level {
    if kind == Kind::OpenCl { Level::V20 } else { Level::V12 }
}

impl OpenCl {
    /// The device with that number among those of all drivers, processors last.
    pub fn open(number: usize) -> Result<OpenCl> {
        OpenCl::opened(number, Kind::OpenCl)
    }

    /// The same, of which nothing is used that came after version 1.2.
    pub fn open_as_12(number: usize) -> Result<OpenCl> {
        OpenCl::opened(number, Kind::OpenCl12)
    }

    /// The same, which takes pipelines for an FPGA and emulates it.
    pub fn open_as_fpga(number: usize, vendor: Vendor) -> Result<OpenCl> {
        OpenCl::opened(number, Kind::Fpga(vendor))
    }

    /// With what it compiles kept in the user's cache.
    fn opened(number: usize, kind: Kind) -> Result<OpenCl> {
        OpenCl::with_cache(choose::device(number, level(kind))?, kind, Cache::of_user(true))
    }

    fn with_cache(chosen: Chosen, kind: Kind, cache: Cache) -> Result<OpenCl> {
        let emulates = matches!(kind, Kind::Fpga(_));
        let name = kind.target().name;
        let mark = match emulates {
            true => abi::image::fpga(name),
            false => abi::image::OPENCL.to_owned(),
        };
        let failed = |what, code| failure(what, code);
        let context = context::create_context(&[chosen.id], ptr::null(), None, ptr::null_mut())
            .map_err(|code| failed("making a context", code))?;
        // So much of its memory is kept when it is given back. A processor's is the host's too.
        let kept = chosen.memory / if chosen.is_processor { 16 } else { 4 };
        let memory = match chosen.level {
            Level::V20 => Memory::Shared,
            Level::V12 => Memory::Buffers(Buffers::new(context, &chosen)?),
        };
        let moved = match &memory {
            Memory::Shared => None,
            Memory::Buffers(it) => Some(it.moved.clone()),
        };
        let pool = Pool::new(Box::new(Queues { context, device: chosen.id, moved }));
        Ok(OpenCl {
            name,
            mark,
            emulates,
            memory,
            stacks: Mutex::default(),
            chosen,
            context,
            pool,
            cache,
            modules: Mutex::default(),
            blocks: Mutex::new(Blocks {
                heap: Heap::new(kept),
                of_driver: BTreeSet::new(),
                version: 0,
            }),
            parts: Mutex::default(),
            prints: AtomicBool::new(false),
            mailbox: OnceLock::new(),
        })
    }

    fn modules(&self) -> MutexGuard<'_, Modules> {
        self.modules.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn blocks(&self) -> MutexGuard<'_, Blocks> {
        self.blocks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn all_parts(&self) -> MutexGuard<'_, HashMap<usize, Vec<Parts>>> {
        self.parts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts something into a queue of its own, and waits for it.
    fn waited(
        &self,
        what: &'static str,
        act: impl FnOnce(&Own) -> std::result::Result<cl_event, cl_int>,
    ) -> Result<()> {
        stream::waited(self, |it| it.put(Work::Own, |on| began(what, on, act(on))))
    }

    fn entry(&self, kernel: Kernel) -> Result<Arc<Entry>> {
        let found = self.modules().kernels.get(&kernel.0).cloned();
        found.ok_or_else(|| DeviceError::BadImage("it is not loaded any more".into()))
    }

    /// Memory for the variables of a program, with their first values.
    fn make_variables(&self, program: &mut Program) -> Result<()> {
        // The kernels take a place for the variables before there is one.
        program.variables = Some(DevicePtr::NULL);
        if program.files.is_empty() {
            let block = self.block(program, VARIABLES_SIZE)?;
            program.variables = Some(block);
            program.blocks.push(block);
            return self.fill_variables(program, VARIABLES_INIT);
        }
        let files = program.files.clone();
        let mut places = vec![0_u64; files.len()];
        let len = places.len() * WORD;
        let table = self.alloc(len, WORD, MemoryKind::Device)?;
        program.variables = Some(table);
        program.blocks.push(table);
        self.tell(table, &places)?;
        for (file, place) in files.iter().zip(&mut places) {
            let block = self.block(program, &of_file(VARIABLES_SIZE, file))?;
            program.blocks.push(block);
            *place = block.0;
        }
        self.tell(table, &places)?;
        // The first value of one may be the address of another's.
        files.iter().try_for_each(|it| self.fill_variables(program, &of_file(VARIABLES_INIT, it)))
    }

    /// Memory of the size that a kernel tells.
    fn block(&self, program: &Program, size: &str) -> Result<DevicePtr> {
        let entry = program.entry(Module(0), &program::name(size)?, &self.chosen)?;
        let Symbol { address: DevicePtr(bytes), .. } = self.ask(&entry)?;
        self.alloc(usize::try_from(bytes).unwrap_or(usize::MAX), 128, MemoryKind::Device)
    }

    /// Writes words to memory of the device, now.
    fn tell(&self, at: DevicePtr, words: &[u64]) -> Result<()> {
        // SAFETY: the memory was made for them.
        #[allow(unsafe_code, reason = "memory that was just made")]
        unsafe {
            self.copy_in(at, words.as_ptr().cast(), words.len() * WORD)?;
        }
        self.synchronize()
    }

    /// Runs the kernel that gives variables their first values.
    fn fill_variables(&self, program: &Program, init: &str) -> Result<()> {
        let init = program.entry(Module(0), &program::name(init)?, &self.chosen)?;
        // SAFETY: this kernel of our compiler takes nothing but the place of the variables.
        #[allow(unsafe_code, reason = "a kernel of the image")]
        unsafe {
            self.run(&init, &[0], [1, 1])
        }
    }

    /// Runs a kernel of the image that tells where a variable is.
    fn ask(&self, entry: &Entry) -> Result<Symbol> {
        const WORDS: usize = 2;
        let at = self.alloc(WORDS * 8, 8, MemoryKind::Device)?;
        let mut words = [0u64; WORDS];
        // SAFETY: such a kernel takes the address of two words and writes them.
        #[allow(unsafe_code, reason = "a kernel of the image")]
        let answer = unsafe {
            let ran = self.run(entry, &[at.0], [1, 1]);
            let copied = ran.and_then(|()| self.copy_out(words.as_mut_ptr().cast(), at, WORDS * 8));
            self.free(at).and(copied)
        };
        answer?;
        let [address, size] = words;
        Ok(Symbol { address: DevicePtr(address), size: usize::try_from(size).unwrap_or(0) })
    }

    /// Runs a kernel with so many groups of so many threads, and waits for it.
    ///
    /// # Safety
    /// As for [`Device::launch`].
    #[allow(unsafe_code, reason = "starts a kernel")]
    unsafe fn run(&self, entry: &Entry, args: &[u64], shape: [usize; 2]) -> Result<()> {
        stream::waited(self, |it| {
            // SAFETY: the caller's promise.
            it.put(Work::Own, |on| unsafe { self.enqueue(on, entry, args, shape) })
        })
    }

    /// Puts a kernel into a queue.
    ///
    /// # Safety
    /// As for [`Device::launch`].
    #[allow(unsafe_code, reason = "starts a kernel")]
    unsafe fn enqueue(
        &self,
        on: &Own,
        entry: &Entry,
        args: &[u64],
        [groups, threads]: [usize; 2],
    ) -> Result<()> {
        let (global, local) = ([groups * threads], [threads]);
        let variables = entry.variables.map(|it| it.0);
        let stacks = entry.stack.map(|it| self.stacks(on, it * groups * threads)).transpose()?;
        let memories = match (&self.memory, stacks) {
            (Memory::Buffers(it), Some(stacks)) => [it.arguments(), vec![stacks]].concat(),
            (Memory::Buffers(_) | Memory::Shared, _) => Vec::new(),
        };
        let passed = args.len() + usize::from(variables.is_some()) + memories.len();
        let parts = self.parts(on, entry.parameters.saturating_sub(passed), groups)?;
        let mut kernel = entry.arguments();
        if matches!(self.memory, Memory::Shared) {
            kernel.reach(self.reached())?;
        }
        let words = args.iter().copied().chain(variables).chain(parts).chain(memories);
        for (index, word) in words.enumerate() {
            kernel.set(index, word)?;
        }
        // SAFETY: the kernel takes what was set, by contract; sizes are of one dimension.
        let asked = unsafe {
            queue::enqueue_nd_range_kernel(
                on.handle(),
                kernel.handle(),
                1,
                ptr::null(),
                global.as_ptr(),
                local.as_ptr(),
                0,
                ptr::null(),
            )
        };
        let what = "running a kernel";
        match &self.memory {
            Memory::Shared => began(what, on, asked),
            Memory::Buffers(it) => {
                queues::release(asked.map_err(|code| failure(what, code))?);
                began(what, on, it.look(on.handle()))
            }
        }
    }

    /// Where the stacks of threads are in a launch of this queue.
    fn stacks(&self, on: &Own, bytes: usize) -> Result<u64> {
        /// Bytes that are asked for at least.
        const LEAST: usize = 1 << 16;
        let of = on.handle() as usize;
        let kept = self.all_stacks().get(&of).filter(|it| it.bytes >= bytes).map(|it| it.at);
        if let Some(at) = kept {
            return Ok(at.0);
        }
        let bytes = bytes.next_power_of_two().max(LEAST);
        let at = self.alloc(bytes, WORD, MemoryKind::Device)?;
        // The smaller one may be in use still, and is not worth waiting for.
        self.all_stacks().insert(of, Parts { at, bytes });
        Ok(at.0)
    }

    fn all_stacks(&self) -> MutexGuard<'_, HashMap<usize, Parts>> {
        self.stacks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks for memory of the device to be filled, at its turn.
    ///
    /// # Safety
    /// There are `len` bytes.
    #[allow(unsafe_code, reason = "memory by address")]
    unsafe fn filled(
        &self,
        on: &Own,
        at: DevicePtr,
        byte: u8,
        len: usize,
    ) -> std::result::Result<cl_event, cl_int> {
        if let Memory::Buffers(it) = &self.memory {
            return it.fill(on.handle(), at, byte, len);
        }
        let (to, pattern) = (at.0 as *mut c_void, (&raw const byte).cast());
        // SAFETY: the caller's promise; the pattern is one byte, which the driver copies now.
        unsafe { queue::enqueue_svm_mem_fill(on.handle(), to, pattern, 1, len, 0, ptr::null()) }
    }

    /// Where so many sums have their parts in a launch of this queue.
    fn parts(&self, on: &Own, sums: usize, groups: usize) -> Result<Vec<u64>> {
        /// Bytes that are asked for at least: launches of few groups are followed by larger ones.
        const LEAST: usize = 4096;
        if sums == 0 {
            return Ok(Vec::new());
        }
        let bytes = (groups + 1) * WORD;
        let fitting = |it: &&Parts| it.bytes >= bytes;
        let of = on.handle() as usize;
        let kept = self.all_parts().get(&of).map_or(0, |it| it.iter().filter(fitting).count());
        for _ in kept..sums {
            let bytes = bytes.next_power_of_two().max(LEAST);
            let at = self.alloc(bytes, WORD, MemoryKind::Device)?;
            // SAFETY: memory of this device that nobody else knows.
            #[allow(unsafe_code, reason = "memory that was just made")]
            let cleared = unsafe { self.filled(on, at, 0, bytes) };
            queues::release(cleared.map_err(|code| failure("filling memory", code))?);
            self.all_parts().entry(of).or_default().push(Parts { at, bytes });
        }
        let all = self.all_parts();
        let parts = all.get(&of).into_iter().flatten().filter(fitting);
        Ok(parts.map(|it| it.at.0).take(sums).collect())
    }

    /// Memory of zeros that the host sees while kernels run.
    #[allow(unsafe_code, reason = "asks the driver")]
    fn fine_grained(&self, bytes: usize) -> Result<*mut u8> {
        let flags = CL_MEM_READ_WRITE | CL_MEM_SVM_FINE_GRAIN_BUFFER | CL_MEM_SVM_ATOMICS;
        // SAFETY: asks for memory of the context.
        let made = unsafe { memory::svm_alloc(self.context, flags, bytes, 0) };
        let at = made.map_err(|code| failure("allocating memory", code))?.cast::<u8>();
        // SAFETY: as many bytes, which nobody else knows.
        unsafe { ptr::write_bytes(at, 0, bytes) };
        let mut blocks = self.blocks();
        blocks.of_driver.insert(at as u64);
        blocks.version += 1;
        Ok(at)
    }

    /// All memory of the device, for a kernel that has not been told since it changed.
    fn reached(&self) -> impl FnOnce(u64) -> Option<(u64, Vec<u64>)> + '_ {
        move |known| {
            let blocks = self.blocks();
            let is_new = blocks.version != known;
            is_new.then(|| (blocks.version, blocks.of_driver.iter().copied().collect()))
        }
    }

    /// How many groups of how many threads a launch gets.
    fn shape(&self, entry: &Entry, launch: &Launch<'_>) -> [usize; 2] {
        let units = self.chosen.units;
        let asked = launch.teams as usize;
        let limit = if launch.limit == 0 { usize::MAX } else { launch.limit as usize };
        if entry.threads == Some(1) {
            return [if asked == 0 { 1 } else { asked }, 1];
        }
        /// So many threads are in a group: two or more hardware groups on all known devices. A processor has
        /// no such groups.
        const THREADS: usize = 128;
        /// And so many groups for each unit of the device, so that none is idle at the end.
        const ROUNDS: usize = 16;
        let wanted = if self.chosen.is_processor { 1 } else { THREADS };
        let threads = entry.threads.unwrap_or_else(|| wanted.min(entry.most).min(limit).max(1));
        let groups = match (asked, launch.trip_count) {
            (0, 0) => units * ROUNDS,
            (0, trips) => {
                let trips = usize::try_from(trips).unwrap_or(usize::MAX);
                trips.div_ceil(threads).clamp(1, units * ROUNDS)
            }
            (asked, _) => asked,
        };
        [groups, threads]
    }
}

#[allow(unsafe_code, reason = "asks the driver")]
impl Source for OpenCl {
    fn with_heap<T>(&self, act: impl FnOnce(&mut Heap) -> T) -> T {
        act(&mut self.blocks().heap)
    }

    fn ask(&self, bytes: usize) -> Result<Option<u64>> {
        let align = u32::try_from(ALIGNED).unwrap_or(0);
        // Drivers answer a lack of memory in several ways.
        let made = match &self.memory {
            // SAFETY: asks for memory of the context.
            Memory::Shared => unsafe {
                let made = memory::svm_alloc(self.context, CL_MEM_READ_WRITE, bytes, align);
                made.ok().map(|it| it as u64)
            },
            Memory::Buffers(it) => it.take(bytes).ok().flatten(),
        };
        let Some(at) = made else { return Ok(None) };
        let mut blocks = self.blocks();
        blocks.of_driver.insert(at);
        blocks.version += 1;
        Ok(Some(at))
    }

    fn give_back(&self, at: u64, _: Origin) -> Result<()> {
        let mut blocks = self.blocks();
        blocks.of_driver.remove(&at);
        blocks.version += 1;
        if let Memory::Buffers(it) = &self.memory {
            it.put(at);
            return Ok(());
        }
        // SAFETY: it came from the driver and is not used again.
        unsafe { memory::svm_free(self.context, at as *mut c_void) }
            .map_err(|code| failure("freeing memory", code))
    }

    fn settle(&self) -> Result<()> {
        stream::wait_for_left(self)
    }
}

#[allow(unsafe_code, reason = "memory and kernels of a driver, by address")]
impl Gpu for OpenCl {
    fn pool(&self) -> &Pool {
        &self.pool
    }

    fn calls_host(&self) -> bool {
        self.mailbox.get().is_some()
    }

    /// What kernels print may appear when they were waited for.
    fn may_leave(&self) -> bool {
        !self.prints.load(Ordering::Relaxed)
    }

    fn enter(&self) -> Result<Box<dyn Held>> {
        Ok(Box::new(()))
    }

    unsafe fn put_copy_in(
        &self,
        on: &mut Own,
        dst: DevicePtr,
        src: *const u8,
        len: usize,
    ) -> Result<()> {
        let room = on.room_to_read(len)?;
        if let Some(room) = room {
            // SAFETY: `len` bytes at `src` can be read by contract, and the room, which nobody
            // else uses, has as many.
            unsafe { ptr::copy_nonoverlapping(src, room, len) };
        }
        // Data of the program stay as they are until the queue was waited for, unless the work is submitted;
        // what is small may be a value of the runtime's, which changes at once.
        let must_wait = room.is_none() && (on.is_submitted() || len <= STAGED);
        let from = room.map_or(src, <*mut u8>::cast_const);
        let how = if must_wait { CL_BLOCKING } else { CL_NON_BLOCKING };
        if room.is_none() && !must_wait {
            on.reads_later();
        }
        // SAFETY: both ranges are the caller's promise or the queue's own.
        let asked = unsafe {
            match &self.memory {
                Memory::Shared => copied(on, how, dst.0 as *mut c_void, from.cast(), len),
                Memory::Buffers(it) => it.write(on.handle(), how, dst, from.cast(), len),
            }
        };
        queues::release(asked.map_err(|code| failure("copying to the device", code))?);
        Ok(())
    }

    unsafe fn put_copy_out(
        &self,
        on: &mut Own,
        dst: *mut u8,
        src: DevicePtr,
        len: usize,
    ) -> Result<Option<*const u8>> {
        // SAFETY: both ranges are the caller's promise, until the queue was waited for.
        let asked = unsafe {
            match &self.memory {
                Memory::Shared => {
                    copied(on, CL_NON_BLOCKING, dst.cast(), src.0 as *const c_void, len)
                }
                Memory::Buffers(it) => it.read(on.handle(), dst.cast(), src, len),
            }
        };
        began("copying from the device", on, asked).map(|()| None)
    }

    unsafe fn put_fill(&self, on: &mut Own, dst: DevicePtr, byte: u8, len: usize) -> Result<()> {
        // SAFETY: the range is the caller's promise.
        began("filling memory", on, unsafe { self.filled(on, dst, byte, len) })
    }

    unsafe fn put_launch(
        &self,
        on: &mut Own,
        kernel: Kernel,
        args: &[u64],
        launch: &Launch<'_>,
    ) -> Result<()> {
        let entry = self.entry(kernel)?;
        let shape = self.shape(&entry, launch);
        self.mailbox.get().map_or(Ok(()), Mailbox::launched)?;
        // SAFETY: the caller's promise.
        unsafe { self.enqueue(on, &entry, args, shape) }?;
        for at in &entry.faults {
            let mut word = [0u8; WORD];
            // SAFETY: a word of the image, behind the kernel, which is waited for.
            unsafe { self.put_copy_out(on, word.as_mut_ptr(), *at, WORD) }?;
            on.wait("running a kernel")?;
            buffers::found(u64::from_ne_bytes(word))?;
        }
        Ok(())
    }
}

#[allow(unsafe_code, reason = "memory and kernels of a driver, by address")]
impl Device for OpenCl {
    fn name(&self) -> &str {
        self.name
    }

    fn shares_host_memory(&self) -> bool {
        false
    }

    fn memory(&self) -> usize {
        self.chosen.memory
    }

    fn hold(&self) -> Option<Box<dyn Held + '_>> {
        let buffers = match &self.memory {
            Memory::Shared => None,
            Memory::Buffers(it) => Some(it.hold()),
        };
        let (parts, stacks) = (self.all_parts(), self.all_stacks());
        Some(Box::new((self.modules(), self.blocks(), parts, stacks, buffers, self.pool.hold())))
    }

    fn answer(&self, upcalls: Arc<dyn Upcalls>) -> Result<()> {
        let page = match self.chosen.seen_by_both {
            Some(Both::Process) => {
                let page: &mut [u64] = vec![0; mailbox::BYTES / WORD].leak();
                page.as_mut_ptr().cast::<u8>()
            }
            Some(Both::FineGrained) => self.fine_grained(mailbox::BYTES)?,
            None => return Err(DeviceError::Unsupported("kernels that call the host")),
        };
        // SAFETY: as many bytes of zeros, which are never given back.
        let mailbox = unsafe { Mailbox::start(page, upcalls) }?;
        // Asked for once.
        let _ = self.mailbox.set(mailbox);
        Ok(())
    }

    fn mailbox(&self) -> Option<DevicePtr> {
        self.mailbox.get().map(Mailbox::address)
    }

    fn remark(&self) -> Option<String> {
        let name = self.name;
        let emulated = self.emulates.then(|| {
            format!("`{name}` is emulated on {}: no board is used", choose::name(self.chosen.id))
        });
        let cache = self.cache.refusal().map(|why| format!("the cache is not used: {why}"));
        let said: Vec<String> = emulated.into_iter().chain(cache).collect();
        (!said.is_empty()).then(|| said.join("; "))
    }

    fn accepts(&self, image: &[u8]) -> bool {
        image.starts_with(self.mark.as_bytes())
    }

    fn load(&self, image: &[u8]) -> Result<Module> {
        let mut programs =
            Program::build(self.context, &self.chosen, &self.cache, &self.mark, image)?;
        if parts::has_name(image, &["printf("]) {
            self.prints.store(true, Ordering::Relaxed);
        }
        for program in programs.iter_mut().filter(|it| it.has_variables) {
            self.make_variables(program)?;
            for fault in program.faults.clone() {
                let asks = program::asking_for(&program::name(&fault)?)?;
                let entry = program.entry(Module(0), &asks, &self.chosen)?;
                program.words.push(self.ask(&entry)?.address);
            }
        }
        let mut modules = self.modules();
        modules.last += 1;
        let number = modules.last;
        modules.loaded.insert(number, programs);
        Ok(Module(number))
    }

    fn build_of(&self, module: Module) -> Option<Build> {
        let modules = self.modules();
        let mut programs = modules.loaded.get(&module.0)?.iter();
        let is_kept = programs.all(|it| it.build == Build::Kept);
        Some(if is_kept { Build::Kept } else { Build::Compiled })
    }

    fn unload(&self, module: Module) -> Result<()> {
        let mut modules = self.modules();
        modules.kernels.retain(|_, it| it.module != module);
        let programs = modules.loaded.remove(&module.0);
        drop(modules);
        stream::wait_for_left(self)?;
        for block in programs.iter().flatten().flat_map(|it| &it.blocks) {
            // SAFETY: it came from `alloc`, and no kernel is left that knows it.
            unsafe { self.free(*block) }?;
        }
        Ok(())
    }

    fn symbol(&self, module: Module, name: &CStr) -> Result<Symbol> {
        let asks = program::asking_for(name)?;
        let entry = match self.modules().loaded.get(&module.0) {
            Some(programs) => Program::find(programs, module, &asks, &self.chosen)?,
            None => return Err(DeviceError::BadImage("it is not loaded any more".into())),
        };
        self.ask(&entry)
    }

    fn kernel(&self, module: Module, name: &CStr) -> Result<Kernel> {
        let mut modules = self.modules();
        let Some(programs) = modules.loaded.get(&module.0) else {
            return Err(DeviceError::BadImage("it is not loaded any more".into()));
        };
        let entry = Program::find(programs, module, name, &self.chosen)?;
        modules.last += 1;
        let number = modules.last;
        modules.kernels.insert(number, Arc::new(entry));
        Ok(Kernel(number))
    }

    fn alloc(&self, bytes: usize, _align: usize, _kind: MemoryKind) -> Result<DevicePtr> {
        heap::block(self, bytes).map(DevicePtr)
    }

    fn owns(&self, at: DevicePtr) -> bool {
        self.blocks().heap.has(at.0)
    }

    unsafe fn free(&self, ptr: DevicePtr) -> Result<()> {
        heap::free(self, ptr.0)
    }

    stream::by_streams!();

    unsafe fn copy_within(&self, dst: DevicePtr, src: DevicePtr, len: usize) -> Result<()> {
        let overlap = dst.0.abs_diff(src.0) < len as u64;
        if !overlap {
            return self.waited("copying within the device", |on| match &self.memory {
                // SAFETY: both are memory of this device.
                Memory::Shared => unsafe {
                    copied(on, CL_NON_BLOCKING, dst.0 as *mut c_void, src.0 as *const c_void, len)
                },
                Memory::Buffers(it) => it.copy(on.handle(), dst, src, len),
            });
        }
        let mut piece = vec![0u8; len.min(PIECE)];
        in_pieces(len, dst.0 <= src.0, |at, size| {
            // SAFETY: the buffer has room for a piece, and both ranges are the caller's promise.
            unsafe {
                self.copy_out(piece.as_mut_ptr(), src.offset(at), size)?;
                self.copy_in(dst.offset(at), piece.as_ptr(), size)
            }
        })
    }

    fn synchronize(&self) -> Result<()> {
        self.pool.wait_for_everything()
    }
}

/// The driver begins with what it was asked for, though nobody may wait for it yet.
fn began(what: &'static str, on: &Own, asked: std::result::Result<cl_event, cl_int>) -> Result<()> {
    queues::release(asked.map_err(|code| failure(what, code))?);
    queue::flush(on.handle()).map_err(|code| failure(what, code))
}

/// Asks for a copy of memory that the device reaches, at its turn.
///
/// # Safety
/// Both ranges have `len` bytes and stay until it is done.
#[allow(unsafe_code, reason = "memory by address")]
unsafe fn copied(
    on: &Own,
    how: cl_bool,
    to: *mut c_void,
    from: *const c_void,
    len: usize,
) -> std::result::Result<cl_event, cl_int> {
    // SAFETY: the caller's promise.
    unsafe { queue::enqueue_svm_mem_cpy(on.handle(), how, to, from, len, 0, ptr::null()) }
}

/// What the driver answered, with the name that its manual has for it.
fn failure(what: &'static str, code: cl_int) -> DeviceError {
    let name = cl3::error_codes::error_text(code);
    DeviceError::Failed(format!("OpenCL: {what}: {name} ({code})"))
}

#[cfg(test)]
mod tests;
