//! A tool that wants to be told of regions, data and devices: the standard's tools interface.
//!
//! A tool is found and started by [`start`]; it registers callbacks, kept here by their number. A
//! [`Scope`] is one construct, from its begin to its end; [`operation`] is one thing done to data. Both
//! cost one test of a bit when there is no tool. Of the two forms of a callback that the standard
//! has, a tool that registers both gets the newer one.
#![allow(unsafe_code, reason = "calls functions of the tool")]

pub(crate) mod caller;
mod maps;
mod start;

use std::cell::{Cell, UnsafeCell};
use std::ffi::{CString, c_char, c_int, c_uint, c_void};
use std::mem;
use std::ptr;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use device::Launch;

use crate::args;
use crate::profile::{self, Span};
use crate::roster::{self, Facts};
use crate::running;
use crate::table::Mapped;
use crate::watch::Watch;

pub(crate) use maps::{Phase, mapped};
pub(crate) use start::{control, start, stop};

/// The callbacks that are made, with the standard's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum Event {
    Target = 8,
    DataOp = 9,
    Submit = 10,
    ControlTool = 11,
    DeviceInitialize = 12,
    DeviceFinalize = 13,
    DeviceLoad = 14,
    DeviceUnload = 15,
    TargetMap = 22,
    TargetEmi = 33,
    DataOpEmi = 34,
    SubmitEmi = 35,
    TargetMapEmi = 36,
}

/// One more than the largest number of an event.
const EVENTS: usize = 40;

/// Where callbacks are kept: the address of each by its number, 0 for none.
static CALLBACKS: [AtomicUsize; EVENTS] = [const { AtomicUsize::new(0) }; EVENTS];

/// What a tool may keep for a task or a construct.
type Data = UnsafeCell<u64>;

thread_local! {
    /// The construct that the thread is in.
    static CURRENT: Cell<Construct> = const { Cell::new(Construct::NONE) };
    /// The tool's word for the task, where no host runtime keeps one.
    static TASK: Data = const { UnsafeCell::new(0) };
    /// The same for the task of a construct.
    static TARGET_TASK: Data = const { UnsafeCell::new(0) };
}

static NEXT_ID: AtomicU64 = AtomicU64::new(1);

/// A number that was not given before.
pub(crate) fn unique() -> u64 {
    NEXT_ID.fetch_add(1, Ordering::Relaxed)
}

fn callback(event: Event) -> Option<usize> {
    let slot = CALLBACKS.get(event as usize)?.load(Ordering::Acquire);
    (slot != 0).then_some(slot)
}

/// A callback of the tool as a function of this type, if the tool has registered it.
///
/// # Safety
/// The type is the one that the standard gives the event.
unsafe fn typed<F: Copy>(event: Event) -> Option<F> {
    // SAFETY: the caller's promise; the tool has registered a function of that type.
    callback(event).map(|it| unsafe { mem::transmute_copy::<usize, F>(&it) })
}

const BEGIN: c_int = 1;
const END: c_int = 2;

type Place = *const c_void;
type TargetFn = unsafe extern "C" fn(c_int, c_int, c_int, *mut u64, u64, Place);
type TargetEmiFn = unsafe extern "C" fn(c_int, c_int, c_int, *mut u64, *mut u64, *mut u64, Place);
type OpFn = unsafe extern "C" fn(u64, u64, c_int, Place, c_int, Place, c_int, usize, Place);
type OpEmiFn = unsafe extern "C" fn(
    c_int,
    *mut u64,
    *mut u64,
    *mut u64,
    c_int,
    Place,
    c_int,
    Place,
    c_int,
    usize,
    Place,
);
type SubmitFn = unsafe extern "C" fn(u64, u64, c_uint);
type SubmitEmiFn = unsafe extern "C" fn(c_int, *mut u64, *mut u64, c_uint);
type InitializeFn =
    unsafe extern "C" fn(c_int, *const c_char, *const c_void, *const c_void, *const c_char);
type FinalizeFn = unsafe extern "C" fn(c_int);
type LoadFn = unsafe extern "C" fn(
    c_int,
    *const c_char,
    i64,
    *const c_void,
    usize,
    *const c_void,
    *const c_void,
    u64,
);
type UnloadFn = unsafe extern "C" fn(c_int, u64);

/// What a construct is, with the standard's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub(crate) enum Kind {
    Target = 1,
    EnterData = 2,
    ExitData = 3,
    Update = 4,
}

