//! The threading runtime of the host program: libgomp or libomp, or none.
//!
//! Not linked but looked up, so that the library serves programs of either and of none. Which device
//! a thread runs for is kept in that runtime's default-device variable, because every thread and
//! task that a kernel creates inherits it; without such a runtime in a variable of the thread.
#![allow(unsafe_code, reason = "functions of another library, by name")]

use std::cell::Cell;
use std::ffi::{CStr, c_int, c_void};
use std::mem;
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicI32, Ordering};

use abi::DEVICE_MARK;

use crate::{fork, settings};

type Get = unsafe extern "C" fn() -> c_int;
type Set = unsafe extern "C" fn(c_int);
type Wait = unsafe extern "C" fn();
type WaitAt = unsafe extern "C" fn(*mut c_void, c_int) -> c_int;
type ThreadAt = unsafe extern "C" fn(*mut c_void) -> c_int;

/// Beginnings of the names that it has.
pub(crate) const HOST_NAMES: [&[u8]; 2] = [b"omp_", b"GOMP_"];

/// What was found of it.
struct HostRuntime {
    default_device: Option<(Get, Set)>,
    level: Option<Get>,
    thread: Option<Get>,
    threads: Option<(Get, Set)>,
    wait: Option<Wait>,
    wait_at: Option<(WaitAt, ThreadAt)>,
}

thread_local! {
    /// The variable of threads where no runtime keeps it; negative: not set yet.
    static OWN: Cell<i32> = const { Cell::new(-1) };
}

fn runtime() -> &'static HostRuntime {
    static RUNTIME: OnceLock<HostRuntime> = OnceLock::new();
    fork::once(&RUNTIME, || {
        // SAFETY: functions of these names have these types in every such runtime: they are fixed by
        // the standard or by the interface that compilers use.
        unsafe {
            let get = find(c"omp_get_default_device").map(|it| mem::transmute::<_, Get>(it));
            let set = find(c"omp_set_default_device").map(|it| mem::transmute::<_, Set>(it));
            let wait_at = find(c"__kmpc_omp_taskwait").map(|it| mem::transmute::<_, WaitAt>(it));
            let thread =
                find(c"__kmpc_global_thread_num").map(|it| mem::transmute::<_, ThreadAt>(it));
            HostRuntime {
                default_device: get.zip(set),
                level: find(c"omp_get_level").map(|it| mem::transmute::<_, Get>(it)),
                thread: find(c"omp_get_thread_num").map(|it| mem::transmute::<_, Get>(it)),
                threads: find(c"omp_get_max_threads")
                    .map(|it| mem::transmute::<_, Get>(it))
                    .zip(find(c"omp_set_num_threads").map(|it| mem::transmute::<_, Set>(it))),
                wait: find(c"GOMP_taskwait").map(|it| mem::transmute::<_, Wait>(it)),
                wait_at: wait_at.zip(thread),
            }
        }
    })
}

/// Functions that a program without shared libraries has in itself, where nobody can be asked for them
/// by name. For a name that ours stands before, the linker's `--wrap` gives `__real_NAME`.
macro_rules! linked {
    ($($name:literal $symbol:literal,)*) => {
        std::arch::global_asm!(
            ".pushsection .data.rel.ro.ferry_linked,\"aw\"",
            ".balign 8",
            ".globl ferry_linked",
            ".hidden ferry_linked",
            "ferry_linked:",
            $(concat!(".weak ", $symbol), concat!(".quad ", $symbol),)*
            ".popsection",
        );
        static LINKED_NAMES: [&str; [$($name),*].len()] = [$($name),*];
    };
}

linked! {
    "omp_get_level" "omp_get_level",
    "omp_get_thread_num" "omp_get_thread_num",
    "omp_get_num_threads" "omp_get_num_threads",
    "omp_init_lock" "omp_init_lock",
    "omp_init_nest_lock" "omp_init_nest_lock",
    "omp_get_default_device" "__real_omp_get_default_device",
    "omp_set_default_device" "__real_omp_set_default_device",
    "omp_get_wtime" "__real_omp_get_wtime",
    "omp_get_default_allocator" "__real_omp_get_default_allocator",
    "omp_set_default_allocator" "__real_omp_set_default_allocator",
    "GOMP_task" "__real_GOMP_task",
    "GOMP_taskloop" "__real_GOMP_taskloop",
    "GOMP_taskloop_ull" "__real_GOMP_taskloop_ull",
    "GOMP_taskwait" "__real_GOMP_taskwait",
    "GOMP_taskwait_depend" "__real_GOMP_taskwait_depend",
    "GOMP_taskgroup_start" "GOMP_taskgroup_start",
    "GOMP_taskgroup_end" "__real_GOMP_taskgroup_end",
    "GOMP_barrier" "__real_GOMP_barrier",
}

