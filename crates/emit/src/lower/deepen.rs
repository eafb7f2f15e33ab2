//! Shared loops of which each iteration is one loop more, for grids of threads: both are shared where that brings neighbours
//! in memory to threads side by side, or more threads than the outer loop has iterations.
//!
//! In: a program whose loops have levels. Out: for each such construct the loops that join its nest, as `collapse` would say
//! it; what must be asked first, such as whether arrays lie apart, a pass over its kernel asks. Only loops whose rounds are
//! independent then, in whose nest nobody asks who runs an iteration.

use std::collections::BTreeMap;

use ir::construct::{ClauseKind, Leaf, ReductionModifier};
use ir::program::{Expr, ExprId, ExprKind, Program, RegionId, StmtId, StmtKind, Typed, VarId};
use ir::region::{Attribute, Loop, LoopTest, Origin, Region, Rule, Sharing};
use ir::types::{IntKind, TypeKind};
use ir::walk::Part;
use opt::dependence::Terms;
use opt::marks::Options;
use opt::passes::{Free, independent, side_by_side};
use rustc_hash::FxHashSet;
use source::Span;

use super::loops;

/// Rounds of an inner loop that are left to a thread: so few are soon done, and share what they look at.
const FEW: u64 = 8;
/// Iterations that leave most threads of a device without any.
const SMALL: u64 = 1 << 14;

/// Loops that join nests.
#[derive(Debug, Default)]
pub(super) struct Deeper {
    /// By construct.
    pub(super) loops: BTreeMap<RegionId, Vec<Loop>>,
    /// On what terms.
    pub(super) free: Free,
}

/// Whether the rounds of a loop are independent whatever the kernel is given.
fn is_proven(free: &Free, program: &Program, stmt: StmtId) -> bool {
    free.get(&program.stmts[stmt].span).is_some_and(|it| *it == Terms::default())
}

/// Whether the pass that asks takes a loop.
fn counts_by_ones(one: &Loop) -> bool {
    one.step.is_none() && !one.descending && one.test != LoopTest::Ne
}

/// The loops that may join nests, and gain by it.
pub(super) fn nests(written: &Program, program: &Program, options: &Options) -> Deeper {
    let shares = |it: &(RegionId, &Region)| is_plain(program, it.1) && asks_nobody(program, it.1);
    let regions: Vec<RegionId> = program.regions.iter().filter(shares).map(|it| it.0).collect();
    if regions.is_empty() {
        return Deeper::default();
    }
    let mut free = independent(written, program, &regions, options);
    let found = regions.into_iter().map(|id| (id, deeper(program, id, &free)));
    let loops: BTreeMap<RegionId, Vec<Loop>> = found.filter(|it| !it.1.is_empty()).collect();
    let joined = loops.values().flatten().map(|it| program.stmts[it.stmt].span);
    let joined: FxHashSet<Span> = joined.collect();
    free.retain(|span, _| joined.contains(span));
    Deeper { loops, free }
}

/// Has constructs share those loops too of which nothing is to be asked.
pub(super) fn join(program: &mut Program, found: &Deeper) {
    for (id, added) in &found.loops {
        let is_proven = |it: &&Loop| is_proven(&found.free, program, it.stmt);
        let added: Vec<Loop> = added.iter().take_while(is_proven).cloned().collect();
        if added.is_empty() {
            continue;
        }
        let count = loops::collapsed(program, *id) + added.len();
        for one in &added {
            let region = &mut program.regions[*id];
            let Some(last) = region.loops.last_mut() else { continue };
            last.body = one.stmt;
            if let StmtKind::For(it) = &mut program.stmts[last.stmt].kind {
                it.body = one.stmt;
            }
            region.loops.push(one.clone());
            for var in region.vars.iter_mut().filter(|it| it.var == one.var) {
                let (value, origin) = (Sharing::Private, Origin::Rule(Rule::LoopVariable));
                let is_said = |it: &Attribute<Sharing>| matches!(it.origin, Origin::Clause(_));
                if !var.sharing.as_ref().is_some_and(is_said) {
                    var.sharing = Some(Attribute { value, origin });
                }
            }
        }
        let ty = program.types.get(TypeKind::Int(IntKind::Int));
        let kind = ExprKind::Int(i64::try_from(count).unwrap_or(1));
        let count = program.exprs.push(Expr { kind, ty, span: Span::NONE });
        let clauses = &mut program.regions[*id].construct.clauses;
        let said = clauses.iter_mut().find_map(|it| match &mut it.kind {
            ClauseKind::Collapse { count, .. } => Some(count),
            _ => None,
        });
        match said {
            Some(said) => *said = count,
            None => {
                clauses
                    .push(levels::plain(ClauseKind::Collapse { force: false, count }, Span::NONE));
            }
        }
    }
}

/// Whether a construct shares its loops among threads, and asks for nothing else that a deeper nest would change.
fn is_plain(program: &Program, region: &Region) -> bool {
    let construct = &region.construct;
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
        )
    };
    let is_free = |it: &ClauseKind<Typed>| match it {
        ClauseKind::Ordered(_)
        | ClauseKind::Linear(_)
        | ClauseKind::LastPrivate { .. }
        | ClauseKind::Induction(_)
        | ClauseKind::TileLoop(_) => false,
        ClauseKind::Collapse { count, .. } => {
            matches!(program.exprs[*count].kind, ExprKind::Int(_))
        }
        ClauseKind::Reduction(it) => it.modifier != Some(ReductionModifier::Inscan),
        _ => true,
    };
    let (has, leaves) = (|it| construct.has(it), &construct.leaves);
    leaves.iter().all(is_level)
        && (has(Leaf::For) && has(Leaf::Parallel) || has(Leaf::Loop) && has(Leaf::Teams))
        && !region.loops.is_empty()
        && construct.kinds().all(is_free)
}

