//! Programs of `tests/run`: each is right with its directives and wrong without them.
//!
//! Every program is built twice with `ferry cc`: as it stands, where it must exit with 0 on every
//! device that each machine has, and with directives switched off, where it must not - so that none
//! can pass because nobody looked at them.
//! A program whose first line says `syntax only` is about what is accepted, and is built once; one that says
//! `also on LIST.` runs with those devices too.
#![allow(clippy::expect_used, reason = "a test says what it needs from the machine")]

mod support;

use std::fs;
use std::path::Path;
use std::process::Command;

use support::{ferry, told};

/// Devices that need nothing but the machine itself.
const DEVICES: [&str; 2] = ["cpu", "cpu:separate"];

/// What is wrong with a program; nothing if it is right.
fn check(program: &Path) -> Option<String> {
    let source = program.to_str()?;
    let text = fs::read_to_string(program).expect("a program");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let devices = DEVICES.join(",");
    let flags = [
        "cc",
        "--device",
        &devices,
        "-O1",
        "-Wall",
        "-Werror=unknown-pragmas",
        source,
        "-o",
        "with",
        "-lm",
    ];
    let built = ferry(&flags, folder.path());
    if !built.status.success() {
        return Some(format!("does not compile: {}", told(&built)));
    }
    let run = |name: &str, device: &str| {
        let mut command = Command::new(folder.path().join(name));
        command.env("OMP_TARGET_OFFLOAD", "MANDATORY").env("OMP_DYNAMIC", "false");
        command.env("FERRY_DEVICE", device);
        command.output().expect("the program runs")
    };
    let first = text.lines().next().unwrap_or_default();
    let more = first.split_once("also on ").and_then(|(_, it)| it.split_once('.')).map(|it| it.0);
    for device in DEVICES.into_iter().chain(more) {
        let with = run("with", device);
        if !with.status.success() {
            return Some(format!("is wrong on {device}: {}", told(&with)));
        }
    }
    if first.contains("syntax only") {
        return None;
    }
    // Calls of the API are still answered.
    let flags =
        ["cc", "-fno-openmp", "-fno-openacc", "-w", source, "-o", "without", "-Wl,-lgomp", "-lm"];
    let built = ferry(&flags, folder.path());
    if !built.status.success() {
        return Some(format!("does not compile without directives: {}", told(&built)));
    }
    run("without", "cpu").status.success().then(|| "is right without its directives too".to_owned())
}

#[test]
fn programs_need_their_directives() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/run");
    let entries = fs::read_dir(&folder).expect("tests/run");
    let mut programs: Vec<_> = entries
        .map(|it| it.expect("an entry").path())
        .filter(|it| it.extension().is_some_and(|it| it == "c"))
        .collect();
    programs.sort();
    assert!(!programs.is_empty(), "no programs");
    let wrong: Vec<String> = programs
        .iter()
        .filter_map(|it| Some(format!("{}: {}", it.display(), check(it)?)))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
