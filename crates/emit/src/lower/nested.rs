//! Constructs that are left to the compiler of the generated text.
//!
//! In: a region and the parts of its construct that are still to be done (those that leave the host
//! are gone). Out: a pragma that this compiler knows, and the body. A clause that the remaining
//! parts do not take was for a part that is gone.

use directive::HOST_DIALECT;
use ir::construct::{
    Args, BindLevel, Clause, ClauseKind, Construct, DefaultSharing, Leaf, Spelled,
};
use ir::program::{ExprId, ExprKind, Program, RegionId, StmtId, StmtKind, Typed, VarId};
use ir::region::{Origin, Region, Sharing};
use ir::types::{ArrayLen, TypeKind};
use ir::walk::Part;
use source::{Diagnostic, Span};

use super::kernel::regions_in;
use super::{Lowering, clauses, in_order, known, stub};
use crate::c::{Out, Printer};

impl Lowering<'_> {
    /// What remains of a region's construct, and its body.
    pub(super) fn construct(
        &self,
        printer: &Printer<'_>,
        id: RegionId,
        leaves: &[Leaf],
        out: &mut Out<'_>,
    ) {
        if self.counted_teams(printer, id, leaves, out) {
            return;
        }
        let (mut inside, mut lines) = self.reduced(printer, id);
        // Of `(*__x) = (*__x) + 1` clang 19 does not see that it changes what was captured, and writes what it read before.
        if leaves == [Leaf::Atomic] {
            inside.name_elements();
        }
        if leaves.last() == Some(&Leaf::Teams) {
            lines.extend(self.other_names(&mut inside, id));
        }
        if !leaves.is_empty() {
            lines.extend(self.record_sums(&inside, id));
        }
        if !lines.is_empty() {
            out.line("{");
            for it in &lines {
                if it.starts_with('#') { out.raw(it) } else { out.line(it) }
            }
        }
        match self.group_vars(id) {
            vars if vars.is_empty() => self.parts(&inside, id, leaves, out),
            vars => self.grouped(&inside, id, leaves, &vars, out),
        }
        if !lines.is_empty() {
            out.line("}");
        }
    }

    /// Whether code of teams calls routines of the runtime where the host's compiler would not let it.
    pub(super) fn asks_in_teams(&self, id: RegionId) -> bool {
        let region = &self.program.regions[id];
        region.construct.leaves.last() == Some(&Leaf::Teams)
            && !self.calls_of_teams(region).is_empty()
    }

    /// Such calls, with the names of the routines.
    fn calls_of_teams(&self, region: &Region) -> Vec<(ExprId, &str)> {
        let program = self.program;
        let mut found = Vec::new();
        let mut open: Vec<Part> = region.body.iter().map(|it| Part::Stmt(*it)).collect();
        while let Some(part) = open.pop() {
            if let Part::Expr(expr) = part
                && let ExprKind::Function(function) = program.exprs[expr].kind
            {
                let name = program.names.text(program.functions[function].name);
                if directive::is_refused_in_teams(name) {
                    found.push((expr, name));
                }
            }
            program.parts(part, &mut |it| {
                if self.is_code_of_team(it) {
                    open.push(it);
                }
            });
        }
        found
    }

    /// Such routines get other names there. Answers their declarations.
    fn other_names(&self, printer: &mut Printer<'_>, id: RegionId) -> Vec<String> {
        let mut lines = Vec::new();
        for (expr, name) in self.calls_of_teams(&self.program.regions[id]) {
            let other = format!("__ferry_call_{name}");
            let line =
                format!("extern __typeof__({name}) {other} __asm__({});", stub::quoted(name));
            if !lines.contains(&line) {
                lines.push(line);
            }
            printer.substitute_expr(expr, other);
        }
        lines
    }

    /// Whether a loop belongs to threads that nobody has started since the loop around it: the one that is there runs it.
    pub(super) fn binds_nobody(&self, id: RegionId) -> bool {
        let program = self.program;
        let region = &program.regions[id];
        let is_threads = |it: &ClauseKind<_>| matches!(it, ClauseKind::Bind(BindLevel::Parallel));
        let starts = |it: &RegionId| {
            let construct = &program.regions[*it].construct;
            [Leaf::Parallel, Leaf::Loop, Leaf::Teams].into_iter().any(|it| construct.has(it))
        };
        let around = program.around(id).skip(1).find(starts).map(|it| &program.regions[it]);
        region.construct.leaves == [Leaf::Loop]
            && region.construct.kinds().any(is_threads)
            && around.is_some_and(|it| it.construct.leaves.last() == Some(&Leaf::Loop))
    }

    /// Some parts of a region's construct as the host's compiler takes them.
    pub(super) fn fitted(
        &self,
        printer: &Printer<'_>,
        id: RegionId,
        leaves: &[Leaf],
    ) -> Construct<Spelled> {
        let mut construct = self.program.regions[id].construct.clone();
        let is_reduced = construct.leaves != leaves;
        construct.leaves = leaves.to_vec();
        let mut spelled = printer.spelled(&construct);
        name_sections(self.program, printer, &construct, &mut spelled);
        self.name_record_sums(id, &mut spelled);
        fit(&mut spelled, is_reduced, self.near.is_some());
        if construct.has(Leaf::Flush) {
            // Variables may have no name here; all memory is more than they are.
            spelled.args = Args::None;
        }
        if self.is_device {
            name_allocators(&mut spelled);
        }
        if self.binds_nobody(id) {
            for clause in &mut spelled.clauses {
                if let ClauseKind::Bind(level) = &mut clause.kind {
                    *level = BindLevel::Thread;
                }
            }
        }
        spelled
    }

    /// The same where teams have no variables for themselves.
    pub(super) fn parts(
        &self,
        printer: &Printer<'_>,
        id: RegionId,
        leaves: &[Leaf],
        out: &mut Out<'_>,
    ) {
        if leaves.first() == Some(&Leaf::Parallel) && !self.part_items(id).is_empty() {
            return self.threads_with_parts(printer, id, leaves, out);
        }
        let near = self.near_begin(printer, id, leaves, out);
        self.plain_parts(printer, id, leaves, out);
        if let Some(opened) = near {
            self.near_end(&opened, out);
        }
    }

    fn plain_parts(&self, printer: &Printer<'_>, id: RegionId, leaves: &[Leaf], out: &mut Out<'_>) {
        let region = &self.program.regions[id];
        if !leaves.is_empty() {
            let mut spelled = self.fitted(printer, id, leaves);
            if self.is_one_level(id, leaves) {
                one_level(&mut spelled);
            }
            if region.loops.iter().any(|it| !it.rectangular) && !gives_last_value(region) {
                outer_only(printer, region, &mut spelled);
            }
            let around = self.for_host(printer, id, &mut spelled);
            if self.dealt(printer, id, out, |made| {
                clauses::share(&mut spelled, made);
                self.pragma(&spelled)
            }) {
                return;
            }
            return around.put(self, printer, id, self.pragma(&spelled), out);
        }
        if let Some(body) = region.body {
            printer.stmt(body, out);
        }
    }

    /// Whether threads may take the place of teams: nobody can tell, and none has asked for one team.
    pub(super) fn is_one_level(&self, id: RegionId, leaves: &[Leaf]) -> bool {
        leaves.starts_with(&[Leaf::Teams])
            && !(self.is_in_words_of_host(id) && in_order::asks_one(self.program, id))
            && !self.tells_teams(id)
    }

    /// Whether the user has written a construct as the host's compiler reads it.
    pub(super) fn is_in_words_of_host(&self, id: RegionId) -> bool {
        let written = self.written.regions.find(id);
        written.is_some_and(|it| it.construct.dialect == HOST_DIALECT)
    }

    /// The line of a directive that is left to the host's compiler.
    pub(super) fn pragma(&self, construct: &Construct<Spelled>) -> Option<String> {
        let unknown = construct.clauses.iter().find(|it| !known::clause(construct, it));
        if let Some(clause) = unknown {
            self.refuse_clause(construct, clause);
            return None;
        }
        match directive::write(construct, HOST_DIALECT) {
            Ok(text) => Some(format!("#pragma {text}")),
            Err(why) => {
                self.refuse(construct.span, &why);
                None
            }
        }
    }
}

