//! What types and declarations say of values: the ranges of variables, and whether a subscript stays in its array.

use std::collections::BTreeSet;

use ir::program::{Program, VarId};

use crate::access::{Extent, Step};
use crate::poly::{Atom, Poly, Value};
use crate::system::System;

/// A bound below this is a number that the program states.
const STATED: i128 = 1 << 40;

/// Facts, and what the types of variables in them and in other polynomials say besides.
pub(crate) fn with_ranges<'p>(
    program: &Program,
    facts: &[Poly],
    others: impl IntoIterator<Item = &'p Poly>,
) -> Vec<Poly> {
    let of_facts = facts.iter().flat_map(Poly::atoms);
    let atoms: BTreeSet<Atom> = others.into_iter().flat_map(Poly::atoms).chain(of_facts).collect();
    let mut facts = facts.to_vec();
    for atom in atoms {
        if let Value::Entry(var) = atom.value {
            facts.extend(range(program, var));
        }
    }
    facts
}

/// What the type of a variable says of its value.
fn range(program: &Program, var: VarId) -> Vec<Poly> {
    let Some(kind) = program.types.integer_kind(program.vars[var].ty) else { return Vec::new() };
    let (low, high) = program.model.int_range(kind);
    let value = Poly::atom(Value::Entry(var));
    let bounds = [value.plus(low.wrapping_neg()), Poly::constant(high).sub(&value)];
    bounds.into_iter().flatten().collect()
}

/// Whether a subscript is within the array it is written for, as C asks. Where numbers in the
/// program say otherwise it is taken for one that walks over several rows.
pub(crate) fn stays_inside(stated: &System, step: &Step) -> bool {
    let (by, len) = match step {
        Step::Field(..) => return true,
        Step::Index { within: None, .. } => return false,
        Step::Index { within: Some(Extent::Computed), .. } => return true,
        Step::Index { by, within: Some(Extent::Known(len)), .. } => (by, i128::from(*len)),
    };
    let at_most = |limit: i128| {
        Poly::constant(limit).sub(by).is_some_and(|it| stated.implies_at_least_zero(&it))
    };
    let at_least =
        |limit: i128| by.plus(-limit).is_some_and(|it| stated.implies_at_least_zero(&it));
    let is_over = at_most(STATED) && !at_most(len - 1);
    let is_under = at_least(-STATED) && !at_least(0);
    !is_over && !is_under
}
