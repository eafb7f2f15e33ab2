//! What became of each directive, told: as text for people, as JSON, SARIF or a page.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::{Value, json};
use source::{Diagnostic, Diagnostics, Locator, Span, render};
use translate::{Fate, Remark, Translation};

use super::files::Unread;
use crate::options::{ReportForm, TranslateOptions};
use crate::report::{Stream, deliver, show};

/// A directive that no reading has met.
const UNREAD: &str = "F0817";
/// A directive in a definition that nothing uses.
const UNUSED: &str = "F0818";

/// Everything that is to be told.
#[derive(Default)]
pub(super) struct Report {
    entries: Vec<Entry>,
    log: Option<render::SarifLog>,
    /// Readings beyond those that were asked for.
    readings: Vec<String>,
}

struct Entry {
    file: String,
    line: u32,
    from: String,
    to: Vec<String>,
    fate: Fate,
    remarks: Vec<Remark>,
}

impl Report {
    pub(super) fn add(&mut self, path: &Path, made: &Translation, locator: &Locator<'_>) {
        let log = self.log.get_or_insert_with(|| render::SarifLog::new(env!("CARGO_PKG_VERSION")));
        let mut found = Diagnostics::new();
        for record in &made.records {
            let at = locator.locate(record.span);
            let file =
                at.as_ref().map_or_else(|| path.display().to_string(), |it| it.file.to_string());
            let entry = Entry {
                file,
                line: at.map_or(0, |it| it.line),
                from: record.from.clone(),
                to: record.to.clone(),
                fate: record.fate,
                remarks: record.remarks.clone(),
            };
            // A header is read with each file that includes it.
            let is_known = |it: &Entry| {
                (&it.file, it.line, &it.from, it.line > 0)
                    == (&entry.file, entry.line, &entry.from, true)
            };
            match self.entries.iter_mut().find(|it| is_known(it)) {
                // What is refused in one reading is refused.
                Some(known) if known.fate < entry.fate => *known = entry,
                Some(_) => continue,
                None => self.entries.push(entry),
            }
            for remark in &record.remarks {
                diagnostic(record.span, remark).into_iter().for_each(|it| found.push(it));
            }
        }
        log.add(&found, locator);
    }

    /// Where another reading refuses what was translated before.
    pub(super) fn worsened(
        &self,
        path: &Path,
        made: &Translation,
        locator: &Locator<'_>,
    ) -> Option<String> {
        made.records.iter().filter(|it| it.fate == Fate::Refused).find_map(|record| {
            let at = locator.locate(record.span)?;
            let is_known = |it: &&Entry| {
                (it.file.as_str(), it.line, &it.from) == (&*at.file, at.line, &record.from)
                    && it.fate < Fate::Refused
            };
            let known = self.entries.iter().find(is_known)?;
            Some(format!("{}:{}", path.display(), known.line))
        })
    }

    /// A file was read again.
    pub(super) fn add_reading(&mut self, path: &Path, flags: &str) {
        self.readings.push(format!("{}: read with `{flags}` too", path.display()));
    }

    /// A directive that no reading of its file has met.
    pub(super) fn add_unread(&mut self, unread: &Unread, why: Option<&str>) {
        if unread.is_unused {
            let text = "it stays as it is: nothing here uses the macro that would make it";
            return self.add_unmet(unread, Fate::Approximated, UNUSED, text.to_owned());
        }
        if unread.is_outside {
            let text = "it stays: outside of functions nothing is executed, so it means nothing";
            return self.add_unmet(unread, Fate::Approximated, UNREAD, text.to_owned());
        }
        if unread.is_never {
            let text = "it stays: who reads the new directives does not compile it";
            return self.add_unmet(unread, Fate::Approximated, UNREAD, text.to_owned());
        }
        if unread.is_shared {
            let mut text =
                "it stays: the named programs do not compile this part of the header; name \
                            one that does"
                    .to_owned();
            if let Some(why) = why {
                let _ = write!(text, " ({why})");
            }
            return self.add_unmet(unread, Fate::Approximated, UNREAD, text);
        }
        let mut text = match &unread.name {
            Some(name) => format!("`{name}` makes a directive, and here no reading has met it"),
            None if unread.is_code => {
                "a directive is about this code, which was not read: another configuration compiles it".to_owned()
            }
            None => "it was not read: another configuration compiles it".to_owned(),
        };
        text.push_str("; give the flags that reach it, or a database of both");
        if let Some(why) = why {
            let _ = write!(text, " ({why})");
        }
        self.add_unmet(unread, Fate::Refused, UNREAD, text);
    }

    fn add_unmet(&mut self, unread: &Unread, fate: Fate, code: &'static str, text: String) {
        self.entries.push(Entry {
            file: unread.file.to_string(),
            line: unread.line,
            from: unread.text.clone(),
            to: Vec::new(),
            fate,
            remarks: vec![Remark { fate, clause: None, code: Some(code), text }],
        });
    }

    pub(super) fn worst(&self) -> Fate {
        self.entries.iter().map(|it| it.fate).max().unwrap_or(Fate::Translated)
    }

