//! What can be reduced how, and what the threads around have of variables that are copied.

use ir::construct::{Args, ClauseKind, Construct, Leaf, Reduction, ReductionOp};
use ir::program::{ExprId, ExprKind, Program, RegionId, Typed, VarId};
use ir::region::Sharing;
use ir::types::Ty;
use source::{Diagnostics, Span};

use crate::regions::items::{self, Role};
use crate::regions::uses::Uses;
use crate::regions::{ancestors, has_static_storage, messages};

pub(super) fn types(program: &Program, construct: &Construct<Typed>, faults: &mut Diagnostics) {
    for clause in &construct.clauses {
        let (ClauseKind::Reduction(it)
        | ClauseKind::InReduction(it)
        | ClauseKind::TaskReduction(it)) = &clause.kind
        else {
            continue;
        };
        for &item in &it.items {
            one(program, (construct, it), item, clause.span, faults);
        }
    }
}

fn one(
    program: &Program,
    (construct, reduction): (&Construct<Typed>, &Reduction<Typed>),
    item: ExprId,
    place: Span,
    faults: &mut Diagnostics,
) {
    let types = &program.types;
    let whole = program.exprs[item].ty;
    let ty = types.innermost_element(whole);
    // A section of a pointer has the type of its elements; a pointer as such is not reduced.
    if types.is_error(ty) || matches!(program.exprs[item].kind, ExprKind::Error) {
        return;
    }
    let has_members = construct.rules.member_sums && types.is_record(ty);
    if fits(program, &reduction.op, ty, has_members) || types.is_vector(ty) {
        return;
    }
    let declared = program.declarations_seen(construct.span);
    let mut other = None;
    for (_, declaration) in declared.filter(|it| it.1.construct.has(Leaf::DeclareReduction)) {
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

/// Whether values of a type can be combined; `has_members`: records member by member.
fn fits(program: &Program, op: &ReductionOp<Typed>, ty: Ty, has_members: bool) -> bool {
    let types = &program.types;
    if let Some(record) = types.record_of(ty).filter(|_| has_members) {
        let record = &types.records[record];
        let is_extreme = matches!(op, ReductionOp::Min | ReductionOp::Max);
        return !record.is_union
            && record.fields.iter().flatten().all(|it| {
                // The least and the greatest of a few bits are not those of the type.
                let is_whole = it.bits.is_none() || !is_extreme;
                let is_gap = it.name.is_none() && it.bits.is_some();
                let element = types.innermost_element(it.ty);
                is_gap || is_whole && types.is_complete(it.ty) && fits(program, op, element, true)
            });
    }
    match op {
        ReductionOp::Add | ReductionOp::Sub | ReductionOp::Mul => types.is_arithmetic(ty),
        ReductionOp::And | ReductionOp::Or => types.is_arithmetic(ty),
        ReductionOp::BitAnd | ReductionOp::BitOr | ReductionOp::BitXor => types.is_integer(ty),
        ReductionOp::Min | ReductionOp::Max => types.is_real(ty),
        ReductionOp::User(_) => false,
    }
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

/// What the threads that share work bring together, or are all given, they must share; what one
/// of them hands to the others they must not.
pub(super) fn meeting(program: &Program, uses: &Uses, id: RegionId, faults: &mut Diagnostics) {
    let region = &program.regions[id];
    let construct = &region.construct;
    let shares_work = [Leaf::For, Leaf::Sections, Leaf::Single, Leaf::Scope];
    if !shares_work.iter().any(|it| construct.has(*it)) || construct.has(Leaf::Parallel) {
        return;
    }
    // Only the threads of this function's parallel region are known.
    let around = ancestors(program, region.parent).find(|&it| {
        let outer = &program.regions[it].construct;
        let begins = [Leaf::Parallel, Leaf::Teams, Leaf::Offload, Leaf::Task, Leaf::Taskloop];
        begins.iter().any(|it| outer.has(*it))
    });
    let parallel = around.filter(|&it| program.regions[it].construct.has(Leaf::Parallel));
    for item in items::all(construct) {
        // What a pointer refers to may be shared though the pointer is not.
        let Some(var) = items::plain(program, item.expr) else { continue };
        let clause = construct.clauses.get(item.clause as usize);
        let span = program.exprs[item.expr].span;
        match (item.role, parallel) {
            (Role::Reduction, Some(parallel)) => {
                let says_how = |kind: &ClauseKind<Typed>| matches!(kind, ClauseKind::Reduction(it) if it.original.is_some());
                let is_own = matches!(
                    threads_have(program, uses, parallel, var),
                    Some(Has::Own | Has::ForLife)
                );
                if is_own && !clause.is_some_and(|it| says_how(&it.kind)) {
                    let places = (span, program.regions[parallel].construct.span);
                    faults.push(messages::private_reduction(program, region, var, places));
                }
            }
            (Role::FirstPrivate | Role::LastPrivate, Some(parallel))
                if threads_have(program, uses, parallel, var) == Some(Has::Own) =>
            {
                let places = (span, program.regions[parallel].construct.span);
                let fault = messages::private_around(program, region, var, item.clause, places);
                faults.push(fault);
            }
            (Role::CopyPrivate, Some(parallel))
                if threads_have(program, uses, parallel, var) == Some(Has::One) =>
            {
                let around = Some(program.regions[parallel].construct.span);
                faults.push(messages::shared_copyprivate(program, region, var, span, around));
            }
            (Role::CopyPrivate, None) => {
                let is_one = has_static_storage(program, var) && !program.vars[var].thread_local;
                if is_one && around.is_none() {
                    faults.push(messages::shared_copyprivate(program, region, var, span, None));
                }
            }
            _ => {}
        }
    }
}

/// What the threads of a parallel region have of a variable.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Has {
    One,
    Own,
    /// Their own, by declaration.
    ForLife,
}

fn threads_have(program: &Program, uses: &Uses, parallel: RegionId, var: VarId) -> Option<Has> {
    if program.vars[var].thread_local {
        return Some(Has::ForLife);
    }
    if !uses.is_outside(program, var, parallel) {
        return Some(if has_static_storage(program, var) { Has::One } else { Has::Own });
    }
    let found = uses.var(program, parallel, var)?.sharing.as_ref()?;
    Some(match &found.value {
        Sharing::Shared => Has::One,
        Sharing::Private
        | Sharing::FirstPrivate
        | Sharing::LastPrivate
        | Sharing::FirstLastPrivate
        | Sharing::Linear
        | Sharing::Reduction(_) => Has::Own,
        Sharing::ThreadPrivate => Has::ForLife,
    })
}
