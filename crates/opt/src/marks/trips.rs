//! How often loops run: known, computed from variables, or guessed.

use std::collections::{BTreeMap, BTreeSet};

use ir::program::VarId;

use super::strides::Measured;
use super::{LoopTree, Options};
use crate::dependence::Analysis;
use crate::poly::{Atom, Poly, Value};
use crate::sum::Sum;
use crate::walk::Rounds;

/// How often a loop runs where nothing at all is known.
const GUESS: u64 = 1024;

/// How often a loop runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trips {
    /// As a sum over variables when the nest is entered, if it is one.
    pub count: Option<Sum>,
    /// The number to count with.
    pub estimate: u64,
    /// Where that is from.
    pub from: TripsFrom,
}

/// Where an estimate is from, most certain first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TripsFrom {
    /// The program says so.
    Constant,
    /// The user says so.
    Given,
    /// The variables in the bounds have one value in this program, as far as it can be seen.
    Values,
    /// As much as fits into an array that the loop walks through.
    Declared,
    /// Nothing is known.
    Guess,
}

impl TripsFrom {
    /// In words, after a number.
    pub fn text(self) -> &'static str {
        match self {
            TripsFrom::Constant => "constant",
            TripsFrom::Given => "given",
            TripsFrom::Values => "from the values of variables",
            TripsFrom::Declared => "from the size of an array",
            TripsFrom::Guess => "guessed",
        }
    }
}

impl Trips {
    pub(crate) fn guess() -> Trips {
        Trips { count: None, estimate: GUESS, from: TripsFrom::Guess }
    }

    /// The least and the most that the loop may plausibly run.
    pub fn interval(&self) -> (u64, u64) {
        const WIDE: u64 = 16;
        match self.from {
            TripsFrom::Constant | TripsFrom::Given => (self.estimate, self.estimate),
            TripsFrom::Values | TripsFrom::Declared => {
                (self.estimate.div_ceil(2), self.estimate.saturating_mul(2))
            }
            TripsFrom::Guess => (self.estimate.div_ceil(WIDE), self.estimate.saturating_mul(WIDE)),
        }
    }
}

/// How often a loop runs, and whether its bounds are the same in all iterations of the loops around it.
pub(super) fn of(
    analysis: &Analysis<'_>,
    tree: &LoopTree,
    at: usize,
    rounds: &Rounds,
    numbers: &BTreeMap<u32, usize>,
    accesses: &[Measured],
    options: &Options,
) -> (Trips, bool) {
    let program = analysis.program;
    let name = |var: VarId| program.vars[var].name.map_or("", |it| program.names.text(it));
    let given = |var: VarId| options.trips.get(name(var)).copied();
    let counter = tree.loop_at(at).and_then(|it| it.finding.var);
    // room = what is left of the way - step * counter
    let first = rounds.room.as_ref().and_then(|room| {
        room.replace(&|atom| match atom.value == Value::Trip(rounds.number) {
            true => Poly::default(),
            false => Poly::from(atom),
        })
    });
    let step = rounds.step.unsigned_abs().max(1);
    // As many rounds everywhere are not enough: they may begin elsewhere.
    let begins_alike = rounds.begin.as_ref().is_some_and(Poly::is_invariant);
    let is_rectangular = begins_alike && first.as_ref().is_some_and(Poly::is_invariant);
    let count = first.as_ref().filter(|_| step == 1).and_then(|it| Sum::of(&it.plus(1)?));
    if let Some(constant) = first.as_ref().and_then(Poly::as_constant) {
        let rounds = constant.checked_div(step as i128).and_then(|it| u64::try_from(it + 1).ok());
        let trips = Trips { count, estimate: rounds.unwrap_or(0), from: TripsFrom::Constant };
        return (trips, begins_alike);
    }
    if let Some(estimate) = counter.and_then(given) {
        return (Trips { count, estimate, from: TripsFrom::Given }, is_rectangular);
    }
    let mut from = TripsFrom::Constant;
    let value = |atom: Atom| -> Option<(i128, TripsFrom)> {
        match atom.value {
            Value::Entry(var) => given(var)
                .map(|it| (i128::from(it), TripsFrom::Given))
                .or_else(|| analysis.values().get(var).map(|it| (it, TripsFrom::Values))),
            // Half of the way of an outer loop, as in a triangle.
            Value::Trip(number) => {
                let outer = &tree.loop_at(*numbers.get(&number)?)?.trips;
                (outer.from != TripsFrom::Guess)
                    .then_some((i128::from(outer.estimate / 2), outer.from.max(TripsFrom::Values)))
            }
            Value::Held(_) | Value::Distance | Value::Varying(_) => None,
        }
    };
    let computed = first.as_ref().and_then(|it| {
        let atoms: BTreeSet<Atom> = it.atoms().collect();
        for atom in &atoms {
            from = from.max(value(*atom)?.1);
        }
        let put = |atom: Atom| Poly::constant(value(atom).map_or(0, |it| it.0));
        it.replace(&put)?.as_constant()
    });
    if let Some(last) = computed {
        let rounds = last.checked_div(step as i128).and_then(|it| u64::try_from(it + 1).ok());
        return (Trips { count, estimate: rounds.unwrap_or(0), from }, is_rectangular);
    }
    let declared = accesses.iter().flat_map(|it| &it.room).filter(|it| it.0 == at);
    if let Some(estimate) = declared.map(|it| it.1).min() {
        return (Trips { count, estimate, from: TripsFrom::Declared }, is_rectangular);
    }
    (Trips { count, ..Trips::guess() }, is_rectangular)
}
