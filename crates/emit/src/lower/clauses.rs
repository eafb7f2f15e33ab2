//! Clauses that the host's compiler does not know, as what it does know.
//!
//! In: a construct whose parts it knows. Out: the same with clauses that it knows, and what must be
//! said before, behind and inside instead ([`Around`]). A clause that only permits something may go;
//! one that has no other form stays, and is then refused by name.

use directive::HOST_DIALECT;
use ir::construct::{
    Clause, ClauseKind, Construct, DefaultSharing, DependKind, DoacrossKind, ErrorTime, Leaf,
    LinearKind, OriginalSharing, Spelled,
};
use ir::program::{ExprId, ExprKind, RegionId, Typed, VarId};

use super::copies::{Own, Start};
use super::kernel::regions_in;
use super::storage::Storage;
use super::unknown::lone;
use super::{Lowering, known, loops};
use crate::c::{Out, Printer};

/// What is said around a pragma.
#[derive(Debug, Default)]
pub(super) struct Around {
    before: Vec<String>,
    after: Vec<String>,
    /// Variables that the body has for itself.
    own: Vec<Own>,
}

impl Around {
    /// Whether nothing belongs around the construct.
    pub(super) fn is_nothing(&self) -> bool {
        self.before.is_empty() && self.after.is_empty() && self.own.is_empty()
    }

    /// The pragma of a block behind what is said before it.
    pub(super) fn with(mut self, pragma: Option<String>) -> Option<String> {
        self.before.push(pragma?);
        Some(self.before.join("\n"))
    }

    /// The pragma, the region's body, and what belongs around them.
    pub(super) fn put(
        &self,
        lowering: &Lowering<'_>,
        printer: &Printer<'_>,
        id: RegionId,
        pragma: Option<String>,
        out: &mut Out<'_>,
    ) {
        let region = &lowering.program.regions[id];
        let is_plain = self.before.is_empty() && self.after.is_empty();
        let lines = |list: &[String], out: &mut Out<'_>| {
            for line in list {
                if line.starts_with('#') { out.raw(line) } else { out.line(line) }
            }
        };
        let put = |out: &mut Out<'_>| {
            lines(&self.before, out);
            out.at(region.span);
            if let Some(pragma) = &pragma {
                out.raw(pragma);
            }
            let Some(body) = region.body else { return };
            if self.own.is_empty() {
                return printer.stmt(body, out);
            }
            out.line("{");
            out.indented(|out| {
                let mut inside = printer.clone();
                for own in &self.own {
                    lowering.own_copy(printer, &mut inside, own, out);
                }
                inside.stmt(body, out);
            });
            out.line("}");
        };
        if is_plain {
            return put(out);
        }
        out.beside(region.span);
        out.line("{");
        out.indented(|out| {
            put(out);
            out.beside(region.span);
            lines(&self.after, out);
        });
        out.line("}");
    }
}

