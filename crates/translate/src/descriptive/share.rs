//! What the variables of a construct that leaves the host become.
//!
//! Both standards copy what no clause names: arrays and records both ways, scalars to each device
//! construct. They differ where teams change a scalar together, where a data region around names a
//! scalar, and in what pointers lead to; there a clause is written.

use ir::construct::{Clause, ClauseKind, Construct, Leaf, Motion, Presence, Spelled};
use ir::program::{ExprId, ExprKind, RegionId, Typed, VarId};
use ir::region::{Mapping, Origin, RegionVar, Rule};

use super::super::data::transfer;
use super::super::{Fate, Line, Plan, clause};
use super::items::Items;
use super::{COPIES, Descriptive, NO_COUNTERPART, ONE_FOR_TEAMS};
use levels::base;

/// What stands before and behind a directive.
#[derive(Debug, Default)]
pub(super) struct Around {
    pub(super) before: Vec<Line>,
    pub(super) after: Vec<Line>,
}

impl Descriptive<'_, '_> {
    /// Clauses for the variables of a construct and of the teams in it.
    pub(super) fn share(
        &self,
        id: RegionId,
        teams: Option<RegionId>,
        to: &mut Construct<Spelled>,
        plan: &mut Plan,
    ) -> Around {
        let region = &self.program.regions[id];
        let mut items = Items::default();
        let mut copies: Vec<String> = Vec::new();
        let mut pointers: Vec<String> = Vec::new();
        for var in &region.vars {
            if self.program.vars[var.var].thread_local {
                let text = "threads of devices have no variables for their whole life";
                let name = Some(self.t.words.var(var.var));
                plan.remark(Fate::Refused, Some(NO_COUNTERPART), name, text);
            }
            for mapping in &var.mappings {
                match (&mapping.value, mapping.origin) {
                    (Mapping::DevicePointer, _) => {
                        self.device_pointer(id, var.var, &mut pointers, plan);
                    }
                    (Mapping::DeviceAddress, _) => {
                        let text =
                            "there is no word for objects at device addresses; use a pointer";
                        let name = Some(self.t.words.var(var.var));
                        plan.remark(Fate::Refused, Some(NO_COUNTERPART), name, text);
                    }
                    (Mapping::FirstPrivate, Origin::Rule(rule)) => {
                        self.scalar(id, var, rule, &mut items, &mut copies, to, plan);
                    }
                    (Mapping::Map(motion, presence, item), Origin::Rule(rule)) => {
                        self.by_rule(var, *motion, *presence, *item, rule, &mut items);
                    }
                    (Mapping::PointerToMapped, origin) => {
                        self.pointer(id, var, origin, &mut items, &mut copies, to, plan);
                    }
                    (
                        Mapping::Map(..)
                        | Mapping::FirstPrivate
                        | Mapping::Private
                        | Mapping::Declared,
                        _,
                    ) => {}
                }
            }
        }
        for it in &region.construct.clauses {
            if let ClauseKind::Map(map) = &it.kind {
                self.map_clause(map, it, &mut items, plan);
            }
        }
        to.clauses.extend(items.clauses());
        if !pointers.is_empty() {
            to.clauses.push(clause(ClauseKind::DevicePointer(pointers)));
        }
        if !copies.is_empty() {
            to.clauses.push(clause(ClauseKind::FirstPrivate { saved: false, items: copies }));
        }
        if !items.own.is_empty() {
            to.clauses.push(clause(ClauseKind::Private(items.own.clone())));
        }
        self.copies(id, id, to, plan);
        if let Some(teams) = teams {
            self.copies(id, teams, to, plan);
        }
        let mut around = self.now(&items, &region.construct);
        for name in &items.kept {
            around
                .before
                .push(Line::Statement(format!("__typeof__({name}) ferry_kept_{name} = {name};")));
            around.after.push(Line::Statement(format!("{name} = ferry_kept_{name};")));
        }
        around
    }

