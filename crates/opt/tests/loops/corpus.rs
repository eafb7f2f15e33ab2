//! Loops with known answers: what is true of each stands beside what is found.
//!
//! `corpus/loops.txt` has a loop in each line, the outermost is meant. `parallel`: it is, and is found so. `weak WHY`: it could be,
//! but is not found so. `serial WHY`: it is not. `open WHY`: that depends on what the caller passes or on what nobody can see.
//! A wrong answer fails in either direction, and so does a weak one that has become a right one.

use opt::dependence::{DependenceKind, Verdict};

use super::support;

const CORPUS: &str = include_str!("../corpus/loops.txt");

/// `parallel`, or what stood in the way.
fn found(code: &str) -> &'static str {
    let program = support::program(&support::within(code));
    let in_question = support::findings(&program).into_iter();
    // Loops that only prepare something stand before the one that is meant.
    let outermost = in_question.filter(|it| it.depth == 0).collect::<Vec<_>>();
    let last = outermost.iter().rfind(|it| {
        !outermost
            .iter()
            .any(|other| other.span.start < it.span.start && it.span.end <= other.span.end)
    });
    match last.map(|it| &it.verdict) {
        None => "no loop",
        Some(Verdict::Parallel) => "parallel",
        Some(Verdict::Unknown(it)) => it.reason.word(),
        Some(Verdict::Carried(it)) => match it.kind {
            DependenceKind::Flow => "flow",
            DependenceKind::Anti => "anti",
            DependenceKind::Output => "output",
        },
    }
}

#[test]
fn loops_are_found_to_be_what_they_are() {
    let mut wrong = Vec::new();
    let (mut all, mut weak) = (0, 0);
    for line in CORPUS.lines().filter(|it| !it.is_empty() && !it.starts_with('#')) {
        let Some((expect, code)) = line.split_once('|') else {
            wrong.push(format!("no answer: {line}"));
            continue;
        };
        let (truth, why) = expect.trim().split_once(' ').unwrap_or((expect.trim(), ""));
        let found = found(code.trim());
        all += 1;
        weak += usize::from(truth == "weak");
        let is_right = match truth {
            "parallel" => found == "parallel",
            "weak" | "serial" | "open" => found != "parallel" && found == why.trim(),
            _ => false,
        };
        if !is_right {
            wrong.push(format!("found {found}: {line}"));
        }
    }
    assert!(wrong.is_empty(), "{} of {all}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(all >= 150, "{all} loops");
    // Fewer is better; more is a loss.
    assert!(weak <= WEAK, "{weak} of {all} loops could be parallel and are not found so");
}

/// Loops that could be parallel and are not found so.
const WEAK: usize = 18;
