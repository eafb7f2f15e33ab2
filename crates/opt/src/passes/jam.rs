//! `jam`: a thread has several iterations side by side of a dimension along which elements are used again.
//!
//! In: a loop of at least two dimensions that all threads share, whose iterations look at elements that neighbours along a
//! dimension other than the last look at too: stencils, convolutions. Out: threads with some neighbours each, which look at
//! everything before they store anything, so that the compiler loads what they share once.
//!
//! Or iterations have loops in which they look at elements that are the same for all along a dimension: convolutions of
//! many channels, filters. Then threads go through the loops once for some iterations each, which are far apart where
//! neighbours in the dimension are neighbours in memory, unless those look at the same elements one round later. If
//! neighbours along another dimension look at the same elements too, threads have some of both.
//!
//! Or iterations share nothing and do little: then threads have some each, whose loads are on their way at once, and find
//! out where they are once.
//!
//! Each computes and stores what it did, in the same order. Where iterations are only there under a condition, those of a
//! thread are put together if it holds for all of them. Few iterations keep a thread each.

use ir::program::{BinaryOp, ExprId, ExprKind, For, Init, Program, StmtId, StmtKind as C, VarId};
use ir::region::LoopTest;
use ir::types::Ty;
use ir::walk::Part;
use kernel::build::Builder;
use kernel::copy::Copier;
use kernel::count::constant;
use kernel::walk::How;
use kernel::{Block, Dim, Share, Space, Stmt, StmtKind};
use rustc_hash::{FxHashMap, FxHashSet};
use source::Span;

use super::nest::{
    Quiet, Straight, about, constants, is_contiguous, is_known, iteration_code, listed, mentions,
    replace_share, resolved, size_of, taken, top_locals,
};
use super::numbering::{Counted, Sharing};
use super::{Cx, Result};

/// Iterations of a thread, and of one that has loops in it: they share more.
const TIMES: [u32; 2] = [4, 8];
/// Rounds of loops in an iteration at most: they are written down one after the other.
const ROUNDS: u64 = 64;
/// The same of the innermost loops of iterations that share loads along two dimensions.
const FEW_ROUNDS: u64 = 16;
/// Rounds at least in which neighbours look at what they looked at before, if they are to be a thread's own.
const LONG: u64 = 8;
/// Expressions and statements of an iteration at most that is put beside others though they share nothing.
const SHORT: usize = 96;

pub(super) fn run(cx: &mut Cx<'_>) -> Result<()> {
    replace_share(cx, &mut |cx, share, set, span| {
        let Some(plan) = plan(cx, share, set) else { return Ok(None) };
        let made = jammed(cx, share.clone(), &plan, span)?;
        let many = cx.groups.many;
        let times = plan.dims.iter().map(|it| it.times).product();
        cx.kernel.launch.spread = Some([1, times, many]);
        let what = match plan.gain {
            Gain::Neighbours => "neighbours",
            Gain::Loads => "iterations that share what they load",
            Gain::Streams => "iterations whose loads go out at once",
        };
        let names = plan.dims.iter().map(|it| format!("`{}`", it.name)).collect::<Vec<_>>();
        let times = plan.dims.iter().map(|it| it.times.to_string()).collect::<Vec<_>>();
        cx.kernel.launch.notes.push(format!(
            "from {many} iterations on, threads have {} {what} along {}",
            times.join(" x "),
            names.join(" and ")
        ));
        Ok(Some(made))
    })
}

struct Plan {
    /// What an iteration does.
    code: StmtId,
    /// It is nothing unless these hold.
    conditions: Vec<ExprId>,
    straight: Straight,
    /// The dimensions along which elements are used again: one or two.
    dims: Vec<Jammed>,
    /// Variables of the iteration.
    own: Vec<VarId>,
    form: Form,
    gain: Gain,
}

/// A dimension of which a thread has several iterations.
#[derive(Debug)]
struct Jammed {
    /// Which of the loop's.
    at: usize,
    name: String,
    /// So many iterations.
    times: u32,
}

/// What iterations of a thread have of each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Gain {
    /// Elements that neighbours look at too.
    Neighbours,
    /// Elements that are the same for all, in loops.
    Loads,
    /// Nothing but that they are few instructions each.
    Streams,
}

/// How iterations of a thread are put together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// One after the other, with loops written down round by round.
    Unrolled,
    /// In the same rounds of loops.
    Loops {
        /// They are as far from each other as there are threads along the dimension.
        are_far: bool,
    },
}

