//! `window`: elements that an iteration shares with earlier ones stay in registers.
//!
//! In: an innermost loop of code that one thread runs, counting up by ones, whose iterations look at elements of an array a
//! constant distance apart along the loop (`a[j - 1]`, `a[j + 1]`), and may store to one of them. Out: the loop with a register
//! for each element between the first and the last: an iteration loads the last one alone, the others move on by one each
//! time; what is stored goes into its register too, so that a later iteration need not wait for memory. Before the loop the
//! registers are loaded with what the first iteration looks at, whatever value the counter begins with; elements between
//! them only if an iteration is run that looks at them. In place too, as in dynamic programming.
//!
//! Left alone: elements that other stores of the loop may change, accesses under a condition, loops that are left early.

use std::collections::{BTreeMap, BTreeSet};

use ir::program::{
    BinaryOp, ExprId, ExprKind, For, Init, Program, StmtId, StmtKind as C, VarId, VarStorage,
};
use ir::region::LoopTest;
use ir::types::Ty;
use ir::walk::Part;
use kernel::Dim;
use kernel::build::Builder;
use kernel::copy::Copier;
use kernel::walk::{How, uses};
use rustc_hash::{FxHashMap, FxHashSet};
use source::Span;

use super::code::{code_of, for_of, is_quiet, jumps, loops, replace};
use super::poly::{Poly, Terms};
use super::{Cx, Result};
use crate::dependence::Analysis;

/// Wider windows are not made of registers.
const WIDEST: i64 = 64;

pub(super) fn run(cx: &mut Cx<'_>) -> Result<()> {
    let Some(code) = code_of(cx) else { return Ok(()) };
    let all = loops(cx.program, code);
    let mut replaced = FxHashMap::default();
    let mut notes = Vec::new();
    for stmt in all {
        if loops(cx.program, stmt).len() > 1 {
            continue;
        }
        let Some(plan) = plan(cx, stmt) else { continue };
        for group in &plan.groups {
            let (low, high) = group.ends();
            notes.push(format!(
                "{} elements of `{}` stay in registers from one iteration to the next",
                high - low + 1,
                cx.build(Span::NONE).name_of(group.key.root),
            ));
        }
        if let Some(made) = windowed(cx, stmt, &plan) {
            replaced.insert(stmt, made);
        }
    }
    if !replaced.is_empty() {
        replace(cx, replaced);
        cx.kernel.launch.notes.extend(notes);
    }
    Ok(())
}

/// Elements that differ in a constant along the loop.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    /// The array, or the pointer to it.
    root: VarId,
    /// Subscripts before the last.
    outer: Vec<Poly>,
    /// The last one without its constant; the counter is in it once.
    last: Poly,
}

#[derive(Clone, Debug)]
struct Access {
    expr: ExprId,
    key: Option<Key>,
    offset: i64,
    /// The assignment, if it is stored to.
    store: Option<ExprId>,
    /// Neither plainly loaded nor plainly stored, or not by every iteration.
    is_odd: bool,
    /// The statement of the body, by number.
    at: usize,
}

struct Group {
    key: Key,
    /// Loads by their offset.
    loads: BTreeMap<i64, Vec<ExprId>>,
    /// Offset and assignment.
    store: Option<(i64, ExprId)>,
}

impl Group {
    /// The first and the last element.
    fn ends(&self) -> (i64, i64) {
        let low = self.loads.keys().next().copied().unwrap_or(0);
        let high = self.loads.keys().next_back().copied().unwrap_or(0);
        (low, self.store.map_or(high, |it| it.0.max(high)))
    }

    /// The element that each iteration loads, if it loads one.
    fn loaded(&self) -> Option<i64> {
        let high = self.loads.keys().next_back().copied()?;
        self.store.is_none_or(|it| high >= it.0).then_some(high)
    }
}

struct Plan {
    it: For,
    dim: Dim,
    body: Vec<StmtId>,
    groups: Vec<Group>,
}

