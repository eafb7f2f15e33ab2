//! Dependences that are there for certain: two iterations are shown that meet whenever both are run.
//!
//! In: two accesses of a loop's body to one object, and what holds when the loop is entered. Out: whether
//! iterations can be named, among the first ones, in which they reach the same element: no condition
//! stands before them but the bounds of loops, and those hold as soon as the loop has a second
//! iteration. A loop with fewer iterations has no order to keep.
//!
//! "No" means that it was not shown, not that the iterations are independent.

use std::cell::RefCell;
use std::collections::BTreeMap;

use ir::program::Program;

use crate::access::{Base, Context, Step, Touch};
use crate::bounds;
use crate::poly::{Atom, Poly, Value};
use crate::system::System;
use crate::walk::Around;

/// The earlier of the two iterations is one of the first.
const FIRST: i128 = 2;
/// The other comes so much later, or at the distance that was found.
const DISTANCES: i128 = 4;
/// Rounds of inner loops that are tried.
const ROUNDS: i128 = 3;
/// Inner loops around one access; more are not tried.
const MAX_LOOPS: usize = 3;

/// An access in one round of the loops around it.
struct Instance {
    /// Its subscripts.
    subscripts: Vec<Poly>,
    /// What must not be negative for it to happen.
    rooms: Vec<Poly>,
}

/// What is asked of the accesses of one loop.
pub(crate) struct Certain<'a> {
    room: Option<&'a Poly>,
    /// What holds if the loop has a second iteration.
    known: Option<System>,
    /// Whether there are so many iterations, as far as that was asked.
    runs: RefCell<BTreeMap<i128, bool>>,
}

