//! Functions and variables that exist on devices.
//!
//! A function says at which level it deals out work: that of its own loops and of those it calls. A
//! variable exists from the start, with its first value.

use std::ops::Range;
use std::sync::Arc;

use ir::construct::{
    Args, ClauseKind, Construct, DeviceKind, Leaf, Motion, Presence, Requirement, Spelled,
};
use ir::program::{Declaration, ExprId, ExprKind, FunctionId, Level, VarId};

use super::super::place::Pen;
use super::super::spot::{blanks_before, line_end, newline};
use super::super::{Fate, Line, Plan, Target, clause};
use super::items::Items;
use super::text::declarations;
use super::{ADVICE, Descriptive, MADE_BY_MACRO, MEMORY_ORDER, NO_COUNTERPART};
use levels::base;

impl Descriptive<'_, '_> {
    pub(super) fn declarations(&self, plans: &mut Vec<(Target, Plan)>, pen: &mut Pen<'_>) {
        let mut said: Vec<FunctionId> = Vec::new();
        for declaration in &self.program.declarations {
            let construct = &declaration.construct;
            if pen.is_ours(construct.span) {
                continue;
            }
            if construct.dialect != directive::PRESCRIPTIVE {
                if construct.has(Leaf::Routine) {
                    said.extend(&declaration.functions);
                }
                continue;
            }
            let target = Target::Directive(construct.span);
            match construct.leaves.first() {
                Some(Leaf::DeclareTarget | Leaf::BeginDeclareTarget) => {
                    let plan = self.declare_target(declaration, &mut said, pen);
                    if let Some(end) = declaration.ended {
                        plans.push((Target::Directive(end), Plan::default()));
                    }
                    plans.push((target, plan));
                }
                Some(Leaf::Requires) => plans.push((target, self.requires(construct))),
                Some(Leaf::DeclareMapper | Leaf::Groupprivate) => {
                    let text = "it has no counterpart; name the parts where they are used";
                    plans.push((target, self.refused(NO_COUNTERPART, text)));
                }
                _ => {}
            }
        }
        for (id, function) in self.program.functions.iter() {
            let is_needed = self.level(id).is_some() && function.body.is_some();
            if self.on_device.contains(&id) && is_needed && !said.contains(&id) {
                self.before_function(id, pen);
            }
        }
    }

    fn requires(&self, construct: &Construct<ir::program::Typed>) -> Plan {
        let mut plan = Plan::default();
        for it in &construct.clauses {
            let written = Some(self.t.words.written(it.span));
            match &it.kind {
                ClauseKind::AtomicDefaultOrder(_) => {
                    let text = "the order of other accesses is not said";
                    plan.remark(Fate::Approximated, Some(MEMORY_ORDER), written, text);
                }
                ClauseKind::Require(Requirement::UnifiedAddress, _) => {
                    let text = "an option of the compiler says it";
                    plan.remark(Fate::Approximated, Some(ADVICE), written, text);
                }
                _ => {
                    let text = "no directive asks for it";
                    plan.remark(Fate::Refused, Some(NO_COUNTERPART), written, text);
                }
            }
        }
        plan
    }

