//! Queues of a device, each in its order, and events that order them among each other.

use std::any::Any;
use std::ffi::c_void;
use std::ptr;
use std::sync::{Arc, Mutex, PoisonError};

use cl3::types::{cl_command_queue, cl_context, cl_device_id, cl_event, cl_int};
use cl3::{command_queue as queue, event};

use super::buffers::Moved;
use super::failure;
use crate::Result;
use crate::gpu::pool::{DriverStream, Maker, STAGED};

/// Makes queues of a device.
#[derive(Debug)]
pub(super) struct Queues {
    pub(super) context: cl_context,
    pub(super) device: cl_device_id,
    /// Of a device of version 1.2: whether memory has moved, which is looked at when a queue was waited for.
    pub(super) moved: Option<Arc<Moved>>,
}

#[derive(Debug)]
struct Line {
    queue: cl_command_queue,
    /// What is done when all before the mark is; null while there is none.
    mark: Mutex<cl_event>,
    moved: Option<Arc<Moved>>,
}

// SAFETY: handles of OpenCL may be used from all threads at once.
#[allow(unsafe_code, reason = "handles of a library that is safe for threads")]
unsafe impl Send for Queues {}
// SAFETY: as above.
#[allow(unsafe_code, reason = "handles of a library that is safe for threads")]
unsafe impl Sync for Queues {}
// SAFETY: as above.
#[allow(unsafe_code, reason = "handles of a library that is safe for threads")]
unsafe impl Send for Line {}
// SAFETY: as above; the event is behind a lock.
#[allow(unsafe_code, reason = "handles of a library that is safe for threads")]
unsafe impl Sync for Line {}

impl Maker for Queues {
    #[allow(unsafe_code, reason = "a handle for another")]
    fn stream(&self) -> Result<Box<dyn DriverStream>> {
        // SAFETY: the device is the one of the context; no properties: in order.
        let queue = unsafe {
            match self.moved {
                None => queue::create_command_queue_with_properties(
                    self.context,
                    self.device,
                    ptr::null(),
                ),
                // The other came with 2.0.
                Some(_) => queue::create_command_queue(self.context, self.device, 0),
            }
        }
        .map_err(|code| failure("making a queue", code))?;
        let moved = self.moved.clone();
        Ok(Box::new(Line { queue, mark: Mutex::new(ptr::null_mut()), moved }))
    }

    /// Any memory will do: what matters is that it stays as it is until it is copied.
    fn stage(&self) -> *mut u8 {
        Box::leak(vec![0; STAGED].into_boxed_slice()).as_mut_ptr()
    }
}

/// An event behind all that a queue has now. Who waits for it in another queue waits for the driver to
/// begin, so it is told to.
#[allow(unsafe_code, reason = "asks the driver")]
fn reached(at: cl_command_queue) -> Result<cl_event> {
    // SAFETY: a queue, and an empty list.
    let marked = unsafe { queue::enqueue_marker_with_wait_list(at, 0, ptr::null()) };
    let marked = marked.map_err(|code| failure("ordering queues", code))?;
    queue::flush(at).map_err(|code| failure("ordering queues", code))?;
    Ok(marked)
}

#[allow(unsafe_code, reason = "asks the driver")]
fn stand_behind(at: cl_command_queue, other: cl_event) -> Result<()> {
    // SAFETY: a queue, and a list of one event of the same context.
    let asked = unsafe { queue::enqueue_barrier_with_wait_list(at, 1, &raw const other) };
    release(asked.map_err(|code| failure("ordering queues", code))?);
    Ok(())
}

/// Lets go of an event: what waits for it keeps it.
#[allow(unsafe_code, reason = "a handle is given back")]
pub(super) fn release(it: cl_event) {
    // SAFETY: the handle is the caller's own and is not used again.
    let _: std::result::Result<(), cl_int> = unsafe { event::release_event(it) };
}

impl DriverStream for Line {
    fn handle(&self) -> *mut c_void {
        self.queue
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn wait(&self, what: &'static str) -> Result<()> {
        queue::finish(self.queue).map_err(|code| failure(what, code))?;
        self.moved.as_ref().map_or(Ok(()), |it| it.check())
    }

    fn mark(&self) -> Result<()> {
        let fresh = reached(self.queue)?;
        let mut mark = self.mark.lock().unwrap_or_else(PoisonError::into_inner);
        let before = std::mem::replace(&mut *mark, fresh);
        if !before.is_null() {
            release(before);
        }
        Ok(())
    }

    fn follow_mark(&self, other: &dyn DriverStream) -> Result<()> {
        other.with_mark(&mut |mark| stand_behind(self.queue, mark))
    }

    fn follow(&self, other: &dyn DriverStream) -> Result<()> {
        let there = reached(other.handle())?;
        let follows = stand_behind(self.queue, there);
        release(there);
        follows
    }

    fn with_mark(&self, act: &mut dyn FnMut(*mut c_void) -> Result<()>) -> Result<()> {
        let mark = self.mark.lock().unwrap_or_else(PoisonError::into_inner);
        match mark.is_null() {
            true => Ok(()),
            false => act(*mark),
        }
    }
}
