//! The mapping that ferry chooses against placements by hand: where threads and lanes stand in a nest.
//!
//! `offload/mapping/*.c` are compiled with `-O3` for each placement by the host's compiler, and as one would write them for
//! a GPU by ferry, which chooses. All sides are linked into one program, which runs them turn about on the same memory and
//! threads and compares results. Told are the best placement, ours, and how much longer ours took, as the mean over many
//! layouts.

use std::error::Error;
use std::fmt::Write;
use std::process::Command;

use crate::layouts;
use crate::samples::{Ratio, Samples, cell};
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
/// How often each nest is linked anew, and how often its sides run each time.
const LAYOUTS: usize = 20;
const TURNS: &str = "9";
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
    let (layouts, turns) = if tools.quick { (layouts::QUICK, FEW_TURNS) } else { (LAYOUTS, TURNS) };
    let mut is_met = true;
    for nest in tools.chosen(NESTS.iter(), |it| it.name)? {
        std::fs::write(path.join("nest.c"), nest.text)?;
        let build = |command: &mut Command, place: u32, side: &str| {
            let object = format!("{side}.o");
            let (place, run) = (format!("-DPLACE={place}"), format!("-DRUN={side}"));
            let words = ["-O3", "-fopenmp", &place, &run, "-c", "nest.c", "-o", &object];
            compile(command.args(words).current_dir(path))
        };
        build(&mut Command::new(&tools.cc), 0, "serial")?;
        let mut sides = Vec::new();
        for place in nest.places {
            sides.push(format!("place{place}"));
            build(&mut Command::new(&tools.cc), *place, &format!("place{place}"))?;
        }
        for (place, side) in OURS {
            sides.push(side.to_owned());
            build(Command::new(&tools.ferry).arg("cc"), place, side)?;
        }
        let mut list = String::from("SIDE(serial)\n");
        sides.iter().try_for_each(|it| writeln!(list, "SIDE({it})"))?;
        std::fs::write(path.join("sides.h"), list)?;
        let mut main = Command::new(&tools.cc);
        compile(main.args(["-O3", "-fopenmp", "-c", "main.c"]).current_dir(path))?;
        let mut programs = Vec::new();
        for layout in 0..layouts {
            layouts::link(tools, path, &["main.o", "serial.o"], &sides, layout)?;
            let mut samples = Samples::default();
            samples.gather(Command::new(path.join("program")).arg(turns))?;
            programs.push(samples);
        }
        is_met &= row(nest, &programs);
    }
    println!();
    let told = if is_met { "within" } else { "not within" };
    println!(
        "To the best: the slower of ours against that placement in the turn in the middle, mean over \
         {layouts} layouts (and where it lies with 95 %). Goal: no slower than the best placement by \
         more than 5 %; {told} it."
    );
    println!();
    Ok(())
}

/// Prints a line; answers whether the goal is met.
fn row(nest: &Nest, programs: &[Samples]) -> bool {
    let mut all = Samples::default();
    programs.iter().for_each(|it| all.extend(it));
    let time = |place: u32| all.median(&format!("place{place}"));
    let mut times: Vec<(f64, u32)> =
        nest.places.iter().filter_map(|it| Some((time(*it)?, *it))).collect();
    times.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (Some(best), Some(worst)) = (times.first(), times.last()) else { return false };
    let milli = |it: Option<f64>| cell(it.map(|it| it * 1000.0), 3);
    // Over many layouts another may be the best than by the median of all times.
    let against = |place: u32| {
        let ratio = |side| Ratio::over(programs, side, &format!("place{place}"));
        let ours = OURS.iter().filter_map(|it| ratio(it.1));
        ours.max_by(|a, b| a.mean.total_cmp(&b.mean))
    };
    let ratios = nest.places.iter().filter_map(|it| against(*it));
    let Some(ratio) = ratios.max_by(|a, b| a.mean.total_cmp(&b.mean)) else { return false };
    let [teams, kernels] = OURS.map(|it| milli(all.median(it.1)));
    println!(
        "| {} | {} ({}) | {} ({}) | {teams} | {kernels} | {:.3} ({:.3}–{:.3}) |",
        nest.name,
        milli(Some(best.0)),
        best.1,
        milli(Some(worst.0)),
        worst.1,
        ratio.mean,
        ratio.from,
        ratio.to,
    );
    ratio.mean <= GOAL
}
