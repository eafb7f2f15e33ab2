//! Loops in regions: both standards' words against each other, and against the host's own parallel loops.
//!
//! Each of `offload/loops/*.c` is compiled for several sides, with `-O3`: as a serial program, whose
//! results count, and as plain parallel loops by the host's compiler; as regions in the words of either
//! standard by ferry. All are linked into one program, which runs them turn about on the same memory and
//! threads and compares their results: nothing differs but the code.
//!
//! Each kernel is linked many times ([`layouts`]), and the ratio is the mean over these programs; where that is not yet known well,
//! because one place in memory is much better than another, it is linked more often.

use std::error::Error;
use std::process::Command;

use crate::layouts;
use crate::samples::{Ratio, Samples, cell};
use crate::{Tools, compile};

const MAIN: &str = include_str!("../offload/loops/main.c");
const HEADER: &str = include_str!("../offload/loops/loops.h");

/// The kernels of PolyBench-ACC in our own words: name, text.
const KERNELS: [(&str, &str); 32] = [
    ("2mm", include_str!("../offload/loops/2mm.c")),
    ("3mm", include_str!("../offload/loops/3mm.c")),
    ("adi", include_str!("../offload/loops/adi.c")),
    ("atax", include_str!("../offload/loops/atax.c")),
    ("bicg", include_str!("../offload/loops/bicg.c")),
    ("cholesky", include_str!("../offload/loops/cholesky.c")),
    ("conv2d", include_str!("../offload/loops/conv2d.c")),
    ("conv3d", include_str!("../offload/loops/conv3d.c")),
    ("correlation", include_str!("../offload/loops/correlation.c")),
    ("covariance", include_str!("../offload/loops/covariance.c")),
    ("doitgen", include_str!("../offload/loops/doitgen.c")),
    ("durbin", include_str!("../offload/loops/durbin.c")),
    ("dynprog", include_str!("../offload/loops/dynprog.c")),
    ("fdtd-2d", include_str!("../offload/loops/fdtd-2d.c")),
    ("fdtd-apml", include_str!("../offload/loops/fdtd-apml.c")),
    ("floyd-warshall", include_str!("../offload/loops/floyd-warshall.c")),
    ("gemm", include_str!("../offload/loops/gemm.c")),
    ("gemver", include_str!("../offload/loops/gemver.c")),
    ("gesummv", include_str!("../offload/loops/gesummv.c")),
    ("gramschmidt", include_str!("../offload/loops/gramschmidt.c")),
    ("jacobi-1d", include_str!("../offload/loops/jacobi-1d.c")),
    ("jacobi-2d", include_str!("../offload/loops/jacobi-2d.c")),
    ("lu", include_str!("../offload/loops/lu.c")),
    ("ludcmp", include_str!("../offload/loops/ludcmp.c")),
    ("mvt", include_str!("../offload/loops/mvt.c")),
    ("reg-detect", include_str!("../offload/loops/reg-detect.c")),
    ("seidel", include_str!("../offload/loops/seidel.c")),
    ("symm", include_str!("../offload/loops/symm.c")),
    ("syr2k", include_str!("../offload/loops/syr2k.c")),
    ("syrk", include_str!("../offload/loops/syrk.c")),
    ("trisolv", include_str!("../offload/loops/trisolv.c")),
    ("trmm", include_str!("../offload/loops/trmm.c")),
];

/// One table of times.
struct Table {
    /// Kernels in it.
    has: fn(&str) -> bool,
    /// What is timed; each is compared with the one before.
    sides: &'static [&'static str],
    /// How often each kernel is linked anew at least.
    layouts: usize,
    /// How often each side of such a program runs: an odd number, so that one turn is in the middle.
    turns: &'static str,
}

/// A kernel is linked no more than this many times as often.
const MORE: usize = 6;
/// A mean is known well if the ends of its interval differ by no more than this many times.
const KNOWN: f64 = 1.04;

/// Few kernels, precisely: what regions cost against the host's own loops.
const LOOPS: Table = Table {
    has: |name| matches!(name, "2mm" | "3mm" | "atax" | "bicg" | "conv2d" | "covariance" | "gemm"),
    sides: &["plain", "openmp", "openacc"],
    layouts: 40,
    turns: "21",
};

/// All kernels in the words of both standards.
const WORDS: Table =
    Table { has: |_| true, sides: &["openmp", "openacc"], layouts: 20, turns: "9" };