impl Lowering<'_> {
    /// Says of a clause, in the words it was written in, that nobody can carry it out.
    fn refuse_clause(&self, construct: &Construct<Spelled>, clause: &Clause<Spelled>) {
        let is_it = |it: &&Region| it.construct.span == construct.span;
        let written = self.written.regions.iter().map(|it| it.1).find(is_it);
        let dialect = written.map_or(construct.dialect, |it| it.construct.dialect);
        let name = match &clause.kind {
            ClauseKind::Extension(name, _) => name.as_str(),
            kind => directive::clause_name(kind, dialect).unwrap_or("clause"),
        };
        let part = match written {
            Some(it) => directive::directive_name(&it.construct),
            None => directive::directive_name(construct),
        };
        self.not_compiled(name, &part, clause.span);
    }

    fn not_compiled(&self, clause: &str, directive: &str, span: Span) {
        let message = format!("`{clause}` of `{directive}` cannot be compiled yet");
        let fault = Diagnostic::error("F0035", message)
            .at(span, "this clause is not known to the host's compiler");
        let mut state = self.state.borrow_mut();
        if !state.faults.iter().any(|it| *it == fault) {
            state.faults.push(fault);
        }
    }

    /// Refuses objects without names in reductions that a file declares, where what they begin with is not the same each time:
    /// the host's compiler takes them for objects of the file, and crashes.
    pub(super) fn refuse_literals(&self) {
        let program = self.written;
        let is_declared = |it: &&ir::program::Declaration| {
            it.construct.has(Leaf::DeclareReduction) && it.within.is_none()
        };
        for declaration in program.declarations.iter().filter(is_declared) {
            let whole = declaration.construct.span;
            let is_inside = |span: Span| span.start >= whole.start && span.end <= whole.end;
            for (_, expr) in program.exprs.iter().filter(|it| is_inside(it.1.span)) {
                let ExprKind::CompoundLiteral(var) = expr.kind else { continue };
                let mut open: Vec<Part> =
                    program.vars[var].init.iter().map(|it| Part::Init(*it)).collect();
                let mut varies = false;
                while let Some(part) = open.pop() {
                    if let Part::Expr(it) = part {
                        varies |= matches!(program.exprs[it].kind, ExprKind::Var(_));
                    }
                    program.parts(part, &mut |it| open.push(it));
                }
                if varies {
                    let why = directive::Unwritable {
                        what: "compound literal".to_owned(),
                        why: "in a reduction that a file declares it crashes; call a function that makes the value"
                            .to_owned(),
                    };
                    self.refuse(expr.span, &why);
                }
            }
        }
    }

    /// Refuses what no standard has, on directives that the host's compiler never sees.
    pub(super) fn refuse_extensions(&self) {
        let regions = self.written.regions.iter().map(|it| &it.1.construct);
        let declared = self.written.declarations.iter().map(|it| &it.construct);
        // Advice for other hardware is told as such.
        let is_advice = |it: &Construct<Typed>| {
            let advice = [Leaf::Transform, Leaf::Resources, Leaf::Memories, Leaf::Define];
            advice.into_iter().any(|leaf| it.has(leaf))
        };
        for construct in regions.chain(declared).filter(|it| !is_advice(it)) {
            for clause in &construct.clauses {
                if let ClauseKind::Extension(name, _) = &clause.kind {
                    let name = self.written.names.text(*name);
                    self.not_compiled(name, &directive::directive_name(construct), clause.span);
                }
            }
        }
    }

    /// Whether code in a region may ask which team or thread it is in, or make threads of its own.
    pub(super) fn tells_teams(&self, id: RegionId) -> bool {
        let region = &self.program.regions[id];
        let has_regions = region.body.is_some_and(|it| !regions_in(self.program, it).is_empty());
        has_regions
            || !region.indirect_calls.is_empty()
            || region.reaches.iter().any(|it| {
                let function = &self.program.functions[*it];
                let name = self.program.names.text(function.name);
                let is_asked = directive::RUNTIME_SYMBOLS.iter().any(|it| name.starts_with(it));
                is_asked || (function.body.is_none() && !self.is_of_system(function.span))
            })
    }

    /// Declared by a header of the system, which knows nothing of teams.
    pub(super) fn is_of_system(&self, span: Span) -> bool {
        self.locator.locate(span).is_none_or(|it| it.in_system_header)
    }
}

