//! Constructs that leave the host.
//!
//! One thread becomes one gang that runs in order; teams become gangs; a loop that is combined with the
//! construct is dealt to the levels that ran it.

use ir::construct::{
    Clause, ClauseKind, Construct, DefaultSharing, GangArg, Leaf, LevelArg, Spelled,
};
use ir::program::{RegionId, StmtKind, Typed};

use super::super::{Fate, Line, Plan, clause};
use super::share::once;
use super::{ADVICE, Descriptive, INSIDE_HOST, NO_COUNTERPART, SIZES, THREADS};

/// The levels that share the iterations of a loop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Levels {
    pub(super) gang: bool,
    pub(super) worker: bool,
    pub(super) vector: bool,
    /// None of them: in order.
    pub(super) seq: bool,
}

impl Descriptive<'_, '_> {
    pub(super) fn compute(&self, id: RegionId) -> Plan {
        let region = &self.program.regions[id];
        let from = &region.construct;
        let mut plan = Plan::default();
        if from.goes_back() {
            return self.refused(NO_COUNTERPART, "devices do not call back");
        }
        if !region.indirect_calls.is_empty() {
            let text = "functions are called through pointers, which is not certain to work there";
            return self.refused(NO_COUNTERPART, text);
        }
        if !self.t.profile().takes_newest && self.is_inside_host_threads(id) {
            let text = "this compiler takes no device code inside of threads or tasks of the host";
            plan.remark(Fate::Refused, Some(INSIDE_HOST), None, text);
        }
        let teams = self.only_teams(id);
        let is_loop = self.is_loop(id);
        let has_threads = from.has(Leaf::Parallel) && !is_loop;
        if has_threads {
            self.only_shares_work(id, &mut plan);
        }
        let (leaves, one_gang) = self.shape(id, teams);
        let mut to = self.t.directive(leaves, from.span);
        self.condition(from, &mut to, &mut plan);
        let whole: Vec<&Construct<Typed>> = std::iter::once(from)
            .chain(teams.map(|it| &self.program.regions[it].construct))
            .collect();
        if is_loop {
            self.loop_clauses(id, &mut to, &mut plan);
        } else if has_threads {
            self.no_sums(id, &mut plan);
        }
        if one_gang {
            let counts = vec!["1".to_owned()];
            to.clauses.push(clause(ClauseKind::NumTeams { lower: None, counts }));
        }
        for part in &whole {
            for it in &part.clauses {
                self.size(it, &mut to, one_gang, &mut plan);
            }
        }
        let around = self.share(id, teams, &mut to, &mut plan);
        for it in &from.clauses {
            self.not_on_compute(it, &mut plan);
        }
        self.later(id, &mut to, &mut plan);
        once(&mut to);
        let mut lines = around.before;
        lines.push(Line::Directive(Box::new(to)));
        self.on_device_number(id, lines, around.after, &mut plan);
        plan
    }

    /// The parts of the construct, and whether it must be one gang.
    fn shape(&self, id: RegionId, teams: Option<RegionId>) -> (Vec<Leaf>, bool) {
        let from = &self.program.regions[id].construct;
        if self.is_loop(id) {
            let levels = self.levels(id);
            let one = !from.has(Leaf::Loop) && !levels.gang;
            return (vec![Leaf::Offload, Leaf::Teams, Leaf::Loop], one);
        }
        if from.has(Leaf::Teams) || teams.is_some() {
            return (vec![Leaf::Offload, Leaf::Teams], false);
        }
        let calls_levels =
            self.program.regions[id].reaches.iter().any(|it| self.level(*it).is_some());
        let deals = calls_levels || self.below(id).any(|it| self.widest(it).is_some());
        match deals {
            true => (vec![Leaf::Offload, Leaf::Teams], true),
            false => (vec![Leaf::Offload], false),
        }
    }

    /// The construct of teams that is all of the body.
    pub(super) fn only_teams(&self, id: RegionId) -> Option<RegionId> {
        let mut at = self.program.regions[id].body?;
        loop {
            match &self.program.stmts[at].kind {
                StmtKind::Block(list) => {
                    let mut found = None;
                    for it in list {
                        if !matches!(
                            self.program.stmts[*it].kind,
                            StmtKind::Local(_) | StmtKind::Empty
                        ) {
                            if found.is_some() {
                                return None;
                            }
                            found = Some(*it);
                        }
                    }
                    at = found?;
                }
                StmtKind::Region(inner) => {
                    let construct = &self.program.regions[*inner].construct;
                    return (construct.leaves.first() == Some(&Leaf::Teams)).then_some(*inner);
                }
                _ => return None,
            }
        }
    }

    /// Whether threads or tasks of the host run it.
    pub(super) fn is_inside_host_threads(&self, id: RegionId) -> bool {
        self.above(id).any(|it| {
            let leaves = &self.program.regions[it].construct.leaves;
            !leaves.iter().all(|it| matches!(it, Leaf::DataRegion | Leaf::HostData | Leaf::Assume))
        })
    }

