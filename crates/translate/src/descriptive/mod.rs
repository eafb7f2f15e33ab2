//! Directives that say who runs what become directives that say what may run in any order.
//!
//! Only what concerns devices is translated: constructs that leave the host, the code in them and in the
//! functions they call, data on devices, and what waits for them. Threads and tasks of the host stay as
//! they are. Device code in which threads meet, count themselves or take turns has no counterpart and is
//! refused by name.
//!
//! Here: which code is device code, and which plan is made for which directive. What variables become is
//! in [`share`], constructs that leave the host in [`compute`], their loops in [`loops`], data in
//! [`moves`], time and devices in [`when`], functions and variables in [`exist`].

mod calls;
mod compute;
mod exclusive;
mod exist;
mod items;
mod loops;
mod moves;
mod queues;
mod share;
mod text;
mod when;

use std::cell::OnceCell;
use std::collections::BTreeMap;

use ir::construct::Leaf;
use ir::program::{FunctionId, Level, Program, RegionId};
use ir::region::Region;
use source::{Locator, Span};

use super::codes::{
    ADVICE, AT_ONCE, CHOICE, COLLAPSED, COPIES, DISTANCE, EXCLUSIVE, INSIDE_HOST, MADE_BY_MACRO,
    MEMORY_ORDER, NO_CALL, NO_COUNTERPART, ONE_FOR_TEAMS, ORDER, RELEASED, SIZES, SPOILED, THREADS,
};
use super::place::Pen;
use super::spot::is_our_header;
use super::{Fate, Plan, Target, Translator};

pub(super) struct Descriptive<'t, 'a> {
    t: &'t Translator<'a>,
    program: &'a Program,
    locator: &'a Locator<'a>,
    /// Functions that device code calls, or that are declared for devices.
    on_device: Vec<FunctionId>,
    /// Those of them that single threads call: nothing is left to deal out in them.
    by_threads: Vec<FunctionId>,
    /// Whether all order among tasks of devices is that of queues.
    named_queues: OnceCell<bool>,
    /// The regions inside of each, found when first asked for.
    inside: OnceCell<BTreeMap<RegionId, Vec<RegionId>>>,
}

/// Translates the directives of a program for readers of levels.
pub(super) fn translate<'a>(
    t: &Translator<'a>,
    program: &'a Program,
    locator: &'a Locator<'a>,
    pen: &mut Pen<'_>,
) {
    let this = Descriptive::new(t, program, locator);
    let mut plans: Vec<(Target, Plan)> = Vec::new();
    let mut of_regions: Vec<(RegionId, Plan)> = Vec::new();
    for (id, region) in this.own_regions() {
        if region.construct.dialect != directive::PRESCRIPTIVE {
            continue;
        }
        if !this.concerns(id) {
            pen.keep(region.construct.span);
            continue;
        }
        let mut plan = this.region(id);
        if this.is_chosen(region.construct.span) {
            plan = chosen();
        }
        t.mapped(id, &mut plan);
        t.fates(id, &mut plan);
        of_regions.push((id, plan));
    }
    this.spoil(&mut of_regions);
    for (id, plan) in of_regions {
        let target = match t.program.regions.find(id) {
            Some(it) => Target::Directive(it.construct.span),
            None => Target::Loop(program.regions[id].span),
        };
        plans.push((target, plan));
    }
    for (id, region) in program.regions.iter().filter(|it| t.is_own(it.0)) {
        let target = match t.program.regions.find(id) {
            Some(it) => Target::Directive(it.construct.span),
            None => Target::Loop(region.span),
        };
        plans.push((target, t.own_region(id)));
    }
    for rewrite in &program.rewrites {
        if this.locator.locate(rewrite.span).is_some_and(|it| !it.in_system_header) {
            plans.push((Target::Directive(rewrite.span), chosen()));
        }
    }
    this.declarations(&mut plans, pen);
    // The inner ones first: what ends behind the same statement ends in that order.
    plans.sort_by_key(|it| std::cmp::Reverse(it.0.span().start));
    for (target, plan) in plans {
        pen.write(target, plan);
    }
    this.calls(pen);
}

fn chosen() -> Plan {
    let mut plan = Plan::default();
    let text =
        "what stands here depends on who compiles; write the choice as directives of its own";
    plan.remark(Fate::Refused, Some(CHOICE), None, text);
    plan
}

