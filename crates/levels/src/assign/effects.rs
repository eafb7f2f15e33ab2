//! What code does that others can see: to other iterations of a loop, and to those who count teams.

use ir::construct::{ClauseKind, Leaf};
use ir::program::{ExprId, ExprKind, Program, RegionId, StmtId, StmtKind, VarId};
use ir::region::{Origin, RegionVar, Rule, Sharing};
use ir::types::TypeKind;
use ir::walk::Part;
use rustc_hash::FxHashSet;

/// Whether the iterations of a region's loop may run in lanes: its body is straight code that calls
/// nothing and assigns to no variable that iterations share.
pub(super) fn is_for_lanes(program: &Program, id: RegionId) -> bool {
    let region = &program.regions[id];
    let Some(last) = region.loops.last() else { return false };
    let is_asked = region.construct.kinds().any(|it| matches!(it, ClauseKind::Vector(_)));
    // Lanes sum up in another order, which rounds differently: not without being asked to.
    let keeps_order = |item: &ExprId| is_asked || program.types.is_integer(program.exprs[*item].ty);
    let is_plain = |item: &ExprId| match program.exprs[*item].kind {
        ExprKind::Var(var) => {
            let ty = program.vars[var].ty;
            // gcc 12 loses values of `_Bool` that lanes sum up.
            let is_bool = matches!(program.types.shape(ty), TypeKind::Bool);
            program.types.is_scalar(ty) && !program.types.is_complex(ty) && !is_bool
        }
        _ => false,
    };
    let has_plain_lists = region.construct.kinds().all(|it| match it {
        ClauseKind::Reduction(it) => it.items.iter().all(|it| is_plain(it) && keeps_order(it)),
        ClauseKind::Private(items) => items.iter().all(is_plain),
        ClauseKind::TileLoop(_) => false,
        ClauseKind::Collapse { force, .. } => !force,
        _ => true,
    });
    has_plain_lists && is_straight(program, last.body) && !assigns_shared(program, id, &|_| false)
}

/// Whether one iteration of a region's loops is soon done: it has no loops and calls nothing.
pub(super) fn is_short(program: &Program, id: RegionId) -> bool {
    program.regions[id].loops.last().is_some_and(|it| is_straight(program, it.body))
}

/// Whether it is code without loops, jumps, calls and directives.
pub fn is_straight(program: &Program, body: StmtId) -> bool {
    let mut open = vec![Part::Stmt(body)];
    while let Some(part) = open.pop() {
        match part {
            Part::Stmt(id) => match program.stmts[id].kind {
                StmtKind::Empty
                | StmtKind::Block(_)
                | StmtKind::Local(_)
                | StmtKind::Expr(_)
                | StmtKind::If(..)
                | StmtKind::Continue => {}
                StmtKind::Error
                | StmtKind::While(..)
                | StmtKind::DoWhile(..)
                | StmtKind::For(_)
                | StmtKind::Switch(..)
                | StmtKind::Case(..)
                | StmtKind::Default(_)
                | StmtKind::Label(..)
                | StmtKind::Goto(_)
                | StmtKind::GotoExpr(_)
                | StmtKind::Break
                | StmtKind::Return(_)
                | StmtKind::Asm(_)
                | StmtKind::Declaration(_) => return false,
                StmtKind::Region(id) => {
                    if !is_advice(program, id) {
                        return false;
                    }
                }
            },
            Part::Expr(id) => {
                if matches!(program.exprs[id].kind, ExprKind::Call(..) | ExprKind::StmtExpr(_)) {
                    return false;
                }
            }
            Part::Region(id) => {
                if !is_advice(program, id) {
                    return false;
                }
            }
            Part::Local(_) | Part::Init(_) => {}
        }
        program.parts(part, &mut |it| open.push(it));
    }
    true
}

/// Whether a directive only says what would be good.
fn is_advice(program: &Program, id: RegionId) -> bool {
    let construct = &program.regions[id].construct;
    construct.has(Leaf::Cache) || construct.has(Leaf::Nothing)
}

