//! Variables that a kernel needs although the region itself says nothing of them: those that only
//! constructs inside name, and those in clauses that stay with the kernel.

use ir::construct::{Clause, ClauseKind, Construct, Convert, Leaf};
use ir::program::{ExprId, ExprKind, InitId, Program, RegionId, Typed, VarId, VarStorage};
use ir::region::Sharing;
use ir::types::Ty;
use ir::walk::Part;
use rustc_hash::FxHashSet;
use source::Name;

use super::entries::variable_lengths;
use super::kernel::regions_in;
use crate::c::{Printer, Used};

/// A variable from outside.
pub(super) struct Mention {
    pub(super) var: VarId,
    /// Its value outside does not matter.
    pub(super) is_private: bool,
}

/// What region `id` needs beyond its own variables.
pub(super) fn of(program: &Program, id: RegionId) -> Vec<Mention> {
    let region = &program.regions[id];
    let mapped = region.vars.iter().filter(|it| !it.mappings.is_empty());
    let mut known: FxHashSet<VarId> = mapped.map(|it| it.var).collect();
    let Some(body) = region.body else { return Vec::new() };
    known.extend(declared_in(program, body));
    let mut found: Vec<Mention> = Vec::new();
    let mut add = |var: VarId, is_private: bool| {
        if known.contains(&var) {
            return;
        }
        match found.iter_mut().find(|it| it.var == var) {
            Some(mention) => mention.is_private &= is_private,
            None => found.push(Mention { var, is_private }),
        }
    };
    if region.construct.leaves.len() > 1 {
        let clauses = region.construct.clauses.iter().filter(|it| stays(it));
        for clause in clauses {
            let only = Construct { clauses: vec![clause.clone()], ..region.construct.clone() };
            vars_in(program, &only).into_iter().for_each(|it| add(it, false));
        }
    }
    // Lengths in types that are named in the body.
    let mut used = Used::default();
    used.part(program, Part::Stmt(body));
    let mut inner = regions_in(program, body);
    for var in used.vars {
        let it = &program.vars[var];
        // An iterator is declared where it is used.
        if inner.iter().any(|id| program.regions[*id].construct.span.contains(it.span)) {
            continue;
        }
        // Those of functions that are called are theirs.
        let is_local = matches!(it.storage, VarStorage::Local(of) | VarStorage::Param(of) if of == region.function);
        if is_local && it.name.is_some() && program.types.is_scalar(it.ty) {
            add(var, false);
        }
    }
    inner.sort_by_key(|it| program.regions[*it].span.start);
    for id in inner {
        let region = &program.regions[id];
        for var in &region.vars {
            let is_private =
                matches!(var.sharing.as_ref().map(|it| &it.value), Some(Sharing::Private));
            add(var.var, is_private);
        }
        let listed: FxHashSet<VarId> = region.vars.iter().map(|it| it.var).collect();
        for var in vars_in(program, &region.construct) {
            if !listed.contains(&var) {
                add(var, false);
            }
        }
    }
    found
}

