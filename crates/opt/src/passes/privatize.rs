//! `privatize`: groups join values with their own copy of an array, and at the end the array with the copy.
//!
//! In: a loop that all threads share, and a small array whose elements a kernel only ever joins with values atomically, in
//! one way, and does not look at: histograms, bins, counts. It need not be the array itself until the loop ends. Out: a
//! copy in the memory of each group, which begins with what changes nothing and is joined with the array behind the loop.
//! Where the length of the array is not a constant, elements that have no place there are joined where they are.
//!
//! Of cores each thread has a copy, and changes it as it likes; if there are more elements than iterations, none.

use ir::construct::{ClauseKind, Leaf, Motion, ReductionOp};
use ir::program::{
    BinaryOp, ExprId, ExprKind, Program, RegionId, StmtId, StmtKind as C, Typed, VarId,
};
use ir::types::{Ty, TypeKind};
use ir::walk::Part;
use kernel::copy::Copier;
use kernel::{Block, Kernel, Loop, LoopKind, Schedule, Share, Space, Stmt, StmtKind};
use rustc_hash::{FxHashMap, FxHashSet};
use source::Span;

use super::nest::{Quiet, is_known, mentions, replace_share, size_of};
use super::numbering::Sharing;
use super::{Cx, Result};
use crate::atomic::{Blind, blind};

/// Bytes of a group for all such copies: what leaves room for many groups, and for what else groups have.
const ROOM: u64 = 14 << 10;
/// The same of a thread on a core: on its stack, and in its nearest caches.
const THREADS_ROOM: u64 = 64 << 10;

pub(super) fn run(cx: &mut Cx<'_>) -> Result<()> {
    if !cx.groups.atomics && !is_for_cores(cx) {
        return Ok(());
    }
    let named = named_in(cx.program, &cx.kernel.body);
    replace_share(cx, &mut |cx, share, _, span| {
        let plans = plans(cx, share, &named);
        if plans.is_empty() {
            return Ok(None);
        }
        let names = plans.iter().map(|it| format!("`{}`", cx.build(span).name_of(it.array)));
        let names = names.collect::<Vec<_>>().join(", ");
        let who = if is_for_cores(cx) { "threads" } else { "groups" };
        let note = format!("{who} join values with their own copies of {names}");
        cx.kernel.launch.notes.push(note);
        privatized(cx, share.clone(), &plans, span).map(Some)
    })
}

fn is_for_cores(cx: &Cx<'_>) -> bool {
    cx.vector > 0
}

/// Whether groups would get copies of an array in a kernel with this body.
pub(super) fn gives_copies(cx: &mut Cx<'_>, body: &Block, array: VarId) -> bool {
    let named = named_in(cx.program, body);
    let shares: Vec<Share> = kernel::walk::all(body)
        .into_iter()
        .filter_map(|it| match &it.kind {
            StmtKind::Share(it) => Some(it.as_ref().clone()),
            _ => None,
        })
        .collect();
    shares.iter().any(|it| plans(cx, it, &named).iter().any(|it| it.array == array))
}

/// An array that groups have copies of.
struct Plan {
    array: VarId,
    op: ReductionOp<Typed>,
    /// The type of an element.
    ty: Ty,
    /// How many elements a copy has room for.
    room: u64,
    /// How many the array has; nothing if nobody knows.
    length: Option<ExprId>,
    /// What joins them, and which elements.
    atomics: Vec<(RegionId, ExprId)>,
}

impl Plan {
    /// Whether a copy is a whole array, with its dimensions.
    fn is_whole(&self, program: &Program) -> bool {
        program.types.is_array(program.vars[self.array].ty)
    }
}

/// How often variables are named in code of a kernel.
fn named_in(program: &Program, block: &Block) -> FxHashMap<VarId, usize> {
    let mut named = FxHashMap::default();
    for stmt in kernel::walk::all(block) {
        let mut parts: Vec<Part> = stmt.kind.exprs().into_iter().map(Part::Expr).collect();
        if let StmtKind::Code(code) = stmt.kind {
            parts.push(Part::Stmt(code));
        }
        parts.into_iter().for_each(|it| count(program, it, &mut named));
    }
    named
}

