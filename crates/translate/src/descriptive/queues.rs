//! Queues that have become dependences, and become queues again.
//!
//! Our header names an object for each queue ([`directive::QUEUE_TOKEN`]): a task that changes it is in the queue, one
//! that reads it comes after what the queue holds. Where all order among tasks of devices is of that form, queues are
//! said as queues; a single dependence of another form needs one queue for all.

use ir::construct::{Args, ClauseKind, Construct, DependKind, Leaf, Spelled, WaitArgs};
use ir::program::{ExprId, ExprKind, RegionId, StmtKind};

use super::super::{Line, Plan, clause};
use super::Descriptive;

/// The order of one directive.
#[derive(Debug, Default)]
pub(super) struct Queued {
    /// The queue it is in.
    pub(super) own: Option<String>,
    /// Queues that it comes after.
    pub(super) after: Vec<String>,
}

impl Queued {
    /// The argument of `async`; the queue of work that names none has none.
    pub(super) fn queue(&self) -> Option<String> {
        self.own.clone().filter(|it| it != directive::QUEUE_UNNAMED)
    }

    /// All that is waited for where the directive is done at once.
    fn all(self) -> Vec<String> {
        self.own.into_iter().chain(self.after).collect()
    }
}

impl Descriptive<'_, '_> {
    /// Whether all order among tasks of devices is that of queues.
    pub(super) fn has_named_queues(&self) -> bool {
        *self.named_queues.get_or_init(|| {
            let mut found = false;
            for (id, region) in self.own_regions() {
                let construct = &region.construct;
                let depends = construct.kinds().any(|it| matches!(it, ClauseKind::Depend(_)));
                let is_task = construct.kinds().any(|it| matches!(it, ClauseKind::Nowait(None)))
                    && !self.is_inside_device(id)
                    && self.leaves_host(id);
                let queued = self.queued(id);
                if depends && queued.is_none()
                    || is_task && queued.is_none_or(|it| it.own.is_none())
                {
                    return false;
                }
                found |= depends;
            }
            found
        })
    }

    /// The queues of a directive, if it depends on queues and on nothing else.
    pub(super) fn queued(&self, id: RegionId) -> Option<Queued> {
        let construct = &self.program.regions[id].construct;
        let is_task = construct.has(Leaf::Task)
            || construct.kinds().any(|it| matches!(it, ClauseKind::Nowait(None)));
        let mut made = Queued::default();
        for kind in construct.kinds() {
            let ClauseKind::Depend(on) = kind else { continue };
            let queues: Option<Vec<String>> =
                on.items.iter().map(|it| self.queue_of(*it)).collect();
            let queues = queues.filter(|it| !it.is_empty() && on.iterators.is_empty())?;
            match (on.kind, queues.as_slice()) {
                (DependKind::Inout, [queue]) if is_task && made.own.is_none() => {
                    made.own = Some(queue.clone());
                }
                (DependKind::In, _) => made.after.extend(queues),
                (DependKind::Inout, _) if !is_task => made.after.extend(queues),
                _ => return None,
            }
        }
        (made.own.is_some() || !made.after.is_empty()).then_some(made)
    }

    /// The queue that an item of a dependence stands for.
    fn queue_of(&self, item: ExprId) -> Option<String> {
        let exprs = &self.program.exprs;
        let ExprKind::Deref(inner) = exprs[item].kind else { return None };
        let ExprKind::Call(callee, arguments) = &exprs[inner].kind else { return None };
        let mut callee = *callee;
        while let ExprKind::Cast(_, inner) = exprs[callee].kind {
            callee = inner;
        }
        let ExprKind::Function(function) = exprs[callee].kind else { return None };
        let name = self.program.names.text(self.program.functions[function].name);
        let [queue] = arguments.as_ref() else { return None };
        (name == directive::QUEUE_TOKEN).then(|| self.t.words.expr(*queue))
    }

    /// Whether a directive is a task that only stands between queues.
    pub(super) fn is_between_queues(&self, id: RegionId) -> bool {
        let region = &self.program.regions[id];
        let is_empty = region.body.is_some_and(|it| match &self.program.stmts[it].kind {
            StmtKind::Empty => true,
            StmtKind::Block(list) => list.is_empty(),
            _ => false,
        });
        let is_task = region.construct.leaves.as_slice() == [Leaf::Task];
        is_task && is_empty && self.queued(id).is_some()
    }

    /// The directive that waits for queues, in a queue or on the host.
    pub(super) fn wait_for_queues(&self, id: RegionId) -> Plan {
        let from = &self.program.regions[id].construct;
        let queued = self.queued(id).unwrap_or_default();
        let mut to = self.t.directive(vec![Leaf::Wait], from.span);
        let is_named = self.has_named_queues();
        if is_named && queued.own.is_some() {
            to.clauses.push(clause(ClauseKind::Async(queued.queue())));
        }
        to.args = match is_named && !queued.after.is_empty() {
            true => Args::Wait(waited(queued.after)),
            false => Args::None,
        };
        let mut plan = Plan::default();
        plan.lines.push(Line::Directive(Box::new(to)));
        plan
    }

    /// Puts a directive into its queue, and behind others.
    pub(super) fn in_named_queue(&self, id: RegionId, to: &mut Construct<Spelled>) {
        let Some(queued) = self.queued(id) else { return };
        let after = match self.is_queued(id) {
            true => {
                to.clauses.push(clause(ClauseKind::Async(queued.queue())));
                queued.after
            }
            false => queued.all(),
        };
        if !after.is_empty() {
            to.clauses.push(clause(ClauseKind::Wait(Some(waited(after)))));
        }
    }
}

/// The argument of a wait for queues.
fn waited(queues: Vec<String>) -> WaitArgs<Spelled> {
    WaitArgs { device: None, has_queues_word: false, queues }
}