impl Lowering<'_> {
    /// Gives a construct the clauses that the host's compiler knows.
    pub(super) fn for_host(
        &self,
        printer: &Printer<'_>,
        id: RegionId,
        construct: &mut Construct<Spelled>,
    ) -> Around {
        let mut around = Around::default();
        self.switches(printer, id, construct);
        self.threads(construct, &mut around);
        self.everything(construct, &mut around);
        self.own(printer, id, construct, &mut around);
        self.waiting(construct, &mut around);
        if self.counts_points(id) {
            let one = self.program.regions[id].loops.len().max(1).to_string();
            for clause in &mut construct.clauses {
                if let ClauseKind::Ordered(count @ None) = &mut clause.kind {
                    *count = Some(one.clone());
                }
            }
        }
        let previous = self.previous_iteration(printer, id);
        construct.clauses.retain_mut(|it| keep(it, previous.as_deref()));
        around
    }

    /// Clauses with a constant that switches them off are gone, the others plain.
    fn switches(&self, printer: &Printer<'_>, id: RegionId, construct: &mut Construct<Spelled>) {
        let typed = &self.program.regions[id].construct.clauses;
        let is = |text: &String, wanted: bool| {
            typed.iter().any(|it| {
                let condition = it.switch.or(match &it.kind {
                    ClauseKind::Untied(e)
                    | ClauseKind::Mergeable(e)
                    | ClauseKind::Nogroup(e)
                    | ClauseKind::Nowait(e) => *e,
                    _ => None,
                });
                condition.is_some_and(|e| {
                    let value = loops::constant(self.program, e);
                    value.is_some_and(|it| (it != 0) == wanted) && printer.expr(e) == *text
                })
            })
        };
        construct.clauses.retain_mut(|clause| {
            if let Some(switch) = clause.switch.take() {
                if is(&switch, false) {
                    return false;
                }
                if !is(&switch, true) {
                    clause.switch = Some(switch);
                }
            }
            match &mut clause.kind {
                // These two only permit.
                ClauseKind::Untied(condition) | ClauseKind::Mergeable(condition) => {
                    match condition.take() {
                        Some(it) => is(&it, true),
                        None => true,
                    }
                }
                ClauseKind::Nogroup(condition) | ClauseKind::Nowait(condition) => {
                    if condition.as_ref().is_some_and(|it| is(it, true)) {
                        *condition = None;
                    }
                    !condition.as_ref().is_some_and(|it| is(it, false))
                }
                _ => true,
            }
        });
    }

    /// As many threads as asked for, or the message.
    fn threads(&self, construct: &mut Construct<Spelled>, around: &mut Around) {
        let is_error = construct.has(Leaf::Error);
        let mut words = Vec::new();
        if !is_error {
            let is_word = |it: &Clause<Spelled>| {
                matches!(it.kind, ClauseKind::Message(_) | ClauseKind::Severity(_))
            };
            (words, construct.clauses) =
                std::mem::take(&mut construct.clauses).into_iter().partition(is_word);
        }
        let strict = construct.clauses.iter_mut().find_map(|it| match &mut it.kind {
            ClauseKind::NumThreads { strict, counts } => {
                match (strict.take(), counts.as_mut_slice()) {
                    (Some(_), [count]) => Some((it.span, count)),
                    _ => None,
                }
            }
            _ => None,
        });
        let Some((span, count)) = strict else { return };
        let wanted = format!("__ferry_threads{}", self.fresh());
        let asked = std::mem::replace(count, wanted.clone());
        let clause = |kind| Clause { kind, on: None, group: None, switch: None, span };
        let mut clauses = vec![clause(ClauseKind::At(ErrorTime::Execution))];
        clauses.append(&mut words);
        if !clauses.iter().any(|it| matches!(it.kind, ClauseKind::Message(_))) {
            let text = "\"fewer threads than num_threads(strict) asks for\"".to_owned();
            clauses.push(clause(ClauseKind::Message(text)));
        }
        around.before.push(format!("const int {wanted} = {asked};"));
        around.before.push(directive::fewer_threads(&wanted));
        around.before.push("{".to_owned());
        around.before.extend(self.pragma(&lone(Leaf::Error, clauses, span)));
        around.before.push("}".to_owned());
    }

    /// After everything before and before everything behind: it runs at once, when all is done.
    fn everything(&self, construct: &mut Construct<Spelled>, around: &mut Around) {
        let is_all = |it: &Clause<Spelled>| match &it.kind {
            ClauseKind::Depend(it) => it.all_memory,
            _ => false,
        };
        let Some(clause) = construct.clauses.iter().find(|it| is_all(it)) else { return };
        if !construct.has(Leaf::Task) && !construct.has(Leaf::Taskwait) {
            return;
        }
        let span = clause.span;
        construct.clauses.retain(|it| !matches!(it.kind, ClauseKind::Depend(_)));
        around.before.extend(self.pragma(&lone(Leaf::Taskwait, Vec::new(), span)));
        if construct.has(Leaf::Task) {
            construct.clauses.retain(|it| !matches!(it.kind, ClauseKind::If(_)));
            let kind = ClauseKind::If("0".to_owned());
            construct.clauses.push(Clause { kind, on: None, group: None, switch: None, span });
        }
    }

    /// Variables that a `scope` has for itself: those with a value, and those with storage of their
    /// own.
    fn own(
        &self,
        printer: &Printer<'_>,
        id: RegionId,
        construct: &mut Construct<Spelled>,
        around: &mut Around,
    ) {
        if construct.leaves != [Leaf::Scope] {
            return;
        }
        let typed = &self.program.regions[id].construct;
        let var_of = |item: ExprId| match self.program.exprs[item].kind {
            ExprKind::Var(var) => Some(var),
            _ => None,
        };
        let storage_of = |var: VarId| {
            typed.kinds().find_map(|it| match it {
                ClauseKind::Allocate(it) if it.items.iter().any(|it| var_of(*it) == Some(var)) => {
                    Some(Storage {
                        allocator: it.allocator.map(|it| printer.expr(it)),
                        align: it.align.map(|it| printer.expr(it)),
                    })
                }
                _ => None,
            })
        };
        for kind in typed.kinds() {
            let (items, start) = match kind {
                ClauseKind::FirstPrivate { items, .. } => (items, Start::Copied),
                ClauseKind::Private(items) => (items, Start::Blank),
                _ => continue,
            };
            for var in items.iter().filter_map(|it| var_of(*it)) {
                around.own.push(Own { var, start, storage: storage_of(var) });
            }
        }
        // A reduction variable has the storage that the host's compiler gives it.
        let names: Vec<String> = around.own.iter().map(|it| printer.var_name(it.var)).collect();
        construct.clauses.retain_mut(|it| match &mut it.kind {
            ClauseKind::FirstPrivate { .. } | ClauseKind::Private(_) => false,
            ClauseKind::Allocate(it) => {
                it.items.retain(|it| !names.contains(it));
                !it.items.is_empty()
            }
            _ => true,
        });
    }

    /// `nowait` under a condition: a barrier behind it if the condition is false.
    fn waiting(&self, construct: &mut Construct<Spelled>, around: &mut Around) {
        let span = construct.span;
        for clause in &mut construct.clauses {
            let ClauseKind::Nowait(condition) = &mut clause.kind else { continue };
            let Some(text) = condition.take() else { continue };
            let name = format!("__ferry_nowait{}", self.fresh());
            around.before.push(format!("const int {name} = !!({text});"));
            around.after.push(format!("if (!{name})"));
            around.after.push("{".to_owned());
            around.after.extend(self.pragma(&lone(Leaf::Barrier, Vec::new(), span)));
            around.after.push("}".to_owned());
        }
    }

    /// Whether iterations of the region's loops wait for each other at points, though it does not
    /// say how many loops take part.
    pub(super) fn counts_points(&self, id: RegionId) -> bool {
        let region = &self.program.regions[id];
        let (Some(body), true) = (
            region.body,
            region.construct.kinds().any(|it| matches!(it, ClauseKind::Ordered(None))),
        ) else {
            return false;
        };
        let names_iteration = |id: RegionId| {
            let mut kinds = self.program.regions[id].construct.kinds();
            kinds.any(|it| matches!(it, ClauseKind::Doacross(_)))
        };
        regions_in(self.program, body).into_iter().any(names_iteration)
    }

    /// The iteration before this one, for a point in a single ordered loop.
    fn previous_iteration(&self, printer: &Printer<'_>, id: RegionId) -> Option<String> {
        let mut at = self.program.regions[id].parent;
        while let Some(outer) = at {
            let region = &self.program.regions[outer];
            if region.construct.kinds().any(|it| matches!(it, ClauseKind::Ordered(_))) {
                let [one] = region.loops.as_slice() else { return None };
                let step = one.step.map_or_else(|| "1".to_owned(), |it| printer.primary(it));
                let sign = if one.descending { '+' } else { '-' };
                return Some(format!("{} {sign} {step}", printer.var_name(one.var)));
            }
            at = region.parent;
        }
        None
    }
}

