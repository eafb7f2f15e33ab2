//! Files of which the process is made.
#![allow(unsafe_code, reason = "asks the loader")]

use std::ffi::{CStr, c_void};

/// The file that an address of this process comes from.
pub(crate) fn file_of(address: usize) -> String {
    // SAFETY: the structure is plain numbers and pointers, for which zero is valid; the loader fills
    // it in, with a text of its own that stays as long as the binary.
    unsafe {
        let mut info: libc::Dl_info = std::mem::zeroed();
        if libc::dladdr(address as *const c_void, &raw mut info) == 0 || info.dli_fname.is_null() {
            return "the program".into();
        }
        CStr::from_ptr(info.dli_fname).to_string_lossy().into_owned()
    }
}

/// Where what is called so lies for code of every binary; nothing if none shows it to others.
pub(crate) fn address_of(name: &CStr) -> Option<usize> {
    // SAFETY: the name ends with a zero byte.
    let at = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
    (!at.is_null()).then_some(at as usize)
}
