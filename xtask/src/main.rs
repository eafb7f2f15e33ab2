//! Maintenance of this repository, started as `cargo xtask COMMAND`.
//!
//! `tidy` checks the rules that neither rustc nor clippy know; `bless` rewrites every golden file.
//! Nothing here is shipped.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command for a terminal")]

use std::path::{Path, PathBuf};
use std::process::ExitCode;

mod bless;
mod tidy;

const USAGE: &str = "\
usage: cargo xtask COMMAND

  tidy    check the rules of the repository (ARCHITECTURE.md names them)
  bless   rewrite all golden files from what the compiler answers now
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let outcome = match arguments.as_slice() {
        ["tidy"] => tidy::run(&root()),
        ["bless"] => bless::run(&root()),
        ["help" | "--help" | "-h"] => {
            print!("{USAGE}");
            return ExitCode::SUCCESS;
        }
        _ => {
            eprint!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(message) => {
            eprintln!("xtask: {message}");
            ExitCode::FAILURE
        }
    }
}

/// The repository this binary was built from: xtask lies directly below its root.
fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_path_buf()
}
