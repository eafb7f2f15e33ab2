//! `promote`: an element that an iteration adds to in its loops is a variable until the loops end.
//!
//! In: a loop that all threads share, whose iterations change elements of memory in loops of their own, at places that are
//! the same in all rounds: `c[i][j] += a[i][k] * b[k][j]`, `y[i] = y[i] + …`. Out: the same with a variable, which has what
//! the element has before and is stored once behind, so that other passes see a sum of the iteration.
//!
//! What else an iteration looks at must not be such an element. It is not if both are parts of different arrays, or one is
//! behind a pointer that is `restrict`. Nor is it if it is the same for iterations along a dimension: then another iteration
//! would look at what this one changes, in no order. Or all that iterations look at there is before or behind all that
//! they change. Whether dimensions have several iterations, and where elements are, is asked when the kernel runs; else it
//! has the loop as it was.

use ir::program::{BinaryOp, ExprId, ExprKind, Program, StmtId, StmtKind as C, VarId};
use ir::region::LoopTest;
use ir::walk::Part;
use kernel::copy::Copier;
use kernel::walk::How;
use kernel::{Block, Dim, Kernel, Share, Space, Stmt, StmtKind};
use rustc_hash::{FxHashMap, FxHashSet};
use source::Span;

use super::accesses::{Access, Reader, is_apart, root_of};
use super::nest::{
    Quiet, about, counted, is_known, iteration_code, listed, mentions, replace_share,
};
use super::numbering::Sharing;
use super::{Cx, Result};

/// Elements at most: they are in registers.
const MOST: usize = 6;
/// What reports say of it.
pub(super) const NOTE: &str =
    "an element that loops of an iteration change is in a register until they end";

pub(super) fn run(cx: &mut Cx<'_>) -> Result<()> {
    replace_share(cx, &mut |cx, share, _, span| {
        let Some(plan) = plan(cx, share) else { return Ok(None) };
        cx.kernel.launch.notes.push(NOTE.to_owned());
        promoted(cx, share, &plan, span).map(Some)
    })
}

struct Plan {
    elements: Vec<Element>,
    /// What an iteration does.
    code: Vec<StmtId>,
    /// Dimensions that must have two iterations.
    dims: Vec<usize>,
    /// What must not lie among what: elements that are changed, and others with the loops around them.
    others: Vec<(ExprId, Access)>,
}

/// An element that is changed.
struct Element {
    expr: ExprId,
    /// Where it is named.
    places: Vec<ExprId>,
    /// It is given a value before anything is taken of it.
    is_set_first: bool,
}

