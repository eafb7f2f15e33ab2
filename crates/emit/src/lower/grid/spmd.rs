//! Kernels that went through the kernel form: every thread of every group runs them from the beginning.
//!
//! In: the program for a grid and its regions. Out: the same program in which the bodies of
//! those regions are what the passes made of them ([`outline()`], [`opt::passes`]), as C that calls the intrinsics of
//! the text; and which variables lie in the memory of groups.

use ir::construct::{ClauseKind, Leaf, ReductionModifier, ReductionOp};
use ir::program::{
    BinaryOp, ExprId, ExprKind, For, Program, RegionId, StmtId, StmtKind as C, Typed, VarId,
};
use ir::walk::Part;
use kernel::build::Builder;
use kernel::{Block, Kernel, Launch, LoopKind, Space, Stmt, StmtKind, intrinsic};
use opt::occupancy;
use opt::passes::{Free, Groups, pipeline};
use opt::profile::Profiles;
use outline::outline;
use rustc_hash::FxHashMap;
use source::{Diagnostic, Diagnostics};

use crate::c::{Grid, Out, Printer};
use crate::lower::offload::thread_limit;
use crate::lower::{GRID_PROFILE, Lowering, deepen, device, in_order};

/// A program with such kernels.
#[derive(Debug)]
pub(in crate::lower) struct Kernels {
    /// The program; handles of the one it was made from are good in it.
    pub(in crate::lower) program: Program,
    /// Regions that have one.
    pub(super) made: FxHashMap<RegionId, Made>,
    /// Regions that have none, and why.
    pub(super) refused: FxHashMap<RegionId, &'static str>,
    /// Laws that passes have broken: bugs of ours.
    pub(in crate::lower) bugs: Diagnostics,
}

/// A thread for each iteration, which needs no word.
const EVEN: [u32; 3] = [1, 1, 0];

/// What is known of a kernel besides its body.
#[derive(Debug)]
pub(super) struct Made {
    /// Variables in the memory of groups.
    shared: Vec<VarId>,
    launch: Launch,
    /// Its body, and that of groups of one thread if processors have another.
    body: StmtId,
    lone: Option<StmtId>,
    /// Where its loops went, for people, if all threads share them.
    told: Vec<String>,
}

/// What groups are like that run such a kernel.
pub(crate) fn groups(grid: Grid, standalone: bool) -> Groups {
    let many = 1 << 21;
    match grid {
        // A word is an argument of the kernel.
        Grid::OpenCl | Grid::OpenCl12 | Grid::Fpga(_) => {
            let (most_threads, memory, words, questions, posts) = (64, 24 << 10, 32, 32, 0);
            Groups {
                most_threads,
                lanes: 1,
                memory,
                words,
                questions,
                posts,
                many,
                at_once: 1,
                atomics: false,
            }
        }
        Grid::Cuda | Grid::Hip => {
            let has_words = grid == Grid::Cuda && !standalone;
            let words = if has_words { 1024 } else { 0 };
            let questions = abi::image::QUESTIONS as u64;
            let posts = if has_words { abi::image::POSTS as u64 } else { 0 };
            let (most_threads, memory, at_once) = (128, 40 << 10, 8);
            Groups {
                most_threads,
                lanes: 32,
                memory,
                words,
                questions,
                posts,
                many,
                at_once,
                atomics: true,
            }
        }
    }
}

/// The same for groups of one thread, which processors have.
const LONE: Groups = Groups {
    most_threads: 1,
    lanes: 1,
    memory: 24 << 10,
    words: 32,
    questions: 32,
    posts: 0,
    many: 0,
    at_once: 1,
    atomics: false,
};

/// How many groups of so many threads run at once if each thread has so many registers.
pub(super) fn at_once(threads: u64, registers: u64) -> Option<u64> {
    let profile = Profiles::built_in().get(GRID_PROFILE).ok()?;
    Some(profile.unit?.fit(occupancy::Block { threads, registers, memory: 0 })?.blocks)
}

/// Threads of a group that runs such a kernel.
pub(super) fn threads(grid: Grid) -> u64 {
    groups(grid, false).most_threads
}

