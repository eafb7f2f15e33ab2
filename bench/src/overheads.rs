//! What directives cost by themselves: `offload/overheads.c`, built by three compilers.
//!
//! The host's compiler builds the constructs without `target` only: it has no device here.

use std::error::Error;
use std::path::PathBuf;
use std::process::Command;

use crate::samples::{Samples, cell, ratio};
use crate::{Tools, compile};

const TEXT: &str = include_str!("../offload/overheads.c");
const ROUNDS: usize = 5;
const BATCHES: &str = "20";

/// What needs a device: name in the program, in words.
const REGIONS: [(&str, &str); 8] = [
    ("empty", "`target`, empty"),
    ("one", "`target`, 1 scalar mapped"),
    ("ten", "`target`, 10 scalars mapped"),
    ("hundred", "`target`, 100 scalars mapped"),
    ("data", "`target data`, 4 KiB mapped, empty"),
    ("inside-data", "`target`, 4 KiB present"),
    ("ten-inside-data", "`target`, 10 scalars present"),
    ("update", "`target update to`, 4 KiB"),
];

/// What exists with and without.
const CONSTRUCTS: [(&str, &str); 5] = [
    ("parallel", "`parallel` in a region"),
    ("parallel-for", "`parallel for` in a region, 1024 iterations"),
    ("barrier", "`barrier` in a region"),
    ("reduction", "`parallel for reduction` in a region, 1024 iterations"),
    ("loop", "`target teams distribute parallel for`, 1024 iterations"),
];

/// A built program and what it has said.
struct Side {
    program: PathBuf,
    samples: Samples,
}

pub(crate) fn run(tools: &Tools) -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let text = folder.path().join("overheads.c");
    std::fs::write(&text, TEXT)?;
    let build = |compiler: &str, words: &[&str], name: &str| -> Result<Side, Box<dyn Error>> {
        let program = folder.path().join(name);
        let mut command = Command::new(compiler);
        command.args(words).args(["-O2", "-fopenmp"]).arg(&text).arg("-o").arg(&program);
        compile(&mut command)?;
        Ok(Side { program, samples: Samples::default() })
    };
    let ferry = build(&tools.ferry, &["cc", "-DTARGET"], "ferry")?;
    let host = build(&tools.cc, &[], "host")?;
    let mut sides = vec![ferry, host];
    if let Some(clang) = &tools.clang {
        let library = format!("-Wl,-rpath,{}", libraries(clang)?);
        let words = ["-DTARGET", "-fopenmp-targets=x86_64-pc-linux-gnu", &library];
        sides.push(build(clang, &words, "clang")?);
    }
    for _ in 0..ROUNDS {
        for side in &mut sides {
            side.samples.gather(Command::new(&side.program).arg(BATCHES))?;
        }
    }
    let none = Samples::default();
    let mut sides = sides.iter().map(|it| &it.samples);
    let ferry = sides.next().unwrap_or(&none);
    let host = sides.next().unwrap_or(&none);
    let clang = sides.next().unwrap_or(&none);
    regions(tools, ferry, clang);
    constructs(tools, ferry, host, clang);
    Ok(())
}

/// Where clang's own offload library lies; the loader does not always look there.
fn libraries(clang: &str) -> Result<String, Box<dyn Error>> {
    let answer = Command::new(clang).arg("-print-file-name=libomptarget.so").output()?;
    let path = PathBuf::from(String::from_utf8(answer.stdout)?.trim());
    let folder = path.parent().ok_or("clang does not say where its libraries are")?;
    Ok(folder.display().to_string())
}

fn regions(tools: &Tools, ferry: &Samples, clang: &Samples) {
    let theirs = tools.clang.as_deref().unwrap_or("clang");
    println!("| microseconds, median (least) | ferry | {theirs} | {theirs} / ferry |");
    println!("|---|---:|---:|---:|");
    for (name, words) in REGIONS {
        let key = format!("{name} target");
        let both = |it: &Samples| {
            let (median, least) = (micro(it.median(&key)), micro(it.least(&key)));
            format!("{} ({})", cell(median, 2), cell(least, 2))
        };
        let times = ratio(clang.median(&key), ferry.median(&key));
        println!("| {words} | {} | {} | {} |", both(ferry), both(clang), cell(times, 1));
    }
    println!();
}

/// With `target` against without, in one process each; the ratio of the least times too, because
/// threads that wait for each other are at the mercy of whatever else runs.
fn constructs(tools: &Tools, ferry: &Samples, host: &Samples, clang: &Samples) {
    let cc = &tools.cc;
    let theirs = tools.clang.as_deref().unwrap_or("clang");
    println!(
        "| microseconds, median | {cc} without | ferry without | ferry | ratio | ratio of least \
         | {theirs} without | {theirs} | ratio |"
    );
    println!("|---|---:|---:|---:|---:|---:|---:|---:|---:|");
    for (name, words) in CONSTRUCTS {
        let (target, plain) = (format!("{name} target"), format!("{name} host"));
        let median = |it: &Samples, key: &str| cell(micro(it.median(key)), 2);
        let cells = [
            median(host, &plain),
            median(ferry, &plain),
            median(ferry, &target),
            cell(ratio(ferry.median(&target), ferry.median(&plain)), 2),
            cell(ratio(ferry.least(&target), ferry.least(&plain)), 2),
            median(clang, &plain),
            median(clang, &target),
            cell(ratio(clang.median(&target), clang.median(&plain)), 2),
        ];
        println!("| {words} | {} |", cells.join(" | "));
    }
    println!();
}

fn micro(nano: Option<f64>) -> Option<f64> {
    nano.map(|it| it / 1000.0)
}
