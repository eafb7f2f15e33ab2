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
    ".weak ferry_trace_begin",
    ".quad ferry_trace_begin",
    ".weak ferry_trace_counts",
    ".quad ferry_trace_counts",
    ".popsection",
);

unsafe extern "C" {
    /// Where the two functions are; null without the runtime.
    #[link_name = "ferry_tasks_trace"]
    static TRACE: [usize; 2];
}

type Begin = unsafe extern "C" fn() -> c_int;
type Counts = unsafe extern "C" fn(*const c_char, *const c_char);

/// Whether there is a trace; asked before it could end.
pub(crate) fn begin() -> bool {
    // SAFETY: defined above, nobody writes it; a function of that name has that type.
    unsafe {
        let [at, _] = (&raw const TRACE).read();
        at != 0 && mem::transmute::<usize, Begin>(at)() != 0
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
        let [_, at] = (&raw const TRACE).read();
        if at != 0 {
            mem::transmute::<usize, Counts>(at)(worker.as_ptr(), list.as_ptr());
        }
    }
}