    fn declare_target(
        &self,
        declaration: &Declaration,
        said: &mut Vec<FunctionId>,
        pen: &mut Pen<'_>,
    ) -> Plan {
        let construct = &declaration.construct;
        let mut plan = Plan::default();
        let (mut vars, mut links, mut functions) = (Vec::new(), Vec::new(), Vec::new());
        let mut is_for_devices_only = false;
        let mut list = |items: &[ExprId], vars: &mut Vec<VarId>| {
            for item in items {
                match self.program.exprs[*item].kind {
                    ExprKind::Function(id) => functions.push(id),
                    _ => vars.extend(base(self.program, *item)),
                }
            }
        };
        if let Args::Items(items) = &construct.args {
            list(items, &mut vars);
        }
        for it in &construct.clauses {
            let written = || Some(self.t.words.written(it.span));
            match &it.kind {
                ClauseKind::DeviceEnter { items, automap: false, .. } => list(items, &mut vars),
                ClauseKind::DeviceLink(items) => list(items, &mut links),
                ClauseKind::DeviceKind(DeviceKind::Any) => {
                    plan.remark(Fate::Redundant, None, written(), "it holds anyway");
                }
                ClauseKind::DeviceKind(DeviceKind::Nohost) => is_for_devices_only = true,
                _ => {
                    let text = "it has no counterpart";
                    plan.remark(Fate::Refused, Some(NO_COUNTERPART), written(), text);
                }
            }
        }
        if is_for_devices_only && !(vars.is_empty() && links.is_empty()) {
            let text = "variables for devices only have no initial value; declare them for both";
            plan.remark(Fate::Refused, Some(NO_COUNTERPART), None, text);
        }
        if plan.is_refused() {
            return plan;
        }
        if declaration.ended.is_some() {
            // What a header declares is said there, in the same words for all who read it.
            let part = self.enclosed(declaration);
            for id in &declaration.functions {
                let is_said = part.as_ref().is_some_and(|(file, part)| {
                    self.before_function_in(*id, Arc::clone(file), part.clone(), pen)
                });
                let is_used =
                    self.program.functions[*id].body.is_some() || self.is_called_on_device(*id);
                if is_said || is_used {
                    said.push(*id);
                }
                if !is_said && is_used {
                    self.before_function(*id, pen);
                }
            }
            for id in &declaration.vars {
                self.behind_variable(*id, part.as_ref(), pen, &mut plan);
            }
            return plan;
        }
        let is_inside = declaration.within.is_some();
        if is_inside && !vars.is_empty() {
            let text = "variables with static storage are declared at file scope; move it there";
            plan.remark(Fate::Refused, Some(NO_COUNTERPART), None, text);
        }
        if !vars.is_empty() {
            plan.lines.push(self.exists(vars.iter().map(|it| self.t.words.var(*it)).collect()));
        }
        if !links.is_empty() {
            let mut to = self.t.directive(vec![Leaf::Declare], construct.span);
            let names = links.iter().map(|it| self.t.words.var(*it)).collect();
            to.clauses.push(clause(ClauseKind::DeviceLink(names)));
            plan.lines.push(Line::Directive(Box::new(to)));
        }
        for id in functions {
            said.push(id);
            if self.before_function(id, pen) {
                continue;
            }
            let mut to = self.routine(id);
            to.args =
                Args::Name(self.program.names.text(self.program.functions[id].name).to_owned());
            plan.lines.push(Line::Directive(Box::new(to)));
        }
        plan
    }

    /// The bytes between a declaration and its end, in one file.
    fn enclosed(&self, declaration: &Declaration) -> Option<(Arc<str>, Range<usize>)> {
        let start = self.locator.locate(declaration.construct.span)?;
        let end = self.locator.locate(declaration.ended?).filter(|it| it.file == start.file)?;
        Some((start.file, start.written?.end..end.written?.start))
    }

    fn is_called_on_device(&self, id: FunctionId) -> bool {
        self.program
            .regions
            .iter()
            .any(|it| it.1.construct.has(Leaf::Offload) && it.1.reaches.contains(&id))
            || self.on_device.iter().any(|it| self.program.functions[*it].calls.contains(&id))
    }

    /// A variable that exists on devices with its first value.
    fn exists(&self, names: Vec<String>) -> Line {
        let mut to = self.t.directive(vec![Leaf::Declare], source::Span::NONE);
        let mut items = Items::default();
        for it in names {
            items.add(Motion::To, Presence::Any, it);
        }
        to.clauses.extend(items.clauses());
        Line::Directive(Box::new(to))
    }

    fn routine(&self, id: FunctionId) -> Construct<Spelled> {
        let mut to = self.t.directive(vec![Leaf::Routine], source::Span::NONE);
        let level = match self.level(id) {
            Some(Level::Team) => ClauseKind::Gang(Vec::new()),
            Some(Level::Thread) => ClauseKind::Worker(None),
            Some(Level::Lane) => ClauseKind::Vector(None),
            Some(Level::Seq) | None => ClauseKind::Seq,
        };
        to.clauses.push(clause(level));
        to
    }

    /// Says before the first declaration of a function that it exists on devices.
    fn before_function(&self, id: FunctionId, pen: &mut Pen<'_>) -> bool {
        let span = self.program.functions[id].span;
        let place = self.locator.locate(span).filter(|it| !it.in_system_header);
        place.is_some_and(|it| self.before_function_in(id, it.file, 0..usize::MAX, pen))
    }

