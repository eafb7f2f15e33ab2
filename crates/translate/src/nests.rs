//! Constructs that are nothing but a sequence of loops: each loop leaves the host by itself, so that
//! one begins when all teams are done with the one before. Programs count on that, though no standard
//! has teams wait for each other.

use std::collections::{BTreeMap, BTreeSet};

use ir::construct::{ClauseKind, Construct, Leaf, Motion, Presence, Spelled};
use ir::program::{ExprId, ExprKind, RegionId, StmtKind, VarId, VarStorage};
use ir::region::{Mapping, Origin, Rule};
use ir::walk::Part;

use super::maps::Maps;
use super::{Fate, Line, Plan, Translator, codes};

/// All such constructs of a program.
#[derive(Debug)]
pub(super) struct Sequences {
    constructs: BTreeMap<RegionId, Vec<RegionId>>,
    /// The loops of all of them.
    loops: BTreeSet<RegionId>,
}

impl Translator<'_> {
    fn sequences(&self) -> &Sequences {
        self.sequences.get_or_init(|| {
            let found = self.made.regions.iter().map(|(id, _)| (id, self.loops_of(id)));
            let constructs: BTreeMap<_, _> = found.filter(|it| !it.1.is_empty()).collect();
            let loops = constructs.values().flatten().copied().collect();
            Sequences { constructs, loops }
        })
    }

    /// The loops of such a construct; none if it is another.
    pub(super) fn nests(&self, id: RegionId) -> &[RegionId] {
        self.sequences().constructs.get(&id).map(Vec::as_slice).unwrap_or_default()
    }

    fn loops_of(&self, id: RegionId) -> Vec<RegionId> {
        let Some(written) = self.program.regions.find(id) else { return Vec::new() };
        let construct = &self.made.regions[id].construct;
        let is_compute = construct.leaves == [Leaf::Offload, Leaf::Teams]
            || construct.leaves == [Leaf::Offload] && written.construct.has(Leaf::Kernels);
        let takes_copies = construct
            .kinds()
            .any(|it| matches!(it, ClauseKind::Private(_) | ClauseKind::Reduction(_)));
        let Some(body) = self.made.regions[id].body.filter(|_| is_compute && !takes_copies) else {
            return Vec::new();
        };
        let StmtKind::Block(list) = &self.made.stmts[body].kind else { return Vec::new() };
        let mut loops = Vec::new();
        for stmt in list {
            let StmtKind::Region(at) = self.made.stmts[*stmt].kind else { return Vec::new() };
            let leaves = &self.made.regions[at].construct.leaves;
            let is_dealt = leaves.first() == Some(&Leaf::Distribute)
                || leaves.starts_with(&[Leaf::Parallel, Leaf::For])
                || *leaves == [Leaf::Parallel];
            if !is_dealt {
                return Vec::new();
            }
            loops.push(at);
        }
        if loops.len() < 2 { Vec::new() } else { loops }
    }

    /// Whether a loop is one of those of such a construct.
    pub(super) fn is_nest(&self, id: RegionId) -> bool {
        self.sequences().loops.contains(&id)
    }

    /// The construct becomes the life of its data.
    pub(super) fn data_of_nests(&self, id: RegionId) -> Plan {
        let region = &self.made.regions[id];
        let mut plan = Plan::default();
        let mut to = self.directive(vec![Leaf::DataRegion], region.construct.span);
        self.maps(id, &mut to, &mut plan);
        self.refuse_choices(&self.program.regions[id].construct, &mut plan);
        to.clauses.retain(|it| matches!(it.kind, ClauseKind::Map(_)));
        self.not_proven(id, &mut plan);
        self.sizes(&self.program.regions[id].construct, &mut plan);
        if !to.clauses.is_empty() {
            self.after_queue(&region.construct, &mut plan);
            self.plain_condition(&region.construct, &mut to);
            plan.lines.push(Line::Directive(Box::new(to)));
        }
        plan
    }

    /// What such a loop takes over from its construct.
    pub(super) fn alone(
        &self,
        parent: RegionId,
        id: RegionId,
        to: &mut Construct<Spelled>,
        plan: &mut Plan,
    ) {
        let region = &self.made.regions[parent];
        self.condition(&region.construct, to);
        let mut maps = Maps::default();
        let mut has_data = false;
        for var in &region.vars {
            // Of loops that no directive is at, variables are not listed.
            let is_used = self.made.regions[id].vars.iter().any(|it| it.var == var.var)
                || self.made.any_expr(Part::Region(id), |it| *it == ExprKind::Var(var.var));
            let name = self.words.var(var.var);
            let is_scalar = self.made.types.is_scalar(self.made.vars[var.var].ty)
                && !self.made.types.is_pointer(self.made.vars[var.var].ty);
            for mapping in &var.mappings {
                has_data |= matches!(
                    (&mapping.value, mapping.origin),
                    (
                        Mapping::Map(_, Presence::Any, _),
                        Origin::Clause(_) | Origin::Rule(Rule::Touched)
                    )
                );
                match (&mapping.value, mapping.origin) {
                    (Mapping::DevicePointer, _) if is_used => maps.pointers.push(name.clone()),
                    (Mapping::Map(..), Origin::Rule(Rule::ReductionMapped)) => {}
                    (Mapping::Map(..), Origin::Rule(_)) if is_scalar && !var.written => {}
                    (Mapping::Map(..), _) if is_scalar && is_used => {
                        maps.add(Motion::Alloc, Presence::Any, name.clone());
                    }
                    (Mapping::Map(_, Presence::Any | Presence::Required, Some(item)), origin)
                        if is_used =>
                    {
                        self.name_again(*item, origin, &mut maps, plan);
                    }
                    _ => {}
                }
            }
        }
        to.clauses.extend(maps.clauses(self.profile()));
        for it in region.construct.clauses.iter().filter(|it| it.group.is_none()) {
            if let ClauseKind::NumTeams { .. } = it.kind {
                self.compute_clause(&it.kind, it.on, to, plan);
            }
        }
        self.one_team(id, to, plan);
        // Data of the construct's own would go before what is queued is done.
        let is_queued = region.construct.kinds().any(|it| matches!(it, ClauseKind::Async(_)));
        if !has_data && is_queued {
            self.order(&region.construct, to, plan);
        } else if is_queued {
            let text = "done at once: its data goes with the construct";
            plan.remark(Fate::Approximated, Some(codes::AT_ONCE), None, text);
        }
    }

    /// Names a part of what a pointer leads to that is on the device already and may begin before it: the pointer
    /// alone does not find that.
    pub(super) fn name_again(
        &self,
        item: ExprId,
        origin: Origin,
        maps: &mut Maps,
        plan: &mut Plan,
    ) {
        if !self.may_begin_before(item) {
            return;
        }
        if let Origin::Enclosing(outer, _) = origin
            && !self.is_constant_in(item, outer)
        {
            let text = "it may begin before its pointer, and what says where may change: name it in a clause";
            let item = Some(self.words.expr(item));
            return plan.remark(Fate::Refused, Some(codes::TOUCHED), item, text);
        }
        maps.add(Motion::Alloc, Presence::Any, self.words.expr(item));
    }

    fn may_begin_before(&self, item: ExprId) -> bool {
        let ExprKind::Section(section) = &self.made.exprs[item].kind else { return false };
        let base = &self.made.exprs[section.base];
        let is_behind = |it: ExprId| matches!(self.made.exprs[it].kind, ExprKind::Int(0..));
        matches!(base.kind, ExprKind::Var(_))
            && self.made.types.is_pointer(base.ty)
            && !section.lower.is_none_or(is_behind)
    }

    /// Whether the variables of an item keep their values in the body of a region.
    fn is_constant_in(&self, item: ExprId, region: RegionId) -> bool {
        let is_set = |var: VarId| {
            self.made.any_expr(Part::Region(region), |it| match it {
                ExprKind::Assign(to, _) | ExprKind::AssignOp(_, to, ..) => self.is_named(*to, var),
                ExprKind::Step(_, to) | ExprKind::AddrOf(to) => self.is_named(*to, var),
                _ => false,
            })
        };
        let is_local = |var: VarId| {
            matches!(self.made.vars[var].storage, VarStorage::Local(_) | VarStorage::Param(_))
        };
        !self.made.any_expr(Part::Expr(item), |it| match it {
            ExprKind::Var(var) => !is_local(*var) || is_set(*var),
            ExprKind::Call(..) | ExprKind::Deref(_) => true,
            _ => false,
        })
    }

    fn is_named(&self, expr: ExprId, var: VarId) -> bool {
        self.made.exprs[expr].kind == ExprKind::Var(var)
    }
}
