//! Which files the rules see: the text files of the repository, in order of their paths.
//!
//! Build output, version control and fuzzing corpora are left out, and so is what is not UTF-8.

use std::path::Path;
use std::{fs, io};

/// Folders that hold nothing we wrote, relative to the root.
const SKIPPED: &[&str] =
    &[".git", "target", "local", "fuzz/target", "fuzz/corpus", "fuzz/artifacts"];

/// A file of the repository and its text.
pub(super) struct TextFile {
    /// Relative to the root, with `/` on every system.
    pub(super) path: String,
    pub(super) text: String,
}

impl TextFile {
    #[cfg(test)]
    pub(super) fn new(path: &str, text: &str) -> TextFile {
        TextFile { path: path.into(), text: text.into() }
    }

    pub(super) fn is_rust(&self) -> bool {
        self.path.ends_with(".rs")
    }

    /// Files that only tests compile; a `#[cfg(test)]` module is told by [`super::code`].
    pub(super) fn is_test(&self) -> bool {
        let mut parts = self.path.rsplit('/');
        parts.next() == Some("tests.rs") || parts.any(|it| it == "tests")
    }

    /// What is shipped: the sources of a crate, not its tests, benches and example programs.
    pub(super) fn is_crate_code(&self) -> bool {
        let is_source = self.path.starts_with("crates/") && self.path.contains("/src/");
        self.is_rust() && is_source && !self.is_test()
    }

    /// Golden files and preprocessed texts (`.i`) hold what a program printed, and `tests/cases`
    /// what a user might write.
    pub(super) fn is_test_data(&self) -> bool {
        self.path.ends_with(".snap")
            || self.path.ends_with(".expect")
            || self.path.ends_with(".i")
            || self.path.starts_with("tests/cases/")
    }

    /// Written by a program that says so in the first lines.
    pub(super) fn is_generated(&self) -> bool {
        self.text.lines().take(3).any(|it| it.contains("@generated"))
    }
}

/// All text files below `root`.
pub(super) fn under(root: &Path) -> Result<Vec<TextFile>, String> {
    let mut files = Vec::new();
    visit(root, "", &mut files).map_err(|(path, error)| format!("cannot read {path}: {error}"))?;
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(files)
}

fn visit(root: &Path, folder: &str, files: &mut Vec<TextFile>) -> Result<(), (String, io::Error)> {
    let entries = fs::read_dir(root.join(folder)).map_err(|error| (folder.to_owned(), error))?;
    for entry in entries {
        let entry = entry.map_err(|error| (folder.to_owned(), error))?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = if folder.is_empty() { name } else { format!("{folder}/{name}") };
        if SKIPPED.contains(&path.as_str()) {
            continue;
        }
        let kind = entry.file_type().map_err(|error| (path.clone(), error))?;
        if kind.is_dir() {
            visit(root, &path, files)?;
        } else if kind.is_file() {
            let bytes = fs::read(entry.path()).map_err(|error| (path.clone(), error))?;
            if let Ok(text) = String::from_utf8(bytes) {
                files.push(TextFile { path, text });
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_are_told_by_their_place() {
        assert!(TextFile::new("crates/ir/tests/round_trip.rs", "").is_test());
        assert!(TextFile::new("crates/ir/src/layout/tests.rs", "").is_test());
        assert!(!TextFile::new("crates/ir/src/contests.rs", "").is_test());
    }

    #[test]
    fn this_repository_is_read_without_its_build_output() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let files = under(root).unwrap();
        assert!(files.iter().any(|it| it.path == "xtask/src/tidy/files.rs"));
        assert!(!files.iter().any(|it| it.path.starts_with("target/")));
    }
}
