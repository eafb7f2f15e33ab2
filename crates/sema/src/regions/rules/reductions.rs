//! What can be reduced how, and where the results can meet.

use ir::construct::{Args, ClauseKind, Construct, Leaf, Reduction, ReductionOp};
use ir::program::{ExprId, ExprKind, FunctionId, Program, RegionId, Typed};
use ir::region::Sharing;
use ir::types::Ty;
use source::{Diagnostics, Span};

use crate::regions::uses::Uses;
use crate::regions::{ancestors, items, messages};

pub(super) fn types(
    program: &Program,
    construct: &Construct<Typed>,
    function: Option<FunctionId>,
    faults: &mut Diagnostics,
) {
    for clause in &construct.clauses {
        let (ClauseKind::Reduction(it)
        | ClauseKind::InReduction(it)
        | ClauseKind::TaskReduction(it)) = &clause.kind
        else {
            continue;
        };
        for &item in &it.items {
            one(program, it, item, clause.span, function, faults);
        }
    }
}

fn one(
    program: &Program,
    reduction: &Reduction<Typed>,
    item: ExprId,
    place: Span,
    function: Option<FunctionId>,
    faults: &mut Diagnostics,
) {
    let types = &program.types;
    let whole = program.exprs[item].ty;
    let ty = types.innermost_element(whole);
    // A section of a pointer has the type of its elements; a pointer as such is not reduced.
    if types.is_error(ty) || matches!(program.exprs[item].kind, ExprKind::Error) {
        return;
    }
    let fits = match &reduction.op {
        ReductionOp::Add | ReductionOp::Sub | ReductionOp::Mul => types.is_arithmetic(ty),
        ReductionOp::And | ReductionOp::Or => types.is_arithmetic(ty),
        ReductionOp::BitAnd | ReductionOp::BitOr | ReductionOp::BitXor => types.is_integer(ty),
        ReductionOp::Min | ReductionOp::Max => types.is_real(ty),
        ReductionOp::User(_) => false,
    };
    if fits || types.is_vector(ty) {
        return;
    }
    let declared = program.declarations.iter().filter(|it| {
        it.construct.has(Leaf::DeclareReduction) && (it.within.is_none() || it.within == function)
    });
    let mut other = None;
    for declaration in declared {
        let Args::Reduction(declared) = &declaration.construct.args else { continue };
        if declared.name != reduction.op {
            continue;
        }
        let same =
            |it: &Ty| types.compatible(types.resolve(*it).plain(), types.resolve(ty).plain());
        if declared.types.iter().any(|it| types.is_error(*it) || same(it)) {
            return;
        }
        other = Some(declaration.construct.span);
    }
    let span = program.exprs[item].span;
    let fault = match &reduction.op {
        ReductionOp::User(name) => {
            messages::unknown_reduction(program.names.text(*name), span, other)
        }
        op => messages::bad_reduction(program, symbol(op), ty, span, place),
    };
    faults.push(fault);
}

fn symbol(op: &ReductionOp<Typed>) -> &'static str {
    match op {
        ReductionOp::Add => "+",
        ReductionOp::Sub => "-",
        ReductionOp::Mul => "*",
        ReductionOp::BitAnd => "&",
        ReductionOp::BitOr => "|",
        ReductionOp::BitXor => "^",
        ReductionOp::And => "&&",
        ReductionOp::Or => "||",
        ReductionOp::Min => "min",
        ReductionOp::Max => "max",
        ReductionOp::User(_) => "a user's reduction",
    }
}

/// The threads of a work-shared construct combine into a variable that they share.
pub(super) fn meeting(program: &Program, uses: &Uses, id: RegionId, faults: &mut Diagnostics) {
    let region = &program.regions[id];
    let construct = &region.construct;
    let is_shared_work = [Leaf::For, Leaf::Sections].iter().any(|it| construct.has(*it));
    if !is_shared_work || construct.has(Leaf::Parallel) {
        return;
    }
    // Only the threads of this function's parallel region are known.
    let around = ancestors(program, region.parent).find(|&it| {
        let outer = &program.regions[it].construct;
        [Leaf::Parallel, Leaf::Teams, Leaf::Offload, Leaf::Task].iter().any(|it| outer.has(*it))
    });
    let Some(around) = around.filter(|&it| program.regions[it].construct.has(Leaf::Parallel))
    else {
        return;
    };
    for clause in &construct.clauses {
        let ClauseKind::Reduction(it) = &clause.kind else { continue };
        if it.original.is_some() {
            continue;
        }
        for &item in &it.items {
            // What a pointer refers to may be shared though the pointer is not.
            let Some(var) = items::plain(program, item) else { continue };
            let outer = &program.regions[around];
            let is_inside = !uses.is_outside(program, var, around)
                && !crate::regions::has_static_storage(program, var);
            let found =
                outer.vars.iter().find(|it| it.var == var).and_then(|it| it.sharing.as_ref());
            let is_private = found.is_some_and(|it| {
                matches!(
                    it.value,
                    Sharing::Private | Sharing::FirstPrivate | Sharing::ThreadPrivate
                )
            });
            if is_inside || is_private {
                let places = (program.exprs[item].span, outer.construct.span);
                faults.push(messages::private_reduction(program, region, var, places));
            }
        }
    }
}
