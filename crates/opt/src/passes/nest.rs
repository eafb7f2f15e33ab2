//! What an iteration does, and which elements of memory it looks at for certain.
//!
//! In: the body of a shared loop. Out: [`Nest`], code with a loop that looks at memory and changes nothing but the
//! iteration's own variables: rounds of several iterations may be run in any order. Or [`Straight`], code that looks at
//! memory before it stores anything. In both, elements may be loaded before the iteration that needs them, because
//! iterations do not depend on each other.

use ir::program::{
    BinaryOp, ExprId, ExprKind, For, FunctionId, Init, Program, StepOp, StmtId, StmtKind, VarId,
};
use ir::region::LoopTest;
use ir::walk::Part;
use kernel::build::Builder;
use kernel::copy::{Copier, callee_of};
use kernel::count::constant;
use kernel::walk::How;
use kernel::{Block, Dim, Kernel, Share, Space, Stmt};
use rustc_hash::{FxHashMap, FxHashSet};
use source::Span;

use crate::alias::Aliases;
use crate::effects::Effects;
use crate::passes::{Cx, Result};

/// An iteration in three parts.
pub(in crate::passes) struct Nest {
    pub(in crate::passes) before: Vec<StmtId>,
    /// The loop in it, by ones.
    pub(in crate::passes) rounds: Dim,
    pub(in crate::passes) body: Vec<StmtId>,
    pub(in crate::passes) after: Vec<StmtId>,
    /// Scalars of the iteration that live outside of the loop.
    pub(in crate::passes) own: Vec<VarId>,
    /// What every round looks at, with constants of the iteration replaced by what they are.
    pub(in crate::passes) loads: Vec<Load>,
}

/// An element of memory that every round looks at.
#[derive(Clone, Copy, Debug)]
pub(in crate::passes) struct Load {
    /// As it stands there.
    pub(in crate::passes) expr: ExprId,
    /// In terms of variables that are known before the iteration begins.
    pub(in crate::passes) value: ExprId,
}

impl Nest {
    /// `taken`: variables that are not an iteration's own though a thread has its own of them.
    pub(in crate::passes) fn find(
        program: &mut Program,
        kernel: &Kernel,
        code: StmtId,
        taken: &FxHashSet<VarId>,
    ) -> Option<Nest> {
        let list = listed(program, code);
        let is_loop = |it: &StmtId| matches!(program.stmts[*it].kind, StmtKind::For(_));
        let at = list.iter().position(is_loop)?;
        let StmtKind::For(one) = program.stmts[*list.get(at)?].kind.clone() else { return None };
        let (before, after) = (list.get(..at)?.to_vec(), list.get(at + 1..)?.to_vec());
        let rounds = counted(program, &one)?;
        let body = listed(program, one.body);
        let mut nest = Nest { before, rounds, body, after, own: Vec::new(), loads: Vec::new() };
        nest.check(program, kernel, taken)?;
        Some(nest)
    }

