//! `_Generic`: the association that fits the type of a value.

use ir::program::ExprId;
use source::Span;
use syntax::ast;

use crate::Cx;
use crate::messages;

impl Cx<'_> {
    /// Only the chosen expression is typed: the others may not even make sense for this type.
    pub(super) fn generic(
        &mut self,
        control: ast::ExprId,
        associations: &[(Option<ast::TypeNameId>, ast::ExprId)],
        span: Span,
    ) -> ExprId {
        self.unevaluated += 1;
        let control = self.value(control);
        self.unevaluated -= 1;
        let ty = self.value_ty(control);
        if self.is_error(ty) {
            return self.wrong(span);
        }
        let mut chosen = None;
        for (of, expr) in associations {
            match of {
                Some(of) => {
                    let of = self.type_name(*of);
                    let is_plain = self.program.types.resolve(of).quals == ir::types::Quals::NONE;
                    if is_plain && self.is_compatible(ty, of) {
                        chosen = Some(*expr);
                        break;
                    }
                }
                None => chosen = chosen.or(Some(*expr)),
            }
        }
        match chosen {
            Some(expr) => self.expr(expr),
            None => {
                let fault = messages::no_generic_match(&self.show(ty), self.span(control));
                self.refuse(fault, span)
            }
        }
    }
}
