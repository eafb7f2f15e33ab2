//! Shared objects from memory: an image in process.
//!
//! In: the bytes of a shared object. Out: a [`Library`] that finds its symbols. Two libraries made of
//! the same bytes are two objects, each with variables of its own.

use std::ffi::{CStr, CString, c_void};
use std::fs::File;
use std::io::Write;
use std::os::fd::{AsRawFd, FromRawFd};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::{env, fs, io, process};

use crate::{DeviceError, Result};

pub use cache::setting;

/// A shared object that is loaded; it leaves when this is closed, not when it is dropped, because
/// code of it may still run when the process ends.
#[derive(Debug)]
pub struct Library {
    handle: *mut c_void,
    /// Kept open: the loader tells objects apart by path, and the path contains this number.
    _file: Option<File>,
}

// SAFETY: the handle is a token for the loader, whose functions may be called from any thread.
#[allow(unsafe_code, reason = "the loader's handle is a pointer")]
unsafe impl Send for Library {}
// SAFETY: as above; nothing is changed through a shared reference.
#[allow(unsafe_code, reason = "the loader's handle is a pointer")]
unsafe impl Sync for Library {}

impl Library {
    /// Loads the bytes; initialisers of the object run now.
    pub fn from_bytes(bytes: &[u8]) -> Result<Library> {
        Library::from_bytes_for(bytes, false)
    }

    /// The same; whether names are looked for in the object before they are in the program.
    pub fn from_bytes_for(bytes: &[u8], own_first: bool) -> Result<Library> {
        match in_memory(bytes) {
            Ok(file) => {
                let path = format!("/proc/self/fd/{}", file.as_raw_fd());
                match open(&path, own_first) {
                    Ok(handle) => Ok(Library { handle, _file: Some(file) }),
                    // Some systems forbid to execute what lies in memory only.
                    Err(error) => through_a_file(bytes, own_first).map_err(|_| error),
                }
            }
            Err(_) => through_a_file(bytes, own_first),
        }
    }

    /// The address of a symbol, and its size where the object tells.
    #[allow(unsafe_code, reason = "asks the loader")]
    pub fn find(&self, name: &CStr) -> Result<(u64, usize)> {
        // SAFETY: the handle is open as long as `self` lives; the name ends with a zero byte.
        let address = unsafe { libc::dlsym(self.handle, name.as_ptr()) };
        if address.is_null() {
            return Err(DeviceError::NotFound(name.to_string_lossy().into_owned()));
        }
        Ok((address as u64, 0))
    }

    /// Unloads the object; its finalisers run now.
    #[allow(unsafe_code, reason = "asks the loader")]
    pub fn close(self) {
        // SAFETY: the handle is open and is not used again: `self` ends here.
        unsafe { libc::dlclose(self.handle) };
    }
}

/// Whether a shared object uses its own variables, whatever others of that name there are.
pub(crate) fn is_bound(object: &[u8]) -> bool {
    const DYNAMIC: u32 = 2;
    const SYMBOLIC: u64 = 16;
    const FLAGS: u64 = 30;
    let word = |at: usize| -> Option<u64> {
        object.get(at..).and_then(<[u8]>::first_chunk).copied().map(u64::from_le_bytes)
    };
    let half = |at: usize| -> Option<u16> {
        object.get(at..).and_then(<[u8]>::first_chunk).copied().map(u16::from_le_bytes)
    };
    let read = || {
        let headers = usize::try_from(word(32)?).ok()?;
        let (size, count) = (usize::from(half(54)?), usize::from(half(56)?));
        let header = (0..count).map(|it| headers.saturating_add(it * size));
        let kind = |at: usize| object.get(at..).and_then(<[u8]>::first_chunk).copied();
        let dynamic =
            header.into_iter().find(|it| kind(*it).map(u32::from_le_bytes) == Some(DYNAMIC))?;
        let at = usize::try_from(word(dynamic.checked_add(8)?)?).ok()?;
        let bytes = usize::try_from(word(dynamic.checked_add(32)?)?).ok()?.min(object.len());
        let rows = (0..bytes / 16).map(|it| at.saturating_add(it * 16));
        let row = |at: usize| Some((word(at)?, word(at.checked_add(8)?)?));
        // The second of the flags says the same.
        Some(
            rows.filter_map(row)
                .any(|(tag, value)| tag == SYMBOLIC || (tag == FLAGS && value & 2 != 0)),
        )
    };
    read().unwrap_or(false)
}

