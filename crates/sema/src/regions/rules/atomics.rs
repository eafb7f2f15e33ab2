//! The statement after an atomic directive: one read, write, update, or one with its old or new
//! value captured.
//!
//! Comparisons have many forms, conditional statements among them; they are left to the lowering.

use ir::construct::{AtomicKind, ClauseKind, Leaf};
use ir::program::{BinaryOp, ExprId, ExprKind, Program, StmtId, StmtKind};
use ir::region::Region;
use source::Diagnostics;

use crate::regions::messages;

const READ: &str = "`v = x;`";
const WRITE: &str = "`x = value;`";
const UPDATE: &str = "`x++;`, `x--;`, `x op= value;`, `x = x op value;` or `x = value op x;`, where \
                      `op` is one of `+ - * / & ^ | << >>`";
const CAPTURE: &str = "`v = ` followed by an update, or a block of two statements: `v = x;` and an \
                       update or write of `x`, in either order";

pub(super) fn check(program: &Program, region: &Region, faults: &mut Diagnostics) {
    let (true, Some(body)) = (region.construct.has(Leaf::Atomic), region.body) else { return };
    let kinds: Vec<AtomicKind> = region
        .construct
        .kinds()
        .filter_map(|it| if let ClauseKind::AtomicKind(kind) = it { Some(*kind) } else { None })
        .collect();
    if kinds.contains(&AtomicKind::Compare) {
        return;
    }
    let forms = Forms { program };
    let (fits, names) = if kinds.contains(&AtomicKind::Capture) {
        (forms.capture(body), CAPTURE)
    } else if kinds.contains(&AtomicKind::Read) {
        (forms.single(body).is_some_and(|it| forms.read(it).is_some()), READ)
    } else if kinds.contains(&AtomicKind::Write) {
        (forms.single(body).is_some_and(|it| forms.write(it).is_some()), WRITE)
    } else {
        (forms.single(body).is_some_and(|it| forms.update(it).is_some()), UPDATE)
    };
    if !fits && !forms.has_error(body) {
        let span = program.stmts[body].span;
        faults.push(messages::not_atomic(region, span, "not of the form", names));
    }
}

struct Forms<'a> {
    program: &'a Program,
}

