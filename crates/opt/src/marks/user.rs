//! What directives say of a loop: levels, order, independence, variables of its own.

use std::collections::BTreeSet;

use ir::construct::{ClauseKind, Leaf};
use ir::program::{ExprId, RegionId, StmtId, VarId};

use crate::dependence::Analysis;
use crate::sharing::{crew, variable};

/// Levels of a device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Levels {
    /// Teams.
    pub teams: bool,
    /// Threads of a team.
    pub threads: bool,
    /// Lanes of a thread.
    pub lanes: bool,
    /// None: every thread runs it whole.
    pub whole: bool,
}

impl Levels {
    /// Whether none is named.
    pub fn is_none(self) -> bool {
        !(self.teams || self.threads || self.lanes || self.whole)
    }
}

/// What is said of a loop.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Said {
    /// The directives that are about it, outer ones first.
    pub regions: Vec<RegionId>,
    /// Levels that they name.
    pub levels: Levels,
    /// They leave the level to the compiler, on this loop or on all.
    pub is_free: bool,
    /// Iterations are independent.
    pub independent: bool,
    /// They are to be run in order.
    pub in_order: bool,
    /// How many loops, this one the first, are made one; 0 if it is not the first of its directive.
    pub collapsed: usize,
    /// Variables that clauses copy or combine for it.
    pub copies: BTreeSet<VarId>,
    /// It is run in order where that it must be is certain, whatever is said.
    pub orders_refuted: bool,
    /// Who runs its iterations is started by a construct around it, or by its own.
    pub has_crew: bool,
}

impl Analysis<'_> {
    /// What directives say of a loop.
    pub(super) fn said(&self, stmt: StmtId) -> Said {
        let program = self.program;
        let mut said = Said { is_free: true, ..Said::default() };
        let mut has_safe_length = false;
        for &id in self.outline.governing(stmt) {
            let region = &program.regions[id];
            said.regions.push(id);
            said.orders_refuted |= region.construct.rules.orders_refuted;
            said.has_crew |= crew(program, id).is_some();
            if region.loops.first().is_some_and(|it| it.stmt == stmt) {
                said.collapsed = region.loops.len();
            }
            let proves =
                program.around(id).any(|it| program.regions[it].construct.has(Leaf::Kernels));
            let mut word = None;
            for leaf in &region.construct.leaves {
                said.levels.teams |= *leaf == Leaf::Distribute;
                said.levels.threads |= matches!(leaf, Leaf::For | Leaf::Taskloop);
                said.levels.lanes |= *leaf == Leaf::Simd;
            }
            for kind in region.construct.kinds() {
                if let ClauseKind::Gang(_) = kind {
                    said.levels.teams = true;
                } else if let ClauseKind::Worker(_) = kind {
                    said.levels.threads = true;
                } else if let ClauseKind::Vector(_) = kind {
                    said.levels.lanes = true;
                } else if let ClauseKind::Seq = kind {
                    said.in_order = true;
                } else if let ClauseKind::Auto = kind {
                    word = Some(false);
                } else if let ClauseKind::Independent = kind {
                    word = Some(true);
                } else if let ClauseKind::Safelen(_) = kind {
                    has_safe_length = true;
                } else {
                    said.copies.extend(copied(kind).iter().filter_map(|it| variable(program, *it)));
                }
            }
            said.levels.teams |= program.implies_teams(id);
            said.independent |= word.unwrap_or(!proves);
        }
        said.levels.whole = self.outline.is_whole(stmt) && said.levels.is_none();
        let only_lanes = said.levels.lanes && !said.levels.teams && !said.levels.threads;
        if only_lanes && has_safe_length || said.in_order {
            said.independent = false;
        }
        said.is_free = said.levels.is_none();
        said
    }
}

/// Items that a clause gives to each iteration or thread.
fn copied(kind: &ClauseKind<ir::program::Typed>) -> &[ExprId] {
    if let ClauseKind::Private(items)
    | ClauseKind::FirstPrivate { items, .. }
    | ClauseKind::LastPrivate { items, .. } = kind
    {
        items
    } else if let ClauseKind::Reduction(it) = kind {
        &it.items
    } else {
        &[]
    }
}
