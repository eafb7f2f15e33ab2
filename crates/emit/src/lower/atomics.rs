//! Atomic accesses by the one thread that a team begins with: the host's compiler takes none but of threads.
//!
//! In: such a construct. Out: the same in a region of one thread. What its expressions call is called before, at the
//! level where it stands. Conditional updates and accesses in loops of any order are written so that gcc 12 takes them.

use directive::HOST_DIALECT;
use ir::construct::{AtomicKind, BindLevel, Clause, ClauseKind, Leaf};
use ir::program::{BinaryOp, CastKind, ExprId, ExprKind, Program, RegionId, StmtId, StmtKind};
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

/// Gives conditional updates the braces that gcc wants of them, and values without qualifiers: gcc 13 finds no update where a
/// `const` variable is compared and stored. The program as written, and as it is now.
pub(super) fn embraced(written: &Program, leveled: Option<Leveled>) -> Option<Leveled> {
    let now = leveled.as_ref().map_or(written, |it| &it.program);
    let mut found: Vec<(RegionId, StmtId)> = Vec::new();
    let mut qualified: Vec<(RegionId, ExprId)> = Vec::new();
    for (id, region) in now.regions.iter() {
        let mut open: Vec<StmtId> = region.body.into_iter().collect();
        while let Some(at) = open.pop().filter(|_| region.construct.leaves == [Leaf::Atomic]) {
            match &now.stmts[at].kind {
                StmtKind::Block(list) => open.extend(list),
                StmtKind::If(condition, then, other) => {
                    let branches = [Some(*then), *other].into_iter().flatten();
                    let is_bare = |it: &StmtId| !matches!(now.stmts[*it].kind, StmtKind::Block(_));
                    found.extend(branches.filter(is_bare).map(|it| (id, it)));
                    let values = qualified_values(now, *condition, *then);
                    qualified.extend(values.into_iter().map(|it| (id, it)));
                }
                _ => {}
            }
        }
    }
    if found.is_empty() && qualified.is_empty() {
        return leveled;
    }
    let mut leveled = leveled.unwrap_or_else(|| Leveled::unchanged(written));
    for (id, at) in found {
        let bare = leveled.program.stmts[at].clone();
        let inner = leveled.program.stmts.push(bare);
        leveled.program.stmts[at].kind = StmtKind::Block([inner].into());
        leveled.changed.insert(id);
    }
    for (id, at) in qualified {
        let value = leveled.program.exprs[at].clone();
        let ty = value.ty.plain();
        let inner = leveled.program.exprs.push(value);
        leveled.program.exprs[at].kind = ExprKind::Cast(CastKind::Explicit, inner);
        leveled.program.exprs[at].ty = ty;
        leveled.changed.insert(id);
    }
    Some(leveled)
}

/// Where a value of a qualified type is compared with an object, and stored to it.
fn qualified_values(program: &Program, condition: ExprId, then: StmtId) -> Vec<ExprId> {
    let mut stmt = then;
    while let StmtKind::Block(list) = &program.stmts[stmt].kind
        && let [one] = list.as_ref()
    {
        stmt = *one;
    }
    let StmtKind::Expr(stored) = program.stmts[stmt].kind else { return Vec::new() };
    let ExprKind::Assign(_, value) = program.exprs[stored].kind else { return Vec::new() };
    let ExprKind::Binary(BinaryOp::Lt | BinaryOp::Gt, a, b) = program.exprs[condition].kind else {
        return Vec::new();
    };
    let value = unconverted(program, value);
    let is_qualified = |e: ExprId| {
        let quals = program.exprs[e].ty.quals;
        quals.is_const || quals.is_volatile
    };
    let compared = [a, b].map(|it| unconverted(program, it));
    let compared = compared.into_iter().find(|it| program.is_alike(*it, value));
    match compared {
        Some(compared) if is_qualified(value) => vec![value, compared],
        _ => Vec::new(),
    }
}

/// A value without the conversions that C's rules ask for.
fn unconverted(program: &Program, mut e: ExprId) -> ExprId {
    while let ExprKind::Cast(CastKind::Implicit, inner) = program.exprs[e].kind {
        e = inner;
    }
    e
}

/// Loops that may run in any order, with atomic accesses inside (version 6.0 has them, gcc 12 has not), become loops that say
/// who shares them and nothing of the order; the program as written, and as it is now.
pub(super) fn in_any_order(written: &Program, leveled: Option<Leveled>) -> Option<Leveled> {
    let now = leveled.as_ref().map_or(written, |it| &it.program);
    let is_free = |it: &RegionId| {
        let construct = &now.regions[*it].construct;
        let has_order = construct.kinds().any(|it| matches!(it, ClauseKind::Order(_)));
        construct.dialect == HOST_DIALECT && (construct.has(Leaf::Loop) || has_order)
    };
    let is_atomic = |it: &RegionId| now.regions[*it].construct.leaves == [Leaf::Atomic];
    let atomics = now.regions.iter().map(|it| it.0).filter(is_atomic);
    let mut found: Vec<RegionId> =
        atomics.flat_map(|it| now.around(it).skip(1).filter(is_free)).collect();
    if found.is_empty() {
        return leveled;
    }
    found.sort_by_key(|it| now.regions[*it].span.start);
    found.dedup();
    let found: Vec<_> = found.into_iter().map(|it| (it, who_shares(now, it))).collect();
    let mut leveled = leveled.unwrap_or_else(|| Leveled::unchanged(written));
    for (id, leaves) in found {
        let region = &mut leveled.program.regions[id];
        let own = &mut region.construct.leaves;
        if let Some(at) = own.iter().position(|it| *it == Leaf::Loop) {
            own.splice(at..=at, leaves.iter().copied());
        }
        let says_order =
            |it: &ClauseKind<_>| matches!(it, ClauseKind::Order(_) | ClauseKind::Bind(_));
        region.retain_clauses(|it| !says_order(&it.kind));
        leveled.changed.insert(id);
    }
    Some(leveled)
}

/// Those who share a loop of any order.
fn who_shares(program: &Program, id: RegionId) -> &'static [Leaf] {
    const LEAGUE: &[Leaf] = &[Leaf::Distribute, Leaf::Parallel, Leaf::For];
    const THREADS: &[Leaf] = &[Leaf::For];
    const ONE: &[Leaf] = &[Leaf::Simd];
    let bound = program.regions[id].construct.kinds().find_map(|it| match it {
        ClauseKind::Bind(level) => Some(*level),
        _ => None,
    });
    let has = |it: RegionId, leaf| program.regions[it].construct.has(leaf);
    let shares = |it: RegionId| it != id && !program.regions[it].loops.is_empty();
    let starter = program
        .around(id)
        .find(|it| shares(*it) || has(*it, Leaf::Parallel) || has(*it, Leaf::Teams));
    match (bound, starter) {
        (Some(BindLevel::Thread), _) => ONE,
        (_, Some(it)) if shares(it) => ONE,
        (_, Some(it)) if has(it, Leaf::Parallel) => THREADS,
        (_, Some(it)) if has(it, Leaf::Teams) => LEAGUE,
        (Some(BindLevel::Teams), _) => LEAGUE,
        (Some(BindLevel::Parallel), None) => THREADS,
        _ => ONE,
    }
}
