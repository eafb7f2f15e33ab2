//! Arrays that each iteration fills before it reads them.
//!
//! In: the accesses of an iteration. Out: local arrays, and copies of what pointers lead to, of which every element that is read has been written
//! earlier in the same iteration, so that each iteration may have an array of its own. Whether the values are needed
//! after the loop is asked by the caller.
//!
//! A read is covered by an earlier write that happens whenever the read does and either names the
//! same element, or stands in loops of its own that run over all elements that the read may name.

use std::collections::{BTreeMap, BTreeSet};

use ir::program::{Program, VarId, VarStorage};

use crate::access::{Base, Context, Step, Touch};
use crate::poly::{Poly, Value};
use crate::system::System;
use crate::walk::{Body, Held, Question};
use crate::{bounds, pairs};

/// Arrays that may be private, and must be for iterations to be independent.
/// `copied`: pointers that lead each thread to a copy.
pub(crate) fn objects(q: &Question<'_>, body: &Body, copied: &BTreeSet<VarId>) -> BTreeSet<Base> {
    let mut touches: BTreeMap<Base, Vec<&Touch>> = BTreeMap::new();
    for touch in &body.touches {
        touches.entry(touch.place.base).or_default().push(touch);
    }
    let is_known = |base: Base| match base {
        Base::Var(var) => is_local_array(q, var),
        Base::Pointee(var) => copied.contains(&var),
        Base::Held(_) | Base::Unknown | Base::Nowhere => false,
    };
    // A value that was taken for unchanging must not come from an array that changes hands.
    let held: BTreeSet<Base> = body
        .held
        .iter()
        .filter_map(|it| match it {
            Held::At(place, _) => Some(place.base),
            Held::Computed(..) => None,
        })
        .collect();
    touches
        .into_iter()
        .filter(|(base, touches)| {
            is_known(*base)
                && !held.contains(base)
                && touches.iter().any(|it| it.writes)
                && is_filled_first(q.program, touches)
                && pairs::any_meet(q.program, touches)
        })
        .map(|it| it.0)
        .collect()
}

fn is_local_array(q: &Question<'_>, var: VarId) -> bool {
    let it = &q.program.vars[var];
    matches!(it.storage, VarStorage::Local(_))
        && q.program.types.is_array(it.ty)
        && !q.program.types.is_vla(it.ty)
        && !q.aliases.is_exposed(q.program, var)
}

fn is_filled_first(program: &Program, touches: &[&Touch]) -> bool {
    touches.iter().enumerate().all(|(at, read)| {
        read.writes
            || touches.iter().take(at).any(|write| write.writes && covers(program, write, read))
    })
}

/// Whether a write has set what a read in the same iteration finds.
fn covers(program: &Program, write: &Touch, read: &Touch) -> bool {
    let (w, r) = (&write.place, &read.place);
    if w.anywhere || r.anywhere || w.path.len() != r.path.len() || write.size != read.size {
        return false;
    }
    let is_part_of = |inner: &[Context]| read.context.starts_with(inner);
    if is_part_of(&write.context) {
        return w.path == r.path;
    }
    // What the two have in common, then loops alone.
    let common = write.context.iter().zip(read.context.iter()).take_while(|(a, b)| a == b).count();
    let mut rooms = BTreeMap::new();
    for context in write.context.iter().skip(common) {
        let Context::Loop(trip, Some(room)) = context else { return false };
        rooms.insert(*trip, room);
    }
    let mut polys: Vec<Poly> = Vec::new();
    for (x, y) in w.path.iter().zip(&r.path) {
        let (Step::Index { by: a, element: of, .. }, Step::Index { by: b, element, .. }) = (x, y)
        else {
            if x == y {
                continue;
            }
            return false;
        };
        if of != element {
            return false;
        }
        match counter(a) {
            Some((trip, start)) if rooms.contains_key(&trip) => {
                // The round in which the write reaches what is read.
                let Some(round) = b.sub(&start) else { return false };
                let Some(room) = rooms.remove(&trip) else { return false };
                let at_round = room.replace(&|atom| {
                    if atom.value == Value::Trip(trip) { round.clone() } else { Poly::from(atom) }
                });
                polys.push(round.clone());
                let Some(at_round) = at_round else { return false };
                polys.push(at_round);
            }
            Some(_) | None => {
                if a != b {
                    return false;
                }
            }
        }
    }
    // A loop whose counter is no subscript writes the same again, if it runs at all.
    if !rooms.is_empty() {
        return false;
    }
    let facts = bounds::with_ranges(program, &read.facts, &polys);
    let system = System { zero: Vec::new(), at_least_zero: facts };
    polys.iter().all(|it| system.implies_at_least_zero(it))
}

/// `start + counter` of an inner loop, where `start` does not depend on inner loops.
fn counter(by: &Poly) -> Option<(u32, Poly)> {
    let mut trip = None;
    for atom in by.atoms() {
        match atom.value {
            Value::Trip(0) | Value::Entry(_) | Value::Held(_) => {}
            Value::Trip(it) if trip.is_none() => trip = Some((it, atom)),
            Value::Trip(_) | Value::Distance | Value::Varying(_) => return None,
        }
    }
    let (trip, atom) = trip?;
    let (factor, start) = by.divided_by(atom);
    (factor.as_constant() == Some(1)).then_some((trip, start))
}
