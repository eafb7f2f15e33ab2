//! `scatter`: what each thread would sum up in an array of its own is joined with the array itself, atomically.
//!
//! In: a `reduction` over an array of integers in a loop that all threads share, whose iterations only ever join elements
//! with values and choose them by what they have loaded or computed: an array of a thread's own lies in slow memory then,
//! because registers have no numbers. Out: atomic constructs, for which `privatize` gives groups copies in fast memory; it
//! does not happen where that pass would not. Integers may be joined in any order, so the answer is the same.

use ir::construct::ReductionOp;
use ir::program::{ExprId, ExprKind, Program, StmtId, StmtKind as C, VarId};
use ir::types::TypeKind;
use ir::walk::Part;
use kernel::copy::Copier;
use kernel::walk::{self, How};
use kernel::{Block, Reduce, Stmt, StmtKind};
use rustc_hash::{FxHashMap, FxHashSet};

use super::nest::mentions;
use super::{Cx, Result, privatize};
use crate::atomic::blind;

pub(super) fn run(cx: &mut Cx<'_>) -> Result<()> {
    if !cx.groups.atomics || cx.kernel.all.is_none() {
        return Ok(());
    }
    let all = walk::all(&cx.kernel.body);
    let reductions: Vec<Reduce> = all
        .iter()
        .filter_map(|it| match &it.kind {
            StmtKind::Reduce(it) => Some(it.as_ref().clone()),
            _ => None,
        })
        .collect();
    for reduce in reductions {
        let Some(array) = array_of(cx, &reduce) else { continue };
        let mut scatter = Scatter { cx, reduce: &reduce, array, begins: 0, is_chosen: false };
        let body = scatter.cx.kernel.body.clone();
        let Some(made) = scatter.block(&body) else { continue };
        let is_whole = scatter.begins == 1 && scatter.is_chosen;
        if is_whole && privatize::gives_copies(cx, &made, array) {
            cx.kernel.body = made;
            cx.kernel.spaces.retain(|it| it.0 != reduce.copy);
        }
    }
    Ok(())
}

/// The array whose elements are combined, if they can be joined in any order by one instruction.
fn array_of(cx: &Cx<'_>, it: &Reduce) -> Option<VarId> {
    let program = &*cx.program;
    it.elements.filter(|_| Some(it.crew) == cx.kernel.all)?;
    matches!(
        it.op,
        ReductionOp::Add
            | ReductionOp::Sub
            | ReductionOp::Mul
            | ReductionOp::BitAnd
            | ReductionOp::BitOr
            | ReductionOp::BitXor
    )
    .then_some(())?;
    let [Stmt { kind: StmtKind::Code(code), .. }] = it.combine.as_slice() else { return None };
    let C::Expr(e) = program.stmts[*code].kind else { return None };
    let (ExprKind::Assign(to, _) | ExprKind::AssignOp(_, to, ..)) = program.exprs[e].kind else {
        return None;
    };
    let ExprKind::Index(base, _) = program.exprs[to].kind else { return None };
    let ExprKind::Var(array) = program.exprs[program.peeled(base)].kind else { return None };
    let types = &program.types;
    let is_integer = matches!(types.shape(program.exprs[to].ty), TypeKind::Int(_));
    let own = types.element(program.vars[it.copy].ty)?;
    (is_integer && types.resolve(own).plain() == types.resolve(program.exprs[to].ty).plain())
        .then_some(array)
}

/// A kernel without one of its reductions.
struct Scatter<'a, 'p> {
    cx: &'a mut Cx<'p>,
    reduce: &'a Reduce,
    array: VarId,
    /// How much code gives the copies of threads their first values.
    begins: usize,
    /// An element is chosen by what is known only when the kernel runs.
    is_chosen: bool,
}

impl Scatter<'_, '_> {
    fn block(&mut self, block: &Block) -> Option<Block> {
        let mut out = Block::new();
        for stmt in block {
            out.extend(self.stmt(stmt)?);
        }
        Some(out)
    }

    /// What stands in the place of a statement outside of shared loops, if it is known what it does.
    fn stmt(&mut self, stmt: &Stmt) -> Option<Option<Stmt>> {
        let copy = self.reduce.copy;
        let kind = match &stmt.kind {
            StmtKind::Local(var) if *var == copy => return Some(None),
            StmtKind::Reduce(it) if it.copy == copy => return Some(None),
            StmtKind::Block(inner) => StmtKind::Block(self.block(inner)?),
            StmtKind::Share(share) => {
                let mut share = share.clone();
                share.body = self.iteration(&share.body)?;
                (!names(self.cx.program, &share.last, copy)).then_some(())?;
                StmtKind::Share(share)
            }
            StmtKind::Code(code) => {
                let (uses, _) = walk::uses(self.cx.program, Part::Stmt(*code));
                if uses.iter().all(|it| it.var != copy) {
                    return Some(Some(stmt.clone()));
                }
                // It begins with what changes nothing, and nothing else of the kernel is set.
                uses.iter()
                    .filter(|it| it.how == How::Written)
                    .all(|it| it.var == copy || self.is_inner(*code, it.var))
                    .then_some(())?;
                self.begins += 1;
                return Some(None);
            }
            kind => {
                let one = vec![Stmt::new(kind.clone(), stmt.span)];
                (!names(self.cx.program, &one, copy)).then_some(())?;
                kind.clone()
            }
        };
        Some(Some(Stmt::new(kind, stmt.span)))
    }

