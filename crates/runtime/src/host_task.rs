//! Work of ours as a task of GCC's runtime, so that its dependences, barriers and waits hold for both.
//!
//! The task ends when the work has: it is detached, and no thread of that runtime sleeps meanwhile.
#![allow(unsafe_code, reason = "functions of another library, by name")]

use std::cell::Cell;
use std::ffi::{c_int, c_long, c_uint, c_void};
use std::mem;
use std::ptr;
use std::sync::OnceLock;

use abi::queue::{Dependence, DependenceKind};

use crate::host;
use crate::queue::{self, Work};

/// The flag of a task with dependences.
const HAS_DEPENDENCES: c_uint = 1 << 3;
/// The flag of a detached task.
const DETACHED: c_uint = 1 << 13;

type Body = unsafe extern "C" fn(*mut c_void);
type Copy = unsafe extern "C" fn(*mut c_void, *mut c_void);
type Task = unsafe extern "C" fn(
    Body,
    *mut c_void,
    Option<Copy>,
    c_long,
    c_long,
    bool,
    c_uint,
    *mut *mut c_void,
    c_int,
    *mut c_void,
);
type Fulfill = unsafe extern "C" fn(*mut c_void);

thread_local! {
    /// The thread is inside of a call that may run tasks and does not know detached ones.
    static IS_UNAWARE: Cell<bool> = const { Cell::new(false) };
}

/// Makes a call of that runtime that waits for dependences. In GCC 12 such a call takes a detached task for
/// done when its function returns, if it runs it itself: ours then do their work in place.
pub(crate) fn waiting<T>(call: impl FnOnce() -> T) -> T {
    let before = IS_UNAWARE.replace(true);
    let result = call();
    IS_UNAWARE.set(before);
    result
}

/// What a task gets. That runtime writes the event into the first word.
#[repr(C)]
struct Argument {
    event: *mut c_void,
    work: *mut Work,
}

fn runtime() -> Option<(Task, Fulfill)> {
    static RUNTIME: OnceLock<Option<(Task, Fulfill)>> = OnceLock::new();
    // SAFETY: functions of these names have these types in GCC's runtime.
    *RUNTIME.get_or_init(|| unsafe {
        let task = mem::transmute::<*mut c_void, Task>(host::find(c"GOMP_task")?);
        let fulfill = mem::transmute::<*mut c_void, Fulfill>(host::find(c"omp_fulfill_event")?);
        Some((task, fulfill))
    })
}

/// The dependences as that runtime takes them: how many, how many that write, these, the others. Sets
/// whose members may run in any order run one after another.
fn spelled(dependences: &[Dependence]) -> Vec<*mut c_void> {
    let is_reader = |it: &&Dependence| it.kind == DependenceKind::In as i64;
    let writers = dependences.iter().filter(|it| !is_reader(it));
    let readers = dependences.iter().filter(is_reader);
    let counts = [dependences.len(), writers.clone().count()];
    let places = writers.chain(readers).map(|it| it.at);
    counts.into_iter().chain(places).map(|it| it as *mut c_void).collect()
}

/// Makes a task; gives the work back if there is no such runtime.
pub(crate) fn submit(work: Work, depends: &[Dependence]) -> Result<(), Work> {
    let Some((task, _)) = runtime() else { return Err(work) };
    if is_on_all(depends) {
        host::wait_for_tasks();
    }
    let mut list = spelled(depends);
    let mut argument = Argument { event: ptr::null_mut(), work: Box::into_raw(Box::new(work)) };
    let flags = DETACHED | if depends.is_empty() { 0 } else { HAS_DEPENDENCES };
    let (bytes, align) = (size_of::<Argument>() as c_long, align_of::<Argument>() as c_long);
    let mut event: *mut c_void = ptr::null_mut();
    // SAFETY: as compiled programs call it; the argument is copied, the lists live during the call.
    waiting(|| unsafe {
        let argument = (&raw mut argument).cast();
        let event = (&raw mut event).cast();
        task(start, argument, None, bytes, align, true, flags, list.as_mut_ptr(), 0, event);
    });
    Ok(())
}

/// Waits for the tasks that work with these dependences comes after.
pub(crate) fn wait_before(depends: &[Dependence]) {
    if depends.is_empty() {
        return;
    }
    type Wait = unsafe extern "C" fn(*mut *mut c_void);
    static WAIT: OnceLock<Option<Wait>> = OnceLock::new();
    let wait = WAIT.get_or_init(|| {
        let found = host::find(c"GOMP_taskwait_depend")?;
        // SAFETY: a function of that name has that type in GCC's runtime.
        Some(unsafe { mem::transmute::<*mut c_void, Wait>(found) })
    });
    match wait {
        Some(wait) if !is_on_all(depends) && !depends.is_empty() => {
            // SAFETY: as compiled programs call it; the list lives during the call.
            waiting(|| unsafe { wait(spelled(depends).as_mut_ptr()) });
        }
        _ => host::wait_for_tasks(),
    }
}

/// On all memory, which that runtime does not know: then all is waited for that was begun.
fn is_on_all(depends: &[Dependence]) -> bool {
    depends.iter().any(|it| it.at == 0)
}

/// The task of work that is not waited for: begins it.
unsafe extern "C" fn start(argument: *mut c_void) {
    // SAFETY: the argument of `submit`, or its copy; a task is run once.
    let (work, event) = unsafe {
        let argument = &*argument.cast::<Argument>();
        (Box::from_raw(argument.work), argument.event as usize)
    };
    let finish = move || {
        work();
        if let Some((_, fulfill)) = runtime() {
            // SAFETY: the event of the task, which ends only by this.
            unsafe { fulfill(event as *mut c_void) };
        }
    };
    if IS_UNAWARE.get() {
        finish();
    } else {
        queue::put_free(finish);
    }
}