impl<'a> Certain<'a> {
    pub(crate) fn new(program: &Program, around: &'a Around) -> Certain<'a> {
        let room = around.room.as_ref();
        let known = room.and_then(|it| at(it, &[(0, 1)])).map(|two| {
            let mut facts = bounds::with_ranges(program, &around.facts, [&two]);
            facts.push(two);
            System { zero: Vec::new(), at_least_zero: facts }
        });
        Certain { room, known, runs: RefCell::default() }
    }

    /// Whether an iteration is run for certain.
    fn is_run(&self, known: &System, iteration: i128) -> bool {
        let ask = || {
            let room = self.room.and_then(|it| at(it, &[(0, iteration)]));
            room.is_some_and(|it| known.implies_at_least_zero(&it))
        };
        *self.runs.borrow_mut().entry(iteration).or_insert_with(ask)
    }

    /// Whether `first` in one iteration and `second` in a later one certainly meet.
    pub(crate) fn meet(&self, first: &Touch, second: &Touch, distance: Option<u64>) -> bool {
        let Some(known) = &self.known else { return false };
        let is_object = matches!(first.place.base, Base::Var(_) | Base::Pointee(_));
        if !is_object
            || first.place.base != second.place.base
            || !are_alike(first, second)
            || differ(first, second)
        {
            return false;
        }
        let holds = |poly: &Poly| known.implies_at_least_zero(poly);
        let distances = (1..=DISTANCES).chain(distance.map(i128::from));
        for apart in distances {
            for earlier in 0..FIRST {
                let later = earlier + apart;
                if !self.is_run(known, later) {
                    continue;
                }
                let (Some(left), Some(right)) =
                    (instances(first, earlier), instances(second, later))
                else {
                    return false;
                };
                let is_met = left.iter().any(|a| {
                    let same = right.iter().filter(|b| a.subscripts == b.subscripts);
                    same.into_iter().any(|b| a.rooms.iter().chain(&b.rooms).all(holds))
                });
                if is_met {
                    return true;
                }
            }
        }
        false
    }
}

/// Whether a subscript of two accesses is the same in all rounds of all loops, and not that of the other.
fn differ(first: &Touch, second: &Touch) -> bool {
    let is_fixed = |it: &Poly| !it.atoms().any(|it| matches!(it.value, Value::Trip(_)));
    first.place.path.iter().zip(&second.place.path).any(|it| match it {
        (Step::Index { by: x, .. }, Step::Index { by: y, .. }) => {
            x != y && is_fixed(x) && is_fixed(y)
        }
        _ => false,
    })
}

/// Whether any two iterations meet in the two accesses, or any two at the distance, as far as the loops
/// inside are run.
pub(crate) fn is_steady(first: &Touch, second: &Touch, distance: Option<u64>) -> bool {
    let is_always =
        |it: &Touch| it.context.iter().all(|it| matches!(it, Context::Loop(_, Some(_))));
    is_always(first)
        && is_always(second)
        && (distance.is_some() || are_alike(first, second) && is_same(first) && is_same(second))
}

/// Whether an access reaches the same places in each iteration.
fn is_same(touch: &Touch) -> bool {
    let is_fixed = |it: &Poly| it.atoms().all(|it| it.value != Value::Trip(0));
    let subscripts = touch.place.path.iter().all(|it| match it {
        Step::Index { by, .. } => is_fixed(by),
        Step::Field(..) => true,
    });
    let rooms = touch.context.iter().all(|it| match it {
        Context::Loop(_, room) => room.as_ref().is_none_or(is_fixed),
        Context::Branch(_) => false,
    });
    subscripts && rooms
}

/// Whether equal subscripts mean the same place.
fn are_alike(first: &Touch, second: &Touch) -> bool {
    let (a, b) = (&first.place, &second.place);
    let same = |x: &Step, y: &Step| match (x, y) {
        (Step::Index { element: a, .. }, Step::Index { element: b, .. }) => a == b,
        (Step::Field(a, x), Step::Field(b, y)) => (a, x) == (b, y),
        (Step::Index { .. }, Step::Field(..)) | (Step::Field(..), Step::Index { .. }) => false,
    };
    !a.anywhere
        && !b.anywhere
        && a.path.len() == b.path.len()
        && a.path.iter().zip(&b.path).all(|(x, y)| same(x, y))
}

/// The access in the first rounds of its loops, in one iteration of the loop in question; nothing if
/// it may not happen at all.
fn instances(touch: &Touch, iteration: i128) -> Option<Vec<Instance>> {
    let mut loops: Vec<(u32, &Poly)> = Vec::new();
    for context in touch.context.iter() {
        match context {
            Context::Loop(number, Some(room)) => loops.push((*number, room)),
            Context::Loop(_, None) | Context::Branch(_) => return None,
        }
    }
    if loops.len() > MAX_LOOPS {
        return None;
    }
    let mut found = Vec::new();
    let choices = ROUNDS.checked_pow(u32::try_from(loops.len()).ok()?)?;
    for choice in 0..choices {
        let mut rounds = vec![(0, iteration)];
        let mut rest = choice;
        for (number, _) in &loops {
            rounds.push((*number, rest % ROUNDS));
            rest /= ROUNDS;
        }
        let mut subscripts = Vec::new();
        for step in &touch.place.path {
            if let Step::Index { by, .. } = step {
                subscripts.push(at(by, &rounds)?);
            }
        }
        let rooms: Option<Vec<Poly>> = loops.iter().map(|(_, room)| at(room, &rounds)).collect();
        found.push(Instance { subscripts, rooms: rooms? });
    }
    Some(found)
}

/// The value in given rounds, if nothing else in it varies or rests on what memory holds.
fn at(poly: &Poly, rounds: &[(u32, i128)]) -> Option<Poly> {
    let put = |atom: Atom| {
        let round = rounds.iter().find(|it| atom.value == Value::Trip(it.0));
        round.map_or_else(|| Poly::from(atom), |it| Poly::constant(it.1))
    };
    let value = poly.replace(&put)?;
    let is_known = value.atoms().all(|it| matches!(it.value, Value::Entry(_)));
    is_known.then_some(value)
}