fn count(program: &Program, part: Part, named: &mut FxHashMap<VarId, usize>) {
    let mut open = vec![part];
    while let Some(part) = open.pop() {
        if let Part::Expr(e) = part
            && let ExprKind::Var(var) = program.exprs[e].kind
        {
            *named.entry(var).or_default() += 1;
        }
        program.parts(part, &mut |it| open.push(it));
    }
}

/// The arrays of a loop that groups can have copies of.
fn plans(cx: &mut Cx<'_>, share: &Share, named: &FxHashMap<VarId, usize>) -> Vec<Plan> {
    let program = &*cx.program;
    let mut plans: Vec<(Plan, usize)> = Vec::new();
    let mut odd = FxHashSet::default();
    for id in atomics(program, &share.body) {
        let Some(Blind { object, op, operands }) = blind(program, id) else { continue };
        let Some((array, indices)) = element_of(program, object) else { continue };
        let mut mentioned = FxHashMap::default();
        count(program, Part::Region(id), &mut mentioned);
        let times = mentioned.get(&array).copied().unwrap_or(0);
        // What is not quiet would be evaluated twice.
        let is_quiet = |it: &ExprId| {
            let named = mentions(program, *it, |it| it == array);
            !named
                && Quiet::new(program).set(Part::Expr(*it), false).is_some_and(|it| it.is_empty())
        };
        let is_array = program.types.is_array(program.vars[array].ty);
        let is_fit = (is_array || indices.len() == 1)
            && has_elements(program, array, program.exprs[object].ty)
            && indices.iter().all(is_quiet)
            && operands.iter().all(|it| !mentions(program, *it, |it| it == array));
        match plans.iter_mut().find(|it| it.0.array == array) {
            _ if !is_fit => {
                odd.insert(array);
            }
            Some((plan, all)) => {
                if plan.op != op {
                    odd.insert(array);
                }
                *all += times;
                plan.atomics.push((id, object));
            }
            None => {
                let (ty, atomics) = (program.exprs[object].ty.plain(), vec![(id, object)]);
                let plan = Plan { array, op, ty, room: 0, length: None, atomics };
                plans.push((plan, times));
            }
        }
    }
    // Those of an iteration are nobody else's.
    for stmt in kernel::walk::all(&share.body) {
        if let StmtKind::Code(code) = stmt.kind {
            odd.extend(kernel::walk::uses(program, Part::Stmt(code)).1);
        }
    }
    plans.retain(|(it, times)| !odd.contains(&it.array) && named.get(&it.array) == Some(times));
    // Arrays take what they need; pointers share what is left.
    plans.sort_by_key(|it| (!it.0.is_whole(cx.program), it.0.array));
    let mut pointers = plans.iter().filter(|it| !it.0.is_whole(cx.program)).count() as u64;
    let mut left = if is_for_cores(cx) { THREADS_ROOM } else { ROOM };
    let mut found = Vec::new();
    for (mut plan, _) in plans {
        let is_whole = plan.is_whole(cx.program);
        let most = if is_whole { left } else { left / pointers.max(1) };
        pointers -= u64::from(!is_whole);
        if find_room(cx, &mut plan, most).is_some() {
            left -= plan.room * size_of(cx.program, plan.ty);
            found.push(plan);
        }
    }
    found
}

/// Atomic constructs in code.
fn atomics(program: &Program, block: &Block) -> Vec<RegionId> {
    let mut found = Vec::new();
    for stmt in kernel::walk::all(block) {
        let StmtKind::Code(code) = stmt.kind else { continue };
        let mut open = vec![Part::Stmt(code)];
        while let Some(part) = open.pop() {
            if let Part::Region(id) = part
                && program.regions[id].construct.has(Leaf::Atomic)
            {
                found.push(id);
            }
            program.parts(part, &mut |it| open.push(it));
        }
    }
    found
}

/// The variable whose element an object is, and the indices of it.
fn element_of(program: &Program, object: ExprId) -> Option<(VarId, Vec<ExprId>)> {
    let mut indices = Vec::new();
    let mut e = object;
    while let ExprKind::Index(base, index) = program.exprs[e].kind {
        indices.push(index);
        e = program.peeled(base);
    }
    let ExprKind::Var(var) = program.exprs[e].kind else { return None };
    (!indices.is_empty()).then_some((var, indices))
}