/// A league whose size nobody asks for and nobody sees: its iterations go to threads, which is all
/// the device has.
pub(super) fn one_level(construct: &mut Construct<Spelled>) {
    let teams = construct.clauses.iter().position(|it| is_one_team(&it.kind));
    let Some(teams) = teams else { return };
    if construct.clauses.iter().any(|it| matches!(it.kind, ClauseKind::ThreadLimit(_))) {
        return;
    }
    let leaves = match construct.leaves.as_slice() {
        [Leaf::Teams, Leaf::Distribute] | [Leaf::Teams, Leaf::Loop] => {
            vec![Leaf::Parallel, Leaf::For]
        }
        [Leaf::Teams, Leaf::Distribute, Leaf::Simd] => vec![Leaf::Parallel, Leaf::For, Leaf::Simd],
        _ => return,
    };
    construct.leaves = leaves;
    construct.clauses.remove(teams);
    construct.clauses.retain(|it| {
        !matches!(it.kind, ClauseKind::DistSchedule(_) | ClauseKind::Bind(_))
            && !matches!(it.on, Some(Leaf::Teams | Leaf::Distribute))
    });
}

/// Whether the last value of an inner loop's variable is asked for, which only the nest as a whole
/// can give.
fn gives_last_value(region: &Region) -> bool {
    region.loops.iter().skip(1).any(|inner| {
        region.vars.iter().any(|it| {
            it.var == inner.var
                && matches!(
                    it.sharing.as_ref().map(|it| &it.value),
                    Some(Sharing::LastPrivate | Sharing::FirstLastPrivate)
                )
                && it.sharing.as_ref().is_some_and(|it| matches!(it.origin, Origin::Clause(_)))
        })
    })
}

