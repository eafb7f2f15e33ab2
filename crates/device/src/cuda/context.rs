//! One GPU: what it is like, its context, and streams to do things in.
//!
//! The context is the primary one, which CUDA code of the program uses too. It is made current for
//! the time of a call, and the one that was current before is put back.

use std::ffi::c_void;
use std::ptr;
use std::sync::{Mutex, MutexGuard, PoisonError};

use cudarc::driver::sys::{
    self, CUcontext, CUdevice, CUdevice_attribute_enum as Attribute, CUstream, CUstream_flags_enum,
};

use super::driver::{self, check};
use crate::{DeviceError, Result};

/// A GPU and its context.
#[derive(Debug)]
pub(super) struct Context {
    pub(super) handle: CUcontext,
    /// Among those that the driver offers.
    number: usize,
    /// Multiprocessors.
    pub(super) units: usize,
    pub(super) memory: usize,
    /// 90 for compute capability 9.0.
    pub(super) capability: u32,
    /// The version of CUDA that the driver knows, as it counts.
    pub(super) driver: i32,
}

impl Context {
    /// The GPU with that number, as the driver counts them.
    #[allow(unsafe_code, reason = "asks the driver")]
    pub(super) fn open(number: usize) -> Result<Context> {
        let driver = driver::start()?;
        let mut count = 0;
        // SAFETY: the driver is started, and writes one number.
        check("counting GPUs", unsafe { sys::cuDeviceGetCount(&raw mut count) })?;
        let ordinal = i32::try_from(number).unwrap_or(i32::MAX);
        if ordinal >= count {
            let s = if count == 1 { "" } else { "s" };
            return Err(DeviceError::Failed(format!("the driver offers {count} GPU{s} here")));
        }
        let mut device = 0;
        let (mut memory, mut handle) = (0, ptr::null_mut());
        // SAFETY: the ordinal is one of the driver's; each call writes one value.
        unsafe {
            check("choosing a GPU", sys::cuDeviceGet(&raw mut device, ordinal))?;
            let asked = sys::cuDeviceTotalMem_v2(&raw mut memory, device);
            check("asking for the size of memory", asked)?;
            let made = sys::cuDevicePrimaryCtxRetain(&raw mut handle, device);
            check("making a context", made)?;
        }
        let is = |attribute| number_of(device, attribute);
        let major = is(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?;
        let minor = is(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?;
        let units = is(Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?;
        Ok(Context {
            handle,
            number,
            units: usize::try_from(units).unwrap_or(1).max(1),
            memory,
            capability: major * 10 + minor,
            driver,
        })
    }

    /// Makes it the current context of this thread until the answer is dropped.
    #[allow(unsafe_code, reason = "asks the driver")]
    pub(super) fn enter(&self) -> Result<Entered> {
        let mut before = ptr::null_mut();
        // SAFETY: the driver is started; it writes one handle, of the calling thread.
        check("asking for the context", unsafe { sys::cuCtxGetCurrent(&raw mut before) })?;
        if before == self.handle {
            return Ok(Entered { before: None });
        }
        // SAFETY: a context that is kept as long as the device.
        check("entering the context", unsafe { sys::cuCtxSetCurrent(self.handle) })?;
        // Code of the program that has chosen none gets the first one by itself.
        let is_first = before.is_null() && self.number == 0;
        Ok(Entered { before: (!is_first).then_some(before) })
    }
}

#[allow(unsafe_code, reason = "asks the driver")]
fn number_of(device: CUdevice, attribute: Attribute) -> Result<u32> {
    let mut value = 0;
    // SAFETY: a device of the driver, which writes one number.
    let asked = unsafe { sys::cuDeviceGetAttribute(&raw mut value, attribute, device) };
    check("asking what the GPU is like", asked)?;
    Ok(u32::try_from(value).unwrap_or(0))
}

/// The context is current.
pub(super) struct Entered {
    /// What is to be current again.
    before: Option<CUcontext>,
}

impl Drop for Entered {
    #[allow(unsafe_code, reason = "asks the driver")]
    fn drop(&mut self) {
        if let Some(before) = self.before {
            // SAFETY: it was current in this thread; none is a value too.
            let _ = unsafe { sys::cuCtxSetCurrent(before) };
        }
    }
}

/// A stream, and memory of the host that the GPU can copy from and to without the processor.
#[derive(Debug)]
pub(super) struct Lane {
    pub(super) stream: CUstream,
    /// [`STAGED`] bytes; null where there was no such memory.
    pub(super) stage: *mut u8,
}

/// Copies of so many bytes go by way of such memory: the driver would do that too, with more ado.
pub(super) const STAGED: usize = 64 << 10;

// SAFETY: a stream may be used from all threads; the memory is used by the one who has the lane.
#[allow(unsafe_code, reason = "handles of a library that is safe for threads")]
unsafe impl Send for Lane {}

impl Lane {
    /// A new one, of the current context.
    #[allow(unsafe_code, reason = "asks the driver")]
    fn make() -> Result<Lane> {
        let mut stream = ptr::null_mut();
        let flags = CUstream_flags_enum::CU_STREAM_NON_BLOCKING as u32;
        // SAFETY: writes one handle; the context is current.
        check("making a stream", unsafe { sys::cuStreamCreate(&raw mut stream, flags) })?;
        let mut stage: *mut c_void = ptr::null_mut();
        // SAFETY: writes one address. Without such memory copies go the driver's way.
        let made =
            unsafe { sys::cuMemHostAlloc(&raw mut stage, STAGED, sys::CU_MEMHOSTALLOC_PORTABLE) };
        if check("locking memory", made).is_err() {
            stage = ptr::null_mut();
        }
        Ok(Lane { stream, stage: stage.cast() })
    }

    /// Waits until all is done that was put into the stream.
    #[allow(unsafe_code, reason = "asks the driver")]
    pub(super) fn wait(&self, what: &'static str) -> Result<()> {
        // SAFETY: a stream of the current context.
        check(what, unsafe { sys::cuStreamSynchronize(self.stream) })
    }
}

/// Streams that nobody uses at the moment; there are as many as threads were at work at once.
#[derive(Debug, Default)]
pub(super) struct Lanes(Mutex<Vec<Lane>>);

impl Lanes {
    /// Does something with a stream that nobody else uses meanwhile. The context is current.
    pub(super) fn with<T>(&self, work: impl FnOnce(&Lane) -> Result<T>) -> Result<T> {
        let idle = self.idle().pop();
        let lane = match idle {
            Some(lane) => lane,
            None => Lane::make()?,
        };
        let done = work(&lane);
        self.idle().push(lane);
        done
    }

    /// The list of those, for one who takes from it or holds it.
    pub(super) fn idle(&self) -> MutexGuard<'_, Vec<Lane>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