/// A construct as its operations refer to it.
#[derive(Clone, Copy, Debug)]
struct Construct {
    id: u64,
    /// The tool's word for it; null outside of constructs.
    data: *mut u64,
    device: c_int,
    code: usize,
}

impl Construct {
    const NONE: Construct = Construct { id: 0, data: ptr::null_mut(), device: 0, code: 0 };
}

/// A construct from begin to end, for the thread that runs it.
pub(crate) struct Scope(Option<Open>, Span);

struct Open {
    kind: Kind,
    construct: Construct,
    outer: Construct,
    /// What `construct.data` points to.
    _data: Box<u64>,
}

/// Where in the program the current call stands, if a tool wants to know; else 0.
pub(crate) fn code() -> usize {
    if Watch::now().has_tool() { caller() } else { 0 }
}

thread_local! {
    /// Where in the program the call stands that the thread makes in another's place.
    static CODE: Cell<usize> = const { Cell::new(0) };
}

/// Until dropped the thread makes a call that stands elsewhere.
pub(crate) struct CalledFrom(usize);

/// The thread makes a call that stands at `code`.
pub(crate) fn called_from(code: usize) -> CalledFrom {
    CalledFrom(CODE.replace(code))
}

impl Drop for CalledFrom {
    fn drop(&mut self) {
        CODE.set(self.0);
    }
}

fn caller() -> usize {
    match CODE.get() {
        0 => caller::caller(),
        code => code,
    }
}

/// What a construct is to a tool: those that nobody waits for in place have numbers of their own.
fn number(kind: Kind) -> c_int {
    const NOWAIT: c_int = 8;
    kind as c_int + if running::is_deferred() { NOWAIT } else { 0 }
}

/// Tells the tool that a construct begins; its end is told when the answer is dropped.
pub(crate) fn scope(watch: Watch, kind: Kind, device: usize, place: args::Place) -> Scope {
    if !watch.has_tools() {
        return Scope(None, Span::NONE);
    }
    let event = match kind {
        Kind::Target => profile::Event::ComputeStart,
        Kind::EnterData => profile::Event::EnterDataStart,
        Kind::ExitData => profile::Event::ExitDataStart,
        Kind::Update => profile::Event::UpdateStart,
    };
    let span = profile::construct(watch, event, device, place);
    if !watch.has_tool() {
        return Scope(None, span);
    }
    let mut data = Box::new(0u64);
    let construct =
        Construct { id: unique(), data: &raw mut *data, device: device as c_int, code: caller() };
    let outer = CURRENT.replace(construct);
    let open = Open { kind, construct, outer, _data: data };
    open.tell(BEGIN);
    Scope(Some(open), span)
}

/// What a construct does to data without a directive of its own, until the answer is dropped.
pub(crate) fn implied(watch: Watch, kind: Kind) -> Span {
    let event = match kind {
        Kind::ExitData => profile::Event::ExitDataStart,
        Kind::Target | Kind::EnterData | Kind::Update => profile::Event::EnterDataStart,
    };
    profile::part(watch, event, true, profile::Detail::Other)
}

/// Data have got a place on a device.
pub(crate) fn created(watch: Watch, mapped: &Mapped) {
    if watch.has_profiler() {
        profile::moment(watch, profile::Event::Create, &detail(mapped));
    }
}

/// Data have lost it.
pub(crate) fn deleted(watch: Watch, mapped: &Mapped) {
    if watch.has_profiler() {
        profile::moment(watch, profile::Event::Delete, &detail(mapped));
    }
}

fn detail(mapped: &Mapped) -> profile::Detail {
    let Mapped { name, begin, device, .. } = *mapped;
    profile::Detail::Data { name, bytes: mapped.size(), host: begin as u64, device: device.0 }
}

impl Open {
    fn tell(&self, endpoint: c_int) {
        let Construct { data, device, code, id } = self.construct;
        let (kind, code) = (number(self.kind), code as Place);
        // SAFETY: the types are the standard's; all addresses live during the call.
        unsafe {
            if let Some(call) = typed::<TargetEmiFn>(Event::TargetEmi) {
                let (task, target_task) = (task(), target_task());
                call(kind, endpoint, device, task, target_task, data, code);
            } else if let Some(call) = typed::<TargetFn>(Event::Target) {
                call(kind, endpoint, device, task(), id, code);
            }
        }
    }
}

/// A construct that another thread goes on with.
pub(crate) struct Suspended(Scope);

// SAFETY: what its addresses point to goes along, or is a word of the tool's that only the tool reads.
unsafe impl Send for Suspended {}

