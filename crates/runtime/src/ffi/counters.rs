//! Counts of others for `FERRY_TRACE`: what workers of tasks have done.
#![allow(unsafe_code, reason = "takes texts over a C border")]

use std::ffi::{CStr, c_char, c_int};

use crate::trace;
use crate::watch::Watch;

// The crate `tasks` finds both here; weak on either side, as tests have it without the runtime. It is a symbol of its own
// because a name that assembly calls weak must not be one that the compiler defines: both may become one module.
std::arch::global_asm!(
    ".pushsection .data.rel.ro.ferry_trace_functions,\"aw\"",
    ".balign 8",
    ".weak ferry_trace_functions",
    ".hidden ferry_trace_functions",
    "ferry_trace_functions:",
    ".quad ferry_trace_begin",
    ".quad ferry_trace_counts",
    ".popsection",
);

/// Begins the trace, if there is to be one: 1. What is counted until the process ends can be written to it if this was asked before.
#[unsafe(no_mangle)]
pub extern "C" fn ferry_trace_begin() -> c_int {
    let _ = Watch::now();
    trace::is_open().into()
}

/// Writes counts: `name` as viewers show it, `counts` the inside of a JSON object.
///
/// # Safety
/// Both are texts that end with a zero byte, or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferry_trace_counts(name: *const c_char, counts: *const c_char) {
    if name.is_null() || counts.is_null() {
        return;
    }
    // SAFETY: the caller's promise.
    let [name, counts] = [name, counts].map(|it| unsafe { CStr::from_ptr(it) }.to_string_lossy());
    trace::counts(&name, &counts);
}
