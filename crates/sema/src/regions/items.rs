//! What the clauses of a construct name: list items with the role they are given, and expressions.
//!
//! In: a typed construct. Out: its list items and its other expressions, each with the clause it
//! stands in. Whether an item may be what it is, is asked elsewhere ([`super::rules`]).

use ir::construct::{Args, Clause, ClauseKind, Construct, Convert, DoacrossKind, Leaf};
use ir::program::{ExprId, ExprKind, InitId, Program, Typed, VarId};
use ir::types::Ty;
use rustc_hash::{FxHashMap, FxHashSet};
use source::Name;

use super::walk::{self, Access, Visit};

/// In which role a list names its items.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Role {
    Shared,
    Private,
    FirstPrivate,
    LastPrivate,
    Linear,
    Reduction,
    InReduction,
    TaskReduction,
    Induction,
    CopyIn,
    CopyPrivate,
    /// Has a life on the device.
    Map,
    /// Is copied now.
    Transfer,
    UseDevice,
    DevicePointer,
    HasDeviceAddr,
    Attach,
    /// Exists on devices by declaration.
    Declared,
    Scan,
    Aligned,
    Nontemporal,
    Uniform,
    Allocate,
    Depend,
    Affinity,
    /// Only its name matters.
    Named,
}

impl Role {
    /// Whether code inside sees a copy, not the variable outside.
    pub(super) fn makes_copy(self) -> bool {
        match self {
            Role::Private
            | Role::FirstPrivate
            | Role::LastPrivate
            | Role::Linear
            | Role::Reduction
            | Role::InReduction
            | Role::Induction => true,
            Role::Shared
            | Role::TaskReduction
            | Role::CopyIn
            | Role::CopyPrivate
            | Role::Map
            | Role::Transfer
            | Role::UseDevice
            | Role::DevicePointer
            | Role::HasDeviceAddr
            | Role::Attach
            | Role::Declared
            | Role::Scan
            | Role::Aligned
            | Role::Nontemporal
            | Role::Uniform
            | Role::Allocate
            | Role::Depend
            | Role::Affinity
            | Role::Named => false,
        }
    }
}

/// The list of a clause, if it is one that lists variables.
pub(super) fn list(kind: &ClauseKind<Typed>) -> Option<(Role, &[ExprId])> {
    use ClauseKind as K;
    let (role, items) = match kind {
        K::Map(map) => (Role::Map, &map.items),
        K::Transfer(transfer) => (Role::Transfer, &transfer.items),
        K::UseDevice(_, items) => (Role::UseDevice, items),
        K::DevicePointer(items) => (Role::DevicePointer, items),
        K::HasDeviceAddr(items) => (Role::HasDeviceAddr, items),
        K::Attach(items) | K::Detach(items) => (Role::Attach, items),
        K::DeviceEnter { items, .. }
        | K::DeviceLink(items)
        | K::DeviceResident(items)
        | K::DeviceLocal(items) => (Role::Declared, items),
        K::Shared(items) => (Role::Shared, items),
        K::Private(items) => (Role::Private, items),
        K::FirstPrivate { items, .. } => (Role::FirstPrivate, items),
        K::LastPrivate { items, .. } => (Role::LastPrivate, items),
        K::Linear(linear) => (Role::Linear, &linear.items),
        K::Reduction(reduction) => (Role::Reduction, &reduction.items),
        K::InReduction(reduction) => (Role::InReduction, &reduction.items),
        K::TaskReduction(reduction) => (Role::TaskReduction, &reduction.items),
        K::Induction(induction) => (Role::Induction, &induction.items),
        K::CopyIn(items) => (Role::CopyIn, items),
        K::CopyPrivate(items) => (Role::CopyPrivate, items),
        K::Inclusive(items) | K::Exclusive(items) => (Role::Scan, items),
        K::Aligned(items, _) => (Role::Aligned, items),
        K::Nontemporal(items) => (Role::Nontemporal, items),
        K::Uniform(items) => (Role::Uniform, items),
        K::Allocate(allocate) => (Role::Allocate, &allocate.items),
        K::Depend(depend) => (Role::Depend, &depend.items),
        K::Affinity(_, items) => (Role::Affinity, items),
        K::AdjustArgs(_, items) | K::InteropArgs(items) => (Role::Named, items),
        _ => return None,
    };
    Some((role, items))
}

/// One item of a list.
#[derive(Clone, Copy, Debug)]
pub(super) struct Item {
    /// Position of the clause.
    pub(super) clause: u32,
    pub(super) role: Role,
    pub(super) expr: ExprId,
}

/// All list items of the clauses, in the order written.
pub(super) fn all(construct: &Construct<Typed>) -> impl Iterator<Item = Item> {
    (0u32..).zip(&construct.clauses).flat_map(|(clause, it)| {
        let (role, items) = list(&it.kind).unwrap_or((Role::Named, &[]));
        items.iter().map(move |&expr| Item { clause, role, expr })
    })
}

/// The list items that are about one variable each.
pub(super) fn by_variable(
    program: &Program,
    construct: &Construct<Typed>,
) -> FxHashMap<VarId, Vec<Item>> {
    let mut map: FxHashMap<VarId, Vec<Item>> = FxHashMap::default();
    for item in all(construct) {
        if let Some(var) = base(program, item.expr) {
            map.entry(var).or_default().push(item);
        }
    }
    map
}

