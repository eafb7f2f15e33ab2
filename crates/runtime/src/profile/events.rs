//! What is told to profiling tools, and when.
//!
//! A [`Span`] is something with a begin and an end; [`moment`] is something without. What a tool leaves
//! in an event at the begin it finds there at the end. Where the program is, is known from the
//! outermost span of the thread. Nothing here is reached unless a tool has registered.

use std::cell::Cell;
use std::ffi::{CString, c_int, c_void};
use std::ptr;
use std::sync::Once;
use std::sync::atomic::Ordering;

use abi::queue::SYNC;

use super::layout::{
    ApiInfo, Common, DataInfo, ErrorInfo, Event, EventInfo, HOST, LaunchInfo, NOT_HOST, ProfInfo,
    bytes_of,
};
use super::register;
use crate::args::{Name, Place};
use crate::error::Error;
use crate::roster::{self, Facts};
use crate::running;
use crate::watch::Watch;

/// What an event is about.
#[derive(Clone, Debug, Default)]
pub(crate) enum Detail {
    #[default]
    Other,
    /// Bytes on both sides; an address of 0 is not known.
    Data {
        name: Option<Name>,
        bytes: usize,
        host: u64,
        device: u64,
    },
    Launch {
        kernel: String,
        teams: u32,
        threads: u32,
    },
    Error {
        code: c_int,
        message: String,
    },
}

/// Where the thread is.
#[derive(Clone, Copy)]
struct Here {
    place: Place,
    /// The host is none, or the one after the last.
    device: Option<usize>,
    /// What is done in a queue, or waits for it.
    queue: Option<i64>,
}

const NOWHERE: Here = Here { place: Place::NONE, device: None, queue: None };

thread_local! {
    static HERE: Cell<Option<Here>> = const { Cell::new(None) };
    /// Where it was last, for errors.
    static LAST: Cell<Option<Here>> = const { Cell::new(None) };
    /// A callback runs: what it does is not told.
    static IS_TELLING: Cell<bool> = const { Cell::new(false) };
}

/// Something that goes on until it is dropped.
pub(crate) struct Span(Option<Box<Open>>);

struct Open {
    event: Event,
    implicit: bool,
    detail: Detail,
    here: Here,
    /// Where the thread was before, if this has changed it.
    outer: Option<Option<Here>>,
    tool_info: *mut c_void,
}

impl Span {
    /// Nothing that anybody hears of.
    pub(crate) const NONE: Span = Span(None);

    /// It goes on, but not on this thread.
    pub(crate) fn suspend(&mut self) {
        if let Some(outer) = self.0.as_mut().and_then(|it| it.outer.take()) {
            HERE.set(outer);
        }
    }

    /// It goes on on this thread.
    pub(crate) fn resume(&mut self) {
        if let Some(open) = &mut self.0 {
            open.outer = Some(HERE.replace(Some(open.here)));
        }
    }
}

impl Drop for Span {
    fn drop(&mut self) {
        let Some(open) = &mut self.0 else { return };
        let number = open.event as c_int + 1;
        tell(number, true, &open.here, open.implicit, &open.detail, &mut open.tool_info);
        if let Some(outer) = open.outer {
            HERE.set(outer);
        }
    }
}

/// A directive or routine begins, on a device.
pub(crate) fn construct(watch: Watch, event: Event, device: usize, place: Place) -> Span {
    if !watch.has_profiler() {
        return Span::NONE;
    }
    begin(event, Here { place, device: Some(device), queue: running::queue() })
}

/// The thread waits for a queue, or for all of them.
pub(crate) fn waiting(watch: Watch, device: usize, place: Place, queue: Option<i64>) -> Span {
    if !watch.has_profiler() {
        return Span::NONE;
    }
    begin(Event::WaitStart, Here { place, device: Some(device), queue })
}

fn begin(event: Event, here: Here) -> Span {
    LAST.set(Some(here));
    open(event, false, Detail::Other, here, Some(HERE.replace(Some(here))))
}

/// A routine begins that may be about no device at all.
pub(crate) fn routine(watch: Watch, place: Place) {
    if watch.has_profiler() {
        LAST.set(Some(Here { place, ..NOWHERE }));
    }
}

/// Something begins inside of a construct. `implicit`: no directive of its own says so.
pub(crate) fn part(watch: Watch, event: Event, implicit: bool, detail: Detail) -> Span {
    if !watch.has_profiler() {
        return Span::NONE;
    }
    open(event, implicit, detail, here(), None)
}

fn here() -> Here {
    HERE.get().unwrap_or(NOWHERE)
}

fn open(
    event: Event,
    implicit: bool,
    detail: Detail,
    here: Here,
    outer: Option<Option<Here>>,
) -> Span {
    let mut open = Open { event, implicit, detail, here, outer, tool_info: ptr::null_mut() };
    tell(event as c_int, false, &here, implicit, &open.detail, &mut open.tool_info);
    Span(Some(Box::new(open)))
}

/// Something has happened inside of a construct.
pub(crate) fn moment(watch: Watch, event: Event, detail: &Detail) {
    if watch.has_profiler() {
        tell(event as c_int, false, &here(), false, detail, &mut ptr::null_mut());
    }
}

/// The program ends by this error.
pub(crate) fn failed(error: &Error) {
    if !Watch::now().has_profiler() {
        return;
    }
    let here = HERE.get().or(LAST.get()).unwrap_or(NOWHERE);
    let detail = Detail::Error { code: code(error), message: error.to_string() };
    tell(Event::Error as c_int, false, &here, false, &detail, &mut ptr::null_mut());
}

