//! Loops that get a directive: the form that directives ask for, and what a region around them holds.

use ir::construct::{Args, Construct, Leaf, Rules};
use ir::program::{
    BinaryOp, CastKind, ExprId, ExprKind, Init, Program, RegionId, StepOp, Stmt, StmtId, StmtKind,
    VarId,
};
use ir::region::{Attribute, Loop, LoopTest, Origin, Pointee, Region, RegionVar, Rule, Sharing};
use ir::walk::Part;
use source::Span;

use super::Pass;

/// A loop in the form that directives ask for.
pub fn form(program: &Program, stmt: StmtId) -> Option<Loop> {
    let StmtKind::For(it) = &program.stmts[stmt].kind else { return None };
    let [first] = *it.init else { return None };
    let (var, begin) = match program.stmts[first].kind {
        StmtKind::Local(var) => match program.inits[program.vars[var].init?] {
            Init::Expr(begin) => (var, begin),
            _ => return None,
        },
        StmtKind::Expr(expr) => match program.exprs[expr].kind {
            ExprKind::Assign(to, begin) => (variable(program, to)?, begin),
            _ => return None,
        },
        _ => return None,
    };
    let ExprKind::Binary(op, left, right) = program.exprs[it.cond?].kind else { return None };
    let (op, bound) = match variable(program, left) == Some(var) {
        true => (op, right),
        false if variable(program, right) == Some(var) => (turned(op), left),
        false => return None,
    };
    let test = match op {
        BinaryOp::Lt => LoopTest::Lt,
        BinaryOp::Le => LoopTest::Le,
        BinaryOp::Gt => LoopTest::Gt,
        BinaryOp::Ge => LoopTest::Ge,
        _ => return None,
    };
    let (step, descending) = match program.exprs[it.step?].kind {
        ExprKind::Step(op, to) if variable(program, to) == Some(var) => {
            (None, matches!(op, StepOp::PreDec | StepOp::PostDec))
        }
        ExprKind::AssignOp(BinaryOp::Add, to, by, _) if variable(program, to) == Some(var) => {
            (Some(by), false)
        }
        ExprKind::AssignOp(BinaryOp::Sub, to, by, _) if variable(program, to) == Some(var) => {
            (Some(by), true)
        }
        _ => return None,
    };
    let span = program.stmts[stmt].span;
    let (trips, rectangular, body) = (None, true, it.body);
    Some(Loop { stmt, var, begin, bound, test, step, descending, trips, body, rectangular, span })
}

/// The variable behind conversions that C's rules ask for.
fn variable(program: &Program, expr: ExprId) -> Option<VarId> {
    let mut at = expr;
    while let ExprKind::Cast(CastKind::Implicit, inner) = program.exprs[at].kind {
        at = inner;
    }
    if let ExprKind::Var(var) = program.exprs[at].kind { Some(var) } else { None }
}

fn turned(op: BinaryOp) -> BinaryOp {
    match op {
        BinaryOp::Lt => BinaryOp::Gt,
        BinaryOp::Gt => BinaryOp::Lt,
        BinaryOp::Le => BinaryOp::Ge,
        BinaryOp::Ge => BinaryOp::Le,
        _ => op,
    }
}

impl Pass<'_> {
    /// Puts a directive without clauses before a loop that has none.
    pub(super) fn add_region(&mut self, stmt: StmtId, leaves: Vec<Leaf>) -> Option<RegionId> {
        let id = add_region(&mut self.made.program, stmt, leaves)?;
        self.made.changed.insert(id, None);
        Some(id)
    }
}

