//! Values: what scalars and records are while expressions are evaluated, and how they lie in memory.
//!
//! `long double` and `__float128` are computed and kept as `double`.

use ir::layout::{DataModel, FloatFormat};
use ir::program::BinaryOp;
use ir::types::{Ty, TypeKind, Types};

use super::{Result, fail};

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    Void,
    /// Integers and pointers.
    Int(i128),
    Float(f64),
    Complex(f64, f64),
    /// A record, and which of its bytes have a value.
    Bytes(Vec<u8>, Vec<bool>),
}

/// What a scalar type is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scalar {
    Void,
    Bool,
    Int {
        bits: u32,
        is_signed: bool,
    },
    Float(FloatFormat),
    Complex(FloatFormat),
    /// Records and what else is kept as bytes.
    Bytes,
}

/// What a type is to the interpreter.
pub(super) fn scalar(types: &Types, model: &DataModel, ty: Ty) -> Result<Scalar> {
    let int = |kind| Scalar::Int { bits: model.int_bits(kind), is_signed: model.int_signed(kind) };
    Ok(match types.shape(ty) {
        TypeKind::Void => Scalar::Void,
        TypeKind::Bool => Scalar::Bool,
        TypeKind::Int(kind) => int(*kind),
        TypeKind::Enum(id) => int(types.enums[*id].underlying),
        TypeKind::Pointer(_) | TypeKind::Function(_) => {
            Scalar::Int { bits: (model.pointer.size * 8) as u32, is_signed: false }
        }
        TypeKind::Float(kind) => Scalar::Float(model.float_format(*kind)),
        TypeKind::Complex(kind) => Scalar::Complex(model.float_format(*kind)),
        TypeKind::Record(_) | TypeKind::Array(..) => Scalar::Bytes,
        TypeKind::Error
        | TypeKind::ComplexInt(_)
        | TypeKind::Alias(_)
        | TypeKind::Atomic(_)
        | TypeKind::Vector(..)
        | TypeKind::VaList => return fail("a type that is not interpreted"),
    })
}

/// An integer as so many bits hold it.
pub(super) fn wrap(value: i128, bits: u32, is_signed: bool) -> i128 {
    let spare = 128 - bits.clamp(1, 128);
    let top = value << spare;
    if is_signed { top >> spare } else { ((top as u128) >> spare) as i128 }
}

/// A floating value as a format holds it.
pub(super) fn round(value: f64, format: FloatFormat) -> f64 {
    if format == FloatFormat::Single { f64::from(value as f32) } else { value }
}

impl Value {
    pub(super) fn int(&self) -> Result<i128> {
        match self {
            Value::Int(it) => Ok(*it),
            Value::Void | Value::Float(_) | Value::Complex(..) | Value::Bytes(..) => {
                fail("a value is no integer")
            }
        }
    }

    /// Whether it is not zero.
    pub(super) fn truth(&self) -> Result<bool> {
        match self {
            Value::Int(it) => Ok(*it != 0),
            Value::Float(it) => Ok(*it != 0.0),
            Value::Complex(a, b) => Ok(*a != 0.0 || *b != 0.0),
            Value::Void | Value::Bytes(..) => fail("a condition is no scalar"),
        }
    }

    /// The value in another type.
    pub(super) fn convert(&self, from: Scalar, to: Scalar) -> Result<Value> {
        let is_unsigned = matches!(from, Scalar::Int { is_signed: false, .. });
        let real = match self {
            Value::Int(it) if is_unsigned => *it as u128 as f64,
            Value::Int(it) => *it as f64,
            Value::Float(it) | Value::Complex(it, _) => *it,
            Value::Void | Value::Bytes(..) => 0.0,
        };
        Ok(match to {
            Scalar::Void => Value::Void,
            Scalar::Bool => Value::Int(i128::from(self.truth()?)),
            Scalar::Int { bits, is_signed } => match self {
                Value::Int(it) => Value::Int(wrap(*it, bits, is_signed)),
                Value::Float(_) | Value::Complex(..) => {
                    Value::Int(wrap(real.trunc() as i128, bits, is_signed))
                }
                Value::Void | Value::Bytes(..) => return fail("no integer can be made of it"),
            },
            Scalar::Float(format) => Value::Float(match self {
                // Not rounded twice.
                Value::Int(it) if format == FloatFormat::Single && is_unsigned => {
                    f64::from(*it as u128 as f32)
                }
                Value::Int(it) if format == FloatFormat::Single => f64::from(*it as f32),
                Value::Int(_) | Value::Float(_) | Value::Complex(..) => round(real, format),
                Value::Void | Value::Bytes(..) => return fail("no number can be made of it"),
            }),
            Scalar::Complex(format) => {
                let other = if let Value::Complex(_, it) = self { *it } else { 0.0 };
                Value::Complex(round(real, format), round(other, format))
            }
            Scalar::Bytes => self.clone(),
        })
    }

