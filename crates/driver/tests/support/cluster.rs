//! Whether programs can be compiled for the simulated cluster.

use crate::pieces::line_of;

/// False, with a word, where they cannot.
pub(crate) fn has_tools() -> bool {
    let line = line_of("doctor", "\"tools for the cluster\"");
    let is_there = !line.contains("\"found\":null");
    if !is_there {
        eprintln!("skipped: the cluster's tools are not there: {line}");
    }
    is_there
}
