//! What can be asked at run time where pointers cannot be told apart: whether the memory behind
//! them overlaps.
//!
//! In: pairs of accesses that may be in the same object. Out: ranges of bytes that must not overlap,
//! as sums of products of variables as they are at loop entry; nothing if some range cannot be told.
//! A range is found by putting the first and the last round of each loop in place of its counter,
//! innermost first.

use ir::program::Program;

use crate::access::{Base, Touch};
use crate::bounds;
use crate::finding::{Disjoint, Range, Terms};
use crate::poly::{Atom, Poly, Value};
use crate::sum::Sum;
use crate::system::System;

/// More conditions than this are not worth testing.
const MAX_CONDITIONS: usize = 16;

/// An object and the bytes of it that are touched, from `low` up to `high`.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Span {
    base: Base,
    low: Poly,
    high: Poly,
}

/// The conditions under which none of the pairs meet.
pub(crate) fn of(program: &Program, open: &[(&Touch, &Touch)]) -> Option<Vec<Disjoint>> {
    asked(program, open, &mut None)
}

/// The same, where a table may have columns of any number, which must not be negative: that is asked too.
pub(crate) fn with_terms(program: &Program, open: &[(&Touch, &Touch)]) -> Option<Terms> {
    let mut assumed = Some(Vec::new());
    let apart = asked(program, open, &mut assumed)?;
    let at_least_zero =
        assumed.unwrap_or_default().iter().map(Sum::of).collect::<Option<Vec<_>>>()?;
    Some(Terms { apart, at_least_zero })
}

/// What may be assumed not to be negative, if anything may.
type Assumed = Option<Vec<Poly>>;

fn asked(
    program: &Program,
    open: &[(&Touch, &Touch)],
    assumed: &mut Assumed,
) -> Option<Vec<Disjoint>> {
    let mut pairs: Vec<(Span, Span)> = Vec::new();
    for (a, b) in open {
        let (a, b) = (span(program, a, assumed)?, span(program, b, assumed)?);
        match pairs.iter_mut().find(|it| it.0.is_alike(&a) && it.1.is_alike(&b)) {
            Some(known) => {
                known.0.widen(&a)?;
                known.1.widen(&b)?;
            }
            None => pairs.push((a, b)),
        }
        if pairs.len() > MAX_CONDITIONS {
            return None;
        }
    }
    let mut found: Vec<Disjoint> = Vec::new();
    for (a, b) in &pairs {
        let disjoint = Disjoint { first: a.range()?, second: b.range()? };
        if !found.contains(&disjoint) {
            found.push(disjoint);
        }
    }
    Some(found)
}

impl Span {
    /// The same but for constants.
    fn is_alike(&self, other: &Span) -> bool {
        let differs_by_number =
            |a: &Poly, b: &Poly| a.sub(b).is_some_and(|it| it.as_constant().is_some());
        self.base == other.base
            && differs_by_number(&self.low, &other.low)
            && differs_by_number(&self.high, &other.high)
    }

    fn widen(&mut self, other: &Span) -> Option<()> {
        if other.low.sub(&self.low)?.as_constant()? < 0 {
            self.low = other.low.clone();
        }
        if other.high.sub(&self.high)?.as_constant()? > 0 {
            self.high = other.high.clone();
        }
        Some(())
    }

    fn range(&self) -> Option<Range> {
        let (var, is_pointee) = match self.base {
            Base::Var(var) => (var, false),
            Base::Pointee(var) => (var, true),
            Base::Held(_) | Base::Unknown | Base::Nowhere => return None,
        };
        Some(Range { var, is_pointee, low: Sum::of(&self.low)?, high: Sum::of(&self.high)? })
    }
}

/// All bytes that an access touches while the loop runs.
fn span(program: &Program, touch: &Touch, assumed: &mut Assumed) -> Option<Span> {
    if touch.place.anywhere {
        return None;
    }
    let at = touch.place.offset(program, 0)?;
    let size = i128::from(touch.size?);
    let facts = bounds::with_ranges(program, &touch.facts, [&at]);
    let system = System { zero: Vec::new(), at_least_zero: facts };
    let low = extreme(&at, touch, &system, assumed, false)?;
    let high = extreme(&at, touch, &system, assumed, true)?.plus(size)?;
    Some(Span { base: touch.place.base, low, high })
}

/// The largest or smallest value of a polynomial while the loop runs.
fn extreme(
    poly: &Poly,
    touch: &Touch,
    system: &System,
    assumed: &mut Assumed,
    largest: bool,
) -> Option<Poly> {
    let mut poly = poly.clone();
    // Loops are numbered from the outside in.
    while let Some(atom) = poly.atoms().filter(|it| it.varies()).max() {
        let Value::Trip(_) = atom.value else { return None };
        let (factor, rest) = poly.divided_by(atom);
        if !factor.is_invariant() {
            return None;
        }
        let grows = if system.implies_at_least_zero(&factor) {
            true
        } else if system.implies_at_least_zero(&factor.negated()?) {
            false
        } else {
            let assumed = assumed.as_mut()?;
            if !assumed.contains(&factor) {
                assumed.push(factor.clone());
            }
            true
        };
        poly = if grows == largest {
            rest.add(&last_round(&factor, atom, &touch.facts)?)?
        } else {
            rest
        };
    }
    Some(poly)
}

/// `factor` times the last value of a counter.
fn last_round(factor: &Poly, atom: Atom, facts: &[Poly]) -> Option<Poly> {
    facts.iter().find_map(|fact| {
        // fact = room - step * counter
        let (step, room) = fact.divided_by(atom);
        let step = step.as_constant().filter(|it| *it < 0)?.checked_neg()?;
        let later = |it: Atom| it.varies() && it >= atom;
        if room.atoms().any(later) || room.atoms().any(|it| matches!(it.value, Value::Varying(_))) {
            return None;
        }
        let (factor, left) = factor.divided_by_number(step)?;
        (left.as_constant() == Some(0)).then(|| factor.mul(&room))?
    })
}