impl Forms<'_> {
    fn peel(&self, id: ExprId) -> ExprId {
        let mut id = id;
        while let ExprKind::Cast(_, inner) = &self.program.exprs[id].kind {
            id = *inner;
        }
        id
    }

    fn kind(&self, id: ExprId) -> &ExprKind {
        &self.program.exprs[self.peel(id)].kind
    }

    fn has_error(&self, body: StmtId) -> bool {
        match &self.program.stmts[body].kind {
            StmtKind::Error => true,
            StmtKind::Block(list) => list.iter().any(|&it| self.has_error(it)),
            StmtKind::Expr(expr) => self.expr_has_error(*expr),
            _ => false,
        }
    }

    fn expr_has_error(&self, id: ExprId) -> bool {
        let expr = &self.program.exprs[id];
        matches!(expr.kind, ExprKind::Error)
            || self.program.types.is_error(expr.ty)
            || match &expr.kind {
                ExprKind::Assign(a, b) | ExprKind::AssignOp(_, a, b, _) => {
                    self.expr_has_error(*a) || self.expr_has_error(*b)
                }
                ExprKind::Cast(_, inner) => self.expr_has_error(*inner),
                _ => false,
            }
    }

    /// The one expression of a statement, braces around it or not.
    fn single(&self, body: StmtId) -> Option<ExprId> {
        match &self.program.stmts[body].kind {
            StmtKind::Expr(expr) => Some(*expr),
            StmtKind::Block(list) => match &**list {
                [only] => self.single(*only),
                _ => None,
            },
            _ => None,
        }
    }

    fn is_object(&self, id: ExprId) -> bool {
        matches!(
            self.kind(id),
            ExprKind::Var(_) | ExprKind::Deref(_) | ExprKind::Index(..) | ExprKind::Member(..)
        )
    }

    /// `v = x`: the object read.
    fn read(&self, id: ExprId) -> Option<ExprId> {
        let ExprKind::Assign(_, value) = self.kind(id) else { return None };
        self.is_object(*value).then(|| self.peel(*value))
    }

    /// `x = value`: the object written.
    fn write(&self, id: ExprId) -> Option<ExprId> {
        let ExprKind::Assign(object, _) = self.kind(id) else { return None };
        self.is_object(*object).then(|| self.peel(*object))
    }

    /// The object updated.
    fn update(&self, id: ExprId) -> Option<ExprId> {
        match self.kind(id) {
            ExprKind::Step(_, object) => Some(self.peel(*object)),
            ExprKind::AssignOp(op, object, ..) => updates(*op).then(|| self.peel(*object)),
            ExprKind::Assign(object, value) => {
                let object = self.peel(*object);
                self.computes_from(*value, object).then_some(object)
            }
            _ => None,
        }
    }

    /// `x op value` or `value op x`. `x op a op b` will do where it is `x op (a op b)`.
    fn computes_from(&self, value: ExprId, object: ExprId) -> bool {
        let ExprKind::Binary(op, left, right) = self.kind(value) else { return false };
        if !updates(*op) {
            return false;
        }
        if self.same(self.peel(*right), object) {
            return true;
        }
        let mut left = self.peel(*left);
        loop {
            if self.same(left, object) {
                return true;
            }
            match &self.program.exprs[left].kind {
                ExprKind::Binary(inner, next, _) if inner == op && is_associative(*op) => {
                    left = self.peel(*next);
                }
                _ => return false,
            }
        }
    }

    fn capture(&self, body: StmtId) -> bool {
        if let Some(single) = self.single(body) {
            // `v = x++`, `v = x op= value`, `v = x = x op value`
            let ExprKind::Assign(_, value) = self.kind(single) else { return false };
            return self.update(*value).is_some();
        }
        let StmtKind::Block(list) = &self.program.stmts[body].kind else { return false };
        let mut parts = Vec::new();
        for &stmt in list {
            match &self.program.stmts[stmt].kind {
                StmtKind::Expr(expr) => parts.push(*expr),
                StmtKind::Empty => {}
                _ => return false,
            }
        }
        let [first, second] = &*parts else { return false };
        let agree = |a: Option<ExprId>, b: Option<ExprId>| match (a, b) {
            (Some(a), Some(b)) => self.same(a, b),
            _ => false,
        };
        agree(self.read(*first), self.update(*second))
            || agree(self.read(*first), self.write(*second))
            || agree(self.read(*second), self.update(*first))
    }

    /// Whether two expressions are written alike.
    fn same(&self, a: ExprId, b: ExprId) -> bool {
        let (a, b) = (self.peel(a), self.peel(b));
        match (&self.program.exprs[a].kind, &self.program.exprs[b].kind) {
            (ExprKind::Var(a), ExprKind::Var(b)) => a == b,
            (ExprKind::Int(a), ExprKind::Int(b)) => a == b,
            (ExprKind::EnumConst(a, i), ExprKind::EnumConst(b, j)) => a == b && i == j,
            (ExprKind::Function(a), ExprKind::Function(b)) => a == b,
            (ExprKind::Deref(a), ExprKind::Deref(b))
            | (ExprKind::AddrOf(a), ExprKind::AddrOf(b)) => self.same(*a, *b),
            (ExprKind::Unary(o, a), ExprKind::Unary(p, b)) => o == p && self.same(*a, *b),
            (ExprKind::Step(o, a), ExprKind::Step(p, b)) => o == p && self.same(*a, *b),
            (ExprKind::Index(a, i), ExprKind::Index(b, j))
            | (ExprKind::Comma(a, i), ExprKind::Comma(b, j)) => {
                self.same(*a, *b) && self.same(*i, *j)
            }
            (ExprKind::Member(a, r, i), ExprKind::Member(b, s, j)) => {
                r == s && i == j && self.same(*a, *b)
            }
            (ExprKind::Binary(o, a, i), ExprKind::Binary(p, b, j)) => {
                o == p && self.same(*a, *b) && self.same(*i, *j)
            }
            (ExprKind::Call(f, x), ExprKind::Call(g, y)) => {
                self.same(*f, *g)
                    && x.len() == y.len()
                    && x.iter().zip(y).all(|(a, b)| self.same(*a, *b))
            }
            // `p->m` and `(*p).m`, `a[i]` and `*(a + i)` are not told apart: let them pass.
            (ExprKind::Deref(_), ExprKind::Index(..))
            | (ExprKind::Index(..), ExprKind::Deref(_)) => true,
            (ExprKind::Float(a), ExprKind::Float(b)) => a == b,
            (ExprKind::Sizeof(a), ExprKind::Sizeof(b)) => a == b,
            _ => false,
        }
    }
}

/// Whether `(a op b) op c` is `a op (b op c)`, leaving rounding aside.
fn is_associative(op: BinaryOp) -> bool {
    matches!(
        op,
        BinaryOp::Add | BinaryOp::Mul | BinaryOp::BitAnd | BinaryOp::BitXor | BinaryOp::BitOr
    )
}

fn updates(op: BinaryOp) -> bool {
    match op {
        BinaryOp::Mul
        | BinaryOp::Div
        | BinaryOp::Add
        | BinaryOp::Sub
        | BinaryOp::Shl
        | BinaryOp::Shr
        | BinaryOp::BitAnd
        | BinaryOp::BitXor
        | BinaryOp::BitOr => true,
        BinaryOp::Rem
        | BinaryOp::Lt
        | BinaryOp::Gt
        | BinaryOp::Le
        | BinaryOp::Ge
        | BinaryOp::Eq
        | BinaryOp::Ne => false,
    }
}
