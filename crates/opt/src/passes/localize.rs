//! `localize`: a thread's variable that each iteration sets before it looks at it is declared where the iteration needs it.
//!
//! In: a loop that all threads share, with variables that were made private by a clause: `private(j, k, sum)` on loops whose
//! counters and scalars are declared outside of the construct. Out: the same as if they were declared in the body, in the
//! innermost block that has all that names them, with their first value: `for (int k = 0; …)`, `double sum = 0;`. Passes
//! then see what an iteration has for itself. A variable that an iteration may find as another one left it stays where it is.

use ir::program::{ExprId, ExprKind, For, Init, Program, StmtId, StmtKind as C, VarId, VarStorage};
use ir::region::{Attribute, Mapping, RegionVar, Sharing};
use ir::walk::Part;
use kernel::copy::Copier;
use kernel::walk::{How, uses};
use kernel::{Space, Stmt, StmtKind};
use rustc_hash::{FxHashMap, FxHashSet};
use source::Span;

use super::code::Rebuild;
use super::nest::{iteration_code, mentions, replace_share};
use super::{Cx, Result};

pub(super) fn run(cx: &mut Cx<'_>) -> Result<()> {
    let once = named_once(cx);
    let mut gone: FxHashSet<VarId> = FxHashSet::default();
    replace_share(cx, &mut |cx, share, _, span| {
        let Some((code, _)) = iteration_code(share) else { return Ok(None) };
        if leaves(cx.program, code) {
            return Ok(None);
        }
        let mut made = code;
        for var in candidates(cx, &once, code) {
            if let Some(now) = localized(cx, made, var, span) {
                made = now;
                gone.insert(var);
            }
        }
        if made == code {
            return Ok(None);
        }
        let mut share = share.clone();
        share.body.iter_mut().for_each(|it| put(it, made));
        Ok(Some(vec![Stmt::new(StmtKind::Share(Box::new(share)), span)]))
    })?;
    if !gone.is_empty() {
        forget(&mut cx.kernel.body, &gone);
        cx.kernel.spaces.retain(|it| !gone.contains(&it.0));
    }
    Ok(())
}

/// Puts code in the place of the only code that conditions stand around.
fn put(stmt: &mut Stmt, code: StmtId) {
    match &mut stmt.kind {
        StmtKind::If(_, then, _) => then.iter_mut().for_each(|it| put(it, code)),
        StmtKind::Code(it) => *it = code,
        _ => {}
    }
}

/// Takes the declarations of variables away.
fn forget(block: &mut kernel::Block, gone: &FxHashSet<VarId>) {
    block.retain(|it| !matches!(it.kind, StmtKind::Local(var) if gone.contains(&var)));
    for stmt in block {
        stmt.kind.blocks_mut().into_iter().for_each(|it| forget(it, gone));
    }
}

/// Whether code goes to other places than the next or the end of a loop.
fn leaves(program: &Program, code: StmtId) -> bool {
    let mut open = vec![Part::Stmt(code)];
    while let Some(part) = open.pop() {
        if let Part::Stmt(stmt) = part
            && let C::Goto(_) | C::GotoExpr(_) | C::Label(..) | C::Asm(_) | C::Return(_) | C::Error =
                program.stmts[stmt].kind
        {
            return true;
        }
        program.parts(part, &mut |it| open.push(it));
    }
    false
}

/// Variables of a thread that only the code of an iteration names, in the order in which it does.
fn candidates(cx: &Cx<'_>, once: &FxHashSet<VarId>, code: StmtId) -> Vec<VarId> {
    let program = &*cx.program;
    let (used, _) = uses(program, Part::Stmt(code));
    let mut found: Vec<VarId> = Vec::new();
    for it in &used {
        let ty = program.vars[it.var].ty;
        let is_plain = !ty.quals.is_volatile && !program.types.is_array(ty);
        let is_own = match cx.kernel.space(it.var) {
            Some(space) => space == Space::Private,
            None => is_value(cx, it.var),
        };
        if is_plain && is_own && !found.contains(&it.var) {
            found.push(it.var);
        }
    }
    let is_addressed = |var: VarId| used.iter().any(|it| it.var == var && it.how == How::Addressed);
    found.retain(|it| once.contains(it) && !is_addressed(*it));
    found.sort();
    found
}

/// Whether threads are given the value of a variable of the host's, or none, and so have a copy each: nothing of it is
/// mapped or combined. One that only constructs inside have copies of is not among the region's.
fn is_value(cx: &Cx<'_>, var: VarId) -> bool {
    let is_local =
        matches!(cx.program.vars[var].storage, VarStorage::Local(_) | VarStorage::Param(_));
    let is_mapped =
        |it: &Attribute<Mapping>| !matches!(it.value, Mapping::FirstPrivate | Mapping::Private);
    let is_combined = |it: &Attribute<Sharing>| {
        !matches!(it.value, Sharing::Shared | Sharing::Private | Sharing::FirstPrivate)
    };
    let is_more = |it: &RegionVar| {
        it.var == var
            && (it.mappings.is_empty()
                || it.mappings.iter().any(is_mapped)
                || it.sharing.iter().any(is_combined))
    };
    is_local && !cx.program.regions[cx.kernel.region].vars.iter().any(is_more)
}

