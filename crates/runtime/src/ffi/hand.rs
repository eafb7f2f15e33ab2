//! Memory of devices that the program handles itself: allocation, release, copies.
//!
//! Behind the routines of both standards, which choose the devices and check the rest.

use std::ffi::c_void;

use ::device::{DeviceError, DevicePtr, MemoryKind};

use crate::args::fits;
use crate::devices::{Target, all};
use crate::ending;
use crate::error::Error;
use crate::tool::{self, DataOp, Operation};
use crate::watch::Watch;

/// Memory that fits every type, and whole cache lines.
const ALIGN: usize = 64;

/// An error if so many bytes cannot lie there.
pub(crate) fn check(at: u64, bytes: usize) -> Result<(), Error> {
    let is_possible = usize::try_from(at).is_ok_and(|it| fits(it, bytes));
    if is_possible { Ok(()) } else { Err(too_large(bytes)) }
}

/// No memory has so many bytes.
pub(super) fn too_large(bytes: usize) -> Error {
    Error::Argument {
        message: format!("{bytes} bytes are more than any memory has"),
        help:
            "look at how the length is computed: a negative number, or one that overflowed, is a \
               very large one here"
                .into(),
    }
}

/// Allocates `bytes`, not none.
pub(super) fn allocate(
    target: Target,
    bytes: usize,
    kind: MemoryKind,
) -> Result<*mut c_void, Error> {
    ending::stop();
    let Target::Device(device) = target else {
        // SAFETY: asks for memory, nothing else.
        return Ok(unsafe { libc::malloc(bytes) });
    };
    if !fits(0, bytes) {
        let failed = DeviceError::OutOfMemory { bytes };
        return Err(Error::Device { doing: "allocating device memory", what: None, error: failed });
    }
    let op = DataOp {
        operation: Operation::Alloc,
        from: (0, all().len()),
        to: (0, device.number),
        bytes,
        name: None,
    };
    let made = |it: &Result<DevicePtr, DeviceError>| it.as_ref().ok().map(|it| it.0);
    let alloc = || device.plugin.alloc(bytes, ALIGN, kind);
    let at = tool::operation(Watch::now(), op, made, alloc).map_err(|error| Error::Device {
        doing: "allocating device memory",
        what: None,
        error,
    })?;
    device.remember(at, bytes);
    device.make_known()?;
    Ok(at.0 as *mut c_void)
}

/// Gives memory of [`allocate`] back; `at` is not null.
pub(super) fn release(target: Target, at: *mut c_void) -> Result<(), Error> {
    let Target::Device(device) = target else {
        // SAFETY: the program says that it got this from the function above.
        unsafe { libc::free(at) };
        return Ok(());
    };
    let Some(at) = device.forget(at as u64) else {
        return Err(Error::Argument {
            message: format!("{at:p} was not allocated on this device, or was freed already"),
            help: "free each piece of memory once, on the device that it came from".into(),
        });
    };
    let op = DataOp {
        operation: Operation::Delete,
        from: (at.0, device.number),
        to: (0, all().len()),
        bytes: 0,
        name: None,
    };
    // SAFETY: allocated on this device, and forgotten just now, so freed only once.
    let free = || unsafe { device.plugin.free(at) };
    tool::operation(Watch::now(), op, |_| None, free).map_err(|error| Error::Device {
        doing: "freeing device memory",
        what: None,
        error,
    })
}

/// Copies through the host go in pieces of this size.
const STAGE: usize = 1 << 20;

/// Copies `len` bytes.
///
/// # Safety
/// Both ranges are memory of their devices, or of the host.
pub(super) unsafe fn copy(to: (Target, u64), from: (Target, u64), len: usize) -> Result<(), Error> {
    ending::stop();
    check(to.1, len)?;
    check(from.1, len)?;
    let failed = |error| Error::Device { doing: "copying", what: None, error };
    let number = |target: Target| match target {
        Target::Host => all().len(),
        Target::Device(device) => device.number,
    };
    let operation = match (to.0, from.0) {
        (Target::Host, Target::Host) => {
            // SAFETY: the caller's promise.
            return unsafe { copy_untold(to, from, len) }.map_err(failed);
        }
        (Target::Host, Target::Device(_)) => Operation::FromDevice,
        (Target::Device(_), _) => Operation::ToDevice,
    };
    let (source, place) = ((from.1, number(from.0)), (to.1, number(to.0)));
    let op = DataOp { operation, from: source, to: place, bytes: len, name: None };
    // SAFETY: the caller's promise.
    tool::operation(Watch::now(), op, |_| None, || unsafe { copy_untold(to, from, len) })
        .map_err(failed)
}

/// # Safety
/// As [`copy`].
unsafe fn copy_untold(
    to: (Target, u64),
    from: (Target, u64),
    len: usize,
) -> Result<(), DeviceError> {
    let ((to, dst), (from, src)) = (to, from);
    // SAFETY: the caller's promise, in every arm.
    unsafe {
        match (to, from) {
            (Target::Host, Target::Host) => {
                std::ptr::copy(src as *const u8, dst as *mut u8, len);
                Ok(())
            }
            (Target::Device(to), Target::Host) => {
                to.plugin.copy_in(DevicePtr(dst), src as *const u8, len)
            }
            (Target::Host, Target::Device(from)) => {
                from.plugin.copy_out(dst as *mut u8, DevicePtr(src), len)
            }
            (Target::Device(to), Target::Device(from)) if to.number == from.number => {
                to.plugin.copy_within(DevicePtr(dst), DevicePtr(src), len)
            }
            (Target::Device(to), Target::Device(from)) => {
                let (dst, src) = (DevicePtr(dst), DevicePtr(src));
                to.plugin.wait_for_left()?;
                match from.plugin.copy_to_peer(&*to.plugin, dst, src, len) {
                    Err(DeviceError::Unsupported(_)) => {
                        let mut stage = vec![0u8; len.min(STAGE)];
                        for at in (0..len).step_by(STAGE) {
                            let piece = STAGE.min(len - at);
                            from.plugin.copy_out(stage.as_mut_ptr(), src.offset(at), piece)?;
                            to.plugin.copy_in(dst.offset(at), stage.as_ptr(), piece)?;
                        }
                        Ok(())
                    }
                    direct => direct,
                }
            }
        }
    }
}