/// Whether the iterations of a loop assign to a scalar that they share and that is not `covered`
/// otherwise. Indivisible accesses may.
pub(super) fn assigns_shared(
    program: &Program,
    id: RegionId,
    covered: &dyn Fn(VarId) -> bool,
) -> bool {
    let region = &program.regions[id];
    let Some(body) = region.body else { return false };
    let assigned = assigned(program, body, &|it| program.regions[it].construct.has(Leaf::Atomic));
    region.vars.iter().any(|it| {
        assigned.vars.contains(&it.var)
            && program.types.is_scalar(program.vars[it.var].ty)
            && !has_own(it)
            && !covered(it.var)
    })
}

/// Whether the region's own clauses or loops give every iteration or thread a copy.
pub(super) fn has_own(var: &RegionVar) -> bool {
    let Some(sharing) = &var.sharing else { return false };
    let is_own = match sharing.origin {
        Origin::Clause(_) => true,
        Origin::Rule(rule) => matches!(rule, Rule::LoopVariable | Rule::LaneLoopVariable),
        Origin::Enclosing(..) | Origin::Declared(_) => false,
    };
    is_own && sharing.value != Sharing::Shared
}

/// Whether all that a construct does for others to see is done by the loops in `dealt`: then nobody
/// can tell how many teams there are.
pub(super) fn is_quiet(program: &Program, id: RegionId, dealt: &FxHashSet<RegionId>) -> bool {
    let combines =
        program.regions[id].construct.kinds().any(|it| matches!(it, ClauseKind::Reduction(_)));
    !combines && is_quiet_around(program, id, dealt)
}

/// Whether code of a construct outside of the loops in `dealt` does nothing for others to see.
pub fn is_quiet_around(program: &Program, id: RegionId, dealt: &FxHashSet<RegionId>) -> bool {
    let region = &program.regions[id];
    let Some(body) = region.body else { return true };
    let found = assigned(program, body, &|it| dealt.contains(&it));
    let is_shared = |var: &VarId| {
        region.vars.iter().any(|it| {
            it.var == *var
                && !matches!(
                    it.sharing.as_ref().map(|it| &it.value),
                    Some(Sharing::Private | Sharing::FirstPrivate)
                )
        })
    };
    !found.elsewhere && !found.vars.iter().any(is_shared)
}

/// The variables that a statement assigns to, as a whole or in part.
pub fn assigned_vars(program: &Program, body: StmtId) -> FxHashSet<VarId> {
    assigned(program, body, &|_| false).vars
}

/// What code assigns to.
#[derive(Default)]
struct Assigned {
    vars: FxHashSet<VarId>,
    /// Something that a pointer leads to, or that a function or the machine does.
    elsewhere: bool,
}

/// What a statement assigns to, regions left out that `skips` names.
fn assigned(program: &Program, body: StmtId, skips: &dyn Fn(RegionId) -> bool) -> Assigned {
    let mut found = Assigned::default();
    let mut open = vec![Part::Stmt(body)];
    while let Some(part) = open.pop() {
        match part {
            Part::Region(id) if skips(id) => continue,
            Part::Stmt(id) => match program.stmts[id].kind {
                StmtKind::Region(id) if skips(id) => continue,
                StmtKind::Asm(_) => found.elsewhere = true,
                _ => {}
            },
            Part::Expr(id) => match &program.exprs[id].kind {
                ExprKind::Assign(to, _)
                | ExprKind::AssignOp(_, to, ..)
                | ExprKind::Step(_, to)
                | ExprKind::AddrOf(to) => match root(program, *to) {
                    Some(var) => {
                        found.vars.insert(var);
                    }
                    None => found.elsewhere = true,
                },
                ExprKind::Call(..) => found.elsewhere = true,
                _ => {}
            },
            Part::Region(_) | Part::Local(_) | Part::Init(_) => {}
        }
        program.parts(part, &mut |it| open.push(it));
    }
    found
}

/// The variable that an object is or is a part of; none if a pointer leads there.
fn root(program: &Program, id: ExprId) -> Option<VarId> {
    let mut at = id;
    loop {
        match &program.exprs[at].kind {
            ExprKind::Var(var) => return Some(*var),
            ExprKind::Member(base, ..) | ExprKind::Cast(_, base) => at = *base,
            ExprKind::Index(base, _) if program.types.is_array(program.exprs[*base].ty) => {
                at = *base;
            }
            _ => return None,
        }
    }
}
