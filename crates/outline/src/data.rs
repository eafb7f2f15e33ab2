//! Variables that a construct has for itself: copies, where they begin, and what survives of them.

use ir::construct::{ClauseKind, Linear};
use ir::program::{BinaryOp, ExprId, ExprKind, RegionId, Typed, VarId};
use ir::region::{Origin, Rule, Sharing};
use kernel::{Block, Stmt, StmtKind};

use crate::{Outliner, Result, comes_as_value, leaves_host, refuse};

/// What is done with copies where iterations are dealt.
#[derive(Clone, Debug, Default)]
pub(crate) struct Copies {
    /// Originals that get the value of the copy in the last iteration.
    pub(crate) last: Vec<(VarId, VarId)>,
    /// Variables that follow the iterations: original, copy, the value before the loop, step.
    pub(crate) linear: Vec<Following>,
}

/// A variable that follows the iterations of a loop.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Following {
    pub(crate) original: VarId,
    pub(crate) copy: VarId,
    pub(crate) first: VarId,
    pub(crate) step: Option<ExprId>,
}

/// A part of an array that a construct has for itself: its first element and how many, and whether it begins with values.
type OwnPart = (VarId, (i64, u64), bool);

impl Outliner<'_> {
    /// Copies of what a construct has for itself, but for what it combines and what counts its loops.
    pub(crate) fn privatise(&mut self, id: RegionId, out: &mut Block) -> Result<Copies> {
        let region = self.program.regions[id].clone();
        self.check_items(id)?;
        let is_kernel = region.construct.leaves.iter().any(|it| leaves_host(*it));
        let mut copies = Copies::default();
        let outside = self.env.clone();
        let parts = self.own_parts(id)?;
        for var in &region.vars {
            let Some(sharing) = &var.sharing else { continue };
            if region.loops.iter().any(|it| it.var == var.var)
                || parts.iter().any(|it| it.0 == var.var)
            {
                continue;
            }
            let is_own = matches!(
                sharing.origin,
                Origin::Clause(_)
                    | Origin::Rule(Rule::LoopVariable | Rule::DefaultClause | Rule::TaskCopy)
            );
            let (is_set, is_kept) = match &sharing.value {
                Sharing::Private if is_own => (false, false),
                // A value that nobody changes is each thread's own already.
                Sharing::FirstPrivate if is_kernel && comes_as_value(var) && !var.written => {
                    continue;
                }
                Sharing::FirstPrivate if is_own => (true, false),
                Sharing::LastPrivate => (false, true),
                Sharing::FirstLastPrivate => (true, true),
                Sharing::ThreadPrivate => {
                    return refuse("a variable that each thread keeps", var.span);
                }
                Sharing::Private
                | Sharing::FirstPrivate
                | Sharing::Linear
                | Sharing::Reduction(_)
                | Sharing::Shared => continue,
            };
            let original = outside.vars.get(&var.var).copied().unwrap_or(var.var);
            let copy = self.fresh_like(var.var, self.space_here(), var.span)?;
            self.declare(copy, out);
            if is_set {
                self.copy_value(copy, original, out);
            }
            if is_kept {
                copies.last.push((original, copy));
            }
            self.env.vars.insert(var.var, copy);
        }
        for (var, part, is_set) in parts {
            let span = region.construct.span;
            let space = self.space_here();
            let (_, original, own) = self.copied_part(id, (var, part), space, span, out)?;
            if is_set {
                let e = self.build(span).copy(own, original);
                self.eval(e, out);
            }
        }
        let linears = region.construct.kinds().filter_map(|it| match it {
            ClauseKind::Linear(it) => Some(it.clone()),
            _ => None,
        });
        for it in linears.collect::<Vec<Linear<Typed>>>() {
            self.follow(&it, &mut copies, out)?;
        }
        // Nobody leaves a last value before all have read the first.
        let is_read = |it: &(VarId, VarId)| {
            region.vars.iter().any(|var| {
                let sharing = var.sharing.as_ref().map(|it| &it.value);
                outside.vars.get(&var.var).copied().unwrap_or(var.var) == it.0
                    && matches!(sharing, Some(Sharing::FirstLastPrivate))
            })
        };
        if !copies.linear.is_empty() || copies.last.iter().any(is_read) {
            self.barrier(region.construct.span, out);
        }
        Ok(copies)
    }

    /// Variables that follow the iterations.
    fn follow(
        &mut self,
        clause: &Linear<Typed>,
        copies: &mut Copies,
        out: &mut Block,
    ) -> Result<()> {
        for item in &clause.items {
            let span = self.program.exprs[*item].span;
            let ExprKind::Var(var) = self.program.exprs[*item].kind else {
                return refuse("a part of an object that follows the iterations", span);
            };
            let original = self.env.vars.get(&var).copied().unwrap_or(var);
            let copy = self.fresh_like(var, self.space_here(), span)?;
            let first = self.fresh_like(var, self.space_here(), span)?;
            self.declare(copy, out);
            self.declare(first, out);
            self.copy_value(first, original, out);
            let step = clause.step.map(|it| self.copied(it));
            copies.linear.push(Following { original, copy, first, step });
            self.env.vars.insert(var, copy);
        }
        Ok(())
    }

    /// Parts of arrays that a construct has for itself.
    fn own_parts(&self, id: RegionId) -> Result<Vec<OwnPart>> {
        let clauses = self.program.regions[id].construct.clauses.iter();
        let mut found = Vec::new();
        for clause in clauses.filter(|it| it.group.is_none()) {
            let (items, is_set) = match &clause.kind {
                ClauseKind::Private(items) => (items, false),
                ClauseKind::FirstPrivate { items, .. } => (items, true),
                _ => continue,
            };
            for item in items {
                let item = self.item(*item)?;
                found.extend(item.part.map(|part| (item.var, part, is_set)));
            }
        }
        Ok(found)
    }

    /// Refuses clauses that name what has no copy here.
    fn check_items(&mut self, id: RegionId) -> Result<()> {
        let region = &self.program.regions[id];
        for clause in region.construct.clauses.iter().filter(|it| it.group.is_none()) {
            let span = clause.span;
            match &clause.kind {
                ClauseKind::LastPrivate { conditional: true, .. } => {
                    return refuse("the last iteration that sets a variable decides", span);
                }
                ClauseKind::LastPrivate { items, .. } => {
                    let is_whole =
                        |it: &ExprId| matches!(self.program.exprs[*it].kind, ExprKind::Var(_));
                    if !items.iter().all(is_whole) {
                        return refuse("a copy of a part of an array", span);
                    }
                }
                ClauseKind::CopyIn(_) => return refuse("a variable that each thread keeps", span),
                ClauseKind::Induction(_) => return refuse("an induction", span),
                ClauseKind::DetachEvent(_) => return refuse("`detach`", span),
                _ => {}
            }
        }
        Ok(())
    }

    /// What begins an iteration: variables that follow it get their values. `number`: of the iteration.
    pub(crate) fn begin_iteration(&mut self, copies: &Copies, number: VarId, out: &mut Block) {
        for it in &copies.linear {
            let e = self.followed(it, number, false);
            self.eval(e, out);
        }
    }

    /// What the last iteration leaves.
    pub(crate) fn end_last(&mut self, copies: &Copies, number: VarId) -> Block {
        let mut out = Block::new();
        for (original, copy) in &copies.last {
            let span = self.program.vars[*copy].span;
            let mut build = self.build(span);
            let (to, from) = (build.var(*original), build.var(*copy));
            let e = build.copy(to, from);
            out.push(Stmt::new(StmtKind::Eval(e), span));
        }
        for it in &copies.linear {
            let e = self.followed(it, number, true);
            self.eval(e, &mut out);
        }
        out
    }

    /// `copy = first + number * step`, or what the original is after that iteration.
    fn followed(&mut self, it: &Following, number: VarId, is_after: bool) -> ExprId {
        let span = self.program.vars[it.copy].span;
        let is_pointer = self.program.types.is_pointer(self.program.vars[it.copy].ty);
        let mut build = self.build(span);
        let mut rounds = build.var(number);
        if is_after {
            let one = build.number(1);
            rounds = build.binary(BinaryOp::Add, rounds, one);
        }
        let step = match it.step {
            Some(step) => build.as_number(step),
            None => build.number(1),
        };
        let far = build.binary(BinaryOp::Mul, rounds, step);
        let first = build.var(it.first);
        let value = match is_pointer {
            true => {
                let long =
                    build.program.types.get(ir::types::TypeKind::Int(ir::types::IntKind::Long));
                let far = build.cast(far, long);
                build.binary(BinaryOp::Add, first, far)
            }
            false => {
                let first = build.as_number(first);
                build.binary(BinaryOp::Add, first, far)
            }
        };
        let to = if is_after { it.original } else { it.copy };
        build.set(to, value)
    }
}
