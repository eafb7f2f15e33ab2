//! Tools and their callbacks: finding libraries, registering, switching on and off.
//!
//! Callbacks for the begin of something are made in the order of their registration, those for its
//! end in the opposite one. A tool may switch single callbacks, all of an event, or all of the
//! program or thread off and on again.

use std::cell::Cell;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::mem;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};

use device::Held;

use super::events;
use super::layout::{Callback, Event, LAST_EVENT, NO_EVENT};
use crate::watch::Watch;
use crate::{report, settings};

/// What is asked of a registration.
const REGISTER: c_int = 0;
const TOGGLE: c_int = 1;
const TOGGLE_PER_THREAD: c_int = 2;

/// A callback for one event.
#[derive(Clone, Copy)]
struct Registered {
    event: c_int,
    callback: Callback,
    /// How often it was registered.
    count: u32,
    is_on: bool,
}

struct Callbacks {
    list: Vec<Registered>,
    /// Events that are switched off as a whole.
    off: u32,
    all_off: bool,
}

static CALLBACKS: Mutex<Callbacks> =
    Mutex::new(Callbacks { list: Vec::new(), off: 0, all_off: false });
/// Events for which a callback is to be made, as bits: those that nobody hears cost nothing more.
static HEARD: AtomicU32 = AtomicU32::new(0);

thread_local! {
    static IS_OFF_HERE: Cell<bool> = const { Cell::new(false) };
}

fn lock() -> MutexGuard<'static, Callbacks> {
    CALLBACKS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Lets nobody change them until the answer is dropped.
pub(crate) fn hold() -> Box<dyn Held> {
    Box::new(lock())
}

fn bit(event: c_int) -> u32 {
    match event {
        0..=LAST_EVENT => 1 << event,
        // Errors.
        _ => 1 << 31,
    }
}

fn is_event(event: c_int) -> bool {
    (1..=LAST_EVENT).contains(&event) || event == Event::Error as c_int
}

/// Does somebody want to hear of an event now?
pub(super) fn is_heard(event: c_int) -> bool {
    HEARD.load(Ordering::Relaxed) & bit(event) != 0 && !IS_OFF_HERE.get()
}

/// The callbacks to make for an event; `is_end`: last registered first.
pub(super) fn callbacks(event: c_int, is_end: bool) -> Vec<Callback> {
    let callbacks = lock();
    let on = callbacks.list.iter().filter(|it| it.event == event && it.is_on);
    let mut list: Vec<Callback> = on.map(|it| it.callback).collect();
    if is_end {
        list.reverse();
    }
    list
}

impl Callbacks {
    /// What is heard from now on.
    fn publish(&self) {
        let on = self.list.iter().filter(|it| it.is_on && !self.all_off);
        let heard = on.map(|it| bit(it.event)).fold(0, |all, it| all | it) & !self.off;
        HEARD.store(heard, Ordering::Relaxed);
        if self.list.is_empty() {
            Watch::remove_profiler();
        } else {
            Watch::add_profiler();
            report::on_failure(super::events::failed);
        }
    }

    fn find(&mut self, event: c_int, callback: Callback) -> Option<&mut Registered> {
        let is_same = |it: &Callback| *it as usize == callback as usize;
        self.list.iter_mut().find(|it| it.event == event && is_same(&it.callback))
    }

    fn switch(&mut self, event: c_int, callback: Option<Callback>, is_on: bool) {
        match callback {
            Some(callback) => {
                if let Some(found) = self.find(event, callback) {
                    found.is_on = is_on;
                }
            }
            None if event == NO_EVENT => self.all_off = !is_on,
            None if is_on => self.off &= !bit(event),
            None => self.off |= bit(event),
        }
    }

    fn add(&mut self, event: c_int, callback: Callback) {
        match self.find(event, callback) {
            Some(found) => found.count += 1,
            None => self.list.push(Registered { event, callback, count: 1, is_on: true }),
        }
    }

    fn remove(&mut self, event: c_int, callback: Callback) {
        if let Some(found) = self.find(event, callback) {
            found.count -= 1;
        }
        self.list.retain(|it| it.count > 0);
    }
}

