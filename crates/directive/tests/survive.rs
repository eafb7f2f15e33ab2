//! Any line at all: nothing panics, nothing hangs, and what is no directive is reported.

mod harness;

use directive::{OPENACC, OPENARC, OPENMP, vocabulary};
use harness::read;
use proptest::prelude::*;
use proptest::sample::select;

/// Words of all dialects and the punctuation between them.
fn pieces() -> Vec<String> {
    let marks =
        "( ) ( ) [ ] { } , , : : * + - & && | || ^ ; ? . -> # = a n x p 1 4 \"s\" T int 0:n";
    let mut pieces: Vec<String> = marks.split(' ').map(str::to_owned).collect();
    for dialect in [OPENACC, OPENARC, OPENMP] {
        for phrase in vocabulary(dialect) {
            pieces.extend(phrase.directive.split(' ').map(str::to_owned));
            for term in &phrase.clauses {
                pieces.push(term.word.to_owned());
                pieces.extend(term.samples.iter().map(|it| format!("{}({it}", term.word)));
            }
        }
    }
    pieces.sort();
    pieces.dedup();
    pieces
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, ..ProptestConfig::default() })]

    #[test]
    fn any_words_are_survived(
        sentinel in select(vec!["acc", "omp", "openarc"]),
        words in prop::collection::vec(select(pieces()), 0..16),
    ) {
        let line = format!("{sentinel} {}", words.join(" "));
        let outcome = read(&line.replace('$', ""));
        prop_assert!(outcome.directive.is_some() || !outcome.faults.is_empty(), "{line}");
    }
}
