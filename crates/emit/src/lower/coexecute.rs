//! Loops that host and devices run together (`ompx_coexecute`).
//!
//! In: a program with such clauses. Out: the same without them, in which the outermost loop of each such region runs from one variable
//! of ours to another ([`Split`]): the runtime gives host and devices parts of the loop by giving the region other values of
//! the two. The call then says how many iterations there are, how sums of devices are joined ([`Lowering::joins_text`]), and
//! which elements of arrays a part touches ([`Lowering::windows_text`]).
//!
//! What may not be split runs on one device, as without the clause; that is told, and why (F0738).

use directive::RUNTIME_SYMBOLS;
use ir::construct::{
    Clause, ClauseKind, DeviceModifier, Leaf, Motion, Reduction, ReductionModifier, ReductionOp,
};
use ir::program::{
    BinaryOp, Expr, ExprId, ExprKind, HostWords, Program, RegionId, StmtId, StmtKind, Typed, Var,
    VarId, VarStorage,
};
use ir::region::{
    Attribute, Loop, LoopTest, Mapping, Origin, Pointee, Region, RegionVar, Rule, Sharing,
};
use ir::walk::{Part, regions_in};
use opt::dependence::{Analysis, Sum};
use opt::window::Window;
use source::{Diagnostic, Diagnostics, Locator};

use super::entries::is_value;
use super::entries::{Access, Captured, Entries};
use super::kernel::block_reductions;
use super::{Lowering, bound, in_order, loops};
use crate::c::{Out, Printer, Setting};

/// A region whose outermost loop may be run in parts.
#[derive(Clone, Debug)]
pub(super) struct Split {
    /// Where the loop begins and ends, as the program has it.
    begin: ExprId,
    bound: ExprId,
    step: Option<ExprId>,
    descending: bool,
    test: LoopTest,
    /// The variables that it runs from and to.
    ends: [VarId; 2],
    /// What the region sums up.
    sums: Vec<(VarId, ReductionOp<Typed>)>,
    windows: Vec<Window>,
}

/// A program whose co-executed loops may be run in parts.
pub(super) struct Parted {
    pub(super) program: Program,
    regions: Vec<(RegionId, Split)>,
    /// What runs on one device, and why.
    pub(super) told: Diagnostics,
}

impl Parted {
    fn of(&self, id: RegionId) -> Option<&Split> {
        self.regions.iter().find(|it| it.0 == id).map(|it| &it.1)
    }
}

/// Splits the loops of regions that ask for it; none if there are none.
pub(super) fn split(
    program: &Program,
    locator: &Locator<'_>,
    is_standalone: bool,
) -> Option<Parted> {
    let asks = |it: &RegionId| {
        let clauses = &program.regions[*it].construct.clauses;
        clauses.iter().any(|it| matches!(it.kind, ClauseKind::Coexecute))
    };
    let asked: Vec<RegionId> = program.regions.iter().map(|it| it.0).filter(asks).collect();
    if asked.is_empty() {
        return None;
    }
    let mut made =
        Parted { program: program.clone(), regions: Vec::new(), told: Diagnostics::new() };
    let view = View { program, locator, analysis: Analysis::new(program) };
    for id in asked {
        let region = &mut made.program.regions[id];
        let is_it = |it: &Clause<_>| matches!(it.kind, ClauseKind::Coexecute);
        let clause = region.construct.clauses.iter().find(|it| is_it(it)).cloned();
        let Some(clause) = clause else { continue };
        region.retain_clauses(|it| !is_it(it));
        name_copies(&mut made.program, id);
        let is_off = |it: ExprId| loops::constant(program, it) == Some(0);
        if clause.switch.is_some_and(is_off) {
            continue;
        }
        let found = match is_standalone {
            true => Err("the program does without the runtime".to_owned()),
            false => view.may_split(id),
        };
        match found {
            Ok(inner) => {
                let split = cut(&mut made.program, id, inner);
                made.regions.extend(split.map(|it| (id, it)));
            }
            Err(why) => made.told.push(
                Diagnostic::warning("F0738", format!("this loop runs on one device: {why}"))
                    .at(clause.span, "asks that host and devices run it together"),
            ),
        }
    }
    let analysis = Analysis::new(&made.program);
    for (id, split) in &mut made.regions {
        split.windows = analysis.windows(*id, split.ends);
    }
    Some(made)
}