/// Lengths that the body of a region has in its types although they were computed before it, and how
/// to get them back where the region stands.
pub(super) fn lengths(printer: &Printer<'_>, id: RegionId) -> Vec<(ExprId, String)> {
    let program = printer.program();
    let region = &program.regions[id];
    let Some(body) = region.body else { return Vec::new() };
    let (mut inside, mut named) = (FxHashSet::default(), Vec::new());
    let mut open = vec![Part::Stmt(body)];
    while let Some(part) = open.pop() {
        match part {
            Part::Local(var) => {
                inside.insert(var);
            }
            Part::Expr(expr) => named.push(expr),
            Part::Stmt(_) | Part::Init(_) | Part::Region(_) => {}
        }
        program.parts(part, &mut |it| open.push(it));
    }
    let named: FxHashSet<ExprId> = named.into_iter().collect();
    let mut found: Vec<(ExprId, String)> = Vec::new();
    let mut add = |it: (ExprId, String)| {
        if named.contains(&it.0) && !found.iter().any(|that| that.0 == it.0) {
            found.push(it);
        }
    };
    let is_of_function = |it: VarStorage| matches!(it, VarStorage::Local(of) | VarStorage::Param(of) if of == region.function);
    // Variables that passes have made are in kernels only.
    let mut declared: Option<FxHashSet<VarId>> = None;
    let mut is_declared = |id: VarId, storage: VarStorage| {
        let body = program.functions.find(region.function).and_then(|it| it.body);
        let all = || body.map(|it| declared_in(program, it)).unwrap_or_default();
        matches!(storage, VarStorage::Param(_)) || declared.get_or_insert_with(all).contains(&id)
    };
    for (id, var) in program.vars.iter() {
        if var.name.is_some() && is_of_function(var.storage) && !inside.contains(&id) {
            let name = printer.var_name(id);
            let lengths = variable_lengths(program, var.ty, &name);
            if !lengths.is_empty() && is_declared(id, var.storage) {
                lengths.into_iter().for_each(&mut add);
            }
        }
    }
    let around = program.stmts[body].span;
    for (_, alias) in program.types.aliases.iter() {
        let is_outside = alias.span.start < around.start || alias.span.end > around.end;
        if is_outside && program.types.is_vla(alias.ty) {
            let object = format!("*({} *)0", program.names.text(alias.name));
            variable_lengths(program, alias.ty, &object).into_iter().for_each(&mut add);
        }
    }
    found
}

/// Whether a clause of a construct that leaves the host is for a part that stays with the kernel.
pub(super) fn stays(clause: &Clause<Typed>) -> bool {
    clause.on != Some(Leaf::Offload)
        && !matches!(
            clause.kind,
            ClauseKind::Map(_)
                | ClauseKind::Device(..)
                | ClauseKind::DefaultMap(..)
                | ClauseKind::Depend(_)
                | ClauseKind::DevicePointer(_)
                | ClauseKind::HasDeviceAddr(_)
                | ClauseKind::UsesAllocators(_)
                | ClauseKind::Nowait(_)
                | ClauseKind::NumTeams { .. }
                | ClauseKind::ThreadLimit(_)
        )
}

/// Variables that come to life in a statement.
pub(super) fn declared_in(program: &Program, stmt: ir::program::StmtId) -> FxHashSet<VarId> {
    let mut found = FxHashSet::default();
    let mut open = vec![Part::Stmt(stmt)];
    while let Some(part) = open.pop() {
        if let Part::Local(var) = part {
            found.insert(var);
        }
        program.parts(part, &mut |it| open.push(it));
    }
    found
}

/// Variables that the clauses of a construct name, those that it declares itself left out.
pub(super) fn vars_in(program: &Program, construct: &Construct<Typed>) -> Vec<VarId> {
    let mut collect = Collect::default();
    let _: Construct<Typed> = construct.convert(&mut collect);
    let mut found = Vec::new();
    let mut open: Vec<Part> = collect.exprs.into_iter().map(Part::Expr).collect();
    while let Some(part) = open.pop() {
        if let Part::Expr(id) = part
            && let ExprKind::Var(var) = program.exprs[id].kind
            && !found.contains(&var)
            && !program.vars[var].name.is_some_and(|it| collect.own.contains(&it))
        {
            found.push(var);
        }
        program.parts(part, &mut |it| open.push(it));
    }
    found
}

/// Gathers the expressions of a construct and the names that it declares.
#[derive(Default)]
struct Collect {
    exprs: Vec<ExprId>,
    own: Vec<Name>,
}

impl Convert<Typed, Typed> for Collect {
    fn expr(&mut self, expr: &ExprId) -> ExprId {
        self.exprs.push(*expr);
        *expr
    }

    fn ty(&mut self, ty: &Ty) -> Ty {
        *ty
    }

    fn init(&mut self, init: &InitId) -> InitId {
        *init
    }

    fn name(&mut self, name: &Name) -> Name {
        *name
    }

    fn enter_iterators(&mut self, iterators: &[ir::construct::IteratorVar<Typed>]) {
        self.own.extend(iterators.iter().map(|it| it.name));
    }
}
