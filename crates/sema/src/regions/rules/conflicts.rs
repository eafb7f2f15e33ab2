//! One variable in clauses that contradict, and clauses that do not go together.

use ir::construct::{ClauseKind, Construct, Leaf, ScheduleKind};
use ir::program::{Program, Typed, VarId};
use rustc_hash::FxHashMap;
use source::{Diagnostics, Span};

use crate::regions::items::{self, Role};
use crate::regions::messages;

pub(super) fn check(program: &Program, construct: &Construct<Typed>, faults: &mut Diagnostics) {
    variables(program, construct, faults);
    clauses(construct, faults);
}

/// Roles of which a variable has one; being copied in and out are one together.
fn decides(role: Role) -> bool {
    matches!(
        role,
        Role::Shared
            | Role::Private
            | Role::FirstPrivate
            | Role::LastPrivate
            | Role::Linear
            | Role::Reduction
            | Role::InReduction
    )
}

/// What is mapped is not copied for a plain device region; on combined ones the clauses may speak of
/// different parts.
fn maps(role: Role) -> bool {
    matches!(role, Role::Map | Role::DevicePointer | Role::HasDeviceAddr)
}

fn variables(program: &Program, construct: &Construct<Typed>, faults: &mut Diagnostics) {
    let mut seen: FxHashMap<VarId, Vec<(Role, u32, Span)>> = FxHashMap::default();
    let is_plain_device = construct.leaves == [Leaf::Offload] && !construct.rules.holds_data;
    let decides = |role| decides(role) || (is_plain_device && maps(role));
    for item in items::all(construct).filter(|it| decides(it.role)) {
        let Some(var) = items::plain(program, item.expr) else { continue };
        let is_grouped =
            construct.clauses.get(item.clause as usize).is_none_or(|it| it.group.is_some());
        if is_grouped {
            continue;
        }
        let span = program.exprs[item.expr].span;
        let before = seen.entry(var).or_default();
        let clash = before.iter().find(|it| !go_together(it.0, item.role));
        if let Some(&(role, clause, first)) = clash {
            let fault = if role == item.role && role != Role::Reduction {
                messages::named_twice(program, var, first, span)
            } else {
                let clauses = (clause, item.clause);
                messages::contradiction(program, construct, var, clauses, (first, span))
            };
            faults.push(fault);
        }
        before.push((item.role, item.clause, span));
    }
}

fn go_together(a: Role, b: Role) -> bool {
    matches!(
        (a, b),
        (Role::FirstPrivate, Role::LastPrivate)
            | (Role::Map, Role::Map | Role::Shared)
            | (Role::Shared, Role::Map)
            | (Role::LastPrivate, Role::FirstPrivate)
            // A task of a reduction may reduce in turn.
            | (Role::InReduction, Role::Reduction)
            | (Role::Reduction, Role::InReduction)
    )
}

fn clauses(construct: &Construct<Typed>, faults: &mut Diagnostics) {
    let find = |wanted: &dyn Fn(&ClauseKind<Typed>) -> bool| {
        let ungrouped = |it: &ir::construct::Clause<Typed>| it.group.is_none() && wanted(&it.kind);
        construct.clauses.iter().position(ungrouped).map(|it| it as u32)
    };
    let mut clash = |a: Option<u32>, b: Option<u32>, why: &str| {
        if let (Some(a), Some(b)) = (a, b) {
            faults.push(messages::clash(construct, a.min(b), a.max(b), why));
        }
    };
    type K = ClauseKind<Typed>;
    clash(
        find(&|it| matches!(it, K::CopyPrivate(_))),
        find(&|it| matches!(it, K::Nowait(_))),
        "the value is handed over while all wait",
    );
    clash(
        find(&|it| matches!(it, K::Nogroup(_))),
        find(&|it| matches!(it, K::Reduction(_))),
        "the results are combined when the group ends",
    );
    clash(
        find(&|it| matches!(it, K::Schedule(it) if it.monotonic == Some(false))),
        find(&|it| matches!(it, K::Ordered(_))),
        "chunks in any order or iterations in theirs",
    );
    let level = find(&|it| matches!(it, K::Gang(_) | K::Worker(_) | K::Vector(_)));
    let is_loop = construct.has(Leaf::Loop);
    if is_loop {
        let seq = find(&|it| matches!(it, K::Seq));
        clash(level, seq, "the iterations run in order or are dealt out");
        let (auto, independent) =
            (find(&|it| matches!(it, K::Auto)), find(&|it| matches!(it, K::Independent)));
        clash(auto, independent, "the compiler decides or the user vouches");
        clash(auto, seq, "the compiler decides or the iterations run in order");
        clash(independent, seq, "the iterations run in order or are independent");
    }
    for (at, clause) in (0u32..).zip(&construct.clauses) {
        if let ClauseKind::Schedule(it) = &clause.kind
            && matches!(it.kind, ScheduleKind::Auto | ScheduleKind::Runtime)
            && it.chunk.is_some()
        {
            faults.push(messages::chunk_unused(construct, at, clause.span));
        }
    }
}
