//! Loops whose independence must be shown: those that directives leave to the compiler, and those
//! without a directive in a construct that asks for parallelism to be found.
//!
//! What is shown and what it takes (copies, sums) is crate `opt`'s; here it becomes clauses.

use directive::HOST_DIALECT;
use ir::construct::{
    Args, ClauseKind, Construct, Leaf, Reduction, ReductionOp, Rules, Schedule, ScheduleKind,
};
use ir::program::{Program, RegionId, Stmt, StmtId, StmtKind, Typed, VarId};
use ir::region::{Attribute, Origin, Pointee, RegionVar, Sharing};
use ir::walk::Part;
use opt::dependence::{Analysis, Carried, DependenceKind, Finding, Verdict};
use opt::marks::Trust;
use source::{Diagnostic, Span};

use super::asked::Asked;
use super::choose::How;
use super::compute::Region;
use super::effects;
use super::{About, Machine, Note, Pass};
use crate::items::{base, plain};

/// What is known of the independence of a loop.
#[derive(Clone, Debug)]
pub(super) enum Judged {
    /// It is shown, on these terms.
    Proven(Terms),
    /// The user vouches for what it does to memory; variables take these terms.
    Vouched(Terms),
    /// It is not: why, and where the reader should look.
    Unproven(String, Option<Span>),
    /// The contrary is shown: what one iteration does to an array another needs.
    Denied(String, Option<Span>),
    /// The same, and it happens for certain: the two accesses.
    Refuted(String, Span, Span),
}

/// What iterations need so that they may run in any order.
#[derive(Clone, Debug, Default)]
pub(super) struct Terms {
    private: Vec<VarId>,
    last: Vec<VarId>,
    sums: Vec<(VarId, ReductionOp<Typed>)>,
}

impl Terms {
    pub(super) fn has_sums(&self) -> bool {
        !self.sums.is_empty()
    }

    /// Whether they say what becomes of a variable.
    fn covers(&self, var: VarId) -> bool {
        let mut copies = self.private.iter().chain(&self.last);
        copies.any(|it| *it == var) || self.sums.iter().any(|it| it.0 == var)
    }

    /// Whether iterations need nothing at all.
    fn is_empty(&self) -> bool {
        self.private.is_empty() && self.last.is_empty() && self.sums.is_empty()
    }
}

