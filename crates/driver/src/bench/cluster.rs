//! Tasks on the simulated cluster: cycles of programs (`cluster.c`) on 1 to 8 cores that fetch work from hardware queues.
//!
//! The cores have no atomic instructions and data caches that nobody keeps alike (`keystone2-incoherent`). Every result is that of the program
//! without tasks, with the simulator's checks on: a flush that is missing, or a line that two cores write, is an error.

use std::ffi::OsString;
use std::fs;
use std::path::Path;

use sim::{Cluster, Config, NoMemory, Stop};

use super::hybrid::{Figure, Line};
use crate::cc::riscv::Compiler;
use crate::report::reason;

const TEXT: &str = include_str!("cluster.c");
const PRESET: &str = "keystone2-incoherent";
/// Programs, and their numbers in the text.
const PROGRAMS: [(&str, usize); 6] =
    [("nbody", 0), ("series", 1), ("matmul", 2), ("uts", 3), ("cholesky", 6), ("stencil", 4)];

/// Cycles after which a program hangs.
const MOST: u64 = 2_000_000_000;

/// Where things lie, by the preset's memories: stacks at the end of the scratchpad.
const SCRIPT: &str = "ENTRY(_start)
__stack_top = 0x10880000;
SECTIONS {
  . = 0x10800000;
  .l1 : { *(.l1 .l1.*) }
  . = 0x14000000;
  .text : { *(.text.start) *(.text .text.*) }
  . = ALIGN(128);
  .rodata : { *(.rodata .rodata.* .srodata .srodata.*) }
  . = ALIGN(128);
  .data : { *(.data .data.* .sdata .sdata.*) }
  . = ALIGN(128);
  .bss : { *(.bss .bss.* .sbss .sbss.* COMMON) }
}
";

/// The figures: cycles of the program without tasks by those of cores with them.
pub(super) fn figures(tools: &Compiler, folder: &Path) -> Result<Vec<Figure>, String> {
    let columns = |of: &[&str]| of.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>();
    let mut four = Figure {
        title: "Figure 4, in cycles of the simulated cluster: hardware queues of 8 cores"
            .to_owned(),
        columns: columns(&["FIFO queues", "LIFO queues"]),
        lines: Vec::new(),
    };
    let mut six = Figure {
        title: "Figure 6a, in cycles of the simulated cluster: cores alone".to_owned(),
        columns: (1..=8).map(|it| it.to_string()).collect(),
        lines: Vec::new(),
    };
    for (name, number) in PROGRAMS {
        let program = |words: &[&str]| build(tools, folder, number, words);
        let (serial, expected) = run(&program(&["-DSERIAL"])?, 1)?;
        let (lifo, fifo) = (program(&[])?, program(&["-DFIFO"])?);
        let gain = |program: &[u8], cores: u32| {
            let (cycles, result) = run(program, cores)?;
            match result.to_bits() == expected.to_bits() {
                true => Ok((f64::from(serial) / f64::from(cycles.max(1)), 0.0)),
                false => Err(format!("`{name}` on {cores} cores gives {result}, not {expected}")),
            }
        };
        let six_a = (1..=8).map(|cores| gain(&lifo, cores)).collect::<Result<Vec<_>, String>>()?;
        four.lines.push(Line { name, values: vec![gain(&fifo, 8)?, gain(&lifo, 8)?] });
        six.lines.push(Line { name, values: six_a });
    }
    Ok(vec![four, six])
}

/// A program for the cluster.
fn build(
    tools: &Compiler,
    folder: &Path,
    number: usize,
    words: &[&str],
) -> Result<Vec<u8>, String> {
    let mut all: Vec<String> = [
        "--target=riscv32-unknown-elf",
        "-march=rv32imfd_zicsr",
        "-mabi=ilp32d",
        "-std=gnu17",
        "-O2",
        "-w",
        "-fno-builtin",
        "-fno-math-errno",
        "-ffp-contract=off",
        "-c",
    ]
    .map(str::to_owned)
    .to_vec();
    all.push(format!("-DPROGRAM={number}"));
    all.extend(words.iter().map(|it| (*it).to_owned()));
    let object = tools.clang(&all, ["-x", "c"], TEXT.as_bytes(), folder)?;
    let file = |name: &str, bytes: &[u8]| {
        let path = folder.join(name);
        let told = |error| format!("cannot write a program: {}", reason(&error));
        fs::write(&path, bytes).map(|()| path).map_err(told)
    };
    let (object, script) = (file("cluster.o", &object)?, file("cluster.ld", SCRIPT.as_bytes())?);
    let image = folder.join("cluster.elf");
    let words: Vec<OsString> =
        vec!["-T".into(), script.into(), object.into(), "-o".into(), image.clone().into()];
    tools.link(&words).map_err(|it| it.into_text())?;
    fs::read(&image).map_err(|error| format!("cannot read a program: {}", reason(&error)))
}

/// A cluster with so many cores that is about to run a program.
fn begin(program: &[u8], cores: u32) -> Result<Cluster, String> {
    let mut config = Config::preset(PRESET).map_err(|it| it.to_string())?;
    config.cores.count = cores;
    let mut cluster = Cluster::new(&config);
    cluster.load(program).map_err(|it| it.to_string())?;
    cluster.check_caches();
    let entry = cluster.symbol("_start").ok_or("the program has no beginning")?;
    cluster.start(entry);
    Ok(cluster)
}