fn plan(cx: &mut Cx<'_>, share: &Share) -> Option<Plan> {
    let (code, guards) = iteration_code(share)?;
    let dims: Vec<VarId> = share.dims.iter().map(|it| it.var).collect();
    let bounds = share.dims.iter().flat_map(|it| [Some(it.begin), Some(it.bound), it.step]);
    let are_known = bounds.flatten().all(|it| is_known(cx.program, cx.kernel, it, &dims));
    let program = &*cx.program;
    Quiet::new(program).set(Part::Stmt(code), true)?;
    if !guards.is_empty() || !are_known {
        return None;
    }
    let mut reader = Reader::new(program);
    reader.stmt(code, &[], false)?;
    let Reader { changed, looked, .. } = reader;
    changed.iter().any(|it| !it.loops.is_empty()).then_some(())?;
    let mut elements: Vec<ExprId> = Vec::new();
    for it in &changed {
        if !elements.iter().any(|other| program.is_alike(it.expr, *other)) {
            elements.push(it.expr);
        }
    }
    (elements.len() <= MOST).then_some(())?;
    let (used, declared) = kernel::walk::uses(program, Part::Stmt(code));
    let set: FxHashSet<VarId> =
        used.iter().filter(|it| it.how != How::Named).map(|it| it.var).collect();
    let roots: Vec<VarId> =
        elements.iter().map(|it| root_of(program, *it)).collect::<Option<Vec<_>>>()?;
    let moves = |it: VarId| declared.contains(&it) || !roots.contains(&it) && set.contains(&it);
    for (element, root) in elements.iter().zip(&roots) {
        let types = &program.types;
        let ty = program.exprs[*element].ty;
        let is_number = types.is_scalar(ty) && !types.is_complex(ty) && !ty.quals.is_volatile;
        let moves_root = types.is_pointer(program.vars[*root].ty) && is_set(program, code, *root);
        let is_it = |it: &&Access| program.is_alike(it.expr, *element);
        // All iterations have it, or none has.
        let is_always = changed.iter().chain(&looked).filter(is_it).any(|it| {
            let is_even = |it: &StmtId| loop_of(program, *it, &dims).is_some();
            !it.is_conditional && it.loops.iter().all(is_even)
        });
        // Its place is known before the iteration begins.
        let is_fixed = !mentions(program, *element, moves) && !has_loads(program, *element);
        (is_number && is_always && is_fixed && !moves_root).then_some(())?;
    }
    let (mut needed, mut others): (Vec<usize>, Vec<(ExprId, Access)>) = (Vec::new(), Vec::new());
    // Where elements of a box of iterations lie is told by its corners.
    let mut ask = |element: ExprId, look: &Access| {
        let ends = ends(program, cx.kernel, share, look)?;
        let vars: Vec<VarId> = ends.iter().map(|it| it.0).collect();
        let is_unknown = |it: VarId| {
            !vars.contains(&it)
                && (declared.contains(&it) || set.contains(&it))
                && !roots.contains(&it)
        };
        let is_fit = |e| {
            is_affine(program, e, &vars)
                && !mentions(program, e, is_unknown)
                && !has_loads(program, e)
        };
        // An array that is changed does not lie apart from itself.
        let may_be = |e| {
            let root = root_of(program, e);
            root.is_some_and(|it| {
                program.types.is_pointer(program.vars[it].ty) || !roots.contains(&it)
            })
        };
        ([element, look.expr].into_iter().all(|it| is_fit(it) && may_be(it))).then_some(())?;
        let is_there = |it: &(ExprId, Access)| {
            program.is_alike(it.0, element) && program.is_alike(it.1.expr, look.expr)
        };
        if !others.iter().any(is_there) {
            others.push((element, look.clone()));
        }
        Some(())
    };
    for (at, (element, root)) in elements.iter().zip(&roots).enumerate() {
        for other in elements.iter().skip(at + 1) {
            if !is_apart(program, *other, *root) && !are_members(program, *element, *other) {
                let (loops, is_conditional, is_only_set) = (Vec::new(), false, false);
                let access = Access { expr: *other, loops, is_conditional, is_only_set };
                ask(*element, &access)?;
            }
        }
    }
    let is_element = |it: &&Access| elements.iter().any(|e| program.is_alike(it.expr, *e));
    for look in looked.iter().filter(|it| !is_element(it)) {
        let is_free = |dim: &VarId| {
            let is_even = |it: &StmtId| loop_of(program, *it, &[*dim]).is_some();
            let counters: Vec<VarId> =
                look.loops.iter().filter_map(|it| loop_of(program, *it, &[])).collect();
            let is_known = |it: VarId| {
                it != *dim
                    && (counters.contains(&it) || !declared.contains(&it) && !set.contains(&it))
                    || roots.contains(&it)
            };
            !look.is_conditional
                && look.loops.iter().all(is_even)
                && !mentions(program, look.expr, |it| !is_known(it))
        };
        // The dimension that is known to have most iterations.
        let free = dims.iter().enumerate().filter(|it| is_free(it.1)).map(|it| it.0);
        let trips = |it: &usize| share.dims.get(*it).and_then(|it| about(program, it));
        let best = free.max_by_key(|it| trips(it).unwrap_or(2));
        for (element, root) in elements.iter().zip(&roots) {
            if is_apart(program, look.expr, *root) || are_members(program, *element, look.expr) {
                continue;
            }
            match best {
                Some(best) if needed.contains(&best) => {}
                Some(best) => needed.push(best),
                None => ask(*element, look)?,
            }
        }
    }
    (others.len() <= 2 * MOST).then_some(())?;
    let list = listed(program, code);
    let made = elements.iter().map(|it| Element::of(program, &list, *it)).collect();
    Some(Plan { elements: made, code: list, dims: needed, others })
}

impl Element {
    fn of(program: &Program, list: &[StmtId], expr: ExprId) -> Element {
        let named = |part| {
            let mut found = Vec::new();
            places(program, part, expr, &mut found);
            found
        };
        let first = list.iter().find(|it| !named(Part::Stmt(**it)).is_empty());
        let is_set_first = first.is_some_and(|it| {
            let C::Expr(e) = program.stmts[*it].kind else { return false };
            let ExprKind::Assign(to, value) = program.exprs[e].kind else { return false };
            program.is_alike(to, expr) && named(Part::Expr(value)).is_empty()
        });
        let places = list.iter().flat_map(|it| named(Part::Stmt(*it))).collect();
        Element { expr, places, is_set_first }
    }
}