fn plan(cx: &mut Cx<'_>, share: &Share, set: &FxHashSet<VarId>) -> Option<Plan> {
    let (code, guards) = iteration_code(share)?;
    if !guards.is_empty() {
        return None;
    }
    let dims: Vec<VarId> = share.dims.iter().map(|it| it.var).collect();
    let bounds = share.dims.iter().flat_map(|it| [Some(it.begin), Some(it.bound), it.step]);
    if !bounds.flatten().all(|it| is_known(cx.program, cx.kernel, it, &dims)) {
        return None;
    }
    let taken = taken(share, set);
    let (inner, conditions) = conditions(cx, code);
    let straight = Straight::find(cx.program, cx.kernel, inner, &taken)?;
    let program = &cx.program;
    let mut quiet = Quiet::new(program);
    let mut stores = straight.after.iter().map(|it| Store::find(program, *it));
    if !stores.any(|it| it.is_some()) {
        return None;
    }
    let statements = || straight.before.iter().chain(&straight.after);
    let rounds: Option<u64> =
        statements().try_fold(0u64, |all, it| Some(all.saturating_add(rounds(program, *it)?)));
    let rounds = rounds.filter(|it| *it <= ROUNDS);
    let mut own = Vec::new();
    for stmt in statements() {
        let set = quiet.set(Part::Stmt(*stmt), true)?;
        let (_, declared) = kernel::walk::uses(program, Part::Stmt(*stmt));
        if let C::Local(var) = program.stmts[*stmt].kind {
            own.push(var);
        }
        for var in set {
            if !own.contains(&var) && !declared.contains(&var) {
                own.push(var);
            }
        }
    }
    let is_plain = |var: &VarId| {
        let ty = program.vars[*var].ty;
        program.types.is_scalar(ty)
            && !program.types.is_complex(ty)
            && !matches!(program.vars[*var].init.map(|it| &program.inits[it]), Some(Init::List(..)))
    };
    let is_of_thread = |it: &VarId| {
        matches!(program.vars[*it].storage, ir::program::VarStorage::Local(_))
            && !taken.contains(it)
    };
    let bytes: u64 = own.iter().map(|it| size_of(program, program.vars[*it].ty)).sum();
    if !own.iter().all(|it| is_plain(it) && is_of_thread(it)) || bytes > 64 {
        return None;
    }
    let last = dims.len() - 1;
    let is_used_again = |it: &usize| {
        let var = dims.get(*it);
        rounds.is_some() && var.is_some_and(|it| is_used_again(program, &straight, *it))
    };
    let [few, more] = TIMES;
    let (jammed, form, gain) = match (0..last).rev().find(is_used_again) {
        Some(dim) => {
            let has_loops = rounds.is_some_and(|it| it > 1);
            let times = if has_loops { more } else { few };
            (vec![(dim, times)], Form::Unrolled, Gain::Neighbours)
        }
        None => {
            let many = u64::from(cx.groups.many);
            let all = iterations(program, &share.dims);
            // Few iterations do better with several threads each.
            let are_many = all.map_or(last > 0, |it| it >= many);
            let shared = shared_dim(program, &straight, &dims, &own).filter(|_| are_many);
            // Stores that lie apart from each other do better when few are under way.
            let are_near = match straight.stores.as_slice() {
                [_] => true,
                all => all
                    .iter()
                    .all(|it| dims.last().is_some_and(|x| is_contiguous(program, *it, *x))),
            };
            let is_stream = rounds == Some(0)
                && are_near
                && all.is_none_or(|it| it >= many)
                && is_short(program, statements());
            // Neighbours that look at the same elements a round later keep them in registers.
            let slides = |dim: usize, least, most| {
                let var = dims.get(dim);
                var.is_some_and(|it| slides(program, &straight.before, *it, least, most))
            };
            match shared {
                Some(dim) if dim == last => {
                    let are_far = !slides(dim, LONG, ROUNDS);
                    (vec![(dim, few)], Form::Loops { are_far }, Gain::Loads)
                }
                Some(dim) => {
                    let second =
                        (0..last).rev().find(|it| *it != dim && slides(*it, 2, FEW_ROUNDS));
                    // Fewer threads than the device has at a time would be left.
                    let are_enough = all.is_none_or(|it| it >= 2 * many);
                    let second = second.filter(|_| are_enough && bytes <= 16);
                    let both = [Some(dim), second].into_iter().flatten();
                    let both = both.map(|it| (it, few)).collect();
                    (both, Form::Loops { are_far: false }, Gain::Loads)
                }
                None if !is_stream => return None,
                None if last > 0 => (vec![(last - 1, few)], Form::Unrolled, Gain::Streams),
                None => (vec![(last, few)], Form::Loops { are_far: true }, Gain::Streams),
            }
        }
    };
    let mut found = Vec::new();
    for (at, times) in jammed {
        let name = program.vars[*dims.get(at)?].name.map_or("", |it| program.names.text(it));
        let name = name.rsplit('_').next().unwrap_or_default().to_owned();
        found.push(Jammed { at, name, times });
    }
    Some(Plan { code, conditions, straight, dims: found, own, form, gain })
}

