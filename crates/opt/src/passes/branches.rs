//! `branches`: what all branches of a condition compute is computed once, with operands that the condition chooses.
//!
//! In: a conditional statement in code that one thread runs, whose branches assign to the same variables or elements, one after the
//! other. Both are built in hardware, though only one is wanted. Out: assignments of expressions in which operators that branches
//! have in common stand once: `if (c) x = a * b + d; else x = p * q;` becomes `x = (c ? a : p) * (c ? b : q) + …` as far as that
//! takes fewer operators. Operands of sums and products may change places; nothing else is computed in another order, so that the
//! result is the same in every bit.
//!
//! Left alone: branches with other statements, conditions that depend on what an earlier iteration has computed (the operator would
//! have to wait for them).

use ir::program::{
    BinaryOp, ExprId, ExprKind, Init, Program, StmtId, StmtKind as C, UnaryOp, VarId,
};
use ir::types::Ty;
use ir::walk::Part;
use kernel::build::Builder;
use kernel::walk::uses;
use rustc_hash::{FxHashMap, FxHashSet};

use super::code::{code_of, for_of, is_quiet, loops, replace};
use super::tile::is_same;
use super::{Cx, Result};

/// What operators take of a device, roughly: those on floating-point numbers and multipliers are large.
const FLOAT: u64 = 24;
const DIVISION: u64 = 64;
const PRODUCT: u64 = 8;
const ACCESS: u64 = 16;
const PLAIN: u64 = 1;
/// Expressions with more parts are not compared.
const MOST_PARTS: usize = 400;

pub(super) fn run(cx: &mut Cx<'_>) -> Result<()> {
    let Some(code) = code_of(cx) else { return Ok(()) };
    let mut replaced: FxHashMap<StmtId, StmtId> = FxHashMap::default();
    let mut joined = 0;
    for stmt in loops(cx.program, code) {
        let is_innermost = loops(cx.program, stmt).len() == 1;
        let Some(it) = for_of(cx.program, stmt).filter(|_| is_innermost) else { continue };
        let gives = gives(cx.program, it.body);
        let around = Around { gives, is_free: cx.kernel.launch.independent.contains(&stmt) };
        let mut found = Vec::new();
        conditions(cx.program, it.body, &mut found);
        for (at, span) in found {
            let mut join = Join {
                build: cx.build(span),
                around: &around,
                asked: Vec::new(),
                conditions: Vec::new(),
                known: FxHashMap::default(),
            };
            if let Some(list) = join.joined(at) {
                joined += 1;
                let made = cx.build(span).stmt(C::Block(list.into()));
                replaced.insert(at, made);
            }
        }
    }
    if !replaced.is_empty() {
        let choose = if joined == 1 { "condition chooses" } else { "conditions choose" };
        let note = format!("{joined} {choose} operands of what branches have in common");
        replace(cx, replaced);
        cx.kernel.launch.notes.push(note);
    }
    Ok(())
}

/// Outermost conditional statements with two branches.
fn conditions(program: &Program, stmt: StmtId, out: &mut Vec<(StmtId, source::Span)>) {
    match &program.stmts[stmt].kind {
        C::Block(list) => list.iter().for_each(|it| conditions(program, *it, out)),
        C::If(_, _, Some(_)) => out.push((stmt, program.stmts[stmt].span)),
        C::If(_, then, None) => conditions(program, *then, out),
        _ => {}
    }
}

/// Who gets a value from whom in an iteration: a variable (none: memory), those that its value and the conditions around name,
/// and whether these look at memory.
type Gives = Vec<(Option<VarId>, FxHashSet<VarId>, bool)>;

