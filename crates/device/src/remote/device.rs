//! The device as the runtime sees it: memory is dealt out here, all else is asked of the program.
#![allow(unsafe_code, reason = "memory of two machines, by address")]

use std::collections::BTreeMap;
use std::ffi::CStr;
use std::io;
use std::net::Shutdown;
use std::ops::Deref;
use std::process;
use std::ptr;
use std::slice;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use abi::remote::{CONFINED, Image, VERSION, frame};
use abi::target::Kind;

use super::link::{Answer, End, Hearer, Limit, Link, words};
use super::offered;
use super::start::{self, Started};
use crate::arena::{Arena, Backing, limit};
use crate::handed_back::{self, Sight};
use crate::memory::{DevicePtr, MemoryKind, PIECE, of_machine};
use crate::separate::last_words::NO_STACK;
use crate::separate::process::{is_ending, lock, number_told, wait_for_group};
use crate::separate::proxy::{forked, reason, too_long};
use crate::{Device, DeviceError, Held, Kernel, Launch, Module, Result, Symbol, Upcalls};

/// How long a thread waits, when the device is lost by another's kernel, for that one to say so.
const PATIENCE: Duration = Duration::from_secs(3);
/// How long a process may take to end whose link has ended.
const GRACE: Duration = Duration::from_millis(200);
/// Bytes that a program fills or moves at once: it answers nothing else meanwhile.
const AT_ONCE: usize = 64 << 20;
/// Stack of a thread that runs regions of the host; pages are taken when they are used.
const STACK: usize = 64 << 20;
/// The module that every device has.
const PROGRAM: Module = Module(1);

/// A device of another machine.
pub struct Other(Arc<Inner>);

impl Deref for Other {
    type Target = Arc<Inner>;

    fn deref(&self) -> &Arc<Inner> {
        &self.0
    }
}

/// What the device and those who answer its kernels share.
pub struct Inner {
    kind: Kind,
    arena: Arena,
    link: Link,
    process: libc::pid_t,
    /// The process that may speak to it: not one that this one forks.
    owner: u32,
    launches: AtomicU64,
    /// Launches that run: name and place.
    running: Mutex<BTreeMap<u64, String>>,
    /// Workers that have nothing to do, and the number of all.
    workers: Mutex<(Vec<u64>, u64)>,
    /// How its process ended, once that was asked.
    end: OnceLock<String>,
    upcalls: OnceLock<Arc<dyn Upcalls>>,
    /// How its kernels are confined: bits of [`CONFINED`].
    confined: u64,
}

impl Other {
    /// Starts a device of this kind with that number.
    pub fn open(kind: Kind, number: usize) -> Result<Other> {
        let name = kind.target().name;
        let image = offered(name).ok_or_else(|| {
            let machine = kind.target().toolchain().unwrap_or("FILE.toml");
            DeviceError::Failed(format!(
                "the program was not built for it: compile with `--device remote:{machine}`"
            ))
        })?;
        let Started { link, process, memory } = start::start(&image)?;
        let made = reserved(number, memory, image.shares_files);
        let greeted = made.and_then(|arena| greeted(&link, number, arena));
        let (arena, confined) = greeted.inspect_err(|_| start::end_group(process))?;
        Ok(Other(Arc::new(Inner {
            kind,
            arena,
            link,
            process,
            owner: process::id(),
            launches: AtomicU64::new(0),
            running: Mutex::default(),
            workers: Mutex::default(),
            end: OnceLock::new(),
            upcalls: OnceLock::new(),
            confined,
        })))
    }
}

impl Inner {
    /// Memory may be written and taken only by the process that has started the device.
    fn check_owner(&self) -> Result<()> {
        if self.owner == process::id() { Ok(()) } else { Err(forked()) }
    }

