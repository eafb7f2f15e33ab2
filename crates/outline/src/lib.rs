//! Outlines regions: a construct that leaves the host becomes a [`kernel::Kernel`].
//!
//! In: a typed program and the regions that are wanted. Out: the program with what kernels add to it, and for
//! each region its kernel or what stood in the way. The kernel means what was written: constructs of both
//! standards become leagues, teams, shared loops, barriers and reductions; variables that a construct has for
//! itself are variables of their own; functions in which threads of a team meet are put in the place of their
//! calls; questions for numbers of threads and teams are answered by variables. No device is in mind.

#[allow(clippy::wildcard_enum_match_arm, reason = "a rule names the code it is about")]
mod between;
#[allow(clippy::wildcard_enum_match_arm, reason = "a rule names the clauses it is about")]
mod construct;
#[allow(clippy::wildcard_enum_match_arm, reason = "a rule names the clauses it is about")]
mod data;
#[allow(clippy::wildcard_enum_match_arm, reason = "a rule names the code it is about")]
mod jumps;
#[allow(clippy::wildcard_enum_match_arm, reason = "it names the code it is about")]
mod plain;
#[allow(clippy::wildcard_enum_match_arm, reason = "a rule names the clauses it is about")]
mod reduction;
#[allow(clippy::wildcard_enum_match_arm, reason = "a rule names the clauses it is about")]
mod scan;
#[allow(clippy::wildcard_enum_match_arm, reason = "a rule names the clauses it is about")]
mod share;
#[allow(clippy::wildcard_enum_match_arm, reason = "a rule names the code it is about")]
mod stmt;
#[allow(clippy::wildcard_enum_match_arm, reason = "a rule names the clauses it is about")]
mod transform;

use directive::CrewQuery;
use ir::construct::{ClauseKind, Leaf};
use ir::program::{ExprId, ExprKind, FunctionId, Program, RegionId, StmtId, VarId};
use ir::region::{Mapping, Region, RegionVar};
use ir::walk::Part;
use kernel::build::Builder;
use kernel::{Block, Crew, Kernel, Launch, Module, Space, Stmt, StmtKind};
use rustc_hash::{FxHashMap, FxHashSet};
use source::Span;

/// Why a region has no kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// What cannot be said by a kernel, as a clause of a sentence.
    pub why: &'static str,
    /// Where it was written.
    pub span: Span,
}

/// What became of the regions.
#[derive(Clone, Debug)]
pub struct Outlined {
    /// Those that have kernels.
    pub module: Module,
    /// Those that have none.
    pub refused: Vec<(RegionId, Refusal)>,
}

type Result<T> = std::result::Result<T, Refusal>;

/// Outlines `regions` of a program. `computed`: how many teams and threads regions ask for, where the host computes that
/// and passes it on; others that are no constants nobody can tell from another number.
pub fn outline(program: &Program, regions: &[RegionId], computed: &FxHashSet<ExprId>) -> Outlined {
    let mut outlined = Outlined {
        module: Module { program: program.clone(), kernels: Vec::new() },
        refused: Vec::new(),
    };
    for id in regions {
        match Outliner::new(&mut outlined.module.program, *id, computed).kernel(*id) {
            Ok(kernel) => outlined.module.kernels.push(kernel),
            Err(refusal) => outlined.refused.push((*id, refusal)),
        }
    }
    outlined
}

/// Whether a part of a directive only says that the region leaves the host.
fn leaves_host(leaf: Leaf) -> bool {
    matches!(leaf, Leaf::Offload | Leaf::Kernels)
}

/// Whether a device gets the value of a variable, and not its place.
fn comes_as_value(var: &RegionVar) -> bool {
    var.mappings.iter().any(|it| matches!(it.value, Mapping::FirstPrivate | Mapping::Private))
}

/// Outlines one region.
struct Outliner<'p> {
    program: &'p mut Program,
    function: FunctionId,
    /// What is outlined.
    region: Option<RegionId>,
    /// Sizes that the host computes.
    computed: &'p FxHashSet<ExprId>,
    threads: Crew,
    groups: Crew,
    spaces: Vec<(VarId, Space)>,
    env: Env,
    /// Functions that are being put in the place of calls.
    inlining: Vec<FunctionId>,
    /// Whether functions have to be.
    meets: FxHashMap<FunctionId, bool>,
    /// Loops whose directives are gone, and variables that they combine in any order.
    joined: Vec<(Span, VarId)>,
}