/// The part `loops`.
pub(crate) fn against_host(tools: &Tools) -> Result<(), Box<dyn Error>> {
    table(tools, &LOOPS)
}

/// The part `kernels`.
pub(crate) fn against_each_other(tools: &Tools) -> Result<(), Box<dyn Error>> {
    table(tools, &WORDS)
}

fn table(tools: &Tools, table: &Table) -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let path = folder.path();
    std::fs::write(path.join("loops.h"), HEADER)?;
    std::fs::write(path.join("main.c"), MAIN)?;
    let build = |command: &mut Command, define: &str, from: &str, to: &str| {
        let command = command.args(["-O3", "-fopenmp", define, "-c", from, "-o", to]);
        compile(command.current_dir(path))
    };
    let has_plain = table.sides.contains(&"plain");
    let define = if has_plain { "-DPLAIN" } else { "-DREGIONS" };
    build(&mut Command::new(&tools.cc), define, "main.c", "main.o")?;
    let kernels = tools.chosen(KERNELS.iter().filter(|it| (table.has)(it.0)), |it| it.0)?;
    heading(tools, table);
    let layouts = if tools.quick { layouts::QUICK } else { table.layouts };
    for (name, text) in kernels {
        std::fs::write(path.join("kernel.c"), text)?;
        build(&mut Command::new(&tools.cc), "-DSERIAL", "kernel.c", "serial.o")?;
        for side in table.sides {
            let mut compiler = match *side {
                "plain" => Command::new(&tools.cc),
                _ => Command::new(&tools.ferry),
            };
            if *side != "plain" {
                compiler.arg("cc");
            }
            let define = format!("-D{}", side.to_uppercase());
            build(&mut compiler, &define, "kernel.c", &format!("{side}.o"))?;
        }
        let mut programs = Vec::new();
        for layout in 0..layouts * if tools.quick { 1 } else { MORE } {
            if layout >= layouts && is_known(table, &programs) {
                break;
            }
            layouts::link(tools, path, &["main.o", "serial.o"], table.sides, layout)?;
            let mut samples = Samples::default();
            samples.gather(Command::new(path.join("program")).arg(table.turns))?;
            programs.push(samples);
        }
        row(name, table, &programs);
    }
    println!();
    println!(
        "Ratios: of the turn in the middle, mean over {layouts} or more layouts (and where it lies with 95 %)."
    );
    println!();
    Ok(())
}

/// Whether all ratios are known well.
fn is_known(table: &Table, programs: &[Samples]) -> bool {
    table.sides.windows(2).all(|pair| match pair {
        [to, of] => Ratio::over(programs, of, to).is_some_and(|it| it.to <= KNOWN * it.from),
        _ => true,
    })
}

/// What the tables call a side.
fn called<'a>(tools: &'a Tools, side: &'a str) -> &'a str {
    match side {
        "plain" => &tools.cc,
        "openmp" => "OpenMP",
        "openacc" => "OpenACC",
        _ => side,
    }
}

fn heading(tools: &Tools, table: &Table) {
    let mut cells = vec!["milliseconds, median (least)".to_owned()];
    cells.extend(table.sides.iter().map(|it| called(tools, it).to_owned()));
    for pair in table.sides.windows(2) {
        if let [to, of] = pair {
            cells.push(format!("{} to {}", called(tools, of), called(tools, to)));
        }
    }
    println!("| {} |", cells.join(" | "));
    println!("|---{}|", "|---:".repeat(cells.len() - 1));
}

fn row(name: &str, table: &Table, programs: &[Samples]) {
    let mut samples = Samples::default();
    programs.iter().for_each(|it| samples.extend(it));
    let milli = |it: Option<f64>| cell(it.map(|it| it * 1000.0), 3);
    let mut cells = vec![name.to_owned()];
    for side in table.sides {
        cells.push(format!("{} ({})", milli(samples.median(side)), milli(samples.least(side))));
    }
    for pair in table.sides.windows(2) {
        let [to, of] = pair else { continue };
        cells.push(Ratio::over(programs, of, to).map_or_else(
            || "–".to_owned(),
            |it| format!("{:.3} ({:.3}–{:.3})", it.mean, it.from, it.to),
        ));
    }
    println!("| {} |", cells.join(" | "));
}
