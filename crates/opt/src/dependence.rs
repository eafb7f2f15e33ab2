//! Which loops may run their iterations in any order, and what each iteration then needs.
//!
//! In: a program and a `for` statement of it, marked by a directive or not. Out: a [`Finding`].
//! [`Analysis`] is made once for a program; [`Analysis::examine`] answers for one loop,
//! [`Analysis::region`] for all loops in a region, outermost first, in the order of the text.
//!
//! [`Verdict::Parallel`] holds under three conditions, which the caller must fulfil: the variables in
//! [`Finding::private`] are one each per iteration (or per thread), those in [`Finding::last_private`] keep the
//! value of the last iteration besides, those in [`Finding::reductions`] are combined.
//! [`Verdict::Unknown`] is an answer, not an error: it means no.
//!
//! How it is found: the body is run once over symbolic values ([`crate::walk`]), which gives the
//! places it reads and writes; any two of them that may be the same object ([`crate::alias`]) are compared for
//! different iterations ([`crate::pairs`]).

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeSet;
use std::rc::Rc;

use ir::program::{FunctionId, Program, RegionId, StmtId, StmtKind, VarId};
use ir::walk::Part;
use rustc_hash::FxHashMap;

use crate::access::Base;
use crate::alias::{Aliases, Apart};
use crate::effects::Effects;
pub use crate::finding::{
    Access, Carried, DependenceKind, Disjoint, Fact, Far, Finding, Obstacle, Range, Reason, Terms,
    Verdict,
};
use crate::liveness::Liveness;
use crate::outline::Outline;
use crate::scan::Scan;
use crate::sharing::Marked;
pub use crate::sum::Sum;
use crate::values::Values;
use crate::{normal, pairs, privatise, reduction, walk};

/// What code reaches in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reached {
    /// This variable, by name.
    Object(VarId),
    /// What this pointer leads to.
    Through(VarId),
}

/// A region, and what is read and written in it, if that could be told.
type Walked = (RegionId, Option<Rc<(Scan, walk::Body)>>);

/// Facts about a whole program, made once.
#[derive(Debug)]
pub struct Analysis<'a> {
    pub(crate) program: &'a Program,
    pub(crate) aliases: Aliases,
    pub(crate) effects: Effects,
    pub(crate) outline: Outline,
    liveness: Liveness,
    values: OnceCell<Values>,
    /// Loops that were examined: those of a nest are asked for by each region around them.
    findings: RefCell<FxHashMap<StmtId, Finding>>,
    /// What is read and written in the region that was asked about last.
    pub(crate) walked: RefCell<Option<Walked>>,
}

