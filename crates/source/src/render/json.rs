//! Diagnostics for tools: one JSON object a line.
//!
//! Fields and their order are stable. `line`, `column`, `end_line` and `end_column` are as in
//! [`Location`]; without a place `file` and these are `null`. `labels` holds the primary label
//! first, then the others.

use serde::Serialize;

use super::severity_word;
use crate::{Diagnostic, Label, Location, Locator, Span};

#[derive(Serialize)]
struct Record<'a> {
    code: &'a str,
    severity: &'a str,
    message: &'a str,
    #[serde(flatten)]
    place: Place,
    labels: Vec<LabelRecord<'a>>,
    notes: &'a [String],
    helps: &'a [String],
}

#[derive(Serialize)]
struct LabelRecord<'a> {
    primary: bool,
    text: &'a str,
    #[serde(flatten)]
    place: Place,
}

#[derive(Default, Serialize)]
struct Place {
    file: Option<String>,
    line: Option<u32>,
    column: Option<u32>,
    end_line: Option<u32>,
    end_column: Option<u32>,
}

impl Place {
    fn of(span: Span, locator: &Locator<'_>) -> Place {
        let Some(Location { file, line, column, end_line, end_column, .. }) = locator.locate(span)
        else {
            return Place::default();
        };
        Place {
            file: Some(file.to_string()),
            line: Some(line),
            column: Some(column),
            end_line: Some(end_line),
            end_column: Some(end_column),
        }
    }
}

/// Renders diagnostics as JSON, one object a line.
pub fn json<'d>(
    diagnostics: impl IntoIterator<Item = &'d Diagnostic>,
    locator: &Locator<'_>,
) -> String {
    let mut report = String::new();
    for diagnostic in diagnostics {
        let span = diagnostic.primary.as_ref().map_or(Span::NONE, |it| it.span);
        let label = |primary: bool, it: &'d Label| LabelRecord {
            primary,
            text: &it.text,
            place: Place::of(it.span, locator),
        };
        let primary = diagnostic.primary.iter().map(|it| label(true, it));
        let secondary = diagnostic.secondary.iter().map(|it| label(false, it));
        let record = Record {
            code: diagnostic.code,
            severity: severity_word(diagnostic.severity),
            message: &diagnostic.message,
            place: Place::of(span, locator),
            labels: primary.chain(secondary).collect(),
            notes: &diagnostic.notes,
            helps: &diagnostic.helps,
        };
        // Strings and numbers under string keys: serialising them cannot fail.
        report.push_str(&serde_json::to_string(&record).unwrap_or_default());
        report.push('\n');
    }
    report
}