/// What holds where code stands.
#[derive(Clone, Debug, Default)]
struct Env {
    /// Variables and those that stand for them.
    vars: FxHashMap<VarId, VarId>,
    /// The teams of the league around, if there is one.
    teams: Option<Crew>,
    /// Those along each of its dimensions, if there are several.
    dimensions: Vec<Crew>,
    /// How many threads a team may have at most.
    limit: Option<VarId>,
    /// The same as the region asks for it.
    asked_limit: Option<ExprId>,
    /// How many threads its code wants a team to have, where it says so; zero if it has not said it yet.
    wanted: Option<VarId>,
    /// The threads of the innermost parallel region around, if there is one.
    team: Option<Crew>,
    /// Those of the outermost, where the innermost is inside another.
    outer: Option<Crew>,
    /// Parallel regions around.
    level: i64,
    /// The innermost parallel region has one thread: nobody is to be waited for.
    is_lone: bool,
    /// The body of a loop whose iterations run in order.
    is_ordered: bool,
    /// The body of a loop whose iterations threads share.
    is_shared: bool,
    /// The body of a loop whose iterations teams share.
    is_dealt: bool,
    /// Where a `return` leads, in a function that stands in the place of its call.
    returns: Option<Returns>,
}

/// What a `return` does.
#[derive(Clone, Copy, Debug)]
struct Returns {
    /// Takes the value.
    value: Option<VarId>,
    /// Tells loops that are left.
    left: VarId,
    /// The statement at the end of the function, behind which nothing is to be left.
    end: Option<StmtId>,
}

impl Env {
    /// Whether the code is run by the first thread of a team alone.
    fn is_team_level(&self) -> bool {
        self.team.is_none()
    }
}

