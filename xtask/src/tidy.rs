//! `cargo xtask tidy`: the rules of the repository, each in a file of its own.
//!
//! A rule about one file is a line in [`FILE_RULES`] and sees that file alone; a rule about the
//! whole repository is called in [`run`]. Findings are sorted, so two runs print the same text.
//! Not here: what rustc, rustfmt and clippy already check.

use std::fmt;
use std::path::Path;

mod circles;
mod code;
mod codes;
mod crates;
mod files;
mod goldens;
mod header;
mod links;
mod macros;
mod manifest;
mod shell;
mod size;
mod weak;
mod whitespace;
mod words;

use files::TextFile;

/// How much a finding matters: a warning asks, an error fails the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Severity {
    Warning,
    Error,
}

/// One broken rule, at one place.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Finding {
    /// Relative to the root, with `/` on every system.
    path: String,
    /// From 1; 0 when the finding is about the whole file.
    line: usize,
    severity: Severity,
    message: String,
}

impl Finding {
    fn error(path: &str, line: usize, message: impl Into<String>) -> Finding {
        Finding { path: path.into(), line, severity: Severity::Error, message: message.into() }
    }

    fn warning(path: &str, line: usize, message: impl Into<String>) -> Finding {
        Finding { severity: Severity::Warning, ..Finding::error(path, line, message) }
    }
}

/// `crates/syntax/src/lex.rs:12: error: …`, which editors can jump to.
impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let severity = match self.severity {
            Severity::Warning => "warning",
            Severity::Error => "error",
        };
        match self.line {
            0 => write!(f, "{}: {severity}: {}", self.path, self.message),
            line => write!(f, "{}:{line}: {severity}: {}", self.path, self.message),
        }
    }
}

type FileRule = fn(&TextFile) -> Vec<Finding>;

const FILE_RULES: &[FileRule] = &[
    header::check,
    size::check,
    words::standards,
    words::host_sizes,
    words::printing,
    macros::check,
    whitespace::check,
    manifest::check,
    shell::check,
];

/// `Ok(false)` when an error was found.
pub(crate) fn run(root: &Path) -> Result<bool, String> {
    let files = files::under(root)?;
    let paths: Vec<&str> = files.iter().map(|it| it.path.as_str()).collect();

    let mut findings: Vec<Finding> =
        files.iter().flat_map(|file| FILE_RULES.iter().flat_map(|rule| rule(file))).collect();
    for file in &files {
        findings.extend(links::check(file, &|target| root.join(target).exists()));
    }
    findings.extend(words::stale_exceptions(&paths));
    findings.extend(goldens::check(&paths));
    findings.extend(codes::check(&files));
    findings.extend(crates::check(root)?);
    findings.extend(circles::check(&files));
    findings.extend(weak::check(&files));
    findings.sort();
    findings.dedup();

    for finding in &findings {
        println!("{finding}");
    }
    let errors = findings.iter().filter(|it| it.severity == Severity::Error).count();
    let warnings = findings.len() - errors;
    println!("tidy: {} files, {errors} errors, {warnings} warnings", files.len());
    Ok(errors == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_sort_by_place() {
        let mut findings = [
            Finding::error("b.rs", 1, "x"),
            Finding::error("a.rs", 9, "x"),
            Finding::warning("a.rs", 2, "y"),
        ];
        findings.sort();
        let printed: Vec<String> = findings.iter().map(ToString::to_string).collect();
        assert_eq!(printed, ["a.rs:2: warning: y", "a.rs:9: error: x", "b.rs:1: error: x"]);
    }

    #[test]
    fn a_finding_about_a_file_has_no_line() {
        assert_eq!(Finding::error("a.rs", 0, "too long").to_string(), "a.rs: error: too long");
    }
}
