//! The programs of `tests/run`, and lists of those that a device does not run.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// All programs, by their names.
pub(crate) fn programs() -> BTreeMap<String, PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/run");
    let files = fs::read_dir(folder).expect("tests/run").flatten().map(|it| it.path());
    let files = files.filter(|it| it.extension().is_some_and(|it| it == "c"));
    let named = |it: PathBuf| Some((it.file_stem()?.to_string_lossy().into_owned(), it));
    files.filter_map(named).collect()
}

/// The lines of a list: a name, and what is said of it.
pub(crate) fn listed(list: &'static str) -> BTreeMap<&'static str, &'static str> {
    let lines = list.lines().filter(|it| !it.starts_with('#') && !it.is_empty());
    lines.filter_map(|it| it.split_once(": ")).collect()
}
