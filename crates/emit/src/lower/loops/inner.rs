//! A loop inside dealt iterations that computes values of the iteration's own.
//!
//! In: the body of dealt loops. Out: the loop in it with what stands before and behind, if the order in
//! which the rounds of several iterations run cannot be told: all that the loop sets are variables of
//! its iteration, all that it calls is mathematics, and its bounds stay what they are. Not here: what is
//! made of it ([`super::along`]).

use ir::program::{
    BinaryOp, ExprId, ExprKind, For, Init, Program, StepOp, StmtId, StmtKind, VarId, VarStorage,
};
use ir::types::Ty;
use ir::walk::Part;
use rustc_hash::FxHashSet;

/// Such a loop.
#[derive(Clone, Debug)]
pub(super) struct Inner {
    pub(super) before: Vec<StmtId>,
    pub(super) stmt: StmtId,
    pub(super) after: Vec<StmtId>,
    pub(super) counter: VarId,
    pub(super) begin: ExprId,
    /// It runs while the counter is less than this, or at most this.
    pub(super) bound: ExprId,
    pub(super) is_inclusive: bool,
    pub(super) condition: ExprId,
    pub(super) body: Vec<StmtId>,
    /// Variables that the iteration declares, outside of the loop.
    pub(super) own: Vec<VarId>,
    /// Those that the loop sets.
    pub(super) set: Vec<VarId>,
}

/// A variable that a loop does nothing with but add to it, or take from it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Summed {
    pub(super) var: VarId,
    pub(super) op: BinaryOp,
    pub(super) summand: ExprId,
    /// What it is computed in.
    pub(super) ty: Ty,
}

/// The loop in a body.
pub(super) fn find(program: &Program, body: StmtId) -> Option<Inner> {
    let list = listed(program, body);
    let is_loop = |it: &&StmtId| matches!(program.stmts[**it].kind, StmtKind::For(_));
    let stmt = *list.iter().find(is_loop)?;
    let place = list.iter().position(|it| *it == stmt)?;
    let StmtKind::For(one) = &program.stmts[stmt].kind else { return None };
    let (counter, begin) = start(program, one)?;
    let (bound, is_inclusive) = end(program, one, counter)?;
    let own: Vec<VarId> = list.iter().filter_map(|it| declared(program, *it)).collect();
    let inner = Inner {
        before: list.iter().take(place).copied().collect(),
        stmt,
        after: list.iter().skip(place + 1).copied().collect(),
        counter,
        begin,
        bound,
        is_inclusive,
        condition: one.cond?,
        body: listed(program, one.body),
        own,
        set: Vec::new(),
    };
    inner.checked(program)
}

impl Inner {
    /// Whether the order of rounds cannot be told.
    fn checked(mut self, program: &Program) -> Option<Inner> {
        let is_plain = |var: &VarId| {
            let var = &program.vars[*var];
            program.types.is_scalar(var.ty)
                && !program.types.is_complex(var.ty)
                && !var.ty.quals.is_volatile
                && matches!(var.storage, VarStorage::Local(_))
        };
        let mut declared_inside: Vec<VarId> =
            self.body.iter().filter_map(|it| declared(program, *it)).collect();
        if !self.own.iter().chain(&declared_inside).all(is_plain) {
            return None;
        }
        declared_inside.push(self.counter);
        // Outside of the loop memory may be written: nobody else may look at it.
        for stmt in self.before.iter().chain(&self.after) {
            let set = set_in(program, Part::Stmt(*stmt), true)?;
            if !set.iter().all(|it| self.own.contains(it)) {
                return None;
            }
        }
        let mut set = FxHashSet::default();
        for stmt in &self.body {
            set.extend(set_in(program, Part::Stmt(*stmt), false)?);
        }
        for part in [self.begin, self.condition] {
            if !set_in(program, Part::Expr(part), false)?.is_empty() {
                return None;
            }
        }
        let may_set = |it: &VarId| {
            self.own.contains(it) || declared_inside.contains(it) && *it != self.counter
        };
        if !set.iter().all(may_set) || mentions(program, self.bound, |it| set.contains(&it)) {
            return None;
        }
        self.set = self.own.iter().filter(|it| set.contains(it)).copied().collect();
        Some(self)
    }

