//! Random programs that know their own results (`fuzz/programs`): a few of every family, the same ones each time, on the devices
//! that every machine has. Many more, and other devices: `fuzz/programs/run`.

#![allow(clippy::expect_used, reason = "a test")]

use programs::run::{Outcome, Setting};
use programs::{generate, names};
use std::time::Duration;

/// Two programs of each family, in files of 20 or so.
fn check(device: &str) {
    let folder = tempfile::tempdir().expect("a folder for programs");
    let setting = Setting {
        ferry: env!("CARGO_BIN_EXE_ferry").into(),
        device: device.into(),
        options: Vec::new(),
        folder: folder.path().into(),
        limit: Duration::from_secs(30),
    };
    let families: Vec<&str> = names().collect();
    let mut wrong = String::new();
    for seed in [1, 2] {
        // One seed makes another program in every family; they need names of their own in the file.
        let checks: Vec<_> = families
            .iter()
            .zip(seed * 1000..)
            .map(|(it, seed)| generate(seed, &[(*it).into()]))
            .collect();
        let outcomes = setting.run(&checks.iter().collect::<Vec<_>>()).expect("ferry runs");
        for (it, outcome) in checks.iter().zip(outcomes) {
            if outcome != Outcome::Right {
                wrong +=
                    &format!("programs show {} --family {}: {outcome:?}\n", it.seed, it.family);
            }
        }
    }
    assert!(wrong.is_empty(), "on {device}:\n{wrong}");
}

#[test]
fn random_programs_are_right_where_memory_is_shared() {
    check("cpu");
}

#[test]
fn random_programs_are_right_where_memory_is_apart() {
    check("cpu:separate");
}
