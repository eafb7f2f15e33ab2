//! Statements: one line each, bodies indented.

use rustc_hash::FxHashSet;

use super::Printer;
use crate::program::{Asm, For, StmtId, StmtKind};

impl Printer<'_> {
    pub(super) fn stmt(&mut self, id: StmtId) {
        let program = self.program;
        let Some(stmt) = program.stmts.find(id) else { return self.line("<no statement>") };
        match &stmt.kind {
            StmtKind::Block(stmts) => {
                self.line("{");
                self.indented(|it| stmts.iter().for_each(|&stmt| it.stmt(stmt)));
                self.line("}");
            }
            StmtKind::If(c, then, other) => {
                self.headed(&format!("if {}", self.expr(*c)), *then);
                if let Some(other) = other {
                    self.headed("else", *other);
                }
            }
            StmtKind::While(c, body) => self.headed(&format!("while {}", self.expr(*c)), *body),
            StmtKind::DoWhile(body, c) => {
                self.headed("do", *body);
                self.line(&format!("while {}", self.expr(*c)));
            }
            StmtKind::For(it) => self.headed(&self.for_head(it), it.body),
            StmtKind::Switch(e, body) => self.headed(&format!("switch {}", self.expr(*e)), *body),
            StmtKind::Case(low, high, body) => {
                let head = match low == high {
                    true => format!("case {low}:"),
                    false => format!("case {low} ... {high}:"),
                };
                self.line(&head);
                self.stmt(*body);
            }
            StmtKind::Default(body) => {
                self.line("default:");
                self.stmt(*body);
            }
            StmtKind::Label(label, body) => {
                self.line(&format!("{}:", self.label(*label)));
                self.stmt(*body);
            }
            StmtKind::Region(region) => self.region(*region),
            StmtKind::Declaration(index) => self.declaration(*index),
            StmtKind::Error
            | StmtKind::Empty
            | StmtKind::Local(_)
            | StmtKind::Expr(_)
            | StmtKind::Goto(_)
            | StmtKind::GotoExpr(_)
            | StmtKind::Continue
            | StmtKind::Break
            | StmtKind::Return(_)
            | StmtKind::Asm(_) => self.line(&self.simple(&stmt.kind)),
        }
    }

    fn headed(&mut self, head: &str, body: StmtId) {
        self.line(head);
        self.indented(|it| it.stmt(body));
    }

    /// A statement without statements in it.
    fn simple(&self, kind: &StmtKind) -> String {
        match kind {
            StmtKind::Empty => ";".to_owned(),
            StmtKind::Local(id) => match self.program.vars.find(*id) {
                Some(var) => format!("local {}", self.declared(*id, var)),
                None => "local <no variable>".to_owned(),
            },
            StmtKind::Expr(e) => self.expr(*e),
            StmtKind::Goto(label) => format!("goto {}", self.label(*label)),
            StmtKind::GotoExpr(e) => format!("goto *{}", self.expr(*e)),
            StmtKind::Continue => "continue".to_owned(),
            StmtKind::Break => "break".to_owned(),
            StmtKind::Return(None) => "return".to_owned(),
            StmtKind::Return(Some(e)) => format!("return {}", self.expr(*e)),
            StmtKind::Asm(asm) => self.asm(asm),
            StmtKind::Error
            | StmtKind::Block(_)
            | StmtKind::If(..)
            | StmtKind::While(..)
            | StmtKind::DoWhile(..)
            | StmtKind::For(_)
            | StmtKind::Switch(..)
            | StmtKind::Case(..)
            | StmtKind::Default(_)
            | StmtKind::Label(..)
            | StmtKind::Region(_)
            | StmtKind::Declaration(_) => "<error>".to_owned(),
        }
    }

    /// `for (local i: int = 0; (i < n); i++)`
    fn for_head(&self, it: &For) -> String {
        let part = |id: &StmtId| match self.program.stmts.find(*id) {
            Some(stmt) => self.simple(&stmt.kind),
            None => "<no statement>".to_owned(),
        };
        let init: Vec<String> = it.init.iter().map(part).collect();
        let cond = it.cond.map(|it| self.expr(it)).unwrap_or_default();
        let step = it.step.map(|it| self.expr(it)).unwrap_or_default();
        format!("for ({}; {cond}; {step})", init.join(", "))
    }

    fn asm(&self, asm: &Asm) -> String {
        let words = |list: &[source::Name]| {
            let words: Vec<&str> = list.iter().map(|&it| self.text(it)).collect();
            words.join(" ")
        };
        let operands = |list: &[(source::Name, crate::program::ExprId)]| {
            let shown: Vec<String> = list
                .iter()
                .map(|(constraint, e)| format!("{} {}", self.text(*constraint), self.expr(*e)))
                .collect();
            shown.join(", ")
        };
        let labels: Vec<&str> = asm.labels.iter().map(|&it| self.label(it)).collect();
        let parts = [
            ("", words(&asm.template)),
            ("out", operands(&asm.outputs)),
            ("in", operands(&asm.inputs)),
            ("clobbers", words(&asm.clobbers)),
            ("labels", labels.join(", ")),
        ];
        let mut text = if asm.is_volatile { "asm volatile" } else { "asm" }.to_owned();
        for (word, part) in parts.iter().filter(|it| !it.1.is_empty()) {
            let gap = if word.is_empty() { "" } else { " " };
            text.push_str(&format!(" {word}{gap}{part}"));
        }
        text
    }

    /// `({ … })`, its statements on lines of their own.
    pub(super) fn statement_expression(&self, body: StmtId) -> String {
        let mut inner = Printer {
            program: self.program,
            vars: self.vars.clone(),
            used_vars: FxHashSet::default(),
            used_functions: FxHashSet::default(),
            depth: self.depth,
            out: String::new(),
        };
        inner.stmt(body);
        format!("({})", inner.out.trim())
    }
}
