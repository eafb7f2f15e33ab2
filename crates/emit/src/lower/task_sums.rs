//! Whether tasks that take part in a reduction do no more with its variables than combine values with them.
//!
//! Then it makes no difference whether they have a copy that begins with the identity, or what others see.

use ir::construct::{ClauseKind, Leaf, Reduction, ReductionOp};
use ir::program::{BinaryOp, ExprId, ExprKind, Program, RegionId, StmtKind, Typed, VarId};
use ir::walk::Part;
use kernel::walk::{How, uses};
use levels::base;

/// The first item of a construct's reductions with which a task does more.
pub(super) fn seen(program: &Program, id: RegionId) -> Option<ExprId> {
    let region = &program.regions[id];
    let body = Part::Stmt(region.body?);
    let makes_tasks = region.construct.has(Leaf::Taskloop);
    let lists = region.construct.kinds().filter_map(|it| match it {
        ClauseKind::InReduction(it) if makes_tasks || region.construct.has(Leaf::Task) => Some(it),
        ClauseKind::Reduction(it) if makes_tasks => Some(it),
        _ => None,
    });
    let is_seen = |list: &Reduction<Typed>, item: ExprId| {
        base(program, item).is_none_or(|var| {
            let mut sum = Sum { program, var, op: &list.op, combined: 0 };
            sum.part(body);
            sum.combined != named(program, body, var)
        })
    };
    lists
        .flat_map(|list| list.items.iter().map(move |it| (list, *it)))
        .find(|it| is_seen(it.0, it.1))
        .map(|it| it.1)
}

/// How often code names a variable.
fn named(program: &Program, part: Part, var: VarId) -> usize {
    uses(program, part).0.iter().filter(|it| it.var == var && it.how == How::Named).count()
}

struct Sum<'a> {
    program: &'a Program,
    var: VarId,
    op: &'a ReductionOp<Typed>,
    /// Names of the variable in what combines.
    combined: usize,
}

impl Sum<'_> {
    fn named(&self, e: ExprId) -> usize {
        named(self.program, Part::Expr(e), self.var)
    }

    fn part(&mut self, part: Part) {
        let program = self.program;
        let found = match part {
            Part::Stmt(stmt) => match program.stmts[stmt].kind {
                StmtKind::Expr(e) => self.combining(e),
                // `if (value > most) most = value;`
                StmtKind::If(condition, then, None) if self.named(condition) == 1 => {
                    self.extreme(condition, then)
                }
                _ => 0,
            },
            Part::Expr(_) | Part::Local(_) | Part::Init(_) | Part::Region(_) => 0,
        };
        self.combined += found;
        if found == 0 {
            program.parts(part, &mut |it| self.part(it));
        }
    }

    /// How often an expression names the variable that combines a value with it.
    fn combining(&self, e: ExprId) -> usize {
        let program = self.program;
        match program.exprs[e].kind {
            ExprKind::AssignOp(op, to, value, _) if self.is_it(to) => {
                usize::from(self.is_op(op) && self.named(value) == 0)
            }
            ExprKind::Step(_, to) if self.is_it(to) => usize::from(self.is_op(BinaryOp::Add)),
            // `x = x + value`; `x = fmax(x, value)`, `x = value > x ? value : x`
            ExprKind::Assign(to, value) if self.is_it(to) => {
                let count = self.named(value);
                let combines = match program.exprs[program.peeled(value)].kind {
                    ExprKind::Binary(op, a, b) if self.is_op(op) && count == 1 => {
                        [a, b].into_iter().any(|it| self.is_it(program.peeled(it)))
                    }
                    ExprKind::And(a, _) => {
                        matches!(self.op, ReductionOp::And) && self.is_it(program.peeled(a))
                    }
                    ExprKind::Or(a, _) => {
                        matches!(self.op, ReductionOp::Or) && self.is_it(program.peeled(a))
                    }
                    ExprKind::Call(..) | ExprKind::Conditional(..) => !self.has_operator(),
                    _ => false,
                };
                if combines && count > 0 { 1 + count } else { 0 }
            }
            _ => 0,
        }
    }

    /// Whether an operator of C combines.
    fn has_operator(&self) -> bool {
        !matches!(self.op, ReductionOp::Min | ReductionOp::Max | ReductionOp::User(_))
    }

    /// The same of a statement behind a condition that names it.
    fn extreme(&self, condition: ExprId, then: ir::program::StmtId) -> usize {
        let program = self.program;
        let only = match &program.stmts[then].kind {
            StmtKind::Block(list) => list.first().copied().filter(|_| list.len() == 1),
            _ => Some(then),
        };
        let compares = matches!(
            program.exprs[condition].kind,
            ExprKind::Binary(BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge, ..)
        );
        let sets = |e: ExprId| matches!(program.exprs[e].kind, ExprKind::Assign(to, value) if self.is_it(to) && self.named(value) == 0);
        match only.map(|it| &program.stmts[it].kind) {
            Some(StmtKind::Expr(e)) if !self.has_operator() && compares && sets(*e) => 2,
            _ => 0,
        }
    }

    /// Whether an expression is the variable, or an element of it.
    fn is_it(&self, e: ExprId) -> bool {
        base(self.program, e) == Some(self.var) && self.named(e) == 1
    }

    fn is_op(&self, op: BinaryOp) -> bool {
        match self.op {
            ReductionOp::Add | ReductionOp::Sub => matches!(op, BinaryOp::Add | BinaryOp::Sub),
            ReductionOp::Mul => op == BinaryOp::Mul,
            ReductionOp::BitAnd | ReductionOp::And => op == BinaryOp::BitAnd,
            ReductionOp::BitOr | ReductionOp::Or => op == BinaryOp::BitOr,
            ReductionOp::BitXor => op == BinaryOp::BitXor,
            ReductionOp::Min | ReductionOp::Max | ReductionOp::User(_) => false,
        }
    }
}