/// Loops that are made one although the bounds of an inner one depend on an outer one: gcc 12
/// miscomputes such nests (it crashes where both bounds depend), so the outer loop alone is dealt.
/// Every iteration still runs once, and the variables of the inner loops are still private.
pub(super) fn outer_only(
    printer: &Printer<'_>,
    region: &Region,
    construct: &mut Construct<Spelled>,
) {
    let has_order = |it: &Clause<Spelled>| matches!(it.kind, ClauseKind::Ordered(_));
    if construct.clauses.iter().any(has_order) {
        return;
    }
    let count = construct.clauses.len();
    construct.clauses.retain(|it| !matches!(it.kind, ClauseKind::Collapse { .. }));
    if construct.clauses.len() == count {
        return;
    }
    let program = printer.program();
    let is_listed = |var: VarId| {
        region.vars.iter().any(|it| {
            it.var == var
                && it.sharing.as_ref().is_some_and(|it| matches!(it.origin, Origin::Clause(_)))
        })
    };
    let declared = |stmt: StmtId| match &program.stmts[stmt].kind {
        StmtKind::For(it) => {
            it.init.iter().any(|it| matches!(program.stmts[*it].kind, StmtKind::Local(_)))
        }
        _ => false,
    };
    let items: Vec<String> = region
        .loops
        .iter()
        .skip(1)
        .filter(|it| !declared(it.stmt) && !is_listed(it.var))
        .map(|it| printer.var_name(it.var))
        .collect();
    if !items.is_empty() {
        let kind = ClauseKind::Private(items);
        let span = construct.span;
        construct.clauses.push(Clause { kind, on: None, group: None, switch: None, span });
    }
}

fn is_one_team(kind: &ClauseKind<Spelled>) -> bool {
    matches!(kind, ClauseKind::NumTeams { lower: None, counts } if counts.as_slice() == ["1"])
}

/// Without headers an allocator is a number, and the compiler wants its type.
fn name_allocators(construct: &mut Construct<Spelled>) {
    for clause in &mut construct.clauses {
        if let ClauseKind::Allocate(it) = &mut clause.kind
            && let Some(allocator) = &mut it.allocator
        {
            *allocator = format!("({})({allocator})", directive::ALLOCATOR_TYPE.0);
        }
    }
}

/// Makes the construct one that the host's compiler takes.
fn fit(construct: &mut Construct<Spelled>, is_reduced: bool, is_clang: bool) {
    if is_reduced {
        let alone = Construct { clauses: Vec::new(), ..construct.clone() };
        construct.clauses.retain(|it| {
            it.on != Some(Leaf::Offload)
                && it.group.is_none()
                && directive::write(
                    &Construct { clauses: vec![it.clone()], ..alone.clone() },
                    HOST_DIALECT,
                )
                .is_ok()
        });
    }
    for clause in &mut construct.clauses {
        list_names(&mut clause.kind);
        // Clang 19 knows only the most.
        if let (ClauseKind::NumTeams { lower, .. }, true) = (&mut clause.kind, is_clang) {
            *lower = None;
        }
    }
    construct.clauses.retain(|it| !is_empty_list(&it.kind));
    // Every variable was named, and some are reached through pointers now.
    construct.clauses.retain(|it| !matches!(it.kind, ClauseKind::Default(DefaultSharing::None, _)));
    teams(construct);
}