    fn running(&self) -> MutexGuard<'_, BTreeMap<u64, String>> {
        lock(&self.running)
    }

    fn call(self: &Arc<Inner>, kind: u64, parts: &[&[u8]]) -> Result<Vec<u8>> {
        self.call_for((kind, 0), parts, None)
    }

    /// Asks the program, for a launch if one is given.
    fn call_for(
        self: &Arc<Inner>,
        kind: (u64, u64),
        parts: &[&[u8]],
        launch: Option<(u64, Option<Limit>)>,
    ) -> Result<Vec<u8>> {
        self.check_owner()?;
        let limit = launch.and_then(|it| it.1);
        match self.link.call(kind, parts, limit, self) {
            Ok(answer) => done(answer),
            Err(end) => Err(self.ended(end, launch.map(|it| it.0))),
        }
    }

    /// The program is gone: why, as the thread of `launch` reports it.
    fn ended(&self, end: End, launch: Option<u64>) -> DeviceError {
        // Another thread ends this program, which says all there is to say.
        while end == End::Closed && is_ending() {
            thread::park();
        }
        let told = |number: u64| self.running().get(&number).cloned();
        let (error, by) = match end {
            End::Closed => return DeviceError::Lost(self.end(false)),
            End::Silent | End::Nonsense => {
                let what =
                    if end == End::Silent { "shows no sign of life" } else { "speaks nonsense" };
                let waited = launch.and_then(told).map(|it| format!("; waited for {it}"));
                let ended = self.end(true);
                let text = format!("its process {what} and was ended{ended}");
                return DeviceError::Lost(text + &waited.unwrap_or_default());
            }
            End::Late { launch: late } => {
                self.end(true);
                (too_long(), late)
            }
            End::Exit { status, launch } => (DeviceError::Exited { status }, launch),
            End::Signal { signal, code, address, launch } => {
                // Where the stack ends helps nobody.
                let address = address.filter(|_| code != NO_STACK);
                (DeviceError::Fault { address, what: reason(signal, code) }, launch)
            }
        };
        // A thread that a kernel has started does not know whose it is.
        if by == 0 || Some(by) == launch {
            return error;
        }
        let culprit = told(by).unwrap_or_else(|| "another kernel".into());
        // Its thread knows more, and ends the program.
        if launch.is_some() {
            thread::sleep(PATIENCE);
        }
        DeviceError::Lost(format!("{culprit}: {error}"))
    }

    /// Ends its process, or waits for its end; how that was, in words.
    fn end(&self, is_killed: bool) -> String {
        let text = self.end.get_or_init(|| {
            if is_killed {
                // What starts programs may leave them behind; they end when the link does.
                let _ = self.link.stream().shutdown(Shutdown::Both);
                start::end_group(self.process);
                return String::new();
            }
            match wait_for_group(self.process, GRACE) {
                Some(status)
                    if libc::WIFSIGNALED(status) && libc::WTERMSIG(status) == libc::SIGSEGV =>
                {
                    "a thread of the kernel ran out of stack".into()
                }
                Some(status) => format!("its process ended{}", start::ended(status)),
                None => "the link to it was cut".into(),
            }
        });
        text.clone()
    }

    /// Copies to the device.
    ///
    /// # Safety
    /// As [`Device::copy_in`].
    pub(super) unsafe fn write(
        self: &Arc<Inner>,
        dst: DevicePtr,
        src: *const u8,
        len: usize,
    ) -> Result<()> {
        self.check_owner()?;
        if let Some(seen) = self.seen(dst, len) {
            // SAFETY: `src` is the caller's promise, and the range lies in our view.
            unsafe { ptr::copy(src, seen, len) };
            return Ok(());
        }
        self.arena.check(dst, len)?;
        for offset in (0..len).step_by(PIECE) {
            let size = PIECE.min(len - offset);
            // SAFETY: the caller's promise: `len` bytes that nobody writes meanwhile.
            let piece = unsafe { slice::from_raw_parts(src.add(offset), size) };
            let at = bytes(&[dst.offset(offset).0]);
            let parts = [at.as_slice(), piece];
            // Only the last is waited for: each is on its way while the next is sent.
            if offset + size == len {
                self.call(frame::WRITE, &parts)?;
            } else if let Err(end) = self.link.send((frame::WRITE, 0, 0), &parts) {
                return Err(self.ended(end, None));
            }
        }
        Ok(())
    }

    /// Copies from the device.
    ///
    /// # Safety
    /// As [`Device::copy_out`].
    pub(super) unsafe fn read(
        self: &Arc<Inner>,
        dst: *mut u8,
        src: DevicePtr,
        len: usize,
    ) -> Result<()> {
        if let Some(seen) = self.seen(src, len) {
            // SAFETY: as in `copy_in`.
            unsafe { ptr::copy(seen, dst, len) };
            return Ok(());
        }
        self.arena.check(src, len)?;
        for offset in (0..len).step_by(PIECE) {
            let size = PIECE.min(len - offset);
            let answer = self.call(frame::READ, &[&bytes(&[src.offset(offset).0, size as u64])])?;
            if answer.len() != size {
                return Err(DeviceError::Lost("its process answers nonsense".into()));
            }
            // SAFETY: the caller's promise, for at most `len` bytes in all.
            unsafe { ptr::copy_nonoverlapping(answer.as_ptr(), dst.add(offset), size) };
        }
        Ok(())
    }

    /// What a mapper of the device pushes for an entry (base, begin, size, type).
    pub(super) fn components(
        self: &Arc<Inner>,
        mapper: u64,
        entry: [u64; 4],
    ) -> Result<Vec<[u64; 4]>> {
        let [base, begin, size, map_type] = entry;
        let parts = bytes(&[mapper, base, begin, size, map_type]);
        let worker = self.take_worker();
        let answer = self.call_for((frame::MAPPER, worker), &[&parts], None)?;
        lock(&self.workers).0.push(worker);
        let words = answer.as_chunks::<8>().0.iter().map(|it| u64::from_le_bytes(*it));
        let words: Vec<u64> = words.collect();
        let (entries, _) = words.as_chunks::<5>();
        Ok(entries
            .iter()
            .map(|[base, begin, size, map_type, _]| [*base, *begin, *size, *map_type])
            .collect())
    }

    /// A worker that has nothing to do.
    fn take_worker(&self) -> u64 {
        let mut workers = lock(&self.workers);
        workers.0.pop().unwrap_or_else(|| {
            workers.1 += 1;
            workers.1
        })
    }

    /// The host's address of bytes that both sides see.
    fn seen(&self, at: DevicePtr, len: usize) -> Option<*mut u8> {
        self.arena.seen(at, len)
    }
}

