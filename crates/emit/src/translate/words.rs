//! The user's own words for the parts of a directive.
//!
//! Macros in clauses stay macros, spaces stay where they were; what analysis has made is printed.

use ir::program::{ExprId, ExprKind, Program, VarId};
use ir::types::Ty;
use source::{Locator, Span};

use crate::c::{Printer, Setting};

pub(super) struct Words<'a> {
    /// As checked: what is beyond was made by us.
    program: &'a Program,
    made: &'a Program,
    printer: Printer<'a>,
    locator: &'a Locator<'a>,
}

impl<'a> Words<'a> {
    pub(super) fn new(
        program: &'a Program,
        made: &'a Program,
        locator: &'a Locator<'a>,
    ) -> Words<'a> {
        Words { program, made, printer: Printer::new(made, Setting::InPlace), locator }
    }

    /// A variable's name.
    pub(super) fn var(&self, var: VarId) -> String {
        self.made.vars[var].name.map_or("", |it| self.made.names.text(it)).to_owned()
    }

    /// A declaration of a name.
    pub(super) fn declare(&self, ty: Ty, name: &str) -> String {
        one_line(&self.printer.declare(ty, name))
    }

    /// An expression or list item.
    pub(super) fn expr(&self, id: ExprId) -> String {
        let expr = &self.made.exprs[id];
        if let ExprKind::Var(var) = expr.kind {
            return self.var(var);
        }
        let written = match self.program.exprs.find(id) {
            Some(_) => self.written(expr.span),
            None => String::new(),
        };
        // Of a pointer that stands for all it leads to, the user has written the name alone.
        let is_name = matches!(expr.kind, ExprKind::Section(_)) && !written.contains('[');
        if written.is_empty() || is_name { one_line(&self.printer.expr(id)) } else { written }
    }

    pub(super) fn list(&self, items: &[ExprId]) -> Vec<String> {
        items.iter().map(|it| self.expr(*it)).collect()
    }

    /// What the user wrote at a place, on one line.
    pub(super) fn written(&self, span: Span) -> String {
        let found = self.locator.locate(span).and_then(|at| {
            let text = self.locator.written(&at.file)?;
            Some(String::from_utf8_lossy(text.get(at.written?)?).into_owned())
        });
        one_line(&found.unwrap_or_default())
    }
}

/// The same without line ends and the backslashes before them.
pub(super) fn one_line(text: &str) -> String {
    let joined = text.replace("\\\r\n", " ").replace("\\\n", " ");
    joined.split_whitespace().collect::<Vec<_>>().join(" ")
}
