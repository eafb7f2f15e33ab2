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

use ir::construct::{ClauseKind, ReductionOp};
use ir::program::{
    ExprId, ExprKind, FunctionId, Program, RegionId, StmtId, StmtKind, Typed, VarId,
};
use ir::walk::Part;
use rustc_hash::FxHashMap;
use source::Span;

use crate::access::Base;
use crate::alias::Aliases;
use crate::effects::Effects;
use crate::liveness::Liveness;
use crate::marks::{Values, variable};
use crate::outline::Outline;
use crate::scan::Scan;
use crate::{normal, pairs, privatise, reduction, walk};

/// What is known of one loop.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// The `for` statement.
    pub stmt: StmtId,
    /// The variable that counts, if the loop has the normal form.
    pub var: Option<VarId>,
    /// Its first value and the bound that it stays below (or reaches), if the loop counts up by one.
    pub range: Option<(ExprId, ExprId)>,
    /// How many loops of the same question stand around it; 0 from [`Analysis::examine`].
    pub depth: usize,
    /// Whether its iterations are independent.
    pub verdict: Verdict,
    /// Variables from outside the loop that each iteration must have for itself: written before
    /// they are read. The counting variable is among them if it was declared outside.
    pub private: Vec<VarId>,
    /// Those of them whose last value is used after the loop.
    pub last_private: Vec<VarId>,
    /// Variables that iterations only combine something into.
    pub reductions: Vec<(VarId, ReductionOp<Typed>)>,
    /// Whether the three lists above are whole although the verdict may be against the loop: then only
    /// memory stands in the way, and they are the terms for who vouches for that.
    pub is_settled: bool,
    /// Where the verdict is [`Reason::MayAlias`]: if at loop entry none of these overlap, the loop is parallel
    /// all the same, on the terms above. Empty if there is no such condition.
    pub conditions: Vec<Disjoint>,
    /// Where the verdict is [`Verdict::Carried`] because of differences that nobody knows: if all of these are far enough, or
    /// nothing, the loop is parallel all the same, on the terms above. Empty if there is no such condition.
    pub apart: Vec<Far>,
    /// What the verdict rests on besides the subscripts.
    pub facts: Vec<Fact>,
    /// Where the loop stands.
    pub span: Span,
}

impl Finding {
    /// Whether iterations may run in any order.
    pub fn is_parallel(&self) -> bool {
        self.verdict == Verdict::Parallel
    }
}

/// Whether iterations are independent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Proven.
    Parallel,
    /// Two accesses reach the same place in different iterations, as far as can be told.
    Carried(Carried),
    /// Not proven.
    Unknown(Obstacle),
}

/// A dependence between iterations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Carried {
    /// The access in the earlier iteration.
    pub first: Access,
    /// The access in the later one.
    pub second: Access,
    /// What they do to each other.
    pub kind: DependenceKind,
    /// How many iterations lie between them, if that is always the same.
    pub distance: Option<u64>,
    /// It is there for certain as soon as the loop has two iterations: a value goes from one to a
    /// later one, or must be read before a later one changes it.
    pub certain: bool,
    /// It is not one of single iterations or under a condition: any two iterations meet so, or any two
    /// at this distance, as far as the loops inside are run.
    pub steady: bool,
}

/// One access in the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// The variable that was named: an array, a pointer, a scalar.
    pub var: Option<VarId>,
    /// Whether it writes.
    pub writes: bool,
    /// Where.
    pub span: Span,
}

/// Kinds of dependence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DependenceKind {
    /// Written, then read.
    Flow,
    /// Read, then written.
    Anti,
    /// Written twice.
    Output,
}

/// What stood in the way of a proof.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Obstacle {
    /// Why.
    pub reason: Reason,
    /// The statement or access.
    pub span: Span,
    /// The other access, where there are two.
    pub other: Option<Span>,
    /// The variable or function it is about.
    pub name: Option<source::Name>,
}

