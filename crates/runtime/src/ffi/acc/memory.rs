//! Device memory by hand, and copies to and from it.

use std::ffi::{c_int, c_void};
use std::ptr;

use ::device::DeviceError;

use super::queues::{SYNC, on_queue};
use super::{context, current, device, place, routine};
use crate::args::Place;
use crate::devices::Target;
use crate::error::{Error, Section};
use crate::ffi::hand;

/// Allocates memory of the current device; null if there is none or no bytes were asked for.
#[unsafe(no_mangle)]
pub extern "C" fn acc_malloc(size: usize) -> *mut c_void {
    let place = place!(acc_malloc);
    routine(place, || {
        let target = current()?;
        if size == 0 {
            return Ok(ptr::null_mut());
        }
        match hand::allocate(target, size, ::device::MemoryKind::Device) {
            Err(Error::Device { error: DeviceError::OutOfMemory { .. }, .. }) => {
                Ok(ptr::null_mut())
            }
            answer => answer,
        }
    })
}

/// Gives it back; null is nothing.
#[unsafe(no_mangle)]
pub extern "C" fn acc_free(at: *mut c_void) {
    routine(place!(acc_free), || {
        if at.is_null() {
            return Ok(());
        }
        let target = current()?;
        if let Target::Device(device) = target
            && let Some(host) = device.mapping.host_of(::device::DevicePtr(at as u64))
            && !device.shares_memory
        {
            return Err(Error::Argument {
                message: format!("the memory is mapped: it belongs to the data at {host:#x}"),
                help: "call acc_unmap_data, or end the life of the data on the device, before"
                    .into(),
            });
        }
        hand::release(target, at)
    });
}

/// Where one side of a copy lies.
#[derive(Clone, Copy)]
enum Side {
    Host,
    Device,
}

/// Copies bytes between the host and the current device.
fn copy(
    place: Place,
    to: (Side, *mut c_void),
    from: (Side, *mut c_void),
    size: usize,
    queue: c_int,
) -> Result<(), Error> {
    if size == 0 {
        return Ok(());
    }
    if to.1.is_null() || from.1.is_null() {
        return Err(Error::Argument {
            message: format!("copying {size} bytes to or from a null pointer"),
            help: "give addresses of data on the host and of memory on the device".into(),
        });
    }
    let target = current()?;
    let end = move |(side, at): (Side, u64)| match side {
        Side::Host => (Target::Host, at),
        Side::Device => (target, at),
    };
    let (to, from) = ((to.0, to.1 as u64), (from.0, from.1 as u64));
    // SAFETY: the program says that both are memory of that length.
    let work = move || unsafe { hand::copy(end(to), end(from), size) };
    match target {
        Target::Host => work(),
        Target::Device(device) => on_queue(place, device, queue, work),
    }
}

/// Copies between the host and the current device, each with its form for queues.
macro_rules! copies {
    ($($to:expr, $from:expr, $now:ident, $later:ident;)*) => {$(
        /// Copies bytes; device memory is given by its address there.
        ///
        /// # Safety
        /// Both are memory of `size` bytes.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $now(to: *mut c_void, from: *mut c_void, size: usize) {
            let place = place!($now);
            routine(place, || copy(place, ($to, to), ($from, from), size, SYNC));
        }

        /// The same, on a queue.
        ///
        /// # Safety
        /// Both are memory of `size` bytes, until the copy is made.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $later(
            to: *mut c_void,
            from: *mut c_void,
            size: usize,
            queue: c_int,
        ) {
            let place = place!($later);
            routine(place, || copy(place, ($to, to), ($from, from), size, queue));
        }
    )*};
}

copies! {
    Side::Device, Side::Host, acc_memcpy_to_device, acc_memcpy_to_device_async;
    Side::Host, Side::Device, acc_memcpy_from_device, acc_memcpy_from_device_async;
    Side::Device, Side::Device, acc_memcpy_device, acc_memcpy_device_async;
}

/// Where a device has the data of the host that a copy between devices names.
fn copy_of(place: Place, target: Target, at: usize, size: usize) -> Result<(Target, u64), Error> {
    let Target::Device(device) = target else { return Ok((target, at as u64)) };
    let cx = context(device, place)?;
    match cx.device.mapping.translate(at, size) {
        Some(address) => Ok((target, address.0)),
        // The host's own memory is the device's.
        None if device.shares_memory => Ok((target, at as u64)),
        None => Err(Error::NotPresent { what: Section { name: None, at, size }, is_motion: true }),
    }
}

fn between(
    place: Place,
    [to, from]: [*mut c_void; 2],
    size: usize,
    numbers: [c_int; 2],
    queue: c_int,
) -> Result<(), Error> {
    if size == 0 {
        return Ok(());
    }
    if to.is_null() || from.is_null() {
        return Err(Error::Argument {
            message: format!("copying {size} bytes to or from a null pointer"),
            help: "give host addresses of data that the devices have".into(),
        });
    }
    hand::check(to as u64, size)?;
    hand::check(from as u64, size)?;
    let [to_device, from_device] = [device(numbers[0])?, device(numbers[1])?];
    let (to, from) = (to as usize, from as usize);
    let to = copy_of(place, to_device, to, size)?;
    let from = copy_of(place, from_device, from, size)?;
    // SAFETY: the tables say that both are memory of that length.
    let work = move || unsafe { hand::copy(to, from, size) };
    match to_device {
        Target::Host => work(),
        Target::Device(device) => on_queue(place, device, queue, work),
    }
}

/// Copies what one device has of host data to what another one has of others.
///
/// # Safety
/// Both are data of `size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn acc_memcpy_d2d(
    to: *mut c_void,
    from: *mut c_void,
    size: usize,
    to_device: c_int,
    from_device: c_int,
) {
    let place = place!(acc_memcpy_d2d);
    routine(place, || between(place, [to, from], size, [to_device, from_device], SYNC));
}

/// The same, on a queue of the device that is copied to.
///
/// # Safety
/// Both are data of `size` bytes, until the copy is made.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn acc_memcpy_d2d_async(
    to: *mut c_void,
    from: *mut c_void,
    size: usize,
    to_device: c_int,
    from_device: c_int,
    queue: c_int,
) {
    let place = place!(acc_memcpy_d2d_async);
    routine(place, || between(place, [to, from], size, [to_device, from_device], queue));
}
