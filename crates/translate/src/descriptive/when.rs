//! When and on which device: work that is not waited for, who waits, and numbers of devices.
//!
//! Tasks of devices become work of one queue: what is in it runs in the order of the text, so every
//! dependence between them holds. Where the end of such tasks is not seen in the same function, or
//! where the host has threads and tasks of its own, work is done at once, which a task may be.

use ir::construct::{ClauseKind, Construct, DependKind, DeviceModifier, Leaf, Spelled, WaitArgs};
use ir::program::RegionId;

use super::super::{Fate, Line, Plan, clause};
use super::{AT_ONCE, Descriptive, NO_COUNTERPART, ORDER};

/// The queue of all tasks.
const QUEUE: &str = "1";

impl Descriptive<'_, '_> {
    /// Puts a directive into the queue, or behind it.
    pub(super) fn later(&self, id: RegionId, to: &mut Construct<Spelled>, plan: &mut Plan) {
        let from = &self.program.regions[id].construct;
        let is_named = self.has_named_queues();
        let mut depends = false;
        for it in &from.clauses {
            let written = || Some(self.t.words.written(it.span));
            match &it.kind {
                ClauseKind::Depend(_) if is_named => {}
                ClauseKind::Depend(on) => {
                    depends = true;
                    if self.has_host_tasks() {
                        let text = "all tasks before it are waited for";
                        plan.remark(Fate::Approximated, Some(ORDER), written(), text);
                    } else if on.kind == DependKind::Depobj {
                        let text = "it depends on what is stored";
                        plan.remark(Fate::Refused, Some(ORDER), written(), text);
                    }
                }
                ClauseKind::Nowait(_) if !self.is_queued(id) => {
                    let text = "done at once, as a task may be";
                    plan.remark(Fate::Approximated, Some(AT_ONCE), written(), text);
                }
                _ => {}
            }
        }
        if is_named {
            self.in_named_queue(id, to);
        } else if self.is_queued(id) {
            to.clauses.push(clause(ClauseKind::Async(Some(QUEUE.to_owned()))));
        } else if depends && self.queues_anything() {
            let queues = vec![QUEUE.to_owned()];
            let args = WaitArgs { device: None, has_queues_word: false, queues };
            to.clauses.push(clause(ClauseKind::Wait(Some(args))));
        }
    }

    /// Whether a directive goes into the queue.
    pub(super) fn is_queued(&self, id: RegionId) -> bool {
        let region = &self.program.regions[id];
        let is_task = region.construct.kinds().any(|it| matches!(it, ClauseKind::Nowait(None)));
        if !is_task || !self.t.request.queues {
            return false;
        }
        let copies_now = region.construct.kinds().any(|it| match it {
            ClauseKind::Map(map) => map.flags.always,
            _ => false,
        });
        let is_plain = !copies_now && self.device_number(id).is_none();
        if self.has_named_queues() {
            return is_plain && !self.is_inside_host_threads(id) && !self.waits_elsewhere();
        }
        let is_waited_for = self.program.regions.iter().any(|(_, it)| {
            it.construct.has(Leaf::Taskwait)
                && it.function == region.function
                && it.span.start > region.span.start
        });
        is_plain && is_waited_for && !self.is_inside_host_threads(id) && !self.waits_elsewhere()
    }

    pub(super) fn queues_anything(&self) -> bool {
        self.own_regions().any(|(id, _)| self.is_queued(id))
    }

    /// Whether the host has tasks of its own, or waits for tasks otherwise than by a directive that
    /// only waits. Threads that it makes wait for their own.
    fn waits_elsewhere(&self) -> bool {
        let waits = |leaf: &Leaf| {
            matches!(
                leaf,
                Leaf::Barrier
                    | Leaf::For
                    | Leaf::Sections
                    | Leaf::Single
                    | Leaf::Scope
                    | Leaf::Loop
                    | Leaf::Task
                    | Leaf::Taskloop
                    | Leaf::Taskgroup
                    | Leaf::Taskgraph
                    | Leaf::Depobj
                    | Leaf::Interop
                    | Leaf::Dispatch
            )
        };
        self.own_regions().any(|(id, it)| {
            let is_of_threads = it.construct.has(Leaf::Parallel)
                || self.above(id).any(|up| self.program.regions[up].construct.has(Leaf::Parallel));
            it.construct.dialect == directive::PRESCRIPTIVE
                && it.construct.leaves.first().is_some_and(waits)
                && !is_of_threads
                && !self.is_on_device(id)
                && !self.is_between_queues(id)
        })
    }

