//! Where reports go: standard output, standard error, or a file that appears only when whole.

use std::fs;
use std::io::{self, IsTerminal, Write};
use std::path::Path;

use source::render;

use crate::leftovers;
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
            return colour_of_terminal(output.output.is_none() && is_terminal);
        }
    };
    if coloured { render::Colour::Always } else { render::Colour::Never }
}

/// Whether to colour what nothing is said about, given whether a terminal will show it.
pub(crate) fn colour_of_terminal(is_terminal: bool) -> render::Colour {
    let unwanted = std::env::var_os("NO_COLOR").is_some_and(|it| !it.is_empty());
    let dumb = std::env::var_os("TERM").is_some_and(|it| it == "dumb");
    if is_terminal && !unwanted && !dumb { render::Colour::Always } else { render::Colour::Never }
}

/// Shows `text`, or writes it to `file` if one is named.
pub(crate) fn deliver(text: &str, file: Option<&Path>, stream: Stream) -> Result<(), String> {
    match (file, named(file)) {
        (_, Some(file)) => write_file(file, text.as_bytes()),
        (Some(_), None) => show(text, Stream::Out),
        (None, None) => show(text, stream),
    }
}

/// The file that a user names; `-` names none, but standard output.
pub(crate) fn named(file: Option<&Path>) -> Option<&Path> {
    file.filter(|it| *it != Path::new("-"))
}

/// Writes a file that appears only when whole.
pub(crate) fn write_file(file: &Path, bytes: &[u8]) -> Result<(), String> {
    write_whole(file, bytes)
        .map_err(|error| format!("cannot write `{}`: {}", file.display(), reason(&error)))
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
            Err(format!("cannot write the report: {}", reason(&error)))
        }
        _ => Ok(()),
    }
}

/// Writes a neighbour first and renames it, so that nobody ever sees half a file. What is not a
/// plain file (a device, a pipe) is written in place, and a link stays a link.
fn write_whole(file: &Path, text: &[u8]) -> io::Result<()> {
    let kind = fs::metadata(file);
    if kind.as_ref().is_ok_and(|it| !it.is_file()) {
        return fs::write(file, text);
    }
    let file = &if kind.is_ok() { fs::canonicalize(file)? } else { file.to_owned() };
    let folder = match file.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let prefix = leftovers::prefix(folder);
    let mut builder = tempfile::Builder::new();
    let mut neighbour = as_any_new_file(&mut builder).prefix(&prefix).tempfile_in(folder)?;
    leftovers::watch();
    leftovers::list(neighbour.path());
    neighbour.write_all(text)?;
    neighbour.as_file().sync_all()?;
    if let Ok(kind) = kind {
        neighbour.as_file().set_permissions(kind.permissions())?;
    }
    neighbour.persist(file).map_err(|it| it.error)?;
    Ok(())
}

/// Temporary files are private; a report has the permissions that the user's mask leaves.
pub(crate) fn as_any_new_file<'a, 'b, 's>(
    builder: &'a mut tempfile::Builder<'b, 's>,
) -> &'a mut tempfile::Builder<'b, 's> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    builder
}

/// Why the system refused, without Rust's ` (os error 2)`.
pub(crate) fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    match text.find(" (os error") {
        Some(end) => text.get(..end).unwrap_or(&text).to_owned(),
        None => text,
    }
}
