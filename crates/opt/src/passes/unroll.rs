//! `unroll`: a loop of an iteration that stores nothing has many loads on their way.
//!
//! In: a loop that all threads share, whose iterations have a loop that only computes values of the iteration. Out: the same
//! rounds in the same order, many written down one after the other, and more registers for each thread: few threads then keep
//! the memory as busy as many would.

use ir::program::{BinaryOp, ExprId, For, StmtId, StmtKind as C, VarId};
use ir::region::LoopTest;
use ir::types::{IntKind, TypeKind};
use ir::walk::Part;
use kernel::copy::Copier;
use kernel::{Dim, Stmt, StmtKind};
use rustc_hash::FxHashMap;
use source::Span;

use super::nest::{
    Quiet, about, counted, is_known, iteration_code, listed, loads, mentions, replace_share, taken,
    top_locals,
};
use super::turns::{copied, declared, steps};
use super::{Cx, Result};

/// Rounds that are written down, and registers of a thread.
const TIMES: (u32, u64) = (16, 128);
/// The same for rounds of one statement: so many loads of a thread make up for threads that are not there, as each has a
/// whole loop. A thread has room for as many numbers of four bytes.
const SHORT_TIMES: (u32, u64) = (128, 255);
/// Loads of such a round at most.
const FEW_LOADS: usize = 2;

pub(super) fn run(cx: &mut Cx<'_>) -> Result<()> {
    // What another pass has changed has its shape.
    if cx.has_shape() || cx.groups.at_once == 1 {
        return Ok(());
    }
    replace_share(cx, &mut |cx, share, set, span| {
        let taken = taken(share, set);
        let Some((code, guards)) = iteration_code(share) else { return Ok(None) };
        let list = listed(cx.program, code);
        let own = top_locals(cx.program, list.iter());
        let is_own = |it: &VarId| own.contains(it) && !taken.contains(it);
        let found = list
            .iter()
            .enumerate()
            .find_map(|(at, it)| Rounds::find(cx, *it, &is_own).map(|rounds| (at, rounds)));
        let Some((at, rounds)) = found.filter(|_| guards.is_empty()) else { return Ok(None) };
        let (times, registers) = if rounds.is_short { SHORT_TIMES } else { TIMES };
        let made = rounds.unrolled(cx, times, span);
        let mut list = list;
        if let Some(it) = list.get_mut(at) {
            *it = made;
        }
        let code = cx.build(span).stmt(C::Block(list.into()));
        let mut share = share.clone();
        share.body = vec![Stmt::new(StmtKind::Code(code), span)];
        let launch = &mut cx.kernel.launch;
        launch.registers = Some(registers);
        launch.notes.push(format!("{times} rounds of a loop are under way at once"));
        Ok(Some(vec![Stmt::new(StmtKind::Share(Box::new(share)), span)]))
    })
}

/// A loop whose rounds only compute.
struct Rounds {
    dim: Dim,
    body: Vec<StmtId>,
    is_short: bool,
}

impl Rounds {
    fn find(cx: &Cx<'_>, stmt: StmtId, is_own: &dyn Fn(&VarId) -> bool) -> Option<Rounds> {
        let program = &*cx.program;
        let C::For(one) = &program.stmts[stmt].kind else { return None };
        let dim = counted(program, one).filter(|_| one.unroll.is_none())?;
        // Where iterations have rounds of their own number, there may be few, as rows of a sparse matrix have: registers for
        // many would be taken from other threads.
        let is_alike = |e: ExprId| is_known(program, cx.kernel, e, &[]);
        if ![dim.begin, dim.bound].into_iter().all(is_alike) {
            return None;
        }
        let is_declared = one.init.iter().all(|it| matches!(program.stmts[*it].kind, C::Local(_)));
        let is_long = about(program, &dim).is_none_or(|it| it > u64::from(TIMES.0));
        let body = listed(program, one.body);
        let inside = top_locals(program, body.iter());
        let mut quiet = Quiet::new(program);
        let mut set = Vec::new();
        for stmt in &body {
            set.extend(quiet.set(Part::Stmt(*stmt), false)?);
        }
        let is_plain = |it: &VarId| *it != dim.var && (is_own(it) || inside.contains(it));
        let is_fixed = quiet.set(Part::Expr(dim.bound), false)?.is_empty()
            && !mentions(program, dim.bound, |it| set.contains(&it) || it == dim.var);
        let loads: usize = body.iter().map(|it| loads(program, *it).len()).sum();
        if !is_declared || !is_long || !is_fixed || loads == 0 || !set.iter().all(is_plain) {
            return None;
        }
        let is_short = body.len() == 1 && loads <= FEW_LOADS;
        Some(Rounds { dim, body, is_short })
    }

    /// Some rounds at a time, then the rest one by one.
    fn unrolled(&self, cx: &mut Cx<'_>, times: u32, span: Span) -> StmtId {
        let Dim { var: counter, begin, bound, test, .. } = self.dim;
        let build = &mut cx.build(span);
        let long = build.program.types.get(TypeKind::Int(IntKind::Long));
        let (name, ty) = (build.name_of(counter), build.program.vars[counter].ty.plain());
        let [start, count] = ["start", "count"].map(|it| build.fresh(it, long));
        let begin = build.cast(begin, ty);
        let mut list = vec![declared(build, start, begin)];
        let (from, to) = (build.var(start), build.cast(bound, long));
        let mut length = build.binary(BinaryOp::Sub, to, from);
        if test == LoopTest::Le {
            let one = build.int(1, long);
            length = build.binary(BinaryOp::Add, length, one);
        }
        list.push(declared(build, count, length));
        for by in [times, 1] {
            let build = &mut cx.build(span);
            let one = build.fresh_number("one");
            let copy = build.fresh(&name, ty);
            let value = match by {
                1 => build.var(start),
                _ => {
                    let (from, at) = (build.var(start), build.var(one));
                    let at = build.cast(at, long);
                    build.binary(BinaryOp::Add, from, at)
                }
            };
            let mut round = vec![declared(build, copy, value)];
            let vars: FxHashMap<VarId, VarId> = [(counter, copy)].into_iter().collect();
            let mut copier = Copier { vars, ..Copier::new(cx.program) };
            round.extend(self.body.iter().map(|it| copied(&mut copier, *it)));
            let build = &mut cx.build(span);
            let mut body = build.stmt(C::Block(round.into()));
            if by > 1 {
                let bounds = [build.number(0), build.number(i64::from(by))];
                body = steps(build, one, bounds, 1, by, body);
            }
            let (left, many) = (build.var(count), build.int(i64::from(by), long));
            let cond = Some(build.binary(BinaryOp::Ge, left, many));
            let rest = build.binary(BinaryOp::Sub, left, many);
            let (rest, from) = (build.set(count, rest), build.var(start));
            let next = build.binary(BinaryOp::Add, from, many);
            let next = build.set(start, next);
            let [rest, next] = [rest, next].map(|it| build.stmt(C::Expr(it)));
            let body = build.stmt(C::Block([body, rest, next].into()));
            let (init, step, unroll) = (Box::new([]), None, Some(1));
            let each = For { init, cond, step, body, unroll, lanes: false };
            list.push(build.stmt(C::For(Box::new(each))));
        }
        cx.build(span).stmt(C::Block(list.into()))
    }
}
