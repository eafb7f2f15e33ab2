//! The laws of a [`Module`], and which of them one breaks.
//!
//! In: a module. Out: a [`Fault`] per broken law; what `outline` makes has none, and a pass that leaves one is
//! wrong. [`verify`] asks for what holds of every kernel, [`verify_spmd`] also for what holds in SPMD form.
//!
//! **Handles** name things that exist. **Types**: expressions, initialisers and variables are as `ir::verify` asks;
//! conditions are scalars; what is switched on and numbers of teams, threads, chunks and steps are integers;
//! numbers of iterations, teams and threads are kept in unsigned variables of 64 bits.
//!
//! **Levels** nest downwards: a league stands in no league, parallel region, shared loop or code for one thread; a
//! parallel region in no other and in no code for one thread; a shared loop in no code for one thread, and in no
//! other of the same crew. Neither barrier, shuffle, reduction nor scan stands in code for one thread or in a loop that the
//! same threads share, and what combines has no construct in it.
//!
//! **Crews**: a shared loop or reduction has the crew of the kernel or of a construct around it, or one whose two
//! numbers the kernel keeps in variables of its own; never that of a construct which is elsewhere. The number of a
//! thread is private.
//!
//! **Serial code** has no construct in it that concerns others, and no jump leaves it. Outside of parallel regions what
//! threads share concerns the one thread that is there.
//!
//! **Storage**: a variable that is declared has exactly one space; it is not declared again where it lives, and is
//! not used elsewhere; variables of serial code are used only there. Leagues and parallel regions declare their crew,
//! whose variables live in them. In SPMD form group variables live as long as the kernel, declared or not. Group
//! storage has a constant size.
//!
//! **Uniform variables** that live outside of a parallel region are not written in it. Where several threads run,
//! they are written under uniform conditions, with uniform values, and not by one thread alone or in shared loops.
//! Uniform are constants, uniform and group variables, and variables from outside that the kernel does not write.
//!
//! **Jumps**: `break` and `continue` stand in a loop (or switch) of the same construct, cases directly in a switch; a
//! `continue` directly in a shared loop ends the iteration.
//!
//! A kernel that all threads run from its beginning ([`Kernel::all`]) is in SPMD form but for loops that they share.
//!
//! **SPMD form**: no league, parallel region, shared loop, code for one thread, reduction or scan is left. All threads of
//! a group reach a barrier or shuffle or none does: conditions of what is around it, and of what leaves or cuts short a loop
//! around it, read only what is uniform, and no memory behind pointers.
//!
//! Laws that are not checked: a private address does not leave its thread; a group variable is not read and
//! written by two threads without a barrier in between (the interpreter tells); writes through pointers.

mod code;
mod uniform;

use ir::program::{ExprId, ExprKind, Program, VarId};
use ir::types::{IntKind, TypeKind};
use ir::verify::Looked;
use ir::walk::Part;
use rustc_hash::FxHashSet;
use source::Span;

use crate::walk::{self, How};
use crate::{
    Block, Crew, Kernel, Module, Reduce, Scan, Schedule, Share, Shuffle, Space, Stmt, StmtKind,
};

/// What a fault is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Law {
    /// Handles name things that exist.
    Handle,
    /// Types agree.
    Type,
    /// Levels nest downwards.
    Level,
    /// Work is shared by those who are there.
    Crew,
    /// Serial code concerns nobody else.
    Code,
    /// Variables lie in one space and are used where they live.
    Storage,
    /// Uniform variables have the same value in all threads.
    Uniform,
    /// Jumps have a target around them.
    Jump,
    /// What is not in SPMD form.
    Spmd,
    /// A barrier is reached by all or none.
    Barrier,
}

/// A law that is broken somewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Which.
    pub law: Law,
    /// How.
    pub text: String,
    /// Where the broken thing was written.
    pub span: Span,
}

/// Every broken law of a module, whatever form its kernels have.
pub fn verify(module: &Module) -> Vec<Fault> {
    verify_as(module, false)
}

/// Every broken law of a module whose kernels are in SPMD form.
pub fn verify_spmd(module: &Module) -> Vec<Fault> {
    verify_as(module, true)
}

fn verify_as(module: &Module, is_spmd: bool) -> Vec<Fault> {
    verify_kernels(&module.program, &module.kernels, is_spmd)
}

