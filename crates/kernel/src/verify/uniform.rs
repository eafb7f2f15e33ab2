//! What has the same value in all threads, and what is written where only such values may be.

use ir::program::{ExprId, ExprKind, VarId};
use ir::walk::Part;
use source::Span;

use super::{Around, Law, Verifier};
use crate::Space;
use crate::walk::{self, How};

impl Verifier<'_> {
    /// Whether all threads of a group compute the same.
    pub(super) fn is_uniform(&self, e: ExprId) -> bool {
        self.reads_uniform(e, true)
    }

    /// The same, without memory behind pointers, calls and effects.
    pub(super) fn is_certain(&self, e: ExprId) -> bool {
        self.reads_uniform(e, false)
    }

    fn reads_uniform(&self, e: ExprId, memory: bool) -> bool {
        let program = self.program;
        let mut open = vec![Part::Expr(e)];
        while let Some(part) = open.pop() {
            if let Part::Expr(id) = part {
                let holds = match &program.exprs[id].kind {
                    ExprKind::Var(var) => self.is_uniform_var(*var),
                    ExprKind::Deref(_)
                    | ExprKind::Call(..)
                    | ExprKind::Assign(..)
                    | ExprKind::AssignOp(..)
                    | ExprKind::Step(..) => memory,
                    ExprKind::Index(base, _) => {
                        memory || program.types.element(program.exprs[*base].ty).is_some()
                    }
                    ExprKind::Error
                    | ExprKind::StmtExpr(_)
                    | ExprKind::CompoundLiteral(_)
                    | ExprKind::LabelAddr(_)
                    | ExprKind::VaArg(_)
                    | ExprKind::Section(_)
                    | ExprKind::Shaped(..) => false,
                    ExprKind::Int(_)
                    | ExprKind::WideInt(_)
                    | ExprKind::Float(_)
                    | ExprKind::Str(_)
                    | ExprKind::EnumConst(..)
                    | ExprKind::Function(_)
                    | ExprKind::Unary(..)
                    | ExprKind::AddrOf(_)
                    | ExprKind::Binary(..)
                    | ExprKind::And(..)
                    | ExprKind::Or(..)
                    | ExprKind::Conditional(..)
                    | ExprKind::Comma(..)
                    | ExprKind::Cast(..)
                    | ExprKind::Member(..)
                    | ExprKind::Sizeof(_)
                    | ExprKind::Alignof(_)
                    | ExprKind::Offsetof(..)
                    | ExprKind::ConvertVector(_) => true,
                };
                if !holds {
                    return false;
                }
            }
            program.parts(part, &mut |it| open.push(it));
        }
        true
    }

    fn is_uniform_var(&self, var: VarId) -> bool {
        let kernel = self.kernel;
        match kernel.space(var) {
            Some(Space::Uniform | Space::Group) => true,
            Some(Space::Private) => false,
            None if var == kernel.threads.number => false,
            None if [kernel.threads.count, kernel.groups.number, kernel.groups.count]
                .contains(&var) =>
            {
                true
            }
            None => !self.written.contains(&var) && !self.of_code.contains(&var),
        }
    }

    /// Looks at what an expression or serial code writes.
    pub(super) fn writes(&mut self, part: Part, span: Span, around: &Around) {
        let (uses, _) = walk::uses(self.program, part);
        let is_code = matches!(part, Part::Stmt(_));
        for it in uses.into_iter().filter(|it| it.how == How::Written) {
            // Serial code has conditions of its own, which are not looked at.
            let value = if is_code { None } else { Some(it.expr) };
            self.written_here(it.var, value, span, around);
        }
    }

    /// A variable gets a value here.
    pub(super) fn written_here(
        &mut self,
        var: VarId,
        by: Option<ExprId>,
        span: Span,
        around: &Around,
    ) {
        if self.kernel.space(var) != Some(Space::Uniform) {
            return;
        }
        let Some(begun) = around.threads else { return };
        let name = self.name(var);
        let is_outside = !self.scope.iter().skip(begun).any(|it| *it == var);
        if is_outside && around.in_parallel {
            let text = format!("`{name}` is uniform, and threads of a parallel region write it");
            return self.report(Law::Uniform, span, text);
        }
        if !around.is_uniform {
            let text = format!("`{name}` is uniform, and not all threads write it");
            return self.report(Law::Uniform, span, text);
        }
        let value = by.and_then(|it| {
            let kind = &self.program.exprs[it].kind;
            if let ExprKind::Assign(_, value) | ExprKind::AssignOp(_, _, value, _) = kind {
                Some(*value)
            } else {
                None
            }
        });
        if value.is_some_and(|it| !self.is_uniform(it)) {
            let text = format!("`{name}` is uniform, and gets a value of each thread's own");
            self.report(Law::Uniform, span, text);
        }
    }
}
