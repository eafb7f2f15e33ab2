//! Constants: what can be computed before the program runs.
//!
//! Integers are exact and wrapped as their type wraps them; floating constants are computed in the
//! format of their type ([`crate::float`]). An address is a
//! constant if it is an offset from null (the old `offsetof`) or, for initialisers, from an object
//! with static storage.

use ir::program::{
    BinaryOp, CastKind, ExprId, ExprKind, FunctionId, OffsetStep, UnaryOp, VarStorage,
};
use ir::types::{FloatKind, RecordId, Ty, TypeKind};
use source::{Name, Span};
use syntax::literal::{self, Number};

use crate::Cx;
use crate::float::{Float, Format, Outcome};
use crate::messages;

/// A number.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Value {
    Int(i128),
    Float(Float),
}

impl Value {
    fn is_zero(self) -> bool {
        match self {
            Value::Int(value) => value == 0,
            Value::Float(value) => value.is_zero(),
        }
    }
}

impl Cx<'_> {
    /// The value of an integer constant.
    pub(crate) fn constant(&self, expr: ExprId) -> Option<i128> {
        match self.evaluate(expr)? {
            Value::Int(value) => Some(value),
            Value::Float(_) => None,
        }
    }

    fn evaluate(&self, expr: ExprId) -> Option<Value> {
        let node = &self.program.exprs[expr];
        let ty = node.ty;
        Some(match &node.kind {
            ExprKind::Int(value) => Value::Int(self.wrap(i128::from(*value), ty)),
            ExprKind::WideInt(value) => Value::Int(**value),
            ExprKind::EnumConst(of, at) => Value::Int(self.constant_value(*of, *at)),
            ExprKind::Float(spelling) => Value::Float(self.float_value(*spelling, ty)?),
            ExprKind::Unary(op, operand) => self.evaluate_unary(*op, *operand, ty)?,
            ExprKind::Binary(op, left, right) => {
                return self.evaluate_binary(*op, *left, *right, ty);
            }
            ExprKind::And(left, right) => {
                let is_true = !self.evaluate(*left)?.is_zero() && !self.evaluate(*right)?.is_zero();
                Value::Int(i128::from(is_true))
            }
            ExprKind::Or(left, right) => {
                let is_true = !self.evaluate(*left)?.is_zero() || !self.evaluate(*right)?.is_zero();
                Value::Int(i128::from(is_true))
            }
            ExprKind::Conditional(cond, yes, no) => {
                let test = self.evaluate(*cond)?;
                return match (test.is_zero(), yes) {
                    (true, _) => self.evaluate(*no),
                    (false, Some(yes)) => self.evaluate(*yes),
                    (false, None) => Some(test),
                };
            }
            ExprKind::Cast(CastKind::ArrayToPointer, operand) | ExprKind::AddrOf(operand) => {
                Value::Int(self.address(*operand)?)
            }
            ExprKind::Cast(_, operand) => self.evaluate_cast(*operand, ty)?,
            ExprKind::Sizeof(of) => Value::Int(i128::from(self.size_of(*of)?)),
            ExprKind::Alignof(of) => Value::Int(i128::from(self.align_of(*of)?)),
            ExprKind::Offsetof(of, steps) => Value::Int(self.offset(*of, steps)?),
            ExprKind::Call(callee, args) => {
                let ExprKind::Function(function) = self.program.exprs[*callee].kind else {
                    return None;
                };
                self.evaluate_call(function, args, ty)?
            }
            ExprKind::Error
            | ExprKind::Str(_)
            | ExprKind::Var(_)
            | ExprKind::Function(_)
            | ExprKind::Deref(_)
            | ExprKind::Step(..)
            | ExprKind::Assign(..)
            | ExprKind::AssignOp(..)
            | ExprKind::Comma(..)
            | ExprKind::Index(..)
            | ExprKind::Member(..)
            | ExprKind::CompoundLiteral(_)
            | ExprKind::StmtExpr(_)
            | ExprKind::LabelAddr(_)
            | ExprKind::VaArg(_)
            | ExprKind::ConvertVector(_)
            | ExprKind::Section(_)
            | ExprKind::Shaped(..) => return None,
        })
    }

    /// A constant of `long double` or a wider type that becomes a narrower number, which not every device could compute:
    /// gcc's `DBL_MAX` is `((double)1.79769313486231570814527423731704357e+308L)`.
    pub(crate) fn narrowed(&mut self, expr: ExprId, to: Ty, span: Span) -> Option<ExprId> {
        let format = self.float_format(self.ty(expr))?;
        if !matches!(format, Format::Extended | Format::Quad) {
            return None;
        }
        let (is_negative, spelling) = match self.evaluate_cast(expr, to)? {
            Value::Int(value) => return Some(self.int(i64::try_from(value).ok()?, to, span)),
            Value::Float(value) => value.spelled()?,
        };
        let spelling = self.program.names.intern(&spelling);
        let number = self.make(ExprKind::Float(spelling), to, span);
        Some(match is_negative {
            true => self.make(ExprKind::Unary(UnaryOp::Minus, number), to, span),
            false => number,
        })
    }

    fn evaluate_unary(&self, op: UnaryOp, operand: ExprId, ty: Ty) -> Option<Value> {
        let value = self.evaluate(operand)?;
        Some(match (op, value) {
            (UnaryOp::Not, value) => Value::Int(i128::from(value.is_zero())),
            (UnaryOp::Plus, value) => value,
            (UnaryOp::Minus, Value::Float(value)) => Value::Float(value.negated()),
            (UnaryOp::Minus, Value::Int(value)) => Value::Int(self.wrap(value.wrapping_neg(), ty)),
            (UnaryOp::BitNot, Value::Int(value)) => Value::Int(self.wrap(!value, ty)),
            (UnaryOp::BitNot, Value::Float(_)) => return None,
            (UnaryOp::Real, value) => value,
            (UnaryOp::Imag, _) => Value::Int(0),
        })
    }

    fn evaluate_cast(&self, operand: ExprId, ty: Ty) -> Option<Value> {
        let value = self.evaluate(operand)?;
        match (self.shape(ty), value) {
            (TypeKind::Float(_), Value::Float(value)) => {
                Some(Value::Float(value.to(self.float_format(ty)?)))
            }
            (TypeKind::Float(_), Value::Int(value)) => {
                let is_unsigned = self.is_unsigned(self.ty(operand));
                Some(Value::Float(Float::of_int(value, is_unsigned, self.float_format(ty)?)))
            }
            (TypeKind::Bool, value) => Some(Value::Int(i128::from(!value.is_zero()))),
            (TypeKind::Int(_) | TypeKind::Enum(_), Value::Float(value)) => {
                let (bits, is_unsigned) = (self.bits_of(ty), self.is_unsigned(ty));
                Some(Value::Int(self.wrap(value.whole(bits, is_unsigned), ty)))
            }
            (TypeKind::Int(_) | TypeKind::Enum(_) | TypeKind::Pointer(_), Value::Int(value)) => {
                Some(Value::Int(self.wrap(value, ty)))
            }
            _ => None,
        }
    }

    fn evaluate_binary(&self, op: BinaryOp, left: ExprId, right: ExprId, ty: Ty) -> Option<Value> {
        let operands = self.ty(left);
        let (a, b) = (self.evaluate(left)?, self.evaluate(right)?);
        match (a, b) {
            (Value::Int(a), Value::Int(b)) => {
                if let Some(value) = self.pointer_arithmetic(op, (left, a), (right, b)) {
                    return Some(Value::Int(self.wrap(value, ty)));
                }
                let unsigned = self.is_unsigned(operands);
                let value = self.integer_binary(op, a, b, unsigned, operands)?;
                Some(Value::Int(self.wrap(value, ty)))
            }
            (Value::Float(a), Value::Float(b)) => Some(match Float::binary(op, a, b)? {
                Outcome::Value(value) => Value::Float(value),
                Outcome::Truth(truth) => Value::Int(i128::from(truth)),
            }),
            // Both operands have been converted to one type.
            (Value::Int(_), Value::Float(_)) | (Value::Float(_), Value::Int(_)) => None,
        }
    }

    /// Offsets from null, counted in elements.
    fn pointer_arithmetic(
        &self,
        op: BinaryOp,
        (left, a): (ExprId, i128),
        (right, b): (ExprId, i128),
    ) -> Option<i128> {
        let size = |to: Ty| self.size_of(to).map(i128::from);
        match (op, self.pointee(self.ty(left)), self.pointee(self.ty(right))) {
            (BinaryOp::Add, Some(to), None) => a.checked_add(b.checked_mul(size(to)?)?),
            (BinaryOp::Add, None, Some(to)) => b.checked_add(a.checked_mul(size(to)?)?),
            (BinaryOp::Sub, Some(to), None) => a.checked_sub(b.checked_mul(size(to)?)?),
            (BinaryOp::Sub, Some(to), Some(_)) => a.checked_sub(b)?.checked_div(size(to)?),
            _ => None,
        }
    }

    fn integer_binary(
        &self,
        op: BinaryOp,
        a: i128,
        b: i128,
        unsigned: bool,
        ty: Ty,
    ) -> Option<i128> {
        let (ua, ub) = (a.cast_unsigned(), b.cast_unsigned());
        // Only for 128-bit unsigned types does the sign bit of the representation matter.
        let wide = unsigned && self.bits_of(ty) == 128;
        let order = if wide { ua.cmp(&ub) } else { a.cmp(&b) };
        Some(match op {
            BinaryOp::Mul => a.wrapping_mul(b),
            BinaryOp::Div if wide => ua.checked_div(ub)?.cast_signed(),
            BinaryOp::Div => a.checked_div(b)?,
            BinaryOp::Rem if wide => ua.checked_rem(ub)?.cast_signed(),
            BinaryOp::Rem => a.checked_rem(b)?,
            BinaryOp::Add => a.wrapping_add(b),
            BinaryOp::Sub => a.wrapping_sub(b),
            BinaryOp::Shl | BinaryOp::Shr => {
                let by = u32::try_from(b).ok().filter(|it| *it < self.bits_of(ty))?;
                match op {
                    BinaryOp::Shl => a.wrapping_shl(by),
                    _ if wide => (ua >> by).cast_signed(),
                    _ => a >> by,
                }
            }
            BinaryOp::Lt => i128::from(order.is_lt()),
            BinaryOp::Gt => i128::from(order.is_gt()),
            BinaryOp::Le => i128::from(order.is_le()),
            BinaryOp::Ge => i128::from(order.is_ge()),
            BinaryOp::Eq => i128::from(a == b),
            BinaryOp::Ne => i128::from(a != b),
            BinaryOp::BitAnd => a & b,
            BinaryOp::BitXor => a ^ b,
            BinaryOp::BitOr => a | b,
        })
    }

    /// The address of an object that lies at an offset from null.
    fn address(&self, object: ExprId) -> Option<i128> {
        match &self.program.exprs[object].kind {
            ExprKind::Deref(pointer) => self.constant(*pointer),
            ExprKind::Member(base, record, at) => {
                self.address(*base)?.checked_add(self.field_offset(*record, *at)?)
            }
            ExprKind::Index(base, index) => {
                let size = i128::from(self.size_of(self.ty(object))?);
                let start = match self.is_array(self.ty(*base)) {
                    true => self.address(*base)?,
                    false => self.constant(*base)?,
                };
                start.checked_add(self.constant(*index)?.checked_mul(size)?)
            }
            _ => None,
        }
    }

    fn offset(&self, of: Ty, steps: &[OffsetStep]) -> Option<i128> {
        let mut at = of;
        let mut offset = 0_i128;
        for step in steps {
            match step {
                OffsetStep::Field(record, field) => {
                    offset += self.field_offset(*record, *field)?;
                    at = self.field_ty(*record, *field);
                }
                OffsetStep::Index(index) => {
                    let (elem, _) = self.array(at)?;
                    let size = i128::from(self.size_of(elem)?);
                    offset = offset.checked_add(self.constant(*index)?.checked_mul(size)?)?;
                    at = elem;
                }
            }
        }
        Some(offset)
    }

    /// Offset of a member in bytes.
    fn field_offset(&self, record: RecordId, at: u32) -> Option<i128> {
        let layout = self.layouts.record(&self.program.types, record).ok()?;
        layout.fields.get(at as usize).map(|it| i128::from(it.offset))
    }

    fn float_value(&self, spelling: Name, ty: Ty) -> Option<Float> {
        let Ok(Number::Float(number)) = literal::number(self.program.names.text(spelling)) else {
            return None;
        };
        Float::parse(&number.digits, self.float_format(ty)?)
    }

    /// How values of a floating type are kept.
    fn float_format(&self, ty: Ty) -> Option<Format> {
        let TypeKind::Float(kind) = self.shape(ty) else { return None };
        Some(match kind {
            FloatKind::Float16 => Format::Half,
            FloatKind::BFloat16 => Format::BFloat,
            FloatKind::Float | FloatKind::Float32 => Format::Single,
            FloatKind::Double | FloatKind::Float64 | FloatKind::Float32x => Format::Double,
            FloatKind::LongDouble if self.size_of(ty)? == 8 => Format::Double,
            FloatKind::LongDouble | FloatKind::Float64x => Format::Extended,
            FloatKind::Float128 => Format::Quad,
        })
    }

    fn evaluate_call(&self, function: FunctionId, args: &[ExprId], ty: Ty) -> Option<Value> {
        let function = &self.program.functions[function];
        if !function.is_builtin {
            return None;
        }
        let name = self.program.names.text(function.name).strip_prefix("__builtin_")?;
        let first = *args.first()?;
        let bits = || Some((self.constant(first)?.cast_unsigned(), self.bits_of(self.ty(first))));
        let value = match name {
            "expect" | "expect_with_probability" | "assume_aligned" => {
                return self.evaluate(first);
            }
            "bswap16" | "bswap32" | "bswap64" | "bswap128" => {
                let (value, bits) = bits()?;
                (value.swap_bytes() >> (128 - bits)).cast_signed()
            }
            "popcount" | "popcountl" | "popcountll" => {
                let (value, bits) = bits()?;
                i128::from((value << (128 - bits)).count_ones())
            }
            "clz" | "clzl" | "clzll" => {
                let (value, bits) = bits()?;
                i128::from((value << (128 - bits)).leading_zeros().min(bits))
            }
            "ctz" | "ctzl" | "ctzll" => {
                let (value, bits) = bits()?;
                i128::from(value.trailing_zeros().min(bits))
            }
            "ffs" | "ffsl" | "ffsll" => match bits()? {
                (0, _) => 0,
                (value, _) => i128::from(value.trailing_zeros() + 1),
            },
            "abs" | "labs" | "llabs" => self.constant(first)?.wrapping_abs(),
            _ => return None,
        };
        Some(Value::Int(self.wrap(value, ty)))
    }

    // ------------------------------------------------------------ initialisers

    /// Reports a value that an object with static storage cannot start with.
    pub(crate) fn require_constant(&mut self, value: ExprId) {
        if !self.is_constant(value) {
            let span = self.span(value);
            self.report(messages::not_constant(
                "initial value of an object with static storage",
                span,
            ));
        }
    }

    /// Whether a value is known when the program is linked.
    fn is_constant(&self, expr: ExprId) -> bool {
        let node = &self.program.exprs[expr];
        match &node.kind {
            ExprKind::Error
            | ExprKind::Int(_)
            | ExprKind::WideInt(_)
            | ExprKind::Float(_)
            | ExprKind::Str(_)
            | ExprKind::EnumConst(..)
            | ExprKind::Function(_)
            | ExprKind::Alignof(_)
            | ExprKind::Offsetof(..)
            | ExprKind::CompoundLiteral(_)
            | ExprKind::LabelAddr(_) => true,
            ExprKind::Sizeof(of) => !self.program.types.is_vla(*of),
            // gcc takes the value of a constant object that it has seen.
            ExprKind::Var(var) => {
                let var = &self.program.vars[*var];
                var.init.is_some() && self.program.types.resolve(var.ty).quals.is_const
            }
            ExprKind::AddrOf(object)
            | ExprKind::Cast(CastKind::ArrayToPointer | CastKind::FunctionToPointer, object) => {
                self.is_static_object(*object)
            }
            ExprKind::Cast(_, inner)
            | ExprKind::Unary(_, inner)
            | ExprKind::ConvertVector(inner) => self.is_constant(*inner),
            ExprKind::Member(base, ..) => self.is_constant(*base),
            ExprKind::Binary(_, left, right)
            | ExprKind::Comma(left, right)
            | ExprKind::Index(left, right) => self.is_constant(*left) && self.is_constant(*right),
            ExprKind::And(left, right) | ExprKind::Or(left, right) => {
                self.evaluate(expr).is_some() || self.is_constant(*left) && self.is_constant(*right)
            }
            ExprKind::Conditional(cond, yes, no) => match self.evaluate(*cond) {
                Some(test) if test.is_zero() => self.is_constant(*no),
                Some(_) => yes.is_none_or(|yes| self.is_constant(yes)),
                None => {
                    self.is_constant(*cond)
                        && yes.is_none_or(|yes| self.is_constant(yes))
                        && self.is_constant(*no)
                }
            },
            // What gcc computes of its own functions is its business.
            ExprKind::Call(callee, _) => match self.program.exprs[*callee].kind {
                ExprKind::Function(function) => self.program.functions[function].is_builtin,
                _ => self.is_error(node.ty),
            },
            ExprKind::Deref(_)
            | ExprKind::Step(..)
            | ExprKind::Assign(..)
            | ExprKind::AssignOp(..)
            | ExprKind::StmtExpr(_)
            | ExprKind::VaArg(_)
            | ExprKind::Section(_)
            | ExprKind::Shaped(..) => false,
        }
    }

    /// Whether an object's address is known when the program is linked.
    fn is_static_object(&self, object: ExprId) -> bool {
        match &self.program.exprs[object].kind {
            ExprKind::Var(var) => !matches!(
                self.program.vars[*var].storage,
                VarStorage::Local(_) | VarStorage::Param(_)
            ),
            ExprKind::Error
            | ExprKind::Str(_)
            | ExprKind::Function(_)
            | ExprKind::CompoundLiteral(_) => true,
            ExprKind::Deref(pointer) => self.is_constant(*pointer),
            ExprKind::Member(base, ..) | ExprKind::Unary(_, base) => self.is_static_object(*base),
            ExprKind::Index(base, index) => {
                let base_is_static = match self.is_array(self.ty(*base)) {
                    true => self.is_static_object(*base),
                    false => self.is_constant(*base),
                };
                base_is_static && self.is_constant(*index)
            }
            _ => false,
        }
    }
}
