//! `ferry check`: read programs and report what is wrong with them.

use std::process::ExitCode;

use source::{Diagnostic, Diagnostics, Locator, Severity, render};

use crate::front;
use crate::options::CheckOptions;
use crate::progress::Progress;
use crate::races;
use crate::report::{self, Format, Stream};

/// What was found in all files together.
#[derive(Default)]
struct Totals {
    files: usize,
    regions: usize,
    errors: usize,
    warnings: usize,
}

pub(crate) fn run(options: &CheckOptions) -> Result<ExitCode, String> {
    let output = &options.output;
    options.input.refuse_overwriting(output.output.as_deref())?;
    let format = output.format();
    // A report of its own is a product; messages for people are not.
    let stream = if format == Format::Text { Stream::Err } else { Stream::Out };
    let colour = report::colour(output, stream);
    let mut text = String::new();
    let mut totals = Totals::default();
    let mut log = render::SarifLog::new(env!("CARGO_PKG_VERSION"));
    let mut progress = Progress::new("checking", options.input.files.len());
    for path in &options.input.files {
        progress.step(path);
        let unit = front::check(path, &options.input);
        totals.files += 1;
        totals.regions += unit.program.as_ref().map_or(0, |it| it.regions.len());
        let mut found = unit.diagnostics.clone();
        if let Some(program) = unit.program.as_ref().filter(|_| found.errors() == 0) {
            found.append(races::warnings(program, None));
            found = front::presentable(&found, &unit.map);
        }
        let wanted = wanted(&found, options);
        for diagnostic in &wanted {
            match diagnostic.severity {
                Severity::Error => totals.errors += 1,
                Severity::Warning => totals.warnings += 1,
                Severity::Info => {}
            }
        }
        let read = crate::input::written;
        let locator = Locator::new(&unit.map, &read);
        match format {
            Format::Text => text.push_str(&render::terminal(&wanted, &locator, colour)),
            Format::Json => text.push_str(&render::json(&wanted, &locator)),
            Format::Sarif => log.add(&wanted, &locator),
        }
        if format == Format::Text && output.output.is_none() {
            // People want to see the first file's faults while the last is being read.
            progress.clear();
            report::show(&std::mem::take(&mut text), stream)?;
        }
    }
    progress.clear();
    if format == Format::Sarif {
        text = log.finish();
    }
    report::deliver(&text, output.output.as_deref(), stream)?;
    if options.summary {
        report::show(&summary(&totals), Stream::Err)?;
    }
    Ok(if totals.errors > 0 { ExitCode::from(1) } else { ExitCode::SUCCESS })
}

/// The messages that the options let through, as severe as the options make them.
fn wanted(found: &Diagnostics, options: &CheckOptions) -> Diagnostics {
    let mut wanted = Diagnostics::new();
    for diagnostic in found {
        let is_warning = diagnostic.severity == Severity::Warning;
        if is_warning && options.no_warnings {
            continue;
        }
        let mut diagnostic: Diagnostic = diagnostic.clone();
        if is_warning && options.werror {
            diagnostic.severity = Severity::Error;
        }
        wanted.push(diagnostic);
    }
    wanted
}

/// `3 files, 12 regions: 1 error, 2 warnings`
fn summary(totals: &Totals) -> String {
    let count = |n: usize, word: &str| format!("{n} {word}{}", if n == 1 { "" } else { "s" });
    format!(
        "{}, {}: {}, {}\n",
        count(totals.files, "file"),
        count(totals.regions, "region"),
        count(totals.errors, "error"),
        count(totals.warnings, "warning"),
    )
}
