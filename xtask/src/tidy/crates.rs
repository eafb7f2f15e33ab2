//! The crate table of `ARCHITECTURE.md` is the law: who exists, and who may use whom.
//!
//! In: that table and what `cargo metadata` knows of the workspace. Out: every difference, either
//! way, for the crates below `crates/`. A dependency of tests alone is not restricted.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;
use std::{fs, str};

use serde_json::Value;

use super::Finding;
use super::code::numbered;

const DOCUMENT: &str = "ARCHITECTURE.md";
const HEAD: &str = "| crate | state | holds | uses |";

/// One line of the table.
#[derive(Debug, PartialEq, Eq)]
struct Row {
    line: usize,
    exists: bool,
    uses: BTreeSet<String>,
}

/// Each crate with the crates it uses.
type Crates = BTreeMap<String, BTreeSet<String>>;

pub(super) fn check(root: &Path) -> Result<Vec<Finding>, String> {
    let document = fs::read_to_string(root.join(DOCUMENT));
    let document = document.map_err(|error| format!("cannot read {DOCUMENT}: {error}"))?;
    let mut metadata = Command::new("cargo");
    metadata.args(["metadata", "--no-deps", "--format-version", "1"]).current_dir(root);
    let metadata = metadata.output().map_err(|error| format!("cannot run cargo: {error}"))?;
    if !metadata.status.success() {
        return Err(String::from_utf8_lossy(&metadata.stderr).into_owned());
    }
    let metadata: Value = serde_json::from_slice(&metadata.stdout)
        .map_err(|error| format!("cargo metadata is not JSON: {error}"))?;
    let (table, mut findings) = table(&document);
    findings.extend(compare(&table, &crates(&metadata)));
    Ok(findings)
}

/// Reads the table below [`HEAD`]: `` | `name` | here or planned | … | `other` `other` | ``.
fn table(document: &str) -> (BTreeMap<String, Row>, Vec<Finding>) {
    let mut rows = BTreeMap::new();
    let mut findings = Vec::new();
    let mut lines = numbered(document).skip_while(|(_, line)| *line != HEAD);
    if lines.next().is_none() {
        let message = format!("the table of crates is missing: `{HEAD}`");
        findings.push(Finding::error(DOCUMENT, 0, message));
    }
    for (line, text) in lines.skip(1).take_while(|(_, text)| text.starts_with('|')) {
        let cells: Vec<&str> = text.trim_matches('|').split('|').map(str::trim).collect();
        let [name, state @ ("here" | "planned"), _, uses] = cells.as_slice() else {
            let message = "expected a name, `here` or `planned`, what it holds, what it uses";
            findings.push(Finding::error(DOCUMENT, line, message));
            continue;
        };
        let row = Row { line, exists: *state == "here", uses: quoted(uses) };
        rows.insert(name.trim_matches('`').to_owned(), row);
    }
    (rows, findings)
}