/// Whether the elements of an array, or behind a pointer, have a type.
fn has_elements(program: &Program, array: VarId, wanted: Ty) -> bool {
    let types = &program.types;
    let ty = program.vars[array].ty;
    let mut element = types.pointee(ty).or_else(|| types.element(ty)).unwrap_or(ty);
    while let Some(inner) = types.element(element) {
        element = inner;
    }
    types.resolve(element).plain() == types.resolve(wanted).plain()
}

/// Decides how many elements a copy has; nothing if there is no place for it.
fn find_room(cx: &mut Cx<'_>, plan: &mut Plan, left: u64) -> Option<()> {
    let ty = cx.program.vars[plan.array].ty;
    let size = size_of(cx.program, plan.ty);
    let types = &cx.program.types;
    let is_number = matches!(types.shape(plan.ty), TypeKind::Int(_) | TypeKind::Float(_));
    let has_instruction = is_number && ([4, 8].contains(&size) || is_for_cores(cx) && size < 4);
    // C has no name for what changes nothing.
    let is_extreme = matches!(plan.op, ReductionOp::Min | ReductionOp::Max);
    if is_for_cores(cx) && is_extreme && types.is_real_floating(plan.ty) {
        return None;
    }
    let region = &cx.program.regions[cx.kernel.region];
    let is_given = region.vars.iter().any(|it| it.var == plan.array && !it.written);
    let most = left.checked_div(size).filter(|it| *it > 0 && has_instruction)?;
    if types.is_array(ty) {
        // One for all threads.
        cx.kernel.space(plan.array).is_none().then_some(())?;
        plan.room = cx.build(cx.kernel.span).count_of(ty)?.filter(|it| *it <= most)?;
        return Some(());
    }
    let is_row = types.pointee(ty).is_some_and(|it| !types.is_array(it));
    (is_given && is_row).then_some(())?;
    plan.length = mapped_length(cx.program, cx.kernel, plan.array);
    let known = plan.length.and_then(|it| match cx.program.exprs[cx.program.peeled(it)].kind {
        ExprKind::Int(length) => u64::try_from(length).ok(),
        _ => None,
    });
    // Of more elements than there is place for, groups have none.
    plan.room = known.map_or(Some(most), |it| Some(it.max(1)).filter(|it| *it <= most))?;
    Some(())
}

/// How many elements of a pointer's data were mapped from the first on, if the kernel can tell: by its own construct, or by
/// another one of its function. The pointer may have had another value there, so copies are right whatever it says.
fn mapped_length(program: &Program, kernel: &Kernel, var: VarId) -> Option<ExprId> {
    let function = program.regions[kernel.region].function;
    let others = program.regions.iter().filter(|(_, it)| it.function == function).map(|it| it.0);
    let mut regions = std::iter::once(kernel.region).chain(others);
    regions.find_map(|it| said_length(program, kernel, it, var))
}

/// The same, as the clauses of one construct say it.
fn said_length(program: &Program, kernel: &Kernel, region: RegionId, var: VarId) -> Option<ExprId> {
    let kind = |it: ExprId| &program.exprs[program.peeled(it)].kind;
    program.regions[region].construct.kinds().find_map(|clause| {
        let ClauseKind::Map(map) = clause else { return None };
        if map.motion == Motion::Unsaid || !map.iterators.is_empty() {
            return None;
        }
        map.items.iter().find_map(|item| {
            let ExprKind::Section(section) = &program.exprs[*item].kind else { return None };
            let is_it = matches!(kind(section.base), ExprKind::Var(base) if *base == var);
            let from_first = section.lower.is_none_or(|it| matches!(kind(it), ExprKind::Int(0)));
            let length = section.length.filter(|_| is_it && from_first)?;
            let is_fit = section.stride.is_none() && is_known(program, kernel, length, &[]);
            is_fit.then_some(length)
        })
    })
}

