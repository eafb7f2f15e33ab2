//! The `ferry` command.
//!
//! This crate alone touches files, environment, terminal and exit status. Each command is one
//! file; [`front`] is the compiler's front half as one call. Exit status: 0 nothing wrong, 1 an
//! error was found, 2 wrong command line, 4 a bug of ours.

mod bench;
mod cc;
mod check;
mod designs;
mod devices;
mod doctor;
mod emit;
mod explain;
mod front;
mod input;
mod language;
mod leftovers;
mod man;
mod options;
mod print;
mod profiles;
mod progress;
mod races;
mod report;
mod translate;

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

use cc::Native;
use options::{Command, Options};

/// Trees are walked by recursion; the parser bounds their height so that this is enough.
const STACK: usize = 512 << 20;

fn main() -> ExitCode {
    let asked = Asked::of_this_process();
    let worker = std::thread::Builder::new().stack_size(STACK).spawn(move || asked.run());
    let outcome = match worker {
        Ok(worker) => worker.join(),
        Err(error) => Ok(Err(format!("cannot start a thread: {error}"))),
    };
    match outcome {
        Ok(Ok(status)) => status,
        Ok(Err(message)) => {
            let _ = report::show(&format!("ferry: {message}\n"), report::Stream::Err);
            ExitCode::from(1)
        }
        Err(_) => {
            let words = "ferry: this is a bug of ferry, not of your program; please report it\n";
            let _ = report::show(words, report::Stream::Err);
            ExitCode::from(4)
        }
    }
}

/// What this process is asked to do. A compiler's command line is read by other rules than ours.
enum Asked {
    Compile(Vec<OsString>, Option<Native>),
    CompileAndRun(Vec<OsString>),
    Other(Box<Options>),
}

impl Asked {
    fn of_this_process() -> Asked {
        let mut words = std::env::args_os();
        let name = words.next().unwrap_or_default();
        // Some build systems want a compiler to be one word.
        let is_called = |it: &str| Path::new(&name).file_name().is_some_and(|name| name == it);
        for (own, native) in [
            ("ferrycc", None),
            ("ferryc++", Some(Native::Cplusplus)),
            ("ferryfc", Some(Native::Fortran)),
        ] {
            if is_called(own) {
                return Asked::Compile(words.collect(), native);
            }
        }
        match words.next() {
            Some(word) if word == "cc" => Asked::Compile(words.collect(), None),
            Some(word) if word == "c++" => Asked::Compile(words.collect(), Some(Native::Cplusplus)),
            Some(word) if word == "fc" => Asked::Compile(words.collect(), Some(Native::Fortran)),
            Some(word) if word == "run" => Asked::CompileAndRun(words.collect()),
            _ => Asked::Other(Box::new(Options::of_this_process())),
        }
    }

    fn run(&self) -> Result<ExitCode, String> {
        for it in abi::settings::SETTINGS {
            let fault = std::env::var_os(it.name).and_then(|value| it.fault(&value));
            if let Some((message, help)) = fault {
                return Err(format!("{message}\n  help: {help}"));
            }
        }
        match self {
            Asked::Compile(words, native) => cc::run(words, *native),
            Asked::CompileAndRun(words) => cc::run_program(words),
            Asked::Other(options) => run(options),
        }
    }
}

fn run(options: &Options) -> Result<ExitCode, String> {
    match &options.command {
        Command::Cc(options) => cc::run(&options.words, None),
        Command::Cplusplus(options) => cc::run(&options.words, Some(Native::Cplusplus)),
        Command::Fc(options) => cc::run(&options.words, Some(Native::Fortran)),
        Command::Run(options) => cc::run_program(&options.words),
        Command::Bench(options) => bench::run(options),
        Command::Devices { json } => devices::run(*json),
        Command::Doctor { json } => doctor::run(*json),
        Command::Check(options) => check::run(options),
        Command::Explain(options) => explain::run(options),
        Command::Print(options) => print::run(options),
        Command::Translate(options) => translate::run(options),
        Command::Emit(options) => emit::run(options),
        Command::Man { folder } => man::pages(folder),
        Command::Completions { shell } => man::completions(*shell),
    }
}