/// Every broken law of kernels over a program. `is_spmd`: they are in SPMD form.
pub fn verify_kernels(program: &Program, kernels: &[Kernel], is_spmd: bool) -> Vec<Fault> {
    verify_after(program, kernels, is_spmd, &mut Looked::default())
}

/// The same after a pass: of the program only what it has added.
pub fn verify_after(
    program: &Program,
    kernels: &[Kernel],
    is_spmd: bool,
    looked: &mut Looked,
) -> Vec<Fault> {
    let of_program = ir::verify::verify_added(program, looked);
    let mut found: Vec<Fault> = of_program
        .into_iter()
        .map(|it| Fault {
            law: if it.law == ir::verify::Law::Handle { Law::Handle } else { Law::Type },
            text: it.detail,
            span: it.span,
        })
        .collect();
    // With a wrong handle the other questions cannot be asked.
    if found.iter().any(|it| it.law == Law::Handle) {
        return found;
    }
    for kernel in kernels {
        let mut verifier = Verifier::new(program, kernel, is_spmd);
        let is_spmd = is_spmd || kernel.all.is_some();
        verifier.handles();
        if verifier.found.is_empty() {
            verifier.storage();
            let around = Around::new(kernel, is_spmd);
            verifier.block(&kernel.body, &around);
        }
        found.append(&mut verifier.found);
    }
    found
}

/// Looks at one kernel.
struct Verifier<'a> {
    program: &'a Program,
    kernel: &'a Kernel,
    is_spmd: bool,
    /// Declared and alive, innermost last.
    scope: Vec<VarId>,
    /// Variables that the kernel's expressions write by name.
    written: FxHashSet<VarId>,
    /// Variables that are declared in serial code.
    of_code: FxHashSet<VarId>,
    /// Crews that constructs of the kernel set.
    crews: Vec<Crew>,
    found: Vec<Fault>,
}

/// What is around a statement.
#[derive(Clone)]
struct Around {
    in_teams: bool,
    in_parallel: bool,
    in_on: bool,
    in_combine: bool,
    /// Crews of shared loops around, inside the innermost parallel region.
    shared: Vec<Crew>,
    /// Crews that are set here.
    crews: Vec<Crew>,
    /// Where several threads run: how many variables were alive where they began.
    threads: Option<usize>,
    /// Conditions around are uniform, as far as those go who run it.
    is_uniform: bool,
    /// The same, if they also read no memory behind pointers.
    is_certain: bool,
    /// Loops and switches of the same construct.
    targets: Vec<Target>,
}

/// A loop or switch around.
#[derive(Clone, Copy)]
struct Target {
    is_loop: bool,
    /// `break` leaves it.
    is_left: bool,
    has_barrier: bool,
    /// Conditions between it and the statement are uniform.
    is_certain: bool,
}

impl Around {
    fn new(kernel: &Kernel, is_spmd: bool) -> Around {
        Around {
            in_teams: false,
            in_parallel: false,
            in_on: false,
            in_combine: false,
            shared: Vec::new(),
            crews: [kernel.threads, kernel.groups].into_iter().chain(kernel.all).collect(),
            threads: is_spmd.then_some(0),
            is_uniform: true,
            is_certain: true,
            targets: Vec::new(),
        }
    }

    /// Inside of a condition.
    fn under(&self, is_uniform: bool, is_certain: bool) -> Around {
        let mut inner = self.clone();
        inner.is_uniform &= is_uniform;
        inner.is_certain &= is_certain;
        inner.targets.iter_mut().for_each(|it| it.is_certain &= is_certain);
        inner
    }

    /// Inside of a construct: no jump leaves it.
    fn construct(&self) -> Around {
        Around { targets: Vec::new(), ..self.clone() }
    }
}

