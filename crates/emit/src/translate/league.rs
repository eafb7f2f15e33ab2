//! Constructs that leave the host, and their loops, as teams of threads.
//!
//! Who runs what has been decided by the pass that gives levels to loops. Here the data and sharing of
//! each variable, as sema found them, become clauses: those only that differ from what the standard
//! written does by itself.

use ir::construct::{
    ClauseKind, Construct, Leaf, Map, MapFlags, Motion, Presence, Reduction, Spelled,
};
use ir::program::{ExprId, ExprKind, Level, RegionId, StmtKind, Typed, VarId};
use ir::region::{Mapping, Origin, RegionVar, Rule};

use super::{Fate, Line, Plan, Translator, clause, codes};
use crate::lower::levels::base;

/// Parts of arrays that take more to say are the user's to name.
const LONGEST: usize = 160;

impl Translator<'_> {
    /// A construct that leaves the host.
    pub(super) fn league(&self, id: RegionId) -> Plan {
        if !self.nests(id).is_empty() {
            return self.data_of_nests(id);
        }
        let region = &self.made.regions[id];
        let written = &self.program.regions[id].construct;
        let mut plan = Plan::default();
        let mut to = self.directive(self.parts(id), region.construct.span);
        self.condition(&region.construct, &mut to);
        self.maps(id, &mut to, &mut plan);
        self.order(&region.construct, &mut to, &mut plan);
        for it in region.construct.clauses.iter().filter(|it| it.group.is_none()) {
            self.compute_clause(&it.kind, it.on, &mut to, &mut plan);
        }
        if let Some((at, true)) = self.lone_loop(id) {
            for it in &self.made.regions[at].construct.clauses {
                self.compute_clause(&it.kind, None, &mut to, &mut plan);
            }
        }
        self.lift_sums(id, &mut to, &mut plan);
        self.lift_copies(id, &mut to, &mut plan);
        self.one_team(id, &mut to, &mut plan);
        self.not_proven(id, &mut plan);
        self.sizes(written, &mut plan);
        self.refuse_between(id, &mut plan);
        merge_copies(&mut to);
        plan.lines.push(Line::Directive(Box::new(to)));
        plan
    }

    /// A loop of a function that the teams of its callers share must, in the other standard, stand in their
    /// construct: the threads of one team share it. Where the number of teams is open there is only that one.
    pub(super) fn one_team(&self, id: RegionId, to: &mut Construct<Spelled>, plan: &mut Plan) {
        let called = self.made.regions[id]
            .reaches
            .iter()
            .find(|it| self.program.functions[**it].device.level == Some(Level::Team));
        let Some(called) = called.filter(|_| to.has(Leaf::Teams)) else { return };
        let name = self.program.names.text(self.program.functions[*called].name);
        let text =
            format!("one team runs the loop of `{name}` that is for the teams of its callers");
        plan.remark(Fate::Approximated, Some(codes::ONE_TEAM), None, text);
        if !to.kinds().any(|it| matches!(it, ClauseKind::NumTeams { .. })) {
            let counts = vec!["1".to_owned()];
            to.clauses.push(clause(ClauseKind::NumTeams { lower: None, counts }));
        }
    }

    /// The loop that is all a construct does whose parallelism is the compiler's to find; and whether it
    /// is the body itself, without braces.
    fn lone_loop(&self, id: RegionId) -> Option<(RegionId, bool)> {
        if !self.program.regions.find(id)?.construct.has(Leaf::Kernels)
            || self.made.regions[id].construct.leaves != [Leaf::Offload]
        {
            return None;
        }
        let mut at = self.made.regions[id].body?;
        let mut is_body = true;
        loop {
            match &self.made.stmts[at].kind {
                StmtKind::Region(inner) => {
                    let leaves = &self.made.regions[*inner].construct.leaves;
                    return leaves
                        .starts_with(&[Leaf::Parallel, Leaf::For])
                        .then_some((*inner, is_body));
                }
                StmtKind::Block(list) => {
                    let [one] = list.as_ref() else { return None };
                    at = *one;
                    is_body = false;
                }
                _ => return None,
            }
        }
    }

    /// The parts that a construct or loop becomes; none if the directive goes.
    pub(super) fn parts(&self, id: RegionId) -> Vec<Leaf> {
        let region = &self.made.regions[id];
        let leaves = &region.construct.leaves;
        if !self.nests(id).is_empty() {
            return vec![Leaf::DataRegion];
        }
        if self.is_nest(id) {
            let all = [Leaf::Offload, Leaf::Teams, Leaf::Distribute];
            let rest = leaves.strip_prefix(&[Leaf::Distribute]).unwrap_or(leaves);
            return all.iter().chain(rest).copied().collect();
        }
        if let Some((at, is_body)) = self.lone_loop(id) {
            let mut all = vec![Leaf::Offload, Leaf::Teams];
            if is_body {
                all.push(Leaf::Distribute);
                all.extend(&self.made.regions[at].construct.leaves);
            }
            return all;
        }
        match region.parent.and_then(|it| self.lone_loop(it)) {
            Some((at, true)) if at == id => Vec::new(),
            Some((at, false)) if at == id => [&[Leaf::Distribute], leaves.as_slice()].concat(),
            _ => leaves.clone(),
        }
    }

    /// Whether code stands between loops that are made one: it would have to be run again and again.
    fn refuse_between(&self, id: RegionId, plan: &mut Plan) {
        let region = &self.program.regions[id];
        let forces =
            |it: &ClauseKind<Typed>| matches!(it, ClauseKind::Collapse { force: true, .. });
        if !region.construct.kinds().any(forces) {
            return;
        }
        for (outer, inner) in region.loops.iter().zip(region.loops.iter().skip(1)) {
            let mut at = outer.body;
            while let StmtKind::Block(list) = &self.program.stmts[at].kind
                && let [one] = list.as_ref()
            {
                at = *one;
            }
            if at != inner.stmt {
                let text = "code between the loops cannot be taken along; move it inside";
                plan.remark(Fate::Refused, Some(codes::NO_COUNTERPART), None, text);
            }
        }
    }

    /// A clause that is not about data.
    pub(super) fn compute_clause(
        &self,
        kind: &ClauseKind<Typed>,
        on: Option<Leaf>,
        to: &mut Construct<Spelled>,
        plan: &mut Plan,
    ) {
        let is_dealt = to.has(Leaf::Distribute);
        match kind {
            ClauseKind::NumTeams { counts, .. } if to.has(Leaf::Teams) => {
                let counts = self.words.list(counts);
                let count = match counts.as_slice() {
                    [one] => one.clone(),
                    many => many.iter().map(|it| format!("({it})")).collect::<Vec<_>>().join(" * "),
                };
                let counts = vec![count];
                to.clauses.push(clause(ClauseKind::NumTeams { lower: None, counts }));
            }
            ClauseKind::Private(items) => {
                let items = self.whole(items, false, to, plan);
                to.clauses.push(clause(ClauseKind::Private(items)));
            }
            ClauseKind::FirstPrivate { items, .. } => {
                let items = self.whole(items, true, to, plan);
                to.clauses.push(clause(ClauseKind::FirstPrivate { saved: false, items }));
            }
            ClauseKind::LastPrivate { items, .. } if is_dealt => {
                let items = self.words.list(items);
                to.clauses.push(clause(ClauseKind::LastPrivate { conditional: false, items }));
            }
            ClauseKind::Reduction(it) if to.has(Leaf::Teams) => {
                to.clauses.push(clause(self.sum(it)));
            }
            ClauseKind::Collapse { count, .. } if is_dealt && on.is_none() => {
                let count = self.words.expr(*count);
                to.clauses.push(clause(ClauseKind::Collapse { force: false, count }));
            }
            ClauseKind::DistSchedule(chunk) if is_dealt => {
                let chunk = chunk.map(|it| self.words.expr(it));
                to.clauses.push(clause(ClauseKind::DistSchedule(chunk)));
            }
            _ => {}
        }
    }

    fn sum(&self, it: &Reduction<Typed>) -> ClauseKind<Spelled> {
        let op = match &it.op {
            ir::construct::ReductionOp::User(name) => {
                ir::construct::ReductionOp::User(self.made.names.text(*name).to_owned())
            }
            ir::construct::ReductionOp::Add => ir::construct::ReductionOp::Add,
            ir::construct::ReductionOp::Sub => ir::construct::ReductionOp::Sub,
            ir::construct::ReductionOp::Mul => ir::construct::ReductionOp::Mul,
            ir::construct::ReductionOp::BitAnd => ir::construct::ReductionOp::BitAnd,
            ir::construct::ReductionOp::BitOr => ir::construct::ReductionOp::BitOr,
            ir::construct::ReductionOp::BitXor => ir::construct::ReductionOp::BitXor,
            ir::construct::ReductionOp::And => ir::construct::ReductionOp::And,
            ir::construct::ReductionOp::Or => ir::construct::ReductionOp::Or,
            ir::construct::ReductionOp::Min => ir::construct::ReductionOp::Min,
            ir::construct::ReductionOp::Max => ir::construct::ReductionOp::Max,
        };
        let items = self.words.list(&it.items);
        ClauseKind::Reduction(Reduction { modifier: None, original: None, op, items })
    }

    /// Items of a list that takes whole variables only. A part of what a pointer leads to becomes an array
    /// of the body.
    fn whole(
        &self,
        items: &[ExprId],
        has_value: bool,
        to: &mut Construct<Spelled>,
        plan: &mut Plan,
    ) -> Vec<String> {
        let mut names = Vec::new();
        for item in items {
            let Some(var) = base(self.made, *item) else { continue };
            let is_whole = matches!(self.made.exprs[*item].kind, ExprKind::Var(_));
            if is_whole || self.made.types.is_array(self.made.vars[var].ty) {
                names.push(self.words.var(var));
            } else if !self.own_array(*item, var, has_value, to, plan) {
                let text = "a part of what a pointer leads to cannot be copied for each team; \
                            declare an array in the region";
                plan.remark(
                    Fate::Refused,
                    Some(codes::NO_COUNTERPART),
                    Some(self.words.expr(*item)),
                    text,
                );
            }
        }
        names
    }

    /// Declares the copy of a part in the body of a construct that is no loop.
    fn own_array(
        &self,
        item: ExprId,
        var: VarId,
        has_value: bool,
        to: &mut Construct<Spelled>,
        plan: &mut Plan,
    ) -> bool {
        let ExprKind::Section(section) = &self.made.exprs[item].kind else { return false };
        let starts_late = section.lower.is_some_and(|it| self.words.expr(it) != "0");
        let (Some(length), false) = (section.length, starts_late) else { return false };
        if !matches!(self.made.exprs[section.base].kind, ExprKind::Var(_))
            || to.has(Leaf::Distribute)
        {
            return false;
        }
        let (name, length) = (self.words.var(var), self.words.expr(length));
        let own = format!("ferry_own_{name}");
        let element = self.made.exprs[item].ty;
        let array = self.words.declare(element, &format!("{own}[{length}]"));
        let mut text = format!("{array};");
        if has_value {
            text.push_str(&format!(
                " for (size_t ferry_at = 0; ferry_at < ({length}); ++ferry_at) \
                 {own}[ferry_at] = {name}[ferry_at];"
            ));
            let mut maps = Maps::default();
            maps.add(Motion::To, Presence::Any, format!("{name}[0:{length}]"));
            to.clauses.extend(maps.clauses(self.profile()));
        }
        let pointer = self.words.declare(self.made.vars[var].ty, &name);
        text.push_str(&format!(" {pointer} = {own};"));
        plan.inside.push(Line::Statement(text));
        true
    }

    /// `if` and `self` together are one condition.
    pub(super) fn condition(&self, from: &Construct<Typed>, to: &mut Construct<Spelled>) {
        let mut terms: Vec<String> = Vec::new();
        for kind in from.kinds() {
            match kind {
                ClauseKind::If(it) => terms.push(self.words.expr(*it)),
                ClauseKind::SelfExec(Some(it)) => {
                    terms.push(format!("!({})", self.words.expr(*it)))
                }
                ClauseKind::SelfExec(None) => terms.push("0".to_owned()),
                _ => {}
            }
        }
        let condition = match terms.as_slice() {
            [] => return,
            [one] => one.clone(),
            many => many.iter().map(|it| format!("({it})")).collect::<Vec<_>>().join(" && "),
        };
        let on = (to.leaves.len() > 1).then_some(Leaf::Offload);
        let kind = ClauseKind::If(condition);
        to.clauses.push(ir::construct::Clause { on, ..clause(kind) });
    }

    /// How the variables of a construct come to the device, where the standard written has another rule.
    pub(super) fn maps(&self, id: RegionId, to: &mut Construct<Spelled>, plan: &mut Plan) {
        let region = &self.made.regions[id];
        let mut list = Maps::default();
        for var in &region.vars {
            for mapping in &var.mappings {
                self.mapping(id, var, &mapping.value, mapping.origin, &mut list, plan);
            }
        }
        let is_combined = to.has(Leaf::Distribute);
        list.sums.retain(|_| !is_combined);
        for name in std::mem::take(&mut list.sums) {
            list.add(Motion::ToFrom, Presence::Any, name);
        }
        for kind in region.construct.kinds() {
            if let ClauseKind::Attach(items) = kind {
                for item in items {
                    let name = self.words.expr(*item);
                    list.add(Motion::Alloc, Presence::Any, format!("{name}[:0]"));
                }
            }
        }
        self.fill_with_zeros(&mut list, plan);
        to.clauses.extend(list.clauses(self.profile()));
    }

    fn mapping(
        &self,
        id: RegionId,
        var: &RegionVar,
        mapping: &Mapping,
        origin: Origin,
        list: &mut Maps,
        plan: &mut Plan,
    ) {
        let region = &self.made.regions[id];
        let types = &self.made.types;
        let ty = self.made.vars[var.var].ty;
        let name = || self.words.var(var.var);
        match (mapping, origin) {
            (Mapping::Map(motion, presence, item), Origin::Clause(at)) => {
                let item_text = item.map_or_else(name, |it| self.words.expr(it));
                let clause = region.construct.clauses.get(at as usize);
                let flags = match clause.map(|it| &it.kind) {
                    Some(ClauseKind::Map(map)) => map.flags,
                    // Named for another reason: it comes along by the rule of the other standard too.
                    _ => return,
                };
                let written = clause.map(|it| self.words.written(it.span));
                if let (true, Some(item)) = (flags.zero, item) {
                    list.zeros.push((*item, *motion));
                    return;
                }
                if *presence == Presence::Required && self.made.vars[var.var].device.is_some() {
                    let text = "it exists on devices by its declaration";
                    plan.remark(Fate::Redundant, None, written, text);
                    return;
                }
                if *presence == Presence::Optional && !types.is_pointer(ty) {
                    let text =
                        "absent data is always made; only what pointers lead to is left alone";
                    plan.remark(Fate::Refused, Some(codes::MADE_IF_ABSENT), written, text);
                    return;
                }
                if *presence == Presence::Optional {
                    // A pointer that no clause names is used as it is if nothing is there.
                    let text = "pointers that no clause names are treated so";
                    plan.remark(Fate::Redundant, None, written, text);
                    return;
                }
                let motion = if *presence == Presence::Required { Motion::Alloc } else { *motion };
                match item {
                    Some(item) => self.map_item(*item, motion, *presence, list, plan),
                    None => list.add(motion, *presence, item_text),
                }
            }
            (Mapping::Map(_, presence, item), Origin::Enclosing(..) | Origin::Declared(_)) => {
                // A scalar would be copied; arrays, and what pointers lead to, are found there.
                let is_scalar = types.is_scalar(ty) && !types.is_pointer(ty);
                let is_object = types.is_pointer(ty) && item.is_none();
                if *presence != Presence::Optional && (is_scalar || is_object) {
                    list.add(Motion::Alloc, Presence::Any, name());
                }
            }
            (Mapping::Map(motion, _, Some(item)), Origin::Rule(Rule::Touched)) => {
                let part = self.words.expr(*item);
                if part.len() > LONGEST {
                    let text =
                        "what the region touches of it takes long to say; name it in a clause";
                    plan.remark(Fate::Refused, Some(codes::TOUCHED), Some(name()), text);
                    return;
                }
                list.add(*motion, Presence::Any, part);
                let text = "it is mapped as far as the region touches it";
                plan.remark(Fate::Translated, Some(codes::TOUCHED), Some(name()), text);
            }
            (Mapping::Map(..), Origin::Rule(Rule::ReductionMapped)) => list.sums.push(name()),
            (Mapping::Map(..), Origin::Rule(Rule::CombinedClause)) => {}
            (Mapping::Map(_, Presence::Required, _), Origin::Rule(_)) => {
                list.add(Motion::Alloc, Presence::Required, name());
            }
            (Mapping::Map(motion, ..), Origin::Rule(_)) if types.is_scalar(ty) => {
                if var.written {
                    list.add(*motion, Presence::Any, name());
                }
            }
            (Mapping::DevicePointer, _) => list.pointers.push(name()),
            (Mapping::DeviceAddress, _) => list.addresses.push(name()),
            (
                Mapping::Map(..)
                | Mapping::FirstPrivate
                | Mapping::Private
                | Mapping::PointerToMapped
                | Mapping::Declared,
                _,
            ) => {}
        }
    }

    /// A loop inside such a construct, or in a function that is called there, or one that has none yet.
    pub(super) fn league_loop(&self, id: RegionId) -> Plan {
        let region = &self.made.regions[id];
        let mut plan = Plan::default();
        let mut leaves = self.parts(id);
        // Only loops for teams and new threads may stand directly in the code of teams.
        if leaves == [Leaf::Simd] && self.is_in_teams(id) {
            leaves = vec![Leaf::Parallel, Leaf::For, Leaf::Simd];
        }
        let deals = |it: &Construct<Typed>| it.has(Leaf::Distribute);
        let above = self.above(id);
        let is_orphan = !above.iter().any(|it| {
            let leaves = &self.program.regions.find(*it).map(|it| it.construct.leaves.clone());
            leaves
                .as_ref()
                .is_some_and(|it| it.contains(&Leaf::Offload) || it.contains(&Leaf::Kernels))
        });
        if is_orphan && leaves.contains(&Leaf::Distribute) {
            let sums = |it: &ClauseKind<Typed>| matches!(it, ClauseKind::Reduction(_));
            if region.construct.kinds().any(sums) {
                return Plan::refused("a sum over the teams of whoever calls has no counterpart");
            }
            leaves.retain(|it| *it != Leaf::Distribute);
            if leaves.is_empty() {
                leaves.extend([Leaf::Parallel, Leaf::For]);
            }
            plan.first.push(Line::Statement(format!("if ({}() == 0)", directive::TEAM_NUMBER)));
            plan.uses_header = true;
            let text = "the threads of one team share it";
            plan.remark(Fate::Approximated, Some(codes::ONE_TEAM), None, text);
        }
        if leaves.contains(&Leaf::Distribute)
            && !leaves.contains(&Leaf::Teams)
            && above.iter().any(|it| deals(&self.made.regions[*it].construct))
        {
            return Plan::refused("teams of several dimensions have no counterpart");
        }
        let mut to = self.directive(leaves, region.construct.span);
        if let Some(parent) = region.parent.filter(|_| self.is_nest(id)) {
            self.alone(parent, id, &mut to, &mut plan);
        }
        let has_teams = to.has(Leaf::Teams);
        for it in &region.construct.clauses {
            match &it.kind {
                ClauseKind::FirstPrivate { items, .. }
                    if !has_teams && to.has(Leaf::Distribute) =>
                {
                    let text = format!(
                        "each iteration reads `{}` before it assigns to it",
                        self.words.list(items).join("`, `")
                    );
                    plan.remark(Fate::Refused, Some(codes::NO_COUNTERPART), None, text);
                }
                ClauseKind::Reduction(_) if to.leaves == [Leaf::Distribute] => {}
                ClauseKind::Reduction(it) => to.clauses.push(clause(self.sum(it))),
                ClauseKind::Collapse { count, .. } => {
                    let count = self.words.expr(*count);
                    to.clauses.push(clause(ClauseKind::Collapse { force: false, count }));
                }
                kind => self.compute_clause(kind, None, &mut to, &mut plan),
            }
        }
        if !to.leaves.is_empty() {
            self.lift_copies(id, &mut to, &mut plan);
        }
        merge_copies(&mut to);
        if let Some(written) = self.program.regions.find(id) {
            self.sizes(&written.construct, &mut plan);
            self.not_proven(id, &mut plan);
            self.refuse_between(id, &mut plan);
        }
        if to.leaves.is_empty() {
            if region.construct.leaves.is_empty() {
                self.told_in_order(id, &mut plan);
            }
            return plan;
        }
        if !to.has(Leaf::Distribute) && !to.has(Leaf::Parallel) && !to.has(Leaf::For) {
            to.clauses.retain(|it| !matches!(it.kind, ClauseKind::FirstPrivate { .. }));
        }
        plan.lines.push(Line::Directive(Box::new(to)));
        plan
    }

    /// Regions around, the nearest first.
    fn above(&self, id: RegionId) -> Vec<RegionId> {
        let regions = &self.made.regions;
        std::iter::successors(regions[id].parent, |it| regions[*it].parent).collect()
    }

    /// Whether the construct directly around is one whose code teams run.
    pub(super) fn is_in_teams(&self, id: RegionId) -> bool {
        for at in self.above(id) {
            let construct = &self.made.regions[at].construct;
            if construct.has(Leaf::For)
                || construct.has(Leaf::Simd)
                || construct.has(Leaf::Parallel)
            {
                return false;
            }
            if construct.has(Leaf::Teams) || construct.has(Leaf::Distribute) {
                return true;
            }
            if construct.has(Leaf::Offload) {
                return false;
            }
        }
        false
    }

    /// Sums of loops that teams share are sums of the teams.
    fn lift_sums(&self, id: RegionId, to: &mut Construct<Spelled>, plan: &mut Plan) {
        if to.leaves != [Leaf::Offload, Leaf::Teams] {
            return;
        }
        for (at, region) in self.made.regions.iter() {
            if !self.parts(at).contains(&Leaf::Distribute) || !self.above(at).contains(&id) {
                continue;
            }
            for it in &region.construct.clauses {
                let ClauseKind::Reduction(sum) = &it.kind else { continue };
                let is_said = to.clauses.iter().any(|it| it.kind == self.sum(sum));
                if is_said {
                    continue;
                }
                for item in &sum.items {
                    let Some(var) = base(self.made, *item) else { continue };
                    if self.is_used_between(id, at, var) {
                        let text = format!(
                            "`{}` is summed up by teams and used otherwise in the same construct",
                            self.words.var(var)
                        );
                        plan.remark(Fate::Refused, Some(codes::NO_COUNTERPART), None, text);
                    }
                }
                to.clauses.push(clause(self.sum(sum)));
            }
        }
    }

    /// Copies that loops ask for which run in order: the directive around makes them, if several run it.
    fn lift_copies(&self, id: RegionId, to: &mut Construct<Spelled>, plan: &mut Plan) {
        for (at, _) in self.made.regions.iter() {
            if !self.parts(at).is_empty() || self.taker(at) != Some(id) {
                continue;
            }
            for var in self.unsaid(at, id) {
                let is_scalar = self.made.types.is_scalar(self.made.vars[var].ty);
                let is_shared = to.has(Leaf::Teams) || to.has(Leaf::For);
                if is_scalar && !is_shared {
                    continue;
                }
                if !is_scalar && self.is_used_between(id, at, var) {
                    let text = format!(
                        "a loop that runs in order has its own `{}`, which is used outside of it too",
                        self.words.var(var)
                    );
                    plan.remark(Fate::Refused, Some(codes::NO_COUNTERPART), None, text);
                }
                to.clauses.push(clause(ClauseKind::Private(vec![self.words.var(var)])));
            }
        }
    }

    /// Copies of a loop that runs in order, of variables from outside of the body of another region: what
    /// counts it, and what its clauses name.
    fn unsaid(&self, id: RegionId, around: RegionId) -> Vec<VarId> {
        let region = &self.made.regions[id];
        let body = self.made.regions[around].body.map(|it| self.made.stmts[it].span);
        let is_outside =
            |var: VarId| body.is_none_or(|it| self.made.vars[var].span.start < it.start);
        let named = region.construct.clauses.iter().filter_map(|it| match &it.kind {
            ClauseKind::Private(items) => Some(items),
            _ => None,
        });
        let named = named.flatten().filter_map(|it| base(self.made, *it));
        let mut vars: Vec<VarId> = Vec::new();
        for var in region.loops.iter().map(|it| it.var).chain(named) {
            if is_outside(var) && !vars.contains(&var) {
                vars.push(var);
            }
        }
        vars
    }

    /// The nearest directive around that can make copies.
    fn taker(&self, id: RegionId) -> Option<RegionId> {
        self.above(id).into_iter().find(|it| !self.parts(*it).is_empty())
    }

    /// Whether a variable is used in the body of one region, but not in that of another inside it.
    fn is_used_between(&self, outer: RegionId, inner: RegionId, var: VarId) -> bool {
        let span_of = |id: RegionId| {
            let region = &self.made.regions[id];
            region.body.map(|it| self.made.stmts[it].span)
        };
        let (Some(outer), Some(inner)) = (span_of(outer), span_of(inner)) else { return false };
        self.program.exprs.iter().any(|(_, it)| {
            it.kind == ExprKind::Var(var)
                && it.span.start >= outer.start
                && it.span.end <= outer.end
                && !(it.span.start >= inner.start && it.span.end <= inner.end)
                && !self.is_in_directive(it.span)
        })
    }

    fn is_in_directive(&self, span: source::Span) -> bool {
        self.program.regions.iter().any(|(_, it)| {
            it.construct.span.start <= span.start && span.end <= it.construct.span.end
        })
    }

    /// Says of loops that were left to the compiler why they run in order.
    pub(super) fn not_proven(&self, id: RegionId, plan: &mut Plan) {
        let Some(leveled) = self.leveled else { return };
        let Some(region) = self.program.regions.find(id) else { return };
        let is_compute = region.construct.has(Leaf::Offload) || region.construct.has(Leaf::Kernels);
        for note in &leveled.notes {
            let is_it = match is_compute {
                true => note.region == region.construct.span,
                false => region.loops.first().is_some_and(|it| it.span == note.span),
            };
            let is_told = note.text.contains(": in order:") && !note.text.contains("as asked");
            let is_own = is_compute == region.loops.first().is_none_or(|it| it.span == note.span);
            if is_it && is_own && is_told && note.about == crate::lower::About::Loop {
                plan.remark(Fate::Approximated, Some(codes::IN_ORDER), None, note.text.clone());
            }
        }
    }

    /// Says of a loop that was to be shared that it is not.
    fn told_in_order(&self, id: RegionId, plan: &mut Plan) {
        let Some(region) = self.program.regions.find(id) else { return };
        let is_asked = region.construct.kinds().any(|it| matches!(it, ClauseKind::Seq));
        let is_told = plan.remarks.iter().any(|it| it.code == Some(codes::IN_ORDER));
        if self.is_merged(id) {
            let text = "it is made one with the loop around it";
            plan.remark(Fate::Translated, None, None, text);
        } else if !is_asked && !is_told {
            let text = "its iterations run in order: threads are busy with a loop around it";
            plan.remark(Fate::Approximated, Some(codes::IN_ORDER), None, text);
        }
    }

    /// Sizes of levels that have no exact counterpart.
    pub(super) fn sizes(&self, from: &Construct<Typed>, plan: &mut Plan) {
        for it in &from.clauses {
            let text = match &it.kind {
                ClauseKind::NumWorkers(_)
                | ClauseKind::VectorLength(_)
                | ClauseKind::Worker(Some(_))
                | ClauseKind::Vector(Some(_)) => {
                    "sizes of threads and lanes are the device's choice"
                }
                ClauseKind::TileLoop(_) => {
                    let text = "tiles become one loop over all; the size is the device's choice";
                    plan.remark(
                        Fate::Approximated,
                        Some(codes::TILES),
                        Some(self.words.written(it.span)),
                        text,
                    );
                    continue;
                }
                ClauseKind::DeviceTypes(_) => "clauses for this device were chosen",
                _ => continue,
            };
            let written = self.words.written(it.span);
            plan.remark(Fate::Approximated, Some(codes::SIZES), Some(written), text);
        }
    }

    /// An indivisible access.
    pub(super) fn atomic(&self, id: RegionId) -> Plan {
        let region = &self.program.regions[id];
        let mut to = self.directive(vec![Leaf::Atomic], region.construct.span);
        for it in region.construct.kinds() {
            match it {
                ClauseKind::AtomicKind(kind) => {
                    to.clauses.push(clause(ClauseKind::AtomicKind(*kind)));
                }
                ClauseKind::If(_) => {
                    return Plan::refused("an access is not made indivisible on a condition");
                }
                _ => {}
            }
        }
        let mut plan = Plan::default();
        if self.is_in_teams(id) && !self.profile().takes_atomic_in_teams {
            let mut around = self.directive(vec![Leaf::Parallel], region.construct.span);
            let counts = vec!["1".to_owned()];
            around.clauses.push(clause(ClauseKind::NumThreads { strict: None, counts }));
            plan.lines.push(Line::Directive(Box::new(around)));
        }
        plan.lines.push(Line::Directive(Box::new(to)));
        plan
    }

    /// Advice that nothing depends on.
    pub(super) fn hint(&self, _: RegionId) -> Plan {
        let mut plan = Plan::default();
        plan.remark(
            Fate::Approximated,
            Some(codes::ADVICE),
            None,
            "advice that has no counterpart",
        );
        plan
    }
}

