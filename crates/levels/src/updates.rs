//! Sections that one thread at a time runs and that do nothing but change objects, each by a value that depends on none of
//! them: sums, histograms, copies of arrays that threads add up in the end.
//!
//! In: a critical section of device code. Out: its [`Update`]s, if nobody can tell whether they are made one after the other in
//! one turn or each for itself: no section behind the same lock does more, or mentions the objects but to change them. What others do
//! without the lock was not kept apart from it before. The order in which threads take turns was open before, so no result changes that was certain.

use ir::construct::Leaf;
use ir::program::{BinaryOp, ExprId, ExprKind, Program, RegionId, StmtId, StmtKind, VarId};
use ir::walk::Part;
use source::Span;

/// One change of one object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Update {
    /// The statement.
    pub stmt: StmtId,
    /// The variable that the object is, is a part of, or is found by.
    pub var: VarId,
    /// The object.
    pub place: ExprId,
    /// How values are combined with it; what is taken away is added.
    pub op: BinaryOp,
    /// What is combined is computed in a type of whole numbers.
    pub is_whole: bool,
}

/// The updates of a section; none if it is more than those, or must stay whole.
pub fn updates(program: &Program, id: RegionId) -> Option<Vec<Update>> {
    let Some(team) = threads(program, id) else {
        // Whoever calls the function may run more; one change is always one.
        return read(program, program.regions[id].body?).filter(|it| it.len() == 1);
    };
    let name = &program.regions[id].construct.args;
    let is_alike = |it: &RegionId| {
        let region = &program.regions[*it];
        region.construct.leaves == [Leaf::Critical]
            && region.construct.args == *name
            && threads(program, *it) == Some(team)
    };
    let alike: Vec<RegionId> = program.regions.iter().map(|it| it.0).filter(is_alike).collect();
    let mut all: Vec<Update> = Vec::new();
    let mut own = Vec::new();
    for it in &alike {
        let found = read(program, program.regions[*it].body?)?;
        if *it == id {
            own.clone_from(&found);
        }
        all.extend(found);
    }
    let is_one_way =
        |update: &Update| all.iter().all(|other| update.op == other.op || other.var != update.var);
    let vars: Vec<VarId> = all.iter().map(|it| it.var).collect();
    let leads = |it: &VarId| program.types.is_pointer(program.vars[*it].ty);
    // Two pointers may lead to one object.
    let is_mixed =
        vars.iter().any(leads) && all.iter().any(|it| Some(it.op) != all.first().map(|it| it.op));
    let is_fine = !own.is_empty()
        && all.iter().all(is_one_way)
        && !is_mixed
        && vars.iter().all(|it| !is_mentioned(program, &alike, &all, *it));
    is_fine.then_some(own)
}

/// The region whose threads take turns.
fn threads(program: &Program, id: RegionId) -> Option<RegionId> {
    let around = || program.around(id).skip(1);
    let has = |leaf: Leaf| move |it: &RegionId| program.regions[*it].construct.has(leaf);
    let start = around().find(has(Leaf::Offload))?;
    // Teams run at the same time, so all code that they run counts.
    let outermost = around().filter(|it| has(Leaf::Parallel)(it) || has(Leaf::Teams)(it));
    outermost.last().or(Some(start))
}

/// The updates that a statement consists of.
fn read(program: &Program, body: StmtId) -> Option<Vec<Update>> {
    let mut found = Vec::new();
    let mut open = vec![body];
    let mut own: Vec<VarId> = Vec::new();
    while let Some(stmt) = open.pop() {
        match &program.stmts[stmt].kind {
            StmtKind::Empty => {}
            StmtKind::Block(stmts) => open.extend(stmts),
            StmtKind::If(cond, then, None) => {
                is_quiet(program, *cond).then_some(())?;
                open.push(*then);
            }
            StmtKind::For(it) => {
                // It counts with a variable of its own.
                let [first] = *it.init else { return None };
                let StmtKind::Local(var) = program.stmts[first].kind else { return None };
                own.push(var);
                let ExprKind::Step(_, to) = program.exprs[it.step?].kind else { return None };
                (program.exprs[to].kind == ExprKind::Var(var)).then_some(())?;
                is_quiet(program, it.cond?).then_some(())?;
                open.push(it.body);
            }
            StmtKind::Expr(expr) => found.push(update(program, stmt, *expr)?),
            _ => return None,
        }
    }
    found.sort_by_key(|it| program.stmts[it.stmt].span.start);
    found.iter().all(|it| !own.contains(&it.var)).then_some(found)
}