    /// Whether code declares a variable.
    fn is_inner(&self, code: StmtId, var: VarId) -> bool {
        walk::uses(self.cx.program, Part::Stmt(code)).1.contains(&var)
    }

    /// The same for what an iteration does.
    fn iteration(&mut self, block: &Block) -> Option<Block> {
        let mut out = block.clone();
        for stmt in &mut out {
            for inner in stmt.kind.blocks_mut() {
                *inner = self.iteration(inner)?;
            }
            match &mut stmt.kind {
                StmtKind::Code(code) => *code = self.code(*code)?,
                kind => {
                    let copy = self.reduce.copy;
                    let is_named = |it: &ExprId| mentions(self.cx.program, *it, |var| var == copy);
                    (!kind.exprs().iter().any(is_named)).then_some(())?;
                }
            }
        }
        Some(out)
    }

    /// Code in which the array itself is joined with values, atomically.
    fn code(&mut self, code: StmtId) -> Option<StmtId> {
        let copy = self.reduce.copy;
        let (mut joins, mut named) = (Vec::new(), 0_usize);
        let counters = counters(self.cx.program, code);
        let mut open = vec![Part::Stmt(code)];
        while let Some(part) = open.pop() {
            let program = &*self.cx.program;
            if let Part::Stmt(stmt) = part
                && let C::Expr(e) = program.stmts[stmt].kind
                && mentions(program, e, |it| it == copy)
            {
                joins.push(stmt);
                continue;
            }
            if let Part::Expr(e) = part
                && matches!(program.exprs[e].kind, ExprKind::Var(it) if it == copy)
            {
                named += 1;
            }
            program.parts(part, &mut |it| open.push(it));
        }
        if joins.is_empty() || named > 0 {
            return (named == 0).then_some(code);
        }
        let mut stmts = FxHashMap::default();
        for stmt in joins {
            stmts.insert(stmt, self.atomic(stmt, &counters)?);
        }
        Some(Copier { stmts, ..Copier::new(self.cx.program) }.stmt(code))
    }

    /// A statement about the array itself as an atomic construct, if it is one that joins an element with a value.
    fn atomic(&mut self, stmt: StmtId, counters: &FxHashSet<VarId>) -> Option<StmtId> {
        let span = self.cx.program.stmts[stmt].span;
        let mut copier = Copier::new(self.cx.program);
        copier.vars.insert(self.reduce.copy, self.array);
        let body = copier.stmt(stmt);
        let id = self.cx.atomic(body, &[], span);
        let program = &*self.cx.program;
        let change = blind(program, id)?;
        let op =
            if self.reduce.op == ReductionOp::Sub { &ReductionOp::Add } else { &self.reduce.op };
        let ExprKind::Index(base, index) = program.exprs[change.object].kind else { return None };
        let is_array = matches!(program.exprs[program.peeled(base)].kind, ExprKind::Var(it) if it == self.array);
        (is_array && change.op == *op).then_some(())?;
        self.is_chosen |= is_chosen(program, index, counters);
        Some(self.cx.build(span).stmt(C::Region(id)))
    }
}

/// Whether statements name a variable.
fn names(program: &Program, block: &Block, var: VarId) -> bool {
    walk::all(block).iter().any(|stmt| {
        let in_code =
            |code: StmtId| walk::uses(program, Part::Stmt(code)).0.iter().any(|it| it.var == var);
        let is_code = matches!(stmt.kind, StmtKind::Code(code) if in_code(code));
        let vars = stmt.kind.reads().into_iter().chain(stmt.kind.sets());
        is_code
            || vars.into_iter().any(|it| it == var)
            || stmt.kind.exprs().into_iter().any(|e| mentions(program, e, |it| it == var))
    })
}

/// Variables that loops in code count with: where those are written down round by round, they are numbers.
fn counters(program: &Program, code: StmtId) -> FxHashSet<VarId> {
    let mut found = FxHashSet::default();
    let mut open = vec![Part::Stmt(code)];
    while let Some(part) = open.pop() {
        if let Part::Stmt(stmt) = part
            && let C::For(it) = &program.stmts[stmt].kind
        {
            let parts =
                it.step.into_iter().map(Part::Expr).chain(it.init.iter().map(|it| Part::Stmt(*it)));
            for part in parts {
                let (uses, declared) = walk::uses(program, part);
                found.extend(declared);
                found.extend(uses.iter().filter(|it| it.how == How::Written).map(|it| it.var));
            }
        }
        program.parts(part, &mut |it| open.push(it));
    }
    found
}

/// Whether an index is more than a constant and the counters of loops.
fn is_chosen(program: &Program, index: ExprId, counters: &FxHashSet<VarId>) -> bool {
    let mut open = vec![Part::Expr(index)];
    while let Some(part) = open.pop() {
        if let Part::Expr(e) = part
            && matches!(program.exprs[e].kind, ExprKind::Var(it) if !counters.contains(&it))
        {
            return true;
        }
        program.parts(part, &mut |it| open.push(it));
    }
    false
}
