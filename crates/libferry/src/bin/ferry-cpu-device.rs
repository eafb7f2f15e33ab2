//! `ferry-cpu-device`: the process that kernels of `cpu:separate` run in, started by libferry; with `--found` it tells the command
//! which devices are here, in a process of its own because drivers may do anything.

use std::io::{self, Write};
use std::process::ExitCode;

fn main() -> ExitCode {
    if std::env::args().nth(1).is_some_and(|it| it == "--found") {
        return found();
    }
    ExitCode::from(u8::try_from(device::separate::serve::main()).unwrap_or(1))
}

/// A line for each kind: its name, whether there are some, and their names or why there are none, with tabs between them.
fn found() -> ExitCode {
    for plugin in device::PLUGINS {
        let line = match (plugin.found)() {
            Ok(names) => {
                let names = names.unwrap_or_default();
                let plain = names.iter().map(|it| it.replace(['\t', '\n'], " "));
                format!("{}\tyes\t{}", plugin.name(), plain.collect::<Vec<_>>().join("\t"))
            }
            Err(why) => {
                format!("{}\tno\t{}", plugin.name(), why.to_string().replace(['\t', '\n'], " "))
            }
        };
        // Nobody reads on: nothing is left to do.
        if writeln!(io::stdout(), "{line}").is_err() {
            break;
        }
    }
    ExitCode::SUCCESS
}
