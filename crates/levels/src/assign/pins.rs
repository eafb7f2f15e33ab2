//! Mappings that somebody has pinned: loops that are to run in order, or without lanes.
//!
//! A loop that a pin leaves without a level says so itself from here on, as if its directive did; what the other loops get
//! is decided as ever, among those that are left.

use ir::construct::{ClauseKind, Leaf};
use ir::program::{RegionId, StmtId};

use super::Pass;
use crate::items::plain;
use crate::mapping::Mapping;

impl Pass<'_> {
    /// Applies the pins of a construct that leaves the host.
    pub(super) fn take_pins(&mut self, id: RegionId, mapping: &Mapping<'_>) {
        let written = self.written;
        let region = &written.regions[id];
        if !region.construct.has(Leaf::Offload) && !region.construct.has(Leaf::Kernels) {
            return;
        }
        let tree = self.analysis().marks(id, &mapping.marks);
        let mut pinned: Vec<(StmtId, opt::marks::Levels)> = Vec::new();
        let mut faults = source::Diagnostics::new();
        for root in tree.roots() {
            let found = mapping.pinned(written, region.function, &tree, root, &mut faults);
            for (at, levels) in found.unwrap_or_default() {
                pinned.extend(tree.loop_at(at).map(|it| (it.stmt(), levels)));
            }
        }
        self.leveled.faults.append(faults);
        let is_idle = |stmt: StmtId| pinned.iter().any(|it| it.0 == stmt && it.1.is_none());
        let is_loop = |it: &RegionId| !written.regions[*it].loops.is_empty();
        let inside: Vec<RegionId> =
            std::iter::once(id).chain(self.inside(id)).filter(is_loop).collect();
        for at in inside {
            let span = written.regions[at].construct.span;
            if !written.regions[at].loops.iter().all(|it| is_idle(it.stmt)) {
                continue;
            }
            self.leveled.program.regions[at].retain_clauses(|it| {
                !matches!(
                    it.kind,
                    ClauseKind::Gang(_)
                        | ClauseKind::Worker(_)
                        | ClauseKind::Vector(_)
                        | ClauseKind::Auto
                        | ClauseKind::Independent
                )
            });
            let construct = &mut self.leveled.program.regions[at].construct;
            construct.clauses.push(plain(ClauseKind::Seq, span));
        }
        for (stmt, levels) in pinned {
            if levels.is_none() {
                self.held.insert(stmt);
            }
            if !levels.lanes {
                self.without_lanes.insert(stmt);
            }
        }
    }

    /// Whether the innermost loop of a directive is pinned to run without lanes.
    pub(super) fn is_without_lanes(&self, id: RegionId) -> bool {
        let last = self.program().regions[id].loops.last();
        last.is_some_and(|it| self.without_lanes.contains(&it.stmt))
    }
}
