//! `records`: elements that lie together for each iteration go through the memory of groups, in whole lines.
//!
//! In: a loop that all threads share, whose iterations each have elements of their own that lie side by side: members of a
//! structure, small matrices, `x[3 * i + k]`. Threads side by side would use memory that far apart. Out: the threads of a
//! group bring what their iterations look at in the order of memory, each iteration has its own in the memory of the group, and
//! what iterations have changed goes back likewise. Nothing is loaded or stored that an iteration would not.
//!
//! What else an iteration looks at must be the same for all iterations. It is not among what this one changes: another one
//! would look at that, in no order. Of elements that follow the loop it is asked when the kernel runs where they lie; if
//! arrays overlap the loop is as it was.

mod memory;
mod place;

use ir::program::{BinaryOp, ExprId, ExprKind, Program, StmtId, StmtKind as C, VarId};
use ir::region::LoopTest;
use ir::types::{IntKind, Ty, TypeKind};
use ir::walk::Part;
use kernel::copy::Copier;
use kernel::count::constant;
use kernel::intrinsic;
use kernel::walk::How;
use kernel::{Block, Share, Space, Stmt, StmtKind};
use rustc_hash::{FxHashMap, FxHashSet};
use source::Span;

use super::accesses::{Access, Reader, root_of};
use super::nest::{
    Quiet, constants, counted, is_known, iteration_code, mentions, replace_share, resolved, taken,
};
use super::numbering::Sharing;
use super::turns::{Turns, element};
use super::{Cx, Result};
use memory::{Record, Staged};
use place::{Extent, Own, is_pointer};

/// Bytes that a thread loads or stores at once.
const LINE: i64 = 16;
/// Such lines of an iteration at most.
const MOST_LINES: i64 = 16;
/// Threads of a group for each iteration at most.
const MOST_EACH: u32 = 4;
/// Rounds of each loop of an iteration at most: what long loops look at counts for more.
const ROUNDS: i64 = 64;
/// Arrays whose places are compared at most.
const MOST_PAIRS: usize = 8;

pub(super) fn run(cx: &mut Cx<'_>) -> Result<()> {
    if cx.has_shape() || cx.groups.at_once == 1 {
        return Ok(());
    }
    replace_share(cx, &mut |cx, share, set, span| {
        let Some(plan) = Plan::find(cx, share, &taken(share, set)) else { return Ok(None) };
        let [dim] = share.dims.as_slice() else { return Ok(None) };
        let mut out = Block::new();
        let counted = Sharing { cx, span, space: Space::Uniform }.counted(dim, &mut out)?;
        let [begin, trips] = [counted.begin, counted.trips];
        let mut fits = is_long(cx, trips, span);
        for [a, b] in &plan.apart {
            let [a, b] = [a, b].map(|it| it.ends(cx, [begin, trips], span));
            let build = &mut cx.build(span);
            let before = build.binary(BinaryOp::Le, a[1], b[0]);
            let behind = build.binary(BinaryOp::Le, b[1], a[0]);
            let int = build.int_type();
            let are_apart = build.expr(ExprKind::Or(before, behind), int);
            fits = build.and(fits, are_apart);
        }
        let names: Vec<String> = plan
            .records
            .iter()
            .map(|it| format!("`{}`", cx.build(span).name_of(it.root)))
            .collect();
        let names = names.join(", ");
        let note = match plan.form {
            Form::Lines => {
                for record in &plan.records {
                    let at = record.address(cx, begin, span);
                    let build = &mut cx.build(span);
                    let (zero, rest) = (build.number(0), build.number(LINE - 1));
                    let rest = build.binary(BinaryOp::BitAnd, at, rest);
                    let is_even = build.binary(BinaryOp::Eq, rest, zero);
                    fits = build.and(fits, is_even);
                }
                let made = plan.in_lines(cx, share, span)?;
                let whole = |it| vec![Stmt::new(StmtKind::Share(Box::new(it)), span)];
                let kind = StmtKind::If(fits, whole(made), whole(share.clone()));
                out.push(Stmt::new(kind, span));
                format!("iterations load and store lines of 16 bytes of {names}")
            }
            Form::Group { each } => {
                let turns = Turns::new(cx, &[], each, span);
                let memory = plan.records.iter().map(|it| it.memory(cx, &turns)).collect();
                let there = cx.build(span).fresh_number("there");
                let mut staged =
                    Staged { records: &plan.records, code: plan.code, memory, there, begin, fits };
                out.extend(turns.taken(cx, share, [&[], &[]], &mut staged)?);
                cx.kernel.launch.spread = Some([each, 1, 0]);
                format!("groups bring elements of {names} to their memory in whole lines")
            }
        };
        cx.kernel.launch.notes.push(note);
        Ok(Some(vec![Stmt::new(StmtKind::Block(out), span)]))
    })
}

