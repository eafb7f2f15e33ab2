//! Expressions: each node of the tree becomes a typed one.
//!
//! [`Cx::expr`] gives an object as an object; who wants its value asks for [`Cx::value`], where
//! arrays and functions have become pointers. Operators are in the files beside, initialisers in
//! [`crate::init`], what the compiler knows without declaration in [`crate::builtins`].

mod binary;
mod call;
mod generic;
mod literal;
mod member;
mod unary;

use ir::program::{ExprId, ExprKind, HostWords, OffsetStep, Section, StmtKind};
use ir::types::{Ty, TypeKind};
use source::{Name, Span};
use syntax::ast;
use syntax::ast::ExprKind as K;

use crate::Cx;
use crate::messages;
use crate::scope::Entity;

impl Cx<'_> {
    /// Types an expression; an object stays an object.
    pub(crate) fn expr(&mut self, id: ast::ExprId) -> ExprId {
        let tree = self.tree;
        let node = &tree.exprs[id];
        let span = node.span;
        match &node.kind {
            K::Error => self.wrong(span),
            K::Name(name) => self.name(*name, span),
            K::Number(spelling) => self.number(*spelling, span),
            K::Char(spelling) => self.character(*spelling, span),
            K::Str(pieces) => self.string(pieces, span),
            K::Paren(inner) => self.expr(*inner),
            K::Unary(op, operand) => self.unary(*op, *operand, span),
            K::Binary(op, left, right) => self.binary(*op, *left, *right, span),
            K::Assign(None, left, right) => self.assign(*left, *right, span),
            K::Assign(Some(op), left, right) => self.assign_op(*op, *left, *right, span),
            K::Conditional(cond, yes, no) => self.conditional(*cond, *yes, *no, span),
            K::Cast(to, operand) => {
                let to = self.type_name(*to);
                let operand = self.expr(*operand);
                self.cast(operand, to, span)
            }
            K::CompoundLiteral(ty, init) => self.compound_literal(*ty, *init, span),
            K::SizeofExpr(operand) => {
                let ty = self.type_of(*operand);
                self.sizeof(ty, span)
            }
            K::SizeofType(ty) => {
                let ty = self.type_name(*ty);
                self.sizeof(ty, span)
            }
            K::AlignofExpr(operand) => {
                let ty = self.type_of(*operand);
                self.alignof(ty, span)
            }
            K::AlignofType(ty) => {
                let ty = self.type_name(*ty);
                self.alignof(ty, span)
            }
            K::Index(base, index) => self.index(*base, *index, span),
            K::Section(section) => self.section(section, span),
            K::Shaped(lengths, pointer) => self.shaped(lengths, *pointer, span),
            K::Call(callee, args) => self.call(*callee, args, span),
            K::Member(base, member) => self.member(*base, *member, span),
            K::Arrow(base, member) => self.arrow(*base, *member, span),
            K::Generic(control, associations) => self.generic(*control, associations, span),
            K::StmtExpr(block) => self.stmt_expr(*block, span),
            K::LabelAddr(label) => {
                let label = self.label_used(*label);
                let ty = self.basics.void_ptr;
                self.make(ExprKind::LabelAddr(label), ty, span)
            }
            K::VaArg(list, ty) => {
                let list = self.value(*list);
                let ty = self.type_name(*ty);
                self.make(ExprKind::VaArg(list), ty, span)
            }
            K::Offsetof(ty, path) => self.offsetof(*ty, path, span),
            K::TypesCompatible(a, b) => {
                let (a, b) = (self.type_name(*a), self.type_name(*b));
                let (a, b) = (self.unqualified(a), self.unqualified(b));
                let ty = self.basics.int;
                let same = self.is_compatible(a, b);
                self.int(i64::from(same), ty, span)
            }
            K::ChooseExpr(cond, yes, no) => self.choose(*cond, *yes, *no, span),
            K::ConvertVector(operand, ty) => {
                let operand = self.value(*operand);
                let ty = self.type_name(*ty);
                self.make(ExprKind::ConvertVector(operand), ty, span)
            }
        }
    }

    /// Types an expression for its value.
    pub(crate) fn value(&mut self, id: ast::ExprId) -> ExprId {
        let expr = self.expr(id);
        self.decay(expr)
    }

    /// The type of an expression that is not computed.
    pub(crate) fn type_of(&mut self, id: ast::ExprId) -> Ty {
        self.unevaluated += 1;
        let expr = self.expr(id);
        self.unevaluated -= 1;
        self.refuse_bit_field(expr, "`sizeof` or `typeof`");
        self.ty(expr)
    }

    fn name(&mut self, name: Name, span: Span) -> ExprId {
        match self.scopes.get(name) {
            Some(Entity::Var(var)) => {
                let ty = self.program.vars[var].ty;
                self.make(ExprKind::Var(var), ty, span)
            }
            Some(Entity::Function(function)) => {
                let ty = self.program.functions[function].ty;
                self.make(ExprKind::Function(function), ty, span)
            }
            Some(Entity::Constant(of, at)) => {
                let ty = self.constant_ty(of, at);
                self.make(ExprKind::EnumConst(of, at), ty, span)
            }
            Some(Entity::Typedef(_)) => {
                let fault = messages::type_as_value(self.program.names.text(name), span);
                self.refuse(fault, span)
            }
            Some(Entity::Error) => self.wrong(span),
            None => self.unknown_name(name, span),
        }
    }

    /// A name that nobody declared: something the compiler knows, or a fault.
    fn unknown_name(&mut self, name: Name, span: Span) -> ExprId {
        if let Some(expr) = self.function_name_variable(name, span) {
            return expr;
        }
        if let Some(function) = self.builtin_function(name) {
            let ty = self.program.functions[function].ty;
            return self.make(ExprKind::Function(function), ty, span);
        }
        if self.quiet_names {
            // A word, which may name what the file declares further down.
            let ty = self.basics.error;
            return self.make(ExprKind::Str([name].into()), ty, span);
        }
        // Once per function is enough.
        if let Some(body) = &mut self.function
            && !body.unknown.insert(name)
        {
            return self.wrong(span);
        }
        let near = self.nearest_name(name);
        let fault = messages::undeclared(self.program.names.text(name), near.as_deref(), span);
        self.refuse(fault, span)
    }

    fn sizeof(&mut self, ty: Ty, span: Span) -> ExprId {
        self.require_complete(ty, "operand of `sizeof`", span);
        let size = self.basics.size;
        self.make(ExprKind::Sizeof(ty), size, span)
    }

    fn alignof(&mut self, ty: Ty, span: Span) -> ExprId {
        let size = self.basics.size;
        self.make(ExprKind::Alignof(ty), size, span)
    }

    fn compound_literal(&mut self, ty: ast::TypeNameId, init: ast::InitId, span: Span) -> ExprId {
        let ty = self.type_name(ty);
        let is_static = self.function.is_none() && !self.in_directive;
        let (init, ty) = self.initializer(ty, init, is_static);
        self.require_complete(ty, "compound literal", span);
        let storage = match &self.function {
            Some(body) => ir::program::VarStorage::Local(body.id),
            None => ir::program::VarStorage::Static,
        };
        let var = self.program.vars.push(ir::program::Var {
            name: None,
            ty,
            declared_len: None,
            storage,
            thread_local: false,
            align: None,
            init: Some(init),
            device: None,
            host: HostWords::default(),
            span,
        });
        self.make(ExprKind::CompoundLiteral(var), ty, span)
    }

    /// `({ … })` has the value of its last statement, if that is an expression.
    fn stmt_expr(&mut self, block: ast::StmtId, span: Span) -> ExprId {
        if self.function.is_none() {
            let fault = messages::outside("({ … })", "a function", span);
            return self.refuse(fault, span);
        }
        let body = self.stmt(block);
        let ty = self.block_value(body).unwrap_or(self.basics.void);
        self.make(ExprKind::StmtExpr(body), ty, span)
    }

    /// Type of the value that a block ends with.
    fn block_value(&self, block: ir::program::StmtId) -> Option<Ty> {
        let StmtKind::Block(stmts) = &self.program.stmts[block].kind else { return None };
        let mut last = *stmts.last()?;
        loop {
            match &self.program.stmts[last].kind {
                StmtKind::Expr(expr) => return Some(self.value_ty(*expr)),
                StmtKind::Label(_, inner)
                | StmtKind::Case(_, _, inner)
                | StmtKind::Default(inner) => last = *inner,
                _ => return None,
            }
        }
    }

    fn choose(
        &mut self,
        cond: ast::ExprId,
        yes: ast::ExprId,
        no: ast::ExprId,
        span: Span,
    ) -> ExprId {
        let cond = self.value(cond);
        match self.constant(cond) {
            Some(0) => self.expr(no),
            Some(_) => self.expr(yes),
            None if self.is_error(self.ty(cond)) => self.wrong(span),
            None => {
                let fault = messages::not_constant("condition of `__builtin_choose_expr`", span);
                self.refuse(fault, span)
            }
        }
    }

    fn offsetof(&mut self, ty: ast::TypeNameId, path: &[ast::Designator], span: Span) -> ExprId {
        let of = self.type_name(ty);
        let mut at = of;
        let mut steps = Vec::new();
        for step in path {
            if self.is_error(at) {
                return self.wrong(span);
            }
            match step {
                ast::Designator::Field(ident) => {
                    let Some(fields) = self.member_path(at, *ident) else {
                        return self.wrong(span);
                    };
                    for (record, field) in fields {
                        steps.push(OffsetStep::Field(record, field));
                        at = self.field_ty(record, field);
                    }
                }
                ast::Designator::Index(index) | ast::Designator::Range(index, _) => {
                    let index = self.value(*index);
                    let Some((elem, _)) = self.array(at) else {
                        let fault = messages::not_indexable(&self.show(at), span);
                        return self.refuse(fault, span);
                    };
                    steps.push(OffsetStep::Index(index));
                    at = elem;
                }
            }
        }
        let size = self.basics.size;
        self.make(ExprKind::Offsetof(of, steps.into()), size, span)
    }

    /// `a[lower : length : stride]`
    fn section(&mut self, section: &ast::Section, span: Span) -> ExprId {
        let base = self.expr(section.base);
        let mut bound = |it: Option<ast::ExprId>| it.map(|it| self.index_value(it));
        let lower = bound(section.lower);
        let length = bound(section.length);
        let stride = bound(section.stride);
        let Some(ty) = self.element_of(base) else { return self.wrong(span) };
        let section = Section { base, lower, length, stride };
        self.make(ExprKind::Section(Box::new(section)), ty, span)
    }

    /// `([n][m]) p`: an array of arrays where `p` points to.
    fn shaped(&mut self, lengths: &[ast::ExprId], pointer: ast::ExprId, span: Span) -> ExprId {
        let pointer = self.value(pointer);
        let lengths: Box<[ExprId]> = lengths.iter().map(|it| self.index_value(*it)).collect();
        let Some(mut ty) = self.element_of(pointer) else { return self.wrong(span) };
        for length in lengths.iter().rev() {
            let known = self.constant(*length).and_then(|it| u64::try_from(it).ok());
            let length = match known {
                Some(known) => ir::types::ArrayLen::Known(known),
                None => ir::types::ArrayLen::Variable(Some(*length)),
            };
            ty = self.program.types.get(TypeKind::Array(ty, length));
        }
        self.make(ExprKind::Shaped(lengths, pointer), ty, span)
    }

    /// An integer value that counts elements.
    pub(crate) fn index_value(&mut self, id: ast::ExprId) -> ExprId {
        let index = self.value(id);
        let ty = self.ty(index);
        if self.is_integer(ty) || self.is_error(ty) {
            return index;
        }
        let span = self.span(index);
        let fault = messages::index_not_integer(&self.show(ty), span);
        self.refuse(fault, span)
    }
}