fn update(program: &Program, stmt: StmtId, expr: ExprId) -> Option<Update> {
    let is_integer = |ty| program.types.is_integer(ty);
    let (place, op, is_whole) = match program.exprs[expr].kind {
        ExprKind::AssignOp(op, place, value, computed) => {
            is_quiet(program, value).then_some(())?;
            (place, combined(op)?, is_integer(computed))
        }
        ExprKind::Step(_, place) => (place, BinaryOp::Add, is_integer(program.exprs[place].ty)),
        _ => return None,
    };
    let ty = program.exprs[place].ty;
    let types = &program.types;
    let is_plain = types.is_arithmetic(ty)
        && !types.is_complex(ty)
        && !types.is_bool(ty)
        && !types.is_atomic(ty)
        && !types.resolve(ty).quals.is_volatile;
    let var = crate::items::base(program, place)?;
    (is_plain && is_quiet(program, place)).then_some(Update { stmt, var, place, op, is_whole })
}

fn combined(op: BinaryOp) -> Option<BinaryOp> {
    match op {
        BinaryOp::Add | BinaryOp::Sub => Some(BinaryOp::Add),
        BinaryOp::Mul
        | BinaryOp::Div
        | BinaryOp::BitAnd
        | BinaryOp::BitOr
        | BinaryOp::BitXor
        | BinaryOp::Shl
        | BinaryOp::Shr => Some(op),
        _ => None,
    }
}

/// Whether an expression changes nothing and calls nothing.
fn is_quiet(program: &Program, expr: ExprId) -> bool {
    let mut open = vec![Part::Expr(expr)];
    while let Some(part) = open.pop() {
        if let Part::Expr(at) = part
            && let ExprKind::Call(..)
            | ExprKind::StmtExpr(_)
            | ExprKind::Assign(..)
            | ExprKind::AssignOp(..)
            | ExprKind::Step(..) = program.exprs[at].kind
        {
            return false;
        }
        program.parts(part, &mut |it| open.push(it));
    }
    true
}

/// Whether sections mention a variable other than to update it.
fn is_mentioned(program: &Program, alike: &[RegionId], all: &[Update], var: VarId) -> bool {
    let bodies = alike.iter().filter_map(|it| program.regions[*it].body);
    let code: Vec<Span> = bodies.map(|it| program.stmts[it].span).collect();
    is_mentioned_in(program, &code, all, var)
}

/// Whether code that the threads of a section run, and functions that they call, mention a variable other than to update
/// it in the section.
pub fn is_used_otherwise(program: &Program, id: RegionId, own: &[Update], var: VarId) -> bool {
    let Some(team) = threads(program, id) else { return true };
    let region = &program.regions[team];
    let bodies = region.reaches.iter().filter_map(|it| program.functions[*it].body);
    let code: Vec<Span> =
        region.body.into_iter().chain(bodies).map(|it| program.stmts[it].span).collect();
    is_mentioned_in(program, &code, own, var)
}

fn is_mentioned_in(program: &Program, code: &[Span], all: &[Update], var: VarId) -> bool {
    let is_in = |at: Span, of: Span| of.start <= at.start && at.end <= of.end;
    let is_said = |at: Span| program.regions.iter().any(|it| is_in(at, it.1.construct.span));
    let targets: Vec<ExprId> = all.iter().filter_map(|it| named(program, it.place)).collect();
    program.exprs.iter().any(|(id, it)| {
        it.kind == ExprKind::Var(var)
            && code.iter().any(|of| is_in(it.span, *of))
            && !targets.contains(&id)
            && !is_said(it.span)
    })
}

/// The mention of the variable that an object is found by.
fn named(program: &Program, place: ExprId) -> Option<ExprId> {
    let mut at = place;
    loop {
        match &program.exprs[at].kind {
            ExprKind::Var(_) => return Some(at),
            ExprKind::Member(base, ..)
            | ExprKind::Cast(_, base)
            | ExprKind::Index(base, _)
            | ExprKind::AddrOf(base)
            | ExprKind::Deref(base) => at = *base,
            _ => return None,
        }
    }
}