impl<'a> Analysis<'a> {
    /// Looks at every function once.
    pub fn new(program: &'a Program) -> Analysis<'a> {
        let aliases = Aliases::new(program);
        let effects = Effects::new(program, &aliases);
        let outline = Outline::new(program);
        let (liveness, values) = (Liveness::default(), OnceCell::new());
        let (findings, walked) = (RefCell::default(), RefCell::default());
        Analysis { program, aliases, effects, outline, liveness, values, findings, walked }
    }

    /// Whether a function is known to do nothing but compute from what it is given.
    pub fn is_pure(&self, function: FunctionId) -> bool {
        self.effects.of(function).is_some_and(|it| it.stop.is_none() && it.writes.is_empty())
    }

    /// Whether two are known to be different objects.
    pub fn are_apart(&self, a: Reached, b: Reached) -> bool {
        let base = |it: Reached| match it {
            Reached::Object(var) => Base::Var(var),
            Reached::Through(pointer) => Base::Pointee(pointer),
        };
        match self.aliases.apart(self.program, (base(a), None), (base(b), None)) {
            Apart::Different | Apart::Restrict(_) | Apart::Known(..) => true,
            Apart::Same | Apart::Perhaps => false,
        }
    }

    /// Whether something else than its name may lead to a variable.
    pub fn has_other_names(&self, var: VarId) -> bool {
        self.aliases.is_exposed(self.program, var)
    }

    /// Values that variables keep, for estimates.
    pub(crate) fn values(&self) -> &Values {
        self.values.get_or_init(|| Values::new(self.program))
    }

    /// All `for` loops in the body of a region, each before those inside it.
    pub fn region(&self, region: RegionId) -> Vec<Finding> {
        let body = self.program.regions[region].body;
        let mut findings = Vec::new();
        // Parts are pushed last first, so that they come back in the order of the text.
        let mut stack: Vec<(Part, usize)> =
            body.map(|it| (Part::Stmt(it), 0)).into_iter().collect();
        while let Some((part, depth)) = stack.pop() {
            let mut below = depth;
            if let Part::Stmt(stmt) = part
                && let StmtKind::For(_) = self.program.stmts[stmt].kind
            {
                findings.push(Finding { depth, ..self.examine(stmt) });
                below += 1;
            }
            let at = stack.len();
            self.program.parts(part, &mut |it| stack.push((it, below)));
            stack.get_mut(at..).into_iter().for_each(<[_]>::reverse);
        }
        findings
    }

    /// One loop; a statement that is no `for` is answered with [`Reason::NotNormal`].
    pub fn examine(&self, stmt: StmtId) -> Finding {
        if let Some(known) = self.findings.borrow().get(&stmt) {
            return known.clone();
        }
        let finding = self.examine_anew(stmt);
        self.findings.borrow_mut().insert(stmt, finding.clone());
        finding
    }

    fn examine_anew(&self, stmt: StmtId) -> Finding {
        let span = self.program.stmts[stmt].span;
        let mut finding = Finding {
            stmt,
            var: None,
            range: None,
            depth: 0,
            verdict: Verdict::Parallel,
            private: Vec::new(),
            last_private: Vec::new(),
            reductions: Vec::new(),
            is_settled: false,
            conditions: Vec::new(),
            unsure: Terms::default(),
            apart: Vec::new(),
            facts: Vec::new(),
            span,
        };
        if let Err(verdict) = self.judge(stmt, &mut finding) {
            finding.verdict = verdict;
            // They would be needed, but nobody may run the loop in parallel.
        }
        finding
    }

    /// Whether the value that a statement leaves in a variable of its function may be read.
    pub(crate) fn is_live_after(&self, stmt: StmtId, var: VarId) -> bool {
        self.liveness.after(self.program, &self.outline, stmt, var)
    }

    fn judge(&self, stmt: StmtId, finding: &mut Finding) -> Result<(), Verdict> {
        let program = self.program;
        let span = finding.span;
        let unknown = |reason, span| Verdict::Unknown(Obstacle::new(reason, span));
        let scan = Scan::new(program, stmt);
        let Some(form) = normal::loop_form(program, stmt) else {
            return Err(unknown(Reason::NotNormal, span));
        };
        finding.var = Some(form.var);
        finding.range = (form.step == 1 && !form.until_equal).then_some((form.begin, form.bound));
        if self.aliases.is_exposed(program, form.var) {
            return Err(unknown(Reason::CounterChanged, span));
        }
        if let Some(&at) = scan.writes.get(&form.var).and_then(|it| it.get(1)) {
            // The step is one write; an initialiser that assigns is another.
            let expected = if form.declares { 1 } else { 2 };
            if scan.writes.get(&form.var).is_some_and(|it| it.len() > expected) {
                return Err(unknown(Reason::CounterChanged, at));
            }
        }
        let around = self.outline.around(stmt);
        let marked = Marked::new(program, self.outline.governing(stmt));
        finding.reductions = reduction::recognise(program, stmt, &scan, &form);
        for (var, op) in marked.reductions {
            if !finding.reductions.iter().any(|it| it.0 == var) {
                finding.reductions.push((var, op));
            }
        }
        let reduced: BTreeSet<VarId> = finding.reductions.iter().map(|it| it.0).collect();
        let question = walk::Question {
            program,
            aliases: &self.aliases,
            effects: &self.effects,
            outline: &self.outline,
            stmt,
            form: Some(&form),
            scan: &scan,
            reduced: &reduced,
            private: &marked.private,
            around: &around,
        };
        let mut body = walk::run(&question);
        if let Some(obstacle) = body.obstacles.first() {
            return Err(Verdict::Unknown(obstacle.clone()));
        }
        if !scan.inner.contains(&form.var) {
            finding.private.push(form.var);
        }
        let is_live = |var| self.is_live_after(stmt, var);
        for (&var, uses) in &body.scalars {
            let Some(written) = uses.written else { continue };
            if reduced.contains(&var) || var == form.var {
                continue;
            }
            if let Some(read) = uses.exposed {
                let access = |writes, span| Access { var: Some(var), writes, span };
                return Err(Verdict::Carried(Carried {
                    first: access(true, written),
                    second: access(false, read),
                    kind: DependenceKind::Flow,
                    distance: None,
                    certain: false,
                    steady: true,
                }));
            }
            finding.private.push(var);
            if is_live(var) {
                if !uses.always_written {
                    let name = program.vars[var].name;
                    let obstacle = Obstacle::new(Reason::LastValue, written);
                    return Err(Verdict::Unknown(Obstacle { name, ..obstacle }));
                }
                finding.last_private.push(var);
            }
        }
        if !scan.inner.contains(&form.var) && is_live(form.var) {
            finding.last_private.insert(0, form.var);
        }
        body.touches.retain(|it| !marked.combined.contains(&it.place.base));
        if !scan.has_jumps {
            let mut filled = privatise::objects(&question, &body, &marked.filled);
            // A copy of what a pointer leads to ends with its construct.
            filled.retain(|it| !matches!(it, Base::Var(var) if is_live(*var)));
            body.touches.retain(|it| !filled.contains(&it.place.base));
            finding.private.extend(
                filled
                    .into_iter()
                    .filter_map(|it| if let Base::Var(var) = it { Some(var) } else { None }),
            );
        }
        finding.is_settled = true;
        pairs::compare(&question, &body, finding)
    }
}
