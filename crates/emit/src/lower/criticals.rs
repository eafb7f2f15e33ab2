//! Sums behind locks: a critical section of a device's loop that only combines something into variables.
//!
//! In: a region that leaves the host, with a loop that threads share and critical sections in it. Out: the same without those
//! sections in which every statement combines a value into a scalar that the loop uses for nothing else; the loop combines them
//! itself. The order in which threads take turns was open before, so no result changes that was certain.
//!
//! Sections that change elements of arrays, each by a value that depends on none of them: small arrays are combined by the loop
//! too, else each change becomes an indivisible access ([`levels::updates`]).
//!
//! Sections of code that stays on the host are left alone, and so is all that is more than this.

use ir::construct::{Args, AtomicKind, ClauseKind, Construct, Leaf, Reduction, ReductionOp, Rules};
use ir::program::{BinaryOp, ExprKind, Program, RegionId, Stmt, StmtId, StmtKind, Typed, VarId};
use ir::region::{Attribute, Origin, Region, Sharing};
use ir::walk::Part;
use opt::dependence::Analysis;

use super::levels::{About, Leveled, Note, plain};
use levels::updates::Update;

/// Makes reductions of critical sections that are nothing else.
pub(super) fn combine(written: &Program, leveled: Option<Leveled>) -> Option<Leveled> {
    let is_section = |it: &RegionId| written.regions[*it].construct.leaves == [Leaf::Critical];
    let sections: Vec<RegionId> = written
        .regions
        .iter()
        .map(|it| it.0)
        .filter(is_section)
        .filter(|it| written.around(*it).any(|it| written.regions[it].construct.has(Leaf::Offload)))
        .collect();
    if sections.is_empty() {
        return leveled;
    }
    let mut leveled = leveled.unwrap_or_else(|| Leveled::unchanged(written));
    let analysis = Analysis::new(written);
    for id in sections {
        section(written, &analysis, id, &mut leveled);
        let is_done = leveled.program.regions[id].construct.leaves.is_empty();
        if !is_done && let Some(updates) = levels::updates::updates(written, id) {
            changes(written, id, &updates, &mut leveled);
        }
    }
    Some(leveled)
}

/// Elements of an array of which each thread may have a copy on its stack.
const FEW_BYTES: u64 = 16 << 10;

/// Does the changes of a section in the loop around it, or each for itself.
fn changes(program: &Program, id: RegionId, updates: &[Update], leveled: &mut Leveled) {
    let outer = program.regions[id].parent.filter(|outer| {
        let it = &program.regions[*outer];
        let deals = it.construct.has(Leaf::Parallel) && it.construct.has(Leaf::For);
        deals && !leveled.changed.contains(outer)
    });
    // A copy of a thread's own is not what others see meanwhile.
    let is_alone = |it: &Update| !levels::updates::is_used_otherwise(program, id, updates, it.var);
    let reduced =
        outer.filter(|at| updates.iter().all(|it| is_small(program, *at, it) && is_alone(it)));
    let mut vars: Vec<VarId> = Vec::new();
    for it in updates {
        if !vars.contains(&it.var) {
            vars.push(it.var);
        }
    }
    if let Some(outer) = reduced {
        for update in updates {
            let Some(op) = operator(update.op) else { continue };
            add_reduction(program, outer, update.var, &op, leveled);
        }
    } else {
        updates.iter().for_each(|it| make_indivisible(program, id, it.stmt, leveled));
    }
    let start = program
        .around(id)
        .find(|it| program.regions[*it].construct.has(Leaf::Offload))
        .unwrap_or(id);
    for var in vars {
        let name = program.vars[var].name.map_or("", |it| program.names.text(it));
        let text = match reduced {
            Some(_) => format!("`{name}` is combined by the loop instead of behind a lock"),
            None => format!("changes of `{name}` are indivisible instead of behind a lock"),
        };
        leveled.notes.push(Note {
            about: About::Loop,
            region: program.regions[start].construct.span,
            span: program.regions[id].span,
            text,
            at: Some(program.regions[id].span),
        });
    }
    open_section(id, leveled);
}

/// Whether each thread may have a copy of what is changed, and the copies may be combined.
fn is_small(program: &Program, outer: RegionId, update: &Update) -> bool {
    let ty = program.vars[update.var].ty;
    let types = &program.types;
    let element = program.exprs[update.place].ty;
    let is_array =
        types.is_array(ty) && types.element(ty).is_some_and(|it| it.plain() == element.plain());
    let size = program.model.size_of(types, ty).ok();
    let fits = types.is_scalar(ty) && !types.is_pointer(ty)
        || is_array && size.is_some_and(|it| it <= FEW_BYTES);
    let combines = !types.is_integer(element) || update.is_whole;
    fits && combines
        && operator(update.op).is_some()
        && is_shared(program, outer, update.var)
        && comes_back(program, outer, update.var)
}

