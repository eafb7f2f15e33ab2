//! Nests of loops on the cores of the host: `offload/nests.c` by Ferry, beside the host's compiler and clang.
//!
//! All get the same text and flags. Times are the least of all turns; results are compared with those of the text without
//! its directives.

use std::error::Error;
use std::path::Path;
use std::process::Command;

use crate::samples::{Samples, cell, ratio};
use crate::{Tools, compile};

const TEXT: &str = include_str!("../offload/nests.c");
const FLAGS: [&str; 2] = ["-O3", "-march=native"];
const NESTS: [&str; 26] = [
    "product_double",
    "product_float",
    "product_int",
    "product_nt",
    "product_nt_int",
    "product_tn",
    "product_rows",
    "product_memory",
    "product_ikj",
    "product_batch",
    "transpose_double",
    "transpose_float",
    "convolve_float",
    "convolve_int",
    "stencil_2d",
    "stencil_7",
    "stencil_27",
    "columns",
    "step_change",
    "norm",
    "dot",
    "triangle_rows",
    "triangle_columns",
    "product_dynamic",
    "escape",
    "histogram",
];

pub(crate) fn run(tools: &Tools) -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let text = folder.path().join("nests.c");
    std::fs::write(&text, TEXT)?;
    let build = |command: &str, words: &[&str], name: &str| -> Result<_, Box<dyn Error>> {
        let program = folder.path().join(name);
        let mut build = Command::new(command);
        build.args(words).args(FLAGS).arg(&text).arg("-o").arg(&program).arg("-lm");
        compile(&mut build)?;
        Ok(program)
    };
    let serial = build(&tools.cc, &["-fopenmp", "-DSERIAL"], "serial")?;
    let ours = build(&tools.ferry, &["cc"], "ferry")?;
    let host = build(&tools.cc, &["-fopenmp"], "host")?;
    let clang = match &tools.clang {
        Some(clang) => Some(build(clang, &["-fopenmp"], "clang")?),
        None => None,
    };
    let (turns, rounds) = if tools.quick { (1, "1") } else { (7, "3") };
    let gather = |samples: &mut Samples, program: &Path, rounds: &str| {
        samples.gather(Command::new(program).arg(rounds).env("FERRY_DEVICE", "cpu"))
    };
    let mut all: [Samples; 4] = Default::default();
    let [right, by_us, by_host, by_clang] = &mut all;
    gather(right, &serial, "1")?;
    for _ in 0..turns {
        gather(by_us, &ours, rounds)?;
        gather(by_host, &host, rounds)?;
        if let Some(clang) = &clang {
            gather(by_clang, clang, rounds)?;
        }
    }
    println!(
        "| milliseconds, least of {turns} x {rounds} | host | clang | ferry | host / ferry | clang / ferry |"
    );
    println!("|---|---:|---:|---:|---:|---:|");
    let mut products = [(0.0, 0.0), (0.0, 0.0)];
    for name in NESTS {
        let sum = format!("{name}/sum");
        if by_us.least(&sum) != right.least(&sum) {
            return Err(format!("`{name}` is wrong").into());
        }
        let milli = |samples: &Samples| samples.least(name).map(|it| it / 1e6);
        let (host, clang, us) = (milli(by_host), milli(by_clang), milli(by_us));
        let times = [ratio(host, us), ratio(clang, us)];
        for (sum, times) in products.iter_mut().zip(times) {
            if let Some(times) = times {
                *sum = (sum.0 + times.ln(), sum.1 + 1.0);
            }
        }
        let cells =
            [cell(host, 2), cell(clang, 2), cell(us, 2), cell(times[0], 2), cell(times[1], 2)];
        println!("| {name} | {} |", cells.join(" | "));
    }
    let means = products.map(|(sum, count): (f64, f64)| (count > 0.0).then(|| (sum / count).exp()));
    println!("| geometric mean | | | | {} | {} |", cell(means[0], 2), cell(means[1], 2));
    println!();
    Ok(())
}
