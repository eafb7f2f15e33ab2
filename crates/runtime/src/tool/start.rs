//! Finding and starting a tool.
//!
//! Where LLVM's threading runtime is loaded, that has found the tool, and we ask it for the callbacks.
//! Otherwise the tool is ours to find, in the standard's order: a function of the program, then the
//! libraries of `OMP_TOOL_LIBRARIES`.
#![allow(unsafe_code, reason = "functions of the tool and of another runtime, by name")]

use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_void};
use std::mem;
use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Once, OnceLock};

use super::{CALLBACKS, Event, caller, devices_closed, typed, unique};
use crate::watch::Watch;
use crate::{host, report, settings};

type Lookup = unsafe extern "C" fn(*const c_char) -> *const c_void;
type Initialize = unsafe extern "C" fn(Lookup, c_int, *mut u64) -> c_int;
type Finalize = unsafe extern "C" fn(*mut u64);
type StartTool = unsafe extern "C" fn(c_uint, *const c_char) -> *mut Tool;
type Connect = unsafe extern "C" fn(*mut Tool);
type GetData = unsafe extern "C" fn() -> *mut u64;
type Control = unsafe extern "C" fn(u64, u64, *mut c_void, *const c_void) -> c_int;

/// What a tool hands over when it is started.
#[repr(C)]
pub(crate) struct Tool {
    initialize: Option<Initialize>,
    finalize: Option<Finalize>,
    data: u64,
}

/// The version of the standard whose tools interface this is: 5.2.
const STANDARD: c_uint = 202_111;

// A reference that need not be defined: so the linker makes a program's own function visible here,
// whether or not the program exports its symbols.
std::arch::global_asm!(
    ".weak ompt_start_tool",
    ".pushsection .data.rel.ro,\"aw\",%progbits",
    ".balign 8",
    ".hidden ferry_start_tool",
    ".globl ferry_start_tool",
    "ferry_start_tool: .quad ompt_start_tool",
    ".popsection",
);

unsafe extern "C" {
    #[link_name = "ferry_start_tool"]
    static START_TOOL: Option<StartTool>;
}

/// The tool that we have started ourselves.
static TOOL: AtomicUsize = AtomicUsize::new(0);
static STARTED: Once = Once::new();

/// How many devices there are, as the tool may ask.
static COUNT: OnceLock<fn() -> c_int> = OnceLock::new();

/// Looks for a tool, once; called when the first binary registers. `count`: how many devices there are.
pub(crate) fn start(count: fn() -> c_int) {
    STARTED.call_once(|| {
        let _ = COUNT.set(count);
        if let Some(connect) = host::find(c"ompt_libomp_connect") {
            // SAFETY: a function of that name has that type in LLVM's runtime; it keeps the address.
            unsafe {
                let connect = mem::transmute::<*mut c_void, Connect>(connect);
                connect(&raw mut OURS);
            }
        } else if settings::allows_tools() {
            start_own();
        }
    });
}

/// What we hand to LLVM's runtime, as a tool would; only it writes there.
static mut OURS: Tool =
    Tool { initialize: Some(take_callbacks), finalize: Some(their_end), data: 0 };

/// LLVM's runtime gives us the callbacks that a tool has registered there, by name.
unsafe extern "C" fn take_callbacks(lookup: Lookup, _device: c_int, _data: *mut u64) -> c_int {
    const NAMES: &[(&CStr, Event)] = &[
        (c"ompt_callback_target", Event::Target),
        (c"ompt_callback_target_data_op", Event::DataOp),
        (c"ompt_callback_target_submit", Event::Submit),
        (c"ompt_callback_target_map", Event::TargetMap),
        (c"ompt_callback_target_map_emi", Event::TargetMapEmi),
        (c"ompt_callback_device_initialize", Event::DeviceInitialize),
        (c"ompt_callback_device_finalize", Event::DeviceFinalize),
        (c"ompt_callback_device_load", Event::DeviceLoad),
        (c"ompt_callback_device_unload", Event::DeviceUnload),
        (c"ompt_callback_target_emi", Event::TargetEmi),
        (c"ompt_callback_target_data_op_emi", Event::DataOpEmi),
        (c"ompt_callback_target_submit_emi", Event::SubmitEmi),
    ];
    let mut has_any = false;
    for (name, event) in NAMES {
        // SAFETY: the look-up of the runtime that called us; it takes any name.
        let function = unsafe { lookup(name.as_ptr()) };
        has_any |= !function.is_null();
        set(*event as c_int, function as usize);
    }
    for (name, slot) in
        [(c"ompt_get_task_data", &TASK_DATA), (c"ompt_get_target_task_data", &TARGET_TASK_DATA)]
    {
        // SAFETY: as above; functions of these names have this type.
        let function =
            unsafe { mem::transmute::<*const c_void, Option<GetData>>(lookup(name.as_ptr())) };
        if let Some(function) = function {
            let _ = slot.set(function);
        }
    }
    if has_any {
        Watch::add_tool();
    }
    0
}

