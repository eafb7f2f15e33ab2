//! Which form a kernel gets, and why not the other.

use ir::construct::{ClauseKind, Leaf, ReductionModifier, ReductionOp};
use ir::program::{ExprKind, RegionId, VarId};
use ir::region::{Mapping, Sharing};

use super::Team;
use crate::c::Grid;
use crate::lower::device::Kernel;
use crate::lower::in_order;
use crate::lower::kernel::regions_in;
use crate::lower::loops;
use crate::lower::{About, Lowering, Note};

/// How the threads of a grid run a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::lower) enum Form {
    /// All threads share the iterations of the loops of this construct: its own, or all that is in it.
    Flat(RegionId),
    /// A group is a team: its threads run the team's code together and share loops in it.
    Team(Box<Team>),
    /// Every thread runs it from the beginning, as the passes over kernels made it.
    Spmd,
    /// One thread runs it all, for this reason.
    Solo(&'static str),
}

impl Lowering<'_> {
    /// The form of a region's kernel.
    pub(in crate::lower) fn form(&self, id: RegionId) -> Form {
        if self.is_spmd(id) {
            return Form::Spmd;
        }
        let Some(why) = self.hindrance(id, id) else { return Form::Flat(id) };
        if let Some(inner) = self.only_region(id)
            && self.hindrance(inner, id).is_none()
        {
            return Form::Flat(inner);
        }
        self.team(id)
            .map_or_else(|better| Form::Solo(better.unwrap_or(why)), |it| Form::Team(Box::new(it)))
    }

    /// The construct that is all there is in a region that only leaves the host.
    fn only_region(&self, id: RegionId) -> Option<RegionId> {
        let region = &self.program.regions[id];
        let goes = region.construct.leaves.iter().all(|it| goes_there(*it));
        loops::only_region(self.program, region.body.filter(|_| goes)?)
    }

    /// The same for reports: kernels that only one thread runs, and why; what lies in the memory of groups.
    pub(in crate::lower) fn forms_told(&self, grid: Grid, kernels: &[Kernel]) -> Vec<Note> {
        let told = |kernel: &Kernel| {
            let form = self.form(kernel.region);
            let (text, team) = match &form {
                Form::Solo(why) => {
                    let why = self.not_spmd(kernel.region).unwrap_or(why);
                    (Some(format!("one thread runs it: {why}")), None)
                }
                Form::Team(team) => (self.block_told(team.block()), Some(team.as_ref())),
                Form::Spmd => {
                    let notes = self.launch(kernel.region).map(|it| it.notes.join("; "));
                    (notes.filter(|it| !it.is_empty()), None)
                }
                Form::Flat(_) => (None, None),
            };
            let mut notes = self.cached_told(grid, kernel, team);
            if let Some((region, text)) = self.written.regions.find(kernel.region).zip(text) {
                let (region, span) = (region.construct.span, region.construct.span);
                let text = format!("on `{}` {text}", grid.device());
                notes.push(Note { about: About::Loop, region, span, text, at: None });
            }
            notes
        };
        kernels.iter().flat_map(told).collect()
    }

    /// What keeps threads from sharing the iterations of a construct, which is the kernel's or in it.
    fn hindrance(&self, id: RegionId, kernel: RegionId) -> Option<&'static str> {
        let program = self.program;
        let came_as_value = |var: VarId| {
            program.regions[kernel].vars.iter().any(|it| it.var == var && is_value(it))
        };
        let region = &program.regions[id];
        let deals = |leaf: &Leaf| {
            matches!(
                leaf,
                Leaf::Teams
                    | Leaf::Distribute
                    | Leaf::Parallel
                    | Leaf::For
                    | Leaf::Simd
                    | Leaf::Loop
            )
        };
        let mut leaves = region.construct.leaves.iter().filter(|it| !goes_there(**it));
        let shares = region
            .construct
            .leaves
            .iter()
            .any(|it| matches!(it, Leaf::Distribute | Leaf::For | Leaf::Loop));
        if !leaves.all(deals) || !shares || region.loops.is_empty() {
            return Some("its directive is not one loop for all threads");
        }
        if in_order::asks_one(program, id) {
            return Some("its numbers ask for one thread");
        }
        if loops::needs_loops_made(program, id) {
            return Some("other directives change its loops");
        }
        if region.loops.iter().any(|it| !it.rectangular) {
            return Some("the bounds of an inner loop follow an outer one");
        }
        if region.loops.iter().any(|it| loops::is_spread_wide(program, it)) {
            return Some("the distance between the bounds of a loop does not fit its type");
        }
        if self.tells_teams(id) && !self.has_only_thread_regions(id) {
            return Some("its body asks for threads or calls functions that may");
        }
        if !self.part_items(id).is_empty() || !self.group_vars(id).is_empty() {
            return Some("each thread would need a copy of a part of an array");
        }
        for var in &region.vars {
            let why = match var.sharing.as_ref().map(|it| &it.value) {
                // Each thread would have its own sum.
                Some(Sharing::Reduction(_)) if id != kernel && came_as_value(var.var) => {
                    Some("threads share a variable that is the region's own")
                }
                Some(Sharing::Reduction(op)) => self.cannot_combine(var.var, op),
                Some(Sharing::Linear) => Some("a variable follows the iterations"),
                Some(Sharing::LastPrivate | Sharing::FirstLastPrivate) => {
                    let is_scalar = program.types.is_scalar(program.vars[var.var].ty);
                    (!is_scalar).then_some("the last copy of an array survives")
                }
                // It came as a value, of which each thread has one.
                Some(Sharing::Shared) | None if var.written && came_as_value(var.var) => {
                    Some("threads share a variable that is the region's own")
                }
                Some(
                    Sharing::Shared
                    | Sharing::Private
                    | Sharing::FirstPrivate
                    | Sharing::ThreadPrivate,
                )
                | None => None,
            };
            if why.is_some() {
                return why;
            }
        }
        self.odd_clause(id)
    }

    /// Whether the clauses of a construct ask for nothing but iterations.
    pub(super) fn has_plain_clauses(&self, id: RegionId) -> bool {
        self.odd_clause(id).is_none()
    }

    fn odd_clause(&self, id: RegionId) -> Option<&'static str> {
        let program = self.program;
        program.regions[id].construct.kinds().find_map(|kind| match kind {
            ClauseKind::Ordered(_) => Some("its iterations have an order"),
            ClauseKind::LastPrivate { conditional: true, .. } => {
                Some("the last iteration that sets a variable decides")
            }
            ClauseKind::Induction(_) => Some("a variable follows the iterations"),
            ClauseKind::Reduction(it) if it.modifier == Some(ReductionModifier::Inscan) => {
                Some("it computes prefixes")
            }
            ClauseKind::Reduction(it) => {
                let is_part =
                    |it: &ir::program::ExprId| !matches!(program.exprs[*it].kind, ExprKind::Var(_));
                it.items.iter().any(is_part).then_some("it combines parts of arrays")
            }
            _ => None,
        })
    }

    /// Whether all constructs in a body are such that a thread can meet them alone.
    pub(super) fn has_only_thread_regions(&self, id: RegionId) -> bool {
        let region = &self.program.regions[id];
        let inner = region.body.map(|it| regions_in(self.program, it)).unwrap_or_default();
        self.asks_nobody(id)
            && inner.iter().all(|it| {
                let leaves = &self.program.regions[*it].construct.leaves;
                leaves.iter().all(|it| is_for_one(*it) || *it == Leaf::Atomic)
            })
    }

    /// Whether no function that is called asks for threads.
    pub(super) fn asks_nobody(&self, id: RegionId) -> bool {
        let region = &self.program.regions[id];
        region.indirect_calls.is_empty()
            && region.reaches.iter().all(|it| {
                let function = &self.program.functions[*it];
                let name = self.program.names.text(function.name);
                let is_asked = directive::RUNTIME_SYMBOLS.iter().any(|it| name.starts_with(it));
                // What other files offer asks for nobody either.
                let is_quiet = function.body.is_some() || self.links();
                !is_asked && (is_quiet || function.is_builtin || self.is_of_system(function.span))
            })
    }

    pub(super) fn cannot_combine(
        &self,
        var: VarId,
        op: &ReductionOp<ir::program::Typed>,
    ) -> Option<&'static str> {
        let types = &self.program.types;
        let ty = self.program.vars[var].ty;
        match op {
            ReductionOp::User(_) => Some("it combines values in the user's way"),
            _ if !types.is_scalar(ty) || types.is_complex(ty) => {
                Some("it combines arrays or records")
            }
            _ => None,
        }
    }
}

/// Parts that mean the same to a thread alone, or are advice that needs nobody.
pub(super) fn is_for_one(leaf: Leaf) -> bool {
    matches!(leaf, Leaf::Simd | Leaf::Cache | Leaf::Nothing)
}

/// Parts that say that a region leaves the host.
pub(super) fn goes_there(leaf: Leaf) -> bool {
    matches!(leaf, Leaf::Offload | Leaf::Kernels)
}

/// Whether the device gets the value of a variable, and not its place.
pub(in crate::lower) fn is_value(var: &ir::region::RegionVar) -> bool {
    var.mappings.iter().any(|it| matches!(it.value, Mapping::FirstPrivate | Mapping::Private))
}
