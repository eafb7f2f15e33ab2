//! What workers have done, for `FERRY_TRACE`: the trace is the runtime's, with which this crate is packed into one library.
#![allow(unsafe_code, reason = "functions that may not be there, by name")]

use std::ffi::{CString, c_char, c_int};
use std::mem;

std::arch::global_asm!(
    ".pushsection .data.rel.ro.ferry_tasks_trace,\"aw\"",
    ".balign 8",
    ".globl ferry_tasks_trace",
    ".hidden ferry_tasks_trace",
    "ferry_tasks_trace:",
    ".weak ferry_trace_functions",
    ".quad ferry_trace_functions",
    ".popsection",
);

unsafe extern "C" {
    /// Where the runtime has the addresses of its two functions; null without the runtime.
    #[link_name = "ferry_tasks_trace"]
    static TRACE: Option<&'static [usize; 2]>;
}

type Begin = unsafe extern "C" fn() -> c_int;
type Counts = unsafe extern "C" fn(*const c_char, *const c_char);

/// Whether there is a trace; asked before it could end.
pub(crate) fn begin() -> bool {
    // SAFETY: defined above, nobody writes it; a function of that name has that type.
    unsafe {
        let found = (&raw const TRACE).read();
        found.is_some_and(|[at, _]| mem::transmute::<usize, Begin>(*at)() != 0)
    }
}

/// Writes counts of one worker.
pub(crate) fn counts(worker: &str, counts: &[(&str, u64)]) {
    let list: Vec<String> = counts.iter().map(|it| format!("\"{}\":{}", it.0, it.1)).collect();
    let (Ok(worker), Ok(list)) = (CString::new(worker), CString::new(list.join(","))) else {
        return;
    };
    // SAFETY: as above; both texts live during the call.
    unsafe {
        if let Some([_, at]) = (&raw const TRACE).read() {
            mem::transmute::<usize, Counts>(*at)(worker.as_ptr(), list.as_ptr());
        }
    }
}