impl Lowering<'_> {
    /// Kernels for all regions that passes take.
    pub(in crate::lower) fn kernels(&self, grid: Grid, launched: &[device::Kernel]) -> Kernels {
        let mut none = Kernels {
            program: Program::new(self.program.model, source::Names::default()),
            made: FxHashMap::default(),
            refused: FxHashMap::default(),
            bugs: Diagnostics::default(),
        };
        let goes = |it: &RegionId| {
            let construct = &self.program.regions[*it].construct;
            let leaves_host = construct.has(Leaf::Offload) || construct.has(Leaf::Kernels);
            leaves_host && !construct.goes_back()
        };
        let ids = self.program.regions.iter().map(|it| it.0).filter(goes);
        let may_gain = grid.is_cpp();
        let has_lone = matches!(grid, Grid::OpenCl | Grid::OpenCl12);
        let wanted: Vec<RegionId> = ids.collect();
        let program = match grid.is_cpp() {
            true => {
                let mut program = with_registers(self.program);
                deepen::join(&mut program, self.deeper);
                program
            }
            false => self.program.clone(),
        };
        if wanted.is_empty() {
            none.program = program;
            return none;
        }
        let limits = launched.iter().filter(|it| it.limit.is_some());
        let limits = limits.filter_map(|it| thread_limit(&self.program.regions[it.region]));
        let computed = launched.iter().flat_map(|it| &it.entries.computed).map(|it| it.0);
        let computed = computed.chain(limits).collect();
        let outlined = outline(&program, &wanted, &computed);
        let groups = groups(grid, self.standalone);
        let shared: Vec<RegionId> =
            wanted.into_iter().filter(|it| self.is_anonymous(*it)).collect();
        let lone = match has_lone && !shared.is_empty() {
            true => outline(&outlined.module.program, &shared, &computed).module,
            false => kernel::Module { program: outlined.module.program, kernels: Vec::new() },
        };
        let mut kernels = Kernels { program: lone.program, ..none };
        let lone = lone.kernels;
        kernels.refused.extend(outlined.refused.into_iter().map(|(id, it)| (id, it.why)));
        for kernel in &outlined.module.kernels {
            // What one thread does is done best by one.
            if !kernel.body.iter().any(has_crew) {
                kernels.refused.insert(kernel.region, "nothing in it is for several");
                continue;
            }
            let free = if may_gain { &self.deeper.free } else { &Free::default() };
            match pipeline::run(&mut kernels.program, kernel, groups, free, None) {
                Ok(made) => {
                    let told =
                        self.loops_told(grid, kernel.region, Some(made.launch.spread.is_some()));
                    let Some(other) = lone.iter().find(|it| it.region == kernel.region) else {
                        kernels.put((&made, groups), None, told);
                        continue;
                    };
                    // Both, or the form that it has.
                    match pipeline::run(&mut kernels.program, other, LONE, &Free::default(), None) {
                        Ok(other) => kernels.put((&made, groups), Some(&other), told),
                        Err(refusal) => {
                            bug(&refusal).into_iter().for_each(|it| kernels.bugs.push(it));
                        }
                    }
                }
                Err(refusal) => {
                    bug(&refusal).into_iter().for_each(|it| kernels.bugs.push(it));
                    kernels.refused.insert(kernel.region, refusal.why);
                }
            }
        }
        kernels
    }
}

/// The program with loops written down round by round where arrays can lie in registers then.
fn with_registers(program: &Program) -> Program {
    let mut program = program.clone();
    for (stmt, rounds) in opt::registers::unrolled(&program) {
        if let C::For(it) = &mut program.stmts[stmt].kind {
            it.unroll = it.unroll.or(Some(rounds));
        }
    }
    program
}

/// What is said of a law that a pass has broken.
pub(crate) fn bug(refusal: &opt::passes::Refusal) -> Option<Diagnostic> {
    let text = refusal.bug.as_ref()?;
    Some(
        Diagnostic::error("F0998", format!("bug of ferry: {text}"))
            .at(refusal.span, "made of this"),
    )
}

/// Whether a statement asks for more than one thread.
fn has_crew(stmt: &Stmt) -> bool {
    let is_one = matches!(stmt.kind, StmtKind::Teams(_) | StmtKind::Parallel(_));
    is_one || stmt.kind.blocks().into_iter().flatten().any(has_crew)
}

