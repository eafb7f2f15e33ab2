//! What users read on standard error: information, warnings, and the last words of a program.
//!
//! Each line is one write, so that lines of several threads do not mix. A closed standard error is
//! no reason to fail.
#![allow(unsafe_code, reason = "ends the process as C programs end")]

use std::fmt::Display;
use std::fs::File;
use std::io::Write;
use std::mem::ManuallyDrop;
use std::os::fd::FromRawFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{OnceLock, mpsc};
use std::thread;
use std::time::Duration;

use crate::error::Error;
use crate::llvm;

/// Exit status of a program that ends because something of its offload failed.
pub(crate) const FAILED: i32 = 1;

/// Names regions, but for one.
type Names = fn(Option<&str>) -> Vec<String>;

/// Those that are under way, where there are such.
static UNDER_WAY: OnceLock<Names> = OnceLock::new();

/// Who is told of the error that ends the program.
static WITNESS: OnceLock<fn(&Error)> = OnceLock::new();

/// From now on this names the regions, but for one, that are under way when a device is lost.
pub(crate) fn on_crash(under_way: Names) {
    let _ = UNDER_WAY.set(under_way);
}

/// From now on this is told of an error before it ends the program.
pub(crate) fn on_failure(witness: fn(&Error)) {
    let _ = WITNESS.set(witness);
}

/// Tells of an error that is going to end the program.
pub(crate) fn tell_failure(error: &Error) {
    if let Some(witness) = WITNESS.get() {
        witness(error);
    }
}

/// The program has said its last words.
static FAILING: AtomicBool = AtomicBool::new(false);

/// Does the program end by a failure?
pub(crate) fn is_failing() -> bool {
    FAILING.load(Ordering::SeqCst)
}

fn line(text: &str) {
    // SAFETY: the descriptor of standard error, which is not closed here. The library's own handle has a lock
    // that another thread may hold when the process is copied.
    let mut stderr = unsafe { ManuallyDrop::new(File::from_raw_fd(libc::STDERR_FILENO)) };
    let _ = stderr.write_all(text.as_bytes());
}

/// A line of `FERRY_INFO`.
pub(crate) fn info(text: &str) {
    line(&format!("ferry: {text}\n"));
}

/// Something the user should know, and the program goes on.
pub(crate) fn warn(text: &str) {
    line(&format!("ferry: warning: {text}\n"));
}

/// Something that mostly is done at once takes longer than this: who waits at a terminal is told why.
const LONG: Duration = Duration::from_secs(1);

/// Does something that may take long; at a terminal a line says so when it does.
pub(crate) fn while_waiting<T>(what: &str, work: impl FnOnce() -> T) -> T {
    // SAFETY: asks what a descriptor is.
    let is_shown = unsafe { libc::isatty(libc::STDERR_FILENO) } == 1;
    let text = format!("{what} takes a while");
    if is_shown { told_after(LONG, move || info(&text), work) } else { work() }
}

fn told_after<T>(
    after: Duration,
    tell: impl FnOnce() + Send + 'static,
    work: impl FnOnce() -> T,
) -> T {
    let (done, waits) = mpsc::channel::<()>();
    let told = thread::Builder::new().name("ferry-patience".into()).spawn(move || {
        if waits.recv_timeout(after) == Err(mpsc::RecvTimeoutError::Timeout) {
            tell();
        }
    });
    let result = work();
    drop(done);
    if let Ok(told) = told {
        let _ = told.join();
    }
    result
}

/// A line that another runtime's tests look for, as it is.
pub(crate) fn raw(text: &str) {
    line(text);
}

/// Something failed, and the caller is told by a value: the routines of the library.
pub(crate) fn failed_call(routine: &str, error: &Error) {
    let help = error.help();
    let help = if help.is_empty() { String::new() } else { format!("\n  help: {help}") };
    line(&format!("ferry: error: {routine}: {error}{help}\n"));
}

/// Regions that ran when a device was lost: it does not tell which of them was to blame.
fn suspects(error: &Error) -> String {
    let Some(region) = error.crash() else { return String::new() };
    let others = UNDER_WAY.get().map(|it| it(region)).unwrap_or_default();
    match others.as_slice() {
        [] => String::new(),
        others => format!(
            "\n  note: these ran at the same time, and it may have been one of them: {}; with \
             FERRY_INFO=1 each region is waited for",
            others.join(", ")
        ),
    }
}

/// Says what failed and ends the program with status [`FAILED`].
///
/// A program of clang ends the way its own runtime would end it: with that runtime's lines and by a
/// signal.
pub(crate) fn fail(place: &dyn Display, in_kernel: bool, error: &Error) -> ! {
    // Threads that fail at the same time: one speaks, and its exit ends the others.
    if FAILING.swap(true, Ordering::SeqCst) {
        loop {
            std::thread::park();
        }
    }
    if llvm::is_program() {
        line(&llvm::last_words(place, in_kernel, error));
        std::process::abort();
    }
    // Not a failure: the program ends as it would if the region had run on the host.
    if let Error::Exited { status, .. } = error {
        line(&format!("ferry: {place}: {error}\n"));
        // SAFETY: as below.
        unsafe { libc::exit(*status) }
    }
    let help = error.help();
    let help = if help.is_empty() { String::new() } else { format!("\n  help: {help}") };
    // The place is that of the region, which others find dead.
    let (place, found) = match error.earlier() {
        Some([only]) if !only.source.is_empty() => {
            (only.source.clone(), format!("\n  note: nobody waited for it; found at {place}"))
        }
        _ => (place.to_string(), String::new()),
    };
    line(&format!("ferry: error: {place}: {error}{found}{}{help}\n", suspects(error)));
    // SAFETY: exit handlers run as in any C program that calls `exit`; traces are written there.
    unsafe { libc::exit(FAILED) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_takes_long_is_told() {
        static TOLD: AtomicBool = AtomicBool::new(false);
        let tell = || TOLD.store(true, Ordering::SeqCst);
        assert_eq!(told_after(Duration::from_secs(60), tell, || 1), 1);
        assert!(!TOLD.load(Ordering::SeqCst));
        told_after(Duration::ZERO, tell, || thread::sleep(Duration::from_millis(200)));
        assert!(TOLD.load(Ordering::SeqCst));
    }
}