/// What is looked at.
struct View<'p> {
    program: &'p Program,
    locator: &'p Locator<'p>,
    analysis: Analysis<'p>,
}

/// Words for why not.
type Why = String;

impl View<'_> {
    /// The construct whose loop may be split, or why there is none.
    fn may_split(&self, id: RegionId) -> Result<RegionId, Why> {
        let program = self.program;
        let region = &program.regions[id];
        let differs = program
            .fallback
            .as_deref()
            .is_some_and(|it| it.regions.contains(&region.construct.span))
            || bound::regions(program).contains(&region.construct.span);
        if differs {
            return Err("the host runs other code there than devices".to_owned());
        }
        let is_inside = |it: RegionId| {
            program.regions[it]
                .construct
                .leaves
                .iter()
                .any(|it| matches!(it, Leaf::Offload | Leaf::Kernels))
        };
        if program.around(id).skip(1).any(is_inside) {
            return Err("it stands in another region".to_owned());
        }
        let chain = self.chain(id)?;
        chain.iter().try_for_each(|it| self.clauses(*it))?;
        let inner = *chain.last().unwrap_or(&id);
        self.one_loop(region, inner)?;
        chain.iter().try_for_each(|it| self.variables(*it))?;
        let body = program.regions[inner].loops.first().map(|it| it.body);
        body.map_or(Ok(()), |it| self.code(it))?;
        for function in &region.reaches {
            self.function(*function)?;
        }
        match region.indirect_calls.is_empty() {
            true => Ok(inner),
            false => Err("it calls functions through pointers".to_owned()),
        }
    }

    /// The construct and those directly inside it, down to the one with the loop.
    fn chain(&self, id: RegionId) -> Result<Vec<RegionId>, Why> {
        let program = self.program;
        let mut chain = vec![id];
        let mut at = id;
        while program.regions[at].loops.is_empty() {
            let inner = program.regions[at].body.and_then(|it| only_region(program, it));
            at = inner.ok_or("there is more in it than a loop that is shared")?;
            chain.push(at);
        }
        let construct = &program.regions[at].construct;
        let is_shared =
            [Leaf::For, Leaf::Distribute, Leaf::Loop].iter().any(|it| construct.has(*it));
        match is_shared {
            true => Ok(chain),
            false => Err("neither teams nor threads share its loop".to_owned()),
        }
    }

    fn clauses(&self, id: RegionId) -> Result<(), Why> {
        for clause in &self.program.regions[id].construct.clauses {
            let name = match &clause.kind {
                ClauseKind::Nowait(_) => "nowait",
                ClauseKind::Depend(_) => "depend",
                ClauseKind::InReduction(_) => "in_reduction",
                ClauseKind::LastPrivate { .. } => "lastprivate",
                ClauseKind::Linear(_) => "linear",
                ClauseKind::Induction(_) => "induction",
                ClauseKind::Ordered(_) => "ordered",
                ClauseKind::DevicePointer(_) => "is_device_ptr",
                ClauseKind::HasDeviceAddr(_) => "has_device_addr",
                ClauseKind::UsesAllocators(_) => "uses_allocators",
                ClauseKind::Device(DeviceModifier::Ancestor, _) => "device(ancestor: …)",
                ClauseKind::Reduction(it) if !self.is_joined(id, it) => "reduction",
                _ => continue,
            };
            return Err(format!("`{name}` is about all iterations"));
        }
        Ok(())
    }

    /// Whether sums of host and devices can be joined.
    fn is_joined(&self, id: RegionId, it: &Reduction<Typed>) -> bool {
        let is_plain = matches!(it.modifier, None | Some(ReductionModifier::Default));
        let region = &self.program.regions[id];
        is_plain && it.items.iter().all(|item| self.is_sum(region, *item, &it.op))
    }

    /// Whether an item of a reduction is a variable as a whole.
    fn is_sum(&self, region: &Region, item: ExprId, op: &ReductionOp<Typed>) -> bool {
        let types = &self.program.types;
        let ExprKind::Var(var) = self.program.exprs[item].kind else { return false };
        let ty = self.program.vars[var].ty;
        let is_known = match op {
            ReductionOp::User(_) => block_reductions(self.program, region).is_empty(),
            _ => types.is_arithmetic(types.innermost_element(ty)),
        };
        is_known && !types.is_pointer(ty) && !types.is_vla(ty)
    }

    fn one_loop(&self, region: &Region, inner: RegionId) -> Result<(), Why> {
        let program = self.program;
        if in_order::asks_one(program, inner)
            || in_order::may_need_one(program, &self.analysis, inner)
        {
            return Err("one thread may have to run it".to_owned());
        }
        let Some(outer) = program.regions[inner].loops.first() else {
            return Err("its loop is not known".to_owned());
        };
        let ends = [Some(outer.begin), Some(outer.bound), outer.step];
        if !program.types.is_integer(program.vars[outer.var].ty)
            || !ends.iter().flatten().all(|it| is_free(program, region, *it))
        {
            return Err("how often its loop runs is not known before it begins".to_owned());
        }
        let StmtKind::For(it) = &program.stmts[outer.stmt].kind else {
            return Err("its loop is not known".to_owned());
        };
        let is_operand = it.cond.is_some_and(|it| {
            matches!(program.exprs[it].kind, ExprKind::Binary(_, a, b) if a == outer.bound || b == outer.bound)
        });
        if is_operand { Ok(()) } else { Err("its loop is not known".to_owned()) }
    }

    fn variables(&self, id: RegionId) -> Result<(), Why> {
        let program = self.program;
        for it in &program.regions[id].vars {
            let name = program.vars[it.var].name.map_or("", |it| program.names.text(it));
            let is_of_device = program.vars[it.var].device.is_some()
                || it.mappings.iter().any(|it| matches!(it.value, Mapping::Declared));
            if is_of_device {
                return Err(format!("the device has `{name}` for itself"));
            }
            if program.regions[id].construct.has(Leaf::Offload) {
                self.comes_back(it, name)?;
            }
            let sharing = it.sharing.as_ref().map(|it| &it.value);
            if matches!(
                sharing,
                Some(Sharing::LastPrivate | Sharing::FirstLastPrivate | Sharing::Linear)
            ) {
                return Err(format!("`{name}` has the value of the last iteration"));
            }
        }
        Ok(())
    }

    /// Whether what is written of a variable comes back to the host.
    fn comes_back(&self, it: &RegionVar, name: &str) -> Result<(), Why> {
        let types = &self.program.types;
        let ty = self.program.vars[it.var].ty;
        let is_written =
            it.pointee.written || it.pointee.escapes || it.written && !types.is_pointer(ty);
        let has_own = |it: &Attribute<Mapping>| {
            matches!(it.value, Mapping::FirstPrivate | Mapping::Private) && !types.is_pointer(ty)
        };
        let returns = |it: &Attribute<Mapping>| match &it.value {
            Mapping::Map(motion, ..) => {
                matches!(motion, Motion::From | Motion::ToFrom | Motion::Unsaid)
            }
            _ => has_own(it),
        };
        if !is_written || it.mappings.iter().any(returns) {
            return Ok(());
        }
        Err(format!("what is written to `{name}` is not mapped back"))
    }

    fn code(&self, body: StmtId) -> Result<(), Why> {
        let program = self.program;
        for id in regions_in(program, body) {
            let construct = &program.regions[id].construct;
            let is_quiet = |it: &Leaf| {
                matches!(it, Leaf::Parallel | Leaf::For | Leaf::Simd | Leaf::Loop | Leaf::Assume)
            };
            if !construct.leaves.iter().all(is_quiet)
                || construct.kinds().any(|it| matches!(it, ClauseKind::Ordered(_)))
            {
                let name = directive::directive_name(construct);
                return Err(format!("iterations may see each other in `{name}`"));
            }
        }
        let mut open = vec![Part::Stmt(body)];
        while let Some(part) = open.pop() {
            let ty = match part {
                Part::Expr(it) => Some(program.exprs[it].ty),
                Part::Local(it) => Some(program.vars[it].ty),
                Part::Stmt(it) if matches!(program.stmts[it].kind, StmtKind::Asm(_)) => {
                    return Err("it has assembly in it".to_owned());
                }
                Part::Stmt(_) | Part::Init(_) | Part::Region(_) => None,
            };
            let is_special =
                |ty| program.types.is_atomic(ty) || program.types.resolve(ty).quals.is_volatile;
            if ty.is_some_and(is_special) {
                return Err(
                    "iterations may see each other in atomic or volatile objects".to_owned()
                );
            }
            program.parts(part, &mut |it| open.push(it));
        }
        Ok(())
    }

    fn function(&self, id: ir::program::FunctionId) -> Result<(), Why> {
        let function = &self.program.functions[id];
        let name = self.program.names.text(function.name);
        if RUNTIME_SYMBOLS.iter().any(|it| name.starts_with(it)) {
            return Err(format!("`{name}` may tell who runs an iteration"));
        }
        if ["__atomic_", "__sync_", "__c11_atomic_"].iter().any(|it| name.starts_with(it)) {
            return Err(format!("iterations may see each other in `{name}`"));
        }
        let is_of_system =
            || self.locator.locate(function.span).is_none_or(|it| it.in_system_header);
        match function.body {
            Some(body) => self.code(body),
            None if function.is_builtin || is_of_system() => Ok(()),
            None => Err(format!("what `{name}` does is not known here")),
        }
    }
}