impl Kernels {
    /// Puts a kernel into the program, as the body of its region; `lone`: that for groups of one thread.
    fn put(
        &mut self,
        (kernel, groups): (&Kernel, Groups),
        lone: Option<&Kernel>,
        told: Vec<String>,
    ) {
        let shared: Vec<VarId> =
            kernel.spaces.iter().filter(|it| it.1 == Space::Group).map(|it| it.0).collect();
        let (types, model) = (&self.program.types, self.program.model);
        let size = |var: &VarId| {
            let var = &self.program.vars[*var];
            let gap = var.align.unwrap_or(0);
            model.size_of(types, var.ty).unwrap_or(u64::MAX).saturating_add(gap)
        };
        if shared.iter().fold(0, |sum: u64, it| sum.saturating_add(size(it))) > groups.memory {
            let why = "the variables of its teams take more memory than a group has";
            self.refused.insert(kernel.region, why);
            return;
        }
        let made = Code::of(&mut self.program, kernel, groups);
        let lone = lone.map(|it| (it.launch.words, Code::of(&mut self.program, it, LONE)));
        let function = self.program.regions[kernel.region].function;
        let build = &mut Builder { program: &mut self.program, function, span: kernel.span };
        // Whoever looks through the program sees both.
        let whole = lone.map_or(made, |(_, lone)| {
            let int = build.int_type();
            let is_lone = build.int(1, int);
            build.stmt(C::If(is_lone, lone, Some(made)))
        });
        let region = &mut self.program.regions[kernel.region];
        region.body = Some(whole);
        region.loops.clear();
        region.construct.leaves.retain(|it| matches!(it, Leaf::Offload | Leaf::Kernels));
        region.vars.iter_mut().for_each(|it| it.sharing = None);
        let mut launch = kernel.launch.clone();
        launch.words = lone.map_or(launch.words, |it| launch.words.max(it.0));
        let lone = lone.map(|it| it.1);
        self.made.insert(kernel.region, Made { shared, launch, body: made, lone, told });
    }
}

/// Makes C of a kernel in SPMD form.
struct Code<'a> {
    build: Builder<'a>,
    kernel: &'a Kernel,
    /// How often variables are declared: code may stand there more than once.
    declared: FxHashMap<VarId, usize>,
    /// A group is one thread.
    is_lone: bool,
    /// Branches in which threads wait for each other are marked.
    marks_branches: bool,
}

/// Whether threads wait for each other somewhere in a block.
fn has_barrier(block: &Block) -> bool {
    kernel::walk::all(block).iter().any(|it| matches!(it.kind, StmtKind::Barrier))
}

impl<'a> Code<'a> {
    fn of(program: &'a mut Program, kernel: &'a Kernel, groups: Groups) -> StmtId {
        // Groups of OpenCL have no subgroups.
        let is_lone = groups.most_threads == 1;
        let marks_branches = groups.lanes == 1 && !is_lone;
        let mut declared: FxHashMap<VarId, usize> = FxHashMap::default();
        for stmt in kernel::walk::all(&kernel.body) {
            if let StmtKind::Local(var) = stmt.kind {
                *declared.entry(var).or_default() += 1;
            }
        }
        let function = program.regions[kernel.region].function;
        let build = Builder { program, function, span: kernel.span };
        Code { build, kernel, declared, is_lone, marks_branches }.whole()
    }

    fn whole(&mut self) -> StmtId {
        let mut list = Vec::new();
        let Kernel { threads, groups, all, body, .. } = self.kernel;
        for (var, name) in [
            (threads.number, intrinsic::THREAD),
            (threads.count, intrinsic::THREADS),
            (groups.number, intrinsic::GROUP),
            (groups.count, intrinsic::GROUPS),
        ] {
            let value = match (self.is_lone, name) {
                (true, intrinsic::THREAD) => self.build.number(0),
                (true, intrinsic::THREADS) => self.build.number(1),
                (true | false, _) => intrinsic::ask(&mut self.build, name),
            };
            list.push(self.declared(var, value));
        }
        if let Some(all) = all {
            let build = &mut self.build;
            let [group, threads, thread, groups] =
                [groups.number, threads.count, threads.number, groups.count]
                    .map(|it| build.var(it));
            let before = build.binary(BinaryOp::Mul, group, threads);
            let number = build.binary(BinaryOp::Add, before, thread);
            let count = build.binary(BinaryOp::Mul, groups, threads);
            for (var, value) in [(all.number, number), (all.count, count)] {
                list.push(self.declared(var, value));
            }
        }
        if self.is_lone {
            let of_group = self.kernel.spaces.iter().filter(|it| it.1 == Space::Group);
            list.extend(of_group.map(|it| self.build.stmt(C::Local(it.0))));
        }
        list.extend(self.list(body));
        self.build.stmt(C::Block(list.into()))
    }

