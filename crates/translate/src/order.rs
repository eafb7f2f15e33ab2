//! Queues: what is queued is a task that depends on those before it in its queue.
//!
//! A queue is an object of our header; a directive in a queue changes it, one that waits for a queue
//! reads it. Without queues what is queued is done at once, which is what a queue may do.

use ir::construct::{ClauseKind, Construct, Depend, DependKind, Leaf, Spelled, WaitArgs};
use ir::program::{ExprId, RegionId, Typed};

use super::{Fate, Line, Plan, Translator, clause, codes};

impl Translator<'_> {
    /// What a directive waits for and who waits for it.
    pub(super) fn order(
        &self,
        from: &Construct<Typed>,
        to: &mut Construct<Spelled>,
        plan: &mut Plan,
    ) {
        let queued = from.kinds().any(|it| match it {
            ClauseKind::Async(queue) => !queue.is_some_and(|it| self.is_no_queue(it)),
            _ => false,
        });
        if !self.request.queues {
            self.at_once(from, plan);
            return;
        }
        // Statements behind it do not wait for what is deferred.
        let is_followed = !plan.unsaid.is_empty();
        if queued && (is_followed || self.has_siblings_elsewhere(from) || self.must_not_wait(from))
        {
            self.after_queue(from, plan);
            return;
        }
        if !queued {
            plan.first.extend(self.waits_before(from));
            return;
        }
        let mut has_depend = false;
        for kind in from.kinds() {
            match kind {
                ClauseKind::Async(queue) => {
                    let queue = queue.map_or_else(
                        || directive::QUEUE_UNNAMED.to_owned(),
                        |it| self.words.expr(it),
                    );
                    to.clauses.push(clause(ClauseKind::Nowait(None)));
                    to.clauses.push(clause(depend(DependKind::Inout, vec![token(&queue)])));
                    has_depend = true;
                }
                ClauseKind::Wait(Some(it)) if it.device.is_none() && !it.queues.is_empty() => {
                    let queues = it.queues.iter().map(|it| token(&self.words.expr(*it))).collect();
                    to.clauses.push(clause(depend(DependKind::In, queues)));
                    has_depend = true;
                }
                ClauseKind::Wait(_) => plan.first.extend(self.wait_all()),
                _ => {}
            }
        }
        plan.uses_header |= has_depend;
    }

    /// Whether a directive adds up what its reader cannot add up later.
    fn must_not_wait(&self, from: &Construct<Typed>) -> bool {
        let regions = &self.program.regions;
        let sums =
            |it: &Construct<Typed>| it.kinds().any(|it| matches!(it, ClauseKind::Reduction(_)));
        let is_inside = |at: RegionId| {
            self.program.around(at).any(|it| regions[it].construct.span == from.span)
        };
        !self.profile().defers_sums
            && regions.iter().any(|(at, it)| sums(&it.construct) && is_inside(at))
    }

    /// Whether several threads of the host may run a directive: dependences hold only between tasks of
    /// one, queues between all.
    fn has_siblings_elsewhere(&self, from: &Construct<Typed>) -> bool {
        let regions = &self.program.regions;
        let shares = |it: &Construct<Typed>| {
            let leaves = [Leaf::Parallel, Leaf::Task, Leaf::Taskloop];
            leaves.iter().any(|leaf| it.has(*leaf)) && !it.has(Leaf::Offload)
        };
        let Some((_, own)) = regions.iter().find(|it| it.1.construct.span == from.span) else {
            return false;
        };
        let mut up = std::iter::successors(own.parent, |it| regions[*it].parent);
        up.any(|it| shares(&regions[it].construct))
            || regions
                .iter()
                .any(|(_, it)| shares(&it.construct) && it.reaches.contains(&own.function))
    }

    /// Whether a queue is the constant that stands for none.
    fn is_no_queue(&self, queue: ExprId) -> bool {
        self.words.expr(queue) == directive::QUEUE_NONE
    }

    /// A directive that begins or ends the life of data does so at once, after what its queue holds: what
    /// follows counts on it.
    pub(super) fn after_queue(&self, from: &Construct<Typed>, plan: &mut Plan) {
        if !self.request.queues {
            return self.at_once(from, plan);
        }
        for it in &from.clauses {
            let ClauseKind::Async(queue) = it.kind else { continue };
            let queue =
                queue.map_or_else(|| directive::QUEUE_UNNAMED.to_owned(), |it| self.words.expr(it));
            let mut to = self.directive(vec![Leaf::Taskwait], source::Span::NONE);
            to.clauses.push(clause(depend(DependKind::Inout, vec![token(&queue)])));
            plan.first.push(Line::Directive(Box::new(to)));
            plan.uses_header = true;
            let written = Some(self.words.written(it.span));
            let text = "done at once, after what the queue holds";
            plan.remark(Fate::Approximated, Some(codes::AT_ONCE), written, text);
        }
        plan.first.extend(self.waits_before(from));
    }

    /// Waits of a directive that is not queued itself.
    pub(super) fn waits_before(&self, from: &Construct<Typed>) -> Vec<Line> {
        if !self.request.queues {
            return Vec::new();
        }
        let mut lines = Vec::new();
        for kind in from.kinds() {
            if let ClauseKind::Wait(args) = kind {
                lines.extend(self.wait_for(args.as_ref()));
            }
        }
        lines
    }

    /// Says that what would be queued is done at once.
    pub(super) fn at_once(&self, from: &Construct<Typed>, plan: &mut Plan) {
        for it in &from.clauses {
            let text = match it.kind {
                ClauseKind::Async(_) => "done at once, as a queue may do",
                ClauseKind::Wait(_) if !self.request.queues => "nothing is left to wait for",
                _ => continue,
            };
            let written = Some(self.words.written(it.span));
            plan.remark(Fate::Approximated, Some(codes::AT_ONCE), written, text);
        }
    }

    fn wait_all(&self) -> Vec<Line> {
        let to = self.directive(vec![Leaf::Taskwait], source::Span::NONE);
        vec![Line::Directive(Box::new(to))]
    }

    fn wait_for(&self, args: Option<&WaitArgs<Typed>>) -> Vec<Line> {
        match args {
            Some(it) if !it.queues.is_empty() => {
                let mut to = self.directive(vec![Leaf::Taskwait], source::Span::NONE);
                let queues = it.queues.iter().map(|it| token(&self.words.expr(*it))).collect();
                to.clauses.push(clause(depend(DependKind::Inout, queues)));
                vec![Line::Directive(Box::new(to))]
            }
            _ => self.wait_all(),
        }
    }

    /// The directive that waits.
    pub(super) fn wait(&self, id: RegionId) -> Plan {
        let construct = &self.program.regions[id].construct;
        let mut plan = Plan::default();
        let args = match &construct.args {
            ir::construct::Args::Wait(it) => Some(it),
            _ => None,
        };
        let condition = construct.kinds().any(|it| matches!(it, ClauseKind::If(_)));
        if !self.request.queues {
            let text = "nothing is left to wait for";
            plan.remark(Fate::Approximated, Some(codes::AT_ONCE), None, text);
            return plan;
        }
        let queued = construct.kinds().find_map(|it| match it {
            ClauseKind::Async(queue) => Some(
                queue.map_or_else(|| directive::QUEUE_UNNAMED.to_owned(), |it| self.words.expr(it)),
            ),
            _ => None,
        });
        let uses_queues = args.is_some_and(|it| !it.queues.is_empty()) || queued.is_some();
        match queued {
            // An empty task that comes after the one queue and before what follows in the other.
            Some(queue) => {
                let mut to = self.directive(vec![Leaf::Task], construct.span);
                if let Some(args) = args.filter(|it| !it.queues.is_empty()) {
                    let queues: Vec<String> =
                        args.queues.iter().map(|it| token(&self.words.expr(*it))).collect();
                    to.clauses.push(clause(depend(DependKind::In, queues)));
                } else {
                    plan.lines.extend(self.wait_all());
                }
                to.clauses.push(clause(depend(DependKind::Inout, vec![token(&queue)])));
                plan.lines.push(Line::Directive(Box::new(to)));
                plan.lines.push(Line::Statement(";".to_owned()));
            }
            None => {
                if let Some(it) = construct.kinds().find_map(|it| match it {
                    ClauseKind::If(it) => Some(self.words.expr(*it)),
                    _ => None,
                }) {
                    plan.lines.push(Line::Statement(format!("if ({it}) {{")));
                }
                plan.lines.extend(self.wait_for(args));
                if condition {
                    plan.lines.push(Line::Statement("}".to_owned()));
                }
            }
        }
        plan.uses_header |= uses_queues;
        plan
    }
}

/// The object that stands for a queue.
fn token(queue: &str) -> String {
    format!("*{}({queue})", directive::QUEUE_TOKEN)
}

fn depend(kind: DependKind, items: Vec<String>) -> ClauseKind<Spelled> {
    ClauseKind::Depend(Depend { kind, iterators: Vec::new(), items, all_memory: false })
}
