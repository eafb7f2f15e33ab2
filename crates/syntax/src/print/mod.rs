//! The tree as C text again.
//!
//! In: a [`Tree`], or a handle into one. Out: C that compiles to the same program. What was written
//! is printed as written wherever it has a meaning; the layout is ours. Trees need not come from
//! the parser: parentheses that a tree lacks and its shape needs are added, and so are the braces
//! that keep an `else` with its `if`.
//!
//! Keywords that an older `-std=` would take for names are printed in the spelling that every mode
//! knows (`__inline`, `__restrict`, `__typeof__`, `__asm__`), because the text is compiled with the
//! flags of its user. A pragma is a line of its own. An `Error` node has been reported when it was
//! made; it is printed as a comment that marks the place.
//!
//! Expressions are printed without recursion, so chains of operators may be as long as they like;
//! the depth of blocks and declarators is bounded by the parser.

mod decl;
mod declarator;
mod expr;
mod level;
mod stmt;
mod types;

pub use level::Level;

use crate::ast::{DeclId, ExprId, InitId, PragmaId, StmtId, Tree, TypeNameId};

/// The whole translation unit.
pub fn print(tree: &Tree) -> String {
    let mut printer = Printer::new(tree);
    printer.items();
    printer.out
}

/// One expression, without parentheses around it.
pub fn print_expr(tree: &Tree, expr: ExprId) -> String {
    let mut printer = Printer::new(tree);
    printer.expr(expr, Level::Comma);
    printer.out
}

/// One type name, as it stands in a cast.
pub fn print_type_name(tree: &Tree, type_name: TypeNameId) -> String {
    let mut printer = Printer::new(tree);
    printer.type_name(type_name);
    printer.out
}

/// One initialiser, with its braces.
pub fn print_init(tree: &Tree, init: InitId) -> String {
    let mut printer = Printer::new(tree);
    printer.init(init);
    printer.out
}

/// One statement, its last line ended.
pub fn print_stmt(tree: &Tree, stmt: StmtId) -> String {
    let mut printer = Printer::new(tree);
    printer.stmt(stmt);
    printer.out
}

/// One declaration, its last line ended.
pub fn print_decl(tree: &Tree, decl: DeclId) -> String {
    let mut printer = Printer::new(tree);
    printer.decl(decl);
    printer.out
}

/// Printed for what could not be read.
const ERROR: &str = "/* error */";

/// The text so far, and where in it we are.
struct Printer<'t> {
    tree: &'t Tree,
    out: String,
    /// Depth of the lines now being written.
    indent: usize,
}

impl<'t> Printer<'t> {
    fn new(tree: &'t Tree) -> Printer<'t> {
        Printer { tree, out: String::new(), indent: 0 }
    }

    /// Appends `text`, kept apart from what stands before where both would be read as one token:
    /// `- -a`, `+ ++a`, `& &x`.
    fn put(&mut self, text: &str) {
        if let (Some(before), Some(after)) = (self.out.chars().next_back(), text.chars().next())
            && before == after
            && matches!(after, '+' | '-' | '&')
        {
            self.out.push(' ');
        }
        self.out.push_str(text);
    }

    /// A space, unless nothing stands before it that it could part.
    fn space(&mut self) {
        if self.out.chars().next_back().is_some_and(|it| !it.is_whitespace() && it != '(') {
            self.out.push(' ');
        }
    }

    fn name(&mut self, name: source::Name) {
        let tree = self.tree;
        self.put(tree.names.text(name));
    }

    /// Starts a line: its indentation.
    fn begin_line(&mut self) {
        for _ in 0..self.indent {
            self.out.push_str("    ");
        }
    }

    /// Ends a line with `text`.
    fn end_line(&mut self, text: &str) {
        self.put(text);
        self.out.push('\n');
    }

    /// Runs `print` one level deeper.
    fn indented(&mut self, print: impl FnOnce(&mut Self)) {
        self.indent += 1;
        print(self);
        self.indent -= 1;
    }

    /// Length of the line now being written.
    fn column(&self) -> usize {
        self.out.len() - self.out.rfind('\n').map_or(0, |it| it + 1)
    }

    /// Prints `items` with `separator` between them.
    fn separated<T>(
        &mut self,
        items: impl IntoIterator<Item = T>,
        separator: &str,
        mut print: impl FnMut(&mut Self, T),
    ) {
        for (at, item) in items.into_iter().enumerate() {
            if at > 0 {
                self.put(separator);
            }
            print(self, item);
        }
    }

    /// `#pragma …`, a line that begins in the first column.
    fn pragma(&mut self, pragma: PragmaId) {
        let tree = self.tree;
        self.put("#pragma ");
        self.end_line(tree.names.text(tree.pragmas[pragma].text));
    }
}
