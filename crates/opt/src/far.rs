//! What can be asked at run time where two subscripts differ by a value that nobody knows: whether they are so far apart
//! that no two iterations meet.
//!
//! In: pairs of accesses that meet as far as can be told. Out: for each the difference and how far the loop goes; if the difference is
//! nothing, or at least that much one way or the other, the iterations are independent. Nothing, if that cannot be said
//! of some pair.

use crate::access::{Step, Touch};
use crate::finding::Far;
use crate::poly::{Poly, Value};
use crate::sum::Sum;

/// More conditions than this are not worth testing.
const MAX_CONDITIONS: usize = 8;

/// The conditions under which none of the pairs meet; `room` is what is left of the way in a round.
pub(crate) fn of(pairs: &[(&Touch, &Touch)], room: &Poly, step: i128) -> Option<Vec<Far>> {
    let mut found: Vec<Far> = Vec::new();
    for (a, b) in pairs {
        let far = one(a, b, room, step)?;
        if !found.contains(&far) {
            found.push(far);
        }
        if found.len() > MAX_CONDITIONS {
            return None;
        }
    }
    Some(found)
}

fn negated(sum: &Sum) -> Sum {
    Sum { terms: Vec::new() }.minus(sum)
}

fn one(a: &Touch, b: &Touch, room: &Poly, step: i128) -> Option<Far> {
    if a.place.anywhere || b.place.anywhere || a.place.base != b.place.base || a.size != b.size {
        return None;
    }
    let (a, b) = (&a.place.path, &b.place.path);
    if a.len() != b.len() {
        return None;
    }
    // One subscript differs; the others are the same in both.
    let mut differing = a.iter().zip(b).filter(|(a, b)| a != b);
    let (one, other) = (differing.next()?, differing.next());
    let (Step::Index { by: x, stride: p, .. }, Step::Index { by: y, stride: q, .. }) = one else {
        return None;
    };
    if other.is_some() || p != q {
        return None;
    }
    let by = y.sub(x)?;
    if by.as_constant().is_some() {
        return None;
    }
    let by = Sum::of(&by)?;
    // Either way is asked for: the one that reads better.
    let is_turned = by.terms.first().is_some_and(|it| it.0 < 0);
    let by = if is_turned { negated(&by) } else { by };
    let counter = x.atoms().find(|it| it.value == Value::Trip(0))?;
    let (factor, rest) = x.divided_by(counter);
    let factor = factor.as_constant()?;
    // Other loops would have to be looked at together.
    if rest.atoms().any(|it| it.varies()) || step == 0 || factor % step != 0 {
        return None;
    }
    let (per_step, room) = (factor.checked_div(step)?.checked_abs()?, room.clone());
    let room = room.replace(&|atom| match atom.value == Value::Trip(0) {
        true => Poly::default(),
        false => Poly::from(atom),
    })?;
    let way = room.scaled(per_step)?.plus(1)?;
    Some(Far { by, way: Sum::of(&way)? })
}
