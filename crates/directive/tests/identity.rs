//! Reading what was written gives the same construct, for directives made up from the tables.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test that cannot go on fails"
)]

mod harness;

use directive::{OPENACC, OPENARC, OPENMP, Phrase, Term, vocabulary, write};
use harness::{lines_with_each_clause, read};
use ir::construct::Dialect;
use proptest::prelude::*;
use proptest::sample::Index;

/// What stands for `$e`, `$l` and `$v`.
const EXPRS: &[&str] = &["4", "n", "n + 1", "(x ? 2 : 3)", "sizeof(T) * 2", "a[i]", "f(n, i)"];
const LISTS: &[&str] =
    &["x", "a, b", "a[0:n]", "p[i:], q[:4], s", "s.v[1:n - 1]", "b[2]", "a[0:4:2]"];
const VARIABLES: &[&str] = &["x", "c", "p"];

/// Choices, taken one after another.
struct Picks<'p> {
    picks: &'p [Index],
    at: usize,
}

impl Picks<'_> {
    fn index(&mut self, count: usize) -> usize {
        let pick = &self.picks[self.at % self.picks.len()];
        self.at += 1;
        pick.index(count)
    }

    fn one<'t>(&mut self, list: &[&'t str]) -> &'t str {
        list[self.index(list.len())]
    }

    fn filled(&mut self, sample: &str) -> String {
        let mut text = sample.to_owned();
        for (hole, fillings) in [("$e", EXPRS), ("$l", LISTS), ("$v", VARIABLES)] {
            while text.contains(hole) {
                text = text.replacen(hole, self.one(fillings), 1);
            }
        }
        text
    }

    fn clause(&mut self, term: &Term) -> String {
        let sample = self.one(&term.samples);
        format!("{}{}", term.word, in_parens(&self.filled(sample)))
    }

    /// Some of the clauses, none more often than it may stand.
    fn clauses<'t>(&mut self, terms: impl Iterator<Item = &'t Term>, wanted: &mut Vec<String>) {
        let terms: Vec<&Term> = terms.collect();
        let mut counted: Vec<&str> = Vec::new();
        for _ in 0..self.index(5) {
            let Some(term) = terms.get(self.index(terms.len().max(1))) else { return };
            if term.counted_as.is_some_and(|it| counted.contains(&it)) {
                continue;
            }
            counted.extend(term.counted_as);
            wanted.push(self.clause(term));
        }
    }

    /// A directive with arguments and clauses.
    fn directive(&mut self, phrase: &Phrase) -> String {
        let args = if phrase.args.is_empty() { "" } else { self.one(phrase.args) };
        let mut parts = vec![format!("{}{args}", phrase.directive)];
        // What is required is said first, and not said again.
        let mut said: Vec<usize> = Vec::new();
        for list in &phrase.required {
            if let Some(one) = list.get(self.index(list.len().max(1))) {
                parts.push(self.clause(&phrase.clauses[*one]));
                said.push(*one);
            }
        }
        let count = |at: &usize| phrase.clauses[*at].counted_as;
        let counted: Vec<&str> = said.iter().filter_map(count).collect();
        let is_free = |it: &&Term| it.counted_as.is_none_or(|name| !counted.contains(&name));
        let for_all = phrase.clauses.iter().filter(|it| !it.opens_group).filter(is_free);
        self.clauses(for_all, &mut parts);
        let opener = phrase.clauses.iter().find(|it| it.opens_group);
        for _ in 0..self.index(3) {
            let Some(opener) = opener else { break };
            parts.push(self.clause(opener));
            self.clauses(phrase.clauses.iter().filter(|it| it.per_device), &mut parts);
        }
        parts.join(" ")
    }
}

fn in_parens(args: &str) -> String {
    if args.is_empty() { String::new() } else { format!("({args})") }
}

/// The sentinel of a dialect.
fn sentinel(dialect: Dialect) -> &'static str {
    match dialect {
        OPENACC => "acc",
        OPENARC => "openarc",
        _ => "omp",
    }
}

fn check(dialect: Dialect, picks: &[Index]) -> Result<(), TestCaseError> {
    let phrases = vocabulary(dialect);
    let mut picks = Picks { picks, at: 0 };
    let phrase = &phrases[picks.index(phrases.len())];
    let text = format!("{} {}", sentinel(dialect), picks.directive(phrase));
    let first = read(&text);
    prop_assert!(first.faults.is_empty(), "{text}\n{:#?}", first.faults);
    let construct = first.directive.expect("was read").construct;
    let written = write(&construct, dialect);
    prop_assert!(written.is_ok(), "{text}\n{written:?}");
    let written = written.unwrap_or_default();
    let second = read(&written);
    prop_assert!(second.faults.is_empty(), "{text}\n{written}\n{:#?}", second.faults);
    let again = second.directive.expect("was read").construct;
    prop_assert_eq!(&again, &construct, "{}\n{}", text, written);
    prop_assert_eq!(write(&again, dialect), Ok(written));
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, ..ProptestConfig::default() })]

    #[test]
    fn openmp_is_read_as_written(picks in prop::collection::vec(any::<Index>(), 40)) {
        check(OPENMP, &picks)?;
    }

    #[test]
    fn openacc_is_read_as_written(picks in prop::collection::vec(any::<Index>(), 40)) {
        check(OPENACC, &picks)?;
    }

    #[test]
    fn openarc_is_read_as_written(picks in prop::collection::vec(any::<Index>(), 40)) {
        check(OPENARC, &picks)?;
    }
}

/// Every text of every row is read at least once.
#[test]
fn every_sample_is_understood() {
    for dialect in [OPENMP, OPENACC, OPENARC] {
        for line in lines_with_each_clause(dialect, sentinel(dialect)) {
            let outcome = read(&line);
            assert!(outcome.faults.is_empty(), "{line}\n{:#?}", outcome.faults);
            let construct = outcome.directive.expect("was read").construct;
            let written = write(&construct, dialect).expect("has a text in its own dialect");
            assert_eq!(read(&written).directive.expect("was read").construct, construct, "{line}");
        }
    }
}
