//! Reads preprocessed C from the file named and prints it as C from the typed program.
//! Status 1: the program has errors; 4: the typed program breaks its laws.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program for the terminal")]

use std::process::ExitCode;

use directive::Directives;
use emit::c::{Out, Printer, Selection, Setting};
use source::SourceMap;

fn main() -> ExitCode {
    let Some(path) = std::env::args().nth(1) else { return ExitCode::from(2) };
    let Ok(text) = std::fs::read(&path) else { return ExitCode::from(2) };
    let mut map = SourceMap::new();
    let Ok(file) = map.add_preprocessed(path, text) else { return ExitCode::from(2) };
    let mut directives = Directives::new();
    let parsed = syntax::parse(map.bytes(file), map.base(file), &mut directives);
    let checked = sema::check(parsed.tree, &directives, &ir::layout::LP64);
    let errors = parsed.diagnostics.iter().chain(checked.diagnostics.iter());
    let errors: Vec<_> =
        errors.filter(|it| it.severity == source::Severity::Error).map(|it| &it.message).collect();
    if !errors.is_empty() {
        errors.iter().for_each(|it| eprintln!("{it}"));
        return ExitCode::from(1);
    }
    if !ir::verify::verify(&checked.program).is_empty() {
        return ExitCode::from(4);
    }
    let printer = Printer::new(&checked.program, Setting::Alone);
    let mut out = Out::new();
    printer.unit(&Selection::all(&checked.program), &mut out);
    println!("{}", out.into_text());
    ExitCode::SUCCESS
}
