//! The device as the runtime sees it: memory is handled here, all else is asked of the helper.
#![allow(unsafe_code, reason = "memory of two processes, by address")]

use std::collections::BTreeMap;
use std::ffi::CStr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use std::{ptr, thread};

use abi::image::Payload;

use super::last_words::{End, LastWords, NO_STACK};
use super::process::{Helper, Unanswered};
use super::protocol::{self, Request};
use crate::arena::{Arena, Backing, limit};
use crate::cpu::MACHINE;
use crate::memory::{DevicePtr, MemoryKind, PIECE, in_pieces};
use crate::{Device, DeviceError, Held, Kernel, Launch, Module, Result, Symbol, Upcalls};

/// How long a thread waits, when the device is lost by another's kernel, for that one to say so.
const PATIENCE: Duration = Duration::from_secs(3);

/// The device.
#[derive(Debug)]
pub struct Separate {
    arena: Arena,
    helper: Helper,
    launches: AtomicU64,
    /// Launches that run: name and place.
    running: Mutex<BTreeMap<u64, String>>,
}

impl Separate {
    /// Starts a device with that number.
    pub fn open(number: usize) -> Result<Separate> {
        let arena = Arena::new(number, limit()?, Backing::Memory)?;
        let helper = Helper::start(number, &arena)?;
        Ok(Separate { arena, helper, launches: AtomicU64::new(0), running: Mutex::default() })
    }

    /// Memory may be written and taken only by the process that has started the device: to others it is
    /// there too, but what is free they know not.
    fn check_owner(&self) -> Result<()> {
        match self.helper.is_ours() {
            true => Ok(()),
            false => Err(forked()),
        }
    }

    fn running(&self) -> MutexGuard<'_, BTreeMap<u64, String>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn call(&self, request: &Request) -> Result<Vec<u8>> {
        self.call_for(request, None)
    }

    /// Asks the helper, for a launch if one is given.
    fn call_for(&self, request: &Request, launch: Option<u64>) -> Result<Vec<u8>> {
        let limit = launch.and_then(|_| crate::kernel_timeout());
        match self.helper.call(request, limit.map(|it| Instant::now() + it)) {
            Ok(answer) => answer,
            Err(Unanswered::Gone) => Err(self.ended(launch)),
            Err(Unanswered::Silent) => {
                let kernel = launch.and_then(|it| self.running().get(&it).cloned());
                let what = kernel.unwrap_or_else(|| awaited(request));
                let text = "its process shows no sign of life and was ended";
                Err(DeviceError::Lost(format!("{text}; waited for {what}")))
            }
            Err(Unanswered::Late) => Err(too_long()),
            Err(Unanswered::Forked) => Err(forked()),
        }
    }

    /// The helper is gone: why, as the thread of `launch` reports it.
    fn ended(&self, launch: Option<u64>) -> DeviceError {
        let end = LastWords::of(&self.arena);
        let (error, by) = match end {
            End::Silent => return DeviceError::Lost(self.helper.end()),
            End::Exit { status, launch } => (DeviceError::Exited { status }, launch),
            End::Signal { signal, code, address, launch } => {
                // Where the stack ends helps nobody.
                let address = address.filter(|_| code != NO_STACK);
                (DeviceError::Fault { address, what: reason(signal, code) }, launch)
            }
        };
        // A thread that a kernel has started does not know whose it is.
        let by = if by != 0 { Some(by) } else { launch };
        if by == launch {
            return error;
        }
        let culprit = by.and_then(|it| self.running().get(&it).cloned());
        // Its thread knows more, and ends the program.
        if launch.is_some() {
            thread::sleep(PATIENCE);
        }
        let culprit = culprit.unwrap_or_else(|| "another kernel".into());
        DeviceError::Lost(format!("{culprit}: {error}"))
    }
}

/// What a request waits for, in words.
fn awaited(request: &Request) -> String {
    match request {
        Request::Hello { .. } => "its greeting".into(),
        Request::Channel | Request::Alive => "a sign of life".into(),
        Request::Load(_) => "device code to be loaded".into(),
        Request::Unload(_) => "device code to be unloaded".into(),
        Request::Find { name, .. } => format!("the address of `{name}`"),
        Request::Read { len, .. } => format!("{len} bytes of its memory"),
        Request::Write { bytes, .. } => format!("{} bytes to be written", bytes.len()),
        Request::Launch { .. } => "a kernel".into(),
    }
}

/// A kernel took longer than the user allows.
pub(crate) fn too_long() -> DeviceError {
    let what = format!("it ran longer than {} allows", crate::TIMEOUT_VARIABLE);
    DeviceError::Stopped { what }
}

pub(crate) fn forked() -> DeviceError {
    let text = "this process was forked from the one that uses it; start another program instead";
    DeviceError::Lost(text.into())
}

/// What a signal means, in words.
pub(crate) fn reason(signal: i32, code: i32) -> String {
    // The codes are those of the system's own header.
    const DIVISION: i32 = 1;
    let text = match signal {
        libc::SIGSEGV if code == NO_STACK => "its stack is used up",
        libc::SIGSEGV => "memory that is not there or not its own",
        libc::SIGBUS => "memory that cannot be accessed",
        libc::SIGFPE if code == DIVISION => "integer division by zero",
        libc::SIGFPE => "arithmetic that has no result",
        libc::SIGILL => "an instruction that the processor does not know",
        libc::SIGABRT => "a call of abort()",
        _ => "a signal",
    };
    let name = match signal {
        libc::SIGSEGV => "SIGSEGV",
        libc::SIGBUS => "SIGBUS",
        libc::SIGFPE => "SIGFPE",
        libc::SIGILL => "SIGILL",
        libc::SIGABRT => "SIGABRT",
        other => return format!("{text} ({other})"),
    };
    format!("{text} ({name})")
}

