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

use ir::program::{BinaryOp, ExprId, ExprKind, Program, StmtId, StmtKind as C, VarId};
use ir::region::LoopTest;
use ir::types::{IntKind, Ty, TypeKind};
use ir::walk::Part;
use kernel::build::Builder;
use kernel::copy::Copier;
use kernel::count::constant;
use kernel::intrinsic;
use kernel::walk::How;
use kernel::{Block, Dim, Share, Space, Stmt, StmtKind};
use rustc_hash::{FxHashMap, FxHashSet};
use source::Span;

use super::accesses::{Access, Reader, root_of};
use super::nest::{
    Quiet, constants, counted, is_known, iteration_code, mentions, replace_share, resolved,
    size_of, taken,
};
use super::turns::{Turns, Work, declared, element, steps};
use super::workshare::Sharing;
use super::{Cx, Result};

/// Bytes from one iteration's elements to the next at least: others are loaded in whole lines anyway.
const LEAST: i64 = 12;
/// Elements of an iteration at most.
const MOST: i64 = 64;
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
                let mut staged = Staged { plan: &plan, memory, there, begin, fits };
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

/// Where an element is: so many bytes from what a variable is or points to, some of them for each value of variables.
#[derive(Clone, Debug)]
struct Place {
    root: VarId,
    terms: Vec<(VarId, i64)>,
    at: i64,
}

/// Elements that iterations have of their own, all of one type.
struct Record {
    root: VarId,
    ty: Ty,
    size: i64,
    /// Bytes from one iteration's to the next.
    stride: i64,
    /// The first byte.
    low: i64,
    /// Elements that are looked at, and those that are changed, each by its number.
    looked: Vec<bool>,
    changed: Vec<bool>,
    /// Where they are named.
    places: Vec<(ExprId, Place)>,
}

/// The bytes that all iterations use of an array.
#[derive(Clone, Copy, Debug)]
struct Extent {
    root: VarId,
    stride: i64,
    low: i64,
    high: i64,
}

