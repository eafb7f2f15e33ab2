//! An iteration as several run it in step: runs of code, and loops that all of them go round together.
//!
//! In: the code of an iteration of a shared loop, and the dimensions along which neighbours run in step. Out: [`Strip`],
//! the code in pieces, and the variables that each iteration must have for itself while others run. Iterations are
//! nobody's to order, so any order of their statements will do that keeps the order of each: sums of each are added
//! up as written.

use ir::construct::ReductionOp;
use ir::program::{ExprId, ExprKind, Init, Program, StmtId, StmtKind, VarId};
use ir::walk::Part;
use kernel::copy::Copier;
use kernel::walk::{How, uses};
use kernel::{Dim, Kernel, Space};
use rustc_hash::{FxHashMap, FxHashSet};

use super::Cx;
use super::nest::{Quiet, constants, counted, is_known, listed, mentions, mentions_in};

/// A piece of an iteration.
#[derive(Clone, Debug)]
pub(super) enum Item {
    /// Statements without a loop that all go round together.
    Run(Vec<StmtId>),
    /// Such a loop.
    Loop(Rounds),
}

/// A loop that all go round together: its bounds are the same for them.
#[derive(Clone, Debug)]
pub(super) struct Rounds {
    pub(super) dim: Dim,
    pub(super) body: Vec<Item>,
}

/// An iteration in pieces.
#[derive(Clone, Debug)]
pub(super) struct Strip {
    pub(super) items: Vec<Item>,
    /// Scalars that live longer than a run.
    pub(super) own: Vec<VarId>,
    /// Scalars of the thread that one run uses, outside of loops.
    pub(super) scratch: Vec<VarId>,
    /// Elements that loops look at or store to.
    pub(super) inside: Vec<ExprId>,
    /// Elements that loops store to.
    pub(super) stored_inside: Vec<ExprId>,
    /// Elements that are looked at or stored to.
    pub(super) named: Vec<ExprId>,
    /// Elements that are stored to.
    pub(super) stored: Vec<ExprId>,
    /// Scalars that loops change from round to round.
    pub(super) carried: Vec<VarId>,
    /// What iterations combine, of which each lane may have its own.
    pub(super) sums: Vec<VarId>,
}

/// Variables that threads combine by an operator of C when all iterations are done.
pub(super) fn sums(cx: &Cx<'_>) -> FxHashSet<VarId> {
    let types = &cx.program.types;
    let found = kernel::walk::all(&cx.kernel.body).into_iter().filter_map(|it| match &it.kind {
        kernel::StmtKind::Reduce(it) if it.elements.is_none() => Some(it),
        _ => None,
    });
    found
        .filter(|it| !matches!(it.op, ReductionOp::User(_)))
        .map(|it| it.copy)
        .filter(|it| {
            let ty = cx.program.vars[*it].ty;
            types.is_scalar(ty) && !types.is_complex(ty) && !types.is_pointer(ty)
        })
        .collect()
}

impl Strip {
    /// `dims`: what counts the iterations; `moving`: those along which they run in step; `taken`: variables that are not
    /// an iteration's own though a thread has its own of them; `sums`: those of them that [`sums`] has found.
    pub(super) fn find(
        program: &mut Program,
        kernel: &Kernel,
        code: StmtId,
        (dims, moving): (&[VarId], &[VarId]),
        taken: &FxHashSet<VarId>,
        sums: &FxHashSet<VarId>,
    ) -> Option<Strip> {
        let set = set_by(program, code)?;
        if dims.iter().any(|it| set.contains(it)) {
            return None;
        }
        let code = with_constants_resolved(program, kernel, code)?;
        let set = set_by(program, code)?;
        let same: Vec<VarId> = dims.iter().copied().filter(|it| !moving.contains(it)).collect();
        let mut items = items(program, kernel, &listed(program, code), &mut same.clone());
        drop_unused(program, &mut items);
        let mut strip = Strip {
            items,
            own: Vec::new(),
            scratch: Vec::new(),
            inside: Vec::new(),
            stored_inside: Vec::new(),
            named: Vec::new(),
            stored: Vec::new(),
            carried: Vec::new(),
            sums: Vec::new(),
        };
        strip.variables(program, kernel, &set, (taken, sums))?;
        strip.elements(program);
        Some(strip)
    }

    /// All runs, and whether each stands in a loop.
    pub(super) fn runs(&self) -> Vec<(&[StmtId], bool)> {
        fn add<'a>(items: &'a [Item], is_inside: bool, found: &mut Vec<(&'a [StmtId], bool)>) {
            for item in items {
                match item {
                    Item::Run(list) => found.push((list, is_inside)),
                    Item::Loop(it) => add(&it.body, true, found),
                }
            }
        }
        let mut found = Vec::new();
        add(&self.items, false, &mut found);
        found
    }

