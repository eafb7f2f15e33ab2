//! Constructs that a thread meets alone: what they mean to a league of one team of one thread.
//!
//! Iterations run in their order, tasks run where they are met, all wait for nobody. What remains is
//! who has which variable: private ones are the construct's own; a last value or a sum is what the
//! variable itself holds when iterations in order are done.

use ir::construct::{ClauseKind, Leaf};
use ir::program::{ExprKind, RegionId, VarId};
use ir::region::{Origin, Rule, Sharing};

use crate::c::{Out, Printer};
use crate::lower::Lowering;
use crate::lower::copies::Start;
use crate::lower::loops;
use crate::lower::teams::release;

/// What such a construct does.
enum What {
    /// Nothing: a place where others would be waited for.
    Nothing,
    /// Its body.
    Body,
    /// Its body, while nobody else is in another such.
    Locked,
    /// Loops made of its loops.
    Transformed,
    /// It cannot be compiled.
    Refused,
}

impl Lowering<'_> {
    /// The parts of a construct that are left, for a thread alone.
    pub(in crate::lower) fn alone(
        &self,
        printer: &Printer<'_>,
        id: RegionId,
        leaves: &[Leaf],
        out: &mut Out<'_>,
    ) {
        let region = &self.program.regions[id];
        match what(leaves) {
            What::Nothing => out.line(";"),
            What::Locked => self.locked(printer, id, out),
            What::Transformed => self.transformation(printer, id, out),
            What::Refused => {
                let name = directive::directive_name(&region.construct);
                self.not_for_grid(region.construct.span, &format!("`{name}`"));
            }
            What::Body => self.own_body(printer, id, out),
        }
    }

    fn own_body(&self, printer: &Printer<'_>, id: RegionId, out: &mut Out<'_>) {
        let region = &self.program.regions[id];
        let Some(body) = region.body else { return };
        let group_vars = self.group_vars(id);
        let is_counted = self.changed.contains(&id);
        if is_counted
            && region.construct.leaves.first() == Some(&Leaf::Distribute)
            && self.has_counted_teams(id)
        {
            return self.share_alone(printer, id, out);
        }
        out.beside(region.span);
        let has_teams = self.counts_teams(id);
        if has_teams {
            out.line("{");
            self.team_counts(printer, id, out);
            out.line(
                "for (unsigned long __ferry_team = 0; __ferry_team < __ferry_teams; __ferry_team++)",
            );
        }
        out.line("{");
        out.indented(|out| {
            if has_teams {
                out.line(
                    "__ferry_here.__team = __ferry_team; __ferry_here.__teams = __ferry_teams;",
                );
            }
            let mut inside = printer.clone();
            let own = match has_teams {
                true => self.own_of_counted(id),
                false => self.own_alone(id),
            };
            for (var, is_copied) in own {
                self.thread_copy(printer, &mut inside, var, is_copied, out);
            }
            for var in &group_vars {
                let own = match self.memory().is_empty() {
                    true => self.thread_copy(printer, &mut inside, *var, false, out),
                    false => self.stack_copy(printer, &mut inside, *var),
                };
                out.line(&format!("__builtin_memset(&{own}, 0, sizeof({own}));"));
            }
            let kept = self.own_parts(printer, &mut inside, id, out);
            let sums = self.own_reduced(printer, &mut inside, id, out);
            if let Some(filter) = region.construct.kinds().find_map(|it| match it {
                ClauseKind::Filter(thread) => Some(*thread),
                _ => None,
            }) {
                out.line(&format!("if ({} == 0)", inside.primary(filter)));
            }
            if !self.dealt(&inside, id, out, |_| None) {
                inside.stmt(body, out);
            }
            out.leave();
            sums.join(out);
            release(&kept, out);
            out.line(";");
        });
        out.line("}");
        if has_teams {
            out.line("__ferry_here.__team = __ferry_here.__teams = 0;");
            out.line("}");
        }
    }

    /// The same for teams that are counted.
    fn own_of_counted(&self, id: RegionId) -> Vec<(VarId, bool)> {
        let own = self.own_of_team(id).into_iter();
        own.map(|it| (it.var, matches!(it.start, Start::Copied))).collect()
    }

    /// Whether a construct runs its body once for each team.
    fn counts_teams(&self, id: RegionId) -> bool {
        let leaves = &self.program.regions[id].construct.leaves;
        self.changed.contains(&id) && leaves.last() == Some(&Leaf::Teams)
    }

    /// Whether teams are counted around a loop, or may be where its function is called.
    fn has_counted_teams(&self, id: RegionId) -> bool {
        let regions = &self.program.regions;
        let mut around = std::iter::successors(regions[id].parent, |it| regions[*it].parent);
        match around.find(|it| regions[*it].construct.has(Leaf::Offload)) {
            Some(kernel) => self.counts_teams(kernel),
            None => true,
        }
    }

    /// A counted team's share of a loop: the thread runs all teams, one after the other.
    fn share_alone(&self, printer: &Printer<'_>, id: RegionId, out: &mut Out<'_>) {
        let region = &self.program.regions[id];
        let share = self.share(printer, id);
        out.line("{");
        out.indented(|out| {
            let mut inside = printer.clone();
            for (var, is_copied) in self.own_alone(id) {
                if !region.loops.iter().any(|it| it.var == var) {
                    self.thread_copy(printer, &mut inside, var, is_copied, out);
                }
            }
            let kept = self.own_parts(printer, &mut inside, id, out);
            let sums = self.own_reduced(printer, &mut inside, id, out);
            self.share_of_team(&inside, id, &share, out);
            sums.join(out);
            release(&kept, out);
        });
        out.line("}");
    }

    /// Variables that the construct has for itself, and whether with the values from outside.
    pub(super) fn own_alone(&self, id: RegionId) -> Vec<(VarId, bool)> {
        let region = &self.program.regions[id];
        let in_head: Vec<VarId> =
            region.loops.iter().filter_map(|it| self.declared_in_head(it.stmt)).collect();
        // A clause that names a variable in parts is no matter of its whole.
        let is_kept = |var: VarId| {
            region.construct.kinds().any(|kind| match kind {
                ClauseKind::LastPrivate { items, .. } => items
                    .iter()
                    .any(|it| matches!(self.program.exprs[*it].kind, ExprKind::Var(v) if v == var)),
                _ => false,
            })
        };
        let own = |it: &ir::region::RegionVar| {
            let sharing = it.sharing.as_ref()?;
            if in_head.contains(&it.var) || is_kept(it.var) || self.names_part(id, it.var) {
                return None;
            }
            match (&sharing.value, sharing.origin) {
                // The lanes' variable keeps its last value.
                (_, Origin::Rule(Rule::LaneLoopVariable)) => None,
                (
                    Sharing::Private,
                    Origin::Rule(Rule::LoopVariable | Rule::DefaultClause) | Origin::Clause(_),
                ) => Some((it.var, false)),
                (
                    Sharing::FirstPrivate,
                    Origin::Clause(_) | Origin::Rule(Rule::TaskCopy | Rule::DefaultClause),
                ) => Some((it.var, true)),
                _ => None,
            }
        };
        region.vars.iter().filter_map(own).collect()
    }
}