    /// Whether the order of rounds of several iterations cannot be told; finds the iteration's variables and loads.
    fn check(
        &mut self,
        program: &mut Program,
        kernel: &Kernel,
        taken: &FxHashSet<VarId>,
    ) -> Option<()> {
        let mut quiet = Quiet::new(program);
        let declared_outside = top_locals(program, self.before.iter().chain(&self.after));
        let inside: FxHashSet<VarId> = self
            .body
            .iter()
            .flat_map(|it| kernel::walk::uses(program, Part::Stmt(*it)).1)
            .collect();
        let (mut set_before, mut set_inside, mut set_after) = (Vec::new(), Vec::new(), Vec::new());
        for stmt in &self.before {
            set_before.extend(quiet.set(Part::Stmt(*stmt), false)?);
        }
        for stmt in &self.body {
            set_inside.extend(quiet.set(Part::Stmt(*stmt), false)?);
        }
        for stmt in &self.after {
            set_after.extend(quiet.set(Part::Stmt(*stmt), true)?);
        }
        let counter = self.rounds.var;
        if set_before.iter().chain(&set_inside).chain(&set_after).any(|it| *it == counter) {
            return None;
        }
        // Of a variable that is a thread's own each iteration has one: what an earlier one left is not looked at.
        let is_own = |it: &VarId| {
            let is_threads = kernel.space(*it) == Some(Space::Private);
            declared_outside.contains(it) || is_threads && !taken.contains(it)
        };
        let mut own = declared_outside.clone();
        for var in set_before.iter().chain(&set_inside).chain(&set_after) {
            if inside.contains(var) || own.contains(var) {
                continue;
            }
            if !is_own(var) {
                return None;
            }
            own.push(*var);
        }
        let is_plain = |var: &VarId| {
            let ty = program.vars[*var].ty;
            program.types.is_scalar(ty) && !program.types.is_complex(ty) && !ty.quals.is_volatile
        };
        if !own.iter().chain(&inside).all(is_plain) {
            return None;
        }
        let mut set: FxHashSet<VarId> = set_before.into_iter().collect();
        set.extend(set_inside);
        set.extend(set_after);
        let names = |e: ExprId, var: VarId| mentions(program, e, |it| it == var);
        if self.after.iter().any(|it| mentions_in(program, Part::Stmt(*it), |it| it == counter)) {
            return None;
        }
        let bounds = [self.rounds.begin, self.rounds.bound];
        if bounds.iter().any(|e| own.iter().any(|it| names(*e, *it))) {
            return None;
        }
        let declared: Vec<VarId> = declared_outside.iter().chain(&inside).copied().collect();
        let constants = constants(program, kernel, &declared, &set);
        let is_listed = |it: &VarId| {
            let init = program.vars[*it].init;
            init.is_some_and(|it| matches!(program.inits[it], Init::List(..)))
        };
        if declared.iter().any(is_listed) {
            return None;
        }
        let changing: FxHashSet<VarId> =
            own.iter().chain(&inside).copied().filter(|it| !constants.contains_key(it)).collect();
        for load in self.body.iter().flat_map(|it| loads(program, *it)).collect::<Vec<_>>() {
            let value = resolved(program, load, &constants);
            if mentions(program, value, |it| changing.contains(&it) || constants.contains_key(&it))
            {
                continue;
            }
            self.loads.push(Load { expr: load, value });
        }
        self.own = own;
        Some(())
    }
}

/// An iteration that stores something.
pub(in crate::passes) struct Straight {
    /// What it does before it stores anything; it changes nothing but variables.
    pub(in crate::passes) before: Vec<StmtId>,
    /// What it does from there on.
    pub(in crate::passes) after: Vec<StmtId>,
    /// What it looks at before it stores anything, whatever happens.
    pub(in crate::passes) loads: Vec<Load>,
    /// All that it stores to.
    pub(in crate::passes) stores: Vec<ExprId>,
}

impl Straight {
    /// `taken`: variables that are not an iteration's own though a thread has its own of them.
    pub(in crate::passes) fn find(
        program: &mut Program,
        kernel: &Kernel,
        code: StmtId,
        taken: &FxHashSet<VarId>,
    ) -> Option<Straight> {
        let list = listed(program, code);
        let (used, declared) = kernel::walk::uses(program, Part::Stmt(code));
        let set: FxHashSet<VarId> =
            used.iter().filter(|it| it.how != How::Named).map(|it| it.var).collect();
        if set.iter().any(|it| taken.contains(it)) {
            return None;
        }
        let constants = constants(program, kernel, &declared, &set);
        let is_changing = |it: VarId| {
            let is_own = declared.contains(&it) || set.contains(&it);
            is_own && !constants.contains_key(&it)
        };
        let (mut found, mut before) = (Vec::new(), Vec::new());
        for stmt in &list {
            let mut quiet = Quiet::new(program);
            if quiet.set(Part::Stmt(*stmt), false).is_some() {
                found.extend(loads(program, *stmt));
                before.push(*stmt);
                continue;
            }
            if let StmtKind::Expr(e) = program.stmts[*stmt].kind
                && let ExprKind::Assign(to, value) = program.exprs[e].kind
                && let ExprKind::Index(base, index) = program.exprs[to].kind
                && [base, index, value].iter().all(|it| quiet.set(Part::Expr(*it), false).is_some())
            {
                found.extend([index, value].into_iter().flat_map(|it| loads_of(program, it)));
            }
            break;
        }
        let mut loads = Vec::new();
        for load in found {
            let value = resolved(program, load, &constants);
            let is_unknown = |it: VarId| is_changing(it) || constants.contains_key(&it);
            if !mentions(program, value, is_unknown) {
                loads.push(Load { expr: load, value });
            }
        }
        let after = list.into_iter().skip(before.len()).collect();
        Some(Straight { before, after, loads, stores: stores(program, code) })
    }
}