impl<'a> Verifier<'a> {
    fn new(program: &'a Program, kernel: &'a Kernel, is_spmd: bool) -> Verifier<'a> {
        Verifier {
            program,
            kernel,
            is_spmd,
            scope: Vec::new(),
            written: FxHashSet::default(),
            of_code: FxHashSet::default(),
            crews: Vec::new(),
            found: Vec::new(),
        }
    }

    fn report(&mut self, law: Law, span: Span, text: impl Into<String>) {
        self.found.push(Fault { law, text: text.into(), span });
    }

    /// Reports unless `holds`.
    fn check(&mut self, holds: bool, law: Law, span: Span, text: &str) {
        if !holds {
            self.report(law, span, text);
        }
    }

    fn name(&self, var: VarId) -> &'a str {
        let name = self.program.vars.find(var).and_then(|it| it.name);
        name.map_or("(unnamed)", |it| self.program.names.text(it))
    }

    /// All handles of the kernel name something.
    fn handles(&mut self) {
        let (program, kernel) = (self.program, self.kernel);
        let known = |it: &VarId| program.vars.find(*it).is_some();
        let mut own = kernel.launched().into_iter().chain(kernel.spaces.iter().map(|it| it.0));
        let holds = own.all(|it| known(&it)) && program.regions.find(kernel.region).is_some();
        self.check(holds, Law::Handle, kernel.span, "the kernel names what does not exist");
        for stmt in walk::all(&kernel.body) {
            let kind = &stmt.kind;
            let mut holds = kind.exprs().iter().all(|it| program.exprs.find(*it).is_some());
            holds &= kind.sets().iter().chain(&kind.reads()).all(known);
            if let StmtKind::Code(code) = kind {
                holds &= program.stmts.find(*code).is_some();
            }
            if let StmtKind::Local(var) = kind {
                holds &= known(var);
            }
            self.check(holds, Law::Handle, stmt.span, "a statement names what does not exist");
        }
    }

    /// Collects what is written and declared where, and looks at the spaces.
    fn storage(&mut self) {
        let (program, kernel) = (self.program, self.kernel);
        for stmt in walk::all(&kernel.body) {
            let mut parts: Vec<Part> = stmt.kind.exprs().into_iter().map(Part::Expr).collect();
            if let StmtKind::Code(code) = &stmt.kind {
                parts.push(Part::Stmt(*code));
            } else if let StmtKind::Teams(it) = &stmt.kind {
                self.crews.push(it.crew);
            } else if let StmtKind::Parallel(it) = &stmt.kind {
                self.crews.push(it.crew);
            }
            self.written.extend(stmt.kind.sets());
            for part in parts {
                let (uses, declared) = walk::uses(program, part);
                self.written
                    .extend(uses.iter().filter(|it| it.how == How::Written).map(|it| it.var));
                self.of_code.extend(declared);
            }
        }
        let mut seen = FxHashSet::default();
        for (var, space) in &kernel.spaces {
            let span = program.vars[*var].span;
            if !seen.insert(*var) {
                let text = format!("`{}` has two spaces", self.name(*var));
                self.report(Law::Storage, span, text);
            }
            let ty = program.vars[*var].ty;
            if *space == Space::Group && program.model.size_of(&program.types, ty).is_err() {
                let text = format!("`{}` is group storage of no constant size", self.name(*var));
                self.report(Law::Storage, span, text);
            }
            if self.of_code.contains(var) {
                let text =
                    format!("`{}` is declared in serial code and has a space", self.name(*var));
                self.report(Law::Storage, span, text);
            }
        }
        for crew in [kernel.threads, kernel.groups].into_iter().chain(kernel.all) {
            self.numbers(&crew.vars(), kernel.span);
        }
        let is_own = |it: Option<Space>| !matches!(it, Some(Space::Uniform | Space::Group));
        let holds = is_own(kernel.space(kernel.threads.number));
        self.check(holds, Law::Crew, kernel.span, "the number of a thread is not private");
    }

    fn block(&mut self, block: &Block, around: &Around) {
        let alive = self.scope.len();
        block.iter().for_each(|it| self.stmt(it, around));
        self.scope.truncate(alive);
    }

    #[allow(clippy::too_many_lines, reason = "one arm per kind of statement")]
    fn stmt(&mut self, stmt: &Stmt, around: &Around) {
        let span = stmt.span;
        let kind = &stmt.kind;
        self.names(stmt);
        if around.in_combine {
            let is_plain = !is_construct(kind) && !is_met(kind);
            self.check(is_plain, Law::Level, span, "a construct in what combines");
        }
        if self.is_spmd && is_construct(kind) {
            self.report(Law::Spmd, span, format!("{} is left", kind.word()));
        }
        for e in kind.exprs() {
            self.writes(Part::Expr(e), span, around);
        }
        for var in kind.sets() {
            self.written_here(var, None, span, around);
        }
        match kind {
            StmtKind::Code(code) => {
                self.serial(*code, around.in_parallel, span);
                self.writes(Part::Stmt(*code), span, around);
            }
            StmtKind::Local(var) => self.local(*var, span),
            StmtKind::Eval(_) => {}
            StmtKind::Block(body) => self.block(body, around),
            StmtKind::If(c, then, other) => {
                self.scalar(*c, span);
                let inner = around.under(self.is_uniform(*c), self.is_certain(*c));
                self.block(then, &inner);
                self.block(other, &inner);
            }
            StmtKind::Loop(it) => {
                it.condition.iter().for_each(|it| self.scalar(*it, span));
                let uniform = it.condition.is_none_or(|it| self.is_uniform(it));
                let certain = it.condition.is_none_or(|it| self.is_certain(it));
                let mut inner = around.under(uniform, certain);
                let has_barrier = kind.any(&is_met);
                let (is_loop, is_left, is_certain) = (true, true, true);
                inner.targets.push(Target { is_loop, is_left, has_barrier, is_certain });
                self.block(&it.body, &inner);
            }
            StmtKind::Switch(e, body) => {
                self.integer(*e, "what is switched on", span);
                let mut inner = around.under(self.is_uniform(*e), self.is_certain(*e));
                let has_barrier = kind.any(&is_met);
                let (is_loop, is_left, is_certain) = (false, true, true);
                inner.targets.push(Target { is_loop, is_left, has_barrier, is_certain });
                let alive = self.scope.len();
                for stmt in body {
                    if let StmtKind::Case(low, high) = stmt.kind {
                        let text = "the range of a case is empty";
                        self.check(low <= high, Law::Jump, stmt.span, text);
                    } else if stmt.kind != StmtKind::Default {
                        self.stmt(stmt, &inner);
                    }
                }
                self.scope.truncate(alive);
            }
            StmtKind::Case(..) | StmtKind::Default => {
                self.report(Law::Jump, span, "a case does not stand directly in a switch");
            }
            StmtKind::Break | StmtKind::Continue => {
                let is_break = *kind == StmtKind::Break;
                let target = around.targets.iter().rev().find(|it| is_break || it.is_loop);
                let target = target.filter(|it| !is_break || it.is_left);
                match target {
                    None => {
                        let text = format!("{} has nothing around it to act on", kind.word());
                        self.report(Law::Jump, span, text);
                    }
                    Some(it) if self.is_spmd && it.has_barrier && !it.is_certain => {
                        let text =
                            format!("not all threads reach {} before a barrier", kind.word());
                        self.report(Law::Barrier, span, text);
                    }
                    Some(_) => {}
                }
            }
            StmtKind::Teams(it) => {
                let holds = !around.in_teams
                    && !around.in_parallel
                    && !around.in_on
                    && around.shared.is_empty();
                self.check(holds, Law::Level, span, "a league is not outermost");
                self.numbers(&it.crew.vars(), span);
                let asked = it.teams.into_iter().chain(it.limit);
                asked.for_each(|it| self.integer(it, "a number of teams or threads", span));
                let mut inner = around.construct();
                inner.in_teams = true;
                inner.crews.push(it.crew);
                self.crewed(it.crew, &it.body, &inner);
            }
            StmtKind::Parallel(it) => {
                let text = "a parallel region stands in another, or in code for one thread";
                self.check(!around.in_parallel && !around.in_on, Law::Level, span, text);
                self.numbers(&it.crew.vars(), span);
                self.numbers(it.limit.as_slice(), span);
                it.threads.iter().for_each(|it| self.integer(*it, "a number of threads", span));
                it.condition.iter().for_each(|it| self.scalar(*it, span));
                let is_launched = it.crew.number == self.kernel.threads.number;
                let is_private =
                    is_launched || self.kernel.space(it.crew.number) == Some(Space::Private);
                self.check(is_private, Law::Crew, span, "the number of a thread is not private");
                let mut inner = around.construct();
                inner.in_parallel = true;
                inner.shared = Vec::new();
                inner.crews.push(it.crew);
                inner.threads = Some(self.scope.len());
                (inner.is_uniform, inner.is_certain) = (true, true);
                self.crewed(it.crew, &it.body, &inner);
            }
            StmtKind::Share(it) => self.share(it, span, around),
            StmtKind::On(who, body) => {
                self.check(
                    !around.in_on,
                    Law::Level,
                    span,
                    "code for one thread stands in such code",
                );
                if let crate::Who::Numbered(e) = who {
                    self.integer(*e, "the number of a thread", span);
                }
                let mut inner = around.construct();
                inner.in_on = true;
                inner = inner.under(false, false);
                self.block(body, &inner);
            }
            StmtKind::Barrier | StmtKind::Shuffle(_) => {
                let holds = !around.in_on && around.shared.is_empty();
                let text =
                    format!("{} stands in code for one thread or in a shared loop", kind.word());
                self.check(holds, Law::Level, span, &text);
                if self.is_spmd {
                    let text = "not all threads reach the barrier: a condition is not uniform";
                    self.check(around.is_certain, Law::Barrier, span, text);
                }
                if let StmtKind::Shuffle(it) = kind {
                    self.shuffle(it, span);
                }
            }
            StmtKind::Reduce(it) => self.reduce(it, span, around),
            StmtKind::Scan(it) => self.scan(it, span, around),
        }
    }

    fn shuffle(&mut self, it: &Shuffle, span: Span) {
        it.far.iter().for_each(|far| self.integer(*far, "a distance between threads", span));
        let text = "what a shuffle gives is not what it gets";
        let (to, from) = (self.program.vars[it.to].ty, self.program.exprs[it.from].ty);
        self.check(to.plain() == from.plain(), Law::Type, span, text);
        let text = "what a shuffle gives has no place";
        self.check(
            matches!(
                self.program.exprs[it.from].kind,
                ExprKind::Var(_) | ExprKind::Index(..) | ExprKind::Member(..)
            ),
            Law::Type,
            span,
            text,
        );
        let is_own = self.kernel.space(it.to) == Some(Space::Private);
        self.check(is_own, Law::Storage, span, "what a shuffle gets is not private");
        let text = "a subgroup has no power of two of threads";
        self.check(it.lanes.is_power_of_two(), Law::Crew, span, text);
    }

    /// The body of a construct in which its crew lives.
    fn crewed(&mut self, crew: Crew, body: &Block, around: &Around) {
        let alive = self.scope.len();
        for var in crew.vars() {
            if !self.is_alive(var) {
                self.scope.push(var);
            }
        }
        self.block(body, around);
        self.scope.truncate(alive);
    }

    fn share(&mut self, it: &Share, span: Span, around: &Around) {
        let (inner, iteration) = self.shared(it, span, around);
        self.block(&it.body, &iteration);
        self.block(&it.last, &inner);
    }

    fn scan(&mut self, it: &Scan, span: Span, around: &Around) {
        let text = "a scan stands in a shared loop";
        self.check(around.shared.is_empty(), Law::Level, span, text);
        let is_open = it.share.within.is_none() && it.share.pieces.is_none() && !it.share.ordered;
        self.check(is_open, Law::Type, span, "a scan does not go over all iterations");
        let (inner, iteration) = self.shared(&it.share, span, around);
        let alive = self.scope.len();
        let mut combine = around.construct();
        combine.in_combine = true;
        combine = combine.under(false, false);
        for prefix in &it.prefixes {
            let of_threads = [prefix.copy, prefix.join.other];
            let is_private =
                of_threads.iter().all(|it| self.kernel.space(*it) == Some(Space::Private));
            let text = "what an iteration gives is not private";
            self.check(is_private, Law::Storage, span, text);
            self.own_variable(prefix.copy, span);
        }
        for prefix in &it.prefixes {
            self.block(&prefix.begin, &combine);
            self.block(&prefix.combine, &combine);
            let alive = self.scope.len();
            self.own_variable(prefix.join.other, span);
            self.block(&prefix.join.code, &combine);
            self.scope.truncate(alive);
        }
        self.block(&it.share.body, &iteration);
        self.block(&it.using, &iteration);
        self.block(&it.share.last, &inner);
        self.scope.truncate(alive);
    }

    /// Checks a shared loop; answers what is around the code behind its iterations, and around that of one.
    fn shared(&mut self, it: &Share, span: Span, around: &Around) -> (Around, Around) {
        self.check(!around.in_on, Law::Level, span, "a shared loop stands in code for one thread");
        let text = "a shared loop stands in another of the same crew";
        self.check(!around.shared.contains(&it.crew), Law::Level, span, text);
        self.crew(it.crew, span, around);
        self.check(!it.dims.is_empty(), Law::Type, span, "a shared loop has no loop");
        for dim in &it.dims {
            let (program, ty) = (self.program, self.program.vars[dim.var].ty);
            let counts = program.types.is_real(ty) || program.types.is_pointer(ty);
            self.check(counts, Law::Type, span, "what counts a shared loop is no number");
            self.scalar(dim.begin, span);
            self.scalar(dim.bound, span);
            dim.step.iter().for_each(|it| self.integer(*it, "the step of a shared loop", span));
        }
        if let Schedule::RoundRobin(chunk) = it.schedule {
            self.integer(chunk, "the length of a chunk", span);
        }
        let ranges = it.within.into_iter().chain(it.pieces);
        let numbers: Vec<VarId> = ranges.flat_map(crate::Range::vars).collect();
        self.numbers(&numbers, span);
        self.numbers(&[it.number], span);
        let mut inner = around.construct();
        let is_of_threads = around.threads.is_some();
        if is_of_threads {
            inner.shared.push(it.crew);
            inner = inner.under(false, false);
        }
        let (is_loop, is_left, is_certain) = (true, false, true);
        let target = Target { is_loop, is_left, has_barrier: false, is_certain };
        let iteration = Around { targets: vec![target], ..inner.clone() };
        (inner, iteration)
    }

    fn reduce(&mut self, it: &Reduce, span: Span, around: &Around) {
        let holds = !around.in_on && around.shared.is_empty();
        let text = "a reduction stands in code for one thread or in a shared loop";
        self.check(holds, Law::Level, span, text);
        if it.is_league {
            let text = "teams are combined where there are none, or by many threads";
            self.check(around.in_teams && !around.in_parallel, Law::Level, span, text);
        }
        self.crew(it.crew, span, around);
        let mut inner = around.construct();
        inner.in_combine = true;
        inner = inner.under(false, false);
        let alive = self.scope.len();
        if let Some(elements) = &it.elements {
            self.numbers(&[elements.index], span);
            self.own_variable(elements.index, span);
        }
        self.block(&it.combine, &inner);
        if let Some(join) = &it.join {
            let is_private = self.kernel.space(join.other) == Some(Space::Private);
            let text = "the other copy of a reduction is not private";
            self.check(is_private, Law::Storage, span, text);
            self.own_variable(join.other, span);
            self.block(&join.code, &inner);
        }
        self.scope.truncate(alive);
    }

    /// A variable that a construct declares itself.
    fn own_variable(&mut self, var: VarId, span: Span) {
        let is_new = self.kernel.space(var).is_some() && !self.is_alive(var);
        let text = "a variable of a construct has no space, or is declared where it lives";
        self.check(is_new, Law::Storage, span, text);
        self.scope.push(var);
    }

    /// Those who share work are there.
    fn crew(&mut self, crew: Crew, span: Span, around: &Around) {
        self.numbers(&crew.vars(), span);
        let is_elsewhere = self.crews.contains(&crew) && !around.crews.contains(&crew);
        self.check(!is_elsewhere, Law::Crew, span, "the crew is that of a construct elsewhere");
        let is_kept = crew.vars().iter().all(|it| self.scope.contains(it));
        let holds = around.crews.contains(&crew) || is_kept;
        self.check(holds, Law::Crew, span, "nobody has set the crew");
    }

    fn local(&mut self, var: VarId, span: Span) {
        let name = self.name(var);
        if self.kernel.space(var).is_none() {
            self.report(Law::Storage, span, format!("`{name}` has no space"));
        }
        if self.scope.contains(&var) {
            self.report(Law::Storage, span, format!("`{name}` is declared where it lives"));
        }
        let kernel = self.kernel;
        if kernel.launched().contains(&var) {
            self.report(Law::Storage, span, format!("`{name}` is set when the kernel begins"));
        }
        self.scope.push(var);
    }

    /// What a statement names is alive.
    fn names(&mut self, stmt: &Stmt) {
        let mut named: Vec<(VarId, Span)> = Vec::new();
        let makes_crew = matches!(stmt.kind, StmtKind::Teams(_) | StmtKind::Parallel(_));
        let sets = if makes_crew { Vec::new() } else { stmt.kind.sets() };
        let own = sets.into_iter().chain(stmt.kind.reads());
        named.extend(own.map(|it| (it, stmt.span)));
        for var in stmt.kind.sets() {
            let is_kept = self.kernel.space(var).is_some();
            if !is_kept {
                let text =
                    format!("`{}` is set by {} and has no space", self.name(var), stmt.kind.word());
                self.report(Law::Storage, stmt.span, text);
            }
        }
        let mut parts: Vec<Part> = stmt.kind.exprs().into_iter().map(Part::Expr).collect();
        if let StmtKind::Code(code) = stmt.kind {
            parts.push(Part::Stmt(code));
        } else if let StmtKind::Local(var) = stmt.kind {
            let lengths = self.program.types.lengths(self.program.vars[var].ty);
            parts.extend(lengths.into_iter().map(Part::Expr));
        }
        for part in parts {
            let (uses, declared) = walk::uses(self.program, part);
            let foreign =
                uses.iter().filter(|it| it.how == How::Named && !declared.contains(&it.var));
            named.extend(foreign.map(|it| (it.var, self.program.exprs[it.expr].span)));
        }
        let mut told = FxHashSet::default();
        for (var, span) in named {
            let text = if self.of_code.contains(&var) {
                format!("`{}` is declared in serial code and used elsewhere", self.name(var))
            } else if self.kernel.space(var).is_some() && !self.is_alive(var) {
                format!("`{}` is used where it is not declared", self.name(var))
            } else {
                continue;
            };
            if told.insert(var) {
                self.report(Law::Storage, span, text);
            }
        }
    }

    fn is_alive(&self, var: VarId) -> bool {
        let kernel = self.kernel;
        let is_everywhere = self.is_spmd && kernel.space(var) == Some(Space::Group);
        is_everywhere || self.scope.contains(&var) || kernel.launched().contains(&var)
    }

    fn scalar(&mut self, e: ExprId, span: Span) {
        let types = &self.program.types;
        let ty = self.program.exprs[e].ty;
        let holds = types.is_scalar(ty) || types.is_error(ty);
        self.check(holds, Law::Type, span, "a condition or bound is no scalar");
    }

    fn integer(&mut self, e: ExprId, what: &str, span: Span) {
        let types = &self.program.types;
        let ty = self.program.exprs[e].ty;
        let holds = types.is_integer(ty) || types.is_error(ty);
        self.check(holds, Law::Type, span, &format!("{what} is no integer"));
    }

    /// Variables that keep numbers of iterations, threads and teams.
    fn numbers(&mut self, vars: &[VarId], span: Span) {
        for var in vars {
            let program = self.program;
            let shape = program.types.shape(program.vars[*var].ty);
            let is_wide =
                |it: IntKind| !program.model.int_signed(it) && program.model.int_bits(it) == 64;
            let holds = if let TypeKind::Int(kind) = shape { is_wide(*kind) } else { false };
            if !holds {
                let text = format!("`{}` is no unsigned number of 64 bits", self.name(*var));
                self.report(Law::Type, span, text);
            }
        }
    }
}

/// Whether it says who runs what.
fn is_construct(kind: &StmtKind) -> bool {
    match kind {
        StmtKind::Teams(_)
        | StmtKind::Parallel(_)
        | StmtKind::Share(_)
        | StmtKind::On(..)
        | StmtKind::Reduce(_)
        | StmtKind::Scan(_) => true,
        StmtKind::Code(_)
        | StmtKind::Local(_)
        | StmtKind::Eval(_)
        | StmtKind::Block(_)
        | StmtKind::If(..)
        | StmtKind::Loop(_)
        | StmtKind::Switch(..)
        | StmtKind::Case(..)
        | StmtKind::Default
        | StmtKind::Break
        | StmtKind::Continue
        | StmtKind::Barrier
        | StmtKind::Shuffle(_) => false,
    }
}

/// Whether all threads of a group have to reach it.
fn is_met(kind: &StmtKind) -> bool {
    matches!(kind, StmtKind::Barrier | StmtKind::Shuffle(_))
}
