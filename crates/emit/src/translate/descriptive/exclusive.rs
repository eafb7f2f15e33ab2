//! One at a time: indivisible accesses, and code that is no more than that.

use ir::construct::{AtomicKind, ClauseKind, Leaf, MemoryOrder};
use ir::program::{BinaryOp, ExprId, ExprKind, RegionId, StmtId, StmtKind};
use ir::walk::Part;

use super::super::{Fate, Line, Place, Plan, clause};
use super::{Descriptive, EXCLUSIVE, MEMORY_ORDER, NO_COUNTERPART};
use crate::lower::levels::base;

impl Descriptive<'_, '_> {
    pub(super) fn atomic(&self, id: RegionId) -> Plan {
        let from = &self.program.regions[id].construct;
        let mut plan = Plan::default();
        let mut to = self.t.directive(vec![Leaf::Atomic], from.span);
        for it in &from.clauses {
            let written = || Some(self.t.words.written(it.span));
            match &it.kind {
                _ if it.switch.is_some() => {
                    let text = "whether it holds is not known here";
                    plan.remark(Fate::Refused, Some(NO_COUNTERPART), written(), text);
                }
                ClauseKind::AtomicKind(AtomicKind::Compare)
                | ClauseKind::Fail(_)
                | ClauseKind::Weak => {
                    let text = "there are no indivisible comparisons";
                    plan.remark(Fate::Refused, Some(NO_COUNTERPART), written(), text);
                }
                ClauseKind::AtomicKind(kind) => {
                    to.clauses.push(clause(ClauseKind::AtomicKind(*kind)));
                }
                ClauseKind::MemoryOrder(MemoryOrder::Relaxed) | ClauseKind::Hint(_) => {
                    plan.remark(Fate::Redundant, None, written(), "it holds anyway");
                }
                ClauseKind::MemoryOrder(_) | ClauseKind::MemScope(_) => {
                    let text = "the order of other accesses is not said";
                    plan.remark(Fate::Approximated, Some(MEMORY_ORDER), written(), text);
                }
                _ => {
                    let text = "it has no counterpart";
                    plan.remark(Fate::Refused, Some(NO_COUNTERPART), written(), text);
                }
            }
        }
        plan.lines.push(Line::Directive(Box::new(to)));
        plan
    }

    /// Code that one thread at a time runs: one change of one object is an indivisible access.
    pub(super) fn critical(&self, id: RegionId) -> Plan {
        let region = &self.program.regions[id];
        let found = region.body.and_then(|body| Some((body, self.one_update(body)?)));
        let Some((body, update)) = found else {
            let text = "this is more than one change of one object; \
                        make it a reduction, or indivisible accesses";
            return self.refused(EXCLUSIVE, text);
        };
        let mut to = self.t.directive(vec![Leaf::Atomic], region.construct.span);
        to.clauses.push(clause(ClauseKind::AtomicKind(AtomicKind::Update)));
        let mut plan = Plan::default();
        let line = Line::Directive(Box::new(to));
        match body == update {
            true => plan.lines.push(line),
            false => plan.before.push((Place::Statement(self.program.stmts[update].span), line)),
        }
        for it in &region.construct.clauses {
            let written = Some(self.t.words.written(it.span));
            plan.remark(Fate::Redundant, None, written, "advice that nothing depends on");
        }
        plan
    }

    /// The one statement in it, if that changes one object by a value that does not depend on it.
    fn one_update(&self, body: StmtId) -> Option<StmtId> {
        match &self.program.stmts[body].kind {
            StmtKind::Block(list) => match list.as_ref() {
                [one] => self.one_update(*one),
                _ => None,
            },
            StmtKind::Expr(expr) => self.is_update(*expr).then_some(body),
            _ => None,
        }
    }

    fn is_update(&self, expr: ExprId) -> bool {
        let (place, values): (ExprId, Vec<ExprId>) = match &self.program.exprs[expr].kind {
            ExprKind::AssignOp(op, place, value, _) if takes(*op) => (*place, vec![*value]),
            ExprKind::Step(_, place) => (*place, Vec::new()),
            _ => return false,
        };
        let Some(var) = base(self.program, place) else { return false };
        let types = &self.program.types;
        let ty = self.program.exprs[place].ty;
        types.is_scalar(ty)
            && !types.is_pointer(ty)
            && values.iter().all(|it| !self.mentions(*it, var))
            && !self.calls_something(place)
    }

    fn mentions(&self, expr: ExprId, var: ir::program::VarId) -> bool {
        self.any_part(expr, &|kind| match kind {
            ExprKind::Var(it) => *it == var,
            ExprKind::Call(..) | ExprKind::StmtExpr(_) => true,
            _ => false,
        })
    }

    fn calls_something(&self, expr: ExprId) -> bool {
        self.any_part(expr, &|kind| {
            matches!(
                kind,
                ExprKind::Call(..)
                    | ExprKind::StmtExpr(_)
                    | ExprKind::Step(..)
                    | ExprKind::Assign(..)
            )
        })
    }

    fn any_part(&self, expr: ExprId, is_it: &dyn Fn(&ExprKind) -> bool) -> bool {
        let mut open = vec![Part::Expr(expr)];
        while let Some(part) = open.pop() {
            if let Part::Expr(at) = part
                && is_it(&self.program.exprs[at].kind)
            {
                return true;
            }
            self.program.parts(part, &mut |it| open.push(it));
        }
        false
    }
}

fn takes(op: BinaryOp) -> bool {
    matches!(
        op,
        BinaryOp::Add
            | BinaryOp::Sub
            | BinaryOp::Mul
            | BinaryOp::Div
            | BinaryOp::BitAnd
            | BinaryOp::BitOr
            | BinaryOp::BitXor
            | BinaryOp::Shl
            | BinaryOp::Shr
    )
}