/// The construct that is all of a statement.
fn only_region(program: &Program, stmt: StmtId) -> Option<RegionId> {
    match &program.stmts[stmt].kind {
        StmtKind::Region(id) => Some(*id),
        StmtKind::Block(list) => match &**list {
            [only] => only_region(program, *only),
            _ => None,
        },
        _ => None,
    }
}

/// Whether the host may compute it before the region begins, and gets what the region would.
fn is_free(program: &Program, region: &Region, id: ExprId) -> bool {
    let expr = &program.exprs[id];
    if !program.types.is_integer(expr.ty) {
        return false;
    }
    match &expr.kind {
        ExprKind::Int(_) | ExprKind::EnumConst(..) | ExprKind::Sizeof(_) => true,
        ExprKind::Var(var) => {
            let is_plain = !program.vars[*var].ty.quals.is_volatile;
            is_plain && region.vars.iter().any(|it| it.var == *var && is_value(it) && !it.written)
        }
        ExprKind::Cast(_, inner) | ExprKind::Unary(_, inner) => is_free(program, region, *inner),
        ExprKind::Binary(
            BinaryOp::Add
            | BinaryOp::Sub
            | BinaryOp::Mul
            | BinaryOp::Shl
            | BinaryOp::Shr
            | BinaryOp::Div,
            left,
            right,
        ) => is_free(program, region, *left) && is_free(program, region, *right),
        _ => false,
    }
}