/// Whether there is an iteration for each thread of a group.
fn is_long(cx: &mut Cx<'_>, trips: VarId, span: Span) -> ExprId {
    let threads = cx.groups.most_threads;
    let build = &mut cx.build(span);
    let (trips, least) = (build.var(trips), build.number(threads.cast_signed()));
    build.binary(BinaryOp::Ge, trips, least)
}

struct Plan {
    /// What an iteration does.
    code: StmtId,
    /// What goes through the memory of groups.
    records: Vec<Record>,
    /// Where arrays lie that must not overlap.
    apart: Vec<[Extent; 2]>,
    form: Form,
}

/// How iterations get at their elements.
#[derive(Clone, Copy, Debug)]
enum Form {
    /// Each thread loads and stores lines of its own.
    Lines,
    /// Groups have so many threads for each iteration, and its elements in their memory.
    Group { each: u32 },
}

impl Plan {
    fn find(cx: &mut Cx<'_>, share: &Share, taken: &FxHashSet<VarId>) -> Option<Plan> {
        let [dim] = share.dims.as_slice() else { return None };
        let (code, guards) = iteration_code(share)?;
        let are_known =
            [dim.begin, dim.bound].iter().all(|it| is_known(cx.program, cx.kernel, *it, &[]));
        let counts = !dim.descending && dim.step.is_none() && dim.test != LoopTest::Ne;
        (guards.is_empty() && are_known && counts).then_some(())?;
        Quiet::new(cx.program).set(Part::Stmt(code), true)?;
        let (used, own) = kernel::walk::uses(cx.program, Part::Stmt(code));
        let set: FxHashSet<VarId> =
            used.iter().filter(|it| it.how != How::Named).map(|it| it.var).collect();
        let is_code = |it: &&VarId| cx.program.types.is_pointer(cx.program.vars[**it].ty);
        let moves_pointer = set.iter().filter(is_code).any(|it| !own.contains(it));
        (!set.iter().any(|it| taken.contains(it)) && !moves_pointer).then_some(())?;
        let constants = constants(cx.program, cx.kernel, &own, &set);
        let mut reader = Reader::new(cx.program);
        reader.takes_addresses = true;
        reader.stmt(code, &[], false)?;
        let Reader { changed, looked, .. } = reader;
        let around = looked.iter().flat_map(|it| &it.loops);
        around.clone().all(|it| is_short(cx.program, *it)).then_some(())?;
        // A pointer that leads to the same place in all iterations, or an object.
        let is_fixed = |program: &Program, root: VarId| {
            let is_moved = set.contains(&root) && program.types.is_pointer(program.vars[root].ty);
            !own.contains(&root) && !is_moved
        };
        let (mut found, mut others): (Vec<Own>, Vec<Access>) = (Vec::new(), Vec::new());
        for access in looked {
            let value = resolved(cx.program, access.expr, &constants);
            let program = &*cx.program;
            let root = root_of_place(program, value);
            let is_threads = |it: VarId| {
                let is_object = !program.types.is_pointer(program.vars[it].ty);
                is_object && (own.contains(&it) || cx.kernel.space(it) == Some(Space::Private))
            };
            if root.is_some_and(is_threads) {
                continue;
            }
            let is_changed = changed.iter().any(|it| it.expr == access.expr);
            match Own::find(program, &access, value, dim.var, is_changed) {
                Some(it) if is_fixed(program, it.place.root) => found.push(it),
                _ if is_changed => return None,
                _ => others.push(Access { expr: value, ..access }),
            }
        }
        let mut roots: Vec<VarId> = Vec::new();
        for it in &found {
            if !roots.contains(&it.place.root) {
                roots.push(it.place.root);
            }
        }
        let program = &*cx.program;
        let (mut records, mut extents) = (Vec::new(), Vec::new());
        for root in roots {
            let all: Vec<&Own> = found.iter().filter(|it| it.place.root == root).collect();
            let extent = Extent::of(program, &all)?;
            let is_changed = all.iter().any(|it| it.is_changed);
            extents.push((extent, is_changed));
            records.extend(Record::of(program, &all, extent));
        }
        let form = Form::of(cx, &mut records)?;
        let is_staged = |root: VarId| records.iter().any(|it| it.root == root);
        let mut apart = Vec::new();
        for (at, (one, changes)) in extents.iter().enumerate() {
            for (other, also) in extents.iter().skip(at + 1) {
                let matters = changes | also && (is_staged(one.root) || is_staged(other.root));
                if matters && !are_apart(program, one.root, other.root) {
                    apart.push([*one, *other]);
                }
            }
        }
        (apart.len() <= MOST_PAIRS).then_some(())?;
        let changes = records.iter().any(|it| it.changed.contains(&true));
        let is_free = |it: &Access| {
            let counters = it.loops.iter().map(|it| even_counter(program, *it, dim.var));
            let counters: Option<Vec<VarId>> = counters.collect();
            let varies = |var: VarId, counters: &[VarId]| {
                let is_own = own.contains(&var) || set.contains(&var) || var == dim.var;
                is_own && !counters.contains(&var) || var == share.number
            };
            !(it.is_conditional && changes)
                && counters.is_some_and(|all| !mentions(program, it.expr, |var| varies(var, &all)))
        };
        // Elements that follow neither the loop nor all iterations lie anywhere: that takes longer than anything else.
        others.iter().all(is_free).then_some(())?;
        Some(Plan { code, records, apart, form })
    }
}