impl<'p> Outliner<'p> {
    fn new(
        program: &'p mut Program,
        id: RegionId,
        computed: &'p FxHashSet<ExprId>,
    ) -> Outliner<'p> {
        let region = &program.regions[id];
        let (function, span) = (region.function, region.construct.span);
        let mut build = Builder { program, function, span };
        let mut crew = |number: &str, count: &str| Crew {
            number: build.fresh_number(number),
            count: build.fresh_number(count),
        };
        let (threads, groups) = (crew("thread", "threads"), crew("group", "groups"));
        let spaces = vec![
            (threads.number, Space::Private),
            (threads.count, Space::Uniform),
            (groups.number, Space::Uniform),
            (groups.count, Space::Uniform),
        ];
        Outliner {
            program,
            function,
            region: None,
            computed,
            threads,
            groups,
            spaces,
            env: Env::default(),
            inlining: Vec::new(),
            meets: FxHashMap::default(),
            joined: Vec::new(),
        }
    }

    fn kernel(mut self, id: RegionId) -> Result<Kernel> {
        let region = self.program.regions[id].clone();
        let span = region.construct.span;
        if region.construct.goes_back() {
            return refuse("a region that goes back to the host", span);
        }
        self.check_grouped(&region)?;
        let leaves: Vec<Leaf> =
            region.construct.leaves.iter().copied().filter(|it| !leaves_host(*it)).collect();
        let mut body = Block::new();
        self.region = Some(id);
        self.env.asked_limit = self.asked_limit(id);
        // What the league has comes with it.
        let has_league = self
            .program
            .inside(id)
            .into_iter()
            .map(|it| &self.program.regions[it].construct)
            .any(|it| it.has(Leaf::Teams) && !it.goes_back());
        if leaves.first() != Some(&Leaf::Teams) && !has_league {
            let limit = self.env.asked_limit;
            self.limit_threads(limit, span, &mut body);
            self.begin_wanted(id, span, &mut body);
            self.own_values(id, &mut body)?;
        }
        self.construct(id, &leaves, &mut body)?;
        let Outliner { threads, groups, spaces, joined, .. } = self;
        let (all, launch) = (None, Launch { joined, ..Launch::default() });
        Ok(Kernel { region: id, threads, groups, all, launch, spaces, body, span })
    }

    /// Refuses variables of which each team has one by declaration, unless they came as a value: then it has.
    fn check_grouped(&self, region: &Region) -> Result<()> {
        let grouped = self.program.declarations.iter();
        let grouped = grouped.filter(|it| it.construct.has(Leaf::Groupprivate));
        for var in grouped.flat_map(|it| &it.vars) {
            let is_named = |function: &FunctionId| {
                let body = self.program.functions[*function].body;
                let names = |it: &ExprKind| matches!(it, ExprKind::Var(it) if it == var);
                body.is_some_and(|it| self.program.any_expr(Part::Stmt(it), names))
            };
            let is_shared = region.vars.iter().any(|it| it.var == *var && !comes_as_value(it));
            if is_shared || region.reaches.iter().any(is_named) {
                return refuse("a variable of which each team has one", region.construct.span);
            }
        }
        Ok(())
    }

    /// The limit on threads that the region itself asks for.
    fn asked_limit(&self, id: RegionId) -> Option<ExprId> {
        let kinds = self.program.regions[id].construct.kinds();
        let limit = kinds.fold(None, |found, it| {
            if let ClauseKind::ThreadLimit(limit) = it { Some(*limit) } else { found }
        });
        limit.filter(|it| self.is_given(*it))
    }

    /// A variable for the number of threads that a team is to have, if code of the region sets one.
    fn begin_wanted(&mut self, id: RegionId, span: Span, out: &mut Block) {
        let program = &*self.program;
        let is_call = |it| stmt::query(program, it) == Some(CrewQuery::SetThreads);
        let sets = |it: &ExprKind| matches!(it, ExprKind::Function(id) if is_call(*id));
        let region = &program.regions[id];
        let functions = region.reaches.iter().filter_map(|it| program.functions[*it].body);
        if region.body.into_iter().chain(functions).any(|it| program.any_expr(Part::Stmt(it), sets))
        {
            let wanted = self.number("wanted", Space::Group, span, out);
            self.set_number(wanted, 0, span, out);
            self.env.wanted = Some(wanted);
        }
    }

    /// Whether a size that the region itself asks for is known on the device.
    fn is_given(&self, size: ExprId) -> bool {
        self.computed.contains(&size) || matches!(self.program.exprs[size].kind, ExprKind::Int(_))
    }

    /// Values that came with the launch and that the region changes, or that are to be aligned: the team has one of each.
    fn own_values(&mut self, id: RegionId, out: &mut Block) -> Result<()> {
        let region = self.program.regions[id].clone();
        let is_own = |it: &&RegionVar| {
            let it_is = &self.program.vars[it.var];
            // An array whose length is computed is each thread's, where the same construct has threads.
            let is_the_threads = region.construct.has(Leaf::Parallel)
                && self.program.types.is_variably_modified(it_is.ty);
            comes_as_value(it) && (it.written || it_is.align.is_some()) && !is_the_threads
        };
        let own: Vec<&RegionVar> = region.vars.iter().filter(is_own).collect();
        for var in own {
            let span = self.program.vars[var.var].span;
            let own = self.fresh_like(var.var, Space::Group, span)?;
            self.declare(own, out);
            let is_set = !var.mappings.iter().any(|it| matches!(it.value, Mapping::Private));
            if is_set {
                self.copy_value(own, var.var, out);
            }
            self.env.vars.insert(var.var, own);
        }
        Ok(())
    }

    fn build(&mut self, span: Span) -> Builder<'_> {
        Builder { program: self.program, function: self.function, span }
    }

    /// Where a variable of the code that is outlined lies.
    fn space_here(&self) -> Space {
        if self.env.is_team_level() { Space::Group } else { Space::Private }
    }

    /// A variable like another, which the kernel places.
    fn fresh_like(&mut self, var: VarId, space: Space, span: Span) -> Result<VarId> {
        let ty = self.program.vars[var].ty.plain();
        if space != Space::Private && self.program.types.is_variably_modified(ty) {
            return refuse("a variable whose type has a computed length", span);
        }
        let align = self.program.vars[var].align;
        let mut build = self.build(span);
        let name = build.name_of(var);
        let own = build.fresh(&name, ty);
        self.program.vars[own].align = align;
        self.spaces.push((own, space));
        Ok(own)
    }

    /// A number of 64 bits, which the kernel places.
    fn number(&mut self, like: &str, space: Space, span: Span, out: &mut Block) -> VarId {
        let var = self.build(span).fresh_number(like);
        self.spaces.push((var, space));
        self.declare(var, out);
        var
    }

    fn declare(&self, var: VarId, out: &mut Block) {
        out.push(Stmt::new(StmtKind::Local(var), self.program.vars[var].span));
    }

    fn eval(&self, e: ExprId, out: &mut Block) {
        out.push(Stmt::new(StmtKind::Eval(e), self.program.exprs[e].span));
    }

    /// Gives a variable a number.
    fn set_number(&mut self, var: VarId, value: i64, span: Span, out: &mut Block) {
        let mut build = self.build(span);
        let value = build.number(value);
        let e = build.set(var, value);
        self.eval(e, out);
    }
}

fn refuse<T>(why: &'static str, span: Span) -> Result<T> {
    Err(Refusal { why, span })
}
