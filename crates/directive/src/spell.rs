//! A construct as text: every expression, type and name becomes its spelling.
//!
//! The places are left behind: what is spelt alike is equal, wherever it was written.

use ir::construct::{Construct, Convert, Spelled};
use source::{Name, Span};
use syntax::ast::{ExprId, InitId, Tree, TypeNameId};
use syntax::print::{print_expr, print_init, print_type_name};

use crate::Written;

/// The construct with its parts as text.
pub fn spell(construct: &Construct<Written>, tree: &Tree) -> Construct<Spelled> {
    construct.convert(&mut Speller { tree })
}

struct Speller<'t> {
    tree: &'t Tree,
}

impl Convert<Written, Spelled> for Speller<'_> {
    fn expr(&mut self, expr: &ExprId) -> String {
        print_expr(self.tree, *expr)
    }

    fn ty(&mut self, ty: &TypeNameId) -> String {
        print_type_name(self.tree, *ty)
    }

    fn init(&mut self, init: &InitId) -> String {
        print_init(self.tree, *init)
    }

    fn name(&mut self, name: &Name) -> String {
        self.tree.names.text(*name).to_owned()
    }

    fn span(&mut self, _: Span) -> Span {
        Span::NONE
    }
}