    /// A pointer that holds a device address.
    fn device_pointer(
        &self,
        id: RegionId,
        var: VarId,
        pointers: &mut Vec<String>,
        plan: &mut Plan,
    ) {
        let names = |kind: &ClauseKind<Typed>| match kind {
            ClauseKind::UseDevice(_, items) => {
                items.iter().any(|it| base(self.program, *it) == Some(var))
            }
            _ => false,
        };
        let is_replaced = self.above(id).any(|up| {
            let mut kinds = self.program.regions[up].construct.kinds();
            kinds.any(names)
        });
        let name = self.t.words.var(var);
        if is_replaced && !self.t.profile().takes_newest {
            let text = "this compiler takes no device code with addresses that host code sees";
            plan.remark(Fate::Refused, Some(NO_COUNTERPART), Some(name), text);
            return;
        }
        pointers.push(name);
    }

    /// The copies before and behind that are made in any case.
    pub(super) fn now(&self, items: &Items, from: &Construct<Typed>) -> Around {
        let line = |to_device: bool, list: &[String]| {
            let mut update = self.t.directive(vec![Leaf::Update], from.span);
            let list = list.to_vec();
            let kind = ClauseKind::Transfer(transfer(to_device, Presence::Any, list));
            update.clauses.push(clause(kind));
            for it in from.clauses.iter().filter(|it| matches!(it.on, None | Some(Leaf::Offload))) {
                if let ClauseKind::If(condition) = it.kind {
                    update.clauses.push(clause(ClauseKind::If(self.t.words.expr(condition))));
                }
            }
            update.clauses.push(clause(ClauseKind::IfPresent));
            Line::Directive(Box::new(update))
        };
        let mut around = Around::default();
        if !items.to_device.is_empty() {
            around.before.push(line(true, &items.to_device));
        }
        if !items.from_device.is_empty() {
            around.after.push(line(false, &items.from_device));
        }
        around
    }

    /// Data that a rule brings to the device.
    fn by_rule(
        &self,
        var: &RegionVar,
        motion: Motion,
        presence: Presence,
        item: Option<ExprId>,
        rule: Rule,
        items: &mut Items,
    ) {
        let name = || item.map_or_else(|| self.t.words.var(var.var), |it| self.t.words.expr(it));
        match rule {
            // Sums are copied both ways; arrays and records too.
            Rule::ReductionMapped | Rule::AggregateDefault | Rule::CombinedClause => {}
            _ if presence == Presence::Required => {
                items.add(Motion::Alloc, Presence::Required, name());
            }
            _ => items.add(motion, Presence::Any, name()),
        }
    }

    /// A scalar of which the device has a copy.
    #[allow(clippy::too_many_arguments, reason = "lists that are filled together")]
    fn scalar(
        &self,
        id: RegionId,
        var: &RegionVar,
        rule: Rule,
        items: &mut Items,
        copies: &mut Vec<String>,
        to: &Construct<Spelled>,
        plan: &mut Plan,
    ) {
        if rule == Rule::CombinedClause || self.has_own(id, var.var) {
            return;
        }
        let name = self.t.words.var(var.var);
        let is_mapped = self.is_mapped_anywhere(var.var);
        let has_gangs = to.has(Leaf::Teams) && !self.is_one_gang(id);
        if var.written && has_gangs && self.own_of_loop(id, var.var).is_some() {
            // The loop has it: everybody sets it first, and nobody sees it later.
        } else if var.written && !var.read && has_gangs && self.is_loop(id) && !is_mapped {
            let text = "everybody sets it first, and nobody sees it later";
            plan.remark(Fate::Translated, Some(ONE_FOR_TEAMS), Some(name.clone()), text);
            items.own.push(name);
        } else if var.written && has_gangs && self.is_shared_by_teams(id, var.var) {
            let is_scalar = self.program.types.is_scalar(self.program.vars[var.var].ty);
            if is_mapped || !is_scalar || self.is_queued(id) {
                let text = "all teams change one copy of it, which is not the one of the program";
                plan.remark(Fate::Refused, Some(COPIES), Some(name), text);
            } else {
                let text = "all teams change one copy of it";
                plan.remark(Fate::Translated, Some(ONE_FOR_TEAMS), Some(name.clone()), text);
                items.kept.push(name.clone());
                items.add(Motion::To, Presence::Any, name);
            }
        } else if is_mapped || rule == Rule::DefaultMapClause {
            // A data region that names it would make the construct use the device's.
            copies.push(name);
        }
    }

