//! A floating-point instruction: operands from the registers, an answer and flags into them.

use std::cmp::Ordering;

use super::soft::{DOUBLE, Format, SINGLE};
use super::{Rounding, fast};
use crate::hart::Hart;
use crate::isa::op::{FloatOp, Op};

const INT: (i64, i64) = (i32::MIN as i64, i32::MAX as i64);
const UINT: (i64, i64) = (0, u32::MAX as i64);

/// What an instruction gives, and to which registers.
enum Answer {
    Float(u64),
    Integer(u32),
}

/// Runs it in single precision. `None` if its rounding mode does not exist.
#[inline]
pub(crate) fn single(hart: &mut Hart, op: &Op) -> Option<()> {
    let rounding = Rounding::of(op.rounding, hart.rounding)?;
    if rounding == Rounding::NearestEven {
        let number = |register| f32::from_bits(hart.single(register));
        let (a, b, c) = (number(op.rs1), number(op.rs2), number(op.rs3));
        let answer = match op.float {
            FloatOp::Add => fast::add(a, b),
            FloatOp::Sub => fast::add(a, -b),
            FloatOp::Mul => fast::mul(a, b),
            FloatOp::Madd => fast::fused(a, b, c),
            FloatOp::Msub => fast::fused(a, b, -c),
            FloatOp::Nmsub => fast::fused(-a, b, c),
            FloatOp::Nmadd => fast::fused(-a, b, -c),
            FloatOp::Div => fast::div(a, b),
            FloatOp::Sqrt => fast::sqrt(a),
            FloatOp::Sgnj
            | FloatOp::Sgnjn
            | FloatOp::Sgnjx
            | FloatOp::Min
            | FloatOp::Max
            | FloatOp::Eq
            | FloatOp::Lt
            | FloatOp::Le
            | FloatOp::Class
            | FloatOp::ToInt
            | FloatOp::ToUint
            | FloatOp::FromInt
            | FloatOp::FromUint
            | FloatOp::MoveToInt
            | FloatOp::MoveFromInt
            | FloatOp::Convert => None,
        };
        if let Some((value, flags)) = answer {
            hart.flags |= flags;
            hart.set_single(op.rd, value.to_bits());
            return Some(());
        }
    }
    let operands = [op.rs1, op.rs2, op.rs3].map(|it| u64::from(hart.single(it)));
    let other = hart.double(op.rs1);
    match answer(SINGLE, operands, (DOUBLE, other), rounding, hart, op) {
        Answer::Float(bits) => hart.set_single(op.rd, bits as u32),
        Answer::Integer(value) => hart.set_x(op.rd, value),
    }
    Some(())
}

/// The same in double precision.
pub(crate) fn double(hart: &mut Hart, op: &Op) -> Option<()> {
    let rounding = Rounding::of(op.rounding, hart.rounding)?;
    let operands = [op.rs1, op.rs2, op.rs3].map(|it| hart.double(it));
    if rounding == Rounding::NearestEven {
        let [a, b, c] = operands.map(f64::from_bits);
        let answer = match op.float {
            FloatOp::Add => fast::add_double(a, b),
            FloatOp::Sub => fast::add_double(a, -b),
            FloatOp::Mul => fast::mul_double(a, b),
            FloatOp::Madd => fast::fused_double(a, b, c),
            FloatOp::Msub => fast::fused_double(a, b, -c),
            FloatOp::Nmsub => fast::fused_double(-a, b, c),
            FloatOp::Nmadd => fast::fused_double(-a, b, -c),
            FloatOp::Div
            | FloatOp::Sqrt
            | FloatOp::Sgnj
            | FloatOp::Sgnjn
            | FloatOp::Sgnjx
            | FloatOp::Min
            | FloatOp::Max
            | FloatOp::Eq
            | FloatOp::Lt
            | FloatOp::Le
            | FloatOp::Class
            | FloatOp::ToInt
            | FloatOp::ToUint
            | FloatOp::FromInt
            | FloatOp::FromUint
            | FloatOp::MoveToInt
            | FloatOp::MoveFromInt
            | FloatOp::Convert => None,
        };
        if let Some((value, flags)) = answer {
            hart.flags |= flags;
            hart.set_double(op.rd, value.to_bits());
            return Some(());
        }
    }
    let other = u64::from(hart.single(op.rs1));
    match answer(DOUBLE, operands, (SINGLE, other), rounding, hart, op) {
        Answer::Float(bits) => hart.set_double(op.rd, bits),
        Answer::Integer(value) => hart.set_x(op.rd, value),
    }
    Some(())
}

/// The exact way. `other` is the first operand in the other precision, for conversions.
#[inline(never)]
fn answer(
    format: Format,
    [a, b, c]: [u64; 3],
    other: (Format, u64),
    rounding: Rounding,
    hart: &mut Hart,
    op: &Op,
) -> Answer {
    let integer = hart.x(op.rs1);
    let raw = hart.double(op.rs1);
    let flags = &mut hart.flags;
    let negative = |it| format.negate(it);
    Answer::Float(match op.float {
        FloatOp::Add => format.add(a, b, rounding, flags),
        FloatOp::Sub => format.add(a, negative(b), rounding, flags),
        FloatOp::Mul => format.mul(a, b, rounding, flags),
        FloatOp::Div => format.div(a, b, rounding, flags),
        FloatOp::Sqrt => format.sqrt(a, rounding, flags),
        FloatOp::Madd => format.fused(a, b, c, rounding, flags),
        FloatOp::Msub => format.fused(a, b, negative(c), rounding, flags),
        FloatOp::Nmsub => format.fused(negative(a), b, c, rounding, flags),
        FloatOp::Nmadd => format.fused(negative(a), b, negative(c), rounding, flags),
        FloatOp::Sgnj => format.with_sign(a, b),
        FloatOp::Sgnjn => format.with_sign(a, negative(b)),
        FloatOp::Sgnjx => format.with_sign(a, a ^ b),
        FloatOp::Min => format.select(a, b, false, flags),
        FloatOp::Max => format.select(a, b, true, flags),
        FloatOp::Eq => {
            let is = format.compare(a, b, false, flags) == Some(Ordering::Equal);
            return Answer::Integer(u32::from(is));
        }
        FloatOp::Lt => {
            let is = format.compare(a, b, true, flags) == Some(Ordering::Less);
            return Answer::Integer(u32::from(is));
        }
        FloatOp::Le => {
            let is = format.compare(a, b, true, flags).is_some_and(|it| it != Ordering::Greater);
            return Answer::Integer(u32::from(is));
        }
        FloatOp::Class => return Answer::Integer(format.class(a)),
        FloatOp::ToInt => {
            return Answer::Integer(format.to_integer(a, INT, rounding, flags) as u32);
        }
        FloatOp::ToUint => {
            return Answer::Integer(format.to_integer(a, UINT, rounding, flags) as u32);
        }
        FloatOp::FromInt => format.integer(i64::from(integer.cast_signed()), rounding, flags),
        FloatOp::FromUint => format.integer(i64::from(integer), rounding, flags),
        // The bits as they are, boxed or not.
        FloatOp::MoveToInt => return Answer::Integer(raw as u32),
        FloatOp::MoveFromInt => u64::from(integer),
        FloatOp::Convert => format.convert(other.0, other.1, rounding, flags),
    })
}
