//! Types as written: specifiers and declarators become [`Ty`].
//!
//! A declarator is applied to its base from the outside in. The parameters of a function that is
//! being defined are declared on the way, in a scope that stays open for the body; those of a mere
//! prototype live only as long as its own parentheses, and sizes that depend on them are forgotten.

use ir::program::{ExprId, FunctionId, HostWords, Var, VarId, VarStorage};
use ir::types::{ArrayLen, FloatKind, FunctionType, IntKind, Quals, Ty, TypeKind};
use source::Span;
use syntax::ast;
use syntax::ast::{BasicKind, Derived, TypeSpec};

use crate::Cx;
use crate::attrs::Attrs;
use crate::messages;
use crate::scope::Entity;

/// What the specifiers of a declaration say.
#[derive(Clone, Debug)]
pub(crate) struct Base {
    pub(crate) ty: Ty,
    pub(crate) attrs: Attrs,
    /// `__auto_type`: the initialiser decides.
    pub(crate) is_auto: bool,
}

/// Where a type is written: what a variable length means there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// Lengths are computed when the declaration is reached.
    Block,
    /// Lengths must be constants.
    File,
    /// A member of a record: likewise.
    Member,
    /// Lengths are not kept.
    Prototype,
}

/// The parameters of a function that is being defined.
#[derive(Debug)]
pub(crate) struct Definition {
    pub(crate) function: FunctionId,
    pub(crate) params: Vec<VarId>,
}

