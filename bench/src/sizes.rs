//! Words that are tuned for GPUs: `offload/sizes.c`, one loop in many spellings, on each device that is there.
//!
//! The ratio to the same loop without such words should be one: whoever runs which iteration is the device's to choose.

use std::error::Error;
use std::process::Command;

use crate::samples::{Samples, cell, ratio};
use crate::{Tools, compile};

const TEXT: &str = include_str!("../offload/sizes.c");
const DEVICES: [&str; 3] = ["cpu", "cpu:separate", "opencl"];

/// Name in the program, the spelling it is compared with, in words.
const SPELLINGS: [(&str, &str, &str); 5] = [
    ("teams", "plain", "`num_teams(1024) thread_limit(256)`"),
    ("teams-in-turn", "plain", "`num_teams(216) thread_limit(256) schedule(static, 1)`"),
    ("chunks", "plain", "`dist_schedule(static, 256) schedule(static, 1)`"),
    ("threads", "plain", "`num_teams(1024) num_threads(128)`"),
    ("stencil-in-turn", "stencil", "`collapse(2) schedule(static, 1)`, a stencil"),
];

pub(crate) fn run(tools: &Tools) -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let (text, program) = (folder.path().join("sizes.c"), folder.path().join("sizes"));
    std::fs::write(&text, TEXT)?;
    let devices = DEVICES.join(",");
    compile(
        Command::new(&tools.ferry)
            .args(["cc", "-O2", "--device", &devices])
            .arg(&text)
            .arg("-o")
            .arg(&program),
    )?;
    let rounds = if tools.quick { "1" } else { "21" };
    println!("| milliseconds, median | device | plain | so spelt | ratio |");
    println!("|---|---|---:|---:|---:|");
    for device in DEVICES {
        let mut samples = Samples::default();
        let mut run = Command::new(&program);
        run.arg(rounds).env("FERRY_DEVICE", device).env("OMP_TARGET_OFFLOAD", "MANDATORY");
        if let Err(error) = samples.gather(&mut run) {
            println!("| not measured: {error} | `{device}` | – | – | – |");
            continue;
        }
        let milli = |name: &str| samples.median(name).map(|it| it / 1e6);
        for (name, base, words) in SPELLINGS {
            let times = ratio(milli(name), milli(base));
            let cells = [cell(milli(base), 2), cell(milli(name), 2), cell(times, 2)];
            println!("| {words} | `{device}` | {} |", cells.join(" | "));
        }
    }
    println!();
    Ok(())
}