    /// A pointer that no clause names: it leads to the device's data, if there is any.
    #[allow(clippy::too_many_arguments, reason = "lists that are filled together")]
    fn pointer(
        &self,
        id: RegionId,
        var: &RegionVar,
        origin: Origin,
        items: &mut Items,
        copies: &mut Vec<String>,
        to: &Construct<Spelled>,
        plan: &mut Plan,
    ) {
        if self.has_own(id, var.var) || matches!(origin, Origin::Clause(_)) {
            return;
        }
        let types = &self.program.types;
        let ty = self.program.vars[var.var].ty;
        let name = self.t.words.var(var.var);
        if var.written {
            if to.has(Leaf::Teams) && !self.is_one_gang(id) {
                let text = "all teams change one copy of this pointer";
                plan.remark(Fate::Refused, Some(COPIES), Some(name), text);
                return;
            }
            if !types.is_pointer(ty) {
                copies.push(name);
                return;
            }
        }
        let to_object =
            types.pointee(ty).filter(|it| !types.is_function(*it) && types.is_complete(*it));
        let is_used = var.pointee.read || var.pointee.written || var.pointee.escapes;
        if to_object.is_none() || !is_used {
            return;
        }
        if self.around_names(id, var.var) {
            return;
        }
        items.add(Motion::Alloc, Presence::Optional, format!("{name}[0:1]"));
    }

    /// Whether clauses of the construct, or of the teams in it, make copies of a variable.
    fn has_own(&self, id: RegionId, var: VarId) -> bool {
        let parts = std::iter::once(id).chain(self.only_teams(id));
        parts.into_iter().any(|part| {
            self.program.regions[part].construct.kinds().any(|it| match it {
                ClauseKind::Private(items)
                | ClauseKind::FirstPrivate { items, .. }
                | ClauseKind::LastPrivate { items, .. } => {
                    items.iter().any(|it| base(self.program, *it) == Some(var))
                }
                ClauseKind::Reduction(it) if part == id => {
                    it.items.iter().any(|it| base(self.program, *it) == Some(var))
                }
                _ => false,
            }) || self.is_loop(part)
                && self.program.regions[part].loops.iter().any(|it| it.var == var)
        })
    }

    fn is_one_gang(&self, id: RegionId) -> bool {
        let from = &self.program.regions[id].construct;
        match self.is_loop(id) {
            true => !from.has(Leaf::Loop) && !self.levels(id).gang,
            false => !from.has(Leaf::Teams) && self.only_teams(id).is_none(),
        }
    }

    /// Whether data directives anywhere name a variable as a whole.
    fn is_mapped_anywhere(&self, var: VarId) -> bool {
        self.program.regions.iter().any(|(_, it)| {
            it.construct.kinds().any(|it| match it {
                ClauseKind::Map(map) => map.items.iter().any(
                    |it| matches!(self.program.exprs[*it].kind, ExprKind::Var(it) if it == var),
                ),
                _ => false,
            })
        })
    }

    /// Whether a data region around names what a pointer leads to.
    fn around_names(&self, id: RegionId, var: VarId) -> bool {
        self.above(id).any(|up| {
            let construct = &self.program.regions[up].construct;
            construct.has(Leaf::DataRegion)
                && construct.kinds().any(|it| match it {
                    ClauseKind::Map(map) => map.items.iter().any(|it| {
                        base(self.program, *it) == Some(var)
                            && matches!(self.program.exprs[*it].kind, ExprKind::Section(_))
                            && !self.is_nothing(*it)
                    }),
                    _ => false,
                })
        })
    }