    /// The same, before its first declaration in a part of a file.
    fn before_function_in(
        &self,
        id: FunctionId,
        file: Arc<str>,
        part: Range<usize>,
        pen: &mut Pen<'_>,
    ) -> bool {
        let function = &self.program.functions[id];
        let Ok(line) = directive::write(&self.routine(id), self.t.request.to) else { return false };
        let name = self.program.names.text(function.name);
        let Some(text) = self.locator.written(&file) else { return false };
        let first =
            declarations(&text).into_iter().filter(|it| part.contains(&it.start)).find(|it| {
                let words = text.get(it.clone()).map(String::from_utf8_lossy).unwrap_or_default();
                declares(&words, name)
            });
        if let Some(range) = &first {
            let blanks = blanks_before(&text, range.start);
            let next = format!("{}{}", newline(&text), blanks.unwrap_or_default());
            let line = pen.guarded_extra(&format!("#pragma {line}"), &next);
            // What stands before it on its line ends there.
            let before = if blanks.is_some() { "" } else { next.as_str() };
            pen.change(&file, range.start..range.start, format!("{before}{line}{next}"));
        }
        first.is_some()
    }

    /// Says behind a variable's declaration in a part of a file, or else wherever it is, that it exists on devices.
    fn behind_variable(
        &self,
        id: VarId,
        part: Option<&(Arc<str>, Range<usize>)>,
        pen: &mut Pen<'_>,
        plan: &mut Plan,
    ) {
        let span = self.program.vars[id].span;
        let name = self.t.words.var(id);
        let Line::Directive(to) = self.exists(vec![name.clone()]) else { return };
        let Ok(line) = directive::write(&to, self.t.request.to) else { return };
        let in_part = part.and_then(|(file, part)| {
            let text = self.locator.written(file)?;
            let declares = |it: &Range<usize>| {
                let words = text.get(it.clone()).map(String::from_utf8_lossy).unwrap_or_default();
                part.contains(&it.start) && declares_variable(&words, &name)
            };
            let range = declarations(&text).into_iter().find(declares)?;
            Some((Arc::clone(file), range))
        });
        let place = in_part.or_else(|| {
            let at = self.locator.locate(span)?;
            let text = self.locator.written(&at.file)?;
            let start = at.written?.start;
            let range = declarations(&text).into_iter().find(|it| it.contains(&start))?;
            Some((at.file, range))
        });
        let place = place.and_then(|(file, range)| {
            let text = self.locator.written(&file)?;
            let end = line_end(&text, range.end);
            let line = pen.apart(&text, end, &format!("#pragma {line}"), "");
            Some((file, end, line))
        });
        match place {
            Some((file, end, line)) => pen.change(&file, end..end, line),
            None => {
                let text = "a variable in it is declared by a macro";
                plan.remark(Fate::Refused, Some(MADE_BY_MACRO), None, text);
            }
        }
    }
}

/// Whether the text of a declaration declares a variable of this name, and no parameter or type.
fn declares_variable(words: &str, name: &str) -> bool {
    let is_word = |it: char| it.is_alphanumeric() || it == '_';
    words.match_indices(name).any(|(at, _)| {
        let before = words.get(..at).unwrap_or_default();
        let behind = words.get(at + name.len()..).unwrap_or_default();
        let own = before.rsplit(',').next().unwrap_or_default();
        let is_inside = before.matches('(').count() > before.matches(')').count()
            && !before.trim_end().ends_with(['*', '(']);
        !before.ends_with(is_word)
            && !behind.starts_with(is_word)
            && !behind.trim_start().starts_with('(')
            && !own.contains('=')
            && !is_inside
            && !before.contains('{')
            && !before.trim_start().starts_with("typedef")
    })
}

/// Whether the text of a declaration declares a function of this name.
fn declares(words: &str, name: &str) -> bool {
    let head = words.split(['{', '=']).next().unwrap_or_default();
    head.match_indices(name).any(|(at, _)| {
        let before = head.get(..at).unwrap_or_default();
        let behind = head.get(at + name.len()..).unwrap_or_default();
        let is_word = |it: char| it.is_alphanumeric() || it == '_';
        !before.ends_with(is_word) && behind.trim_start().starts_with('(') && !before.contains('(')
    })
}
