//! Every package takes its lints and its common keys from the workspace, and says what it is.

use super::Finding;
use super::files::TextFile;

const INHERITED: &[&str] = &["version", "edition", "rust-version", "license", "publish"];

pub(super) fn check(file: &TextFile) -> Vec<Finding> {
    let is_member = file.path.ends_with("/Cargo.toml") && !file.text.contains("[workspace]");
    if !is_member {
        return Vec::new();
    }
    let keys = keys(&file.text);
    let is_inherited = |table: &str, key: &str| {
        keys.iter().any(|it| it.table == table && it.key == key && it.from_workspace)
    };
    let mut findings = Vec::new();
    for key in INHERITED {
        if !is_inherited("package", key) {
            let message = format!("write `{key}.workspace = true` below `[package]`");
            findings.push(Finding::error(&file.path, 0, message));
        }
    }
    let lints =
        keys.iter().any(|it| it.table == "lints" && it.key == "workspace" && it.value == "true");
    if !lints {
        let message = "write `[lints]` and `workspace = true`: the lints are the same everywhere";
        findings.push(Finding::error(&file.path, 0, message));
    }
    if !keys.iter().any(|it| it.table == "package" && it.key == "description") {
        findings.push(Finding::error(&file.path, 0, "write a `description` of one line"));
    }
    findings
}

struct Key<'a> {
    table: &'a str,
    key: &'a str,
    value: &'a str,
    from_workspace: bool,
}

/// Keys with the table they stand in; both ways to write `workspace = true` are understood.
fn keys(text: &str) -> Vec<Key<'_>> {
    let mut keys = Vec::new();
    let mut table = "";
    for line in text.lines().map(str::trim) {
        if let Some(name) = line.strip_prefix('[').and_then(|it| it.strip_suffix(']')) {
            table = name;
        } else if let Some((key, value)) = line.split_once('=') {
            let (key, value) = (key.trim(), value.trim());
            let inherited = key.strip_suffix(".workspace").filter(|_| value == "true");
            let is_inline = value.replace(' ', "") == "{workspace=true}";
            let from_workspace = inherited.is_some() || is_inline;
            keys.push(Key { table, key: inherited.unwrap_or(key), value, from_workspace });
        }
    }
    keys
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "[package]\nname = \"ir\"\ndescription = \"x\"\nversion.workspace = true\n\
        edition.workspace = true\nrust-version = { workspace = true }\nlicense.workspace = true\n\
        publish.workspace = true\n\n[lints]\nworkspace = true\n";

    fn count(text: &str) -> usize {
        check(&TextFile::new("crates/ir/Cargo.toml", text)).len()
    }

    #[test]
    fn a_good_manifest_passes() {
        assert_eq!(count(GOOD), 0);
    }

    #[test]
    fn each_missing_line_is_found() {
        for line in GOOD.lines().filter(|it| it.contains("workspace") || it.contains("description"))
        {
            let without: String =
                GOOD.lines().filter(|it| *it != line).flat_map(|it| [it, "\n"]).collect();
            assert_eq!(count(&without), 1, "{line}");
        }
        assert_eq!(count(&GOOD.replace("edition.workspace = true", "edition = \"2024\"")), 1);
    }

    #[test]
    fn the_root_is_no_member() {
        assert_eq!(check(&TextFile::new("Cargo.toml", "[workspace]\n")), []);
        assert_eq!(check(&TextFile::new("fuzz/Cargo.toml", "[package]\n[workspace]\n")), []);
    }
}