fn operator(op: BinaryOp) -> Option<ReductionOp<Typed>> {
    match op {
        BinaryOp::Add => Some(ReductionOp::Add),
        BinaryOp::Mul => Some(ReductionOp::Mul),
        BinaryOp::BitAnd => Some(ReductionOp::BitAnd),
        BinaryOp::BitOr => Some(ReductionOp::BitOr),
        BinaryOp::BitXor => Some(ReductionOp::BitXor),
        _ => None,
    }
}

/// A statement becomes an indivisible access.
fn make_indivisible(program: &Program, id: RegionId, stmt: StmtId, leveled: &mut Leveled) {
    let section = &program.regions[id];
    let made = &mut leveled.program;
    let Stmt { kind, span } = made.stmts[stmt].clone();
    let body = made.stmts.push(Stmt { kind, span });
    let region = Region {
        construct: Construct {
            dialect: directive::HOST_DIALECT,
            leaves: vec![Leaf::Atomic],
            args: Args::None,
            clauses: vec![plain(ClauseKind::AtomicKind(AtomicKind::Update), span)],
            groups: Vec::new(),
            rules: Rules::NONE,
            span,
        },
        body: Some(body),
        function: section.function,
        parent: Some(id),
        loops: Vec::new(),
        vars: Vec::new(),
        reaches: Vec::new(),
        indirect_calls: Vec::new(),
        span,
    };
    let at = made.regions.push(region);
    made.stmts[stmt].kind = StmtKind::Region(at);
    leveled.changed.insert(at);
}

/// A section that is none any more.
fn open_section(id: RegionId, leveled: &mut Leveled) {
    let construct = &mut leveled.program.regions[id].construct;
    construct.leaves.clear();
    construct.clauses.clear();
    construct.args = Args::None;
    leveled.changed.insert(id);
}

/// Whether the threads of a loop have one of it.
fn is_shared(program: &Program, outer: RegionId, var: VarId) -> bool {
    program.regions[outer].vars.iter().any(|it| {
        let sharing = it.sharing.as_ref().map(|it| &it.value);
        it.var == var && matches!(sharing, None | Some(Sharing::Shared))
    })
}

/// Whether its value comes back to the host.
fn comes_back(program: &Program, outer: RegionId, var: VarId) -> bool {
    program.around(outer).any(|it| {
        program.regions[it].vars.iter().any(|it| {
            let maps = |it: &Attribute<ir::region::Mapping>| {
                matches!(it.value, ir::region::Mapping::Map(ir::construct::Motion::ToFrom, ..))
            };
            it.var == var && it.mappings.iter().any(maps)
        })
    })
}

/// A loop combines a variable, if it does not already.
fn add_reduction(
    program: &Program,
    outer: RegionId,
    var: VarId,
    op: &ReductionOp<Typed>,
    leveled: &mut Leveled,
) -> bool {
    let span = program.regions[outer].construct.span;
    let ty = program.vars[var].ty;
    let sharing = Sharing::Reduction(op.clone());
    let is_named = leveled.program.regions[outer]
        .vars
        .iter()
        .any(|it| it.var == var && it.sharing.as_ref().is_some_and(|it| it.value == sharing));
    if is_named {
        // Another section of the same loop combines into it too.
        return false;
    }
    let expr = ir::program::Expr { kind: ExprKind::Var(var), ty, span };
    let item = leveled.program.exprs.push(expr);
    let region = &mut leveled.program.regions[outer];
    let at = u32::try_from(region.construct.clauses.len()).unwrap_or(u32::MAX);
    let (modifier, original, items) = (None, None, vec![item]);
    let kind = ClauseKind::Reduction(Reduction { modifier, original, op: op.clone(), items });
    region.construct.clauses.push(plain(kind, span));
    if let Some(it) = region.vars.iter_mut().find(|it| it.var == var) {
        it.sharing = Some(Attribute { value: sharing, origin: Origin::Clause(at) });
    }
    true
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
        let is_inside = program.around(*it).skip(1).any(|it| it == outer);
        is_inside && program.regions[*it].construct.has(Leaf::Critical)
    };
    let mut others = program.regions.iter().map(|it| it.0).filter(is_other);
    if others.any(|it| program.regions[it].body.is_none_or(|it| combined(program, it).is_none())) {
        return;
    }
    let mut found: Vec<(VarId, ReductionOp<Typed>)> = Vec::new();
    for var in vars {
        let Some(sum) = sums.iter().find(|it| it.0 == var) else { return };
        let is_plain = program.types.is_scalar(program.vars[var].ty);
        let is_whole = is_shared(program, outer, var) && comes_back(program, outer, var);
        if !is_whole || !is_plain || matches!(sum.1, ReductionOp::User(_)) {
            return;
        }
        found.push(sum.clone());
    }
    for (var, op) in found {
        if !add_reduction(program, outer, var, &op, leveled) {
            continue;
        }
        let name = program.vars[var].name.map_or("", |it| program.names.text(it));
        let start = program
            .around(outer)
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
    open_section(id, leveled);
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
