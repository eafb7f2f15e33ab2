//! What became of each region at compile time, for people and for programs.

use serde::Serialize;
use source::{Diagnostic, Diagnostics, Locator, SourceMap, Span, render};

use super::args::Report;
use super::lower::{Outcome, Verdict};

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
    /// `kernel`, `part`, `data`, `host`, `unread` or `none`.
    outcome: &'static str,
    /// Empty if the region runs on the host.
    devices: &'a [&'static str],
    reason: &'static str,
    /// `i: threads`: who runs its loops, where the compiler chose.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    loops: Vec<String>,
    /// `p: p[0:n], …`: what is mapped of the data behind pointers that no clause names.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    data: Vec<String>,
}

impl Verdicts {
    pub(crate) fn new(list: Vec<Verdict>, map: SourceMap) -> Verdicts {
        Verdicts { list, map }
    }
}

/// The report on all texts of a run.
pub(crate) fn report(all: &[Verdicts], form: Report) -> String {
    let read = crate::input::written;
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
    let Verdict { function, directive, devices, outcome, .. } = verdict;
    let (outcome, reason) = (outcome.name(), outcome.reason());
    let loops = told(&verdict.loops, locator);
    let data = told(&verdict.data, locator);
    Record { file, line, column, function, directive, outcome, devices, reason, loops, data }
}

/// `a.c:12: target teams in scale(): runs on cpu: …`
fn line(verdict: &Verdict, locator: &Locator<'_>) -> String {
    let Record { file, line, function, directive, reason, loops, data, .. } =
        record(verdict, locator);
    let loops: String = loops.iter().map(|it| format!("; loop {it}")).collect();
    let data: String = data.iter().map(|it| format!("; data {it}")).collect();
    let place = place(verdict);
    let inside = if function.is_empty() { String::new() } else { format!(" in {function}()") };
    format!("{file}:{line}: {directive}{inside}: {place}: {reason}{loops}{data}\n")
}

/// `i: threads`; `j: in order: …, line 12`
pub(crate) fn told(notes: &[(String, Option<Span>)], locator: &Locator<'_>) -> Vec<String> {
    let one = |(text, at): &(String, Option<Span>)| {
        let line = at.and_then(|it| locator.locate(it)).map(|it| it.line);
        line.map_or_else(|| text.clone(), |it| format!("{text}, line {it}"))
    };
    notes.iter().map(one).collect()
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
        let Verdict { directive, function, outcome, .. } = verdict;
        let inside = if function.is_empty() { String::new() } else { format!(" in `{function}`") };
        let message = format!("`{directive}`{inside} {}", place(verdict));
        found.push(Diagnostic::info("F0901", message).at(verdict.span, "").note(outcome.reason()));
    }
    found
}

fn place(verdict: &Verdict) -> String {
    let devices = listed(&verdict.devices);
    match verdict.outcome {
        Outcome::Kernel | Outcome::Part => format!("runs on {devices}"),
        Outcome::Data => format!("serves {devices}"),
        Outcome::Host | Outcome::Unread => "runs on the host".to_owned(),
        Outcome::NoKernel => "is not compiled for devices".to_owned(),
    }
}

/// `a, b and c`
fn listed(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}
