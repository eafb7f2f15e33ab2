//! Items of clauses, and clauses that stand by themselves.

use ir::construct::{Clause, ClauseKind};
use ir::program::{ExprId, ExprKind, Program, Typed, VarId};
use source::Span;

/// A clause about the whole of a directive.
pub fn plain(kind: ClauseKind<Typed>, span: Span) -> Clause<Typed> {
    Clause { kind, on: None, group: None, switch: None, span }
}

/// The variable that an item is or is a part of.
pub fn base(program: &Program, item: ExprId) -> Option<VarId> {
    let mut at = item;
    loop {
        match &program.exprs[at].kind {
            ExprKind::Var(var) => return Some(*var),
            ExprKind::Member(base, ..)
            | ExprKind::Cast(_, base)
            | ExprKind::Index(base, _)
            | ExprKind::Deref(base) => at = *base,
            ExprKind::Section(section) => at = section.base,
            _ => return None,
        }
    }
}