/// Whether two are different members of one structure.
fn are_members(program: &Program, a: ExprId, b: ExprId) -> bool {
    let (ExprKind::Member(one, record, at), ExprKind::Member(other, _, behind)) =
        (&program.exprs[a].kind, &program.exprs[b].kind)
    else {
        return false;
    };
    at != behind && !program.types.records[*record].is_union && program.is_alike(*one, *other)
}

/// The variables of a box of iterations and of the loops around an access, each with its first and last value, if those are
/// known before the iteration begins.
fn ends(
    program: &Program,
    kernel: &Kernel,
    share: &Share,
    access: &Access,
) -> Option<Vec<(VarId, Dim)>> {
    let mut found: Vec<(VarId, Dim)> = Vec::new();
    for dim in &share.dims {
        (!dim.descending && dim.step.is_none()).then_some(())?;
        found.push((dim.var, dim.clone()));
    }
    for stmt in &access.loops {
        let C::For(it) = &program.stmts[*stmt].kind else { return None };
        let dim = counted(program, it)?;
        let is_fit = |e| is_known(program, kernel, e, &[]);
        (is_fit(dim.begin) && is_fit(dim.bound)).then_some(())?;
        found.push((dim.var, dim));
    }
    let is_known = |e| is_known(program, kernel, e, &[]);
    let are_known = share.dims.iter().all(|it| is_known(it.begin) && is_known(it.bound));
    (found.len() <= 4 && are_known).then_some(found)
}

/// Whether a place follows each of some variables in steps of one size.
fn is_affine(program: &Program, e: ExprId, vars: &[VarId]) -> bool {
    let names = |e: ExprId| mentions(program, e, |it| vars.contains(&it));
    match program.exprs[e].kind {
        ExprKind::Var(_) | ExprKind::Int(_) | ExprKind::EnumConst(..) => true,
        ExprKind::Cast(_, of) | ExprKind::Member(of, ..) | ExprKind::Deref(of) => {
            is_affine(program, of, vars)
        }
        ExprKind::Index(a, b) | ExprKind::Binary(BinaryOp::Add | BinaryOp::Sub, a, b) => {
            is_affine(program, a, vars) && is_affine(program, b, vars)
        }
        ExprKind::Binary(BinaryOp::Mul, a, b) => {
            is_affine(program, a, vars) && is_affine(program, b, vars) && !(names(a) && names(b))
        }
        _ => false,
    }
}

/// Whether code sets a variable itself.
fn is_set(program: &Program, code: StmtId, var: VarId) -> bool {
    Quiet::new(program).set(Part::Stmt(code), true).is_none_or(|it| it.contains(&var))
}

/// The counter of a loop whose rounds do not follow any of these.
fn loop_of(program: &Program, stmt: StmtId, dims: &[VarId]) -> Option<VarId> {
    let C::For(it) = &program.stmts[stmt].kind else { return None };
    let dim = counted(program, it)?;
    let names = |e: ExprId| mentions(program, e, |it| dims.contains(&it));
    (!names(dim.begin) && !names(dim.bound)).then_some(dim.var)
}

/// Whether the place of an element is found by looking at others.
fn has_loads(program: &Program, element: ExprId) -> bool {
    let mut count = 0_usize;
    let mut open = vec![Part::Expr(element)];
    while let Some(part) = open.pop() {
        if let Part::Expr(e) = part {
            let is_array = program.types.is_array(program.exprs[e].ty);
            let is_place =
                matches!(program.exprs[e].kind, ExprKind::Index(..) | ExprKind::Deref(_));
            count += usize::from(is_place && !is_array);
        }
        program.parts(part, &mut |it| open.push(it));
    }
    count > 1
}

/// Where an element is named.
fn places(program: &Program, part: Part, element: ExprId, found: &mut Vec<ExprId>) {
    if let Part::Expr(e) = part
        && program.is_alike(e, element)
    {
        found.push(e);
        return;
    }
    let mut inner = Vec::new();
    program.parts(part, &mut |it| inner.push(it));
    inner.into_iter().for_each(|it| places(program, it, element, found));
}