impl Device for Separate {
    fn name(&self) -> &str {
        "cpu:separate"
    }

    fn memory(&self) -> usize {
        self.arena.size
    }

    fn shares_host_memory(&self) -> bool {
        false
    }

    fn hold(&self) -> Option<Box<dyn Held + '_>> {
        Some(Box::new((self.arena.hold(), self.running(), self.helper.hold())))
    }

    fn accepts(&self, image: &[u8]) -> bool {
        Payload::of(image) == Payload::Elf { machine: MACHINE }
    }

    fn load(&self, image: &[u8]) -> Result<Module> {
        let answer = self.call(&Request::Load(image.to_vec()))?;
        protocol::number(&answer).map(Module)
    }

    fn unload(&self, module: Module) -> Result<()> {
        self.call(&Request::Unload(module.0)).map(|_| ())
    }

    fn symbol(&self, module: Module, name: &CStr) -> Result<Symbol> {
        let name = name.to_string_lossy().into_owned();
        let answer = self.call(&Request::Find { module: module.0, name })?;
        Ok(Symbol { address: DevicePtr(protocol::number(&answer)?), size: 0 })
    }

    fn kernel(&self, module: Module, name: &CStr) -> Result<Kernel> {
        self.symbol(module, name).map(|it| Kernel(it.address.0))
    }

    fn answer(&self, upcalls: Arc<dyn Upcalls>) -> Result<()> {
        self.helper.answer(upcalls)
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
        if self.helper.is_ours() { self.arena.free(ptr) } else { Ok(()) }
    }

    unsafe fn copy_in(&self, dst: DevicePtr, src: *const u8, len: usize) -> Result<()> {
        self.check_owner()?;
        if let Some(seen) = self.arena.seen(dst, len) {
            // SAFETY: `src` is the caller's promise, and the range lies in our view.
            unsafe { ptr::copy(src, seen, len) };
            return Ok(());
        }
        for offset in (0..len).step_by(PIECE) {
            let size = PIECE.min(len - offset);
            // SAFETY: the caller's promise: `len` bytes that nobody writes meanwhile.
            let bytes = unsafe { std::slice::from_raw_parts(src.add(offset), size) }.to_vec();
            self.call(&Request::Write { at: dst.offset(offset).0, bytes })?;
        }
        Ok(())
    }

    unsafe fn copy_out(&self, dst: *mut u8, src: DevicePtr, len: usize) -> Result<()> {
        if let Some(seen) = self.arena.seen(src, len) {
            // SAFETY: as in `copy_in`.
            unsafe { ptr::copy(seen, dst, len) };
            return Ok(());
        }
        for offset in (0..len).step_by(PIECE) {
            let size = PIECE.min(len - offset);
            let bytes = self.call(&Request::Read { at: src.offset(offset).0, len: size as u64 })?;
            let got = bytes.len().min(size);
            // SAFETY: the caller's promise, for at most `len` bytes in all.
            unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), dst.add(offset), got) };
        }
        Ok(())
    }

    unsafe fn copy_within(&self, dst: DevicePtr, src: DevicePtr, len: usize) -> Result<()> {
        self.check_owner()?;
        if let (Some(to), Some(from)) = (self.arena.seen(dst, len), self.arena.seen(src, len)) {
            // SAFETY: both ranges lie in our view; they may overlap.
            unsafe { ptr::copy(from, to, len) };
            return Ok(());
        }
        let mut piece = vec![0u8; len.min(PIECE)];
        in_pieces(len, dst.0 <= src.0, |at, size| {
            // SAFETY: the buffer has room for a piece; the ranges are the caller's promise.
            unsafe {
                self.copy_out(piece.as_mut_ptr(), src.offset(at), size)?;
                self.copy_in(dst.offset(at), piece.as_ptr(), size)
            }
        })
    }

    unsafe fn fill(&self, dst: DevicePtr, byte: u8, len: usize) -> Result<()> {
        self.check_owner()?;
        if let Some(seen) = self.arena.seen(dst, len) {
            // SAFETY: the range lies in our view.
            unsafe { ptr::write_bytes(seen, byte, len) };
            return Ok(());
        }
        let piece = vec![byte; len.min(PIECE)];
        in_pieces(len, true, |at, size| {
            // SAFETY: the buffer has room for a piece; the range is the caller's promise.
            unsafe { self.copy_in(dst.offset(at), piece.as_ptr(), size) }
        })
    }

    unsafe fn launch(&self, kernel: Kernel, args: &[u64], launch: &Launch<'_>) -> Result<()> {
        self.check_owner()?;
        let number = self.launches.fetch_add(1, Ordering::Relaxed) + 1;
        self.running().insert(number, format!("`{}` at {}", launch.name, launch.source));
        // What the program has printed before comes before what the kernel prints.
        // SAFETY: flushes all streams of this process.
        unsafe { libc::fflush(ptr::null_mut()) };
        let convention = launch.convention;
        let args = args.to_vec();
        let request = Request::Launch { launch: number, kernel: kernel.0, convention, args };
        self.call_for(&request, Some(number))?;
        self.running().remove(&number);
        Ok(())
    }
}
