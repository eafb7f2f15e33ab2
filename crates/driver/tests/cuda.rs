//! What `ferry cc --device cuda` makes, checked without a GPU: NVIDIA's compiler takes the kernels of
//! every program of `tests/run`, for three generations of GPUs; and where a piece is missing, the
//! message says so.
//!
//! `tests/run/cuda.txt` names the programs that are refused, and why; one that is not in it must
//! compile. Needs NVRTC (`scripts/setup` fetches it); without it the tests say so and end.
#![allow(
    clippy::expect_used,
    clippy::print_stderr,
    reason = "a test says what it needs from the machine"
)]

mod support;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Output};

use libtest_mimic::{Arguments, Failed, Trial};
use support::{ferry, told};

/// What is said of programs that are refused.
const LIST: &str = include_str!("../../../tests/run/cuda.txt");

/// Volta, Ampere and Hopper; and assembly for all.
const GPUS: &str = "cuda,cuda:sm_70,cuda:sm_80,cuda:sm_90";

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let programs = programs();
    let mut trials: Vec<Trial> = programs
        .iter()
        .map(|(name, path)| {
            let (path, excuse) = (path.clone(), excused().get(name.as_str()).copied());
            Trial::test(format!("program::{name}"), move || checked(compiles(&path, excuse)))
        })
        .collect();
    trials.push(Trial::test("the_list_names_programs", move || {
        let stray = excused().into_keys().find(|it| !programs.contains_key(*it));
        checked(stray.map(|it| format!("`{it}` is not there")))
    }));
    for (name, test) in OWN {
        trials.push(Trial::test(*name, move || checked(test())));
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}

type Test = fn() -> Option<String>;

/// Tests of the command itself; what is wrong, or nothing.
const OWN: &[(&str, Test)] = &[
    ("every_step_is_left_for_who_asks", every_step_is_left_for_who_asks),
    ("one_file_has_code_for_all_devices", one_file_has_code_for_all_devices),
    ("programs_of_several_files_have_one_image_of_each_kind", several_files),
    ("a_compiler_that_is_not_there_is_named", a_compiler_that_is_not_there_is_named),
    ("a_machine_without_a_gpu_says_so", a_machine_without_a_gpu_says_so),
];

fn checked(wrong: Option<String>) -> Result<(), Failed> {
    wrong.map_or(Ok(()), |it| Err(it.into()))
}

fn programs() -> BTreeMap<String, PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/run");
    let files = fs::read_dir(folder).expect("tests/run").flatten().map(|it| it.path());
    let files = files.filter(|it| it.extension().is_some_and(|it| it == "c"));
    let named = |it: PathBuf| Some((it.file_stem()?.to_string_lossy().into_owned(), it));
    files.filter_map(named).collect()
}

/// A line of the list: a name, and what the refusal says.
fn excused() -> BTreeMap<&'static str, &'static str> {
    let lines = LIST.lines().filter(|it| !it.starts_with('#') && !it.is_empty());
    lines.filter_map(|it| it.split_once(": ")).collect()
}

/// Whether there is a compiler, which is said where there is none.
fn has_compiler() -> bool {
    let told = ferry(&["doctor", "--json"], Path::new("."));
    let text = String::from_utf8_lossy(&told.stdout).into_owned();
    let line = text.lines().find(|it| it.contains("\"piece\":\"NVRTC\"")).unwrap_or_default();
    let is_there = line.contains("\"found\":\"");
    if !is_there {
        eprintln!("skipped: NVRTC is not there (scripts/setup fetches it)");
    }
    is_there
}

