//! Directives that declare: what they are about, and where those end that hold up to a marker.
//!
//! A user's reduction for several types becomes one declaration per type; its `vars` are those of
//! [`directive::REDUCTION_VARIABLES`], in that order.

use directive::Written;
use ir::construct::{Args, ClauseKind, Construct, Leaf, MemoryKind, ReductionDecl};
use ir::program::{Declaration, ExprId, ExprKind, FunctionId, Item, Rewritten, Typed, VarId};
use rustc_hash::FxHashSet;
use source::Span;

use crate::Cx;
use crate::regions::{has_static_storage, is_thread_local, places};
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

    /// Reads declarations and gathers what they declare; parameters of prototypes are kept.
    pub(super) fn about_body(&mut self, body: impl FnOnce(&mut Self)) -> Open {
        let kept = std::mem::replace(&mut self.keeps_params, true);
        if !kept {
            self.kept_params.clear();
        }
        self.open.push(Open::default());
        body(self);
        self.keeps_params = kept;
        self.open.pop().unwrap_or_default()
    }

    pub(super) fn open_declaration(&mut self, construct: &Construct<Written>) {
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
    pub(super) fn close_declaration(&mut self, construct: &Construct<Written>) {
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
    pub(super) fn declarations_of(
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
            Args::Memory(kinds) => {
                let is_of_team = |it: &&MemoryKind<Written>| {
                    it.space.is_some_and(|name| self.program.names.text(name) == TEAM_MEMORY)
                };
                let (team, others): (Vec<_>, Vec<_>) = kinds.iter().partition(is_of_team);
                let items = team.iter().flat_map(|it| it.items.clone()).collect();
                let others: Vec<_> = others.into_iter().cloned().collect();
                if !others.is_empty() {
                    let rest = Construct { args: Args::Memory(others), ..construct.clone() };
                    self.add_declaration(&rest, &about);
                }
                if !team.is_empty() {
                    let leaves = vec![Leaf::Groupprivate];
                    let args = Args::Items(items);
                    let grouped = Construct { leaves, args, ..construct.clone() };
                    self.add_declaration(&grouped, &about);
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
        if construct.has(Leaf::Memory) {
            self.keep_per_thread(&typed, &vars);
        }
        let within = self.function.as_ref().map(|it| it.id);
        let params = self.params_of(about);
        let made = Declaration { construct: typed, functions, vars, params, within, ended: None };
        self.program.declarations.push(made);
    }

    /// Variables with a memory kind: each thread has its own, which it must not have for another reason already.
    fn keep_per_thread(&mut self, construct: &Construct<Typed>, vars: &[VarId]) {
        for &var in vars {
            if self.program.vars[var].thread_local {
                let at = items_of(construct).find(
                    |it| matches!(self.program.exprs[**it].kind, ExprKind::Var(it) if it == var),
                );
                let span = at.map_or(construct.span, |it| self.program.exprs[*it].span);
                let fault = is_thread_local(&self.program, construct, var, span);
                self.report(fault);
            } else {
                self.program.vars[var].thread_local = has_static_storage(&self.program, var);
            }
        }
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
}

/// The memory of a team, as a memory kind.
const TEAM_MEMORY: &str = "teamlocal";

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
