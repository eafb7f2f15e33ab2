//! Comparing what a run answered with what its golden file says.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{fs, io};

use similar::TextDiff;

use crate::Mode;
use crate::case::Run;

/// Variables that would change what a program prints from one machine to the next.
const REMOVED: &[&str] = &["CLICOLOR_FORCE", "FORCE_COLOR", "COLUMNS", "CPATH", "C_INCLUDE_PATH"];

pub(crate) fn check(ferry: &Path, run: &Run, mode: Mode) -> Result<(), String> {
    let actual = answer(ferry, run)?;
    let golden = run.golden.display();
    let expected = match fs::read_to_string(&run.golden) {
        Ok(text) => Some(text),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(format!("cannot read {golden}: {error}")),
    };
    if expected.as_ref() == Some(&actual) {
        return Ok(());
    }
    match (mode, expected) {
        (Mode::Bless, _) => fs::write(&run.golden, actual)
            .map_err(|error| format!("cannot write {golden}: {error}")),
        (Mode::Compare, None) => Err(format!(
            "{golden} is missing (`cargo xtask bless` writes it); `ferry {}` answered:\n{actual}",
            run.line
        )),
        (Mode::Compare, Some(expected)) => {
            let diff = TextDiff::from_lines(&expected, &actual);
            let diff = diff.unified_diff().header(&golden.to_string(), "now").to_string();
            let hint = "if the new text is right: cargo xtask bless";
            Err(format!(
                "`ferry {}` answers otherwise than its golden file:\n{diff}{hint}",
                run.line
            ))
        }
    }
}

/// Golden files that no run line asks for: nothing would ever compare them.
pub(crate) fn refuse_stray(stray: &[PathBuf], mode: Mode) -> Result<(), String> {
    let mut problems = Vec::new();
    for path in stray {
        let shown = path.display();
        match mode {
            Mode::Compare => problems.push(format!("{shown}: no run line asks for this file")),
            Mode::Bless => {
                if let Err(error) = fs::remove_file(path) {
                    problems.push(format!("cannot remove {shown}: {error}"));
                }
            }
        }
    }
    if problems.is_empty() { Ok(()) } else { Err(problems.join("\n")) }
}

/// Runs `ferry` and writes its whole answer as one text: status, then each stream that spoke.
fn answer(ferry: &Path, run: &Run) -> Result<String, String> {
    let mut command = Command::new(ferry);
    command.args(&run.arguments).current_dir(&run.folder).stdin(Stdio::null());
    command.env("LC_ALL", "C").env("NO_COLOR", "1").env("TERM", "dumb");
    for name in REMOVED {
        command.env_remove(name);
    }
    let output =
        command.output().map_err(|error| format!("cannot run {}: {error}", ferry.display()))?;

    // Without a code the program was killed by a signal: that is part of the answer too.
    let mut text = format!("{}\n", output.status);
    for (name, bytes) in [("stdout", &output.stdout), ("stderr", &output.stderr)] {
        if bytes.is_empty() {
            continue;
        }
        let stream = String::from_utf8_lossy(bytes);
        text.push_str(&format!("--- {name}\n{stream}"));
        if !stream.ends_with('\n') {
            text.push_str("\n(no newline at the end)\n");
        }
    }
    Ok(text)
}
