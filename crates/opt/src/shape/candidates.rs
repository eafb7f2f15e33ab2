//! The shapes that a nest may take.

use ir::construct::Leaf;
use ir::program::{ExprId, ExprKind, Program, VarId};
use ir::walk::Part;

use super::Shape;
use super::cost::Model;
use crate::marks::{LoopMark, LoopTree, TripsFrom};
use crate::profile::Kind;

/// A loop inside that runs less often than this never has the threads of a GPU.
const FEW: u64 = 16;

/// Shapes of a nest, simple ones first.
pub(super) fn of(model: &Model<'_>, root: usize) -> Vec<Shape> {
    let mut found = Vec::new();
    let mut chain = chain(model.tree, root);
    if model.profile.kind == Kind::Gpu {
        let queues =
            |at: usize| model.tree.loop_at(at).is_some_and(|it| queues_up(model.program, it));
        let alone = chain.iter().skip(1).position(|it| queues(*it)).map(|it| it + 1);
        chain.truncate(alone.unwrap_or(chain.len()));
    }
    for count in 1..=chain.len() {
        let outer: Vec<usize> = chain.iter().take(count).copied().collect();
        let plain = Shape { outer: outer.clone(), ..Shape::default() };
        if model.profile.kind == Kind::Gpu {
            with_lanes(model, plain.clone(), &mut found);
            for split in splits(model, &outer) {
                with_lanes(model, Shape { split, ..plain.clone() }, &mut found);
            }
        } else {
            with_lanes(model, plain, &mut found);
        }
    }
    if let Some(inner) = model.within(root) {
        let shape = Shape { whole: vec![root], outer: vec![inner], ..Shape::default() };
        with_lanes(model, shape, &mut found);
    }
    with_lanes(model, Shape::default(), &mut found);
    // Nothing but lanes is no mapping of its own where loops inside are nests.
    let has_children = model.tree.loop_at(root).is_some_and(|it| !it.children.is_empty());
    found.retain(|it| !(has_children && it.outer.is_empty() && !it.lanes.is_empty()));
    found
}

/// Loops that may be made one, outermost first: parallel, tightly nested, with bounds of their own.
pub(super) fn chain(tree: &LoopTree, root: usize) -> Vec<usize> {
    let mut found = Vec::new();
    let mut at = root;
    while let Some(mark) = tree.loop_at(at) {
        let is_first = found.is_empty();
        if !mark.is_parallel() || !(is_first || mark.is_tight && mark.is_rectangular) {
            break;
        }
        // What is combined over one of several loops and not over all would need two clauses.
        found.push(at);
        let [only] = mark.children.as_slice() else { break };
        at = *only;
    }
    found
}

/// Whether the few iterations of a loop all change one place atomically: threads that had one each would wait for
/// each other.
fn queues_up(program: &Program, mark: &LoopMark) -> bool {
    let is_short = mark.trips.from == TripsFrom::Constant && mark.trips.estimate < FEW;
    let Some(var) = mark.finding.var.filter(|_| is_short) else { return false };
    let loop_span = mark.finding.span;
    let mut inside = program.regions.iter().map(|it| it.1).filter(|it| {
        let span = it.span;
        it.construct.has(Leaf::Atomic) && loop_span.start <= span.start && span.end <= loop_span.end
    });
    inside.any(|it| it.body.is_some_and(|it| changes_one_place(program, Part::Stmt(it), var)))
}

/// Whether something in memory is changed whose place does not depend on a variable.
fn changes_one_place(program: &Program, within: Part, var: VarId) -> bool {
    let is_var = |it: &ExprKind| matches!(it, ExprKind::Var(it) if *it == var);
    let is_fixed = |to: ExprId| {
        let is_element = matches!(program.exprs[to].kind, ExprKind::Index(..) | ExprKind::Deref(_));
        is_element && !program.any_expr(Part::Expr(to), is_var)
    };
    let target = |it: &ExprKind| {
        if let ExprKind::Assign(to, _) | ExprKind::AssignOp(_, to, ..) | ExprKind::Step(_, to) = it
        {
            return Some(*to);
        }
        None
    };
    program.any_expr(within, |it| target(it).is_some_and(is_fixed))
}

/// Sets of loops inside that may have the threads: on each way inwards one.
fn splits(model: &Model<'_>, outer: &[usize]) -> Vec<Vec<usize>> {
    let Some(&last) = outer.last() else { return Vec::new() };
    let mut found: Vec<Vec<usize>> = Vec::new();
    let depth = model.tree.loop_at(last).map_or(0, |it| it.depth);
    let nest = model.tree.nest(last);
    let deepest = nest.iter().filter_map(|it| model.tree.loop_at(*it)).map(|it| it.depth).max();
    for from in depth + 1..=deepest.unwrap_or(depth) {
        let mut set = Vec::new();
        for &at in nest.iter().skip(1) {
            let Some(mark) = model.tree.loop_at(at) else { continue };
            let is_inside = set.iter().any(|it| model.tree.is_within(at, *it));
            if mark.depth >= from && !is_inside && may_have_threads(model, mark) {
                set.push(at);
            }
        }
        if !set.is_empty() && !found.contains(&set) {
            found.push(set);
        }
    }
    found
}

fn may_have_threads(model: &Model<'_>, mark: &LoopMark) -> bool {
    let trips = &mark.trips;
    let least = match trips.from {
        TripsFrom::Constant | TripsFrom::Given => FEW,
        TripsFrom::Values | TripsFrom::Declared | TripsFrom::Guess => 2 * model.profile.warp,
    };
    mark.is_parallel() && trips.estimate >= least
}

/// A shape without lanes, and with lanes on the innermost loops that like them.
fn with_lanes(model: &Model<'_>, plain: Shape, found: &mut Vec<Shape>) {
    let (outer, split) = (&plain.outer, &plain.split);
    let word = model.profile.lanes_need_word;
    if model.profile.kind == Kind::Gpu {
        // The loop of the threads is what lanes are made of.
        let lanes = match (word, split.is_empty()) {
            (false, _) => Vec::new(),
            (true, true) => outer.last().copied().into_iter().collect(),
            (true, false) => split.clone(),
        };
        found.push(Shape { lanes, ..plain });
        return;
    }
    let taken = |at: usize| outer.len() > 1 && outer.contains(&at);
    let root = outer.first().copied();
    let nest = root.map_or(Vec::new(), |it| model.tree.nest(it));
    let lanes: Vec<usize> =
        nest.into_iter().filter(|it| !taken(*it) && model.may_have_lanes(*it)).collect();
    found.push(plain.clone());
    if !lanes.is_empty() {
        found.push(Shape { lanes, ..plain });
    }
}
