//! Directives: their expressions are typed in the scope they stand in, and each becomes a region
//! or a declaration.
//!
//! In: constructs as written. Out: constructs as typed, in [`Program::regions`] with the statement
//! they govern, or in [`Program::declarations`] with the functions and variables they are about. A
//! user's reduction for several types becomes one declaration per type; its `vars` are those of
//! [`directive::REDUCTION_VARIABLES`], in that order. What regions mean is [`crate::regions`].
//!
//! [`Program::regions`]: ir::program::Program::regions
//! [`Program::declarations`]: ir::program::Program::declarations

use directive::Written;
use ir::construct::{
    Args, Clause, ClauseKind, Construct, Convert, IteratorVar, Leaf, MapperDecl, ReductionDecl,
    Requirement,
};
use ir::program::{
    Declaration, ExprId, ExprKind, FunctionId, HostWords, InitId, Item, RegionId, Rewritten,
    StmtId, StmtKind, Typed, Var, VarId, VarStorage,
};
use ir::region::Region;
use ir::types::Ty;
use rustc_hash::FxHashSet;
use source::{Name, Span};
use syntax::ast;
use syntax::pragma::Shape;

use crate::Cx;
use crate::context::Governed;
use crate::regions::{has_static_storage, places};
use crate::scope::Entity;

/// A directive that is about the declarations that follow.
#[derive(Debug, Default)]
pub(crate) struct Open {
    /// Where its declaration is kept, once it has one.
    declaration: Option<usize>,
    /// The directive, if it holds up to an end marker.
    opener: Option<Opener>,
    /// Functions up to the end marker replace others of the same name.
    makes_variants: bool,
    /// They replace none, here or on any device: they need not even compile.
    is_void: bool,
    functions: Vec<FunctionId>,
    vars: Vec<VarId>,
    seen: FxHashSet<Noted>,
}

/// A directive that an end marker ends.
#[derive(Debug)]
struct Opener {
    name: String,
    ended_by: Leaf,
    span: Span,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Noted {
    Function(FunctionId),
    Var(VarId),
}

impl Cx<'_> {
    /// Whether functions are being declared under the name of another.
    pub(crate) fn makes_variants(&self) -> bool {
        self.open.iter().any(|it| it.makes_variants)
    }

    /// Tells the directives around that a function is declared.
    pub(crate) fn note_declared_function(&mut self, function: FunctionId) {
        for open in &mut self.open {
            if open.seen.insert(Noted::Function(function)) {
                open.functions.push(function);
            }
        }
    }

    pub(crate) fn note_declared_var(&mut self, var: VarId) {
        for open in &mut self.open {
            if open.seen.insert(Noted::Var(var)) {
                open.vars.push(var);
            }
        }
    }

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

    // ------------------------------------------------------------ declarations

    /// Reads declarations and gathers what they declare; parameters of prototypes are kept.
    fn about_body(&mut self, body: impl FnOnce(&mut Self)) -> Open {
        let kept = std::mem::replace(&mut self.keeps_params, true);
        if !kept {
            self.kept_params.clear();
        }
        self.open.push(Open::default());
        body(self);
        self.keeps_params = kept;
        self.open.pop().unwrap_or_default()
    }

    fn open_declaration(&mut self, construct: &Construct<Written>) {
        let made = self.declarations_of(construct, Open::default());
        let items = made.clone().map(|it| Item::Declaration(it as u32));
        if self.function.is_none() {
            self.program.items.extend(items);
        }
        let makes_variants = construct.has(Leaf::BeginDeclareVariant);
        let declaration = made.last();
        let opened = declaration.and_then(|it| self.program.declarations.get(it));
        let is_void = makes_variants && opened.is_some_and(|it| self.never_fits(&it.construct));
        self.silent += u32::from(is_void);
        let opener = end_marker(construct).map(|ended_by| Opener {
            name: directive::directive_name(construct),
            ended_by,
            span: construct.span,
        });
        self.open.push(Open { declaration, opener, makes_variants, is_void, ..Open::default() });
    }

    /// An end marker; directives that were opened later than the one it ends were forgotten.
    fn close_declaration(&mut self, construct: &Construct<Written>) {
        let opens = |it: &Open| it.opener.as_ref().is_some_and(|it| construct.has(it.ended_by));
        let Some(at) = self.open.iter().rposition(opens) else {
            let name = directive::directive_name(construct);
            let open = self.open.iter().rev().find_map(|it| it.opener.as_ref());
            let open = open.map(|it| (it.name.as_str(), it.span));
            self.report(places::ends_nothing(&name, construct.span, open));
            return;
        };
        self.close_down_to(at + 1);
        if let Some(open) = self.open.pop() {
            let made = open.declaration.and_then(|it| self.program.declarations.get_mut(it));
            if let Some(made) = made {
                made.ended = Some(construct.span);
            }
            self.close_one(open);
        }
    }

    /// The end of the file ends what is open, but that is a fault.
    pub(crate) fn close_all_declarations(&mut self) {
        self.close_down_to(0);
    }

    fn close_down_to(&mut self, depth: usize) {
        for mut open in self.open.split_off(depth.min(self.open.len())) {
            let opener = open.opener.take();
            self.close_one(open);
            if let Some(opener) = opener {
                self.report(places::never_ended(&opener.name, opener.span));
            }
        }
    }

    fn close_one(&mut self, open: Open) {
        if open.is_void {
            self.silent = self.silent.saturating_sub(1);
            self.take_out(&open);
        }
        let made = open.declaration.and_then(|it| self.program.declarations.get_mut(it));
        if let Some(made) = made {
            made.functions.extend(open.functions);
            made.vars.extend(open.vars);
        }
    }