    /// Finds the scalars that live longer than a run; none if they cannot be kept for several iterations.
    fn variables(
        &mut self,
        program: &Program,
        kernel: &Kernel,
        set: &FxHashSet<VarId>,
        (taken, sums): (&FxHashSet<VarId>, &FxHashSet<VarId>),
    ) -> Option<()> {
        let mut runs_of: FxHashMap<VarId, Vec<usize>> = FxHashMap::default();
        let mut order = Vec::new();
        let (mut declared, mut nested) = (FxHashMap::default(), FxHashSet::default());
        let mut carried = Vec::new();
        let counters = counters(&self.items);
        for (at, (list, is_inside)) in self.runs().into_iter().enumerate() {
            for stmt in list {
                let (used, locals) = uses(program, Part::Stmt(*stmt));
                let top = match program.stmts[*stmt].kind {
                    StmtKind::Local(var) => Some(var),
                    _ => None,
                };
                nested.extend(locals.into_iter().filter(|it| Some(*it) != top));
                declared.extend(top.map(|it| (it, at)));
                for it in used.iter().map(|it| it.var).chain(top) {
                    let runs = runs_of.entry(it).or_default();
                    if runs.is_empty() {
                        order.push(it);
                    }
                    if runs.last() != Some(&at) {
                        runs.push(at);
                    }
                }
                let sets = used.iter().filter(|it| it.how != How::Named).map(|it| it.var);
                carried.extend(sets.filter(|_| is_inside));
            }
        }
        for var in order {
            // Elements that each iteration has for itself would be there once for all that run in step.
            let ty = program.vars[var].ty;
            let is_own = kernel.space(var) == Some(Space::Private);
            if kernel.space(var).is_some() && !program.types.is_scalar(ty)
                || is_own && program.types.is_pointer(ty)
            {
                return None;
            }
            let is_set = set.contains(&var) || declared.contains_key(&var);
            let runs = runs_of.get(&var)?;
            let is_of_run = declared.get(&var).is_some_and(|at| runs.as_slice() == [*at]);
            if !is_set || is_of_run || nested.contains(&var) || counters.contains(&var) {
                continue;
            }
            if sums.contains(&var) {
                self.sums.push(var);
                continue;
            }
            let is_threads = kernel.space(var) == Some(Space::Private) && !taken.contains(&var);
            let is_plain = program.types.is_scalar(ty)
                && !program.types.is_complex(ty)
                && !program.types.is_pointer(ty)
                && !ty.quals.is_volatile;
            let is_listed = program.vars[var]
                .init
                .is_some_and(|it| matches!(program.inits[it], Init::List(..)));
            if !(declared.contains_key(&var) || is_threads) || !is_plain || is_listed {
                return None;
            }
            let is_of_one = match runs.as_slice() {
                [only] => !self.runs().get(*only).is_some_and(|it| it.1),
                _ => false,
            };
            match is_of_one {
                true => self.scratch.push(var),
                false => self.own.push(var),
            }
        }
        self.carried = self.own.iter().copied().filter(|it| carried.contains(it)).collect();
        Some(())
    }

    fn elements(&mut self, program: &Program) {
        let runs: Vec<(StmtId, bool)> = self
            .runs()
            .into_iter()
            .flat_map(|(list, is_inside)| list.iter().map(move |it| (*it, is_inside)))
            .collect();
        for (stmt, is_inside) in runs {
            let stored = super::nest::stores(program, stmt);
            let named = elements(program, stmt);
            self.stored.extend(&stored);
            self.named.extend(&named);
            if is_inside {
                self.inside.extend(named);
                self.stored_inside.extend(stored);
            }
        }
    }

    /// Whether an element is found by what each iteration has for itself.
    pub(super) fn is_indirect(&self, program: &Program, e: ExprId) -> bool {
        let lists = [&self.own, &self.scratch, &self.sums];
        mentions(program, e, |it| lists.iter().any(|list| list.contains(&it)))
    }
}

/// What counts the rounds of loops.
fn counters(items: &[Item]) -> Vec<VarId> {
    let inside = items.iter().map(|it| match it {
        Item::Run(_) => Vec::new(),
        Item::Loop(it) => [vec![it.dim.var], counters(&it.body)].concat(),
    });
    inside.flatten().collect()
}

/// The elements of memory that code names, as wholes.
pub(super) fn elements(program: &Program, stmt: StmtId) -> Vec<ExprId> {
    let mut found = Vec::new();
    let mut open = vec![Part::Stmt(stmt)];
    while let Some(part) = open.pop() {
        if let Part::Expr(e) = part
            && let ExprKind::Index(..) | ExprKind::Deref(_) | ExprKind::Member(..) =
                program.exprs[e].kind
            && program.types.is_scalar(program.exprs[e].ty)
        {
            found.push(e);
        }
        program.parts(part, &mut |it| open.push(it));
    }
    found
}

