//! `ferry run`: compile to a temporary program and become it.
//!
//! The program replaces this process, so its exit status and the signals it gets and dies of are its
//! own. Its file is removed before it starts: nothing is left behind, however it ends.

use std::ffi::OsString;
use std::fs::{self, File};
use std::os::fd::AsRawFd;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, ExitCode};

use super::args::{Arguments, Question, Report};
use super::host::Host;
use super::{Context, Failure, build, foreign, leftovers, say};
use crate::report::{self, Stream, reason};

/// Runs `ferry run` on the words after it.
pub(crate) fn run(words: &[OsString]) -> Result<ExitCode, String> {
    match compile_and_become(words) {
        Ok(status) => Ok(status),
        Err(failure) => {
            say(&failure.said);
            Ok(ExitCode::from(failure.status))
        }
    }
}

fn compile_and_become(words: &[OsString]) -> Result<ExitCode, Failure> {
    let (words, rest) = match words.iter().position(|it| it == "--") {
        Some(at) => (words.get(..at).unwrap_or(words), words.get(at + 1..).unwrap_or_default()),
        None => (words, [].as_slice()),
    };
    let mut arguments = Arguments::read(words).map_err(|it| Failure::told(&it))?;
    if arguments.question == Some(Question::Help) {
        let shown = report::show(&crate::options::help_of("run"), Stream::Out);
        return shown.map(|()| ExitCode::SUCCESS).map_err(|it| Failure::told(&it));
    }
    let Some(first) = arguments.inputs.first().map(|it| it.path.clone()) else {
        return Err(Failure::told("no input files to run"));
    };
    if arguments.stop.is_some() || arguments.output.is_some() || arguments.question.is_some() {
        return Err(Failure::told(
            "`ferry run` goes all the way and leaves no file: `-c`, `-o` and their like are for \
             `ferry cc`",
        ));
    }
    if arguments.origin.is_some() {
        return Err(Failure::told(
            "`ferry run` starts programs on this machine: build those of `--host` with `ferry cc`",
        ));
    }
    arguments.report.get_or_insert(Report::Text);
    let host = Host::find(arguments.host.as_deref(), arguments.verbose)
        .map_err(|it| Failure::told(&it))?;
    let folder = tempfile::Builder::new().prefix("ferry-run-").tempdir().map_err(|error| {
        Failure::told(&format!("cannot make a temporary folder: {}", reason(&error)))
    })?;
    leftovers::list(folder.path());
    let program = folder.path().join(first.file_stem().unwrap_or_default());
    arguments.output = Some(program.clone());
    let is_told_by_others = !arguments.names_devices && arguments.foreign.devices.is_some();
    say(&foreign::settle(&mut arguments));
    build(&Context::new(&arguments, &host)?)?;
    let file = File::open(&program).map_err(|error| Failure::file("open", &program, &error))?;
    let open_file = format!("/proc/self/fd/{}", file.as_raw_fd());
    let is_reachable = fs::metadata(&open_file).is_ok();
    let mut command = Command::new(if is_reachable { Path::new(&open_file) } else { &program });
    command.args(rest);
    // What flags of other compilers name is used where it is there.
    if std::env::var_os("FERRY_DEVICE").is_none() && !is_told_by_others {
        command.env("FERRY_DEVICE", &arguments.targets.text);
    }
    // What regions take there is what the cluster is simulated for.
    if arguments.targets.has_cluster() && std::env::var_os("FERRY_INFO").is_none() {
        command.env("FERRY_INFO", "cycles");
    }
    if !is_reachable {
        let status = command.status().map_err(|error| Failure::file("run", &program, &error))?;
        return Ok(ExitCode::from(status.code().and_then(|it| u8::try_from(it).ok()).unwrap_or(1)));
    }
    drop(folder);
    Err(Failure::file("run", &first, &command.arg0(&program).exec()))
}
