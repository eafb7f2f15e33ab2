//! A folder of its own for each test, and `ferry` run in it.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// A folder that goes away with its test.
pub(crate) struct Folder {
    folder: tempfile::TempDir,
}

impl Folder {
    pub(crate) fn new() -> Folder {
        Folder { folder: tempfile::tempdir().expect("a temporary folder") }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> &Folder {
        fs::write(self.path(name), bytes).expect("written");
        self
    }

    /// A file that claims a size and takes no room.
    pub(crate) fn sparse(&self, name: &str, size: u64) -> &Folder {
        File::create(self.path(name)).and_then(|it| it.set_len(size)).expect("a sparse file");
        self
    }

    /// The names in the folder, in order.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.folder.path()).expect("a folder");
        let mut names: Vec<String> = entries
            .map(|it| it.expect("an entry").file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    /// `ferry` in this folder, with a plain environment.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ferry"));
        command.args(arguments).current_dir(self.folder.path()).stdin(Stdio::null());
        for name in ["CC", "NO_COLOR", "CLICOLOR_FORCE", "FERRY_CC", "FERRY_DEVICE", "FERRY_INFO"] {
            command.env_remove(name);
        }
        command.env("FERRY_CACHE", concat!(env!("CARGO_TARGET_TMPDIR"), "/cache"));
        // Messages of the host compiler are compared with English words.
        command.env("LC_ALL", "C");
        command
    }

    /// Another program in this folder; what it gave, if it is on this machine.
    pub(crate) fn tool(&self, program: &str, arguments: &[&str]) -> Option<Ran> {
        let mut command = Command::new(program);
        command.args(arguments).current_dir(self.folder.path()).stdin(Stdio::null());
        let names = ["CC", "CFLAGS", "MAKEFLAGS", "MFLAGS", "MAKELEVEL"];
        for name in names {
            command.env_remove(name);
        }
        command.env("LC_ALL", "C").output().ok().map(Ran::of)
    }

    /// The same for a program of this folder, or one that every machine has.
    #[track_caller]
    pub(crate) fn run(&self, program: &str, arguments: &[&str]) -> Ran {
        let path = self.path(program);
        let program = if path.is_file() { path.display().to_string() } else { program.to_owned() };
        self.tool(&program, arguments).expect("it runs")
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_else(|it| format!("{name}: {it}"))
    }

    pub(crate) fn ferry(&self, arguments: &[&str]) -> Ran {
        Ran::of(self.command(arguments).output().expect("ferry runs"))
    }

    /// `ferry` with `text` on standard input.
    pub(crate) fn ferry_fed(&self, arguments: &[&str], text: &[u8]) -> Ran {
        let mut command = self.command(arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("ferry runs");
        // It may end before it has read all.
        let fed = child.stdin.take().expect("a pipe").write_all(text);
        match fed {
            Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => {}
            fed => fed.expect("fed"),
        }
        Ran::of(child.wait_with_output().expect("ferry ends"))
    }
}

/// What a run gave.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Ran {
    pub(crate) status: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Ran {
    pub(crate) fn of(output: Output) -> Ran {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("ferry writes UTF-8");
        Ran { status: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    }

    /// Nothing was wrong and nobody was told anything but the product.
    #[track_caller]
    pub(crate) fn is_clean(&self) -> &Ran {
        assert_eq!((self.status, self.err.as_str()), (Some(0), ""));
        self
    }

    /// The status, and all of these words among the messages.
    #[track_caller]
    pub(crate) fn fails(&self, status: i32, words: &[&str]) -> &Ran {
        assert_eq!(self.status, Some(status), "{self:#?}");
        for word in words {
            assert!(self.err.contains(word), "`{word}` is missing in: {}", self.err);
        }
        assert!(!self.err.contains("os error"), "Rust's words in: {}", self.err);
        self
    }

    /// The whole of standard error.
    #[track_caller]
    pub(crate) fn says(&self, expect: &str) -> &Ran {
        assert_eq!(self.err, expect);
        self
    }
}

/// The command that was tested.
pub(crate) const FERRY: &str = env!("CARGO_BIN_EXE_ferry");

/// The root of the repository.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The ten example programs.
pub(crate) fn examples() -> Vec<PathBuf> {
    let mut found = Vec::new();
    for standard in ["openacc", "openmp"] {
        for entry in fs::read_dir(root().join("examples").join(standard)).expect("examples") {
            found.push(entry.expect("an entry").path());
        }
    }
    found.retain(|it| it.extension().is_some_and(|it| it == "c"));
    found.sort();
    assert_eq!(found.len(), 10, "{found:?}");
    found
}

/// A program with nothing wrong.
pub(crate) const GOOD: &str = "int main(void) { return 0; }\n";
/// A program with one error.
pub(crate) const BAD: &str = "int main(void) { return nothing; }\n";
/// A program with one warning.
pub(crate) const DOUBTFUL: &str = "int main(void) { int *p = 1; return p != 0; }\n";
/// A program with one region.
pub(crate) const REGION: &str = "\
void scale(int n, float *x) {
#pragma omp target teams distribute parallel for map(tofrom: x[0:n])
    for (int i = 0; i < n; i++) x[i] *= 2;
}
";
