//! Functions: declared, declared again, defined; and what is known while a body is read.

use ir::program::{ExprId, ExprKind, FunctionId, HostWords, Init, Item, Var, VarId, VarStorage};
use ir::types::{ArrayLen, Quals, Ty, TypeKind};
use rustc_hash::{FxHashMap, FxHashSet};
use source::{Name, Span};
use syntax::ast;
use syntax::ast::{Derived, ParamKind, Storage};

use crate::Cx;
use crate::attrs::Attrs;
use crate::jumps::Jumps;
use crate::messages;
use crate::scope::Entity;
use crate::stmt::{Labels, Switch};
use crate::types::{Definition, Place};

/// What is known while a body is read.
#[derive(Debug)]
pub(crate) struct Body {
    pub(crate) id: FunctionId,
    pub(crate) ret: Ty,
    pub(crate) labels: Labels,
    pub(crate) jumps: Jumps,
    /// The `switch` statements around, innermost last.
    pub(crate) switches: Vec<Switch>,
    /// How many statements around can be left by `break`.
    pub(crate) breaks: u32,
    /// How many loops are around.
    pub(crate) loops: u32,
    /// Names that were reported already.
    pub(crate) unknown: FxHashSet<Name>,
    /// `__func__`, once it was used.
    name_var: Option<VarId>,
}

impl Body {
    fn new(id: FunctionId, ret: Ty) -> Body {
        Body {
            id,
            ret,
            labels: Labels::default(),
            jumps: Jumps::default(),
            switches: Vec::new(),
            breaks: 0,
            loops: 0,
            unknown: FxHashSet::default(),
            name_var: None,
        }
    }
}

