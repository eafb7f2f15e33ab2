//! What `ferry explain` advises changes nothing but copies: programs of `tests/advice` print the same with it.
//!
//! Each program is compiled and run on a device with memory of its own: as it stands; with all clauses that are advised; and
//! with each data region that is advised. A program about which nothing is said would test nothing.
#![allow(clippy::expect_used, clippy::indexing_slicing, reason = "a test says what it needs")]

mod support;

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use support::{ferry, told};

const DEVICE: &str = "cpu:separate";

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// What a program prints.
fn printed(program: &str, folder: &Path) -> String {
    fs::write(folder.join("a.c"), program).expect("a folder to write to");
    let devices = format!("cpu,{DEVICE}");
    let built = ferry(&["cc", "--device", &devices, "-O1", "a.c", "-o", "a", "-lm"], folder);
    assert!(built.status.success(), "{}\n{program}", told(&built));
    let mut command = Command::new(folder.join("a"));
    command.env("OMP_TARGET_OFFLOAD", "MANDATORY").env("FERRY_DEVICE", DEVICE);
    let run = command.output().expect("the program runs");
    assert!(run.status.success(), "{}\n{program}", told(&run));
    text(&run.stdout)
}

fn explained(program: &str, folder: &Path) -> Value {
    fs::write(folder.join("a.c"), program).expect("a folder to write to");
    let report = ferry(&["explain", "--json", "a.c"], folder);
    serde_json::from_slice(&report.stdout).expect("one object")
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn line_of(value: &Value) -> usize {
    usize::try_from(value["line"].as_u64().expect("a line")).expect("a small number")
}

/// Each item with a clause of its own: `map(to: a, b)` is `map(to: a) map(to: b)`.
fn one_by_one(clause: &str) -> Vec<(String, String)> {
    let (word, rest) = clause.split_once('(').expect("arguments");
    let inside = rest.strip_suffix(')').expect("their end");
    let is_motion = |it: &&str| it.chars().all(|it| it.is_ascii_lowercase());
    let (before, items) = match inside.split_once(':') {
        Some((motion, items)) if is_motion(&motion) => (format!("{motion}:"), items),
        _ => (String::new(), inside),
    };
    let items = items.split(',').map(str::trim);
    items.map(|it| (it.to_owned(), format!("{word}({before}{it})"))).collect()
}

/// The program with every clause that is advised, and how many those are.
fn with_clauses(program: &str, told: &Value) -> (String, usize) {
    let mut lines: Vec<String> = program.lines().map(str::to_owned).collect();
    let mut count = 0;
    for region in list(&told["regions"]) {
        for it in list(&region["moves"]) {
            let Some(advice) = it["advice"].as_str() else { continue };
            assert!(!list(&it["redundant"]).is_empty(), "{it}");
            count += 1;
            let line = &mut lines[line_of(region) - 1];
            let clauses = line.clone();
            let item = it["item"].as_str().expect("an item");
            if it["origin"] != "clause" {
                *line = format!("{clauses} {advice}");
                continue;
            }
            // Other items of the clause may have been replaced before: those have a clause of their own.
            let mut words: Vec<String> = Vec::new();
            let mut rest = clauses.as_str();
            let mut done = false;
            while let Some((before, _)) = rest.split_once('(') {
                let start = before.rfind(' ').map_or(0, |at| at + 1);
                let end = rest.find(')').expect("an end") + 1;
                words.push(rest[..start].to_owned());
                for (name, clause) in one_by_one(&rest[start..end]) {
                    let is_it = !done && name == item;
                    done |= is_it;
                    words.push(if is_it { advice.to_owned() } else { clause });
                    words.push(" ".to_owned());
                }
                rest = &rest[end..];
            }
            assert!(done, "`{item}` stands in no clause of {clauses}");
            *line = format!("{}{rest}", words.concat());
        }
    }
    (lines.join("\n") + "\n", count)
}

/// The program with a data region that is advised.
fn with_region(program: &str, kept: &Value) -> String {
    let first = line_of(kept);
    let last = usize::try_from(kept["last_line"].as_u64().expect("a line")).expect("small");
    let advice = kept["advice"].as_str().expect("a directive");
    let mut out = String::new();
    for (number, line) in (1..).zip(program.lines()) {
        if number == first {
            out += &format!("{advice}\n{{\n");
        }
        out += &format!("{line}\n");
        if number == last {
            out += "}\n";
        }
    }
    out
}

fn check(path: &Path) -> usize {
    let program = fs::read_to_string(path).expect("a program");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let as_it_stands = printed(&program, folder.path());
    let told = explained(&program, folder.path());
    let (changed, clauses) = with_clauses(&program, &told);
    assert_eq!(printed(&changed, folder.path()), as_it_stands, "{changed}");
    // What was advised is followed, and nothing is left to say of these.
    let left = explained(&changed, folder.path());
    assert_eq!(with_clauses(&changed, &left).1, 0, "{changed}");
    let kept = list(&told["kept"]);
    for it in kept {
        let changed = with_region(&program, it);
        assert_eq!(printed(&changed, folder.path()), as_it_stands, "{changed}");
    }
    assert!(clauses + kept.len() > 0, "{}: nothing is advised", path.display());
    clauses + kept.len()
}

#[test]
fn advice_changes_nothing_but_copies() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/advice");
    let mut programs: Vec<_> = fs::read_dir(folder)
        .expect("tests/advice")
        .map(|it| it.expect("an entry").path())
        .filter(|it| it.extension().is_some_and(|it| it == "c"))
        .collect();
    programs.sort();
    let advised: usize = programs.iter().map(|it| check(it)).sum();
    assert!(advised >= 12, "only {advised}");
}