fn plan(cx: &Cx<'_>, stmt: StmtId) -> Option<Plan> {
    let program = &*cx.program;
    let it = for_of(program, stmt)?;
    let dim = super::nest::counted(program, &it)?;
    let kind = program.types.integer_kind(program.vars[dim.var].ty)?;
    if jumps(program, it.body) || !program.model.int_signed(kind) {
        return None;
    }
    let analysis = Analysis::new(program);
    let (used, declared) = uses(program, Part::Stmt(it.body));
    let mut changed: FxHashSet<VarId> =
        used.iter().filter(|it| it.how != How::Named).map(|it| it.var).collect();
    changed.extend(declared);
    let own = |var: VarId| {
        matches!(program.vars[var].storage, VarStorage::Local(_) | VarStorage::Param(_))
            && !analysis.aliases.is_exposed(program, var)
    };
    let look = Look { program, dim: &dim, changed: &changed, own: &own };
    if !look.stays(dim.begin) || !look.stays(dim.bound) || changed.contains(&dim.var) {
        return None;
    }
    let body = listed(program, it.body);
    let mut accesses = Vec::new();
    // Statements before the first that stores anything, that one included.
    let mut until = body.len();
    for (at, stmt) in body.iter().enumerate() {
        let found = accesses.len();
        let stores = look.stmt(*stmt, at, &mut accesses);
        if stores && until == body.len() {
            until = at;
        }
        // The statement that stores may look at elements, if it does so first.
        if stores
            && at == until
            && !matches!(program.stmts[*stmt].kind, C::Expr(e) if is_plain_store(program, e))
        {
            accesses.iter_mut().skip(found).for_each(|it| it.is_odd = true);
        }
    }
    let carried = analysis.carried(stmt, &BTreeMap::new());
    let independent = cx.kernel.launch.independent.contains(&stmt);
    let mut groups: BTreeMap<Key, Vec<Access>> = BTreeMap::new();
    for access in accesses {
        if let Some(key) = access.key.clone() {
            groups.entry(key).or_default().push(access);
        }
    }
    let mut made = Vec::new();
    for (key, accesses) in groups {
        if accesses.iter().any(|it| it.is_odd || it.at > until) {
            continue;
        }
        let mut group = Group { key, loads: BTreeMap::new(), store: None };
        let mut stores = 0;
        for access in &accesses {
            match access.store {
                Some(store) => {
                    stores += 1;
                    group.store = Some((access.offset, store));
                }
                None => group.loads.entry(access.offset).or_default().push(access.expr),
            }
        }
        let Some(low) = group.loads.keys().next().copied() else { continue };
        let forwards = group.store.is_some_and(|it| it.0 > low);
        let shares = cx.fabric.reads > 0 && group.loads.len() > 1;
        let (first, last) = group.ends();
        if stores > 1 || !(forwards || shares) || last.saturating_sub(first) >= WIDEST {
            continue;
        }
        if independent && group.store.is_some() {
            continue;
        }
        let spans: BTreeSet<Span> =
            group.loads.values().flatten().map(|it| program.exprs[*it].span).collect();
        let own = group.store.map(|it| program.exprs[it.1].span);
        let is_alone = match &carried.memory {
            _ if independent => true,
            Err(_) => false,
            Ok(found) => found.iter().all(|it| {
                let (a, b) = (it.first.span, it.second.span);
                let of_group = |span: Span, writes: bool| !writes && spans.contains(&span);
                let (x, y) = (of_group(a, it.first.writes), of_group(b, it.second.writes));
                let is_own = |span: Span| Some(span) == own;
                !x && !y || !it.may_alias && (x && is_own(b) || y && is_own(a))
            }),
        };
        if is_alone {
            made.push(group);
        }
    }
    (!made.is_empty()).then_some(Plan { it, dim, body, groups: made })
}

