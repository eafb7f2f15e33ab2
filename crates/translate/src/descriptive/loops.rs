//! Loops of device code: levels, loops that become one, sums and copies.

use ir::construct::{
    BindLevel, Clause, ClauseKind, Construct, DefaultSharing, Leaf, Reduction, ReductionOp, Spelled,
};
use ir::program::{ExprKind, RegionId, StmtKind, Typed};
use ir::region::LoopTest;

use super::super::{Fate, Line, Plan, clause};
use super::compute::{EACH, Levels};
use super::share::once;
use super::{ADVICE, COLLAPSED, COPIES, DISTANCE, Descriptive, NO_COUNTERPART, SIZES, THREADS};
use levels::base;

impl Descriptive<'_, '_> {
    /// Whether a construct is about a loop.
    pub(super) fn is_loop(&self, id: RegionId) -> bool {
        let construct = &self.program.regions[id].construct;
        [Leaf::Distribute, Leaf::For, Leaf::Simd, Leaf::Loop]
            .into_iter()
            .any(|it| construct.has(it))
    }

    /// Who shares the iterations.
    pub(super) fn levels(&self, id: RegionId) -> Levels {
        let region = &self.program.regions[id];
        let from = &region.construct;
        let seq = Levels { seq: true, ..Levels::default() };
        let leaves_host = from.has(Leaf::Offload);
        let taken =
            |leaf: Leaf| self.above(id).any(|it| self.program.regions[it].construct.has(leaf));
        let in_threads = taken(Leaf::For) || self.by_threads.contains(&region.function);
        if taken(Leaf::Simd) || in_threads && (from.has(Leaf::Parallel) || from.has(Leaf::For)) {
            return seq;
        }
        if self.by_threads.contains(&region.function) {
            return seq;
        }
        let has_distance = from.kinds().any(|it| matches!(it, ClauseKind::Safelen(_)));
        if has_distance && from.leaves.iter().all(|it| matches!(it, Leaf::Offload | Leaf::Simd)) {
            return seq;
        }
        if from.has(Leaf::Loop) {
            return self.bound_levels(id);
        }
        let inner_lanes = self.below(id).any(|it| {
            let construct = &self.program.regions[it].construct;
            construct.has(Leaf::Simd) || construct.has(Leaf::Loop)
        });
        let threads = from.has(Leaf::For);
        let gang = from.has(Leaf::Distribute) || leaves_host && threads && !from.has(Leaf::Teams);
        let lanes = from.has(Leaf::Simd) || threads;
        // The loops inside need what is left.
        let vector = lanes && !inner_lanes && !has_distance;
        let worker = threads && (!self.profile_has_two_levels() || !vector);
        Levels { gang, worker, vector, seq: false }
    }

    /// The levels of a loop whose iterations may run in any order.
    fn bound_levels(&self, id: RegionId) -> Levels {
        let from = &self.program.regions[id].construct;
        let level = from.kinds().find_map(|it| match it {
            ClauseKind::Bind(it) => Some(*it),
            _ => None,
        });
        let none = Levels::default();
        let worker = !self.profile_has_two_levels();
        match level {
            Some(BindLevel::Teams) => Levels { gang: true, ..none },
            Some(BindLevel::Parallel) => Levels { worker, vector: true, ..none },
            Some(BindLevel::Thread) => Levels { seq: true, ..none },
            // The compiler chooses.
            None => none,
        }
    }

    /// A loop that is not combined with what leaves the host.
    pub(super) fn inner_loop(&self, id: RegionId) -> Plan {
        let from = &self.program.regions[id].construct;
        let mut plan = Plan::default();
        let mut to = self.t.directive(vec![Leaf::Loop], from.span);
        self.loop_clauses(id, &mut to, &mut plan);
        for it in &from.clauses {
            match &it.kind {
                ClauseKind::Private(items) => {
                    let items = self.t.words.list(items);
                    to.clauses.push(clause(ClauseKind::Private(items)));
                }
                ClauseKind::FirstPrivate { items, .. } if !from.has(Leaf::Teams) => {
                    self.first_copies(id, it, items, &mut to, &mut plan);
                }
                ClauseKind::FirstPrivate { items, .. } => {
                    // The construct around has it, if it is not changed.
                    let mut written = self.t.directive(vec![Leaf::Loop], from.span);
                    self.first_copies(id, it, items, &mut written, &mut plan);
                    to.clauses.extend(written.clauses);
                }
                _ => {}
            }
        }
        let own = self.own_scalars(id);
        if !own.is_empty() {
            to.clauses.push(clause(ClauseKind::Private(own)));
        }
        self.copies_from_threads(id, &mut to, &mut plan);
        self.sums_from_teams(id, &mut to, &mut plan);
        once(&mut to);
        plan.lines.push(Line::Directive(Box::new(to)));
        plan
    }

