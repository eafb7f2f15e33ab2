//! `cache_block`: transpositions go through blocks that stay in the nearest cache.
//!
//! In: a shared loop of several dimensions without loops in its iterations, which stores to elements side by side along one
//! dimension and looks at others that lie side by side along another one. Out: a loop over blocks of both dimensions; a
//! block first brings those elements into a local buffer in the order of memory, and finds them there. Only elements that
//! every iteration looks at before it stores anything.

use ir::program::{ExprId, VarId};
use kernel::Share;
use rustc_hash::FxHashSet;

use super::blocks::{How, Plan, is_even, whole_code};
use super::nest::{is_contiguous, loads, mentions, replace_share, size_of, taken};
use super::strip::{Item, Strip};
use super::{Cx, Result};

/// Bytes of a row of a block: some lines of the cache.
const ROW: u64 = 256;

pub(super) fn run(cx: &mut Cx<'_>) -> Result<()> {
    replace_share(cx, &mut |cx, share, set, span| {
        let Some(plan) = plan(cx, share, set) else { return Ok(None) };
        Ok(Some(plan.made(cx, share, span)?))
    })
}

fn plan(cx: &mut Cx<'_>, share: &Share, set: &FxHashSet<VarId>) -> Option<Plan> {
    let code = whole_code(cx, share).filter(|_| share.dims.len() >= 2 && is_even(share))?;
    let vars: Vec<VarId> = share.dims.iter().map(|it| it.var).collect();
    let (taken, none) = (taken(share, set), FxHashSet::default());
    let by_one = |at: &usize| {
        share.dims.get(*at).is_some_and(|it| {
            let is_number = cx.program.types.is_integer(cx.program.vars[it.var].ty);
            it.step.is_none() && !it.descending && is_number
        })
    };
    let counting: Vec<usize> = (0..vars.len()).rev().filter(by_one).collect();
    for lane in counting.iter().copied() {
        let along = *vars.get(lane)?;
        let strip = Strip::find(cx.program, cx.kernel, code, (&vars, &[along]), &taken, &none)?;
        let program = &*cx.program;
        let [Item::Run(list)] = strip.items.as_slice() else { return None };
        let beside = |it: &ExprId| is_contiguous(program, *it, along);
        let is_direct = strip.named.iter().all(|it| !strip.is_indirect(program, *it));
        if !is_direct || strip.stored.is_empty() || !strip.stored.iter().all(beside) {
            continue;
        }
        let follows = |it: &ExprId| mentions(program, *it, |it| it == along);
        let apart: Vec<ExprId> =
            strip.named.iter().copied().filter(|it| follows(it) && !beside(it)).collect();
        // What is looked at before anything is stored, whatever happens.
        let mut early: Vec<ExprId> = Vec::new();
        for stmt in list {
            early.extend(loads(program, *stmt));
            if !super::nest::stores(program, *stmt).is_empty() {
                break;
            }
        }
        let bytes = apart.iter().map(|it| size_of(program, program.exprs[*it].ty)).max();
        let Some(bytes) = bytes.filter(|it| (1..=16).contains(it)) else { continue };
        let row = counting.iter().copied().filter(|it| *it != lane).find(|row| {
            let across = vars.get(*row).copied();
            across.is_some_and(|row| apart.iter().all(|it| is_contiguous(program, *it, row)))
        });
        let Some(row) = row.filter(|_| apart.len() <= 2) else { continue };
        if !apart.iter().all(|it| early.contains(it)) {
            continue;
        }
        let side = ROW / bytes;
        let how = How::Brought(apart);
        return Some(Plan {
            strip,
            lane,
            row: Some(row),
            lanes: side,
            rows: side,
            how,
            cut: Vec::new(),
        });
    }
    None
}
