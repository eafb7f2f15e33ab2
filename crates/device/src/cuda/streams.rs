//! Streams of a GPU, and events that order them.

use std::any::Any;
use std::ffi::c_void;
use std::ptr;
use std::sync::Arc;

use cudarc::driver::sys::{self, CUevent, CUevent_flags_enum, CUstream, CUstream_flags_enum};

use super::batch::{Batch, Keeper, Start};
use super::driver::check;
use crate::Result;
use crate::gpu::pool::{DriverStream, Maker, STAGED};

/// Makes streams of the context that is current.
#[derive(Debug)]
pub(super) struct Streams(pub(super) Option<Arc<Keeper>>);

#[derive(Debug)]
pub(super) struct Line {
    stream: CUstream,
    /// Kernels that the driver has not been told of, and who looks after them; none where the driver
    /// cannot do that.
    batch: Option<(Arc<Keeper>, Arc<Batch>)>,
    /// Where its copies end, if they are marked.
    event: CUevent,
    /// Where another stream was when this one was to follow it.
    turn: CUevent,
}

// SAFETY: streams and events may be used from all threads at once.
#[allow(unsafe_code, reason = "handles of a library that is safe for threads")]
unsafe impl Send for Line {}
// SAFETY: as above.
#[allow(unsafe_code, reason = "handles of a library that is safe for threads")]
unsafe impl Sync for Line {}

impl Line {
    /// Leaves a kernel for later; false if it has to be started now.
    pub(super) fn gather(&self, start: &Start<'_>) -> bool {
        self.batch.as_ref().is_some_and(|(keeper, batch)| keeper.add(batch, start))
    }
}

#[allow(unsafe_code, reason = "asks the driver")]
impl Maker for Streams {
    fn stream(&self) -> Result<Box<dyn DriverStream>> {
        let (mut stream, mut event, mut turn) = (ptr::null_mut(), ptr::null_mut(), ptr::null_mut());
        let flags = CUstream_flags_enum::CU_STREAM_NON_BLOCKING as u32;
        // SAFETY: writes one handle; the context is current.
        check("making a stream", unsafe { sys::cuStreamCreate(&raw mut stream, flags) })?;
        let flags = CUevent_flags_enum::CU_EVENT_DISABLE_TIMING as u32;
        // SAFETY: as above.
        check("making an event", unsafe { sys::cuEventCreate(&raw mut event, flags) })?;
        // SAFETY: as above.
        check("making an event", unsafe { sys::cuEventCreate(&raw mut turn, flags) })?;
        let batch = self.0.as_ref().map(|it| (Arc::clone(it), it.batch(stream)));
        Ok(Box::new(Line { stream, batch, event, turn }))
    }

    fn stage(&self) -> *mut u8 {
        let mut stage: *mut c_void = ptr::null_mut();
        // SAFETY: writes one address. Without such memory copies go the driver's way.
        let made =
            unsafe { sys::cuMemHostAlloc(&raw mut stage, STAGED, sys::CU_MEMHOSTALLOC_PORTABLE) };
        match check("locking memory", made) {
            Ok(()) => stage.cast(),
            Err(_) => ptr::null_mut(),
        }
    }
}

#[allow(unsafe_code, reason = "asks the driver")]
impl DriverStream for Line {
    fn handle(&self) -> *mut c_void {
        // What failed is told who waits.
        if let Some((_, batch)) = &self.batch {
            batch.flush();
        }
        self.stream.cast()
    }

    fn gathers(&self) -> bool {
        self.batch.as_ref().is_some_and(|(_, batch)| batch.is_open())
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn wait(&self, what: &'static str) -> Result<()> {
        let started = self.batch.as_ref().map_or(Ok(()), |(_, batch)| batch.finish());
        // SAFETY: a stream of the current context.
        started.and(check(what, unsafe { sys::cuStreamSynchronize(self.stream) }))
    }

    fn mark(&self) -> Result<()> {
        // SAFETY: an event and a stream of the current context.
        check("ordering copies", unsafe { sys::cuEventRecord(self.event, self.stream) })
    }

    fn follow_mark(&self, other: &dyn DriverStream) -> Result<()> {
        other.with_mark(&mut |mark| {
            // SAFETY: a stream and an event of this device, which are never given back.
            let code = unsafe { sys::cuStreamWaitEvent(self.stream, mark.cast(), 0) };
            check("ordering copies", code)
        })
    }

    fn follow(&self, other: &dyn DriverStream) -> Result<()> {
        let other = other.handle().cast();
        // SAFETY: streams and an event of this device, which are never given back.
        check("ordering regions", unsafe { sys::cuEventRecord(self.turn, other) })?;
        // SAFETY: as above.
        let code = unsafe { sys::cuStreamWaitEvent(self.stream, self.turn, 0) };
        check("ordering regions", code)
    }

    fn with_mark(&self, act: &mut dyn FnMut(*mut c_void) -> Result<()>) -> Result<()> {
        act(self.event.cast())
    }
}
