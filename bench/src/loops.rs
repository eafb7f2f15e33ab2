//! Loop nests in regions against the same text in the host's own parallel loops.
//!
//! `offload/loops/*.c` are compiled three times, with `-O3`: as plain loops by the host's compiler, as
//! regions in the words of either standard by ferry. All are linked into one program, which runs them
//! turn about on the same memory and threads and compares their results: nothing differs but the code.

use std::error::Error;
use std::process::Command;

use crate::samples::{Samples, cell};
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
    let build = |command: &mut Command, side: &str, from: &str, to: &str| {
        let command = command.args(["-O3", "-fopenmp", side, "-c", from, "-o", to]);
        compile(command.current_dir(path))
    };
    build(&mut Command::new(cc), "-DMAIN", "main.c", "main.o")?;
    println!(
        "| milliseconds, median (least) | {cc} | OpenMP | OpenACC | OpenMP to {cc} | OpenACC to OpenMP |"
    );
    println!("|---|---:|---:|---:|---:|---:|");
    for (name, text) in NESTS {
        std::fs::write(path.join("nest.c"), text)?;
        build(&mut Command::new(cc), "-DPLAIN", "nest.c", "plain.o")?;
        build(Command::new(&tools.ferry).arg("cc"), "-DOPENMP", "nest.c", "openmp.o")?;
        build(Command::new(&tools.ferry).arg("cc"), "-DOPENACC", "nest.c", "openacc.o")?;
        let program = path.join(name);
        let mut link = Command::new(&tools.ferry);
        link.args(["cc", "-fopenmp", "main.o", "plain.o", "openmp.o", "openacc.o", "-lm", "-o"]);
        compile(link.arg(&program).current_dir(path))?;
        let mut samples = Samples::default();
        for _ in 0..ROUNDS {
            samples.gather(Command::new(&program).arg(TURNS))?;
        }
        row(name, &samples);
    }
    println!();
    println!("The ratios are by turns: the median, and between which two it lies with 95 %.");
    println!();
    Ok(())
}

fn row(name: &str, samples: &Samples) {
    let time = |side| {
        let milli = |it: Option<f64>| cell(it.map(|it| it * 1000.0), 3);
        format!("{} ({})", milli(samples.median(side)), milli(samples.least(side)))
    };
    let ratio = |of, to| {
        samples.by_turns(of, to).map_or_else(
            || "–".to_owned(),
            |it| format!("{:.3} ({:.3}–{:.3})", it.middle, it.from, it.to),
        )
    };
    let (plain, openmp, openacc) = ("plain", "openmp", "openacc");
    println!(
        "| {name} | {} | {} | {} | {} | {} |",
        time(plain),
        time(openmp),
        time(openacc),
        ratio(openmp, plain),
        ratio(openacc, openmp),
    );
}
