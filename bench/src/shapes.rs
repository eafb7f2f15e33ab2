//! The mapping that ferry chooses against placements by hand: where threads and lanes stand in a nest.
//!
//! `offload/mapping/*.c` are compiled with `-O3` for each placement by the host's compiler, and as one would write them for
//! a GPU by ferry, which chooses. All sides are linked into one program, which runs them turn about on the same memory and
//! threads and compares results. Told are the best placement, ours, and how much longer ours took.

use std::error::Error;
use std::fmt::Write;
use std::process::Command;

use crate::samples::{Samples, cell};
use crate::{Tools, compile};

const HEADER: &str = include_str!("../offload/mapping/mapping.h");
const MAIN: &str = include_str!("../offload/mapping/main.c");

/// A nest: its text, and the placements that it has.
struct Nest {
    name: &'static str,
    text: &'static str,
    places: &'static [u32],
}

const NESTS: [Nest; 4] = [
    Nest {
        name: "jacobi",
        text: include_str!("../offload/mapping/jacobi.c"),
        places: &[1, 2, 4, 7],
    },
    Nest { name: "matmul", text: include_str!("../offload/mapping/matmul.c"), places: &[1, 2, 4] },
    Nest {
        name: "stencil",
        text: include_str!("../offload/mapping/stencil.c"),
        places: &[1, 2, 3, 4, 5, 6, 7, 8, 9],
    },
    Nest { name: "mriq", text: include_str!("../offload/mapping/mriq.c"), places: &[1, 2] },
];
/// As written for a GPU, in the words of either standard.
const OURS: [(u32, &str); 2] = [(20, "teams"), (21, "kernels")];
const TURNS: &str = "15";
const FEW_TURNS: &str = "2";
/// What the goal allows.
const GOAL: f64 = 1.05;

pub(crate) fn run(tools: &Tools) -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let path = folder.path();
    std::fs::write(path.join("mapping.h"), HEADER)?;
    std::fs::write(path.join("main.c"), MAIN)?;
    println!(
        "| milliseconds, median | best placement | worst | teams, threads | kernels | to the best |"
    );
    println!("|---|---:|---:|---:|---:|---:|");
    let mut is_met = true;
    for nest in &NESTS {
        std::fs::write(path.join("nest.c"), nest.text)?;
        let mut sides = String::from("SIDE(serial)\n");
        let mut objects = Vec::new();
        let mut build = |command: &mut Command, place: u32, side: &str| {
            let object = format!("{side}.o");
            let (place, run) = (format!("-DPLACE={place}"), format!("-DRUN={side}"));
            let words = ["-O3", "-fopenmp", &place, &run, "-c", "nest.c", "-o", &object];
            objects.push(object.clone());
            compile(command.args(words).current_dir(path))
        };
        build(&mut Command::new(&tools.cc), 0, "serial")?;
        for place in nest.places {
            build(&mut Command::new(&tools.cc), *place, &format!("place{place}"))?;
            writeln!(sides, "SIDE(place{place})")?;
        }
        for (place, side) in OURS {
            build(Command::new(&tools.ferry).arg("cc"), place, side)?;
            writeln!(sides, "SIDE({side})")?;
        }
        std::fs::write(path.join("sides.h"), sides)?;
        let mut link = Command::new(&tools.ferry);
        link.args(["cc", "-O3", "-fopenmp", "main.c"])
            .args(&objects)
            .args(["-lm", "-o", "program"]);
        compile(link.current_dir(path))?;
        let mut samples = Samples::default();
        let turns = if tools.quick { FEW_TURNS } else { TURNS };
        samples.gather(Command::new(path.join("program")).arg(turns))?;
        is_met &= row(nest, &samples);
    }
    println!();
    let told = if is_met { "within" } else { "not within" };
    println!("Goal: no slower than the best placement by more than 5 %; {told} it.");
    println!();
    Ok(())
}

/// Prints a line; answers whether the goal is met.
fn row(nest: &Nest, samples: &Samples) -> bool {
    let time = |place: u32| samples.median(&format!("place{place}"));
    let mut times: Vec<(f64, u32)> =
        nest.places.iter().filter_map(|it| Some((time(*it)?, *it))).collect();
    times.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (Some(best), Some(worst)) = (times.first(), times.last()) else { return false };
    let ours: Vec<Option<f64>> = OURS.iter().map(|it| samples.median(it.1)).collect();
    let milli = |it: Option<f64>| cell(it.map(|it| it * 1000.0), 3);
    let slowest = ours.iter().flatten().copied().fold(0.0, f64::max);
    let ratio = slowest / best.0;
    println!(
        "| {} | {} ({}) | {} ({}) | {} | {} | {ratio:.3} |",
        nest.name,
        milli(Some(best.0)),
        best.1,
        milli(Some(worst.0)),
        worst.1,
        milli(ours.first().copied().flatten()),
        milli(ours.get(1).copied().flatten()),
    );
    ratio <= GOAL
}
