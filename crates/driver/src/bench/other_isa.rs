//! `ferry bench other-isa`: what regions and constructs cost on other machines, how fast data get there, and what seven kernels
//! take.
//!
//! One program for every device that is here: the processor in process and in a process of its own, this machine as if it
//! were another that shares nothing, and those that have a compiler here; and started on another machine, with its regions there
//! and here. Kernels must give the same answer everywhere.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

use super::other_isa_chart;
use crate::cc::remote::Machine;
use crate::cc::remote::describe::READY;
use crate::options::BenchOptions;
use crate::progress::Progress;
use crate::report::{self, Stream, reason};

const TEXT: &str = include_str!("other_isa.c");

/// This machine as another one, to which all goes by frames.
const FRAMES: &str = include_str!("frames.toml");

/// What a program has printed: a name, a number, and what was computed.
pub(super) type Line = (String, f64, String);

pub(super) fn run(options: &BenchOptions) -> Result<ExitCode, String> {
    let folder =
        tempfile::tempdir().map_err(|it| format!("no folder for the program: {}", reason(&it)))?;
    report::write_file(&folder.path().join("other_isa.c"), TEXT.as_bytes())?;
    report::write_file(&folder.path().join("frames.toml"), FRAMES.as_bytes())?;
    let places = places();
    let mut progress = Progress::new("measuring", places.len());
    let mut columns = Vec::new();
    for place in &places {
        progress.step(Path::new(&place.shown));
        let mut told = |row: &str| progress.at(Path::new(&format!("{}: {row}", place.shown)));
        match measured(folder.path(), place, options, &mut told) {
            Ok(lines) => columns.push((place.shown.as_str(), lines)),
            // The library for programs that start there may not be.
            Err(why) if place.host.is_some() => {
                report::show(&format!("{} is left out: {why}\n", place.shown), Stream::Err)?;
            }
            Err(why) => return Err(why),
        }
    }
    progress.clear();
    let table = table(&columns)?;
    report::show(&table, Stream::Out)?;
    if let Some(folder) = &options.output {
        fs::create_dir_all(folder)
            .map_err(|error| format!("cannot make `{}`: {}", folder.display(), reason(&error)))?;
        report::write_file(&folder.join("other-isa.md"), table.as_bytes())?;
        let title = "seconds of kernels, in times of the first";
        let drawn = other_isa_chart::draw(title, &columns);
        report::write_file(&folder.join("other-isa.svg"), drawn.as_bytes())?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Where the program starts and where its regions run.
struct Place {
    shown: String,
    /// Another machine that it starts on.
    host: Option<&'static str>,
    /// What it is built for.
    built_for: String,
    /// Which of them it uses.
    device: String,
}

impl Place {
    fn here(device: &str, shown: &str) -> Place {
        let [device, shown] = [device, shown].map(str::to_owned);
        Place { shown, host: None, built_for: device.clone(), device }
    }
}

/// All that are here.
fn places() -> Vec<Place> {
    let mut places = vec![Place::here("cpu", "cpu"), Place::here("cpu:separate", "cpu:separate")];
    places.push(Place::here("remote:frames.toml", "remote, by frames"));
    let is_here = |name: &str| Machine::read(name).and_then(|it| it.find()).is_ok();
    let others: Vec<&'static str> =
        READY.iter().map(|it| it.0).filter(|it| *it != NATIVE && is_here(it)).collect();
    places.extend(
        others.iter().map(|it| Place::here(&format!("remote:{it}"), &format!("remote:{it}"))),
    );
    if is_here(NATIVE) {
        let first = others.first().copied();
        for (device, what) in [("cpu", "all of it"), ("remote:x86_64", "regions here")] {
            places.extend(first.map(|host| Place {
                shown: format!("starts on {host}, {what}"),
                host: Some(host),
                built_for: "x86_64,cpu".to_owned(),
                device: device.to_owned(),
            }));
        }
    }
    places
}

/// The machine that runs emulators.
const NATIVE: &str = "x86_64";

/// Builds and runs the program in a place, and tells which row it has measured.
fn measured(
    folder: &Path,
    place: &Place,
    options: &BenchOptions,
    told: &mut dyn FnMut(&str),
) -> Result<Vec<Line>, String> {
    let ferry = std::env::current_exe().map_err(|it| reason(&it))?;
    let mut compile = Command::new(ferry);
    compile.args(["cc", "-O2", "--device", &place.built_for]);
    compile.args(place.host.iter().flat_map(|it| ["--host", it]));
    compile.arg(format!("-DRUNS={}", options.runs.unwrap_or(1000)));
    compile.arg(format!("-DMIB={}", options.mib));
    compile.args(["other_isa.c", "-o", "a", "-lm"]);
    let built = compile.current_dir(folder).output().map_err(|it| reason(&it))?;
    if !built.status.success() {
        let said = String::from_utf8_lossy(&built.stderr).into_owned();
        return Err(format!("the program could not be compiled: {said}"));
    }
    let program = folder.join("a");
    let mut run = match place.host {
        None => Command::new(program),
        Some(host) => {
            let mut run = Command::new(format!("qemu-{host}"));
            run.args(["-L", &format!("/usr/{host}-linux-gnu")]).arg(program);
            run.env("FERRY_DEVICE", &place.device);
            // As in emulated devices: threads that wait are soon asleep.
            run.env("GOMP_SPINCOUNT", "1000");
            run
        }
    };
    if place.host.is_none() {
        run.env_remove("FERRY_DEVICE");
    }
    let failed = |why: &str| format!("the program failed on {}: {why}", place.device);
    // What it says must not fill a pipe that nobody reads.
    let said = folder.join("said");
    let errors = File::create(&said).map_err(|it| failed(&reason(&it)))?;
    run.stdout(Stdio::piped()).stderr(errors);
    let mut child = run.spawn().map_err(|it| failed(&reason(&it)))?;
    let mut found = Vec::new();
    for text in child.stdout.take().into_iter().flat_map(|it| BufReader::new(it).lines()) {
        found.extend(line(&text.map_err(|it| failed(&reason(&it)))?));
        found.last().iter().for_each(|it: &&Line| told(&it.0));
    }
    let status = child.wait().map_err(|it| failed(&reason(&it)))?;
    if !status.success() {
        return Err(failed(&fs::read_to_string(&said).unwrap_or_default()));
    }
    match found.first() {
        Some((_, away, _)) if *away == 1.0 => Ok(found),
        _ => Err(format!("regions do not run on {}", place.device)),
    }
}

fn line(text: &str) -> Option<Line> {
    let mut parts = text.split('\t');
    let name = parts.next()?.to_owned();
    let number = parts.next()?.parse().ok()?;
    Some((name, number, parts.next()?.to_owned()))
}

/// Markdown: a column for each device.
fn table(columns: &[(&str, Vec<Line>)]) -> Result<String, String> {
    let Some((_, first)) = columns.first() else { return Ok(String::new()) };
    let mut text = String::from("| |");
    for (name, _) in columns {
        let _ = write!(text, " {name} |");
    }
    text.push_str("\n|---|");
    text.push_str(&"---:|".repeat(columns.len()));
    text.push('\n');
    for (row, (name, _, answer)) in first.iter().enumerate() {
        let Some((kind, what)) = name.split_once(' ') else { continue };
        let unit = match kind {
            "cost" => "us",
            "memory" => "GB/s",
            _ => "s",
        };
        let _ = write!(text, "| `{what}`, {unit} |");
        for (device, lines) in columns {
            let Some((_, number, other)) = lines.get(row) else {
                return Err(format!("{device} has said less than others"));
            };
            if other != answer {
                return Err(format!("{what} is {other} on {device}, and {answer} elsewhere"));
            }
            let _ = match kind {
                // No memory is that fast.
                "memory" if *number > 1000.0 => write!(text, " not copied |"),
                "kernel" => write!(text, " {number:.4} |"),
                _ => write!(text, " {number:.1} |"),
            };
        }
        text.push('\n');
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<Line> {
        text.lines().filter_map(line).collect()
    }

    #[test]
    fn answers_that_differ_are_no_table() {
        let one = lines("away\t1\t0\ncost target\t3.25\t0\nkernel pairs\t0.5\t42\n");
        assert_eq!(one.len(), 3);
        let same = table(&[("a", one.clone()), ("b", one.clone())]).unwrap();
        assert!(same.contains("| `target`, us | 3.2 | 3.2 |"), "{same}");
        assert!(same.contains("| `pairs`, s | 0.5000 | 0.5000 |"), "{same}");
        let other = lines("away\t1\t0\ncost target\t3\t0\nkernel pairs\t0.5\t43\n");
        assert!(table(&[("a", one.clone()), ("b", other)]).is_err());
        assert!(table(&[("a", one), ("b", Vec::new())]).is_err());
    }
}