unsafe extern "C" {
    /// One address for each of `LINKED_NAMES`; null if the program has it not.
    #[link_name = "ferry_linked"]
    static LINKED: [*mut c_void; LINKED_NAMES.len()];
}

fn linked(name: &CStr) -> Option<*mut c_void> {
    let at = LINKED_NAMES.iter().position(|it| it.as_bytes() == name.to_bytes())?;
    // SAFETY: defined above, with as many elements; nobody writes it.
    let address = unsafe { (&raw const LINKED).cast::<*mut c_void>().add(at).read() };
    (!address.is_null()).then_some(address)
}

/// The runtime is part of the program itself, which has no shared libraries. Another one that is loaded
/// later is not the one whose threads run the program.
pub(crate) fn is_linked() -> bool {
    linked(c"GOMP_task").is_some()
}

/// A function that comes after ours in the order of loading, or lies in one of the two libraries.
pub(crate) fn find(name: &CStr) -> Option<*mut c_void> {
    if is_linked()
        && let Some(found) = linked(name)
    {
        return Some(found);
    }
    find_shared(name).or_else(|| linked(name))
}

fn find_shared(name: &CStr) -> Option<*mut c_void> {
    // SAFETY: the name ends with a zero byte; the loader may be asked at any time.
    let next = unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr()) };
    if !next.is_null() {
        return Some(next);
    }
    [c"libgomp.so.1", c"libomp.so.5", c"libomp.so"].into_iter().find_map(|library| {
        // SAFETY: as above; with this flag nothing is loaded that is not loaded already.
        let found = unsafe {
            let handle = libc::dlopen(library.as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD);
            if handle.is_null() { ptr::null_mut() } else { libc::dlsym(handle, name.as_ptr()) }
        };
        (!found.is_null()).then_some(found)
    })
}

/// The same; GCC's library is loaded if it is not yet.
pub(crate) fn find_or_load(name: &CStr) -> Option<*mut c_void> {
    find(name).or_else(|| {
        if is_linked() {
            return None;
        }
        // SAFETY: the names end with a zero byte; the library stays loaded, its initialisers are those
        // that the program would have run had it been linked.
        let found = unsafe {
            let flags = libc::RTLD_LAZY | libc::RTLD_GLOBAL;
            let handle = libc::dlopen(c"libgomp.so.1".as_ptr(), flags);
            if handle.is_null() { ptr::null_mut() } else { libc::dlsym(handle, name.as_ptr()) }
        };
        (!found.is_null()).then_some(found)
    })
}

/// What the environment says the variable is at first, where the runtime does not know; negative:
/// nothing.
static INITIAL: AtomicI32 = AtomicI32::new(-1);

thread_local! {
    /// The thread has its first value, or another.
    static IS_SET: Cell<bool> = const { Cell::new(false) };
}

/// Sets what the default device of every thread is until it is set.
pub(crate) fn set_initial_device(number: i32) {
    INITIAL.store(number, Ordering::Relaxed);
}

/// Gives the thread its first value. Threads of a parallel region have inherited theirs.
#[cold]
fn begin(number: i32) {
    if !IS_SET.replace(true) && level() == 0 {
        set_variable(number);
    }
}

fn variable() -> i32 {
    let initial = INITIAL.load(Ordering::Relaxed);
    if initial >= 0 {
        begin(initial);
    }
    match runtime().default_device {
        // SAFETY: a function of the runtime that takes nothing.
        Some((get, _)) => unsafe { get() },
        None => match OWN.get() {
            it if it < 0 => settings::default_device().max(0),
            it => it,
        },
    }
}

fn set_variable(value: i32) {
    match runtime().default_device {
        // SAFETY: a function of the runtime that takes a number; it checks it itself.
        Some((_, set)) => unsafe { set(value) },
        None => OWN.set(value),
    }
}

/// The device that the current thread runs a kernel for.
pub(crate) fn current_device() -> Option<usize> {
    let value = variable();
    (value >= 0 && value & DEVICE_MARK != 0).then_some((value & !DEVICE_MARK) as usize)
}

/// The default device of the current thread; inside a kernel the kernel's own.
pub(crate) fn default_device() -> i32 {
    /// What newer runtimes begin with where they know of no device and one is mandatory
    /// (`omp_invalid_device`): they do not know of ours.
    const UNKNOWN: i32 = -4;
    /// And what they have before anybody has asked.
    const UNASKED: i32 = i32::MIN;
    match variable() {
        UNASKED => 0,
        UNKNOWN if !IS_SET.get() => 0,
        value if value < 0 => value,
        value => value & !DEVICE_MARK,
    }
}

