//! Calls: who is called, with what.

use ir::program::{ExprId, ExprKind, FunctionId};
use ir::types::{FunctionType, Ty, TypeKind};
use source::{Name, Span};
use syntax::ast;

use crate::Cx;
use crate::convert::Goal;
use crate::messages;
use crate::scope::Entity;

impl Cx<'_> {
    pub(super) fn call(&mut self, callee: ast::ExprId, args: &[ast::ExprId], span: Span) -> ExprId {
        if let Some(name) = self.undeclared_callee(callee) {
            if let Some(expr) = self.generic_builtin(name, args, span) {
                return expr;
            }
            self.declare_implicitly(name, self.tree.exprs[callee].span);
        }
        let callee = self.expr(callee);
        let args: Vec<ExprId> = args.iter().map(|it| self.value(*it)).collect();
        self.call_value(callee, args, span)
    }

    /// The name that is called, if nothing declares it.
    fn undeclared_callee(&self, callee: ast::ExprId) -> Option<Name> {
        let mut id = callee;
        while let ast::ExprKind::Paren(inner) = self.tree.exprs[id].kind {
            id = inner;
        }
        let ast::ExprKind::Name(name) = self.tree.exprs[id].kind else { return None };
        self.scopes.get(name).is_none().then_some(name)
    }

    /// C90's rule, which gcc keeps: a function that is called is a function, and returns `int`.
    fn declare_implicitly(&mut self, name: Name, span: Span) {
        if let Some(function) = self.builtin_function(name) {
            let text = self.program.names.text(name);
            if !text.starts_with("__") {
                let fault = messages::implicit_builtin(text, span);
                self.report(fault);
                self.program.functions[function].span = span;
            }
            return;
        }
        if self.quiet_names {
            return;
        }
        let text = self.program.names.text(name);
        if text.starts_with("__builtin_") {
            if !text.starts_with("__builtin_ia32_") {
                let fault = messages::unknown_builtin(text, span);
                self.report(fault);
            }
            self.scopes.set_global(name, Entity::Error);
            return;
        }
        let near = self.nearest_name(name);
        let fault =
            messages::implicit_function(self.program.names.text(name), near.as_deref(), span);
        self.report(fault);
        let ret = self.basics.int;
        let ty = self.program.types.get(TypeKind::Function(FunctionType {
            ret,
            params: [].into(),
            variadic: false,
            prototyped: false,
        }));
        let function = self.new_function(name, ty, span);
        self.implicit.push(function);
        self.program.items.push(ir::program::Item::Function(function));
        self.scopes.set_global(name, Entity::Function(function));
        self.scopes.set_linked(name, Entity::Function(function));
    }

    /// A call of something already typed.
    pub(crate) fn call_value(&mut self, callee: ExprId, args: Vec<ExprId>, span: Span) -> ExprId {
        let ty = self.ty(callee);
        if self.is_error(ty) {
            let error = self.basics.error;
            return self.make(ExprKind::Call(callee, args.into()), error, span);
        }
        let function = self.pointee(ty).unwrap_or(ty);
        let TypeKind::Function(signature) = self.shape(function) else {
            let fault = messages::not_callable(&self.show(ty), self.span(callee));
            return self.refuse(fault, span);
        };
        let (ret, variadic, prototyped) = (signature.ret, signature.variadic, signature.prototyped);
        let count = signature.params.len();
        self.note_call(callee);
        if prototyped && (args.len() < count || args.len() > count && !variadic) {
            return self.refuse_count(callee, count, variadic, args.len(), span);
        }
        let mut args = args;
        for (at, arg) in args.iter_mut().enumerate() {
            *arg = match self.param_ty(function, at) {
                Some(param) => self.assign_to(*arg, param, Goal::Argument(at + 1)),
                None => {
                    if self.is_void(self.ty(*arg)) {
                        let fault = messages::void_value(self.span(*arg));
                        self.report(fault);
                    }
                    self.default_argument(*arg)
                }
            };
        }
        if !self.is_void(ret) {
            self.require_complete(ret, "value of this call", span);
        }
        let ty = self.unqualified(ret);
        self.make(ExprKind::Call(callee, args.into()), ty, span)
    }

    fn param_ty(&self, function: Ty, at: usize) -> Option<Ty> {
        let TypeKind::Function(signature) = self.shape(function) else { return None };
        // What an old-style definition says of its parameters binds no caller.
        signature.params.get(at).copied().filter(|_| signature.prototyped)
    }

    fn refuse_count(
        &mut self,
        callee: ExprId,
        want: usize,
        variadic: bool,
        have: usize,
        span: Span,
    ) -> ExprId {
        let (name, declared) = match self.program.exprs[callee].kind {
            ExprKind::Function(function) => {
                let function = &self.program.functions[function];
                (format!("`{}`", self.program.names.text(function.name)), function.span)
            }
            _ => ("this function".to_owned(), Span::NONE),
        };
        let fault = messages::argument_count(&name, want, variadic, have, span, declared);
        self.refuse(fault, span)
    }

    /// Notes who is called from the body that is being read.
    fn note_call(&mut self, callee: ExprId) {
        if self.unevaluated > 0 {
            return;
        }
        let Some(caller) = self.function.as_ref().map(|it| it.id) else { return };
        let mut callee = callee;
        // `(*f)(x)` and `(&f)(x)` call `f`.
        while let ExprKind::Deref(inner) | ExprKind::AddrOf(inner) | ExprKind::Cast(_, inner) =
            self.program.exprs[callee].kind
        {
            callee = inner;
        }
        match self.program.exprs[callee].kind {
            ExprKind::Function(function) => self.note_callee(caller, function),
            _ => {
                let span = self.span(callee);
                self.program.functions[caller].indirect_calls.push(span);
            }
        }
    }

    fn note_callee(&mut self, caller: FunctionId, callee: FunctionId) {
        let stamp = caller.index() as u32 + 1;
        if self.called.len() <= callee.index() {
            self.called.resize(self.program.functions.len(), 0);
        }
        if let Some(last) = self.called.get_mut(callee.index())
            && *last != stamp
        {
            *last = stamp;
            self.program.functions[caller].calls.push(callee);
        }
    }
}
