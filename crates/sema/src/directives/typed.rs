//! From written to typed: the expressions, types and names of a construct.

use directive::Written;
use ir::construct::{
    Clause, ClauseKind, Construct, Convert, IteratorVar, Leaf, MapperDecl, ReductionDecl,
    Requirement,
};
use ir::program::{ExprId, HostWords, InitId, Typed, Var, VarId, VarStorage};
use ir::types::Ty;
use source::{Name, Span};
use syntax::ast;

use crate::Cx;
use crate::scope::Entity;

impl Cx<'_> {
    /// Types the expressions of a construct; also gives the variables that it declares itself.
    pub(crate) fn typed(
        &mut self,
        construct: &Construct<Written>,
    ) -> (Construct<Typed>, Vec<VarId>) {
        let depth = self.scopes.depth();
        let quiet = self.quiet_names;
        let is_extension = |it: &Leaf| {
            matches!(it, Leaf::Transform | Leaf::Resources | Leaf::Memories | Leaf::Define)
        };
        self.quiet_names = construct.leaves.iter().any(is_extension);
        self.scopes.open();
        let was_in_directive = std::mem::replace(&mut self.in_directive, true);
        let mut typer = Typer { quiet: self.quiet_names, vars: Vec::new(), cx: self };
        let mut typed = construct.convert(&mut typer);
        let vars = typer.vars;
        let was_asked = typed.kinds().any(|it| matches!(it, ClauseKind::Coexecute));
        typed.clauses.retain(|it| !self.is_switched_off(it));
        for fault in directive::settle(&mut typed, was_asked) {
            self.report(fault);
        }
        while self.scopes.depth() > depth {
            self.scopes.close();
        }
        self.quiet_names = quiet;
        self.in_directive = was_in_directive;
        (typed, vars)
    }

    /// Whether a constant in the clause says that it does not hold: `nowait(0)`.
    fn is_switched_off(&self, clause: &Clause<Typed>) -> bool {
        let switch = clause.switch.or(match &clause.kind {
            ClauseKind::Nowait(switch)
            | ClauseKind::Nogroup(switch)
            | ClauseKind::Untied(switch)
            | ClauseKind::Mergeable(switch)
            | ClauseKind::Replayable(switch)
            | ClauseKind::Indirect(switch)
            | ClauseKind::NoUse(_, switch) => *switch,
            // How many threads keep step: a number.
            ClauseKind::Require(Requirement::Safesync, _) => None,
            ClauseKind::Require(_, switch) => *switch,
            _ => None,
        });
        switch.is_some_and(|it| self.constant(it) == Some(0))
    }

    /// A variable that stands for a value inside a directive.
    fn directive_var(&mut self, name: Name, ty: Ty, span: Span) -> VarId {
        let storage = match &self.function {
            Some(body) => VarStorage::Local(body.id),
            None => VarStorage::Extern,
        };
        let var = self.program.vars.push(Var {
            name: Some(name),
            ty,
            declared_len: None,
            storage,
            thread_local: false,
            align: None,
            init: None,
            device: None,
            host: HostWords::default(),
            span,
        });
        self.scopes.set(name, Entity::Var(var));
        var
    }
}

/// Carries a construct from written to typed.
struct Typer<'c, 't> {
    cx: &'c mut Cx<'t>,
    /// Unknown names are words of an extension in the whole directive.
    quiet: bool,
    /// What a reduction or mapper declares for its own clauses.
    vars: Vec<VarId>,
}

impl Convert<Written, Typed> for Typer<'_, '_> {
    fn expr(&mut self, expr: &ast::ExprId) -> ExprId {
        self.cx.expr(*expr)
    }

    fn ty(&mut self, ty: &ast::TypeNameId) -> Ty {
        self.cx.type_name(*ty)
    }

    /// Initialisers are those of a reduction's private copy.
    fn init(&mut self, init: &ast::InitId) -> InitId {
        let ty = self.vars.first().map_or(self.cx.basics.error, |it| self.cx.program.vars[*it].ty);
        self.cx.initializer(ty, *init, false).0
    }

    fn name(&mut self, name: &Name) -> Name {
        *name
    }

    fn enter_reduction(&mut self, decl: &ReductionDecl<Written>) {
        let Some(ty) = decl.types.first() else { return };
        let span = self.cx.tree.type_names[*ty].span;
        let ty = self.cx.type_name(*ty);
        for word in directive::REDUCTION_VARIABLES {
            let name = self.cx.program.names.intern(word);
            self.vars.push(self.cx.directive_var(name, ty, span));
        }
    }

    fn enter_mapper(&mut self, decl: &MapperDecl<Written>) {
        let span = self.cx.tree.type_names[decl.ty].span;
        let ty = self.cx.type_name(decl.ty);
        self.vars.push(self.cx.directive_var(decl.var, ty, span));
    }

    fn enter_iterators(&mut self, vars: &[IteratorVar<Written>]) {
        self.cx.scopes.open();
        for var in vars {
            let span = self.cx.tree.exprs[var.begin].span;
            let ty = match var.ty {
                Some(ty) => self.cx.type_name(ty),
                None => self.cx.basics.int,
            };
            self.cx.directive_var(var.name, ty, span);
        }
    }

    fn leave_iterators(&mut self, _: &[IteratorVar<Written>]) {
        self.cx.scopes.close();
    }

    fn enter_clause(&mut self, clause: &Clause<Written>) {
        let is_word = matches!(
            clause.kind,
            ClauseKind::Extension(..) | ClauseKind::BindName(_) | ClauseKind::InteropInit(..)
        );
        self.cx.quiet_names = self.quiet || is_word;
    }
}
