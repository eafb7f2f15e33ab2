//! Variables that a construct does nothing with but combine values into them, as its reduction does.

use ir::construct::ReductionOp;
use ir::program::{
    BinaryOp, ExprId, ExprKind, Program, RegionId, StmtId, Typed, VarId, VarStorage,
};
use ir::region::Sharing;
use ir::walk::{Part, regions_in};

use crate::items::base;

/// Whether a construct that one thread runs needs a copy of what it reduces: not if it does nothing with it but combine
/// values into it, in the same way.
pub fn needs_copy(program: &Program, id: RegionId, item: ExprId, op: &ReductionOp<Typed>) -> bool {
    let region = &program.regions[id];
    let (Some(body), Some(var)) = (region.body, base(program, item)) else { return true };
    let it = &program.vars[var];
    let is_local = matches!(it.storage, VarStorage::Local(_) | VarStorage::Param(_));
    let calls_nobody = region.reaches.is_empty() && region.indirect_calls.is_empty();
    let is_seen_by_others = !is_local && !calls_nobody;
    let is_named_inside = regions_in(program, body).into_iter().any(|inner| {
        program.regions[inner].vars.iter().any(|it| {
            let sharing = it.sharing.as_ref().map(|it| &it.value);
            it.var == var && !matches!(sharing, None | Some(Sharing::Shared))
        })
    });
    is_seen_by_others || is_named_inside || !is_only_combined(program, body, var, op)
}

/// Whether a variable, or elements of it, occur only where a value is combined with them.
fn is_only_combined(program: &Program, body: StmtId, var: VarId, op: &ReductionOp<Typed>) -> bool {
    let types = &program.types;
    let mut open = vec![Part::Stmt(body)];
    while let Some(part) = open.pop() {
        let Part::Expr(id) = part else {
            program.parts(part, &mut |it| open.push(it));
            continue;
        };
        let (place, value) = match program.exprs[id].kind {
            ExprKind::Var(it) if it == var => return false,
            ExprKind::AssignOp(how, place, value, computed) if is_way(op, how) => {
                let is_whole =
                    types.is_integer(computed) || !types.is_integer(program.exprs[place].ty);
                (Some(place).filter(|_| is_whole), Some(value))
            }
            ExprKind::Step(_, place) if is_way(op, BinaryOp::Add) => (Some(place), None),
            _ => (None, None),
        };
        let is_plain = |it: &ExprId| {
            let ty = program.exprs[*it].ty;
            base(program, *it) == Some(var)
                && types.is_arithmetic(ty)
                && !types.is_bool(ty)
                && !types.is_record(program.vars[var].ty)
        };
        match place.filter(is_plain) {
            Some(place) => {
                open.extend(value.map(Part::Expr));
                subscripts(program, place, &mut |it| open.push(Part::Expr(it)));
            }
            None => program.parts(part, &mut |it| open.push(it)),
        }
    }
    true
}

/// The subscripts on the way from a variable to an object.
fn subscripts(program: &Program, place: ExprId, each: &mut dyn FnMut(ExprId)) {
    let mut at = place;
    loop {
        match program.exprs[at].kind {
            ExprKind::Index(of, subscript) => {
                each(subscript);
                at = of;
            }
            ExprKind::Cast(_, of) | ExprKind::Deref(of) | ExprKind::Member(of, ..) => at = of,
            _ => return,
        }
    }
}

/// Whether an operation combines as a reduction does.
fn is_way(op: &ReductionOp<Typed>, how: BinaryOp) -> bool {
    match op {
        ReductionOp::Add | ReductionOp::Sub => matches!(how, BinaryOp::Add | BinaryOp::Sub),
        ReductionOp::Mul => how == BinaryOp::Mul,
        ReductionOp::BitAnd => how == BinaryOp::BitAnd,
        ReductionOp::BitOr => how == BinaryOp::BitOr,
        ReductionOp::BitXor => how == BinaryOp::BitXor,
        ReductionOp::And
        | ReductionOp::Or
        | ReductionOp::Min
        | ReductionOp::Max
        | ReductionOp::User(_) => false,
    }
}
