//! Directives of the host that wait for tasks: for work of ours too.
//!
//! Inside of parallel regions such work is a task of GCC's runtime, and these only pass on. Outside,
//! that runtime knows nothing of it (see [`crate::nowait::tasks`]).

use std::ffi::c_void;
use std::slice;
use std::sync::OnceLock;

use abi::queue::{Dependence, DependenceKind};

use super::explicit::{missing, next};
use crate::nowait::tasks;

/// Functions that take nothing.
macro_rules! waits {
    ($($name:ident $next:literal),*) => {$(
        /// Waits for work of ours, then for tasks.
        ///
        /// # Safety
        /// Called by compiled code.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name() {
            static NEXT: OnceLock<usize> = OnceLock::new();
            tasks::wait();
            match next::<unsafe extern "C" fn()>(&NEXT, $next) {
                // SAFETY: takes nothing.
                Some(theirs) => unsafe { theirs() },
                None => missing(),
            }
        }
    )*};
}

waits!(
    __wrap_GOMP_taskwait c"GOMP_taskwait",
    __wrap_GOMP_taskgroup_end c"GOMP_taskgroup_end",
    __wrap_GOMP_barrier c"GOMP_barrier"
);

/// Waits for what the dependences name.
///
/// # Safety
/// Called by compiled code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __wrap_GOMP_taskwait_depend(depend: *mut *mut c_void) {
    static NEXT: OnceLock<usize> = OnceLock::new();
    // SAFETY: the caller's promise.
    unsafe {
        before(depend);
        match next::<unsafe extern "C" fn(*mut *mut c_void)>(&NEXT, c"GOMP_taskwait_depend") {
            Some(theirs) => theirs(depend),
            None => missing(),
        }
    }
}

/// Waits for work of ours that a task of the host with these dependences comes after.
///
/// # Safety
/// A list of dependences as compilers pass it.
pub(super) unsafe fn before(depend: *const *mut c_void) {
    // SAFETY: the caller's promise.
    tasks::wait_before_own(|| unsafe { read(depend.cast()) });
}

/// The dependences of a list. Two forms begin with their numbers: all and those that write; or 0, all,
/// those that write, those in sets that exclude each other, those that read, and the rest are objects.
///
/// # Safety
/// Such a list.
unsafe fn read(list: *const usize) -> Vec<Dependence> {
    const OUT: i64 = DependenceKind::Inout as i64;
    const IN: i64 = DependenceKind::In as i64;
    const OBJECT: i64 = DependenceKind::Object as i64;
    // SAFETY: the caller's promise, for as many words as the first ones say.
    unsafe {
        let (head, all, kinds) = match *list {
            0 => {
                let writers = *list.add(2) + *list.add(3);
                let readers = *list.add(4);
                (5, *list.add(1), [(writers, OUT), (readers, IN)])
            }
            all => (2, all, [(*list.add(1), OUT), (usize::MAX, IN)]),
        };
        let places = slice::from_raw_parts(list.add(head), all);
        let mut kinds =
            kinds.into_iter().flat_map(|(count, kind)| std::iter::repeat_n(kind, count));
        let one = |at: &usize| Dependence { at: *at, kind: kinds.next().unwrap_or(OBJECT) };
        tasks::resolved(&places.iter().map(one).collect::<Vec<_>>())
    }
}