/// What the assignments of a body name.
fn gives(program: &Program, body: StmtId) -> Gives {
    let mut all = Vec::new();
    let mut open = vec![(Part::Stmt(body), Vec::<ExprId>::new())];
    while let Some((part, conditions)) = open.pop() {
        let set = match part {
            Part::Expr(e) => match program.exprs[e].kind {
                ExprKind::Assign(to, value) => Some((to, vec![value])),
                ExprKind::AssignOp(_, to, value, _) => Some((to, vec![to, value])),
                ExprKind::Step(_, to) => Some((to, vec![to])),
                _ => None,
            }
            .map(|(to, values)| match program.exprs[to].kind {
                ExprKind::Var(var) => (Some(var), values),
                _ => (None, values),
            }),
            Part::Local(var) => program.vars[var].init.and_then(|it| match program.inits[it] {
                Init::Expr(value) => Some((Some(var), vec![value])),
                Init::List(..) => None,
            }),
            _ => None,
        };
        if let Some((to, values)) = set {
            let named = values.iter().chain(&conditions);
            let (mut vars, mut looks) = (FxHashSet::default(), false);
            for e in named {
                vars.extend(uses(program, Part::Expr(*e)).0.iter().map(|it| it.var));
                looks |= looks_at_memory(program, *e);
            }
            all.push((to, vars, looks));
        }
        let mut around = conditions;
        if let Part::Stmt(stmt) = part
            && let C::If(c, ..) = program.stmts[stmt].kind
        {
            around.push(c);
        }
        program.parts(part, &mut |it| open.push((it, around.clone())));
    }
    all
}

fn looks_at_memory(program: &Program, e: ExprId) -> bool {
    let mut open = vec![Part::Expr(e)];
    while let Some(part) = open.pop() {
        if let Part::Expr(e) = part
            && matches!(
                program.exprs[e].kind,
                ExprKind::Index(..) | ExprKind::Deref(_) | ExprKind::Call(..)
            )
        {
            return true;
        }
        program.parts(part, &mut |it| open.push(it));
    }
    false
}

/// The loop that a condition stands in.
struct Around {
    gives: Gives,
    /// Its iterations do not meet in memory.
    is_free: bool,
}

impl Around {
    /// Whether a condition depends on what is assigned to these, in this iteration or by way of the next.
    fn comes_back(&self, program: &Program, to: &[ExprId], condition: ExprId) -> bool {
        let (mut vars, mut memory) = (FxHashSet::default(), false);
        for to in to {
            match program.exprs[*to].kind {
                ExprKind::Var(var) => {
                    vars.insert(var);
                }
                _ => memory |= !self.is_free,
            }
        }
        loop {
            let before = (vars.len(), memory);
            for (to, names, looks) in &self.gives {
                if names.iter().any(|it| vars.contains(it)) || memory && *looks {
                    match to {
                        Some(var) => {
                            vars.insert(*var);
                        }
                        None => memory |= !self.is_free,
                    }
                }
            }
            if before == (vars.len(), memory) {
                break;
            }
        }
        let (used, _) = uses(program, Part::Expr(condition));
        used.iter().any(|it| vars.contains(&it.var))
            || memory && looks_at_memory(program, condition)
    }
}

struct Join<'p, 'w> {
    build: Builder<'p>,
    around: &'w Around,
    /// Conditions, asked before anything else.
    asked: Vec<StmtId>,
    conditions: Vec<ExprId>,
    /// What was made of a condition and two expressions.
    known: FxHashMap<(ExprId, ExprId, ExprId), ExprId>,
}

/// An assignment: the operator if it has one, the type that is computed in, where to, and the value.
type Set = (Option<(BinaryOp, Ty)>, ExprId, ExprId, Ty);

impl Join<'_, '_> {
    /// Statements that stand for a conditional one, if operators are saved.
    fn joined(&mut self, stmt: StmtId) -> Option<Vec<StmtId>> {
        let C::If(c, then, Some(other)) = self.build.program.stmts[stmt].kind else { return None };
        let program = &*self.build.program;
        if !is_quiet(program, c) {
            return None;
        }
        let condition = self.asked(c, &[]);
        let a = self.branch(then, &[(condition, true)])?;
        let b = self.branch(other, &[(condition, false)])?;
        if a.len() != b.len() || a.is_empty() {
            return None;
        }
        let to: Vec<ExprId> = a.iter().map(|it| it.1).collect();
        let program = &*self.build.program;
        // Conditions inside are asked before anything is stored.
        let looks = self.conditions.iter().skip(1).any(|it| looks_at_memory(program, *it));
        if looks && to.len() > 1 {
            return None;
        }
        if self.conditions.iter().any(|it| self.around.comes_back(program, &to, *it)) {
            return None;
        }
        let mut list = std::mem::take(&mut self.asked);
        let (mut before, mut after) = (0u64, 0u64);
        for (first, second) in a.iter().zip(&b) {
            let ((how, to, x, ty), (other_how, other_to, y, _)) = (*first, *second);
            let program = &*self.build.program;
            if how != other_how || !is_same(program, to, other_to) {
                return None;
            }
            before += self.cost(x) + self.cost(y);
            let value = self.one_of(condition, x, y);
            after += self.cost(value);
            let e = match how {
                Some((op, within)) => {
                    let kind = ExprKind::AssignOp(op, to, value, within);
                    before += self.operator(op, within);
                    self.build.expr(kind, ty)
                }
                None => self.build.assign(to, value),
            };
            list.push(self.build.stmt(C::Expr(e)));
        }
        // What is chosen takes less than what is saved.
        if after + PRODUCT > before {
            return None;
        }
        Some(list)
    }