/// Why a proof was not found, each told by [`Reason::text`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reason {
    /// Not `for (i = a; i < b; i += c)`.
    NotNormal,
    /// The counting variable is changed in the body, or might be from elsewhere.
    CounterChanged,
    /// Leaves the loop.
    Break,
    /// Leaves the function.
    Return,
    /// A jump or a label.
    Jump,
    /// Assembly.
    Assembly,
    /// An object that may change by itself.
    Volatile,
    /// A variable of which each thread has its own.
    ThreadLocal,
    /// An indivisible access: it is meant for iterations that meet.
    Atomic,
    /// A function about which nothing is known.
    UnknownCall,
    /// A function that does input or output, ends the program or keeps a state of its own.
    EffectCall,
    /// A call through a pointer.
    IndirectCall,
    /// A directive in the body that is more than a loop.
    Directive,
    /// Two pointers, or a pointer and an object, that may lead to the same place.
    MayAlias,
    /// A subscript that is no sum of counters and constants.
    Subscript,
    /// A value that survives the loop, but not every iteration sets it.
    LastValue,
    /// Too much to compare.
    TooLarge,
    /// Had errors.
    Faulty,
}

impl Reason {
    /// A short word for machines; stable.
    pub fn word(self) -> &'static str {
        match self {
            Reason::NotNormal => "not-normal",
            Reason::CounterChanged => "counter-changed",
            Reason::Break => "break",
            Reason::Return => "return",
            Reason::Jump => "jump",
            Reason::Assembly => "assembly",
            Reason::Volatile => "volatile",
            Reason::ThreadLocal => "thread-local",
            Reason::Atomic => "atomic",
            Reason::UnknownCall => "unknown-call",
            Reason::EffectCall => "effect-call",
            Reason::IndirectCall => "indirect-call",
            Reason::Directive => "directive",
            Reason::MayAlias => "may-alias",
            Reason::Subscript => "subscript",
            Reason::LastValue => "last-value",
            Reason::TooLarge => "too-large",
            Reason::Faulty => "faulty",
        }
    }

    /// The reason in words.
    pub fn text(self) -> &'static str {
        match self {
            Reason::NotNormal => {
                "the loop does not count from a value to a bound in constant steps"
            }
            Reason::CounterChanged => "the variable that counts is or may be changed in the body",
            Reason::Break => "the loop may be left early",
            Reason::Return => "the function may be left from inside the loop",
            Reason::Jump => "jumps in the loop are not followed",
            Reason::Assembly => "assembly may do anything",
            Reason::Volatile => "a volatile object is accessed",
            Reason::ThreadLocal => "a variable is accessed of which each thread has its own",
            Reason::Atomic => "an atomic access is made",
            Reason::UnknownCall => "nothing is known of the function that is called",
            Reason::EffectCall => "the function that is called does more than compute",
            Reason::IndirectCall => "a function is called through a pointer",
            Reason::Directive => "a directive in the loop does more than mark a loop",
            Reason::MayAlias => "these accesses may reach the same memory",
            Reason::Subscript => "this access may reach any element, those of other iterations too",
            Reason::LastValue => {
                "the value is used after the loop, but not every iteration sets it"
            }
            Reason::TooLarge => "there is too much in the loop to compare",
            Reason::Faulty => "the loop has errors",
        }
    }
}

/// A difference of subscripts that must be nothing, or at least as much as the loop goes, one way or the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Far {
    /// The difference.
    pub by: Sum,
    /// How far the loop goes, and one more.
    pub way: Sum,
}

impl Far {
    /// As a condition: `n >= m, -n >= m, or n == 0`.
    pub fn text(&self, program: &Program) -> String {
        let (by, way) = (self.by.text(program), self.way.text(program));
        let minus = Sum { terms: Vec::new() }.minus(&self.by).text(program);
        format!("{by} >= {way}, {minus} >= {way}, or {by} == 0")
    }
}

/// Two ranges of memory that must not overlap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Disjoint {
    /// One.
    pub first: Range,
    /// The other.
    pub second: Range,
}

/// Bytes of an object, from `low` up to but not including `high`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Range {
    /// The object, or the pointer to it.
    pub var: VarId,
    /// Counted from where the pointer `var` leads, not from the address of `var`.
    pub is_pointee: bool,
    /// First byte.
    pub low: Sum,
    /// End.
    pub high: Sum,
}

/// A sum of products of a constant and variables, as they are where the examined code is entered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sum {
    /// Factor and variables; no variables for the constant.
    pub terms: Vec<(i64, Vec<VarId>)>,
}

impl Sum {
    /// The part that is a number.
    pub fn constant(&self) -> i64 {
        self.terms.iter().find(|it| it.1.is_empty()).map_or(0, |it| it.0)
    }

