//! One variable in clauses that contradict, and clauses that do not go together.

use std::fmt::Write as _;

use ir::construct::{Args, ClauseKind, Construct, Leaf, ScheduleKind};
use ir::program::{ExprId, ExprKind, Program, Typed, VarId};
use ir::walk::Part;
use rustc_hash::FxHashMap;
use source::{Diagnostics, Span};

use crate::regions::items::{self, Role};
use crate::regions::{constant, messages};

pub(super) fn check(program: &Program, construct: &Construct<Typed>, faults: &mut Diagnostics) {
    variables(program, construct, faults);
    parts(program, construct, faults);
    clauses(construct, faults);
    arguments(program, construct, faults);
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
    let holds_data = construct.rules.holds_data;
    let is_plain_device = construct.leaves == [Leaf::Offload] && !holds_data;
    let takes_maps = is_plain_device || holds_data;
    let decides = |role| decides(role) || (takes_maps && maps(role)) || role == Role::Transfer;
    for item in items::all(construct).filter(|it| decides(it.role)) {
        let Some(var) = items::plain(program, item.expr) else { continue };
        let is_grouped =
            construct.clauses.get(item.clause as usize).is_none_or(|it| it.group.is_some());
        if is_grouped {
            continue;
        }
        let span = program.exprs[item.expr].span;
        let before = seen.entry(var).or_default();
        let clash = before.iter().find(|it| match (maps(it.0), maps(item.role)) {
            (true, true) if holds_data => true,
            // The copy may be that of the loop, made of what the region holds.
            (true, false) | (false, true) if construct.has(Leaf::Loop) => false,
            _ => !go_together(it.0, item.role),
        });
        if let Some(&(role, clause, first)) = clash {
            let is_repeated = role == item.role
                && role != Role::Reduction
                && add_up(construct, clause, item.clause);
            let fault = if is_repeated {
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

/// Parts of variables that are copied twice, or in both directions: sections and elements that are
/// written alike. Whether others overlap depends on their bounds.
fn parts(program: &Program, construct: &Construct<Typed>, faults: &mut Diagnostics) {
    let mut seen: FxHashMap<String, (u32, Span)> = FxHashMap::default();
    for item in items::all(construct).filter(|it| it.role == Role::Transfer) {
        if items::plain(program, item.expr).is_some() {
            continue;
        }
        let Some(var) = items::base(program, item.expr) else { continue };
        let Some(form) = form(program, item.expr) else { continue };
        let span = program.exprs[item.expr].span;
        let Some(&(clause, first)) = seen.get(&form) else {
            seen.insert(form, (item.clause, span));
            continue;
        };
        faults.push(if add_up(construct, clause, item.clause) {
            messages::named_twice(program, var, first, span)
        } else {
            let clauses = (clause, item.clause);
            messages::contradiction(program, construct, var, clauses, (first, span))
        });
    }
}

/// A text that is the same for items that are written alike; nothing if it may mean something else
/// each time.
fn form(program: &Program, item: ExprId) -> Option<String> {
    let mut text = String::new();
    let mut open = vec![item];
    while let Some(id) = open.pop() {
        let kind = &program.exprs[id].kind;
        // Each head tells how many operands follow it, so that no two items have one form.
        let head = match kind {
            ExprKind::Var(var) => format!("v{}", var.index()),
            ExprKind::Int(value) => format!("i{value}"),
            ExprKind::EnumConst(of, at) => format!("e{}.{at}", of.index()),
            ExprKind::Cast(..) => String::new(),
            ExprKind::Deref(_) => "*".to_owned(),
            ExprKind::Index(..) => "[]".to_owned(),
            ExprKind::Member(_, record, at) => format!("m{}.{at}", record.index()),
            ExprKind::Unary(op, _) => format!("{op:?}"),
            ExprKind::Binary(op, ..) => format!("{op:?}"),
            ExprKind::Section(it) => {
                let [lower, length, stride] =
                    [it.lower, it.length, it.stride].map(|it| u8::from(it.is_some()));
                format!("s{lower}{length}{stride}")
            }
            _ => return None,
        };
        let _ = write!(text, "{head} ");
        let mut is_plain = true;
        kind.parts(&program.types, &mut |it| match it {
            Part::Expr(it) => open.push(it),
            _ => is_plain = false,
        });
        if !is_plain {
            return None;
        }
    }
    Some(text)
}

/// Whether two clauses of one role can both be done to an item: programs say `copyin` and `copyout`
/// where they mean `copy`.
fn add_up(construct: &Construct<Typed>, first: u32, second: u32) -> bool {
    let kind = |at: u32| construct.clauses.get(at as usize).map(|it| &it.kind);
    match (kind(first), kind(second)) {
        (Some(ClauseKind::Map(a)), Some(ClauseKind::Map(b))) => a.presence == b.presence,
        (Some(ClauseKind::Transfer(a)), Some(ClauseKind::Transfer(b))) => {
            a.to_device == b.to_device
        }
        _ => true,
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
            // What is reduced comes and goes by its map.
            | (Role::Reduction, Role::Map)
            | (Role::Map, Role::Reduction)
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

/// Clauses that do not go with what stands behind the directive's name.
fn arguments(program: &Program, construct: &Construct<Typed>, faults: &mut Diagnostics) {
    for (at, clause) in (0u32..).zip(&construct.clauses) {
        match (&clause.kind, &construct.args) {
            (ClauseKind::MemoryOrder(_), Args::Items(_)) if construct.has(Leaf::Flush) => {
                faults.push(messages::order_of_list(construct, at, clause.span));
            }
            (ClauseKind::Hint(hint), Args::None) if construct.has(Leaf::Critical) => {
                let is_error = program.types.is_error(program.exprs[*hint].ty);
                if !is_error && constant::int(program, *hint) != Some(0) {
                    faults.push(messages::hint_without_name(construct, clause.span));
                }
            }
            _ => {}
        }
    }
}
