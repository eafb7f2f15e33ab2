//! Kernels that are code: their loops, and statements put in the place of others.

use ir::program::{ExprId, ExprKind, For, Program, StmtId, StmtKind as C};
use ir::walk::Part;
use kernel::{Dim, StmtKind};
use rustc_hash::FxHashMap;

use super::Cx;
use super::single::install;

/// The code of a kernel that one thread runs, if it is nothing else.
pub(super) fn code_of(cx: &Cx<'_>) -> Option<StmtId> {
    match cx.kernel.body.as_slice() {
        [only] => match only.kind {
            StmtKind::Code(code) => Some(code),
            _ => None,
        },
        _ => None,
    }
}

/// All loops that count in a piece of code, inner ones before those around them.
pub(super) fn loops(program: &Program, code: StmtId) -> Vec<StmtId> {
    let mut found = Vec::new();
    let mut open = vec![Part::Stmt(code)];
    while let Some(part) = open.pop() {
        if let Part::Stmt(stmt) = part
            && let C::For(_) = program.stmts[stmt].kind
        {
            found.push(stmt);
        }
        program.parts(part, &mut |it| open.push(it));
    }
    found.reverse();
    found
}

/// The `for` that a statement is.
pub(super) fn for_of(program: &Program, stmt: StmtId) -> Option<For> {
    match &program.stmts[stmt].kind {
        C::For(it) => Some(it.as_ref().clone()),
        _ => None,
    }
}

/// A loop of a nest, as a statement, as it is written, and as one that counts.
pub(super) type Level = (StmtId, For, Dim);

/// Loops that are each all that the one around does, from the outermost on, and what the innermost does: they count by ones, and
/// their iterations do not meet by the word of directives.
pub(super) fn free_nest(cx: &Cx<'_>, stmt: StmtId) -> Option<(Vec<Level>, StmtId)> {
    let program = &*cx.program;
    let mut levels: Vec<Level> = Vec::new();
    let (mut at, mut body) = (stmt, stmt);
    let is_free = |at: StmtId| cx.kernel.launch.independent.contains(&at);
    while let Some(it) = for_of(program, at).filter(|_| is_free(at)) {
        let Some(dim) = super::nest::counted(program, &it) else { break };
        let kind = program.types.integer_kind(program.vars[dim.var].ty)?;
        let is_wide = program.model.int_bits(kind) >= 32 && program.model.int_signed(kind);
        let declares = it.init.iter().any(|it| matches!(program.stmts[*it].kind, C::Local(_)));
        if !is_wide || declares {
            break;
        }
        body = it.body;
        levels.push((at, it, dim));
        at = body;
        while let C::Block(list) = &program.stmts[at].kind
            && let [only] = list.as_ref()
        {
            at = *only;
        }
    }
    Some((levels, body))
}

/// Whether code leaves an iteration or a loop before its end, other than loops in it.
pub(super) fn jumps(program: &Program, body: StmtId) -> bool {
    let mut open = vec![(Part::Stmt(body), false)];
    while let Some((part, is_inside)) = open.pop() {
        let mut inside = is_inside;
        if let Part::Stmt(stmt) = part {
            match &program.stmts[stmt].kind {
                C::Continue | C::Break if !is_inside => return true,
                C::Goto(_) | C::GotoExpr(_) | C::Return(_) | C::Label(..) | C::Asm(_) => {
                    return true;
                }
                C::For(_) | C::While(..) | C::DoWhile(..) => inside = true,
                _ => {}
            }
        }
        program.parts(part, &mut |it| open.push((it, inside)));
    }
    false
}

/// Whether an expression only computes: it changes nothing, calls nothing, and looks at nothing that others may change.
pub(super) fn is_quiet(program: &Program, e: ExprId) -> bool {
    let mut open = vec![Part::Expr(e)];
    while let Some(part) = open.pop() {
        if let Part::Expr(e) = part
            && (program.exprs[e].ty.quals.is_volatile
                || matches!(
                    program.exprs[e].kind,
                    ExprKind::Assign(..)
                        | ExprKind::AssignOp(..)
                        | ExprKind::Step(..)
                        | ExprKind::Call(..)
                        | ExprKind::StmtExpr(_)
                        | ExprKind::CompoundLiteral(_)
                        | ExprKind::Comma(..)
                ))
        {
            return false;
        }
        program.parts(part, &mut |it| open.push(it));
    }
    true
}

/// Puts statements of the kernel's code in the place of others.
pub(super) fn replace(cx: &mut Cx<'_>, replaced: FxHashMap<StmtId, StmtId>) {
    let Some(code) = code_of(cx) else { return };
    let mut rebuild = Rebuild { program: cx.program, replaced };
    let made = rebuild.stmt(code);
    let replaced = rebuild.replaced;
    let loops = &mut cx.kernel.launch.independent;
    loops.iter_mut().for_each(|it| *it = replaced.get(it).copied().unwrap_or(*it));
    if let Some(stmt) = cx.kernel.body.first_mut() {
        stmt.kind = StmtKind::Code(made);
    }
    install(cx.program, cx.kernel.region, made);
}

/// Code with statements put in the place of others.
pub(super) struct Rebuild<'p> {
    pub(super) program: &'p mut Program,
    /// What stands for what; statements around are added as they are made.
    pub(super) replaced: FxHashMap<StmtId, StmtId>,
}

impl Rebuild<'_> {
    pub(super) fn stmt(&mut self, id: StmtId) -> StmtId {
        if let Some(other) = self.replaced.get(&id) {
            return *other;
        }
        let stmt = self.program.stmts[id].clone();
        let kind = match &stmt.kind {
            C::Block(list) => C::Block(list.iter().map(|it| self.stmt(*it)).collect()),
            C::If(c, then, other) => C::If(*c, self.stmt(*then), other.map(|it| self.stmt(it))),
            C::While(c, body) => C::While(*c, self.stmt(*body)),
            C::DoWhile(body, c) => C::DoWhile(self.stmt(*body), *c),
            C::For(it) => {
                let body = self.stmt(it.body);
                C::For(Box::new(For { body, ..it.as_ref().clone() }))
            }
            C::Switch(e, body) => C::Switch(*e, self.stmt(*body)),
            C::Case(low, high, body) => C::Case(*low, *high, self.stmt(*body)),
            C::Default(body) => C::Default(self.stmt(*body)),
            C::Label(label, body) => C::Label(*label, self.stmt(*body)),
            _ => return id,
        };
        if kind == stmt.kind {
            return id;
        }
        let made = self.program.stmts.push(ir::program::Stmt { kind, span: stmt.span });
        self.replaced.insert(id, made);
        made
    }
}