/// The variable that a place is a part of, or that points to it; addresses that are followed at once are looked through.
fn root_of_place(program: &Program, e: ExprId) -> Option<VarId> {
    match program.exprs[program.peeled(e)].kind {
        ExprKind::AddrOf(of) | ExprKind::Deref(of) | ExprKind::Member(of, ..) => {
            root_of_place(program, of)
        }
        ExprKind::Index(of, _) => root_of_place(program, of),
        ExprKind::Binary(BinaryOp::Add, a, _) if is_pointer(program, a) => {
            root_of_place(program, a)
        }
        _ => root_of(program, e),
    }
}

fn is_short(program: &Program, stmt: StmtId) -> bool {
    let C::For(it) = &program.stmts[stmt].kind else { return false };
    let bounds = counted(program, it).map(|it| [it.begin, it.bound]);
    let [begin, bound] = bounds.map_or([None; 2], |it| it.map(|it| constant(program, it)));
    bound.is_some_and(|it| it - begin.unwrap_or(0).min(it) <= ROUNDS)
}

/// The counter of a loop that runs as often for all iterations.
fn even_counter(program: &Program, stmt: StmtId, dim: VarId) -> Option<VarId> {
    let C::For(it) = &program.stmts[stmt].kind else { return None };
    let it = counted(program, it)?;
    let follows = |e: ExprId| mentions(program, e, |var| var == dim);
    (!follows(it.begin) && !follows(it.bound)).then_some(it.var)
}

