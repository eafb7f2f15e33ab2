//! The kinds of checks, each a function that writes one: directives, and what the standard says comes out.

mod data;
mod language;
mod levels;
mod loops;
mod members;
mod numbers;
mod pointers;
mod private;
mod reduce;
mod variants;

use crate::check::Check;
use crate::rng::Rng;

type Family = (&'static str, fn(&mut Check), u64);

/// All families, with how often each has its turn.
const FAMILIES: [Family; 29] = [
    ("data-openmp", data::openmp, 9),
    ("data-openacc", data::openacc, 7),
    ("members", members::members, 7),
    ("mapper", members::mapper, 8),
    ("reduce", reduce::scalar, 8),
    ("reduce-region", reduce::region, 4),
    ("reduce-levels", reduce::levels, 4),
    ("reduce-rows", reduce::rows, 4),
    ("reduce-arrays", reduce::arrays, 4),
    ("reduce-records", reduce::records, 3),
    ("scan", reduce::scan, 1),
    ("loop", loops::one, 7),
    ("nest", loops::nest, 5),
    ("linear", loops::linear, 4),
    ("implied-gang", levels::implied, 3),
    ("levels", levels::nested, 4),
    ("loops-in-functions", levels::functions, 2),
    ("private", private::copies, 4),
    ("private-loop", private::loops, 4),
    ("atomic", private::atomic, 3),
    ("variant", variants::functions, 4),
    ("metadirective", variants::directives, 2),
    ("bind", variants::bind, 2),
    ("bare-pointer", pointers::bare, 4),
    ("device-pointer", pointers::device, 2),
    ("global", pointers::globals, 3),
    ("bit-field", language::bit_fields, 3),
    ("header", language::headers, 4),
    ("name", language::names, 4),
];

/// The names of all families.
pub fn names() -> impl Iterator<Item = &'static str> {
    FAMILIES.iter().map(|it| it.0)
}

/// The check that follows from a seed; of one family, if it is named.
pub fn check(seed: u64, only: &[String]) -> Check {
    let rng = Rng::new(seed);
    let all: Vec<&Family> = FAMILIES
        .iter()
        .filter(|it| only.is_empty() || only.iter().any(|name| name == it.0))
        .collect();
    let total: u64 = all.iter().map(|it| it.2).sum();
    let mut turn = rng.next() % total.max(1);
    let mut chosen = all[0];
    for it in all {
        chosen = it;
        if turn < it.2 {
            break;
        }
        turn -= it.2;
    }
    let mut check = Check::new(seed, chosen.0, rng);
    chosen.1(&mut check);
    check
}