impl<'t, 'a> Descriptive<'t, 'a> {
    fn new(t: &'t Translator<'a>, program: &'a Program, locator: &'a Locator<'a>) -> Self {
        let mut on_device: Vec<FunctionId> = Vec::new();
        for (id, function) in program.functions.iter() {
            if function.device.declared && !function.device.host_only {
                add(&mut on_device, id);
                add_calls(program, id, &mut on_device);
            }
        }
        for (_, region) in program.regions.iter() {
            if region.construct.has(Leaf::Offload) {
                region.reaches.iter().for_each(|it| add(&mut on_device, *it));
            }
        }
        let mut this = Descriptive {
            t,
            program,
            locator,
            on_device,
            by_threads: Vec::new(),
            named_queues: OnceCell::new(),
            inside: OnceCell::new(),
        };
        for (id, region) in program.regions.iter() {
            if this.runs_threads(id) && this.is_on_device(id) {
                region.reaches.iter().for_each(|it| add(&mut this.by_threads, *it));
            }
        }
        this
    }

    /// Whether a directive concerns devices: all others stay as they are.
    fn concerns(&self, id: RegionId) -> bool {
        let leaves = &self.program.regions[id].construct.leaves;
        self.leaves_host(id)
            || leaves.first() == Some(&Leaf::Taskwait)
                && (self.queues_anything() || self.queued(id).is_some())
            || self.is_between_queues(id)
            || self.is_on_device(id)
    }

    /// Whether a directive is work of a device, or moves data.
    fn leaves_host(&self, id: RegionId) -> bool {
        let construct = &self.program.regions[id].construct;
        let moves =
            [Leaf::DataRegion, Leaf::EnterData, Leaf::ExitData, Leaf::Update, Leaf::Interop];
        construct.has(Leaf::Offload)
            || construct.leaves.first().is_some_and(|it| moves.contains(it))
    }

    /// Regions of the program, without those in headers of ours.
    fn own_regions(&self) -> impl Iterator<Item = (RegionId, &'a Region)> {
        self.program.regions.iter().filter(|(_, it)| {
            let place = self.locator.locate(it.construct.span);
            place.is_none_or(|it| !is_our_header(&it.file))
        })
    }

    /// Whether a directive stands in device code, or begins it.
    fn is_on_device(&self, id: RegionId) -> bool {
        let region = &self.program.regions[id];
        region.construct.has(Leaf::Offload) || self.is_inside_device(id)
    }

    fn is_inside_device(&self, id: RegionId) -> bool {
        self.on_device.contains(&self.program.regions[id].function)
            || self.above(id).any(|it| self.program.regions[it].construct.has(Leaf::Offload))
    }

    /// Whether threads or lanes share the work of a region.
    fn runs_threads(&self, id: RegionId) -> bool {
        let construct = &self.program.regions[id].construct;
        [Leaf::Parallel, Leaf::For, Leaf::Simd, Leaf::Loop].into_iter().any(|it| construct.has(it))
    }

    /// Regions around, the nearest first.
    fn above(&self, id: RegionId) -> impl Iterator<Item = RegionId> {
        self.program.around(id).skip(1)
    }

    /// Regions inside, in the order of the text.
    fn below(&self, id: RegionId) -> impl Iterator<Item = RegionId> {
        let inside = self.inside.get_or_init(|| {
            let mut found: BTreeMap<RegionId, Vec<RegionId>> = BTreeMap::new();
            for (id, _) in self.program.regions.iter() {
                self.above(id).for_each(|it| found.entry(it).or_default().push(id));
            }
            found
        });
        inside.get(&id).into_iter().flatten().copied()
    }

    /// Whether a place belongs to a directive that was chosen among several, or that the running program chooses.
    fn is_chosen(&self, span: Span) -> bool {
        let chosen = self.program.rewrites.iter().map(|it| it.span);
        let open = self.program.regions.iter().map(|it| &it.1.construct);
        let open =
            open.filter(|it| it.has(Leaf::Metadirective) || it.has(Leaf::BeginMetadirective));
        let mut all = chosen.chain(open.map(|it| it.span));
        all.any(|it| it.start <= span.start && span.end <= it.end)
    }