    /// As it lies in memory.
    pub(super) fn store(&self, scalar: Scalar, size: u64) -> Result<(Vec<u8>, Vec<bool>)> {
        let size = size as usize;
        let float = |it: f64, size: usize| {
            let mut bytes = if size == 4 {
                (it as f32).to_le_bytes().to_vec()
            } else {
                it.to_le_bytes().to_vec()
            };
            bytes.resize(size, 0);
            bytes
        };
        let bytes = match (self, scalar) {
            (_, Scalar::Float(format) | Scalar::Complex(format))
                if matches!(format, FloatFormat::Half | FloatFormat::Brain) =>
            {
                return fail("a floating type of 16 bits");
            }
            (Value::Int(it), _) => {
                let mut bytes = it.to_le_bytes().to_vec();
                bytes.truncate(size);
                bytes
            }
            (Value::Float(it), _) => float(*it, size),
            (Value::Complex(a, b), _) => {
                let mut bytes = float(*a, size / 2);
                bytes.extend(float(*b, size / 2));
                bytes
            }
            (Value::Bytes(bytes, known), _) => return Ok((bytes.clone(), known.clone())),
            (Value::Void, _) => return fail("`void` is stored"),
        };
        let known = vec![true; bytes.len()];
        Ok((bytes, known))
    }

    /// From memory.
    pub(super) fn load(bytes: Vec<u8>, known: Vec<bool>, scalar: Scalar) -> Result<Value> {
        if scalar == Scalar::Bytes {
            return Ok(Value::Bytes(bytes, known));
        }
        if known.contains(&false) {
            return fail("memory is read that has no value");
        }
        let float = |bytes: &[u8]| -> f64 {
            match <[u8; 4]>::try_from(bytes) {
                Ok(it) => f64::from(f32::from_le_bytes(it)),
                Err(_) => {
                    let first: Vec<u8> = bytes.iter().copied().take(8).collect();
                    <[u8; 8]>::try_from(first).map_or(0.0, f64::from_le_bytes)
                }
            }
        };
        Ok(match scalar {
            Scalar::Void | Scalar::Bytes => Value::Void,
            Scalar::Bool => Value::Int(i128::from(bytes.iter().any(|it| *it != 0))),
            Scalar::Int { bits, is_signed } => {
                let mut wide = [0; 16];
                wide.iter_mut().zip(&bytes).for_each(|(to, from)| *to = *from);
                Value::Int(wrap(i128::from_le_bytes(wide), bits, is_signed))
            }
            Scalar::Float(FloatFormat::Half | FloatFormat::Brain)
            | Scalar::Complex(FloatFormat::Half | FloatFormat::Brain) => {
                return fail("a floating type of 16 bits");
            }
            Scalar::Float(_) => Value::Float(float(&bytes)),
            Scalar::Complex(_) => {
                let (a, b) = bytes.split_at(bytes.len() / 2);
                Value::Complex(float(a), float(b))
            }
        })
    }
}

/// `a op b` in one arithmetic type.
pub(super) fn arith(op: BinaryOp, a: &Value, b: &Value, scalar: Scalar) -> Result<Value> {
    match (a, b, scalar) {
        (Value::Int(a), Value::Int(b), Scalar::Int { bits, is_signed }) => {
            integers(op, *a, *b, bits, is_signed)
        }
        (Value::Int(a), Value::Int(b), Scalar::Bool) => integers(op, *a, *b, 32, true),
        (Value::Float(a), Value::Float(b), Scalar::Float(format)) => floats(op, *a, *b, format),
        (Value::Complex(a, b), Value::Complex(c, d), Scalar::Complex(format)) => {
            complex(op, (*a, *b), (*c, *d), format)
        }
        _ => fail("operands that do not suit the operator"),
    }
}

