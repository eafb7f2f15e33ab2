//! When the calls of a construct are made: at once, in a queue, or as a task; and what is waited for first.
//!
//! In: a construct's clauses. Out: the text around its calls, which stay as they are: the runtime keeps
//! them until their turn.

use abi::queue::{DependenceKind, SYNC};
use ir::construct::{Args, Clause, ClauseKind, Depend, DependKind, IteratorVar, Leaf, WaitArgs};
use ir::program::{ExprId, RegionId, Typed};

use super::unknown::lone;
use super::{Lowering, place, stub};
use crate::c::{Out, Printer};

/// When the calls of a construct are made.
#[derive(Default)]
pub(super) struct Order<'a> {
    /// Queues that are waited for.
    waits: Vec<Option<&'a WaitArgs<Typed>>>,
    /// The queue, as text.
    queue: Option<String>,
    task: Option<Task<'a>>,
    /// A directive of the host's compiler that waits; then the calls are made at once.
    pragma: Option<String>,
}

/// Calls that depend on others.
#[derive(Default)]
struct Task<'a> {
    /// Whether nobody waits, as text; none: the caller does.
    is_deferred: Option<String>,
    dependences: Vec<&'a Depend<Typed>>,
}

impl Lowering<'_> {
    /// What a construct says of it.
    pub(super) fn order(&self, printer: &Printer<'_>, id: RegionId) -> Order<'_> {
        let construct = &self.program.regions[id].construct;
        let mut order = Order::default();
        if self.standalone {
            order.pragma = self.wait_for_tasks(printer, id);
            return order;
        }
        if let Args::Wait(wait) = &construct.args {
            order.waits.push(Some(wait));
        }
        // A host task is made of these, see `task_around`.
        let is_part = construct.kinds().any(|it| matches!(it, ClauseKind::InReduction(_)));
        for clause in construct.clauses.iter().filter(|it| it.group.is_none()) {
            match &clause.kind {
                ClauseKind::Wait(wait) => order.waits.push(wait.as_ref()),
                ClauseKind::Async(queue) => {
                    order.queue = Some(match queue {
                        Some(queue) => printer.expr(*queue),
                        None => abi::queue::NOVAL.to_string(),
                    });
                }
                ClauseKind::Nowait(condition) if !is_part => {
                    let condition = condition.map_or("1".to_owned(), |it| printer.expr(it));
                    order.task.get_or_insert_default().is_deferred = Some(condition);
                }
                ClauseKind::Depend(it) if !is_part => {
                    order.task.get_or_insert_default().dependences.push(it);
                }
                _ => {}
            }
        }
        order
    }

    /// The directive that waits for the tasks that a construct depends on, if it does on any. What a program
    /// without the runtime does, it does at once: that is late enough for those before, and early enough
    /// for those behind.
    fn wait_for_tasks(&self, printer: &Printer<'_>, id: RegionId) -> Option<String> {
        let region = &self.program.regions[id];
        let construct = printer.spelled(&region.construct);
        let is_part =
            construct.clauses.iter().any(|it| matches!(it.kind, ClauseKind::InReduction(_)));
        let depends: Vec<_> = construct
            .clauses
            .into_iter()
            .filter(|it| matches!(it.kind, ClauseKind::Depend(_)) && !is_part)
            .map(|it| Clause { on: None, ..it })
            .collect();
        if depends.is_empty() {
            return None;
        }
        let mut wait = lone(Leaf::Taskwait, depends, region.span);
        self.for_host(printer, id, &mut wait);
        self.pragma(&wait)
    }

    /// A construct that does nothing but wait.
    pub(super) fn wait(&self, printer: &Printer<'_>, id: RegionId, out: &mut Out<'_>) {
        let region = &self.program.regions[id];
        let mut order = self.order(printer, id);
        if order.waits.is_empty() && !self.standalone {
            order.waits.push(None);
        }
        self.state.borrow_mut().is_framed = true;
        out.beside(region.span);
        let condition = region.construct.kinds().find_map(|it| match it {
            ClauseKind::If(condition) => Some(*condition),
            _ => None,
        });
        if let Some(condition) = condition {
            out.line(&format!("if ({})", printer.expr(condition)));
        }
        out.line("{");
        out.indented(|out| {
            self.said_before(region.construct.span, out);
            self.location(out, &self.at(id));
            order.open(printer, abi::DEVICE_DEFAULT.to_string(), out);
        });
        out.line("}");
    }
}

