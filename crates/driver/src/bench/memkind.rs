//! `ferry bench memkind`: what memory costs that each thread uses in parallel regions.
//!
//! Arrays of five sizes, 4096 regions in a run; each thread allocates and releases its array in every region, or has its own
//! by the directive. Cost is the time of a region less that of an empty one. The three figures of the paper that
//! proposed the directive: the distribution over runs, the time by size, and the improvement. Threads that begin and meet hide
//! what is shorter than that, so a second table has iterations of all threads within one region.

use std::fmt::Write as _;
use std::fs;
use std::process::{Command, ExitCode};

use crate::options::BenchOptions;
use crate::report::{self, Stream, reason};

const TEXT: &str = include_str!("memkind.c");
/// Sizes of the arrays, in bytes.
const SIZES: [usize; 5] = [8, 16, 64, 1024, 65536];

/// One run with arrays of one size: nanoseconds of a region beyond those of an empty one.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Run {
    size: usize,
    base: f64,
    own: f64,
}

/// The middle half of runs: its ends and its middle.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Spread {
    low: f64,
    middle: f64,
    high: f64,
}

pub(super) fn run(options: &BenchOptions) -> Result<ExitCode, String> {
    let folder =
        tempfile::tempdir().map_err(|it| format!("no folder for the program: {}", reason(&it)))?;
    let (source, program) = (folder.path().join("memkind.c"), folder.path().join("memkind"));
    report::write_file(&source, TEXT.as_bytes())?;
    let ferry = std::env::current_exe().map_err(|it| reason(&it))?;
    let mut compile = Command::new(ferry);
    compile
        .args(["cc", "-O2", &format!("-DRUNS={}", options.runs.unwrap_or(50))])
        .arg(&source)
        .arg("-o")
        .arg(&program);
    let built = compile.status().map_err(|it| reason(&it))?;
    if !built.success() {
        return Err("the program could not be compiled".to_owned());
    }
    let output = Command::new(&program).output().map_err(|it| reason(&it))?;
    if !output.status.success() {
        return Err(format!("the program failed: {}", String::from_utf8_lossy(&output.stderr)));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let runs = read(&text, "");
    let inside = read(&text, "inside ");
    let table = format!(
        "A region in each iteration:\n\n{}\nIterations within one region:\n\n{}",
        table(&runs),
        table(&inside)
    );
    report::show(&table, Stream::Out)?;
    if let Some(folder) = &options.output {
        let write =
            |name: &str, text: &str| report::write_file(&folder.join(name), text.as_bytes());
        fs::create_dir_all(folder)
            .map_err(|error| format!("cannot make `{}`: {}", folder.display(), reason(&error)))?;
        write("memkind.md", &table)?;
        write("memkind.svg", &draw(&runs))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// `size base own` behind a word, a line for each run.
fn read(text: &str, word: &str) -> Vec<Run> {
    let line = |line: &str| {
        let mut words = line.strip_prefix(word)?.split_whitespace();
        let size = words.next()?.parse().ok()?;
        let mut number = || words.next()?.parse::<f64>().ok();
        Some(Run { size, base: number()?, own: number()? })
    };
    text.lines().filter_map(line).collect()
}

fn spread(runs: &[Run], size: usize, of: impl Fn(&Run) -> f64) -> Spread {
    let mut all: Vec<f64> = runs.iter().filter(|it| it.size == size).map(of).collect();
    all.sort_by(f64::total_cmp);
    let at = |part: usize| all.get(all.len() * part / 4).copied().unwrap_or(f64::NAN);
    Spread { low: at(1), middle: at(2), high: all.get(all.len() * 3 / 4).copied().unwrap_or(at(2)) }
}

/// Per cent by which the directive is cheaper; none where the middle halves of the runs meet, or something seems to cost less than nothing.
fn improvement(base: Spread, own: Spread) -> Option<f64> {
    let is_told = base.low > 0.0 && (own.high < base.low || own.low > base.high);
    is_told.then(|| (1.0 - own.middle.max(0.0) / base.middle) * 100.0)
}

fn table(runs: &[Run]) -> String {
    let mut text = String::from(
        "| bytes | malloc and free: ns, middle half of runs | memkind: ns, middle half | cheaper by |\n|---:|---:|---:|---:|\n",
    );
    for size in SIZES {
        let (base, own) = (spread(runs, size, |it| it.base), spread(runs, size, |it| it.own));
        let cheaper = match improvement(base, own) {
            Some(cheaper) => format!("{cheaper:.0} %"),
            None => "not told apart".to_owned(),
        };
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "| {size} | {:.1} ({:.1} to {:.1}) | {:.1} ({:.1} to {:.1}) | {cheaper} |",
            base.middle, base.low, base.high, own.middle, own.low, own.high
        );
    }
    let count = runs.iter().filter(|it| Some(&it.size) == SIZES.first()).count();
    let _ = writeln!(
        text,
        "\n{count} runs of 4096 iterations each; times are less those of the same without memory."
    );
    text
}

const WIDTH: f64 = 520.0;
const HEIGHT: f64 = 160.0;
const LEFT: f64 = 60.0;
const COLOURS: [&str; 2] = ["#4477aa", "#ee6677"];

/// Three figures below each other.
fn draw(runs: &[Run]) -> String {
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{:.0}\" font-family=\"sans-serif\" \
         font-size=\"10\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
        3.0 * (HEIGHT + 60.0)
    );
    let column = (WIDTH - LEFT - 20.0) / SIZES.len() as f64;
    let most = runs.iter().map(|it| it.base.max(it.own)).fold(1.0_f64, f64::max);
    let spreads = |size| [spread(runs, size, |it| it.base), spread(runs, size, |it| it.own)];
    let middle = SIZES.map(|it| spreads(it).map(|it| it.middle));
    let most_middle = middle.iter().flatten().copied().fold(1.0_f64, f64::max);
    let panels = [
        ("distribution: nanoseconds of each run (blue: malloc and free, red: memkind)", most),
        ("middle of the runs: nanoseconds", most_middle),
        ("improvement: per cent", 100.0),
    ];
    for (panel, (title, most)) in panels.into_iter().enumerate() {
        let top = 30.0 + panel as f64 * (HEIGHT + 60.0);
        let bottom = top + HEIGHT;
        let y = |value: f64| bottom - (value / most).clamp(0.0, 1.0) * HEIGHT;
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "<text x=\"{LEFT}\" y=\"{:.1}\" font-size=\"12\">{title}</text><text x=\"{:.1}\" y=\"{top:.1}\" \
             text-anchor=\"end\">{most:.0}</text><text x=\"{:.1}\" y=\"{bottom:.1}\" text-anchor=\"end\">0</text>\
             <line x1=\"{LEFT}\" x2=\"{WIDTH}\" y1=\"{bottom:.1}\" y2=\"{bottom:.1}\" stroke=\"#888888\"/>",
            top - 10.0,
            LEFT - 4.0,
            LEFT - 4.0
        );
        for (index, size) in SIZES.into_iter().enumerate() {
            let x = LEFT + column * (index as f64 + 0.5);
            let _ = writeln!(
                text,
                "<text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{size} B</text>",
                bottom + 14.0
            );
            let [base, own] = spreads(size);
            match panel {
                0 => {
                    for run in runs.iter().filter(|it| it.size == size) {
                        for (value, side) in [(run.base, 0), (run.own, 1)] {
                            let _ = writeln!(
                                text,
                                "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"2\" fill=\"{}\" fill-opacity=\"0.5\"/>",
                                x - 10.0 + 20.0 * f64::from(side),
                                y(value),
                                COLOURS.get(side as usize).copied().unwrap_or("black")
                            );
                        }
                    }
                }
                1 => {
                    bar(&mut text, x - 18.0, y(base.middle), bottom, 0);
                    bar(&mut text, x + 2.0, y(own.middle), bottom, 1);
                }
                _ => bar(&mut text, x - 8.0, y(improvement(base, own).unwrap_or(0.0)), bottom, 1),
            }
        }
    }
    text.push_str("</svg>\n");
    text
}

fn bar(text: &mut String, x: f64, top: f64, bottom: f64, colour: usize) {
    let colour = COLOURS.get(colour).copied().unwrap_or("black");
    let _ = writeln!(
        text,
        "<rect x=\"{x:.1}\" y=\"{top:.1}\" width=\"16\" height=\"{:.1}\" fill=\"{colour}\"/>",
        bottom - top
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_become_costs() {
        let text = "8 50.0 10.0\n8 150 5\nnoise\n16 1\ninside 8 3 4\n";
        let runs = read(text, "");
        assert_eq!(
            runs,
            [Run { size: 8, base: 50.0, own: 10.0 }, Run { size: 8, base: 150.0, own: 5.0 }]
        );
        assert_eq!(read(text, "inside "), [Run { size: 8, base: 3.0, own: 4.0 }]);
        let table = table(&runs);
        assert!(
            table.contains("| 8 | 150.0 (50.0 to 150.0) | 10.0 (5.0 to 10.0) | 93 % |"),
            "{table}"
        );
        assert!(
            table.contains("| 16 | NaN (NaN to NaN) | NaN (NaN to NaN) | not told apart |"),
            "{table}"
        );
        assert!(draw(&runs).ends_with("</svg>\n"));
    }
}