/// What is wrong with how a program compiles; nothing if it is right.
fn compiles(program: &Path, excuse: Option<&str>) -> Option<String> {
    if !has_compiler() {
        return None;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let source = program.to_str()?;
    let built =
        ferry(&["cc", "--device", GPUS, "-O1", "-w", source, "-c", "-o", "a.o"], folder.path());
    let said = told(&built);
    match (built.status.success(), excuse) {
        (true, None) => None,
        (true, Some(excuse)) => Some(format!("compiles, though the list says: {excuse}")),
        (false, Some(excuse)) if said.contains("[F0710]") && said.contains(excuse) => None,
        (false, _) => Some(format!("does not compile: {said}")),
    }
}

const PROGRAM: &str = "
#include <stdio.h>
int twice(int x);
int main(void) {
    int sum = 0, a[100];
    for (int i = 0; i < 100; i++) a[i] = i;
    #pragma omp target teams distribute parallel for map(tofrom: a) reduction(+: sum)
    for (int i = 0; i < 100; i++) { a[i] += 1; sum += a[i]; }
    sum = twice(sum);
    printf(\"%d\\n\", sum);
    return sum != 2 * 5050;
}
";

const OTHER: &str = "
int twice(int x) {
    #pragma omp target map(tofrom: x)
    x *= 2;
    return x;
}
";

/// A folder with the program in two files, and what `ferry cc` says of a line about them.
fn build(line: &[&str]) -> (tempfile::TempDir, Output) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    fs::write(folder.path().join("a.c"), PROGRAM).expect("a file");
    fs::write(folder.path().join("b.c"), OTHER).expect("a file");
    let built = ferry(&[&["cc"], line].concat(), folder.path());
    (folder, built)
}

fn run(folder: &Path, device: &str) -> Output {
    let mut command = Command::new(folder.join("program"));
    command.env("FERRY_DEVICE", device).env("OMP_TARGET_OFFLOAD", "MANDATORY");
    command.output().expect("the program runs")
}

fn every_step_is_left_for_who_asks() -> Option<String> {
    if !has_compiler() {
        return None;
    }
    let line = ["--device", "cuda,cuda:sm_90", "--ferry-save-temps=left", "-c", "a.c"];
    let (folder, built) = build(&line);
    let left = |name: &str| fs::read(folder.path().join("left").join(name)).unwrap_or_default();
    let is_right = left("a.cu").starts_with(b"//")
        && String::from_utf8_lossy(&left("a.sm_70.ptx")).contains(".target sm_70")
        && left("a.sm_90.cubin").starts_with(b"\x7fELF")
        && left("a.sm_70.cubin").is_empty();
    (!is_right).then(|| told(&built))
}

fn one_file_has_code_for_all_devices() -> Option<String> {
    if !has_compiler() {
        return None;
    }
    let line = ["--device", "cpu,cpu:separate,opencl,cuda", "a.c", "b.c", "-o", "program"];
    let (folder, built) = build(&line);
    if !built.status.success() {
        return Some(told(&built));
    }
    let devices = ["cpu", "cpu:separate"].map(|it| run(folder.path(), it));
    devices.iter().find(|it| !it.status.success()).map(told)
}

fn several_files() -> Option<String> {
    if !has_compiler() {
        return None;
    }
    let line = ["--device", "cuda,cuda:sm_80", "a.c", "b.c", "-o", "program"];
    let (folder, built) = build(&line);
    if !built.status.success() {
        return Some(told(&built));
    }
    let program = fs::read(folder.path().join("program")).expect("the program");
    // Each file's kernels are in the image of each kind: assembly tells by its words.
    let count = program.windows(13).filter(|it| it == b".target sm_70").count();
    (count != 2).then(|| format!("{count} pieces of assembly"))
}

fn a_compiler_that_is_not_there_is_named() -> Option<String> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    fs::write(folder.path().join("b.c"), OTHER).expect("a file");
    let mut command = Command::new(env!("CARGO_BIN_EXE_ferry"));
    command.args(["cc", "--device", "cuda", "-c", "b.c"]).current_dir(folder.path());
    command.env("FERRY_NVRTC", "/nowhere/libnvrtc.so.12").env_remove("CC").env_remove("FERRY_CC");
    let told_of = told(&command.output().expect("ferry runs"));
    (!told_of.contains("FERRY_NVRTC: `/nowhere/libnvrtc.so.12`")).then_some(told_of)
}

fn a_machine_without_a_gpu_says_so() -> Option<String> {
    let devices = ferry(&["devices", "--json"], Path::new("."));
    let devices = String::from_utf8_lossy(&devices.stdout).into_owned();
    let line = devices.lines().find(|it| it.contains("\"cuda\"")).unwrap_or_default();
    if !has_compiler() || !line.contains("the NVIDIA driver") {
        return None;
    }
    let (folder, built) = build(&["--device", "cuda", "a.c", "b.c", "-o", "program"]);
    if !built.status.success() {
        return Some(told(&built));
    }
    let ran = run(folder.path(), "cuda");
    let said = told(&ran);
    let is_right = ran.status.code() == Some(1)
        && said.contains("there is no NVIDIA driver here")
        && said.contains("FERRY_DEVICE=cpu");
    (!is_right).then_some(said)
}
