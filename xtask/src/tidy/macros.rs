//! Work left undone does not land: no placeholders, no debug prints, no tests that do not test.

use super::Finding;
use super::code::{self, Strings};
use super::files::TextFile;

/// What must not occur, and what to do instead.
const FORBIDDEN: &[(&str, &str)] = &[
    ("todo!(", "write it, or answer with a diagnostic that says it is not supported"),
    ("unimplemented!(", "write it, or answer with a diagnostic that says it is not supported"),
    ("dbg!(", "remove it"),
    ("#[ignore", "a test runs or does not exist"),
    ("#[should_panic", "assert on the value that is returned; nothing should panic"),
];

pub(super) fn check(file: &TextFile) -> Vec<Finding> {
    if !file.is_rust() {
        return Vec::new();
    }
    let code = code::code(&file.text, Strings::Blank);
    let mut findings = Vec::new();
    for (number, line) in code::numbered(&code) {
        for (word, remedy) in FORBIDDEN {
            if line.contains(word) {
                let message = format!("`{}` is not allowed: {remedy}", word.trim_end_matches('('));
                findings.push(Finding::error(&file.path, number, message));
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<usize> {
        check(&TextFile::new("crates/ir/src/a.rs", text)).iter().map(|it| it.line).collect()
    }

    #[test]
    fn placeholders_are_found_in_tests_too() {
        assert_eq!(
            lines("fn a() {\n    todo!()\n}\n#[cfg(test)]\nmod tests { dbg!(1) }\n"),
            [2, 5]
        );
        assert_eq!(lines("#[test]\n#[ignore = \"slow\"]\nfn a() {}\n#[should_panic]\n"), [2, 4]);
    }

    #[test]
    fn text_about_them_is_allowed() {
        assert!(lines("// todo!() is not allowed\nlet a = \"dbg!(x)\";\n").is_empty());
    }
}
