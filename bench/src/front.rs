//! `ferry check` against the host compiler's own syntax check, on the same preprocessed text, and `ferry explain`.
//!
//! The shortest time of each counts. Peak memory is the kernel's figure for the child.

use std::error::Error;
use std::path::Path;
use std::process::Command;

use crate::measure::{Cost, best};
use crate::{Tools, compile, texts};

pub(crate) fn run(tools: &Tools) -> Result<(), Box<dyn Error>> {
    let Tools { ferry, cc, .. } = tools;
    let folder = tempfile::tempdir()?;
    let large = folder.path().join("large.i");
    std::fs::write(&large, texts::large(200_000))?;
    let headers = folder.path().join("headers.c");
    std::fs::write(&headers, texts::HEADERS)?;
    let small = folder.path().join("headers.i");
    compile(Command::new(cc).args(["-E", "-fopenmp", "-o"]).args([&small, &headers]))?;
    println!("| input | lines | {cc} | ferry | ratio | {cc} peak | ferry peak |");
    println!("|---|---:|---:|---:|---:|---:|---:|");
    row("generated, directives throughout", &large, ferry, cc)?;
    row("small file, many headers", &small, ferry, cc)?;
    println!();
    let program = folder.path().join("program.i");
    std::fs::write(&program, texts::large(10_000))?;
    explained(&program, ferry)
}

/// What each way to tell of a program costs.
fn explained(text: &Path, ferry: &str) -> Result<(), Box<dyn Error>> {
    println!("| `ferry explain` | lines | time | peak |");
    println!("|---|---:|---:|---:|");
    let formats: [(&str, &[&str]); 3] =
        [("text", &[]), ("JSON", &["--json"]), ("SARIF", &["--sarif"])];
    for (format, options) in formats {
        let command = || {
            let mut command = Command::new(ferry);
            command.arg("explain").args(options).arg(text);
            command
        };
        let [Cost { seconds, peak_kib }] = best([&command], 7)?;
        let lines = lines(text)?;
        println!("| {format} | {lines} | {seconds:.3} s | {} MiB |", peak_kib / 1024);
    }
    println!();
    Ok(())
}

fn lines(text: &Path) -> std::io::Result<usize> {
    Ok(std::fs::read(text)?.iter().filter(|&&it| it == b'\n').count())
}

fn row(name: &str, text: &Path, ferry: &str, cc: &str) -> Result<(), Box<dyn Error>> {
    let lines = lines(text)?;
    let theirs = || {
        let mut command = Command::new(cc);
        command.args(["-fsyntax-only", "-fopenmp", "-w"]).arg(text);
        command
    };
    let ours = || {
        let mut command = Command::new(ferry);
        command.arg("check").arg(text);
        command
    };
    let [theirs, ours] = best([&theirs, &ours], 7)?;
    let Cost { seconds, peak_kib } = theirs;
    println!(
        "| {name} | {lines} | {seconds:.3} s | {:.3} s | {:.2} | {} MiB | {} MiB |",
        ours.seconds,
        ours.seconds / seconds,
        peak_kib / 1024,
        ours.peak_kib / 1024,
    );
    Ok(())
}
