//! The host compiler: which program it is, and how it is run.
//!
//! `--ferry-cc` comes first, then `FERRY_CC`, then `CC` unless that names Ferry itself (builds are told
//! `CC="ferry cc"` and pass it on), then `cc`.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use super::Failure;
use crate::input;
use crate::report::reason;

/// The host compiler's command.
#[derive(Debug)]
pub(crate) struct Host {
    /// Program and the options it always gets; never empty.
    words: Vec<OsString>,
    /// Whether each command is shown.
    verbose: bool,
    version: OnceLock<Vec<u8>>,
}

/// What a command of the host compiler gave.
pub(crate) struct Ran {
    pub(crate) stdout: Vec<u8>,
    /// What it said; empty if it spoke to the terminal itself.
    pub(crate) said: Vec<u8>,
    /// None if all is well.
    pub(crate) failed: Option<u8>,
}

impl Ran {
    /// A failed run as the failure of the whole.
    pub(crate) fn checked(self) -> Result<Ran, Failure> {
        match self.failed {
            None => Ok(self),
            Some(status) => Err(Failure { said: self.said, status }),
        }
    }
}

/// What happens to the words of a command.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Voice {
    /// Kept, to be shown in order.
    Kept,
    /// Straight to the user.
    Live,
}

impl Host {
    /// The compiler that options and environment name.
    pub(crate) fn find(option: Option<&OsStr>, verbose: bool) -> Result<Host, String> {
        let named =
            |name: &str| env::var_os(name).filter(|it| !it.to_string_lossy().trim().is_empty());
        let text = match option {
            Some(text) => Some(text.to_owned()),
            None => named("FERRY_CC").or_else(|| named("CC").filter(|it| !names_ferry(it))),
        };
        let words = match text {
            Some(text) => split(&text)?,
            None => vec![default_compiler()],
        };
        Ok(Host { words, verbose, version: OnceLock::new() })
    }

    /// This program and no other.
    pub(crate) fn exactly(program: OsString, verbose: bool) -> Host {
        Host { words: vec![program], verbose, version: OnceLock::new() }
    }

    /// Its name, for messages.
    pub(crate) fn name(&self) -> String {
        self.words.first().map_or_else(String::new, |it| it.display().to_string())
    }

    /// Runs it on `arguments`, with `text` on its standard input if there is any.
    pub(crate) fn run(
        &self,
        arguments: &[OsString],
        text: Option<&[u8]>,
        voice: Voice,
    ) -> Result<Ran, Failure> {
        let Some((program, own)) = self.words.split_first() else {
            return Err(Failure::told("no host compiler"));
        };
        let mut command = Command::new(program);
        command.args(own).args(arguments);
        let mut said = Vec::new();
        if self.verbose {
            let line = shown(self.words.iter().chain(arguments));
            match voice {
                Voice::Live => super::say(line.as_bytes()),
                Voice::Kept => said.extend_from_slice(line.as_bytes()),
            }
        }
        let output = if voice == Voice::Live && text.is_none() {
            command.status().map(|status| std::process::Output {
                status,
                stdout: Vec::new(),
                stderr: Vec::new(),
            })
        } else {
            command.stdout(Stdio::piped());
            command.stderr(if voice == Voice::Live { Stdio::inherit() } else { Stdio::piped() });
            input::fed(&mut command, text)
        };
        let output = output.map_err(|error| Failure::told(&self.cannot_run(&error)))?;
        said.extend_from_slice(&output.stderr);
        let failed = match output.status.code() {
            Some(0) => None,
            Some(code) => Some(u8::try_from(code).unwrap_or(1)),
            None => Some(1),
        };
        if voice == Voice::Live && text.is_some() {
            super::product(&output.stdout);
        }
        Ok(Ran { stdout: output.stdout, said, failed })
    }

    /// What it says of its version, once.
    pub(crate) fn version(&self) -> &[u8] {
        self.version.get_or_init(|| {
            let ran = self.run(&["--version".into()], None, Voice::Kept);
            ran.map(|it| it.stdout).unwrap_or_default()
        })
    }

    /// Whether it is clang, by what it says of itself.
    pub(crate) fn is_clang(&self) -> bool {
        self.version().windows(5).any(|it| it == b"clang")
    }

    /// The path of a program of its tool chain, such as `objcopy`.
    pub(crate) fn tool(&self, name: &str) -> OsString {
        let ran = self.run(&[format!("-print-prog-name={name}").into()], None, Voice::Kept);
        let path = ran.map(|it| String::from_utf8_lossy(&it.stdout).trim().to_owned());
        path.ok().filter(|it| !it.is_empty()).unwrap_or_else(|| name.to_owned()).into()
    }

    /// The path of a file of its tool chain, such as a library; none if it does not know it.
    pub(crate) fn file(&self, name: &str) -> Option<String> {
        let ran = self.run(&[format!("-print-file-name={name}").into()], None, Voice::Kept).ok()?;
        let path = String::from_utf8_lossy(&ran.stdout).trim().to_owned();
        Path::new(&path).is_absolute().then_some(path)
    }

    fn cannot_run(&self, error: &io::Error) -> String {
        format!(
            "cannot run the host compiler `{}`: {}\n  help: install one (Debian: `apt install gcc`), \
             or name it with `--ferry-cc` or FERRY_CC",
            self.name(),
            reason(error)
        )
    }
}

/// A command as gcc's `-v` shows it: words that a shell would split are quoted.
pub(crate) fn shown<'a>(words: impl IntoIterator<Item = &'a OsString>) -> String {
    let mut line = String::new();
    for word in words {
        let text = word.to_string_lossy();
        line.push(' ');
        line.push_str(&shlex::try_quote(&text).unwrap_or_else(|_| text.clone()));
    }
    line.push('\n');
    line
}

fn split(text: &OsStr) -> Result<Vec<OsString>, String> {
    // A path with blanks that exists is a path.
    if Path::new(text).is_file() {
        return Ok(vec![text.to_owned()]);
    }
    match shlex::split(&text.to_string_lossy()) {
        Some(words) if !words.is_empty() => Ok(words.into_iter().map(OsString::from).collect()),
        _ => Err(format!("`{}` is not a command: balance its quotes", text.display())),
    }
}

/// Whether a command would come back to this program: `ferry cc`, `ccache ferrycc`, a path to us.
fn names_ferry(command: &OsStr) -> bool {
    let Ok(words) = split(command) else { return false };
    words.iter().any(|word| {
        let name = Path::new(word).file_name().unwrap_or_default();
        ["ferry", "ferrycc", "ferryc++", "ferryfc"].iter().any(|it| name == *it)
            || is_this_program(word)
    })
}

/// `cc`, unless somebody has made that a name of ours.
fn default_compiler() -> OsString {
    ["cc", "gcc", "clang"]
        .iter()
        .map(OsString::from)
        .find(|it| on_path(it).is_some() && !is_this_program(it))
        .unwrap_or_else(|| "cc".into())
}

fn is_this_program(word: &OsStr) -> bool {
    let own = env::current_exe().and_then(fs::canonicalize);
    let other = on_path(word).and_then(|it| fs::canonicalize(it).ok());
    matches!((own, other), (Ok(own), Some(other)) if own == other)
}

/// The file that a command's name stands for.
pub(crate) fn on_path(name: &OsStr) -> Option<PathBuf> {
    if name.to_string_lossy().contains('/') {
        return Some(PathBuf::from(name)).filter(|it| it.is_file());
    }
    let path = env::var_os("PATH")?;
    env::split_paths(&path).map(|it| it.join(name)).find(|it| it.is_file())
}
