//! Links in documents lead somewhere: a relative target must be a file or folder of the repository.
//!
//! Anchors and addresses on the web are not followed.

use super::Finding;
use super::code::numbered;
use super::files::TextFile;

/// `exists` answers for a path relative to the root.
pub(super) fn check(file: &TextFile, exists: &dyn Fn(&str) -> bool) -> Vec<Finding> {
    if !file.path.ends_with(".md") {
        return Vec::new();
    }
    let folder = file.path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut findings = Vec::new();
    for (number, line) in numbered(&file.text) {
        for target in targets(line) {
            let path = target.split('#').next().unwrap_or_default();
            let is_local =
                !path.is_empty() && !path.contains("://") && !path.starts_with("mailto:");
            let full = if folder.is_empty() { path.into() } else { format!("{folder}/{path}") };
            if is_local && !exists(&full) {
                let message = format!("the link leads nowhere: `{target}`");
                findings.push(Finding::error(&file.path, number, message));
            }
        }
    }
    findings
}

/// The targets of `[text](target)` and `![text](target "title")` in one line.
fn targets(line: &str) -> impl Iterator<Item = &str> {
    line.split("](").skip(1).filter_map(|it| it.split([')', ' ']).next())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn broken(path: &str, text: &str) -> usize {
        let exists = |it: &str| it == "docs/a.md";
        check(&TextFile::new(path, text), &exists).len()
    }

    #[test]
    fn relative_links_are_followed() {
        assert_eq!(broken("README.md", "see [a](docs/a.md) and ![b](docs/b.svg)"), 1);
        assert_eq!(broken("docs/index.md", "see [a](a.md#part)"), 0);
    }

    #[test]
    fn the_web_is_not() {
        assert_eq!(broken("README.md", "[a](https://example.org/x) [b](#part)"), 0);
    }
}
