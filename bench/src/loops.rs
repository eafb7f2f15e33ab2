//! Loop nests in regions against the same text in the host's own parallel loops.
//!
//! `offload/loops/*.c` are compiled twice, with `-O3`: as regions by ferry, as plain loops by the
//! host's compiler. Both are linked into one program, which runs them turn about on the same memory
//! and threads and compares their results: nothing differs but the code.

use std::error::Error;
use std::path::Path;
use std::process::Command;

use crate::samples::{Samples, cell, ratio};
use crate::{Tools, compile};

const MAIN: &str = include_str!("../offload/loops/main.c");
const HEADER: &str = include_str!("../offload/loops/loops.h");
const NESTS: [(&str, &str); 7] = [
    ("2mm", include_str!("../offload/loops/2mm.c")),
    ("3mm", include_str!("../offload/loops/3mm.c")),
    ("atax", include_str!("../offload/loops/atax.c")),
    ("bicg", include_str!("../offload/loops/bicg.c")),
    ("conv2d", include_str!("../offload/loops/conv2d.c")),
    ("covariance", include_str!("../offload/loops/covariance.c")),
    ("gemm", include_str!("../offload/loops/gemm.c")),
];
/// A process may be unlucky with its pages and threads; the next may not be.
const ROUNDS: usize = 20;
const TURNS: &str = "40";

pub(crate) fn run(tools: &Tools) -> Result<(), Box<dyn Error>> {
    let cc = &tools.cc;
    let folder = tempfile::tempdir()?;
    let path = folder.path();
    std::fs::write(path.join("loops.h"), HEADER)?;
    std::fs::write(path.join("main.c"), MAIN)?;
    compile(object(&mut Command::new(cc), path, "main.c", "main.o"))?;
    println!(
        "| milliseconds | {cc}, median (least) | ferry, median (least) | ratio by turns, median (95 %) \
         | ratio of least |"
    );
    println!("|---|---:|---:|---:|---:|");
    for (name, text) in NESTS {
        std::fs::write(path.join("nest.c"), text)?;
        compile(object(&mut Command::new(cc), path, "nest.c", "plain.o"))?;
        let mut ferry = Command::new(&tools.ferry);
        ferry.args(["cc", "-DOFFLOADED"]);
        compile(object(&mut ferry, path, "nest.c", "offloaded.o"))?;
        let program = path.join(name);
        let mut link = Command::new(&tools.ferry);
        link.args(["cc", "-fopenmp", "main.o", "plain.o", "offloaded.o", "-lm", "-o"]);
        compile(link.arg(&program).current_dir(path))?;
        let mut samples = Samples::default();
        for _ in 0..ROUNDS {
            samples.gather(Command::new(&program).arg(TURNS))?;
        }
        row(name, &samples);
    }
    println!();
    Ok(())
}

fn object<'c>(command: &'c mut Command, folder: &Path, from: &str, to: &str) -> &'c mut Command {
    command.args(["-O3", "-fopenmp", "-c", from, "-o", to]).current_dir(folder)
}

fn row(name: &str, samples: &Samples) {
    let (plain, ours) = ("plain", "offloaded");
    let both = |side| {
        let milli = |it: Option<f64>| cell(it.map(|it| it * 1000.0), 3);
        format!("{} ({})", milli(samples.median(side)), milli(samples.least(side)))
    };
    let turns = samples.by_turns(ours, plain).map_or_else(
        || "–".to_owned(),
        |it| format!("{:.3} ({:.3}–{:.3})", it.middle, it.from, it.to),
    );
    let least = ratio(samples.least(ours), samples.least(plain));
    let (plain, ours) = (both(plain), both(ours));
    println!("| {name} | {plain} | {ours} | {turns} | {} |", cell(least, 3));
}
