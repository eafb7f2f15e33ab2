//! What a piece of code mentions, without asking when.
//!
//! In: a statement. Out: [`Scan`], the variables it declares, writes and mentions. [`Parents`] leads from a statement
//! to those around it.

use std::collections::{BTreeMap, BTreeSet};

use ir::program::{ExprId, ExprKind, FunctionId, Program, StmtId, StmtKind, VarId, VarStorage};
use ir::walk::Part;
use rustc_hash::FxHashMap;
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

/// The way from each statement outwards.
#[derive(Debug, Default)]
pub(crate) struct Parents {
    of: FxHashMap<StmtId, (Option<StmtId>, FunctionId)>,
}

impl Parents {
    pub(crate) fn new(program: &Program) -> Parents {
        let mut parents = Parents::default();
        for (id, function) in program.functions.iter() {
            let Some(body) = function.body else { continue };
            let mut stack = vec![(Part::Stmt(body), None)];
            while let Some((part, around)) = stack.pop() {
                let mut inside = around;
                if let Part::Stmt(stmt) = part {
                    parents.of.insert(stmt, (around, id));
                    inside = Some(stmt);
                }
                program.parts(part, &mut |it| stack.push((it, inside)));
            }
        }
        parents
    }

    /// The function a statement stands in.
    pub(crate) fn function(&self, stmt: StmtId) -> Option<FunctionId> {
        self.of.get(&stmt).map(|it| it.1)
    }

    /// The statements around one, innermost first.
    pub(crate) fn around(&self, stmt: StmtId) -> Vec<StmtId> {
        let mut found = Vec::new();
        let mut at = stmt;
        while let Some(&(Some(outer), _)) = self.of.get(&at) {
            found.push(outer);
            at = outer;
        }
        found
    }
}

/// Whether a jump to or from somewhere in a function body can be other than its structure says.
pub(crate) fn has_labels(program: &Program, body: StmtId) -> bool {
    let mut stack = vec![Part::Stmt(body)];
    while let Some(part) = stack.pop() {
        if let Part::Stmt(stmt) = part
            && let StmtKind::Label(..) | StmtKind::Goto(_) | StmtKind::GotoExpr(_) =
                program.stmts[stmt].kind
        {
            return true;
        }
        program.parts(part, &mut |it| stack.push(it));
    }
    false
}
