//! Where the runtime library is, and the flags that link it.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::native::Linked;
use super::remote::origin;
use super::{Context, Failure};

/// The program that `cpu:separate` runs kernels in.
pub(crate) const SEPARATE_HELPER: &str = "ferry-cpu-device";

/// The end of a link line.
pub(crate) struct Runtime {
    pub(crate) words: Vec<OsString>,
    /// Whether ours is among them.
    pub(crate) is_ours: bool,
}

/// What is known of a program's need for a runtime.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Need {
    /// It has regions: it cannot do without ours.
    Ours,
    /// It calls what ours and the host compiler's answer.
    Either,
    /// No file that was looked at calls one; a library may. One that nobody calls is left out.
    Unknown,
}

/// The flags for a link.
pub(crate) fn flags(
    cx: &Context<'_>,
    need: Need,
    native: Option<&Linked>,
) -> Result<Runtime, Failure> {
    let arguments = cx.arguments;
    let is_left_out = ["-r", "-nostdlib", "-nodefaultlibs"].iter().any(|it| arguments.has(it));
    if is_left_out {
        let is_gcc = arguments.native.is_none();
        let words = arguments.switches.iter().filter(|_| is_gcc).map(OsString::from).collect();
        return Ok(Runtime { words, is_ours: false });
    }
    let mut words: Vec<OsString> = Vec::new();
    if need == Need::Unknown {
        // To the end of the line: what the host compiler adds there is left out likewise.
        words.push("-Wl,--as-needed".into());
    }
    let has_no_libraries = ["-static", "-static-pie"].iter().any(|it| arguments.has(it));
    // Another machine need not have libraries in the places of this one.
    let is_static = arguments.static_runtime || has_no_libraries || arguments.origin.is_some();
    let name = if is_static { "libferry.a" } else { "libferry.so" };
    let library = match &arguments.origin {
        None => find(name),
        Some(machine) => Some(origin::library(machine, name).map_err(|why| Failure::told(&why))?),
    };
    let is_ours = library.is_some();
    match library {
        None if need == Need::Ours || arguments.static_runtime => {
            return Err(Failure::told(&missing(name)));
        }
        None => {}
        Some(library) if is_static => {
            words.push(library.into());
            if has_no_libraries && !directive::host_linker_flags(&arguments.off).is_empty() {
                words.extend(directive::STATIC_LINKER_FLAGS.iter().map(OsString::from));
            }
            words.extend(["-lpthread", "-ldl", "-lm"].iter().map(OsString::from));
        }
        Some(library) => {
            let folder = library.parent().unwrap_or(Path::new("."));
            words.extend(["-L".into(), folder.into(), "-lferry".into()]);
            // Through `-Xlinker`: a comma in the name would end a value of `-Wl`.
            words.extend(["-Xlinker".into(), "-rpath".into(), "-Xlinker".into(), folder.into()]);
            if need == Need::Ours {
                words.push(directive::CLOCK_LINKER_FLAGS.into());
            }
        }
    }
    match (native, arguments.native) {
        // One runtime of threads for all languages: LLVM's answers GCC's calls too.
        (Some(native), _) => words.extend(native.words(cx)?),
        (None, Some(_)) => words.extend(Linked::default().words(cx)?),
        (None, None) => {
            words.extend(directive::host_linker_flags(&arguments.off).iter().map(OsString::from));
        }
    }
    Ok(Runtime { words, is_ours })
}

/// A library or helper: in the installation, beside the program, or in the tree it was built in.
pub(crate) fn find(name: &str) -> Option<PathBuf> {
    let places = ["../lib/ferry", "../lib", "../lib64", ".", "deps", "../libexec/ferry"];
    find_in(&places, name)
}

/// A file in one of these folders, as seen from this program's.
pub(crate) fn find_in(places: &[&str], name: &str) -> Option<PathBuf> {
    let program = env::current_exe().and_then(|it| it.canonicalize()).ok()?;
    let folder = program.parent()?;
    places
        .iter()
        .map(|it| folder.join(it).join(name))
        .find(|it| it.is_file())
        .and_then(|it| it.canonicalize().ok())
}

/// A library of ours, which must be there.
pub(crate) fn library(name: &str) -> Result<PathBuf, Failure> {
    find(name).ok_or_else(|| Failure::told(&missing(name)))
}

/// Why a program that needs the runtime cannot be linked.
fn missing(name: &str) -> String {
    format!(
        "the runtime library `{name}` was not found beside ferry\n  help: `make install` puts it into \
         the installation; in a build tree, build the crate `runtime`"
    )
}
