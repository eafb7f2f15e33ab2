//! Programs of `tests/run` on devices that not every machine has: each gives the same answer there as everywhere,
//! or is refused by name.
//!
//! `tests/run/opencl.txt` names those that do not run on OpenCL devices, and why, `riscv.txt` the same for the
//! simulated cluster; a program that is not in it must be right. Needs a driver (PoCL serves every processor) or the
//! cluster's tools; without them the test says so and ends.
#![allow(
    clippy::expect_used,
    clippy::print_stderr,
    reason = "a test says what it needs from the machine"
)]

#[path = "support/files.rs"]
mod both;
#[path = "support/cluster.rs"]
mod cluster;
#[path = "support/programs.rs"]
mod programs;
mod support;

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Mutex;

use both::{MAIN, OTHER, lacking};
use cluster::has_tools;
use programs::{listed, programs};
use support::{ferry, told};

/// A device, and what is said of programs that do not run there.
struct Elsewhere {
    device: &'static str,
    list: &'static str,
    /// What every refusal of a program says.
    refusal: &'static str,
}

const OPENCL: Elsewhere = Elsewhere {
    device: "opencl",
    list: include_str!("../../../tests/run/opencl.txt"),
    refusal: "[F0710]",
};

/// What runs there runs with nothing that came after version 1.2, too.
const OPENCL_12: Elsewhere = Elsewhere { device: "opencl:1.2", ..OPENCL };

const RISCV: Elsewhere = Elsewhere {
    device: "riscv",
    list: include_str!("../../../tests/run/riscv.txt"),
    refusal: "error",
};

/// What the lists say of programs that compile and are not right there.
const WRONG: [&str; 2] = ["it counts threads", "it takes long"];

/// What they say of one that is right or not, as the clock of a busy machine will have it.
const BY_CHANCE: &str = "it waits for the clock";

fn has_driver() -> bool {
    let told = ferry(&["devices", "--json"], Path::new("."));
    let text = String::from_utf8_lossy(&told.stdout).into_owned();
    let line = text.lines().find(|it| it.contains("\"opencl\"")).unwrap_or_default().to_owned();
    line.contains("\"missing\":[]")
}

