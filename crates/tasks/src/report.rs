//! What users read on standard error, and how a program ends that cannot go on.
#![allow(unsafe_code, reason = "ends the process as C programs end; asks the loader for names")]

use std::ffi::{CStr, c_char};
use std::fs::File;
use std::io::Write;
use std::mem::ManuallyDrop;
use std::os::fd::FromRawFd;

fn line(text: &str) {
    // SAFETY: the descriptor of standard error, which is not closed here; the library's own handle has a lock that another
    // thread may hold when the process is copied.
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

/// An error, and what to do about it.
pub(crate) fn error(message: &str, help: &str) {
    line(&format!("ferry: error: {message}\n  help: {help}\n"));
}

/// The last words of a program.
pub(crate) fn fail(message: &str, help: &str) -> ! {
    error(message, help);
    // SAFETY: ends the process. Workers may still run, so nothing that they use is torn down.
    unsafe { libc::_exit(1) }
}

/// Where a task was made: `a.c:12`.
pub(crate) fn place(at: *const c_char) -> String {
    if at.is_null() {
        return "a task".into();
    }
    // SAFETY: a text of the program that the header made, which is never freed.
    unsafe { CStr::from_ptr(at) }.to_string_lossy().into_owned()
}

/// The name of the function at an address, or the address.
pub(crate) fn function(at: usize) -> String {
    // SAFETY: asks the loader; it answers with texts that live as long as the library does.
    unsafe {
        let mut found: libc::Dl_info = std::mem::zeroed();
        if libc::dladdr(at as *const _, &raw mut found) != 0 && !found.dli_sname.is_null() {
            return CStr::from_ptr(found.dli_sname).to_string_lossy().into_owned();
        }
        // A function that only its file knows: where in its file it is.
        let base = found.dli_fbase as usize;
        if base != 0 && !found.dli_fname.is_null() {
            let name = CStr::from_ptr(found.dli_fname).to_string_lossy().into_owned();
            let name = name.rsplit('/').next().unwrap_or_default().to_owned();
            return format!("{name}+{:#x}", at - base);
        }
    }
    format!("{at:#x}")
}
