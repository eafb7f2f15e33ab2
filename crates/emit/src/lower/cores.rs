//! Regions for cores that go through the kernel form.
//!
//! In: the program whose regions cores are to run. Out: the same program in which the bodies of regions are what the
//! passes for cores have made of them ([`pipeline::run_for_cores`]), where they have found something to gain: loops
//! over blocks that all cores share, as C. All other regions stay as they are.

use directive::HOST_DIALECT;
use ir::construct::{Args, Clause, ClauseKind, Construct, Leaf, Rules, ScheduleKind};
use ir::program::{
    BinaryOp, ExprKind, For, Program, RegionId, StmtId, StmtKind as C, Typed, VarId,
};
use ir::region::{Loop, Region};
use kernel::build::Builder;
use kernel::{Block, Dim, Kernel, Share, Space, StmtKind};
use opt::passes::{Cores, independent, pipeline};
use outline::outline;
use rustc_hash::FxHashSet;
use source::Diagnostics;

use super::grid::bug;
use super::levels::{About, Note, plain};

/// A program with such regions.
pub(super) struct Made {
    pub(super) program: Program,
    /// Regions that say something else than their text.
    pub(super) changed: Vec<RegionId>,
    /// What was chosen.
    pub(super) notes: Vec<Note>,
    /// Laws that passes have broken: bugs of ours.
    pub(super) bugs: Diagnostics,
}

/// The program with regions as the passes make them, which are also looked at as they were written; none if they make nothing of any.
pub(super) fn block(
    written: &Program,
    program: &Program,
    text: &[u8],
    marks: &opt::marks::Options,
) -> Option<Made> {
    let wanted: Vec<RegionId> =
        program.regions.iter().map(|it| it.0).filter(|it| may_gain(program, *it)).collect();
    if wanted.is_empty() {
        return None;
    }
    let cores = Cores { vector: vector(text)?, independent: independent(written, &wanted, marks) };
    let outlined = outline(program, &wanted, &FxHashSet::default());
    let mut made = Made {
        program: outlined.module.program,
        changed: Vec::new(),
        notes: Vec::new(),
        bugs: Diagnostics::default(),
    };
    for kernel in &outlined.module.kernels {
        match pipeline::run_for_cores(&mut made.program, kernel, &cores, None) {
            Ok(kernel) if kernel.launch.notes.is_empty() => {}
            Ok(kernel) => made.put(&kernel),
            Err(refusal) => bug(&refusal).into_iter().for_each(|it| made.bugs.push(it)),
        }
    }
    (!made.changed.is_empty() || made.bugs.errors() > 0).then_some(made)
}

/// Bytes of a vector register, by the macros of the compiler, which preprocessed text keeps; none if it does not optimise:
/// text for debuggers stays as it was written.
fn vector(text: &[u8]) -> Option<u64> {
    let (mut found, mut optimises) = (16, false);
    for line in text.split(|it| *it == b'\n').filter_map(|it| it.strip_prefix(b"#define __")) {
        match line {
            b"OPTIMIZE__ 1" => optimises = true,
            b"AVX__ 1" => found = found.max(32),
            b"AVX512F__ 1" => found = 64,
            _ => {}
        }
    }
    optimises.then_some(found)
}

/// Whether a region leaves the host, and shares loops in no way that says who runs what.
fn may_gain(program: &Program, id: RegionId) -> bool {
    let region = &program.regions[id];
    let construct = &region.construct;
    let leaves_host = construct.has(Leaf::Offload) || construct.has(Leaf::Kernels);
    let inside = || std::iter::once(id).chain(program.inside(id)).map(|it| &program.regions[it]);
    let is_plain = |it: &ClauseKind<Typed>| match it {
        ClauseKind::Schedule(it) => it.kind == ScheduleKind::Static,
        ClauseKind::Reduction(_)
        | ClauseKind::LastPrivate { .. }
        | ClauseKind::InReduction(_)
        | ClauseKind::Allocate(_)
        | ClauseKind::Ordered(_) => false,
        _ => true,
    };
    leaves_host
        && !construct.goes_back()
        && inside().any(|it| !it.loops.is_empty())
        && inside().all(|it| it.construct.kinds().all(is_plain))
}

/// Whether a clause says how loops of a construct are shared, or by whom.
fn is_of_loops(clause: &Clause<Typed>) -> bool {
    matches!(
        clause.kind,
        ClauseKind::Collapse { .. }
            | ClauseKind::Schedule(_)
            | ClauseKind::DistSchedule(_)
            | ClauseKind::NumTeams { .. }
            | ClauseKind::ThreadLimit(_)
            | ClauseKind::NumThreads { .. }
            | ClauseKind::Private(_)
            | ClauseKind::Shared(_)
            | ClauseKind::Default(..)
            | ClauseKind::Order(_)
            | ClauseKind::Bind(_)
            | ClauseKind::ProcBind(_)
            | ClauseKind::Safelen(_)
            | ClauseKind::Simdlen(_)
            | ClauseKind::Aligned(..)
    )
}

/// The loop that is shared, and what stands before it.
#[derive(Default)]
struct Parts<'a> {
    /// The same for all who share it.
    before: Vec<StmtId>,
    /// Variables that each has for itself.
    own: Vec<VarId>,
    share: Option<&'a Share>,
}