fn integers(op: BinaryOp, a: i128, b: i128, bits: u32, is_signed: bool) -> Result<Value> {
    let truth = |it: bool| Ok(Value::Int(i128::from(it)));
    let (ua, ub) = (a as u128, b as u128);
    let is_wide = bits == 128 && !is_signed;
    let value = match op {
        BinaryOp::Mul => a.wrapping_mul(b),
        BinaryOp::Div | BinaryOp::Rem if b == 0 => return fail("a division by zero"),
        BinaryOp::Div if is_wide => (ua / ub) as i128,
        BinaryOp::Rem if is_wide => (ua % ub) as i128,
        BinaryOp::Div => a.wrapping_div(b),
        BinaryOp::Rem => a.wrapping_rem(b),
        BinaryOp::Add => a.wrapping_add(b),
        BinaryOp::Sub => a.wrapping_sub(b),
        BinaryOp::Shl | BinaryOp::Shr if b < 0 || b >= i128::from(bits) => {
            return fail("a shift by more than there are bits");
        }
        BinaryOp::Shl => a << b,
        BinaryOp::Shr if is_wide => (ua >> b) as i128,
        BinaryOp::Shr => a >> b,
        BinaryOp::Lt if is_wide => return truth(ua < ub),
        BinaryOp::Gt if is_wide => return truth(ua > ub),
        BinaryOp::Le if is_wide => return truth(ua <= ub),
        BinaryOp::Ge if is_wide => return truth(ua >= ub),
        BinaryOp::Lt => return truth(a < b),
        BinaryOp::Gt => return truth(a > b),
        BinaryOp::Le => return truth(a <= b),
        BinaryOp::Ge => return truth(a >= b),
        BinaryOp::Eq => return truth(a == b),
        BinaryOp::Ne => return truth(a != b),
        BinaryOp::BitAnd => a & b,
        BinaryOp::BitXor => a ^ b,
        BinaryOp::BitOr => a | b,
    };
    Ok(Value::Int(wrap(value, bits, is_signed)))
}

#[allow(clippy::float_cmp, reason = "C compares so")]
fn floats(op: BinaryOp, a: f64, b: f64, format: FloatFormat) -> Result<Value> {
    let truth = |it: bool| Ok(Value::Int(i128::from(it)));
    let value = match op {
        BinaryOp::Mul => a * b,
        BinaryOp::Div => a / b,
        BinaryOp::Add => a + b,
        BinaryOp::Sub => a - b,
        BinaryOp::Lt => return truth(a < b),
        BinaryOp::Gt => return truth(a > b),
        BinaryOp::Le => return truth(a <= b),
        BinaryOp::Ge => return truth(a >= b),
        BinaryOp::Eq => return truth(a == b),
        BinaryOp::Ne => return truth(a != b),
        BinaryOp::Rem
        | BinaryOp::Shl
        | BinaryOp::Shr
        | BinaryOp::BitAnd
        | BinaryOp::BitXor
        | BinaryOp::BitOr => return fail("an operator of integers"),
    };
    Ok(Value::Float(round(value, format)))
}

#[allow(clippy::float_cmp, reason = "C compares so")]
fn complex(op: BinaryOp, a: (f64, f64), b: (f64, f64), format: FloatFormat) -> Result<Value> {
    let (x, y) = match op {
        BinaryOp::Add => (a.0 + b.0, a.1 + b.1),
        BinaryOp::Sub => (a.0 - b.0, a.1 - b.1),
        BinaryOp::Mul => (a.0 * b.0 - a.1 * b.1, a.0 * b.1 + a.1 * b.0),
        BinaryOp::Div => {
            let size = b.0 * b.0 + b.1 * b.1;
            ((a.0 * b.0 + a.1 * b.1) / size, (a.1 * b.0 - a.0 * b.1) / size)
        }
        BinaryOp::Eq => return Ok(Value::Int(i128::from(a == b))),
        BinaryOp::Ne => return Ok(Value::Int(i128::from(a != b))),
        BinaryOp::Rem
        | BinaryOp::Shl
        | BinaryOp::Shr
        | BinaryOp::Lt
        | BinaryOp::Gt
        | BinaryOp::Le
        | BinaryOp::Ge
        | BinaryOp::BitAnd
        | BinaryOp::BitXor
        | BinaryOp::BitOr => return fail("an operator that complex numbers lack"),
    };
    Ok(Value::Complex(round(x, format), round(y, format)))
}
