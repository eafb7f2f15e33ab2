//! Code between the loops of a nest.
//!
//! The standard lets it run at least once with each iteration of the loop around it, and at most once with each iteration of
//! the innermost one. Here it runs with the first or the last round of the loops inside, except for what gives values to
//! variables that each iteration has for itself.

use ir::construct::Leaf;
use ir::program::{BinaryOp, ExprId, Program, RegionId, StmtId, StmtKind as C, VarId};
use ir::region::{Loop as NestLoop, LoopTest, Sharing};
use ir::walk::Part;
use kernel::walk::{How, uses};
use kernel::{Block, Dim, Stmt, StmtKind};

use crate::{Outliner, Result, refuse};

/// Statements before and behind an inner loop, in the body of the loop around it: one for each loop but the innermost.
#[derive(Clone, Debug, Default)]
struct Between {
    levels: Vec<(Vec<StmtId>, Vec<StmtId>)>,
}

impl Between {
    fn is_empty(&self) -> bool {
        self.levels.iter().all(|(before, behind)| before.is_empty() && behind.is_empty())
    }
}

/// What stands between loops; none if one does not stand in the other.
fn between(program: &Program, loops: &[NestLoop]) -> Option<Between> {
    let mut levels = Vec::new();
    for pair in loops.windows(2) {
        let [outer, inner] = pair else { return None };
        levels.push(around(program, outer.body, inner.stmt)?);
    }
    Some(Between { levels })
}

/// What stands before and behind a statement in another.
fn around(program: &Program, at: StmtId, wanted: StmtId) -> Option<(Vec<StmtId>, Vec<StmtId>)> {
    if at == wanted {
        return Some((Vec::new(), Vec::new()));
    }
    match &program.stmts[at].kind {
        C::Block(list) => {
            let inner = |(at, it): (usize, &StmtId)| Some((at, around(program, *it, wanted)?));
            let (place, (inner_before, inner_behind)) = list.iter().enumerate().find_map(inner)?;
            let is_code = |it: &&StmtId| !matches!(program.stmts[**it].kind, C::Empty);
            let mut before: Vec<StmtId> =
                list.iter().take(place).filter(is_code).copied().collect();
            before.extend(inner_before);
            let mut behind = inner_behind;
            behind.extend(list.iter().skip(place + 1).filter(is_code));
            Some((before, behind))
        }
        C::Region(id) => {
            let region = &program.regions[*id];
            let says_nothing = |it: &Leaf| matches!(it, Leaf::Nothing | Leaf::Assume);
            let body = region.body.filter(|_| region.construct.leaves.iter().all(says_nothing))?;
            around(program, body, wanted)
        }
        _ => None,
    }
}

