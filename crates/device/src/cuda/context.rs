//! One GPU: what it is like, and its context.
//!
//! The context is the primary one, which CUDA code of the program uses too. It is made current for
//! the time of a call, and the one that was current before is put back.

use std::ffi::CStr;
use std::ptr;

use cudarc::driver::sys::{self, CUcontext, CUdevice, CUdevice_attribute_enum as Attribute};

use super::driver::{self, check};
use crate::gpu::shape;
use crate::{DeviceError, Held, Result};

/// A GPU and its context.
#[derive(Debug)]
pub(super) struct Context {
    pub(super) handle: CUcontext,
    /// Among those that the driver offers.
    number: usize,
    pub(super) shape: shape::Gpu,
    pub(super) memory: usize,
    /// 90 for compute capability 9.0.
    pub(super) capability: u32,
    /// The version of CUDA that the driver knows, as it counts.
    pub(super) driver: i32,
}

impl Context {
    /// Whether that GPU reads and writes memory of the host that nobody has told it of.
    pub(super) fn reaches_host(number: usize) -> Result<bool> {
        driver::start()?;
        let asked = Attribute::CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS;
        Ok(number_of(chosen(number)?, asked)? != 0)
    }

    /// What all GPUs are called; no context is made.
    #[allow(unsafe_code, reason = "asks the driver")]
    pub(super) fn names() -> Result<Vec<String>> {
        driver::start()?;
        let name = |number| {
            let mut text = [0u8; 256];
            let device = chosen(number)?;
            // SAFETY: a device of the driver, which writes a text of at most that length, with its end.
            let asked = unsafe {
                sys::cuDeviceGetName(text.as_mut_ptr().cast(), text.len() as i32 - 1, device)
            };
            check("asking what the GPU is called", asked)?;
            let name = CStr::from_bytes_until_nul(&text).unwrap_or_default();
            Ok(name.to_string_lossy().into_owned())
        };
        (0..count()?).map(name).collect()
    }

    /// The GPU with that number, as the driver counts them.
    #[allow(unsafe_code, reason = "asks the driver")]
    pub(super) fn open(number: usize) -> Result<Context> {
        let driver = driver::start()?;
        let device = chosen(number)?;
        let (mut memory, mut handle) = (0, ptr::null_mut());
        // SAFETY: a device of the driver; each call writes one value.
        unsafe {
            let asked = sys::cuDeviceTotalMem_v2(&raw mut memory, device);
            check("asking for the size of memory", asked)?;
            let made = sys::cuDevicePrimaryCtxRetain(&raw mut handle, device);
            check("making a context", made)?;
        }
        let is = |attribute| number_of(device, attribute);
        let major = is(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?;
        let minor = is(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?;
        let count = |it| is(it).map(|it| usize::try_from(it).unwrap_or(0));
        let units = count(Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?;
        // Drivers that do not know it take nothing.
        let reserved = count(Attribute::CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK);
        let shared = count(Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR)?;
        let known = (shared > 0).then_some([shared, reserved.unwrap_or(0)]);
        Ok(Context {
            handle,
            number,
            shape: shape::Gpu { units: units.max(1), memory: known },
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

/// How many GPUs there are; the driver is started.
#[allow(unsafe_code, reason = "asks the driver")]
fn count() -> Result<usize> {
    let mut count = 0;
    // SAFETY: the driver is started, and writes one number.
    check("counting GPUs", unsafe { sys::cuDeviceGetCount(&raw mut count) })?;
    Ok(usize::try_from(count).unwrap_or(0))
}

/// A GPU, by its number; the driver is started.
#[allow(unsafe_code, reason = "asks the driver")]
fn chosen(number: usize) -> Result<CUdevice> {
    let count = count()?;
    let ordinal = i32::try_from(number).unwrap_or(i32::MAX);
    if number >= count {
        let s = if count == 1 { "" } else { "s" };
        return Err(DeviceError::Failed(format!("the driver offers {count} GPU{s} here")));
    }
    let mut device = 0;
    // SAFETY: the ordinal is one of the driver's; writes one value.
    check("choosing a GPU", unsafe { sys::cuDeviceGet(&raw mut device, ordinal) })?;
    Ok(device)
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
#[derive(Debug)]
pub(super) struct Entered {
    /// What is to be current again.
    before: Option<CUcontext>,
}

impl Entered {
    /// To be kept; that needs no memory where there is nothing to put back.
    pub(super) fn held(self) -> Box<dyn Held> {
        if self.before.is_some() { Box::new(self) } else { Box::new(()) }
    }
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
