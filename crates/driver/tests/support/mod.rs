//! `ferry` as the tests of programs run it, and what it said.

use std::path::Path;
use std::process::{Command, Output};

/// Runs `ferry` in a folder, with a plain environment.
pub(crate) fn ferry(arguments: &[&str], folder: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ferry"));
    command.args(arguments).current_dir(folder).env("LC_ALL", "C");
    for name in ["CC", "FERRY_CC", "FERRY_DEVICE", "FERRY_INFO"] {
        command.env_remove(name);
    }
    command.output().expect("ferry runs")
}

/// How a program ended and all it said, for people to read.
pub(crate) fn told(output: &Output) -> String {
    let text = [output.stdout.as_slice(), output.stderr.as_slice()].concat();
    format!("{}\n{}", output.status, String::from_utf8_lossy(&text))
}
