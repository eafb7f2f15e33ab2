//! How fast the cluster is simulated: instructions of all cores per second of processor time.
//!
//! The program is `offload/cluster.c`, built by clang for RISC-V. Its answer is checked, so that speed is not bought
//! with errors.

use std::error::Error;
use std::path::Path;
use std::process::Command;

use sim::{Cluster, Config, NoMemory, Stop};

use crate::{Tools, compile};

/// What is run: a name, the type of elements, the size of matrices, the clusters. Clusters of one
/// work have the same instructions and addresses.
struct Work {
    name: &'static str,
    kind: &'static str,
    size: i64,
    presets: &'static [&'static str],
}

const HERO: &[&str] = &["hero-paper", "hero-rtl"];

const WORK: [Work; 4] = [
    Work { name: "int-64", kind: "int", size: 64, presets: HERO },
    Work { name: "float-64", kind: "float", size: 64, presets: HERO },
    Work { name: "int-9", kind: "int", size: 9, presets: HERO },
    Work { name: "double-64", kind: "double", size: 64, presets: &["keystone2-like"] },
];

/// Prints a table: what was run, how much, how fast.
pub(crate) fn run(tools: &Tools) -> Result<(), Box<dyn Error>> {
    let clang = tools.clang.as_ref().ok_or("the part `sim` needs clang-19 and lld-19")?;
    let chosen = tools.chosen(WORK.iter(), |it| it.name)?;
    println!("## Simulated cluster\n");
    println!(
        "| program | cluster | instructions, millions | cycles, millions | CPU s | million instructions/s |"
    );
    println!("|---|---|---:|---:|---:|---:|");
    let folder = tempfile::tempdir()?;
    for work in chosen {
        // About a hundred million instructions.
        let rounds = if tools.quick { 1 } else { 12_000_000 / (work.size * work.size * work.size) };
        let program = folder.path().join(work.name);
        build(clang, work, rounds, &program)?;
        let program = std::fs::read(&program)?;
        for preset in work.presets {
            // The best of a few, as a busy neighbour makes all but one slower.
            let tries = if tools.quick { 1 } else { 3 };
            let mut best: Option<Measured> = None;
            for _ in 0..tries {
                let now = measure(&program, preset, work)?;
                if best.as_ref().is_none_or(|it| now.seconds < it.seconds) {
                    best = Some(now);
                }
            }
            let Some(Measured { instructions, cycles, seconds }) = best else { continue };
            println!(
                "| {} | {preset} | {:.1} | {:.1} | {seconds:.2} | {:.1} |",
                work.name,
                instructions / 1e6,
                cycles / 1e6,
                instructions / 1e6 / seconds
            );
        }
    }
    println!("\nLargest memory of this process: {} MiB.\n", peak_kib() / 1024);
    Ok(())
}

struct Measured {
    instructions: f64,
    cycles: f64,
    seconds: f64,
}

fn build(clang: &str, work: &Work, rounds: i64, out: &Path) -> Result<(), Box<dyn Error>> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("offload/cluster.c");
    let config = Config::preset(work.presets.first().ok_or("no cluster")?)?;
    let (march, mabi) = match work.kind {
        "double" => ("-march=rv32imafdc_zicsr", "-mabi=ilp32d"),
        _ => ("-march=rv32imafc_zicsr", "-mabi=ilp32f"),
    };
    let mut command = Command::new(clang);
    command.args(["--target=riscv32-unknown-elf", march, mabi, "-O2", "-ffreestanding"]);
    command.args(["-nostdlib", "-static", "-fuse-ld=lld-19"]);
    command.arg(format!("-Wl,--image-base={:#x}", config.l2.base));
    command.arg(format!("-DKIND={}", work.kind)).arg(format!("-DSIZE={}", work.size));
    command.arg(format!("-DL1={:#x}", config.l1.base));
    command.arg(format!("-DSTACKS={:#x}", config.l1.base + config.l1.size));
    command.arg(format!("-DROUNDS={rounds}")).arg(source).arg("-o").arg(out);
    compile(&mut command)
}

fn measure(program: &[u8], preset: &str, work: &Work) -> Result<Measured, Box<dyn Error>> {
    let config = Config::preset(preset)?;
    let mut cluster = Cluster::new(&config);
    cluster.load(program)?;
    let before = processor_seconds()?;
    let stop = cluster.run(&mut NoMemory, None)?;
    let seconds = processor_seconds()? - before;
    let expect: i64 = (0..work.size).map(|k| (1 + k) * (k - 2)).sum();
    if stop != Stop::Exited(expect as u32) {
        return Err(format!("{} ends with {stop:?} instead of {expect}", work.name).into());
    }
    let instructions: u64 = cluster.counters().iter().map(|it| it.instructions).sum();
    Ok(Measured { instructions: instructions as f64, cycles: cluster.cycle() as f64, seconds })
}

/// Processor time of this process.
fn processor_seconds() -> Result<f64, Box<dyn Error>> {
    let usage = usage();
    Ok(usage.ru_utime.tv_sec as f64 + usage.ru_utime.tv_usec as f64 / 1e6)
}

fn peak_kib() -> i64 {
    usage().ru_maxrss
}

#[allow(unsafe_code, reason = "the standard library does not tell what a process has used")]
fn usage() -> libc::rusage {
    // SAFETY: all bytes zero is a valid `rusage`: it holds integers only.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: the pointer is to a live variable of the right type.
    unsafe { libc::getrusage(libc::RUSAGE_SELF, &raw mut usage) };
    usage
}
