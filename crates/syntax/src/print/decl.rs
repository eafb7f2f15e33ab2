//! Declarations as text.
//!
//! An attribute of a declarator stands behind it; in a function definition, where that is not
//! allowed, in front of all.

use super::Level;
use super::declarator::Trailer;
use super::{ERROR, Printer};
use crate::ast::{DeclId, DeclKind, ExprId, FunctionDef, InitDeclarator};

impl Printer<'_> {
    /// The file scope, with an empty line around each function.
    pub(super) fn items(&mut self) {
        let tree = self.tree;
        let is_function = |it: DeclId| matches!(tree.decls[it].kind, DeclKind::Function(_));
        let is_pragma = |it: DeclId| matches!(tree.decls[it].kind, DeclKind::Pragma(..));
        let mut before: Option<DeclId> = None;
        for &item in &tree.items {
            // A pragma stays with what it is about.
            let is_apart =
                before.is_some_and(|it| is_function(it) || (is_function(item) && !is_pragma(it)));
            if is_apart {
                self.end_line("");
            }
            self.decl(item);
            before = Some(item);
        }
    }

    /// A declaration on lines of its own.
    pub(super) fn decl(&mut self, decl: DeclId) {
        let tree = self.tree;
        let mut decl = decl;
        while let DeclKind::Pragma(pragma, body) = &tree.decls[decl].kind {
            self.pragma(*pragma);
            match body {
                Some(body) => decl = *body,
                None => return,
            }
        }
        self.begin_line();
        self.decl_text(decl);
        self.end_line("");
    }

    /// A declaration in the middle of a line.
    pub(super) fn decl_text(&mut self, decl: DeclId) {
        let tree = self.tree;
        match &tree.decls[decl].kind {
            DeclKind::Error => self.put(ERROR),
            DeclKind::Empty => self.put(";"),
            DeclKind::Declare(specs, declarators) => {
                self.specs(*specs);
                self.init_declarators(declarators);
                self.put(";");
            }
            DeclKind::Function(def) => self.function(def),
            DeclKind::StaticAssert(condition, message) => self.static_assert(*condition, *message),
            DeclKind::Asm(asm) => {
                self.asm(*asm);
                self.put(";");
            }
            // A line of its own: whoever prints in the middle of one has none to give.
            DeclKind::Pragma(..) => self.put(ERROR),
        }
    }

    fn init_declarators(&mut self, declarators: &[InitDeclarator]) {
        for (at, it) in declarators.iter().enumerate() {
            if at > 0 {
                self.put(", ");
            } else {
                self.space();
            }
            self.declarator(it.declarator, Trailer::Attributes);
            if let Some(init) = it.init {
                self.put(" = ");
                self.init(init);
            }
        }
    }

    /// `int main(void)`, then the body on lines of its own.
    fn function(&mut self, def: &FunctionDef) {
        let tree = self.tree;
        let attrs = &tree.declarators[def.declarator].attrs;
        if attrs.iter().any(|it| !tree.attrs[*it].is_standard) {
            self.attr_lists(attrs, false);
            self.put(" ");
        }
        self.specs(def.specs);
        self.space();
        self.declarator(def.declarator, Trailer::Nothing);
        self.end_line("");
        self.indented(|it| {
            for param in &def.old_params {
                it.decl(*param);
            }
        });
        self.begin_line();
        self.block(def.body);
    }

    /// `_Static_assert(e, "text");`
    pub(super) fn static_assert(&mut self, condition: ExprId, message: Option<ExprId>) {
        self.put("_Static_assert(");
        self.expr(condition, Level::Conditional);
        if let Some(message) = message {
            self.put(", ");
            self.expr(message, Level::Conditional);
        }
        self.put(");");
    }
}
