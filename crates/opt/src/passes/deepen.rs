//! `deepen`: a loop that is all of an iteration is shared too, where its rounds are independent.
//!
//! In: a shared loop whose iterations are each one loop, of which the caller knows that its rounds are independent, or are so
//! where some ranges of memory do not overlap ([`Free`]). Out: both as dimensions of one shared loop, for passes that cut
//! blocks of them; where ranges are asked for when the kernel runs, the loop as it was besides.

use ir::construct::{ClauseKind, Leaf};
use ir::program::{BinaryOp, ExprId, ExprKind, Program, RegionId, StmtId, StmtKind as C, VarId};
use ir::region::{Attribute, Mapping, RegionVar};
use ir::types::{IntKind, TypeKind};
use ir::walk::Part;
use kernel::copy::Copier;
use kernel::{Block, Share, Space, Stmt, StmtKind};
use rustc_hash::{FxHashMap, FxHashSet};
use source::Span;

use super::blocks::whole_code;
use super::nest::{counted, is_known, listed, mentions, replace_share};
use super::{Cx, Result};
use crate::dependence::{Analysis, Disjoint, Range, Sum, Terms};

/// Where loops stand that are all of what a shared loop does, and whose rounds are independent if this holds where the
/// outermost loop is entered.
pub type Free = FxHashMap<Span, Terms>;

/// What reports say where ranges are asked for.
pub(super) const NOTE: &str = "an inner loop is shared too where its arrays lie apart";
/// Pairs of ranges at most: each thread computes where they are.
const MOST_PAIRS: usize = 6;

pub(super) fn run(cx: &mut Cx<'_>) -> Result<()> {
    let independent = cx.independent;
    replace_share(cx, &mut |cx, share, _, span| {
        let Some(mut code) = whole_code(cx, share) else { return Ok(None) };
        let (mut deep, mut out) = (share.clone(), Block::new());
        let (mut terms, mut signs): (Vec<&Disjoint>, Vec<&Sum>) = (Vec::new(), Vec::new());
        while let Some(only) = only_loop(cx.program, code)
            && let C::For(one) = cx.program.stmts[only].kind.clone()
            && let Some(own) = independent.get(&cx.program.stmts[only].span)
            && own.apart.iter().all(|it| must_ask(cx, it, share).is_some())
            && own.at_least_zero.iter().all(|it| is_told(cx, it, share))
            && let Some(mut dim) = counted(cx.program, &one)
            && let outer = deep.dims.iter().map(|it| it.var).collect::<Vec<VarId>>()
            && let bounds = [dim.begin, dim.bound]
            && bounds.iter().all(|it| is_known(cx.program, cx.kernel, *it, &outer))
        {
            let follows = |it: &ExprId| mentions(cx.program, *it, |it| outer.contains(&it));
            dim.rectangular = !bounds.iter().any(follows);
            let ty = cx.program.vars[dim.var].ty.plain();
            let name = cx.build(span).name_of(dim.var);
            let name = name.rsplit('_').next().unwrap_or_default().to_owned();
            let var: VarId = cx.fresh(&name, ty, Space::Private, span, &mut out);
            let vars = [(dim.var, var)].into_iter().collect();
            code = Copier { vars, ..Copier::new(cx.program) }.stmt(one.body);
            dim.var = var;
            deep.dims.push(dim);
            let asked = own.apart.iter().filter(|it| must_ask(cx, it, share) == Some(true));
            terms.extend(asked.filter(|it| !terms.contains(it)).collect::<Vec<_>>());
            let new = own.at_least_zero.iter().filter(|it| !signs.contains(it));
            signs.extend(new.collect::<Vec<_>>());
        }
        if out.is_empty() {
            return Ok(None);
        }
        deep.body = vec![Stmt::new(StmtKind::Code(code), span)];
        let deep = Stmt::new(StmtKind::Share(Box::new(deep)), span);
        match are_apart(cx, &terms, &signs, span, &mut out) {
            None => out.push(deep),
            Some(condition) => {
                cx.kernel.launch.notes.push(NOTE.to_owned());
                let plain = vec![Stmt::new(StmtKind::Share(Box::new(share.clone())), span)];
                out.push(Stmt::new(StmtKind::If(condition, vec![deep], plain), span));
            }
        }
        Ok(Some(vec![Stmt::new(StmtKind::Block(out), span)]))
    })
}