/// What an iteration does under conditions that its numbers alone decide, and those.
fn conditions(cx: &mut Cx<'_>, code: StmtId) -> (StmtId, Vec<ExprId>) {
    let mut list = listed(cx.program, code);
    let mut found = Vec::new();
    let (used, _) = kernel::walk::uses(cx.program, Part::Stmt(code));
    let set = used.iter().filter(|it| it.how != How::Named).map(|it| it.var).collect();
    while let Some((last, before)) = list.split_last()
        && let C::If(condition, then, None) = cx.program.stmts[*last].kind
        && let Some(declared) = locals(cx.program, before)
    {
        let constants = constants(cx.program, cx.kernel, &declared, &set);
        let condition = resolved(cx.program, condition, &constants);
        let loads = |it: &ExprKind| {
            matches!(
                it,
                ExprKind::Index(..)
                    | ExprKind::Deref(_)
                    | ExprKind::Member(..)
                    | ExprKind::Call(..)
            )
        };
        let is_known = !mentions(cx.program, condition, |it| declared.contains(&it))
            && !cx.program.any_expr(Part::Expr(condition), loads);
        let mut quiet = Quiet::new(cx.program);
        let mut is_quiet = |part| quiet.set(part, false).is_some_and(|it| it.is_empty());
        if !is_known
            || !is_quiet(Part::Expr(condition))
            || !before.iter().all(|it| is_quiet(Part::Stmt(*it)))
        {
            break;
        }
        found.push(condition);
        list = before.iter().copied().chain(listed(cx.program, then)).collect();
    }
    if found.is_empty() {
        return (code, found);
    }
    let span = cx.program.stmts[code].span;
    (cx.build(span).stmt(C::Block(list.into())), found)
}

/// The variables that statements declare, if that is all that they do.
fn locals(program: &Program, list: &[StmtId]) -> Option<Vec<VarId>> {
    let declared = top_locals(program, list.iter());
    (declared.len() == list.len()).then_some(declared)
}

/// Whether the innermost loops, of so many rounds at least and at most, look at elements whose places are a sum of a dimension
/// and a counter of such a loop.
fn slides(program: &Program, code: &[StmtId], dim: VarId, least: u64, most: u64) -> bool {
    let mut open: Vec<StmtId> = code.to_vec();
    while let Some(stmt) = open.pop() {
        match &program.stmts[stmt].kind {
            C::For(it) => match rounds(program, stmt).filter(|it| *it <= most) {
                Some(rounds) if rounds >= least && adds_counter(program, stmt, dim) => return true,
                Some(_) => {}
                None => open.push(it.body),
            },
            C::Block(list) => open.extend(list.iter().copied()),
            _ => {}
        }
    }
    false
}

/// Whether loops look at elements whose places are a sum of a variable and one of their counters.
fn adds_counter(program: &Program, stmt: StmtId, var: VarId) -> bool {
    let (_, counters) = kernel::walk::uses(program, Part::Stmt(stmt));
    let is_sum = |kind: &ExprKind| {
        let ExprKind::Binary(BinaryOp::Add | BinaryOp::Sub, a, b) = *kind else { return false };
        let named = |e: ExprId| match program.exprs[strip(program, e)].kind {
            ExprKind::Var(it) => Some(it),
            _ => None,
        };
        let (a, b) = (named(a), named(b));
        let is_counter = |it: Option<VarId>| it.is_some_and(|it| counters.contains(&it));
        a == Some(var) && is_counter(b) || b == Some(var) && is_counter(a)
    };
    program.any_expr(Part::Stmt(stmt), is_sum)
}