/// The standard's numbers of errors.
fn code(error: &Error) -> c_int {
    const OTHER: c_int = 0;
    const EXECUTION: c_int = 2;
    const UNAVAILABLE: c_int = 5;
    const OUT_OF_MEMORY: c_int = 8;
    const NOT_PRESENT: c_int = 9;
    const PARTLY_PRESENT: c_int = 10;
    const INVALID_ARGUMENT: c_int = 12;
    const INVALID_QUEUE: c_int = 13;
    match error {
        Error::Overlap { .. } => PARTLY_PRESENT,
        Error::NotPresent { .. } => NOT_PRESENT,
        Error::Device { error: ::device::DeviceError::OutOfMemory { .. }, .. } => OUT_OF_MEMORY,
        Error::Crash { .. } | Error::Exited { .. } => EXECUTION,
        Error::NoSuchDevice { .. } | Error::NoDevices { .. } => UNAVAILABLE,
        Error::NoSuchQueue { .. } => INVALID_QUEUE,
        Error::Argument { .. } | Error::Size { .. } => INVALID_ARGUMENT,
        Error::Device { .. }
        | Error::NoImage { .. }
        | Error::UnknownRegion { .. }
        | Error::Requires { .. }
        | Error::Setting { .. }
        | Error::BadCall(_)
        | Error::Panicked => OTHER,
    }
}

/// Makes the callbacks of an event.
fn tell(
    event: c_int,
    is_end: bool,
    here: &Here,
    implicit: bool,
    detail: &Detail,
    tool_info: &mut *mut c_void,
) {
    if !register::is_heard(event) || IS_TELLING.replace(true) {
        return;
    }
    let described = here.place.described();
    let text = |text: &str| CString::new(text).unwrap_or_default();
    let file = described.as_ref().filter(|it| !it.file.is_empty()).map(|it| text(&it.file));
    let function = described.as_ref().map(|it| text(&it.function));
    let pointer = |it: &Option<CString>| it.as_ref().map_or(ptr::null(), |it| it.as_ptr());
    let mut info = ProfInfo::new();
    info.event = event;
    let is_device = |it: &usize| *it < roster::listed().len();
    (info.device_type, info.device_number) = match here.device.filter(is_device) {
        Some(number) => (NOT_HOST, number as c_int),
        None => (HOST, 0),
    };
    // SAFETY: asks for a number, nothing else.
    info.thread = unsafe { libc::gettid() };
    info.queue = here.queue.unwrap_or(SYNC) as isize;
    info.queue_used = here.queue.unwrap_or(-1) as isize;
    (info.file, info.function) = (pointer(&file), pointer(&function));
    if let Some(described) = &described {
        let [end, function, function_end] = described.lines.map(|it| it as c_int);
        (info.line, info.end_line) = (described.line as c_int, end);
        (info.function_line, info.function_end_line) = (function, function_end);
    }
    let parent = described.as_ref().map_or(0, |it| it.construct);
    let common = |valid_bytes: c_int| Common {
        event,
        valid_bytes,
        parent,
        implicit: c_int::from(implicit),
        tool_info: *tool_info,
    };
    // Texts that the structure points to live until the callbacks are made.
    let name = match detail {
        Detail::Other => None,
        Detail::Data { name, .. } => name.map(|it| text(&it.to_string())),
        Detail::Launch { kernel, .. } => Some(text(kernel)),
        Detail::Error { message, .. } => Some(text(message)),
    };
    let mut what = match *detail {
        Detail::Other => EventInfo { common: common(bytes_of::<Common>()) },
        Detail::Data { bytes, host, device, .. } => EventInfo {
            data: DataInfo {
                common: common(bytes_of::<DataInfo>()),
                variable: pointer(&name),
                bytes,
                host: host as *const c_void,
                device: device as *const c_void,
            },
        },
        Detail::Launch { teams, threads, .. } => EventInfo {
            launch: LaunchInfo {
                common: common(bytes_of::<LaunchInfo>()),
                kernel: pointer(&name),
                gangs: teams as usize,
                workers: threads as usize,
                vector: 0,
            },
        },
        Detail::Error { code, .. } => EventInfo {
            error: ErrorInfo {
                common: common(bytes_of::<ErrorInfo>()),
                code,
                message: pointer(&name),
                runtime_info: 0,
            },
        },
    };
    let mut api = ApiInfo::new(info.device_type);
    for callback in register::callbacks(event, is_end) {
        // SAFETY: a function of the standard's type; what it gets lives during the call, and all of
        // them begin with what all events tell.
        unsafe {
            callback(&raw mut info, &raw mut what, &raw mut api);
            *tool_info = what.common.tool_info;
        }
    }
    IS_TELLING.set(false);
}

/// From now on the end of the program is told.
pub(super) fn watch_exit() {
    static WATCHED: Once = Once::new();
    // SAFETY: a C function without arguments that never unwinds.
    WATCHED.call_once(|| unsafe {
        libc::atexit(at_exit);
    });
}

extern "C" fn at_exit() {
    let watch = Watch::now();
    if !watch.has_profiler() {
        return;
    }
    let used = |it: &&Facts| it.is_used.load(Ordering::Acquire);
    for device in roster::listed().iter().map(AsRef::as_ref).filter(used) {
        drop(construct(watch, Event::DeviceShutdownStart, device.number, Place::default()));
    }
    moment(watch, Event::RuntimeShutdown, &Detail::Other);
}
