//! `checks`: conditions that hold in all iterations, or in none, are not asked.
//!
//! In: code that one thread runs. A condition compares integers that stay with counters of loops around it, whose first and last
//! values are known; other conditions around it hold too. Out: the same without conditions whose answer follows from that:
//! the way that is taken stands alone.

use ir::program::{Program, StmtId, StmtKind as C, VarId, VarStorage};
use ir::region::LoopTest;
use ir::walk::Part;
use kernel::Dim;
use kernel::walk::{How, uses};
use rustc_hash::{FxHashMap, FxHashSet};

use super::code::{code_of, for_of, is_quiet, jumps, replace};
use super::facts::Fact;
use super::poly::{Poly, Terms, constant, difference, variable};
use super::{Cx, Result};
use crate::dependence::Analysis;

/// Conditions within conditions.
const DEEPEST: usize = 64;

pub(super) fn run(cx: &mut Cx<'_>) -> Result<()> {
    let mut count = 0;
    // What is taken out may hold more.
    for _ in 0..DEEPEST {
        let Some(code) = code_of(cx).filter(|it| !jumps(cx.program, *it)) else { break };
        let found = {
            let program = &*cx.program;
            let analysis = Analysis::new(program);
            let own = |var: VarId| {
                matches!(program.vars[var].storage, VarStorage::Local(_) | VarStorage::Param(_))
                    && !analysis.aliases.is_exposed(program, var)
                    && !program.vars[var].ty.quals.is_volatile
            };
            let mut walk = Walk { program, own: &own, found: Vec::new() };
            walk.stmt(code, None, &mut Vec::new());
            walk.found
        };
        if found.is_empty() {
            break;
        }
        count += found.len();
        let mut replaced: FxHashMap<StmtId, StmtId> = FxHashMap::default();
        for (stmt, holds) in found {
            let C::If(_, then, other) = cx.program.stmts[stmt].kind else { continue };
            let way = if holds { Some(then) } else { other };
            let span = cx.program.stmts[stmt].span;
            let way = way.unwrap_or_else(|| cx.build(span).stmt(C::Block(Box::new([]))));
            replaced.insert(stmt, way);
        }
        replace(cx, replaced);
    }
    if count > 0 {
        let are = if count == 1 { "condition holds" } else { "conditions hold" };
        cx.kernel.launch.notes.push(format!("{count} {are} in all iterations or in none"));
    }
    Ok(())
}

struct Walk<'a> {
    program: &'a Program,
    own: &'a dyn Fn(VarId) -> bool,
    /// Conditional statements, and whether their condition holds.
    found: Vec<(StmtId, bool)>,
}

/// The innermost loop that counts.
#[derive(Clone, Copy)]
struct Around<'a> {
    counters: &'a [VarId],
    changed: &'a FxHashSet<VarId>,
}

impl<'a> Walk<'a> {
    fn terms<'t>(&'t self, around: Around<'t>) -> Terms<'t> {
        let Around { counters, changed } = around;
        Terms { program: self.program, counters, changed, own: self.own }
    }

    fn stmt(&mut self, stmt: StmtId, around: Option<Around<'_>>, facts: &mut Vec<Fact>) {
        let program: &'a Program = self.program;
        match &program.stmts[stmt].kind {
            C::Block(list) => list.iter().for_each(|it| self.stmt(*it, around, facts)),
            C::If(c, then, other) => {
                if let Some(around) = around
                    && is_quiet(program, *c)
                    && let Some(holds) = self.terms(around).verdict(*c, facts)
                {
                    self.found.push((stmt, holds));
                    return;
                }
                let known = facts.len();
                for (holds, way) in [(true, Some(*then)), (false, *other)] {
                    if let Some(around) = around {
                        self.terms(around).facts(*c, holds, facts);
                    }
                    way.into_iter().for_each(|it| self.stmt(it, around, facts));
                    facts.truncate(known);
                }
            }
            C::For(it) => {
                let Some(dim) =
                    for_of(program, stmt).and_then(|it| super::nest::counted(program, &it))
                else {
                    return self.stmt(it.body, None, &mut Vec::new());
                };
                let (used, declared) = uses(program, Part::Stmt(it.body));
                let written = used.iter().filter(|it| it.how != How::Named).map(|it| it.var);
                let changed: FxHashSet<VarId> = written.chain(declared).collect();
                if changed.contains(&dim.var) {
                    return self.stmt(it.body, None, &mut Vec::new());
                }
                let (counters, known) = ([dim.var], facts.len());
                let around = Around { counters: &counters, changed: &changed };
                facts.extend(self.ends(around, &dim));
                self.stmt(it.body, Some(around), facts);
                facts.truncate(known);
            }
            C::While(_, body) | C::DoWhile(body, _) => self.stmt(*body, None, &mut Vec::new()),
            _ => {}
        }
    }

    /// What the bounds of a loop say of its counter.
    fn ends(&self, around: Around<'_>, dim: &Dim) -> Vec<Fact> {
        let terms = self.terms(around);
        let counter = variable(dim.var);
        let mut facts = Vec::new();
        let counts = |it: &Poly| it.keys().flatten().any(|var| *var == dim.var);
        if let Some(begin) = terms.poly(dim.begin).filter(|it| !counts(it)) {
            facts.extend(difference(counter.clone(), &begin).map(Fact::AtLeast));
        }
        let last = terms.poly(dim.bound).filter(|it| !counts(it));
        let last = last.and_then(|it| match dim.test {
            LoopTest::Lt => difference(it, &constant(1)),
            LoopTest::Le => Some(it),
            LoopTest::Gt | LoopTest::Ge | LoopTest::Ne => None,
        });
        facts.extend(last.and_then(|it| difference(it, &counter)).map(Fact::AtLeast));
        facts
    }
}