unsafe extern "C" fn their_end(_data: *mut u64) {
    devices_closed();
}

static TASK_DATA: OnceLock<GetData> = OnceLock::new();
static TARGET_TASK_DATA: OnceLock<GetData> = OnceLock::new();

fn word(slot: &OnceLock<GetData>) -> Option<*mut u64> {
    // SAFETY: takes nothing and answers an address or null.
    slot.get().map(|it| unsafe { it() }).filter(|it| !it.is_null())
}

/// The word that LLVM's runtime keeps for the current task.
pub(super) fn task_data() -> Option<*mut u64> {
    word(&TASK_DATA)
}

pub(super) fn target_task_data() -> Option<*mut u64> {
    word(&TARGET_TASK_DATA)
}

fn start_own() {
    // SAFETY: filled in by the linker, null if nobody defines the function.
    let own = unsafe { START_TOOL }.or_else(|| in_library(libc::RTLD_DEFAULT));
    let mut tool = own.and_then(begin);
    for library in settings::tool_libraries() {
        if tool.is_some() {
            break;
        }
        tool = open(&library).and_then(begin);
    }
    let Some(tool) = tool else { return };
    TOOL.store(tool as usize, Ordering::Release);
    Watch::add_tool();
    // SAFETY: the tool gave this structure for the time until it is finalized. `end` is a C function
    // without arguments that never unwinds.
    let goes_on = unsafe {
        libc::atexit(end);
        let data = &raw mut (*tool).data;
        (*tool).initialize.map_or(0, |it| it(look_up, get_num_devices(), data))
    };
    if goes_on == 0 {
        TOOL.store(0, Ordering::Release);
        Watch::remove_tool();
    }
}

fn begin(start: StartTool) -> Option<*mut Tool> {
    let version = concat!("Ferry ", env!("CARGO_PKG_VERSION"), "\0");
    // SAFETY: called as the standard says; null says that the tool does not want to run.
    let tool = unsafe { start(STANDARD, version.as_ptr().cast()) };
    (!tool.is_null()).then_some(tool)
}

fn in_library(handle: *mut c_void) -> Option<StartTool> {
    // SAFETY: the name ends with a zero byte; a function of that name has that type.
    unsafe {
        let found = libc::dlsym(handle, c"ompt_start_tool".as_ptr());
        mem::transmute::<*mut c_void, Option<StartTool>>(found)
    }
}

fn open(library: &str) -> Option<StartTool> {
    let name = CString::new(library).ok()?;
    // SAFETY: the user names a library to load; its initialisers run as in any program.
    let handle = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_LAZY | libc::RTLD_GLOBAL) };
    let found = if handle.is_null() { None } else { in_library(handle) };
    if found.is_none() {
        let why = if handle.is_null() { "cannot be loaded" } else { "has no ompt_start_tool" };
        report::warn(&format!("OMP_TOOL_LIBRARIES: `{library}` {why} and is passed over"));
    }
    found
}

/// The program or the tool itself ends it.
extern "C" fn end() {
    devices_closed();
    let tool = TOOL.swap(0, Ordering::AcqRel) as *mut Tool;
    if !tool.is_null() {
        // SAFETY: the structure of a tool that was started and not ended yet.
        unsafe {
            if let Some(finalize) = (*tool).finalize {
                finalize(&raw mut (*tool).data);
            }
        }
    }
}

