//! Times `ferry check` against the host compiler's own syntax check, on the same preprocessed text.
//!
//! `bench FERRY [CC]`: both programs read the same `.i` files, turn about, several times; the
//! shortest time of each counts, and the ratio is what matters. Peak memory is the kernel's
//! figure for the child. Prints a Markdown table. Never a test: times are not verdicts.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command-line tool")]

mod measure;
mod texts;

use std::error::Error;
use std::path::Path;
use std::process::{Command, ExitCode};

use measure::{Cost, best};

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let Some(ferry) = args.next() else {
        eprintln!("usage: bench FERRY [CC]");
        return ExitCode::from(2);
    };
    let cc = args.next().or_else(|| std::env::var("CC").ok()).unwrap_or_else(|| "cc".to_owned());
    match run(&ferry, &cc) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bench: {error}");
            ExitCode::from(1)
        }
    }
}

fn run(ferry: &str, cc: &str) -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let large = folder.path().join("large.i");
    std::fs::write(&large, texts::large(200_000))?;
    let headers = folder.path().join("headers.c");
    std::fs::write(&headers, texts::HEADERS)?;
    let small = folder.path().join("headers.i");
    preprocess(cc, &headers, &small)?;
    println!("| input | lines | {cc} | ferry | ratio | {cc} peak | ferry peak |");
    println!("|---|---:|---:|---:|---:|---:|---:|");
    row("generated, directives throughout", &large, ferry, cc)?;
    row("small file, many headers", &small, ferry, cc)?;
    Ok(())
}

fn preprocess(cc: &str, from: &Path, to: &Path) -> Result<(), Box<dyn Error>> {
    let status = Command::new(cc).args(["-E", "-fopenmp", "-o"]).args([to, from]).status()?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("{cc} -E failed on {}", from.display()).into())
    }
}

fn row(name: &str, text: &Path, ferry: &str, cc: &str) -> Result<(), Box<dyn Error>> {
    let lines = std::fs::read(text)?.iter().filter(|&&it| it == b'\n').count();
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
