//! Statements as text.
//!
//! A statement begins at the start of a line, before its indentation, and ends its last line; so a
//! pragma finds the first column wherever it stands. Blocks open on the line of what they belong
//! to. Chains of `else if` and of labels are printed in loops.

use super::Level;
use super::{ERROR, Printer};
use crate::ast::{AsmId, AsmOperand, ExprId, For, ForInit, Ident, StmtId, StmtKind};

impl Printer<'_> {
    /// A statement on lines of its own.
    pub(super) fn stmt(&mut self, stmt: StmtId) {
        let mut next = Some(stmt);
        while let Some(stmt) = next {
            next = self.stmt_head(stmt);
        }
    }

    /// A statement; of one that stands behind a label or pragma only these, and the answer is what
    /// follows.
    fn stmt_head(&mut self, stmt: StmtId) -> Option<StmtId> {
        let tree = self.tree;
        let kind = &tree.stmts[stmt].kind;
        let indent = self.indent;
        match kind {
            StmtKind::Case(..) | StmtKind::Default(_) | StmtKind::Label(..) => {
                self.indent = indent.saturating_sub(1);
                self.begin_line();
                self.indent = indent;
            }
            // These know where their lines begin.
            StmtKind::Decl(_) | StmtKind::Pragma(..) => {}
            StmtKind::Error
            | StmtKind::Empty
            | StmtKind::Block(_)
            | StmtKind::Expr(_)
            | StmtKind::If(..)
            | StmtKind::While(..)
            | StmtKind::DoWhile(..)
            | StmtKind::For(_)
            | StmtKind::Switch(..)
            | StmtKind::LocalLabels(_)
            | StmtKind::Goto(_)
            | StmtKind::GotoExpr(_)
            | StmtKind::Continue
            | StmtKind::Break
            | StmtKind::Return(_)
            | StmtKind::Asm(_)
            | StmtKind::Attributes(_) => self.begin_line(),
        }
        match kind {
            StmtKind::Error => self.end_line(ERROR),
            StmtKind::Empty => self.end_line(";"),
            StmtKind::Block(_) => {
                self.block(stmt);
                self.end_line("");
            }
            StmtKind::Expr(expr) => {
                self.expr(*expr, Level::Comma);
                self.end_line(";");
            }
            StmtKind::If(condition, then, otherwise) => {
                self.if_chain(*condition, *then, *otherwise)
            }
            StmtKind::While(condition, body) => {
                self.head("while", *condition);
                self.body(*body);
            }
            StmtKind::DoWhile(body, condition) => {
                self.put("do");
                if self.open_body(*body, false) {
                    self.put(" ");
                } else {
                    self.begin_line();
                }
                self.head("while", *condition);
                self.end_line(";");
            }
            StmtKind::For(parts) => self.for_loop(parts),
            StmtKind::Switch(value, body) => {
                self.head("switch", *value);
                self.body(*body);
            }
            StmtKind::LocalLabels(labels) => {
                self.put("__label__ ");
                self.idents(labels);
                self.end_line(";");
            }
            StmtKind::Goto(label) => {
                self.put("goto ");
                self.name(label.name);
                self.end_line(";");
            }
            StmtKind::GotoExpr(target) => {
                self.put("goto *");
                self.expr(*target, Level::Comma);
                self.end_line(";");
            }
            StmtKind::Continue => self.end_line("continue;"),
            StmtKind::Break => self.end_line("break;"),
            StmtKind::Return(value) => {
                self.put("return");
                if let Some(value) = value {
                    self.put(" ");
                    self.expr(*value, Level::Comma);
                }
                self.end_line(";");
            }
            StmtKind::Asm(asm) => {
                self.asm(*asm);
                self.end_line(";");
            }
            StmtKind::Attributes(attrs) => {
                self.attrs(attrs);
                self.end_line(";");
            }
            StmtKind::Case(low, high, inner) => {
                self.put("case ");
                self.expr(*low, Level::Conditional);
                if let Some(high) = high {
                    self.put(" ... ");
                    self.expr(*high, Level::Conditional);
                }
                self.end_line(":");
                return Some(*inner);
            }
            StmtKind::Default(inner) => {
                self.end_line("default:");
                return Some(*inner);
            }
            StmtKind::Label(label, attrs, inner) => {
                self.name(label.name);
                self.put(":");
                if !attrs.is_empty() {
                    self.put(" ");
                    self.attrs(attrs);
                }
                self.end_line("");
                return Some(*inner);
            }
            StmtKind::Decl(decl) => self.decl(*decl),
            StmtKind::Pragma(pragma, body) => {
                self.pragma(*pragma);
                return *body;
            }
        }
        None
    }

    /// `{ … }`, begun in the middle of a line and not ending its last.
    pub(super) fn block(&mut self, block: StmtId) {
        let tree = self.tree;
        self.put("{\n");
        self.indented(|it| {
            if let StmtKind::Block(stmts) = &tree.stmts[block].kind {
                for stmt in stmts {
                    it.stmt(*stmt);
                }
            } else {
                it.stmt(block);
            }
        });
        self.begin_line();
        self.put("}");
    }

    /// The body of a loop or `switch`, up to the end of its last line.
    fn body(&mut self, body: StmtId) {
        if self.open_body(body, false) {
            self.end_line("");
        }
    }

    /// A body after the head on the same line. Answers whether it was a block, whose last line is
    /// then still open.
    fn open_body(&mut self, body: StmtId, needs_braces: bool) -> bool {
        // The last three are no statements when alone: what follows would become the body.
        let needs_braces = needs_braces
            || matches!(
                self.tree.stmts[body].kind,
                StmtKind::Block(_)
                    | StmtKind::Pragma(_, None)
                    | StmtKind::Error
                    | StmtKind::Decl(_)
            );
        if needs_braces {
            self.put(" ");
            self.block(body);
        } else {
            self.end_line("");
            self.indented(|it| it.stmt(body));
        }
        needs_braces
    }

    /// `if (a) … else if (b) … else …`
    fn if_chain(&mut self, condition: ExprId, then: StmtId, otherwise: Option<StmtId>) {
        let tree = self.tree;
        let (mut condition, mut then, mut otherwise) = (condition, then, otherwise);
        loop {
            self.head("if", condition);
            let captures = otherwise.is_some() && self.ends_in_open_if(then);
            let is_open = self.open_body(then, captures);
            let Some(rest) = otherwise else {
                if is_open {
                    self.end_line("");
                }
                return;
            };
            if is_open {
                self.put(" else");
            } else {
                self.begin_line();
                self.put("else");
            }
            if let StmtKind::If(next, its_then, its_else) = &tree.stmts[rest].kind {
                self.put(" ");
                (condition, then, otherwise) = (*next, *its_then, *its_else);
            } else {
                return self.body(rest);
            }
        }
    }

    /// Whether an `else` written after `stmt` would belong to an `if` inside it.
    fn ends_in_open_if(&self, stmt: StmtId) -> bool {
        let mut stmt = stmt;
        loop {
            stmt = match &self.tree.stmts[stmt].kind {
                StmtKind::If(_, _, None) => return true,
                StmtKind::If(_, _, Some(last))
                | StmtKind::While(_, last)
                | StmtKind::Switch(_, last)
                | StmtKind::Case(_, _, last)
                | StmtKind::Default(last)
                | StmtKind::Label(_, _, last)
                | StmtKind::Pragma(_, Some(last)) => *last,
                StmtKind::For(parts) => parts.body,
                StmtKind::Error
                | StmtKind::Empty
                | StmtKind::Block(_)
                | StmtKind::Decl(_)
                | StmtKind::Expr(_)
                | StmtKind::DoWhile(..)
                | StmtKind::LocalLabels(_)
                | StmtKind::Goto(_)
                | StmtKind::GotoExpr(_)
                | StmtKind::Continue
                | StmtKind::Break
                | StmtKind::Return(_)
                | StmtKind::Asm(_)
                | StmtKind::Attributes(_)
                | StmtKind::Pragma(_, None) => return false,
            };
        }
    }

    /// `for (init; cond; step) …`
    fn for_loop(&mut self, parts: &For) {
        self.put("for (");
        match parts.init {
            ForInit::Nothing => self.put(";"),
            ForInit::Expr(init) => {
                self.expr(init, Level::Comma);
                self.put(";");
            }
            ForInit::Decl(decl) => self.decl_text(decl),
        }
        if let Some(condition) = parts.cond {
            self.put(" ");
            self.expr(condition, Level::Comma);
        }
        self.put(";");
        if let Some(step) = parts.step {
            self.put(" ");
            self.expr(step, Level::Comma);
        }
        self.put(")");
        self.body(parts.body);
    }

    /// `while (e)`
    fn head(&mut self, keyword: &str, expr: ExprId) {
        self.put(keyword);
        self.put(" (");
        self.expr(expr, Level::Comma);
        self.put(")");
    }

    /// `a, b`
    pub(super) fn idents(&mut self, idents: &[Ident]) {
        self.separated(idents, ", ", |it, ident| it.name(ident.name));
    }

    /// `__asm__ volatile ("…" : "=r"(x) : "r"(y) : "memory")`
    pub(super) fn asm(&mut self, asm: AsmId) {
        let tree = self.tree;
        let asm = &tree.asms[asm];
        self.put("__asm__");
        for (is_there, word) in
            [(asm.is_volatile, " volatile"), (asm.is_inline, " inline"), (asm.is_goto, " goto")]
        {
            if is_there {
                self.put(word);
            }
        }
        self.put("(");
        self.expr(asm.template, Level::Primary);
        let needed = [
            !asm.outputs.is_empty(),
            !asm.inputs.is_empty(),
            !asm.clobbers.is_empty(),
            !asm.labels.is_empty(),
        ];
        let needed = needed.iter().rposition(|it| *it).map_or(0, |last| last + 1);
        for section in 0..needed.max(usize::from(asm.colons)) {
            self.put(" : ");
            match section {
                0 => self.operands(&asm.outputs),
                1 => self.operands(&asm.inputs),
                2 => {
                    self.separated(&asm.clobbers, ", ", |it, text| it.expr(*text, Level::Primary));
                }
                _ => self.idents(&asm.labels),
            }
        }
        self.put(")");
    }

    /// `[name] "constraint"(e), …`
    fn operands(&mut self, operands: &[AsmOperand]) {
        self.separated(operands, ", ", |it, operand| {
            if let Some(name) = operand.name {
                it.put("[");
                it.name(name.name);
                it.put("] ");
            }
            it.expr(operand.constraint, Level::Primary);
            it.put("(");
            it.expr(operand.value, Level::Comma);
            it.put(")");
        });
    }
}