/// Variables that one piece of code or one expression of a kernel names, and no other.
fn named_once(cx: &Cx<'_>) -> FxHashSet<VarId> {
    let mut counts: FxHashMap<VarId, usize> = FxHashMap::default();
    for stmt in kernel::walk::all(&cx.kernel.body) {
        let parts = stmt.kind.exprs().into_iter().map(Part::Expr);
        let code = match stmt.kind {
            StmtKind::Code(code) => Some(Part::Stmt(code)),
            _ => None,
        };
        for part in parts.chain(code) {
            let named: FxHashSet<VarId> =
                uses(cx.program, part).0.iter().map(|it| it.var).collect();
            named.into_iter().for_each(|it| *counts.entry(it).or_default() += 1);
        }
        if !matches!(stmt.kind, StmtKind::Local(_)) {
            let own = stmt.kind.reads().into_iter().chain(stmt.kind.sets());
            own.for_each(|it| *counts.entry(it).or_default() += 2);
        }
    }
    counts.into_iter().filter(|it| it.1 == 1).map(|it| it.0).collect()
}

/// Code with a variable of its own in the place of one of its thread's; `None` if it may find what another iteration left.
fn localized(cx: &mut Cx<'_>, code: StmtId, var: VarId, span: Span) -> Option<StmtId> {
    Flow { program: cx.program, var }.stmt(code, false)?;
    let mut places = Vec::new();
    places_of(cx.program, code, var, &mut places);
    let mut replaced: FxHashMap<StmtId, StmtId> = FxHashMap::default();
    for place in places {
        let name = cx.build(span).name_of(var);
        let ty = cx.program.vars[var].ty;
        let fresh = cx.build(span).fresh(&name, ty);
        replaced.insert(place, declared(cx.program, place, var, fresh, span)?);
    }
    Some(Rebuild { program: cx.program, replaced }.stmt(code))
}

/// The innermost statements that have all that names a variable: a loop that counts with it, or a block. There are several
/// if each of them sets it anew.
fn places_of(program: &Program, at: StmtId, var: VarId, found: &mut Vec<StmtId>) {
    let names = |it: &StmtId| program.any_expr(Part::Stmt(*it), |it| *it == ExprKind::Var(var));
    match &program.stmts[at].kind {
        C::Block(list) => {
            let inside: Vec<StmtId> = list.iter().copied().filter(names).collect();
            let begins_anew = |it: &StmtId| {
                (Flow { program, var }.stmt(*it, false)).is_some() && holds(program, *it, var)
            };
            match inside.iter().all(begins_anew) {
                true => inside.iter().for_each(|it| places_of(program, *it, var, found)),
                false => found.push(at),
            }
        }
        _ if !holds(program, at, var) => found.push(at),
        C::For(it) if !sets_first(program, it, var) => places_of(program, it.body, var, found),
        C::While(_, body) => places_of(program, *body, var, found),
        C::DoWhile(body, _) => places_of(program, *body, var, found),
        C::If(_, then, other) => {
            [Some(*then), *other].into_iter().flatten().filter(|it| names(it)).for_each(|it| {
                places_of(program, it, var, found);
            });
        }
        _ => found.push(at),
    }
}

/// Whether a variable may be declared in a statement, or in a part of it.
fn holds(program: &Program, stmt: StmtId, var: VarId) -> bool {
    let names = |part: Part| program.any_expr(part, |it| *it == ExprKind::Var(var));
    match &program.stmts[stmt].kind {
        C::Block(_) => true,
        C::For(it) => {
            let head = [it.cond, it.step].into_iter().flatten().map(Part::Expr);
            let mut head = head.chain(it.init.iter().copied().map(Part::Stmt));
            sets_first(program, it, var) || !head.any(names)
        }
        C::While(c, _) | C::DoWhile(_, c) | C::If(c, ..) => !names(Part::Expr(*c)),
        _ => false,
    }
}

/// Whether a loop begins with an assignment to a variable, and no more.
fn sets_first(program: &Program, it: &For, var: VarId) -> bool {
    let [first] = *it.init else { return false };
    let C::Expr(e) = program.stmts[first].kind else { return false };
    value_set(program, e, var).is_some()
}

/// What an expression that does no more gives a variable, if it does not look at it.
fn value_set(program: &Program, e: ExprId, var: VarId) -> Option<ExprId> {
    let ExprKind::Assign(to, value) = program.exprs[e].kind else { return None };
    let is_it = program.exprs[to].kind == ExprKind::Var(var);
    (is_it && !mentions(program, value, |it| it == var)).then_some(value)
}