/// A statement that stores an element.
struct Store {
    to: ExprId,
    value: ExprId,
    /// How the value is joined with the element, and the type that this is computed in.
    with: Option<(BinaryOp, Ty)>,
}

impl Store {
    fn find(program: &Program, stmt: StmtId) -> Option<Store> {
        let C::Expr(e) = program.stmts[stmt].kind else { return None };
        match program.exprs[e].kind {
            ExprKind::Assign(to, value) => Some(Store { to, value, with: None }),
            ExprKind::AssignOp(op, to, value, within) => {
                let types = &program.types;
                let is_number =
                    |ty: Ty| types.is_scalar(ty) && !types.is_pointer(ty) && !types.is_complex(ty);
                let is_quiet = Quiet::new(program).set(Part::Expr(to), false)?.is_empty();
                (is_quiet && is_number(program.exprs[to].ty) && is_number(within))
                    .then_some(Store { to, value, with: Some((op, within)) })
            }
            _ => None,
        }
    }
}

/// Whether code is a few instructions, none of them a call.
fn is_short<'a>(program: &Program, code: impl Iterator<Item = &'a StmtId>) -> bool {
    let mut open: Vec<Part> = code.map(|it| Part::Stmt(*it)).collect();
    let mut count = 0;
    while let Some(part) = open.pop() {
        count += 1;
        let is_call = |e: ExprId| matches!(program.exprs[e].kind, ExprKind::Call(..));
        if count > SHORT || matches!(part, Part::Expr(e) if is_call(e)) {
            return false;
        }
        program.parts(part, &mut |it| open.push(it));
    }
    true
}

/// How many iterations loops have, if that is known.
fn iterations(program: &Program, dims: &[Dim]) -> Option<u64> {
    dims.iter().try_fold(1u64, |all, dim| Some(all.saturating_mul(about(program, dim)?)))
}

/// How often code in loops runs, if their bounds are constants.
fn rounds(program: &Program, stmt: StmtId) -> Option<u64> {
    match &program.stmts[stmt].kind {
        C::For(it) => {
            let dim = super::nest::stepped(program, it)?;
            let begin = constant(program, dim.begin)?;
            let bound = constant(program, dim.bound)?;
            let step = dim.step.map_or(Some(1), |it| constant(program, it))?;
            let far = bound.checked_sub(begin)?.checked_add(i64::from(dim.test == LoopTest::Le))?;
            let trips = u64::try_from(far.max(0)).ok()?.div_ceil(u64::try_from(step).ok()?);
            let inner = rounds(program, it.body)?.max(1);
            trips.checked_mul(inner)
        }
        C::Block(list) => list.iter().try_fold(0u64, |all, it| Some(all + rounds(program, *it)?)),
        C::If(_, then, other) => {
            let other = other.map_or(Some(0), |it| rounds(program, it))?;
            Some(rounds(program, *then)?.max(other))
        }
        C::Empty | C::Local(_) | C::Expr(_) => Some(0),
        _ => None,
    }
}

/// Asks the compiler to write loops down round by round, so that it sees which elements neighbours share.
fn unroll(program: &mut Program, stmt: StmtId) {
    let mut open = vec![Part::Stmt(stmt)];
    while let Some(part) = open.pop() {
        if let Part::Stmt(id) = part
            && let C::For(it) = &program.stmts[id].kind
            && let Some(rounds) = rounds(program, id).filter(|it| *it <= ROUNDS)
            && let Some(inner) = rounds_of(program, it.body)
        {
            let rounds = u32::try_from(rounds / inner).ok();
            if let C::For(it) = &mut program.stmts[id].kind {
                it.unroll = it.unroll.or(rounds.filter(|it| *it > 0));
            }
        }
        program.parts(part, &mut |it| open.push(it));
    }
}

/// How often the loops in a body run, at least once.
fn rounds_of(program: &Program, body: StmtId) -> Option<u64> {
    Some(rounds(program, body)?.max(1))
}

fn strip(program: &Program, e: ExprId) -> ExprId {
    match program.exprs[e].kind {
        ExprKind::Cast(_, inner) => strip(program, inner),
        _ => e,
    }
}

