//! `ferry explain`: what each directive does, and why.
//!
//! The typed program is turned into plain records ([`records`]), and these into text, JSON or
//! SARIF. What is to be said about the program comes first, on standard error; a program with errors
//! is explained as far as it was understood.

mod collect;
mod findings;
mod records;
mod sarif;
mod text;

use std::fs;
use std::process::ExitCode;

use source::{Locator, render};

use crate::front;
use crate::options::ExplainOptions;
use crate::progress::Progress;
use crate::report::{self, Format, Stream};

pub(crate) fn run(options: &ExplainOptions) -> Result<ExitCode, String> {
    let output = &options.output;
    options.input.refuse_overwriting(output.output.as_deref())?;
    let format = output.format();
    let mut report = String::new();
    let mut log = render::SarifLog::new(env!("CARGO_PKG_VERSION"));
    let mut failed = false;
    let mut progress = Progress::new("explaining", options.input.files.len());
    for path in &options.input.files {
        progress.step(path);
        let unit = front::check(path, &options.input);
        let read = |name: &str| fs::read(name).ok();
        let locator = Locator::new(&unit.map, &read);
        failed |= unit.diagnostics.errors() > 0;
        if !unit.diagnostics.is_empty() {
            progress.clear();
            let colour = report::colour(output, Stream::Err);
            report::show(&render::terminal(&unit.diagnostics, &locator, colour), Stream::Err)?;
        }
        let Some(program) = &unit.program else { continue };
        let file = collect::file(path, program, &unit.map, &locator);
        match format {
            Format::Text => report.push_str(&text::render(&file)),
            Format::Json => report.push_str(&file.to_json()),
            Format::Sarif => log.add(&sarif::results(program, &file), &locator),
        }
    }
    progress.clear();
    if format == Format::Sarif {
        report = log.finish();
    }
    report::deliver(&report, output.output.as_deref(), Stream::Out)?;
    Ok(if failed { ExitCode::from(1) } else { ExitCode::SUCCESS })
}