    /// A copy with a value, for each thread: if nobody changes it, one for all will do.
    fn first_copies(
        &self,
        id: RegionId,
        it: &Clause<Typed>,
        items: &[ir::program::ExprId],
        to: &mut Construct<Spelled>,
        plan: &mut Plan,
    ) {
        for item in items {
            let Some(var) = base(self.program, *item) else { continue };
            let used = self.program.regions[id].vars.iter().find(|it| it.var == var);
            let (read, written) = used.map_or((true, true), |it| (it.read, it.written));
            if !written {
                continue;
            }
            if read {
                let said = Some(self.t.words.written(it.span));
                plan.remark(Fate::Refused, Some(COPIES), said, CHANGED);
            } else {
                to.clauses.push(clause(ClauseKind::Private(vec![self.t.words.var(var)])));
            }
        }
        if !plan.is_refused() {
            let said = Some(self.t.words.written(it.span));
            let text = "nobody changes it, or everybody sets it first";
            plan.remark(Fate::Redundant, None, said, text);
        }
    }

    /// What a loop says, with or without what leaves the host.
    pub(super) fn loop_clauses(&self, id: RegionId, to: &mut Construct<Spelled>, plan: &mut Plan) {
        let from = &self.program.regions[id].construct;
        let levels = self.levels(id);
        let mut inner = self.t.directive(vec![Leaf::Loop], from.span);
        let count = self.collapse(id, &mut inner, plan);
        if !self.t.profile().takes_newest
            && self.program.regions[id].loops.iter().any(|it| it.test == LoopTest::Ne)
        {
            let text = "this compiler takes no loops that end at `!=`; write `<` or `>`";
            plan.remark(Fate::Refused, Some(NO_COUNTERPART), None, text);
        }
        let mut levels_said = self.level_clauses(levels, from);
        to.clauses.append(&mut levels_said);
        if let Some(count) = count {
            to.clauses.push(clause(ClauseKind::Collapse { force: false, count }));
        }
        to.clauses.append(&mut inner.clauses);
        for it in &from.clauses {
            self.loop_clause(id, it, to, plan);
        }
    }

    fn loop_clause(
        &self,
        id: RegionId,
        it: &Clause<Typed>,
        to: &mut Construct<Spelled>,
        plan: &mut Plan,
    ) {
        let written = || Some(self.t.words.written(it.span));
        let loops = &self.program.regions[id].loops;
        match &it.kind {
            ClauseKind::Reduction(sum) => {
                if let Some(sum) = self.sum(sum, it, plan) {
                    to.clauses.push(clause(sum));
                }
            }
            ClauseKind::Linear(linear) => {
                let own = linear.items.iter().all(|item| {
                    base(self.program, *item)
                        .is_some_and(|var| loops.iter().any(|it| it.var == var))
                });
                match own {
                    true => plan.remark(Fate::Redundant, None, written(), "it counts the loop"),
                    false => plan.remark(Fate::Refused, Some(COPIES), written(), LAST),
                }
            }
            ClauseKind::LastPrivate { .. } => {
                plan.remark(Fate::Refused, Some(COPIES), written(), LAST);
            }
            ClauseKind::Ordered(_) | ClauseKind::Doacross(_) => {
                let text = "iterations do not wait for each other";
                plan.remark(Fate::Refused, Some(THREADS), written(), text);
            }
            ClauseKind::Safelen(_) => {
                let text =
                    "iterations at this distance depend on each other; the lanes run in order";
                plan.remark(Fate::Approximated, Some(DISTANCE), written(), text);
            }
            ClauseKind::Schedule(_) | ClauseKind::Simdlen(_) => {
                let text = "how iterations are dealt is the device's choice";
                plan.remark(Fate::Approximated, Some(SIZES), written(), text);
            }
            ClauseKind::NumThreads { .. } if !to.has(Leaf::Offload) => {
                let text = "how many threads there are is the device's choice";
                plan.remark(Fate::Approximated, Some(SIZES), written(), text);
            }
            ClauseKind::If(_) if !to.has(Leaf::Offload) => {
                let text = "how many threads there are is the device's choice";
                plan.remark(Fate::Approximated, Some(SIZES), written(), text);
            }
            ClauseKind::Nowait(_) if !to.has(Leaf::Offload) => {
                let text = "who is ready waits for the others of its gang";
                plan.remark(Fate::Redundant, None, written(), text);
            }
            ClauseKind::Aligned(..)
            | ClauseKind::Nontemporal(_)
            | ClauseKind::ProcBind(_)
            | ClauseKind::Allocate(_)
                if !to.has(Leaf::Offload) =>
            {
                let text = "advice that has no counterpart";
                plan.remark(Fate::Approximated, Some(ADVICE), written(), text);
            }
            ClauseKind::Order(_) | ClauseKind::Bind(_) => {
                plan.remark(Fate::Redundant, None, written(), "iterations run in any order anyway");
            }
            ClauseKind::Default(DefaultSharing::Private | DefaultSharing::FirstPrivate, _) => {
                plan.remark(Fate::Refused, Some(NO_COUNTERPART), written(), EACH);
            }
            ClauseKind::Shared(_) | ClauseKind::Default(..) if !to.has(Leaf::Offload) => {
                plan.remark(Fate::Redundant, None, written(), "it holds anyway");
            }
            ClauseKind::InReduction(_) | ClauseKind::Induction(_) | ClauseKind::CopyIn(_)
                if !to.has(Leaf::Offload) =>
            {
                plan.remark(
                    Fate::Refused,
                    Some(NO_COUNTERPART),
                    written(),
                    "it has no counterpart",
                );
            }
            _ => {}
        }
    }

