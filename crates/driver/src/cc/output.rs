//! Files that appear only when whole.
//!
//! The host compiler writes a neighbour of the file that is wanted, and only success gives it the
//! wanted name: a failed build leaves the old file as it was.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use tempfile::TempPath;

use super::{Failure, leftovers};
use crate::report::reason;

/// A file that is being made.
#[derive(Debug)]
pub(crate) struct Output {
    wanted: PathBuf,
    /// None for what is no plain file (`/dev/null`): that is written in place.
    neighbour: Option<TempPath>,
}

impl Output {
    /// Begins `wanted`.
    pub(crate) fn begin(wanted: &Path) -> Result<Output, Failure> {
        let kind = fs::metadata(wanted);
        if kind.as_ref().is_ok_and(|it| !it.is_file()) {
            return Ok(Output { wanted: wanted.to_owned(), neighbour: None });
        }
        let failed = |error: io::Error| cannot_write(wanted, &error);
        // A link stays a link: the file behind it is replaced.
        let wanted_file = if kind.is_ok() {
            fs::canonicalize(wanted).map_err(failed)?
        } else {
            wanted.to_owned()
        };
        let folder = match wanted_file.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        // The ending matters to some compilers.
        let ending = wanted.extension().map(|it| format!(".{}", it.display())).unwrap_or_default();
        let prefix = leftovers::prefix(folder);
        let mut builder = tempfile::Builder::new();
        let file = crate::report::as_any_new_file(&mut builder)
            .prefix(&prefix)
            .suffix(&ending)
            .tempfile_in(folder)
            .map_err(failed)?;
        leftovers::list(file.path());
        Ok(Output { wanted: wanted_file, neighbour: Some(file.into_temp_path()) })
    }

    /// Where to write.
    pub(crate) fn path(&self) -> &Path {
        self.neighbour.as_deref().unwrap_or(&self.wanted)
    }

    /// It is whole.
    pub(crate) fn finish(self) -> Result<(), Failure> {
        match self.neighbour {
            None => Ok(()),
            Some(neighbour) => neighbour
                .persist(&self.wanted)
                .map_err(|error| cannot_write(&self.wanted, &error.error)),
        }
    }
}

/// Writes bytes in one go, by the same rule.
pub(crate) fn write(wanted: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let output = Output::begin(wanted)?;
    fs::write(output.path(), bytes).map_err(|error| cannot_write(wanted, &error))?;
    output.finish()
}

fn cannot_write(wanted: &Path, error: &io::Error) -> Failure {
    Failure::told(&format!("cannot write `{}`: {}", wanted.display(), reason(error)))
}