/// The loop with copies around it.
fn privatized(cx: &mut Cx<'_>, mut share: Share, plans: &[Plan], span: Span) -> Result<Block> {
    let mut out = Block::new();
    let mut after = Block::new();
    let mut places = FxHashMap::default();
    let total = match is_for_cores(cx) && share.dims.iter().all(|it| it.rectangular) {
        true => Some(cx.number("total", Space::Uniform, span, &mut out)),
        false => None,
    };
    if let Some(total) = total {
        Sharing { cx, span, space: Space::Uniform }.nest(&share.dims, total, &mut out)?;
    }
    for plan in plans {
        let copy = Copy::declared(cx, (plan, total), span, &mut out);
        copy.begin(cx, plan, span, &mut out)?;
        copy.join(cx, plan, span, &mut after)?;
        for (id, object) in &plan.atomics {
            places.insert(*id, copy.atomic(cx, plan, *id, *object, span));
        }
    }
    for stmt in &mut share.body {
        replace(cx, stmt, &places);
    }
    if is_for_cores(cx) {
        share.schedule = Schedule::Blocks;
    }
    let share = Stmt::new(StmtKind::Share(Box::new(share)), span);
    match is_for_cores(cx) {
        true => out.push(share),
        false => {
            let barrier = Stmt::new(StmtKind::Barrier, span);
            out.extend([barrier.clone(), share, barrier]);
        }
    }
    out.extend(after);
    Ok(vec![Stmt::new(StmtKind::Block(out), span)])
}

/// Puts others in the place of atomic constructs.
fn replace(cx: &mut Cx<'_>, stmt: &mut Stmt, places: &FxHashMap<RegionId, StmtId>) {
    if let StmtKind::Code(code) = &mut stmt.kind {
        *code = Copier { regions: places.clone(), ..Copier::new(cx.program) }.stmt(*code);
    }
    stmt.kind.blocks_mut().into_iter().flatten().for_each(|it| replace(cx, it, places));
}

/// The copy of a group, or of a thread on a core.
struct Copy {
    var: VarId,
    /// How many elements it has.
    count: VarId,
}

impl Copy {
    /// `total`: how many iterations there are, where that decides whether there is a copy.
    fn declared(
        cx: &mut Cx<'_>,
        (plan, total): (&Plan, Option<VarId>),
        span: Span,
        out: &mut Block,
    ) -> Copy {
        let is_whole = plan.is_whole(cx.program);
        let count = cx.number("count", Space::Uniform, span, out);
        let build = &mut cx.build(span);
        let ty = match is_whole {
            true => build.program.vars[plan.array].ty.plain(),
            false => build.array_of(plan.ty, plan.room),
        };
        let name = build.name_of(plan.array);
        let most = build.number(plan.room.cast_signed());
        let value = match plan.length {
            Some(length) => {
                let length = build.as_number(length);
                let fits = build.binary(BinaryOp::Le, length, most);
                let none = build.number(0);
                build.either(fits, length, none)
            }
            None => most,
        };
        let value = match total {
            Some(total) => {
                let total = build.var(total);
                let is_worth = build.binary(BinaryOp::Le, value, total);
                let none = build.number(0);
                build.either(is_worth, value, none)
            }
            None => value,
        };
        cx.set(count, value, span, out);
        let space = if is_for_cores(cx) { Space::Private } else { Space::Group };
        let var = cx.fresh(&name, ty, space, span, out);
        Copy { var, count }
    }