/// The statements of a body, without braces around all of them.
pub(super) fn listed(program: &Program, body: StmtId) -> Vec<StmtId> {
    let mut list = vec![body];
    while let [only] = list.as_slice()
        && let C::Block(inside) = &program.stmts[*only].kind
    {
        list = inside.to_vec();
    }
    list
}

/// `a[i] = value`, where nothing in the value stores.
pub(super) fn is_plain_store(program: &Program, e: ExprId) -> bool {
    let ExprKind::Assign(to, value) = program.exprs[e].kind else { return false };
    let (used, _) = uses(program, Part::Expr(value));
    matches!(program.exprs[to].kind, ExprKind::Index(..))
        && used.iter().all(|it| it.how == How::Named)
        && is_quiet(program, value)
}

struct Look<'a> {
    program: &'a Program,
    dim: &'a Dim,
    changed: &'a FxHashSet<VarId>,
    own: &'a dyn Fn(VarId) -> bool,
}

impl Look<'_> {
    /// Whether an expression has the same value in all iterations and looks at no memory.
    fn stays(&self, e: ExprId) -> bool {
        self.poly(e).is_some_and(|it| it.keys().flatten().all(|var| *var != self.dim.var))
    }

    /// Finds the accesses of a statement; tells whether it stores to memory.
    fn stmt(&self, stmt: StmtId, at: usize, out: &mut Vec<Access>) -> bool {
        let program = self.program;
        let mut stores = false;
        let mut open = Vec::new();
        match program.stmts[stmt].kind {
            C::Expr(e) => open.push((Part::Expr(e), false)),
            C::Local(var) => match program.vars[var].init.map(|it| &program.inits[it]) {
                Some(Init::Expr(value)) => open.push((Part::Expr(*value), false)),
                Some(Init::List(..)) | None => open.push((Part::Stmt(stmt), true)),
            },
            _ => open.push((Part::Stmt(stmt), true)),
        }
        while let Some((part, is_odd)) = open.pop() {
            let Part::Expr(e) = part else {
                program.parts(part, &mut |it| open.push((it, true)));
                continue;
            };
            match &program.exprs[e].kind {
                ExprKind::Assign(to, value) => {
                    open.push((Part::Expr(*value), is_odd));
                    stores |= !matches!(program.exprs[*to].kind, ExprKind::Var(_));
                    if let ExprKind::Index(..) = program.exprs[*to].kind {
                        self.access(*to, Some(e), is_odd, at, out, &mut open);
                    } else {
                        open.push((Part::Expr(*to), true));
                    }
                }
                ExprKind::AssignOp(_, to, _, _) | ExprKind::Step(_, to) | ExprKind::AddrOf(to) => {
                    stores |= !matches!(program.exprs[*to].kind, ExprKind::Var(_));
                    program.parts(part, &mut |it| open.push((it, true)));
                }
                ExprKind::Index(..) if program.types.is_scalar(program.exprs[e].ty) => {
                    self.access(e, None, is_odd, at, out, &mut open);
                }
                ExprKind::Conditional(c, ..) => {
                    let c = *c;
                    program.parts(part, &mut |it| {
                        let is_first = it == Part::Expr(c);
                        open.push((it, is_odd || !is_first));
                    });
                }
                ExprKind::And(a, _) | ExprKind::Or(a, _) => {
                    let a = *a;
                    program.parts(part, &mut |it| {
                        open.push((it, is_odd || it != Part::Expr(a)));
                    });
                }
                ExprKind::Call(callee, _) => {
                    let function = kernel::copy::callee_of(program, *callee);
                    stores |= function.is_none_or(|it| program.functions[it].body.is_some());
                    program.parts(part, &mut |it| open.push((it, is_odd)));
                }
                _ => program.parts(part, &mut |it| open.push((it, is_odd))),
            }
        }
        stores
    }

    fn access(
        &self,
        expr: ExprId,
        store: Option<ExprId>,
        is_odd: bool,
        at: usize,
        out: &mut Vec<Access>,
        open: &mut Vec<(Part, bool)>,
    ) {
        let program = self.program;
        let mut indices = Vec::new();
        let mut base = expr;
        while let ExprKind::Index(of, index) = program.exprs[base].kind {
            indices.push(index);
            open.push((Part::Expr(index), is_odd));
            base = of;
        }
        indices.reverse();
        let key = self.key(base, &indices);
        let (key, offset) = key.map_or((None, 0), |it| (Some(it.0), it.1));
        if key.is_none() {
            open.push((Part::Expr(base), is_odd));
        }
        let ty = program.exprs[expr].ty;
        let is_odd = is_odd || !program.types.is_arithmetic(ty) || ty.quals.is_volatile;
        out.push(Access { expr, key, offset, store, is_odd, at });
    }

    fn key(&self, base: ExprId, indices: &[ExprId]) -> Option<(Key, i64)> {
        let ExprKind::Var(root) = self.program.exprs[base].kind else { return None };
        let is_array = self.program.types.is_array(self.program.vars[root].ty);
        if !is_array && (self.changed.contains(&root) || !(self.own)(root)) {
            return None;
        }
        let (last, outer) = indices.split_last()?;
        let mut last = self.poly(*last)?;
        let outer: Vec<Poly> = outer.iter().map(|it| self.poly(*it)).collect::<Option<_>>()?;
        let counter = vec![self.dim.var];
        let has_counter = |it: &Poly| it.keys().flatten().any(|var| *var == self.dim.var);
        let products = last.keys().filter(|it| it.contains(&self.dim.var)).count();
        if last.get(&counter) != Some(&1) || products != 1 || outer.iter().any(has_counter) {
            return None;
        }
        let offset = last.remove(&Vec::new()).unwrap_or(0);
        Some((Key { root, outer, last }, offset))
    }

    /// An expression of signed integers as a polynomial of variables that stay, and the counter.
    fn poly(&self, e: ExprId) -> Option<Poly> {
        let Look { program, changed, own, .. } = *self;
        Terms { program, counters: &[self.dim.var], changed, own }.poly(e)
    }
}