/// An element of one iteration.
struct Own {
    access: Access,
    is_changed: bool,
    /// Without the part that follows the loop.
    place: Place,
    stride: i64,
    /// Offsets that it has in rounds of loops; none if these are too many or unknown.
    offsets: Vec<i64>,
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

fn is_pointer(program: &Program, e: ExprId) -> bool {
    program.types.is_pointer(program.exprs[e].ty)
}

fn is_signed(program: &Program, ty: Ty) -> bool {
    matches!(program.types.shape(ty), TypeKind::Int(kind) if program.model.int_signed(*kind))
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

impl Place {
    /// Where an element is, if that is a sum of constants and of multiples of variables.
    fn of(program: &Program, e: ExprId) -> Option<Place> {
        match program.exprs[e].kind {
            ExprKind::Var(root) => Some(Place { root, terms: Vec::new(), at: 0 }),
            ExprKind::Member(of, record, field) => {
                let layout = program.model.record(&program.types, record).ok()?;
                let place = layout.fields.get(field as usize)?;
                let place = Some(place).filter(|it| it.bit_width.is_none())?;
                Place::of(program, of)?.moved(i64::try_from(place.offset).ok()?)
            }
            ExprKind::Index(base, index) => {
                let scale = i64::try_from(size_of(program, program.exprs[e].ty)).ok()?;
                let mut place = match program.types.is_array(program.exprs[base].ty) {
                    true => Place::of(program, base)?,
                    false => Place::behind(program, base)?,
                };
                place.add(program, index, scale)?;
                Some(place)
            }
            ExprKind::Deref(of) => Place::behind(program, of),
            _ => None,
        }
    }

    /// What a pointer leads to.
    fn behind(program: &Program, e: ExprId) -> Option<Place> {
        match program.exprs[e].kind {
            ExprKind::Var(root) => Some(Place { root, terms: Vec::new(), at: 0 }),
            ExprKind::AddrOf(of) => Place::of(program, of),
            ExprKind::Cast(_, of) if program.types.is_array(program.exprs[of].ty) => {
                Place::of(program, of)
            }
            ExprKind::Cast(_, of) if is_pointer(program, of) => Place::behind(program, of),
            ExprKind::Binary(BinaryOp::Add, base, index) if is_pointer(program, base) => {
                let ty = program.types.pointee(program.exprs[e].ty)?;
                let mut place = Place::behind(program, base)?;
                place.add(program, index, i64::try_from(size_of(program, ty)).ok()?)?;
                Some(place)
            }
            _ => None,
        }
    }

    fn moved(mut self, by: i64) -> Option<Place> {
        self.at = self.at.checked_add(by)?;
        Some(self)
    }

    /// Adds so many times an index.
    fn add(&mut self, program: &Program, e: ExprId, times: i64) -> Option<()> {
        if let Some(value) = constant(program, e) {
            self.at = self.at.checked_add(value.checked_mul(times)?)?;
            return Some(());
        }
        let (ty, types) = (program.exprs[e].ty, &program.types);
        // Unsigned numbers begin anew behind the largest.
        let is_exact = is_signed(program, ty) || size_of(program, ty) == 8;
        match program.exprs[e].kind {
            ExprKind::Var(var) if types.is_integer(ty) => {
                match self.terms.iter_mut().find(|it| it.0 == var) {
                    Some(it) => it.1 = it.1.checked_add(times)?,
                    None => self.terms.push((var, times)),
                }
                Some(())
            }
            ExprKind::Cast(_, of) => {
                let from = program.exprs[of].ty;
                let is_wide = size_of(program, ty) >= size_of(program, from);
                (types.is_integer(from) && types.is_integer(ty) && is_wide).then_some(())?;
                self.add(program, of, times)
            }
            ExprKind::Binary(BinaryOp::Add, a, b) if is_exact => {
                self.add(program, a, times)?;
                self.add(program, b, times)
            }
            ExprKind::Binary(BinaryOp::Sub, a, b) if is_exact => {
                self.add(program, a, times)?;
                self.add(program, b, times.checked_neg()?)
            }
            ExprKind::Binary(BinaryOp::Mul, a, b) if is_exact => {
                let (value, of) = match (constant(program, a), constant(program, b)) {
                    (Some(value), _) => (value, b),
                    (_, Some(value)) => (value, a),
                    _ => return None,
                };
                self.add(program, of, times.checked_mul(value)?)
            }
            _ => None,
        }
    }
}

impl Own {
    /// `value` is where the element is, in terms of variables that are known when the iteration begins.
    fn find(
        program: &Program,
        access: &Access,
        value: ExprId,
        dim: VarId,
        is_changed: bool,
    ) -> Option<Own> {
        /// Rounds of all loops around an element at most.
        const ROUNDS: usize = 4096;
        let mut place = Place::of(program, value)?;
        let at = place.terms.iter().position(|it| it.0 == dim)?;
        let (_, stride) = place.terms.swap_remove(at);
        (stride > 0).then_some(())?;
        let mut offsets = vec![place.at];
        for (var, times) in &place.terms {
            let rounds = access.loops.iter().find_map(|it| {
                let C::For(one) = &program.stmts[*it].kind else { return None };
                counted(program, one).filter(|it| it.var == *var)
            })?;
            let [first, end] = [rounds.begin, rounds.bound].map(|it| constant(program, it));
            let end = end? + i64::from(rounds.test == LoopTest::Le);
            let rounds = first?..end;
            (!rounds.is_empty() && offsets.len() * rounds.clone().count() <= ROUNDS)
                .then_some(())?;
            let here =
                |it: &i64| rounds.clone().map(|round| it + times * round).collect::<Vec<_>>();
            offsets = offsets.iter().flat_map(here).collect();
        }
        Some(Own { access: access.clone(), is_changed, place, stride, offsets })
    }

    /// Whether every iteration comes by.
    fn is_certain(&self, program: &Program) -> bool {
        let runs = |it: &StmtId| {
            let C::For(one) = &program.stmts[*it].kind else { return false };
            let dim = counted(program, one);
            let trips = dim.and_then(|it| trips(program, &it));
            trips.is_some_and(|it| it > 0)
        };
        !self.access.is_conditional && self.access.loops.iter().all(runs)
    }
}

/// How often a loop with constant bounds runs.
fn trips(program: &Program, dim: &Dim) -> Option<i64> {
    let (begin, bound) = (constant(program, dim.begin)?, constant(program, dim.bound)?);
    Some(bound - begin + i64::from(dim.test == LoopTest::Le))
}

/// Where an object is, or what a pointer leads to.
fn address_of(build: &mut Builder<'_>, root: VarId) -> ExprId {
    let root = build.var(root);
    match is_pointer(build.program, root) {
        true => root,
        false => build.address(root),
    }
}

impl Extent {
    /// None if elements of one array are not that far apart.
    fn of(program: &Program, all: &[&Own]) -> Option<Extent> {
        let first = all.first()?;
        let stride = first.stride;
        all.iter().all(|it| it.stride == stride).then_some(())?;
        let size = |it: &Own| size_of(program, program.exprs[it.access.expr].ty);
        let low = all.iter().flat_map(|it| &it.offsets).copied().min()?;
        let end = |it: &&Own| Some(it.offsets.iter().max()? + i64::try_from(size(it)).ok()?);
        let high = all.iter().map(end).collect::<Option<Vec<_>>>()?.into_iter().max()?;
        Some(Extent { root: first.place.root, stride, low, high })
    }

    /// Where the bytes begin and end, given the first value of the loop's variable and how many it has.
    fn ends(&self, cx: &mut Cx<'_>, [begin, trips]: [VarId; 2], span: Span) -> [ExprId; 2] {
        let build = &mut cx.build(span);
        let root = address_of(build, self.root);
        let root = build.as_number(root);
        let (begin, trips) = (build.var(begin), build.var(trips));
        let (begin, one) = (build.as_number(begin), build.number(1));
        let last = build.binary(BinaryOp::Add, begin, trips);
        let last = build.binary(BinaryOp::Sub, last, one);
        [(begin, self.low), (last, self.high)].map(|(number, bytes)| {
            let (stride, bytes) = (build.number(self.stride), build.number(bytes));
            let far = build.binary(BinaryOp::Mul, number, stride);
            let at = build.binary(BinaryOp::Add, root, far);
            build.binary(BinaryOp::Add, at, bytes)
        })
    }
}

impl Record {
    fn of(program: &Program, all: &[&Own], extent: Extent) -> Option<Record> {
        let Extent { root, stride, low, high } = extent;
        let types = &program.types;
        let ty = types.resolve(program.exprs[all.first()?.access.expr].ty).plain();
        let is_alike = |it: &&Own| types.resolve(program.exprs[it.access.expr].ty).plain() == ty;
        let is_number =
            (types.is_integer(ty) || types.is_real_floating(ty)) && !types.is_complex(ty);
        let size = i64::try_from(size_of(program, ty)).ok()?;
        let count = (high - low) / size;
        let fits = stride % size == 0
            && all.iter().flat_map(|it| &it.offsets).all(|it| it % size == 0)
            && all.iter().flat_map(|it| &it.place.terms).all(|it| it.1 % size == 0);
        // Lines are brought for a good part of them.
        let is_worth = stride >= LEAST && count > 1 && (high - low) * 2 >= stride;
        let is_own = high - low <= stride && count <= MOST;
        (all.iter().all(is_alike) && is_number && matches!(size, 4 | 8)).then_some(())?;
        (fits && is_worth && is_own && program.model.align_of(types, ty).ok()? as i64 == size)
            .then_some(())?;
        let (mut looked, mut changed) = (vec![false; count as usize], vec![false; count as usize]);
        let mut certain = looked.clone();
        let number = |offset: i64| usize::try_from((offset - low) / size).ok();
        let mark = |marks: &mut [bool], offset: i64| {
            if let Some(it) = number(offset).and_then(|it| marks.get_mut(it)) {
                *it = true;
            }
        };
        for it in all {
            let is_certain = it.is_certain(program);
            for offset in &it.offsets {
                if it.is_changed && is_certain {
                    mark(&mut changed, *offset);
                }
                if !it.access.is_only_set && is_certain {
                    mark(&mut looked, *offset);
                }
                if is_certain {
                    mark(&mut certain, *offset);
                }
            }
        }
        // What only some iterations change would be changed by all, and what they look at by none.
        for it in all.iter().filter(|it| !it.is_certain(program)) {
            let has = |marks: &[bool], offset: i64| {
                number(offset).and_then(|it| marks.get(it)).copied().unwrap_or_default()
            };
            for offset in &it.offsets {
                let is_stored = !it.is_changed || has(&changed, *offset);
                let is_there = it.access.is_only_set || has(&certain, *offset);
                (is_stored && is_there).then_some(())?;
                if !it.access.is_only_set {
                    mark(&mut looked, *offset);
                }
            }
        }
        let places = all.iter().map(|it| (it.access.expr, it.place.clone())).collect();
        Some(Record { root, ty, size, stride, low, looked, changed, places })
    }

    fn count(&self) -> i64 {
        self.looked.len() as i64
    }

    /// Elements from one iteration's to the next in the memory of the group: an odd number, so that they lie in all of its banks.
    fn width(&self) -> i64 {
        self.count() | 1
    }

    fn memory(&self, cx: &mut Cx<'_>, turns: &Turns) -> VarId {
        let build = &mut cx.build(turns.span);
        let ty = build.array_of(self.ty, u64::from(turns.owners) * self.width() as u64);
        build.fresh("staged", ty)
    }

    /// The threads of the group copy elements of some iterations that follow each other.
    fn copied(
        &self,
        cx: &mut Cx<'_>,
        turns: &Turns,
        staged: &Staged<'_>,
        how: Copy,
    ) -> Result<StmtId> {
        let Copy { memory, is_back, is_whole } = how;
        let span = turns.span;
        let me = cx.kernel.threads.number;
        let marks = if is_back { &self.changed } else { &self.looked };
        let build = &mut cx.build(span);
        let int = build.program.types.get(TypeKind::Int(IntKind::UInt));
        let [part, number, inside] = ["part", "record", "element"].map(|it| build.fresh(it, int));
        let count = build.int(self.count(), int);
        let at = build.var(part);
        let quotient = build.binary(BinaryOp::Div, at, count);
        let rest = build.binary(BinaryOp::Rem, at, count);
        let mut list = vec![declared(build, number, quotient), declared(build, inside, rest)];
        let (record, within) = (build.var(number), build.var(inside));
        let width = build.int(self.width(), int);
        let here = build.binary(BinaryOp::Mul, record, width);
        let here = build.binary(BinaryOp::Add, here, within);
        let memory = build.var(memory);
        let here = element(cx, memory, here, span)?;
        let there = self.element_of(cx, turns, staged, [at, record, within])?;
        let build = &mut cx.build(span);
        let copy = if is_back { build.assign(there, here) } else { build.assign(here, there) };
        let mut copy = build.stmt(C::Expr(copy));
        if marks.contains(&false) {
            let bits =
                marks.iter().enumerate().fold(0_i64, |all, (at, it)| all | i64::from(*it) << at);
            let (bits, within) = (build.number(bits), build.as_number(within));
            let bit = build.binary(BinaryOp::Shr, bits, within);
            let one = build.number(1);
            let is_one = build.binary(BinaryOp::BitAnd, bit, one);
            copy = build.stmt(C::If(is_one, copy, None));
        }
        list.push(copy);
        let body = build.stmt(C::Block(list.into()));
        let me = build.var(me);
        let from = build.cast(me, int);
        let end = match is_whole {
            true => build.int(self.count() * i64::from(turns.owners), int),
            false => {
                let there = build.var(staged.there);
                let there = build.cast(there, int);
                build.binary(BinaryOp::Mul, there, count)
            }
        };
        let unroll =
            if is_whole { self.count() as u32 / turns.threads.div_ceil(turns.owners) } else { 1 };
        Ok(steps(build, part, [from, end], turns.threads, unroll.clamp(1, 16), body))
    }

    /// An element of the group's iterations, by its number among all, and by that of the iteration and its own there.
    fn element_of(
        &self,
        cx: &mut Cx<'_>,
        turns: &Turns,
        staged: &Staged<'_>,
        [number, record, within]: [ExprId; 3],
    ) -> Result<ExprId> {
        let span = turns.span;
        // Elements of neighbours follow each other where there is nothing between them.
        let is_dense = self.stride / self.size == self.count();
        let build = &mut cx.build(span);
        let long = build.program.types.get(TypeKind::Int(IntKind::Long));
        let (begin, first) = (build.var(staged.begin), build.var(turns.first));
        let (begin, first) = (build.cast(begin, long), build.cast(first, long));
        let mut first = build.binary(BinaryOp::Add, begin, first);
        if !is_dense {
            let record = build.cast(record, long);
            first = build.binary(BinaryOp::Add, first, record);
        }
        let rest = build.cast(if is_dense { number } else { within }, long);
        self.element_at(cx, first, rest, span)
    }

    /// An element so far behind the first of an iteration, by the value of the loop's variable.
    fn element_at(
        &self,
        cx: &mut Cx<'_>,
        value: ExprId,
        number: ExprId,
        span: Span,
    ) -> Result<ExprId> {
        let build = &mut cx.build(span);
        let pointer = build.program.types.pointer_to(self.ty);
        let root = address_of(build, self.root);
        let root = build.cast(root, pointer);
        let long = build.type_of(value);
        let (each, low) = (self.stride / self.size, self.low / self.size);
        let (each, low) = (build.int(each, long), build.int(low, long));
        let at = build.binary(BinaryOp::Mul, value, each);
        let at = build.binary(BinaryOp::Add, at, low);
        let at = build.binary(BinaryOp::Add, at, number);
        element(cx, root, at, span)
    }

    /// Where elements of the first iteration begin.
    fn address(&self, cx: &mut Cx<'_>, begin: VarId, span: Span) -> ExprId {
        let build = &mut cx.build(span);
        let root = address_of(build, self.root);
        let (root, begin) = (build.as_number(root), build.var(begin));
        let begin = build.as_number(begin);
        let (stride, low) = (build.number(self.stride), build.number(self.low));
        let far = build.binary(BinaryOp::Mul, begin, stride);
        let at = build.binary(BinaryOp::Add, root, far);
        build.binary(BinaryOp::Add, at, low)
    }

    /// The same with whole lines for each iteration, if that looks at nothing that may not be there.
    fn in_lines(&self, program: &Program) -> Option<Record> {
        let ty = program.vars[self.root].ty;
        let whole = program.types.element(ty).or_else(|| program.types.pointee(ty))?;
        // All of an object is there if a part of it is.
        let is_object = i64::try_from(size_of(program, whole)) == Ok(self.stride);
        let end = self.low + self.count() * self.size;
        let (low, high) = match is_object && self.low >= 0 && end <= self.stride {
            true => (self.low / LINE * LINE, (end + LINE - 1) / LINE * LINE),
            false => (self.low, end),
        };
        let fits = self.stride % LINE == 0 && (high - low) % LINE == 0;
        (fits && high - low <= MOST_LINES * LINE).then_some(())?;
        let [before, behind] = [self.low - low, high - end].map(|it| (it / self.size) as usize);
        let wider = |marks: &[bool]| {
            let around = |count| std::iter::repeat_n(false, count);
            around(before).chain(marks.iter().copied()).chain(around(behind)).collect()
        };
        let (looked, changed) = (wider(&self.looked), wider(&self.changed));
        let places = self.places.clone();
        Some(Record { low, looked, changed, places, ..*self })
    }

    /// Which element of memory that has all of an iteration a place is.
    fn index(&self, build: &mut Builder<'_>, place: &Place, first: Option<ExprId>) -> ExprId {
        let int = build.int_type();
        let far = build.int((place.at - self.low) / self.size, int);
        let mut at = match first {
            Some(first) => build.binary(BinaryOp::Add, first, far),
            None => far,
        };
        for (var, times) in &place.terms {
            let (var, times) = (build.var(*var), build.int(times / self.size, int));
            let var = build.cast(var, int);
            let far = build.binary(BinaryOp::Mul, var, times);
            at = build.binary(BinaryOp::Add, at, far);
        }
        at
    }

    /// An element of the thread's own iteration, in the memory of the group.
    fn own(&self, cx: &mut Cx<'_>, memory: VarId, place: &Place, span: Span) -> Result<ExprId> {
        let me = cx.kernel.threads.number;
        let build = &mut cx.build(span);
        let int = build.int_type();
        let me = build.var(me);
        let (me, width) = (build.cast(me, int), build.int(self.width(), int));
        let first = build.binary(BinaryOp::Mul, me, width);
        let at = self.index(build, place, Some(first));
        let memory = build.var(memory);
        element(cx, memory, at, span)
    }
}

/// How elements are copied.
#[derive(Clone, Copy)]
struct Copy {
    memory: VarId,
    /// From the memory of the group.
    is_back: bool,
    /// All iterations of the group are there.
    is_whole: bool,
}

struct Staged<'a> {
    plan: &'a Plan,
    /// The memory of the group for each record.
    memory: Vec<VarId>,
    /// How many iterations the group has in this turn.
    there: VarId,
    /// The first value of the loop's variable.
    begin: VarId,
    /// Whether it may be done so.
    fits: ExprId,
}

impl Staged<'_> {
    fn copies(&self, cx: &mut Cx<'_>, turns: &Turns, is_back: bool, out: &mut Block) -> Result<()> {
        let span = turns.span;
        for (record, memory) in self.plan.records.iter().zip(&self.memory) {
            let marks = if is_back { &record.changed } else { &record.looked };
            if !marks.contains(&true) {
                continue;
            }
            let mut code = |is_whole| {
                let how = Copy { memory: *memory, is_back, is_whole };
                let made = record.copied(cx, turns, self, how)?;
                Ok(vec![Stmt::new(StmtKind::Code(made), span)])
            };
            let (whole, part) = (code(true)?, code(false)?);
            let build = &mut cx.build(span);
            let (there, all) = (build.var(self.there), build.number(i64::from(turns.owners)));
            let is_whole = build.binary(BinaryOp::Eq, there, all);
            out.push(Stmt::new(StmtKind::If(is_whole, whole, part), span));
        }
        Ok(())
    }
}