    /// Copies that clauses of `part` ask for, on the construct.
    fn copies(&self, id: RegionId, part: RegionId, to: &mut Construct<Spelled>, plan: &mut Plan) {
        let from = &self.program.regions[part].construct;
        // Threads have their copies in the loops that they share.
        let in_threads = from.has(Leaf::Parallel) && !self.is_loop(part);
        let is_loop = self.is_loop(part);
        for it in &from.clauses {
            let written = || Some(self.t.words.written(it.span));
            match &it.kind {
                ClauseKind::Private(items) if !in_threads && (!is_loop || part == id) => {
                    let items = self.t.words.list(items);
                    to.clauses.push(clause(ClauseKind::Private(items)));
                }
                ClauseKind::FirstPrivate { items, .. } => {
                    let changed = |item: &ExprId| {
                        let var = base(self.program, *item);
                        let used =
                            self.program.regions[part].vars.iter().find(|it| Some(it.var) == var);
                        used.map_or((true, true), |it| (it.read, it.written))
                    };
                    for item in items {
                        let name = vec![self.t.words.expr(*item)];
                        let is_shared_by_threads = is_loop || in_threads;
                        match changed(item) {
                            (true, true) if is_shared_by_threads => {
                                let text = "a thread keeps its copy from one iteration to the next; \
                                            declare a variable in the loop that starts with this value";
                                plan.remark(Fate::Refused, Some(COPIES), written(), text);
                            }
                            (false, true) if is_loop && part == id => {
                                to.clauses.push(clause(ClauseKind::Private(name)));
                            }
                            (false, true) if is_shared_by_threads => {}
                            _ => to.clauses.push(clause(ClauseKind::FirstPrivate {
                                saved: false,
                                items: name,
                            })),
                        }
                    }
                }
                ClauseKind::Reduction(sum) if !is_loop && !in_threads => {
                    self.team_sum(id, sum, it, to, plan);
                }
                ClauseKind::LastPrivate { .. } | ClauseKind::Linear(_) if !is_loop => {
                    plan.remark(Fate::Refused, Some(COPIES), written(), "it has no counterpart");
                }
                _ => {}
            }
        }
    }

    /// A sum of teams: that of the one loop they share, or of the construct.
    fn team_sum(
        &self,
        id: RegionId,
        sum: &ir::construct::Reduction<Typed>,
        it: &Clause<Typed>,
        to: &mut Construct<Spelled>,
        plan: &mut Plan,
    ) {
        match self.gang_loops(id).as_slice() {
            [] => {
                if let Some(sum) = self.sum(sum, it, plan) {
                    to.clauses.push(clause(sum));
                }
            }
            [one]
                if sum
                    .items
                    .iter()
                    .filter_map(|it| base(self.program, *it))
                    .all(|it| !self.is_used_between(id, *one, it)) =>
            {
                // The loop says it; what is summed up comes back.
                let region = &self.program.regions[id];
                for item in &sum.items {
                    let var = base(self.program, *item);
                    let used = region.vars.iter().find(|it| Some(it.var) == var);
                    let comes_back = used.is_some_and(|it| {
                        it.mappings
                            .iter()
                            .any(|it| it.origin == Origin::Rule(Rule::ReductionMapped))
                    });
                    if comes_back {
                        let mut items = Items::default();
                        items.add(Motion::ToFrom, Presence::Any, self.t.words.expr(*item));
                        to.clauses.extend(items.clauses());
                    }
                }
            }
            _ => {
                let text = "what teams sum up is used in the same construct; sum up in one loop";
                let written = Some(self.t.words.written(it.span));
                plan.remark(Fate::Refused, Some(COPIES), written, text);
            }
        }
    }