/// A variable in several lists that make copies has one: with its value, if one of them says so.
fn merge_copies(to: &mut Construct<Spelled>) {
    let mut seen: Vec<String> = Vec::new();
    for it in &mut to.clauses {
        let items = match &mut it.kind {
            ClauseKind::Reduction(it) => {
                seen.extend(it.items.clone());
                continue;
            }
            ClauseKind::Private(items)
            | ClauseKind::FirstPrivate { items, .. }
            | ClauseKind::LastPrivate { items, .. } => items,
            _ => continue,
        };
        items.retain(|it| !seen.contains(it));
        seen.extend(items.clone());
    }
    to.clauses.retain(|it| match &it.kind {
        ClauseKind::Private(items)
        | ClauseKind::FirstPrivate { items, .. }
        | ClauseKind::LastPrivate { items, .. } => !items.is_empty(),
        _ => true,
    });
}

/// Maps, gathered by what they do.
#[derive(Debug, Default)]
pub(super) struct Maps {
    list: Vec<(Motion, Presence, Vec<String>)>,
    pub(super) pointers: Vec<String>,
    pub(super) addresses: Vec<String>,
    /// Variables that are summed up.
    sums: Vec<String>,
    /// Storage that is filled with zeros if it is new.
    pub(super) zeros: Vec<(ExprId, Motion)>,
    /// Tied to the region whatever others release.
    pub(super) holds: bool,
}