impl Cx<'_> {
    pub(crate) fn place(&self) -> Place {
        if self.function.is_some() { Place::Block } else { Place::File }
    }

    /// `const T *[3]`
    pub(crate) fn type_name(&mut self, id: ast::TypeNameId) -> Ty {
        let tree = self.tree;
        let node = &tree.type_names[id];
        let base = self.specs(node.specs, true);
        let declarator = &tree.declarators[node.declarator];
        let ty = self.with_attrs(base.ty, &declarator.attrs, base.attrs);
        self.declarator(ty, declarator, self.place(), None)
    }

    /// The base type and what else the specifiers say. `used` is false where the specifiers stand
    /// alone, as in `struct s;`.
    pub(crate) fn specs(&mut self, id: ast::SpecsId, used: bool) -> Base {
        let tree = self.tree;
        let specs = &tree.specs[id];
        let mut attrs = Attrs::default();
        if !specs.attrs.is_empty() {
            self.read_attrs(&specs.attrs, &mut attrs);
        }
        for align in &specs.alignas {
            self.read_alignas(*align, specs.span, &mut attrs);
        }
        let ty = self.type_spec(&specs.ty, used, specs.span);
        let is_auto = matches!(specs.ty, TypeSpec::AutoType);
        let quals = quals(specs.quals);
        let ty = if specs.quals.is_atomic {
            let plain = self.unqualified(ty);
            self.program.types.get(TypeKind::Atomic(plain))
        } else {
            ty
        };
        Base { ty: ty.qualified(quals), attrs, is_auto }
    }

    fn type_spec(&mut self, spec: &TypeSpec, used: bool, span: Span) -> Ty {
        match spec {
            TypeSpec::Error => self.basics.error,
            TypeSpec::Missing | TypeSpec::AutoType => self.basics.int,
            TypeSpec::Basic(basic) => self.basic(*basic),
            TypeSpec::Typedef(name) => match self.scopes.get(*name) {
                Some(Entity::Typedef(alias)) => self.program.types.get(TypeKind::Alias(alias)),
                Some(Entity::Error) => self.basics.error,
                Some(Entity::Var(_) | Entity::Function(_) | Entity::Constant(..)) | None => {
                    let fault = syntax::unknown_type_name(self.program.names.text(*name), span);
                    self.report(fault);
                    self.basics.error
                }
            },
            TypeSpec::Record(id) => self.record(*id, used),
            TypeSpec::Enum(id) => self.enumeration(*id, used),
            TypeSpec::TypeofExpr(expr) => self.type_of(*expr),
            TypeSpec::TypeofType(ty) => self.type_name(*ty),
            TypeSpec::TypeofUnqualExpr(expr) => {
                let ty = self.type_of(*expr);
                self.unqualified(ty)
            }
            TypeSpec::TypeofUnqualType(ty) => {
                let ty = self.type_name(*ty);
                self.unqualified(ty)
            }
            TypeSpec::Atomic(ty) => {
                let ty = self.type_name(*ty);
                let plain = self.unqualified(ty);
                self.program.types.get(TypeKind::Atomic(plain))
            }
        }
    }

    fn basic(&mut self, basic: ast::Basic) -> Ty {
        let kind = match basic.kind {
            BasicKind::Void => TypeKind::Void,
            BasicKind::Bool => TypeKind::Bool,
            BasicKind::Char => TypeKind::Int(IntKind::Char),
            BasicKind::SChar => TypeKind::Int(IntKind::SChar),
            BasicKind::UChar => TypeKind::Int(IntKind::UChar),
            BasicKind::Short => TypeKind::Int(IntKind::Short),
            BasicKind::UShort => TypeKind::Int(IntKind::UShort),
            BasicKind::Int => TypeKind::Int(IntKind::Int),
            BasicKind::UInt => TypeKind::Int(IntKind::UInt),
            BasicKind::Long => TypeKind::Int(IntKind::Long),
            BasicKind::ULong => TypeKind::Int(IntKind::ULong),
            BasicKind::LongLong => TypeKind::Int(IntKind::LongLong),
            BasicKind::ULongLong => TypeKind::Int(IntKind::ULongLong),
            BasicKind::Int128 => TypeKind::Int(IntKind::Int128),
            BasicKind::UInt128 => TypeKind::Int(IntKind::UInt128),
            BasicKind::Float16 => TypeKind::Float(FloatKind::Float16),
            BasicKind::BFloat16 => TypeKind::Float(FloatKind::BFloat16),
            BasicKind::Float => TypeKind::Float(FloatKind::Float),
            BasicKind::Double => TypeKind::Float(FloatKind::Double),
            BasicKind::LongDouble => TypeKind::Float(FloatKind::LongDouble),
            BasicKind::Float32 => TypeKind::Float(FloatKind::Float32),
            BasicKind::Float64 => TypeKind::Float(FloatKind::Float64),
            BasicKind::Float128 => TypeKind::Float(FloatKind::Float128),
            BasicKind::Float32x => TypeKind::Float(FloatKind::Float32x),
            BasicKind::Float64x => TypeKind::Float(FloatKind::Float64x),
            BasicKind::VaList => TypeKind::VaList,
        };
        let kind = match kind {
            TypeKind::Float(kind) if basic.complex => TypeKind::Complex(kind),
            TypeKind::Int(kind) if basic.complex => TypeKind::ComplexInt(kind),
            kind => kind,
        };
        self.program.types.get(kind)
    }

    /// Applies a declarator to its base.
    pub(crate) fn declarator(
        &mut self,
        base: Ty,
        declarator: &ast::Declarator,
        place: Place,
        mut definition: Option<&mut Definition>,
    ) -> Ty {
        let mut ty = base;
        let last = declarator.parts.len();
        for (at, part) in declarator.parts.iter().rev().enumerate() {
            ty = match part {
                Derived::Pointer(quals, _) => {
                    let pointer = self.program.types.pointer_to(ty).qualified(self::quals(*quals));
                    if quals.is_atomic {
                        self.program.types.get(TypeKind::Atomic(pointer.plain()))
                    } else {
                        pointer
                    }
                }
                Derived::Array(part) => self.array_of(ty, part, place),
                Derived::Function(params) => {
                    let is_own = at + 1 == last;
                    let definition = definition.as_deref_mut().filter(|_| is_own);
                    self.function_of(ty, params, definition, declarator.span)
                }
            };
        }
        ty
    }

    fn array_of(&mut self, elem: Ty, part: &ast::ArrayPart, place: Place) -> Ty {
        let length = match part.size {
            ast::ArraySize::Unknown => ArrayLen::Unknown,
            ast::ArraySize::Star => ArrayLen::Variable(None),
            ast::ArraySize::Expr(size) => self.array_length(size, place),
        };
        if self.is_error(elem) {
            return elem;
        }
        let fault = if matches!(self.shape(elem), TypeKind::Function(_)) {
            Some(messages::bad_derivation("array of functions", part.span))
        } else if self.is_void(elem) {
            Some(messages::bad_derivation("array of `void`", part.span))
        } else if !self.is_complete(elem) {
            Some(messages::incomplete("array element", &self.show(elem), part.span, Span::NONE))
        } else {
            None
        };
        if let Some(fault) = fault {
            self.report(fault);
            return self.basics.error;
        }
        self.program.types.get(TypeKind::Array(elem, length))
    }

    fn array_length(&mut self, size: ast::ExprId, place: Place) -> ArrayLen {
        let size = self.value(size);
        let (ty, span) = (self.ty(size), self.span(size));
        if self.is_error(ty) {
            return ArrayLen::Variable(None);
        }
        if !self.is_integer(ty) {
            let fault = messages::array_size_not_integer(&self.show(ty), span);
            self.report(fault);
            return ArrayLen::Variable(None);
        }
        match self.constant(size) {
            Some(value) => match u64::try_from(value) {
                Ok(length) => ArrayLen::Known(length),
                Err(_) => {
                    self.report(messages::negative_array(span));
                    ArrayLen::Known(1)
                }
            },
            None => self.variable_length(size, place, span),
        }
    }

    fn variable_length(&mut self, size: ExprId, place: Place, span: Span) -> ArrayLen {
        match place {
            Place::Block => ArrayLen::Variable(Some(size)),
            Place::Prototype => ArrayLen::Variable(None),
            Place::File => {
                self.report(messages::variable_array_here("at file scope", span));
                ArrayLen::Known(1)
            }
            Place::Member => {
                self.report(messages::variable_array_here("in a structure or union", span));
                ArrayLen::Known(1)
            }
        }
    }

    fn function_of(
        &mut self,
        ret: Ty,
        params: &ast::Params,
        definition: Option<&mut Definition>,
        span: Span,
    ) -> Ty {
        let fault = match self.shape(ret) {
            TypeKind::Function(_) => Some("function that returns a function"),
            TypeKind::Array(..) => Some("function that returns an array"),
            _ => None,
        };
        if let Some(what) = fault {
            self.report(messages::bad_derivation(what, span));
            return self.basics.error;
        }
        let (types, prototyped) = match &params.kind {
            ast::ParamKind::Unspecified => {
                if definition.is_some() {
                    self.scopes.open();
                }
                (Vec::new(), false)
            }
            ast::ParamKind::List(list) => (self.params(list, definition), true),
            ast::ParamKind::Names(_) => {
                // The types come with the declarations that follow: see `old_params`.
                if definition.is_some() {
                    self.scopes.open();
                }
                (Vec::new(), false)
            }
        };
        let ret = self.without_function_quals(ret);
        self.program.types.get(TypeKind::Function(FunctionType {
            ret,
            params: types.into(),
            variadic: params.variadic,
            prototyped,
        }))
    }

    /// Qualifiers of a returned scalar mean nothing.
    fn without_function_quals(&self, ret: Ty) -> Ty {
        if self.is_void(ret) { ret } else { self.unqualified(ret) }
    }

    fn params(&mut self, list: &[ast::Param], definition: Option<&mut Definition>) -> Vec<Ty> {
        let tree = self.tree;
        self.scopes.open();
        let keeps = self.keeps_params && definition.is_none();
        let declares = definition.is_some() || keeps || self.sizes_need_names(list);
        let place = if definition.is_some() { Place::Block } else { Place::Prototype };
        let owner = definition.as_ref().map(|it| it.function);
        let mut types = Vec::with_capacity(list.len());
        let mut vars = Vec::new();
        for param in list {
            let declarator = &tree.declarators[param.declarator];
            let base = self.specs(param.specs, true);
            let ty = self.with_attrs(base.ty, &declarator.attrs, base.attrs);
            let ty = self.declarator(ty, declarator, place, None);
            let declared_len = self.declared_len(ty);
            let ty = self.adjusted(ty, declarator);
            self.check_param_storage(param.specs, declarator);
            if declares {
                let var = self.param(declarator, ty, declared_len, owner);
                if tree.specs[param.specs].storage == Some(ast::Storage::Register) {
                    self.registers.insert(var);
                }
                vars.push(var);
            }
            types.push(ty.plain());
        }
        match definition {
            Some(definition) => definition.params = vars,
            None => {
                if keeps && self.kept_params.is_empty() {
                    self.kept_params = vars;
                }
                self.scopes.close();
            }
        }
        types
    }

    /// A parameter lives where its function's variables do.
    pub(crate) fn check_param_storage(
        &mut self,
        specs: ast::SpecsId,
        declarator: &ast::Declarator,
    ) {
        let word = match self.tree.specs[specs].storage {
            Some(ast::Storage::Typedef) => "typedef",
            Some(ast::Storage::Extern) => "extern",
            Some(ast::Storage::Static) => "static",
            Some(ast::Storage::Auto) => "auto",
            Some(ast::Storage::Register) | None => return,
        };
        let what = match declarator.name {
            Some(ident) => format!("parameter `{}`", self.program.names.text(ident.name)),
            None => "a parameter".to_owned(),
        };
        self.report(messages::wrong_storage(word, &what, self.tree.specs[specs].span));
    }

    /// Whether some length may name a parameter before it.
    fn sizes_need_names(&self, list: &[ast::Param]) -> bool {
        let tree = self.tree;
        let is_sized = |part: &Derived| match part {
            Derived::Array(it) => matches!(it.size, ast::ArraySize::Expr(_)),
            Derived::Function(_) => true,
            Derived::Pointer(..) => false,
        };
        list.iter().any(|it| {
            let is_typeof = matches!(
                tree.specs[it.specs].ty,
                TypeSpec::TypeofExpr(_) | TypeSpec::TypeofUnqualExpr(_)
            );
            is_typeof || tree.declarators[it.declarator].parts.iter().any(is_sized)
        })
    }

    /// Declares one parameter in the open scope.
    pub(crate) fn param(
        &mut self,
        declarator: &ast::Declarator,
        ty: Ty,
        declared_len: Option<ArrayLen>,
        owner: Option<FunctionId>,
    ) -> VarId {
        let ident = declarator.name;
        let span = ident.map_or(declarator.span, |it| it.span);
        if owner.is_some() {
            if ident.is_none() && !self.is_void(ty) {
                // C23 and gcc 11 allow it; the parameter cannot be named, and is not.
            } else if let Some(ident) = ident {
                let name = self.program.names.text(ident.name).to_owned();
                if self.is_void(ty) {
                    self.report(messages::void_object(&name, span));
                } else {
                    let what = format!("parameter `{name}`");
                    self.require_complete(ty, &what, span);
                }
            }
        }
        // A prototype's parameters belong to nobody: they are gone with its parentheses.
        let storage = match owner.or(self.function.as_ref().map(|it| it.id)) {
            Some(owner) => VarStorage::Param(owner),
            None => VarStorage::Extern,
        };
        let var = self.program.vars.push(Var {
            name: ident.map(|it| it.name),
            ty,
            declared_len,
            storage,
            thread_local: false,
            align: None,
            init: None,
            device: None,
            host: HostWords::default(),
            span,
        });
        if let Some(ident) = ident {
            if let Some(Entity::Var(first)) = self.scopes.here(ident.name) {
                let first = self.program.vars[first].span;
                let fault = messages::redefined(self.program.names.text(ident.name), span, first);
                self.report(fault);
            }
            self.scopes.set(ident.name, Entity::Var(var));
        }
        var
    }

    /// How long a parameter is that is written as an array.
    pub(crate) fn declared_len(&self, ty: Ty) -> Option<ArrayLen> {
        if let TypeKind::Array(_, len) = self.shape(ty) { Some(*len) } else { None }
    }

    /// Arrays and functions among parameters are pointers.
    pub(crate) fn adjusted(&mut self, ty: Ty, declarator: &ast::Declarator) -> Ty {
        match self.shape(ty) {
            TypeKind::Array(elem, _) => {
                let outer = self.program.types.resolve(ty).quals;
                let elem = elem.qualified(outer);
                let inside = match declarator.parts.first() {
                    Some(Derived::Array(part)) => quals(part.quals),
                    Some(Derived::Pointer(..) | Derived::Function(_)) | None => Quals::NONE,
                };
                self.program.types.pointer_to(elem).qualified(inside)
            }
            TypeKind::Function(_) => self.program.types.pointer_to(ty),
            _ => ty,
        }
    }
}

pub(crate) fn quals(quals: ast::Quals) -> Quals {
    Quals {
        is_const: quals.is_const,
        is_volatile: quals.is_volatile,
        is_restrict: quals.is_restrict,
    }
}