    fn has_host_tasks(&self) -> bool {
        self.own_regions().any(|(id, it)| {
            let makes = [Leaf::Task, Leaf::Taskloop, Leaf::Depobj, Leaf::Taskgraph];
            makes.into_iter().any(|leaf| it.construct.has(leaf))
                && !self.is_on_device(id)
                && !self.is_between_queues(id)
        })
    }

    pub(super) fn taskwait(&self, id: RegionId) -> Plan {
        let from = &self.program.regions[id].construct;
        if from.kinds().any(|it| matches!(it, ClauseKind::Nowait(_))) {
            return self.refused(ORDER, "a point in the order of tasks has no counterpart");
        }
        self.wait_for_queues(id)
    }

    /// The device that a directive names, if it is not the default one.
    fn device_number(&self, id: RegionId) -> Option<String> {
        let from = &self.program.regions[id].construct;
        from.kinds().find_map(|it| match it {
            ClauseKind::Device(DeviceModifier::Unsaid | DeviceModifier::DeviceNum, number) => {
                let text = self.t.words.expr(*number);
                (text.replace(' ', "") != format!("{}()", directive::DEFAULT_DEVICE))
                    .then_some(text)
            }
            _ => None,
        })
    }

    /// Whether a directive is for a device that it names.
    pub(super) fn names_device(&self, id: RegionId) -> bool {
        self.device_number(id).is_some()
    }

    /// Puts lines into a plan, between the choice of a device and the return to the one before.
    pub(super) fn on_device_number(
        &self,
        id: RegionId,
        lines: Vec<Line>,
        after: Vec<Line>,
        plan: &mut Plan,
    ) {
        let region = &self.program.regions[id];
        let (mut lines, mut after) = (lines, after);
        let depends = region.construct.kinds().any(|it| matches!(it, ClauseKind::Depend(_)));
        if depends && self.has_host_tasks() {
            let mut wait = self.t.directive(vec![Leaf::Taskwait], region.construct.span);
            wait.dialect = directive::PRESCRIPTIVE;
            lines.insert(0, Line::Directive(Box::new(wait)));
        }
        if region.construct.goes_back() {
            plan.remark(Fate::Refused, Some(NO_COUNTERPART), None, "devices do not call back");
        }
        let number = self.device_number(id);
        if let Some(number) = &number {
            if region.construct.has(Leaf::DataRegion) && !self.all_name_devices(id) {
                let text =
                    "directives inside use another device than the region; name it there too";
                plan.remark(Fate::Refused, Some(NO_COUNTERPART), None, text);
            }
            let saved = format!("ferry_device_{}", id.index());
            let choose = format!("int {saved} = {}({number});", directive::CHOOSE_DEVICE);
            lines.insert(0, Line::Statement(choose));
            after.push(Line::Statement(format!("{}({saved});", directive::RETURN_TO_DEVICE)));
            plan.uses_header = true;
        }
        if number.is_none() && after.is_empty() && (lines.len() < 2 || region.body.is_none()) {
            plan.lines.extend(lines);
            return;
        }
        let is_pair_of_directives = number.is_none()
            && after.is_empty()
            && region.construct.has(Leaf::DataRegion)
            && lines.iter().all(|it| match it {
                Line::Directive(it) => it.has(Leaf::DataRegion) || it.has(Leaf::HostData),
                Line::Statement(_) => false,
            });
        if is_pair_of_directives {
            plan.lines.extend(lines);
            return;
        }
        plan.declares = lines.iter().any(|it| matches!(it, Line::Statement(_)));
        let last = lines.pop();
        plan.first.extend(lines);
        plan.lines.extend(last);
        plan.last.extend(after);
    }

    fn all_name_devices(&self, id: RegionId) -> bool {
        let region = &self.program.regions[id];
        let calls = region.reaches.iter().any(|it| {
            let name = self.program.names.text(self.program.functions[*it].name);
            directive::is_thread_call(name)
                || self.program.regions.iter().any(|(_, other)| other.function == *it)
        });
        !calls
            && self.below(id).all(|it| {
                self.names_device(it)
                    || self
                        .above(it)
                        .any(|up| self.program.regions[up].construct.has(Leaf::Offload))
            })
    }
}