/// What kernels of the machine see.
struct Machine(Arc<Inner>);

impl Sight for Machine {
    unsafe fn read(&self, dst: *mut u8, src: DevicePtr, len: usize) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { self.0.read(dst, src, len) }
    }

    unsafe fn write(&self, dst: DevicePtr, src: *const u8, len: usize) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { self.0.write(dst, src, len) }
    }

    fn components(&self, mapper: u64, entry: [u64; 4]) -> Result<Vec<[u64; 4]>> {
        self.0.components(mapper, entry)
    }
}

/// Frames that answer nothing, of a device that is there.
impl Hearer for Arc<Inner> {
    fn printed(&self, bytes: &[u8]) {
        print(bytes);
    }

    fn region(&self, call: u64, payload: Vec<u8>) {
        let device = Arc::clone(self);
        let builder = thread::Builder::new().name("ferry-upcall".into()).stack_size(STACK);
        let started = builder.spawn(move || {
            let sight: Arc<dyn Sight> = Arc::new(Machine(Arc::clone(&device)));
            let done = handed_back::run(&sight, device.upcalls.get(), &payload);
            // What the region prints comes before what the kernel prints next.
            // SAFETY: flushes all streams of this process.
            unsafe { libc::fflush(ptr::null_mut()) };
            // That the kernel is gone others notice.
            let _ = match done {
                Ok(()) => device.link.send((frame::DONE, call, 0), &[]),
                Err(error) => {
                    device.link.send((frame::FAILED, call, 0), &[error.to_string().as_bytes()])
                }
            };
        });
        if let Err(error) = started {
            let why = format!("no thread for a region of the host: {error}");
            let _ = self.link.send((frame::FAILED, call, 0), &[why.as_bytes()]);
        }
    }
}

/// The same before it is there.
struct Unheard;

impl Hearer for Unheard {
    fn printed(&self, bytes: &[u8]) {
        print(bytes);
    }

    fn region(&self, _call: u64, _payload: Vec<u8>) {}
}