/// The items that stand directly behind the directive's name.
pub(super) fn args(construct: &Construct<Typed>) -> &[ExprId] {
    match &construct.args {
        Args::Items(items) | Args::ReadonlyItems(items) => items,
        Args::Object(object) => std::slice::from_ref(object),
        Args::None
        | Args::Name(_)
        | Args::Variant(_)
        | Args::Cancel(_)
        | Args::Wait(_)
        | Args::Reduction(_)
        | Args::Mapper(_)
        | Args::Memory(_)
        | Args::Text(_) => &[],
    }
}

/// The variable that an item is, or is a part of, or is reached through.
pub(super) fn base(program: &Program, item: ExprId) -> Option<VarId> {
    let mut at = item;
    loop {
        at = match &program.exprs[at].kind {
            ExprKind::Var(var) => return Some(*var),
            ExprKind::Section(section) => section.base,
            ExprKind::Index(base, _)
            | ExprKind::Member(base, ..)
            | ExprKind::Deref(base)
            | ExprKind::AddrOf(base)
            | ExprKind::Cast(_, base)
            | ExprKind::Shaped(_, base) => *base,
            ExprKind::Binary(_, left, right) => {
                // `*(p + i)`: the pointer is the base.
                let is_base = |it: ExprId| {
                    let ty = program.exprs[it].ty;
                    program.types.is_pointer(ty) || program.types.is_array(ty)
                };
                if is_base(*left) {
                    *left
                } else if is_base(*right) {
                    *right
                } else {
                    return None;
                }
            }
            _ => return None,
        };
    }
}

/// Whether the item is, or is reached through, a member of a structure.
pub(super) fn has_member(program: &Program, item: ExprId) -> bool {
    let mut at = item;
    loop {
        at = match &program.exprs[at].kind {
            ExprKind::Member(..) => return true,
            ExprKind::Section(section) => section.base,
            ExprKind::Index(base, _)
            | ExprKind::Deref(base)
            | ExprKind::AddrOf(base)
            | ExprKind::Cast(_, base)
            | ExprKind::Shaped(_, base) => *base,
            _ => return false,
        };
    }
}

/// The variable, if the item is a variable and nothing else.
pub(super) fn plain(program: &Program, item: ExprId) -> Option<VarId> {
    match &program.exprs[item].kind {
        ExprKind::Var(var) => Some(*var),
        ExprKind::Cast(_, inner) => plain(program, *inner),
        _ => None,
    }
}

/// Something that a construct says with an expression that is no list item.
#[derive(Clone, Copy, Debug)]
pub(super) struct Value {
    /// Position of the clause; none for arguments of the directive.
    pub(super) clause: Option<u32>,
    pub(super) expr: ExprId,
}

/// All expressions of a construct that are not list items, in the order written.
pub(super) fn values(construct: &Construct<Typed>) -> Vec<Value> {
    struct Collect<'a> {
        values: Vec<Value>,
        clause: Option<u32>,
        items: FxHashSet<ExprId>,
        construct: &'a Construct<Typed>,
    }
    impl Convert<Typed, Typed> for Collect<'_> {
        fn expr(&mut self, expr: &ExprId) -> ExprId {
            if !self.items.contains(expr) {
                self.values.push(Value { clause: self.clause, expr: *expr });
            }
            *expr
        }
        fn ty(&mut self, ty: &Ty) -> Ty {
            *ty
        }
        fn init(&mut self, init: &InitId) -> InitId {
            *init
        }
        fn name(&mut self, name: &Name) -> Name {
            *name
        }
        fn enter_clause(&mut self, clause: &Clause<Typed>) {
            let found = self.construct.clauses.iter().position(|it| std::ptr::eq(it, clause));
            // Clauses inside a variant's directive count as part of the outer clause.
            self.clause = found.map_or(self.clause, |it| Some(it as u32));
        }
    }
    if construct.clauses.is_empty() && construct.args == Args::None {
        return Vec::new();
    }
    let mut items: FxHashSet<ExprId> = all(construct).map(|it| it.expr).collect();
    items.extend(args(construct));
    let mut collect = Collect { values: Vec::new(), clause: None, items, construct };
    construct.convert(&mut collect);
    collect.values
}

/// Whether the expressions of a clause are computed by those who run the body, not by those who
/// meet the directive.
pub(super) fn computed_inside(construct: &Construct<Typed>, clause: u32) -> bool {
    let inner = construct.leaves.len() > 1 && construct.has(Leaf::Offload);
    let kind = construct.clauses.get(clause as usize).map(|it| &it.kind);
    inner
        && matches!(
            kind,
            Some(
                ClauseKind::Schedule(_)
                    | ClauseKind::DistSchedule(_)
                    | ClauseKind::NumThreads { .. }
                    | ClauseKind::Linear(_)
            )
        )
}

/// Variables that an expression reads, except its base as an item.
pub(super) fn indices(program: &Program, item: ExprId) -> Vec<(VarId, source::Span)> {
    struct Reads(Vec<(VarId, source::Span)>);
    impl Visit for Reads {
        fn access(&mut self, var: VarId, _: Access, span: source::Span) {
            self.0.push((var, span));
        }
    }
    let mut reads = Reads(Vec::new());
    walk::expr(program, item, &mut reads);
    let base = base(program, item);
    let mut skipped = false;
    reads.0.retain(|it| {
        let is_base = !skipped && Some(it.0) == base;
        skipped |= is_base;
        !is_base
    });
    reads.0
}

/// Expressions of a cross-iteration dependence name loop variables, they do not read them.
pub(super) fn is_sink(kind: &ClauseKind<Typed>) -> bool {
    matches!(kind, ClauseKind::Doacross(it) if matches!(it.kind, DoacrossKind::Sink(_)))
}