/// What is wrong with a program; nothing if it is right.
fn check(elsewhere: &Elsewhere, program: &Path, excuse: Option<&str>) -> Option<String> {
    if excuse == Some("it takes long") {
        return None;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let made = folder.path().join("program");
    let (source, made) = (program.to_str()?, made.to_str()?);
    let device = elsewhere.device;
    let built =
        ferry(&["cc", "--device", device, "-O1", "-w", source, "-o", made, "-lm"], folder.path());
    if !built.status.success() {
        let said = told(&built);
        return match excuse {
            Some(excuse) if said.contains(elsewhere.refusal) && said.contains(excuse) => None,
            _ => Some(format!("does not compile: {said}")),
        };
    }
    let mut command = Command::new(made);
    command.env("OMP_TARGET_OFFLOAD", "MANDATORY").env("OMP_DYNAMIC", "false");
    // Cores that wait for one another in a loop are told from those that work.
    command.env("FERRY_CYCLE_LIMIT", "20000000000");
    let ran = command.env("FERRY_DEVICE", device).output().expect("the program runs");
    match (ran.status.success(), excuse) {
        (true, None) | (_, Some(BY_CHANCE)) => None,
        (false, Some(excuse)) if WRONG.contains(&excuse) => None,
        (true, Some(excuse)) => Some(format!("runs, though the list says: {excuse}")),
        (false, _) => Some(format!("is wrong: {}", told(&ran))),
    }
}

#[test]
fn programs_are_right_on_opencl_or_refused_by_name() {
    if !has_driver() {
        eprintln!("skipped: no OpenCL driver is installed (Debian: pocl-opencl-icd)");
        return;
    }
    check_all(&OPENCL);
}

#[test]
fn programs_are_right_on_opencl_12_or_refused_by_name() {
    if !has_driver() {
        eprintln!("skipped: no OpenCL driver is installed (Debian: pocl-opencl-icd)");
        return;
    }
    check_all(&OPENCL_12);
}

/// Builds `program` of two files for OpenCL devices, the second in an archive; what was said if that fails.
fn of_two_files(folder: &Path, main: &str, other: &str) -> Result<(), String> {
    fs::write(folder.join("a.c"), main).expect("a file");
    fs::write(folder.join("b.c"), other).expect("a file");
    let compiled = ferry(&["cc", "--device", "opencl", "-c", "b.c"], folder);
    if !compiled.status.success() {
        return Err(told(&compiled));
    }
    let mut archiver = Command::new("ar");
    archiver.args(["rc", "libb.a", "b.o"]).current_dir(folder).status().expect("ar runs");
    let line = ["cc", "--device", "opencl", "a.c", "-L.", "-lb", "-o", "program"];
    let built = ferry(&line, folder);
    if built.status.success() { Ok(()) } else { Err(told(&built)) }
}

#[test]
fn calls_whose_sizes_are_checked_are_right_on_opencl() {
    if !has_driver() {
        eprintln!("skipped: no OpenCL driver is installed (Debian: pocl-opencl-icd)");
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/run/grid_memory.c");
    let source = source.to_str().expect("a path");
    // What some distributions give without being asked.
    let line = ["cc", "--device", "opencl", "-O2", "-D_FORTIFY_SOURCE=2", "-w", source, "-o", "p"];
    let built = ferry(&line, folder.path());
    assert!(built.status.success(), "{}", told(&built));
    for device in ["opencl", "opencl:1.2"] {
        let mut command = Command::new(folder.path().join("p"));
        command.env("OMP_TARGET_OFFLOAD", "MANDATORY").env("FERRY_DEVICE", device);
        let ran = command.output().expect("the program runs");
        assert!(ran.status.success(), "{device}: {}", told(&ran));
    }
}

#[test]
fn functions_and_variables_of_other_files_are_linked_on_opencl() {
    if !has_driver() {
        eprintln!("skipped: no OpenCL driver is installed (Debian: pocl-opencl-icd)");
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    assert_eq!(of_two_files(folder.path(), MAIN, OTHER), Ok(()));
    // What the driver has linked is taken from the cache the second time.
    for _ in 0..2 {
        let mut command = Command::new(folder.path().join("program"));
        command.env("OMP_TARGET_OFFLOAD", "MANDATORY").env("FERRY_DEVICE", "opencl");
        let ran = command.output().expect("the program runs");
        assert!(ran.status.success(), "{}", told(&ran));
    }
}

#[test]
fn what_no_file_defines_for_opencl_is_named() {
    for (other, name) in lacking() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        // Where the host has it too, devices do not.
        let host = "int scale; int twice(int x) { return x; }";
        for (file, text) in [("a.c", MAIN), ("b.c", other.as_str()), ("c.c", host)] {
            fs::write(folder.path().join(file), text).expect("a file");
        }
        let line = ["cc", "--device", "opencl", "a.c", "b.c", "c.c", "-Wl,-z,muldefs", "-o", "p"];
        let said = told(&ferry(&line, folder.path()));
        let is_right = said.contains(&format!("uses `{name}`, which no file defines for `opencl`"));
        assert!(is_right, "{said}");
    }
}

#[test]
fn programs_are_right_on_the_cluster_or_refused_by_name() {
    if has_tools() {
        check_all(&RISCV);
    }
}

fn check_all(elsewhere: &Elsewhere) {
    let (programs, excused) = (programs(), listed(elsewhere.list));
    for name in excused.keys() {
        assert!(programs.contains_key(*name), "the list names `{name}`, which is not there");
    }
    let next = Mutex::new(programs.iter());
    let wrong = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                loop {
                    let program = next.lock().ok().and_then(|mut it| it.next());
                    let Some((name, program)) = program else { break };
                    if let Some(why) =
                        check(elsewhere, program, excused.get(name.as_str()).copied())
                    {
                        wrong.lock().expect("no thread has died").push(format!("{name} {why}"));
                    }
                }
            });
        }
    });
    let wrong = wrong.into_inner().expect("no thread has died");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