/// Puts a directive without clauses before a loop that has none.
pub(crate) fn add_region(
    program: &mut Program,
    stmt: StmtId,
    leaves: Vec<Leaf>,
) -> Option<RegionId> {
    let written = form(program, stmt)?;
    let parent = region_of(program, stmt)?;
    let span = program.stmts[stmt].span;
    let kind = program.stmts[stmt].kind.clone();
    let vars = vars_of(program, parent, stmt, written.var);
    let body = program.stmts.push(Stmt { kind, span });
    let around = &program.regions[parent];
    let region = Region {
        construct: Construct {
            dialect: around.construct.dialect,
            leaves,
            args: Args::None,
            clauses: Vec::new(),
            groups: Vec::new(),
            rules: Rules::NONE,
            span,
        },
        body: Some(body),
        function: around.function,
        parent: Some(parent),
        loops: vec![Loop { stmt: body, ..written }],
        vars,
        reaches: around.reaches.clone(),
        indirect_calls: around.indirect_calls.clone(),
        span,
    };
    let id = program.regions.push(region);
    program.stmts[stmt].kind = StmtKind::Region(id);
    // What stands inside has this one around it now.
    let span_of = |program: &Program, id: RegionId| program.regions[id].span;
    let inner: Vec<RegionId> = program
        .regions
        .iter()
        .filter(|(at, it)| *at != id && it.parent == Some(parent))
        .map(|it| it.0)
        .filter(|it| {
            let at = span_of(program, *it);
            span.start <= at.start && at.end <= span.end
        })
        .collect();
    for it in inner {
        program.regions[it].parent = Some(id);
    }
    Some(id)
}

/// The innermost region that a statement stands in.
fn region_of(program: &Program, stmt: StmtId) -> Option<RegionId> {
    let span = program.stmts[stmt].span;
    let holds = |body: StmtId| {
        let of = program.stmts[body].span;
        of.start <= span.start && span.end <= of.end
    };
    let mut found: Vec<(u32, RegionId)> = program
        .regions
        .iter()
        .filter_map(|(id, it)| Some((id, it.body?)))
        .filter(|it| holds(it.1))
        .map(|(id, body)| (program.stmts[body].span.end - program.stmts[body].span.start, id))
        .collect();
    // Of those with the same body the one that was made last stands inside.
    found.sort_by_key(|it| (it.0, std::cmp::Reverse(it.1)));
    found.first().map(|it| it.1)
}

/// Variables from outside of a loop that it uses.
fn vars_of(program: &Program, around: RegionId, stmt: StmtId, counter: VarId) -> Vec<RegionVar> {
    let mut found: Vec<RegionVar> = Vec::new();
    let mut declared: Vec<VarId> = Vec::new();
    let mut open = vec![Part::Stmt(stmt)];
    while let Some(part) = open.pop() {
        if let Part::Local(var) = part {
            declared.push(var);
        }
        if let Part::Stmt(at) = part
            && let StmtKind::Local(var) = program.stmts[at].kind
        {
            declared.push(var);
        }
        if let Part::Expr(at) = part {
            let (var, writes) = match program.exprs[at].kind {
                ExprKind::Var(var) => (Some(var), false),
                ExprKind::Assign(to, _)
                | ExprKind::AssignOp(_, to, ..)
                | ExprKind::Step(_, to)
                | ExprKind::AddrOf(to) => (crate::items::base(program, to), true),
                _ => (None, false),
            };
            if let Some(var) = var {
                add_var(program, around, var, writes, program.exprs[at].span, &mut found);
            }
        }
        program.parts(part, &mut |it| open.push(it));
    }
    found.retain(|it| !declared.contains(&it.var));
    for it in found.iter_mut().filter(|it| it.var == counter) {
        let (value, origin) = (Sharing::Private, Origin::Rule(Rule::LoopVariable));
        it.sharing = Some(Attribute { value, origin });
    }
    found
}

fn add_var(
    program: &Program,
    around: RegionId,
    var: VarId,
    writes: bool,
    span: Span,
    found: &mut Vec<RegionVar>,
) {
    if let Some(it) = found.iter_mut().find(|it| it.var == var) {
        it.written |= writes;
        return;
    }
    let known = program.regions[around].vars.iter().find(|it| it.var == var);
    found.push(RegionVar {
        var,
        sharing: None,
        mappings: Vec::new(),
        read: true,
        written: writes,
        pointee: known.map_or(Pointee::UNTOUCHED, |it| it.pointee),
        span,
    });
}