/// Registers or switches, or the opposite.
fn change(event: c_int, callback: Option<Callback>, what: c_int, is_on: bool, routine: &str) {
    if what == TOGGLE_PER_THREAD && event == NO_EVENT && callback.is_none() {
        IS_OFF_HERE.set(!is_on);
        return;
    }
    let mut callbacks = lock();
    match (what, callback) {
        (REGISTER, Some(callback)) if is_event(event) && is_on => callbacks.add(event, callback),
        (REGISTER, Some(callback)) if is_event(event) => callbacks.remove(event, callback),
        (TOGGLE, callback) if is_event(event) || (event == NO_EVENT && callback.is_none()) => {
            callbacks.switch(event, callback, is_on);
        }
        _ => {
            drop(callbacks);
            report::warn(&format!(
                "{routine}: event {event} cannot be registered so (type {what}): ignored"
            ));
            return;
        }
    }
    callbacks.publish();
    drop(callbacks);
    events::watch_exit();
}

/// A tool wants to be called for an event, or switches callbacks on.
///
/// # Safety
/// The callback is null or a function of the standard's type, for as long as it is registered.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn acc_prof_register(event: c_int, callback: *const c_void, what: c_int) {
    // SAFETY: the caller's promise.
    let callback = unsafe { mem::transmute::<*const c_void, Option<Callback>>(callback) };
    change(event, callback, what, true, "acc_prof_register");
}

/// The opposite.
///
/// # Safety
/// As [`acc_prof_register`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn acc_prof_unregister(event: c_int, callback: *const c_void, what: c_int) {
    // SAFETY: the caller's promise.
    let callback = unsafe { mem::transmute::<*const c_void, Option<Callback>>(callback) };
    change(event, callback, what, false, "acc_prof_unregister");
}

/// The standard defines no functions to look up.
#[unsafe(no_mangle)]
pub extern "C" fn acc_prof_lookup(_name: *const c_char) -> *const c_void {
    std::ptr::null()
}

type Register = unsafe extern "C" fn(c_int, *const c_void, c_int);
type LookUp = extern "C" fn(*const c_char) -> *const c_void;
type Library = unsafe extern "C" fn(Register, Register, LookUp);

// A reference that need not be defined: so the linker makes a tool in the program itself visible here.
std::arch::global_asm!(
    ".weak acc_register_library",
    ".pushsection .data.rel.ro,\"aw\",%progbits",
    ".balign 8",
    ".hidden ferry_register_library",
    ".globl ferry_register_library",
    "ferry_register_library: .quad acc_register_library",
    ".popsection",
);

unsafe extern "C" {
    #[link_name = "ferry_register_library"]
    static IN_PROGRAM: Option<Library>;
}

/// Finds tools, once: in the program, then in the libraries that the environment names.
pub(crate) fn start() {
    static STARTED: Once = Once::new();
    STARTED.call_once(|| {
        // SAFETY: filled in by the linker, null if nobody defines the function; called as the
        // standard says.
        unsafe {
            if let Some(library) = IN_PROGRAM.filter(|it| !is_host_runtime(*it)) {
                library(acc_prof_register, acc_prof_unregister, acc_prof_lookup);
            }
        }
        settings::profiling_libraries().iter().for_each(|it| open(it));
    });
}

/// GCC's threading runtime defines the function too: it ends the program when it is called. Where it is
/// linked into the program nobody can tell whose function it is; tools then register by themselves.
fn is_host_runtime(library: Library) -> bool {
    // SAFETY: plain numbers and pointers, for which zero is a value; the answer's texts stay.
    unsafe {
        let has_no_loader = libc::getauxval(libc::AT_BASE) == 0;
        if has_no_loader {
            return true;
        }
        let mut about: libc::Dl_info = mem::zeroed();
        let is_known = libc::dladdr(library as *const c_void, &raw mut about) != 0;
        is_known
            && !about.dli_fname.is_null()
            && CStr::from_ptr(about.dli_fname).to_string_lossy().contains("libgomp")
    }
}

fn open(library: &str) {
    let Ok(name) = CString::new(library) else { return };
    // SAFETY: the user names a library to load; its initialisers run as in any program. A function of
    // that name has that type.
    let (is_there, found) = unsafe {
        let handle = libc::dlopen(name.as_ptr(), libc::RTLD_LAZY | libc::RTLD_GLOBAL);
        let is_there = !handle.is_null();
        let found = match is_there {
            true => libc::dlsym(handle, c"acc_register_library".as_ptr()),
            false => std::ptr::null_mut(),
        };
        (is_there, mem::transmute::<*mut c_void, Option<Library>>(found))
    };
    match found.filter(|it| !is_host_runtime(*it)) {
        // SAFETY: called as the standard says.
        Some(begin) => unsafe { begin(acc_prof_register, acc_prof_unregister, acc_prof_lookup) },
        None => {
            let why = if is_there { "has no acc_register_library" } else { "cannot be loaded" };
            report::warn(&format!("ACC_PROFLIB: `{library}` {why} and is passed over"));
        }
    }
}