    pub(super) fn sum(
        &self,
        from: &Reduction<Typed>,
        it: &Clause<Typed>,
        plan: &mut Plan,
    ) -> Option<ClauseKind<Spelled>> {
        let written = || Some(self.t.words.written(it.span));
        if matches!(
            from.modifier,
            Some(ir::construct::ReductionModifier::Inscan | ir::construct::ReductionModifier::Task)
        ) {
            let text = "sums on the way, or of tasks, have no counterpart";
            plan.remark(Fate::Refused, Some(NO_COUNTERPART), written(), text);
            return None;
        }
        let op = match &from.op {
            ReductionOp::User(_) => {
                let text =
                    "there are no reductions of one's own; sum up in an array and combine it";
                plan.remark(Fate::Refused, Some(NO_COUNTERPART), written(), text);
                return None;
            }
            // The copies start at zero and are added.
            ReductionOp::Add | ReductionOp::Sub => ReductionOp::Add,
            ReductionOp::Mul => ReductionOp::Mul,
            ReductionOp::BitAnd => ReductionOp::BitAnd,
            ReductionOp::BitOr => ReductionOp::BitOr,
            ReductionOp::BitXor => ReductionOp::BitXor,
            ReductionOp::And => ReductionOp::And,
            ReductionOp::Or => ReductionOp::Or,
            ReductionOp::Min => ReductionOp::Min,
            ReductionOp::Max => ReductionOp::Max,
        };
        for item in &from.items {
            let expr = &self.program.exprs[*item];
            let is_whole = matches!(expr.kind, ExprKind::Var(_));
            let is_array = self.program.types.is_array(expr.ty);
            if !is_whole || is_array && !self.t.profile().takes_newest {
                let text = "parts of arrays are not summed up for each thread by this compiler";
                plan.remark(Fate::Refused, Some(NO_COUNTERPART), written(), text);
                return None;
            }
        }
        let items = self.t.words.list(&from.items);
        Some(ClauseKind::Reduction(Reduction { modifier: None, original: None, op, items }))
    }

    /// How many loops become one: those whose bounds do not depend on each other and that have
    /// nothing between them.
    fn collapse(
        &self,
        id: RegionId,
        to: &mut Construct<Spelled>,
        plan: &mut Plan,
    ) -> Option<String> {
        let region = &self.program.regions[id];
        let (at, count) = region.construct.clauses.iter().find_map(|it| match it.kind {
            ClauseKind::Collapse { count, .. } => Some((it, count)),
            _ => None,
        })?;
        let mut good = 0usize;
        for (depth, it) in region.loops.iter().enumerate() {
            let is_next = depth == 0
                || region
                    .loops
                    .get(depth - 1)
                    .is_some_and(|outer| self.is_only(outer.body, it.stmt));
            if depth > 0 && !(it.rectangular && is_next) {
                break;
            }
            good += 1;
        }
        if good >= region.loops.len() {
            return Some(self.t.words.expr(count));
        }
        let text = "bounds depend on an outer loop, or there is code between the loops; \
                    the inner ones run in order";
        let written = Some(self.t.words.written(at.span));
        plan.remark(Fate::Approximated, Some(COLLAPSED), written, text);
        let rest = region.loops.iter().skip(good).map(|it| it.var);
        let outside: Vec<String> = rest
            .filter(|var| region.vars.iter().any(|it| it.var == *var))
            .map(|it| self.t.words.var(it))
            .collect();
        if !outside.is_empty() {
            to.clauses.push(clause(ClauseKind::Private(outside)));
        }
        (good > 1).then(|| good.to_string())
    }

