//! The `ferry` command.
//!
//! This crate alone touches files, environment, terminal and exit status. Each command is one
//! file; [`front`] is the compiler's front half as one call. Exit status: 0 nothing wrong, 1 an
//! error was found, 2 wrong command line, 4 a bug of ours.

mod check;
mod explain;
mod front;
mod input;
mod man;
mod options;
mod print;
mod progress;
mod report;

use std::process::ExitCode;

use options::{Command, Options};

/// Trees are walked by recursion; the parser bounds their height so that this is enough.
const STACK: usize = 512 << 20;

fn main() -> ExitCode {
    let options = Options::of_this_process();
    let worker = std::thread::Builder::new().stack_size(STACK).spawn(move || run(&options));
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

fn run(options: &Options) -> Result<ExitCode, String> {
    match &options.command {
        Command::Check(options) => check::run(options),
        Command::Explain(options) => explain::run(options),
        Command::Print(options) => print::run(options),
        Command::Man { folder } => man::pages(folder),
        Command::Completions { shell } => man::completions(*shell),
    }
}
