//! Whether a region writes every element of what it maps.
//!
//! In: a region and the part of an object that it maps. Out: yes, if some assignment is made in every round of its
//! loops, each dimension has a loop of its own that runs over just the elements that are mapped, one
//! after the other, and no other loop around it may run not at all. That nothing is read is asked elsewhere.

use std::collections::BTreeSet;

use ir::program::RegionId;

use super::Shape;
use crate::access::{Context, Step, Touch};
use crate::dependence::Analysis;
use crate::extent;
use crate::poly::{Atom, Poly, Value};
use crate::sum::Sum;

impl Analysis<'_> {
    /// Whether the region certainly writes all of this.
    pub(super) fn is_filled(&self, id: RegionId, shape: &Shape) -> bool {
        let program = self.program;
        let Some(dims) = &shape.dims else { return false };
        let is_steady =
            |poly: &Poly| Sum::of(poly).is_some_and(|it| extent::is_known(program, id, &it));
        if !dims.iter().all(|(low, count)| is_steady(low) && is_steady(count)) {
            return false;
        }
        let Some(accesses) = self.accesses(id) else { return false };
        let (_, done) = accesses.as_ref();
        let size = program.model.size_of(&program.types, shape.element).ok();
        done.obstacles.is_empty()
            && done.touches.iter().any(|it| {
                it.writes
                    && it.place.base == shape.base
                    && size.is_some()
                    && it.size == size
                    && covers(it, dims)
            })
    }
}

/// Whether one access reaches every element while its loops run.
fn covers(touch: &Touch, dims: &[(Poly, Poly)]) -> bool {
    let is_loop = |it: &Context| matches!(it, Context::Loop(_, Some(_)));
    if touch.place.anywhere
        || touch.place.path.len() != dims.len()
        || !touch.context.iter().all(is_loop)
    {
        return false;
    }
    let Some(mut loops) = extent::rounds(touch) else { return false };
    for (step, (low, count)) in touch.place.path.iter().zip(dims) {
        let Step::Index { by, .. } = step else { return false };
        let counters: BTreeSet<Atom> = by.atoms().filter(|it| it.varies()).collect();
        let mut counters = counters.into_iter();
        let (Some(counter), None) = (counters.next(), counters.next()) else { return false };
        let Value::Trip(_) = counter.value else { return false };
        let Some(at) = loops.iter().position(|it| it.counter == counter) else { return false };
        // Each dimension has its own loop.
        let rounds = loops.swap_remove(at);
        let (factor, rest) = by.divided_by(counter);
        let first = match factor.as_constant() {
            Some(1) => Some(rest),
            Some(-1) => rest.sub(&rounds.last),
            _ => None,
        };
        let is_whole = rounds.last.is_invariant()
            && first.as_ref() == Some(low)
            && rounds.last.plus(1).as_ref() == Some(count);
        if !is_whole {
            return false;
        }
    }
    loops.iter().all(|it| it.last.as_constant().is_some_and(|it| it >= 0))
}