impl Outliner<'_> {
    /// Whether nothing stands between the loops of a construct.
    pub(crate) fn is_perfect(&self, id: RegionId) -> bool {
        between(self.program, &self.program.regions[id].loops).is_some_and(|it| it.is_empty())
    }

    /// One iteration of a nest.
    pub(crate) fn iteration(&mut self, id: RegionId, body: StmtId, dims: &[Dim]) -> Result<Block> {
        let region = &self.program.regions[id];
        match between(self.program, &region.loops) {
            Some(between) if between.is_empty() => self.block(&[body]),
            Some(between) => self.imperfect(id, body, &between, dims),
            None => refuse("loops that do not stand in each other", region.construct.span),
        }
    }

    /// One iteration of a nest with code between its loops.
    fn imperfect(
        &mut self,
        id: RegionId,
        body: StmtId,
        between: &Between,
        dims: &[Dim],
    ) -> Result<Block> {
        let vars = self.env.vars.clone();
        let mut own = Vec::new();
        let mut block = Block::new();
        for (level, (before, _)) in between.levels.iter().enumerate() {
            for stmt in before {
                if let C::Local(var) = self.program.stmts[*stmt].kind {
                    own.push(var);
                }
                self.at_edge(id, *stmt, &own, dims.get(level + 1..), true, &mut block)?;
            }
        }
        let span = self.program.stmts[body].span;
        let inner = self.block(&[body])?;
        // A `continue` in it ends what the innermost loop does.
        let inner = self.once(inner, span);
        block.push(inner);
        for (level, (_, behind)) in between.levels.iter().enumerate().rev() {
            for stmt in behind {
                if let C::Local(var) = self.program.stmts[*stmt].kind {
                    own.push(var);
                }
                self.at_edge(id, *stmt, &own, dims.get(level + 1..), false, &mut block)?;
            }
        }
        self.env.vars = vars;
        Ok(block)
    }

    /// A statement between loops. `inside`: the loops that it does not stand in.
    fn at_edge(
        &mut self,
        id: RegionId,
        stmt: StmtId,
        own: &[VarId],
        inside: Option<&[Dim]>,
        is_before: bool,
        out: &mut Block,
    ) -> Result<()> {
        if self.sets_own(id, stmt, own) {
            return self.stmt(stmt, out);
        }
        let span = self.program.stmts[stmt].span;
        let mut condition: Option<ExprId> = None;
        for dim in inside.unwrap_or_default() {
            let holds = if is_before { self.is_first(dim) } else { self.is_last(dim) };
            condition = Some(match condition {
                Some(others) => self.build(span).and(others, holds),
                None => holds,
            });
        }
        let block = self.block(&[stmt])?;
        match condition {
            Some(it) => out.push(Stmt::new(StmtKind::If(it, block, Block::new()), span)),
            None => out.extend(block),
        }
        Ok(())
    }

    /// Whether a statement declares or sets a variable that each iteration has for itself.
    fn sets_own(&self, id: RegionId, stmt: StmtId, own: &[VarId]) -> bool {
        if matches!(self.program.stmts[stmt].kind, C::Local(_) | C::Declaration(_)) {
            return true;
        }
        let vars = &self.program.regions[id].vars;
        let is_own = |var: VarId| {
            let sharing = vars.iter().find(|it| it.var == var).and_then(|it| it.sharing.as_ref());
            let is_private = sharing.is_some_and(|it| {
                matches!(
                    it.value,
                    Sharing::Private
                        | Sharing::FirstPrivate
                        | Sharing::LastPrivate
                        | Sharing::FirstLastPrivate
                )
            });
            own.contains(&var) || is_private
        };
        let (found, _) = uses(self.program, Part::Stmt(stmt));
        found.iter().any(|it| it.how == How::Written && is_own(it.var))
    }

    /// Whether a loop is in its first round.
    fn is_first(&mut self, dim: &Dim) -> ExprId {
        let span = self.program.vars[dim.var].span;
        let mut build = self.build(span);
        let at = build.var(dim.var);
        let ty = build.type_of(at);
        let begin = build.cast(dim.begin, ty);
        self.compared(BinaryOp::Eq, at, begin)
    }

    /// Whether a loop is in its last round: the next value is not one of its values.
    fn is_last(&mut self, dim: &Dim) -> ExprId {
        let span = self.program.vars[dim.var].span;
        let next = self.next_value(dim);
        let op = match dim.test {
            LoopTest::Lt => BinaryOp::Lt,
            LoopTest::Le => BinaryOp::Le,
            LoopTest::Gt => BinaryOp::Gt,
            LoopTest::Ge => BinaryOp::Ge,
            LoopTest::Ne => BinaryOp::Ne,
        };
        let goes_on = self.compared(op, next, dim.bound);
        self.build(span).not(goes_on)
    }

    /// What a loop's variable has in the next round.
    pub(crate) fn next_value(&mut self, dim: &Dim) -> ExprId {
        let mut build = self.build(self.program.vars[dim.var].span);
        let at = build.var(dim.var);
        let int = build.int_type();
        let step = dim.step.unwrap_or_else(|| build.int(1, int));
        let op = if dim.descending { BinaryOp::Sub } else { BinaryOp::Add };
        let ty = build.type_of(at);
        let step = match build.program.types.is_pointer(ty) {
            true => step,
            false => build.cast(step, ty),
        };
        build.binary(op, at, step)
    }

    /// A comparison of two values in the type that C compares them in.
    fn compared(&mut self, op: BinaryOp, a: ExprId, b: ExprId) -> ExprId {
        let mut build = self.build(self.program.exprs[a].span);
        let (left, right) = (build.type_of(a), build.type_of(b));
        let common = build.program.model.usual(&build.program.types, left, right);
        let (a, b) = match common {
            Some(kind) => {
                let ty = build.program.types.get(kind);
                (build.cast(a, ty), build.cast(b, ty))
            }
            None => (a, b),
        };
        build.binary(op, a, b)
    }
}