/// Whether neighbours along a dimension look at the same elements: what is added to its variable is the counter of a loop, or
/// differs from place to place.
fn is_used_again(program: &Program, straight: &Straight, var: VarId) -> bool {
    let statements = straight.before.iter().chain(&straight.after);
    let mut open: Vec<Part> = statements.map(|it| Part::Stmt(*it)).collect();
    let counters: FxHashSet<VarId> = straight
        .before
        .iter()
        .flat_map(|it| kernel::walk::uses(program, Part::Stmt(*it)).1)
        .collect();
    let mut offsets: FxHashSet<i64> = FxHashSet::default();
    while let Some(part) = open.pop() {
        if let Part::Expr(e) = part {
            match program.exprs[e].kind {
                ExprKind::Binary(op @ (BinaryOp::Add | BinaryOp::Sub), a, b) => {
                    let is_it = |e: ExprId| matches!(program.exprs[strip(program, e)].kind, ExprKind::Var(it) if it == var);
                    let other = if is_it(a) { Some(b) } else { is_it(b).then_some(a) };
                    match other.map(|it| &program.exprs[strip(program, it)].kind) {
                        Some(ExprKind::Var(it)) if counters.contains(it) => return true,
                        Some(ExprKind::Int(by)) => {
                            offsets.insert(if op == BinaryOp::Add { *by } else { -*by });
                            continue;
                        }
                        _ => {}
                    }
                }
                ExprKind::Var(it) if it == var => {
                    offsets.insert(0);
                }
                _ => {}
            }
        }
        program.parts(part, &mut |it| open.push(it));
    }
    offsets.len() > 2
}

/// The dimension along which loops look at most elements that are the same for all iterations. Elements that are others
/// for each thread count twice: all threads of a bundle load the same at once.
fn shared_dim(
    program: &Program,
    straight: &Straight,
    dims: &[VarId],
    own: &[VarId],
) -> Option<usize> {
    let mut best = None;
    for (at, dim) in dims.iter().enumerate() {
        let mut worth = 0;
        for stmt in &straight.before {
            worth += shared_in(program, *stmt, *dim, dims, own)?;
        }
        if worth > 0 && best.is_none_or(|it: (usize, usize)| worth >= it.0) {
            best = Some((worth, at));
        }
    }
    best.map(|it| it.1)
}

/// What is shared in the loops of a statement; nothing if iterations along the dimension do not go through them alike.
fn shared_in(
    program: &Program,
    stmt: StmtId,
    dim: VarId,
    dims: &[VarId],
    own: &[VarId],
) -> Option<usize> {
    let differs = |it: VarId| it == dim || own.contains(&it);
    match &program.stmts[stmt].kind {
        C::For(it) => {
            let parts = it.init.iter().map(|it| Part::Stmt(*it));
            let mut parts = parts.chain(it.cond.map(Part::Expr)).chain(it.step.map(Part::Expr));
            let counter = super::nest::counted(program, it)?.var;
            let is_alike = |part| {
                let (uses, _) = kernel::walk::uses(program, part);
                uses.iter().all(|it| it.var == counter || !differs(it.var))
            };
            if own.contains(&counter) || !parts.all(is_alike) {
                return None;
            }
            let inner = shared_in(program, it.body, dim, dims, own)?;
            // What stands in loops of it counts there.
            let has_loops =
                |it: &StmtId| !matches!(program.stmts[*it].kind, C::Expr(_) | C::Local(_));
            let mut list = super::nest::listed(program, it.body);
            list.retain(|it| !has_loops(it));
            let (_, declared) = kernel::walk::uses(program, Part::Stmt(it.body));
            let is_same = |e: ExprId| {
                let named = kernel::walk::uses(program, Part::Expr(e)).0;
                !named.iter().any(|it| differs(it.var) || declared.contains(&it.var))
            };
            let last = *dims.last()?;
            let mut worth = 0;
            for load in list.iter().flat_map(|it| super::nest::loads(program, *it)) {
                let is_wide = mentions(program, load, |it| it == last);
                let is_unknown = mentions(program, load, |it| own.contains(&it));
                // Threads side by side that look at rows apart from each other do better together.
                if is_unknown || is_wide && !is_contiguous(program, load, last) {
                    return None;
                }
                if is_same(load) {
                    worth += 1 + usize::from(is_wide && last != dim);
                }
            }
            Some(inner + worth)
        }
        C::Block(list) => {
            list.iter().try_fold(0, |all, it| Some(all + shared_in(program, *it, dim, dims, own)?))
        }
        _ => Some(0),
    }
}

