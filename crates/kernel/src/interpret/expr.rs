//! Expressions.

use ir::layout::FloatFormat;
use ir::program::{BinaryOp, CastKind, ExprId, ExprKind, OffsetStep, StepOp, UnaryOp};
use ir::types::Ty;

use super::object::{Place, string};
use super::value::{Scalar, Value, arith, round, wrap};
use super::{Cx, Flow, Result, fail};

impl Cx<'_, '_> {
    /// The value of an expression.
    pub(super) fn eval(&mut self, id: ExprId) -> Result<Value> {
        let span = self.program().exprs[id].span;
        Self::at(self.m.enter(), span)?;
        let value = self.value(id);
        self.m.depth -= 1;
        Self::at(value, span)
    }

    fn value(&mut self, id: ExprId) -> Result<Value> {
        let program = self.program();
        let expr = &program.exprs[id];
        let ty = expr.ty;
        let truth = |it: bool| Value::Int(i128::from(it));
        Ok(match &expr.kind {
            ExprKind::Int(it) => {
                Value::Int(i128::from(*it)).convert(Scalar::Void, self.scalar(ty)?)?
            }
            ExprKind::WideInt(it) => Value::Int(**it),
            ExprKind::Float(name) => self.float(program.names.text(*name), ty)?,
            ExprKind::EnumConst(id, at) => {
                let constants = program.types.enums[*id].constants.as_ref();
                match constants.and_then(|it| it.get(*at as usize)) {
                    Some((_, value)) => Value::Int(*value),
                    None => return fail("no such constant"),
                }
            }
            ExprKind::Var(_)
            | ExprKind::Deref(_)
            | ExprKind::Index(..)
            | ExprKind::Member(..)
            | ExprKind::CompoundLiteral(_)
            | ExprKind::Str(_) => {
                if program.types.is_function(ty) {
                    return self.callee(id);
                }
                let place = self.place(id)?;
                self.load(&place)?
            }
            ExprKind::Function(_) => self.callee(id)?,
            ExprKind::Unary(op, e) => self.unary(*op, *e, ty)?,
            ExprKind::AddrOf(e) => {
                if program.types.is_function(program.exprs[*e].ty) {
                    return self.callee(*e);
                }
                let place = self.place(*e)?;
                if place.bits.is_some() {
                    return fail("the address of a bit-field");
                }
                Value::Int(i128::from(place.at))
            }
            ExprKind::Step(op, e) => {
                let place = self.place(*e)?;
                let old = self.load(&place)?;
                let is_up = matches!(op, StepOp::PreInc | StepOp::PostInc);
                let by = if is_up { BinaryOp::Add } else { BinaryOp::Sub };
                let new = self.stepped(by, &old, place.ty)?;
                self.store(&place, &new)?;
                if matches!(op, StepOp::PreInc | StepOp::PreDec) { new } else { old }
            }
            ExprKind::Binary(op, a, b) => {
                let (left, right) = (self.eval(*a)?, self.eval(*b)?);
                self.binary(*op, (&left, program.exprs[*a].ty), (&right, program.exprs[*b].ty))?
            }
            ExprKind::And(a, b) => truth(self.eval(*a)?.truth()? && self.eval(*b)?.truth()?),
            ExprKind::Or(a, b) => truth(self.eval(*a)?.truth()? || self.eval(*b)?.truth()?),
            ExprKind::Assign(a, b) => {
                let value = self.eval(*b)?;
                let place = self.place(*a)?;
                self.store(&place, &value)?;
                self.kept(&place, value)?
            }
            ExprKind::AssignOp(op, a, b, within) => {
                let right = self.eval(*b)?;
                let place = self.place(*a)?;
                let old = self.load(&place)?;
                let (own, common) = (self.scalar(place.ty)?, self.scalar(*within)?);
                let left = old.convert(own, common)?;
                let right_ty = program.exprs[*b].ty;
                let value = self.binary(*op, (&left, *within), (&right, right_ty))?;
                let value = value.convert(common, own)?;
                self.store(&place, &value)?;
                self.kept(&place, value)?
            }
            ExprKind::Conditional(c, a, b) => {
                let condition = self.eval(*c)?;
                match (condition.truth()?, a) {
                    (true, Some(a)) => self.eval(*a)?,
                    (true, None) => condition,
                    (false, _) => self.eval(*b)?,
                }
            }
            ExprKind::Comma(a, b) => {
                self.eval(*a)?;
                self.eval(*b)?
            }
            ExprKind::Cast(CastKind::ArrayToPointer, e) => {
                Value::Int(i128::from(self.place(*e)?.at))
            }
            ExprKind::Cast(CastKind::FunctionToPointer, e) => self.callee(*e)?,
            ExprKind::Cast(CastKind::Explicit | CastKind::Implicit, e) => {
                let value = self.eval(*e)?;
                let (from, to) = (program.exprs[*e].ty, ty);
                if program.types.is_void(to) {
                    return Ok(Value::Void);
                }
                value.convert(self.scalar(from)?, self.scalar(to)?)?
            }
            ExprKind::Call(callee, args) => self.call(*callee, args, ty)?,
            ExprKind::Sizeof(of) => Value::Int(i128::from(self.size_of(*of)?)),
            ExprKind::Alignof(of) => match self.m.layouts.align_of(&program.types, *of) {
                Ok(align) => Value::Int(i128::from(align)),
                Err(_) => return fail("a type without alignment"),
            },
            ExprKind::Offsetof(of, path) => self.offset(*of, path)?,
            ExprKind::StmtExpr(body) => match self.statements(*body)? {
                (Flow::Next, value) => value,
                (_, _) => return fail("a jump out of an expression"),
            },
            ExprKind::Error
            | ExprKind::LabelAddr(_)
            | ExprKind::VaArg(_)
            | ExprKind::ConvertVector(_)
            | ExprKind::Section(_)
            | ExprKind::Shaped(..) => return fail("an expression that is not interpreted"),
        })
    }

