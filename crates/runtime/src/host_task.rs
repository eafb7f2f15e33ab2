//! Work of ours as a task of GCC's runtime, so that its dependences, barriers and waits hold for both.
//!
//! The task ends when the work has: it is detached, and no thread of that runtime sleeps meanwhile.
#![allow(unsafe_code, reason = "functions of another library, by name")]

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
pub(crate) fn submit(work: Work, is_deferred: bool, depends: &[Dependence]) -> Result<(), Work> {
    let Some((task, _)) = runtime() else { return Err(work) };
    if depends.iter().any(|it| it.at == 0) {
        // On all memory, which that runtime does not know: after everything that was begun.
        host::wait_for_tasks();
    }
    let mut list = spelled(depends);
    let mut argument = Argument { event: ptr::null_mut(), work: Box::into_raw(Box::new(work)) };
    let body: Body = if is_deferred { start } else { run };
    let flags = if is_deferred { DETACHED } else { 0 }
        | if depends.is_empty() { 0 } else { HAS_DEPENDENCES };
    let (bytes, align) = (size_of::<Argument>() as c_long, align_of::<Argument>() as c_long);
    let mut event: *mut c_void = ptr::null_mut();
    // SAFETY: as compiled programs call it; the argument is copied, the lists live during the call.
    unsafe {
        let argument = (&raw mut argument).cast();
        let event = (&raw mut event).cast();
        task(body, argument, None, bytes, align, is_deferred, flags, list.as_mut_ptr(), 0, event);
    }
    Ok(())
}

/// The task of work that is done in place.
unsafe extern "C" fn run(argument: *mut c_void) {
    // SAFETY: the argument of `submit`, or its copy; a task is run once.
    let work = unsafe { Box::from_raw((*argument.cast::<Argument>()).work) };
    work();
}

/// The task of work that is not waited for: begins it.
unsafe extern "C" fn start(argument: *mut c_void) {
    // SAFETY: as above.
    let (work, event) = unsafe {
        let argument = &*argument.cast::<Argument>();
        (Box::from_raw(argument.work), argument.event as usize)
    };
    queue::put_free(move || {
        work();
        if let Some((_, fulfill)) = runtime() {
            // SAFETY: the event of the task, which ends only by this.
            unsafe { fulfill(event as *mut c_void) };
        }
    });
}
