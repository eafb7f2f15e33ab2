//! Constructs whose body runs on a device: the call, and the kernel behind it.

use directive::HOST_DIALECT;
use ir::construct::{Args, Clause, ClauseKind, Construct, Leaf, Rules, Spelled};
use ir::program::{ExprId, RegionId, VarId};
use ir::region::Region;
use source::Span;

use super::device::Kernel;
use super::entries::{self, Access, Entries};
use super::fallback::Version;
use super::frame::Row;
use super::stub::{self, At};
use super::unknown::lone;
use super::{Lowering, Verdict};
use crate::c::{Out, Printer, Setting};

impl Lowering<'_> {
    /// A block that calls the runtime with the region's kernel.
    pub(super) fn offload(&self, printer: &Printer<'_>, id: RegionId, out: &mut Out<'_>) {
        let region = &self.program.regions[id];
        let at = self.at(id);
        let mut entries = entries::of_kernel(printer, &self.mappers, id);
        self.reached(printer, id, &mut entries);
        let limit = thread_limit(region)
            .and_then(|it| entries.value(format!("(void *)(__ferry_word)({})", printer.expr(it))));
        let version = self.host_version(id, &mut entries);
        let kernel = self.add_kernel(id, &at, &entries, limit, version);
        let order = self.order(printer, id);
        let task = self.task(printer, id, &entries);
        out.beside(region.span);
        // What is to be done before belongs to the same statement.
        let is_one_block = self.standalone && task.is_none();
        if !is_one_block {
            out.line("{");
        }
        if let Some(task) = &task {
            out.raw(task);
        }
        out.line("{");
        out.indented(|out| {
            self.said_before(region.construct.span, out);
            self.location(out, &at);
            self.ends_text(printer, id).iter().for_each(|it| out.line(it));
            let device = stub::device(printer, &region.construct.clauses, self.device_words());
            let device = order.open(printer, device, out);
            let tables = self.tables(out, &entries, &at, region.span);
            // The kernel has its own; the user's are not unused for that.
            for it in entries.captured.iter().filter(|it| it.access == Access::Own) {
                out.line(&format!("(void)sizeof({});", printer.var_name(it.var)));
            }
            if self.standalone {
                let trips = self.trips(printer, id);
                let call = self.run_text(&kernel, &device, &tables, &trips, &at);
                return order.call(printer, &call, out);
            }
            let written = self.written.regions.find(id).unwrap_or(region);
            let is_league = written.construct.has(Leaf::Teams) || self.league.contains(&id);
            let teams = if is_league { "0" } else { "-1u" };
            let arguments = tables.kernel_arguments(teams, &self.trips(printer, id));
            out.line(&format!("struct __ferry_args __fk = {arguments};"));
            // Static and declared here: no `default` clause around asks how it is shared.
            out.line(&format!(
                "static const struct __ferry_region *__fr = &__ferry_region_{kernel};"
            ));
            let call = match self.split_text(printer, id, &kernel, &entries) {
                None => format!("{}(&__fi, {device}, 0, 0, __fr, &__fk);", abi::names::KERNEL),
                Some(split) => {
                    split.lines().for_each(|it| out.line(it));
                    format!("{}(&__fi, {device}, __fr, &__fk, &__fx);", abi::names::COEXECUTE)
                }
            };
            order.call(printer, &call, out);
        });
        out.line("}");
        if !is_one_block {
            out.line("}");
        }
    }

    /// Makes the kernel and its row; answers its name.
    fn add_kernel(
        &self,
        id: RegionId,
        at: &At,
        entries: &Entries,
        limit: Option<usize>,
        version: Option<Version>,
    ) -> String {
        let prefix = abi::names::KERNEL_PREFIX;
        let stem = match self.standalone {
            true => format!("{}_l{}", at.function, at.line),
            false => format!("{prefix}{:016x}_{}_l{}", self.unit, at.function, at.line),
        };
        let mut name = stem.clone();
        let mut number = 1;
        let is_taken = |name: &str| {
            self.state.borrow().rows.iter().any(|it| it.name == name)
                || self.standalone && !self.is_free_name(name)
        };
        while is_taken(&name) {
            number += 1;
            name = format!("{stem}_{number}");
        }
        let clauses = &self.program.regions[id].construct.clauses;
        let is_asked = |it: &Clause<_>| {
            matches!(it.kind, ClauseKind::If(_) | ClauseKind::SelfExec(_) | ClauseKind::Device(..))
        };
        // Without the runtime the host is asked only where clauses may choose it.
        let has_host = !self.standalone || clauses.iter().any(is_asked);
        // The row first: regions inside take the names that are left.
        {
            let mut state = self.state.borrow_mut();
            state.rows.push(Row {
                address: format!("&__ferry_region_{name}"),
                name: name.clone(),
                size: "0".to_owned(),
                flags: abi::entry::FERRY_REGION,
                data: 0,
            });
            state.declarations.push(match self.standalone {
                true => self.standalone_kernel(&name, has_host),
                false => format!(
                    "static void {name}(void *const *);\n\
                     static const struct __ferry_region __ferry_region_{name} = \
                     {{ 1, 0, {}, {name} }};\n",
                    stub::quoted(&name)
                ),
            });
            let region = self.written.regions.find(id).unwrap_or(&self.program.regions[id]);
            state.verdicts.push(Verdict {
                directive: directive::directive_name(&region.construct),
                span: region.span,
                function: at.function.clone(),
                kernel: name.clone(),
            });
        }
        let kernel = Kernel { region: id, entries: entries.clone(), limit, name: name.clone() };
        let text = match version {
            Some(version) => self.both_kernels(&kernel, version),
            None => self.kernel_text(&kernel, Setting::Appended),
        };
        let mut state = self.state.borrow_mut();
        if has_host {
            state.functions.push(text);
        }
        state.kernels.push(kernel);
        name
    }

    /// A kernel, and what stands before it.
    pub(super) fn kernel_text(&self, kernel: &Kernel, setting: Setting) -> String {
        let Kernel { region, entries, limit, name } = kernel;
        let Some(slot) = *limit else { return self.kernel(*region, entries, name, setting) };
        let inner = format!("{name}_limited");
        let text = self.kernel(*region, entries, &inner, setting);
        text + &self.limited(self.program.regions[*region].span, name, &inner, slot, setting)
    }

    /// A kernel that runs another with a limit on its threads: as a league of one team, which is
    /// where the host's compiler takes one. A function of its own, because a league may contain
    /// less than a region may.
    fn limited(
        &self,
        span: Span,
        name: &str,
        inner: &str,
        slot: usize,
        setting: Setting,
    ) -> String {
        let linkage = if setting == Setting::Alone { "" } else { "static " };
        let clause = |kind| Clause { kind, on: None, group: None, switch: None, span };
        let league = Construct {
            dialect: HOST_DIALECT,
            leaves: vec![Leaf::Teams],
            args: Args::None,
            clauses: vec![
                clause(ClauseKind::NumTeams { lower: None, counts: vec!["1".to_owned()] }),
                clause(ClauseKind::ThreadLimit(format!(
                    "(int)(__ferry_word)__ferry_slots[{slot}]"
                ))),
            ],
            groups: Vec::new(),
            rules: Rules::NONE,
            span,
        };
        match directive::write(&league, HOST_DIALECT) {
            Ok(pragma) => format!(
                "{linkage}void {name}(void *const *__ferry_slots)\n{{\n#pragma {pragma}\n  {inner}(__ferry_slots);\n}}\n"
            ),
            Err(why) => {
                self.refuse(span, &why);
                String::new()
            }
        }
    }

    /// The task that the call is part of, where it takes part in a reduction of tasks.
    fn task(&self, printer: &Printer<'_>, id: RegionId, entries: &Entries) -> Option<String> {
        let values: Vec<VarId> = entries
            .captured
            .iter()
            .filter(|it| it.access == Access::Value)
            .map(|it| it.var)
            .collect();
        let references: Vec<VarId> = entries
            .captured
            .iter()
            .filter(|it| it.access == Access::Reference)
            .map(|it| it.var)
            .collect();
        let names = |vars: &[VarId]| -> Vec<String> {
            let mut names: Vec<String> = vars.iter().map(|it| printer.var_name(*it)).collect();
            names.retain(|it| !it.starts_with('('));
            names
        };
        self.task_around(printer, id, names(&values), names(&references))
    }

    fn task_around(
        &self,
        printer: &Printer<'_>,
        id: RegionId,
        values: Vec<String>,
        references: Vec<String>,
    ) -> Option<String> {
        let region = &self.program.regions[id];
        let construct = printer.spelled(&region.construct);
        let mut nowait = None;
        let mut clauses: Vec<Clause<Spelled>> = Vec::new();
        if !construct.clauses.iter().any(|it| matches!(it.kind, ClauseKind::InReduction(_))) {
            return None;
        }
        for clause in construct.clauses {
            match &clause.kind {
                ClauseKind::Nowait(condition) => {
                    nowait = Some(condition.clone().unwrap_or_else(|| "1".to_owned()));
                }
                ClauseKind::Depend(_) | ClauseKind::InReduction(_) | ClauseKind::Priority(_) => {
                    clauses.push(Clause { on: None, ..clause });
                }
                _ => {}
            }
        }
        let reduced: Vec<String> = clauses
            .iter()
            .filter_map(|it| match &it.kind {
                ClauseKind::InReduction(it) => Some(it.items.clone()),
                _ => None,
            })
            .flatten()
            .collect();
        let mut add = |kind: ClauseKind<Spelled>| {
            clauses.push(Clause {
                kind,
                on: None,
                group: None,
                switch: None,
                span: construct.span,
            });
        };
        let deferred = nowait.unwrap_or_else(|| "0".to_owned());
        if deferred != "1" {
            add(ClauseKind::If(deferred));
        }
        let fresh = |list: Vec<String>| -> Vec<String> {
            list.into_iter().filter(|it| !reduced.contains(it)).collect()
        };
        let (values, references) = (fresh(values), fresh(references));
        if !values.is_empty() {
            add(ClauseKind::FirstPrivate { saved: false, items: values });
        }
        if !references.is_empty() {
            add(ClauseKind::Shared(references));
        }
        let mut task = lone(Leaf::Task, clauses, construct.span);
        let around = self.for_host(printer, id, &mut task);
        around.with(self.pragma(&task))
    }
}

/// The limit on threads of a construct that has no league to take it.
pub(super) fn thread_limit(region: &Region) -> Option<ExprId> {
    if region.construct.has(Leaf::Teams) {
        return None;
    }
    region.construct.clauses.iter().find_map(|it| match &it.kind {
        ClauseKind::ThreadLimit(limit) => Some(*limit),
        _ => None,
    })
}
