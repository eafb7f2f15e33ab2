//! Where reports go: standard output, standard error, or a file that appears only when whole.

use std::fs;
use std::io::{self, IsTerminal, Write};
use std::path::Path;

use source::render;

use crate::options::{Colour, Output};

/// Which form a report takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Text,
    Json,
    Sarif,
}

impl Output {
    /// The form that was asked for.
    pub(crate) fn format(&self) -> Format {
        if self.json {
            Format::Json
        } else if self.sarif {
            Format::Sarif
        } else {
            Format::Text
        }
    }
}

/// Where a text is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stream {
    /// Products.
    Out,
    /// Messages.
    Err,
}

/// Whether to colour what goes to `stream`.
pub(crate) fn colour(output: &Output, stream: Stream) -> render::Colour {
    let coloured = match output.color {
        Colour::Always => true,
        Colour::Never => false,
        Colour::Auto => {
            let is_terminal = match stream {
                Stream::Out => io::stdout().is_terminal(),
                Stream::Err => io::stderr().is_terminal(),
            };
            let unwanted = std::env::var_os("NO_COLOR").is_some_and(|it| !it.is_empty());
            let dumb = std::env::var_os("TERM").is_some_and(|it| it == "dumb");
            output.output.is_none() && is_terminal && !unwanted && !dumb
        }
    };
    if coloured { render::Colour::Always } else { render::Colour::Never }
}

/// Shows `text`, or writes it to `file` if one is named.
pub(crate) fn deliver(text: &str, file: Option<&Path>, stream: Stream) -> Result<(), String> {
    let Some(file) = file else {
        return show(text, stream);
    };
    write_whole(file, text).map_err(|error| format!("cannot write `{}`: {error}", file.display()))
}

/// Writes to a stream; a reader that has gone away (`| head`) is no error.
pub(crate) fn show(text: &str, stream: Stream) -> Result<(), String> {
    let written = match stream {
        Stream::Out => {
            let mut out = io::stdout().lock();
            out.write_all(text.as_bytes()).and_then(|()| out.flush())
        }
        Stream::Err => io::stderr().lock().write_all(text.as_bytes()),
    };
    match written {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(format!("cannot write the report: {error}"))
        }
        _ => Ok(()),
    }
}

/// Writes a neighbour first and renames it, so that nobody ever sees half a file. What is not a
/// plain file (a device, a pipe) is written in place.
fn write_whole(file: &Path, text: &str) -> io::Result<()> {
    if fs::metadata(file).is_ok_and(|it| !it.is_file()) {
        return fs::write(file, text);
    }
    let folder = match file.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let mut neighbour = tempfile::Builder::new().prefix(".ferry-").tempfile_in(folder)?;
    neighbour.write_all(text.as_bytes())?;
    neighbour.as_file().sync_all()?;
    allow_as_usual(&neighbour)?;
    neighbour.persist(file).map_err(|it| it.error)?;
    Ok(())
}

/// Temporary files are private; a report has the permissions any new file would get.
#[cfg(unix)]
fn allow_as_usual(file: &tempfile::NamedTempFile) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    file.as_file().set_permissions(fs::Permissions::from_mode(0o644))
}

#[cfg(not(unix))]
fn allow_as_usual(_: &tempfile::NamedTempFile) -> io::Result<()> {
    Ok(())
}
