//! A name that assembly calls weak is not one that Rust code defines.
//!
//! Each may be right by itself; where a library is optimised as a whole both become one module, in which a name is either, and
//! the build of a release stops. Debug builds do not show it.

use std::collections::BTreeSet;

use super::Finding;
use super::code::{before_tests, numbered};
use super::files::TextFile;

pub(super) fn check(files: &[TextFile]) -> Vec<Finding> {
    let crates = || files.iter().filter(|it| it.is_crate_code());
    let defined: BTreeSet<&str> = crates().flat_map(|it| exported(&it.text)).collect();
    let mut findings = Vec::new();
    for file in crates() {
        for (number, line) in before_tests(&file.text) {
            let weak = line.trim().strip_prefix("\".weak ").and_then(|it| it.split('"').next());
            if let Some(name) = weak.filter(|it| defined.contains(it)) {
                let text =
                    format!("`{name}` is weak here and defined in Rust: give the address a name");
                findings.push(Finding::error(&file.path, number, text));
            }
        }
    }
    findings
}

/// Functions and variables with `#[unsafe(no_mangle)]`.
fn exported(text: &str) -> impl Iterator<Item = &str> {
    let mut is_exported = false;
    numbered(text).filter_map(move |(_, line)| {
        let line = line.trim();
        if line.contains("no_mangle") {
            is_exported = true;
            return None;
        }
        let is_more = line.starts_with("#[") || line.starts_with("//");
        if is_more || !std::mem::take(&mut is_exported) {
            return None;
        }
        let words = ["fn ", "static mut ", "static "];
        let behind = words.iter().find_map(|word| line.split_once(word))?.1;
        behind.split(['(', '<', ':']).next()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_both_is_found() {
        let code = "#[unsafe(no_mangle)]\n#[inline]\npub unsafe extern \"C\" fn begin(a: u8) {}\n";
        let assembly = "global_asm!(\n    \".weak begin\",\n    \".weak other\",\n);\n";
        let files = [
            TextFile::new("crates/a/src/a.rs", code),
            TextFile::new("crates/b/src/b.rs", assembly),
        ];
        let found: Vec<String> = check(&files).iter().map(ToString::to_string).collect();
        assert_eq!(
            found,
            [
                "crates/b/src/b.rs:2: error: `begin` is weak here and defined in Rust: give the address a name"
            ]
        );
        assert!(check(&files[1..]).is_empty());
    }
}
