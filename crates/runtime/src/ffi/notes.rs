//! What `ferry cc` has noted when it linked a program: called by a constructor, before all others.

use std::ffi::{CStr, c_char, c_int};

use crate::error::Error;
use crate::guard::guard;
use crate::settings::{self, Policy};

/// Takes note that offload must happen, and of regions that were compiled for the host alone, because directives of
/// their language are not read. Both at once end the program before it has begun.
///
/// # Safety
/// `unread` leads to strings that stay, up to a null; or is null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __ferry_notes(is_mandatory: c_int, unread: *const *const c_char) {
    guard(&"starting", false, || {
        if is_mandatory != 0 {
            settings::make_mandatory();
        }
        // SAFETY: the caller's promise.
        let places = unsafe { strings(unread) };
        if places.is_empty() || settings::policy() != Policy::Mandatory {
            return Ok(());
        }
        let first: Vec<&str> = places.iter().take(SHOWN).map(String::as_str).collect();
        let more = match places.len().saturating_sub(SHOWN) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        Err(Error::Setting {
            message: format!(
                "offload is mandatory, and these regions were compiled for the host alone, as directives of \
                 their language are not read: {}{more}",
                first.join("; ")
            ),
            help: "write the regions in C files, or allow the host to run them".into(),
        })
    });
}

/// Places that are named in the message.
const SHOWN: usize = 3;

/// # Safety
/// As [`__ferry_notes`].
unsafe fn strings(mut at: *const *const c_char) -> Vec<String> {
    let mut found = Vec::new();
    // SAFETY: the caller's promise: what is before the null is there.
    while let Some(text) = unsafe { at.as_ref() }.filter(|it| !it.is_null()) {
        // SAFETY: likewise; it is a string.
        found.push(unsafe { CStr::from_ptr(*text) }.to_string_lossy().into_owned());
        // SAFETY: the null is behind it.
        at = unsafe { at.add(1) };
    }
    found
}
