//! Whose files these are: what another user owns or may write is not used, on any level.
//!
//! Also settings that choose files or code: a program that runs with other rights than its user's has none of them.
#![allow(unsafe_code, reason = "asks the system who runs the program, and with which rights")]

use std::env;
use std::ffi::OsString;
use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// A setting that chooses files or code; none in a program whose rights are not its user's (set-user-ID and the like).
pub fn setting(name: &str) -> Option<OsString> {
    // SAFETY: asks for a number, nothing else.
    let has_other_rights = unsafe { libc::getauxval(libc::AT_SECURE) } != 0;
    env::var_os(name).filter(|it| !it.is_empty() && !has_other_rights)
}

/// Why a folder cannot be trusted, if it cannot: it, or one above it, belongs to another user or may be written by others.
/// Folders that are not there yet are no danger.
pub(crate) fn folder(folder: &Path) -> Result<(), String> {
    // As it is written, where links count, and as it is.
    above(folder)?;
    let mut existing = folder;
    while !existing.exists() {
        let Some(parent) = existing.parent() else { return Ok(()) };
        existing = parent;
    }
    let real =
        existing.canonicalize().map_err(|error| format!("`{}`: {error}", existing.display()))?;
    above(&real)
}

fn above(folder: &Path) -> Result<(), String> {
    let mut path = PathBuf::new();
    for part in folder.components() {
        path.push(part);
        let Ok(found) = fs::symlink_metadata(&path) else { return Ok(()) };
        owned(&path, &found)?;
        // In a sticky folder nobody can replace what belongs to others.
        let is_sticky = found.mode() & 0o1000 != 0 && path != folder;
        if !found.is_symlink() && !is_sticky {
            written(&path, &found)?;
        }
    }
    Ok(())
}

/// Why a file cannot be trusted, if it cannot.
pub(crate) fn file(path: &Path, found: &Metadata) -> Result<(), String> {
    if !found.is_file() {
        return Err(format!("`{}` is not a file", path.display()));
    }
    owned(path, found)?;
    written(path, found)
}

fn owned(path: &Path, found: &Metadata) -> Result<(), String> {
    // SAFETY: asks for a number, nothing else.
    let user = unsafe { libc::geteuid() };
    match found.uid() {
        0 => Ok(()),
        owner if owner == user => Ok(()),
        owner => Err(format!("`{}` belongs to another user ({owner})", path.display())),
    }
}

fn written(path: &Path, found: &Metadata) -> Result<(), String> {
    // SAFETY: asks for numbers, nothing else.
    let (user, group) = unsafe { (libc::geteuid(), libc::getegid()) };
    // A group that is called after its only member.
    let is_own_group = found.gid() == group && group == user;
    let others = if is_own_group { 0o002 } else { 0o022 };
    match found.mode() & others {
        0 => Ok(()),
        _ => Err(format!("`{}` may be written by other users", path.display())),
    }
}