impl Made {
    /// Puts a kernel into the program, as the body of its region, if it is nothing but one shared loop.
    fn put(&mut self, kernel: &Kernel) {
        let function = self.program.regions[kernel.region].function;
        let mut build = Builder { program: &mut self.program, function, span: kernel.span };
        let mut parts = Parts::default();
        if find(&mut build, kernel, &kernel.body, &mut parts).is_none() {
            return;
        }
        let Some(share) = parts.share else { return };
        let Some((nest, loops)) = nest(&mut build, share, &parts.own) else { return };
        let span = kernel.span;
        let int = build.int_type();
        let count = build.int(i64::try_from(loops.len()).unwrap_or(1), int);
        let collapse = plain(ClauseKind::Collapse { force: false, count }, span);
        let around = &self.program.regions[kernel.region];
        let inner = Region {
            construct: Construct {
                dialect: HOST_DIALECT,
                leaves: vec![Leaf::Parallel, Leaf::For],
                args: Args::None,
                clauses: if loops.len() > 1 { vec![collapse] } else { Vec::new() },
                groups: Vec::new(),
                rules: Rules::NONE,
                span,
            },
            body: Some(nest),
            function,
            parent: Some(kernel.region),
            loops,
            vars: Vec::new(),
            reaches: around.reaches.clone(),
            indirect_calls: around.indirect_calls.clone(),
            span,
        };
        let inner = self.program.regions.push(inner);
        let mut build = Builder { program: &mut self.program, function, span };
        let shared = build.stmt(C::Region(inner));
        parts.before.push(shared);
        let body = build.stmt(C::Block(parts.before.into()));
        let region = &mut self.program.regions[kernel.region];
        region.body = Some(body);
        region.loops.clear();
        region.construct.leaves.retain(|it| matches!(it, Leaf::Offload | Leaf::Kernels));
        region.construct.clauses.retain(|it| !is_of_loops(it));
        let directive = region.construct.span;
        self.changed.extend([kernel.region, inner]);
        self.notes.extend(kernel.launch.notes.iter().map(|text| Note {
            about: About::Loop,
            region: directive,
            span: directive,
            text: text.clone(),
            at: None,
        }));
    }
}

/// Finds the parts of a kernel; none if it is something else than one shared loop.
fn find<'a>(
    build: &mut Builder<'_>,
    kernel: &Kernel,
    block: &'a Block,
    parts: &mut Parts<'a>,
) -> Option<()> {
    for stmt in block {
        if parts.share.is_some() {
            return None;
        }
        match &stmt.kind {
            StmtKind::Block(inner) => find(build, kernel, inner, parts)?,
            StmtKind::Local(var) if kernel.space(*var) == Some(Space::Uniform) => {
                parts.before.push(build.stmt(C::Local(*var)));
            }
            StmtKind::Local(var) => parts.own.push(*var),
            StmtKind::Eval(e) => {
                let ExprKind::Assign(to, _) = build.program.exprs[*e].kind else { return None };
                let ExprKind::Var(var) = build.program.exprs[to].kind else { return None };
                if kernel.space(var) != Some(Space::Uniform) {
                    return None;
                }
                parts.before.push(build.stmt(C::Expr(*e)));
            }
            StmtKind::Share(it) => parts.share = Some(it),
            StmtKind::Code(_)
            | StmtKind::If(..)
            | StmtKind::Loop(_)
            | StmtKind::Switch(..)
            | StmtKind::Case(..)
            | StmtKind::Default
            | StmtKind::Break
            | StmtKind::Continue
            | StmtKind::Teams(_)
            | StmtKind::Parallel(_)
            | StmtKind::On(..)
            | StmtKind::Barrier
            | StmtKind::Shuffle(_)
            | StmtKind::Reduce(_)
            | StmtKind::Scan(_) => return None,
        }
    }
    Some(())
}

/// The loops of a nest that begins with its outermost, and all of them as directives know them.
fn nest(build: &mut Builder<'_>, share: &Share, own: &[VarId]) -> Option<(StmtId, Vec<Loop>)> {
    let mut list = Vec::new();
    let mut code = Vec::new();
    for stmt in &share.body {
        let StmtKind::Code(it) = stmt.kind else { return None };
        code.push(it);
    }
    let named: FxHashSet<VarId> = code
        .iter()
        .flat_map(|it| kernel::walk::uses(build.program, ir::walk::Part::Stmt(*it)).0)
        .map(|it| it.var)
        .collect();
    let counts = |var: &VarId| share.dims.iter().any(|it| it.var == *var);
    for var in own.iter().filter(|it| named.contains(it) && !counts(it)) {
        list.push(build.stmt(C::Local(*var)));
    }
    list.extend(code);
    let mut body = build.stmt(C::Block(list.into()));
    let mut loops = Vec::new();
    for dim in share.dims.iter().rev() {
        let one = counting(build, dim, body);
        loops.insert(0, as_loop(build, dim, one, body));
        body = one;
    }
    Some((body, loops))
}

/// `for (var = begin; var < bound; var++) body`
fn counting(build: &mut Builder<'_>, dim: &Dim, body: StmtId) -> StmtId {
    let init = build.init(dim.begin);
    build.program.vars[dim.var].init = Some(init);
    let declared = build.stmt(C::Local(dim.var));
    let at = build.var(dim.var);
    let cond = build.binary(BinaryOp::Lt, at, dim.bound);
    let step = build.increment(dim.var);
    build.stmt(C::For(Box::new(For {
        init: Box::new([declared]),
        cond: Some(cond),
        step: Some(step),
        body,
        unroll: None,
        lanes: false,
    })))
}

fn as_loop(build: &Builder<'_>, dim: &Dim, stmt: StmtId, body: StmtId) -> Loop {
    Loop {
        stmt,
        var: dim.var,
        begin: dim.begin,
        bound: dim.bound,
        test: dim.test,
        step: dim.step,
        descending: dim.descending,
        trips: None,
        body,
        rectangular: true,
        span: build.span,
    }
}