/// The names in backticks.
fn quoted(cell: &str) -> BTreeSet<String> {
    cell.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

/// The packages below `crates/`, each with those of the workspace it uses outside its tests.
fn crates(metadata: &Value) -> Crates {
    let list = |value: &'_ Value, key: &str| value[key].as_array().cloned().unwrap_or_default();
    let text = |value: &'_ Value, key: &str| value[key].as_str().unwrap_or_default().to_owned();
    let root = text(metadata, "workspace_root");
    let mut crates = Crates::new();
    for package in list(metadata, "packages") {
        if !text(&package, "manifest_path").starts_with(&format!("{root}/crates/")) {
            continue;
        }
        let dependencies = list(&package, "dependencies").into_iter();
        let shipped = dependencies.filter(|it| it["path"].is_string() && it["kind"] != "dev");
        crates.insert(text(&package, "name"), shipped.map(|it| text(&it, "name")).collect());
    }
    crates
}

fn compare(table: &BTreeMap<String, Row>, crates: &Crates) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (name, used) in crates {
        let manifest = format!("crates/{name}/Cargo.toml");
        let Some(row) = table.get(name) else {
            let message = format!("crate `{name}` is not in the table of {DOCUMENT}");
            findings.push(Finding::error(&manifest, 0, message));
            continue;
        };
        if !row.exists {
            let message = format!("crate `{name}` exists: write `here` instead of `planned`");
            findings.push(Finding::error(DOCUMENT, row.line, message));
        }
        for other in used.difference(&row.uses) {
            let message = format!(
                "`{name}` uses `{other}`, which the table of {DOCUMENT} does not allow: a new edge \
                 between crates is a decision, not a detail"
            );
            findings.push(Finding::error(&manifest, 0, message));
        }
        for other in row.uses.difference(used).filter(|it| crates.contains_key(*it)) {
            let message = format!("`{name}` does not use `{other}`: take it out of the table");
            findings.push(Finding::error(DOCUMENT, row.line, message));
        }
    }
    for (name, row) in table.iter().filter(|(name, row)| row.exists && !crates.contains_key(*name))
    {
        let message = format!("there is no crate `{name}`: write `planned` instead of `here`");
        findings.push(Finding::error(DOCUMENT, row.line, message));
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "# Crates\n\n| crate | state | holds | uses |\n|---|---|---|---|\n\
        | `source` | here | files | – |\n| `syntax` | here | C | `source` |\n\
        | `opt` | planned | passes | `source` `ir` |\n\nAnd more.\n";

    #[track_caller]
    fn check_crates(crates: &[(&str, &[&str])], expect: &[&str]) {
        let (table, errors) = table(TABLE);
        assert_eq!(errors, []);
        let set = |names: &[&str]| names.iter().map(|it| (*it).to_owned()).collect();
        let crates = crates.iter().map(|(name, uses)| ((*name).to_owned(), set(uses))).collect();
        let found = compare(&table, &crates);
        assert_eq!(found.len(), expect.len(), "{found:?}");
        for (finding, expect) in found.iter().zip(expect) {
            assert!(finding.message.contains(expect), "{finding}");
        }
    }

    #[test]
    fn table_and_workspace_agree() {
        check_crates(&[("source", &[]), ("syntax", &["source"])], &[]);
    }

    #[test]
    fn a_new_edge_is_found() {
        check_crates(&[("source", &["syntax"]), ("syntax", &["source"])], &["does not allow"]);
    }

    #[test]
    fn an_edge_that_is_gone_is_found() {
        check_crates(&[("source", &[]), ("syntax", &[])], &["does not use `source`"]);
    }

    #[test]
    fn a_crate_the_table_does_not_know_is_found() {
        let crates: &[(&str, &[&str])] =
            &[("extra", &[]), ("source", &[]), ("syntax", &["source"])];
        check_crates(crates, &["`extra` is not in the table"]);
    }

    #[test]
    fn states_are_kept_true() {
        check_crates(&[("source", &[])], &["there is no crate `syntax`"]);
        let crates: &[(&str, &[&str])] =
            &[("opt", &["source"]), ("source", &[]), ("syntax", &["source"])];
        check_crates(crates, &["write `here`"]);
    }

    #[test]
    fn a_document_without_the_table_fails() {
        assert_eq!(table("# Crates\n").1.len(), 1);
        let broken = TABLE.replace("| here | files |", "| done | files |");
        assert_eq!(table(&broken).1.len(), 1);
    }

    #[test]
    fn metadata_gives_shipped_edges_only() {
        let metadata = serde_json::json!({
            "workspace_root": "/r",
            "packages": [
                {"name": "ir", "manifest_path": "/r/crates/ir/Cargo.toml", "dependencies": [
                    {"name": "source", "path": "/r/crates/source", "kind": null},
                    {"name": "serde", "path": null, "kind": null},
                    {"name": "sema", "path": "/r/crates/sema", "kind": "dev"}]},
                {"name": "xtask", "manifest_path": "/r/xtask/Cargo.toml", "dependencies": []},
            ],
        });
        let expect = Crates::from([("ir".into(), BTreeSet::from(["source".into()]))]);
        assert_eq!(crates(&metadata), expect);
    }
}