    /// A variable with its first value.
    fn declared(&mut self, var: VarId, value: ExprId) -> StmtId {
        let init = self.build.init(value);
        self.build.program.vars[var].init = Some(init);
        self.build.stmt(C::Local(var))
    }

    fn block(&mut self, block: &Block) -> StmtId {
        let list = self.list(block);
        self.build.stmt(C::Block(list.into()))
    }

    /// Whether a variable lies in memory that the threads of a group share.
    fn is_of_group(&self, var: VarId) -> bool {
        self.kernel.space(var) == Some(Space::Group)
    }

    /// Statements; a variable that is set at once is declared with its value.
    fn list(&mut self, block: &Block) -> Vec<StmtId> {
        let mut list = Vec::new();
        let mut rest = block.iter().peekable();
        while let Some(stmt) = rest.next() {
            let first = rest.peek().and_then(|next| self.first_value(&stmt.kind, &next.kind));
            match first {
                Some((var, value)) => {
                    self.build.span = stmt.span;
                    list.push(self.declared(var, value));
                    rest.next();
                }
                None => list.push(self.stmt(stmt)),
            }
        }
        list
    }

    /// The value that a statement gives to the variable that the one before it declares.
    fn first_value(&self, declares: &StmtKind, sets: &StmtKind) -> Option<(VarId, ExprId)> {
        let (StmtKind::Local(var), StmtKind::Eval(e)) = (declares, sets) else { return None };
        let program = &*self.build.program;
        let ExprKind::Assign(to, value) = program.exprs[*e].kind else { return None };
        let is_it = matches!(program.exprs[to].kind, ExprKind::Var(it) if it == *var);
        let is_groups = self.is_of_group(*var);
        let is_named =
            kernel::walk::uses(program, Part::Expr(value)).0.iter().any(|it| it.var == *var);
        let is_once = self.declared.get(var) == Some(&1);
        (is_it
            && is_once
            && !is_groups
            && !is_named
            && program.types.is_scalar(program.vars[*var].ty))
        .then_some((*var, value))
    }

    /// What is done where a condition holds; `waits`: threads wait for each other in it or beside it.
    fn branch(&mut self, block: &Block, waits: bool) -> StmtId {
        let body = self.block(block);
        if !waits {
            return body;
        }
        let mark = intrinsic::act(&mut self.build, intrinsic::BRANCH);
        let mark = self.build.stmt(C::Expr(mark));
        self.build.stmt(C::Block([mark, body].into()))
    }

    fn stmt(&mut self, stmt: &Stmt) -> StmtId {
        self.build.span = stmt.span;
        let kind = match &stmt.kind {
            StmtKind::Code(id) => return *id,
            StmtKind::Local(var) if self.is_of_group(*var) => C::Empty,
            StmtKind::Local(var) => C::Local(*var),
            StmtKind::Eval(e) => C::Expr(*e),
            StmtKind::Block(block) => return self.block(block),
            StmtKind::If(condition, then, other) => {
                let waits = self.marks_branches && [then, other].into_iter().any(has_barrier);
                let then = self.branch(then, waits);
                let other = (!other.is_empty()).then(|| self.branch(other, waits));
                C::If(*condition, then, other)
            }
            StmtKind::Loop(it) => {
                let body = self.block(&it.body);
                match (it.kind, it.condition) {
                    (LoopKind::After, Some(condition)) => C::DoWhile(body, condition),
                    (LoopKind::Before | LoopKind::After, cond) => C::For(Box::new(For {
                        init: Box::new([]),
                        cond,
                        step: it.step,
                        body,
                        unroll: None,
                        lanes: false,
                    })),
                }
            }
            // Nobody jumps over a value.
            StmtKind::Switch(value, body) => {
                let list: Vec<StmtId> = body.iter().map(|it| self.stmt(it)).collect();
                C::Switch(*value, self.build.stmt(C::Block(list.into())))
            }
            StmtKind::Case(low, high) => {
                let empty = self.build.stmt(C::Empty);
                C::Case(*low, *high, empty)
            }
            StmtKind::Default => {
                let empty = self.build.stmt(C::Empty);
                C::Default(empty)
            }
            StmtKind::Break => C::Break,
            StmtKind::Continue => C::Continue,
            StmtKind::Barrier if self.is_lone => C::Empty,
            StmtKind::Barrier => C::Expr(intrinsic::act(&mut self.build, intrinsic::BARRIER)),
            StmtKind::Shuffle(it) => {
                let (to, build) = (self.build.var(it.to), &mut self.build);
                C::Expr(intrinsic::shuffle(build, to, it.from, it.far))
            }
            // The passes have left none of these.
            StmtKind::Teams(_)
            | StmtKind::Parallel(_)
            | StmtKind::Share(_)
            | StmtKind::On(..)
            | StmtKind::Reduce(_)
            | StmtKind::Scan(_) => C::Error,
        };
        self.build.span = stmt.span;
        self.build.stmt(kind)
    }
}

