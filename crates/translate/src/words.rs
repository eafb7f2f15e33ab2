//! The user's own words for the parts of a directive.
//!
//! Macros in clauses stay macros, spaces stay where they were; what analysis has made is printed.

use ir::program::{ExprId, ExprKind, Program, VarId};
use ir::types::Ty;
use source::{Locator, Span, Worded};

use emit::c::{Printer, Setting};
use levels::base;

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
        let worded = match self.program.exprs.find(id) {
            Some(_) => self.locator.worded(expr.span),
            None => None,
        };
        let has_params = worded.as_ref().is_some_and(|it| !it.params.is_empty());
        if let ExprKind::Var(var) = expr.kind
            && !has_params
        {
            return self.var(var);
        }
        let written = worded.map_or_else(String::new, |it| marked(&it));
        // Of a pointer that stands for all it leads to, the user has written the name alone.
        let is_name = matches!(expr.kind, ExprKind::Section(_))
            && base(self.made, id).is_some_and(|it| self.var(it) == written);
        if written.is_empty() || is_name { one_line(&self.printer.expr(id)) } else { written }
    }

    pub(super) fn list(&self, items: &[ExprId]) -> Vec<String> {
        items.iter().map(|it| self.expr(*it)).collect()
    }

    /// What the user wrote at a place, or what macros have made of it: a macro may say more than that.
    pub(super) fn said(&self, span: Span) -> String {
        match self.locator.worded(span) {
            Some(worded) => one_line(&worded.text),
            None => one_line(&self.locator.printed(span).unwrap_or_default()),
        }
    }

    /// What the user wrote at a place, on one line, for people to read.
    pub(super) fn written(&self, span: Span) -> String {
        if let Some(worded) = self.locator.worded(span) {
            return one_line(&worded.text);
        }
        let found = self.locator.locate(span).and_then(|at| {
            let text = self.locator.written(&at.file)?;
            Some(String::from_utf8_lossy(text.get(at.written?)?).into_owned())
        });
        one_line(&found.unwrap_or_default())
    }
}

/// Stands before words that are parameters of a definition: what they mean differs from use to use.
pub(super) const PARAM: char = '\u{1}';

/// The words on one line, parameters marked.
fn marked(worded: &Worded) -> String {
    let text = one_line(&worded.text);
    if worded.params.is_empty() {
        return text;
    }
    let mut out = String::new();
    for word in pieces(&text) {
        if worded.params.iter().any(|it| it == word) {
            out.push(PARAM);
        }
        out.push_str(word);
    }
    out
}

/// Words, and what stands between them.
pub(super) fn pieces(text: &str) -> Vec<&str> {
    let is_word = |it: char| it.is_alphanumeric() || it == '_';
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let end = rest.find(|it: char| is_word(it) != is_word(first)).unwrap_or(rest.len());
        let (piece, tail) = rest.split_at(end);
        found.push(piece);
        rest = tail;
    }
    found
}

/// The same without line ends and the backslashes before them.
pub(super) fn one_line(text: &str) -> String {
    let joined = text.replace("\\\r\n", " ").replace("\\\n", " ");
    joined.split_whitespace().collect::<Vec<_>>().join(" ")
}
