//! Constructs that the host's compiler does not know, as what it does know.
//!
//! In: a region whose parts or loops are none of the host compiler's. Out: text that means the same.
//! What has no such text yet is refused by name.

use directive::HOST_DIALECT;
use ir::construct::{
    Args, Clause, ClauseKind, Construct, DeviceModifier, InteropInit, Leaf, Rules, Spelled,
};
use ir::program::{RegionId, Typed};
use source::Span;

use super::{Kind, Lowering, is_for_host_compiler, kind, known, loops, mentions, stub};
use crate::c::{Out, Printer};

impl Lowering<'_> {
    /// Whether the host's compiler gets the region as it stands, all but what is inside it.
    pub(super) fn is_left_alone(&self, id: RegionId) -> bool {
        !self.changed.contains(&id)
            && is_for_host_compiler(&self.program.regions[id].construct)
            && !loops::needs_loops_made(self.program, id)
            && !loops::is_miscounted(self.program, id)
            && !loops::is_linear(self.program, id)
            && !self.counts_points(id)
            && !self.names_moved(id)
            && !self.is_atomic_of_team(id)
            && !self.asks_in_teams(id)
            && !self.binds_nobody(id)
            && self.group_vars(id).is_empty()
    }

    /// Whether its clauses name a variable that lives elsewhere.
    fn names_moved(&self, id: RegionId) -> bool {
        !self.moved.is_empty()
            && mentions::vars_in(self.program, &self.program.regions[id].construct)
                .iter()
                .any(|it| self.moved.contains_key(it))
    }

    /// Writes a construct that has parts unknown to the host's compiler; answers whether it is one.
    pub(super) fn unknown(&self, printer: &Printer<'_>, id: RegionId, out: &mut Out<'_>) -> bool {
        let region = &self.program.regions[id];
        let construct = &region.construct;
        debug_assert_eq!(kind(construct), Kind::Host, "the others are done before");
        match construct.leaves.as_slice() {
            [leaf] if loops::transforms(*leaf) => self.transformation(printer, id, out),
            [Leaf::Assume] => self.assume(printer, id, out),
            [Leaf::Taskgraph] => self.taskgraph(printer, id, out),
            [Leaf::Init | Leaf::Shutdown | Leaf::Set] => self.control(printer, id, out),
            [Leaf::Wait] => self.wait(printer, id, out),
            [Leaf::Interop] => self.interop(printer, id, out),
            [Leaf::Task] if is_transparent(construct) => self.transparent_task(printer, id, out),
            [Leaf::Taskwait] if waits_for_nothing(construct) => self.empty_task(printer, id, out),
            _ if known::in_parts(construct) => return false,
            _ => self.not_lowered(construct),
        }
        true
    }

    /// What holds is told to the optimiser; what does not occur is nothing it asks for.
    fn assume(&self, printer: &Printer<'_>, id: RegionId, out: &mut Out<'_>) {
        let region = &self.program.regions[id];
        out.beside(region.span);
        out.line("{");
        out.indented(|out| {
            for kind in region.construct.kinds() {
                if let ClauseKind::Holds(e) = kind {
                    out.line(&format!("if (!{}) __builtin_unreachable();", printer.primary(*e)));
                }
            }
            if let Some(body) = region.body {
                printer.stmt(body, out);
            }
        });
        out.line("}");
    }

    /// The standard lets every encounter run the block instead of a record of its tasks.
    fn taskgraph(&self, printer: &Printer<'_>, id: RegionId, out: &mut Out<'_>) {
        let region = &self.program.regions[id];
        let construct = &region.construct;
        let has_group = !construct.clauses.iter().any(|it| {
            self.is_said(it, |kind| match kind {
                ClauseKind::Nogroup(condition) => Some(*condition),
                _ => None,
            })
        });
        out.beside(region.span);
        if has_group
            && let Some(pragma) = self.pragma(&lone(Leaf::Taskgroup, Vec::new(), region.span))
        {
            out.raw(&pragma);
        }
        if let Some(body) = region.body {
            out.line("{");
            out.indented(|out| printer.stmt(body, out));
            out.line("}");
        }
    }

    /// A task whose children stand among its siblings: it runs at once, as part of its parent, when
    /// what it depends on is done. Every task may run so.
    fn transparent_task(&self, printer: &Printer<'_>, id: RegionId, out: &mut Out<'_>) {
        let region = &self.program.regions[id];
        let spelled = printer.spelled(&region.construct);
        let has_event = |it: &Clause<Spelled>| matches!(it.kind, ClauseKind::DetachEvent(_));
        if let Some(clause) = spelled.clauses.iter().find(|it| has_event(it)) {
            return self.refuse(
                clause.span,
                &directive::Unwritable {
                    what: "detach".to_owned(),
                    why: "the task is transparent".to_owned(),
                },
            );
        }
        let depends: Vec<Clause<Spelled>> = spelled
            .clauses
            .iter()
            .filter(|it| matches!(it.kind, ClauseKind::Depend(_)))
            .map(|it| Clause { on: None, ..it.clone() })
            .collect();
        let mut wait = lone(Leaf::Taskwait, depends, region.span);
        self.for_host(printer, id, &mut wait);
        out.beside(region.span);
        out.line("{");
        out.indented(|out| {
            if !wait.clauses.is_empty()
                && let Some(pragma) = self.pragma(&wait)
            {
                out.raw(&pragma);
            }
            let printer = self.own_copies(printer, region, out);
            if let Some(body) = region.body {
                printer.stmt(body, out);
            }
        });
        out.line("}");
    }

    /// `taskwait nowait`: a task that does nothing but depend.
    fn empty_task(&self, printer: &Printer<'_>, id: RegionId, out: &mut Out<'_>) {
        let region = &self.program.regions[id];
        let mut task = printer.spelled(&region.construct);
        task.leaves = vec![Leaf::Task];
        task.clauses.retain(|it| matches!(it.kind, ClauseKind::Depend(_)));
        let around = self.for_host(printer, id, &mut task);
        around.put(self, printer, id, self.pragma(&task), out);
        out.line(";");
    }

    /// Makes, uses or ends handles of the runtime below the device.
    fn interop(&self, printer: &Printer<'_>, id: RegionId, out: &mut Out<'_>) {
        let region = &self.program.regions[id];
        let at = self.at(id);
        if self.standalone {
            return self.not_standalone(region.span, "a handle of the runtime below the device");
        }
        self.state.borrow_mut().is_framed = true;
        let device = region.construct.kinds().find_map(|it| match it {
            ClauseKind::Device(DeviceModifier::Unsaid | DeviceModifier::DeviceNum, e) => Some(*e),
            _ => None,
        });
        let device = device.map_or_else(|| "-1".to_owned(), |it| printer.expr(it));
        let spelled = printer.spelled(&region.construct);
        let depends: Vec<Clause<Spelled>> = spelled
            .clauses
            .iter()
            .filter(|it| matches!(it.kind, ClauseKind::Depend(_)))
            .cloned()
            .collect();
        let mut wait = lone(Leaf::Taskwait, depends, region.span);
        self.for_host(printer, id, &mut wait);
        out.beside(region.span);
        out.line("{");
        out.indented(|out| {
            stub::location(out, &at);
            if !wait.clauses.is_empty()
                && let Some(pragma) = self.pragma(&wait)
            {
                out.raw(&pragma);
            }
            for kind in region.construct.kinds() {
                let (name, object, what) = match kind {
                    ClauseKind::InteropInit(init, object) => {
                        (abi::names::INTEROP_INIT, object, format!("{}, ", interop_kind(init)))
                    }
                    ClauseKind::InteropUse(object) => {
                        (abi::names::INTEROP_USE, object, String::new())
                    }
                    ClauseKind::Destroy(Some(object)) => {
                        (abi::names::INTEROP_DESTROY, object, String::new())
                    }
                    _ => continue,
                };
                let kinds = if what.is_empty() { "" } else { "int, " };
                out.line(&format!(
                    "extern void {name}(void *, int, void **, {kinds}int, int, void *, int);"
                ));
                out.line(&format!(
                    "{name}(&__fi, 0, (void **)&{}, {what}{device}, 0, 0, 0);",
                    printer.primary(*object)
                ));
            }
        });
        out.line("}");
    }

    /// Whether a clause is there and not switched off.
    pub(super) fn is_said(
        &self,
        clause: &Clause<Typed>,
        find: impl Fn(&ClauseKind<Typed>) -> Option<Option<ir::program::ExprId>>,
    ) -> bool {
        let Some(condition) = find(&clause.kind) else { return false };
        let off = |it| loops::constant(self.program, it) == Some(0);
        !condition.is_some_and(off) && !clause.switch.is_some_and(off)
    }
}

/// What kind of handle is asked for, as the interface numbers them.
fn interop_kind(init: &InteropInit<Typed>) -> u32 {
    if init.targetsync { 2 } else { u32::from(init.target) }
}

fn is_transparent(construct: &Construct<Typed>) -> bool {
    construct.kinds().any(|it| matches!(it, ClauseKind::Transparent(_)))
}

fn waits_for_nothing(construct: &Construct<Typed>) -> bool {
    construct.kinds().any(|it| matches!(it, ClauseKind::Nowait(None)))
}

/// A directive of one part that we make ourselves.
pub(super) fn lone(leaf: Leaf, clauses: Vec<Clause<Spelled>>, span: Span) -> Construct<Spelled> {
    Construct {
        dialect: HOST_DIALECT,
        leaves: vec![leaf],
        args: Args::None,
        clauses,
        groups: Vec::new(),
        rules: Rules::NONE,
        span,
    }
}
