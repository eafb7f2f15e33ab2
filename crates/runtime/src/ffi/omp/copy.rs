//! Copies and fills between any two memories. The forms with dependences are
//! tasks, which the caller does not wait for.

use std::ffi::{c_int, c_void};
use std::{ptr, slice};

use ::device::DevicePtr;
use abi::queue::Dependence;

use super::device;
use crate::devices::Target;
use crate::error::Error;
use crate::ffi::hand;
use crate::guard::answer;
use crate::nowait::tasks;
use crate::{host, llvm};

/// What the standard says for success and failure.
const OK: c_int = 0;
const FAILED: c_int = 22;

/// Copies `len` bytes between two devices or the host; 0 if it did.
///
/// # Safety
/// Both ranges, with their offsets, are memory of their devices.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn omp_target_memcpy(
    to: *mut c_void,
    from: *const c_void,
    len: usize,
    to_offset: usize,
    from_offset: usize,
    to_device: c_int,
    from_device: c_int,
) -> c_int {
    answer("omp_target_memcpy", FAILED, || {
        if len == 0 {
            return Ok(OK);
        }
        if to.is_null() || from.is_null() {
            return Err(Error::BadCall("copying to or from a null pointer"));
        }
        hand::check(to as u64, to_offset)?;
        hand::check(from as u64, from_offset)?;
        let to = (device(to_device)?, (to as u64).wrapping_add(to_offset as u64));
        let from = (device(from_device)?, (from as u64).wrapping_add(from_offset as u64));
        // SAFETY: the caller's promise.
        unsafe { hand::copy(to, from, len) }.map(|()| OK)
    })
}

/// One side of a rectangular copy: where it begins, how large each dimension of the array is.
#[derive(Clone, Copy)]
struct Side<'a> {
    target: Target,
    at: u64,
    offsets: &'a [usize],
    extents: &'a [usize],
}

impl<'a> Side<'a> {
    /// The first dimension taken off: bytes of one step in it, and the side at its offset.
    fn enter(self, element: usize) -> Option<(usize, Side<'a>)> {
        let (offset, offsets) = self.offsets.split_first()?;
        let (_, extents) = self.extents.split_first()?;
        let step = extents.iter().try_fold(element, |product, it| product.checked_mul(*it))?;
        let at = self.at.checked_add(offset.checked_mul(step)? as u64)?;
        Some((step, Side { at, offsets, extents, ..self }))
    }
}

/// Copies dimension by dimension; the last one in one piece.
///
/// # Safety
/// As [`omp_target_memcpy_rect`].
unsafe fn copy_rect(
    element: usize,
    volume: &[usize],
    to: Side<'_>,
    from: Side<'_>,
) -> Result<(), Error> {
    let too_large = || Error::Argument {
        message: format!(
            "a rectangle of {} elements of {element} bytes is larger than any memory",
            volume.iter().map(usize::to_string).collect::<Vec<_>>().join(" x ")
        ),
        help: "look at how its volume, its offsets and the dimensions of the arrays are computed"
            .into(),
    };
    let Some((count, inner)) = volume.split_first() else { return Ok(()) };
    let (to_step, to) = to.enter(element).ok_or_else(too_large)?;
    let (from_step, from) = from.enter(element).ok_or_else(too_large)?;
    // So that no address wraps around.
    count.checked_mul(to_step.max(from_step)).ok_or_else(too_large)?;
    if inner.is_empty() {
        let len = count.checked_mul(element).ok_or_else(too_large)?;
        // SAFETY: the caller's promise.
        return unsafe { hand::copy((to.target, to.at), (from.target, from.at), len) };
    }
    for index in 0..*count {
        let to_at = to.at.wrapping_add((index * to_step) as u64);
        let from_at = from.at.wrapping_add((index * from_step) as u64);
        // SAFETY: the caller's promise.
        unsafe {
            copy_rect(element, inner, Side { at: to_at, ..to }, Side { at: from_at, ..from })
        }?;
    }
    Ok(())
}

/// Copies a rectangular part of an array into one of another; both null asks how many dimensions
/// are supported.
///
/// # Safety
/// The five arrays have `dims` elements; both rectangles are memory of their devices.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments, reason = "the standard's")]
pub unsafe extern "C" fn omp_target_memcpy_rect(
    to: *mut c_void,
    from: *const c_void,
    element: usize,
    dims: c_int,
    volume: *const usize,
    to_offsets: *const usize,
    from_offsets: *const usize,
    to_extents: *const usize,
    from_extents: *const usize,
    to_device: c_int,
    from_device: c_int,
) -> c_int {
    if to.is_null() && from.is_null() {
        return c_int::MAX;
    }
    answer("omp_target_memcpy_rect", FAILED, || {
        let dims = usize::try_from(dims).unwrap_or(0);
        let lists = [volume, to_offsets, from_offsets, to_extents, from_extents];
        let is_wrong = to.is_null() || from.is_null() || element == 0 || dims == 0;
        if is_wrong || lists.iter().any(|it| it.is_null() || !it.is_aligned()) {
            return Err(Error::BadCall("a rectangular copy without pointer, size or dimensions"));
        }
        // SAFETY: the caller's promise, for pointers that are not null.
        let [volume, to_offsets, from_offsets, to_extents, from_extents] =
            lists.map(|it| unsafe { slice::from_raw_parts(it, dims) });
        let target = device(to_device)?;
        let to = Side { target, at: to as u64, offsets: to_offsets, extents: to_extents };
        let target = device(from_device)?;
        let from = Side { target, at: from as u64, offsets: from_offsets, extents: from_extents };
        // SAFETY: the caller's promise.
        unsafe { copy_rect(element, volume, to, from) }.map(|()| OK)
    })
}