    /// Refuses code that all threads run: levels below gangs share work, they do not repeat it.
    pub(super) fn only_shares_work(&self, id: RegionId, plan: &mut Plan) {
        let Some(body) = self.program.regions[id].body else { return };
        let mut open = vec![body];
        while let Some(at) = open.pop() {
            match &self.program.stmts[at].kind {
                StmtKind::Block(list) => open.extend(list.iter().copied()),
                StmtKind::Empty => {}
                StmtKind::Region(inner) => {
                    let construct = &self.program.regions[*inner].construct;
                    let first = construct.leaves.first();
                    if !(self.is_loop(*inner) && matches!(first, Some(Leaf::For | Leaf::Loop))) {
                        plan.remark(Fate::Refused, Some(THREADS), None, REPEATED);
                    }
                }
                _ => {
                    plan.remark(Fate::Refused, Some(THREADS), None, REPEATED);
                    return;
                }
            }
        }
    }

    fn no_sums(&self, id: RegionId, plan: &mut Plan) {
        for it in &self.program.regions[id].construct.clauses {
            if let ClauseKind::Reduction(_) = it.kind {
                let written = Some(self.t.words.written(it.span));
                plan.remark(Fate::Refused, Some(THREADS), written, REPEATED);
            }
        }
    }

    /// `if`: whether the device is used; for other parts it says how many threads there are.
    fn condition(&self, from: &Construct<Typed>, to: &mut Construct<Spelled>, plan: &mut Plan) {
        for it in &from.clauses {
            let ClauseKind::If(condition) = it.kind else { continue };
            match it.on {
                None | Some(Leaf::Offload) => {
                    to.clauses.push(clause(ClauseKind::If(self.t.words.expr(condition))));
                }
                Some(_) => {
                    let written = Some(self.t.words.written(it.span));
                    let text = "how many threads there are is the device's choice";
                    plan.remark(Fate::Approximated, Some(SIZES), written, text);
                }
            }
        }
    }

    /// How many gangs, threads and lanes.
    fn size(
        &self,
        it: &Clause<Typed>,
        to: &mut Construct<Spelled>,
        one_gang: bool,
        plan: &mut Plan,
    ) {
        let written = || Some(self.t.words.written(it.span));
        match &it.kind {
            ClauseKind::NumTeams { counts, .. } if !one_gang => {
                let counts = counts.last().map(|it| self.t.words.expr(*it));
                let counts: Vec<String> = counts.into_iter().collect();
                to.clauses.push(clause(ClauseKind::NumTeams { lower: None, counts }));
            }
            ClauseKind::ThreadLimit(count)
                if self.profile_has_two_levels() && to.has(Leaf::Teams) =>
            {
                let count = self.t.words.expr(*count);
                to.clauses.push(clause(ClauseKind::VectorLength(count)));
            }
            ClauseKind::ThreadLimit(_)
            | ClauseKind::NumThreads { .. }
            | ClauseKind::NumTeams { .. } => {
                let text = "how many threads there are is the device's choice";
                plan.remark(Fate::Approximated, Some(SIZES), written(), text);
            }
            _ => {}
        }
    }

    /// Gangs and lanes only: threads of a gang are lanes.
    pub(super) fn profile_has_two_levels(&self) -> bool {
        !self.t.profile().names_lanes
    }

    /// Says of clauses what nothing else says.
    fn not_on_compute(&self, it: &Clause<Typed>, plan: &mut Plan) {
        let written = || Some(self.t.words.written(it.span));
        match &it.kind {
            ClauseKind::Default(DefaultSharing::Private | DefaultSharing::FirstPrivate, _) => {
                plan.remark(Fate::Refused, Some(NO_COUNTERPART), written(), EACH);
            }
            ClauseKind::Shared(_) | ClauseKind::Default(..) | ClauseKind::DefaultMap(..) => {
                let text = "what follows from it is said, or holds anyway";
                plan.remark(Fate::Redundant, None, written(), text);
            }
            ClauseKind::ProcBind(_)
            | ClauseKind::Allocate(_)
            | ClauseKind::Priority(_)
            | ClauseKind::Nontemporal(_)
            | ClauseKind::Aligned(..) => {
                let text = "advice that has no counterpart";
                plan.remark(Fate::Approximated, Some(ADVICE), written(), text);
            }
            ClauseKind::UsesAllocators(_)
            | ClauseKind::InReduction(_)
            | ClauseKind::TaskReduction(_)
            | ClauseKind::Induction(_)
            | ClauseKind::CopyIn(_)
            | ClauseKind::DetachEvent(_)
            | ClauseKind::Coexecute
            | ClauseKind::Extension(..)
            | ClauseKind::Transparent(_)
            | ClauseKind::Replayable(_) => {
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

    /// The words for levels.
    pub(super) fn level_clauses(
        &self,
        levels: Levels,
        from: &Construct<Typed>,
    ) -> Vec<Clause<Spelled>> {
        let mut clauses = Vec::new();
        if levels.seq {
            clauses.push(clause(ClauseKind::Seq));
        }
        if levels.gang {
            let chunk = from.kinds().find_map(|it| match it {
                ClauseKind::DistSchedule(chunk) => *chunk,
                _ => None,
            });
            let args = chunk.map(|it| GangArg::Static(Some(self.t.words.expr(it))));
            clauses.push(clause(ClauseKind::Gang(args.into_iter().collect())));
        }
        if levels.worker {
            clauses.push(clause(ClauseKind::Worker(None)));
        }
        if levels.vector {
            let none: Option<LevelArg<Spelled>> = None;
            clauses.push(clause(ClauseKind::Vector(none)));
        }
        clauses
    }
}

pub(super) const EACH: &str = "name the variables of which everybody has a copy";
const REPEATED: &str = "every thread runs this code, where levels share work; \
                        write a loop over the threads, or put the code outside of `parallel`";