/// Parts that say that a region leaves the host.
fn goes_there(leaf: Leaf) -> bool {
    matches!(leaf, Leaf::Offload | Leaf::Kernels)
}

fn what(leaves: &[Leaf]) -> What {
    let mut what = What::Body;
    for leaf in leaves.iter().filter(|it| !goes_there(**it)) {
        what = match leaf {
            Leaf::Teams
            | Leaf::Distribute
            | Leaf::Parallel
            | Leaf::For
            | Leaf::Simd
            | Leaf::Loop
            | Leaf::Sections
            | Leaf::Section
            | Leaf::Single
            | Leaf::Masked
            | Leaf::Master
            | Leaf::Ordered
            | Leaf::Scope
            | Leaf::Workdistribute
            | Leaf::Task
            | Leaf::Taskloop
            | Leaf::Taskgroup
            | Leaf::Taskgraph
            | Leaf::Assume
            | Leaf::Dispatch
            | Leaf::Metadirective
            | Leaf::BeginMetadirective
            | Leaf::DataRegion
            | Leaf::HostData
            | Leaf::Nothing => continue,
            Leaf::Critical | Leaf::Atomic => What::Locked,
            Leaf::Barrier
            | Leaf::Taskwait
            | Leaf::Taskyield
            | Leaf::Flush
            | Leaf::OrderedPoint
            | Leaf::Scan
            | Leaf::Cancel
            | Leaf::CancellationPoint
            | Leaf::TaskIteration
            | Leaf::EnterData
            | Leaf::ExitData
            | Leaf::Update
            | Leaf::Cache => What::Nothing,
            it if loops::transforms(*it) => What::Transformed,
            _ => What::Refused,
        };
    }
    what
}