/// What the kernel is given of a variable, if all threads have that at a shared loop: the loop names it, and the kernel does
/// not change it.
fn given<'a>(cx: &'a Cx<'_>, var: VarId, share: &Share) -> Option<&'a RegionVar> {
    let [Stmt { kind: StmtKind::Code(code), .. }] = share.body.as_slice() else { return None };
    let program = &*cx.program;
    let (used, _) = kernel::walk::uses(program, Part::Stmt(*code));
    let mut bounds = share.dims.iter().flat_map(|it| [it.begin, it.bound]);
    let is_named = used.iter().any(|it| it.var == var)
        || bounds.any(|it| mentions(program, it, |it| it == var));
    let given = program.regions[cx.kernel.region].vars.iter().find(|it| it.var == var)?;
    let ty = program.vars[var].ty;
    // An array may be changed: its place stays.
    let is_steady = !given.written || program.types.is_array(ty);
    let is_there = is_named && cx.kernel.space(var).is_none() && !ty.quals.is_volatile;
    (is_there && is_steady).then_some(given)
}

/// Whether all threads can compute a sum.
fn is_told(cx: &Cx<'_>, sum: &Sum, share: &Share) -> bool {
    sum.terms.iter().flat_map(|it| &it.1).all(|var| {
        given(cx, *var, share).is_some() && cx.program.types.is_integer(cx.program.vars[*var].ty)
    })
}

/// Whether it must be asked before a loop if two ranges overlap; nothing if threads cannot tell.
fn must_ask(cx: &Cx<'_>, terms: &Disjoint, share: &Share) -> Option<bool> {
    let types = &cx.program.types;
    let ty = |it: &Range| cx.program.vars[it.var].ty;
    // What the kernel gets as a value lies apart from all that pointers lead to.
    let is_value = |it: &Range| {
        let passed = |it: &Attribute<Mapping>| matches!(it.value, Mapping::FirstPrivate);
        let has_place = it.is_pointee || !types.is_scalar(ty(it));
        !has_place && given(cx, it.var, share).is_some_and(|it| it.mappings.iter().any(passed))
    };
    let ranges = [&terms.first, &terms.second];
    if ranges.into_iter().any(is_value) {
        return Some(false);
    }
    let can_tell = ranges.into_iter().all(|it| {
        let ty = ty(it);
        let is_object = if it.is_pointee { types.is_pointer(ty) } else { types.is_array(ty) };
        is_object
            && given(cx, it.var, share).is_some()
            && [&it.low, &it.high].into_iter().all(|it| is_told(cx, it, share))
    });
    can_tell.then_some(true)
}

/// Whether no two of these ranges overlap, and none of these sums is negative; nothing if there are none.
fn are_apart(
    cx: &mut Cx<'_>,
    terms: &[&Disjoint],
    signs: &[&Sum],
    span: Span,
    out: &mut Block,
) -> Option<ExprId> {
    let mut known: Vec<(&Range, [VarId; 2])> = Vec::new();
    let mut condition = None;
    // Without ranges nothing was assumed of how far they reach.
    for sum in signs.iter().filter(|_| !terms.is_empty()) {
        let value = added(cx, None, sum, span);
        let build = &mut cx.build(span);
        let long = build.program.types.get(TypeKind::Int(IntKind::Long));
        let (value, zero) = (build.cast(value, long), build.int(0, long));
        let is_one = build.binary(BinaryOp::Ge, value, zero);
        condition = Some(match condition {
            Some(others) => build.and(others, is_one),
            None => is_one,
        });
    }
    for Disjoint { first, second } in terms {
        let [mine, theirs] = [first, second].map(|range| {
            if let Some(known) = known.iter().find(|it| it.0 == range) {
                return known.1;
            }
            let ends = [("first", &range.low), ("last", &range.high)].map(|(name, sum)| {
                let var = cx.number(name, Space::Uniform, span, out);
                let value = address(cx, range, sum, span);
                cx.set(var, value, span, out);
                var
            });
            known.push((range, ends));
            ends
        });
        let build = &mut cx.build(span);
        let before = [(mine, theirs), (theirs, mine)].map(|(a, b)| {
            let (end, begin) = (build.var(a[1]), build.var(b[0]));
            build.binary(BinaryOp::Le, end, begin)
        });
        let int = build.int_type();
        let are_apart = build.expr(ExprKind::Or(before[0], before[1]), int);
        condition = Some(match condition {
            Some(others) => build.and(others, are_apart),
            None => are_apart,
        });
    }
    condition
}