/// The registers of a group, from the first element on.
struct Registers {
    low: i64,
    vars: Vec<VarId>,
}

impl Registers {
    fn at(&self, offset: i64) -> Option<VarId> {
        self.vars.get(usize::try_from(offset - self.low).ok()?).copied()
    }
}

fn windowed(cx: &mut Cx<'_>, stmt: StmtId, plan: &Plan) -> Option<StmtId> {
    let (span, function) = (cx.program.stmts[stmt].span, cx.function);
    let build = &mut cx.build(span);
    let Plan { it, dim, body, groups } = plan;
    let (mut outside, mut preloads, mut starts, mut ends) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut places: FxHashMap<ExprId, ExprId> = FxHashMap::default();
    let mut stores: FxHashMap<ExprId, VarId> = FxHashMap::default();
    for group in groups {
        let (low, high) = group.ends();
        let (like_offset, like) =
            group.loads.iter().next().map(|it| (*it.0, it.1.first().copied()))?;
        let like = like?;
        let ty: Ty = build.type_of(like);
        let name = build.name_of(group.key.root);
        let mut vars = Vec::new();
        for offset in low..=high {
            let var = build.fresh(&format!("{name}_{}", offset - low), ty);
            outside.push(build.stmt(C::Local(var)));
            vars.push(var);
        }
        let registers = Registers { low, vars };
        let loaded = group.loaded();
        for offset in low..=high {
            let var = registers.at(offset)?;
            if loaded == Some(offset) || group.loads.range(..=offset).next().is_none() {
                continue;
            }
            // What the store gives is not there before the first iteration.
            if loaded.is_none() && offset == high {
                continue;
            }
            let value = shifted(build, dim, like, offset.checked_sub(like_offset)?)?;
            let e = build.set(var, value);
            let load = build.stmt(C::Expr(e));
            let nearest = group.loads.range(..=offset).next_back().map(|it| *it.0)?;
            preloads.push(match offset - nearest {
                0 => load,
                // An element between: the iteration that looks at it first must be run.
                later => {
                    let runs = runs(build, dim, later);
                    let int = build.int_type();
                    let none = build.int(0, int);
                    let none = build.set(var, none);
                    let none = build.stmt(C::Expr(none));
                    build.stmt(C::If(runs, load, Some(none)))
                }
            });
        }
        if let Some(offset) = loaded {
            let load = group.loads.get(&offset).and_then(|it| it.first()).copied()?;
            let e = build.set(registers.at(offset)?, load);
            starts.push(build.stmt(C::Expr(e)));
        }
        for (offset, loads) in &group.loads {
            for load in loads {
                let value = build.var(registers.at(*offset)?);
                places.insert(*load, value);
            }
        }
        if let Some((offset, store)) = group.store {
            stores.insert(store, registers.at(offset)?);
        }
        for offset in low..high {
            let from = build.var(registers.at(offset + 1)?);
            let e = build.set(registers.at(offset)?, from);
            ends.push(build.stmt(C::Expr(e)));
        }
    }
    let mut copier = Copier::new(build.program);
    copier.places = places;
    let mut list = starts;
    for stmt in body {
        let store = match copier.program.stmts[*stmt].kind {
            C::Expr(e) => stores.get(&e).copied().map(|var| (e, var)),
            _ => None,
        };
        let Some((e, var)) = store else {
            list.push(copier.stmt(*stmt));
            continue;
        };
        let ExprKind::Assign(to, value) = copier.program.exprs[e].kind else { return None };
        let (to, value) = (copier.expr(to), copier.expr(value));
        let build = &mut Builder { program: copier.program, function, span };
        let keep = build.set(var, value);
        list.push(build.stmt(C::Expr(keep)));
        let kept = build.var(var);
        let stored = build.assign(to, kept);
        build.program.exprs[stored].span = build.program.exprs[e].span;
        list.push(build.stmt(C::Expr(stored)));
    }
    let build = &mut cx.build(span);
    list.extend(ends);
    let body = build.stmt(C::Block(list.into()));
    let made = build.stmt(C::For(Box::new(For { body, ..it.clone() })));
    let runs = runs(build, dim, 0);
    let preloads = build.stmt(C::Block(preloads.into()));
    outside.push(build.stmt(C::If(runs, preloads, None)));
    outside.push(made);
    let whole = build.stmt(C::Block(outside.into()));
    if cx.kernel.launch.independent.contains(&stmt) {
        cx.kernel.launch.independent.push(made);
    }
    Some(whole)
}

/// Whether the iteration with this number is run.
fn runs(build: &mut Builder<'_>, dim: &Dim, number: i64) -> ExprId {
    let value = further(build, dim.begin, number);
    let test = if dim.test == LoopTest::Le { BinaryOp::Le } else { BinaryOp::Lt };
    build.binary(test, value, dim.bound)
}

fn further(build: &mut Builder<'_>, e: ExprId, by: i64) -> ExprId {
    if by == 0 {
        return e;
    }
    let ty = build.type_of(e);
    let by = build.int(by, ty);
    build.binary(BinaryOp::Add, e, by)
}

/// An element as the first iteration sees it, so many on.
fn shifted(build: &mut Builder<'_>, dim: &Dim, like: ExprId, by: i64) -> Option<ExprId> {
    let ty = build.program.vars[dim.var].ty.plain();
    let begin = build.cast(dim.begin, ty);
    let value = further(build, begin, by);
    let mut copier = Copier::new(build.program);
    copier.exprs.insert(dim.var, value);
    Some(copier.expr(like))
}
