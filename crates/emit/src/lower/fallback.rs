//! Regions as the host runs them when they stay there, where that is another text: a directive or function
//! was chosen for devices, or a function stands for another on devices.
//!
//! In: the program with the host's choices, and the kernel of a region. Out: a second kernel that takes the
//! same arguments, and one that asks where it is and calls one of the two. Texts that run on one side only need
//! not ask: [`answered`].

use abi::MapType;
use ir::construct::Leaf;
use ir::program::{ExprId, ExprKind, Program, RegionId, StmtKind};
use rustc_hash::FxHashSet;
use source::Span;

use super::device::Kernel;
use super::entries::{self, Captured, Entries};
use super::mapper::Mappers;
use super::{Kind, Lowering, kind, storage};
use crate::c::Setting;

/// The program as the host runs it.
pub(super) struct Stays<'p> {
    pub(super) program: &'p Program,
    pub(super) written: &'p Program,
    pub(super) changed: &'p FxHashSet<RegionId>,
    /// The directives of regions that differ.
    pub(super) regions: Vec<Span>,
}

/// A region as the host runs it, with the arguments of its kernel.
pub(super) struct Version {
    region: RegionId,
    entries: Entries,
}

impl<'p> Lowering<'p> {
    /// The host's own version of a region; adds arguments that only that one needs.
    pub(super) fn host_version(&self, id: RegionId, entries: &mut Entries) -> Option<Version> {
        let stays = self.stays?;
        let span = self.program.regions[id].construct.span;
        if !stays.regions.contains(&span) {
            return None;
        }
        let is_it = |it: &ir::region::Region| {
            it.construct.span == span && kind(&it.construct) == Kind::Offload
        };
        let (region, _) = stays.program.regions.iter().find(|it| is_it(it.1))?;
        let host = self.for_host_alone(stays);
        let own = entries::of_kernel(&host.printer(Setting::InPlace), &host.mappers, region);
        let mut made = Entries { slots: entries.slots, ..Entries::default() };
        for it in &own.captured {
            let known = entries.captured.iter().find(|that| {
                is_same(
                    &self.program.vars[that.var],
                    self.program,
                    &host.program.vars[it.var],
                    host.program,
                )
            });
            let (access, slot, slots) = match known {
                Some(known) => (known.access.clone(), known.slot, known.lengths.clone()),
                None => (it.access.clone(), self.added(entries, &own, it, span), Vec::new()),
            };
            let lengths = it.lengths.iter().zip(&slots).map(|(own, known)| (own.0, known.1));
            made.captured.push(Captured { var: it.var, access, slot, lengths: lengths.collect() });
        }
        let same = |own: &[(ExprId, usize)], known: &[(ExprId, usize)]| -> Vec<(ExprId, usize)> {
            own.iter().zip(known).map(|(own, known)| (own.0, known.1)).collect()
        };
        made.computed = same(&own.computed, &entries.computed);
        made.lengths = same(&own.lengths, &entries.lengths);
        made.slots = entries.slots;
        Some(Version { region, entries: made })
    }

    /// One more argument, of a variable that only the host's version uses.
    fn added(
        &self,
        entries: &mut Entries,
        own: &Entries,
        it: &Captured,
        span: Span,
    ) -> Option<usize> {
        let slot = it.slot?;
        let arguments = own.list.iter().enumerate();
        let mut arguments = arguments.filter(|it| it.1.bits.has(MapType::TARGET_PARAM));
        let (at, entry) = arguments.nth(slot)?;
        let is_alone = entry.parent.is_none() && !own.list.iter().any(|it| it.parent == Some(at));
        if !is_alone || !it.lengths.is_empty() {
            let what =
                "a variable that is mapped in parts for the host's version of the region only";
            self.refuse_part(span, what);
            return None;
        }
        entries.list.push(entry.clone());
        entries.slots += 1;
        Some(entries.slots - 1)
    }

    fn refuse_part(&self, span: Span, what: &str) {
        let fault = source::Diagnostic::error("F0713", format!("{what} cannot be compiled"))
            .at(span, "the host chooses another directive or function in here")
            .help("name the variable in a `map` clause of this directive, as a whole");
        self.state.borrow_mut().faults.push(fault);
    }

