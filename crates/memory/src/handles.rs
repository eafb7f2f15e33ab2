//! Handles of allocators that a program makes: a place in a table, and how often the place was used before.
//!
//! Finding one takes no lock. A handle that was destroyed is not found, even if its place is used again.
#![allow(unsafe_code, reason = "allocators live until the program destroys them")]

use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use crate::allocator::Allocator;

const CHUNK: usize = 256;
const CHUNKS: usize = 256;
const INDEX_BITS: u32 = 16;

struct Slot {
    generation: AtomicU32,
    allocator: AtomicPtr<Allocator>,
}

static TABLE: [OnceLock<Box<[Slot]>>; CHUNKS] = [const { OnceLock::new() }; CHUNKS];
/// Places that are free, and the first that was never used.
static FREE: Mutex<(Vec<usize>, usize)> = Mutex::new((Vec::new(), 0));

fn slot(index: usize) -> Option<&'static Slot> {
    TABLE.get(index / CHUNK)?.get()?.get(index % CHUNK)
}

/// Whether a handle is of an allocator that a program has made.
pub(crate) fn is_made(handle: usize) -> bool {
    handle >> INDEX_BITS != 0
}

/// The allocator of a handle.
#[inline]
pub(crate) fn find(handle: usize) -> Option<&'static Allocator> {
    if !is_made(handle) {
        return None;
    }
    let slot = slot(handle & ((1 << INDEX_BITS) - 1))?;
    if slot.generation.load(Ordering::Acquire) as usize != handle >> INDEX_BITS {
        return None;
    }
    // SAFETY: put there by `insert` and taken out by `remove`; who destroys an allocator does not use it.
    unsafe { slot.allocator.load(Ordering::Acquire).as_ref() }
}

/// Makes an allocator and its handle; `None` if there are too many.
pub(crate) fn insert(make: impl FnOnce(usize) -> Allocator) -> Option<usize> {
    let mut free = FREE.lock().unwrap_or_else(PoisonError::into_inner);
    let index = match free.0.pop() {
        Some(index) => index,
        None if free.1 < CHUNK * CHUNKS => {
            free.1 += 1;
            free.1 - 1
        }
        None => return None,
    };
    TABLE.get(index / CHUNK)?.get_or_init(|| {
        let empty =
            || Slot { generation: AtomicU32::new(0), allocator: AtomicPtr::new(ptr::null_mut()) };
        (0..CHUNK).map(|_| empty()).collect()
    });
    let slot = slot(index)?;
    let generation = slot.generation.load(Ordering::Relaxed).wrapping_add(1).max(1);
    let handle = (generation as usize) << INDEX_BITS | index;
    slot.allocator.store(Box::into_raw(Box::new(make(handle))), Ordering::Release);
    slot.generation.store(generation, Ordering::Release);
    Some(handle)
}

/// Ends one; its handle is not found any more.
pub(crate) fn remove(handle: usize) {
    let index = handle & ((1 << INDEX_BITS) - 1);
    let mut free = FREE.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(slot) = slot(index) else { return };
    let at = slot.allocator.swap(ptr::null_mut(), Ordering::AcqRel);
    if !at.is_null() {
        // SAFETY: made by `insert`, and taken out just now.
        drop(unsafe { Box::from_raw(at) });
        free.0.push(index);
    }
}

/// Calls something with each.
pub(crate) fn each(mut call: impl FnMut(&Allocator)) {
    let free = FREE.lock().unwrap_or_else(PoisonError::into_inner);
    for slot in (0..free.1).filter_map(slot) {
        // SAFETY: none is removed while the lock is held.
        if let Some(it) = unsafe { slot.allocator.load(Ordering::Acquire).as_ref() } {
            call(it);
        }
    }
}