    /// The value of an assignment: what a bit-field could keep of it.
    fn kept(&mut self, place: &Place, value: Value) -> Result<Value> {
        if let (Some((_, width)), Scalar::Int { is_signed, .. }) =
            (place.bits, self.scalar(place.ty)?)
        {
            return Ok(Value::Int(wrap(value.int()?, width, is_signed)));
        }
        Ok(value)
    }

    /// One more or less.
    fn stepped(&mut self, op: BinaryOp, old: &Value, ty: Ty) -> Result<Value> {
        let scalar = self.scalar(ty)?;
        let one = match scalar {
            Scalar::Bool => {
                return Ok(Value::Int(i128::from(op == BinaryOp::Add || *old == Value::Int(0))));
            }
            Scalar::Float(_) => Value::Float(1.0),
            Scalar::Complex(_) => Value::Complex(1.0, 0.0),
            Scalar::Int { .. } | Scalar::Void | Scalar::Bytes => {
                let by = match self.program().types.pointee(ty) {
                    Some(to) => self.size_of(to)?,
                    None => 1,
                };
                Value::Int(i128::from(by))
            }
        };
        arith(op, old, &one, scalar)
    }

    /// `a op b`, of numbers or pointers.
    pub(super) fn binary(
        &mut self,
        op: BinaryOp,
        (a, a_ty): (&Value, Ty),
        (b, b_ty): (&Value, Ty),
    ) -> Result<Value> {
        let types = &self.program().types;
        let scalar = self.scalar(a_ty)?;
        match (types.pointee(a_ty), types.pointee(b_ty)) {
            (Some(to), Some(_)) if op == BinaryOp::Sub => {
                let size = i128::from(self.size_of(to)?.max(1));
                Ok(Value::Int((a.int()? - b.int()?) / size))
            }
            (Some(to), None) if matches!(op, BinaryOp::Add | BinaryOp::Sub) => {
                let far = Value::Int(b.int()?.wrapping_mul(i128::from(self.size_of(to)?)));
                arith(op, a, &far, scalar)
            }
            (None, Some(to)) if op == BinaryOp::Add => {
                let far = Value::Int(a.int()?.wrapping_mul(i128::from(self.size_of(to)?)));
                arith(op, b, &far, self.scalar(b_ty)?)
            }
            _ => arith(op, a, b, scalar),
        }
    }