impl Maps {
    /// Adds an item; one that is there already gets the copies of both.
    pub(super) fn add(&mut self, motion: Motion, presence: Presence, item: String) {
        let mut motion = motion;
        for (other, _, items) in &mut self.list {
            if items.contains(&item) {
                motion = both(motion, *other);
                items.retain(|it| *it != item);
            }
        }
        match self.list.iter_mut().find(|it| it.0 == motion && it.1 == presence) {
            Some((.., items)) => items.push(item),
            None => self.list.push((motion, presence, vec![item])),
        }
    }

    /// Takes an item away.
    pub(super) fn take(&mut self, item: &str) -> Option<Motion> {
        let (motion, _, items) =
            self.list.iter_mut().find(|it| it.2.iter().any(|it| it == item))?;
        items.retain(|it| it != item);
        Some(*motion)
    }

    pub(super) fn clauses(self, profile: &super::Profile) -> Vec<ir::construct::Clause<Spelled>> {
        let mut clauses = Vec::new();
        for (motion, presence, items) in self.list {
            if items.is_empty() {
                continue;
            }
            let presence = if profile.has_present { presence } else { Presence::Any };
            let flags = MapFlags { hold: self.holds, ..MapFlags::default() };
            let (mapper, iterators) = (None, Vec::new());
            let map = Map { motion, presence, flags, mapper, iterators, items };
            clauses.push(clause(ClauseKind::Map(map)));
        }
        if !self.pointers.is_empty() {
            clauses.push(clause(ClauseKind::DevicePointer(self.pointers)));
        }
        if !self.addresses.is_empty() {
            clauses.push(clause(ClauseKind::HasDeviceAddr(self.addresses)));
        }
        clauses
    }
}

/// The copies of both.
fn both(one: Motion, other: Motion) -> Motion {
    match (one, other) {
        (Motion::Alloc | Motion::Unsaid, it) | (it, Motion::Alloc | Motion::Unsaid) => it,
        (Motion::To, Motion::To) => Motion::To,
        (Motion::From, Motion::From) => Motion::From,
        (Motion::Release, it) | (it, Motion::Release) => it,
        (Motion::Delete, _) | (_, Motion::Delete) => Motion::Delete,
        _ => Motion::ToFrom,
    }
}
