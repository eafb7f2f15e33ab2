//! Directives: their expressions are typed in the scope they stand in, and each becomes a region
//! or a declaration.
//!
//! In: constructs as written. Out: constructs as typed ([`typed`]), in [`Program::regions`] with the
//! statement they govern, or in [`Program::declarations`] with the functions and variables they are
//! about ([`declarations`]). What regions mean is [`crate::regions`].
//!
//! [`Program::regions`]: ir::program::Program::regions
//! [`Program::declarations`]: ir::program::Program::declarations

mod declarations;
mod typed;

use directive::Written;
use ir::construct::{Construct, Leaf};
use ir::program::{FunctionId, Item, RegionId, Rewritten, StmtId, StmtKind, Typed};
use ir::region::Region;
use source::Span;
use syntax::ast;
use syntax::pragma::Shape;

use crate::Cx;
use crate::context::Governed;
use crate::regions::places;

pub(crate) use declarations::Open;

impl Cx<'_> {
    /// A pragma at file scope, with the declaration that belongs to it.
    pub(crate) fn file_pragma(&mut self, pragma: ast::PragmaId, body: Option<ast::DeclId>) {
        let directives = self.directives;
        let Some(construct) = directives.get(pragma) else {
            if let Some(body) = body {
                self.file_decl(body);
            }
            return;
        };
        if Self::chooses(construct)
            && let Some(chosen) = self.chosen_declaration(construct)
        {
            self.rewrite(construct.span, Rewritten::Nothing);
            match chosen {
                Some(chosen) => self.declared_with(&chosen, body),
                None => body.into_iter().for_each(|it| self.file_decl(it)),
            }
            return;
        }
        if !construct.leaves.iter().all(|it| declares(*it) || stands_anywhere(*it)) {
            let name = directive::directive_name(construct);
            // Published programs have updates beside their declarations, and lose nothing by it.
            let is_harmless = construct.leaves == [Leaf::Update];
            self.report(places::outside_functions(&name, construct.span, is_harmless));
            if let Some(body) = body {
                self.file_decl(body);
            }
            return;
        }
        match self.tree.pragmas[pragma].shape {
            Shape::Opens => self.open_declaration(construct),
            Shape::Closes => self.close_declaration(construct),
            Shape::Foreign | Shape::Standalone | Shape::Prefix => {
                self.declared_with(construct, body);
            }
        }
    }

    /// A directive in front of a declaration at file scope.
    fn declared_with(&mut self, construct: &Construct<Written>, body: Option<ast::DeclId>) {
        let at = self.program.items.len();
        let about = self.about_body(|cx| {
            if let Some(body) = body {
                cx.file_decl(body);
            }
        });
        let made = self.declarations_of(construct, about);
        let items = made.map(|it| Item::Declaration(it as u32));
        self.program.items.splice(at..at, items);
    }

    /// A directive that acts on its own is no statement: `if` and the like cannot take it as the
    /// whole of what they govern, since removing the pragma would change what that is.
    pub(crate) fn refuse_lone_directive(&mut self, stmt: ast::StmtId, of: &str) {
        let ast::StmtKind::Pragma(pragma, None) = self.tree.stmts[stmt].kind else { return };
        let Some(construct) = self.directives.get(pragma) else { return };
        if self.tree.pragmas[pragma].shape == Shape::Standalone
            && !construct.leaves.iter().all(|it| declares(*it) || stands_anywhere(*it))
        {
            let name = directive::directive_name(construct);
            self.report(places::lone_directive(&name, of, construct.span));
        }
    }

    /// A pragma in front of a declaration in a block.
    pub(crate) fn block_pragma_decl(
        &mut self,
        pragma: ast::PragmaId,
        body: Option<ast::DeclId>,
        out: &mut Vec<StmtId>,
    ) {
        let directives = self.directives;
        let about = self.about_body(|cx| {
            if let Some(body) = body {
                cx.block_decl(body, out);
            }
        });
        if let Some(construct) = directives.get(pragma) {
            self.declare_in_block(construct, about, out);
        }
    }

    /// A pragma in a block, with the statement that belongs to it.
    pub(crate) fn block_pragma(
        &mut self,
        pragma: ast::PragmaId,
        body: Option<ast::StmtId>,
        out: &mut Vec<StmtId>,
    ) {
        let directives = self.directives;
        let Some(construct) = directives.get(pragma) else {
            if let Some(body) = body {
                self.stmt_into(body, out);
            }
            return;
        };
        let shape = self.tree.pragmas[pragma].shape;
        if construct.leaves.iter().all(|it| declares(*it)) {
            match shape {
                Shape::Opens => self.open_declaration(construct),
                Shape::Closes => self.close_declaration(construct),
                Shape::Foreign | Shape::Standalone | Shape::Prefix => {
                    let about = self.about_body(|cx| {
                        if let Some(body) = body {
                            cx.stmt_into(body, out);
                        }
                    });
                    self.declare_in_block(construct, about, out);
                }
            }
            return;
        }
        if Self::chooses(construct) {
            let governed = body.map_or(Governed::Nothing, Governed::One);
            return self.metadirective(construct, governed, out);
        }
        let region = self.region(construct, body);
        out.extend(region);
    }

    fn declare_in_block(
        &mut self,
        construct: &Construct<Written>,
        about: Open,
        out: &mut Vec<StmtId>,
    ) {
        for made in self.declarations_of(construct, about) {
            let stmt = self.stmt_of(StmtKind::Declaration(made as u32), construct.span);
            out.push(stmt);
        }
    }

    fn region(
        &mut self,
        construct: &Construct<Written>,
        body: Option<ast::StmtId>,
    ) -> Option<StmtId> {
        let function = self.function.as_ref()?.id;
        let (typed, _) = self.typed(construct);
        let region = self.new_region(function, typed, construct.span);
        if let Some(body) = body {
            self.regions.push(region);
            let body = self.inner(body);
            self.regions.pop();
            self.program.regions[region].body = Some(body);
        }
        let end = body.map_or(Span::NONE, |it| self.tree.stmts[it].span);
        Some(self.stmt_of(StmtKind::Region(region), construct.span.to(end)))
    }

    /// A region whose body is still to be read.
    pub(crate) fn new_region(
        &mut self,
        function: FunctionId,
        construct: Construct<Typed>,
        span: Span,
    ) -> RegionId {
        self.program.regions.push(Region {
            construct,
            body: None,
            function,
            parent: self.regions.last().copied(),
            loops: Vec::new(),
            vars: Vec::new(),
            reaches: Vec::new(),
            indirect_calls: Vec::new(),
            span,
        })
    }
}

/// Whether a leaf may stand where nothing is executed: it speaks to the compiler.
fn stands_anywhere(leaf: Leaf) -> bool {
    matches!(
        leaf,
        Leaf::Nothing
            | Leaf::Error
            | Leaf::Metadirective
            | Leaf::BeginMetadirective
            | Leaf::EndMetadirective
            | Leaf::Transform
            | Leaf::Resources
            | Leaf::Memories
    )
}

/// Whether a leaf declares something rather than doing something.
pub(crate) fn declares(leaf: Leaf) -> bool {
    use Leaf as L;
    matches!(
        leaf,
        L::DeclareTarget
            | L::BeginDeclareTarget
            | L::EndDeclareTarget
            | L::Declare
            | L::Routine
            | L::DeclareVariant
            | L::BeginDeclareVariant
            | L::EndDeclareVariant
            | L::DeclareSimd
            | L::DeclareReduction
            | L::DeclareMapper
            | L::DeclareInduction
            | L::Threadprivate
            | L::Groupprivate
            | L::Allocate
            | L::Requires
            | L::Assumes
            | L::BeginAssumes
            | L::EndAssumes
            | L::Memory
            | L::Define
    )
}