/// What a kernel prints appears where the program prints.
fn print(mut bytes: &[u8]) {
    while !bytes.is_empty() {
        // SAFETY: bytes that live until the call returns.
        let written = unsafe { libc::write(1, bytes.as_ptr().cast(), bytes.len()) };
        match usize::try_from(written) {
            Ok(written) => bytes = bytes.get(written..).unwrap_or_default(),
            Err(_) if io::Error::last_os_error().kind() == io::ErrorKind::Interrupted => {}
            Err(_) if io::Error::last_os_error().kind() == io::ErrorKind::WouldBlock => {
                thread::sleep(Duration::from_millis(1));
            }
            // Nobody reads.
            Err(_) => return,
        }
    }
}

fn done(answer: Answer) -> Result<Vec<u8>> {
    match answer {
        Answer::Done(payload) => Ok(payload),
        Answer::Failed(why) => Err(DeviceError::Failed(why)),
        Answer::NotFound(name) => Err(DeviceError::NotFound(name)),
    }
}

/// Memory for a device: a file that both sides may map, or memory of its own.
fn reserved(number: usize, memory: usize, is_shared: bool) -> Result<Arena> {
    let asked = limit()?;
    if is_shared && let Ok(arena) = Arena::new(number, asked, Backing::Memory) {
        return Ok(arena);
    }
    // No more than its machine has.
    let asked = asked.or(Some(memory).filter(|it| *it < of_machine()));
    Arena::new(number, asked, Backing::Elsewhere)
}

/// Greets a program, which then has its memory, and says how it is confined.
fn greeted(link: &Link, number: usize, mut arena: Arena) -> Result<(Arena, u64)> {
    // Whether both sides see the same memory a number tells that only this side knows.
    let mark = SystemTime::UNIX_EPOCH.elapsed().map_or(1, |it| it.as_nanos() as u64) | 1;
    if let Some(page) = arena.first_page() {
        // SAFETY: the first page of the view, which nobody else uses.
        unsafe { page.cast::<u64>().write(mark.to_le()) };
    }
    // Another machine has other processes.
    let own = arena.file.as_ref().map_or(0, |_| u64::from(process::id()));
    let (devices, size) = (number_told() as u64, arena.size as u64);
    let hello = bytes(&[VERSION, number as u64, devices, arena.base as u64, size, own]);
    let path = arena.path().unwrap_or_default();
    let parts = [hello.as_slice(), path.as_bytes()];
    let answer = link.call((frame::HELLO, 0), &parts, None, &Unheard);
    let lost = |end: End| {
        let what = if end == End::Silent { "shows no sign of life" } else { "ended" };
        DeviceError::Lost(format!("its process {what} before it had memory"))
    };
    let answer = done(answer.map_err(lost)?)?;
    link.has_begun();
    let [base, seen, confined] = numbers(&answer)?;
    arena.moved_to(base as usize);
    if seen != mark {
        arena.not_shared();
    }
    Ok((arena, confined))
}

fn bytes(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|it| it.to_le_bytes()).collect()
}

fn numbers<const COUNT: usize>(answer: &[u8]) -> Result<[u64; COUNT]> {
    words(answer).ok_or_else(|| DeviceError::Lost("its process answers nonsense".into()))
}

impl Device for Other {
    fn confinement(&self) -> Option<String> {
        let has = |bit: usize| self.confined >> bit & 1 == 1;
        let words = CONFINED.iter().enumerate().filter(|it| has(it.0)).map(|it| *it.1);
        let words: Vec<&str> = words.collect();
        Some(if words.is_empty() { "by nothing".to_owned() } else { words.join(", ") })
    }

    fn name(&self) -> &str {
        self.kind.target().name
    }

    fn memory(&self) -> usize {
        self.arena.size
    }

    fn shares_host_memory(&self) -> bool {
        false
    }

