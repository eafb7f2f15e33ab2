//! Diagnostics as a SARIF 2.1.0 log, which code hosts and editors read.
//!
//! One run of the driver `ferry`; its rules are the codes that occur. A diagnostic is a result, its
//! primary label the location and its other labels related locations; notes and helps follow the
//! message, since SARIF has no field for them.

use std::collections::BTreeSet;
use std::fmt::Write;

use serde::Serialize;

use crate::{Diagnostic, Label, Location, Locator, Severity};

const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

#[derive(Serialize)]
struct Log {
    #[serde(rename = "$schema")]
    schema: &'static str,
    version: &'static str,
    runs: [Run; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Run {
    tool: Tool,
    column_kind: &'static str,
    results: Vec<Outcome>,
}

#[derive(Serialize)]
struct Tool {
    driver: Driver,
}

#[derive(Serialize)]
struct Driver {
    name: &'static str,
    version: String,
    rules: Vec<Rule>,
}

#[derive(Serialize)]
struct Rule {
    id: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Outcome {
    rule_id: &'static str,
    rule_index: usize,
    level: &'static str,
    message: Message,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    locations: Vec<Site>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    related_locations: Vec<Site>,
}

#[derive(Serialize)]
struct Message {
    text: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Site {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<usize>,
    physical_location: Physical,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<Message>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Physical {
    artifact_location: Artifact,
    #[serde(skip_serializing_if = "Option::is_none")]
    region: Option<Region>,
}

#[derive(Serialize)]
struct Artifact {
    uri: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Region {
    start_line: u32,
    start_column: u32,
    end_line: u32,
    end_column: u32,
}

/// A log in the making: diagnostics of several units, each located in its own texts.
pub struct SarifLog {
    version: String,
    results: Vec<Outcome>,
}

impl SarifLog {
    /// An empty log; `version` is that of the compiler.
    pub fn new(version: impl Into<String>) -> SarifLog {
        SarifLog { version: version.into(), results: Vec::new() }
    }

    /// Adds the diagnostics of one unit.
    pub fn add<'d>(
        &mut self,
        diagnostics: impl IntoIterator<Item = &'d Diagnostic>,
        locator: &Locator<'_>,
    ) {
        self.results.extend(diagnostics.into_iter().map(|it| outcome(it, locator)));
    }

    /// The whole log as text.
    pub fn finish(mut self) -> String {
        let codes: BTreeSet<&'static str> = self.results.iter().map(|it| it.rule_id).collect();
        let rules: Vec<Rule> = codes.into_iter().map(|id| Rule { id }).collect();
        for result in &mut self.results {
            let place = rules.binary_search_by_key(&result.rule_id, |it| it.id);
            result.rule_index = place.unwrap_or_default();
        }
        let run = Run {
            tool: Tool { driver: Driver { name: "ferry", version: self.version, rules } },
            column_kind: "unicodeCodePoints",
            results: self.results,
        };
        let log = Log { schema: SCHEMA, version: "2.1.0", runs: [run] };
        // Strings and numbers under string keys: serialising them cannot fail.
        let mut report = serde_json::to_string_pretty(&log).unwrap_or_default();
        report.push('\n');
        report
    }
}

/// Renders the diagnostics of one unit as a SARIF log; `version` is that of the compiler.
pub fn sarif<'d>(
    diagnostics: impl IntoIterator<Item = &'d Diagnostic>,
    locator: &Locator<'_>,
    version: &str,
) -> String {
    let mut log = SarifLog::new(version);
    log.add(diagnostics, locator);
    log.finish()
}

fn outcome(diagnostic: &Diagnostic, locator: &Locator<'_>) -> Outcome {
    let mut text = diagnostic.message.clone();
    let notes = diagnostic.notes.iter().map(|it| ("note", it));
    let helps = diagnostic.helps.iter().map(|it| ("help", it));
    for (kind, words) in notes.chain(helps) {
        // Writing to a string cannot fail.
        let _ = write!(text, "\n{kind}: {words}");
    }
    let related = diagnostic.secondary.iter().filter_map(|it| site(it, locator));
    let numbered = related.enumerate().map(|(id, it)| Site { id: Some(id), ..it });
    Outcome {
        rule_id: diagnostic.code,
        rule_index: 0, // known when all codes are
        level: match diagnostic.severity {
            Severity::Info => "note",
            Severity::Warning => "warning",
            Severity::Error => "error",
        },
        message: Message { text },
        locations: diagnostic.primary.iter().filter_map(|it| site(it, locator)).collect(),
        related_locations: numbered.collect(),
    }
}

fn site(label: &Label, locator: &Locator<'_>) -> Option<Site> {
    let Location { file, line, column, end_line, end_column, .. } = locator.locate(label.span)?;
    // Line 0 is the preprocessor's own (`<built-in>`); SARIF counts from 1.
    let region = (line > 0).then_some(Region {
        start_line: line,
        start_column: column,
        end_line,
        end_column,
    });
    let artifact_location = Artifact { uri: uri(&file) };
    let message = (!label.text.is_empty()).then(|| Message { text: label.text.clone() });
    Some(Site { id: None, physical_location: Physical { artifact_location, region }, message })
}

/// A path as a URI reference: relative paths stay relative.
fn uri(path: &str) -> String {
    let mut uri = String::from(if path.starts_with('/') { "file://" } else { "" });
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            uri.push(char::from(byte));
        } else {
            // Writing to a string cannot fail.
            let _ = write!(uri, "%{byte:02X}");
        }
    }
    uri
}