/// The loop with several iterations a thread, and the loop as it was for few iterations.
fn jammed(cx: &mut Cx<'_>, share: Share, plan: &Plan, span: Span) -> Result<Block> {
    let mut out = Block::new();
    let mut all = cx.build(span).number(1);
    let mut along = Vec::new();
    let mut inside = Block::new();
    let mut several = share.clone();
    for (at, dim) in share.dims.iter().enumerate() {
        let it = Sharing { cx, span, space: Space::Uniform }.counted(dim, &mut out)?;
        let build = &mut cx.build(span);
        let trips = build.var(it.trips);
        all = build.binary(BinaryOp::Mul, all, trips);
        if let Some(Jammed { times, .. }) = plan.dims.iter().find(|it| it.at == at) {
            let found = Along::declared(cx, it, *times, span, [&mut out, &mut inside]);
            if let Some(dim) = several.dims.get_mut(at) {
                *dim = found.dim(cx, span);
            }
            along.push(found);
        }
    }
    let are_many = {
        let many = i64::from(cx.groups.many);
        let build = &mut cx.build(span);
        let many = build.number(many);
        build.binary(BinaryOp::Ge, all, many)
    };
    let code = Maker { cx, plan, along: &along, span }.iterations();
    several.body = vec![Stmt::new(StmtKind::Code(code), span)];
    inside.push(Stmt::new(StmtKind::Share(Box::new(several)), span));
    let plain = vec![Stmt::new(StmtKind::Share(Box::new(share)), span)];
    out.push(Stmt::new(StmtKind::If(are_many, inside, plain), span));
    Ok(vec![Stmt::new(StmtKind::Block(out), span)])
}

/// One of the dimensions, in blocks of so many iterations.
struct Along {
    counted: Counted,
    times: u32,
    block: VarId,
    /// How many of them there are.
    blocks: VarId,
}

impl Along {
    /// Declares its numbers: how many blocks there are where all know it, the block where threads differ.
    fn declared(
        cx: &mut Cx<'_>,
        counted: Counted,
        times: u32,
        span: Span,
        [out, inside]: [&mut Block; 2],
    ) -> Along {
        let block = cx.number("block", Space::Private, span, inside);
        let blocks = cx.number("blocks", Space::Uniform, span, out);
        let build = &mut cx.build(span);
        let (trips, by) = (build.var(counted.trips), build.number(i64::from(times)));
        let less = build.number(i64::from(times - 1));
        let more = build.binary(BinaryOp::Add, trips, less);
        let bound = build.binary(BinaryOp::Div, more, by);
        cx.set(blocks, bound, span, out);
        Along { counted, times, block, blocks }
    }

    /// The loop over blocks.
    fn dim(&self, cx: &mut Cx<'_>, span: Span) -> Dim {
        let build = &mut cx.build(span);
        let (begin, bound) = (build.number(0), build.var(self.blocks));
        let (test, step, descending) = (LoopTest::Lt, None, false);
        Dim { var: self.block, begin, bound, test, step, descending, rectangular: true }
    }
}

struct Maker<'a, 'p> {
    cx: &'a mut Cx<'p>,
    plan: &'a Plan,
    along: &'a [Along],
    span: Span,
}

