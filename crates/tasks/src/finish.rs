//! A finish scope of the host.
#![allow(unsafe_code, reason = "a list that is written before tasks are made, and read by them")]

use std::cell::{Cell, UnsafeCell};
use std::sync::atomic::AtomicBool;

use crate::count::Count;
use crate::pool::Worker;

/// Tasks that are waited for together.
pub(crate) struct Finish {
    pub(crate) count: Count,
    /// The worker that opened it and waits.
    pub(crate) home: &'static Worker,
    pub(crate) outer: Cell<*const Finish>,
    /// Buffers that its tasks write to: address and length.
    written: UnsafeCell<Vec<(usize, usize)>>,
    /// Whether a task of it has gone to a core. Only ever set by workers, read by home when all is done.
    pub(crate) has_crossed: AtomicBool,
}

impl Finish {
    pub(crate) fn new(home: &'static Worker) -> Self {
        Self {
            count: Count::new(),
            home,
            outer: Cell::new(std::ptr::null()),
            written: UnsafeCell::default(),
            has_crossed: false.into(),
        }
    }

    /// The buffers that its tasks write to.
    pub(crate) fn written(&self) -> &[(usize, usize)] {
        // SAFETY: set before the first task is made; tasks and home only read it from then on.
        unsafe { &*self.written.get() }
    }

    /// Names the buffers, with those of the scope outside. Home calls it before it makes tasks.
    pub(crate) fn set_written(&self, buffers: impl Iterator<Item = (usize, usize)>) {
        // SAFETY: a scope outside lives as long as this one; nobody else knows this one yet.
        unsafe {
            let list = &mut *self.written.get();
            list.clear();
            list.extend(buffers);
            if let Some(outer) = self.outer.get().as_ref() {
                for it in outer.written() {
                    if !list.contains(it) {
                        list.push(*it);
                    }
                }
            }
        }
    }
}
