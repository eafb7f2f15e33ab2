//! The deque of a host worker: its owner pushes and pops at the bottom, thieves take from the top (Chase and Lev, with
//! the orders of Lê, Pop, Cohen and Zappa Nardelli).
//!
//! It holds [`CAPACITY`] tasks and does not grow: who has so many waiting runs the next one at once.

use crate::sync::{AtomicIsize, AtomicPtr, Ordering, fence, store_then_fence};

/// Most tasks that wait in a deque.
pub(crate) const CAPACITY: usize = 1 << 12;

/// Two lines, because lines are fetched in pairs.
#[repr(align(128))]
struct Apart<T>(T);

/// Pointers to tasks.
pub(crate) struct Deque<T> {
    top: Apart<AtomicIsize>,
    bottom: Apart<AtomicIsize>,
    slots: Box<[AtomicPtr<T>]>,
}

/// What became of an attempt to steal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stolen<T> {
    /// There was nothing.
    Nothing,
    /// Another thread was quicker.
    Lost,
    /// The oldest task.
    Task(*mut T),
}

impl<T> Deque<T> {
    /// An empty one; `capacity` is a power of two.
    pub(crate) fn new(capacity: usize) -> Self {
        let slots = (0..capacity).map(|_| AtomicPtr::new(std::ptr::null_mut())).collect();
        Self { top: Apart(AtomicIsize::new(0)), bottom: Apart(AtomicIsize::new(0)), slots }
    }

    #[inline(always)]
    fn slot(&self, at: isize) -> Option<&AtomicPtr<T>> {
        self.slots.get(at as usize & (self.slots.len().wrapping_sub(1)))
    }

    /// Adds a task; gives it back where there is no room. Only the owner calls it.
    #[inline(always)]
    pub(crate) fn push(&self, task: *mut T) -> Result<(), *mut T> {
        let bottom = self.bottom.0.load(Ordering::Relaxed);
        let top = self.top.0.load(Ordering::Acquire);
        match self.slot(bottom) {
            Some(slot) if bottom - top < self.slots.len() as isize => {
                slot.store(task, Ordering::Relaxed);
                self.bottom.0.store(bottom + 1, Ordering::Release);
                Ok(())
            }
            _ => Err(task),
        }
    }

    /// Takes the newest task. Only the owner calls it.
    #[inline(always)]
    pub(crate) fn pop(&self) -> Option<*mut T> {
        let bottom = self.bottom.0.load(Ordering::Relaxed) - 1;
        store_then_fence(&self.bottom.0, bottom);
        let top = self.top.0.load(Ordering::Relaxed);
        if top < bottom {
            return self.slot(bottom).map(|it| it.load(Ordering::Relaxed));
        }
        let mut task = None;
        if top == bottom {
            // The last one: thieves may want it too.
            let won =
                self.top.0.compare_exchange(top, top + 1, Ordering::SeqCst, Ordering::Relaxed);
            task = self.slot(bottom).filter(|_| won.is_ok()).map(|it| it.load(Ordering::Relaxed));
        }
        // Whoever sees this end sees the slots before it, as if a push had put it there.
        self.bottom.0.store(bottom + 1, Ordering::Release);
        task
    }

    /// Takes the oldest task.
    pub(crate) fn steal(&self) -> Stolen<T> {
        let top = self.top.0.load(Ordering::Acquire);
        fence(Ordering::SeqCst);
        let bottom = self.bottom.0.load(Ordering::Acquire);
        if top >= bottom {
            return Stolen::Nothing;
        }
        let Some(slot) = self.slot(top) else { return Stolen::Nothing };
        let task = slot.load(Ordering::Relaxed);
        match self.top.0.compare_exchange(top, top + 1, Ordering::SeqCst, Ordering::Relaxed) {
            Ok(_) => Stolen::Task(task),
            Err(_) => Stolen::Lost,
        }
    }

    /// How many there are, roughly.
    #[inline(always)]
    pub(crate) fn len(&self) -> usize {
        let bottom = self.bottom.0.load(Ordering::Relaxed);
        let top = self.top.0.load(Ordering::Relaxed);
        (bottom - top).max(0) as usize
    }
}
