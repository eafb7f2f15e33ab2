//! What is known of every loop of a nest, in one place: the marks that choosing who runs it rests on.
//!
//! In: a program and a region of it (or a statement), and how far the user is trusted. Out: a [`LoopTree`], the
//! `for` loops in the order of the text, each with a [`LoopMark`]: whether its iterations may run in any order
//! and who says so, how often it runs, how its accesses move through memory, whether lanes like it.
//!
//! [`Parallel::Proved`] and [`Parallel::User`] hold on the terms of [`LoopMark::finding`] (copies, reductions).
//! [`Parallel::ProvedIf`] is no permission: somebody must ask the condition first.
//! Not here: the choice itself ([`crate::shape`]).

mod friendly;
mod strides;
mod trips;
mod user;
mod work;

use std::collections::{BTreeMap, BTreeSet};

use ir::program::{Program, RegionId, StmtId, StmtKind};
use ir::walk::Part;
use source::Span;

use crate::dependence::Analysis;
use crate::finding::{Disjoint, Finding, Range, Terms, Verdict};
use crate::normal;
use crate::scan::Scan;
use crate::walk::{self, Body};

pub use friendly::{Ingredient, Vector};
pub use strides::{AccessMark, Stride};
pub use trips::{Trips, TripsFrom};
pub use user::{Levels, Said};
pub use work::Work;

/// How far the user's word on independence is believed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Trust {
    /// Always.
    Trust,
    /// Believed; where the contrary is found, that is told.
    #[default]
    Verify,
    /// Not where the contrary is found.
    Strict,
}

/// What marks rest on besides the program.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// How far the user is believed.
    pub trust: Trust,
    /// How often loops run, by the name of the counting variable or of a variable in the bound.
    pub trips: BTreeMap<String, u64>,
    /// Sums of floating-point numbers that nobody has marked may be added in another order.
    pub reassociates: bool,
}

/// The loops of a region or statement, each before those inside it, in the order of the text.
#[derive(Clone, Debug, Default)]
pub struct LoopTree {
    /// The loops; others refer to them by position.
    pub loops: Vec<LoopMark>,
    /// Accesses to memory that outlives an iteration of the outermost loop around them.
    pub accesses: Vec<AccessMark>,
}

/// What is known of one loop.
#[derive(Clone, Debug)]
pub struct LoopMark {
    /// What the dependence test found, with the terms for running it in parallel.
    pub finding: Finding,
    /// The loop directly around it.
    pub parent: Option<usize>,
    /// Loops directly inside.
    pub children: Vec<usize>,
    /// How many loops stand around it.
    pub depth: usize,
    /// What directives say of it.
    pub said: Said,
    /// Whether iterations may run in any order, and who says so.
    pub parallel: Parallel,
    /// It is all that the body of its parent holds.
    pub is_tight: bool,
    /// What stands beside it in the body of its parent, if that could be moved into it: cheap and pure.
    pub sinkable: Vec<Span>,
    /// Its bounds are the same in all iterations of the loops around it.
    pub is_rectangular: bool,
    /// How often it runs.
    pub trips: Trips,
    /// How much lanes like it.
    pub vector: Vector,
    /// What one iteration does, loops inside left out.
    pub work: Work,
}

/// Whether the iterations of a loop may run in any order.
#[derive(Clone, Debug, PartialEq)]
pub enum Parallel {
    /// It is shown.
    Proved,
    /// It holds if certain ranges of memory do not overlap ([`Finding::conditions`]), or if certain subscripts are far enough
    /// apart ([`Finding::apart`]).
    ProvedIf,
    /// A directive says so.
    User(Check),
    /// The user wants it in order.
    Ordered,
    /// They may not, or nobody knows.
    No(No),
}

/// What the dependence test says to a loop that the user vouches for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Check {
    /// The same.
    Confirmed,
    /// The same, if variables are copied or combined that no clause names.
    Incomplete,
    /// Nothing.
    Open,
    /// The contrary, as far as can be told.
    Doubtful,
    /// The contrary, for certain.
    Refuted,
}

/// Why a loop is not parallel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum No {
    /// Iterations depend on each other.
    Carried,
    /// Nothing could be shown.
    Unknown,
    /// It would be, but a sum would be rounded otherwise and nobody has said that this does not matter.
    Rounding,
    /// The user vouches for it, but the contrary was found and he is not believed.
    Distrusted,
}