impl Order<'_> {
    /// The same for a region that ends where it began: nobody can defer that.
    pub(super) fn in_place(mut self) -> Self {
        if let Some(task) = &mut self.task {
            task.is_deferred = None;
        }
        self
    }

    fn is_plain(&self) -> bool {
        self.waits.is_empty() && self.queue.is_none()
    }

    /// Waits, behind the location and before the tables, whose values are then known. Answers the text
    /// of the device.
    pub(super) fn open(&self, printer: &Printer<'_>, device: String, out: &mut Out<'_>) -> String {
        if let Some(pragma) = &self.pragma {
            out.raw(pragma);
        }
        if let Some(task @ Task { is_deferred: None, .. }) = &self.task {
            task.begin(printer, out);
        }
        if self.is_plain() {
            return device;
        }
        out.line(&format!("const __ferry_i64 __fv = {device};"));
        if let Some(queue) = &self.queue {
            out.line(&format!("const __ferry_i64 __fq = {queue};"));
        }
        let (wait, any) = (abi::names::QUEUE_WAIT, abi::DEVICE_DEFAULT);
        let on = if self.queue.is_some() { "__fq".to_owned() } else { SYNC.to_string() };
        for it in &self.waits {
            let queues = it.map_or(&[][..], |it| &it.queues);
            let device = it.and_then(|it| it.device);
            let device = device.map_or_else(|| any.to_string(), |it| printer.expr(it));
            if queues.is_empty() {
                out.line(&format!("{wait}(&__fi, {device}, 0, 0, __fv, {on});"));
                continue;
            }
            let list: Vec<String> = queues.iter().map(|it| printer.expr(*it)).collect();
            let (count, list) = (list.len(), list.join(", "));
            out.line(&format!("{{ const __ferry_i64 __fw[{count}] = {{ {list} }};"));
            out.line(&format!("{wait}(&__fi, {device}, {count}, __fw, __fv, {on}); }}"));
        }
        "__fv".to_owned()
    }

    /// A call, when it is to be made.
    pub(super) fn call(&self, printer: &Printer<'_>, call: &str, out: &mut Out<'_>) {
        match (&self.queue, &self.task) {
            (Some(_), _) => {
                out.line(&format!("{}(&__fi, __fv, __fq);", abi::names::QUEUE_BEGIN));
                out.line(call);
                out.line(&format!("{}();", abi::names::QUEUE_END));
            }
            (None, Some(task @ Task { is_deferred: Some(_), .. })) => {
                task.begin(printer, out);
                out.line(call);
                out.line(&format!("{}();", abi::names::TASK_END));
            }
            (None, _) => out.line(call),
        }
    }
}

impl Task<'_> {
    fn begin(&self, printer: &Printer<'_>, out: &mut Out<'_>) {
        let is_deferred = self.is_deferred.as_deref().unwrap_or("0");
        let begin = abi::names::TASK_BEGIN;
        if self.dependences.is_empty() {
            out.line(&format!("{begin}(&__fi, {is_deferred}, 0, 0);"));
            return;
        }
        let single: Vec<String> = self
            .dependences
            .iter()
            .filter(|it| it.iterators.is_empty())
            .flat_map(|it| rows(printer, it))
            .collect();
        let repeated: Vec<&&Depend<Typed>> =
            self.dependences.iter().filter(|it| !it.iterators.is_empty()).collect();
        if repeated.is_empty() {
            let (count, rows) = (single.len(), single.join(", "));
            out.line(&format!("const struct __ferry_dependence __fd[{count}] = {{ {rows} }};"));
            out.line(&format!("{begin}(&__fi, {is_deferred}, {count}, __fd);"));
            return;
        }
        let mut total = vec![single.len().to_string()];
        for it in &repeated {
            let trips: Vec<String> =
                it.iterators.iter().map(|it| stub::trips(printer, it)).collect();
            total.push(format!("{} * {}", it.items.len(), trips.join(" * ")));
        }
        out.line(&format!("const __ferry_i64 __fdc = {};", total.join(" + ")));
        let table = "__attribute__((cleanup(__ferry_drop_table))) struct __ferry_dependence *__fd";
        out.line(&format!("{table} = __ferry_table(__fdc, sizeof *__fd);"));
        out.line("int __fdj = __fd ? 0 : -1;");
        out.line("if (__fd) {");
        let put = |rows: &[String], out: &mut Out<'_>| {
            out.line("{");
            for row in rows {
                out.line(&format!("__fd[__fdj++] = (struct __ferry_dependence){row};"));
            }
            out.line("}");
        };
        put(&single, out);
        for it in repeated {
            loops(printer, &it.iterators, out);
            put(&rows(printer, it), out);
        }
        out.line("}");
        out.line(&format!("{begin}(&__fi, {is_deferred}, __fdj, __fd);"));
    }
}

fn loops(printer: &Printer<'_>, iterators: &[IteratorVar<Typed>], out: &mut Out<'_>) {
    iterators.iter().for_each(|it| stub::iterator_loop(out, printer, it));
}

/// One initialiser for each item.
fn rows(printer: &Printer<'_>, depend: &Depend<Typed>) -> Vec<String> {
    let kind = match depend.kind {
        DependKind::In => DependenceKind::In,
        DependKind::Out => DependenceKind::Out,
        DependKind::Inout => DependenceKind::Inout,
        DependKind::Mutexinoutset => DependenceKind::Mutexinoutset,
        DependKind::Inoutset => DependenceKind::Inoutset,
        DependKind::Depobj => DependenceKind::Object,
    } as i64;
    if depend.all_memory {
        return vec![format!("{{ 0, {kind} }}")];
    }
    let row = |it: &ExprId| format!("{{ &{}, {kind} }}", place::of(printer, *it).first);
    depend.items.iter().map(row).collect()
}