    /// Whether teams can change a scalar together: by indivisible accesses, or as a sum. Other changes
    /// of one copy by several teams would be in each other's way, so that a copy each does as well.
    fn is_shared_by_teams(&self, id: RegionId, var: VarId) -> bool {
        let is_array = !self.program.types.is_scalar(self.program.vars[var].ty);
        is_array
            || self.below(id).any(|at| {
                let region = &self.program.regions[at];
                let is_one = |leaf: Leaf| region.construct.leaves.first() == Some(&leaf);
                let is_summed = region.construct.kinds().any(|it| match it {
                    ClauseKind::Reduction(it) => {
                        it.items.iter().any(|it| base(self.program, *it) == Some(var))
                    }
                    _ => false,
                });
                let is_touched = region.body.is_some_and(|it| self.is_used_in(it, var));
                is_summed || is_touched && (is_one(Leaf::Atomic) || is_one(Leaf::Critical))
            })
    }

    fn is_used_in(&self, body: ir::program::StmtId, var: VarId) -> bool {
        let span = self.program.stmts[body].span;
        self.program.exprs.iter().any(|(_, it)| {
            it.kind == ExprKind::Var(var) && it.span.start >= span.start && it.span.end <= span.end
        })
    }

    /// The loop inside a construct that has a scalar for itself: nothing else of the construct uses it,
    /// and each iteration sets it first.
    pub(super) fn own_of_loop(&self, id: RegionId, var: VarId) -> Option<RegionId> {
        let is_own = |at: &RegionId| {
            let used = self.program.regions[*at].vars.iter().find(|it| it.var == var);
            self.is_loop(*at)
                && used.is_some_and(|it| it.written && !it.read)
                && !self.is_used_between(id, *at, var)
        };
        self.below(id).filter(is_own).last()
    }

    /// Scalars that a loop inside a construct has for itself, though no clause says so.
    pub(super) fn own_scalars(&self, id: RegionId) -> Vec<String> {
        let begins = |it: &RegionId| self.program.regions[*it].construct.has(Leaf::Offload);
        let Some(construct) = self.above(id).find(begins) else { return Vec::new() };
        let counts = |var: VarId| self.program.regions[id].loops.iter().any(|it| it.var == var);
        let is_copied = |var: &&RegionVar| {
            let is_by_rule = var.mappings.iter().any(|it| {
                matches!((&it.value, it.origin), (Mapping::FirstPrivate, Origin::Rule(_)))
            });
            is_by_rule && self.program.types.is_scalar(self.program.vars[var.var].ty)
        };
        let vars = self.program.regions[construct].vars.iter().filter(is_copied);
        vars.filter(|it| !counts(it.var) && self.own_of_loop(construct, it.var) == Some(id))
            .map(|it| self.t.words.var(it.var))
            .collect()
    }

    /// Whether a variable is used in one region, but not in another inside it.
    fn is_used_between(&self, outer: RegionId, inner: RegionId, var: VarId) -> bool {
        let span = |id: RegionId| {
            let body = self.program.regions[id].body?;
            Some(self.program.stmts[body].span)
        };
        let (Some(outer), Some(inner)) = (span(outer), span(inner)) else { return true };
        let in_directive = |at: source::Span| {
            self.program.regions.iter().any(|(_, it)| {
                it.construct.span.start <= at.start && at.end <= it.construct.span.end
            })
        };
        self.program.exprs.iter().any(|(_, it)| {
            it.kind == ExprKind::Var(var)
                && it.span.start >= outer.start
                && it.span.end <= outer.end
                && !(it.span.start >= inner.start && it.span.end <= inner.end)
                && !in_directive(it.span)
        })
    }
}

/// A variable in several lists that make copies has one.
pub(super) fn once(to: &mut Construct<Spelled>) {
    let mut seen: Vec<String> = Vec::new();
    for it in &mut to.clauses {
        let items = match &mut it.kind {
            ClauseKind::Reduction(it) => &mut it.items,
            ClauseKind::Private(items) | ClauseKind::FirstPrivate { items, .. } => items,
            _ => continue,
        };
        items.retain(|it| !seen.contains(it));
        seen.extend(items.clone());
    }
    to.clauses.retain(|it| match &it.kind {
        ClauseKind::Reduction(it) => !it.items.is_empty(),
        ClauseKind::Private(items) | ClauseKind::FirstPrivate { items, .. } => !items.is_empty(),
        _ => true,
    });
}
