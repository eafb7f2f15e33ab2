//! Allocators beside each other: `offload/allocators.c` with libferry's routines, and with `malloc` of the C library, jemalloc and
//! mimalloc, and libmemkind's, as far as these are installed.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{Tools, compile};

const TEXT: &str = include_str!("../offload/allocators.c");
/// Figures of a line of the program; the last is a ratio, the others are times.
const FIGURES: usize = 5;
const ROUNDS: usize = 3;

/// Name, mode of the program, library that stands before the C library's.
const SIDES: [(&str, &str, &str); 5] = [
    ("`omp_alloc`", "omp", ""),
    ("C library", "malloc", ""),
    ("jemalloc", "malloc", "libjemalloc.so.2"),
    ("mimalloc", "malloc", "libmimalloc.so.2"),
    ("libmemkind", "memkind", ""),
];

pub(crate) fn run(tools: &Tools) -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let (text, program) = (folder.path().join("allocators.c"), folder.path().join("allocators"));
    std::fs::write(&text, TEXT)?;
    let mut command = Command::new(&tools.ferry);
    compile(
        command.args(["cc", "-O2", "-fopenmp"]).arg(&text).arg("-o").arg(&program).arg("-ldl"),
    )?;
    let most = std::thread::available_parallelism()?.get();
    for threads in [1, 2, 4, 8, 16].into_iter().filter(|it| *it <= most) {
        println!("\n| {threads} threads: ns | 64 B | 1 KiB | churn | passed on | memory / live |");
        println!("|---|---:|---:|---:|---:|---:|");
        let mut best = [[f64::INFINITY; FIGURES]; SIDES.len()];
        for _ in 0..if tools.quick { 1 } else { ROUNDS } {
            for (best, side) in best.iter_mut().zip(SIDES) {
                let figures = figures(&program, side, threads)?;
                best.iter_mut().zip(figures).for_each(|(best, now)| *best = best.min(now));
            }
        }
        for (best, (name, ..)) in best.iter().zip(SIDES) {
            let cells =
                best.map(|it| if it.is_finite() { format!("{it:.2}") } else { "–".to_owned() });
            println!("| {name} | {} |", cells.join(" | "));
        }
    }
    Ok(())
}

/// What the program prints; nothing where the library is not installed.
fn figures(
    program: &Path,
    (_, mode, library): (&str, &str, &str),
    threads: usize,
) -> Result<Vec<f64>, Box<dyn Error>> {
    let mut command = Command::new(program);
    command.arg(mode).arg(threads.to_string());
    if !library.is_empty() {
        let Some(library) = installed(library) else { return Ok(Vec::new()) };
        command.env("LD_PRELOAD", library);
    }
    let output = command.output()?;
    if !output.status.success() {
        return Ok(Vec::new());
    }
    let text = String::from_utf8_lossy(&output.stdout);
    Ok(text.split_whitespace().filter_map(|it| it.parse().ok()).collect())
}

fn installed(library: &str) -> Option<PathBuf> {
    let folders =
        ["/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib"];
    folders.iter().map(|it| Path::new(it).join(library)).find(|it| it.exists())
}
