//! Constructs that leave the host, and their loops, as teams of threads.
//!
//! Who runs what has been decided by the pass that gives levels to loops. Here that and the clauses which are not about data
//! become directives; data is in [`super::maps`], copies of variables are in [`super::copies`].

use ir::construct::{ClauseKind, Construct, Leaf, Reduction, Spelled};
use ir::program::{ExprId, Level, RegionId, StmtKind, Typed};

use super::copies::merge_copies;
use super::own::share_clause;
use super::{Fate, Line, Plan, Translator, clause, codes};
use levels::base;
use levels::needs_copy;

impl Translator<'_> {
    /// A construct that leaves the host.
    pub(super) fn league(&self, id: RegionId) -> Plan {
        if !self.nests(id).is_empty() {
            return self.data_of_nests(id);
        }
        if let Some(refused) = self.no_such_sum(id) {
            return refused;
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
                    let deals = leaves.starts_with(&[Leaf::Parallel, Leaf::For]);
                    return (deals || *leaves == [Leaf::Parallel]).then_some((*inner, is_body));
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
            // Threads that run its loop whole are those of one team.
            let count = if *leaves == [Leaf::Parallel] { 1 } else { all.len() };
            let rest = leaves.strip_prefix(&[Leaf::Distribute]).unwrap_or(leaves);
            return all.iter().take(count).chain(rest).copied().collect();
        }
        if let Some((at, is_body)) = self.lone_loop(id) {
            if self.made.regions[at].construct.leaves == [Leaf::Parallel] {
                let all = [Leaf::Offload, Leaf::Parallel];
                return all.iter().take(1 + usize::from(is_body)).copied().collect();
            }
            let mut all = vec![Leaf::Offload, Leaf::Teams];
            if is_body {
                all.push(Leaf::Distribute);
                all.extend(&self.made.regions[at].construct.leaves);
            }
            return all;
        }
        match region.parent.and_then(|it| self.lone_loop(it)) {
            Some((at, true)) if at == id => Vec::new(),
            Some((at, false)) if at == id && *leaves != [Leaf::Parallel] => {
                [&[Leaf::Distribute], leaves.as_slice()].concat()
            }
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

    pub(super) fn condition(&self, from: &Construct<Typed>, to: &mut Construct<Spelled>) {
        let Some(condition) = self.condition_text(from) else { return };
        let on = (to.leaves.len() > 1).then_some(Leaf::Offload);
        let kind = ClauseKind::If(condition);
        to.clauses.push(ir::construct::Clause { on, ..clause(kind) });
    }

    /// `if` and `self` together are one condition.
    pub(super) fn condition_text(&self, from: &Construct<Typed>) -> Option<String> {
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
        match terms.as_slice() {
            [] => None,
            [one] => Some(one.clone()),
            many => Some(many.iter().map(|it| format!("({it})")).collect::<Vec<_>>().join(" && ")),
        }
    }

    /// A loop inside such a construct, or in a function that is called there, or one that has none yet.
    pub(super) fn league_loop(&self, id: RegionId) -> Plan {
        if let Some(refused) = self.no_such_sum(id) {
            return refused;
        }
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
                kind @ (ClauseKind::Schedule(_) | ClauseKind::Nowait(_)) if to.has(Leaf::For) => {
                    to.clauses.extend(share_clause(kind));
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
                self.refuse_own_sums(id, &mut plan);
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

    /// Refuses a reduction of records, which the other standard has only by declarations.
    fn no_such_sum(&self, id: RegionId) -> Option<Plan> {
        let region = self.program.regions.find(id)?;
        let mut sums = region.construct.kinds().filter_map(|it| match it {
            ClauseKind::Reduction(it) => Some(&it.items),
            _ => None,
        });
        let types = &self.program.types;
        let is_record =
            |it: &ExprId| types.is_record(types.innermost_element(self.program.exprs[*it].ty));
        let sums = sums.any(|it| it.iter().any(is_record)) && region.construct.rules.member_sums;
        let text = "a record is reduced member by member; reduce variables for its members instead";
        sums.then(|| Plan::refused(text))
    }

    /// Refuses a loop that runs in order, for which there is no directive then, if it needs a copy of what it reduces.
    fn refuse_own_sums(&self, id: RegionId, plan: &mut Plan) {
        let Some(region) = self.program.regions.find(id).filter(|_| !self.is_merged(id)) else {
            return;
        };
        for kind in region.construct.kinds() {
            let ClauseKind::Reduction(sum) = kind else { continue };
            for item in &sum.items {
                if needs_copy(self.program, id, *item, &sum.op) {
                    let text = format!(
                        "the loop runs in order and does more with `{}` than to reduce it",
                        self.words.expr(*item)
                    );
                    plan.remark(Fate::Refused, Some(codes::NO_COUNTERPART), None, text);
                }
            }
        }
    }

    /// Regions around, the nearest first.
    pub(super) fn above(&self, id: RegionId) -> Vec<RegionId> {
        self.made.around(id).skip(1).collect()
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
            if is_it && is_own && is_told && note.about == levels::About::Loop {
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