    fn region(&self, id: RegionId) -> Plan {
        let region = &self.program.regions[id];
        let leaves = region.construct.leaves.as_slice();
        if leaves.is_empty() {
            // The loops around it say it.
            return Plan::default();
        }
        if region.construct.has(Leaf::Offload) {
            return match self.is_inside_device(id) {
                true => self.refused(THREADS, "device code does not leave its device"),
                false => self.compute(id),
            };
        }
        let is_loop = self.is_loop(id);
        match leaves.first() {
            Some(
                Leaf::Teams
                | Leaf::Distribute
                | Leaf::Parallel
                | Leaf::For
                | Leaf::Simd
                | Leaf::Loop,
            ) if is_loop => self.inner_loop(id),
            Some(Leaf::Teams) => self.inner_teams(id),
            Some(Leaf::Parallel) => self.inner_threads(id),
            Some(Leaf::DataRegion) => self.data_region(id),
            Some(Leaf::EnterData) => self.enter_data(id),
            Some(Leaf::ExitData) => self.exit_data(id),
            Some(Leaf::Update) => self.update(id),
            Some(Leaf::Atomic) => self.atomic(id),
            Some(Leaf::Critical) => self.critical(id),
            Some(Leaf::Taskwait) if !self.is_inside_device(id) => self.taskwait(id),
            Some(Leaf::Task) if self.is_between_queues(id) => self.wait_for_queues(id),
            Some(Leaf::Assume | Leaf::Unroll | Leaf::Nothing) => self.advice(id),
            _ => {
                let name = directive::directive_name(&region.construct);
                self.refused(THREADS, &format!("`{name}` has no counterpart in device code"))
            }
        }
    }

    /// Refuses device code as a whole of which a part is refused: half of it would be wrong.
    fn spoil(&self, plans: &mut [(RegionId, Plan)]) {
        let calls = self.refused_calls();
        loop {
            let refused: Vec<RegionId> =
                plans.iter().filter(|it| it.1.is_refused()).map(|it| it.0).collect();
            let is_bad = |begins: RegionId| {
                let region = &self.program.regions[begins];
                let body = region.body.map(|it| self.program.stmts[it].span);
                let in_body =
                    |at: &Span| body.is_some_and(|it| it.start <= at.start && at.end <= it.end);
                let called = |at: &Span| {
                    region.reaches.iter().any(|it| {
                        let body = self.program.functions[*it].body;
                        let span = body.map(|it| self.program.stmts[it].span);
                        span.is_some_and(|it| it.start <= at.start && at.end <= it.end)
                    })
                };
                refused.contains(&begins)
                    || calls.iter().any(|it| in_body(it) || called(it))
                    || refused.iter().any(|it| {
                        self.above(*it).any(|up| up == begins)
                            || region.reaches.contains(&self.program.regions[*it].function)
                    })
            };
            let begins = |it: &RegionId| self.program.regions[*it].construct.has(Leaf::Offload);
            let bad: Vec<RegionId> =
                plans.iter().map(|it| it.0).filter(begins).filter(|it| is_bad(*it)).collect();
            let mut is_new = false;
            for (id, plan) in plans.iter_mut().filter(|it| !it.1.is_refused()) {
                let belongs = bad.contains(id)
                    || self.above(*id).any(|up| bad.contains(&up))
                    || bad.iter().any(|it| {
                        let function = self.program.regions[*id].function;
                        self.program.regions[*it].reaches.contains(&function)
                    });
                if belongs {
                    is_new = true;
                    *plan = self.refused(SPOILED, "another part of this device code is refused");
                }
            }
            if !is_new {
                return;
            }
        }
    }

    fn advice(&self, _: RegionId) -> Plan {
        let mut plan = Plan::default();
        plan.remark(Fate::Approximated, Some(ADVICE), None, "advice that has no counterpart");
        plan
    }

    fn refused(&self, code: &'static str, text: &str) -> Plan {
        let mut plan = Plan::default();
        plan.remark(Fate::Refused, Some(code), None, text);
        plan
    }

    /// What a function deals out itself: the widest level of its own loops and of those it calls.
    fn level(&self, function: FunctionId) -> Option<Level> {
        if self.by_threads.contains(&function) {
            return None;
        }
        let mut all = vec![function];
        add_calls(self.program, function, &mut all);
        let regions = self.program.regions.iter().filter(|it| all.contains(&it.1.function));
        regions.filter_map(|it| self.widest(it.0)).min()
    }

    /// The widest level that a region deals out.
    fn widest(&self, id: RegionId) -> Option<Level> {
        let construct = &self.program.regions[id].construct;
        if construct.has(Leaf::Distribute) || construct.has(Leaf::Teams) {
            return Some(Level::Team);
        }
        if [Leaf::Parallel, Leaf::For, Leaf::Loop].into_iter().any(|it| construct.has(it)) {
            return Some(Level::Thread);
        }
        construct.has(Leaf::Simd).then_some(Level::Lane)
    }
}

fn add(list: &mut Vec<FunctionId>, id: FunctionId) {
    if !list.contains(&id) {
        list.push(id);
    }
}

/// Adds what a function calls, and what is called there.
fn add_calls(program: &Program, id: FunctionId, list: &mut Vec<FunctionId>) {
    let mut open = vec![id];
    while let Some(at) = open.pop() {
        for called in &program.functions[at].calls {
            if !list.contains(called) {
                list.push(*called);
                open.push(*called);
            }
        }
    }
}