/// A declaration whose clauses have a form that the host's compiler does not know, in one that it does.
pub(super) fn older(construct: &Construct<Typed>) -> Option<Construct<Typed>> {
    let mut older = construct.clone();
    for clause in &mut older.clauses {
        if let ClauseKind::Linear(it) = &mut clause.kind
            && it.kind.is_none_or(|it| it == LinearKind::Val)
        {
            (it.kind, it.has_step_word) = (None, false);
        }
    }
    let is_known = older.has(Leaf::DeclareSimd) && !known::by_host(construct);
    (is_known && known::by_host(&older)).then_some(older)
}

/// Changes one clause to what the host's compiler knows; answers whether it stays.
fn keep(clause: &mut Clause<Spelled>, previous: Option<&str>) -> bool {
    let is_sharing = matches!(
        clause.kind,
        ClauseKind::FirstPrivate { .. } | ClauseKind::Private(_) | ClauseKind::Shared(_)
    );
    if is_sharing {
        // The parts inside get a copy of the copy.
        clause.on = None;
    }
    match &mut clause.kind {
        // Hints and permissions: threads of the host all make progress, every thread of a team may
        // run its tasks, and every access is seen by all.
        ClauseKind::Threadset(_) | ClauseKind::Replayable(_) | ClauseKind::MemScope(_) => {
            return false;
        }
        ClauseKind::Require(ir::construct::Requirement::Safesync, _) => return false,
        ClauseKind::FirstPrivate { saved, .. } => *saved = false,
        // Stricter than asked for: the members of a set run one after the other.
        ClauseKind::Depend(it) if it.kind == DependKind::Inoutset => it.kind = DependKind::Inout,
        ClauseKind::DepobjUpdate(kind @ DependKind::Inoutset) => *kind = DependKind::Inout,
        ClauseKind::Destroy(object) => *object = None,
        ClauseKind::Doacross(it) => {
            if let (DoacrossKind::SinkPrevious, Some(previous)) = (&it.kind, previous) {
                it.kind = DoacrossKind::Sink(vec![previous.to_owned()]);
            }
            if let DoacrossKind::Source { has_word } = &mut it.kind {
                *has_word = false;
            }
            it.old_form = !matches!(it.kind, DoacrossKind::SinkPrevious);
        }
        ClauseKind::Linear(it) if it.kind.is_none_or(|it| it == LinearKind::Val) => {
            it.kind = None;
            it.has_step_word = false;
        }
        ClauseKind::Reduction(it) | ClauseKind::InReduction(it) | ClauseKind::TaskReduction(it)
            if it.original != Some(OriginalSharing::Private) =>
        {
            it.original = None;
        }
        _ => {}
    }
    true
}

/// Names variables that were computed before the pragma, where it would not see their values.
pub(super) fn share(construct: &mut Construct<Spelled>, names: &[String]) {
    let is_needed =
        construct.kinds().any(|it| matches!(it, ClauseKind::Default(DefaultSharing::Private, _)));
    construct
        .clauses
        .retain(|it| !matches!(it.kind, ClauseKind::Induction(_) | ClauseKind::Linear(_)));
    if is_needed && !names.is_empty() {
        debug_assert_eq!(construct.dialect, HOST_DIALECT, "others are not printed");
        let kind = ClauseKind::FirstPrivate { saved: false, items: names.to_vec() };
        let span = construct.span;
        construct.clauses.push(Clause { kind, on: None, group: None, switch: None, span });
    }
}
