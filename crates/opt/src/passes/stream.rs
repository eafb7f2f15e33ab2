//! Which arrays code goes through once, element after element from the first on: what a channel can stand for.
//!
//! In: a kernel that one thread runs and an array. Out: [`Stream`], or what stands in the way. There is one access of the array
//! in all the code; each iteration of the loops around it makes it, and its subscript is the number of the iteration.

use ir::program::{CastKind, ExprId, ExprKind, Program, StmtId, StmtKind as C, VarId, VarStorage};
use ir::region::LoopTest;
use ir::types::{ArrayLen, TypeKind};
use ir::walk::Part;
use kernel::walk::{How, uses};
use kernel::{Dim, Kernel, StmtKind};
use rustc_hash::FxHashSet;
use source::Span;

use super::code::{for_of, jumps};
use super::poly::{Poly, Terms, constant, difference, number, product, sum, variable};
use super::{Result, refuse};
use crate::dependence::Analysis;

/// How code goes through an array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stream {
    /// Elements, all in all.
    pub count: Count,
    /// It writes them; else it reads them.
    pub writes: bool,
    /// The innermost loop around the access.
    pub within: StmtId,
    /// The access.
    pub span: Span,
}

/// A number of elements, perhaps by variables that code does not change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Count(Poly);

impl Count {
    /// The number, if it is a constant.
    pub fn constant(&self) -> Option<i64> {
        number(&self.0)
    }

    /// The variables in it.
    pub fn vars(&self) -> FxHashSet<VarId> {
        self.0.keys().flatten().copied().collect()
    }
}

/// Asks how a kernel goes through an array.
///
/// # Errors
/// If it does otherwise, or that is not known.
pub fn stream(analysis: &Analysis<'_>, kernel: &Kernel, array: VarId) -> Result<Stream> {
    let program = analysis.program;
    let [only] = kernel.body.as_slice() else { return refuse("it is run by several", kernel.span) };
    let StmtKind::Code(code) = only.kind else {
        return refuse("it is run by several", kernel.span);
    };
    if program.vars[array].ty.quals.is_volatile || jumps(program, code) {
        return refuse("iterations may end early", kernel.span);
    }
    let mut walk = Walk { program, array, loops: Vec::new(), is_sure: true, found: Vec::new() };
    walk.stmt(code);
    let found = walk.found;
    let place = |at: usize| found.get(at).map_or(kernel.span, |it| program.exprs[it.access].span);
    let [one] = found.as_slice() else {
        return refuse("there is more than one access of it, or none", place(1));
    };
    let span = place(0);
    let Some(writes) = one.writes else { return refuse("it is not only read or written", span) };
    if !one.is_sure {
        return refuse("not every iteration makes the access", span);
    }
    let mut dims: Vec<Dim> = Vec::new();
    for it in &one.loops {
        let dim = for_of(program, *it).and_then(|it| {
            let dim = super::nest::counted(program, &it)?;
            let (used, _) = uses(program, Part::Stmt(it.body));
            let is_set = used.iter().any(|it| it.how != How::Named && it.var == dim.var);
            (!is_set && !jumps(program, it.body)).then_some(dim)
        });
        match dim {
            Some(dim) => dims.push(dim),
            None => return refuse("a loop around the access does not count by ones", span),
        }
    }
    let (used, declared) = uses(program, Part::Stmt(code));
    let written = used.iter().filter(|it| it.how != How::Named).map(|it| it.var);
    let changed: FxHashSet<VarId> = written.chain(declared).collect();
    let own = |var: VarId| {
        matches!(program.vars[var].storage, VarStorage::Local(_) | VarStorage::Param(_))
            && !analysis.aliases.is_exposed(program, var)
            && !program.vars[var].ty.quals.is_volatile
    };
    let counters: Vec<VarId> = dims.iter().map(|it| it.var).collect();
    let terms = Terms { program, counters: &counters, changed: &changed, own: &own };
    let counts = |it: &Poly| it.keys().flatten().any(|var| counters.contains(var));
    let passed = passed(&terms, &dims).filter(|it| !counts(&it.1));
    match (linear(&terms, array, one.access), passed, one.loops.last()) {
        (Some(at), Some((passed, count)), Some(within)) if at == passed => {
            Ok(Stream { count: Count(count), writes, within: *within, span })
        }
        (_, _, _) => refuse("the subscript is not the number of the iteration", span),
    }
}

/// How many iterations came before, and how many there are.
fn passed(terms: &Terms<'_>, dims: &[Dim]) -> Option<(Poly, Poly)> {
    let (mut before, mut count) = (Poly::new(), constant(1));
    let poly = |e: ExprId| {
        let known = kernel::count::constant(terms.program, e);
        known.map(constant).or_else(|| terms.poly(e))
    };
    for dim in dims {
        let begin = poly(dim.begin)?;
        let last = match dim.test {
            LoopTest::Lt => poly(dim.bound)?,
            LoopTest::Le => sum(poly(dim.bound)?, &constant(1))?,
            LoopTest::Gt | LoopTest::Ge | LoopTest::Ne => return None,
        };
        let own = difference(last, &begin)?;
        // Of loops in loops only those are known to have no less than no iterations whose numbers are constants.
        if dims.len() > 1 && number(&own).is_none_or(|it| it < 0) {
            return None;
        }
        let far = difference(variable(dim.var), &begin)?;
        before = sum(product(&before, &own)?, &far)?;
        count = product(&count, &own)?;
    }
    Some((before, count))
}