    fn unary(&mut self, op: UnaryOp, e: ExprId, ty: Ty) -> Result<Value> {
        let value = self.eval(e)?;
        let scalar = self.scalar(ty)?;
        Ok(match (op, value) {
            (UnaryOp::Not, value) => Value::Int(i128::from(!value.truth()?)),
            (UnaryOp::Plus, value) => value,
            (UnaryOp::Minus, Value::Float(it)) => Value::Float(-it),
            (UnaryOp::Minus, Value::Complex(a, b)) => Value::Complex(-a, -b),
            (UnaryOp::BitNot, Value::Complex(a, b)) => Value::Complex(a, -b),
            (UnaryOp::Minus, value) => arith(BinaryOp::Sub, &Value::Int(0), &value, scalar)?,
            (UnaryOp::BitNot, value) => arith(BinaryOp::BitXor, &Value::Int(-1), &value, scalar)?,
            (UnaryOp::Real, Value::Complex(a, _)) => Value::Float(a),
            (UnaryOp::Imag, Value::Complex(_, b)) => Value::Float(b),
            (UnaryOp::Real, value) => value,
            (UnaryOp::Imag, Value::Int(_)) => Value::Int(0),
            (UnaryOp::Imag, _) => Value::Float(0.0),
        })
    }

    fn offset(&mut self, of: Ty, path: &[OffsetStep]) -> Result<Value> {
        let mut place = Place { at: 0, ty: of, bits: None };
        for step in path {
            match step {
                OffsetStep::Field(record, at) => place = self.member(place.at, *record, *at)?,
                OffsetStep::Index(index) => {
                    let Some(element) = self.program().types.element(place.ty) else {
                        return fail("an element of no array");
                    };
                    let far = self.eval(*index)?.int()? as u64;
                    let at = place.at.wrapping_add(far.wrapping_mul(self.size_of(element)?));
                    place = Place { at, ty: element, bits: None };
                }
            }
        }
        Ok(Value::Int(i128::from(place.at)))
    }

    /// The object that an expression names.
    pub(super) fn place(&mut self, id: ExprId) -> Result<Place> {
        let span = self.program().exprs[id].span;
        Self::at(self.m.enter(), span)?;
        let place = self.named(id);
        self.m.depth -= 1;
        Self::at(place, span)
    }