/// Whether arrays are known not to overlap.
fn are_apart(program: &Program, a: VarId, b: VarId) -> bool {
    let types = [a, b].map(|it| program.vars[it].ty);
    let is_pointer = |ty: &Ty| program.types.is_pointer(*ty);
    let is_restrict = |ty: &Ty| is_pointer(ty) && ty.quals.is_restrict;
    types.iter().any(is_restrict) || !types.iter().any(is_pointer)
}

impl Form {
    fn of(cx: &Cx<'_>, records: &mut Vec<Record>) -> Option<Form> {
        if records.is_empty() {
            return None;
        }
        let lines: Vec<Record> = records.iter().filter_map(|it| it.in_lines(cx.program)).collect();
        if !lines.is_empty() {
            *records = lines;
            return Some(Form::Lines);
        }
        // Threads side by side load elements of four bytes about as fast as groups bring them.
        if records.iter().any(|it| it.size < 8) {
            return None;
        }
        let bytes: i64 = records.iter().map(|it| it.width() * it.size).sum();
        let bytes = u64::try_from(bytes).ok().filter(|it| *it > 0)?;
        let mut each = 1;
        // So many threads for each iteration that their memory has room for what they bring.
        while each <= MOST_EACH {
            if cx.groups.most_threads / u64::from(each) * bytes <= cx.groups.memory {
                return Some(Form::Group { each });
            }
            each *= 2;
        }
        None
    }
}

impl Plan {
    /// The loop with elements of its iterations in memory of their threads.
    fn in_lines(&self, cx: &mut Cx<'_>, share: &Share, span: Span) -> Result<Share> {
        let (mut list, mut back) = (Vec::new(), Vec::new());
        let mut places = FxHashMap::default();
        let dim = share.dims.first().map_or(share.number, |it| it.var);
        for record in &self.records {
            let build = &mut cx.build(span);
            let ty = build.array_of(record.ty, record.looked.len() as u64);
            let own = build.fresh("own", ty);
            list.push(build.stmt(C::Local(own)));
            let (own, zero) = (build.var(own), build.number(0));
            let first = element(cx, own, zero, span)?;
            let long = cx.build(span).program.types.get(TypeKind::Int(IntKind::Long));
            let here = |cx: &mut Cx<'_>, number: i64| {
                let build = &mut cx.build(span);
                let value = build.var(dim);
                let value = build.cast(value, long);
                let number = build.int(number, long);
                record.element_at(cx, value, number, span)
            };
            let size = record.count() * record.size;
            for is_back in [false, true] {
                let marks = if is_back { &record.changed } else { &record.looked };
                if !marks.contains(&true) {
                    continue;
                }
                if is_back && marks.contains(&false) {
                    for number in (0..).zip(marks).filter(|it| *it.1).map(|it| it.0) {
                        let there = here(cx, number)?;
                        let at = cx.build(span).number(number);
                        let value = element(cx, own, at, span)?;
                        let build = &mut cx.build(span);
                        let store = build.assign(there, value);
                        back.push(build.stmt(C::Expr(store)));
                    }
                    continue;
                }
                let there = here(cx, 0)?;
                let build = &mut cx.build(span);
                let (there, mine) = (build.address(there), build.address(first));
                let (to, from) = if is_back { (there, mine) } else { (mine, there) };
                let size = build.number(size);
                let copy = intrinsic::copy_lines(build, to, from, size, is_back);
                let copy = build.stmt(C::Expr(copy));
                if is_back { back.push(copy) } else { list.push(copy) }
            }
            for (e, place) in &record.places {
                let at = record.index(&mut cx.build(span), place, None);
                places.insert(*e, element(cx, own, at, span)?);
            }
        }
        list.push(Copier { places, ..Copier::new(cx.program) }.stmt(self.code));
        list.extend(back);
        let code = cx.build(span).stmt(C::Block(list.into()));
        Ok(Share { body: vec![Stmt::new(StmtKind::Code(code), span)], ..share.clone() })
    }
}