    /// A branch as assignments; conditional statements in it are joined first.
    /// `path`: conditions around, and whether they hold.
    fn branch(&mut self, stmt: StmtId, path: &[(VarId, bool)]) -> Option<Vec<Set>> {
        let program = &*self.build.program;
        match &program.stmts[stmt].kind {
            C::Empty => Some(Vec::new()),
            C::Block(list) => {
                let list = list.to_vec();
                let mut all = Vec::new();
                for it in list {
                    all.extend(self.branch(it, path)?);
                }
                Some(all)
            }
            C::Expr(e) => {
                let ty = program.exprs[*e].ty;
                let set = match program.exprs[*e].kind {
                    ExprKind::Assign(to, value) => (None, to, value, ty),
                    ExprKind::AssignOp(op, to, value, within) => {
                        (Some((op, within)), to, value, ty)
                    }
                    _ => return None,
                };
                let is_place = is_quiet(program, set.1);
                (is_place && is_quiet(program, set.2)).then(|| vec![set])
            }
            C::If(c, then, Some(other)) => {
                let (c, then, other) = (*c, *then, *other);
                if !is_quiet(program, c) {
                    return None;
                }
                let condition = self.asked(c, path);
                let a = self.branch(then, &[path, &[(condition, true)]].concat())?;
                let b = self.branch(other, &[path, &[(condition, false)]].concat())?;
                let [(None, to, x, ty)] = *a.as_slice() else { return None };
                let [(None, other_to, y, _)] = *b.as_slice() else { return None };
                let program = &*self.build.program;
                if !is_same(program, to, other_to) {
                    return None;
                }
                let value = self.one_of(condition, x, y);
                Some(vec![(None, to, value, ty)])
            }
            _ => None,
        }
    }

    /// A variable that has the answer of a condition, which is asked where others hold.
    fn asked(&mut self, c: ExprId, path: &[(VarId, bool)]) -> VarId {
        self.conditions.push(c);
        let int = self.build.int_type();
        let var = self.build.fresh("branch", int);
        let is_truth = matches!(
            self.build.program.exprs[c].kind,
            ExprKind::And(..) | ExprKind::Or(..) | ExprKind::Unary(UnaryOp::Not, _)
        ) || self.is_comparison(c);
        let truth = match is_truth {
            true => c,
            false => {
                let turned = self.build.not(c);
                self.build.not(turned)
            }
        };
        let mut truth = truth;
        for (around, holds) in path.iter().rev() {
            let around = self.build.var(*around);
            let around = if *holds { around } else { self.build.not(around) };
            truth = self.build.and(around, truth);
        }
        self.asked.push(self.build.stmt(C::Local(var)));
        let e = self.build.set(var, truth);
        self.asked.push(self.build.stmt(C::Expr(e)));
        var
    }

    fn is_comparison(&self, c: ExprId) -> bool {
        let ExprKind::Binary(op, ..) = self.build.program.exprs[c].kind else { return false };
        is_order(op)
    }

    fn one_of(&mut self, condition: VarId, a: ExprId, b: ExprId) -> ExprId {
        let c = self.build.var(condition);
        self.chosen(c, a, b)
    }

    /// One of two expressions, with operators that they have in common standing once where that takes less.
    fn chosen(&mut self, c: ExprId, a: ExprId, b: ExprId) -> ExprId {
        if let Some(known) = self.known.get(&(c, a, b)) {
            return *known;
        }
        let made = self.joint(c, a, b);
        self.known.insert((c, a, b), made);
        made
    }

