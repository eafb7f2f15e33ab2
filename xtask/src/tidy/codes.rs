//! Codes of diagnostics: each stands for one kind of fault and has one row in the documentation.
//!
//! A code is told by its spelling, `"F0123"`, in the code of a crate; its fault is the function that
//! makes the message. The words of the rows are the author's business.

use std::collections::BTreeMap;

use super::Finding;
use super::code::{self, Strings, numbered};
use super::files::TextFile;

/// Where users look codes up.
const TABLE: &str = "docs/diagnostics.md";

/// Codes that more than one function may use, and why.
const SHARED: &[(&str, &str)] =
    &[("F0552", "one fault, told with the region around it where there is one")];

/// Where a code is written.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Place<'a> {
    path: &'a str,
    line: usize,
    /// The function it stands in; empty outside of any.
    function: &'a str,
}

pub(super) fn check(files: &[TextFile]) -> Vec<Finding> {
    let views: Vec<(&str, String)> = files
        .iter()
        .filter(|it| it.is_crate_code())
        .map(|it| (it.path.as_str(), code::code(&it.text, Strings::Keep)))
        .collect();
    let mut uses: BTreeMap<&str, Vec<Place>> = BTreeMap::new();
    for (path, text) in &views {
        let mut function = "";
        for (line, text) in code::before_tests(text) {
            function = function_begun(text).unwrap_or(function);
            for code in quoted_codes(text) {
                uses.entry(code).or_default().push(Place { path, line, function });
            }
        }
    }
    let table = files.iter().find(|it| it.path == TABLE).map_or("", |it| it.text.as_str());
    let mut rows: BTreeMap<&str, usize> = BTreeMap::new();
    let mut findings = Vec::new();
    for (line, code) in numbered(table).filter_map(|(line, text)| Some((line, row_code(text)?))) {
        if let Some(first) = rows.insert(code, line) {
            let message = format!("{code} has a row already, in line {first}");
            findings.push(Finding::error(TABLE, line, message));
        }
        if !uses.contains_key(code) {
            let message = format!("no message has the code {code}: remove the row");
            findings.push(Finding::error(TABLE, line, message));
        }
    }
    for (code, places) in &uses {
        findings.extend(faults_of(code, places, rows.contains_key(code)));
    }
    findings.extend(stale_exceptions(&uses));
    findings
}

/// What is wrong with the uses of one code.
fn faults_of(code: &str, places: &[Place], is_documented: bool) -> Vec<Finding> {
    let mut findings = Vec::new();
    let Some((first, others)) = places.split_first() else { return findings };
    if !is_documented {
        let message = format!("{code} has no row in {TABLE}: tell users what it means");
        findings.push(Finding::error(first.path, first.line, message));
    }
    let is_shared = SHARED.iter().any(|(shared, _)| *shared == code);
    let same = |it: &&Place| it.path == first.path && it.function == first.function;
    if let Some(other) = others.iter().find(|it| !same(it)).filter(|_| !is_shared) {
        let message = format!(
            "{code} is the code of `{}` ({}:{}): a fault of its own needs a code of its own",
            first.function, first.path, first.line
        );
        findings.push(Finding::error(other.path, other.line, message));
    }
    findings
}

/// Exceptions for codes that nobody shares any more.
fn stale_exceptions(uses: &BTreeMap<&str, Vec<Place>>) -> Vec<Finding> {
    let is_needed = |code: &str| uses.get(code).is_some_and(|it| it.len() > 1);
    let stale = SHARED.iter().filter(|(code, _)| !uses.is_empty() && !is_needed(code));
    let path = "xtask/src/tidy/codes.rs";
    stale
        .map(|(code, _)| Finding::error(path, 0, format!("nobody shares {code}: remove the line")))
        .collect()
}

/// `F0123`
fn is_code(word: &str) -> bool {
    let digits = word.strip_prefix('F').unwrap_or("");
    digits.len() == 4 && digits.bytes().all(|it| it.is_ascii_digit())
}

/// The codes that are whole strings in a line.
fn quoted_codes(line: &str) -> impl Iterator<Item = &str> {
    line.split('"').skip(1).step_by(2).filter(|it| is_code(it))
}

/// The name behind `fn`, if a function begins in this line.
fn function_begun(line: &str) -> Option<&str> {
    let (before, after) = line.split_once("fn ")?;
    let is_word = before.is_empty() || before.ends_with([' ', '(']);
    after.split(['(', '<']).next().filter(|_| is_word)
}

/// The code of a row, `| F0123 | … |`.
fn row_code(line: &str) -> Option<&str> {
    line.strip_prefix('|')?.split('|').next().map(str::trim).filter(|it| is_code(it))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Findings for two source files and the table.
    #[track_caller]
    fn expect(first: &str, second: &str, table: &str, expect: &[&str]) {
        let files = [
            TextFile::new("crates/a/src/lib.rs", first),
            TextFile::new("crates/b/src/lib.rs", second),
            TextFile::new("crates/b/src/tests.rs", "fn t() { \"F0999\" }"),
            TextFile::new(TABLE, table),
        ];
        let found: Vec<String> = check(&files)
            .iter()
            .filter(|it| !it.path.starts_with("xtask/"))
            .map(|it| format!("{}:{}", it.path, it.line))
            .collect();
        assert_eq!(found, expect);
    }

    #[test]
    fn every_code_has_one_row() {
        let code = "fn fault() {\n    error(\"F0101\", \"words\")\n}\n";
        expect(code, "", "| F0101 | words | |\n", &[]);
        expect(code, "", "", &["crates/a/src/lib.rs:2"]);
        expect(code, "", "| F0101 | a |\n| F0101 | b |\n", &["docs/diagnostics.md:2"]);
        expect(code, "", "| F0101 | a |\n| F0102 | b |\n", &["docs/diagnostics.md:2"]);
    }

    #[test]
    fn a_code_belongs_to_one_function() {
        let row = "| F0101 | words | |\n";
        let twice = "fn fault() {\n    \"F0101\"; \"F0101\"\n}\n";
        expect(twice, "", row, &[]);
        let other = "pub(crate) fn other<T>(it: T) {\n    \"F0101\"\n}\n";
        expect(twice, other, row, &["crates/b/src/lib.rs:2"]);
        expect(&format!("{twice}{other}"), "", row, &["crates/a/src/lib.rs:5"]);
    }

    #[test]
    fn comments_tests_and_words_around_a_code_do_not_count() {
        expect("// \"F0101\"\nfn a() { \"see F0101\"; \"F01012\" }\n", "", "", &[]);
        expect("#[cfg(test)]\nmod tests {\n    fn a() { \"F0101\" }\n}\n", "", "", &[]);
    }
}
