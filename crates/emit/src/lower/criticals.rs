//! Sums behind locks: a critical section of a device's loop that only combines something into variables.
//!
//! In: a region that leaves the host, with a loop that threads share and critical sections in it. Out: the same without those
//! sections in which every statement combines a value into a scalar that the loop uses for nothing else; the loop combines them
//! itself. The order in which threads take turns was open before, so no result changes that was certain.
//!
//! Sections of code that stays on the host are left alone, and so is all that is more than this.

use ir::construct::{ClauseKind, Leaf, Reduction, ReductionOp};
use ir::program::{ExprKind, Program, RegionId, StmtId, StmtKind, Typed, VarId};
use ir::region::{Attribute, Origin, Sharing};
use ir::walk::Part;
use opt::dependence::Analysis;
use rustc_hash::FxHashSet;
use source::Diagnostics;

use super::levels::{About, Leveled, Note, plain};

/// Makes reductions of critical sections that are nothing else.
pub(super) fn combine(written: &Program, leveled: Option<Leveled>) -> Option<Leveled> {
    let is_section = |it: &RegionId| written.regions[*it].construct.leaves == [Leaf::Critical];
    let sections: Vec<RegionId> = written
        .regions
        .iter()
        .map(|it| it.0)
        .filter(is_section)
        .filter(|it| {
            around(written, *it).any(|it| written.regions[it].construct.has(Leaf::Offload))
        })
        .collect();
    if sections.is_empty() {
        return leveled;
    }
    let mut leveled = leveled.unwrap_or_else(|| Leveled {
        program: written.clone(),
        changed: FxHashSet::default(),
        notes: Vec::new(),
        faults: Diagnostics::new(),
    });
    let analysis = Analysis::new(written);
    for id in sections {
        section(written, &analysis, id, &mut leveled);
    }
    Some(leveled)
}

fn around(program: &Program, id: RegionId) -> impl Iterator<Item = RegionId> + '_ {
    std::iter::successors(Some(id), |it| program.regions[*it].parent)
}

fn section(program: &Program, analysis: &Analysis<'_>, id: RegionId, leveled: &mut Leveled) {
    let Some(outer) = program.regions[id].parent else { return };
    let it = &program.regions[outer];
    let deals = it.construct.has(Leaf::Parallel) && it.construct.has(Leaf::For);
    let (Some(body), [first, ..]) = (program.regions[id].body, it.loops.as_slice()) else { return };
    if !deals || leveled.changed.contains(&outer) {
        return;
    }
    let sums = analysis.examine(first.stmt).reductions;
    let Some(vars) = combined(program, body) else { return };
    // What another section does behind the same lock may be meant to be kept apart from this one.
    let is_other = |it: &RegionId| {
        let is_inside = around(program, *it).skip(1).any(|it| it == outer);
        is_inside && program.regions[*it].construct.has(Leaf::Critical)
    };
    let mut others = program.regions.iter().map(|it| it.0).filter(is_other);
    if others.any(|it| program.regions[it].body.is_none_or(|it| combined(program, it).is_none())) {
        return;
    }
    let mut found: Vec<(VarId, ReductionOp<Typed>)> = Vec::new();
    for var in vars {
        let Some(sum) = sums.iter().find(|it| it.0 == var) else { return };
        let is_shared = it.vars.iter().any(|it| {
            let sharing = it.sharing.as_ref().map(|it| &it.value);
            it.var == var && matches!(sharing, None | Some(Sharing::Shared))
        });
        let comes_back = around(program, outer).any(|it| {
            program.regions[it].vars.iter().any(|it| {
                let maps = |it: &Attribute<ir::region::Mapping>| {
                    matches!(it.value, ir::region::Mapping::Map(ir::construct::Motion::ToFrom, ..))
                };
                it.var == var && it.mappings.iter().any(maps)
            })
        });
        let is_plain = program.types.is_scalar(program.vars[var].ty);
        if !is_shared || !comes_back || !is_plain || matches!(sum.1, ReductionOp::User(_)) {
            return;
        }
        found.push(sum.clone());
    }
    let span = it.construct.span;
    for (var, op) in found {
        let ty = program.vars[var].ty;
        let expr = ir::program::Expr { kind: ExprKind::Var(var), ty, span };
        let item = leveled.program.exprs.push(expr);
        let region = &mut leveled.program.regions[outer];
        let at = u32::try_from(region.construct.clauses.len()).unwrap_or(u32::MAX);
        let sharing = Sharing::Reduction(op.clone());
        let (modifier, original, items) = (None, None, vec![item]);
        let kind = ClauseKind::Reduction(Reduction { modifier, original, op, items });
        let is_named = region
            .vars
            .iter()
            .any(|it| it.var == var && it.sharing.as_ref().is_some_and(|it| it.value == sharing));
        if is_named {
            // Another section of the same loop combines into it too.
            continue;
        }
        region.construct.clauses.push(plain(kind, span));
        if let Some(it) = region.vars.iter_mut().find(|it| it.var == var) {
            it.sharing = Some(Attribute { value: sharing, origin: Origin::Clause(at) });
        }
        let name = program.vars[var].name.map_or("", |it| program.names.text(it));
        let start = around(program, outer)
            .find(|it| program.regions[*it].construct.has(Leaf::Offload))
            .unwrap_or(outer);
        leveled.notes.push(Note {
            about: About::Loop,
            region: program.regions[start].construct.span,
            span: first.span,
            text: format!("`{name}` is combined by the loop instead of behind a lock"),
            at: Some(program.regions[id].span),
        });
    }
    let construct = &mut leveled.program.regions[id].construct;
    construct.leaves.clear();
    construct.clauses.clear();
    construct.args = ir::construct::Args::None;
    leveled.changed.insert(id);
}

/// The variables that the statements of a section assign to, if it does nothing else.
fn combined(program: &Program, body: StmtId) -> Option<Vec<VarId>> {
    let mut found = Vec::new();
    let mut open = vec![body];
    while let Some(stmt) = open.pop() {
        match &program.stmts[stmt].kind {
            StmtKind::Empty => {}
            StmtKind::Block(stmts) => open.extend(stmts),
            StmtKind::If(_, then, None) => open.push(*then),
            StmtKind::Expr(expr) => {
                let (ExprKind::Assign(to, _)
                | ExprKind::AssignOp(_, to, ..)
                | ExprKind::Step(_, to)) = program.exprs[*expr].kind
                else {
                    return None;
                };
                let ExprKind::Var(var) = program.exprs[to].kind else { return None };
                if !found.contains(&var) {
                    found.push(var);
                }
            }
            _ => return None,
        }
    }
    // A function may keep something that the lock is for.
    let mut parts = vec![Part::Stmt(body)];
    while let Some(part) = parts.pop() {
        if let Part::Expr(it) = part
            && let ExprKind::Call(..) | ExprKind::StmtExpr(_) = program.exprs[it].kind
        {
            return None;
        }
        program.parts(part, &mut |it| parts.push(it));
    }
    (!found.is_empty()).then_some(found)
}
