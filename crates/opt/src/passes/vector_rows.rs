//! `vector_rows`: neighbours in memory are met by iterations that follow each other in one loop.
//!
//! In: a shared loop of several dimensions whose iterations have no loops in them: stencils and other work on grids.
//! Compilers deal all iterations of a collapsed nest one by one, and do not see neighbours in it. Out: the outer dimensions
//! are shared, and the one along which elements lie side by side is a loop of its own, which compilers turn into vectors.
//! So they do with a loop whose iterations are combined, once each lane may have a sum of its own.

use ir::program::{ExprId, VarId};
use kernel::Share;
use rustc_hash::FxHashSet;

use super::blocks::{How, Plan, is_even, whole_code};
use super::nest::{is_contiguous, mentions, replace_share, taken};
use super::strip::{Item, Strip, sums};
use super::{Cx, Result};

/// Iterations of a row at most: a few long rows are shared too.
const LENGTH: u64 = 2048;

pub(super) fn run(cx: &mut Cx<'_>) -> Result<()> {
    let sums = sums(cx);
    replace_share(cx, &mut |cx, share, set, span| {
        let Some(plan) = plan(cx, share, (set, &sums)) else { return Ok(None) };
        Ok(Some(plan.made(cx, share, span)?))
    })
}

fn plan(
    cx: &mut Cx<'_>,
    share: &Share,
    (set, sums): (&FxHashSet<VarId>, &FxHashSet<VarId>),
) -> Option<Plan> {
    let code = whole_code(cx, share).filter(|_| is_even(share))?;
    // Loops that nobody has collapsed are seen by compilers, which may not give each lane a sum of its own.
    let is_seen = share.dims.len() < 2 || share.dims.len() != cx.kernel.launch.loops;
    if is_seen && sums.is_empty() {
        return None;
    }
    let vars: Vec<VarId> = share.dims.iter().map(|it| it.var).collect();
    let taken = taken(share, set);
    for lane in (0..vars.len()).rev() {
        let (dim, var) = (share.dims.get(lane)?, *vars.get(lane)?);
        let is_number = cx.program.types.is_integer(cx.program.vars[var].ty);
        if dim.step.is_some() || dim.descending || !is_number {
            continue;
        }
        let strip = Strip::find(cx.program, cx.kernel, code, (&vars, &[var]), &taken, sums)?;
        let program = &*cx.program;
        let follows = |it: &&ExprId| mentions(program, **it, |it| it == var);
        let beside = |it: &ExprId| is_contiguous(program, *it, var);
        let is_straight = matches!(strip.items.as_slice(), [Item::Run(_)]);
        let is_direct = strip.named.iter().all(|it| !strip.is_indirect(program, *it));
        let mut moving = strip.named.iter().filter(follows).peekable();
        if is_straight
            && is_direct
            && !(strip.stored.is_empty() && strip.sums.is_empty())
            && (moving.peek().is_some() || !strip.sums.is_empty())
            && moving.all(beside)
        {
            let how = How::Straight;
            return Some(Plan {
                strip,
                lane,
                row: None,
                lanes: LENGTH,
                rows: 1,
                how,
                cut: Vec::new(),
            });
        }
    }
    None
}
