//! Atomic accesses by the one thread that a team begins with: the host's compiler takes none but of threads.
//!
//! In: such a construct. Out: the same in a region of one thread. What its expressions call is called before, at the
//! level where it stands.

use ir::construct::{AtomicKind, Clause, ClauseKind, Leaf};
use ir::program::{ExprId, ExprKind, Program, RegionId, StmtId, StmtKind};
use ir::walk::Part;

use super::levels::Leveled;
use super::{Lowering, unknown};
use crate::c::{Out, Printer};

impl Lowering<'_> {
    /// Whether a construct is an atomic access by the one thread that a team begins with.
    pub(super) fn is_atomic_of_team(&self, id: RegionId) -> bool {
        let around = self.program.around(id).skip(1).find(|it| !self.is_transparent(*it));
        let is_teams = |it| self.program.regions[it].construct.leaves.last() == Some(&Leaf::Teams);
        self.program.regions[id].construct.leaves == [Leaf::Atomic] && around.is_some_and(is_teams)
    }

    /// Nothing but advice.
    fn is_transparent(&self, id: RegionId) -> bool {
        let leaves = &self.program.regions[id].construct.leaves;
        leaves.iter().all(|it| matches!(it, Leaf::Assume | Leaf::Nothing))
    }

    /// Whether a part of a team's code is such too; constructs inside mostly are not.
    pub(super) fn is_code_of_team(&self, part: Part) -> bool {
        match part {
            Part::Region(id) => self.is_transparent(id) || self.is_atomic_of_team(id),
            Part::Expr(_) | Part::Stmt(_) | Part::Local(_) | Part::Init(_) => true,
        }
    }

    /// One of them.
    pub(super) fn atomic_of_team(&self, printer: &Printer<'_>, id: RegionId, out: &mut Out<'_>) {
        let construct = &self.program.regions[id].construct;
        let one = ClauseKind::NumThreads { strict: None, counts: vec!["1".to_owned()] };
        let span = construct.span;
        let one = Clause { kind: one, on: None, group: None, switch: None, span };
        let alone = unknown::lone(Leaf::Parallel, vec![one], span);
        let mut inside = printer.clone();
        out.line("{");
        out.indented(|out| {
            for call in self.called_before(id) {
                let name = format!("__ferry_called{}", self.fresh());
                let declared = printer.declare(self.program.exprs[call].ty.plain(), &name);
                out.line(&format!("{declared} = {};", printer.expr(call)));
                inside.substitute_expr(call, name);
            }
            out.raw(&self.pragma(&alone).unwrap_or_default());
            out.line("{");
            out.indented(|out| self.construct(&inside, id, &construct.leaves, out));
            out.line("}");
        });
        out.line("}");
    }

    /// The values of an atomic access that calls make. What may not be called at all goes with what decides that, unless
    /// that looks at the object.
    fn called_before(&self, id: RegionId) -> Vec<ExprId> {
        let program = self.program;
        let region = &program.regions[id];
        let is_compared =
            region.construct.kinds().any(|it| *it == ClauseKind::AtomicKind(AtomicKind::Compare));
        let calls =
            |it: ExprId| program.any_expr(Part::Expr(it), |it| matches!(it, ExprKind::Call(..)));
        let mut found = Vec::new();
        let mut open: Vec<Part> = region.body.iter().map(|it| Part::Stmt(*it)).collect();
        while let Some(part) = open.pop() {
            if let Part::Expr(it) = part {
                let is_value = match program.exprs[it].kind {
                    ExprKind::Call(..) => true,
                    ExprKind::Conditional(..) | ExprKind::And(..) | ExprKind::Or(..) => {
                        !is_compared && calls(it)
                    }
                    _ => false,
                };
                if is_value {
                    found.push(it);
                    continue;
                }
            }
            program.parts(part, &mut |it| open.push(it));
        }
        found
    }
}

/// Gives conditional updates the braces that gcc wants of them; the program as written, and as it is now.
pub(super) fn embraced(written: &Program, leveled: Option<Leveled>) -> Option<Leveled> {
    let now = leveled.as_ref().map_or(written, |it| &it.program);
    let mut found: Vec<(RegionId, StmtId)> = Vec::new();
    for (id, region) in now.regions.iter() {
        let mut open: Vec<StmtId> = region.body.into_iter().collect();
        while let Some(at) = open.pop().filter(|_| region.construct.leaves == [Leaf::Atomic]) {
            match &now.stmts[at].kind {
                StmtKind::Block(list) => open.extend(list),
                StmtKind::If(_, then, other) => {
                    let branches = [Some(*then), *other].into_iter().flatten();
                    let is_bare = |it: &StmtId| !matches!(now.stmts[*it].kind, StmtKind::Block(_));
                    found.extend(branches.filter(is_bare).map(|it| (id, it)));
                }
                _ => {}
            }
        }
    }
    if found.is_empty() {
        return leveled;
    }
    let mut leveled = leveled.unwrap_or_else(|| Leveled::unchanged(written));
    for (id, at) in found {
        let bare = leveled.program.stmts[at].clone();
        let inner = leveled.program.stmts.push(bare);
        leveled.program.stmts[at].kind = StmtKind::Block([inner].into());
        leveled.changed.insert(id);
    }
    Some(leveled)
}
