//! Makes typed expressions, statements and variables in a program.

use ir::construct::ReductionOp;
use ir::program::{
    BinaryOp, CastKind, Expr, ExprId, ExprKind, FunctionId, HostWords, Init, InitId, Program,
    StepOp, Stmt, StmtId, StmtKind, Typed, UnaryOp, Var, VarId, VarStorage,
};
use ir::types::{ArrayLen, IntKind, Ty, TypeKind};
use source::Span;

/// Adds to a program what belongs to code at one place.
#[derive(Debug)]
pub struct Builder<'p> {
    /// What is added to.
    pub program: &'p mut Program,
    /// The function that new variables belong to.
    pub function: FunctionId,
    /// Where the code was written.
    pub span: Span,
}

impl Builder<'_> {
    /// `unsigned long` of 64 bits: the type of numbers of iterations, threads and teams.
    pub fn number_type(&mut self) -> Ty {
        self.program.types.get(TypeKind::Int(IntKind::ULong))
    }

    /// `int`
    pub fn int_type(&mut self) -> Ty {
        self.program.types.get(TypeKind::Int(IntKind::Int))
    }

    /// An expression.
    pub fn expr(&mut self, kind: ExprKind, ty: Ty) -> ExprId {
        self.program.exprs.push(Expr { kind, ty, span: self.span })
    }

    /// A statement.
    pub fn stmt(&mut self, kind: StmtKind) -> StmtId {
        self.program.stmts.push(Stmt { kind, span: self.span })
    }

    /// A constant of a type.
    pub fn int(&mut self, value: i64, ty: Ty) -> ExprId {
        self.expr(ExprKind::Int(value), ty)
    }

    /// A number of 64 bits.
    pub fn number(&mut self, value: i64) -> ExprId {
        let ty = self.number_type();
        self.int(value, ty)
    }

    /// A variable.
    pub fn var(&mut self, var: VarId) -> ExprId {
        let ty = self.program.vars[var].ty;
        self.expr(ExprKind::Var(var), ty)
    }

    /// The type of an expression, without qualifiers on top.
    pub fn type_of(&self, e: ExprId) -> Ty {
        self.program.exprs[e].ty.plain()
    }

    /// The value in another type; the expression itself if it has that type.
    pub fn cast(&mut self, e: ExprId, ty: Ty) -> ExprId {
        let types = &self.program.types;
        if types.resolve(self.type_of(e)).plain() == types.resolve(ty).plain() {
            return e;
        }
        self.expr(ExprKind::Cast(CastKind::Explicit, e), ty.plain())
    }

    /// The value in another type, as C converts it by itself: text does not say so.
    pub fn convert(&mut self, e: ExprId, ty: Ty) -> ExprId {
        let types = &self.program.types;
        if types.resolve(self.type_of(e)).plain() == types.resolve(ty).plain() {
            return e;
        }
        self.expr(ExprKind::Cast(CastKind::Implicit, e), ty.plain())
    }

    /// The value as a number of 64 bits.
    pub fn as_number(&mut self, e: ExprId) -> ExprId {
        let ty = self.number_type();
        self.cast(e, ty)
    }

    /// `a op b`, of operands of one type.
    pub fn binary(&mut self, op: BinaryOp, a: ExprId, b: ExprId) -> ExprId {
        let ty = match op {
            BinaryOp::Lt
            | BinaryOp::Gt
            | BinaryOp::Le
            | BinaryOp::Ge
            | BinaryOp::Eq
            | BinaryOp::Ne => self.int_type(),
            BinaryOp::Mul
            | BinaryOp::Div
            | BinaryOp::Rem
            | BinaryOp::Add
            | BinaryOp::Sub
            | BinaryOp::Shl
            | BinaryOp::Shr
            | BinaryOp::BitAnd
            | BinaryOp::BitXor
            | BinaryOp::BitOr => self.type_of(a),
        };
        self.expr(ExprKind::Binary(op, a, b), ty)
    }

    /// `!e`
    pub fn not(&mut self, e: ExprId) -> ExprId {
        let ty = self.int_type();
        self.expr(ExprKind::Unary(UnaryOp::Not, e), ty)
    }

    /// `a && b`
    pub fn and(&mut self, a: ExprId, b: ExprId) -> ExprId {
        let ty = self.int_type();
        self.expr(ExprKind::And(a, b), ty)
    }

    /// `a || b`
    pub fn or(&mut self, a: ExprId, b: ExprId) -> ExprId {
        let ty = self.int_type();
        self.expr(ExprKind::Or(a, b), ty)
    }

    /// `c ? a : b`
    pub fn either(&mut self, c: ExprId, a: ExprId, b: ExprId) -> ExprId {
        let ty = self.type_of(a);
        self.expr(ExprKind::Conditional(c, Some(a), b), ty)
    }

    /// The smaller of two variables or constants: both are evaluated twice.
    pub fn min(&mut self, a: ExprId, b: ExprId) -> ExprId {
        let is_less = self.binary(BinaryOp::Lt, a, b);
        self.either(is_less, a, b)
    }

    /// `a = b`, with `b` in the type of `a`.
    pub fn assign(&mut self, a: ExprId, b: ExprId) -> ExprId {
        let ty = self.type_of(a);
        let b = self.cast(b, ty);
        self.expr(ExprKind::Assign(a, b), ty)
    }

    /// `var = value`
    pub fn set(&mut self, var: VarId, value: ExprId) -> ExprId {
        let place = self.var(var);
        self.assign(place, value)
    }

    /// `to = from` of two objects of one type, arrays as a whole.
    pub fn copy(&mut self, to: ExprId, from: ExprId) -> ExprId {
        let ty = self.program.exprs[to].ty;
        if !self.program.types.is_array(ty) {
            return self.assign(to, from);
        }
        let number = self.number_type();
        let size = self.expr(ExprKind::Sizeof(ty.plain()), number);
        let (to, from) = (self.address(to), self.address(from));
        crate::intrinsic::copy_bytes(self, to, from, size)
    }

    /// `var++`
    pub fn increment(&mut self, var: VarId) -> ExprId {
        let place = self.var(var);
        let ty = self.type_of(place);
        self.expr(ExprKind::Step(StepOp::PostInc, place), ty)
    }

    /// `a[i]`, of an array or a pointer.
    pub fn element(&mut self, base: ExprId, at: ExprId) -> Option<ExprId> {
        let types = &self.program.types;
        let ty = self.program.exprs[base].ty;
        let element = types.element(ty).or_else(|| types.pointee(ty))?;
        Some(self.expr(ExprKind::Index(base, at), element))
    }

    /// The element of an array, whatever its dimensions, or of arrays that a pointer leads to, with this number in the
    /// order of memory.
    pub fn nth(&mut self, base: ExprId, number: ExprId) -> Option<ExprId> {
        let types = &self.program.types;
        let ty = self.program.exprs[base].ty;
        let inside = types.element(ty).or_else(|| types.pointee(ty))?;
        let Some(count) = self.count_of(inside)? else { return self.element(base, number) };
        let count = self.number(i64::try_from(count).ok()?);
        let row = self.binary(BinaryOp::Div, number, count);
        let row = self.element(base, row)?;
        let rest = self.binary(BinaryOp::Rem, number, count);
        self.nth(row, rest)
    }

    /// How many elements an array has in all its dimensions: nothing if it is none, and no answer if nobody knows.
    pub fn count_of(&self, ty: Ty) -> Option<Option<u64>> {
        let TypeKind::Array(inside, len) = self.program.types.shape(ty) else { return Some(None) };
        let ArrayLen::Known(count) = len else { return None };
        Some(Some(count.checked_mul(self.count_of(*inside)?.unwrap_or(1))?))
    }

    /// `&e`
    pub fn address(&mut self, e: ExprId) -> ExprId {
        let ty = self.program.exprs[e].ty;
        let ty = self.program.types.pointer_to(ty);
        self.expr(ExprKind::AddrOf(e), ty)
    }

    /// `*e`
    pub fn deref(&mut self, e: ExprId) -> Option<ExprId> {
        let ty = self.program.types.pointee(self.type_of(e))?;
        Some(self.expr(ExprKind::Deref(e), ty))
    }

    /// The type of an array of so many.
    pub fn array_of(&mut self, element: Ty, count: u64) -> Ty {
        self.program.types.get(TypeKind::Array(element, ArrayLen::Known(count)))
    }

    /// A new variable without a value; its name ends like `like`.
    pub fn fresh(&mut self, like: &str, ty: Ty) -> VarId {
        let name = format!("__ferry_k{}_{like}", self.program.vars.len());
        let name = self.program.names.intern(&name);
        self.program.vars.push(Var {
            name: Some(name),
            ty: ty.plain(),
            declared_len: None,
            storage: VarStorage::Local(self.function),
            thread_local: false,
            align: None,
            init: None,
            device: None,
            host: HostWords::default(),
            span: self.span,
        })
    }

    /// A new number of 64 bits.
    pub fn fresh_number(&mut self, like: &str) -> VarId {
        let ty = self.number_type();
        self.fresh(like, ty)
    }

    /// The value that changes nothing where values of a type are combined.
    pub fn identity(&mut self, op: &ReductionOp<Typed>, ty: Ty) -> Option<ExprId> {
        let int = self.int_type();
        let types = &self.program.types;
        let is_floating = types.is_real_floating(ty) || types.is_complex(ty);
        let range = types.integer_kind(ty).map(|it| self.program.model.int_range(it));
        let is_bool = types.is_bool(ty);
        Some(match op {
            ReductionOp::Mul | ReductionOp::And => self.int(1, int),
            ReductionOp::BitAnd => self.int(-1, int),
            ReductionOp::Min if is_floating => crate::intrinsic::infinity(self),
            ReductionOp::Max if is_floating => {
                let far = crate::intrinsic::infinity(self);
                let ty = self.type_of(far);
                self.expr(ExprKind::Unary(UnaryOp::Minus, far), ty)
            }
            ReductionOp::Min if is_bool => self.int(1, int),
            ReductionOp::Max if is_bool => self.int(0, int),
            ReductionOp::Min | ReductionOp::Max => {
                let (low, high) = range?;
                let value = if *op == ReductionOp::Min { high } else { low };
                // The same bits.
                let value = i64::try_from(value)
                    .ok()
                    .or_else(|| u64::try_from(value).ok().map(|it| it as i64))?;
                self.int(value, ty)
            }
            ReductionOp::Add
            | ReductionOp::Sub
            | ReductionOp::BitOr
            | ReductionOp::BitXor
            | ReductionOp::Or
            | ReductionOp::User(_) => self.int(0, int),
        })
    }

    /// An initialiser that is a value.
    pub fn init(&mut self, value: ExprId) -> InitId {
        self.program.inits.push(Init::Expr(value))
    }

    /// The user's name of a variable, for names of what is made of it.
    pub fn name_of(&self, var: VarId) -> String {
        self.program.vars[var].name.map_or("unnamed", |it| self.program.names.text(it)).to_owned()
    }
}