impl Pass<'_> {
    pub(super) fn analysis(&self) -> &Analysis<'_> {
        self.analysis.get_or_init(|| Analysis::new(self.written))
    }

    pub(super) fn is_proven(&self, id: RegionId) -> bool {
        matches!(self.judged.get(&id), Some(Judged::Proven(_)))
    }

    /// Whether lanes may run a loop: its body is for them, and the user asks for that or it is shown to
    /// be right.
    pub(super) fn fits_lanes(&self, id: RegionId) -> bool {
        let construct = &self.program().regions[id].construct;
        let asked = Asked::of(construct);
        let has_sums = construct.kinds().any(|it| matches!(it, ClauseKind::Reduction(_)));
        let is_shown = match self.judged.get(&id) {
            Some(Judged::Proven(terms)) => terms.is_empty() || has_sums,
            Some(
                Judged::Vouched(_)
                | Judged::Unproven(..)
                | Judged::Denied(..)
                | Judged::Refuted(..),
            )
            | None => false,
        };
        let is_held = self.is_without_lanes(id);
        (asked.lanes || is_shown) && !is_held && super::effects::is_for_lanes(self.program(), id)
    }

    /// Judges the loops of a construct. What is found of those that are vouched for counts only if
    /// they assign to what they share, or if it is the contrary of what is said.
    pub(super) fn judge(&mut self, region: &Region) {
        for id in region.loops.clone() {
            let it = &self.written.regions[id];
            let asked = Asked::of(&self.program().regions[id].construct);
            let is_vouched = self.is_vouched(region, id);
            // Lanes that nobody asked for are for what is shown.
            let is_for_lanes = !asked.lanes && super::effects::is_for_lanes(self.program(), id);
            let is_vouched = is_vouched && (asked.independent || !asked.is_open());
            let is_known = is_vouched && !is_for_lanes && !self.assigns_shared(id);
            if asked.seq || it.loops.is_empty() {
                continue;
            }
            let stmts: Vec<StmtId> = it.loops.iter().map(|it| it.stmt).collect();
            let counters: Vec<VarId> = it.loops.iter().map(|it| it.var).collect();
            let judged = self.judged_nest(&stmts, &counters, asked.independent);
            let judged = match (judged, self.trust) {
                // Who is always believed is believed against all evidence.
                (Judged::Refuted(why, _, at), Trust::Trust) if self.is_vouched(region, id) => {
                    Judged::Unproven(why, Some(at))
                }
                (judged, _) => judged,
            };
            let is_known = is_known && self.trust != Trust::Strict;
            // Of a loop that is vouched for only the contrary is of interest.
            if !is_known || matches!(judged, Judged::Refuted(..)) {
                self.judged.insert(id, judged);
            }
        }
    }

    fn judged_nest(&self, stmts: &[StmtId], counters: &[VarId], is_vouched: bool) -> Judged {
        let mut terms = Terms::default();
        let mut is_proven = true;
        for stmt in stmts {
            let finding = self.analysis().examine(*stmt);
            is_proven &= finding.is_parallel();
            if let Verdict::Carried(it) = &finding.verdict
                && it.certain
            {
                let (why, _) = self.why_not(&finding);
                return Judged::Refuted(why, it.first.span, it.second.span);
            }
            if !(finding.is_parallel() || is_vouched && finding.is_settled) {
                let (why, at) = self.why_not(&finding);
                return match self.is_denial(&finding) {
                    true => Judged::Denied(why, at),
                    false => Judged::Unproven(why, at),
                };
            }
            for var in finding.private {
                if !finding.last_private.contains(&var)
                    && !counters.contains(&var)
                    && !terms.private.contains(&var)
                {
                    terms.private.push(var);
                }
            }
            terms.last.extend(finding.last_private);
            for (var, op) in finding.reductions {
                if !terms.sums.iter().any(|it| it.0 == var) {
                    terms.sums.push((var, op));
                }
            }
        }
        terms.last.dedup();
        // A value that one loop of a nest carries and another only uses is carried.
        terms.private.retain(|it| !terms.last.contains(it));
        match is_proven {
            true => Judged::Proven(terms),
            false => Judged::Vouched(terms),
        }
    }

    /// Whether iterations meet all along in an array, and not in a variable that each team has for itself.
    /// Where they meet under a condition or in single iterations, the user may know that it does no harm.
    fn is_denial(&self, finding: &Finding) -> bool {
        let Verdict::Carried(carried) = &finding.verdict else { return false };
        if !carried.steady && self.trust != Trust::Strict {
            return false;
        }
        let var = carried.second.var.or(carried.first.var);
        var.is_some_and(|it| {
            let ty = self.written.vars[it].ty;
            self.written.types.is_array(ty) || self.written.types.is_pointer(ty)
        })
    }

    /// Whether a loop certainly has iterations that depend on others, whatever the user says.
    pub(super) fn is_refuted(&self, id: RegionId) -> bool {
        matches!(self.judged.get(&id), Some(Judged::Refuted(..)))
    }

    /// Whether the directive of a loop says that its iterations are independent.
    pub(super) fn is_vouched(&self, region: &Region, id: RegionId) -> bool {
        let asked = Asked::of(&self.program().regions[id].construct);
        asked.independent || !(region.proves || asked.auto)
    }

    /// Warns of a loop that the user vouches for and that is run in order all the same.
    pub(super) fn warn_refuted(&mut self, id: RegionId) {
        let Some(Judged::Refuted(why, first, second)) = self.judged.get(&id) else { return };
        let message = format!("iterations of this loop depend on each other: {why}");
        let span = self.program().regions[id].construct.span;
        let fault = Diagnostic::warning("F0704", message)
            .at(span, "takes them to be independent")
            .label(*first, "in one iteration")
            .label(*second, "in a later one")
            .note("such a program has no meaning by its standard; the loop is run in order")
            .help("write `seq` here, or mark loops whose iterations are independent");
        self.leveled.faults.push(fault);
    }

    /// Whether a loop that nobody vouches for in so many words is shown to be wrong in parallel, or
    /// any loop for certain.
    pub(super) fn is_denied(&self, id: RegionId) -> bool {
        if self.is_refuted(id) {
            return true;
        }
        let asked = Asked::of(&self.program().regions[id].construct);
        let is_said = match self.trust {
            Trust::Trust => true,
            Trust::Verify => asked.independent || !asked.is_open(),
            Trust::Strict => false,
        };
        !is_said && matches!(self.judged.get(&id), Some(Judged::Denied(..)))
    }

    /// What stood in the way, in words.
    fn why_not(&self, finding: &Finding) -> (String, Option<Span>) {
        let text = |name| self.written.names.text(name);
        match &finding.verdict {
            Verdict::Parallel => (String::new(), None),
            Verdict::Carried(Carried { first, second, kind, .. }) => {
                let var = second.var.or(first.var).and_then(|it| self.written.vars[it].name);
                let name = var.map_or_else(|| "memory".to_owned(), |it| format!("`{}`", text(it)));
                let what = match kind {
                    DependenceKind::Flow => "written in one iteration and read in a later one",
                    DependenceKind::Anti => "read in one iteration and written in a later one",
                    DependenceKind::Output => "written in two iterations",
                };
                (format!("{name} is {what}"), Some(second.span))
            }
            Verdict::Unknown(it) => {
                let about = it.name.map_or_else(String::new, |it| format!(" (`{}`)", text(it)));
                (format!("{}{about}", it.reason.text()), Some(it.span))
            }
        }
    }

    /// What the variables of a loop need so that its iterations may run in any order.
    fn terms(&self, id: RegionId) -> Option<&Terms> {
        match self.judged.get(&id)? {
            Judged::Proven(terms) | Judged::Vouched(terms) => Some(terms),
            Judged::Unproven(..) | Judged::Denied(..) | Judged::Refuted(..) => None,
        }
    }

    /// Whether iterations of a loop would still assign to a variable that they share.
    pub(super) fn assigns_shared(&self, id: RegionId) -> bool {
        let terms = self.terms(id);
        let is_covered = |var: VarId| terms.is_some_and(|it| it.covers(var));
        super::effects::assigns_shared(self.program(), id, &is_covered)
    }

    /// Says of a loop that new threads share what its proof asks for; what its own clauses name is
    /// said already.
    pub(super) fn keep_terms(&mut self, id: RegionId) {
        let Some(terms) = self.terms(id).cloned() else { return };
        let region = &self.program().regions[id];
        let is_open = |var: &VarId| {
            region.vars.iter().any(|it| it.var == *var && !super::effects::has_own(it))
        };
        let is_named = |var: &VarId| {
            region.construct.kinds().any(|it| match it {
                ClauseKind::Private(items) => {
                    items.iter().any(|it| base(self.program(), *it) == Some(*var))
                }
                _ => false,
            })
        };
        // Their own rule makes a copy of them, which nobody brings back; a clause wants it so.
        let is_counter = |var: &VarId| counts(region, *var) && !is_named(var);
        let terms = Terms {
            private: terms.private.into_iter().filter(is_open).collect(),
            last: terms.last.into_iter().filter(|it| is_open(it) || is_counter(it)).collect(),
            sums: terms.sums.into_iter().filter(|it| is_open(&it.0)).collect(),
        };
        self.add_terms(id, &terms);
    }

    fn add_terms(&mut self, id: RegionId, terms: &Terms) {
        let span = self.program().regions[id].construct.span;
        let add = |pass: &mut Pass<'_>, vars: Vec<VarId>, sharing: Sharing| {
            if vars.is_empty() {
                return;
            }
            let items = vars.iter().map(|it| pass.name_of(*it, span)).collect();
            let kind = match &sharing {
                Sharing::Private => ClauseKind::Private(items),
                Sharing::Reduction(op) => {
                    let (modifier, original, op) = (None, None, op.clone());
                    ClauseKind::Reduction(Reduction { modifier, original, op, items })
                }
                _ => ClauseKind::LastPrivate { conditional: false, items },
            };
            let region = &mut pass.leveled.program.regions[id];
            let at = u32::try_from(region.construct.clauses.len()).unwrap_or(u32::MAX);
            region.construct.clauses.push(plain(kind, span));
            for var in vars {
                let sharing =
                    Some(Attribute { value: sharing.clone(), origin: Origin::Clause(at) });
                match region.vars.iter_mut().find(|it| it.var == var) {
                    Some(it) => it.sharing = sharing,
                    None => region.vars.push(RegionVar {
                        var,
                        sharing,
                        mappings: Vec::new(),
                        read: true,
                        written: true,
                        pointee: Pointee::UNTOUCHED,
                        span,
                    }),
                }
            }
        };
        add(self, terms.private.clone(), Sharing::Private);
        add(self, terms.last.clone(), Sharing::LastPrivate);
        for (var, op) in &terms.sums {
            add(self, vec![*var], Sharing::Reduction(op.clone()));
        }
    }

    /// Gives threads to loops without a directive, where that is asked for and can be shown.
    pub(super) fn unmarked(&mut self, region: &Region) {
        let Some(body) = self.program().regions[region.id].body else { return };
        let marked: Vec<StmtId> = region
            .loops
            .iter()
            .flat_map(|it| self.program().regions[*it].loops.iter().map(|it| it.stmt))
            .collect();
        let mut open = vec![(Part::Stmt(body), region.id)];
        let mut found: Vec<(StmtId, RegionId)> = Vec::new();
        while let Some((part, around)) = open.pop() {
            let mut below = around;
            match part {
                Part::Region(id) if region.chosen.get(&id).is_some_and(|it| takes_all(*it)) => {
                    continue;
                }
                Part::Region(id) => below = id,
                Part::Stmt(stmt) => {
                    let is_loop = matches!(self.program().stmts[stmt].kind, StmtKind::For(_));
                    let is_free = is_loop && !marked.contains(&stmt) && !self.held.contains(&stmt);
                    if is_free && self.try_unmarked(region.id, stmt) {
                        found.push((stmt, around));
                        continue;
                    }
                }
                Part::Expr(_) | Part::Local(_) | Part::Init(_) => {}
            }
            let at = open.len();
            self.program().parts(part, &mut |it| open.push((it, below)));
            open.get_mut(at..).into_iter().for_each(<[_]>::reverse);
        }
        found.into_iter().for_each(|(stmt, around)| self.mark(stmt, around));
    }

    /// Whether a loop without a directive may have threads; says so.
    fn try_unmarked(&mut self, region: RegionId, stmt: StmtId) -> bool {
        // Where the user has marked loops inside, those are meant.
        if !ir::walk::regions_in(self.program(), stmt).is_empty() {
            return false;
        }
        let finding = self.analysis().examine(stmt);
        let var = finding.var.and_then(|it| self.written.vars[it].name);
        let name = var.map_or("loop", |it| self.written.names.text(it)).to_owned();
        let rounded = self.rounded_sum(&finding).filter(|_| finding.is_parallel());
        let is_dealt = finding.is_parallel() && rounded.is_none();
        let (text, at) = match (is_dealt, rounded) {
            (true, _) => (format!("{name}: threads"), None),
            (false, Some(sum)) => {
                let why = "would be rounded otherwise if it were added up in another order \
                           (write `reduction`, or give -fassociative-math)";
                (format!("{name}: in order: `{sum}` {why}"), None)
            }
            (false, None) => {
                let (why, at) = self.why_not(&finding);
                (format!("{name}: in order: {why}"), at)
            }
        };
        let (region, span) = (self.program().regions[region].construct.span, finding.span);
        self.leveled.notes.push(Note { about: About::Loop, region, span, text, at });
        is_dealt
    }

    /// A variable whose value would depend on who adds it up: nobody has said that this does not matter.
    fn rounded_sum(&self, finding: &Finding) -> Option<&str> {
        let (var, _) = finding.reductions.iter().find(|it| self.is_rounded(it))?;
        Some(self.written.vars[*var].name.map_or("a sum", |it| self.written.names.text(it)))
    }

    fn is_rounded(&self, (var, op): &(VarId, ReductionOp<Typed>)) -> bool {
        let program = self.written;
        !self.reassociates
            && match op {
                ReductionOp::Add | ReductionOp::Sub | ReductionOp::Mul | ReductionOp::User(_) => {
                    !program.types.is_integer(program.vars[*var].ty)
                }
                ReductionOp::Max
                | ReductionOp::Min
                | ReductionOp::And
                | ReductionOp::Or
                | ReductionOp::BitAnd
                | ReductionOp::BitOr
                | ReductionOp::BitXor => false,
            }
    }

    /// Whether a loop adds something up that no clause of it names, and the order of that matters.
    pub(super) fn has_rounded_sums(&self, id: RegionId) -> bool {
        let vars = &self.program().regions[id].vars;
        let is_named = |var: VarId| vars.iter().any(|it| it.var == var && effects::has_own(it));
        let sums = self.terms(id).map(|it| it.sums.as_slice()).unwrap_or_default();
        sums.iter().any(|it| self.is_rounded(it) && !is_named(it.0))
    }

    /// Puts a directive before a loop that has none.
    fn mark(&mut self, stmt: StmtId, parent: RegionId) {
        let Judged::Proven(terms) = self.judged_nest(&[stmt], &[], false) else { return };
        let span = self.program().stmts[stmt].span;
        let kind = self.program().stmts[stmt].kind.clone();
        let body = self.leveled.program.stmts.push(Stmt { kind, span });
        let schedule =
            Schedule { kind: ScheduleKind::Static, monotonic: None, simd: false, chunk: None };
        let region = ir::region::Region {
            construct: Construct {
                dialect: HOST_DIALECT,
                leaves: vec![Leaf::Parallel, Leaf::For],
                args: Args::None,
                clauses: match self.machine {
                    Machine::Cores => vec![plain(ClauseKind::Schedule(schedule), span)],
                    Machine::League => Vec::new(),
                },
                groups: Vec::new(),
                rules: Rules::NONE,
                span,
            },
            body: Some(body),
            function: self.program().regions[parent].function,
            parent: Some(parent),
            loops: Vec::new(),
            vars: Vec::new(),
            reaches: Vec::new(),
            indirect_calls: Vec::new(),
            span,
        };
        let id = self.leveled.program.regions.push(region);
        self.leveled.changed.insert(id);
        self.add_terms(id, &terms);
        self.leveled.program.stmts[stmt].kind = StmtKind::Region(id);
        if self.machine == Machine::Cores
            && let Some((begin, bound)) = self.analysis().examine(stmt).range
            && let StmtKind::For(it) = &self.program().stmts[body].kind
            && effects::is_straight(self.program(), it.body)
        {
            self.only_if_many(id, begin, bound);
        }
    }
}

/// What a statement comes to that has nothing but another one.
pub(super) fn only_statement(program: &Program, mut at: StmtId) -> Option<StmtId> {
    while let StmtKind::Block(list) = &program.stmts[at].kind {
        let is_code = |it: &&StmtId| program.stmts[**it].kind != StmtKind::Empty;
        let mut code = list.iter().filter(is_code);
        at = *code.next().filter(|_| code.next().is_none())?;
    }
    Some(at)
}

/// Whether nothing inside the loop may have threads.
fn takes_all(how: How) -> bool {
    how.is_dealt() || how == How::Lanes
}

fn counts(region: &ir::region::Region, var: VarId) -> bool {
    region.loops.iter().any(|it| it.var == var)
}
