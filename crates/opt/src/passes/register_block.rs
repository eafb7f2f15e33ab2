//! `register_block`: neighbouring iterations run their inner loops in step, side by side in vector registers.
//!
//! In: a shared loop whose iterations each go round a loop: products of matrices, convolutions, sums along columns. Out: a
//! loop over blocks of iterations; each block goes round the inner loops once, and what an iteration sums up is an element
//! of a local array that compilers keep in registers. Lanes are iterations that follow each other along one dimension,
//! rows those along another one, which share what they load. Elements that do not lie side by side for lanes are first
//! packed into a local buffer, a piece of the inner loop at a time, for many rows. Triangles are cut from a box.
//!
//! Every iteration does what it did in the same order: results are the same bits.

use ir::program::{ExprId, Program, StmtId, VarId};
use ir::walk::Part;
use kernel::Share;
use rustc_hash::FxHashSet;

use super::blocks::{How, PACKED_ROUNDS, PACKED_ROWS, Plan, is_even, whole_code};
use super::nest::{is_contiguous, loads, mentions, mentions_in, replace_share, size_of, taken};
use super::rectangularize::{Boxed, Check, boxed};
use super::strip::{Item, Strip, sums};
use super::{Cx, Result};

/// Bytes of a block's own variables at most: they stay in the nearest cache.
const MOST_BYTES: u64 = 64 << 10;

pub(super) fn run(cx: &mut Cx<'_>) -> Result<()> {
    let sums = sums(cx);
    replace_share(cx, &mut |cx, share, set, span| {
        let Some(mut plan) = plan(cx, share, (set, &sums)) else { return Ok(None) };
        if is_even(share) {
            return Ok(Some(plan.made(cx, share, span)?));
        }
        let Some(Boxed { before: mut out, dims, checks, .. }) = boxed(cx, share, span) else {
            return Ok(None);
        };
        for check in checks {
            match check {
                Check::Within(dim, _) => plan.cut.push(dim.clone()),
                // Of a box around a band most is empty.
                Check::Counted(..) => return Ok(None),
            }
        }
        let share = Share { dims, ..share.clone() };
        out.extend(plan.made(cx, &share, span)?);
        Ok(Some(out))
    })
}

fn plan(
    cx: &mut Cx<'_>,
    share: &Share,
    (set, sums): (&FxHashSet<VarId>, &FxHashSet<VarId>),
) -> Option<Plan> {
    let code = whole_code(cx, share)?;
    let vars: Vec<VarId> = share.dims.iter().map(|it| it.var).collect();
    let taken = taken(share, set);
    let mut best: Option<(u32, Plan)> = None;
    for lane in (0..vars.len()).rev() {
        let dim = share.dims.get(lane)?;
        let is_number = cx.program.types.is_integer(cx.program.vars[dim.var].ty);
        if dim.step.is_some() || dim.descending || !is_number {
            continue;
        }
        let others = (0..vars.len()).rev().filter(|it| *it != lane).map(Some);
        for row in others.chain([None]) {
            let moving: Vec<VarId> = [Some(lane), row]
                .into_iter()
                .flatten()
                .filter_map(|it| vars.get(it).copied())
                .collect();
            let found = Strip::find(cx.program, cx.kernel, code, (&vars, &moving), &taken, sums);
            let Some(strip) = found else { continue };
            let Some((score, plan)) = rated(cx, strip, &vars, lane, row) else { continue };
            if best.as_ref().is_none_or(|it| it.0 < score) {
                best = Some((score, plan));
            }
        }
    }
    best.map(|it| it.1)
}

