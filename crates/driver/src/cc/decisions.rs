//! The file of `--mapping`: decisions of earlier builds in, those of this one out.
//!
//! Several inputs, and several runs one after the other, share one file: each replaces what is said of its own sources. What is
//! pinned stays as it is. Runs at the same time each write a whole file; the last one is kept.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use opt::decisions::{Decision, Decisions};

use super::{Failure, output};

/// What was decided for the nests of one source.
#[derive(Debug)]
pub(crate) struct Decided {
    /// As given on the command line.
    pub(crate) file: String,
    pub(crate) nests: Vec<(String, Decision)>,
}

/// Reads the file; a file that is not there yet says nothing.
pub(crate) fn read(path: &Path) -> Result<Decisions, Failure> {
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Decisions::default()),
        Err(error) => return Err(Failure::file("read", path, &error)),
    };
    Decisions::read(&text).map_err(|why| {
        Failure::told(&format!("`{}` is no file of mappings: {why}", path.display()))
    })
}

/// Writes the file anew, if anything is different.
pub(crate) fn write(path: &Path, before: &Decisions, now: Vec<Decided>) -> Result<(), Failure> {
    let mut all = before.clone();
    for it in now {
        all.renew(&it.file, it.nests);
    }
    if all == *before && path.exists() {
        return Ok(());
    }
    output::write(path, all.text().as_bytes())
}