    /// Every thread of the group does something to some elements.
    fn each(
        &self,
        cx: &mut Cx<'_>,
        span: Span,
        out: &mut Block,
        body: &mut dyn FnMut(&mut Cx<'_>, VarId, &mut Block) -> Option<()>,
    ) -> Result<()> {
        let at = cx.number("at", Space::Private, span, out);
        let threads = cx.kernel.threads;
        let is_alone = is_for_cores(cx);
        let build = &mut cx.build(span);
        let me = if is_alone { build.number(0) } else { build.var(threads.number) };
        cx.set(at, me, span, out);
        let mut inside = Block::new();
        if body(cx, at, &mut inside).is_none() {
            return super::refuse("an array without elements", span);
        }
        let build = &mut cx.build(span);
        let (index, count) = (build.var(at), build.var(self.count));
        let by = if is_alone { build.number(1) } else { build.var(threads.count) };
        let condition = Some(build.binary(BinaryOp::Lt, index, count));
        let next = build.binary(BinaryOp::Add, index, by);
        let step = Some(build.set(at, next));
        let each = Loop { kind: LoopKind::Before, condition, step, body: inside };
        out.push(Stmt::new(StmtKind::Loop(Box::new(each)), span));
        Ok(())
    }

    /// It begins with what changes nothing.
    fn begin(&self, cx: &mut Cx<'_>, plan: &Plan, span: Span, out: &mut Block) -> Result<()> {
        self.each(cx, span, out, &mut |cx, at, out| {
            let build = &mut cx.build(span);
            let (copy, at) = (build.var(self.var), build.var(at));
            let element = build.nth(copy, at)?;
            let value = build.identity(&plan.op, plan.ty)?;
            let e = build.assign(element, value);
            out.push(Stmt::new(StmtKind::Eval(e), span));
            Some(())
        })
    }

    /// Elements that were joined with something are joined with those of the array.
    fn join(&self, cx: &mut Cx<'_>, plan: &Plan, span: Span, out: &mut Block) -> Result<()> {
        self.each(cx, span, out, &mut |cx, at, out| {
            let own = cx.fresh("own", plan.ty, Space::Private, span, out);
            let build = &mut cx.build(span);
            let (copy, at) = (build.var(self.var), build.var(at));
            let element = build.nth(copy, at)?;
            let set = build.set(own, element);
            out.push(Stmt::new(StmtKind::Eval(set), span));
            let (value, none) = (build.var(own), build.identity(&plan.op, plan.ty)?);
            let none = build.cast(none, plan.ty);
            let is_changed = build.binary(BinaryOp::Ne, value, none);
            let array = build.var(plan.array);
            let to = build.nth(array, at)?;
            let body = match &plan.op {
                op @ (ReductionOp::Min | ReductionOp::Max) => {
                    let test = if *op == ReductionOp::Min { BinaryOp::Gt } else { BinaryOp::Lt };
                    let is_better = build.binary(test, to, value);
                    let e = build.assign(to, value);
                    let then = build.stmt(C::Expr(e));
                    // gcc wants braces around it.
                    let then = build.stmt(C::Block(Box::new([then])));
                    C::If(is_better, then, None)
                }
                op => {
                    let op = match op {
                        ReductionOp::Mul => BinaryOp::Mul,
                        ReductionOp::BitAnd => BinaryOp::BitAnd,
                        ReductionOp::BitOr => BinaryOp::BitOr,
                        ReductionOp::BitXor => BinaryOp::BitXor,
                        _ => BinaryOp::Add,
                    };
                    C::Expr(build.expr(ExprKind::AssignOp(op, to, value, plan.ty), plan.ty))
                }
            };
            let body = build.stmt(body);
            // The construct says that it is atomic, and that it compares if it does.
            let mut region = build.program.regions[plan.atomics.first()?.0].clone();
            region.body = Some(body);
            let region = build.program.regions.push(region);
            let code = build.stmt(C::Region(region));
            let then = vec![Stmt::new(StmtKind::Code(code), span)];
            out.push(Stmt::new(StmtKind::If(is_changed, then, Block::new()), span));
            Some(())
        })
    }

    /// An atomic construct about the copy, or its statement where the copy is one thread's; about the array where the copy
    /// has no such element.
    fn atomic(
        &self,
        cx: &mut Cx<'_>,
        plan: &Plan,
        id: RegionId,
        object: ExprId,
        span: Span,
    ) -> StmtId {
        let is_whole = plan.is_whole(cx.program);
        let mut copier = Copier::new(cx.program);
        copier.vars.insert(plan.array, self.var);
        let near = copier.region(id);
        let is_alone = is_for_cores(cx);
        let build = &mut cx.build(span);
        let near = match build.program.regions[near].body.filter(|_| is_alone) {
            Some(body) => body,
            None => build.stmt(C::Region(near)),
        };
        let ExprKind::Index(_, index) = build.program.exprs[object].kind else { return near };
        if is_whole && !is_alone {
            return near;
        }
        let far = build.stmt(C::Region(id));
        let (index, count) = (build.as_number(index), build.var(self.count));
        // A whole array has all elements or none.
        let index = if is_whole { build.number(0) } else { index };
        let is_near = build.binary(BinaryOp::Lt, index, count);
        build.stmt(C::If(is_near, near, Some(far)))
    }
}
