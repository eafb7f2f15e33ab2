//! Whether programs can be compiled for the simulated cluster.

use std::path::Path;

use crate::support::ferry;

/// False, with a word, where they cannot.
pub(crate) fn has_tools() -> bool {
    let told = ferry(&["doctor", "--json"], Path::new("."));
    let text = String::from_utf8_lossy(&told.stdout).into_owned();
    let line = text.lines().find(|it| it.contains("\"tools for the cluster\"")).unwrap_or_default();
    let is_there = !line.contains("\"found\":null");
    if !is_there {
        eprintln!("skipped: the cluster's tools are not there: {line}");
    }
    is_there
}
