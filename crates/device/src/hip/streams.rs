//! Streams of a GPU, and events that order them.

use std::any::Any;
use std::ffi::{c_int, c_void};
use std::ptr;

use super::Handle;
use super::runtime::{Runtime, SUCCESS};
use crate::Result;
use crate::gpu::pool::{DriverStream, Maker, STAGED};

/// Makes streams of the device that is current.
#[derive(Debug)]
pub(super) struct Streams(pub(super) &'static Runtime);

#[derive(Debug)]
struct Line {
    runtime: &'static Runtime,
    stream: Handle,
    /// Where its copies end, if they are marked.
    event: Handle,
    /// Where another stream was when this one was to follow it.
    turn: Handle,
}

#[allow(unsafe_code, reason = "asks the runtime")]
impl Maker for Streams {
    fn stream(&self) -> Result<Box<dyn DriverStream>> {
        /// It does not wait for the stream that all threads share.
        const NON_BLOCKING: u32 = 1;
        const DISABLE_TIMING: u32 = 2;
        let runtime = self.0;
        let (mut stream, mut event, mut turn) = (ptr::null_mut(), ptr::null_mut(), ptr::null_mut());
        // SAFETY: each writes one handle; the device is current.
        unsafe {
            let made = (runtime.make_stream)(&raw mut stream, NON_BLOCKING);
            runtime.check("making a stream", made)?;
            let made = (runtime.make_event)(&raw mut event, DISABLE_TIMING);
            runtime.check("making an event", made)?;
            let made = (runtime.make_event)(&raw mut turn, DISABLE_TIMING);
            runtime.check("making an event", made)?;
        }
        let [stream, event, turn] = [stream, event, turn].map(Handle);
        Ok(Box::new(Line { runtime, stream, event, turn }))
    }

    fn stage(&self) -> *mut u8 {
        const PORTABLE: u32 = 1;
        let mut stage = ptr::null_mut();
        // SAFETY: writes one address. Without such memory copies go the runtime's way.
        match unsafe { (self.0.malloc_host)(&raw mut stage, STAGED, PORTABLE) } {
            SUCCESS => stage.cast(),
            _ => ptr::null_mut(),
        }
    }
}

impl Line {
    /// Comes after an event, which was recorded with this answer.
    #[allow(unsafe_code, reason = "asks the runtime")]
    fn behind(&self, recorded: c_int, event: *mut c_void) -> Result<()> {
        let what = "ordering streams";
        self.runtime.check(what, recorded)?;
        // SAFETY: a stream and an event of this device, which are never given back.
        self.runtime.check(what, unsafe { (self.runtime.follow)(self.stream.0, event, 0) })
    }
}

#[allow(unsafe_code, reason = "asks the runtime")]
impl DriverStream for Line {
    fn handle(&self) -> *mut c_void {
        self.stream.0
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn wait(&self, what: &'static str) -> Result<()> {
        // SAFETY: a stream of the current device.
        self.runtime.check(what, unsafe { (self.runtime.wait)(self.stream.0) })
    }

    fn mark(&self) -> Result<()> {
        // SAFETY: an event and a stream of the current device.
        let recorded = unsafe { (self.runtime.record)(self.event.0, self.stream.0) };
        self.runtime.check("ordering streams", recorded)
    }

    fn follow_mark(&self, other: &dyn DriverStream) -> Result<()> {
        other.with_mark(&mut |mark| self.behind(SUCCESS, mark))
    }

    fn follow(&self, other: &dyn DriverStream) -> Result<()> {
        // SAFETY: an event and a stream of the current device.
        let recorded = unsafe { (self.runtime.record)(self.turn.0, other.handle()) };
        self.behind(recorded, self.turn.0)
    }

    fn with_mark(&self, act: &mut dyn FnMut(*mut c_void) -> Result<()>) -> Result<()> {
        act(self.event.0)
    }
}
