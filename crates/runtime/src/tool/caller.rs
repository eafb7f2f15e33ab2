//! Where in the program a call of the library comes from: what tools show as the place of a construct.
//!
//! The stack is walked up to the outermost function of the library's border; the address it returns
//! to is the answer. Only done for a tool: it costs microseconds.
#![allow(unsafe_code, reason = "walks the stack")]

use std::ffi::{CStr, c_int, c_void};

#[repr(C)]
struct Frame {
    _opaque: [u8; 0],
}

/// "Go on", and any other number to stop.
const NEXT: c_int = 0;
const STOP: c_int = 4;

unsafe extern "C" {
    fn _Unwind_Backtrace(
        visit: extern "C" fn(*mut Frame, *mut c_void) -> c_int,
        state: *mut c_void,
    ) -> c_int;
    fn _Unwind_GetIP(frame: *mut Frame) -> usize;
    fn _Unwind_FindEnclosingFunction(at: *mut c_void) -> *mut c_void;
}

#[derive(Default)]
struct Walk {
    was_border: bool,
    found: usize,
    depth: usize,
}

extern "C" fn visit(frame: *mut Frame, state: *mut c_void) -> c_int {
    /// Deeper than calls inside this library go.
    const DEEPEST: usize = 64;
    // SAFETY: the address given to `_Unwind_Backtrace` below; the frame is the unwinder's.
    let (walk, at) = unsafe { (&mut *state.cast::<Walk>(), _Unwind_GetIP(frame)) };
    // A return address may lie behind its function's end, so the byte before is asked.
    // SAFETY: only looks the address up in tables.
    let function = unsafe { _Unwind_FindEnclosingFunction((at.wrapping_sub(1)) as *mut c_void) };
    let is_border = (crate::BORDER.is_entry_point)(function as usize) || is_passed_on(function);
    if walk.was_border && !is_border {
        walk.found = at;
        return STOP;
    }
    walk.was_border = is_border;
    walk.depth += 1;
    if walk.depth < DEEPEST { NEXT } else { STOP }
}

/// The address in the program that the current call of the library returns to; 0 if not found.
pub(crate) fn caller() -> usize {
    let mut walk = Walk::default();
    // SAFETY: the visitor keeps to the contract, and its state lives during the call.
    unsafe { _Unwind_Backtrace(visit, (&raw mut walk).cast()) };
    walk.found
}

/// What the loader tells of an address.
fn loaded(at: *const c_void) -> Option<libc::Dl_info> {
    let mut found = std::mem::MaybeUninit::<libc::Dl_info>::zeroed();
    // SAFETY: any address may be asked for; the answer is written, or 0 is the answer.
    unsafe { (libc::dladdr(at, found.as_mut_ptr()) != 0).then(|| found.assume_init()) }
}

/// A name of the host's runtime in this library, which only passes a call on.
fn is_passed_on(function: *const c_void) -> bool {
    let own = loaded(caller as *const c_void);
    let (Some(own), Some(found)) = (own, loaded(function)) else { return false };
    if own.dli_fbase != found.dli_fbase || found.dli_sname.is_null() {
        return false;
    }
    // SAFETY: a name that ends with a zero byte.
    let name = unsafe { CStr::from_ptr(found.dli_sname) }.to_bytes();
    crate::host::HOST_NAMES.iter().any(|it| name.starts_with(it))
}

/// `./program+0x1189 (main)`: what `addr2line` and debuggers take; the address alone in a program without shared libraries, nothing if it
/// is in no file.
pub(crate) fn describe(at: usize) -> Option<String> {
    if at == 0 {
        return None;
    }
    // The call stands before the address that it returns to.
    let Some(found) = loaded((at - 1) as *const c_void) else {
        // SAFETY: asks a number.
        let has_no_loader = unsafe { libc::getauxval(libc::AT_BASE) } == 0;
        return has_no_loader.then(|| format!("{:#x}", at - 1));
    };
    if found.dli_fname.is_null() {
        return None;
    }
    // SAFETY: names that end with a zero byte.
    let text = |it| unsafe { CStr::from_ptr(it) }.to_string_lossy().into_owned();
    let offset = (at - 1).wrapping_sub(found.dli_fbase as usize);
    let name = if found.dli_sname.is_null() {
        String::new()
    } else {
        format!(" ({})", text(found.dli_sname))
    };
    Some(format!("{}+{offset:#x}{name}", text(found.dli_fname)))
}
