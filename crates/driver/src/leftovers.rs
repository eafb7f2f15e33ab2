//! What must not be left behind when the user breaks a build off.
//!
//! A signal ends a process without running destructors, so temporary files are also listed here, and a
//! thread that waits for signals removes them before the process dies of the signal after all. A process that is killed cannot do
//! that: names say whose they are, and the next one that writes into the folder removes what nobody owns any more.

use std::collections::BTreeSet;
use std::fs;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, Once, OnceLock, PoisonError};
use std::time::{Duration, SystemTime};

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
    static ONCE: Once = Once::new();
    ONCE.call_once(watch_now);
}

fn watch_now() {
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

/// What names of temporary files begin with.
const MARK: &str = ".ferry-";

/// Files that are older than this belong to nobody, wherever they come from.
const OLD: Duration = Duration::from_secs(24 * 60 * 60);

/// What the name of a temporary file in a folder begins with; what others have left there is gone then.
pub(crate) fn prefix(folder: &Path) -> String {
    static SWEPT: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
    let is_new = SWEPT.lock().unwrap_or_else(PoisonError::into_inner).insert(folder.to_owned());
    if is_new {
        sweep(folder);
    }
    format!("{MARK}{:016x}-{}-", here(), std::process::id())
}

/// This machine since it was started, and those of its processes that have numbers in common.
fn here() -> u64 {
    static HERE: OnceLock<u64> = OnceLock::new();
    *HERE.get_or_init(|| {
        let boot = fs::read("/proc/sys/kernel/random/boot_id").unwrap_or_default();
        let space = fs::read_link("/proc/self/ns/pid").unwrap_or_default();
        let mut hasher = rustc_hash::FxHasher::default();
        (boot, space).hash(&mut hasher);
        hasher.finish()
    })
}

/// Removes temporary files whose process is gone.
fn sweep(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let Some(rest) = name.to_str().and_then(|it| it.strip_prefix(MARK)) else { continue };
        if entry.file_type().is_ok_and(|it| it.is_file()) && is_stale(rest, &entry.path()) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

fn is_stale(rest: &str, path: &Path) -> bool {
    let mut parts = rest.split('-');
    let machine = parts.next().and_then(|it| u64::from_str_radix(it, 16).ok());
    let process = parts.next().and_then(|it| it.parse::<u32>().ok());
    let (Some(machine), Some(process), Some(_)) = (machine, process, parts.next()) else {
        return false;
    };
    let is_gone =
        || Path::new("/proc/self").exists() && !Path::new(&format!("/proc/{process}")).exists();
    let changed = fs::metadata(path).and_then(|it| it.modified()).ok();
    let is_old = || {
        let age = changed.and_then(|it| SystemTime::now().duration_since(it).ok());
        age.is_some_and(|it| it > OLD)
    };
    if machine == here() { is_gone() } else { is_old() }
}