    /// Whether a statement is all that another holds.
    fn is_only(&self, outer: ir::program::StmtId, inner: ir::program::StmtId) -> bool {
        let mut at = outer;
        loop {
            if at == inner {
                return true;
            }
            match &self.program.stmts[at].kind {
                StmtKind::Block(list) => match list.as_ref() {
                    [one] => at = *one,
                    _ => return false,
                },
                // A directive that stands for nothing any more.
                StmtKind::Region(id) if self.program.regions[*id].construct.leaves.is_empty() => {
                    let Some(body) = self.program.regions[*id].body else { return false };
                    at = body;
                }
                _ => return false,
            }
        }
    }

    /// Threads that share loops: the loops say it.
    pub(super) fn inner_threads(&self, id: RegionId) -> Plan {
        let mut plan = Plan::default();
        self.only_shares_work(id, &mut plan);
        let sharing =
            self.below(id).filter(|it| self.program.regions[*it].parent == Some(id)).count();
        for it in &self.program.regions[id].construct.clauses {
            let written = || Some(self.t.words.written(it.span));
            match &it.kind {
                ClauseKind::Reduction(_) if sharing != 1 => {
                    let text = "several loops share the sum; sum up in each of them";
                    plan.remark(Fate::Refused, Some(COPIES), written(), text);
                }
                ClauseKind::FirstPrivate { items, .. } => {
                    let mut nowhere = self.t.directive(vec![Leaf::Loop], it.span);
                    self.first_copies(id, it, items, &mut nowhere, &mut plan);
                    if !nowhere.clauses.is_empty() {
                        plan.remark(Fate::Refused, Some(COPIES), written(), CHANGED);
                    }
                }
                ClauseKind::Reduction(_)
                | ClauseKind::Private(_)
                | ClauseKind::Shared(_)
                | ClauseKind::Default(DefaultSharing::Shared | DefaultSharing::None, _) => {}
                ClauseKind::NumThreads { .. } | ClauseKind::If(_) | ClauseKind::ProcBind(_) => {
                    let text = "how many threads there are is the device's choice";
                    plan.remark(Fate::Approximated, Some(SIZES), written(), text);
                }
                _ => {
                    let text = "it has no counterpart";
                    plan.remark(Fate::Refused, Some(NO_COUNTERPART), written(), text);
                }
            }
        }
        plan
    }

    /// Teams are the gangs of the construct around, which says what they say.
    pub(super) fn inner_teams(&self, id: RegionId) -> Plan {
        let mut plan = Plan::default();
        let parent = self.program.regions[id].parent;
        if parent.and_then(|it| self.only_teams(it)) != Some(id) {
            let text = "teams are not all that the construct around holds";
            plan.remark(Fate::Refused, Some(NO_COUNTERPART), None, text);
        }
        plan
    }

    /// Copies and sums that the threads around a loop have.
    fn copies_from_threads(&self, id: RegionId, to: &mut Construct<Spelled>, plan: &mut Plan) {
        let Some(parent) = self.program.regions[id].parent else { return };
        let around = &self.program.regions[parent].construct;
        let are_threads = around.has(Leaf::Parallel) && !self.is_loop(parent);
        if !are_threads || !self.program.regions[id].construct.has(Leaf::For) {
            return;
        }
        for it in &around.clauses {
            match &it.kind {
                ClauseKind::Private(items) => {
                    let items = self.t.words.list(items);
                    to.clauses.push(clause(ClauseKind::Private(items)));
                }
                ClauseKind::Reduction(sum) => {
                    if let Some(sum) = self.sum(sum, it, plan) {
                        to.clauses.push(clause(sum));
                    }
                }
                _ => {}
            }
        }
    }

    /// Sums of teams belong to the one loop that they share.
    fn sums_from_teams(&self, id: RegionId, to: &mut Construct<Spelled>, plan: &mut Plan) {
        for up in self.above(id) {
            let construct = &self.program.regions[up].construct;
            if !construct.has(Leaf::Teams) || self.gang_loops(up) != [id] {
                continue;
            }
            for it in &construct.clauses {
                let ClauseKind::Reduction(sum) = &it.kind else { continue };
                let Some(sum) = self.sum(sum, it, plan) else { continue };
                if !to.clauses.iter().any(|it| it.kind == sum) {
                    to.clauses.push(clause(sum));
                }
            }
        }
    }

    /// Loops below that gangs share.
    pub(super) fn gang_loops(&self, id: RegionId) -> Vec<RegionId> {
        let shares = |it: &RegionId| {
            let construct = &self.program.regions[*it].construct;
            let is_bound = construct.has(Leaf::Loop)
                && !construct.kinds().any(|it| {
                    matches!(it, ClauseKind::Bind(BindLevel::Parallel | BindLevel::Thread))
                });
            construct.has(Leaf::Distribute) || is_bound
        };
        self.below(id).filter(shares).collect()
    }
}

const CHANGED: &str = "a thread keeps its copy from one iteration to the next; \
                       declare a variable in the loop that starts with this value";
const LAST: &str = "no copy outlives its iteration; store the value in the last iteration";
