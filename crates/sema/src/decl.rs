//! Declarations: variables, typedefs, and what may be declared twice.
//!
//! Functions are next door, in [`crate::function`].

use ir::program::{FunctionId, HostWords, Item, StmtId, StmtKind, Var, VarId, VarStorage};
use ir::types::{Alias, ArrayLen, Ty, TypeKind};
use source::{Name, Span};
use syntax::ast;
use syntax::ast::{DeclKind, Storage};

use crate::Cx;
use crate::attrs::Attrs;
use crate::messages;
use crate::scope::Entity;
use crate::types::Base;

/// One declarator, ready to be declared.
struct Declared<'a> {
    ident: ast::Ident,
    ty: Ty,
    attrs: Attrs,
    specs: &'a ast::Specs,
    init: Option<ast::InitId>,
}

impl Cx<'_> {
    pub(crate) fn translation_unit(&mut self) {
        let tree = self.tree;
        for item in &tree.items {
            self.file_decl(*item);
        }
        self.close_all_declarations();
        self.finish_tentative();
    }

    /// A declaration at file scope.
    pub(crate) fn file_decl(&mut self, id: ast::DeclId) {
        let tree = self.tree;
        let decl = &tree.decls[id];
        match &decl.kind {
            DeclKind::Error | DeclKind::Empty | DeclKind::Asm(_) => {}
            DeclKind::Declare(specs, list) => {
                self.declare(*specs, list, &mut Vec::new());
            }
            DeclKind::Function(definition) => self.define_function(definition),
            DeclKind::StaticAssert(cond, text) => self.static_assert(*cond, *text),
            DeclKind::Pragma(pragma, body) => self.file_pragma(*pragma, *body),
        }
    }

    /// A declaration in a block: what comes to life there is added to `out`.
    pub(crate) fn block_decl(&mut self, id: ast::DeclId, out: &mut Vec<StmtId>) {
        let tree = self.tree;
        let decl = &tree.decls[id];
        match &decl.kind {
            DeclKind::Error => {
                let stmt = self.stmt_of(StmtKind::Error, decl.span);
                out.push(stmt);
            }
            DeclKind::Empty | DeclKind::Asm(_) => {}
            DeclKind::Declare(specs, list) => self.declare(*specs, list, out),
            DeclKind::Function(definition) => {
                let declarator = &tree.declarators[definition.declarator];
                let name = declarator.name.map_or("", |it| self.program.names.text(it.name));
                let fault = syntax::nested_function(name, declarator.span);
                self.report(fault);
                if let Some(ident) = declarator.name {
                    self.scopes.set(ident.name, Entity::Error);
                }
            }
            DeclKind::StaticAssert(cond, text) => self.static_assert(*cond, *text),
            DeclKind::Pragma(pragma, body) => self.block_pragma_decl(*pragma, *body, out),
        }
    }

    fn declare(
        &mut self,
        specs_id: ast::SpecsId,
        list: &[ast::InitDeclarator],
        out: &mut Vec<StmtId>,
    ) {
        let tree = self.tree;
        let specs = &tree.specs[specs_id];
        // `struct s;` declares the tag here; with `const` or `extern` in front it does too.
        let base = self.specs(specs_id, !list.is_empty());
        for it in list {
            self.declare_one(specs, &base, it, out);
        }
    }

    fn declare_one(
        &mut self,
        specs: &ast::Specs,
        base: &Base,
        it: &ast::InitDeclarator,
        out: &mut Vec<StmtId>,
    ) {
        let tree = self.tree;
        let declarator = &tree.declarators[it.declarator];
        let Some(ident) = declarator.name else { return };
        if matches!(specs.ty, ast::TypeSpec::Missing) {
            let what = format!("`{}`", self.program.names.text(ident.name));
            self.report(messages::implicit_int(&what, ident.span));
        }
        let mut attrs = base.attrs;
        self.read_attrs(&declarator.attrs, &mut attrs);
        let ty = self.shaped_by(base.ty, attrs);
        let ty = self.declarator(ty, declarator, self.place(), None);
        if base.is_auto {
            return self.declare_auto(specs, it, ident, ty, attrs, out);
        }
        if self.function.is_some() && self.program.types.is_variably_modified(ty) {
            self.note_variable_size(ident.span);
        }
        let init = it.init.filter(|_| !self.refuse_init(specs, ty, ident));
        let declared = Declared { ident, ty, attrs, specs, init };
        if specs.storage == Some(Storage::Typedef) {
            return self.declare_typedef(&declared);
        }
        if matches!(self.shape(ty), TypeKind::Function(_)) {
            self.check_function_storage(specs, ident);
            let function = self.declare_function(ident, ty, specs, attrs);
            let host = self.host_words(specs, declarator);
            self.program.functions[function].host.merge(host);
            return;
        }
        self.check_object_storage(&declared, declarator.asm_label.is_some());
        if self.function.is_none() {
            self.declare_global(&declared);
        } else if specs.storage == Some(Storage::Extern) {
            self.declare_extern_in_block(&declared);
        } else {
            self.declare_local(&declared, out);
        }
        if let Some(Entity::Var(var)) = self.scopes.get(ident.name) {
            let host = self.host_words(specs, declarator);
            self.program.vars[var].host.merge(host);
        }
    }

    /// Whether an initial value would be for nothing that can have one; reports it then.
    fn refuse_init(&mut self, specs: &ast::Specs, ty: Ty, ident: ast::Ident) -> bool {
        let what = if specs.storage == Some(Storage::Typedef) {
            "a `typedef`"
        } else if matches!(self.shape(ty), TypeKind::Function(_)) {
            "a function"
        } else if specs.storage == Some(Storage::Extern) && self.function.is_some() {
            "an `extern` declaration in a block"
        } else {
            return false;
        };
        self.report(messages::value_for_none(what, ident.span));
        true
    }

    /// A function declared in a block has linkage, and no function lives in a register.
    fn check_function_storage(&mut self, specs: &ast::Specs, ident: ast::Ident) {
        let word = match specs.storage {
            Some(Storage::Static) if self.function.is_some() => "static",
            Some(Storage::Register) => "register",
            Some(Storage::Static | Storage::Extern | Storage::Auto | Storage::Typedef) | None => {
                return;
            }
        };
        let what = format!("function `{}`", self.program.names.text(ident.name));
        self.report(messages::wrong_storage(word, &what, ident.span));
    }

    /// Objects of file scope are not automatic, those of a block are not one per thread, and what
    /// lives as long as the program has a size that is known before it runs.
    fn check_object_storage(&mut self, declared: &Declared<'_>, has_asm_name: bool) {
        let Declared { ident, ty, specs, .. } = *declared;
        let text = self.program.names.text(ident.name).to_owned();
        let is_block = self.function.is_some();
        let word = match specs.storage {
            Some(Storage::Auto) if !is_block => Some("auto"),
            // With a name behind it, it is a register of the machine for the whole program.
            Some(Storage::Register) if !is_block && !has_asm_name => Some("register"),
            None | Some(Storage::Auto | Storage::Register) if is_block && specs.thread_local => {
                Some("_Thread_local")
            }
            Some(
                Storage::Static
                | Storage::Extern
                | Storage::Auto
                | Storage::Register
                | Storage::Typedef,
            )
            | None => None,
        };
        if let Some(word) = word {
            self.report(messages::wrong_storage(word, &format!("`{text}`"), ident.span));
        }
        let types = &self.program.types;
        let is_variable = match specs.storage {
            Some(Storage::Static) => types.is_vla(ty),
            Some(Storage::Extern) => types.is_variably_modified(ty),
            Some(Storage::Auto | Storage::Register | Storage::Typedef) | None => false,
        };
        if is_block && is_variable {
            self.report(messages::variable_array_here(&format!("`{text}`"), ident.span));
        }
    }

    /// `__auto_type x = e;`: the value comes first, it cannot name what it defines.
    fn declare_auto(
        &mut self,
        specs: &ast::Specs,
        it: &ast::InitDeclarator,
        ident: ast::Ident,
        base: Ty,
        attrs: Attrs,
        out: &mut Vec<StmtId>,
    ) {
        let tree = self.tree;
        let value = it.init.and_then(|init| match tree.inits[init] {
            ast::Init::Expr(expr) => Some(expr),
            ast::Init::List(..) => None,
        });
        let Some(value) = value else {
            self.report(messages::auto_without_value(ident.span));
            self.scopes.set(ident.name, Entity::Error);
            return;
        };
        let value = self.value(value);
        let ty = self.value_ty(value).qualified(base.quals);
        let init = self.program.inits.push(ir::program::Init::Expr(value));
        let is_static = specs.storage == Some(Storage::Static);
        let storage = self.local_storage(is_static);
        let var = self.new_var(ident, ty, storage, specs, attrs);
        self.program.vars[var].init = Some(init);
        self.bind(ident, Entity::Var(var));
        match self.function.is_some() {
            true => {
                let stmt = self.stmt_of(StmtKind::Local(var), ident.span);
                out.push(stmt);
            }
            false => self.add_item(Item::Var(var)),
        }
    }

    fn local_storage(&self, is_static: bool) -> VarStorage {
        match &self.function {
            Some(body) if is_static => VarStorage::LocalStatic(body.id),
            Some(body) => VarStorage::Local(body.id),
            None if is_static => VarStorage::Static,
            None => VarStorage::Global,
        }
    }

    fn new_var(
        &mut self,
        ident: ast::Ident,
        ty: Ty,
        storage: VarStorage,
        specs: &ast::Specs,
        attrs: Attrs,
    ) -> VarId {
        self.program.vars.push(Var {
            name: Some(ident.name),
            ty,
            declared_len: None,
            storage,
            thread_local: specs.thread_local,
            align: attrs.align,
            init: None,
            device: None,
            host: HostWords::default(),
            span: ident.span,
        })
    }

    /// Declares a name in the present scope; twice is a fault.
    pub(crate) fn bind(&mut self, ident: ast::Ident, entity: Entity) {
        if let Some(first) = self.scopes.here(ident.name)
            && first != entity
            && first != Entity::Error
        {
            let text = self.program.names.text(ident.name);
            let fault = messages::redefined(text, ident.span, self.entity_span(first));
            self.report(fault);
        }
        self.scopes.set(ident.name, entity);
    }

    /// A variable, as long as nothing says otherwise: not `void`, and of known size if defined.
    fn object_type(&mut self, declared: &Declared<'_>, defines: bool) -> Ty {
        let Declared { ident, ty, .. } = *declared;
        if self.is_error(ty) {
            return ty;
        }
        let text = self.program.names.text(ident.name).to_owned();
        if self.is_void(ty) {
            // gcc lets `extern void x;` pass: only its address is ever taken.
            if !defines {
                return ty;
            }
            self.report(messages::void_object(&text, ident.span));
            return self.basics.error;
        }
        if defines && !self.require_complete(ty, &format!("`{text}`"), ident.span) {
            return self.basics.error;
        }
        ty
    }

    fn declare_local(&mut self, declared: &Declared<'_>, out: &mut Vec<StmtId>) {
        let ident = declared.ident;
        let is_static = declared.specs.storage == Some(Storage::Static);
        // An array's length may come from its initialiser.
        let is_open = declared.init.is_some()
            && self.array(declared.ty).is_some_and(|(_, length)| length == ArrayLen::Unknown);
        let ty = self.object_type(declared, !is_open);
        if is_static
            && let Some(var) =
                self.shared_static(ident.span, |cx| cx.local_object(declared, ty, true))
        {
            // It may be there from an earlier reading, in a scope that has ended.
            self.scopes.set(ident.name, Entity::Var(var));
            return;
        }
        let (_, stmt) = self.local_object(declared, ty, is_static);
        out.push(stmt);
    }

    fn local_object(
        &mut self,
        declared: &Declared<'_>,
        ty: Ty,
        is_static: bool,
    ) -> (VarId, StmtId) {
        let ident = declared.ident;
        let storage = self.local_storage(is_static);
        let var = self.new_var(ident, ty, storage, declared.specs, declared.attrs);
        if declared.specs.storage == Some(Storage::Register) {
            self.registers.insert(var);
        }
        self.bind(ident, Entity::Var(var));
        if let Some(init) = declared.init {
            let (init, ty) = self.initializer(ty, init, is_static || declared.specs.thread_local);
            let it = &mut self.program.vars[var];
            (it.init, it.ty) = (Some(init), ty);
        }
        (var, self.stmt_of(StmtKind::Local(var), ident.span))
    }

    /// `extern` in a block: the object with that name, wherever it was declared first.
    fn declare_extern_in_block(&mut self, declared: &Declared<'_>) {
        let ident = declared.ident;
        let ty = self.object_type(declared, false);
        match self.scopes.linked(ident.name) {
            Some(Entity::Var(var)) => {
                self.merge_var(var, ty, ident);
                self.scopes.set(ident.name, Entity::Var(var));
            }
            _ => {
                let var =
                    self.new_var(ident, ty, VarStorage::Extern, declared.specs, declared.attrs);
                self.scopes.set_linked(ident.name, Entity::Var(var));
                self.scopes.set(ident.name, Entity::Var(var));
                self.add_item(Item::Var(var));
            }
        }
    }

    fn declare_global(&mut self, declared: &Declared<'_>) {
        let ident = declared.ident;
        let is_extern = declared.specs.storage == Some(Storage::Extern);
        let is_static = declared.specs.storage == Some(Storage::Static);
        // Without initialiser the definition may still be completed: see `finish_tentative`.
        let ty = self.object_type(declared, false);
        let ty = if self.is_void(ty) && !is_extern { self.object_type(declared, true) } else { ty };
        let storage = match (is_static, is_extern && declared.init.is_none()) {
            (true, _) => VarStorage::Static,
            (false, true) => VarStorage::Extern,
            (false, false) => VarStorage::Global,
        };
        let var = match self.same_object(declared.ident) {
            Some(var) => {
                self.redeclare_var(var, ty, storage, ident);
                let it = &mut self.program.vars[var];
                it.align = it.align.max(declared.attrs.align);
                it.thread_local |= declared.specs.thread_local;
                var
            }
            None => {
                let var = self.new_var(ident, ty, storage, declared.specs, declared.attrs);
                self.bind(ident, Entity::Var(var));
                self.scopes.set_linked(ident.name, Entity::Var(var));
                self.add_item(Item::Var(var));
                var
            }
        };
        if let Some(init) = declared.init {
            if self.program.vars[var].init.is_some() {
                let first = self.program.vars[var].span;
                let text = self.program.names.text(ident.name);
                let fault = messages::redefined(text, ident.span, first);
                self.report(fault);
                return;
            }
            let ty = self.program.vars[var].ty;
            let (init, ty) = self.initializer(ty, init, true);
            let it = &mut self.program.vars[var];
            (it.init, it.ty, it.span) = (Some(init), ty, ident.span);
        }
    }

    /// The variable of this name that a declaration at file scope speaks of again.
    fn same_object(&self, ident: ast::Ident) -> Option<VarId> {
        let here = self.scopes.here(ident.name).or_else(|| {
            // Declared `extern` in a block before.
            self.scopes.linked(ident.name).filter(|_| self.scopes.get(ident.name).is_none())
        });
        if let Some(Entity::Var(var)) = here { Some(var) } else { None }
    }

    fn redeclare_var(&mut self, var: VarId, ty: Ty, storage: VarStorage, ident: ast::Ident) {
        self.merge_var(var, ty, ident);
        self.scopes.set(ident.name, Entity::Var(var));
        let first = self.program.vars[var].span;
        let now = match (self.program.vars[var].storage, storage) {
            (VarStorage::Global | VarStorage::Extern, VarStorage::Static) => {
                let text = self.program.names.text(ident.name);
                let fault = messages::static_after_extern(text, ident.span, first);
                self.report(fault);
                return;
            }
            (VarStorage::Extern, storage) => storage,
            (before, _) => before,
        };
        self.program.vars[var].storage = now;
    }

    /// A variable is declared again: the types must agree, and are put together.
    fn merge_var(&mut self, var: VarId, ty: Ty, ident: ast::Ident) {
        let (before, first) = (self.program.vars[var].ty, self.program.vars[var].span);
        if self.is_error(ty) || self.is_error(before) {
            return;
        }
        if !self.is_compatible(before, ty) {
            let text = self.program.names.text(ident.name);
            let types = (&*self.show(ty), &*self.show(before));
            let fault = messages::conflicting_types(text, types, ident.span, first);
            self.report(fault);
            return;
        }
        self.program.vars[var].ty = self.composite(before, ty);
    }

    fn declare_typedef(&mut self, declared: &Declared<'_>) {
        let Declared { ident, ty, attrs, .. } = *declared;
        match self.scopes.here(ident.name) {
            Some(Entity::Typedef(first)) => {
                let first = &self.program.types.aliases[first];
                let agrees = self.is_same_definition(first.ty, ty);
                if !agrees {
                    let text = self.program.names.text(ident.name);
                    let types = (&*self.show(ty), &*self.show(first.ty));
                    let fault = messages::conflicting_types(text, types, ident.span, first.span);
                    self.report(fault);
                }
                return;
            }
            Some(Entity::Error) | None => {}
            Some(other @ (Entity::Var(_) | Entity::Function(_) | Entity::Constant(..))) => {
                let first = self.entity_span(other);
                let text = self.program.names.text(ident.name);
                let fault = messages::other_kind(text, ident.span, first);
                self.report(fault);
            }
        }
        if attrs.transparent
            && let TypeKind::Record(record) = *self.shape(ty)
        {
            self.program.types.records[record].transparent = true;
        }
        let align = attrs.align;
        let alias = self.program.types.aliases.push(Alias {
            name: ident.name,
            ty,
            align,
            span: ident.span,
        });
        self.scopes.set(ident.name, Entity::Typedef(alias));
    }

    fn is_same_definition(&self, a: Ty, b: Ty) -> bool {
        let types = &self.program.types;
        let (a, b) = (types.resolve(a), types.resolve(b));
        a == b || a.quals == b.quals && self.is_compatible(a, b)
    }

    pub(crate) fn add_item(&mut self, item: Item) {
        match item {
            Item::Var(var) => self.note_declared_var(var),
            Item::Function(function) => self.note_declared_function(function),
            Item::Declaration(_) => {}
        }
        self.program.items.push(item);
    }

    /// Definitions without initialiser must have got their size by the end of the file.
    fn finish_tentative(&mut self) {
        let items = std::mem::take(&mut self.program.items);
        for item in &items {
            let Item::Var(var) = *item else { continue };
            let Var { name, ty, storage, span, .. } = self.program.vars[var];
            let defines = matches!(storage, VarStorage::Global | VarStorage::Static);
            if !defines || self.is_complete(ty) {
                continue;
            }
            match self.array(ty) {
                // `int a[];` has one element.
                Some((elem, ArrayLen::Unknown)) if self.is_complete(elem) => {
                    let ty = self.program.types.get(TypeKind::Array(elem, ArrayLen::Known(1)));
                    self.program.vars[var].ty = ty;
                }
                _ => {
                    let text = name.map_or("", |it| self.program.names.text(it));
                    let what = format!("`{text}`");
                    self.require_complete(ty, &what, span);
                }
            }
        }
        self.program.items = items;
    }

    /// `_Static_assert(e, "text");`
    pub(crate) fn static_assert(&mut self, cond: ast::ExprId, text: Option<ast::ExprId>) {
        let cond = self.value(cond);
        let (ty, span) = (self.ty(cond), self.span(cond));
        if self.is_error(ty) {
            return;
        }
        match self.constant(cond) {
            Some(0) => {
                let text = text.and_then(|it| self.literal_text(it));
                self.report(messages::static_assertion(text.as_deref(), span));
            }
            Some(_) => {}
            None => self.report(messages::not_constant("condition of `_Static_assert`", span)),
        }
    }

    /// The characters of a string literal.
    fn literal_text(&self, id: ast::ExprId) -> Option<String> {
        let ast::ExprKind::Str(pieces) = &self.tree.exprs[id].kind else { return None };
        let pieces = pieces.iter().map(|it| self.program.names.text(*it));
        let units = syntax::literal::string(pieces).ok()?.units;
        let bytes: Vec<u8> = units.into_iter().map(|it| it as u8).collect();
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// A function that nothing is known of but its type.
    pub(crate) fn new_function(&mut self, name: Name, ty: Ty, span: Span) -> FunctionId {
        self.program.functions.push(ir::program::Function::declared(name, ty, span))
    }
}