    /// Whether its bounds have nothing to do with some variables and those of the iteration.
    pub(super) fn is_the_same_for(&self, program: &Program, vars: &[VarId]) -> bool {
        let is_one = |it: VarId| vars.contains(&it) || self.own.contains(&it);
        !mentions(program, self.begin, is_one) && !mentions(program, self.bound, is_one)
    }

    /// What it sums up, if that is all that it does.
    pub(super) fn sums(&self, program: &Program) -> Option<Vec<Summed>> {
        let mut sums: Vec<Summed> = Vec::new();
        for stmt in &self.body {
            match &program.stmts[*stmt].kind {
                StmtKind::Local(_) | StmtKind::Empty => {}
                StmtKind::Expr(e) => {
                    let ExprKind::AssignOp(op, to, summand, ty) = program.exprs[*e].kind else {
                        return None;
                    };
                    let ExprKind::Var(var) = program.exprs[to].kind else { return None };
                    let is_new = !sums.iter().any(|it| it.var == var);
                    if !matches!(op, BinaryOp::Add | BinaryOp::Sub)
                        || !self.own.contains(&var)
                        || !is_new
                        || program.types.is_pointer(program.vars[var].ty)
                    {
                        return None;
                    }
                    sums.push(Summed { var, op, summand, ty });
                }
                _ => return None,
            }
        }
        // Sums are looked at by nobody else in the loop.
        let count = |part: Part| {
            let mut count = 0;
            each_var(program, part, &mut |it| {
                count += usize::from(sums.iter().any(|sum| sum.var == it));
            });
            count
        };
        let all: usize = self.body.iter().map(|it| count(Part::Stmt(*it))).sum();
        (!sums.is_empty() && all == sums.len()).then_some(sums)
    }

    /// The elements that it looks at: array and index.
    pub(super) fn elements(&self, program: &Program) -> Vec<(ExprId, ExprId)> {
        let mut found = Vec::new();
        let mut open: Vec<Part> = self.body.iter().map(|it| Part::Stmt(*it)).collect();
        while let Some(part) = open.pop() {
            if let Part::Expr(e) = part
                && let ExprKind::Index(base, index) = program.exprs[e].kind
            {
                found.push((base, index));
            }
            program.parts(part, &mut |it| open.push(it));
        }
        found
    }
}

/// Whether an expression grows by one with a variable.
pub(super) fn follows(program: &Program, id: ExprId, var: VarId) -> bool {
    match program.exprs[id].kind {
        ExprKind::Var(it) => it == var,
        ExprKind::Cast(_, inner) => follows(program, inner, var),
        ExprKind::Binary(BinaryOp::Add, a, b) => {
            let has = |it: ExprId| mentions(program, it, |it| it == var);
            follows(program, a, var) && !has(b) || follows(program, b, var) && !has(a)
        }
        ExprKind::Binary(BinaryOp::Sub, a, b) => {
            follows(program, a, var) && !mentions(program, b, |it| it == var)
        }
        _ => false,
    }
}

/// Whether an expression names such a variable.
pub(super) fn mentions(program: &Program, id: ExprId, mut is: impl FnMut(VarId) -> bool) -> bool {
    let mut found = false;
    each_var(program, Part::Expr(id), &mut |it| found |= is(it));
    found
}

/// Whether a statement names a variable.
pub(super) fn names(program: &Program, stmt: StmtId, var: VarId) -> bool {
    let mut found = false;
    each_var(program, Part::Stmt(stmt), &mut |it| found |= it == var);
    found
}

fn each_var(program: &Program, part: Part, each: &mut impl FnMut(VarId)) {
    let mut open = vec![part];
    while let Some(part) = open.pop() {
        if let Part::Expr(e) = part
            && let ExprKind::Var(var) = program.exprs[e].kind
        {
            each(var);
        }
        program.parts(part, &mut |it| open.push(it));
    }
}

/// The statements of a body, without braces around all of them.
fn listed(program: &Program, body: StmtId) -> Vec<StmtId> {
    let mut list = vec![body];
    while let [only] = list.as_slice()
        && let StmtKind::Block(inside) = &program.stmts[*only].kind
    {
        list = inside.to_vec();
    }
    list
}

/// The variable that a statement declares.
pub(super) fn declared(program: &Program, stmt: StmtId) -> Option<VarId> {
    match program.stmts[stmt].kind {
        StmtKind::Local(var) => Some(var),
        _ => None,
    }
}

