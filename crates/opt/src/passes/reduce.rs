//! `reduce`: what each of a crew has is combined, one after the other.
//!
//! Threads leave theirs in memory of the group, and the first combines them in the order of their numbers; where that
//! changes what they have (prefixes), they find it there. What takes too much room is combined by each thread in its turn. Teams combine theirs under the lock.

use ir::program::{BinaryOp, ExprId, ExprKind, Program, VarId};
use ir::walk::Part;
use kernel::walk::{self, How};
use kernel::{Block, Loop, LoopKind, Reduce, Space, Stmt, StmtKind, Who, intrinsic};
use source::Span;

use super::{Cx, Result, rewrite};

/// Bytes of the group's memory that one reduction may take.
const ROOM: u64 = 4096;

pub(super) fn run(cx: &mut Cx<'_>) -> Result<()> {
    let body = std::mem::take(&mut cx.kernel.body);
    cx.kernel.body = rewrite(body, &mut |stmt, out| match stmt.kind {
        StmtKind::Reduce(it) => {
            let mut block = Block::new();
            match it.is_league {
                true => teams(cx, *it, stmt.span, &mut block),
                false => threads(cx, *it, stmt.span, &mut block),
            }
            out.push(Stmt::new(StmtKind::Block(block), stmt.span));
            Ok(())
        }
        kind => {
            out.push(Stmt::new(kind, stmt.span));
            Ok(())
        }
    })?;
    Ok(())
}

fn threads(cx: &mut Cx<'_>, it: Reduce, span: Span, out: &mut Block) {
    let ty = cx.program.vars[it.copy].ty.plain();
    let size = cx.program.model.size_of(&cx.program.types, ty).unwrap_or(u64::MAX);
    if size.saturating_mul(cx.groups.most_threads) > ROOM {
        return in_turn(cx, it, span, out);
    }
    let most = cx.groups.most_threads;
    let array = cx.build(span).array_of(ty, most);
    let slots = cx.fresh("slots", array, Space::Group, span, out);
    let is_changed = changes(cx.program, &it);
    let (leave, take, give, find, at) = {
        let at = cx.build(span).fresh_number("at");
        let build = &mut cx.build(span);
        let (all, number, copy) = (build.var(slots), build.var(it.crew.number), build.var(it.copy));
        let own = build.expr(ExprKind::Index(all, number), ty);
        let leave = build.copy(own, copy);
        let (all, index, copy) = (build.var(slots), build.var(at), build.var(it.copy));
        let other = build.expr(ExprKind::Index(all, index), ty);
        let take = build.copy(copy, other);
        let (give, find) = (build.copy(other, copy), build.copy(copy, own));
        (leave, take, give, find, at)
    };
    out.push(Stmt::new(StmtKind::Eval(leave), span));
    out.push(Stmt::new(StmtKind::Barrier, span));
    cx.kernel.spaces.push((at, Space::Private));
    let mut body = vec![Stmt::new(StmtKind::Eval(take), span)];
    body.extend(it.combine);
    if is_changed {
        body.push(Stmt::new(StmtKind::Eval(give), span));
    }
    let mut first = vec![Stmt::new(StmtKind::Local(at), span)];
    let zero = cx.build(span).number(0);
    cx.set(at, zero, span, &mut first);
    let build = &mut cx.build(span);
    let (index, count) = (build.var(at), build.var(it.crew.count));
    let condition = build.binary(BinaryOp::Lt, index, count);
    let step = build.increment(at);
    let each = Loop { kind: LoopKind::Before, condition: Some(condition), step: Some(step), body };
    first.push(Stmt::new(StmtKind::Loop(Box::new(each)), span));
    out.push(Stmt::new(StmtKind::On(Who::Primary, first), span));
    out.push(Stmt::new(StmtKind::Barrier, span));
    if is_changed {
        // Others leave theirs only after all have met again.
        out.push(Stmt::new(StmtKind::Eval(find), span));
        out.push(Stmt::new(StmtKind::Barrier, span));
    }
}

/// Whether what each has is another after it was combined.
fn changes(program: &Program, it: &Reduce) -> bool {
    let writes = |part| {
        let (uses, _) = walk::uses(program, part);
        uses.iter().any(|one| one.how == How::Written && one.var == it.copy)
    };
    walk::all(&it.combine).iter().any(|stmt| {
        let mut exprs = stmt.kind.exprs().into_iter();
        let in_code = matches!(stmt.kind, StmtKind::Code(code) if writes(Part::Stmt(code)));
        in_code || exprs.any(|e| writes(Part::Expr(e)) || copies_to(program, e, it.copy))
    })
}

/// Whether an expression copies bytes to a variable.
fn copies_to(program: &Program, e: ExprId, var: VarId) -> bool {
    let ExprKind::Call(_, args) = &program.exprs[e].kind else { return false };
    let Some(to) = args.first() else { return false };
    let names = |it: &ExprKind| matches!(it, ExprKind::Var(it) if *it == var);
    program.any_expr(Part::Expr(*to), names)
}

/// Each thread combines its own when it is its turn.
fn in_turn(cx: &mut Cx<'_>, it: Reduce, span: Span, out: &mut Block) {
    let turn = cx.number("turn", Space::Uniform, span, out);
    let zero = cx.build(span).number(0);
    cx.set(turn, zero, span, out);
    let build = &mut cx.build(span);
    let (at, number) = (build.var(turn), build.var(it.crew.number));
    let is_mine = build.binary(BinaryOp::Eq, at, number);
    let count = build.var(it.crew.count);
    let condition = build.binary(BinaryOp::Lt, at, count);
    let step = build.increment(turn);
    let body = vec![
        Stmt::new(StmtKind::If(is_mine, it.combine, Block::new()), span),
        Stmt::new(StmtKind::Barrier, span),
    ];
    let each = Loop { kind: LoopKind::Before, condition: Some(condition), step: Some(step), body };
    out.push(Stmt::new(StmtKind::Loop(Box::new(each)), span));
}

/// The first thread of each team combines its own while no other does.
fn teams(cx: &mut Cx<'_>, it: Reduce, span: Span, out: &mut Block) {
    let mut block = Block::new();
    let done = cx.number("done", Space::Private, span, &mut block);
    let zero = cx.build(span).number(0);
    cx.set(done, zero, span, &mut block);
    let mut body = it.combine;
    let build = &mut cx.build(span);
    let unlock = intrinsic::act(build, intrinsic::UNLOCK);
    let one = build.number(1);
    let end = build.set(done, one);
    body.push(Stmt::new(StmtKind::Eval(unlock), span));
    body.push(Stmt::new(StmtKind::Eval(end), span));
    let attempt = intrinsic::attempt(build, intrinsic::TRY_LOCK);
    let is_done = build.var(done);
    let condition = build.not(is_done);
    let body = vec![Stmt::new(StmtKind::If(attempt, body, Block::new()), span)];
    let wait = Loop { kind: LoopKind::Before, condition: Some(condition), step: None, body };
    block.push(Stmt::new(StmtKind::Loop(Box::new(wait)), span));
    out.push(Stmt::new(StmtKind::On(Who::Primary, block), span));
}
