//! Regions for cores that go through the kernel form.
//!
//! In: the program whose regions cores are to run. Out: the same program in which the bodies of regions are what the
//! passes for cores have made of them ([`pipeline::run_for_cores`]), where they have found something to gain: loops
//! over blocks that all cores share, as C. All other regions stay as they are.

use directive::HOST_DIALECT;
use ir::construct::{
    Args, Clause, ClauseKind, Construct, Leaf, Reduction, ReductionOp, Rules, Schedule,
    ScheduleKind,
};
use ir::program::{
    BinaryOp, ExprId, ExprKind, For, Program, RegionId, StmtId, StmtKind as C, Typed, VarId,
};
use ir::region::{Loop, Region};
use ir::walk::Part;
use kernel::build::Builder;
use kernel::copy::Copier;
use kernel::{Block, Dim, Kernel, LoopKind, Reduce, Share, Space, Stmt, StmtKind};
use opt::dependence::Terms;
use opt::passes::{Cores, Refusal, independent, pipeline, summing};
use outline::outline;
use rustc_hash::{FxHashMap, FxHashSet};
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
    let cores = Cores {
        vector: vector(text)?,
        independent: independent(written, program, &wanted, marks),
        summing: summing(written, program, &wanted),
    };
    let outlined = outline(program, &wanted, &FxHashSet::default());
    let mut made = Made {
        program: outlined.module.program,
        changed: Vec::new(),
        notes: Vec::new(),
        bugs: Diagnostics::default(),
    };
    let mut proven = cores.clone();
    proven.independent.retain(|_, terms| *terms == Terms::default());
    for kernel in &outlined.module.kernels {
        let put = made.run(kernel, &cores, &proven);
        if let Err(refusal) = put {
            bug(&refusal).into_iter().for_each(|it| made.bugs.push(it));
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

/// Whether the compiler is asked to optimise a preprocessed text: then loops of cores run in blocks.
pub fn is_optimized(text: &[u8]) -> bool {
    vector(text).is_some()
}

/// Whether a region leaves the host, and shares loops in no way that says who runs what.
fn may_gain(program: &Program, id: RegionId) -> bool {
    let region = &program.regions[id];
    let construct = &region.construct;
    let leaves_host = construct.has(Leaf::Offload) || construct.has(Leaf::Kernels);
    let inside = || std::iter::once(id).chain(program.inside(id)).map(|it| &program.regions[it]);
    let is_plain = |it: &ClauseKind<Typed>| match it {
        ClauseKind::Schedule(it) => it.kind != ScheduleKind::Runtime,
        ClauseKind::Reduction(it) => {
            let is_whole = |it: &ExprId| matches!(program.exprs[*it].kind, ExprKind::Var(_));
            let is_known = !matches!(it.op, ReductionOp::User(_));
            is_known && it.modifier.is_none() && it.items.iter().all(is_whole)
        }
        ClauseKind::LastPrivate { .. }
        | ClauseKind::InReduction(_)
        | ClauseKind::Allocate(_)
        | ClauseKind::Ordered(_) => false,
        _ => true,
    };
    leaves_host
        && !inside().any(|it| it.construct.goes_back())
        && inside().any(|it| !it.loops.is_empty())
        && inside().all(|it| it.construct.kinds().all(is_plain))
}

/// Whether a clause says how loops of a construct are shared, or by whom.
fn is_of_loops(clause: &Clause<Typed>) -> bool {
    matches!(
        clause.kind,
        ClauseKind::Collapse { .. }
            | ClauseKind::Reduction(_)
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
    /// What each thread does before and after it, with such variables.
    around: [Vec<StmtId>; 2],
    share: Option<&'a Share>,
    /// What is combined then, and with what.
    sums: Vec<(&'a Reduce, ExprId)>,
}

/// A kernel that holds where something does that must be asked when it runs.
struct Asking {
    kernel: Kernel,
    /// What is computed before.
    before: Block,
    condition: ExprId,
}

impl Asking {
    /// None if nothing is asked.
    fn of(program: &Program, kernel: &Kernel) -> Option<Asking> {
        let mut condition = None;
        let body = chosen(&kernel.body, &mut condition);
        let condition = condition?;
        let (used, _) = kernel::walk::uses(program, Part::Expr(condition));
        let is_asked = |it: VarId| used.iter().any(|used| used.var == it);
        let mut before = Block::new();
        let body = without(program, body, &is_asked, &mut before);
        Some(Asking { kernel: Kernel { body, ..kernel.clone() }, before, condition })
    }
}

/// A block with the first of two forms of a shared loop, and what decides between them.
fn chosen(block: &Block, condition: &mut Option<ExprId>) -> Block {
    let is_shared = |block: &Block| {
        kernel::walk::all(block).iter().any(|it| matches!(it.kind, StmtKind::Share(_)))
    };
    let mut out = Block::new();
    for stmt in block {
        match &stmt.kind {
            StmtKind::Block(inner) => {
                out.push(Stmt::new(StmtKind::Block(chosen(inner, condition)), stmt.span));
            }
            StmtKind::If(asked, then, other)
                if condition.is_none() && is_shared(then) && is_shared(other) =>
            {
                *condition = Some(*asked);
                out.extend(then.iter().cloned());
            }
            _ => out.push(stmt.clone()),
        }
    }
    out
}

/// A block without what declares and sets some variables, which is put aside.
fn without(
    program: &Program,
    block: Block,
    is_asked: &dyn Fn(VarId) -> bool,
    aside: &mut Block,
) -> Block {
    let mut out = Block::new();
    for mut stmt in block {
        let var = match &stmt.kind {
            StmtKind::Local(var) => Some(*var),
            StmtKind::Eval(e) => match program.exprs[*e].kind {
                ExprKind::Assign(to, _) => match program.exprs[to].kind {
                    ExprKind::Var(var) => Some(var),
                    _ => None,
                },
                _ => None,
            },
            _ => None,
        };
        if var.is_some_and(is_asked) {
            aside.push(stmt);
            continue;
        }
        if let StmtKind::Block(inner) = &mut stmt.kind {
            *inner = without(program, std::mem::take(inner), is_asked, aside);
        }
        out.push(stmt);
    }
    out
}

impl Made {
    /// Puts a kernel into the program as passes make it, if they make something of it; where they ask for something, as they
    /// make it without that too.
    fn run(&mut self, kernel: &Kernel, cores: &Cores, proven: &Cores) -> Result<(), Refusal> {
        let made = pipeline::run_for_cores(&mut self.program, kernel, cores, None)?;
        let Some(asking) = Asking::of(&self.program, &made) else {
            if !made.launch.notes.is_empty() {
                self.put(&made);
            }
            return Ok(());
        };
        let other = pipeline::run_for_cores(&mut self.program, kernel, proven, None)?;
        // That a loop is shared too is no gain by itself.
        if made.launch.notes.len() < 2 {
            if !other.launch.notes.is_empty() {
                self.put(&other);
            }
            return Ok(());
        }
        let changed = self.changed.len();
        match self.either(&asking, &other) {
            Some(body) => self.set_body(&made, body),
            None => {
                self.changed.truncate(changed);
                if !other.launch.notes.is_empty() {
                    self.put(&other);
                }
            }
        }
        Ok(())
    }

    /// A kernel that asks for something, and the one for where that does not hold, as C.
    fn either(&mut self, asking: &Asking, other: &Kernel) -> Option<StmtId> {
        let then = self.spelled(&asking.kernel, false)?;
        let other = self.spelled(other, true)?;
        let Kernel { region, span, .. } = asking.kernel;
        let function = self.program.regions[region].function;
        let build = &mut Builder { program: &mut self.program, function, span };
        let mut list: Vec<StmtId> =
            asking.before.iter().map(|it| code(build, it)).collect::<Option<_>>()?;
        list.push(build.stmt(C::If(asking.condition, then, Some(other))));
        Some(build.stmt(C::Block(list.into())))
    }

    /// Puts a kernel into the program, as the body of its region, if it is nothing but one shared loop.
    fn put(&mut self, kernel: &Kernel) {
        if let Some(body) = self.spelled(kernel, false) {
            self.set_body(kernel, body);
        }
    }

    /// A kernel as C, if it is nothing but one shared loop. `is_second`: it has been spelled already, so it counts with variables
    /// of its own.
    fn spelled(&mut self, kernel: &Kernel, is_second: bool) -> Option<StmtId> {
        let function = self.program.regions[kernel.region].function;
        let mut build = Builder { program: &mut self.program, function, span: kernel.span };
        let mut parts = Parts::default();
        find(&mut build, kernel, &kernel.body, &mut parts)?;
        let share = match is_second {
            true => &recounted(&mut build, parts.share?),
            false => parts.share?,
        };
        let around = parts.around.iter().flatten().map(|it| Part::Stmt(*it));
        let named = |it: Part| kernel::walk::uses(build.program, it).0.into_iter().map(|it| it.var);
        let lasting: FxHashSet<VarId> = around.flat_map(named).collect();
        let (lasting, own): (Vec<VarId>, Vec<VarId>) =
            parts.own.iter().partition(|it| lasting.contains(it));
        let (nest, loops) = nest(&mut build, share, &own)?;
        let span = kernel.span;
        let mut clauses = reductions(&mut build, &parts.sums);
        for id in lanes_with_sums(build.program, nest, &parts.sums) {
            combine_straight(&mut build, id, &parts.sums);
            let C::For(mut one) = build.program.stmts[id].kind.clone() else { continue };
            one.lanes = false;
            let clauses = reductions(&mut build, &parts.sums);
            let one = build.stmt(C::For(one));
            let simd = region(build.program, kernel, vec![Leaf::Simd], clauses, (one, Vec::new()));
            build.program.stmts[id].kind = C::Region(simd);
        }
        if loops.len() > 1 {
            let int = build.int_type();
            let count = build.int(i64::try_from(loops.len()).unwrap_or(1), int);
            clauses.push(plain(ClauseKind::Collapse { force: false, count }, span));
        }
        let is_uneven = matches!(share.schedule, kernel::Schedule::RoundRobin(_));
        if is_uneven || is_dealt_late(build.program, kernel.region) {
            let (kind, chunk) = (ScheduleKind::Dynamic, None);
            let schedule = Schedule { kind, monotonic: None, simd: false, chunk };
            clauses.push(plain(ClauseKind::Schedule(schedule), span));
        }
        let [first, last] = parts.around;
        let inner = if first.is_empty() && last.is_empty() {
            let leaves = vec![Leaf::Parallel, Leaf::For];
            region(build.program, kernel, leaves, clauses, (nest, loops))
        } else {
            // Threads end together, so none has to wait before.
            clauses.push(plain(ClauseKind::Nowait(None), span));
            let shared = region(build.program, kernel, vec![Leaf::For], clauses, (nest, loops));
            let mut list: Vec<StmtId> =
                lasting.iter().map(|it| build.stmt(C::Local(*it))).collect();
            list.extend(first);
            list.push(build.stmt(C::Region(shared)));
            list.extend(last);
            let body = build.stmt(C::Block(list.into()));
            self.changed.push(shared);
            let whole = (body, Vec::new());
            region(build.program, kernel, vec![Leaf::Parallel], Vec::new(), whole)
        };
        let mut list = parts.before;
        // The clause combines with what a copy holds before.
        for (sum, original) in &parts.sums {
            let begin = build.set(sum.copy, *original);
            list.push(build.stmt(C::Expr(begin)));
        }
        list.push(build.stmt(C::Region(inner)));
        for (sum, original) in &parts.sums {
            let value = build.var(sum.copy);
            let end = build.assign(*original, value);
            list.push(build.stmt(C::Expr(end)));
        }
        let body = build.stmt(C::Block(list.into()));
        self.changed.push(inner);
        Some(body)
    }

    /// Gives the region of a kernel this body.
    fn set_body(&mut self, kernel: &Kernel, body: StmtId) {
        let region = &mut self.program.regions[kernel.region];
        region.body = Some(body);
        region.loops.clear();
        region.construct.leaves.retain(|it| matches!(it, Leaf::Offload | Leaf::Kernels));
        region.retain_clauses(|it| !is_of_loops(it));
        let directive = region.construct.span;
        self.changed.push(kernel.region);
        self.notes.extend(kernel.launch.notes.iter().map(|text| Note {
            about: About::Blocks,
            region: directive,
            span: directive,
            text: text.clone(),
            at: None,
        }));
    }
}

/// A construct within the region of a kernel.
fn region(
    program: &mut Program,
    kernel: &Kernel,
    leaves: Vec<Leaf>,
    clauses: Vec<Clause<Typed>>,
    (body, loops): (StmtId, Vec<Loop>),
) -> RegionId {
    let (around, span) = (&program.regions[kernel.region], kernel.span);
    let made = Region {
        construct: Construct {
            dialect: HOST_DIALECT,
            leaves,
            args: Args::None,
            clauses,
            groups: Vec::new(),
            rules: Rules::NONE,
            span,
        },
        body: Some(body),
        function: around.function,
        parent: Some(kernel.region),
        loops,
        vars: Vec::new(),
        reaches: around.reaches.clone(),
        indirect_calls: around.indirect_calls.clone(),
        span,
    };
    program.regions.push(made)
}

/// Clauses that say what is combined.
fn reductions(build: &mut Builder<'_>, sums: &[(&Reduce, ExprId)]) -> Vec<Clause<Typed>> {
    let clause = |(sum, _): &(&Reduce, ExprId)| {
        let (op, items) = (sum.op.clone(), vec![build.var(sum.copy)]);
        let clause = Reduction { modifier: None, original: None, op, items };
        plain(ClauseKind::Reduction(clause), build.span)
    };
    sums.iter().map(clause).collect()
}

/// Loops over lanes that combine something.
fn lanes_with_sums(program: &Program, code: StmtId, sums: &[(&Reduce, ExprId)]) -> Vec<StmtId> {
    let is_sum = |var: VarId| sums.iter().any(|it| it.0.copy == var);
    let (mut found, mut open) = (Vec::new(), vec![Part::Stmt(code)]);
    while let Some(part) = open.pop() {
        if let Part::Stmt(stmt) = part
            && let C::For(it) = &program.stmts[stmt].kind
            && it.lanes
            && kernel::walk::uses(program, part).0.iter().any(|it| is_sum(it.var))
        {
            found.push(stmt);
            continue;
        }
        program.parts(part, &mut |it| open.push(it));
    }
    found
}

/// Combines without jumps, which compilers have vectors for: `m = fmax(m, e)` becomes `m = m < e ? e : m`, and `f = f || e`
/// becomes `f = f | (e != 0)`. A copy begins with a number, so it is one ever after: where `e` is none, both keep it.
fn combine_straight(build: &mut Builder<'_>, code: StmtId, sums: &[(&Reduce, ExprId)]) {
    let mut open = vec![Part::Stmt(code)];
    while let Some(part) = open.pop() {
        build.program.parts(part, &mut |it| open.push(it));
        let Part::Expr(e) = part else { continue };
        let ExprKind::Assign(to, value) = build.program.exprs[e].kind else { continue };
        let ExprKind::Var(var) = build.program.exprs[to].kind else { continue };
        let value = uncast(build.program, value);
        let Some((op, [a, b])) = combined(build.program, value) else { continue };
        if !sums.iter().any(|it| it.0.copy == var && it.0.op == op) {
            continue;
        }
        let is_own = |e: ExprId| {
            let e = uncast(build.program, e);
            matches!(build.program.exprs[e].kind, ExprKind::Var(it) if it == var)
        };
        let (own, other) = match (is_own(a), is_own(b)) {
            (true, false) => (a, b),
            (false, true) => (b, a),
            _ => continue,
        };
        let is_number = build.program.types.is_integer(build.program.vars[var].ty);
        let chosen = match op {
            ReductionOp::Max | ReductionOp::Min => {
                let order = if op == ReductionOp::Max { BinaryOp::Lt } else { BinaryOp::Gt };
                let is_before = build.binary(order, own, other);
                build.either(is_before, other, own)
            }
            _ if is_number => {
                let int = build.int_type();
                let (own, none) = (build.var(var), build.int(0, int));
                let own = build.cast(own, int);
                // Numbers are compared with one of their type, pointers with none at all.
                let ty = build.type_of(other).plain();
                let is_pointer = build.program.types.is_pointer(ty);
                let none = if is_pointer { none } else { build.cast(none, ty) };
                let is_true = build.binary(BinaryOp::Ne, other, none);
                let is_any = op == ReductionOp::Or;
                build.binary(if is_any { BinaryOp::BitOr } else { BinaryOp::BitAnd }, own, is_true)
            }
            _ => continue,
        };
        build.program.exprs[value].kind = build.program.exprs[chosen].kind.clone();
    }
}

/// How two values are combined, if by a jump or by a function.
fn combined(program: &Program, e: ExprId) -> Option<(ReductionOp<Typed>, [ExprId; 2])> {
    match &program.exprs[e].kind {
        ExprKind::Call(callee, args) => {
            let &[a, b] = args.as_ref() else { return None };
            Some((opt::extreme_of(program, *callee)?, [a, b]))
        }
        ExprKind::Or(a, b) => Some((ReductionOp::Or, [*a, *b])),
        ExprKind::And(a, b) => Some((ReductionOp::And, [*a, *b])),
        _ => None,
    }
}

/// Behind conversions.
fn uncast(program: &Program, e: ExprId) -> ExprId {
    match program.exprs[e].kind {
        ExprKind::Cast(_, inner) => uncast(program, inner),
        _ => e,
    }
}

/// Whether iterations are dealt while the loop runs.
fn is_dealt_late(program: &Program, id: RegionId) -> bool {
    let mut inside = std::iter::once(id).chain(program.inside(id));
    inside.any(|it| {
        program.regions[it].construct.kinds().any(|it| match it {
            ClauseKind::Schedule(it) => {
                matches!(it.kind, ScheduleKind::Dynamic | ScheduleKind::Guided)
            }
            _ => false,
        })
    })
}

/// Finds the parts of a kernel; none if it is something else than one shared loop.
fn find<'a>(
    build: &mut Builder<'_>,
    kernel: &Kernel,
    block: &'a Block,
    parts: &mut Parts<'a>,
) -> Option<()> {
    let copies: Vec<VarId> = kernel::walk::all(&kernel.body)
        .into_iter()
        .filter_map(|it| match &it.kind {
            StmtKind::Reduce(it) => Some(it.copy),
            _ => None,
        })
        .collect();
    for stmt in block {
        match &stmt.kind {
            StmtKind::Reduce(it) if parts.share.is_some() && it.elements.is_none() => {
                parts.sums.push((it, original(build.program, it)?));
            }
            // What threads do then.
            StmtKind::Local(var) if parts.share.is_some() => parts.own.push(*var),
            _ if parts.share.is_some() => {
                let [_, last] = &mut parts.around;
                last.push(code(build, stmt)?);
            }
            StmtKind::Block(inner) => find(build, kernel, inner, parts)?,
            StmtKind::Local(var)
                if kernel.space(*var) == Some(Space::Uniform) || copies.contains(var) =>
            {
                parts.before.push(build.stmt(C::Local(*var)));
            }
            // What a copy begins with, which the clause says too.
            StmtKind::Code(code) if begins(build.program, *code, &copies) => {}
            StmtKind::Local(var) => parts.own.push(*var),
            StmtKind::Eval(e) => {
                let ExprKind::Assign(to, _) = build.program.exprs[*e].kind else { return None };
                let ExprKind::Var(var) = build.program.exprs[to].kind else { return None };
                let set = build.stmt(C::Expr(*e));
                let [first, _] = &mut parts.around;
                match kernel.space(var) == Some(Space::Uniform) {
                    true => parts.before.push(set),
                    false => first.push(set),
                }
            }
            StmtKind::Loop(_) => {
                let [first, _] = &mut parts.around;
                first.push(code(build, stmt)?);
            }
            StmtKind::Share(it) => parts.share = Some(it),
            StmtKind::Code(_)
            | StmtKind::If(..)
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

/// What one thread does, as C.
fn code(build: &mut Builder<'_>, stmt: &kernel::Stmt) -> Option<StmtId> {
    let list = |build: &mut Builder<'_>, block: &Block| -> Option<StmtId> {
        let list: Option<Vec<StmtId>> = block.iter().map(|it| code(build, it)).collect();
        Some(build.stmt(C::Block(list?.into())))
    };
    let made = match &stmt.kind {
        StmtKind::Code(code) => return Some(*code),
        StmtKind::Block(block) => return list(build, block),
        StmtKind::Local(var) => C::Local(*var),
        StmtKind::Eval(e) => C::Expr(*e),
        StmtKind::If(cond, then, other) => {
            let then = list(build, then)?;
            let other = if other.is_empty() { None } else { Some(list(build, other)?) };
            C::If(*cond, then, other)
        }
        StmtKind::Loop(it) if it.kind == LoopKind::Before => C::For(Box::new(For {
            init: Box::default(),
            cond: it.condition,
            step: it.step,
            body: list(build, &it.body)?,
            unroll: None,
            lanes: false,
        })),
        _ => return None,
    };
    Some(build.stmt(made))
}

/// What a copy is combined with.
fn original(program: &Program, sum: &Reduce) -> Option<ExprId> {
    let [kernel::Stmt { kind: StmtKind::Code(code), .. }] = sum.combine.as_slice() else {
        return None;
    };
    let C::Expr(e) = program.stmts[*code].kind else { return None };
    match program.exprs[e].kind {
        ExprKind::Assign(to, _) | ExprKind::AssignOp(_, to, ..) => Some(to),
        _ => None,
    }
}

/// Whether code does nothing but to set one of these variables.
fn begins(program: &Program, code: StmtId, copies: &[VarId]) -> bool {
    let C::Expr(e) = program.stmts[code].kind else { return false };
    let ExprKind::Assign(to, _) = program.exprs[e].kind else { return false };
    matches!(program.exprs[to].kind, ExprKind::Var(var) if copies.contains(&var))
}

/// A shared loop with counters of its own.
fn recounted(build: &mut Builder<'_>, share: &Share) -> Share {
    let (mut share, mut vars) = (share.clone(), FxHashMap::default());
    for dim in &mut share.dims {
        let ty = build.program.vars[dim.var].ty.plain();
        let name = build.name_of(dim.var);
        let var = build.fresh(name.rsplit('_').next().unwrap_or_default(), ty);
        vars.insert(dim.var, var);
        dim.var = var;
    }
    let mut copier = Copier { vars, ..Copier::new(build.program) };
    for dim in &mut share.dims {
        dim.begin = copier.expr(dim.begin);
        dim.bound = copier.expr(dim.bound);
        dim.step = dim.step.map(|it| copier.expr(it));
    }
    for stmt in &mut share.body {
        if let StmtKind::Code(code) = &mut stmt.kind {
            *code = copier.stmt(*code);
        }
    }
    share
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

/// `for (var = begin; var < bound; var++) body`, or with the test and the step that the loop has.
fn counting(build: &mut Builder<'_>, dim: &Dim, body: StmtId) -> StmtId {
    let init = build.init(dim.begin);
    build.program.vars[dim.var].init = Some(init);
    let declared = build.stmt(C::Local(dim.var));
    let at = build.var(dim.var);
    // As C does it, which the text leaves to it.
    let (at, bound) = match kernel::count::common(build.program, dim) {
        Some(common) => (build.convert(at, common), build.convert(dim.bound, common)),
        None => (at, dim.bound),
    };
    let cond = kernel::count::goes_on(build, dim, at, bound);
    let step = match (dim.step, dim.descending) {
        (None, false) => build.increment(dim.var),
        _ => kernel::count::advance(build, dim, dim.var),
    };
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