/// The pieces of a list; `same`: what counts for all alike.
fn items(program: &Program, kernel: &Kernel, list: &[StmtId], same: &mut Vec<VarId>) -> Vec<Item> {
    let mut made = Vec::new();
    for stmt in list {
        if let StmtKind::For(one) = &program.stmts[*stmt].kind
            && let Some(dim) = counted(program, one)
            && [dim.begin, dim.bound].iter().all(|it| is_known(program, kernel, *it, same))
            && !sets(program, one.body, dim.var)
        {
            same.push(dim.var);
            let body = items(program, kernel, &listed(program, one.body), same);
            same.pop();
            made.push(Item::Loop(Rounds { dim, body }));
            continue;
        }
        if let StmtKind::Empty = program.stmts[*stmt].kind {
            continue;
        }
        match made.last_mut() {
            Some(Item::Run(run)) => run.push(*stmt),
            Some(Item::Loop(_)) | None => made.push(Item::Run(vec![*stmt])),
        }
    }
    made
}

fn sets(program: &Program, code: StmtId, var: VarId) -> bool {
    uses(program, Part::Stmt(code)).0.iter().any(|it| it.var == var && it.how != How::Named)
}

/// Variables that only name a value which is computed from what does not change are that value.
fn with_constants_resolved(program: &mut Program, kernel: &Kernel, code: StmtId) -> Option<StmtId> {
    let mut code = code;
    // As often as constants are made of constants.
    for _ in 0..4 {
        // A copy of code has local variables of its own.
        let set = set_by(program, code)?;
        let declared = uses(program, Part::Stmt(code)).1;
        let mut known = constants(program, kernel, &declared, &set);
        let moves = |program: &Program, e: ExprId| {
            looks_or_calls(program, e) || mentions(program, e, |it| set.contains(&it))
        };
        known.retain(|_, value| !moves(program, *value));
        let names = |it: VarId| known.contains_key(&it);
        if !mentions_in(program, Part::Stmt(code), names) {
            break;
        }
        code = Copier { exprs: known, ..Copier::new(program) }.stmt(code);
    }
    Some(code)
}

/// The variables that code sets; nothing if it does more besides than store.
fn set_by(program: &Program, code: StmtId) -> Option<FxHashSet<VarId>> {
    Some(Quiet::new(program).set(Part::Stmt(code), true)?.into_iter().collect())
}

/// Whether an expression may look at memory, whatever is there, or call something. Addresses are only computed.
fn looks_or_calls(program: &Program, e: ExprId) -> bool {
    let mut open = vec![Part::Expr(e)];
    while let Some(part) = open.pop() {
        let Part::Expr(e) = part else {
            program.parts(part, &mut |it| open.push(it));
            continue;
        };
        let node = &program.exprs[e];
        match node.kind {
            ExprKind::Call(..) => return true,
            ExprKind::Index(..) | ExprKind::Deref(_) | ExprKind::Member(..)
                if !program.types.is_array(node.ty) =>
            {
                return true;
            }
            ExprKind::AddrOf(of) => program.parts(Part::Expr(of), &mut |it| open.push(it)),
            _ => program.parts(part, &mut |it| open.push(it)),
        }
    }
    false
}

/// Takes out declarations of variables that nothing names.
fn drop_unused(program: &Program, items: &mut Vec<Item>) {
    loop {
        let mut named: FxHashSet<VarId> = FxHashSet::default();
        names_in(program, items, &mut named);
        let mut has_dropped = false;
        drop_from(program, items, &named, &mut has_dropped);
        if !has_dropped {
            return;
        }
    }
}

fn names_in(program: &Program, items: &[Item], named: &mut FxHashSet<VarId>) {
    for item in items {
        match item {
            Item::Run(list) => {
                for stmt in list {
                    named.extend(uses(program, Part::Stmt(*stmt)).0.iter().map(|it| it.var));
                }
            }
            Item::Loop(it) => {
                for e in [it.dim.begin, it.dim.bound] {
                    named.extend(uses(program, Part::Expr(e)).0.iter().map(|it| it.var));
                }
                names_in(program, &it.body, named);
            }
        }
    }
}

fn drop_from(
    program: &Program,
    items: &mut Vec<Item>,
    named: &FxHashSet<VarId>,
    has_dropped: &mut bool,
) {
    for item in items.iter_mut() {
        match item {
            Item::Run(list) => list.retain(|stmt| {
                let is_unused = match program.stmts[*stmt].kind {
                    StmtKind::Local(var) => !named.contains(&var),
                    _ => false,
                };
                *has_dropped |= is_unused;
                !is_unused
            }),
            Item::Loop(it) => drop_from(program, &mut it.body, named, has_dropped),
        }
    }
    items.retain(|it| !matches!(it, Item::Run(list) if list.is_empty()));
}
