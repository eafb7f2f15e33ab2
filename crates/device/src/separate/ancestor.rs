//! The host, as kernels in the helper see it: a device whose memory and regions are reached by
//! messages. Kernels of it are named at each launch.
#![allow(unsafe_code, reason = "memory of two processes, by address")]

use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::ptr;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use super::protocol;
use super::upward::{self, Wish};
use crate::memory::{DevicePtr, MemoryKind};
use crate::upcalls::Original;
use crate::{Device, DeviceError, Kernel, Launch, Result};

/// Bytes that go with one message.
const PIECE: usize = 1 << 20;
/// How long the end of the program may take to end this process.
const PATIENCE: Duration = Duration::from_secs(3);

/// The host.
#[derive(Debug)]
pub struct Ancestor {
    /// Opens channels.
    control: Mutex<UnixStream>,
    /// Channels that no thread uses.
    idle: Mutex<Vec<UnixStream>>,
}

impl Ancestor {
    /// The host at the other end of a channel that opens others.
    pub fn new(control: UnixStream) -> Ancestor {
        Ancestor { control: Mutex::new(control), idle: Mutex::default() }
    }

    fn call(&self, wish: &Wish) -> Result<Vec<u8>> {
        let kept = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let gone = |error: io::Error| {
            // Where the program has ended, so does this process, and nobody need hear why.
            thread::sleep(PATIENCE);
            DeviceError::Lost(format!("the host does not answer: {error}"))
        };
        let channel = kept.map_or_else(|| self.open(), Ok).map_err(gone)?;
        let answer = upward::ask(&channel, wish, &[])
            .and_then(|()| protocol::answered(&channel, &mut protocol::never))
            .map_err(gone)?;
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(channel);
        answer
    }

    fn open(&self) -> io::Result<UnixStream> {
        let (ours, theirs) = UnixStream::pair()?;
        let control = self.control.lock().unwrap_or_else(PoisonError::into_inner);
        upward::ask(&control, &Wish::Channel, &[theirs.as_raw_fd()])?;
        Ok(ours)
    }
}

impl Device for Ancestor {
    fn name(&self) -> &str {
        "host"
    }

    fn shares_host_memory(&self) -> bool {
        false
    }

    fn original(&self, at: usize, size: usize) -> Result<Option<Original>> {
        let answer = self.call(&Wish::Original { at: at as u64, size: size as u64 })?;
        Ok(upward::original(&answer))
    }

    fn alloc(&self, bytes: usize, align: usize, _kind: MemoryKind) -> Result<DevicePtr> {
        let answer = self.call(&Wish::Alloc { bytes: bytes as u64, align: align as u64 })?;
        protocol::number(&answer).map(DevicePtr)
    }

    unsafe fn free(&self, ptr: DevicePtr) -> Result<()> {
        self.call(&Wish::Free(ptr.0)).map(|_| ())
    }

    unsafe fn copy_in(&self, dst: DevicePtr, src: *const u8, len: usize) -> Result<()> {
        for offset in (0..len).step_by(PIECE) {
            let size = PIECE.min(len - offset);
            // SAFETY: the caller's promise: `len` bytes that nobody writes meanwhile.
            let bytes = unsafe { std::slice::from_raw_parts(src.add(offset), size) }.to_vec();
            self.call(&Wish::Write { at: dst.offset(offset).0, bytes })?;
        }
        Ok(())
    }

    unsafe fn copy_out(&self, dst: *mut u8, src: DevicePtr, len: usize) -> Result<()> {
        for offset in (0..len).step_by(PIECE) {
            let size = PIECE.min(len - offset);
            let bytes = self.call(&Wish::Read { at: src.offset(offset).0, len: size as u64 })?;
            let got = bytes.len().min(size);
            // SAFETY: the caller's promise, for at most `len` bytes in all.
            unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), dst.add(offset), got) };
        }
        Ok(())
    }

    unsafe fn launch(&self, _kernel: Kernel, args: &[u64], launch: &Launch<'_>) -> Result<()> {
        // What the kernel has printed comes before what the host prints.
        // SAFETY: flushes all streams of this process.
        unsafe { libc::fflush(ptr::null_mut()) };
        let (region, source) = (launch.name.to_owned(), launch.source.to_owned());
        self.call(&Wish::Run { region, source, args: args.to_vec() }).map(|_| ())
    }
}