/// Has the outermost loop of `inner` run from a variable of ours to another.
fn cut(program: &mut Program, id: RegionId, inner: RegionId) -> Option<Split> {
    let Loop { begin, bound, step, descending, test, .. } =
        program.regions[inner].loops.first()?.clone();
    let function = program.regions[id].function;
    let span = program.regions[id].construct.span;
    let chain: Vec<RegionId> =
        program.around(inner).take_while(|it| *it != id).chain([id]).collect();
    let replaced = |program: &mut Program, expr: ExprId, name: &str| {
        let name = program.names.intern(name);
        let ty = program.exprs[expr].ty.plain();
        let var = program.vars.push(Var {
            name: Some(name),
            ty,
            declared_len: None,
            storage: VarStorage::Local(function),
            thread_local: false,
            align: None,
            init: None,
            device: None,
            host: HostWords::default(),
            span,
        });
        let original = program.exprs[expr].clone();
        let original = program.exprs.push(original);
        program.exprs[expr] = Expr { kind: ExprKind::Var(var), ty, span: program.exprs[expr].span };
        for region in &chain {
            let is_outer = *region == id;
            let origin = Origin::Rule(Rule::ScalarDefault);
            let mapping = Attribute { value: Mapping::FirstPrivate, origin };
            let sharing = if is_outer { Sharing::FirstPrivate } else { Sharing::Shared };
            program.regions[*region].vars.push(RegionVar {
                var,
                sharing: Some(Attribute { value: sharing, origin }),
                mappings: if is_outer { vec![mapping] } else { Vec::new() },
                read: true,
                written: false,
                pointee: Pointee::UNTOUCHED,
                span,
            });
        }
        (original, var)
    };
    let (begin, first) = replaced(program, begin, "__ferry_part_begin");
    let (bound, last) = replaced(program, bound, "__ferry_part_end");
    for region in &chain {
        if let Some(it) = program.regions[*region].loops.first_mut() {
            it.trips = None;
        }
    }
    for region in &chain {
        name_ends(program, *region, [first, last]);
    }
    let sums = sums(program, &chain);
    let ends = [first, last];
    Some(Split { begin, bound, step, descending, test, ends, sums, windows: Vec::new() })
}