impl Lowering<'_> {
    /// Whether a region has such a kernel.
    pub(in crate::lower) fn is_spmd(&self, id: RegionId) -> bool {
        self.spmd.is_some_and(|it| it.made.contains_key(&id))
    }

    /// Whether groups of processors are one thread in a region's kernel, and those of others are not.
    pub(in crate::lower) fn has_lone(&self, id: RegionId) -> bool {
        self.spmd.and_then(|it| it.made.get(&id)).is_some_and(|it| it.lone.is_some())
    }

    /// How a region's kernel wants to be launched, if it is such.
    pub(in crate::lower) fn launch(&self, id: RegionId) -> Option<&Launch> {
        self.spmd.and_then(|it| it.made.get(&id)).map(|it| &it.launch)
    }

    /// Where the loops of a region went that has such a kernel.
    pub(super) fn dealt_told(&self, id: RegionId) -> &[String] {
        self.spmd.and_then(|it| it.made.get(&id)).map_or(&[], |it| it.told.as_slice())
    }

    /// Why one thread runs a region.
    pub(super) fn why_one(&self, id: RegionId) -> &'static str {
        self.spmd.and_then(|it| it.refused.get(&id).copied()).unwrap_or("it is no kernel")
    }

    /// How many arguments a kernel has for places in which groups leave what they have.
    pub(in crate::lower) fn parts_of_sums(&self, grid: Grid, id: RegionId) -> usize {
        let words = self.launch(id).map_or(0, |it| it.words);
        usize::try_from(if grid == Grid::Cuda { words.min(1) } else { words }).unwrap_or(0)
    }

    /// Whether nobody can tell which of its threads runs an iteration of a region, or how many there are.
    pub(in crate::lower) fn is_anonymous(&self, id: RegionId) -> bool {
        let program = self.program;
        let is_level = |it: &Leaf| {
            matches!(
                it,
                Leaf::Offload
                    | Leaf::Kernels
                    | Leaf::Teams
                    | Leaf::Distribute
                    | Leaf::Parallel
                    | Leaf::For
                    | Leaf::Simd
                    | Leaf::Loop
                    | Leaf::Cache
                    | Leaf::Nothing
                    | Leaf::Atomic
            )
        };
        // Iterations of one thread may follow each other, and what users combine may count threads.
        let is_free = |it: &ClauseKind<Typed>| match it {
            ClauseKind::Ordered(_) | ClauseKind::Linear(_) | ClauseKind::Induction(_) => false,
            ClauseKind::LastPrivate { conditional, .. } => !conditional,
            ClauseKind::Reduction(it) => {
                it.modifier != Some(ReductionModifier::Inscan)
                    && !matches!(it.op, ReductionOp::User(_))
            }
            _ => true,
        };
        let is_quiet = |id: RegionId| {
            let construct = &program.regions[id].construct;
            // Threads do nothing but share loops.
            let shares = construct.has(Leaf::For) || construct.has(Leaf::Loop);
            construct.leaves.iter().all(is_level)
                && (shares || !construct.has(Leaf::Parallel))
                && construct.kinds().all(is_free)
                && !in_order::asks_one(program, id)
                && self.asks_nobody(id)
        };
        is_quiet(id) && program.inside(id).into_iter().all(is_quiet)
    }

    /// Whether no function that is called asks for threads.
    fn asks_nobody(&self, id: RegionId) -> bool {
        let region = &self.program.regions[id];
        region.indirect_calls.is_empty()
            && region.reaches.iter().all(|it| {
                let function = &self.program.functions[*it];
                let name = self.program.names.text(function.name);
                let is_asked = directive::RUNTIME_SYMBOLS.iter().any(|it| name.starts_with(it));
                // What other files offer asks for nobody either.
                let is_quiet = function.body.is_some() || self.links();
                !is_asked && (is_quiet || function.is_builtin || self.is_of_system(function.span))
            })
    }

    /// The body of such a kernel.
    pub(in crate::lower) fn spmd_kernel(
        &self,
        printer: &Printer<'_>,
        id: RegionId,
        out: &mut Out<'_>,
    ) {
        let mut printer = printer.clone();
        let made = self.spmd.and_then(|it| it.made.get(&id));
        let Some(made) = made else { return };
        let words = made.launch.words;
        if words > 0 && self.grid.is_some_and(Grid::is_opencl) {
            let parts: Vec<String> = (0..words).map(|it| format!("__ferry_parts{it}")).collect();
            let parts = parts.join(", ");
            out.line(&format!("const unsigned long __ferry_all_parts[] = {{ {parts} }};"));
        }
        if let Some(lone) = made.lone {
            out.raw("#ifdef __FERRY_LONE");
            printer.stmt(lone, out);
            out.raw("#else");
        }
        for var in &made.shared {
            self.group_variable(&mut printer, *var, out);
        }
        let is_asked = |it: &[u32; 3]| self.grid.is_some_and(Grid::is_cpp) && *it != EVEN;
        if let Some(spread) = made.launch.spread.filter(is_asked) {
            self.state.borrow_mut().spread = Some(spread.map(|it| it as usize));
        }
        self.state.borrow_mut().registers = made.launch.registers;
        printer.stmt(made.body, out);
        if made.lone.is_some() {
            out.raw("#endif");
        }
    }

    /// A variable in the memory of a group, which the printer then names.
    fn group_variable(&self, printer: &mut Printer<'_>, var: VarId, out: &mut Out<'_>) {
        let ty = self.program.vars[var].ty.plain();
        let name = printer.declared_name(var);
        match self.grid {
            Some(Grid::OpenCl) => {
                let room = format!("{name}_room");
                let room = self.declare_own(printer, var, &room, "__local ", out);
                let memory = if self.program.types.is_array(ty) { "__ferry_generic " } else { "" };
                let pointer = printer.declare(ty, &format!("(*{name})"));
                out.line(&format!("{memory}{pointer} = __ferry_kernel_flat(&{room});"));
                printer.substitute(var, format!("(*{name})"));
            }
            // What no pointer leads to is named where it is.
            Some(Grid::OpenCl12)
                if !self.is_on_stack(var) && self.program.vars[var].align.is_none() =>
            {
                self.declare_own(printer, var, &name, "__local ", out);
            }
            // All pointers lead to the memory of the device: it is the group's part of that.
            Some(Grid::OpenCl12 | Grid::Fpga(_)) => {
                let address = self.room_on_stack(var).address("__ferry_kernel_stack");
                let pointer = printer.declare_pointer(ty, "");
                printer.substitute(var, format!("(*({pointer}){address})"));
            }
            Some(Grid::Cuda | Grid::Hip) | None => {
                // Neighbouring elements of an array are loaded at once.
                let is_bare =
                    self.program.types.is_array(ty) && self.program.vars[var].align.is_none();
                let word = if is_bare { "__attribute__((aligned(16))) " } else { "" };
                out.line(&format!("__shared__ {word}{};", printer.declare_like(var, &name)));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_text_knows_where_groups_leave_what_they_have() {
        let text = include_str!("prelude.cu");
        let header = abi::image::LAUNCH_HEADER;
        let place = format!("((parts) + {header} + 8 * (group))");
        assert!(text.contains(&place), "{place}");
        let posted = format!("((parts) + {})", header - 4 * abi::image::POSTS);
        assert!(text.contains(&posted), "{posted}");
    }
}
