//! Broken directives are reported, never a panic or a hang.

#![allow(clippy::indexing_slicing, reason = "a test that cannot go on fails")]

mod harness;

use std::time::{Duration, Instant};

use directive::{OPENACC, OPENARC, OPENMP, vocabulary, write};
use harness::read;
use proptest::prelude::*;
use proptest::sample::Index;

/// One way to spoil a list of tokens.
#[derive(Clone, Debug)]
enum Change {
    Remove(Index),
    Repeat(Index),
    Swap(Index, Index),
    Insert(Index, &'static str),
}

const INTRUDERS: &[&str] =
    &["(", ")", ",", ":", ";", "{", "}", "[", "\"", "parallel", "for", "0", "?"];

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        any::<Index>().prop_map(Change::Remove),
        any::<Index>().prop_map(Change::Repeat),
        any::<(Index, Index)>().prop_map(|(a, b)| Change::Swap(a, b)),
        (any::<Index>(), prop::sample::select(INTRUDERS))
            .prop_map(|(at, it)| Change::Insert(at, it)),
    ]
}

/// Every directive with every clause, as tokens.
fn lines() -> Vec<Vec<String>> {
    let mut lines = Vec::new();
    for (dialect, sentinel) in [(OPENMP, "omp"), (OPENACC, "acc"), (OPENARC, "openarc")] {
        for phrase in vocabulary(dialect) {
            let args = phrase.args.last().unwrap_or(&"");
            for (term, sample) in
                phrase.clauses.iter().flat_map(|it| it.samples.iter().map(move |s| (it, s)))
            {
                let line = format!("{sentinel} {}{args} {}({sample})", phrase.directive, term.word);
                let line =
                    line.replace("$e", "n + 1").replace("$l", "a[0:n], x").replace("$v", "x");
                lines.push(tokens(&line));
            }
        }
    }
    lines
}

fn tokens(line: &str) -> Vec<String> {
    let mut tokens: Vec<String> = Vec::new();
    let is_word = |it: char| it.is_alphanumeric() || it == '_';
    let mut before = ' ';
    for letter in line.chars().filter(|it| *it != '$') {
        match tokens.last_mut() {
            Some(last) if is_word(before) && is_word(letter) => last.push(letter),
            _ if letter.is_whitespace() => {}
            _ => tokens.push(letter.to_string()),
        }
        before = letter;
    }
    tokens
}

fn spoil(tokens: &mut Vec<String>, change: &Change) {
    let count = tokens.len();
    match change {
        _ if count == 0 => {}
        Change::Remove(at) => drop(tokens.remove(at.index(count))),
        Change::Repeat(at) => tokens.insert(at.index(count), tokens[at.index(count)].clone()),
        Change::Swap(a, b) => tokens.swap(a.index(count), b.index(count)),
        Change::Insert(at, it) => tokens.insert(at.index(count), (*it).to_owned()),
    }
}

#[test]
fn broken_directives_are_survived() {
    let lines = lines();
    let changes = prop::collection::vec(change(), 1..5);
    let config = ProptestConfig { cases: 5000, failure_persistence: None, ..Default::default() };
    let run = proptest::test_runner::TestRunner::new(config).run(
        &(any::<Index>(), changes),
        |(at, changes)| {
            let mut tokens = lines[at.index(lines.len())].clone();
            changes.iter().for_each(|it| spoil(&mut tokens, it));
            let outcome = read(&tokens.join(" "));
            if let Some(it) = outcome.directive {
                // Refusing is right as well; the answer must only come.
                let _ = [OPENMP, OPENACC].map(|dialect| write(&it.construct, dialect));
            }
            Ok(())
        },
    );
    assert!(run.is_ok(), "{run:?}");
}

#[test]
fn long_lines_take_linear_time() {
    for piece in
        ["private(x) ", "num_threads(1) ", "banana ", "if(parallel: x) ", ", ", "( ", "map("]
    {
        let begun = Instant::now();
        read(&format!("omp parallel {}", piece.repeat(20_000)));
        assert!(begun.elapsed() < Duration::from_secs(20), "{piece}");
    }
}
