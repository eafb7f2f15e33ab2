//! Loops of one core over the host's memory, as compiled and by hand (`direct.c`), for the three kinds of hardware.

use std::fmt::Write as _;
use std::path::Path;

use super::{BUILDS as ALL_BUILDS, Bench, Build, Model, known};
use crate::progress::Progress;

const TEXT: &str = include_str!("direct.c");

const KERNELS: [&str; 4] = ["sum", "scale", "product", "chain"];

/// The matrix that is read: one that lies between two multiples of 4 GiB, and one across.
const PLACES: [(usize, &str); 2] = [(0, ""), (3, ", across 4 GiB")];

/// The matrix that results go to.
const RESULT: usize = 6;

/// Those with assignment.
pub(super) const BUILDS: [Build; 3] = [ALL_BUILDS[0], ALL_BUILDS[1], ALL_BUILDS[2]];

/// Cycles of one loop, compiled and by hand, for each of [`BUILDS`].
#[derive(Clone, Debug)]
pub(super) struct Row {
    name: String,
    size: usize,
    cycles: Vec<(u64, u64)>,
}

/// All loops at one size.
pub(super) fn measure(bench: &Bench<'_>, progress: &mut Progress) -> Result<Vec<Row>, String> {
    let size = bench.size;
    let names = PLACES
        .iter()
        .flat_map(|(which, place)| KERNELS.map(|it| (it, *which, format!("{it}{place}"))));
    let mut rows: Vec<(&str, usize, Row)> = names
        .map(|(kernel, which, name)| (kernel, which, Row { name, size, cycles: Vec::new() }))
        .collect();
    for build in BUILDS {
        progress.step(Path::new(&format!("direct accesses, {} at size {size}", build.name)));
        let hardware = format!("-D{}", build.hardware.to_uppercase());
        let loaded = bench.loaded(build, TEXT, &[hardware])?;
        for (kernel, which, row) in &mut rows {
            let (start, expected) = expected(bench, kernel, *which);
            let cycles = |name: String| {
                let last = u32::try_from(*which).unwrap_or(0);
                let (cycles, found) = bench.run(&loaded, build.model, &name, &start, last)?;
                let result = found.get(RESULT).and_then(|it| it.get(..expected.len()));
                match result == Some(expected.as_slice()) {
                    true => Ok(cycles),
                    false => Err(format!("{name} at size {size} ({}) is wrong", build.name)),
                }
            };
            let (compiled, by_hand) =
                (cycles((*kernel).to_owned()), cycles(format!("{kernel}_by_hand")));
            row.cycles.push((compiled?, by_hand?));
        }
    }
    Ok(rows.into_iter().map(|it| it.2).collect())
}

/// Matrices before a loop, and what it leaves at the beginning of [`RESULT`].
fn expected(bench: &Bench<'_>, kernel: &str, which: usize) -> (known::Matrices, Vec<i32>) {
    let size = bench.size;
    let mut start = known::start(size);
    let from = start.get(which).cloned().unwrap_or_default();
    let rows = from.chunks(size);
    let result = match kernel {
        "sum" => vec![from.iter().sum()],
        "scale" => from.iter().map(|it| 3 * it).collect(),
        "chain" => {
            // Each points to the one behind it, the last one nowhere.
            let (steps, base) = (from.len() / 2, bench.address(Model::Host, which));
            let next = |it: usize| if it < steps { base + 8 * it as u64 } else { 0 };
            let words = (1..=steps).map(next);
            let halves = words.flat_map(|it| [it as i32, (it >> 32) as i32]).collect();
            if let Some(matrix) = start.get_mut(which) {
                *matrix = halves;
            }
            vec![i32::try_from(steps).unwrap_or(0)]
        }
        _ => {
            let other = start.get(1).cloned().unwrap_or_default();
            rows.map(|row| row.iter().zip(&other).map(|(one, other)| one * other).sum()).collect()
        }
    };
    (start, result)
}

/// Markdown.
pub(super) fn table(rows: &[Row]) -> String {
    let mut text = "Loops of one core over the host's memory: cycles as compiled, and how many times those of the same by hand.\n\n\
                    | loop | size | mapped | by hand | csr | by hand | isa | by hand |\n|---|---|---|---|---|---|---|---|\n"
        .to_owned();
    for Row { name, size, cycles } in rows {
        // Writing to a string cannot fail.
        let _ = write!(text, "| {name} | {size} |");
        for (compiled, by_hand) in cycles {
            let _ = write!(text, " {compiled} | {:.3} |", *compiled as f64 / *by_hand as f64);
        }
        text.push('\n');
    }
    text
}