    #[allow(clippy::wildcard_enum_match_arm, reason = "what else there is names no object")]
    fn named(&mut self, id: ExprId) -> Result<Place> {
        let program = self.program();
        let expr = &program.exprs[id];
        let whole = |at: u64| Place { at, ty: expr.ty, bits: None };
        Ok(match &expr.kind {
            ExprKind::Var(var) => whole(self.address_of(*var)?),
            ExprKind::CompoundLiteral(var) => {
                let at = self.declare(*var)?;
                if let Some(init) = program.vars[*var].init {
                    self.initialise(at, program.vars[*var].ty, init)?;
                }
                whole(at)
            }
            ExprKind::Str(pieces) => {
                if let Some(at) = self.m.strings.get(&id) {
                    return Ok(whole(*at));
                }
                let Some(bytes) = string(program, pieces) else {
                    return fail("a string that is not interpreted");
                };
                let at = self.m.allocate(&bytes)?;
                self.m.strings.insert(id, at);
                whole(at)
            }
            ExprKind::Deref(e) => whole(self.eval(*e)?.int()? as u64),
            ExprKind::Index(base, index) => {
                let base_ty = program.exprs[*base].ty;
                let start = match program.types.element(base_ty) {
                    Some(_) => self.place(*base)?.at,
                    None => self.eval(*base)?.int()? as u64,
                };
                let index = self.eval(*index)?.int()? as u64;
                let size = self.size_of(expr.ty)?;
                whole(start.wrapping_add(index.wrapping_mul(size)))
            }
            ExprKind::Member(e, record, at) => {
                let base = self.place(*e)?;
                self.member(base.at, *record, *at)?
            }
            ExprKind::Unary(op @ (UnaryOp::Real | UnaryOp::Imag), e) => {
                let base = self.place(*e)?;
                let half = self.size_of(base.ty)? / 2;
                let is_real = *op == UnaryOp::Real || !program.types.is_complex(base.ty);
                whole(if is_real { base.at } else { base.at + half })
            }
            // A value that is a record: it is put somewhere.
            _ if program.types.is_record(expr.ty) => {
                let value = self.eval(id)?;
                let size = self.size_of(expr.ty)?;
                let at = self.m.memory.allocate(size, false)?;
                if let Some(frame) = self.thread.frames.last_mut() {
                    frame.unnamed.push(at);
                }
                let place = whole(at);
                self.store(&place, &value)?;
                place
            }
            _ => return fail("an expression that names no object"),
        })
    }

    /// A floating constant as spelt.
    fn float(&mut self, text: &str, ty: Ty) -> Result<Value> {
        let lower = text.to_ascii_lowercase();
        let is_hex = lower.starts_with("0x");
        let end = |it: char| it.is_ascii_digit() || it == '.' || (is_hex && it.is_ascii_hexdigit());
        let is_imaginary = lower.contains(['i', 'j']);
        let digits = lower.trim_end_matches(|it: char| !end(it));
        // The letters of a hexadecimal constant end at its exponent.
        let digits = match (is_hex, lower.find('p')) {
            (true, Some(at)) => {
                let (_, exponent) = lower.split_at(at + 1);
                let kept = exponent.trim_end_matches(|it: char| !it.is_ascii_digit()).len();
                lower.get(..at + 1 + kept).unwrap_or(digits)
            }
            (_, _) => digits,
        };
        let scalar = self.scalar(ty)?;
        let format = match scalar {
            Scalar::Float(format) | Scalar::Complex(format) => format,
            Scalar::Void | Scalar::Bool | Scalar::Int { .. } | Scalar::Bytes => {
                return fail("a floating constant of another type");
            }
        };
        let value = match (is_hex, format) {
            (true, _) => hexadecimal(digits).map(|it| round(it, format)),
            (false, FloatFormat::Single) => digits.parse::<f32>().ok().map(f64::from),
            (false, _) => digits.parse::<f64>().ok(),
        };
        let Some(value) = value else { return fail(format!("the constant `{text}`")) };
        Ok(match (matches!(scalar, Scalar::Complex(_)), is_imaginary) {
            (true, true) => Value::Complex(0.0, value),
            (true, false) => Value::Complex(value, 0.0),
            (false, _) => Value::Float(value),
        })
    }
}

/// `0x1.8p3`
fn hexadecimal(text: &str) -> Option<f64> {
    let (digits, exponent) = text.strip_prefix("0x")?.split_once('p')?;
    let (whole, part) = digits.split_once('.').unwrap_or((digits, ""));
    let mut value = 0.0;
    for digit in whole.chars().chain(part.chars()) {
        value = value * 16.0 + f64::from(digit.to_digit(16)?);
    }
    let exponent: i32 = exponent.parse().ok()?;
    Some(value * 2.0_f64.powi(exponent.saturating_sub(4 * part.len() as i32)))
}