/// Sets `len` bytes of device memory.
///
/// # Safety
/// The range is memory of the device.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn omp_target_memset(
    at: *mut c_void,
    byte: c_int,
    len: usize,
    number: c_int,
) -> *mut c_void {
    answer("omp_target_memset", at, || {
        if at.is_null() || len == 0 {
            return Ok(at);
        }
        hand::check(at as u64, len)?;
        // SAFETY: the caller's promise.
        unsafe {
            match device(number)? {
                Target::Host => std::ptr::write_bytes(at.cast::<u8>(), byte as u8, len),
                Target::Device(device) => {
                    device.plugin.fill(DevicePtr(at as u64), byte as u8, len).map_err(|error| {
                        Error::Device { doing: "filling memory", what: None, error }
                    })?
                }
            }
        }
        Ok(at)
    })
}

/// The words of a list that a routine may read after its caller has gone on.
///
/// # Safety
/// Null, or as many elements.
unsafe fn kept(list: *const usize, dims: c_int) -> Vec<usize> {
    let dims = usize::try_from(dims).unwrap_or(0);
    match list.is_null() || !list.is_aligned() {
        true => Vec::new(),
        // SAFETY: the caller's promise.
        false => unsafe { slice::from_raw_parts(list, dims) }.to_vec(),
    }
}

/// Where a routine reads such a list.
fn place(list: &[usize]) -> *const usize {
    if list.is_empty() { ptr::null() } else { list.as_ptr() }
}

/// Does the work of an asynchronous routine after its dependences; the caller goes on. In programs of clang,
/// whose dependence objects are others, all tasks are waited for and the work is done in place.
///
/// # Safety
/// The list has as many dependence objects.
unsafe fn later(
    dependences: c_int,
    list: *mut c_void,
    work: impl FnOnce() -> c_int + Send + 'static,
) -> c_int {
    answer("an asynchronous copy", FAILED, || {
        let count = usize::try_from(dependences).unwrap_or(0);
        if llvm::is_program() {
            if count > 0 {
                host::wait_for_tasks();
            }
            return Ok(work());
        }
        if count > 0 && list.is_null() {
            return Err(Error::BadCall("dependences without a list"));
        }
        let list = list.cast::<Dependence>();
        // SAFETY: the caller's promise: an object is two words, address and kind.
        let objects = (0..count).map(|it| unsafe { list.add(it).read_unaligned() });
        // What fails is said by the routine itself.
        let work = move || {
            work();
        };
        tasks::submit(work, &objects.collect::<Vec<_>>(), true);
        Ok(OK)
    })
}

/// As [`omp_target_memcpy`], after the dependences; the caller goes on.
///
/// # Safety
/// As [`omp_target_memcpy`], until it is done; the list has as many objects.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments, reason = "the standard's")]
pub unsafe extern "C" fn omp_target_memcpy_async(
    to: *mut c_void,
    from: *const c_void,
    len: usize,
    to_offset: usize,
    from_offset: usize,
    to_device: c_int,
    from_device: c_int,
    dependences: c_int,
    list: *mut c_void,
) -> c_int {
    let (to, from) = (to as usize, from as usize);
    // SAFETY: the caller's promise.
    unsafe {
        later(dependences, list, move || {
            let (to, from) = (to as *mut c_void, from as *const c_void);
            omp_target_memcpy(to, from, len, to_offset, from_offset, to_device, from_device)
        })
    }
}

/// As [`omp_target_memcpy_rect`], after the dependences; the caller goes on.
///
/// # Safety
/// As [`omp_target_memcpy_rect`], until it is done; the list has as many objects.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments, reason = "the standard's")]
pub unsafe extern "C" fn omp_target_memcpy_rect_async(
    to: *mut c_void,
    from: *const c_void,
    element: usize,
    dims: c_int,
    volume: *const usize,
    to_offsets: *const usize,
    from_offsets: *const usize,
    to_extents: *const usize,
    from_extents: *const usize,
    to_device: c_int,
    from_device: c_int,
    dependences: c_int,
    list: *mut c_void,
) -> c_int {
    if to.is_null() && from.is_null() {
        return c_int::MAX;
    }
    let lists = [volume, to_offsets, from_offsets, to_extents, from_extents];
    // SAFETY: the caller's promise.
    let lists = lists.map(|it| unsafe { kept(it, dims) });
    let (to, from) = (to as usize, from as usize);
    // SAFETY: the caller's promise.
    unsafe {
        later(dependences, list, move || {
            let [volume, to_offsets, from_offsets, to_extents, from_extents] =
                lists.each_ref().map(|it| place(it));
            omp_target_memcpy_rect(
                to as *mut c_void,
                from as *const c_void,
                element,
                dims,
                volume,
                to_offsets,
                from_offsets,
                to_extents,
                from_extents,
                to_device,
                from_device,
            )
        })
    }
}

/// As [`omp_target_memset`], after the dependences; the caller goes on.
///
/// # Safety
/// As [`omp_target_memset`], until it is done; the list has as many objects.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn omp_target_memset_async(
    at: *mut c_void,
    byte: c_int,
    len: usize,
    number: c_int,
    dependences: c_int,
    list: *mut c_void,
) -> *mut c_void {
    let place = at as usize;
    // SAFETY: the caller's promise.
    unsafe {
        later(dependences, list, move || {
            omp_target_memset(place as *mut c_void, byte, len, number);
            OK
        });
    }
    at
}
