//! `FERRY_TRACE`: what happened when, in the format of Chrome's and Perfetto's trace viewers.
//!
//! Events are written as they end; the file is closed when the program exits, and viewers also read
//! one that a crash has cut off.
#![allow(unsafe_code, reason = "asks the C library to call back at exit")]

use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::process;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Instant;

use device::Held;

use crate::report;

struct Trace {
    out: BufWriter<File>,
    start: Instant,
    is_empty: bool,
}

/// Set once; `None` inside after the file was closed.
static TRACE: OnceLock<Mutex<Option<Trace>>> = OnceLock::new();

/// Begins the file; false, with a warning, if it cannot be written.
pub(crate) fn open(path: &Path) -> bool {
    let mut begun = File::create(path).map(BufWriter::new);
    if let Ok(out) = &mut begun {
        let _ = out.write_all(b"{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
    }
    match begun {
        Ok(out) => {
            let trace = Trace { out, start: Instant::now(), is_empty: true };
            if TRACE.set(Mutex::new(Some(trace))).is_ok() {
                // SAFETY: `close` is a C function without arguments that never unwinds.
                unsafe { libc::atexit(close) };
            }
            true
        }
        Err(error) => {
            report::warn(&format!("FERRY_TRACE: cannot write {}: {error}", path.display()));
            false
        }
    }
}

/// Lets nobody write until the answer is dropped.
pub(crate) fn hold() -> Option<Box<dyn Held>> {
    let trace = TRACE.get()?;
    Some(Box::new(trace.lock().unwrap_or_else(PoisonError::into_inner)))
}

/// Leaves the file to another process, with all that was not written to it yet.
pub(crate) fn leave() {
    if let Some(trace) = TRACE.get() {
        std::mem::forget(trace.lock().unwrap_or_else(PoisonError::into_inner).take());
    }
}

/// One thing that took time: `category` and `name` as viewers show them, `args` the inside of a JSON object.
pub(crate) fn event(category: &str, name: &str, began: Instant, ended: Instant, args: &str) {
    let Some(trace) = TRACE.get() else { return };
    let mut trace = trace.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(trace) = trace.as_mut() else { return };
    let at = began.saturating_duration_since(trace.start).as_nanos() as f64 / 1000.0;
    let took = ended.saturating_duration_since(began).as_nanos() as f64 / 1000.0;
    let separator = if trace.is_empty { "" } else { "," };
    trace.is_empty = false;
    let _ = write!(
        trace.out,
        "{separator}\n{{\"ph\":\"X\",\"cat\":{},\"name\":{},\"ts\":{at:.3},\"dur\":{took:.3},\
         \"pid\":{},\"tid\":{},\"args\":{{{args}}}}}",
        quoted(category),
        quoted(name),
        process::id(),
        thread(),
    );
}

/// Whether there is a file to write to.
pub(crate) fn is_open() -> bool {
    TRACE.get().is_some_and(|it| it.lock().unwrap_or_else(PoisonError::into_inner).is_some())
}

/// Counts at this moment: `counts` is the inside of a JSON object.
pub(crate) fn counts(name: &str, counts: &str) {
    let Some(trace) = TRACE.get() else { return };
    let mut trace = trace.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(trace) = trace.as_mut() else { return };
    let at = trace.start.elapsed().as_nanos() as f64 / 1000.0;
    let separator = if trace.is_empty { "" } else { "," };
    trace.is_empty = false;
    let _ = write!(
        trace.out,
        "{separator}\n{{\"ph\":\"C\",\"name\":{},\"ts\":{at:.3},\"pid\":{},\"args\":{{{counts}}}}}",
        quoted(name),
        process::id(),
    );
}

fn thread() -> i32 {
    // SAFETY: asks for a number, nothing else.
    unsafe { libc::gettid() }
}

/// A text as JSON.
pub(crate) fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for it in text.chars() {
        match it {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            it if it < ' ' => {
                let _ = write!(out, "\\u{:04x}", it as u32);
            }
            it => out.push(it),
        }
    }
    out.push('"');
    out
}

/// Writes what is left. A thread that still traces after this is not heard.
extern "C" fn close() {
    let Some(trace) = TRACE.get() else { return };
    let trace = trace.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let Some(mut trace) = trace {
        let _ = trace.out.write_all(b"\n]}\n");
        let _ = trace.out.flush();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_become_json() {
        assert_eq!(quoted("a\"b\\c\n"), "\"a\\\"b\\\\c\\u000a\"");
    }
}
