//! Iterations as plain code: loops in them that one thread runs have no directive, and no iteration has a `continue`.
//!
//! What follows a `continue` stands under the opposite of its condition. In: the body of a shared loop that is one thread's own code but for such jumps. Out: the same without them, which is one
//! piece of code for passes to look into. Jumps that stand elsewhere than in a condition of their own leave a loop of one
//! round that is put around the body. Loops in it are written without them, too, where conditions do.

use ir::construct::{BindLevel, ClauseKind, Leaf};
use ir::program::{ExprId, ExprKind, For, Program, RegionId, StmtId, StmtKind as C, Typed};
use ir::walk::Part;

use crate::Outliner;
use crate::jumps::escapes;

impl Outliner<'_> {
    /// The body of a loop without `continue`, if that is all that stands between it and being code of one thread.
    pub(crate) fn plain(&mut self, body: StmtId) -> StmtId {
        let body = self.lone_loops(body);
        if self.has_crew_code(Part::Stmt(body)) {
            return body;
        }
        let body = self.loops_without(body);
        if !self.escapes(body) {
            return body;
        }
        let span = self.program.stmts[body].span;
        if let Some(list) = self.conditions(&[body]) {
            return self.build(span).stmt(C::Block(list.into()));
        }
        let build = &mut self.build(span);
        let int = build.int_type();
        let never = build.int(0, int);
        let once = build.stmt(C::DoWhile(body, never));
        if self.escapes(once) { body } else { once }
    }

    /// A statement without directives of loops that one thread runs in order, where it makes no difference.
    fn lone_loops(&mut self, id: StmtId) -> StmtId {
        let stmt = self.program.stmts[id].clone();
        let kind = match &stmt.kind {
            C::Block(list) => C::Block(list.iter().map(|it| self.lone_loops(*it)).collect()),
            C::If(c, then, other) => {
                let then = self.lone_loops(*then);
                C::If(*c, then, other.map(|it| self.lone_loops(it)))
            }
            C::For(it) => {
                let body = self.lone_loops(it.body);
                C::For(Box::new(For { body, ..it.as_ref().clone() }))
            }
            C::Region(region) => match self.lone_loop(*region) {
                Some(body) => {
                    self.keep_joined(*region, body);
                    return self.lone_loops(body);
                }
                None => return id,
            },
            _ => return id,
        };
        if kind == stmt.kind { id } else { self.build(stmt.span).stmt(kind) }
    }

    /// What a directive of such a loop is about.
    fn lone_loop(&self, id: RegionId) -> Option<StmtId> {
        let region = &self.program.regions[id];
        let construct = &region.construct;
        let is_threads = !self.env.is_team_level() && !self.env.is_lone;
        let is_lone = |it: &Leaf| match it {
            Leaf::Simd => true,
            Leaf::Loop => is_threads,
            _ => false,
        };
        let body = region.body?;
        let is_free = |it: &ClauseKind<Typed>| match it {
            ClauseKind::Collapse { .. }
            | ClauseKind::Seq
            | ClauseKind::Auto
            | ClauseKind::Independent
            | ClauseKind::Order(_)
            | ClauseKind::Aligned(..)
            | ClauseKind::Nontemporal(_)
            | ClauseKind::Bind(BindLevel::Thread)
            | ClauseKind::Safelen(_)
            | ClauseKind::Simdlen(_) => true,
            ClauseKind::Reduction(it) => it.items.iter().all(|it| self.is_only_joined(body, *it)),
            _ => false,
        };
        (!region.loops.is_empty()
            && construct.leaves.iter().all(is_lone)
            && construct.kinds().all(is_free))
        .then_some(body)
    }

    /// Notes which variables the loops of a directive may combine in any order.
    fn keep_joined(&mut self, id: RegionId, body: StmtId) {
        let program = &*self.program;
        let region = &program.regions[id];
        let items = region.construct.kinds().filter_map(|it| match it {
            ClauseKind::Reduction(it) => Some(&it.items),
            _ => None,
        });
        let vars = items.flatten().filter_map(|it| match program.exprs[program.peeled(*it)].kind {
            ExprKind::Var(var) => Some(self.env.vars.get(&var).copied().unwrap_or(var)),
            _ => None,
        });
        let mut open = vec![Part::Stmt(body)];
        let mut loops = Vec::new();
        while let Some(part) = open.pop() {
            if let Part::Stmt(stmt) = part
                && let C::For(_) = program.stmts[stmt].kind
            {
                loops.push(program.stmts[stmt].span);
            }
            program.parts(part, &mut |it| open.push(it));
        }
        let all = vars.flat_map(|var| loops.iter().map(move |it| (*it, var)));
        let all: Vec<_> = all.collect();
        self.joined.extend(all);
    }

    /// Whether code does nothing with a variable but join it with values.
    fn is_only_joined(&self, body: StmtId, item: ExprId) -> bool {
        let program = &*self.program;
        let ExprKind::Var(var) = program.exprs[program.peeled(item)].kind else { return false };
        let is_it = |e: ExprId| matches!(program.exprs[e].kind, ExprKind::Var(it) if it == var);
        let (mut named, mut joined) = (0_usize, 0_usize);
        let mut open = vec![Part::Stmt(body)];
        while let Some(part) = open.pop() {
            if let Part::Expr(e) = part {
                named += usize::from(is_it(e));
                joined += usize::from(
                    matches!(program.exprs[e].kind, ExprKind::AssignOp(_, to, ..) if is_it(to)),
                );
            }
            program.parts(part, &mut |it| open.push(it));
        }
        named == joined
    }

    /// A statement in whose loops conditions stand for `continue`.
    fn loops_without(&mut self, id: StmtId) -> StmtId {
        let stmt = self.program.stmts[id].clone();
        let kind = match &stmt.kind {
            C::Block(list) => C::Block(list.iter().map(|it| self.loops_without(*it)).collect()),
            C::If(c, then, other) => {
                let then = self.loops_without(*then);
                C::If(*c, then, other.map(|it| self.loops_without(it)))
            }
            C::For(it) => {
                let mut body = self.loops_without(it.body);
                if self.escapes(body)
                    && let Some(list) = self.conditions(&[body])
                {
                    body = self.build(stmt.span).stmt(C::Block(list.into()));
                }
                C::For(Box::new(For { body, ..it.as_ref().clone() }))
            }
            _ => return id,
        };
        if kind == stmt.kind { id } else { self.build(stmt.span).stmt(kind) }
    }

    fn escapes(&self, id: StmtId) -> bool {
        escapes(self.program, self.function, id)
    }

    /// Statements with conditions in the place of jumps; nothing if they are left in another way.
    fn conditions(&mut self, list: &[StmtId]) -> Option<Vec<StmtId>> {
        let mut made = Vec::new();
        for (at, stmt) in list.iter().enumerate() {
            if !self.escapes(*stmt) {
                made.push(*stmt);
                continue;
            }
            let span = self.program.stmts[*stmt].span;
            let rest = list.get(at + 1..)?;
            match self.program.stmts[*stmt].kind.clone() {
                C::Continue => {}
                // What follows would have to move into it.
                C::Block(inner) if rest.is_empty() => {
                    let inner = self.conditions(&inner)?;
                    made.push(self.build(span).stmt(C::Block(inner.into())));
                }
                C::If(condition, then, other) => {
                    let (is_opposite, stays) = match other {
                        _ if is_continue(self.program, then) => (true, other),
                        Some(it) if is_continue(self.program, it) => (false, Some(then)),
                        _ => return None,
                    };
                    let stays: Vec<StmtId> =
                        stays.into_iter().chain(rest.iter().copied()).collect();
                    let stays = self.conditions(&stays)?;
                    let build = &mut self.build(span);
                    let stays = build.stmt(C::Block(stays.into()));
                    let condition = if is_opposite { build.not(condition) } else { condition };
                    made.push(build.stmt(C::If(condition, stays, None)));
                }
                _ => return None,
            }
            return Some(made);
        }
        Some(made)
    }
}

/// Whether a statement goes on with the next iteration and does nothing else.
fn is_continue(program: &Program, stmt: StmtId) -> bool {
    match &program.stmts[stmt].kind {
        C::Continue => true,
        C::Block(list) => matches!(list.as_ref(), [only] if is_continue(program, *only)),
        _ => false,
    }
}
