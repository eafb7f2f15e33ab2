//! A program that forks: the child gets locks that nobody holds.
//!
//! While a process is copied, the thread that forks holds all locks of the library, so that no other
//! thread is in the middle of a change that only it could finish. Who has locks is told in one table ([`Part`]), in the
//! order in which threads take one inside another; [`once`] comes after the stages.
//!
//! Threads of the library, and the locks with which they are handed work, are left behind by a fork; the
//! lists of them know their process. In the child ranges that another thread was working on are settled,
//! or forgotten if they had no place yet; the trace is its parent's.
#![allow(unsafe_code, reason = "asks the C library to call back around fork")]

use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use device::Held;

thread_local! {
    /// What the thread holds from before until after it forks.
    static HELD: RefCell<Vec<Box<dyn Held>>> = const { RefCell::new(Vec::new()) };
    /// The thread is making something, see [`once`].
    static IS_MAKING: Cell<bool> = const { Cell::new(false) };
}

/// A part of the library that has locks.
pub(crate) struct Part {
    /// Its locks are taken before anything is made, see [`once`].
    pub(crate) is_stage: bool,
    /// Takes them.
    pub(crate) hold: fn(&mut Vec<Box<dyn Held>>),
    /// What follows in the child, where nobody holds them.
    pub(crate) in_child: fn(),
}

/// All of them.
static PARTS: OnceLock<&'static [Part]> = OnceLock::new();

/// How many things were made.
static MADE: AtomicUsize = AtomicUsize::new(0);

/// Held while something is made.
static MAKING: Mutex<()> = Mutex::new(());

/// See [`once`]; nothing if the thread makes something already.
struct Making(#[allow(dead_code, reason = "held")] MutexGuard<'static, ()>);

impl Making {
    fn begin() -> Option<Making> {
        if IS_MAKING.get() {
            return None;
        }
        let held = MAKING.lock().unwrap_or_else(PoisonError::into_inner);
        IS_MAKING.set(true);
        Some(Making(held))
    }
}

impl Drop for Making {
    fn drop(&mut self) {
        IS_MAKING.set(false);
    }
}

/// What is made when it is first needed and takes time: no process is copied meanwhile, as nobody would
/// finish it in the child.
pub(crate) fn once<T>(cell: &OnceLock<T>, make: impl FnOnce() -> T) -> &T {
    if let Some(made) = cell.get() {
        return made;
    }
    let _making = Making::begin();
    cell.get_or_init(|| {
        let made = make();
        MADE.fetch_add(1, Ordering::Relaxed);
        made
    })
}

/// From now on forks are prepared for, as these parts want it.
pub(crate) fn watch(parts: &'static [Part]) {
    // SAFETY: C functions without arguments that never unwind.
    PARTS.get_or_init(|| unsafe {
        libc::pthread_atfork(Some(before), Some(after), Some(in_child));
        parts
    });
}

fn parts() -> &'static [Part] {
    PARTS.get().copied().unwrap_or_default()
}

extern "C" fn before() {
    let held = loop {
        let made = MADE.load(Ordering::Relaxed);
        let mut held: Vec<Box<dyn Held>> = Vec::new();
        parts().iter().filter(|it| it.is_stage).for_each(|it| (it.hold)(&mut held));
        held.extend(Making::begin().map(|it| Box::new(it) as Box<dyn Held>));
        // Devices may have been opened while this thread waited.
        if made != MADE.load(Ordering::Relaxed) {
            continue;
        }
        parts().iter().filter(|it| !it.is_stage).for_each(|it| (it.hold)(&mut held));
        break held;
    };
    // A thread that ends while it forks has nothing to keep: then nothing is held either.
    let _ = HELD.try_with(|it| it.replace(held));
}

extern "C" fn after() {
    let held = HELD.try_with(RefCell::take);
    drop(held);
}

extern "C" fn in_child() {
    after();
    parts().iter().for_each(|it| (it.in_child)());
}
