//! What became of each region at compile time, for people and for programs.

use std::fs;

use serde::Serialize;
use source::{Diagnostic, Diagnostics, Locator, SourceMap, render};

use super::args::Report;
use super::lower::Verdict;

/// The verdicts of one text.
pub(crate) struct Verdicts {
    list: Vec<Verdict>,
    map: SourceMap,
}

/// The field names are the JSON report's; they are stable.
#[derive(Serialize)]
struct Record<'a> {
    file: String,
    line: u32,
    column: u32,
    function: &'a str,
    directive: &'a str,
    /// Empty if the region runs on the host.
    devices: &'a [String],
    reason: &'a str,
}

impl Verdicts {
    pub(crate) fn new(list: Vec<Verdict>, map: SourceMap) -> Verdicts {
        Verdicts { list, map }
    }
}

/// The report on all texts of a run.
pub(crate) fn report(all: &[Verdicts], form: Report) -> String {
    let read = |name: &str| fs::read(name).ok();
    let mut text = String::new();
    let mut log = render::SarifLog::new(env!("CARGO_PKG_VERSION"));
    for verdicts in all {
        let locator = Locator::new(&verdicts.map, &read);
        match form {
            Report::Text => verdicts.list.iter().for_each(|it| text.push_str(&line(it, &locator))),
            Report::Json => verdicts.list.iter().for_each(|it| text.push_str(&json(it, &locator))),
            Report::Sarif => log.add(&remarks(&verdicts.list), &locator),
        }
    }
    if form == Report::Sarif { log.finish() } else { text }
}

fn record<'a>(verdict: &'a Verdict, locator: &Locator<'_>) -> Record<'a> {
    let place = locator.locate(verdict.span);
    let (file, line, column) =
        place.map_or_else(Default::default, |it| (it.file.to_string(), it.line, it.column));
    let Verdict { function, directive, devices, reason, .. } = verdict;
    Record { file, line, column, function, directive, devices, reason }
}

/// `a.c:12: target teams in scale(): runs on cpu: …`
fn line(verdict: &Verdict, locator: &Locator<'_>) -> String {
    let Record { file, line, function, directive, reason, .. } = record(verdict, locator);
    format!("{file}:{line}: {directive} in {function}(): {}: {reason}\n", place(verdict))
}

fn json(verdict: &Verdict, locator: &Locator<'_>) -> String {
    // Strings and numbers under string keys: serialising them cannot fail.
    let mut line = serde_json::to_string(&record(verdict, locator)).unwrap_or_default();
    line.push('\n');
    line
}

fn remarks(list: &[Verdict]) -> Diagnostics {
    let mut found = Diagnostics::new();
    for verdict in list {
        let Verdict { directive, function, reason, .. } = verdict;
        let message = format!("`{directive}` in `{function}` {}", place(verdict));
        found.push(Diagnostic::info("F0901", message).at(verdict.span, "").note(reason.clone()));
    }
    found
}

fn place(verdict: &Verdict) -> String {
    if verdict.devices.is_empty() {
        "runs on the host".to_owned()
    } else {
        format!("runs on {}", verdict.devices.join(" and "))
    }
}