/// The loop with a variable, if dimensions have several iterations; else as it was.
fn promoted(cx: &mut Cx<'_>, share: &Share, plan: &Plan, span: Span) -> Result<Block> {
    let mut out = Block::new();
    let mut condition = None;
    for at in &plan.dims {
        let Some(dim) = share.dims.get(*at) else { continue };
        if about(cx.program, dim).is_some_and(|it| it > 2) {
            continue;
        }
        let counted = Sharing { cx, span, space: Space::Uniform }.counted(dim, &mut out)?;
        let build = &mut cx.build(span);
        let (trips, two) = (build.var(counted.trips), build.number(2));
        let are_several = build.binary(BinaryOp::Ge, trips, two);
        condition = Some(match condition {
            Some(others) => build.and(others, are_several),
            None => are_several,
        });
    }
    for (element, other) in &plan.others {
        let Some(ends) = ends(cx.program, cx.kernel, share, other) else { continue };
        let [mine, theirs] = [*element, other.expr].map(|it| extent(cx, it, &ends, span, &mut out));
        let build = &mut cx.build(span);
        let apart = [(mine, theirs), (theirs, mine)].map(|((_, last), (first, _))| {
            let (last, first) = (build.var(last), build.var(first));
            build.binary(BinaryOp::Le, last, first)
        });
        let int = build.int_type();
        let are_apart = build.expr(ExprKind::Or(apart[0], apart[1]), int);
        condition = Some(match condition {
            Some(others) => build.and(others, are_apart),
            None => are_apart,
        });
    }
    let build = &mut cx.build(span);
    let (mut list, mut stores) = (Vec::new(), Vec::new());
    let mut places: FxHashMap<ExprId, ExprId> = FxHashMap::default();
    for Element { expr, places: named, is_set_first } in &plan.elements {
        let ty = build.type_of(*expr).plain();
        let var = build.fresh("element", ty);
        list.push(build.stmt(C::Local(var)));
        if !is_set_first {
            let value = build.set(var, *expr);
            list.push(build.stmt(C::Expr(value)));
        }
        let place = build.var(var);
        places.extend(named.iter().map(|it| (*it, place)));
        let value = build.var(var);
        let store = build.assign(*expr, value);
        stores.push(build.stmt(C::Expr(store)));
    }
    let mut copier = Copier { places, ..Copier::new(cx.program) };
    list.extend(plan.code.iter().map(|it| copier.stmt(*it)));
    list.extend(stores);
    let build = &mut cx.build(span);
    let code = build.stmt(C::Block(list.into()));
    let body = vec![Stmt::new(StmtKind::Code(code), span)];
    let made = vec![Stmt::new(StmtKind::Share(Box::new(Share { body, ..share.clone() })), span)];
    let plain = vec![Stmt::new(StmtKind::Share(Box::new(share.clone())), span)];
    match condition {
        Some(condition) => out.push(Stmt::new(StmtKind::If(condition, made, plain), span)),
        None => out.extend(made),
    }
    Ok(vec![Stmt::new(StmtKind::Block(out), span)])
}

/// Where the elements of a box of iterations begin and end.
fn extent(
    cx: &mut Cx<'_>,
    element: ExprId,
    ends: &[(VarId, Dim)],
    span: Span,
    out: &mut Block,
) -> (VarId, VarId) {
    let first = cx.number("first", Space::Uniform, span, out);
    let last = cx.number("last", Space::Uniform, span, out);
    let named: Vec<&(VarId, Dim)> =
        ends.iter().filter(|(var, _)| mentions(cx.program, element, |it| it == *var)).collect();
    for corner in 0..1_u32 << named.len() {
        let mut exprs = FxHashMap::default();
        for (at, (var, dim)) in named.iter().enumerate() {
            let is_last = corner >> at & 1 == 1;
            let build = &mut cx.build(span);
            let ty = build.program.vars[*var].ty.plain();
            let mut value = if is_last { dim.bound } else { dim.begin };
            if is_last && dim.test == LoopTest::Lt {
                let value_type = build.type_of(value);
                let one = build.int(1, value_type);
                value = build.binary(BinaryOp::Sub, value, one);
            }
            exprs.insert(*var, build.cast(value, ty));
        }
        let place = Copier { exprs, ..Copier::new(cx.program) }.expr(element);
        let build = &mut cx.build(span);
        let address = build.address(place);
        let here = build.as_number(address);
        let (low, high) = (build.var(first), build.var(last));
        let (least, most) = match corner {
            0 => (here, here),
            _ => {
                let is_less = build.binary(BinaryOp::Lt, here, low);
                let is_more = build.binary(BinaryOp::Gt, here, high);
                (build.either(is_less, here, low), build.either(is_more, here, high))
            }
        };
        cx.set(first, least, span, out);
        cx.set(last, most, span, out);
    }
    let build = &mut cx.build(span);
    let size = build.type_of(element).plain();
    let number = build.number_type();
    let size = build.expr(ExprKind::Sizeof(size), number);
    let end = build.var(last);
    let behind = build.binary(BinaryOp::Add, end, size);
    cx.set(last, behind, span, out);
    (first, last)
}