/// The elements that code stores to.
pub(in crate::passes) fn stores(program: &Program, code: StmtId) -> Vec<ExprId> {
    let mut found = Vec::new();
    let mut open = vec![Part::Stmt(code)];
    while let Some(part) = open.pop() {
        if let Part::Expr(e) = part
            && let ExprKind::Assign(to, _) | ExprKind::AssignOp(_, to, ..) | ExprKind::Step(_, to) =
                program.exprs[e].kind
            && !matches!(program.exprs[to].kind, ExprKind::Var(_))
        {
            found.push(to);
        }
        program.parts(part, &mut |it| open.push(it));
    }
    found
}

/// The variables that a statement of a kernel sets, or takes the address of.
fn written(program: &Program, kind: &kernel::StmtKind) -> Vec<VarId> {
    let part = match kind {
        kernel::StmtKind::Eval(e) => Part::Expr(*e),
        kernel::StmtKind::Code(it) => Part::Stmt(*it),
        _ => return Vec::new(),
    };
    let uses = kernel::walk::uses(program, part).0.into_iter();
    uses.filter(|it| it.how != How::Named).map(|it| it.var).collect()
}

/// What a pass makes of a loop that all threads share, if anything; it gets the variables that were set before.
pub(in crate::passes) type Make<'a> =
    dyn FnMut(&mut Cx<'_>, &Share, &FxHashSet<VarId>, Span) -> Result<Option<Block>> + 'a;

/// Puts what a pass makes of the loop that all threads share in its place.
pub(in crate::passes) fn replace_share(cx: &mut Cx<'_>, make: &mut Make<'_>) -> Result<()> {
    if cx.kernel.all.is_none() {
        return Ok(());
    }
    let body = std::mem::take(&mut cx.kernel.body);
    cx.kernel.body = replaced(cx, body, &mut FxHashSet::default(), make)?;
    Ok(())
}

fn replaced(
    cx: &mut Cx<'_>,
    block: Block,
    set: &mut FxHashSet<VarId>,
    make: &mut Make<'_>,
) -> Result<Block> {
    let mut out = Block::new();
    for stmt in block {
        let span = stmt.span;
        match stmt.kind {
            kernel::StmtKind::Block(inner) => {
                let inner = replaced(cx, inner, set, make)?;
                out.push(Stmt::new(kernel::StmtKind::Block(inner), span));
            }
            kernel::StmtKind::Share(share) => match make(cx, &share, set, span)? {
                Some(made) => out.extend(made),
                None => out.push(Stmt::new(kernel::StmtKind::Share(share), span)),
            },
            // Two versions of a loop: passes are for the first.
            kernel::StmtKind::If(condition, then, other) if is_form(&then) && is_form(&other) => {
                let then = replaced(cx, then, set, make)?;
                out.push(Stmt::new(kernel::StmtKind::If(condition, then, other), span));
            }
            kind => {
                set.extend(written(cx.program, &kind));
                out.push(Stmt::new(kind, span));
            }
        }
    }
    Ok(out)
}

/// Whether a block is a form of one shared loop: that, or what asks which of its forms fits.
fn is_form(block: &Block) -> bool {
    let Some((last, before)) = block.split_last() else { return false };
    let asks =
        |it: &Stmt| matches!(it.kind, kernel::StmtKind::Local(_) | kernel::StmtKind::Eval(_));
    before.iter().all(asks)
        && match &last.kind {
            kernel::StmtKind::Share(_) => true,
            kernel::StmtKind::Block(inner) => is_form(inner),
            kernel::StmtKind::If(_, then, other) => is_form(then) && is_form(other),
            _ => false,
        }
}

/// The code of an iteration of a whole nest of at least two loops whose bounds do not follow each other, and whose order
/// nobody asks for.
pub(in crate::passes) fn nest_code(share: &Share) -> Option<StmtId> {
    guarded_code(share).filter(|it| it.1.is_empty()).map(|it| it.0)
}

/// The same for iterations that are only there if some conditions hold.
pub(in crate::passes) fn guarded_code(share: &Share) -> Option<(StmtId, Vec<ExprId>)> {
    iteration_code(share).filter(|_| share.dims.len() >= 2)
}

/// The same of any number of loops.
pub(in crate::passes) fn iteration_code(share: &Share) -> Option<(StmtId, Vec<ExprId>)> {
    let mut body = share.body.as_slice();
    let mut guards = Vec::new();
    while let [Stmt { kind: kernel::StmtKind::If(condition, then, other), .. }] = body
        && other.is_empty()
    {
        guards.push(*condition);
        body = then;
    }
    let [Stmt { kind: kernel::StmtKind::Code(code), .. }] = body else { return None };
    let is_whole = share.last.is_empty() && share.pieces.is_none() && share.within.is_none();
    let is_even = share.dims.iter().all(|it| it.rectangular);
    (is_whole && !share.ordered && is_even).then_some((*code, guards))
}

/// Variables that are not an iteration's own though a thread has its own of them: those that were set before, and those
/// that count.
pub(in crate::passes) fn taken(share: &Share, set: &FxHashSet<VarId>) -> FxHashSet<VarId> {
    let counted = share.dims.iter().map(|it| it.var).chain([share.number]);
    set.iter().copied().chain(counted).collect()
}

/// Bytes that a value takes.
pub(in crate::passes) fn size_of(program: &Program, ty: ir::types::Ty) -> u64 {
    program.model.size_of(&program.types, ty).unwrap_or(u64::MAX)
}

/// Variables that only say what an expression is, and what.
pub(in crate::passes) fn constants(
    program: &mut Program,
    kernel: &Kernel,
    declared: &[VarId],
    set: &FxHashSet<VarId>,
) -> FxHashMap<VarId, ExprId> {
    let function = program.regions[kernel.region].function;
    let mut constants = FxHashMap::default();
    for var in declared.iter().filter(|it| !set.contains(it)) {
        let Some(init) = program.vars[*var].init else { continue };
        let Init::Expr(value) = program.inits[init] else { continue };
        let (ty, span) = (program.vars[*var].ty.plain(), program.exprs[value].span);
        if program.types.is_scalar(ty) {
            constants.insert(*var, Builder { program, function, span }.cast(value, ty));
        }
    }
    constants
}

/// How often a loop runs, give or take one, if its bounds are constants.
pub(in crate::passes) fn about(program: &Program, dim: &Dim) -> Option<u64> {
    let (begin, bound) = (constant(program, dim.begin)?, constant(program, dim.bound)?);
    let step = dim.step.map_or(Some(1), |it| constant(program, it))?;
    bound.checked_sub(begin)?.unsigned_abs().checked_div(step.unsigned_abs())
}

/// The loop as one that counts by ones.
pub(in crate::passes) fn counted(program: &Program, one: &For) -> Option<Dim> {
    stepped(program, one).filter(|it| it.step.is_none())
}

/// The loop as one that counts upwards, by ones or by a constant.
pub(in crate::passes) fn stepped(program: &Program, one: &For) -> Option<Dim> {
    let [first] = one.init.as_ref() else { return None };
    let (var, begin) = match program.stmts[*first].kind {
        StmtKind::Local(var) => match program.inits[program.vars[var].init?] {
            Init::Expr(e) => (var, e),
            Init::List(..) => return None,
        },
        StmtKind::Expr(e) => match program.exprs[e].kind {
            ExprKind::Assign(to, e) => match program.exprs[to].kind {
                ExprKind::Var(var) => (var, e),
                _ => return None,
            },
            _ => return None,
        },
        _ => return None,
    };
    let ty = program.vars[var].ty;
    let is_counter = |id: ExprId| matches!(program.exprs[id].kind, ExprKind::Var(it) if it == var);
    let step = match program.exprs[one.step?].kind {
        ExprKind::Step(StepOp::PreInc | StepOp::PostInc, of) if is_counter(of) => None,
        ExprKind::AssignOp(BinaryOp::Add, to, by, _) if is_counter(to) => {
            let size = constant(program, by).filter(|it| *it > 0)?;
            Some(by).filter(|_| size > 1)
        }
        _ => return None,
    };
    let ExprKind::Binary(op, a, bound) = program.exprs[one.cond?].kind else { return None };
    // A counter that is converted to compare it may be compared as another number.
    if !is_counter(a) || !program.types.is_integer(ty) || ty.quals.is_volatile {
        return None;
    }
    let test = match op {
        BinaryOp::Lt => LoopTest::Lt,
        BinaryOp::Le => LoopTest::Le,
        _ => return None,
    };
    Some(Dim { var, begin, bound, test, step, descending: false, rectangular: true })
}

/// The statements of a body, without braces around all of them.
pub(in crate::passes) fn listed(program: &Program, body: StmtId) -> Vec<StmtId> {
    let mut list = vec![body];
    while let [only] = list.as_slice()
        && let StmtKind::Block(inside) = &program.stmts[*only].kind
    {
        list = inside.to_vec();
    }
    list
}

pub(in crate::passes) fn top_locals<'a>(
    program: &Program,
    list: impl Iterator<Item = &'a StmtId>,
) -> Vec<VarId> {
    list.filter_map(|it| match program.stmts[*it].kind {
        StmtKind::Local(var) => Some(var),
        _ => None,
    })
    .collect()
}

