//! Types of expressions against those of their parts.

use source::Span;

use super::{Law, Verifier};
use crate::program::{BinaryOp, CastKind, Expr, ExprId, ExprKind, OffsetStep, Program, UnaryOp};
use crate::types::{IntKind, RecordId, Ty, TypeKind};

impl Verifier<'_> {
    #[allow(clippy::too_many_lines, reason = "one arm per kind of expression")]
    pub(super) fn expr(&mut self, expr: &Expr) {
        let program = self.program;
        let types = &program.types;
        let (ty, span) = (expr.ty, expr.span);
        // What depends on a reported type has nothing to answer for.
        if types.is_error(ty) || self.has_reported_part(expr) {
            return;
        }
        match &expr.kind {
            ExprKind::Error
            | ExprKind::Sizeof(_)
            | ExprKind::Alignof(_)
            | ExprKind::LabelAddr(_)
            | ExprKind::StmtExpr(_)
            | ExprKind::VaArg(_) => {}
            ExprKind::Int(_) | ExprKind::WideInt(_) | ExprKind::EnumConst(..) => {
                let fits = types.is_integer(ty) || types.is_pointer(ty);
                self.check(fits, Law::ResultType, span, "an integer constant has another type");
            }
            ExprKind::Float(_) => {
                let fits = types.is_real_floating(ty) || types.is_complex(ty);
                self.check(fits, Law::ResultType, span, "a floating constant has another type");
            }
            ExprKind::Str(_) => {
                let fits = types.is_array(ty) || types.is_error(ty);
                self.check(fits, Law::ResultType, span, "a string is no array");
            }
            ExprKind::Var(var) | ExprKind::CompoundLiteral(var) => {
                self.check_same(Law::ResultType, span, "the variable", ty, program.vars[*var].ty);
            }
            ExprKind::Function(id) => {
                let own = program.functions[*id].ty;
                // Used before its declaration, it is what C takes it for.
                if types.callee(ty).is_none_or(|it| it.prototyped) {
                    self.check_same(Law::ResultType, span, "the function", ty, own);
                }
            }
            ExprKind::Unary(op, e) => self.unary(*op, *e, ty, span),
            ExprKind::Deref(e) => match types.pointee(self.ty(*e)) {
                Some(to) => self.check_same(Law::ResultType, span, "what is pointed to", ty, to),
                None => self.report(Law::Operand, span, "`*` is applied to no pointer"),
            },
            ExprKind::AddrOf(e) => {
                self.place(*e, Law::Operand);
                match types.pointee(ty) {
                    Some(to) => self.check_same(Law::ResultType, span, "`&`", to, self.ty(*e)),
                    None => self.report(Law::ResultType, span, "`&` gives no pointer"),
                }
            }
            ExprKind::Step(_, e) => {
                self.place(*e, Law::Assignment);
                self.check_same(Law::ResultType, span, "the step", ty, self.ty(*e));
                let fits = types.is_scalar(ty) || types.is_vector(ty);
                self.check(fits, Law::Operand, span, "what is stepped is no scalar");
            }
            ExprKind::Binary(op, a, b) => self.binary(*op, *a, *b, ty, span),
            ExprKind::And(a, b) | ExprKind::Or(a, b) => {
                self.condition(*a);
                self.condition(*b);
                self.is_int(ty, span);
            }
            ExprKind::Assign(a, b) => {
                self.place(*a, Law::Assignment);
                self.check_same(
                    Law::Assignment,
                    span,
                    "what is assigned",
                    self.ty(*b),
                    self.ty(*a),
                );
                self.check_same(Law::ResultType, span, "the assignment", ty, self.ty(*a));
            }
            ExprKind::AssignOp(op, a, b, within) => {
                self.place(*a, Law::Assignment);
                self.check_same(Law::ResultType, span, "the assignment", ty, self.ty(*a));
                let right = self.ty(*b);
                if types.is_pointer(*within) || is_shift(*op) {
                    self.check(
                        types.is_integer(right) || types.is_vector(right),
                        Law::Operand,
                        span,
                        "the right side is no integer",
                    );
                } else {
                    self.check_same(Law::Operand, span, "the right side", right, *within);
                }
            }
            ExprKind::Conditional(c, a, b) => {
                self.condition(*c);
                if !types.is_void(ty) {
                    for arm in a.iter().chain([b]) {
                        self.check_same(Law::Operand, span, "an arm", self.ty(*arm), ty);
                    }
                }
            }
            ExprKind::Comma(_, b) => {
                self.check_same(Law::ResultType, span, "the comma", ty, self.ty(*b));
            }
            ExprKind::Cast(kind, e) => self.cast(*kind, self.ty(*e), ty, span),
            ExprKind::Index(base, index) => {
                let base = self.ty(*base);
                match types.element(base).or_else(|| types.pointee(base)) {
                    Some(own) => self.check_same(Law::ResultType, span, "the element", ty, own),
                    None => self.report(Law::Index, span, "what is indexed is no array or pointer"),
                }
                self.integer(*index, "the index");
            }
            ExprKind::Member(e, record, at) => {
                let inside = types.record_of(self.ty(*e)) == Some(*record);
                self.check(inside, Law::Member, span, "the member is of another record");
                match self.field(*record, *at) {
                    Some(own) => self.check_same(Law::ResultType, span, "the member", ty, own),
                    None => self.report(Law::Member, span, "there is no such member"),
                }
            }
            ExprKind::Call(callee, args) => self.call(*callee, args, ty, span),
            ExprKind::Offsetof(_, path) => {
                for step in path {
                    match step {
                        OffsetStep::Field(record, at) => {
                            let exists = self.field(*record, *at).is_some();
                            self.check(exists, Law::Member, span, "there is no such member");
                        }
                        OffsetStep::Index(index) => self.integer(*index, "the index"),
                    }
                }
            }
            ExprKind::ConvertVector(e) => {
                let fits = types.is_vector(ty) && types.is_vector(self.ty(*e));
                self.check(fits, Law::Operand, span, "not both sides are vectors");
            }
            ExprKind::Section(it) => {
                let base = self.ty(it.base);
                let fits = types.is_array(base) || types.is_pointer(base);
                self.check(fits, Law::Index, span, "a section of no array or pointer");
                for bound in [it.lower, it.length, it.stride].into_iter().flatten() {
                    self.integer(bound, "a bound of the section");
                }
            }
            ExprKind::Shaped(shape, e) => {
                let fits = types.is_pointer(self.ty(*e));
                self.check(fits, Law::Operand, span, "what is shaped is no pointer");
                shape.iter().for_each(|&it| self.integer(it, "a length of the shape"));
            }
        }
    }

    fn has_reported_part(&self, expr: &Expr) -> bool {
        let mut reported = false;
        expr.kind.parts(&self.program.types, &mut |part| {
            if let crate::walk::Part::Expr(id) = part {
                reported |= self.program.types.is_error(self.ty(id));
            }
        });
        reported
    }

    fn field(&self, record: RecordId, at: u32) -> Option<Ty> {
        let fields = self.program.types.records.find(record)?.fields.as_ref()?;
        Some(fields.get(at as usize)?.ty)
    }

    pub(super) fn condition(&mut self, id: ExprId) {
        let (types, ty) = (&self.program.types, self.ty(id));
        let fits = types.is_scalar(ty) || types.is_vector(ty) || types.is_error(ty);
        let span = self.program.exprs[id].span;
        self.check(fits, Law::Condition, span, "a condition is no scalar");
    }

    fn integer(&mut self, id: ExprId, what: &str) {
        let (types, ty) = (&self.program.types, self.ty(id));
        let fits = types.is_integer(ty) || types.is_error(ty);
        let span = self.program.exprs[id].span;
        self.check(fits, Law::Index, span, &format!("{what} is no integer"));
    }

    fn is_int(&mut self, ty: Ty, span: Span) {
        let types = &self.program.types;
        let fits = *types.shape(ty) == TypeKind::Int(IntKind::Int) || types.is_vector(ty);
        self.check(fits, Law::ResultType, span, "a truth value is no `int`");
    }

    /// What can be assigned to or have its address taken.
    fn place(&mut self, id: ExprId, law: Law) {
        let expr = &self.program.exprs[id];
        let is_place = match &expr.kind {
            ExprKind::Error
            | ExprKind::Str(_)
            | ExprKind::Var(_)
            | ExprKind::Function(_)
            | ExprKind::Deref(_)
            | ExprKind::Index(..)
            | ExprKind::Member(..)
            | ExprKind::CompoundLiteral(_)
            | ExprKind::Section(_)
            | ExprKind::Unary(UnaryOp::Real | UnaryOp::Imag, _) => true,
            ExprKind::Int(_)
            | ExprKind::WideInt(_)
            | ExprKind::Float(_)
            | ExprKind::EnumConst(..)
            | ExprKind::Unary(..)
            | ExprKind::AddrOf(_)
            | ExprKind::Step(..)
            | ExprKind::Binary(..)
            | ExprKind::And(..)
            | ExprKind::Or(..)
            | ExprKind::Assign(..)
            | ExprKind::AssignOp(..)
            | ExprKind::Conditional(..)
            | ExprKind::Comma(..)
            | ExprKind::Cast(..)
            | ExprKind::Call(..)
            | ExprKind::Sizeof(_)
            | ExprKind::Alignof(_)
            | ExprKind::Offsetof(..)
            | ExprKind::StmtExpr(_)
            | ExprKind::LabelAddr(_)
            | ExprKind::VaArg(_)
            | ExprKind::ConvertVector(_)
            | ExprKind::Shaped(..) => false,
        };
        self.check(is_place, law, expr.span, "this is no object");
    }

    fn unary(&mut self, op: UnaryOp, e: ExprId, ty: Ty, span: Span) {
        let types = &self.program.types;
        let from = self.ty(e);
        let is_vector = types.is_vector(from);
        match op {
            UnaryOp::Plus | UnaryOp::Minus | UnaryOp::BitNot => {
                let fits = match op {
                    UnaryOp::BitNot => types.is_integer(from) || types.is_complex(from),
                    UnaryOp::Plus
                    | UnaryOp::Minus
                    | UnaryOp::Not
                    | UnaryOp::Real
                    | UnaryOp::Imag => types.is_arithmetic(from),
                };
                self.check(fits || is_vector, Law::Operand, span, "the operand is of no such type");
                self.check_same(Law::ResultType, span, "the operator", ty, from);
            }
            UnaryOp::Not => {
                self.condition(e);
                self.is_int(ty, span);
            }
            UnaryOp::Real | UnaryOp::Imag => {
                self.check(types.is_arithmetic(from), Law::Operand, span, "no arithmetic type");
            }
        }
    }

    fn binary(&mut self, op: BinaryOp, a: ExprId, b: ExprId, ty: Ty, span: Span) {
        let types = &self.program.types;
        let (a, b) = (self.ty(a), self.ty(b));
        // Vectors take vectors and scalars, lane by lane.
        if types.is_vector(a) || types.is_vector(b) {
            return;
        }
        let pointers = (types.is_pointer(a), types.is_pointer(b));
        let both_integers = types.is_integer(a) && types.is_integer(b);
        let both_arithmetic = types.is_arithmetic(a) && types.is_arithmetic(b);
        let off_pointer = match pointers {
            (true, false) => Some((a, types.is_integer(b))),
            (false, true) => Some((b, types.is_integer(a))),
            (true, true) | (false, false) => None,
        };
        let wrong = "the operands do not suit the operator";
        match op {
            BinaryOp::Lt
            | BinaryOp::Gt
            | BinaryOp::Le
            | BinaryOp::Ge
            | BinaryOp::Eq
            | BinaryOp::Ne => {
                self.is_int(ty, span);
                let fits = pointers == (true, true) || off_pointer.is_some_and(|it| it.1);
                let fits = fits || (both_arithmetic && self.same(a, b));
                self.check(fits, Law::Operand, span, wrong);
            }
            BinaryOp::Shl | BinaryOp::Shr => {
                self.check(both_integers, Law::Operand, span, wrong);
                self.check_same(Law::ResultType, span, "the shift", ty, a);
            }
            BinaryOp::Add | BinaryOp::Sub if pointers != (false, false) => {
                match (op, off_pointer) {
                    (_, Some((pointer, by_integer))) => {
                        let fits = by_integer && (op == BinaryOp::Add || pointers.0);
                        self.check(fits, Law::Operand, span, wrong);
                        self.check_same(Law::ResultType, span, "the sum", ty, pointer);
                    }
                    (BinaryOp::Sub, None) => {
                        self.check(
                            types.is_integer(ty),
                            Law::ResultType,
                            span,
                            "a distance is no integer",
                        );
                    }
                    (_, None) => self.report(Law::Operand, span, wrong),
                }
            }
            BinaryOp::Rem | BinaryOp::BitAnd | BinaryOp::BitXor | BinaryOp::BitOr => {
                let complex = types.is_complex(a) && types.is_complex(b);
                self.check(both_integers || complex, Law::Operand, span, wrong);
                self.check_converted(a, b, ty, span);
            }
            BinaryOp::Mul | BinaryOp::Div | BinaryOp::Add | BinaryOp::Sub => {
                self.check(both_arithmetic, Law::Operand, span, wrong);
                self.check_converted(a, b, ty, span);
            }
        }
    }

    fn check_converted(&mut self, a: Ty, b: Ty, ty: Ty, span: Span) {
        self.check_same(Law::Operand, span, "the left operand", a, ty);
        self.check_same(Law::Operand, span, "the right operand", b, ty);
    }

    fn cast(&mut self, kind: CastKind, from: Ty, to: Ty, span: Span) {
        let types = &self.program.types;
        match kind {
            CastKind::ArrayToPointer => match (types.element(from), types.pointee(to)) {
                (Some(element), Some(pointee)) => {
                    self.check_same(Law::Cast, span, "the pointee", pointee, element);
                }
                (None, _) | (_, None) => self.report(Law::Cast, span, "no array, or no pointer"),
            },
            CastKind::FunctionToPointer => {
                let fits = types.is_function(from)
                    && types.pointee(to).is_some_and(|it| types.is_function(it));
                self.check(fits, Law::Cast, span, "no function, or no pointer to one");
            }
            CastKind::Explicit | CastKind::Implicit => {
                let undecayed = types.is_array(from) || types.is_function(from);
                self.check(!undecayed, Law::Cast, span, "the operand has not become a pointer");
                let fits = !types.is_array(to) && !types.is_function(to);
                self.check(fits, Law::Cast, span, "nothing becomes an array or a function");
                let fits = types.is_void(to) || !types.is_void(from);
                self.check(fits, Law::Cast, span, "nothing is made of `void`");
            }
        }
    }

    fn call(&mut self, callee: ExprId, args: &[ExprId], ty: Ty, span: Span) {
        let program = self.program;
        let types = &program.types;
        let Some(function) = types.callee(self.ty(callee)) else {
            return self.report(Law::Call, span, "what is called is no function");
        };
        // Built-in functions are often generic.
        if is_builtin(program, callee) {
            return;
        }
        self.check_same(Law::ResultType, span, "the call", ty, function.ret);
        if !function.prototyped {
            return;
        }
        let (given, wanted) = (args.len(), function.params.len());
        let fits = given == wanted || (function.variadic && given > wanted);
        self.check(fits, Law::Call, span, "the number of arguments is another");
        for (arg, param) in args.iter().zip(&*function.params) {
            let is_transparent =
                types.record_of(*param).is_some_and(|it| types.records[it].transparent);
            if !is_transparent {
                self.check_same(Law::Call, span, "an argument", self.ty(*arg), *param);
            }
        }
    }
}

fn is_builtin(program: &Program, callee: ExprId) -> bool {
    let mut callee = &program.exprs[callee].kind;
    while let ExprKind::Cast(_, e) = callee {
        callee = &program.exprs[*e].kind;
    }
    if let ExprKind::Function(id) = callee { program.functions[*id].is_builtin } else { false }
}

fn is_shift(op: BinaryOp) -> bool {
    matches!(op, BinaryOp::Shl | BinaryOp::Shr)
}
