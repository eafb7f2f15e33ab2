//! Reads preprocessed C from the file named and prints what the host's compiler gets.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program for the terminal")]

use std::io::Write;
use std::process::ExitCode;

use directive::Directives;
use source::{Locator, NoFiles, SourceMap};

fn main() -> ExitCode {
    let Some(path) = std::env::args().nth(1) else { return ExitCode::from(2) };
    let Ok(text) = std::fs::read(&path) else { return ExitCode::from(2) };
    let mut map = SourceMap::new();
    let Ok(file) = map.add_preprocessed(path, text) else { return ExitCode::from(2) };
    let mut directives = Directives::new();
    let parsed = syntax::parse(map.bytes(file), map.base(file), &mut directives);
    let checked = sema::check(parsed.tree, &directives, &ir::layout::LP64);
    let locator = Locator::new(&map, &NoFiles);
    let lowered = emit::lower(&checked.program, &map, file, &locator, emit::Options::default());
    lowered.diagnostics.iter().for_each(|it| eprintln!("{}", it.message));
    match std::io::stdout().write_all(&lowered.host.unwrap_or_default()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::from(1),
    }
}