    /// Functions that nobody calls are not passed on.
    fn take_out(&mut self, open: &Open) {
        for &function in &open.functions {
            self.program.functions[function].body = None;
        }
        let made = open.declaration.and_then(|it| self.program.declarations.get(it));
        if let Some(made) = made {
            let span = made.construct.span.to(made.ended.unwrap_or(Span::NONE));
            self.rewrite(span, Rewritten::Nothing);
        }
    }

    /// Types a directive that declares; gives the positions of what it became.
    fn declarations_of(
        &mut self,
        construct: &Construct<Written>,
        about: Open,
    ) -> std::ops::Range<usize> {
        let first = self.program.declarations.len();
        self.scopes.open();
        self.bind_params(&about);
        match &construct.args {
            Args::Reduction(decl) if decl.types.len() > 1 => {
                for ty in &decl.types {
                    let decl = ReductionDecl { types: vec![*ty], ..(**decl).clone() };
                    let args = Args::Reduction(Box::new(decl));
                    let one = Construct { args, ..construct.clone() };
                    self.add_declaration(&one, &about);
                }
            }
            _ => self.add_declaration(construct, &about),
        }
        self.scopes.close();
        first..self.program.declarations.len()
    }

    fn add_declaration(&mut self, construct: &Construct<Written>, about: &Open) {
        let (typed, own) = self.typed(construct);
        let (mut functions, mut vars) = (about.functions.clone(), about.vars.clone());
        vars.extend(own);
        let known = vars.iter().map(|it| Noted::Var(*it));
        let known = known.chain(functions.iter().map(|it| Noted::Function(*it)));
        let mut seen: FxHashSet<Noted> = known.collect();
        for item in items_of(&typed) {
            match self.program.exprs[*item].kind {
                ExprKind::Var(var) if seen.insert(Noted::Var(var)) => vars.push(var),
                ExprKind::Function(it) if seen.insert(Noted::Function(it)) => functions.push(it),
                _ => {}
            }
        }
        if let Args::Name(name) = typed.args
            && construct.has(Leaf::Routine)
            && let Some(Entity::Function(function)) = self.scopes.get(name)
        {
            functions.push(function);
        }
        if construct.has(Leaf::Threadprivate) {
            // An automatic variable is reported later, and stays what it is.
            for &var in &vars {
                let is_static = has_static_storage(&self.program, var);
                self.program.vars[var].thread_local |= is_static;
            }
        }
        let within = self.function.as_ref().map(|it| it.id);
        let params = self.params_of(about);
        let made = Declaration { construct: typed, functions, vars, params, within, ended: None };
        self.program.declarations.push(made);
    }

    /// The parameters of the one function that a directive stands in front of.
    fn params_of(&self, about: &Open) -> Vec<VarId> {
        let [function] = about.functions.as_slice() else { return Vec::new() };
        let own = &self.program.functions[*function].params;
        if own.is_empty() { self.kept_params.clone() } else { own.clone() }
    }

    /// Clauses of a directive in front of a function may name its parameters.
    fn bind_params(&mut self, about: &Open) {
        for param in self.params_of(about) {
            if let Some(name) = self.program.vars[param].name {
                self.scopes.set(name, Entity::Var(param));
            }
        }
    }

    // ------------------------------------------------------------ typing

    /// Types the expressions of a construct; also gives the variables that it declares itself.
    pub(crate) fn typed(
        &mut self,
        construct: &Construct<Written>,
    ) -> (Construct<Typed>, Vec<VarId>) {
        let depth = self.scopes.depth();
        let quiet = self.quiet_names;
        let is_extension =
            |it: &Leaf| matches!(it, Leaf::Transform | Leaf::Resources | Leaf::Define);
        self.quiet_names = construct.leaves.iter().any(is_extension);
        self.scopes.open();
        let mut typer = Typer { quiet: self.quiet_names, vars: Vec::new(), cx: self };
        let mut typed = construct.convert(&mut typer);
        let vars = typer.vars;
        typed.clauses.retain(|it| !self.is_switched_off(it));
        while self.scopes.depth() > depth {
            self.scopes.close();
        }
        self.quiet_names = quiet;
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

/// What a declaring directive names.
fn items_of(construct: &Construct<Typed>) -> impl Iterator<Item = &ExprId> {
    let args: &[ExprId] = match &construct.args {
        Args::Items(items) | Args::ReadonlyItems(items) => items,
        Args::None
        | Args::Name(_)
        | Args::Variant(_)
        | Args::Object(_)
        | Args::Cancel(_)
        | Args::Wait(_)
        | Args::Reduction(_)
        | Args::Mapper(_)
        | Args::Memory(_)
        | Args::Text(_) => &[],
    };
    let memory = match &construct.args {
        Args::Memory(kinds) => kinds.as_slice(),
        _ => &[],
    };
    let clauses = construct.clauses.iter().flat_map(|it| match &it.kind {
        ClauseKind::Map(map) => map.items.as_slice(),
        ClauseKind::DeviceEnter { items, .. }
        | ClauseKind::DeviceLink(items)
        | ClauseKind::DeviceResident(items)
        | ClauseKind::DeviceLocal(items)
        | ClauseKind::DevicePointer(items) => items.as_slice(),
        _ => &[],
    });
    args.iter().chain(memory.iter().flat_map(|it| &it.items)).chain(clauses)
}

/// The marker that ends what the directive opens.
fn end_marker(construct: &Construct<Written>) -> Option<Leaf> {
    construct.leaves.iter().find_map(|leaf| match leaf {
        Leaf::DeclareTarget | Leaf::BeginDeclareTarget => Some(Leaf::EndDeclareTarget),
        Leaf::BeginDeclareVariant => Some(Leaf::EndDeclareVariant),
        Leaf::BeginAssumes => Some(Leaf::EndAssumes),
        _ => None,
    })
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
