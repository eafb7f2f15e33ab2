//! Sums over lanes that the host's compiler gets wrong.
//!
//! gcc 12 combines lanes into the first elements of an array where the part that is named begins further on
//! (`simd reduction(+: h[1:2])`). In: a program. Out: the same without lanes for such loops, which run as they would with
//! one lane: what is combined is the same.

use directive::HOST_DIALECT;
use ir::construct::{Clause, ClauseKind, Leaf};
use ir::program::{ExprId, ExprKind, Program, RegionId, Typed};
use ir::region::{Attribute, Sharing};

use super::levels::Leveled;
use super::loops;

/// Takes the lanes from such loops; the program as written, and as it is now.
pub(super) fn without_moved_sums(written: &Program, leveled: Option<Leveled>) -> Option<Leveled> {
    let now = leveled.as_ref().map_or(written, |it| &it.program);
    let found: Vec<RegionId> = now
        .regions
        .iter()
        .filter(|(_, it)| it.construct.dialect == HOST_DIALECT && it.construct.has(Leaf::Simd))
        .filter(|(_, it)| it.construct.kinds().any(|kind| is_moved_sum(now, kind)))
        .map(|it| it.0)
        .collect();
    if found.is_empty() {
        return leveled;
    }
    let mut leveled = leveled.unwrap_or_else(|| Leveled::unchanged(written));
    for id in found {
        let region = &mut leveled.program.regions[id];
        let is_alone = region.construct.leaves == [Leaf::Simd];
        region.construct.leaves.retain(|it| *it != Leaf::Simd);
        // One thread runs it, and combines into what is there.
        let is_gone = |it: &Clause<_>| {
            let is_for_one = is_alone && is_of_one(&it.kind);
            is_for_lanes(&it.kind) || is_for_one || it.on == Some(Leaf::Simd)
        };
        region.retain_clauses(|it| !is_gone(it));
        leveled.changed.insert(id);
        let vars = leveled.program.regions[id].vars.iter_mut().filter(|_| is_alone);
        for var in vars {
            let has_copy = |it: &Attribute<Sharing>| {
                matches!(it.value, Sharing::Reduction(_) | Sharing::LastPrivate)
            };
            var.sharing = var.sharing.take().filter(|it| !has_copy(it));
        }
    }
    Some(leveled)
}

/// Whether something is combined into a part of an array that does not begin with it, as far as is known.
fn is_moved_sum(program: &Program, kind: &ClauseKind<Typed>) -> bool {
    let ClauseKind::Reduction(it) = kind else { return false };
    it.items.iter().any(|it| begins_later(program, *it))
}

fn begins_later(program: &Program, item: ExprId) -> bool {
    match &program.exprs[item].kind {
        ExprKind::Section(it) => {
            let start = it.lower.map_or(Some(0), |it| loops::constant(program, it));
            start != Some(0) || begins_later(program, it.base)
        }
        ExprKind::Index(..) => true,
        _ => false,
    }
}

/// A clause about lanes.
pub(super) fn is_for_lanes(kind: &ClauseKind<Typed>) -> bool {
    matches!(
        kind,
        ClauseKind::Safelen(_)
            | ClauseKind::Simdlen(_)
            | ClauseKind::Aligned(..)
            | ClauseKind::Nontemporal(_)
    )
}

/// A clause that means nothing where one thread runs a loop.
fn is_of_one(kind: &ClauseKind<Typed>) -> bool {
    matches!(
        kind,
        ClauseKind::Reduction(_)
            | ClauseKind::LastPrivate { .. }
            | ClauseKind::Collapse { .. }
            | ClauseKind::If(_)
    )
}
