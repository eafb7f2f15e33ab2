//! Changes of constructs that keep what variables know of their clauses.

use ir::construct::{Clause, ClauseKind, Leaf};
use ir::program::{Expr, ExprId, ExprKind, Program, RegionId, Typed, VarId};
use ir::region::{Attribute, Origin, Sharing};
use ir::types::{IntKind, TypeKind};
use source::Span;

use super::Pass;

impl Pass<'_> {
    /// Says what parts a construct has from now on.
    pub(super) fn set_leaves(&mut self, id: RegionId, leaves: Vec<Leaf>) {
        self.made.program.regions[id].construct.leaves = leaves;
        self.made.changed.entry(id).or_default();
    }

    /// Adds a clause that nobody has written.
    pub(super) fn add_clause(&mut self, id: RegionId, kind: ClauseKind<Typed>) {
        add_clause(&mut self.made.program, id, kind);
        self.made.changed.entry(id).or_default();
    }

    /// Takes clauses away; variables that they speak of have no such clause any more.
    pub(super) fn remove_clauses(
        &mut self,
        id: RegionId,
        is_gone: impl Fn(&ClauseKind<Typed>) -> bool,
    ) {
        remove_clauses(&mut self.made.program, id, is_gone);
        self.made.changed.entry(id).or_default();
    }

    /// Gives each who runs a construct its own of these variables.
    pub(super) fn add_copies(&mut self, id: RegionId, vars: &[VarId]) {
        if !vars.is_empty() {
            add_copies(&mut self.made.program, id, vars);
            self.made.changed.entry(id).or_default();
        }
    }

    /// Makes several loops one.
    pub(super) fn add_collapse(&mut self, id: RegionId, count: usize) {
        if count < 2 {
            return;
        }
        let program = &mut self.made.program;
        let ty = program.types.get(TypeKind::Int(IntKind::Int));
        let value = i64::try_from(count).unwrap_or(1);
        let span = Span::NONE;
        let count = program.exprs.push(Expr { kind: ExprKind::Int(value), ty, span });
        self.add_clause(id, ClauseKind::Collapse { force: false, count });
    }

    pub(super) fn name_of(&mut self, var: VarId) -> ExprId {
        name_of(&mut self.made.program, var)
    }
}

/// Adds a clause that nobody has written; its place in the construct.
pub(crate) fn add_clause(program: &mut Program, id: RegionId, kind: ClauseKind<Typed>) -> u32 {
    let clauses = &mut program.regions[id].construct.clauses;
    let (on, group, switch, span) = (None, None, None, Span::NONE);
    clauses.push(Clause { kind, on, group, switch, span });
    u32::try_from(clauses.len().saturating_sub(1)).unwrap_or(u32::MAX)
}

/// Takes clauses away; variables that they speak of have no such clause any more.
pub(crate) fn remove_clauses(
    program: &mut Program,
    id: RegionId,
    is_gone: impl Fn(&ClauseKind<Typed>) -> bool,
) {
    let clauses = &mut program.regions[id].construct.clauses;
    let mut places: Vec<Option<u32>> = Vec::new();
    let mut next = 0;
    for it in clauses.iter() {
        let stays = !is_gone(&it.kind);
        // A clause without variables is where nothing comes from: whoever says so counts in another list.
        places.push((stays || !names_variables(&it.kind)).then_some(next));
        next += u32::from(stays);
    }
    clauses.retain(|it| !is_gone(&it.kind));
    let place = |at: u32| places.get(at as usize).copied().unwrap_or(Some(at));
    let all: Vec<RegionId> = program.regions.iter().map(|it| it.0).collect();
    for at in all {
        for var in &mut program.regions[at].vars {
            let moved = |origin: Origin| match origin {
                Origin::Clause(it) if at == id => Some(Origin::Clause(place(it)?)),
                Origin::Enclosing(of, it) if of == id => Some(Origin::Enclosing(of, place(it)?)),
                Origin::Clause(_)
                | Origin::Enclosing(..)
                | Origin::Declared(_)
                | Origin::Rule(_) => Some(origin),
            };
            var.sharing = var.sharing.take().and_then(|it| {
                let origin = moved(it.origin)?;
                Some(Attribute { origin, ..it })
            });
            let mappings = std::mem::take(&mut var.mappings);
            var.mappings = mappings
                .into_iter()
                .filter_map(|it| Some(Attribute { origin: moved(it.origin)?, ..it }))
                .collect();
        }
    }
}

/// Whether a clause can be the reason for how a variable is shared or mapped.
fn names_variables(kind: &ClauseKind<Typed>) -> bool {
    matches!(
        kind,
        ClauseKind::Private(_)
            | ClauseKind::FirstPrivate { .. }
            | ClauseKind::LastPrivate { .. }
            | ClauseKind::Linear(_)
            | ClauseKind::Reduction(_)
            | ClauseKind::Shared(_)
            | ClauseKind::Default(..)
            | ClauseKind::Map(_)
    )
}

/// Gives each who runs a construct its own of these variables.
pub(crate) fn add_copies(program: &mut Program, id: RegionId, vars: &[VarId]) {
    let items: Vec<ExprId> = vars.iter().map(|it| name_of(program, *it)).collect();
    let at = add_clause(program, id, ClauseKind::Private(items));
    for it in &mut program.regions[id].vars {
        if vars.contains(&it.var) {
            let (value, origin) = (Sharing::Private, Origin::Clause(at));
            it.sharing = Some(Attribute { value, origin });
        }
    }
}

fn name_of(program: &mut Program, var: VarId) -> ExprId {
    let ty = program.vars[var].ty;
    let span = Span::NONE;
    program.exprs.push(Expr { kind: ExprKind::Var(var), ty, span })
}
