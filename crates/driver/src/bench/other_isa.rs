//! `ferry bench other-isa`: what regions cost on other machines, how fast data get there, and what three kernels take.
//!
//! One program for every device that is here: the processor in process and in a process of its own, this machine as if it
//! were another that shares nothing, and those that have a compiler here. Kernels must give the same answer everywhere.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode};

use crate::cc::remote::Machine;
use crate::cc::remote::describe::READY;
use crate::options::BenchOptions;
use crate::progress::Progress;
use crate::report::{self, Stream, reason};

const TEXT: &str = include_str!("other_isa.c");

/// This machine as another one, to which all goes by frames.
const FRAMES: &str = include_str!("frames.toml");

/// What a program has printed: a name, a number, and what was computed.
type Line = (String, f64, String);

pub(super) fn run(options: &BenchOptions) -> Result<ExitCode, String> {
    let folder =
        tempfile::tempdir().map_err(|it| format!("no folder for the program: {}", reason(&it)))?;
    report::write_file(&folder.path().join("other_isa.c"), TEXT.as_bytes())?;
    report::write_file(&folder.path().join("frames.toml"), FRAMES.as_bytes())?;
    let mut devices: Vec<(String, String)> =
        ["cpu", "cpu:separate"].map(|it| (it.to_owned(), it.to_owned())).to_vec();
    devices.push(("remote:frames.toml".to_owned(), "remote, by frames".to_owned()));
    for (name, _) in READY {
        // Those that are not here are not measured.
        if Machine::read(name).and_then(|it| it.find()).is_ok() {
            devices.push((format!("remote:{name}"), format!("remote:{name}")));
        }
    }
    let mut progress = Progress::new("measuring", devices.len());
    let mut columns = Vec::new();
    for (device, shown) in &devices {
        progress.step(Path::new(shown));
        columns.push((shown.as_str(), measured(folder.path(), device, options)?));
    }
    progress.clear();
    let table = table(&columns)?;
    report::show(&table, Stream::Out)?;
    if let Some(folder) = &options.output {
        fs::create_dir_all(folder)
            .map_err(|error| format!("cannot make `{}`: {}", folder.display(), reason(&error)))?;
        report::write_file(&folder.join("other-isa.md"), table.as_bytes())?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Builds and runs the program for a device.
fn measured(folder: &Path, device: &str, options: &BenchOptions) -> Result<Vec<Line>, String> {
    let ferry = std::env::current_exe().map_err(|it| reason(&it))?;
    let mut compile = Command::new(ferry);
    compile.args(["cc", "-O2", "--device", device, "-DMIB=256"]);
    compile.args([&format!("-DRUNS={}", options.runs.unwrap_or(1000)), "other_isa.c", "-o", "a"]);
    let built = compile.current_dir(folder).status().map_err(|it| reason(&it))?;
    if !built.success() {
        return Err(format!("the program could not be compiled for {device}"));
    }
    let mut program = Command::new(folder.join("a"));
    program.env_remove("FERRY_DEVICE");
    let output = program.output().map_err(|it| reason(&it))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        return Err(format!("the program failed on {device}: {said}"));
    }
    let found = lines(&String::from_utf8_lossy(&output.stdout));
    match found.first() {
        Some((_, away, _)) if *away == 1.0 => Ok(found),
        _ => Err(format!("regions do not run on {device}")),
    }
}

fn lines(text: &str) -> Vec<Line> {
    let line = |it: &str| {
        let mut parts = it.split('\t');
        let name = parts.next()?.to_owned();
        let number = parts.next()?.parse().ok()?;
        Some((name, number, parts.next()?.to_owned()))
    };
    text.lines().filter_map(line).collect()
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