/// Sets it; inside a kernel nothing happens, as the thread must not forget where it is.
pub(crate) fn set_default_device(device: i32) {
    if current_device().is_none() {
        IS_SET.set(true);
        // A number with our mark would put the thread onto a device.
        set_variable(if device >= DEVICE_MARK { DEVICE_MARK - 1 } else { device });
    }
}

/// Marks the thread as running for a device, or as the host's, until dropped.
pub(crate) struct Marked(i32);

pub(crate) fn mark(device: Option<usize>) -> Marked {
    let before = variable();
    let value = match device {
        Some(number) => DEVICE_MARK | number as i32,
        None => before & !DEVICE_MARK,
    };
    if value != before {
        set_variable(value);
    }
    Marked(before)
}

/// Marks the thread as running for a device, for good.
pub(crate) fn stay(device: usize) {
    std::mem::forget(mark(Some(device)));
}

impl Drop for Marked {
    fn drop(&mut self) {
        set_variable(self.0);
    }
}

/// How many parallel regions the current thread is in.
pub(crate) fn level() -> i32 {
    // SAFETY: a function of the runtime that takes nothing.
    runtime().level.map_or(0, |level| unsafe { level() })
}

/// The number of the current thread in its team.
pub(crate) fn thread_number() -> i32 {
    // SAFETY: a function of the runtime that takes nothing.
    runtime().thread.map_or(0, |number| unsafe { number() })
}

/// The current thread is inside a parallel region.
pub(crate) fn is_in_parallel() -> bool {
    level() > 0
}

/// Parallel regions of the calling thread have so many threads fewer, if they have many, until the answer is dropped.
pub(crate) fn spare_threads(count: usize) -> Spared {
    let Some((get, set)) = runtime().threads else { return Spared(None) };
    // SAFETY: functions of the runtime, for the calling thread.
    let most = unsafe { get() };
    let left = c_int::try_from(count).map_or(0, |it| most - it);
    if left < 3 {
        return Spared(None);
    }
    // SAFETY: as above.
    unsafe { set(left) };
    Spared(Some((set, most)))
}

/// Parallel regions of the calling thread have one thread, until the answer is dropped.
pub(crate) fn alone() -> Spared {
    let Some((get, set)) = runtime().threads else { return Spared(None) };
    // SAFETY: functions of the runtime, for the calling thread.
    let most = unsafe { get() };
    // SAFETY: as above.
    unsafe { set(1) };
    Spared(Some((set, most)))
}

/// Threads that are spared.
pub(crate) struct Spared(Option<(Set, c_int)>);

impl Drop for Spared {
    fn drop(&mut self) {
        if let Some((set, most)) = self.0 {
            // SAFETY: a function of the runtime, for the thread that has asked.
            unsafe { set(most) };
        }
    }
}

/// Lets the runtime give up what it keeps, as the standard's routine of the same numbers says; `None`
/// if it cannot.
pub(crate) fn pause(kind: c_int) -> Option<c_int> {
    type Pause = unsafe extern "C" fn(c_int) -> c_int;
    let pause = find(c"omp_pause_resource_all")?;
    // SAFETY: a function of that name has that type.
    Some(unsafe { mem::transmute::<*mut c_void, Pause>(pause)(kind) })
}

/// Waits for the tasks that the current one has created.
pub(crate) fn wait_for_tasks() {
    let runtime = runtime();
    if let Some(wait) = runtime.wait {
        // SAFETY: what compiled programs call for the directive; takes nothing.
        unsafe { wait() };
    } else if let Some((wait, thread)) = runtime.wait_at {
        // SAFETY: the same in the other runtime; a null location is allowed.
        unsafe { wait(ptr::null_mut(), thread(ptr::null_mut())) };
    }
}

thread_local! {
    /// The level of nesting at which the explicit task was begun that the thread runs.
    static TASK: Cell<Option<i32>> = const { Cell::new(None) };
}

/// Until dropped the thread runs an explicit task, or none; then what it ran before.
pub(crate) struct InTask(Option<i32>);

/// An explicit task begins.
pub(crate) fn enter_task() -> InTask {
    InTask(TASK.replace(Some(level())))
}

/// A kernel begins: with an implicit task.
pub(crate) fn leave_task() -> InTask {
    InTask(TASK.replace(None))
}

/// The thread runs an explicit task, as far as that was told here.
pub(crate) fn is_in_task() -> bool {
    TASK.get() == Some(level())
}

impl Drop for InTask {
    fn drop(&mut self) {
        TASK.set(self.0);
    }
}