impl Scope {
    /// Nobody is told.
    pub(crate) const NONE: Scope = Scope(None, Span::NONE);

    /// The current thread goes on outside of the construct.
    pub(crate) fn suspend(mut self) -> Suspended {
        if let Some(open) = &self.0 {
            CURRENT.set(open.outer);
        }
        self.1.suspend();
        Suspended(self)
    }
}

impl Suspended {
    /// The current thread goes on inside of it.
    pub(crate) fn resume(mut self) -> Scope {
        if let Some(open) = &mut self.0.0 {
            open.outer = CURRENT.replace(open.construct);
        }
        self.0.1.resume();
        self.0
    }
}

impl Drop for Scope {
    fn drop(&mut self) {
        if let Some(open) = &self.0 {
            open.tell(END);
            CURRENT.set(open.outer);
        }
    }
}

/// The tool's word for the current task.
fn task() -> *mut u64 {
    start::task_data().unwrap_or_else(|| TASK.with(UnsafeCell::get))
}

fn target_task() -> *mut u64 {
    start::target_task_data().unwrap_or_else(|| TARGET_TASK.with(UnsafeCell::get))
}

/// What is done to data, with the standard's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub(crate) enum Operation {
    Alloc = 1,
    ToDevice = 2,
    FromDevice = 3,
    Delete = 4,
    Associate = 5,
    Disassociate = 6,
}

/// One operation: from where to where, each an address and the number of a device.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DataOp {
    pub(crate) operation: Operation,
    pub(crate) from: (u64, usize),
    pub(crate) to: (u64, usize),
    pub(crate) bytes: usize,
    /// Of which variable.
    pub(crate) name: Option<args::Name>,
}

impl DataOp {
    /// As profiling tools are told: the host's address and the device's, whichever way.
    fn detail(&self, made: u64) -> profile::Detail {
        let ((from, _), (to, _)) = (self.from, self.to);
        let (host, device) = match self.operation {
            Operation::Alloc => (from, made),
            Operation::ToDevice | Operation::Associate => (from, to),
            Operation::FromDevice => (to, from),
            Operation::Delete | Operation::Disassociate => (0, from),
        };
        profile::Detail::Data { name: self.name, bytes: self.bytes, host, device }
    }
}

/// Does `work`, telling profiling tools.
fn profiled<T>(
    watch: Watch,
    op: &DataOp,
    made: impl FnOnce(&T) -> Option<u64>,
    work: impl FnOnce() -> T,
) -> T {
    let _span = match op.operation {
        Operation::ToDevice => {
            profile::part(watch, profile::Event::UploadStart, false, op.detail(0))
        }
        Operation::FromDevice => {
            profile::part(watch, profile::Event::DownloadStart, false, op.detail(0))
        }
        Operation::Alloc | Operation::Delete | Operation::Associate | Operation::Disassociate => {
            Span::NONE
        }
    };
    let result = work();
    match op.operation {
        Operation::Alloc => {
            if let Some(made) = made(&result) {
                profile::moment(watch, profile::Event::Alloc, &op.detail(made));
            }
        }
        Operation::Delete => profile::moment(watch, profile::Event::Free, &op.detail(0)),
        Operation::ToDevice
        | Operation::FromDevice
        | Operation::Associate
        | Operation::Disassociate => {}
    }
    result
}

/// Does `work`, telling the tool before and after; `made` is where new memory lies.
pub(crate) fn operation<T>(
    watch: Watch,
    op: DataOp,
    made: impl Fn(&T) -> Option<u64>,
    work: impl FnOnce() -> T,
) -> T {
    if !watch.has_tools() {
        return work();
    }
    let work = || profiled(watch, &op, &made, work);
    if !watch.has_tool() {
        return work();
    }
    let mut current = CURRENT.get();
    if current.code == 0 {
        current.code = caller();
    }
    let (mut host_op, mut own) = (unique(), 0u64);
    let data = if current.data.is_null() { &raw mut own } else { current.data };
    let mut tell = |endpoint: c_int, op: &DataOp| {
        let kind = op.operation as c_int;
        let ((src, from), (dst, to)) = (op.from, op.to);
        let (src, dst, code) = (src as Place, dst as Place, current.code as Place);
        let (from, to) = (from as c_int, to as c_int);
        // SAFETY: the types are the standard's; all addresses live during the call.
        unsafe {
            if let Some(call) = typed::<OpEmiFn>(Event::DataOpEmi) {
                let (task, op_id) = (target_task(), &raw mut host_op);
                call(endpoint, task, data, op_id, kind, src, from, dst, to, op.bytes, code);
            } else if let Some(call) = typed::<OpFn>(Event::DataOp)
                && endpoint == END
            {
                call(current.id, host_op, kind, src, from, dst, to, op.bytes, code);
            }
        }
    };
    tell(BEGIN, &op);
    let result = work();
    let to = made(&result).map_or(op.to, |at| (at, op.to.1));
    tell(END, &DataOp { to, ..op });
    result
}

