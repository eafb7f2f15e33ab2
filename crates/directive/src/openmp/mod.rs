//! OpenMP: 5.2, with the spellings of 4.0 to 6.0.
//!
//! [`directives`] and [`clauses`] are the two tables. How a clause with modifiers is read and
//! written stands, side by side, in [`data`], [`sharing`], [`exec`], [`tasks`] and [`context`].

#![allow(
    clippy::wildcard_enum_match_arm,
    reason = "a row's writer answers for the one kind it knows; all others are not its business"
)]

mod args;
mod clauses;
mod context;
mod data;
mod declarations;
mod directives;
mod exec;
mod memkind;
mod rules;
mod sharing;
mod tasks;
mod together;
mod words;

use ir::construct::Leaf;
pub use together::settle;

use crate::OPENMP;
use crate::table::{ClauseRow, DirectiveRow, Standard};

/// The tables of OpenMP.
pub(crate) static STANDARD: Standard = Standard {
    dialect: OPENMP,
    name: "OpenMP",
    sentinel: "omp",
    directives: directives::ALL,
    clauses: clauses::ALL,
    underscores_join: true,
    names_part: |clause, word| !MODIFIERS.contains(&(clause, word)),
    extension_prefix: Some("ompx_"),
    forbids,
    rules: rules::rules,
};

/// Names of parts that mean something else in these clauses.
const MODIFIERS: &[(&str, &str)] = &[("schedule", "simd"), ("depend", "depobj")];

/// Clauses that a part takes and the combination does not.
fn forbids(rows: &[&'static DirectiveRow], clause: &'static ClauseRow) -> Option<&'static str> {
    let has = |leaf: Leaf| rows.iter().any(|it| it.leaves.contains(&leaf));
    let is = |row: &'static ClauseRow| std::ptr::eq(row, clause);
    if is(&clauses::NOWAIT) && has(Leaf::Parallel) && !has(Leaf::Offload) {
        return Some("threads always meet at the end of a `parallel` region");
    }
    if is(&clauses::COPYIN) && has(Leaf::Offload) {
        return Some("thread copies of the host cannot be reached from a `target` region");
    }
    if is(&clauses::ORDERED) && has(Leaf::Distribute) {
        return Some("iterations that are dealt to teams have no common order");
    }
    None
}
