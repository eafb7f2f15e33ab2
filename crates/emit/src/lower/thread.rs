//! Loops that the one thread which meets them runs: in order, or in lanes.
//!
//! No other thread shares the iterations, but each thread has variables of its own in them: those that
//! count, and those that the directive says are private. A compiler's directive for lanes would leave
//! last values in variables that threads share, so the loop has a block with its own.

use ir::construct::{ClauseKind, Leaf, Spelled};
use ir::program::{RegionId, StmtId, StmtKind, VarId};
use ir::region::{Origin, Rule, Sharing};

use super::Lowering;
use super::copies::{Own, Start};
use super::loops;
use super::sums::Alone;
use super::teams::release;
use crate::c::{Out, Printer};

impl Lowering<'_> {
    /// Writes such a loop; answers whether it is one.
    pub(super) fn in_thread(&self, printer: &Printer<'_>, id: RegionId, out: &mut Out<'_>) -> bool {
        let region = &self.program.regions[id];
        let lanes = match region.construct.leaves.as_slice() {
            _ if !self.changed.contains(&id) => return false,
            [Leaf::Nothing] => {
                out.line(";");
                return true;
            }
            [] => false,
            [Leaf::Simd] => true,
            // Each thread that is there has its copies before it takes its share.
            [Leaf::For, ..] if !self.part_items(id).is_empty() => false,
            _ => return false,
        };
        let own = self.own_in_thread(id, lanes);
        out.beside(region.span);
        let is_alone = region.construct.leaves.is_empty();
        let sums_up = is_alone && !self.reduced_alone(id).is_empty();
        if own.is_empty() && self.part_items(id).is_empty() && !sums_up {
            self.loop_in_thread(printer, id, out);
            return true;
        }
        out.line("{");
        out.indented(|out| {
            let mut inside = printer.clone();
            own.iter().for_each(|it| self.own_copy(printer, &mut inside, it, out));
            let kept = self.own_parts(printer, &mut inside, id, out);
            let sums = match is_alone {
                true => self.own_reduced(printer, &mut inside, id, out),
                false => Alone::default(),
            };
            self.loop_in_thread(&inside, id, out);
            sums.join(out);
            release(&kept, out);
        });
        out.line("}");
        true
    }

    fn loop_in_thread(&self, printer: &Printer<'_>, id: RegionId, out: &mut Out<'_>) {
        let region = &self.program.regions[id];
        let leaves = region.construct.leaves.clone();
        if leaves.first() != Some(&Leaf::For) {
            return self.construct(printer, id, &leaves, out);
        }
        let mut spelled = self.fitted(printer, id, &leaves);
        let is_copy = |it: &ClauseKind<Spelled>| matches!(it, ClauseKind::Private(_));
        spelled.clauses.retain(|it| !is_copy(&it.kind));
        let around = self.for_host(printer, id, &mut spelled);
        around.put(self, printer, id, self.pragma(&spelled), out);
    }

    /// Variables that the loop has for itself and that are not declared in its head.
    pub(super) fn own_in_thread(&self, id: RegionId, lanes: bool) -> Vec<Own> {
        let region = &self.program.regions[id];
        let declared: Vec<VarId> =
            region.loops.iter().filter_map(|it| self.declared_in_head(it.stmt)).collect();
        let is_own = |origin: &Origin| match origin {
            Origin::Rule(Rule::LoopVariable) => true,
            // Lanes have their own by the directive's word.
            Origin::Clause(_) => !lanes,
            Origin::Rule(_) | Origin::Enclosing(..) | Origin::Declared(_) => false,
        };
        region
            .vars
            .iter()
            .filter(|it| !declared.contains(&it.var) && !self.names_part(id, it.var))
            .filter(|it| !self.is_counted_above(id, it.var))
            .filter(|it| {
                it.sharing
                    .as_ref()
                    .is_some_and(|it| it.value == Sharing::Private && is_own(&it.origin))
            })
            .map(|it| Own { var: it.var, start: Start::Blank, storage: None })
            .collect()
    }

    /// Whether a variable counts a loop that a construct around has made one with its own: that has copies of it, and
    /// nothing may stand between the loops.
    fn is_counted_above(&self, id: RegionId, var: VarId) -> bool {
        let counts = |up: RegionId| self.program.regions[up].loops.iter().any(|it| it.var == var);
        let mut above = self.program.around(id).skip(1);
        above.any(|up| loops::collapsed(self.program, up) > 1 && counts(up))
    }

    pub(super) fn declared_in_head(&self, stmt: StmtId) -> Option<VarId> {
        let StmtKind::For(it) = &self.program.stmts[stmt].kind else { return None };
        it.init.iter().find_map(|it| match self.program.stmts[*it].kind {
            StmtKind::Local(var) => Some(var),
            _ => None,
        })
    }
}
