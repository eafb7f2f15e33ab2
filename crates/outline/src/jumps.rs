//! Jumps to labels: those within the code of one thread are its own matter.

use ir::program::{FunctionId, LabelId, Program, StmtId, StmtKind as C};
use ir::walk::Part;

use crate::Outliner;

impl Outliner<'_> {
    /// The statements from a place on between which jumps go, as far as they are one thread's own code and declare nothing.
    pub(crate) fn jumping<'l>(&mut self, list: &'l [StmtId], at: usize) -> Option<&'l [StmtId]> {
        let mut jumps = Jumps::default();
        for (many, it) in list.get(at..)?.iter().enumerate() {
            let more = Jumps::of(self.program, *it);
            if many == 0 && more.labels.is_empty() && more.targets.is_empty() {
                return None;
            }
            let is_declared = matches!(self.program.stmts[*it].kind, C::Local(_));
            if is_declared || self.has_crew_code(Part::Stmt(*it)) {
                return None;
            }
            jumps.labels.extend(more.labels);
            jumps.targets.extend(more.targets);
            if jumps.are_closed(self.program, self.function) {
                return list.get(at..=at + many);
            }
        }
        None
    }
}

/// Whether a statement is left by a jump to somewhere outside, or may be entered by one.
pub(crate) fn escapes(program: &Program, function: FunctionId, id: StmtId) -> bool {
    fn within(
        program: &Program,
        id: StmtId,
        (in_loop, in_switch): (bool, bool),
        jumps: &mut Jumps,
    ) -> bool {
        let kind = &program.stmts[id].kind;
        let (in_loop, in_switch) = match kind {
            C::Break => return !in_loop && !in_switch,
            C::Continue => return !in_loop,
            C::Return(_) | C::GotoExpr(_) => return true,
            C::Case(..) | C::Default(_) if !in_switch => return true,
            C::While(..) | C::DoWhile(..) | C::For(_) => (true, in_switch),
            C::Switch(..) => (in_loop, true),
            _ => (in_loop, in_switch),
        };
        jumps.add(kind);
        let mut inner = Vec::new();
        kind.parts(&mut |it| match it {
            Part::Stmt(id) => inner.push(id),
            Part::Region(id) => inner.extend(program.regions[id].body),
            Part::Expr(_) | Part::Local(_) | Part::Init(_) => {}
        });
        inner.into_iter().any(|it| within(program, it, (in_loop, in_switch), jumps))
    }
    let mut jumps = Jumps::default();
    within(program, id, (false, false), &mut jumps) || !jumps.are_closed(program, function)
}

/// Labels and what jumps to them.
#[derive(Default)]
pub(crate) struct Jumps {
    pub(crate) labels: Vec<LabelId>,
    targets: Vec<LabelId>,
}

impl Jumps {
    fn add(&mut self, kind: &C) {
        match kind {
            C::Label(label, _) => self.labels.push(*label),
            C::Goto(label) => self.targets.push(*label),
            _ => {}
        }
    }

    pub(crate) fn of(program: &Program, id: StmtId) -> Jumps {
        let mut jumps = Jumps::default();
        let mut open = vec![Part::Stmt(id)];
        while let Some(part) = open.pop() {
            if let Part::Stmt(id) = part {
                jumps.add(&program.stmts[id].kind);
            }
            program.parts(part, &mut |it| open.push(it));
        }
        jumps
    }

    /// All targets are among the labels, and nothing else of the function jumps to those.
    fn are_closed(&self, program: &Program, function: FunctionId) -> bool {
        if self.labels.is_empty() {
            return self.targets.is_empty();
        }
        let Some(body) = program.functions[function].body else { return false };
        let all = Jumps::of(program, body).targets;
        let times = |list: &[LabelId], label| list.iter().filter(|it| **it == label).count();
        self.targets.iter().all(|it| self.labels.contains(it))
            && self.labels.iter().all(|it| times(&self.targets, *it) == times(&all, *it))
    }
}