    fn hold(&self) -> Option<Box<dyn Held + '_>> {
        Some(Box::new((self.arena.hold(), self.running(), lock(&self.workers), self.link.hold())))
    }

    fn accepts(&self, image: &[u8]) -> bool {
        Image::read(image).is_some_and(|it| it.device == self.name())
    }

    fn load(&self, _image: &[u8]) -> Result<Module> {
        // It was started with it.
        Ok(PROGRAM)
    }

    fn unload(&self, _module: Module) -> Result<()> {
        Ok(())
    }

    fn symbol(&self, _module: Module, name: &CStr) -> Result<Symbol> {
        let answer = self.call(frame::FIND, &[name.to_bytes()])?;
        let [address, size] = numbers(&answer)?;
        Ok(Symbol { address: DevicePtr(address), size: size as usize })
    }

    fn kernel(&self, module: Module, name: &CStr) -> Result<Kernel> {
        self.symbol(module, name).map(|it| Kernel(it.address.0))
    }

    fn answer(&self, upcalls: Arc<dyn Upcalls>) -> Result<()> {
        let _ = self.upcalls.set(upcalls);
        Ok(())
    }

    fn owns(&self, at: DevicePtr) -> bool {
        self.arena.owns(at)
    }

    fn alloc(&self, bytes: usize, align: usize, kind: MemoryKind) -> Result<DevicePtr> {
        self.check_owner()?;
        match kind {
            MemoryKind::Device => self.arena.alloc(bytes, align),
            MemoryKind::Host | MemoryKind::Shared => {
                Err(DeviceError::Unsupported("memory that the host can use too"))
            }
        }
    }

    unsafe fn free(&self, ptr: DevicePtr) -> Result<()> {
        // What another process has taken is not given back by this one.
        if self.check_owner().is_ok() { self.arena.free(ptr) } else { Ok(()) }
    }

    unsafe fn copy_in(&self, dst: DevicePtr, src: *const u8, len: usize) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { self.0.write(dst, src, len) }
    }

    unsafe fn copy_out(&self, dst: *mut u8, src: DevicePtr, len: usize) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { self.0.read(dst, src, len) }
    }

    unsafe fn copy_within(&self, dst: DevicePtr, src: DevicePtr, len: usize) -> Result<()> {
        self.check_owner()?;
        if let (Some(to), Some(from)) = (self.seen(dst, len), self.seen(src, len)) {
            // SAFETY: both ranges lie in our view; they may overlap.
            unsafe { ptr::copy(from, to, len) };
            return Ok(());
        }
        self.arena.check(dst, len).and_then(|()| self.arena.check(src, len))?;
        let count = len.div_ceil(AT_ONCE);
        for index in 0..count {
            let at = AT_ONCE * if dst.0 <= src.0 { index } else { count - 1 - index };
            let size = AT_ONCE.min(len - at) as u64;
            self.call(frame::MOVE, &[&bytes(&[dst.offset(at).0, src.offset(at).0, size])])?;
        }
        Ok(())
    }

    unsafe fn fill(&self, dst: DevicePtr, byte: u8, len: usize) -> Result<()> {
        self.check_owner()?;
        if let Some(seen) = self.seen(dst, len) {
            // SAFETY: the range lies in our view.
            unsafe { ptr::write_bytes(seen, byte, len) };
            return Ok(());
        }
        self.arena.check(dst, len)?;
        for offset in (0..len).step_by(AT_ONCE) {
            let size = AT_ONCE.min(len - offset) as u64;
            self.call(frame::FILL, &[&bytes(&[dst.offset(offset).0, u64::from(byte), size])])?;
        }
        Ok(())
    }

    unsafe fn launch(&self, kernel: Kernel, args: &[u64], launch: &Launch<'_>) -> Result<()> {
        self.check_owner()?;
        let number = self.launches.fetch_add(1, Ordering::Relaxed) + 1;
        self.running().insert(number, format!("`{}` at {}", launch.name, launch.source));
        // What the program has printed before comes before what the kernel prints.
        // SAFETY: flushes all streams of this process.
        unsafe { libc::fflush(ptr::null_mut()) };
        let worker = self.take_worker();
        let limit =
            crate::kernel_timeout().map(|it| Limit { launch: number, until: Instant::now() + it });
        let parts = [bytes(&[number, kernel.0]), bytes(args)].concat();
        self.call_for((frame::LAUNCH, worker), &[&parts], Some((number, limit)))?;
        lock(&self.workers).0.push(worker);
        self.running().remove(&number);
        Ok(())
    }
}