    /// What is left of it when another is taken away; numbers that are too large stay as they are.
    #[must_use]
    pub fn minus(&self, other: &Sum) -> Sum {
        let mut terms = self.terms.clone();
        for (factor, vars) in &other.terms {
            match terms.iter_mut().find(|it| it.1 == *vars) {
                Some(it) => it.0 = it.0.saturating_sub(*factor),
                None => terms.push((factor.saturating_neg(), vars.clone())),
            }
        }
        terms.retain(|it| it.0 != 0);
        Sum { terms }
    }

    /// So many times it; nothing if that is too large.
    #[must_use]
    pub fn times(&self, factor: i64) -> Option<Sum> {
        let terms =
            self.terms.iter().map(|(by, vars)| Some((by.checked_mul(factor)?, vars.clone())));
        Some(Sum { terms: terms.collect::<Option<_>>()? })
    }

    /// As a formula: `n * m - 1`.
    pub fn text(&self, program: &Program) -> String {
        let name = |var: &VarId| program.vars[*var].name.map_or("?", |it| program.names.text(it));
        let mut text = String::new();
        // The number last, as people write it.
        let (numbers, rest): (Vec<_>, Vec<_>) = self.terms.iter().partition(|it| it.1.is_empty());
        for (factor, vars) in rest.into_iter().chain(numbers) {
            let names: Vec<&str> = vars.iter().map(name).collect();
            let size = factor.unsigned_abs();
            let term = match (size, names.is_empty()) {
                (1, false) => names.join(" * "),
                (_, false) => format!("{size} * {}", names.join(" * ")),
                (_, true) => size.to_string(),
            };
            text += match (text.is_empty(), *factor < 0) {
                (true, true) => "-",
                (true, false) => "",
                (false, true) => " - ",
                (false, false) => " + ",
            };
            text += &term;
        }
        if text.is_empty() { "0".to_owned() } else { text }
    }
}

/// Something a verdict rests on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fact {
    /// So many pairs of accesses were compared and found apart.
    Compared(usize),
    /// The pointer is declared `restrict`.
    Restrict(VarId),
    /// All that these pointers can hold is known.
    PointsApart(VarId, VarId),
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

impl Obstacle {
    pub(crate) fn new(reason: Reason, span: Span) -> Obstacle {
        Obstacle { reason, span, other: None, name: None }
    }
}

/// What the directive of the loop says of variables.
#[derive(Default)]
pub(crate) struct Marked {
    pub(crate) private: BTreeSet<Base>,
    /// What pointers lead to of which each thread has a copy that begins with its values.
    filled: BTreeSet<VarId>,
    pub(crate) reductions: Vec<(VarId, ReductionOp<Typed>)>,
}

impl Marked {
    pub(crate) fn new(program: &Program, governing: &[RegionId]) -> Marked {
        let mut marked = Marked::default();
        for region in governing.iter().map(|&it| &program.regions[it]) {
            marked.private.extend(private_items(program, &region.construct));
            for kind in region.construct.kinds() {
                if let ClauseKind::FirstPrivate { items, .. } = kind {
                    let objects = items.iter().filter_map(|&it| object(program, it));
                    marked.filled.extend(objects.filter_map(|it| {
                        if let Base::Pointee(var) = it { Some(var) } else { None }
                    }));
                }
                if let ClauseKind::Reduction(it) = kind {
                    let vars = it.items.iter().filter_map(|&it| item_var(program, it));
                    marked.reductions.extend(vars.map(|var| (var, it.op.clone())));
                }
            }
        }
        marked
    }
}

/// What a construct makes private without a first or last value.
pub(crate) fn private_items(
    program: &Program,
    construct: &ir::construct::Construct<Typed>,
) -> Vec<Base> {
    let mut found = Vec::new();
    for kind in construct.kinds() {
        if let ClauseKind::Private(items) = kind {
            found.extend(items.iter().filter_map(|&it| object(program, it)));
        }
    }
    found
}

/// The object of which an item names all or a part.
fn object(program: &Program, item: ir::program::ExprId) -> Option<Base> {
    let is_part = matches!(program.exprs[item].kind, ExprKind::Section(_));
    let var = variable(program, item)?;
    let is_pointer = program.types.is_pointer(program.vars[var].ty);
    Some(if is_part && is_pointer { Base::Pointee(var) } else { Base::Var(var) })
}

fn item_var(program: &Program, item: ir::program::ExprId) -> Option<VarId> {
    if let ExprKind::Var(var) = program.exprs[item].kind { Some(var) } else { None }
}