const ERROR: c_int = 0;
const NEVER: c_int = 1;
const ALWAYS: c_int = 5;

fn set(event: c_int, function: usize) -> c_int {
    let slot = usize::try_from(event).ok().and_then(|it| CALLBACKS.get(it));
    let Some(slot) = slot.filter(|_| event != 0) else { return ERROR };
    match event {
        8..=15 | 22 | 33..=36 => {
            slot.store(function, Ordering::Release);
            ALWAYS
        }
        _ => NEVER,
    }
}

unsafe extern "C" fn set_callback(event: c_int, function: *const c_void) -> c_int {
    set(event, function as usize)
}

unsafe extern "C" fn get_callback(event: c_int, function: *mut *const c_void) -> c_int {
    let slot = usize::try_from(event).ok().and_then(|it| CALLBACKS.get(it));
    let found = slot.map_or(0, |it| it.load(Ordering::Acquire));
    // SAFETY: the tool gives a place for an address.
    if let Some(function) = unsafe { function.as_mut() } {
        *function = found as *const c_void;
    }
    c_int::from(found != 0)
}

extern "C" fn get_unique_id() -> u64 {
    unique()
}

extern "C" fn get_num_devices() -> c_int {
    COUNT.get().map_or(0, |it| it())
}

extern "C" fn get_num_procs() -> c_int {
    std::thread::available_parallelism().map_or(1, |it| it.get() as c_int)
}

extern "C" fn get_proc_id() -> c_int {
    // SAFETY: asks for a number, nothing else.
    unsafe { libc::sched_getcpu() }
}

/// Threads are the host runtime's, which has no word for a tool: each has one here.
extern "C" fn get_thread_data() -> *mut u64 {
    thread_local!(static DATA: super::Data = const { super::Data::new(0) });
    DATA.with(std::cell::UnsafeCell::get)
}

/// The construct that the calling thread is in: 1 and its numbers, or 0.
unsafe extern "C" fn get_target_info(device: *mut u64, id: *mut u64, _op: *mut u64) -> c_int {
    let current = super::CURRENT.get();
    if current.id == 0 {
        return 0;
    }
    // SAFETY: the tool gives places for the answers, or null.
    unsafe {
        if let Some(device) = device.as_mut() {
            *device = current.device as u64;
        }
        if let Some(id) = id.as_mut() {
            *id = current.id;
        }
    }
    1
}

extern "C" fn finalize_tool() {
    end();
}

/// The program ends the tool.
pub(crate) fn stop() {
    end();
}

/// What a tool can ask for by name; null: there is none here, as threads and tasks are not ours.
unsafe extern "C" fn look_up(name: *const c_char) -> *const c_void {
    if name.is_null() {
        return ptr::null();
    }
    // SAFETY: names end with a zero byte.
    match unsafe { CStr::from_ptr(name) }.to_bytes() {
        b"ompt_set_callback" => set_callback as *const c_void,
        b"ompt_get_callback" => get_callback as *const c_void,
        b"ompt_get_unique_id" => get_unique_id as *const c_void,
        b"ompt_get_num_devices" => get_num_devices as *const c_void,
        b"ompt_get_num_procs" => get_num_procs as *const c_void,
        b"ompt_get_proc_id" => get_proc_id as *const c_void,
        b"ompt_get_thread_data" => get_thread_data as *const c_void,
        b"ompt_get_target_info" => get_target_info as *const c_void,
        b"ompt_finalize_tool" => finalize_tool as *const c_void,
        _ => ptr::null(),
    }
}

/// The program has something to say to the tool: what it answers, or why nobody hears.
pub(crate) fn control(command: c_int, modifier: c_int, argument: *mut c_void) -> c_int {
    const NO_TOOL: c_int = -2;
    const NO_CALLBACK: c_int = -1;
    if !Watch::now().has_tool() {
        return NO_TOOL;
    }
    // SAFETY: the type is the standard's.
    unsafe {
        match typed::<Control>(Event::ControlTool) {
            Some(call) => {
                let code = caller() as *const c_void;
                call(command as u64, modifier as u64, argument, code)
            }
            None => NO_CALLBACK,
        }
    }
}
