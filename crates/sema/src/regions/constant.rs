//! Values of integer constant expressions, where they have one.

use ir::program::{BinaryOp, ExprId, ExprKind, Program, UnaryOp};
use ir::types::TypeKind;

/// The value, if the expression is built from integer constants alone.
pub(super) fn int(program: &Program, id: ExprId) -> Option<i128> {
    let expr = &program.exprs[id];
    match &expr.kind {
        ExprKind::Int(value) => {
            // Kept wrapped to 64 bits: the type tells which half of the range is meant.
            let is_signed = match program.types.shape(expr.ty) {
                TypeKind::Int(kind) => program.model.int_signed(*kind),
                _ => true,
            };
            Some(if is_signed { i128::from(*value) } else { i128::from(*value as u64) })
        }
        ExprKind::WideInt(value) => Some(**value),
        ExprKind::EnumConst(of, at) => {
            let constants = program.types.enums[*of].constants.as_ref()?;
            constants.get(*at as usize).map(|it| it.1)
        }
        ExprKind::Cast(_, inner) => wrap(program, id, int(program, *inner)?),
        ExprKind::Unary(op, inner) => {
            let value = int(program, *inner)?;
            let value = match op {
                UnaryOp::Plus => value,
                UnaryOp::Minus => value.checked_neg()?,
                UnaryOp::Not => i128::from(value == 0),
                UnaryOp::BitNot => !value,
                UnaryOp::Real | UnaryOp::Imag => return None,
            };
            wrap(program, id, value)
        }
        ExprKind::Binary(op, left, right) => {
            let value = binary(*op, int(program, *left)?, int(program, *right)?)?;
            wrap(program, id, value)
        }
        ExprKind::And(left, right) => {
            let (left, right) = (int(program, *left)?, int(program, *right)?);
            Some(i128::from(left != 0 && right != 0))
        }
        ExprKind::Or(left, right) => {
            let (left, right) = (int(program, *left)?, int(program, *right)?);
            Some(i128::from(left != 0 || right != 0))
        }
        ExprKind::Conditional(cond, yes, no) => {
            let chosen = if int(program, *cond)? != 0 { yes.unwrap_or(*cond) } else { *no };
            int(program, chosen)
        }
        ExprKind::Sizeof(ty) => program.model.size_of(&program.types, *ty).ok().map(i128::from),
        ExprKind::Alignof(ty) => program.model.align_of(&program.types, *ty).ok().map(i128::from),
        _ => None,
    }
}

fn binary(op: BinaryOp, left: i128, right: i128) -> Option<i128> {
    let truth = |it: bool| Some(i128::from(it));
    match op {
        BinaryOp::Mul => left.checked_mul(right),
        BinaryOp::Div => left.checked_div(right),
        BinaryOp::Rem => left.checked_rem(right),
        BinaryOp::Add => left.checked_add(right),
        BinaryOp::Sub => left.checked_sub(right),
        BinaryOp::Shl => left.checked_shl(u32::try_from(right).ok()?),
        BinaryOp::Shr => left.checked_shr(u32::try_from(right).ok()?),
        BinaryOp::Lt => truth(left < right),
        BinaryOp::Gt => truth(left > right),
        BinaryOp::Le => truth(left <= right),
        BinaryOp::Ge => truth(left >= right),
        BinaryOp::Eq => truth(left == right),
        BinaryOp::Ne => truth(left != right),
        BinaryOp::BitAnd => Some(left & right),
        BinaryOp::BitXor => Some(left ^ right),
        BinaryOp::BitOr => Some(left | right),
    }
}

/// What an object of the expression's type would hold; nothing if that is no integer.
fn wrap(program: &Program, id: ExprId, value: i128) -> Option<i128> {
    match program.types.shape(program.exprs[id].ty) {
        TypeKind::Bool => Some(i128::from(value != 0)),
        TypeKind::Int(kind) => Some(program.model.int_wrap(*kind, value)),
        TypeKind::Enum(of) => {
            Some(program.model.int_wrap(program.types.enums[*of].underlying, value))
        }
        _ => None,
    }
}