/// Says how the two variables are shared, where a construct wants that said of each.
fn name_ends(program: &mut Program, id: RegionId, ends: [VarId; 2]) {
    let construct = &program.regions[id].construct;
    let span = construct.span;
    if !construct.kinds().any(|it| matches!(it, ClauseKind::Default(..))) {
        return;
    }
    let items = ends.map(|var| {
        let ty = program.vars[var].ty;
        program.exprs.push(Expr { kind: ExprKind::Var(var), ty, span })
    });
    let kind = ClauseKind::FirstPrivate { saved: false, items: items.to_vec() };
    program.regions[id].construct.clauses.push(super::levels::plain(kind, span));
}

/// Names the variables of which each thread has a copy by rule, where it may tell its own from another's.
fn name_copies(program: &mut Program, id: RegionId) {
    let region = &program.regions[id];
    if !region.construct.rules.copies_like_tasks {
        return;
    }
    let is_copied = |it: &&RegionVar| {
        let copy = it.sharing.as_ref().filter(|it| it.value == Sharing::FirstPrivate);
        (it.written || it.pointee.written || it.pointee.escapes)
            && copy.is_some_and(|it| matches!(it.origin, Origin::Rule(_)))
    };
    let vars: Vec<VarId> = region.vars.iter().filter(is_copied).map(|it| it.var).collect();
    let span = region.construct.span;
    if vars.is_empty() {
        return;
    }
    let item = |var: VarId| {
        let ty = program.vars[var].ty;
        program.exprs.push(Expr { kind: ExprKind::Var(var), ty, span })
    };
    let items = vars.into_iter().map(item).collect();
    let kind = ClauseKind::FirstPrivate { saved: false, items };
    program.regions[id].construct.clauses.push(super::levels::plain(kind, span));
}

/// What a construct and those inside it sum up.
fn sums(program: &Program, chain: &[RegionId]) -> Vec<(VarId, ReductionOp<Typed>)> {
    let mut found: Vec<(VarId, ReductionOp<Typed>)> = Vec::new();
    for kind in chain.iter().flat_map(|it| program.regions[*it].construct.kinds()) {
        let ClauseKind::Reduction(it) = kind else { continue };
        for item in &it.items {
            if let ExprKind::Var(var) = program.exprs[*item].kind
                && !found.iter().any(|it| it.0 == var)
            {
                found.push((var, it.op.clone()));
            }
        }
    }
    found
}