/// The number of an element, from the first on.
fn linear(terms: &Terms<'_>, array: VarId, access: ExprId) -> Option<Poly> {
    let program = terms.program;
    let mut subscripts = Vec::new();
    let mut at = access;
    loop {
        match program.exprs[at].kind {
            ExprKind::Index(base, by) => {
                subscripts.push(by);
                at = base;
            }
            ExprKind::Cast(CastKind::ArrayToPointer, of) => at = of,
            _ => break,
        }
    }
    let mut number = Poly::new();
    let mut ty = program.vars[array].ty;
    for (place, by) in subscripts.iter().rev().enumerate() {
        let TypeKind::Array(element, length) = program.types.shape(ty) else { return None };
        let length = match length {
            ArrayLen::Known(length) => constant(i64::try_from(*length).ok()?),
            // The length of the first dimension makes no difference.
            _ if place == 0 => Poly::new(),
            _ => return None,
        };
        number = sum(product(&number, &length)?, &terms.poly(*by)?)?;
        ty = *element;
    }
    Some(number)
}

/// An access of the array.
struct Found {
    access: ExprId,
    /// Nothing if it is neither a plain read nor a plain write.
    writes: Option<bool>,
    loops: Vec<StmtId>,
    /// Each iteration makes it.
    is_sure: bool,
}

struct Walk<'p> {
    program: &'p Program,
    array: VarId,
    loops: Vec<StmtId>,
    is_sure: bool,
    found: Vec<Found>,
}

impl Walk<'_> {
    fn unsure(&mut self, part: Part) {
        let before = std::mem::replace(&mut self.is_sure, false);
        self.part(part);
        self.is_sure = before;
    }

    fn part(&mut self, part: Part) {
        match part {
            Part::Stmt(stmt) => self.stmt(stmt),
            Part::Expr(e) => self.expr(e),
            Part::Local(_) | Part::Init(_) | Part::Region(_) => {
                let mut parts = Vec::new();
                self.program.parts(part, &mut |it| parts.push(it));
                parts.into_iter().for_each(|it| self.part(it));
            }
        }
    }

    fn stmt(&mut self, stmt: StmtId) {
        let program = self.program;
        match &program.stmts[stmt].kind {
            C::If(condition, then, other) => {
                self.expr(*condition);
                self.unsure(Part::Stmt(*then));
                other.iter().for_each(|it| self.unsure(Part::Stmt(*it)));
            }
            C::For(it) => {
                it.init.iter().for_each(|it| self.stmt(*it));
                self.loops.push(stmt);
                for e in it.cond.iter().chain(&it.step) {
                    self.unsure(Part::Expr(*e));
                }
                self.stmt(it.body);
                self.loops.pop();
            }
            C::Block(list) => list.iter().for_each(|it| self.stmt(*it)),
            C::Expr(e) => self.expr(*e),
            C::Local(var) => self.part(Part::Local(*var)),
            C::Region(region) => self.part(Part::Region(*region)),
            _ => {
                let mut parts = Vec::new();
                program.parts(Part::Stmt(stmt), &mut |it| parts.push(it));
                parts.into_iter().for_each(|it| self.unsure(it));
            }
        }
    }

    fn expr(&mut self, e: ExprId) {
        let program = self.program;
        match program.exprs[e].kind {
            ExprKind::Assign(to, value) => {
                self.expr(value);
                match self.is_element(to) {
                    true => self.access(to, Some(true)),
                    false => self.expr(to),
                }
            }
            ExprKind::AssignOp(_, to, value, _) if self.is_element(to) => {
                self.expr(value);
                self.access(to, None);
            }
            ExprKind::Step(_, to) | ExprKind::AddrOf(to) if self.is_element(to) => {
                self.access(to, None);
            }
            ExprKind::Index(..) if self.is_element(e) => {
                let is_whole = program.types.is_scalar(program.exprs[e].ty);
                self.access(e, is_whole.then_some(false));
            }
            ExprKind::Var(var) if var == self.array => self.access(e, None),
            ExprKind::Conditional(c, a, b) => {
                self.expr(c);
                a.into_iter().chain([b]).for_each(|it| self.unsure(Part::Expr(it)));
            }
            ExprKind::And(a, b) | ExprKind::Or(a, b) => {
                self.expr(a);
                self.unsure(Part::Expr(b));
            }
            _ => {
                let mut parts = Vec::new();
                program.parts(Part::Expr(e), &mut |it| parts.push(it));
                for it in parts {
                    match it {
                        Part::Expr(e) => self.expr(e),
                        Part::Stmt(_) | Part::Local(_) | Part::Init(_) | Part::Region(_) => {
                            self.unsure(it);
                        }
                    }
                }
            }
        }
    }

    /// Whether an expression is the array with subscripts.
    fn is_element(&self, e: ExprId) -> bool {
        match self.program.exprs[e].kind {
            ExprKind::Index(base, _) | ExprKind::Cast(CastKind::ArrayToPointer, base) => {
                matches!(self.program.exprs[base].kind, ExprKind::Var(var) if var == self.array)
                    || self.is_element(base)
            }
            _ => false,
        }
    }

    /// Takes an access down, and looks at its subscripts.
    fn access(&mut self, access: ExprId, writes: Option<bool>) {
        let (loops, is_sure) = (self.loops.clone(), self.is_sure);
        self.found.push(Found { access, writes, loops, is_sure });
        let mut at = access;
        loop {
            match self.program.exprs[at].kind {
                ExprKind::Index(base, by) => {
                    self.expr(by);
                    at = base;
                }
                ExprKind::Cast(CastKind::ArrayToPointer, of) => at = of,
                _ => return,
            }
        }
    }
}
