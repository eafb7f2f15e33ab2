//! Parts of blocks of memory that the program decides on itself, and who decides.
//!
//! Here both are kept and read; allocators that ask a program for parts are refused (crate `memory`, trait `partitioner`), so
//! that no procedure of a program is ever called. A memory space has one resource ([`super::spaces`]).

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ffi::{c_int, c_void};

use super::spaces::page_size;
use crate::error::Error;
use crate::guard::{answer, guard};

/// Who decides: when it is asked, and whom to call.
#[repr(C)]
#[derive(Debug)]
pub struct Partitioner {
    lifetime: usize,
    compute: *const c_void,
    release: *const c_void,
    spare: usize,
}

/// What was decided; all zeros where nothing was.
#[repr(C)]
#[derive(Debug)]
pub struct Partition {
    count: usize,
    sizes: *mut usize,
    user: *const c_void,
    spare: usize,
}

/// How long what was decided holds: for all allocators, for one, for one block.
const LIFETIMES: std::ops::RangeInclusive<c_int> = 1..=3;

/// Begins to decide.
///
/// # Safety
/// Null, or room for it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn omp_init_mempartitioner(
    at: *mut Partitioner,
    lifetime: c_int,
    compute: *const c_void,
    release: *const c_void,
) {
    guard(&"omp_init_mempartitioner", false, || {
        if at.is_null() || !LIFETIMES.contains(&lifetime) || compute.is_null() {
            let message = format!("a partitioner of lifetime {lifetime} cannot be made");
            let help =
                "it needs a place, a lifetime from 1 to 3 and a procedure that computes parts";
            return Err(Error::Argument { message, help: help.to_owned() });
        }
        let lifetime = usize::try_from(lifetime).unwrap_or_default();
        // SAFETY: the caller's promise.
        unsafe { at.write(Partitioner { lifetime, compute, release, spare: 0 }) };
        Ok(())
    });
}

/// Ends it; nothing is held for it.
#[unsafe(no_mangle)]
pub extern "C" fn omp_destroy_mempartitioner(_: *const Partitioner) {}

fn layout(count: usize) -> Option<Layout> {
    Layout::array::<usize>(count).ok().filter(|it| it.size() > 0)
}

/// Room for so many parts, none of which has a size.
///
/// # Safety
/// Null, or room for it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn omp_init_mempartition(
    at: *mut Partition,
    count: usize,
    user: *const c_void,
) {
    guard(&"omp_init_mempartition", false, || {
        let layout = layout(count).filter(|_| !at.is_null());
        // SAFETY: its size is not zero.
        let sizes = layout.map(|it| unsafe { alloc_zeroed(it) }).filter(|it| !it.is_null());
        let Some(sizes) = sizes else {
            let message = format!("there is no memory for {count} parts");
            let help = "a partition has a place, and one part or more".to_owned();
            return Err(Error::Argument { message, help });
        };
        // SAFETY: the caller's promise.
        unsafe { at.write(Partition { count, sizes: sizes.cast(), user, spare: 0 }) };
        Ok(())
    });
}

/// Gives what [`omp_init_mempartition`] has taken back.
///
/// # Safety
/// Null, or one that was begun and is not used any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn omp_destroy_mempartition(at: *const Partition) {
    // SAFETY: the caller's promise.
    let Some(it) = (unsafe { at.as_ref() }) else { return };
    if let Some(layout) = layout(it.count).filter(|_| !it.sizes.is_null()) {
        // SAFETY: allocated so.
        unsafe { dealloc(it.sizes.cast(), layout) };
    }
}

/// The size of a part, and its resource: 0 if it can be had, -1 if not.
///
/// # Safety
/// Null, or one that was begun.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn omp_mempartition_set_part(
    at: *mut Partition,
    part: usize,
    resource: c_int,
    size: usize,
) -> c_int {
    const CANNOT: c_int = -1;
    answer("omp_mempartition_set_part", CANNOT, || {
        // SAFETY: the caller's promise.
        let Some(it) = (unsafe { at.as_ref() }) else { return Ok(CANNOT) };
        let is_last = part.checked_add(1) == Some(it.count);
        let is_whole = is_last || size.is_multiple_of(page_size());
        if part >= it.count || it.sizes.is_null() || resource != 0 || !is_whole {
            return Ok(CANNOT);
        }
        // SAFETY: one of its parts.
        unsafe { it.sizes.add(part).write(size) };
        Ok(0)
    })
}

/// What the program has said of it for itself.
///
/// # Safety
/// Null, or one that was begun.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn omp_mempartition_get_user_data(at: *const Partition) -> *mut c_void {
    // SAFETY: the caller's promise.
    unsafe { at.as_ref() }.map_or(std::ptr::null_mut(), |it| it.user.cast_mut())
}