impl Lowering<'_> {
    /// Declarations of the variables that a loop runs from and to, where it has such.
    pub(super) fn ends_text(&self, printer: &Printer<'_>, id: RegionId) -> Vec<String> {
        let Some(split) = self.parted.and_then(|it| it.of(id)) else { return Vec::new() };
        let [begin, bound] = split.ends;
        let declare = |var: VarId, value: ExprId| {
            let name = printer.declared_name(var);
            let declared = printer.declare(self.program.vars[var].ty, &name);
            format!("{declared} = {};", printer.expr(value))
        };
        vec![declare(begin, split.begin), declare(bound, split.bound)]
    }

    /// What the runtime is told of a region that is split; none if it is not, or if it cannot be told.
    pub(super) fn split_text(
        &self,
        printer: &Printer<'_>,
        id: RegionId,
        kernel: &str,
        entries: &Entries,
    ) -> Option<String> {
        let split = self.parted?.of(id)?;
        if entries.list.iter().any(|it| !it.repeats.is_empty() || it.strided.is_some()) {
            return None;
        }
        let ends = [self.entry_of(entries, split.ends[0])?, self.entry_of(entries, split.ends[1])?];
        let sums: Option<Vec<usize>> =
            split.sums.iter().map(|it| self.sum_entry(entries, it.0)).collect();
        let sums = sums?;
        let windows: Vec<(&Window, usize, String)> = split
            .windows
            .iter()
            .filter_map(|it| {
                let entry = self.entry_of(entries, it.var)?;
                Some((it, entry, self.window_text(entries, it)?))
            })
            .collect();
        let step = split.step.map_or_else(|| "1".to_owned(), |it| printer.primary(it));
        let step = format!("{}(__ferry_i64){step}", if split.descending { "-" } else { "" });
        let [begin, bound] = split.ends.map(|it| printer.declared_name(it));
        let beyond = match split.test {
            LoopTest::Lt | LoopTest::Gt | LoopTest::Ne => "",
            LoopTest::Le => " + 1",
            LoopTest::Ge => " - 1",
        };
        // Behind the last value of a part, as the test has it.
        let behind = match split.test {
            LoopTest::Lt => "1".to_owned(),
            LoopTest::Gt => "-1".to_owned(),
            LoopTest::Le | LoopTest::Ge => "0".to_owned(),
            LoopTest::Ne => step.clone(),
        };
        let list = |of: Vec<usize>| -> String {
            let all: Vec<String> = of.iter().map(usize::to_string).collect();
            all.join(", ")
        };
        let join = (!sums.is_empty()).then(|| self.joins_text(kernel, split));
        let window = (!windows.is_empty()).then(|| self.windows_text(kernel, &windows));
        let mut text = String::new();
        let mut table = |name: &str, of: Vec<usize>| match of.is_empty() {
            true => "0".to_owned(),
            false => {
                text += &format!("static const int {name}[{}] = {{ {} }};\n", of.len(), list(of));
                name.to_owned()
            }
        };
        let (sum_count, window_count) = (sums.len(), windows.len());
        let sum_table = table("__ferry_sums", sums);
        let window_table = table("__ferry_windows", windows.iter().map(|it| it.1).collect());
        text += &format!(
            "const struct __ferry_split __fx = {{ __ferry_trips((__ferry_i64){begin}, \
             (__ferry_i64){bound}{beyond}, {step}), (__ferry_i64){begin}, {step}, {behind}, {}, {}, \
             {sum_count}, {window_count}, {sum_table}, {}, {window_table}, {} }};",
            ends[0],
            ends[1],
            join.unwrap_or_else(|| "0".to_owned()),
            window.unwrap_or_else(|| "0".to_owned()),
        );
        Some(text)
    }

    /// The entry that is the argument of a variable.
    fn entry_of(&self, entries: &Entries, var: VarId) -> Option<usize> {
        let slot = captured(entries, var)?.slot?;
        let is_argument =
            |it: &&(usize, &super::entries::Entry)| it.1.bits.has(abi::MapType::TARGET_PARAM);
        entries.list.iter().enumerate().filter(|it| is_argument(&it)).nth(slot).map(|it| it.0)
    }

    fn sum_entry(&self, entries: &Entries, var: VarId) -> Option<usize> {
        captured(entries, var).filter(|it| it.access == Access::Reference)?;
        self.entry_of(entries, var)
    }

    /// A function that begins sums of a device, and joins them with those of the host; its name.
    fn joins_text(&self, kernel: &str, split: &Split) -> String {
        let printer = self.printer(Setting::Appended);
        let name = format!("{kernel}_joins");
        let head = format!(
            "static void {name}(void *const *__ferry_to, void *const *__ferry_from, int __ferry_begins)"
        );
        let mut out = Out::placed(self.place);
        out.raw(&format!("# 1 \"<ferry>\" 3\n{head}\n{{"));
        out.indented(|out| {
            for (at, (var, op)) in split.sums.iter().enumerate() {
                let ty = self.program.vars[*var].ty.plain();
                let to = printer.declare(ty, &format!("(*__ferry_to{at})"));
                let from = printer.declare(ty, &format!("(*__ferry_from{at})"));
                let [to_name, from_name] =
                    [format!("(*__ferry_to{at})"), format!("(*__ferry_from{at})")];
                out.line(&format!("{to} = __ferry_to[{at}];"));
                out.line(&format!("{from} = __ferry_from[{at}];"));
                if let ReductionOp::User(user) = op {
                    let own = printer.declare(ty, "__ferry_own");
                    let user = self.program.names.text(*user);
                    out.line("{");
                    out.line(&format!("{own}; __builtin_memcpy(&__ferry_own, &{to_name}, sizeof(__ferry_own));"));
                    out.raw(&directive::alone_sum(user, "__ferry_own"));
                    out.line(&format!(
                        "__builtin_memcpy(__ferry_begins ? (void *)&{from_name} : (void *)&__ferry_own, \
                         __ferry_begins ? (void *)&__ferry_own : (void *)&{from_name}, sizeof(__ferry_own));"
                    ));
                    out.line(&format!(
                        "if (!__ferry_begins) __builtin_memcpy(&{to_name}, &__ferry_own, sizeof(__ferry_own));"
                    ));
                    out.line("}");
                    continue;
                }
                let begins = self.begins(&printer, &from_name, ty, op);
                let joins = self.joins(&printer, (&to_name, &from_name), ty, op);
                out.line(&format!("if (__ferry_begins) {{ {begins} }} else {{ {joins} }}"));
            }
        });
        out.raw("}");
        let mut state = self.state.borrow_mut();
        state.declarations.push(format!("{head};\n"));
        state.functions.push(out.into_text());
        name
    }

    /// The two ends of a window as statements, for values that the call passes.
    fn window_text(&self, entries: &Entries, it: &Window) -> Option<String> {
        let size = i64::try_from(it.size).ok()?;
        let low = self.sum_text(entries, &it.low.times(size)?)?;
        let high = self.sum_text(entries, &it.high.times(size)?)?;
        let guards: Option<Vec<String>> = it
            .guards
            .iter()
            .map(|it| Some(format!("({}) >= 0", self.sum_text(entries, it)?)))
            .collect();
        let guards = guards?;
        let holds = if guards.is_empty() { "1".to_owned() } else { guards.join(" && ") };
        Some(format!(
            "__w[0] = 0; __w[1] = -1; if ({holds}) {{ __w[0] = {low}; __w[1] = {high}; }}"
        ))
    }

    fn sum_text(&self, entries: &Entries, sum: &Sum) -> Option<String> {
        let printer = self.printer(Setting::Appended);
        let mut terms = Vec::new();
        for (factor, vars) in &sum.terms {
            let mut term = format!("(__ferry_i64){factor}");
            for var in vars {
                captured(entries, *var).filter(|it| it.access == Access::Value)?;
                let entry = self.entry_of(entries, *var)?;
                let ty = printer.type_name(self.program.vars[*var].ty.plain());
                term += &format!(" * (__ferry_i64)({ty})(__ferry_word)__b[{entry}]");
            }
            terms.push(term);
        }
        Some(if terms.is_empty() { "0".to_owned() } else { terms.join(" + ") })
    }

    /// A function that says which bytes of arrays a part of the loop touches; its name.
    fn windows_text(&self, kernel: &str, windows: &[(&Window, usize, String)]) -> String {
        let name = format!("{kernel}_windows");
        let head = format!("static void {name}(void *const *__b, __ferry_i64 *__w)");
        let mut text = format!("# 1 \"<ferry>\" 3\n{head}\n{{\n");
        for (_, _, window) in windows {
            text += &format!("  {window} __w += 2;\n");
        }
        text += "  (void)__b; (void)__w;\n}\n";
        let mut state = self.state.borrow_mut();
        state.declarations.push(format!("{head};\n"));
        state.functions.push(text);
        name
    }
}

fn captured(entries: &Entries, var: VarId) -> Option<&Captured> {
    entries.captured.iter().find(|it| it.var == var)
}