impl LoopMark {
    /// The `for` statement.
    pub fn stmt(&self) -> StmtId {
        self.finding.stmt
    }

    /// Whether iterations may be run in any order as things stand.
    pub fn is_parallel(&self) -> bool {
        matches!(self.parallel, Parallel::Proved | Parallel::User(_))
    }

    /// Whether something is combined over its iterations.
    pub fn is_reduction(&self) -> bool {
        !self.finding.reductions.is_empty()
    }

    /// The name of the counting variable.
    pub fn name<'p>(&self, program: &'p Program) -> &'p str {
        let name = self.finding.var.and_then(|it| program.vars[it].name);
        name.map_or("loop", |it| program.names.text(it))
    }
}

impl LoopTree {
    /// Loops around which no other of the tree stands.
    pub fn roots(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.loops.len()).filter(|&it| self.loop_at(it).is_some_and(|it| it.parent.is_none()))
    }

    /// The loop at a position.
    pub fn loop_at(&self, at: usize) -> Option<&LoopMark> {
        self.loops.get(at)
    }

    /// The position of a loop.
    pub fn position(&self, stmt: StmtId) -> Option<usize> {
        self.loops.iter().position(|it| it.stmt() == stmt)
    }

    /// A loop and all inside it, outer ones first.
    pub fn nest(&self, root: usize) -> Vec<usize> {
        let mut found = Vec::new();
        let mut open = vec![root];
        while let Some(at) = open.pop() {
            let Some(it) = self.loops.get(at) else { continue };
            found.push(at);
            open.extend(it.children.iter().rev());
        }
        found
    }

    /// Whether a loop is another one or inside of it.
    pub fn is_within(&self, at: usize, outer: usize) -> bool {
        let around = |it: &usize| self.loops.get(*it).and_then(|it| it.parent);
        std::iter::successors(Some(at), around).any(|it| it == outer)
    }

    /// Whether all iterations of a loop read one element while each writes others of the same size.
    pub fn reads_again(&self, at: usize) -> bool {
        let moves = |it: &Stride| *it != Stride::Same;
        self.strides(at).any(|(read, stride)| {
            let is_same = !read.writes && !moves(stride);
            is_same
                && self.strides(at).any(|(it, by)| it.writes && moves(by) && it.bytes == read.bytes)
        })
    }

    /// Accesses inside a loop, those of inner loops too, with their stride in it.
    pub fn strides(&self, at: usize) -> impl Iterator<Item = (&AccessMark, &Stride)> {
        self.accesses.iter().filter_map(move |it| Some((it, it.stride(at)?)))
    }
}

/// The marks of all loops in a region.
pub fn marks(program: &Program, region: RegionId, options: &Options) -> LoopTree {
    Analysis::new(program).marks(region, options)
}