/// Launches a kernel, telling the tool.
pub(crate) fn submit<T>(watch: Watch, what: &Launch<'_>, launch: impl FnOnce() -> T) -> T {
    if !watch.has_tools() {
        return launch();
    }
    let Launch { teams, limit: threads, .. } = *what;
    let detail = || profile::Detail::Launch { kernel: what.name.to_owned(), teams, threads };
    let _span = match watch.has_profiler() {
        true => profile::part(watch, profile::Event::LaunchStart, false, detail()),
        false => Span::NONE,
    };
    if !watch.has_tool() {
        return launch();
    }
    let current = CURRENT.get();
    let (mut host_op, mut own) = (unique(), 0u64);
    let data = if current.data.is_null() { &raw mut own } else { current.data };
    let mut tell = |endpoint: c_int| {
        // SAFETY: the types are the standard's; all addresses live during the call.
        unsafe {
            if let Some(call) = typed::<SubmitEmiFn>(Event::SubmitEmi) {
                call(endpoint, data, &raw mut host_op, teams);
            } else if let Some(call) = typed::<SubmitFn>(Event::Submit)
                && endpoint == BEGIN
            {
                call(current.id, host_op, teams);
            }
        }
    };
    tell(BEGIN);
    // The kernel's own constructs are none of this one's.
    let outer = CURRENT.replace(Construct::NONE);
    let result = launch();
    CURRENT.set(outer);
    tell(END);
    result
}

/// A device gets something to do for the first time; it is ready when the answer is dropped.
pub(crate) fn device_begins(watch: Watch, device: &Facts) -> Span {
    let is_first = !device.is_used.load(Ordering::Acquire);
    let span = match is_first && watch.has_profiler() {
        true => {
            let event = profile::Event::DeviceInitStart;
            profile::construct(watch, event, device.number, args::Place::NONE)
        }
        false => Span::NONE,
    };
    device_opened(watch, device);
    span
}

/// A device is used for the first time.
fn device_opened(watch: Watch, device: &Facts) {
    if !watch.has_tool() || device.announced.swap(true, Ordering::Relaxed) {
        return;
    }
    let kind = CString::new(device.kind).unwrap_or_default();
    // SAFETY: the type is the standard's; a null look-up says that devices record nothing themselves.
    unsafe {
        if let Some(call) = typed::<InitializeFn>(Event::DeviceInitialize) {
            let at = ptr::from_ref(device).cast();
            call(device.number as c_int, kind.as_ptr(), at, ptr::null(), ptr::null());
        }
    }
}

/// The code of a binary is on a device. `image` are its bytes in this process.
pub(crate) fn loaded(watch: Watch, device: usize, binary: &str, image: &[u8], module: u64) {
    if !watch.has_tool() {
        return;
    }
    let file = CString::new(binary).unwrap_or_default();
    // SAFETY: the type is the standard's; -1 and null say that the place in the file is not known.
    unsafe {
        if let Some(call) = typed::<LoadFn>(Event::DeviceLoad) {
            let (at, bytes) = (image.as_ptr().cast(), image.len());
            call(device as c_int, file.as_ptr(), -1, ptr::null(), bytes, at, ptr::null(), module);
        }
    }
}

/// It is taken off again.
pub(crate) fn unloaded(watch: Watch, device: usize, module: u64) {
    if !watch.has_tool() {
        return;
    }
    // SAFETY: the type is the standard's.
    unsafe {
        if let Some(call) = typed::<UnloadFn>(Event::DeviceUnload) {
            call(device as c_int, module);
        }
    }
}

/// The program ends: devices that were told of end first. After this no callback is made.
fn devices_closed() {
    if !Watch::now().has_tool() {
        return;
    }
    for device in roster::listed() {
        if device.announced.swap(false, Ordering::Relaxed) {
            // SAFETY: the type is the standard's.
            unsafe {
                if let Some(call) = typed::<FinalizeFn>(Event::DeviceFinalize) {
                    call(device.number as c_int);
                }
            }
        }
    }
    Watch::remove_tool();
}