impl Cx<'_> {
    /// A function without body.
    pub(crate) fn declare_function(
        &mut self,
        ident: ast::Ident,
        ty: Ty,
        specs: &ast::Specs,
        attrs: Attrs,
    ) -> FunctionId {
        let is_static = specs.storage == Some(Storage::Static);
        let function = self.known_function(ident, ty);
        self.merge_function(function, ty, ident, is_static);
        let it = &mut self.program.functions[function];
        it.is_inline |= specs.inline;
        it.is_external |= is_external(specs);
        it.noreturn |= specs.noreturn || attrs.noreturn;
        self.bind_function(ident, function);
        self.note_declared_function(function);
        function
    }

    /// The function of this name, made if there is none.
    fn known_function(&mut self, ident: ast::Ident, ty: Ty) -> FunctionId {
        if let Some(Entity::Function(function)) = self.scopes.linked(ident.name)
            && !self.makes_variants()
            // The base function may come after its variants.
            && !self.made_as_variants.contains(&function)
        {
            return function;
        }
        let function = self.new_function(ident.name, ty, ident.span);
        if self.makes_variants() {
            self.made_as_variants.insert(function);
        }
        self.program.items.push(Item::Function(function));
        function
    }

    fn bind_function(&mut self, ident: ast::Ident, function: FunctionId) {
        let entity = Entity::Function(function);
        if let Some(first) = self.scopes.here(ident.name)
            && !matches!(first, Entity::Function(_) | Entity::Error)
        {
            let text = self.program.names.text(ident.name);
            let fault = messages::other_kind(text, ident.span, self.entity_span(first));
            self.report(fault);
        }
        // A variant is called by the base function's name, and only by directives.
        if self.makes_variants()
            && matches!(self.scopes.here(ident.name), Some(Entity::Function(_)))
        {
            return;
        }
        self.scopes.set(ident.name, entity);
        self.scopes.set_linked(ident.name, entity);
    }

    /// A function is declared again: the types must agree, and are put together.
    fn merge_function(&mut self, function: FunctionId, ty: Ty, ident: ast::Ident, is_static: bool) {
        let it = &self.program.functions[function];
        let (before, first, was_builtin) = (it.ty, it.span, it.is_builtin);
        let was_static = it.is_static;
        let is_new = first == ident.span;
        if is_new || was_builtin {
            // What the compiler takes for granted yields to what the user says.
            let it = &mut self.program.functions[function];
            (it.ty, it.is_static, it.is_builtin) = (ty, is_static, false);
            it.span = ident.span;
            return;
        }
        if is_static && !was_static {
            let text = self.program.names.text(ident.name);
            let fault = messages::static_after_extern(text, ident.span, first);
            self.report(fault);
        }
        if self.is_error(ty) || self.is_error(before) {
            return;
        }
        if self.is_compatible(before, ty) {
            self.program.functions[function].ty = self.composite(before, ty);
            return;
        }
        let text = self.program.names.text(ident.name);
        if self.implicit.contains(&function) {
            let fault = messages::implicit_conflict(text, ident.span, first);
            self.report(fault);
        } else {
            let types = (&*self.show(ty), &*self.show(before));
            let fault = messages::conflicting_types(text, types, ident.span, first);
            self.report(fault);
        }
        self.program.functions[function].ty = ty;
    }

    /// A function with its body.
    pub(crate) fn define_function(&mut self, definition: &ast::FunctionDef) {
        let tree = self.tree;
        let specs = &tree.specs[definition.specs];
        let declarator = &tree.declarators[definition.declarator];
        let Some(ident) = declarator.name else { return };
        let base = self.specs(definition.specs, true);
        let mut attrs = base.attrs;
        self.read_attrs(&declarator.attrs, &mut attrs);
        if matches!(specs.ty, ast::TypeSpec::Missing) {
            let what = format!("`{}`", self.program.names.text(ident.name));
            self.report(messages::implicit_int(&what, ident.span));
        }
        let error = self.basics.error;
        let function = self.known_function(ident, error);
        self.bind_function(ident, function);
        let depth = self.scopes.depth();
        let mut params = Definition { function, params: Vec::new() };
        let ret = match specs.ty {
            // Before `void` was common, `f() { … }` defined what a header declares to return none.
            ast::TypeSpec::Missing if self.is_known_void(function) => self.basics.void,
            _ => self.shaped_by(base.ty, attrs),
        };
        let ty = self.declarator(ret, declarator, Place::File, Some(&mut params));
        let is_function = matches!(declarator.parts.first(), Some(Derived::Function(_)));
        if !is_function && !self.is_error(ty) {
            let text = self.program.names.text(ident.name);
            let fault = messages::not_a_function(text, ident.span);
            self.report(fault);
        }
        if self.scopes.depth() == depth {
            self.scopes.open();
        }
        if let Some(Derived::Function(list)) = declarator.parts.first()
            && let ParamKind::Names(names) = &list.kind
        {
            params.params = self.old_params(function, names, &definition.old_params);
        }
        let is_old = matches!(declarator.parts.first(), Some(Derived::Function(list))
            if matches!(list.kind, ParamKind::Names(_)));
        let ty = if is_old { self.old_type(function, ty, &params.params) } else { ty };
        self.enter_definition(function, ty, ident, specs, attrs);
        let host = self.host_words(specs, declarator);
        self.program.functions[function].host.merge(host);
        self.program.functions[function].params = params.params;
        self.read_body(function, ty, definition.body);
        while self.scopes.depth() > depth {
            self.scopes.close();
        }
        self.program.functions[function].span = ident.span;
        self.note_declared_function(function);
    }

    fn is_known_void(&self, function: FunctionId) -> bool {
        let it = &self.program.functions[function];
        !it.is_builtin && self.is_void(self.return_ty(it.ty))
    }

    /// The type of an old-style definition: that of the prototype before it, where its parameters
    /// are declared with the prototype's types. GNU C takes that to be meant, promoted or not.
    fn old_type(&self, function: FunctionId, ty: Ty, params: &[VarId]) -> Ty {
        let before = self.program.functions[function].ty;
        let (TypeKind::Function(known), TypeKind::Function(now)) =
            (self.shape(before), self.shape(ty))
        else {
            return ty;
        };
        let plain = |ty| self.unqualified(ty);
        let agrees = known.prototyped
            && known.params.len() == params.len()
            && self.is_compatible(known.ret, now.ret)
            && known.params.iter().zip(params).all(|(param, var)| {
                self.is_compatible(plain(*param), plain(self.program.vars[*var].ty))
            });
        if agrees { before } else { ty }
    }

    /// Checks a definition against what was said before.
    fn enter_definition(
        &mut self,
        function: FunctionId,
        ty: Ty,
        ident: ast::Ident,
        specs: &ast::Specs,
        attrs: Attrs,
    ) {
        let is_static = specs.storage == Some(Storage::Static);
        let it = &self.program.functions[function];
        // An inline definition may be followed by the real one, inline or not: GNU's old
        // `extern inline`, which the dialect or an attribute asks for.
        let is_extern_inline = specs.inline && specs.storage == Some(Storage::Extern);
        let yields = it.is_inline && !it.is_static && !is_extern_inline;
        if it.body.is_some() && !yields {
            let first = it.span;
            let text = self.program.names.text(ident.name);
            let fault = messages::redefined(text, ident.span, first);
            self.report(fault);
        }
        self.merge_function(function, ty, ident, is_static);
        let it = &mut self.program.functions[function];
        it.is_inline |= specs.inline;
        it.is_external |= is_external(specs);
        it.noreturn |= specs.noreturn || attrs.noreturn;
        it.calls.clear();
        it.indirect_calls.clear();
        let ret = self.return_ty(ty);
        if !self.is_void(ret) {
            self.require_complete(ret, "return value", ident.span);
        }
    }

    fn return_ty(&self, ty: Ty) -> Ty {
        if let TypeKind::Function(function) = self.shape(ty) {
            function.ret
        } else {
            self.basics.error
        }
    }

    fn read_body(&mut self, function: FunctionId, ty: Ty, body: ast::StmtId) {
        let outer = self.function.replace(Body::new(function, self.return_ty(ty)));
        // Parameters and the outermost block are one scope.
        let block = self.function_block(body);
        self.finish_labels();
        self.check_jumps();
        self.program.functions[function].body = Some(block);
        self.function = outer;
    }

    /// `int f(a, b) char *a; int b; { … }`
    fn old_params(
        &mut self,
        function: FunctionId,
        names: &[ast::Ident],
        decls: &[ast::DeclId],
    ) -> Vec<VarId> {
        let tree = self.tree;
        let mut declared: FxHashMap<Name, VarId> = FxHashMap::default();
        for decl in decls {
            let ast::DeclKind::Declare(specs, list) = &tree.decls[*decl].kind else { continue };
            let base = self.specs(*specs, !list.is_empty());
            for it in list {
                let declarator = &tree.declarators[it.declarator];
                let Some(ident) = declarator.name else { continue };
                let ty = self.with_attrs(base.ty, &declarator.attrs, base.attrs);
                let ty = self.declarator(ty, declarator, Place::Block, None);
                let declared_len = self.declared_len(ty);
                let ty = self.adjusted(ty, declarator);
                self.check_param_storage(*specs, declarator);
                if !names.iter().any(|it| it.name == ident.name) {
                    let text = self.program.names.text(ident.name);
                    let fault = messages::not_a_param(text, ident.span);
                    self.report(fault);
                    continue;
                }
                let var = self.param(declarator, ty, declared_len, Some(function));
                declared.insert(ident.name, var);
            }
        }
        let int = self.basics.int;
        names
            .iter()
            .map(|ident| match declared.get(&ident.name) {
                Some(var) => *var,
                None => {
                    let var = self.program.vars.push(Var {
                        name: Some(ident.name),
                        ty: int,
                        declared_len: None,
                        storage: VarStorage::Param(function),
                        thread_local: false,
                        align: None,
                        init: None,
                        device: None,
                        host: HostWords::default(),
                        span: ident.span,
                    });
                    self.scopes.set(ident.name, Entity::Var(var));
                    var
                }
            })
            .collect()
    }

    /// `__func__` and its GNU relatives.
    pub(crate) fn function_name_variable(&mut self, name: Name, span: Span) -> Option<ExprId> {
        let text = self.program.names.text(name);
        if !matches!(text, "__func__" | "__FUNCTION__" | "__PRETTY_FUNCTION__") {
            return None;
        }
        let body = self.function.as_ref();
        let known = body.and_then(|it| it.name_var);
        let var = match (known, body.map(|it| it.id)) {
            (Some(var), _) => var,
            (None, function) => self.make_name_variable(name, function),
        };
        let ty = self.program.vars[var].ty;
        Some(self.make(ExprKind::Var(var), ty, span))
    }

    /// `static const char __func__[] = "…";`
    fn make_name_variable(&mut self, name: Name, function: Option<FunctionId>) -> VarId {
        let spelling = match function {
            Some(function) => {
                self.program.names.text(self.program.functions[function].name).to_owned()
            }
            None => "top level".to_owned(),
        };
        let constant = Quals { is_const: true, ..Quals::NONE };
        let elem = self.basics.char.qualified(constant);
        let length = ArrayLen::Known(spelling.len() as u64 + 1);
        let ty = self.program.types.get(TypeKind::Array(elem, length));
        let literal = self.program.names.intern(&format!("\"{spelling}\""));
        let value = self.make(ExprKind::Str([literal].into()), ty, Span::NONE);
        let init = self.program.inits.push(Init::Expr(value));
        let var = self.program.vars.push(Var {
            name: Some(name),
            ty,
            declared_len: None,
            storage: function.map_or(VarStorage::Static, VarStorage::LocalStatic),
            thread_local: false,
            align: None,
            init: Some(init),
            device: None,
            host: HostWords::default(),
            span: Span::NONE,
        });
        if let Some(body) = &mut self.function {
            body.name_var = Some(var);
        }
        var
    }
}

/// Whether a declaration makes an inline definition one for other files too (C11 6.7.4).
fn is_external(specs: &ast::Specs) -> bool {
    !specs.inline || specs.storage == Some(Storage::Extern)
}
