//! What must not be left behind when the user breaks a build off.
//!
//! A signal ends a process without running destructors, so temporary files are also listed here, and a
//! thread that waits for signals removes them before the process dies of the signal after all.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

/// Names that are gone by now do no harm: they are never used again.
static LISTED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Lists a temporary file or folder.
pub(crate) fn list(path: &Path) {
    LISTED.lock().unwrap_or_else(PoisonError::into_inner).push(path.to_owned());
}

/// Begins to wait for signals.
pub(crate) fn watch() {
    // Without a watch a broken-off build leaves files and is otherwise the same.
    let Ok(mut signals) = Signals::new([SIGHUP, SIGINT, SIGTERM]) else { return };
    std::thread::spawn(move || {
        for signal in signals.forever() {
            for path in LISTED.lock().unwrap_or_else(PoisonError::into_inner).iter() {
                let _ =
                    if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
            }
            let _ = signal_hook::low_level::emulate_default_handler(signal);
        }
    });
}