impl Analysis<'_> {
    /// The marks of all loops in a region.
    pub fn marks(&self, region: RegionId, options: &Options) -> LoopTree {
        match self.program.regions[region].body {
            Some(body) => self.marks_in(body, options),
            None => LoopTree::default(),
        }
    }

    /// The marks of all loops in a statement, itself included.
    pub fn marks_in(&self, stmt: StmtId, options: &Options) -> LoopTree {
        let mut tree = LoopTree::default();
        let mut stack: Vec<(Part, Option<usize>)> = vec![(Part::Stmt(stmt), None)];
        while let Some((part, around)) = stack.pop() {
            let mut below = around;
            if let Part::Stmt(stmt) = part
                && let StmtKind::For(_) = self.program.stmts[stmt].kind
            {
                below = Some(self.add(&mut tree, stmt, around, options));
            }
            // Parts are pushed last first, so that they come back in the order of the text.
            let at = stack.len();
            self.program.parts(part, &mut |it| stack.push((it, below)));
            stack.get_mut(at..).into_iter().for_each(<[_]>::reverse);
        }
        for root in tree.roots().collect::<Vec<_>>() {
            self.measure(&mut tree, root, options);
        }
        tree
    }

    /// A loop as far as it can be told without what is around and inside.
    fn add(
        &self,
        tree: &mut LoopTree,
        stmt: StmtId,
        parent: Option<usize>,
        options: &Options,
    ) -> usize {
        let finding = self.examine(stmt);
        let said = self.said(stmt);
        let parallel = self.judged(&finding, &said, options);
        let at = tree.loops.len();
        let depth = parent.and_then(|it| tree.loops.get(it)).map_or(0, |it| it.depth + 1);
        let around = parent.and_then(|it| tree.loops.get(it)).map(LoopMark::stmt);
        let beside = around.map(|it| self.beside(it, stmt));
        let is_tight = beside.as_ref().is_some_and(Vec::is_empty);
        tree.loops.push(LoopMark {
            finding: Finding { depth, ..finding },
            parent,
            children: Vec::new(),
            depth,
            said,
            parallel,
            is_tight,
            sinkable: beside.filter(|it| self.are_sinkable(it)).map_or(Vec::new(), |it| {
                it.iter().map(|it| self.program.stmts[*it].span).collect()
            }),
            is_rectangular: true,
            trips: Trips::guess(),
            vector: Vector::default(),
            work: work::of_body(self.program, stmt),
        });
        if let Some(parent) = parent.and_then(|it| tree.loops.get_mut(it)) {
            parent.children.push(at);
        }
        at
    }

    /// Whether a directive vouches for the iterations of a loop, and is not believed.
    pub fn is_distrusted(&self, stmt: StmtId, options: &Options) -> bool {
        let said = self.said(stmt);
        let is_asked = said.independent && !said.in_order && options.trust == Trust::Strict;
        is_asked && self.judged(&self.examine(stmt), &said, options) == Parallel::No(No::Distrusted)
    }

    /// Whether the rounds of a loop may run in any order, by proof or by a directive that is not refuted, and nothing is
    /// combined over them or kept of the last.
    pub fn is_independent(&self, stmt: StmtId, options: &Options) -> bool {
        let (finding, said) = (self.examine(stmt), self.said(stmt));
        let is_free = match self.judged(&finding, &said, options) {
            Parallel::Proved | Parallel::User(Check::Confirmed | Check::Incomplete) => true,
            Parallel::User(Check::Open) => said.copies.is_empty() && finding.is_settled,
            Parallel::User(Check::Doubtful | Check::Refuted)
            | Parallel::ProvedIf
            | Parallel::Ordered
            | Parallel::No(_) => false,
        };
        is_free && finding.reductions.is_empty() && finding.last_private.is_empty()
    }

    /// What must hold where `outer` is entered, so that the rounds of a loop in it may run in any order: all that stands in the
    /// way is that pointers may lead to the same memory.
    pub(crate) fn independent_if(
        &self,
        stmt: StmtId,
        outer: StmtId,
        options: &Options,
    ) -> Option<Terms> {
        let (own, around) = (self.examine(stmt), self.examine(outer));
        let is_open = self.judged(&own, &self.said(stmt), options) == Parallel::ProvedIf
            && own.is_settled
            && own.apart.is_empty()
            && own.reductions.is_empty()
            && own.last_private.is_empty();
        let same = |a: &Range, b: &Range| (a.var, a.is_pointee) == (b.var, b.is_pointee);
        // The ranges of the outer loop have those of all rounds, of the same objects.
        let is_asked = |it: &Disjoint| {
            let (a, b) = (&it.first, &it.second);
            around.unsure.apart.iter().any(|Disjoint { first, second }| {
                same(a, first) && same(b, second) || same(a, second) && same(b, first)
            })
        };
        (is_open && own.conditions.iter().all(is_asked)).then_some(around.unsure)
    }

    fn judged(&self, finding: &Finding, said: &Said, options: &Options) -> Parallel {
        if said.in_order {
            return Parallel::Ordered;
        }
        if said.independent {
            let check = match &finding.verdict {
                Verdict::Parallel if self.is_complete(finding, said) => Check::Confirmed,
                Verdict::Parallel => Check::Incomplete,
                Verdict::Unknown(_) => Check::Open,
                Verdict::Carried(it) if it.certain => Check::Refuted,
                Verdict::Carried(_) => Check::Doubtful,
            };
            let is_believed = match options.trust {
                Trust::Trust => true,
                Trust::Verify => check != Check::Refuted || !said.orders_refuted,
                // Who shares a loop that stands alone is known to its callers only.
                Trust::Strict => {
                    !matches!(check, Check::Refuted | Check::Doubtful)
                        || !said.orders_refuted && !said.has_crew
                }
            };
            return match is_believed {
                true => Parallel::User(check),
                false => Parallel::No(No::Distrusted),
            };
        }
        match &finding.verdict {
            Verdict::Parallel if self.is_rounded(finding, said, options) => {
                Parallel::No(No::Rounding)
            }
            Verdict::Parallel => Parallel::Proved,
            Verdict::Carried(_) if !finding.apart.is_empty() => Parallel::ProvedIf,
            Verdict::Carried(_) => Parallel::No(No::Carried),
            Verdict::Unknown(_) if !finding.conditions.is_empty() => Parallel::ProvedIf,
            Verdict::Unknown(_) => Parallel::No(No::Unknown),
        }
    }

    /// Whether clauses name all that iterations must have for themselves or combine.
    fn is_complete(&self, finding: &Finding, said: &Said) -> bool {
        let is_own = |it: &&ir::program::VarId| Some(**it) != finding.var;
        let mut copies = finding.private.iter().filter(is_own);
        copies.all(|it| said.copies.contains(it))
            && finding.reductions.iter().all(|it| said.copies.contains(&it.0))
    }

    /// Whether a sum of floating-point numbers would depend on who adds it up.
    fn is_rounded(&self, finding: &Finding, said: &Said, options: &Options) -> bool {
        use ir::construct::ReductionOp as Op;
        let program = self.program;
        !options.reassociates
            && finding.reductions.iter().any(|(var, op)| {
                let rounds = matches!(op, Op::Add | Op::Sub | Op::Mul | Op::User(_));
                let is_whole = program.types.is_integer(program.vars[*var].ty);
                rounds && !is_whole && !said.copies.contains(var)
            })
    }

    /// What stands beside a loop in the body of another, statements without effect left out.
    fn beside(&self, outer: StmtId, inner: StmtId) -> Vec<StmtId> {
        let Some(parts) = normal::parts(self.program, outer) else { return Vec::new() };
        let mut found = Vec::new();
        let mut open = vec![parts.body];
        while let Some(stmt) = open.pop() {
            let kind = &self.program.stmts[stmt].kind;
            if let StmtKind::Block(stmts) = kind {
                open.extend(stmts);
            } else if let StmtKind::Region(id) = kind
                && let Some(body) = self.program.regions[*id].body
            {
                open.push(body);
            } else if stmt != inner && !matches!(kind, StmtKind::Empty | StmtKind::Declaration(_)) {
                found.push(stmt);
            }
        }
        found.sort_by_key(|it| self.program.stmts[*it].span.start);
        found
    }

    /// Whether statements beside a loop may as well be done in each of its iterations: they set
    /// variables of their own and touch no memory.
    fn are_sinkable(&self, stmts: &[StmtId]) -> bool {
        stmts.iter().all(|&stmt| {
            let work = work::of(self.program, Part::Stmt(stmt));
            let is_local = matches!(self.program.stmts[stmt].kind, StmtKind::Local(_));
            is_local && work.calls == 0 && work.loads + work.stores == 0
        })
    }

    /// What a nest does, in the terms of its own counters.
    fn measure(&self, tree: &mut LoopTree, root: usize, options: &Options) {
        let Some(stmt) = tree.loops.get(root).map(LoopMark::stmt) else { return };
        let scan = Scan::new(self.program, stmt);
        let question = walk::Question {
            program: self.program,
            aliases: &self.aliases,
            effects: &self.effects,
            outline: &self.outline,
            stmt,
            form: None,
            scan: &scan,
            reduced: &BTreeSet::new(),
            private: &BTreeSet::new(),
            around: &[],
        };
        let body: Body = walk::run_once(&question);
        let nest = tree.nest(root);
        let numbers: BTreeMap<u32, usize> = body
            .loops
            .iter()
            .filter_map(|it| {
                let at = nest
                    .iter()
                    .find(|at| tree.loops.get(**at).is_some_and(|mark| mark.stmt() == it.stmt))?;
                Some((it.number, *at))
            })
            .collect();
        let accesses = strides::of(self.program, &body, &numbers);
        for rounds in &body.loops {
            let Some(&at) = numbers.get(&rounds.number) else { continue };
            let (trips, is_rectangular) =
                trips::of(self, tree, at, rounds, &numbers, &accesses, options);
            if let Some(mark) = tree.loops.get_mut(at) {
                mark.trips = trips;
                mark.is_rectangular = is_rectangular;
            }
        }
        tree.accesses.extend(accesses.into_iter().map(|it| it.mark));
        for at in nest {
            let vector = friendly::of(tree, at);
            if let Some(mark) = tree.loops.get_mut(at) {
                mark.vector = vector;
            }
        }
    }
}
