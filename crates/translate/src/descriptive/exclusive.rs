//! One at a time: indivisible accesses, and code that is no more than that.

use ir::construct::{AtomicKind, ClauseKind, Leaf, MemoryOrder};
use ir::program::RegionId;

use super::super::{Fate, Line, Place, Plan, clause};
use super::{Descriptive, EXCLUSIVE, MEMORY_ORDER, NO_COUNTERPART};
use levels::updates::updates;

impl Descriptive<'_, '_> {
    pub(super) fn atomic(&self, id: RegionId) -> Plan {
        let from = &self.program.regions[id].construct;
        let mut plan = Plan::default();
        let mut to = self.t.directive(vec![Leaf::Atomic], from.span);
        for it in &from.clauses {
            let written = || Some(self.t.words.written(it.span));
            match &it.kind {
                _ if it.switch.is_some() => {
                    let text = "whether it holds is not known here";
                    plan.remark(Fate::Refused, Some(NO_COUNTERPART), written(), text);
                }
                ClauseKind::AtomicKind(AtomicKind::Compare)
                | ClauseKind::Fail(_)
                | ClauseKind::Weak => {
                    let text = "there are no indivisible comparisons";
                    plan.remark(Fate::Refused, Some(NO_COUNTERPART), written(), text);
                }
                ClauseKind::AtomicKind(kind) => {
                    to.clauses.push(clause(ClauseKind::AtomicKind(*kind)));
                }
                ClauseKind::MemoryOrder(MemoryOrder::Relaxed) | ClauseKind::Hint(_) => {
                    plan.remark(Fate::Redundant, None, written(), "it holds anyway");
                }
                ClauseKind::MemoryOrder(_) | ClauseKind::MemScope(_) => {
                    let text = "the order of other accesses is not said";
                    plan.remark(Fate::Approximated, Some(MEMORY_ORDER), written(), text);
                }
                _ => {
                    let text = "it has no counterpart";
                    plan.remark(Fate::Refused, Some(NO_COUNTERPART), written(), text);
                }
            }
        }
        plan.lines.push(Line::Directive(Box::new(to)));
        plan
    }

    /// Code that one thread at a time runs: changes of objects that depend on none of them are indivisible
    /// accesses.
    pub(super) fn critical(&self, id: RegionId) -> Plan {
        let region = &self.program.regions[id];
        let found = region.body.and_then(|body| Some((body, updates(self.program, id)?)));
        let Some((body, updates)) = found else {
            let text = "this is more than changes of objects that depend on none of them; \
                        make it a reduction, or indivisible accesses";
            return self.refused(EXCLUSIVE, text);
        };
        let mut plan = Plan::default();
        for update in updates {
            let mut to = self.t.directive(vec![Leaf::Atomic], region.construct.span);
            to.clauses.push(clause(ClauseKind::AtomicKind(AtomicKind::Update)));
            let line = Line::Directive(Box::new(to));
            let stmt = update.stmt;
            match body == stmt {
                true => plan.lines.push(line),
                false => plan.before.push((Place::Statement(self.program.stmts[stmt].span), line)),
            }
        }
        for it in &region.construct.clauses {
            let written = Some(self.t.words.written(it.span));
            plan.remark(Fate::Redundant, None, written, "advice that nothing depends on");
        }
        plan
    }
}
