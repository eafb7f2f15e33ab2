//! Loops that count: how often they run, and the values of their variables by the number of the round.

use ir::program::{BinaryOp, ExprId, ExprKind, Program, UnaryOp, VarId};
use ir::region::LoopTest;
use ir::types::{IntKind, Ty, TypeKind};

use crate::Dim;
use crate::build::Builder;

/// The type in which a loop's variable is compared with its bound; none if it does not count.
pub fn common(program: &mut Program, dim: &Dim) -> Option<Ty> {
    let ty = program.vars[dim.var].ty.plain();
    let bound = program.exprs[dim.bound].ty.plain();
    if program.types.is_pointer(ty) {
        return Some(ty);
    }
    let kind = program.model.usual(&program.types, ty, bound)?;
    Some(program.types.get(kind))
}

/// Whether a loop goes on: the test of its variable, as `at`, against `bound`.
pub fn goes_on(build: &mut Builder<'_>, dim: &Dim, at: ExprId, bound: ExprId) -> ExprId {
    let test = match dim.test {
        LoopTest::Lt => BinaryOp::Lt,
        LoopTest::Le => BinaryOp::Le,
        LoopTest::Gt => BinaryOp::Gt,
        LoopTest::Ge => BinaryOp::Ge,
        LoopTest::Ne => BinaryOp::Ne,
    };
    build.binary(test, at, bound)
}

/// `counter += step`, or `-=`: what brings a variable that counts for a loop to its next value.
pub fn advance(build: &mut Builder<'_>, dim: &Dim, counter: VarId) -> ExprId {
    let ty = build.program.vars[counter].ty.plain();
    let is_pointer = build.program.types.is_pointer(ty);
    let place = build.var(counter);
    let step = match dim.step {
        Some(step) => step,
        None => {
            let one = if is_pointer { build.int_type() } else { ty };
            build.int(1, one)
        }
    };
    let op = if dim.descending { BinaryOp::Sub } else { BinaryOp::Add };
    let by = build.type_of(step);
    let program = &mut *build.program;
    let within = match program.model.usual(&program.types, ty, by) {
        Some(kind) if !is_pointer => program.types.get(kind),
        _ => ty,
    };
    let step = if is_pointer { step } else { build.cast(step, within) };
    build.expr(ExprKind::AssignOp(op, place, step, within), ty)
}

/// What is added to a variable each time, as a number of 64 bits that may stand for a negative one.
pub fn step(build: &mut Builder<'_>, dim: &Dim) -> ExprId {
    let step = match dim.step {
        Some(step) => build.as_number(step),
        None => build.number(1),
    };
    match dim.descending {
        true => {
            let zero = build.number(0);
            build.binary(BinaryOp::Sub, zero, step)
        }
        false => step,
    }
}

/// How often a loop runs, as a number of 64 bits. `begin` has its first value, `end` the bound in the [`common`] type.
pub fn trips(build: &mut Builder<'_>, dim: &Dim, begin: VarId, end: VarId) -> ExprId {
    let is_pointer = build.program.types.is_pointer(build.program.vars[begin].ty);
    let common = build.program.vars[end].ty;
    let step = step(build, dim);
    let (from, to) = (build.var(begin), build.var(end));
    let from = build.cast(from, common);
    let (zero, one) = (build.number(0), build.number(1));
    // How far it is between two values, in units of the variable.
    let far = |build: &mut Builder<'_>, high, low| match is_pointer {
        true => {
            let long = build.program.types.get(TypeKind::Int(IntKind::Long));
            let far = build.expr(ExprKind::Binary(BinaryOp::Sub, high, low), long);
            build.as_number(far)
        }
        false => {
            let (high, low) = (build.as_number(high), build.as_number(low));
            build.binary(BinaryOp::Sub, high, low)
        }
    };
    let up = far(build, to, from);
    let down = far(build, from, to);
    let back = build.binary(BinaryOp::Sub, zero, step);
    let less_one = |build: &mut Builder<'_>, far, step| {
        let less = build.binary(BinaryOp::Sub, far, one);
        let rounds = build.binary(BinaryOp::Div, less, step);
        build.binary(BinaryOp::Add, rounds, one)
    };
    let and_one = |build: &mut Builder<'_>, far, step| {
        let rounds = build.binary(BinaryOp::Div, far, step);
        build.binary(BinaryOp::Add, rounds, one)
    };
    match dim.test {
        LoopTest::Lt => {
            let is_some = build.binary(BinaryOp::Lt, from, to);
            let count = less_one(build, up, step);
            build.either(is_some, count, zero)
        }
        LoopTest::Le => {
            let is_some = build.binary(BinaryOp::Le, from, to);
            let count = and_one(build, up, step);
            build.either(is_some, count, zero)
        }
        LoopTest::Gt => {
            let is_some = build.binary(BinaryOp::Gt, from, to);
            let count = less_one(build, down, back);
            build.either(is_some, count, zero)
        }
        LoopTest::Ge => {
            let is_some = build.binary(BinaryOp::Ge, from, to);
            let count = and_one(build, down, back);
            build.either(is_some, count, zero)
        }
        LoopTest::Ne => {
            let long = build.program.types.get(TypeKind::Int(IntKind::Long));
            let (signed, none) = (build.cast(step, long), build.int(0, long));
            let is_up = build.binary(BinaryOp::Gt, signed, none);
            let ups = build.binary(BinaryOp::Div, up, step);
            let downs = build.binary(BinaryOp::Div, down, back);
            build.either(is_up, ups, downs)
        }
    }
}

/// `begin + number * step`, in the type of `begin` if that is a pointer, else as a number of 64 bits.
pub fn value(build: &mut Builder<'_>, begin: VarId, step: ExprId, number: ExprId) -> ExprId {
    let is_pointer = build.program.types.is_pointer(build.program.vars[begin].ty);
    let far = build.binary(BinaryOp::Mul, number, step);
    let begin = build.var(begin);
    match is_pointer {
        true => {
            let long = build.program.types.get(TypeKind::Int(IntKind::Long));
            let far = build.cast(far, long);
            build.binary(BinaryOp::Add, begin, far)
        }
        false => {
            let begin = build.as_number(begin);
            build.binary(BinaryOp::Add, begin, far)
        }
    }
}

/// The value of a constant.
pub fn constant(program: &Program, id: ExprId) -> Option<i64> {
    match program.exprs.find(id)?.kind {
        ExprKind::Int(value) => Some(value),
        ExprKind::Cast(_, inner) => constant(program, inner),
        ExprKind::EnumConst(id, at) => {
            let constants = program.types.enums.find(id)?.constants.as_ref()?;
            constants.get(at as usize).and_then(|it| i64::try_from(it.1).ok())
        }
        ExprKind::Unary(UnaryOp::Minus, of) => constant(program, of)?.checked_neg(),
        ExprKind::Binary(op, left, right) => {
            let (left, right) = (constant(program, left)?, constant(program, right)?);
            match op {
                BinaryOp::Add => left.checked_add(right),
                BinaryOp::Sub => left.checked_sub(right),
                BinaryOp::Mul => left.checked_mul(right),
                BinaryOp::Shl => {
                    let most = u32::try_from(right).ok().filter(|it| *it < 63)?;
                    left.checked_mul(1 << most)
                }
                _ => None,
            }
        }
        _ => None,
    }
}
