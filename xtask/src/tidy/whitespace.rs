//! No white space at the end of a line or of a file, no carriage returns, a newline at the end.
//!
//! Golden files and test cases are excepted: there every byte may be the point.

use super::Finding;
use super::code::numbered;
use super::files::TextFile;

pub(super) fn check(file: &TextFile) -> Vec<Finding> {
    if file.is_test_data() || file.text.is_empty() {
        return Vec::new();
    }
    let mut findings = Vec::new();
    for (number, line) in numbered(&file.text) {
        if line.ends_with([' ', '\t', '\r']) {
            findings.push(Finding::error(&file.path, number, "white space at the end of the line"));
        }
    }
    if file.text.contains("\r\n") {
        findings.push(Finding::error(&file.path, 0, "lines end in CR LF: write LF alone"));
    }
    if !file.text.ends_with('\n') {
        findings.push(Finding::error(&file.path, 0, "no newline at the end of the file"));
    } else if file.text.ends_with("\n\n") {
        findings.push(Finding::error(&file.path, 0, "empty lines at the end of the file"));
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(path: &str, text: &str) -> usize {
        check(&TextFile::new(path, text)).len()
    }

    #[test]
    fn every_kind_is_found() {
        assert_eq!(count("a.rs", "a\nb\n"), 0);
        assert_eq!(count("a.rs", "a \nb\t\n"), 2);
        assert_eq!(count("a.rs", "a"), 1);
        assert_eq!(count("a.rs", "a\n\n"), 1);
        assert_eq!(count("a.rs", "a\r\n"), 1);
    }

    #[test]
    fn test_data_is_left_alone() {
        assert_eq!(count("tests/cases/lex/no_newline.c", "a "), 0);
        assert_eq!(count("crates/ir/src/snapshots/a.snap", "a "), 0);
        assert_eq!(count("crates/source/src/sample/a.i", "a "), 0);
    }
}