/// The value that a variable is declared with.
pub(super) fn first_value(program: &Program, var: VarId) -> Option<ExprId> {
    match program.inits[program.vars[var].init?] {
        Init::Expr(e) => Some(e),
        Init::List(..) => None,
    }
}

/// The counter of a loop, which it declares, and where it begins.
fn start(program: &Program, one: &For) -> Option<(VarId, ExprId)> {
    let [first] = one.init.as_ref() else { return None };
    let counter = declared(program, *first)?;
    let ty = program.vars[counter].ty;
    let is_counter = program.types.is_integer(ty) && !ty.quals.is_volatile;
    Some((counter, first_value(program, counter).filter(|_| is_counter)?))
}

/// Where a loop ends that goes by one; whether the end is included.
fn end(program: &Program, one: &For, counter: VarId) -> Option<(ExprId, bool)> {
    let is_counter =
        |id: ExprId| matches!(program.exprs[id].kind, ExprKind::Var(it) if it == counter);
    let goes_by_one = match program.exprs[one.step?].kind {
        ExprKind::Step(StepOp::PreInc | StepOp::PostInc, of) => is_counter(of),
        ExprKind::AssignOp(BinaryOp::Add, to, by, _) => {
            is_counter(to) && super::constant(program, by) == Some(1)
        }
        _ => false,
    };
    let ExprKind::Binary(op, a, b) = program.exprs[one.cond?].kind else { return None };
    // A counter that is converted to compare it may be compared as another number.
    if !goes_by_one || !is_counter(a) {
        return None;
    }
    match op {
        BinaryOp::Lt => Some((b, false)),
        BinaryOp::Le => Some((b, true)),
        _ => None,
    }
}

/// The variables that a part sets; none if it does something else that can be told from outside.
fn set_in(program: &Program, part: Part, may_write: bool) -> Option<Vec<VarId>> {
    let mut set = Vec::new();
    let mut open = vec![part];
    while let Some(part) = open.pop() {
        match part {
            Part::Stmt(stmt) => match &program.stmts[stmt].kind {
                StmtKind::Empty
                | StmtKind::Block(_)
                | StmtKind::Local(_)
                | StmtKind::Expr(_)
                | StmtKind::If(..) => {}
                _ => return None,
            },
            Part::Expr(e) => {
                let expr = &program.exprs[e];
                if expr.ty.quals.is_volatile {
                    return None;
                }
                match &expr.kind {
                    ExprKind::Assign(to, _)
                    | ExprKind::AssignOp(_, to, ..)
                    | ExprKind::Step(_, to) => match program.exprs[*to].kind {
                        ExprKind::Var(var) => set.push(var),
                        ExprKind::Index(..) | ExprKind::Deref(_) if may_write => {}
                        _ => return None,
                    },
                    ExprKind::AddrOf(of) => match program.exprs[*of].kind {
                        ExprKind::Index(..) => {}
                        _ => return None,
                    },
                    ExprKind::Call(callee, values)
                        if !is_mathematics(program, *callee, values, expr.ty) =>
                    {
                        return None;
                    }
                    ExprKind::Error
                    | ExprKind::CompoundLiteral(_)
                    | ExprKind::StmtExpr(_)
                    | ExprKind::LabelAddr(_)
                    | ExprKind::VaArg(_) => return None,
                    _ => {}
                }
            }
            Part::Region(_) => return None,
            Part::Local(_) | Part::Init(_) => {}
        }
        program.parts(part, &mut |it| open.push(it));
    }
    Some(set)
}

/// A function of the library from numbers to a number.
fn is_mathematics(program: &Program, callee: ExprId, values: &[ExprId], result: Ty) -> bool {
    let callee = match program.exprs[callee].kind {
        ExprKind::Cast(_, inner) => inner,
        _ => callee,
    };
    let ExprKind::Function(function) = program.exprs[callee].kind else { return false };
    let function = &program.functions[function];
    let types = &program.types;
    let is_number = |it: &ExprId| {
        let ty = program.exprs[*it].ty;
        types.is_scalar(ty) && !types.is_pointer(ty)
    };
    function.body.is_none()
        && crate::lower::grid::known(program.names.text(function.name))
        && types.is_real_floating(result)
        && values.iter().all(is_number)
}