    fn joint(&mut self, c: ExprId, a: ExprId, b: ExprId) -> ExprId {
        let program = &*self.build.program;
        if is_same(program, a, b) {
            return a;
        }
        let plain = self.build.either(c, a, b);
        let program = &*self.build.program;
        let (x, y) = (program.exprs[a].clone(), program.exprs[b].clone());
        if x.ty.plain() != y.ty.plain() {
            return plain;
        }
        let types =
            |a: ExprId, b: ExprId| program.exprs[a].ty.plain() == program.exprs[b].ty.plain();
        let kind = match (&x.kind, &y.kind) {
            (ExprKind::Binary(op, p, q), ExprKind::Binary(other, r, s))
                if op == other && types(*p, *r) && types(*q, *s) =>
            {
                let (op, p, q, r, s) = (*op, *p, *q, *r, *s);
                let straight = self.pair(c, (p, q), (r, s));
                let swaps = matches!(op, BinaryOp::Add | BinaryOp::Mul)
                    && self.build.type_of(p).plain() == self.build.type_of(q).plain();
                let (p, q) = match swaps {
                    true => {
                        let crossed = self.pair(c, (p, q), (s, r));
                        let cost = |it: (ExprId, ExprId)| self.cost(it.0) + self.cost(it.1);
                        if cost(crossed) < cost(straight) { crossed } else { straight }
                    }
                    false => straight,
                };
                ExprKind::Binary(op, p, q)
            }
            (ExprKind::Unary(op, p), ExprKind::Unary(other, q)) if op == other && types(*p, *q) => {
                let (op, p, q) = (*op, *p, *q);
                ExprKind::Unary(op, self.chosen(c, p, q))
            }
            (ExprKind::Cast(how, p), ExprKind::Cast(other, q)) if how == other && types(*p, *q) => {
                let is_number = program.types.is_arithmetic(program.exprs[*p].ty);
                if !is_number {
                    return plain;
                }
                let (how, p, q) = (*how, *p, *q);
                ExprKind::Cast(how, self.chosen(c, p, q))
            }
            (ExprKind::Index(p, i), ExprKind::Index(q, j))
                if is_same(program, *p, *q) && types(*i, *j) =>
            {
                let (p, i, j) = (*p, *i, *j);
                ExprKind::Index(p, self.chosen(c, i, j))
            }
            _ => return plain,
        };
        let joined = self.build.expr(kind, x.ty);
        if self.cost(joined) < self.cost(plain) { joined } else { plain }
    }

    fn pair(
        &mut self,
        c: ExprId,
        (p, q): (ExprId, ExprId),
        (r, s): (ExprId, ExprId),
    ) -> (ExprId, ExprId) {
        (self.chosen(c, p, r), self.chosen(c, q, s))
    }

    /// What an expression takes of a device, roughly.
    fn cost(&self, e: ExprId) -> u64 {
        let program = &*self.build.program;
        let (mut sum, mut open, mut parts) = (0, vec![e], 0);
        while let Some(e) = open.pop() {
            parts += 1;
            if parts > MOST_PARTS * 8 {
                break;
            }
            let expr = &program.exprs[e];
            sum += match &expr.kind {
                ExprKind::Binary(op, a, _) => self.operator(*op, program.exprs[*a].ty),
                ExprKind::Index(..) | ExprKind::Deref(_) => {
                    ACCESS * u64::from(program.types.is_scalar(expr.ty))
                }
                ExprKind::Cast(_, of) => {
                    let is_wired = program.types.is_integer(expr.ty)
                        && program.types.is_integer(program.exprs[*of].ty);
                    if is_wired { 0 } else { PRODUCT }
                }
                ExprKind::Call(..) => DIVISION,
                ExprKind::Conditional(..)
                | ExprKind::Unary(..)
                | ExprKind::And(..)
                | ExprKind::Or(..) => PLAIN,
                _ => 0,
            };
            program.parts(Part::Expr(e), &mut |it| {
                if let Part::Expr(e) = it {
                    open.push(e);
                }
            });
        }
        sum
    }

    fn operator(&self, op: BinaryOp, ty: Ty) -> u64 {
        let is_float = !self.build.program.types.is_integer(ty);
        match op {
            BinaryOp::Div | BinaryOp::Rem => DIVISION,
            BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul if is_float => FLOAT,
            BinaryOp::Mul => PRODUCT,
            _ if is_order(op) && is_float => PRODUCT,
            _ => PLAIN,
        }
    }
}

fn is_order(op: BinaryOp) -> bool {
    use BinaryOp::{Eq, Ge, Gt, Le, Lt, Ne};
    matches!(op, Eq | Ne | Lt | Le | Gt | Ge)
}