impl Maker<'_, '_> {
    fn build(&mut self) -> Builder<'_> {
        self.cx.build(self.span)
    }

    /// All look, then all store; where there are fewer, one after the other.
    fn iterations(mut self) -> StmtId {
        let mut list = Vec::new();
        let mut all_vars = Vec::new();
        for which in self.all() {
            let (declared, vars) = self.variables(&which);
            list.extend(declared);
            all_vars.push(vars);
        }
        let before = self.plan.straight.before.clone();
        match self.plan.form {
            Form::Unrolled => {
                for vars in &mut all_vars {
                    for stmt in &before {
                        let copied = self.copied(*stmt, vars);
                        copied.iter().for_each(|it| unroll(self.cx.program, *it));
                        list.extend(copied);
                    }
                }
            }
            Form::Loops { .. } => {
                let begins = list.len();
                for stmt in &before {
                    self.together(*stmt, &mut all_vars, &mut list);
                }
                if self.plan.gain == Gain::Loads {
                    list.iter().skip(begins).for_each(|it| unroll(self.cx.program, *it));
                }
            }
        }
        for stmt in self.plan.straight.after.clone() {
            let mut stores = Vec::new();
            for vars in &mut all_vars {
                match self.store(stmt, vars) {
                    Some((result, store)) => {
                        list.push(result);
                        stores.push(store);
                    }
                    None => list.extend(self.copied(stmt, vars)),
                }
            }
            list.extend(stores);
        }
        let whole = self.build().stmt(C::Block(list.into()));
        let rest = self.rest();
        let mut is_whole = None;
        for along in self.along {
            let last = self.number(along, along.times - 1);
            let build = &mut self.build();
            let all = build.var(along.counted.trips);
            let is_there = build.binary(BinaryOp::Lt, last, all);
            is_whole = Some(match is_whole {
                Some(others) => build.and(others, is_there),
                None => is_there,
            });
        }
        for which in self.all() {
            let exprs = self.places(&which);
            for condition in &self.plan.conditions {
                let exprs = exprs.clone();
                let condition = Copier { exprs, ..Copier::new(self.cx.program) }.expr(*condition);
                let build = &mut self.build();
                is_whole = is_whole.map(|it| build.and(it, condition));
            }
        }
        match is_whole {
            Some(is_whole) => self.build().stmt(C::If(is_whole, whole, Some(rest))),
            None => rest,
        }
    }

    /// Which of each dimension the iterations of a thread are.
    fn all(&self) -> Vec<Vec<u32>> {
        let mut all = vec![Vec::new()];
        for along in self.along {
            let more = |it: &Vec<u32>, time| it.iter().copied().chain([time]).collect();
            all = all.iter().flat_map(|it| (0..along.times).map(move |t| more(it, t))).collect();
        }
        all
    }

    /// A statement of all of them: loops are gone through once.
    fn together(
        &mut self,
        stmt: StmtId,
        all: &mut [FxHashMap<VarId, VarId>],
        out: &mut Vec<StmtId>,
    ) {
        match self.cx.program.stmts[stmt].kind.clone() {
            C::For(it) => {
                let mut body = Vec::new();
                self.together(it.body, all, &mut body);
                let build = &mut self.build();
                let body = build.stmt(C::Block(body.into()));
                out.push(build.stmt(C::For(Box::new(For { body, ..*it }))));
            }
            C::Block(list) => list.iter().for_each(|it| self.together(*it, all, out)),
            _ => {
                for vars in all {
                    out.extend(self.copied(stmt, vars));
                }
            }
        }
    }

    /// The number of one of them along a dimension.
    fn number(&mut self, along: &Along, time: u32) -> ExprId {
        if self.plan.form == (Form::Loops { are_far: true }) {
            let (block, blocks) = (along.block, along.blocks);
            let build = &mut self.build();
            let (block, by, time) =
                (build.var(block), build.var(blocks), build.number(i64::from(time)));
            let far = build.binary(BinaryOp::Mul, by, time);
            return build.binary(BinaryOp::Add, block, far);
        }
        let build = &mut self.build();
        let (block, times) = (build.var(along.block), build.number(i64::from(along.times)));
        let first = build.binary(BinaryOp::Mul, block, times);
        let time = build.number(i64::from(time));
        build.binary(BinaryOp::Add, first, time)
    }

    /// Those that there are at the end.
    fn rest(&mut self) -> StmtId {
        let are_far = self.plan.form == (Form::Loops { are_far: true });
        let mut body = self.plan.code;
        for along in self.along.iter().rev() {
            let (first, last) = (self.number(along, 0), self.number(along, along.times - 1));
            let Along { counted, blocks, .. } = along;
            let build = &mut self.cx.build(self.span);
            let at = build.fresh_number("at");
            let init = build.init(first);
            build.program.vars[at].init = Some(init);
            let declared = build.stmt(C::Local(at));
            let (index, all) = (build.var(at), build.var(counted.trips));
            let mut cond = build.binary(BinaryOp::Lt, index, all);
            // Others may be missing than those at the end: of another dimension, or by a condition.
            if self.along.len() > 1 || !self.plan.conditions.is_empty() {
                let is_own = build.binary(BinaryOp::Le, index, last);
                cond = build.and(cond, is_own);
            }
            let step = match are_far {
                true => {
                    let by = build.var(*blocks);
                    let next = build.binary(BinaryOp::Add, index, by);
                    build.set(at, next)
                }
                false => build.increment(at),
            };
            let value = counted.value(build, index);
            let place = build.set(counted.var, value);
            let place = build.stmt(C::Expr(place));
            body = build.stmt(C::Block([place, body].into()));
            let (init, cond, step) = (Box::new([declared]), Some(cond), Some(step));
            let (unroll, lanes) = (Some(1), false);
            body = build.stmt(C::For(Box::new(For { init, cond, step, body, unroll, lanes })));
        }
        body
    }

    /// Where one of them is.
    fn places(&mut self, which: &[u32]) -> FxHashMap<VarId, ExprId> {
        let mut places = FxHashMap::default();
        for (along, time) in self.along.iter().zip(which) {
            let index = self.number(along, *time);
            let value = along.counted.value(&mut self.build(), index);
            places.insert(along.counted.var, value);
        }
        places
    }

    /// Variables of one of them.
    fn variables(&mut self, which: &[u32]) -> (Vec<StmtId>, FxHashMap<VarId, VarId>) {
        let mut vars = FxHashMap::default();
        let mut made = Vec::new();
        let declared = |build: &mut Builder<'_>, of: VarId, value: Option<ExprId>| {
            let (name, ty) = (build.name_of(of), build.program.vars[of].ty.plain());
            let var = build.fresh(&name, ty);
            let init = value.map(|it| build.init(it));
            build.program.vars[var].init = init;
            (var, build.stmt(C::Local(var)))
        };
        let places = self.places(which);
        for Along { counted, .. } in self.along {
            let value = places.get(&counted.var).copied();
            let build = &mut self.cx.build(self.span);
            let (here, stmt) = declared(build, counted.var, value);
            vars.insert(counted.var, here);
            made.push(stmt);
        }
        for var in &self.plan.own {
            let build = &mut self.cx.build(self.span);
            let (own, stmt) = declared(build, *var, None);
            vars.insert(*var, own);
            made.push(stmt);
        }
        (made, vars)
    }

    /// A statement of one of them.
    fn copied(&mut self, stmt: StmtId, vars: &mut FxHashMap<VarId, VarId>) -> Vec<StmtId> {
        let C::Local(var) = self.cx.program.stmts[stmt].kind else {
            let mut copier = Copier { vars: vars.clone(), ..Copier::new(self.cx.program) };
            return vec![copier.stmt(stmt)];
        };
        let init = self.cx.program.vars[var].init.map(|it| self.cx.program.inits[it].clone());
        let value = match init {
            Some(Init::Expr(value)) => {
                let mut copier = Copier { vars: vars.clone(), ..Copier::new(self.cx.program) };
                Some(copier.expr(value))
            }
            _ => None,
        };
        let is_own = self.plan.own.contains(&var);
        let build = &mut self.cx.build(self.span);
        let mut made = Vec::new();
        // Variables of the iteration are declared already, those of a round are not.
        let own = match vars.get(&var).filter(|_| is_own) {
            Some(own) => *own,
            None => {
                let (name, ty) = (build.name_of(var), build.program.vars[var].ty.plain());
                let own = build.fresh(&name, ty);
                made.push(build.stmt(C::Local(own)));
                vars.insert(var, own);
                own
            }
        };
        if let Some(value) = value {
            let e = build.set(own, value);
            made.push(build.stmt(C::Expr(e)));
        }
        made
    }

    /// What one of them stores by a statement: its value, and that it is stored.
    fn store(&mut self, stmt: StmtId, vars: &FxHashMap<VarId, VarId>) -> Option<(StmtId, StmtId)> {
        let (function, span) = (self.cx.function, self.span);
        let Store { to, value, with } = Store::find(self.cx.program, stmt)?;
        let mut copier = Copier { vars: vars.clone(), ..Copier::new(self.cx.program) };
        let before = with.map(|it| (it, copier.expr(to)));
        let (to, value) = (copier.expr(to), copier.expr(value));
        let build = &mut Builder { program: copier.program, function, span };
        let ty = build.type_of(to);
        let value = match before {
            Some(((op, within), before)) => {
                let before = build.cast(before, within);
                build.binary(op, before, value)
            }
            None => value,
        };
        let value = build.cast(value, ty);
        let result = build.fresh("result", ty);
        let init = build.init(value);
        build.program.vars[result].init = Some(init);
        let declared = build.stmt(C::Local(result));
        let result = build.var(result);
        let e = build.assign(to, result);
        Some((declared, build.stmt(C::Expr(e))))
    }
}
