//! What a mapping costs beside a thousand others, and beside up to a million: `offload/mapping.c`.
//!
//! The goal is growth with the logarithm of their number, which doubles from the first row to the last. At
//! random places memory that no cache holds makes it more: a binary search, for which that holds by
//! its nature, stands beside.

use std::error::Error;
use std::process::Command;

use crate::samples::{Samples, cell, ratio};
use crate::{Tools, compile};

const TEXT: &str = include_str!("../offload/mapping.c");
const ROUNDS: usize = 5;
const BATCHES: &str = "20";
const COUNTS: [u32; 4] = [1_000, 10_000, 100_000, 1_000_000];
/// What is timed: name in the program, in words.
const KINDS: [(&str, &str); 4] = [
    ("map", "map and unmap, at random"),
    ("look-up", "look-up, at random"),
    ("in-order", "look-up, one after another"),
    ("search", "binary search, at random"),
];

pub(crate) fn run(tools: &Tools) -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let (text, program) = (folder.path().join("mapping.c"), folder.path().join("mapping"));
    std::fs::write(&text, TEXT)?;
    let mut command = Command::new(&tools.ferry);
    compile(command.args(["cc", "-O2", "-fopenmp"]).arg(&text).arg("-o").arg(&program))?;
    let mut samples = Samples::default();
    for _ in 0..if tools.quick { 1 } else { ROUNDS } {
        samples.gather(Command::new(&program).arg(BATCHES))?;
    }
    println!("| live mappings, ns, median (least) | {} |", KINDS.map(|it| it.1).join(" | "));
    println!("|---:{}|", "|---:".repeat(KINDS.len()));
    for count in COUNTS {
        let cells = KINDS.map(|(name, _)| {
            let key = format!("{count} {name}");
            format!("{} ({})", cell(samples.median(&key), 0), cell(samples.least(&key), 0))
        });
        println!("| {count} | {} |", cells.join(" | "));
    }
    let [first, .., last] = COUNTS;
    let growth = KINDS.map(|(name, _)| {
        let median = |count: u32| samples.median(&format!("{count} {name}"));
        cell(ratio(median(last), median(first)), 1)
    });
    println!("| last to first | {} |", growth.join(" | "));
    println!();
    Ok(())
}
