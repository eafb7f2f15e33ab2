//! Work of ours as a task of GCC's runtime, so that its dependences, barriers and waits hold for both.
//!
//! The task ends when the work has. Its thread does work that only asks a device, and sleeps while another one
//! does the rest, which may want all cores. Tasks that end by an event would let it go on; but in GCC 12
//! a barrier does not always wake when such an event comes from a thread that is not of its team.
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

/// What a task gets.
#[repr(C)]
struct Argument {
    work: *mut Work,
    is_light: bool,
}

fn runtime() -> Option<Task> {
    static RUNTIME: OnceLock<Option<Task>> = OnceLock::new();
    // SAFETY: a function of that name has that type in GCC's runtime.
    *RUNTIME.get_or_init(|| unsafe {
        Some(mem::transmute::<*mut c_void, Task>(host::find(c"GOMP_task")?))
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

/// Makes a task; gives the work back if there is no such runtime. `is_light`: it only asks a device.
pub(crate) fn submit(work: Work, depends: &[Dependence], is_light: bool) -> Result<(), Work> {
    let Some(task) = runtime() else { return Err(work) };
    if is_on_all(depends) {
        host::wait_for_tasks();
    }
    let mut list = spelled(depends);
    let mut argument = Argument { work: Box::into_raw(Box::new(work)), is_light };
    let flags = if depends.is_empty() { 0 } else { HAS_DEPENDENCES };
    let (bytes, align) = (size_of::<Argument>() as c_long, align_of::<Argument>() as c_long);
    let list = list.as_mut_ptr();
    // SAFETY: as compiled programs call it; the argument is copied, the lists live during the call.
    unsafe {
        let argument = (&raw mut argument).cast();
        task(start, argument, None, bytes, align, true, flags, list, 0, ptr::null_mut());
    }
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
            unsafe { wait(spelled(depends).as_mut_ptr()) };
        }
        _ => host::wait_for_tasks(),
    }
}

/// On all memory, which that runtime does not know: then all is waited for that was begun.
fn is_on_all(depends: &[Dependence]) -> bool {
    depends.iter().any(|it| it.at == 0)
}

/// The task of work that is not waited for.
unsafe extern "C" fn start(argument: *mut c_void) {
    // SAFETY: the argument of `submit`, or its copy; a task is run once.
    let (work, is_light) = unsafe {
        let argument = &*argument.cast::<Argument>();
        (Box::from_raw(argument.work), argument.is_light)
    };
    match is_light {
        true => queue::run_here(*work),
        false => queue::run_elsewhere(*work),
    }
}