#[allow(unsafe_code, reason = "asks the kernel")]
fn in_memory(bytes: &[u8]) -> io::Result<File> {
    // SAFETY: the name is a constant that ends with a zero byte.
    let fd = unsafe { libc::memfd_create(c"ferry-image".as_ptr(), libc::MFD_CLOEXEC) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel just gave this descriptor to us alone.
    let mut file = unsafe { File::from_raw_fd(fd) };
    file.write_all(bytes)?;
    Ok(file)
}

/// The way for systems without executable memory files: a temporary file that is gone at once.
fn through_a_file(bytes: &[u8], own_first: bool) -> Result<Library> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let path: PathBuf = env::temp_dir().join(format!("ferry-{}-{count}.so", process::id()));
    let written = File::options()
        .write(true)
        .create_new(true)
        .open(&path)
        .and_then(|mut file| file.write_all(bytes));
    let opened = match written {
        Ok(()) => open(&path.to_string_lossy(), own_first),
        Err(error) => Err(DeviceError::BadImage(format!("{}: {error}", path.display()))),
    };
    let _ = fs::remove_file(&path);
    Ok(Library { handle: opened?, _file: None })
}

#[allow(unsafe_code, reason = "asks the loader")]
fn open(path: &str, own_first: bool) -> Result<*mut c_void> {
    let path = CString::new(path).map_err(|error| DeviceError::BadImage(error.to_string()))?;
    let own_first = if own_first { libc::RTLD_DEEPBIND } else { 0 };
    let how = libc::RTLD_NOW | libc::RTLD_LOCAL | own_first;
    // SAFETY: the path ends with a zero byte. Initialisers of the object run here; that an image of
    // the program may run in the program's process is what loading it means.
    let handle = unsafe { libc::dlopen(path.as_ptr(), how) };
    if handle.is_null() { Err(DeviceError::BadImage(last_error())) } else { Ok(handle) }
}

#[allow(unsafe_code, reason = "asks the loader")]
fn last_error() -> String {
    // SAFETY: `dlerror` answers null or a string that stays until this thread's next call.
    let text = unsafe { libc::dlerror() };
    if text.is_null() {
        return "the loader gives no reason".into();
    }
    // SAFETY: not null, so a string that ends with a zero byte; copied at once.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_object_says_of_its_names_is_read_and_damage_is_no_answer() {
        let mut bytes = vec![0_u8; 64 + 56 + 32];
        let mut put = |at: usize, value: &[u8]| {
            bytes.splice(at..at + value.len(), value.iter().copied());
        };
        put(32, &64_u64.to_le_bytes());
        put(54, &56_u16.to_le_bytes());
        put(56, &1_u16.to_le_bytes());
        put(64, &2_u32.to_le_bytes());
        put(64 + 8, &120_u64.to_le_bytes());
        put(64 + 32, &32_u64.to_le_bytes());
        assert!(!is_bound(&bytes));
        let mut bound = bytes.clone();
        bound.splice(120..136, [30_u64.to_le_bytes(), 2_u64.to_le_bytes()].concat());
        assert!(is_bound(&bound));
        for len in 0..bound.len() {
            is_bound(bound.get(..len).unwrap());
        }
        bound.splice(32..40, u64::MAX.to_le_bytes());
        assert!(!is_bound(&bound) && !is_bound(b""));
    }

    #[test]
    fn what_is_no_image_is_refused_with_the_reason() {
        let error = Library::from_bytes(b"no image").map(|_| ());
        assert!(matches!(error, Err(DeviceError::BadImage(why)) if !why.is_empty()));
    }
}