/// A plan for lanes along a dimension and rows along another, and how good it is.
fn rated(
    cx: &Cx<'_>,
    strip: Strip,
    vars: &[VarId],
    lane: usize,
    row: Option<usize>,
) -> Option<(u32, Plan)> {
    let program = &*cx.program;
    let along = *vars.get(lane)?;
    let across = row.and_then(|it| vars.get(it).copied());
    // Compilers do the rest by themselves.
    let innermost = innermost(&strip.items);
    let stands = |it: &ExprId| !mentions(program, *it, |it| innermost.contains(&it));
    if strip.carried.is_empty() && !strip.stored_inside.iter().any(stands) {
        return None;
    }
    // Lanes would be combined in each round.
    let combines =
        |it: &StmtId| mentions_in(program, Part::Stmt(*it), |it| strip.sums.contains(&it));
    if strip.runs().into_iter().any(|(list, is_inside)| is_inside && list.iter().any(combines)) {
        return None;
    }
    let follows = |it: ExprId| mentions(program, it, |it| it == along);
    let rows_share = |it: ExprId| across.is_some_and(|row| !mentions(program, it, |it| it == row));
    if strip.inside.iter().any(|it| strip.is_indirect(program, *it)) {
        return None;
    }
    let moving: Vec<ExprId> = strip.inside.iter().copied().filter(|it| follows(*it)).collect();
    let apart: Vec<ExprId> =
        moving.iter().copied().filter(|it| !is_contiguous(program, *it, along)).collect();
    let packed = match apart.is_empty() {
        true => Vec::new(),
        false => packable(program, &strip, &moving, &rows_share)?,
    };
    let own = |it: &VarId| size_of(program, program.vars[*it].ty);
    let widest = strip
        .own
        .iter()
        .map(own)
        .chain(moving.iter().map(|it| size_of(program, program.exprs[*it].ty)));
    let widest = widest.max()?.max(1);
    let has_reuse = moving.iter().any(|it| rows_share(*it));
    // Registers that hold what is carried from round to round, and those that a vector of it takes.
    let carried = strip.carried.len().max(1) as u64;
    let registers = 8;
    let per_vector = (registers / carried).clamp(1, registers);
    let row_shares = strip.inside.iter().any(|it| rows_share(*it));
    let (vectors, rows) = match row {
        Some(_) if row_shares => (2.min(per_vector), (per_vector / 2).clamp(1, 8)),
        Some(_) | None => (per_vector.min(4), 1),
    };
    if row.is_some() && rows == 1 {
        return None;
    }
    let lanes = (cx.vector / widest).max(1) * vectors;
    let kept = if packed.is_empty() { rows } else { PACKED_ROWS };
    let bytes = lanes * (strip.own.iter().map(own).sum::<u64>() * kept);
    let buffers: u64 = packed.iter().map(|it| size_of(program, program.exprs[*it].ty)).sum();
    if lanes < 2 || bytes + lanes * PACKED_ROUNDS * buffers > MOST_BYTES * 2 {
        return None;
    }
    let stored_beside = strip.stored.iter().all(|it| is_contiguous(program, *it, along));
    let score = 8 * u32::from(packed.is_empty())
        + 4 * u32::from(stored_beside)
        + 2 * u32::from(has_reuse)
        + u32::from(row.is_some());
    let how = match packed.is_empty() {
        true => How::Rounds { has_reuse },
        false => How::Packed(packed),
    };
    Some((score, Plan { strip, lane, row, lanes, rows, how, cut: Vec::new() }))
}

fn innermost(items: &[Item]) -> Vec<VarId> {
    let mut found = Vec::new();
    for item in items {
        if let Item::Loop(it) = item {
            let inside = innermost(&it.body);
            match inside.is_empty() {
                true => found.push(it.dim.var),
                false => found.extend(inside),
            }
        }
    }
    found
}

/// The elements that are packed, if all that lanes have of their own can be.
fn packable(
    program: &Program,
    strip: &Strip,
    moving: &[ExprId],
    rows_share: &dyn Fn(ExprId) -> bool,
) -> Option<Vec<ExprId>> {
    let mut loops = strip.items.iter().filter_map(|it| match it {
        Item::Loop(it) => Some(it),
        Item::Run(_) => None,
    });
    let (Some(only), None) = (loops.next(), loops.next()) else { return None };
    let [Item::Run(list)] = only.body.as_slice() else { return None };
    if !strip.stored_inside.is_empty() {
        return None;
    }
    let certain: Vec<ExprId> = list.iter().flat_map(|it| loads(program, *it)).collect();
    let declared: Vec<VarId> = list
        .iter()
        .flat_map(|it| kernel::walk::uses(program, ir::walk::Part::Stmt(*it)).1)
        .collect();
    let is_fit = |it: &ExprId| {
        rows_share(*it)
            && certain.contains(it)
            && !mentions(program, *it, |var| declared.contains(&var))
    };
    (moving.iter().all(is_fit) && moving.len() <= 4).then(|| moving.to_vec())
}
