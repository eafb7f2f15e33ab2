//! Whether the value that a loop leaves in a variable is ever used.
//!
//! In: a loop and a variable. Out: whether some way from the end of the loop leads to a read of it
//! before a write. Only the structure of statements is followed; where there are jumps, any mention
//! outside the loop counts as a read.
//!
//! Answers for the rest of a block are kept, and code that does not mention the variable is passed
//! over: asking for each of many loops in a row reads what follows once.

use std::cell::RefCell;

use ir::construct::{ClauseKind, Convert, Motion};
use ir::program::{ExprId, ExprKind, InitId, Program, StmtId, StmtKind, Typed, VarId, VarStorage};
use ir::region::{Mapping, Origin, Region, Sharing};
use ir::types::Ty;
use ir::walk::Part;
use rustc_hash::FxHashMap;
use source::Name;

use crate::outline::Outline;
use crate::scan::Scan;

/// What a piece of code does first to a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum First {
    /// May read it.
    Read,
    /// Writes it, on every way.
    Write,
    /// Neither, or writes it on some ways only.
    Passes,
}

impl First {
    fn then(self, next: impl FnOnce() -> First) -> First {
        if self == First::Passes { next() } else { self }
    }

    /// Either of two.
    fn or(self, other: First) -> First {
        match (self, other) {
            (First::Read, _) | (_, First::Read) => First::Read,
            (First::Write, First::Write) => First::Write,
            (First::Write | First::Passes, First::Write | First::Passes) => First::Passes,
        }
    }

    /// Perhaps not done at all.
    fn perhaps(self) -> First {
        self.or(First::Passes)
    }
}

/// What has been found out so far.
#[derive(Debug, Default)]
pub(crate) struct Liveness {
    /// What a block does first to a variable, from this statement of it on.
    known: RefCell<FxHashMap<(StmtId, VarId), First>>,
}

impl Liveness {
    /// Whether the value after the loop may be read.
    pub(crate) fn after(
        &self,
        program: &Program,
        outline: &Outline,
        stmt: StmtId,
        var: VarId,
    ) -> bool {
        let function = outline.function(stmt);
        let is_own = match program.vars[var].storage {
            VarStorage::Local(of) | VarStorage::Param(of) => Some(of) == function,
            VarStorage::Global
            | VarStorage::Extern
            | VarStorage::Static
            | VarStorage::LocalStatic(_) => false,
        };
        let around = outline.around(stmt);
        let Some(&outermost) = around.last() else { return true };
        if !is_own {
            return true;
        }
        if function.is_some_and(|it| outline.has_labels(it)) {
            return outline.mentions(outermost, var) > outline.mentions(stmt, var);
        }
        let cx = Cx { program, outline, known: &self.known, var };
        let mut inner = stmt;
        for &outer in &around {
            if let StmtKind::Region(region) = program.stmts[outer].kind
                && is_copied(&program.regions[region], var)
            {
                return false;
            }
            let first = cx.after(outer, inner);
            match first {
                First::Read => return true,
                First::Write => return false,
                First::Passes => {}
            }
            inner = outer;
        }
        false
    }
}

/// Whether the code of a region works on a copy of a variable that goes with it, by the word of a clause. What counts a
/// loop may have a copy because of a directive that nobody wrote.
fn is_copied(region: &Region, var: VarId) -> bool {
    let Some(it) = region.vars.iter().find(|it| it.var == var) else { return false };
    let is_own = it.sharing.as_ref().is_some_and(|it| {
        matches!(it.value, Sharing::Private | Sharing::FirstPrivate)
            && matches!(it.origin, Origin::Clause(_))
    });
    is_own && !it.mappings.iter().any(|it| matches!(it.value, Mapping::Map(..)))
}

struct Cx<'a> {
    program: &'a Program,
    outline: &'a Outline,
    known: &'a RefCell<FxHashMap<(StmtId, VarId), First>>,
    var: VarId,
}

