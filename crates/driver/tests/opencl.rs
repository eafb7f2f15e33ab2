//! Programs of `tests/run` on an OpenCL device: each gives the same answer there as everywhere, or is
//! refused by name.
//!
//! `tests/run/opencl.txt` names those that do not run there, and why; a program that is not in it must
//! be right. Needs a driver (PoCL serves every processor); without one the test says so and ends.
#![allow(
    clippy::expect_used,
    clippy::print_stderr,
    reason = "a test says what it needs from the machine"
)]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Mutex;

/// What is said of programs that do not run there.
const LIST: &str = include_str!("../../../tests/run/opencl.txt");

fn ferry(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ferry"));
    for name in ["CC", "FERRY_CC", "FERRY_DEVICE", "FERRY_INFO"] {
        command.env_remove(name);
    }
    command.args(arguments).env("LC_ALL", "C").output().expect("ferry runs")
}

fn told(output: &Output) -> String {
    let text = [output.stdout.as_slice(), output.stderr.as_slice()].concat();
    format!("{}\n{}", output.status, String::from_utf8_lossy(&text))
}

/// A line of the list: a name, and what the refusal says or `it counts threads`.
fn excused() -> BTreeMap<&'static str, &'static str> {
    let lines = LIST.lines().filter(|it| !it.starts_with('#') && !it.is_empty());
    lines.filter_map(|it| it.split_once(": ")).collect()
}

fn has_driver() -> bool {
    let told = ferry(&["devices", "--json"]);
    let text = String::from_utf8_lossy(&told.stdout).into_owned();
    let line = text.lines().find(|it| it.contains("\"opencl\"")).unwrap_or_default().to_owned();
    line.contains("\"missing\":[]")
}

/// What is wrong with a program; nothing if it is right.
fn check(program: &Path, excuse: Option<&str>) -> Option<String> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let made = folder.path().join("program");
    let (source, made) = (program.to_str()?, made.to_str()?);
    let built = ferry(&["cc", "--device", "opencl", "-O1", "-w", source, "-o", made, "-lm"]);
    if !built.status.success() {
        let said = told(&built);
        return match excuse {
            Some(excuse) if said.contains("[F0710]") && said.contains(excuse) => None,
            _ => Some(format!("does not compile: {said}")),
        };
    }
    let mut command = Command::new(made);
    command.env("OMP_TARGET_OFFLOAD", "MANDATORY").env("OMP_DYNAMIC", "false");
    let ran = command.env("FERRY_DEVICE", "opencl").output().expect("the program runs");
    match (ran.status.success(), excuse) {
        (true, None) | (false, Some("it counts threads")) => None,
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
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/run");
    let mut programs: Vec<PathBuf> = fs::read_dir(folder)
        .expect("the programs")
        .filter_map(|it| it.ok().map(|it| it.path()))
        .filter(|it| it.extension().is_some_and(|it| it == "c"))
        .collect();
    programs.sort();
    let excused = excused();
    let names: Vec<String> = programs
        .iter()
        .filter_map(|it| it.file_stem().map(|it| it.to_string_lossy().into_owned()))
        .collect();
    for name in excused.keys() {
        assert!(names.iter().any(|it| it == name), "the list names `{name}`, which is not there");
    }
    let next = Mutex::new(programs.iter());
    let wrong = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                loop {
                    let program = next.lock().ok().and_then(|mut it| it.next());
                    let Some(program) = program else { break };
                    let name = program.file_stem().map(|it| it.to_string_lossy().into_owned());
                    let name = name.unwrap_or_default();
                    if let Some(why) = check(program, excused.get(name.as_str()).copied()) {
                        wrong.lock().expect("no thread has died").push(format!("{name} {why}"));
                    }
                }
            });
        }
    });
    let wrong = wrong.into_inner().expect("no thread has died");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
