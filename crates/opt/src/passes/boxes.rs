//! `boxes`: threads that run in step get iterations that are near each other in two dimensions.
//!
//! In: a loop of at least two dimensions that all threads share, whose iterations go on for as long as their data say:
//! iterations side by side in both dimensions are more alike than those of a long row. Out: the same iterations in boxes of
//! rows and columns, one box for threads that run in step. Short rows stay as they are.

use ir::program::{BinaryOp, ExprId, Program, StmtId, StmtKind as C, VarId};
use ir::region::LoopTest;
use ir::walk::Part;
use kernel::{Block, Dim, Share, Space, Stmt, StmtKind};
use source::Span;

use super::nest::{about, is_known, iteration_code, replace_share, stepped};
use super::numbering::Sharing;
use super::{Cx, Result};

/// Rows and columns of a box: as many as threads run in step. Eight elements of four bytes are what memory gives at once.
const BOX: [i64; 2] = [4, 8];
/// Fewer rows or columns than this would leave too many threads of boxes at the end without an iteration.
const LEAST: i64 = 32;

pub(super) fn run(cx: &mut Cx<'_>) -> Result<()> {
    // What another pass has changed has its shape.
    if cx.has_shape() {
        return Ok(());
    }
    replace_share(cx, &mut |cx, share, _, span| {
        if !is_worth(cx, share) {
            return Ok(None);
        }
        let made = boxed(cx, share.clone(), span)?;
        let [rows, columns] = BOX;
        let note = format!("threads that run in step have {rows} x {columns} iterations");
        cx.kernel.launch.notes.push(note);
        // Groups that end early make room for others.
        cx.kernel.launch.spread = Some([1, 1, 1]);
        Ok(Some(made))
    })
}

fn is_worth(cx: &Cx<'_>, share: &Share) -> bool {
    let Some((code, guards)) = iteration_code(share) else { return false };
    let dims: Vec<VarId> = share.dims.iter().map(|it| it.var).collect();
    let bounds = share.dims.iter().flat_map(|it| [Some(it.begin), Some(it.bound), it.step]);
    let are_known = bounds.flatten().all(|it| is_known(cx.program, cx.kernel, it, &dims));
    let is_long = |it: &Dim| about(cx.program, it).is_none_or(|it| it >= LEAST.unsigned_abs());
    let names = kernel::walk::uses(cx.program, Part::Stmt(code)).0;
    dims.len() >= 2
        && guards.is_empty()
        && are_known
        && share.dims.iter().rev().take(2).all(is_long)
        && !names.iter().any(|it| it.var == share.number)
        && goes_by_data(cx.program, code)
}

/// Whether code has a loop that ends when its data say so.
fn goes_by_data(program: &Program, code: StmtId) -> bool {
    let mut open = vec![(Part::Stmt(code), false)];
    while let Some((part, in_loop)) = open.pop() {
        let mut inside = in_loop;
        if let Part::Stmt(stmt) = part {
            match &program.stmts[stmt].kind {
                C::While(..) | C::DoWhile(..) => return true,
                C::For(it) if stepped(program, it).is_none() => return true,
                C::For(_) => inside = true,
                C::Switch(..) => inside = false,
                C::Break if in_loop => return true,
                _ => {}
            }
        }
        program.parts(part, &mut |it| open.push((it, inside)));
    }
    false
}

/// The loop in boxes, and as it was for short rows.
fn boxed(cx: &mut Cx<'_>, share: Share, span: Span) -> Result<Block> {
    let mut out = Block::new();
    let (outer, [down, across]) = match share.dims.as_slice() {
        [outer @ .., down, across] => (outer.to_vec(), [down.clone(), across.clone()]),
        _ => return super::refuse("a loop without two dimensions", span),
    };
    let mut inside = Block::new();
    let (mut dims, mut places, mut are_long) = (outer, Vec::new(), None);
    let lane = cx.number("lane", Space::Private, span, &mut inside);
    for (at, (dim, each)) in [down, across].iter().zip(BOX).enumerate() {
        let counted = Sharing { cx, span, space: Space::Uniform }.counted(dim, &mut out)?;
        let boxes = cx.number("boxes", Space::Uniform, span, &mut out);
        let at_box = cx.number("box", Space::Private, span, &mut inside);
        let build = &mut cx.build(span);
        let (trips, least) = (build.var(counted.trips), build.number(LEAST));
        let is_long = build.binary(BinaryOp::Ge, trips, least);
        let [size, less] = [each, each - 1].map(|it| build.number(it));
        let more = build.binary(BinaryOp::Add, trips, less);
        let count = build.binary(BinaryOp::Div, more, size);
        let columns = build.number(BOX[1]);
        let (lane, place) = (build.var(lane), build.var(at_box));
        let op = if at == 0 { BinaryOp::Div } else { BinaryOp::Rem };
        let in_box = build.binary(op, lane, columns);
        let before = build.binary(BinaryOp::Mul, place, size);
        let index = build.binary(BinaryOp::Add, before, in_box);
        let is_there = build.binary(BinaryOp::Lt, index, trips);
        are_long = Some(match are_long {
            Some(other) => build.and(other, is_long),
            None => is_long,
        });
        cx.set(boxes, count, span, &mut out);
        let bound = cx.build(span).var(boxes);
        dims.push(from_zero(cx, at_box, bound, span));
        places.push((counted, index, is_there));
    }
    let threads = cx.build(span).number(BOX.iter().product());
    dims.push(from_zero(cx, lane, threads, span));
    let mut body = share.body.clone();
    for (counted, index, is_there) in places.into_iter().rev() {
        let value = counted.value(&mut cx.build(span), index);
        let place = cx.build(span).set(counted.var, value);
        body.insert(0, Stmt::new(StmtKind::Eval(place), span));
        body = vec![Stmt::new(StmtKind::If(is_there, body, Block::new()), span)];
    }
    let several = Share { dims, body, ..share.clone() };
    inside.push(Stmt::new(StmtKind::Share(Box::new(several)), span));
    let plain = vec![Stmt::new(StmtKind::Share(Box::new(share)), span)];
    if let Some(are_long) = are_long {
        out.push(Stmt::new(StmtKind::If(are_long, inside, plain), span));
    }
    Ok(vec![Stmt::new(StmtKind::Block(out), span)])
}

/// A dimension that counts from 0.
fn from_zero(cx: &mut Cx<'_>, var: VarId, bound: ExprId, span: Span) -> Dim {
    let begin = cx.build(span).number(0);
    let (test, step, descending) = (LoopTest::Lt, None, false);
    Dim { var, begin, bound, test, step, descending, rectangular: true }
}
