//! Golden cases: every C file below `tests/cases` is a test that says at its top what to run.
//!
//! In: the `ferry` binary and a folder of cases. Out: one test per `// run:` line, which compares
//! exit status, standard output and standard error with the neighbour `NAME.expect` (or
//! `NAME.1.expect`, `NAME.2.expect` if there are several lines). `BLESS=1` rewrites these files.
//!
//! The crate that makes the binary starts this from a test without harness, because cargo builds a
//! binary afresh for the tests of its own package only:
//!
//! ```ignore
//! fn main() -> std::process::ExitCode {
//!     cases::main(env!("CARGO_BIN_EXE_ferry"))
//! }
//! ```

use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use libtest_mimic::{Arguments, Failed, Trial};

mod case;
mod golden;

use case::Case;

/// What a run does with golden files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// A difference is a failure.
    Compare,
    /// The golden files are made to say what the program says.
    Bless,
}

impl Mode {
    /// `BLESS=1` in the environment asks for [`Mode::Bless`].
    #[must_use]
    pub fn from_env() -> Mode {
        if std::env::var_os("BLESS").is_some_and(|it| it == "1") {
            Mode::Bless
        } else {
            Mode::Compare
        }
    }
}

/// The `main` of a test without harness: runs the repository's cases with the binary `ferry`.
#[must_use]
pub fn main(ferry: &str) -> ExitCode {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("cases");
    let arguments = Arguments::from_args();
    libtest_mimic::run(&arguments, tests(Path::new(ferry), &folder, Mode::from_env())).exit_code()
}

/// One test per run line, one for files that belong to no case, in the order of their paths.
#[must_use]
pub fn tests(ferry: &Path, folder: &Path, mode: Mode) -> Vec<Trial> {
    let mut tests = Vec::new();
    let (cases, goldens) = match find(folder) {
        Ok(found) => found,
        Err(error) => {
            let message = format!("cannot read {}: {error}", folder.display());
            return vec![Trial::test("cases", move || Err(Failed::from(message)))];
        }
    };
    let mut expected: Vec<PathBuf> = Vec::new();
    for path in cases {
        let name = path.strip_prefix(folder).unwrap_or(&path).with_extension("");
        let name = name.to_string_lossy().into_owned();
        match Case::read(&path) {
            Ok(case) => {
                for run in case.runs {
                    expected.push(run.golden.clone());
                    let title = run.title(&name);
                    let ferry = ferry.to_path_buf();
                    tests.push(Trial::test(title, move || Ok(golden::check(&ferry, &run, mode)?)));
                }
            }
            Err(message) => tests.push(Trial::test(name, move || Err(message.into()))),
        }
    }
    let stray: Vec<PathBuf> = goldens.into_iter().filter(|it| !expected.contains(it)).collect();
    tests.push(Trial::test("no stray golden files", move || {
        Ok(golden::refuse_stray(&stray, mode)?)
    }));
    tests
}

/// All C files and all golden files below `folder`, sorted.
fn find(folder: &Path) -> io::Result<(Vec<PathBuf>, Vec<PathBuf>)> {
    let (mut cases, mut goldens) = (Vec::new(), Vec::new());
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder)? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            match path.extension().and_then(|it| it.to_str()) {
                Some("c") => cases.push(path),
                Some("expect") => goldens.push(path),
                _ => {}
            }
        }
    }
    cases.sort();
    goldens.sort();
    Ok((cases, goldens))
}

#[cfg(test)]
mod tests;
