//! What one iteration of a loop does, counted: operations, accesses, calls, branches.

use ir::program::{BinaryOp, ExprKind, Program, StmtId, StmtKind};
use ir::walk::Part;

use crate::normal;

/// Operations of an iteration, loops inside left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Additions, multiplications, comparisons and the like.
    pub simple: u32,
    /// Divisions and remainders.
    pub slow: u32,
    /// Calls of functions.
    pub calls: u32,
    /// Reads of elements and of what pointers lead to.
    pub loads: u32,
    /// Writes of them.
    pub stores: u32,
    /// Conditions.
    pub branches: u32,
    /// Statements that may leave the loop, or the rest of a round.
    pub jumps: u32,
    /// Loops that do not count.
    pub open_loops: u32,
}

impl Work {
    /// In units of a simple operation.
    pub fn units(&self) -> u64 {
        const SLOW: u64 = 8;
        const CALL: u64 = 20;
        let simple = u64::from(self.simple + self.branches + self.loads + self.stores);
        simple + SLOW * u64::from(self.slow) + CALL * u64::from(self.calls)
    }
}

/// What an iteration of a `for` statement does.
pub(super) fn of_body(program: &Program, stmt: StmtId) -> Work {
    match normal::parts(program, stmt) {
        Some(it) => of(program, Part::Stmt(it.body)),
        None => Work::default(),
    }
}

/// What a part of a program does once, counting loops left out.
pub(super) fn of(program: &Program, part: Part) -> Work {
    let mut work = Work::default();
    let mut stack = vec![part];
    while let Some(part) = stack.pop() {
        if let Part::Stmt(id) = part {
            let kind = &program.stmts[id].kind;
            if let StmtKind::For(_) = kind {
                continue;
            }
            let leaves = matches!(
                kind,
                StmtKind::Break
                    | StmtKind::Return(_)
                    | StmtKind::Goto(_)
                    | StmtKind::GotoExpr(_)
                    | StmtKind::Asm(_)
            );
            work.jumps += u32::from(leaves);
            work.open_loops +=
                u32::from(matches!(kind, StmtKind::While(..) | StmtKind::DoWhile(..)));
            work.branches += u32::from(matches!(kind, StmtKind::If(..) | StmtKind::Switch(..)));
        }
        if let Part::Expr(id) = part {
            expr(&program.exprs[id].kind, &mut work);
        }
        program.parts(part, &mut |it| stack.push(it));
    }
    // What is written was counted as if it were read.
    work.loads = work.loads.saturating_sub(work.stores);
    work
}

fn expr(kind: &ExprKind, work: &mut Work) {
    let is = |holds: bool| u32::from(holds);
    if let ExprKind::Binary(op, ..) | ExprKind::AssignOp(op, ..) = kind {
        let is_slow = matches!(op, BinaryOp::Div | BinaryOp::Rem);
        work.slow += is(is_slow);
        work.simple += is(!is_slow);
    }
    work.simple += is(matches!(kind, ExprKind::Unary(..) | ExprKind::Step(..)));
    work.branches +=
        is(matches!(kind, ExprKind::And(..) | ExprKind::Or(..) | ExprKind::Conditional(..)));
    work.loads += is(matches!(kind, ExprKind::Index(..) | ExprKind::Deref(_)));
    work.calls += is(matches!(kind, ExprKind::Call(..)));
    work.stores += is(matches!(kind, ExprKind::Assign(..)));
}