/// The address so many bytes behind the begin of an object.
fn address(cx: &mut Cx<'_>, range: &Range, sum: &Sum, span: Span) -> ExprId {
    let build = &mut cx.build(span);
    let object = build.var(range.var);
    let object = if range.is_pointee { object } else { build.address(object) };
    let begin = build.as_number(object);
    added(cx, Some(begin), sum, span)
}

/// A sum, and what it is added to.
fn added(cx: &mut Cx<'_>, begin: Option<ExprId>, sum: &Sum, span: Span) -> ExprId {
    let build = &mut cx.build(span);
    let mut all = begin;
    for (factor, vars) in &sum.terms {
        let factor = build.number(*factor);
        let product = vars.iter().fold(factor, |product, var| {
            let var = build.var(*var);
            let var = build.as_number(var);
            build.binary(BinaryOp::Mul, product, var)
        });
        all = Some(match all {
            Some(others) => build.binary(BinaryOp::Add, others, product),
            None => product,
        });
    }
    all.unwrap_or_else(|| build.number(0))
}

/// The loop that code is, if it is one; nobody but lanes shares it.
fn only_loop(program: &Program, code: StmtId) -> Option<StmtId> {
    let mut code = code;
    loop {
        let list = listed(program, code);
        let [only] = list.as_slice() else { return None };
        let C::Region(id) = program.stmts[*only].kind else { return Some(*only) };
        let construct = &program.regions[id].construct;
        let is_free = construct.leaves.iter().all(|it| *it == Leaf::Simd);
        let owns = construct.kinds().any(|it| !matches!(it, ClauseKind::Collapse { .. }));
        code = program.regions[id].body.filter(|_| is_free && !owns)?;
    }
}

/// Where loops stand that are all of what a shared loop does, and on what terms their rounds are independent. Which loops are
/// shared `program` says, which may be another one by now than was written.
pub fn independent(
    written: &Program,
    program: &Program,
    regions: &[RegionId],
    options: &crate::marks::Options,
) -> Free {
    let inside = regions.iter().flat_map(|it| std::iter::once(*it).chain(program.inside(*it)));
    let shared = inside.flat_map(|it| program.regions[it].loops.iter().map(|it| it.stmt));
    let shared: FxHashSet<Span> = shared.map(|it| program.stmts[it].span).collect();
    let is_shared = |it: &StmtId| {
        matches!(written.stmts[*it].kind, C::For(_)) && shared.contains(&written.stmts[*it].span)
    };
    let bodies: Vec<StmtId> = written.stmts.iter().map(|it| it.0).filter(is_shared).collect();
    let nests: Vec<Vec<StmtId>> = bodies.into_iter().map(|it| nest(written, it)).collect();
    let inner: FxHashSet<StmtId> = nests.iter().flat_map(|it| it.iter().skip(1)).copied().collect();
    let (mut analysis, mut found) = (None, Free::default());
    for nest in nests.iter().filter(|it| it.first().is_some_and(|it| !inner.contains(it))) {
        for &one in nest {
            let analysis = analysis.get_or_insert_with(|| Analysis::new(written));
            let terms = match analysis.is_independent(one, options) {
                true => Some(Terms::default()),
                false => nest.first().and_then(|it| analysis.independent_if(one, *it, options)),
            };
            let span = written.stmts[one].span;
            match terms.filter(|it| it.apart.len() <= MOST_PAIRS) {
                Some(terms) => {
                    found.insert(span, terms);
                }
                // Iterations of a directive's own loop are shared whatever is known of them.
                None if shared.contains(&span) => {}
                None => break,
            }
        }
    }
    found
}

/// A loop, that which is all of its iterations, and so on.
fn nest(program: &Program, outermost: StmtId) -> Vec<StmtId> {
    let (mut nest, mut at) = (Vec::new(), Some(outermost));
    while let Some(stmt) = at {
        at = match &program.stmts[stmt].kind {
            C::Block(list) => list.first().copied().filter(|_| list.len() == 1),
            C::Region(id) => program.regions[*id].body,
            C::For(one) => {
                nest.push(stmt);
                Some(one.body)
            }
            _ => None,
        };
    }
    nest
}