impl Cx<'_> {
    /// What comes in `outer` after `inner`, a direct part of it.
    fn after(&self, outer: StmtId, inner: StmtId) -> First {
        match &self.program.stmts[outer].kind {
            StmtKind::Block(stmts) => self.rest(stmts, self.outline.range(inner).end),
            StmtKind::For(it) => {
                // The next round, or the end.
                let step = it.step.map_or(First::Passes, |it| self.expr(it));
                let cond = it.cond.map_or(First::Passes, |it| self.expr(it));
                step.then(|| cond).then(|| self.stmt(it.body).perhaps())
            }
            StmtKind::While(cond, body) | StmtKind::DoWhile(body, cond) => {
                self.expr(*cond).then(|| self.stmt(*body).perhaps())
            }
            // What follows in a `switch` may be any case.
            StmtKind::Switch(_, body) => match self.stmt(*body) {
                First::Read => First::Read,
                First::Write | First::Passes => First::Passes,
            },
            StmtKind::Error => First::Read,
            StmtKind::Empty
            | StmtKind::Local(_)
            | StmtKind::Expr(_)
            | StmtKind::If(..)
            | StmtKind::Case(..)
            | StmtKind::Default(_)
            | StmtKind::Label(..)
            | StmtKind::Goto(_)
            | StmtKind::GotoExpr(_)
            | StmtKind::Continue
            | StmtKind::Break
            | StmtKind::Return(_)
            | StmtKind::Asm(_)
            | StmtKind::Region(_)
            | StmtKind::Declaration(_) => self.rest_of_statement(outer),
        }
    }

    /// What the statements of a block do from a number on.
    fn rest(&self, stmts: &[StmtId], from: u32) -> First {
        let range = |it: &StmtId| self.outline.range(*it);
        let end = stmts.last().map_or(0, |it| range(it).end);
        let mut at = from;
        let mut passed = Vec::new();
        let mut found = First::Passes;
        while let Some(next) = self.outline.next(self.var, &(at..end)) {
            let holder = stmts.partition_point(|it| range(it).end <= next);
            let Some(&stmt) = stmts.get(holder) else { break };
            // Copied out, since looking into a statement may add answers.
            let known = self.known.borrow().get(&(stmt, self.var)).copied();
            if let Some(known) = known {
                found = known;
                break;
            }
            passed.push(stmt);
            found = self.stmt(stmt);
            if found != First::Passes {
                break;
            }
            at = range(&stmt).end;
        }
        self.known.borrow_mut().extend(passed.into_iter().map(|it| ((it, self.var), found)));
        found
    }

    /// A loop inside an expression is rare: any mention in the expression counts.
    fn rest_of_statement(&self, outer: StmtId) -> First {
        let mut mentioned = false;
        self.program.stmts[outer].kind.parts(&mut |part| {
            if let Part::Expr(it) = part
                && let StmtKind::Expr(_) | StmtKind::Return(_) | StmtKind::Asm(_) =
                    self.program.stmts[outer].kind
            {
                mentioned |= self.mentions(Part::Expr(it));
            } else if let Part::Local(it) = part {
                mentioned |= self.mentions(Part::Local(it));
            }
        });
        if mentioned { First::Read } else { First::Passes }
    }

    fn mentions(&self, part: Part) -> bool {
        Scan::of(self.program, &[part]).mentions.contains_key(&self.var)
    }

    fn stmt(&self, id: StmtId) -> First {
        let program = self.program;
        match &program.stmts[id].kind {
            StmtKind::Empty | StmtKind::Declaration(_) => First::Passes,
            StmtKind::Block(stmts) => self.rest(stmts, self.outline.range(id).start),
            StmtKind::Expr(expr) => self.expr(*expr),
            StmtKind::If(cond, then, other) => self.expr(*cond).then(|| {
                let no = other.map_or(First::Passes, |it| self.stmt(it));
                self.stmt(*then).or(no)
            }),
            StmtKind::While(cond, body) => self.expr(*cond).then(|| self.stmt(*body).perhaps()),
            StmtKind::For(it) => {
                let init = it.init.iter();
                let first = init.fold(First::Passes, |first, &it| first.then(|| self.stmt(it)));
                let cond = || it.cond.map_or(First::Passes, |it| self.expr(it));
                let step = || it.step.map_or(First::Passes, |it| self.expr(it));
                // `continue` may lead to the step from anywhere in the body.
                let round = || self.stmt(it.body).perhaps().then(step).perhaps();
                first.then(cond).then(round)
            }
            // What follows may be skipped.
            StmtKind::Continue | StmtKind::Break => First::Read,
            StmtKind::Return(value) => match value {
                Some(value) if self.expr(*value) == First::Read => First::Read,
                Some(_) | None => First::Write,
            },
            StmtKind::Error
            | StmtKind::Local(_)
            | StmtKind::DoWhile(..)
            | StmtKind::Switch(..)
            | StmtKind::Case(..)
            | StmtKind::Default(_)
            | StmtKind::Label(..)
            | StmtKind::Goto(_)
            | StmtKind::GotoExpr(_)
            | StmtKind::Asm(_) => self.any(id),
            StmtKind::Region(region) => self.region(&program.regions[*region]),
        }
    }

    /// Clauses may read it, and what is written to a copy does not come back.
    fn region(&self, region: &Region) -> First {
        let mut named = Named { cx: self, found: false };
        match region.construct.kinds().any(|it| self.is_own(it)) {
            false => _ = region.construct.convert(&mut named),
            true => {
                let mut construct = region.construct.clone();
                construct.clauses.retain(|it| !self.is_own(&it.kind));
                construct.convert(&mut named);
            }
        }
        if named.found {
            return First::Read;
        }
        let it = region.vars.iter().find(|it| it.var == self.var);
        let is_fresh = it.is_some_and(|it| {
            let is_mapped = it.mappings.iter().any(|it| matches!(it.value, Mapping::Map(..)));
            it.sharing.as_ref().is_some_and(|it| it.value == Sharing::Private) && !is_mapped
        });
        let Some(body) = region.body.filter(|_| !is_fresh) else { return First::Passes };
        let first = self.stmt(body);
        let Some(it) = it else { return first };
        let copied = if first == First::Read { First::Read } else { First::Passes };
        let shared = match it.sharing.as_ref().map(|it| &it.value) {
            None | Some(Sharing::Shared) => first,
            Some(Sharing::Private | Sharing::FirstPrivate) => copied,
            Some(
                Sharing::LastPrivate
                | Sharing::FirstLastPrivate
                | Sharing::Reduction(_)
                | Sharing::Linear
                | Sharing::ThreadPrivate,
            ) => First::Read,
        };
        it.mappings.iter().fold(shared, |first, it| match &it.value {
            Mapping::Map(Motion::ToFrom | Motion::From, ..) => first,
            Mapping::Map(
                Motion::Unsaid | Motion::Alloc | Motion::To | Motion::Release | Motion::Delete,
                ..,
            )
            | Mapping::FirstPrivate
            | Mapping::Private
            | Mapping::DevicePointer
            | Mapping::DeviceAddress
            | Mapping::PointerToMapped
            | Mapping::Declared => first.or(copied),
        })
    }

    /// Whether a clause gives copies without a value, and names nothing but variables.
    fn is_own(&self, kind: &ClauseKind<Typed>) -> bool {
        let is_var = |it: &ExprId| matches!(self.program.exprs[*it].kind, ExprKind::Var(_));
        matches!(kind, ClauseKind::Private(items) if items.iter().all(is_var))
    }

    /// A statement that is not looked into: `continue` may leave a `switch`.
    fn any(&self, id: StmtId) -> First {
        let is_named = self.outline.names(id, self.var);
        let is_read =
            is_named || self.outline.continues(id) || self.outline.mentions(id, self.var) > 0;
        if is_read { First::Read } else { First::Passes }
    }

    /// An assignment whose right side does not mention the variable writes it.
    fn expr(&self, id: ExprId) -> First {
        let kind = &self.program.exprs[id].kind;
        if let ExprKind::Assign(to, value) = *kind
            && let ExprKind::Var(var) = self.program.exprs[to].kind
            && var == self.var
        {
            return self.expr(value).then(|| First::Write);
        }
        if let ExprKind::Comma(a, b) = *kind {
            return self.expr(a).then(|| self.expr(b));
        }
        if self.mentions(Part::Expr(id)) { First::Read } else { First::Passes }
    }
}

/// Whether the clauses of a directive mention the variable.
struct Named<'a> {
    cx: &'a Cx<'a>,
    found: bool,
}

impl Convert<Typed, Typed> for Named<'_> {
    fn expr(&mut self, expr: &ExprId) -> ExprId {
        self.found |= self.cx.mentions(Part::Expr(*expr));
        *expr
    }

    fn ty(&mut self, ty: &Ty) -> Ty {
        *ty
    }

    fn init(&mut self, init: &InitId) -> InitId {
        self.found |= self.cx.mentions(Part::Init(*init));
        *init
    }

    fn name(&mut self, name: &Name) -> Name {
        *name
    }
}
