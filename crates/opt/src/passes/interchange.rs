//! `interchange`: neighbours among threads get iterations whose elements are neighbours in memory.
//!
//! In: a loop of several dimensions that all threads share; threads side by side have iterations side by side of its last
//! dimension. Out: the same with another dimension last, if more elements lie side by side along that one. The order of
//! iterations of such a loop is nobody's to tell.

use ir::program::{ExprId, ExprKind, Program, StmtId, StmtKind as C, VarId};
use ir::walk::Part;
use kernel::walk::uses;
use kernel::{Block, Share, StmtKind};

use super::nest::{is_contiguous, mentions};
use super::{Cx, Result};

pub(super) fn run(cx: &mut Cx<'_>) -> Result<()> {
    if cx.kernel.all.is_none() {
        return Ok(());
    }
    let mut body = std::mem::take(&mut cx.kernel.body);
    let chosen = interchange(cx.program, &mut body);
    cx.kernel.body = body;
    cx.kernel.launch.notes.extend(chosen);
    Ok(())
}

fn interchange(program: &Program, block: &mut Block) -> Option<String> {
    for stmt in block {
        match &mut stmt.kind {
            StmtKind::Block(inner) => {
                if let Some(chosen) = interchange(program, inner) {
                    return Some(chosen);
                }
            }
            StmtKind::Share(share) => return changed(program, share),
            _ => {}
        }
    }
    None
}

fn changed(program: &Program, share: &mut Share) -> Option<String> {
    let is_even = share.dims.iter().all(|it| it.rectangular);
    if !is_even || share.ordered || !share.last.is_empty() || share.pieces.is_some() {
        return None;
    }
    let code: Vec<StmtId> = share
        .body
        .iter()
        .filter_map(|it| if let StmtKind::Code(it) = it.kind { Some(it) } else { None })
        .collect();
    let names_number =
        |it: &StmtId| uses(program, Part::Stmt(*it)).0.iter().any(|it| it.var == share.number);
    if code.len() != share.body.len() || code.iter().any(names_number) {
        return None;
    }
    let gain = |var: VarId| code.iter().map(|it| side_by_side(program, *it, var)).sum::<u32>();
    let last = share.dims.len().checked_sub(1)?;
    let now = gain(share.dims.get(last)?.var);
    let best = (0..last).filter_map(|at| Some((at, gain(share.dims.get(at)?.var))));
    let (at, most) = best.max_by_key(|it| it.1)?;
    if most <= now {
        return None;
    }
    let dim = share.dims.remove(at);
    let name = program.vars[dim.var].name.map_or("", |it| program.names.text(it));
    let name = name.rsplit('_').next().unwrap_or_default().to_owned();
    share.dims.push(dim);
    Some(format!("threads side by side follow `{name}`"))
}

/// How many of the elements that code names lie side by side, or are one, for threads side by side that follow a variable.
pub fn side_by_side(program: &Program, code: StmtId, var: VarId) -> u32 {
    let each = elements(program, code).into_iter().map(|(it, weight)| {
        match mentions(program, it, |it| it == var) {
            true if is_contiguous(program, it, var) => weight,
            true => 0,
            // One element for all.
            false => weight,
        }
    });
    each.sum()
}

/// The elements of memory that code names, and how much each matters: loops in it repeat.
fn elements(program: &Program, stmt: StmtId) -> Vec<(ExprId, u32)> {
    let mut found = Vec::new();
    let mut open = vec![(Part::Stmt(stmt), 1u32)];
    while let Some((part, weight)) = open.pop() {
        let mut inside = weight;
        match part {
            Part::Expr(e) => {
                if let ExprKind::Index(..) = program.exprs[e].kind
                    && program.types.is_scalar(program.exprs[e].ty)
                {
                    found.push((e, weight));
                }
                // Stores that are apart cost more than loads.
                if let ExprKind::Assign(to, _)
                | ExprKind::AssignOp(_, to, ..)
                | ExprKind::Step(_, to) = program.exprs[e].kind
                    && let ExprKind::Index(..) = program.exprs[to].kind
                {
                    found.push((to, weight));
                }
            }
            Part::Stmt(stmt) => {
                if let C::For(_) | C::While(..) | C::DoWhile(..) = program.stmts[stmt].kind {
                    inside = weight.saturating_mul(8);
                }
            }
            Part::Region(_) | Part::Local(_) | Part::Init(_) => {}
        }
        program.parts(part, &mut |it| open.push((it, inside)));
    }
    found
}