    /// The same unit, of the program as the host runs it.
    fn for_host_alone(&self, stays: &'p Stays<'p>) -> Lowering<'p> {
        Lowering {
            program: stays.program,
            written: stays.written,
            parted: None,
            changed: stays.changed,
            locator: self.locator,
            place: self.place,
            unit: self.unit,
            mappers: Mappers::new(stays.program),
            shared: self.shared.clone(),
            moved: storage::moved(stays.program, false),
            apart: storage::apart(stays.program),
            is_device: false,
            standalone: self.standalone,
            rounds_each: self.rounds_each,
            text: self.text,
            grid: None,
            near: None,
            league: self.league,
            deeper: self.deeper,
            spmd: None,
            stays: None,
            state: std::cell::RefCell::default(),
        }
    }

    /// The texts of a kernel that has a version of the host's own.
    pub(super) fn both_kernels(&self, kernel: &Kernel, version: Version) -> String {
        let Some(stays) = self.stays else { return String::new() };
        let named = |end: &str| format!("{}{end}", kernel.name);
        let Version { region, entries } = version;
        // Without the runtime the text of the host is for the host alone.
        let name = if self.standalone { kernel.name.clone() } else { named("_stays") };
        let own = Kernel { region, entries, limit: kernel.limit, name };
        let host = self.for_host_alone(stays);
        host.state.swap(&self.state);
        let text = host.kernel_text(&own, Setting::Appended);
        host.state.swap(&self.state);
        if self.standalone {
            return text;
        }
        self.declare_questions();
        let away = Kernel { name: named("_leaves"), ..kernel.clone() };
        let away_text = self.kernel_text(&away, Setting::Appended);
        format!(
            "{text}{away_text}# 1 \"<ferry>\" 3\nstatic void {}(void *const *__ferry_slots)\n{{\n  \
             if ({}()) {}(__ferry_slots);\n  else {}(__ferry_slots);\n}}\n",
            kernel.name,
            directive::IS_ON_HOST,
            own.name,
            away.name
        )
    }
}

/// Whether both programs speak of the same variable.
fn is_same(
    one: &ir::program::Var,
    of_one: &Program,
    other: &ir::program::Var,
    of_other: &Program,
) -> bool {
    let name = |it: &ir::program::Var, of: &Program| it.name.map(|it| of.names.text(it).to_owned());
    one.span == other.span && name(one, of_one) == name(other, of_other)
}

/// The program for texts that run on one side only: what asks whether it is on the host has the answer. None if
/// nothing asks.
pub(super) fn answered(program: &Program, on_host: bool) -> Option<Program> {
    let is_question = |it: ExprId| is_question(program, it);
    let mut exprs = Vec::new();
    for (id, expr) in program.exprs.iter() {
        if let ExprKind::Conditional(test, Some(then), other) = expr.kind
            && is_question(test)
        {
            exprs.push((id, if on_host { then } else { other }));
        }
    }
    let mut stmts = Vec::new();
    for (id, stmt) in program.stmts.iter() {
        match stmt.kind {
            StmtKind::If(test, then, Some(other)) if is_question(test) => {
                stmts.push((id, if on_host { then } else { other }));
            }
            // The construct that chooses is gone with the choice.
            StmtKind::Region(region)
                if matches!(
                    program.regions[region].construct.leaves.first(),
                    Some(Leaf::Metadirective | Leaf::BeginMetadirective)
                ) =>
            {
                if let Some(body) = program.regions[region].body
                    && let StmtKind::If(test, then, Some(other)) = program.stmts[body].kind
                    && is_question(test)
                {
                    stmts.push((id, if on_host { then } else { other }));
                }
            }
            _ => {}
        }
    }
    if exprs.is_empty() && stmts.is_empty() {
        return None;
    }
    let mut made = program.clone();
    // What stands inside comes first: a question in the answer of another has been answered then.
    for (id, by) in exprs {
        made.exprs[id].kind = made.exprs[by].kind.clone();
    }
    for (id, by) in stmts {
        made.stmts[id].kind = made.stmts[by].kind.clone();
    }
    Some(made)
}

fn is_question(program: &Program, expr: ExprId) -> bool {
    match &program.exprs[expr].kind {
        ExprKind::Cast(_, inner) => is_question(program, *inner),
        ExprKind::Call(callee, args) => args.is_empty() && is_question_name(program, *callee),
        _ => false,
    }
}

fn is_question_name(program: &Program, callee: ExprId) -> bool {
    match &program.exprs[callee].kind {
        ExprKind::Cast(_, inner) => is_question_name(program, *inner),
        ExprKind::Function(id) => {
            program.names.text(program.functions[*id].name) == directive::IS_ON_HOST
        }
        _ => false,
    }
}
