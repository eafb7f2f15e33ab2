//! `vector_rows`: neighbours in memory are met by iterations that follow each other in one loop.
//!
//! In: a shared loop of several dimensions whose iterations have no loops in them: stencils and other work on grids.
//! Compilers deal all iterations of a collapsed nest one by one, and do not see neighbours in it. Out: the outer dimensions
//! are shared, and the one along which elements lie side by side is a loop of its own, which compilers turn into vectors.

use ir::program::{ExprId, VarId};
use kernel::Share;
use rustc_hash::FxHashSet;

use super::blocks::{How, Plan, whole_code};
use super::nest::{is_contiguous, mentions, replace_share, taken};
use super::strip::{Item, Strip};
use super::{Cx, Result};

/// Iterations of a row at most: a few long rows are shared too.
const LENGTH: u64 = 2048;

pub(super) fn run(cx: &mut Cx<'_>) -> Result<()> {
    replace_share(cx, &mut |cx, share, set, span| {
        let Some(plan) = plan(cx, share, set) else { return Ok(None) };
        Ok(Some(plan.made(cx, share, span)?))
    })
}

fn plan(cx: &mut Cx<'_>, share: &Share, set: &FxHashSet<VarId>) -> Option<Plan> {
    let code = whole_code(cx, share).filter(|_| share.dims.len() >= 2)?;
    // Loops that nobody has collapsed are seen by compilers.
    if share.dims.len() != cx.kernel.launch.loops {
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
        let strip = Strip::find(cx.program, cx.kernel, code, (&vars, &[var]), &taken)?;
        let program = &*cx.program;
        let follows = |it: &&ExprId| mentions(program, **it, |it| it == var);
        let beside = |it: &ExprId| is_contiguous(program, *it, var);
        let is_straight = matches!(strip.items.as_slice(), [Item::Run(_)]);
        let is_direct = strip.named.iter().all(|it| !strip.is_indirect(program, *it));
        let mut moving = strip.named.iter().filter(follows).peekable();
        if is_straight
            && is_direct
            && !strip.stored.is_empty()
            && moving.peek().is_some()
            && moving.all(beside)
        {
            let how = How::Straight;
            return Some(Plan { strip, lane, row: None, lanes: LENGTH, rows: 1, how });
        }
    }
    None
}
