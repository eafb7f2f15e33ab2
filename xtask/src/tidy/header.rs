//! Every Rust file opens with `//!`: what it answers, what comes in and goes out, what is elsewhere.
//!
//! Test files are excepted: the names of their tests say it.

use super::Finding;
use super::files::TextFile;

pub(super) fn check(file: &TextFile) -> Vec<Finding> {
    if !file.is_rust() || file.is_test() || file.is_generated() {
        return Vec::new();
    }
    let first = file.text.lines().next().unwrap_or_default();
    if first.strip_prefix("//!").is_some_and(|it| !it.trim().is_empty()) {
        return Vec::new();
    }
    let message = "the first line must be a `//!` header that says what this file answers";
    vec![Finding::error(&file.path, 1, message)]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_accepted(path: &str, text: &str) -> bool {
        check(&TextFile::new(path, text)).is_empty()
    }

    #[test]
    fn a_header_comes_first_and_says_something() {
        assert!(is_accepted("crates/ir/src/types.rs", "//! Types.\n"));
        assert!(!is_accepted("crates/ir/src/types.rs", "use std::fmt;\n//! Types.\n"));
        assert!(!is_accepted("crates/ir/src/types.rs", "//!\n//! Types.\n"));
        assert!(!is_accepted("crates/ir/src/types.rs", ""));
    }

    #[test]
    fn tests_and_other_languages_are_excepted() {
        assert!(is_accepted("crates/ir/tests/types.rs", "use ir::Type;\n"));
        assert!(is_accepted("examples/openmp/saxpy.c", "int main(void)\n"));
    }
}