    pub(super) fn show(&mut self, options: &TranslateOptions) -> Result<(), String> {
        self.entries.sort_by(|a, b| (&a.file, a.line).cmp(&(&b.file, b.line)));
        let text = match options.report {
            ReportForm::Text => self.text(options.verbose),
            ReportForm::Json => self.json(),
            ReportForm::Sarif => self.log.take().map(render::SarifLog::finish).unwrap_or_default(),
            ReportForm::Html => self.html(),
        };
        match &options.report_file {
            Some(file) => deliver(&text, Some(file), Stream::Err),
            None => show(&text, Stream::Err),
        }
    }

    fn text(&self, verbose: bool) -> String {
        let mut text = String::new();
        if verbose {
            self.readings.iter().for_each(|it| text.push_str(&format!("{it}\n")));
        }
        for entry in &self.entries {
            if verbose {
                let _ = writeln!(
                    text,
                    "{}:{}: {}: {}",
                    entry.file,
                    entry.line,
                    entry.fate.word(),
                    entry.from
                );
                entry.to.iter().for_each(|it| text.push_str(&format!("    {it}\n")));
            }
            for remark in &entry.remarks {
                let about =
                    remark.clause.as_ref().map_or_else(String::new, |it| format!(" `{it}`"));
                match remark.code {
                    Some(code) => {
                        let (file, line, fate) = (&entry.file, entry.line, remark.fate.word());
                        let _ = writeln!(
                            text,
                            "{file}:{line}: {fate} [{code}]:{about} {}",
                            remark.text
                        );
                    }
                    None if verbose && remark.clause.is_some() => {
                        let _ =
                            writeln!(text, "    {}:{about} {}", remark.fate.word(), remark.text);
                    }
                    None => {}
                }
            }
        }
        let _ = writeln!(text, "{}", self.summary());
        text
    }

    fn summary(&self) -> String {
        let count = |fate: Fate| self.entries.iter().filter(|it| it.fate == fate).count();
        format!(
            "{} directives and calls: {} translated, {} approximated, {} refused",
            self.entries.len(),
            count(Fate::Translated) + count(Fate::Redundant),
            count(Fate::Approximated),
            count(Fate::Refused),
        )
    }

    fn json(&self) -> String {
        let mut text = String::new();
        for entry in &self.entries {
            let remarks: Vec<Value> = entry
                .remarks
                .iter()
                .map(|it| {
                    json!({
                        "fate": it.fate.word(),
                        "clause": it.clause,
                        "code": it.code,
                        "text": it.text,
                    })
                })
                .collect();
            let value = json!({
                "file": entry.file,
                "line": entry.line,
                "from": entry.from,
                "to": entry.to,
                "fate": entry.fate.word(),
                "parts": remarks,
            });
            let _ = writeln!(text, "{value}");
        }
        text
    }

    fn html(&self) -> String {
        let mut rows = String::new();
        for entry in &self.entries {
            let parts: String = entry
                .remarks
                .iter()
                .filter(|it| it.code.is_some() || it.clause.is_some())
                .map(|it| {
                    format!(
                        "<li class=\"{}\">{} <code>{}</code> {} {}</li>",
                        it.fate.word(),
                        it.fate.word(),
                        escaped(it.clause.as_deref().unwrap_or_default()),
                        it.code.unwrap_or_default(),
                        escaped(&it.text)
                    )
                })
                .collect();
            let _ = writeln!(
                rows,
                "<tr class=\"{}\"><td>{}:{}</td><td>{}</td><td><pre>{}</pre></td><td><pre>{}</pre>\
                 <ul>{parts}</ul></td></tr>",
                entry.fate.word(),
                escaped(&entry.file),
                entry.line,
                entry.fate.word(),
                escaped(&entry.from),
                escaped(&entry.to.join("\n"))
            );
        }
        format!("{HEAD}<p>{}</p>\n<table>\n{rows}</table>\n</html>\n", self.summary())
    }
}

const HEAD: &str = "<!DOCTYPE html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>ferry translate</title>\n\
<style>:root{color-scheme:light dark}body{font:14px sans-serif;margin:2em}table{border-collapse:collapse}\
td{border-top:1px solid #8888;padding:.3em .6em;vertical-align:top}pre{margin:0;white-space:pre-wrap}\
.refused{color:#c22}.approximated{color:#a60}ul{margin:.2em 0;padding-left:1.2em}</style>\n\
<h1>What became of each directive</h1>\n";

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// What a remark says in a log of findings.
fn diagnostic(span: Span, remark: &Remark) -> Option<Diagnostic> {
    let code = remark.code?;
    let about = remark.clause.as_ref().map_or_else(String::new, |it| format!("`{it}`: "));
    let message = format!("{}: {about}{}", remark.fate.word(), remark.text);
    let found = match remark.fate {
        Fate::Refused => Diagnostic::error(code, message),
        Fate::Approximated => Diagnostic::warning(code, message),
        Fate::Translated | Fate::Redundant => return None,
    };
    Some(found.at(span, remark.fate.word()))
}