/// Runs a program: cycles of what is shared, and its result.
fn run(program: &[u8], cores: u32) -> Result<(u32, f64), String> {
    let mut cluster = begin(program, cores)?;
    match cluster.run(&mut NoMemory, Some(MOST)) {
        Ok(Stop::Exited(0)) => {}
        Ok(other) => return Err(format!("a program on {cores} cores ended with {other:?}")),
        Err(fault) => return Err(fault.to_string()),
    }
    let (mut took, mut result) = ([0; 4], [0; 8]);
    let read =
        |name: &str, into: &mut [u8]| cluster.symbol(name).is_some_and(|it| cluster.read(it, into));
    match read("took", &mut took) && read("result", &mut result) {
        true => Ok((u32::from_le_bytes(took), f64::from_le_bytes(result))),
        false => Err("the program tells no result".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim::End;

    /// The tools and a folder; none, with a word, where they are not there.
    fn tools() -> Option<(Compiler, tempfile::TempDir)> {
        match Compiler::find() {
            Ok(tools) => Some((tools, tempfile::tempdir().unwrap())),
            Err(why) => {
                eprintln!("skipped: {why}");
                None
            }
        }
    }

    #[test]
    fn results_are_those_without_tasks_and_cores_share_the_cycles() {
        let Some((tools, folder)) = tools() else { return };
        for figure in figures(&tools, folder.path()).unwrap() {
            for line in &figure.lines {
                let last = line.values.last().unwrap().0;
                let least =
                    if ["nbody", "series", "matmul"].contains(&line.name) { 7.0 } else { 4.0 };
                assert!(last > least, "{}: {line:?}", figure.title);
            }
        }
    }

    #[test]
    fn a_missed_flush_and_a_shared_line_are_found() {
        let Some((tools, folder)) = tools() else { return };
        let check = |number: usize, word: &str, expected: &str| {
            let program = build(&tools, folder.path(), number, &[word]).unwrap();
            let error = run(&program, 8).unwrap_err();
            assert!(error.contains(expected), "{error}");
        };
        check(0, "-DMISSED_FLUSH", "has written there, and has not written it back");
        check(2, "-DMISSED_FLUSH", "has written there, and has not written it back");
        check(0, "-DSHARED_LINES", "has written to the same line");
        check(1, "-DSHARED_LINES", "has written to the same line");
    }

    /// The host sends tasks to cores, and runs tasks of theirs.
    #[test]
    fn host_and_cores_hand_each_other_tasks_through_three_queues() {
        const TO_CORES: (usize, usize) = (0, 64);
        const DONE_BY_CORES: (usize, usize) = (0, 65);
        const DONE_BY_HOST: (usize, usize) = (0, 66);
        const HOST: u32 = 255;
        let Some((tools, folder)) = tools() else { return };
        let program = build(&tools, folder.path(), 5, &[]).unwrap();
        let mut cluster = begin(&program, 4).unwrap();
        let symbol = |cluster: &Cluster, name: &str| cluster.symbol(name).unwrap();
        let [halve, mark, marks, of_host, is_done] =
            ["halve", "mark", "marks", "of_host", "host_is_done"].map(|it| symbol(&cluster, it));
        for number in 0..8 {
            let (low, high) = (256 + 32 * number, 256 + 32 * (number + 1));
            let words = [halve, 0, HOST, low, high, 4, mark, 0, 0];
            let bytes: Vec<u8> = words.iter().flat_map(|it| it.to_le_bytes()).collect();
            let descriptor = of_host + 128 * number;
            assert!(cluster.write(descriptor, &bytes));
            assert!(cluster.push(TO_CORES, End::Head, descriptor));
        }
        let word = |cluster: &Cluster, at: u32| {
            let mut bytes = [0; 4];
            assert!(cluster.read(at, &mut bytes));
            u32::from_le_bytes(bytes)
        };
        let (mut returned, mut taken) = (0, 0);
        let mut end = 0;
        while returned < 8 || end < 100_000 {
            end += 500;
            match cluster.run(&mut NoMemory, Some(end)) {
                Ok(Stop::Paused) => {}
                other => panic!("{other:?}"),
            }
            while let Some(it) = cluster.pop(DONE_BY_CORES) {
                assert!((of_host..of_host + 8 * 128).contains(&it));
                returned += 1;
            }
            // The owner of a task waits, wherever it runs; one that the host takes now and then.
            if let Some(it) = (0..4).find_map(|core| cluster.pop((0, core))) {
                for i in word(&cluster, it + 12)..word(&cluster, it + 16) {
                    let at = marks + 128 * i;
                    let one = (word(&cluster, at) + 1).to_le_bytes();
                    assert!(cluster.write(at, &one));
                }
                taken += 1;
                assert!(cluster.push(DONE_BY_HOST, End::Head, it));
            }
            assert!(end < 100_000_000, "tasks of the host do not come back");
        }
        assert!(cluster.write(is_done, &1u32.to_le_bytes()));
        assert_eq!(cluster.run(&mut NoMemory, Some(MOST)), Ok(Stop::Exited(0)));
        let mut result = [0; 8];
        assert!(cluster.read(symbol(&cluster, "result"), &mut result));
        assert_eq!((f64::from_le_bytes(result), returned), (512.0, 8));
        assert!(taken > 0, "the host has taken none");
    }
}
