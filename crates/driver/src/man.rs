//! Manual pages and completion scripts, made from the same command tree as `--help`.

use std::fs;
use std::path::Path;
use std::process::ExitCode;

use clap::CommandFactory;

use crate::options::Options;
use crate::report::{self, Stream};

/// Writes `ferry.1` and one page per command into `folder`.
pub(crate) fn pages(folder: &Path) -> Result<ExitCode, String> {
    let failed = |error: std::io::Error| {
        format!("cannot write to `{}`: {}", folder.display(), report::reason(&error))
    };
    fs::create_dir_all(folder).map_err(failed)?;
    clap_mangen::generate_to(Options::command(), folder).map_err(failed)?;
    Ok(ExitCode::SUCCESS)
}

/// Prints the completion script for `shell`.
pub(crate) fn completions(shell: clap_complete::Shell) -> Result<ExitCode, String> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Options::command(), "ferry", &mut script);
    report::show(&String::from_utf8_lossy(&script), Stream::Out)?;
    Ok(ExitCode::SUCCESS)
}
