//! Programs for teams of threads, translated for readers of levels, still give the right answer.
//!
//! Each is translated, built with `ferry cc` and run on every device that each machine has; nothing of
//! the old directives for devices is left in it.
#![allow(clippy::expect_used, reason = "a test says what it needs from the machine")]

mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use support::{ferry, told};

const DEVICES: [&str; 2] = ["cpu", "cpu:separate"];

/// What is wrong with a program; nothing if it is right.
fn check(program: &Path) -> Option<String> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let text = fs::read_to_string(program).expect("a program");
    fs::write(folder.path().join("p.c"), &text).expect("a copy");
    let made = ferry(&["translate", "--to", "openacc", "--in-place", "p.c"], folder.path());
    if !made.status.success() {
        return Some(format!("is not translated: {}", told(&made)));
    }
    let text = fs::read_to_string(folder.path().join("p.c")).expect("the translation");
    if text.contains("#pragma omp target") || !text.contains("#pragma acc") {
        return Some("has directives left".to_owned());
    }
    let devices = DEVICES.join(",");
    let flags = ["cc", "--device", &devices, "-O1", "-w", "p.c", "-o", "p", "-lm"];
    let built = ferry(&flags, folder.path());
    if !built.status.success() {
        return Some(format!("does not compile: {}", told(&built)));
    }
    for device in DEVICES {
        let mut command = Command::new(folder.path().join("p"));
        let run = command.env("FERRY_DEVICE", device).output().expect("the program runs");
        if !run.status.success() {
            return Some(format!("is wrong on {device}: {}", told(&run)));
        }
    }
    None
}

#[test]
fn translated_programs_are_right() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let names = [
        "examples/openmp/gemm.c",
        "examples/openmp/jacobi.c",
        "examples/openmp/nbody.c",
        "examples/openmp/saxpy.c",
        "examples/openmp/spmv.c",
        "tests/run/queue_crowd.c",
        "tests/run/target_data_nested.c",
        "tests/run/target_globals.c",
        "tests/run/target_macros.c",
        "tests/run/target_names.c",
        "tests/run/target_triangle.c",
        "crates/driver/tests/back/devices.c",
        "crates/driver/tests/back/histogram.c",
    ];
    let mut wrong = Vec::new();
    for name in names {
        let program: PathBuf = root.join(name);
        if let Some(why) = check(&program) {
            wrong.push(format!("{name} {why}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
