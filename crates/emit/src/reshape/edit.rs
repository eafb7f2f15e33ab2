//! Changes of constructs that keep what variables know of their clauses.

use ir::construct::{Clause, ClauseKind, Leaf};
use ir::program::{Expr, ExprId, ExprKind, RegionId, Typed, VarId};
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

    /// Adds a clause that nobody has written; its place in the construct.
    pub(super) fn add_clause(&mut self, id: RegionId, kind: ClauseKind<Typed>) -> u32 {
        let clauses = &mut self.made.program.regions[id].construct.clauses;
        let (on, group, switch, span) = (None, None, None, Span::NONE);
        clauses.push(Clause { kind, on, group, switch, span });
        self.made.changed.entry(id).or_default();
        u32::try_from(clauses.len().saturating_sub(1)).unwrap_or(u32::MAX)
    }

    /// Takes clauses away; variables that they speak of have no such clause any more.
    pub(super) fn remove_clauses(
        &mut self,
        id: RegionId,
        is_gone: impl Fn(&ClauseKind<Typed>) -> bool,
    ) {
        let clauses = &mut self.made.program.regions[id].construct.clauses;
        let mut places: Vec<Option<u32>> = Vec::new();
        let mut next = 0;
        for it in clauses.iter() {
            let stays = !is_gone(&it.kind);
            places.push(stays.then_some(next));
            next += u32::from(stays);
        }
        clauses.retain(|it| !is_gone(&it.kind));
        self.made.changed.entry(id).or_default();
        let place = |at: u32| places.get(at as usize).copied().flatten();
        let all: Vec<RegionId> = self.made.program.regions.iter().map(|it| it.0).collect();
        for at in all {
            for var in &mut self.made.program.regions[at].vars {
                let moved = |origin: Origin| match origin {
                    Origin::Clause(it) if at == id => Some(Origin::Clause(place(it)?)),
                    Origin::Enclosing(of, it) if of == id => {
                        Some(Origin::Enclosing(of, place(it)?))
                    }
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

    /// Gives each who runs a construct its own of these variables.
    pub(super) fn add_copies(&mut self, id: RegionId, vars: &[VarId]) {
        if vars.is_empty() {
            return;
        }
        let items: Vec<ExprId> = vars.iter().map(|it| self.name_of(*it)).collect();
        let at = self.add_clause(id, ClauseKind::Private(items));
        for it in &mut self.made.program.regions[id].vars {
            if vars.contains(&it.var) {
                let (value, origin) = (Sharing::Private, Origin::Clause(at));
                it.sharing = Some(Attribute { value, origin });
            }
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
        let ty = self.made.program.vars[var].ty;
        let span = Span::NONE;
        self.made.program.exprs.push(Expr { kind: ExprKind::Var(var), ty, span })
    }
}