impl Work for Staged<'_> {
    fn variables(&self) -> Vec<(VarId, Space)> {
        let memory = self.memory.iter().map(|it| (*it, Space::Group));
        [(self.there, Space::Uniform)].into_iter().chain(memory).collect()
    }

    fn condition(&self, _: &mut Cx<'_>) -> Option<ExprId> {
        Some(self.fits)
    }

    fn begin(&mut self, _: &mut Cx<'_>, _: &Turns, _: &mut Block) -> Result<()> {
        Ok(())
    }

    fn together(&mut self, cx: &mut Cx<'_>, turns: &Turns, out: &mut Block) -> Result<()> {
        let span = turns.span;
        let build = &mut cx.build(span);
        let (all, first) = (build.var(turns.total), build.var(turns.first));
        let most = build.number(i64::from(turns.owners));
        let left = build.binary(BinaryOp::Sub, all, first);
        let value = build.min(left, most);
        cx.set(self.there, value, span, out);
        self.copies(cx, turns, false, out)?;
        out.push(Stmt::new(StmtKind::Barrier, span));
        let mut places = FxHashMap::default();
        for (record, memory) in self.plan.records.iter().zip(&self.memory) {
            for (e, place) in &record.places {
                places.insert(*e, record.own(cx, *memory, place, span)?);
            }
        }
        let code = Copier { places, ..Copier::new(cx.program) }.stmt(self.plan.code);
        let is_mine = turns.is_mine(cx);
        let code = vec![Stmt::new(StmtKind::Code(code), span)];
        out.push(Stmt::new(StmtKind::If(is_mine, code, Block::new()), span));
        out.push(Stmt::new(StmtKind::Barrier, span));
        if self.plan.records.iter().any(|it| it.changed.contains(&true)) {
            self.copies(cx, turns, true, out)?;
            out.push(Stmt::new(StmtKind::Barrier, span));
        }
        Ok(())
    }
}
