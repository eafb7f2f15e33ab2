//! The catalogue: one function per fault in the use of directives, codes `F05xx`.
//!
//! `F050x` and `F051x` loops and ways out of them, `F052x` variables, `F053x` list items, `F054x`
//! numbers and clauses, `F055x` nesting, `F056x` atomics, `F057x` levels, `F058x` declarations (and `F0592`, of variables).
//! Directives and clauses are named as the user spells them.

pub(crate) mod channels;
mod clauses;
mod loops;
mod nesting;
pub(crate) mod places;

pub(crate) use clauses::is_thread_local;
pub(super) use clauses::*;
pub(super) use loops::*;
pub(super) use nesting::*;
