//! What a piece of code mentions, without asking when.
//!
//! In: a statement. Out: [`Scan`], the variables it declares, writes and mentions.

use std::collections::{BTreeMap, BTreeSet};

use ir::program::{ExprId, ExprKind, Program, StmtId, StmtKind, VarId, VarStorage};
use ir::walk::Part;
use source::Span;

/// What a statement mentions.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scan {
    /// Where variables as a whole are assigned or stepped, in no particular order.
    pub(crate) writes: BTreeMap<VarId, Vec<Span>>,
    /// How often each variable is mentioned.
    pub(crate) mentions: BTreeMap<VarId, usize>,
    /// Variables that come to life inside; those that live on between rounds are not among them.
    pub(crate) inner: BTreeSet<VarId>,
    /// `break` or `continue` occurs: not all of a body need be done.
    pub(crate) has_jumps: bool,
}

impl Scan {
    pub(crate) fn new(program: &Program, stmt: StmtId) -> Scan {
        Scan::of(program, &[Part::Stmt(stmt)])
    }

    pub(crate) fn of(program: &Program, parts: &[Part]) -> Scan {
        let mut scan = Scan::default();
        let mut stack = parts.to_vec();
        while let Some(part) = stack.pop() {
            match part {
                Part::Expr(id) => scan.expr(program, id),
                Part::Local(var) => {
                    if !matches!(program.vars[var].storage, VarStorage::LocalStatic(_)) {
                        scan.inner.insert(var);
                    }
                }
                Part::Stmt(id) => {
                    scan.has_jumps |=
                        matches!(program.stmts[id].kind, StmtKind::Break | StmtKind::Continue);
                }
                Part::Init(_) | Part::Region(_) => {}
            }
            program.parts(part, &mut |it| stack.push(it));
        }
        scan
    }

    fn expr(&mut self, program: &Program, id: ExprId) {
        let expr = &program.exprs[id];
        if let ExprKind::Var(var) = expr.kind {
            *self.mentions.entry(var).or_insert(0) += 1;
        }
        if let ExprKind::Assign(to, _) | ExprKind::AssignOp(_, to, ..) | ExprKind::Step(_, to) =
            expr.kind
            && let ExprKind::Var(var) = program.exprs[to].kind
        {
            self.writes.entry(var).or_default().push(expr.span);
        }
    }
}
