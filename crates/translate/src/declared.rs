//! Directives that declare: functions and variables that exist on devices.

use ir::construct::{Args, ClauseKind, DeviceKind, Leaf, Motion, Presence};
use ir::program::{Declaration, ExprId, ExprKind, FunctionId, StmtId, StmtKind, VarId, VarStorage};
use ir::walk::Part;

use super::maps::Maps;
use super::{Fate, Line, Place, Plan, Translator, clause, codes};
use levels::base;

impl Translator<'_> {
    pub(super) fn declaration(&self, at: usize) -> Plan {
        let Some(declaration) = self.program.declarations.get(at) else { return Plan::default() };
        let construct = &declaration.construct;
        let mut plan = match construct.leaves.first() {
            Some(Leaf::Routine) => self.routine(declaration),
            Some(Leaf::Declare) => self.declare(declaration),
            _ => Plan::refused("it has no counterpart"),
        };
        for it in &construct.clauses {
            if let ClauseKind::Extension(..) = it.kind {
                let (written, text) = (self.words.written(it.span), super::EXTENSION);
                plan.remark(Fate::Refused, Some(codes::NO_COUNTERPART), Some(written), text);
            }
        }
        if !plan.is_refused() {
            for it in &construct.clauses {
                let text = self.words.written(it.span);
                if !plan.remarks.iter().any(|it| it.clause.as_deref() == Some(text.as_str())) {
                    plan.remark(Fate::Translated, None, Some(text), String::new());
                }
            }
        }
        plan
    }

    /// A function that device code calls.
    fn routine(&self, declaration: &Declaration) -> Plan {
        let construct = &declaration.construct;
        let mut plan = Plan::default();
        let mut other: Option<String> = None;
        for it in &construct.clauses {
            let written = || Some(self.words.written(it.span));
            match &it.kind {
                ClauseKind::BindName(name) if declaration.within.is_none() => {
                    let name = self.words.written(self.program.exprs[*name].span);
                    other = Some(name.trim_matches('"').to_owned());
                }
                ClauseKind::BindName(_) => {
                    let text = "another function for devices is named before the function";
                    plan.remark(Fate::Refused, Some(codes::NO_COUNTERPART), written(), text);
                }
                ClauseKind::Nohost => {
                    let text = "there is a version for the host too";
                    plan.remark(Fate::Approximated, Some(codes::ADVICE), written(), text);
                }
                _ => {}
            }
        }
        let mut to = self.directive(vec![Leaf::DeclareTarget], construct.span);
        let variant = other.as_ref().zip(declaration.functions.first());
        let variant = variant.map(|(other, of)| self.variant(other, *of)).unwrap_or_default();
        if other.is_some() && variant.is_empty() {
            return Plan::refused("which function is replaced on devices is not clear");
        }
        plan.lines.extend(self.used_early(declaration));
        match &construct.args {
            Args::Name(name) if variant.is_empty() => {
                let items = vec![self.program.names.text(*name).to_owned()];
                to.clauses.push(clause(self.exists(items)));
                plan.lines.push(Line::Directive(Box::new(to)));
            }
            Args::Name(name) => {
                plan.lines.push(Line::Directive(Box::new(to)));
                plan.lines.extend(variant);
                let of = declaration.functions.first();
                plan.lines.extend(of.map(|it| self.prototype(*it, self.program.names.text(*name))));
                let end = self.directive(vec![Leaf::EndDeclareTarget], construct.span);
                plan.lines.push(Line::Directive(Box::new(end)));
            }
            _ if declaration.within.is_some() => {
                // Inside the function itself nothing more is to be said: who calls it knows.
                let text = "functions that are called on devices of the same file exist there";
                plan.remark(Fate::Approximated, Some(codes::ADVICE), None, text);
            }
            _ => {
                plan.lines.push(Line::Directive(Box::new(to)));
                plan.lines.extend(variant);
                let end = self.directive(vec![Leaf::EndDeclareTarget], construct.span);
                plan.behind.push(Line::Directive(Box::new(end)));
            }
        }
        plan
    }

    /// Readers want to know that a variable exists on devices before functions use it there: those that are
    /// declared behind the first such function are declared before it too.
    fn used_early(&self, routine: &Declaration) -> Option<Line> {
        let at = routine.construct.span.start;
        let mut names: Vec<String> = Vec::new();
        for (var, it) in self.program.vars.iter().filter(|it| it.1.device.is_some()) {
            let is_known = it.span.start < at;
            let first = self.program.declarations.iter().filter(|it| {
                it.vars.contains(&var) || it.functions.iter().any(|it| self.uses(*it, var))
            });
            let first = first.map(|it| it.construct.span.start).min();
            if is_known && first == Some(at) {
                names.push(self.words.var(var));
            }
        }
        let mut to = self.directive(vec![Leaf::DeclareTarget], routine.construct.span);
        to.clauses.push(clause(self.exists(names.clone())));
        (!names.is_empty()).then(|| Line::Directive(Box::new(to)))
    }

    fn uses(&self, function: FunctionId, var: VarId) -> bool {
        let Some(body) = self.program.functions[function].body else { return false };
        let body = self.program.stmts[body].span;
        self.program.exprs.iter().any(|(_, it)| {
            it.kind == ExprKind::Var(var) && body.start <= it.span.start && it.span.end <= body.end
        })
    }

    /// Says that another function is called on devices; both must be declared.
    fn variant(&self, other: &str, of: FunctionId) -> Vec<Line> {
        let functions = &self.program.functions;
        let found = functions.iter().find(|it| self.program.names.text(it.1.name) == other);
        let found = found.map_or(of, |it| it.0);
        let text = directive::replaced_on_devices(other);
        vec![self.prototype(found, other), Line::Statement(text)]
    }

    /// A declaration of a function, or of one like it.
    fn prototype(&self, of: FunctionId, name: &str) -> Line {
        let function = &self.program.functions[of];
        let is_own = self.program.names.text(function.name) == name;
        let storage = if function.is_static && is_own { "static " } else { "" };
        Line::Statement(format!("{storage}{};", self.words.declare(function.ty, name)))
    }

    fn exists(&self, items: Vec<String>) -> ClauseKind<ir::construct::Spelled> {
        ClauseKind::DeviceEnter { automap: false, old_word: !self.profile().says_enter, items }
    }

    /// The life of data on devices, tied to a scope.
    fn declare(&self, declaration: &Declaration) -> Plan {
        let construct = &declaration.construct;
        let mut plan = Plan::default();
        let (mut begin, mut end) = (Maps::default(), Maps::default());
        let (mut exist, mut link, mut resident) = (Vec::new(), Vec::new(), Vec::new());
        let mut back: Vec<VarId> = Vec::new();
        for it in &construct.clauses {
            match &it.kind {
                ClauseKind::Map(map) if map.presence == Presence::Required => {}
                ClauseKind::Map(map) => {
                    for item in &map.items {
                        if self.is_static(*item) {
                            let var = base(self.program, *item);
                            exist.extend(var.map(|it| self.words.var(it)));
                            continue;
                        }
                        let text = self.words.expr(*item);
                        let (first, last) = ends(map.motion);
                        begin.add(first, Presence::Any, text.clone());
                        end.add(last, Presence::Any, text);
                        back.extend(base(self.program, *item).filter(|_| last == Motion::From));
                    }
                }
                ClauseKind::DeviceLink(items) => link.extend(self.words.list(items)),
                ClauseKind::DeviceResident(items) => resident.extend(self.words.list(items)),
                _ => {}
            }
        }
        let is_inside = declaration.within.is_some();
        if is_inside && !(exist.is_empty() && link.is_empty() && resident.is_empty()) {
            plan.remark(
                Fate::Refused,
                Some(codes::NO_COUNTERPART),
                None,
                "variables with static storage are declared at file scope; move the directive there",
            );
            return plan;
        }
        if !resident.is_empty() {
            let mut to = self.directive(vec![Leaf::DeclareTarget], construct.span);
            to.clauses.push(clause(ClauseKind::DeviceKind(DeviceKind::Nohost)));
            to.clauses.push(clause(self.exists(resident)));
            plan.lines.push(Line::Directive(Box::new(to)));
        }
        if !(exist.is_empty() && link.is_empty()) {
            let mut to = self.directive(vec![Leaf::DeclareTarget], construct.span);
            if !exist.is_empty() {
                to.clauses.push(clause(self.exists(exist)));
            }
            if !link.is_empty() {
                to.clauses.push(clause(ClauseKind::DeviceLink(link)));
            }
            plan.lines.push(Line::Directive(Box::new(to)));
        }
        let begin = begin.clauses(self.profile());
        if begin.is_empty() {
            return plan;
        }
        let mut first = self.directive(vec![Leaf::EnterData], construct.span);
        first.clauses = begin;
        plan.lines.push(Line::Directive(Box::new(first)));
        let mut last = self.directive(vec![Leaf::ExitData], construct.span);
        last.clauses = end.clauses(self.profile());
        self.at_every_end(declaration, &Line::Directive(Box::new(last)), &back, &mut plan);
        plan
    }

    fn is_static(&self, item: ExprId) -> bool {
        let storage = base(self.program, item).map(|it| self.program.vars[it].storage);
        matches!(storage, Some(VarStorage::Global | VarStorage::Extern | VarStorage::Static))
    }

    /// Puts a line before every return of the function, and before its end.
    fn at_every_end(
        &self,
        declaration: &Declaration,
        line: &Line,
        back: &[VarId],
        plan: &mut Plan,
    ) {
        let body = declaration.within.and_then(|it| self.program.functions[it].body);
        let Some(body) = body else { return };
        let mut open = vec![Part::Stmt(body)];
        while let Some(part) = open.pop() {
            if let Part::Stmt(at) = part
                && let StmtKind::Return(value) = self.program.stmts[at].kind
                && self.program.stmts[at].span.start > declaration.construct.span.start
            {
                if value.is_some_and(|it| self.reads(it, back)) {
                    let text = "what is returned is computed before data comes back; \
                                put it in a variable first";
                    plan.remark(Fate::Refused, Some(codes::NO_COUNTERPART), None, text);
                }
                let place = Place::Statement(self.program.stmts[at].span);
                plan.before.push((place, line.clone()));
            }
            self.program.parts(part, &mut |it| open.push(it));
        }
        if self.goes_on(body) {
            plan.before.push((Place::EndOf(self.program.stmts[body].span), line.clone()));
        }
    }

    fn reads(&self, value: ExprId, vars: &[VarId]) -> bool {
        let mut open = vec![Part::Expr(value)];
        while let Some(part) = open.pop() {
            if let Part::Expr(at) = part {
                match self.program.exprs[at].kind {
                    ExprKind::Var(var) if vars.contains(&var) => return true,
                    ExprKind::Call(..) if !vars.is_empty() => return true,
                    _ => {}
                }
            }
            self.program.parts(part, &mut |it| open.push(it));
        }
        false
    }

    /// Whether the end of a block is reached.
    fn goes_on(&self, body: StmtId) -> bool {
        match &self.program.stmts[body].kind {
            StmtKind::Block(list) => list.last().is_none_or(|it| self.goes_on(*it)),
            StmtKind::Return(_) | StmtKind::Goto(_) => false,
            _ => true,
        }
    }
}

/// What is done at the beginning and at the end of a life.
fn ends(motion: Motion) -> (Motion, Motion) {
    match motion {
        Motion::To => (Motion::To, Motion::Release),
        Motion::From => (Motion::Alloc, Motion::From),
        Motion::ToFrom => (Motion::To, Motion::From),
        Motion::Unsaid | Motion::Alloc | Motion::Release | Motion::Delete => {
            (Motion::Alloc, Motion::Release)
        }
    }
}