/// Finds what code sets.
pub(in crate::passes) struct Quiet<'p> {
    program: &'p Program,
    /// What functions do, once somebody calls one.
    effects: Option<Effects>,
    has_parts: bool,
}

impl<'p> Quiet<'p> {
    pub(in crate::passes) fn new(program: &'p Program) -> Quiet<'p> {
        Quiet { program, effects: None, has_parts: false }
    }

    /// Parts of variables count as those.
    pub(in crate::passes) fn with_parts(program: &'p Program) -> Quiet<'p> {
        Quiet { has_parts: true, ..Quiet::new(program) }
    }

    /// The variables that a part sets; none if it does something else that can be told from outside. `may_write`: memory
    /// may be written.
    pub(in crate::passes) fn set(&mut self, part: Part, may_write: bool) -> Option<Vec<VarId>> {
        let program = self.program;
        let mut set = Vec::new();
        let mut open = vec![part];
        while let Some(part) = open.pop() {
            match part {
                Part::Stmt(stmt) => match &program.stmts[stmt].kind {
                    StmtKind::Empty
                    | StmtKind::Block(_)
                    | StmtKind::Local(_)
                    | StmtKind::Expr(_)
                    | StmtKind::If(..)
                    | StmtKind::For(_) => {}
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
                            ExprKind::Index(..) | ExprKind::Deref(_) | ExprKind::Member(..)
                                if may_write => {}
                            _ if self.has_parts => set.push(kernel::walk::object(program, *to)?),
                            _ => return None,
                        },
                        ExprKind::AddrOf(of) => match program.exprs[*of].kind {
                            ExprKind::Index(..) => {}
                            _ => return None,
                        },
                        ExprKind::Call(callee, _) => {
                            let function = callee_of(program, *callee)?;
                            if !self.is_pure(function) {
                                return None;
                            }
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

    /// Whether a function only computes.
    fn is_pure(&mut self, function: FunctionId) -> bool {
        let program = self.program;
        let effects =
            self.effects.get_or_insert_with(|| Effects::new(program, &Aliases::new(program)));
        effects.of(function).is_some_and(|it| it.stop.is_none() && it.writes.is_empty())
    }
}

/// The elements that a statement looks at, whatever happens, each as a whole.
pub(in crate::passes) fn loads(program: &Program, stmt: StmtId) -> Vec<ExprId> {
    loads_in(program, Part::Stmt(stmt))
}

fn loads_of(program: &Program, e: ExprId) -> Vec<ExprId> {
    loads_in(program, Part::Expr(e))
}

pub(in crate::passes) fn loads_in(program: &Program, part: Part) -> Vec<ExprId> {
    let mut found = Vec::new();
    let mut open = vec![part];
    while let Some(part) = open.pop() {
        match part {
            Part::Expr(e) => match program.exprs[e].kind {
                ExprKind::Index(..) | ExprKind::Deref(_) | ExprKind::Member(..)
                    if program.types.is_scalar(program.exprs[e].ty)
                        && !program.types.is_pointer(program.exprs[e].ty)
                        && !program.types.is_complex(program.exprs[e].ty) =>
                {
                    found.push(e);
                    continue;
                }
                // What comes second may be looked at only if something is true.
                ExprKind::And(first, _) | ExprKind::Or(first, _) => {
                    open.push(Part::Expr(first));
                    continue;
                }
                ExprKind::Conditional(condition, ..) => {
                    open.push(Part::Expr(condition));
                    continue;
                }
                ExprKind::AddrOf(_) | ExprKind::Sizeof(_) => continue,
                _ => {}
            },
            Part::Stmt(stmt) => {
                match program.stmts[stmt].kind {
                    StmtKind::If(condition, ..) => {
                        open.push(Part::Expr(condition));
                        continue;
                    }
                    // Its body may never run.
                    StmtKind::For(_) => continue,
                    _ => {}
                }
            }
            Part::Region(_) | Part::Local(_) | Part::Init(_) => {}
        }
        program.parts(part, &mut |it| open.push(it));
    }
    found
}

/// An expression with constants replaced by what they are.
pub(in crate::passes) fn resolved(
    program: &mut Program,
    e: ExprId,
    constants: &FxHashMap<VarId, ExprId>,
) -> ExprId {
    let mut e = e;
    // As often as constants are made of constants.
    for _ in 0..8 {
        if !mentions(program, e, |it| constants.contains_key(&it)) {
            break;
        }
        let mut copier = Copier { exprs: constants.clone(), ..Copier::new(program) };
        e = copier.expr(e);
    }
    e
}

/// Whether an expression names such a variable.
pub(in crate::passes) fn mentions(
    program: &Program,
    e: ExprId,
    is: impl Fn(VarId) -> bool,
) -> bool {
    mentions_in(program, Part::Expr(e), is)
}

pub(in crate::passes) fn mentions_in(
    program: &Program,
    part: Part,
    is: impl Fn(VarId) -> bool,
) -> bool {
    kernel::walk::uses(program, part).0.iter().any(|it| is(it.var))
}

/// Whether neighbours in a variable look at neighbours in memory.
pub(in crate::passes) fn is_contiguous(program: &Program, e: ExprId, var: VarId) -> bool {
    let ExprKind::Index(base, index) = program.exprs[e].kind else { return false };
    !mentions(program, base, |it| it == var) && follows(program, index, var)
}

/// Whether an expression grows by one with a variable.
pub(in crate::passes) fn follows(program: &Program, id: ExprId, var: VarId) -> bool {
    let has = |it: ExprId| mentions(program, it, |it| it == var);
    match program.exprs[id].kind {
        ExprKind::Var(it) => it == var,
        ExprKind::Cast(_, inner) => follows(program, inner, var),
        ExprKind::Binary(BinaryOp::Add, a, b) => {
            follows(program, a, var) && !has(b) || follows(program, b, var) && !has(a)
        }
        ExprKind::Binary(BinaryOp::Sub, a, b) => follows(program, a, var) && !has(b),
        _ => false,
    }
}

/// Whether all threads get the same for a bound, as far as it is not made of dimensions.
pub(in crate::passes) fn is_known(
    program: &Program,
    kernel: &Kernel,
    e: ExprId,
    dims: &[VarId],
) -> bool {
    let region = &program.regions[kernel.region];
    let mut open = vec![Part::Expr(e)];
    while let Some(part) = open.pop() {
        let Part::Expr(id) = part else { return false };
        match program.exprs[id].kind {
            ExprKind::Int(_)
            | ExprKind::EnumConst(..)
            | ExprKind::Sizeof(_)
            | ExprKind::Unary(..)
            | ExprKind::Binary(..)
            | ExprKind::Cast(..) => {}
            ExprKind::Var(var) => {
                let is_given = region.vars.iter().any(|it| it.var == var && !it.written);
                let is_scalar = program.types.is_scalar(program.vars[var].ty);
                let is_uniform = kernel.space(var) == Some(Space::Uniform);
                if !(dims.contains(&var) || is_uniform || is_given && is_scalar) {
                    return false;
                }
            }
            _ => return false,
        }
        program.parts(part, &mut |it| open.push(it));
    }
    true
}
