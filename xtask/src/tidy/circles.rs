//! Folders of a crate do not import each other in circles.
//!
//! In: the sources of a crate. What counts is the first module of a path below the crate's root, a folder or a file;
//! files beside each other are of one folder and may use each other.

use std::collections::{BTreeMap, BTreeSet};

use super::Finding;
use super::code::{self, Strings};
use super::files::TextFile;

/// Crates whose folders are checked.
const CRATES: &[&str] = &["driver", "emit", "levels", "opt", "outline", "runtime", "translate"];

/// Which module imports which, with a place where it does.
type Imports<'a> = BTreeMap<(String, String), (&'a str, usize)>;

pub(super) fn check(files: &[TextFile]) -> Vec<Finding> {
    CRATES.iter().flat_map(|name| check_crate(name, files)).collect()
}

fn check_crate(name: &str, files: &[TextFile]) -> Vec<Finding> {
    let root = format!("crates/{name}/src/");
    let sources: Vec<(&str, &TextFile)> = files
        .iter()
        .filter(|it| it.is_crate_code())
        .filter_map(|it| Some((it.path.strip_prefix(&root)?, it)))
        .collect();
    let module =
        |path: &str| path.split('/').next().unwrap_or("").trim_end_matches(".rs").to_owned();
    let modules: BTreeSet<String> = sources.iter().map(|it| module(it.0)).collect();
    let folders: BTreeSet<String> =
        sources.iter().filter(|it| it.0.contains('/')).map(|it| module(it.0)).collect();
    let mut imports: Imports<'_> = BTreeMap::new();
    for (path, file) in &sources {
        let from = module(path);
        if ["lib", "main"].contains(&from.as_str()) {
            continue;
        }
        for (to, line) in imported(path, &file.text) {
            if to != from && modules.contains(&to) {
                imports.entry((from.clone(), to)).or_insert((&file.path, line));
            }
        }
    }
    let circles = circles(&imports);
    let mut findings = Vec::new();
    for circle in circles.iter().filter(|it| it.iter().any(|it| folders.contains(it))) {
        let inside =
            imports.iter().find(|((from, to), _)| circle.contains(from) && circle.contains(to));
        let Some(((from, to), (path, line))) = inside else { continue };
        let all: Vec<&str> = circle.iter().map(String::as_str).collect();
        let message = format!(
            "`{from}` imports `{to}` in a circle of folders ({}): move what both need below them",
            all.join(", ")
        );
        findings.push(Finding::error(path, *line, message));
    }
    findings
}

/// The first modules of all paths in a source that begin at the crate's root, with their lines.
fn imported(path: &str, text: &str) -> Vec<(String, usize)> {
    let mut around: Vec<&str> = path.trim_end_matches(".rs").split('/').collect();
    if matches!(around.last(), Some(&("mod" | "lib" | "main"))) {
        around.pop();
    }
    let code = code::code(text, Strings::Blank);
    let code: String = code::before_tests(&code).map(|it| format!("{}\n", it.1)).collect();
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(rest) = code.get(at..) {
        let next = ["crate::", "super::"].iter().filter_map(|it| rest.find(it)).min();
        let Some(next) = next else { break };
        let start = at + next;
        let before = code.get(..start).unwrap_or_default();
        let is_word = before.ends_with(|it: char| it == '_' || it == ':' || it.is_alphanumeric());
        let mut rest = code.get(start..).unwrap_or_default();
        let mut base = around.len();
        if let Some(behind) = rest.strip_prefix("crate::") {
            (base, rest) = (0, behind);
        }
        while let Some(behind) = rest.strip_prefix("super::") {
            (base, rest) = (base.saturating_sub(1), behind);
        }
        at = code.len() - rest.len();
        if is_word {
            continue;
        }
        let line = before.matches('\n').count() + 1;
        match base {
            0 => found.extend(first_names(rest).into_iter().map(|it| (it, line))),
            _ => found.extend(around.first().map(|it| ((*it).to_owned(), line))),
        }
    }
    found
}

/// `a::b` begins with `a`; `{a, b::c}` with `a` and `b`.
fn first_names(text: &str) -> Vec<String> {
    let word = |it: &str| -> String {
        it.trim_start().chars().take_while(|it| *it == '_' || it.is_alphanumeric()).collect()
    };
    let Some(group) = text.strip_prefix('{') else { return vec![word(text)] };
    let (mut depth, mut names, mut start) = (0_usize, Vec::new(), 0);
    for (at, it) in group.char_indices() {
        match it {
            '{' => depth += 1,
            '}' if depth > 0 => depth -= 1,
            ',' | '}' if depth == 0 => {
                names.push(word(group.get(start..at).unwrap_or_default()));
                start = at + 1;
                if it == '}' {
                    break;
                }
            }
            _ => {}
        }
    }
    names
}

/// Modules that reach each other, at least two.
fn circles(imports: &Imports<'_>) -> Vec<BTreeSet<String>> {
    let reached = |from: &String| {
        let mut found: BTreeSet<String> = BTreeSet::new();
        let mut open = vec![from.clone()];
        while let Some(it) = open.pop() {
            for ((_, to), _) in imports.iter().filter(|((from, _), _)| *from == it) {
                if found.insert(to.clone()) {
                    open.push(to.clone());
                }
            }
        }
        found
    };
    let all: BTreeMap<&String, BTreeSet<String>> =
        imports.keys().map(|(from, _)| (from, reached(from))).collect();
    let mut found: Vec<BTreeSet<String>> = Vec::new();
    for (from, to) in &all {
        let back = |it: &&String| all.get(it).is_some_and(|it| it.contains(*from));
        let circle: BTreeSet<String> = to.iter().filter(back).cloned().collect();
        if circle.len() > 1 && !found.contains(&circle) {
            found.push(circle);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(sources: &[(&str, &str)]) -> Vec<String> {
        let files: Vec<TextFile> = sources
            .iter()
            .map(|(path, text)| TextFile::new(&format!("crates/x/src/{path}"), text))
            .collect();
        check_crate("x", &files).iter().map(ToString::to_string).collect()
    }

    const CIRCLE: &[(&str, &str)] = &[
        ("lib.rs", "mod a;\nmod b;\nuse crate::{a, b};\n"),
        ("a/mod.rs", "mod deep;\nuse crate::b::It;\n"),
        ("a/deep.rs", "//! crate::c\nuse super::It;\nuse super::super::c;\n"),
        ("b.rs", "use std::fmt;\nuse crate::{\n    c::{self, a},\n    a::It,\n};\n"),
        ("c.rs", "#[cfg(test)]\nmod tests {\n    use crate::a;\n}\n"),
    ];

    #[test]
    fn a_circle_through_a_folder_is_told_once() {
        let told = told(CIRCLE);
        assert_eq!(told.len(), 1, "{told:?}");
        assert!(told[0].starts_with("crates/x/src/a/mod.rs:2: error: `a` imports `b`"), "{told:?}");
        assert!(told[0].contains("(a, b)"), "{told:?}");
    }

    #[test]
    fn files_of_one_folder_may_use_each_other() {
        let told = told(&[("a.rs", "use crate::b;\n"), ("b.rs", "use super::a;\n")]);
        assert!(told.is_empty(), "{told:?}");
    }

    #[test]
    fn a_circle_is_open_when_one_import_goes() {
        let mut open = CIRCLE.to_vec();
        open[3].1 = "use crate::c;\n";
        assert!(told(&open).is_empty());
    }
}
