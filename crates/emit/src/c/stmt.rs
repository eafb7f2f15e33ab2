//! Statements.
//!
//! The structure is the program's. Braces are added where a printed line would change who governs
//! whom: around directives, declarations and an `if` without `else`.

use ir::program::{Asm, ExprId, ExprKind, For, StmtId, StmtKind, VarId};
use ir::types::Ty;
use syntax::print::Level;

use super::{Out, Printer, vendor};

impl Printer<'_> {
    /// One statement.
    pub fn stmt(&self, id: StmtId, out: &mut Out<'_>) {
        self.put_stmt(id, None, out);
    }

    /// The same in a function that returns `result`.
    pub(super) fn put_stmt(&self, id: StmtId, result: Option<Ty>, out: &mut Out<'_>) {
        let Some(stmt) = self.program.stmts.find(id) else { return };
        if !matches!(stmt.kind, StmtKind::Block(_) | StmtKind::Region(_)) {
            out.at(stmt.span);
        }
        match &stmt.kind {
            StmtKind::Error | StmtKind::Empty => out.line(";"),
            StmtKind::Block(stmts) => {
                out.line("{");
                out.indented(|out| stmts.iter().for_each(|it| self.put_stmt(*it, result, out)));
                out.line("}");
            }
            StmtKind::Local(var) if self.hook.local(self, *var, out) => {}
            StmtKind::Local(var) => out.line(&format!("{};", self.local(*var))),
            StmtKind::Expr(e) => out.line(&format!("{};", self.expr(*e))),
            StmtKind::If(c, then, other) => {
                out.line(&format!("if ({})", self.condition(*c)));
                self.governed(*then, result, other.is_some(), out);
                if let Some(other) = other {
                    out.line("else");
                    self.governed(*other, result, false, out);
                }
            }
            StmtKind::While(c, body) => {
                out.line(&format!("while ({})", self.condition(*c)));
                self.governed(*body, result, false, out);
            }
            StmtKind::DoWhile(body, c) => {
                out.line("do");
                self.governed(*body, result, false, out);
                out.line(&format!("while ({});", self.condition(*c)));
            }
            StmtKind::For(it) => self.for_stmt(it, result, out),
            StmtKind::Switch(e, body) => {
                out.line(&format!("switch ({})", self.switched(*e, *body)));
                self.governed(*body, result, false, out);
            }
            StmtKind::Case(low, high, body) => {
                let low_text = self.case_value(*low);
                self.labelled(
                    &match low == high {
                        true => format!("case {low_text}:"),
                        // Values in the range have been made its first; a range that ends before it begins has none.
                        false if self.is_cpp() && low < high => format!("case {low_text}:"),
                        false if self.is_cpp() => String::new(),
                        false => format!("case {low_text} ... {}:", self.case_value(*high)),
                    },
                    *body,
                    result,
                    out,
                );
            }
            StmtKind::Default(body) => self.labelled("default:", *body, result, out),
            StmtKind::Label(label, body) => {
                self.labelled(&format!("{}:", self.label_name(*label)), *body, result, out);
            }
            StmtKind::Goto(label) => out.line(&format!("goto {};", self.label_name(*label))),
            StmtKind::GotoExpr(e) => {
                out.line(&format!("goto *{};", self.operand(*e, Level::Cast)));
            }
            StmtKind::Continue => out.line("continue;"),
            StmtKind::Break => out.line("break;"),
            StmtKind::Return(None) if self.at_return.is_empty() => out.line("return;"),
            StmtKind::Return(Some(e)) if self.at_return.is_empty() => {
                let e = result.map_or(*e, |ty| self.assigned(*e, ty));
                out.line(&format!("return {};", self.expr(e)));
            }
            StmtKind::Return(value) => {
                out.line("{");
                out.indented(|out| self.return_at_last(*value, out));
                out.line("}");
            }
            StmtKind::Asm(asm) => out.line(&self.asm(asm)),
            StmtKind::Region(region) => self.hook.region(self, *region, out),
            StmtKind::Declaration(index) => self.hook.declaration(self, *index, out),
        }
    }

    /// A return from a function that has something to do before.
    fn return_at_last(&self, value: Option<ExprId>, out: &mut Out<'_>) {
        let ty = value.and_then(|it| self.ty(it)).filter(|it| !self.program.types.is_void(*it));
        if let Some(value) = value {
            let declared =
                ty.map(|it| format!("{} = ", self.declare(it.plain(), "__ferry_result")));
            out.line(&format!("{}{};", declared.unwrap_or_default(), self.expr(value)));
        }
        self.at_return.iter().for_each(|it| out.line(it));
        out.line(if ty.is_some() { "return __ferry_result;" } else { "return;" });
    }

    /// What a condition or loop governs; with braces where they are needed to keep it that way.
    fn governed(&self, id: StmtId, result: Option<Ty>, before_else: bool, out: &mut Out<'_>) {
        let kind = self.program.stmts.find(id).map(|it| &it.kind);
        let is_block = matches!(kind, Some(StmtKind::Block(_)));
        let is_closed = matches!(
            kind,
            Some(
                StmtKind::Empty
                    | StmtKind::Expr(_)
                    | StmtKind::Goto(_)
                    | StmtKind::GotoExpr(_)
                    | StmtKind::Continue
                    | StmtKind::Break
                    | StmtKind::Return(_)
            )
        );
        let needs_braces = match kind {
            Some(StmtKind::Region(_) | StmtKind::Declaration(_) | StmtKind::Local(_)) => true,
            Some(StmtKind::If(..)) => true,
            _ => before_else && !is_closed,
        };
        if is_block {
            self.put_stmt(id, result, out);
        } else if needs_braces {
            out.line("{");
            out.indented(|out| self.put_stmt(id, result, out));
            out.line("}");
        } else {
            out.indented(|out| self.put_stmt(id, result, out));
        }
    }

    /// A label stands before a statement: declarations and directives get an empty one.
    fn labelled(&self, label: &str, body: StmtId, result: Option<Ty>, out: &mut Out<'_>) {
        let kind = self.program.stmts.find(body).map(|it| &it.kind);
        let is_none = matches!(
            kind,
            Some(StmtKind::Local(_) | StmtKind::Region(_) | StmtKind::Declaration(_))
        );
        out.line(&format!("{label}{}", if is_none { ";" } else { "" }));
        self.put_stmt(body, result, out);
    }

    /// An assignment in a condition is put in parentheses, as compilers ask for.
    fn condition(&self, e: ExprId) -> String {
        let kind = self.program.exprs.find(e).map(|it| &it.kind);
        match kind {
            Some(ExprKind::Assign(..)) => self.operand(e, Level::Primary),
            _ => self.expr(e),
        }
    }

    fn for_stmt(&self, it: &For, result: Option<Ty>, out: &mut Out<'_>) {
        let kinds: Vec<Option<&StmtKind>> =
            it.init.iter().map(|id| self.program.stmts.find(*id).map(|it| &it.kind)).collect();
        let locals: Vec<VarId> = kinds
            .iter()
            .filter_map(|it| match it {
                Some(StmtKind::Local(var)) => Some(*var),
                _ => None,
            })
            .collect();
        let head = if locals.len() == kinds.len() {
            self.locals(&locals)
        } else if let [Some(StmtKind::Expr(e))] = kinds.as_slice() {
            Some(self.expr(*e))
        } else {
            None
        };
        let cond = it.cond.map(|it| self.expr(it)).unwrap_or_default();
        let step = it.step.map(|it| self.expr(it)).unwrap_or_default();
        match head {
            Some(head) => {
                self.advice(it).iter().for_each(|it| out.raw(it));
                out.line(&format!("for ({head}; {cond}; {step})"));
                self.governed(it.body, result, false, out);
            }
            // Declarations that cannot stand in one: the scope is a block around the loop.
            None => {
                out.line("{");
                out.indented(|out| {
                    it.init.iter().for_each(|it| self.put_stmt(*it, result, out));
                    self.advice(it).iter().for_each(|it| out.raw(it));
                    out.line(&format!("for (; {cond}; {step})"));
                    self.governed(it.body, result, false, out);
                });
                out.line("}");
            }
        }
    }

    /// What compilers are told of a loop, in lines before it.
    fn advice(&self, it: &For) -> Vec<String> {
        if let Some(words) = self.vendor() {
            return vendor::before(words, self.program, it);
        }
        let unroll = it.unroll.map(|it| match it {
            opt::registers::ALL_ROUNDS => "#pragma unroll".to_owned(),
            rounds => format!("#pragma unroll {rounds}"),
        });
        let is_opencl = self.grid.is_some_and(super::Grid::is_opencl);
        let lanes = if is_opencl { "__ferry_lanes" } else { directive::LANES };
        unroll.into_iter().chain(it.lanes.then(|| lanes.to_owned())).collect()
    }

    /// `int i = 0, *p = q`; nothing if they do not share what stands to the left.
    fn locals(&self, vars: &[VarId]) -> Option<String> {
        let mut text = String::new();
        let mut first: Option<String> = None;
        for id in vars {
            let var = self.program.vars.find(*id)?;
            // Such is not declared here.
            let is_elsewhere = self.names_memory() && self.substitutes.contains_key(id);
            let is_computed = self.program.types.is_variably_modified(var.ty);
            if is_elsewhere || self.grid.is_some() && is_computed {
                return None;
            }
            let (base, declarator) = self.declarator(var.ty, &self.declared_name(*id));
            let base = format!("{}{base}", self.before_declarator(*id));
            match &first {
                None => text.push_str(&format!("{base} ")),
                Some(first) if *first == base => text.push_str(", "),
                Some(_) => return None,
            }
            first = Some(base);
            text.push_str(&declarator);
            text.push_str(&self.after_declarator(*id));
        }
        Some(text)
    }

    /// `static int x = 5`
    fn local(&self, id: VarId) -> String {
        self.local_as(id, &self.declared_name(id))
    }

    /// The same under another name.
    pub(crate) fn local_as(&self, id: VarId, name: &str) -> String {
        let Some(var) = self.program.vars.find(id) else { return String::new() };
        let declared = self.declare(var.ty, name);
        format!("{}{declared}{}", self.before_declarator(id), self.after_declarator(id))
    }

    /// `__asm__ volatile ("…" : "=r"(x) : "r"(y) : "memory");`
    fn asm(&self, asm: &Asm) -> String {
        let words = |list: &[source::Name], gap: &str| {
            let words: Vec<&str> = list.iter().map(|it| self.text(*it)).collect();
            words.join(gap)
        };
        let operands = |list: &[(source::Name, ExprId)]| {
            let shown: Vec<String> = list
                .iter()
                .map(|(constraint, e)| format!("{}({})", self.text(*constraint), self.expr(*e)))
                .collect();
            shown.join(", ")
        };
        let mut text = "__asm__ ".to_owned();
        if asm.is_volatile {
            text.push_str("volatile ");
        }
        if !asm.labels.is_empty() {
            text.push_str("goto ");
        }
        text.push_str(&format!("({}", words(&asm.template, " ")));
        let labels: Vec<String> = asm.labels.iter().map(|it| self.label_name(*it)).collect();
        let mut sections =
            vec![operands(&asm.outputs), operands(&asm.inputs), words(&asm.clobbers, ", ")];
        if !labels.is_empty() {
            sections.push(labels.join(", "));
        }
        while sections.last().is_some_and(String::is_empty) {
            sections.pop();
        }
        if sections.is_empty() && asm.is_extended {
            sections.push(String::new());
        }
        sections.iter().for_each(|it| text.push_str(&format!(" : {it}")));
        text.push_str(");");
        text
    }
}