/// Whether nothing in a construct asks who runs it.
fn asks_nobody(program: &Program, region: &Region) -> bool {
    region.indirect_calls.is_empty()
        && region.reaches.iter().all(|it| {
            let name = program.names.text(program.functions[*it].name);
            !directive::RUNTIME_SYMBOLS.iter().any(|it| name.starts_with(it))
        })
}

/// The loops that may join the nest of a construct and gain by that.
fn deeper(program: &Program, id: RegionId, free: &Free) -> Vec<Loop> {
    let region = &program.regions[id];
    let mut nest: Vec<Loop> = region.loops.clone();
    let own = nest.len();
    if loops::needs_loops_made(program, id)
        || loops::collapsed(program, id) != own
        || nest.iter().any(|it| !it.rectangular)
    {
        return Vec::new();
    }
    while let Some(body) = nest.last().map(|it| it.body)
        && let Some(stmt) = only_loop(program, body)
        && free.contains_key(&program.stmts[stmt].span)
        && let Some(one) = levels::reshape::canonical_loop(program, stmt)
        && is_steady(program, region, &nest, &one)
        && may_count(region, one.var)
        && (is_proven(free, program, stmt) || counts_by_ones(&one))
    {
        nest.push(one);
    }
    // As deep as anything is gained.
    while nest.len() > own && !gains(program, &nest) {
        nest.pop();
    }
    nest.split_off(own)
}

/// Whether the last loop of a nest is better shared than left to a thread.
fn gains(program: &Program, nest: &[Loop]) -> bool {
    let Some((last, outer)) = nest.split_last() else { return false };
    if trips(program, last).is_some_and(|it| it < FEW) {
        return false;
    }
    let gain = |var: VarId| side_by_side(program, last.body, var);
    let most = outer.iter().map(|it| gain(it.var)).max().unwrap_or(0);
    let iterations = outer.iter().map(|it| trips(program, it));
    let all = iterations.reduce(|a, b| a?.checked_mul(b?)).flatten();
    gain(last.var) > most || all.is_some_and(|it| it < SMALL) && gain(last.var) == most
}

/// The loop that a statement is, if it is one; nobody but lanes shares it.
fn only_loop(program: &Program, stmt: StmtId) -> Option<StmtId> {
    let mut at = stmt;
    loop {
        match &program.stmts[at].kind {
            StmtKind::For(_) => return Some(at),
            StmtKind::Block(list) => {
                let mut code = list.iter().filter(|it| program.stmts[**it].kind != StmtKind::Empty);
                at = *code.next().filter(|_| code.next().is_none())?;
            }
            StmtKind::Region(id) => {
                let construct = &program.regions[*id].construct;
                let is_free = construct.leaves.iter().all(|it| *it == Leaf::Simd);
                at = program.regions[*id]
                    .body
                    .filter(|_| is_free && construct.clauses.is_empty())?;
            }
            _ => return None,
        }
    }
}

/// Whether the bounds of a loop are the same for all iterations of those around it.
fn is_steady(program: &Program, region: &Region, nest: &[Loop], one: &Loop) -> bool {
    let is_fixed = |var: VarId| {
        let is_plain = !program.vars[var].ty.quals.is_volatile
            && program.types.is_scalar(program.vars[var].ty);
        let counts = nest.iter().chain([one]).any(|it| it.var == var);
        is_plain && !counts && region.vars.iter().any(|it| it.var == var && !it.written)
    };
    let moves = |it: &ExprKind| match it {
        ExprKind::Var(var) => !is_fixed(*var),
        ExprKind::Int(_)
        | ExprKind::EnumConst(..)
        | ExprKind::Sizeof(_)
        | ExprKind::Cast(..)
        | ExprKind::Unary(..)
        | ExprKind::Binary(..) => false,
        _ => true,
    };
    let bounds: [Option<ExprId>; 3] = [Some(one.begin), Some(one.bound), one.step];
    !bounds.into_iter().flatten().any(|it| program.any_expr(Part::Expr(it), moves))
}

/// Whether each iteration may have a counter of its own.
fn may_count(region: &Region, var: VarId) -> bool {
    region.vars.iter().filter(|it| it.var == var).all(|it| {
        it.mappings.iter().all(|it| !matches!(it.value, ir::region::Mapping::Map(..)))
            && it.sharing.as_ref().is_none_or(|it| {
                !matches!(it.origin, Origin::Clause(_)) || it.value == Sharing::Private
            })
    })
}

/// How often a loop runs, if that is a constant.
fn trips(program: &Program, one: &Loop) -> Option<u64> {
    if one.trips.is_some() {
        return one.trips;
    }
    let value = |it: ExprId| kernel::count::constant(program, it);
    let (begin, bound) = (value(one.begin)?, value(one.bound)?);
    let step = one.step.map_or(Some(1), value)?;
    Some(bound.abs_diff(begin).div_ceil(step.unsigned_abs().max(1)))
}