/// One team, unless the user asks for more: its threads are all the device has. Iterations dealt to
/// one team and then to its threads are dealt to the threads.
fn teams(construct: &mut Construct<Spelled>) {
    if !construct.has(Leaf::Teams) {
        return;
    }
    let condition = construct.clauses.iter().find_map(|it| match &it.kind {
        ClauseKind::If(condition) if it.on.is_none_or(|it| it == Leaf::Teams) => {
            Some(condition.clone())
        }
        _ => None,
    });
    let takes_condition =
        construct.leaves.iter().any(|it| matches!(it, Leaf::Parallel | Leaf::Simd));
    // The host's compiler does not know it there.
    construct.clauses.retain(|it| {
        !matches!(it.kind, ClauseKind::If(_)) || (takes_condition && it.on != Some(Leaf::Teams))
    });
    if let Some(condition) = condition {
        for clause in &mut construct.clauses {
            if let ClauseKind::NumTeams { counts, .. } = &mut clause.kind {
                counts.iter_mut().for_each(|it| *it = format!("({condition}) ? {it} : 1"));
            }
        }
    }
    let says =
        |test: fn(&ClauseKind<Spelled>) -> bool| construct.clauses.iter().any(|it| test(&it.kind));
    if says(|it| matches!(it, ClauseKind::NumTeams { .. })) {
        return;
    }
    let has_limit = says(|it| matches!(it, ClauseKind::ThreadLimit(_)));
    let is_whole = construct.has(Leaf::Distribute) && construct.has(Leaf::Parallel);
    if is_whole && !has_limit {
        construct.leaves.retain(|it| !matches!(it, Leaf::Teams | Leaf::Distribute));
        construct.clauses.retain(|it| {
            !matches!(it.kind, ClauseKind::DistSchedule(_))
                && !matches!(it.on, Some(Leaf::Teams | Leaf::Distribute))
        });
        return;
    }
    construct.clauses.push(Clause {
        kind: ClauseKind::NumTeams { lower: None, counts: vec!["1".to_owned()] },
        on: None,
        group: None,
        switch: None,
        span: construct.span,
    });
}

/// Lists name variables; what is reached through a pointer is shared anyway.
fn list_names(kind: &mut ClauseKind<Spelled>) {
    let is_name = |it: &String| !it.starts_with('(');
    match kind {
        ClauseKind::Shared(items)
        | ClauseKind::Aligned(items, _)
        | ClauseKind::Nontemporal(items) => {
            items.retain(is_name);
        }
        _ => {}
    }
}

fn is_empty_list(kind: &ClauseKind<Spelled>) -> bool {
    match kind {
        ClauseKind::Shared(items)
        | ClauseKind::Aligned(items, _)
        | ClauseKind::Nontemporal(items) => items.is_empty(),
        _ => false,
    }
}

/// An array that has become a pointer is named by its section.
fn name_sections(
    program: &Program,
    printer: &Printer<'_>,
    typed: &Construct<ir::program::Typed>,
    spelled: &mut Construct<Spelled>,
) {
    for (typed, spelled) in typed.clauses.iter().zip(&mut spelled.clauses) {
        let (typed, spelled) = match (&typed.kind, &mut spelled.kind) {
            (ClauseKind::Reduction(typed), ClauseKind::Reduction(spelled))
            | (ClauseKind::InReduction(typed), ClauseKind::InReduction(spelled))
            | (ClauseKind::TaskReduction(typed), ClauseKind::TaskReduction(spelled)) => {
                (&typed.items, &mut spelled.items)
            }
            _ => continue,
        };
        for (item, text) in typed.iter().zip(spelled) {
            // What is reached through a pointer is an element of it.
            if let Some(pointer) = text.strip_prefix("(*__ferry_sum") {
                *text = format!("__ferry_sum{}[0:1]", pointer.trim_end_matches(')'));
                continue;
            }
            if let Some(section) = as_section(program, printer, *item) {
                *text = section;
            }
            text.push_str(&inner_dims(program, printer, *item));
        }
    }
}

/// The dimensions that a list item leaves out of the array of arrays that it is of: compilers want all of them.
fn inner_dims(program: &Program, printer: &Printer<'_>, item: ExprId) -> String {
    let Some(expr) = program.exprs.find(item) else { return String::new() };
    let base = match &expr.kind {
        ExprKind::Section(section) => program.exprs[section.base].ty,
        ExprKind::Var(var) if printer.is_decayed(*var) => expr.ty,
        _ => return String::new(),
    };
    let element = |ty| match program.types.shape(ty) {
        TypeKind::Array(element, _) | TypeKind::Pointer(element) => Some(*element),
        _ => None,
    };
    let mut text = String::new();
    let mut inner = element(base);
    while let Some(ty) = inner
        && let TypeKind::Array(next, ArrayLen::Known(count)) = program.types.shape(ty)
    {
        text.push_str(&format!("[0:{count}]"));
        inner = Some(*next);
    }
    text
}

fn as_section(program: &Program, printer: &Printer<'_>, item: ExprId) -> Option<String> {
    let expr = program.exprs.find(item)?;
    let ExprKind::Var(var) = expr.kind else { return None };
    if !printer.is_decayed(var) {
        return None;
    }
    let name = printer.var_name(var);
    Some(format!("{name}[0 : sizeof(*__ref_{name}) / sizeof((*__ref_{name})[0])]"))
}