/// A statement in which another variable is declared, in the place of one.
fn declared(
    program: &mut Program,
    place: StmtId,
    var: VarId,
    fresh: VarId,
    span: Span,
) -> Option<StmtId> {
    let mut copier = Copier::new(program);
    copier.vars.insert(var, fresh);
    let copy = copier.stmt(place);
    let local = |program: &mut Program| {
        program.stmts.push(ir::program::Stmt { kind: C::Local(fresh), span })
    };
    let with_value = |program: &mut Program, value: ExprId| {
        let init = program.inits.push(Init::Expr(value));
        program.vars[fresh].init = Some(init);
    };
    let kind = match program.stmts[copy].kind.clone() {
        C::For(it) if sets_first(program, &it, fresh) => {
            let C::Expr(e) = program.stmts[*it.init.first()?].kind else { return None };
            let value = value_set(program, e, fresh)?;
            with_value(program, value);
            C::For(Box::new(For { init: [local(program)].into(), ..*it }))
        }
        C::Block(list) => {
            let names =
                |it: &StmtId| program.any_expr(Part::Stmt(*it), |it| *it == ExprKind::Var(fresh));
            let at = list.iter().position(names)?;
            let first = match program.stmts[*list.get(at)?].kind {
                C::Expr(e) => value_set(program, e, fresh),
                _ => None,
            };
            let mut list = list.to_vec();
            let local = local(program);
            match first {
                Some(value) => {
                    with_value(program, value);
                    *list.get_mut(at)? = local;
                }
                None => list.insert(at, local),
            }
            C::Block(list.into())
        }
        // One statement that is not in a block.
        _ => C::Block([local(program), copy].into()),
    };
    Some(program.stmts.push(ir::program::Stmt { kind, span: program.stmts[copy].span }))
}

/// Follows the value of a variable through code.
#[derive(Clone, Copy)]
struct Flow<'p> {
    program: &'p Program,
    var: VarId,
}

impl Flow<'_> {
    fn names(self, part: Part) -> bool {
        self.program.any_expr(part, |it| *it == ExprKind::Var(self.var))
    }

    /// Whether the variable is set behind a statement, given whether it was before; `None` if it may be looked at when it
    /// was not.
    fn stmt(self, at: StmtId, is_set: bool) -> Option<bool> {
        match &self.program.stmts[at].kind {
            C::Block(list) => list.iter().try_fold(is_set, |is_set, it| self.stmt(*it, is_set)),
            C::Expr(e) => self.expr(*e, is_set),
            C::If(c, then, other) => {
                let is_set = self.expr(*c, is_set)?;
                let other = other.map_or(Some(is_set), |it| self.stmt(it, is_set))?;
                Some(self.stmt(*then, is_set)? && other)
            }
            C::While(c, body) => {
                let is_set = self.expr(*c, is_set)?;
                self.stmt(*body, is_set)?;
                Some(is_set)
            }
            C::DoWhile(body, c) => {
                let behind = self.stmt(*body, is_set)? && (is_set || !self.jumps(*body));
                self.expr(*c, behind)?;
                Some(behind)
            }
            C::For(it) => {
                let is_set =
                    it.init.iter().try_fold(is_set, |is_set, it| self.stmt(*it, is_set))?;
                let is_set = it.cond.map_or(Some(is_set), |it| self.expr(it, is_set))?;
                let behind = self.stmt(it.body, is_set)? && (is_set || !self.jumps(it.body));
                it.step.map_or(Some(behind), |it| self.expr(it, behind))?;
                Some(is_set)
            }
            // The path ends.
            C::Break | C::Continue => Some(true),
            _ if is_set || !self.names(Part::Stmt(at)) => Some(is_set),
            _ => None,
        }
    }

    /// Whether a loop's body may end early.
    fn jumps(self, body: StmtId) -> bool {
        let mut open = vec![Part::Stmt(body)];
        while let Some(part) = open.pop() {
            if let Part::Stmt(stmt) = part
                && let C::Break | C::Continue = self.program.stmts[stmt].kind
            {
                return true;
            }
            self.program.parts(part, &mut |it| open.push(it));
        }
        false
    }

    /// The same for an expression.
    fn expr(self, e: ExprId, is_set: bool) -> Option<bool> {
        if is_set || !self.names(Part::Expr(e)) {
            return Some(is_set);
        }
        match self.program.exprs[e].kind {
            ExprKind::Assign(to, value) => {
                let behind = self.expr(value, false)?;
                match self.program.exprs[to].kind {
                    ExprKind::Var(var) if var == self.var => Some(true),
                    // Where it goes may be computed before what.
                    _ => (!self.names(Part::Expr(to))).then_some(behind),
                }
            }
            ExprKind::Comma(a, b) => {
                let is_set = self.expr(a, false)?;
                self.expr(b, is_set)
            }
            ExprKind::Cast(_, of) => self.expr(of, false),
            _ => None,
        }
    }
}
