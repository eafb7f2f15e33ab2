//! A task of the host, and the memory that tasks are made in.
//!
//! Frames have one size. A worker takes them from a list of its own; whoever has run a task gives the frame back to the worker that
//! made it. Longer arguments lie in memory of their own.
#![allow(unsafe_code, reason = "memory with arguments of any kind")]

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::cell::Cell;
use std::ffi::{c_char, c_void};
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

use crate::finish::Finish;
use crate::hardware::Body;

/// Arguments that lie in a frame.
pub(crate) const INSIDE: usize = 192;
/// Arguments that are copied without a call.
const SHORT: usize = 16;
/// Frames that are taken from the system at once.
const CHUNK: usize = 64;

/// A task that waits to be run.
#[repr(C, align(64))]
pub(crate) struct Task {
    pub(crate) body: Option<Body>,
    pub(crate) finish: *const Finish,
    pub(crate) place: *const c_char,
    pub(crate) size: usize,
    /// Longer arguments, or null.
    outside: *mut u8,
    home: *const Frames,
    next: *mut Task,
    _room: usize,
    inside: [u8; INSIDE],
}

/// The frames of a worker.
pub(crate) struct Frames {
    free: Cell<*mut Task>,
    returned: AtomicPtr<Task>,
}

impl Frames {
    pub(crate) fn new() -> Self {
        Self { free: Cell::new(ptr::null_mut()), returned: AtomicPtr::new(ptr::null_mut()) }
    }

    /// A frame with a copy of a few arguments, if there is one at hand. Only the worker itself calls it.
    ///
    /// # Safety
    /// So many bytes can be read there.
    #[inline(always)]
    pub(crate) unsafe fn take_short(&self, from: *const c_void, size: usize) -> Option<*mut Task> {
        let task = self.free.get();
        if task.is_null() || size > SHORT {
            return None;
        }
        // SAFETY: a frame that nobody uses; the caller's promise.
        unsafe {
            self.free.set((*task).next);
            (*task).size = size;
            copy_short(from.cast(), (&raw mut (*task).inside).cast(), size);
        }
        Some(task)
    }

    /// A frame with a copy of the arguments. Only the worker itself calls it.
    ///
    /// # Safety
    /// So many bytes can be read there.
    #[inline(always)]
    pub(crate) unsafe fn take(&self, from: *const c_void, size: usize) -> *mut Task {
        let mut task = self.free.get();
        if task.is_null() {
            task = self.more();
        }
        // SAFETY: a frame that nobody uses; the caller's promise.
        unsafe {
            self.free.set((*task).next);
            (*task).size = size;
            let to = &raw mut (*task).inside;
            let (from, to) = (from.cast::<u8>(), to.cast::<u8>());
            if size <= SHORT {
                copy_short(from, to, size);
            } else if size <= INSIDE {
                ptr::copy_nonoverlapping(from, to, size);
            } else {
                outside(task, from, size);
            }
        }
        task
    }

    #[cold]
    fn more(&self) -> *mut Task {
        let returned = self.returned.swap(ptr::null_mut(), Ordering::Acquire);
        if !returned.is_null() {
            return returned;
        }
        let mut chunk = Vec::with_capacity(CHUNK);
        for _ in 0..CHUNK {
            chunk.push(Task {
                body: None,
                finish: ptr::null(),
                place: ptr::null(),
                size: 0,
                outside: ptr::null_mut(),
                home: self,
                next: ptr::null_mut(),
                _room: 0,
                inside: [0; INSIDE],
            });
        }
        // Workers and their frames live as long as the process.
        let first = Box::leak(chunk.into_boxed_slice()).as_mut_ptr();
        // By places, not from frame to frame: rustc 1.95 crashes for ARM where it makes vectors of that.
        for at in 1..CHUNK {
            // SAFETY: places in the chunk, which nobody else knows yet.
            unsafe { (*first.add(at)).next = first.add(at - 1) };
        }
        // SAFETY: the last place in the chunk.
        unsafe { first.add(CHUNK - 1) }
    }
}

/// Copies up to 16 bytes, as most arguments are.
///
/// # Safety
/// So many bytes can be read, and 16 can be written.
#[inline(always)]
unsafe fn copy_short(from: *const u8, to: *mut u8, size: usize) {
    // SAFETY: the caller's promise; both loads are within the arguments.
    unsafe {
        match size {
            8..=16 => {
                let last = from.add(size - 8).cast::<u64>().read_unaligned();
                to.cast::<u64>().write_unaligned(from.cast::<u64>().read_unaligned());
                to.add(size - 8).cast::<u64>().write_unaligned(last);
            }
            4..8 => {
                let last = from.add(size - 4).cast::<u32>().read_unaligned();
                to.cast::<u32>().write_unaligned(from.cast::<u32>().read_unaligned());
                to.add(size - 4).cast::<u32>().write_unaligned(last);
            }
            0 => (),
            _ => ptr::copy_nonoverlapping(from, to, size),
        }
    }
}

fn layout(size: usize) -> Layout {
    Layout::from_size_align(size, 64).unwrap_or(Layout::new::<Task>())
}

/// Copies arguments to memory of their own.
///
/// # Safety
/// The frame is the caller's, and so many bytes can be read.
#[cold]
unsafe fn outside(task: *mut Task, from: *const u8, size: usize) {
    // SAFETY: the caller's promise; the size is not zero.
    unsafe {
        let to = alloc(layout(size));
        if to.is_null() {
            handle_alloc_error(layout(size));
        }
        ptr::copy_nonoverlapping(from, to, size);
        (*task).outside = to;
    }
}

impl Task {
    /// What its function is called with.
    #[inline(always)]
    pub(crate) fn arguments(&mut self) -> *mut c_void {
        if self.size <= INSIDE { (&raw mut self.inside).cast() } else { self.outside.cast() }
    }

    /// Gives the frame back.
    ///
    /// # Safety
    /// The task was run, or is no more; `mine` are the frames of the calling worker.
    #[inline(always)]
    pub(crate) unsafe fn free(task: *mut Self, mine: &Frames) {
        // SAFETY: the caller's promise: the frame is the caller's alone.
        unsafe {
            if ptr::eq((*task).home, mine) && (*task).size <= INSIDE {
                (*task).next = mine.free.get();
                mine.free.set(task);
            } else {
                Self::free_elsewhere(task);
            }
        }
    }

    /// Gives a frame back to another worker, or one with arguments of its own.
    ///
    /// # Safety
    /// As [`Task::free`].
    #[cold]
    unsafe fn free_elsewhere(task: *mut Self) {
        // SAFETY: the caller's promise.
        unsafe {
            if (*task).size > INSIDE {
                dealloc((*task).outside, layout((*task).size));
            }
            let returned = &(*(*task).home).returned;
            let mut next = returned.load(Ordering::Relaxed);
            loop {
                (*task).next = next;
                match returned.compare_exchange_weak(
                    next,
                    task,
                    Ordering::Release,
                    Ordering::Relaxed,
                ) {
                    Ok(_) => return,
                    Err(now) => next = now,
                }
            }
        }
    }
}
