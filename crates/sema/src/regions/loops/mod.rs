//! The loops that a construct applies to: how many, which, and whether they have the form.
//!
//! In: a region whose construct is about loops. Out: [`Region::loops`], outermost first, as many as
//! could be understood. A loop that runs in order anyway may have any form: then what does not fit
//! is left out without a word. Loops that an inner transformation makes count as loops here; they
//! stand in the list as the loops they are made from.

mod canonical;
mod escape;

pub(super) use canonical::Fault;

use ir::construct::{ClauseKind, Construct, Leaf, LoopTrust};
use ir::program::{ExprId, Program, RegionId, StmtId, StmtKind, Typed, VarId};
use ir::region::{Loop, Region};
use rustc_hash::FxHashSet;
use source::{Diagnostics, Span};

use self::canonical::Follows;
use super::items::{self, Role};
use super::walk::{self, Access, Visit};
use super::{constant, messages};

/// Fills the loops of all regions; `order` has inner regions before outer ones.
pub(super) fn fill(program: &mut Program, order: &[RegionId], faults: &mut Diagnostics) {
    for &id in order {
        let mut nest = Nest { program, region: &program.regions[id], faults, loops: Vec::new() };
        nest.find();
        let loops = nest.loops;
        program.regions[id].loops = loops;
    }
    escape::check(program, faults);
}

/// Whether a construct is about the loop that follows it.
pub(super) fn takes_loops(construct: &Construct<Typed>) -> bool {
    construct.leaves.iter().any(|&it| deals_iterations(it) || transforms(it))
}

/// Iterations are dealt to somebody.
pub(super) fn deals_iterations(leaf: Leaf) -> bool {
    matches!(leaf, Leaf::For | Leaf::Distribute | Leaf::Simd | Leaf::Loop | Leaf::Taskloop)
}

/// The loops become other loops.
pub(super) fn transforms(leaf: Leaf) -> bool {
    matches!(
        leaf,
        Leaf::Tile
            | Leaf::Unroll
            | Leaf::Interchange
            | Leaf::Reverse
            | Leaf::Fuse
            | Leaf::Split
            | Leaf::Stripe
    )
}

/// Says something of the statement that follows without changing what it is.
pub(super) fn is_transparent(leaf: Leaf) -> bool {
    matches!(
        leaf,
        Leaf::Nothing
            | Leaf::Assume
            | Leaf::Metadirective
            | Leaf::BeginMetadirective
            | Leaf::Transform
            | Leaf::Resources
            | Leaf::Memories
            | Leaf::Error
    )
}

/// Whether the iterations of the region's loop run in order, or only if the compiler proves
/// otherwise: then it need not have the form.
pub(super) fn may_have_any_form(program: &Program, region: &Region) -> bool {
    match region.construct.rules.loop_trust {
        LoopTrust::Sequential | LoopTrust::Prove => true,
        LoopTrust::NotApplicable => false,
        LoopTrust::Independent => {
            let says = |kind: &ClauseKind<Typed>| matches!(kind, ClauseKind::Independent);
            region.construct.leaves == [Leaf::Loop]
                && !region.construct.kinds().any(says)
                && super::ancestors(program, region.parent)
                    .any(|it| program.regions[it].construct.has(Leaf::Kernels))
        }
    }
}

/// Whether the region's code may be entered and left only as a whole.
pub(super) fn is_block(program: &Program, region: &Region) -> bool {
    let is_transparent = region.construct.leaves.iter().all(|&it| is_transparent(it));
    let is_free_loop =
        region.construct.leaves == [Leaf::Loop] && may_have_any_form(program, region);
    !is_transparent && !is_free_loop
}

/// How many loops a construct wants, and the clause that says so.
struct Wanted {
    count: u32,
    by: Option<Span>,
    /// Code between the loops is refused.
    tight: bool,
    /// Bounds that follow an outer loop are refused.
    rectangular: bool,
}

fn wanted(program: &Program, construct: &Construct<Typed>) -> Wanted {
    let mut wanted = Wanted {
        count: if construct.has(Leaf::Interchange) { 2 } else { 1 },
        by: None,
        tight: construct.rules.plain_nests || construct.leaves.iter().any(|&it| transforms(it)),
        rectangular: construct.rules.plain_nests
            || construct.leaves.iter().any(|&it| transforms(it)),
    };
    let ask = |count: u32, span: Span, wanted: &mut Wanted| {
        if count > wanted.count {
            (wanted.count, wanted.by) = (count, Some(span));
        }
    };
    let value = |it: ExprId| constant::int(program, it).and_then(|it| u32::try_from(it).ok());
    for clause in &construct.clauses {
        match &clause.kind {
            ClauseKind::Collapse { force, count } => {
                wanted.tight &= !force;
                ask(value(*count).unwrap_or(0), clause.span, &mut wanted);
            }
            ClauseKind::Ordered(Some(count)) => {
                wanted.tight = true;
                ask(value(*count).unwrap_or(0), clause.span, &mut wanted);
            }
            ClauseKind::TileLoop(sizes) => ask(sizes.len() as u32, clause.span, &mut wanted),
            ClauseKind::Sizes(sizes) | ClauseKind::Permutation(sizes) => {
                ask(sizes.len() as u32, clause.span, &mut wanted);
            }
            _ => {}
        }
    }
    wanted
}

/// What stands where a loop is wanted.
enum Found {
    For(StmtId),
    /// A transformation that makes loops.
    Made(RegionId),
    /// Something else; whether it was reported before.
    Other {
        span: Span,
        known: bool,
    },
    /// Several loops, side by side.
    Several(Span),
}

struct Nest<'a> {
    program: &'a Program,
    region: &'a Region,
    faults: &'a mut Diagnostics,
    loops: Vec<Loop>,
}

impl Nest<'_> {
    fn find(&mut self) {
        let construct = &self.region.construct;
        let (true, Some(body)) = (takes_loops(construct), self.region.body) else { return };
        let strict = !may_have_any_form(self.program, self.region);
        if construct.leaves == [Leaf::Fuse] {
            return self.sequence(body);
        }
        let wanted = wanted(self.program, construct);
        let mut at = body;
        while (self.loops.len() as u32) < wanted.count {
            let (found, between) = self.look(at);
            if let (Some(span), true, false) =
                (between, strict && wanted.tight, self.loops.is_empty())
            {
                self.faults.push(messages::code_between(self.region, span, wanted.by));
            }
            let next = match found {
                Found::For(id) => self.take(id, strict, &wanted),
                Found::Made(inner) => {
                    self.take_made(inner, strict);
                    None
                }
                Found::Several(span) => {
                    if strict {
                        self.faults.push(messages::code_between(self.region, span, wanted.by));
                    }
                    None
                }
                Found::Other { span, known } => {
                    if strict && !known {
                        let missing = self.missing(span, &wanted);
                        self.faults.push(missing);
                    }
                    None
                }
            };
            match next {
                Some(body) => at = body,
                None => break,
            }
        }
        self.changes(strict);
        self.listed();
    }

    /// Clauses that would give the loop variable a value from outside, or one for all.
    fn listed(&mut self) {
        let construct = &self.region.construct;
        if !construct.leaves.iter().any(|&it| deals_iterations(it)) {
            return;
        }
        for item in items::all(construct) {
            let is_wrong = match item.role {
                Role::Reduction | Role::InReduction => true,
                // Where loops take no such clause it is for the region that the loop is part of.
                Role::FirstPrivate => !construct.rules.plain_nests,
                _ => false,
            };
            // What a variant says holds only if it is chosen.
            let clause = construct.clauses.get(item.clause as usize);
            let (true, Some(None)) = (is_wrong, clause.map(|it| it.group)) else { continue };
            let var = items::plain(self.program, item.expr);
            if let Some(it) = self.loops.iter().find(|it| Some(it.var) == var) {
                let place = (item.clause, self.program.exprs[item.expr].span);
                let fault = messages::loop_variable_listed(self.program, self.region, it, place);
                self.faults.push(fault);
            }
        }
    }

    fn missing(&self, span: Span, wanted: &Wanted) -> source::Diagnostic {
        match self.loops.last() {
            None => messages::not_a_loop(self.region, span),
            Some(outer) => messages::too_few_loops(
                self.region,
                wanted.count,
                self.loops.len(),
                span,
                wanted.by,
                outer.span,
            ),
        }
    }

    /// The loop that `at` is or contains, and code beside it.
    fn look(&self, at: StmtId) -> (Found, Option<Span>) {
        let (mut at, mut between) = (at, None);
        loop {
            let stmt = &self.program.stmts[at];
            match &stmt.kind {
                StmtKind::For(_) => return (Found::For(at), between),
                StmtKind::Block(list) => {
                    let mut loops = list.iter().filter(|&&it| self.is_loop(it));
                    let others =
                        list.iter().filter(|&&it| !self.is_loop(it) && !self.is_nothing(it));
                    match (loops.next(), loops.next()) {
                        (Some(&inner), None) => {
                            at = inner;
                            between = between.or(others.map(|&it| self.span(it)).next());
                        }
                        (Some(_), Some(&second)) => {
                            return (Found::Several(self.span(second)), None);
                        }
                        (None, _) => {
                            let first = others.map(|&it| self.span(it)).next();
                            let known = list.iter().any(|&it| self.is_error(it));
                            let span = first.unwrap_or(stmt.span);
                            return (Found::Other { span, known }, None);
                        }
                    }
                }
                StmtKind::Region(id) => {
                    let inner = &self.program.regions[*id];
                    if inner.construct.leaves.iter().any(|&it| transforms(it)) {
                        return (Found::Made(*id), between);
                    }
                    match inner.body {
                        Some(body)
                            if inner.construct.leaves.iter().all(|&it| is_transparent(it)) =>
                        {
                            at = body;
                        }
                        _ => return (Found::Other { span: inner.span, known: false }, None),
                    }
                }
                _ => {
                    return (Found::Other { span: stmt.span, known: self.is_error(at) }, None);
                }
            }
        }
    }

    fn span(&self, stmt: StmtId) -> Span {
        self.program.stmts[stmt].span
    }

    fn is_error(&self, stmt: StmtId) -> bool {
        matches!(self.program.stmts[stmt].kind, StmtKind::Error)
    }

    fn is_nothing(&self, stmt: StmtId) -> bool {
        matches!(self.program.stmts[stmt].kind, StmtKind::Empty | StmtKind::Declaration(_))
    }

    /// Whether a statement of a block is the next loop of a nest, or holds it.
    fn is_loop(&self, stmt: StmtId) -> bool {
        match &self.program.stmts[stmt].kind {
            StmtKind::For(_) => true,
            StmtKind::Block(list) => list.iter().any(|&it| self.is_loop(it)),
            StmtKind::Region(id) => {
                let leaves = &self.program.regions[*id].construct.leaves;
                leaves.iter().any(|&it| transforms(it))
                    || (leaves.iter().all(|&it| is_transparent(it))
                        && self.program.regions[*id].body.is_some_and(|it| self.is_loop(it)))
            }
            _ => false,
        }
    }

    /// Takes one `for` into the nest and gives its body.
    fn take(&mut self, id: StmtId, strict: bool, wanted: &Wanted) -> Option<StmtId> {
        let StmtKind::For(it) = &self.program.stmts[id].kind else { return None };
        match canonical::form(self.program, id, it) {
            Ok(mut found) => {
                if let (true, Some(outer)) =
                    (strict, self.loops.iter().find(|it| it.var == found.var))
                {
                    let fault = messages::counts_twice(self.program, self.region, outer, &found);
                    self.faults.push(fault);
                }
                self.check_bounds(&mut found, strict, wanted);
                let body = found.body;
                self.loops.push(found);
                Some(body)
            }
            Err(fault) => {
                if let (true, Some((fault, span))) = (strict, fault) {
                    self.faults.push(messages::not_canonical(
                        self.program,
                        self.region,
                        fault,
                        span,
                    ));
                }
                None
            }
        }
    }

    /// Bounds that follow an outer loop: allowed in one form, with some clauses not at all.
    fn check_bounds(&mut self, found: &mut Loop, strict: bool, wanted: &Wanted) {
        let outer: Vec<VarId> = self.loops.iter().map(|it| it.var).collect();
        if outer.is_empty() {
            return;
        }
        let parts = [Some(found.begin), Some(found.bound), found.step];
        for (at, part) in parts.into_iter().enumerate() {
            let Some(part) = part else { continue };
            let follows = canonical::follows(self.program, part, &outer);
            if follows == Follows::No {
                continue;
            }
            found.rectangular = false;
            found.trips = None;
            if !strict {
                continue;
            }
            let span = self.program.exprs[part].span;
            let refused = self.region.construct.clauses.iter().find(|it| {
                matches!(
                    it.kind,
                    ClauseKind::Schedule(_) | ClauseKind::DistSchedule(_) | ClauseKind::Ordered(_)
                )
            });
            if wanted.rectangular || refused.is_some() {
                let by = refused.map(|it| it.span);
                self.faults.push(messages::not_rectangular(self.region, span, by));
            } else if follows == Follows::Otherwise || at == 2 {
                self.faults.push(messages::strange_bound(self.region, span));
            }
            return;
        }
    }

    /// Takes the loops that a transformation inside works on.
    fn take_made(&mut self, inner: RegionId, strict: bool) {
        let inner = &self.program.regions[inner];
        let is_full = |kind: &ClauseKind<Typed>| matches!(kind, ClauseKind::Full);
        if strict && inner.construct.has(Leaf::Unroll) && inner.construct.kinds().any(is_full) {
            self.faults.push(messages::makes_no_loop(self.region, inner));
        }
        let loops = inner.loops.iter().cloned();
        // The made loops run over the same range, in other steps.
        self.loops.extend(loops.map(|it| Loop { trips: None, ..it }));
    }

    /// `fuse`: the loops stand side by side in a block.
    fn sequence(&mut self, body: StmtId) {
        let none = Wanted { count: 1, by: None, tight: false, rectangular: false };
        let list: Vec<StmtId> = match &self.program.stmts[body].kind {
            StmtKind::Block(list) => list.to_vec(),
            _ => vec![body],
        };
        let mut all = Vec::new();
        for stmt in list {
            match self.look(stmt).0 {
                Found::For(id) => {
                    self.take(id, true, &none);
                }
                Found::Made(inner) => self.take_made(inner, true),
                Found::Other { .. } | Found::Several(_) => {}
            }
            all.append(&mut self.loops);
        }
        if all.is_empty() {
            let span = self.program.stmts[body].span;
            self.faults.push(messages::not_a_loop(self.region, span));
        }
        self.loops = all;
    }

    /// The variable of a loop is its own; what bounds it stays as it is.
    fn changes(&mut self, strict: bool) {
        let (true, Some(last)) = (strict, self.loops.last()) else { return };
        let is_transformed = self.region.construct.leaves.iter().any(|&it| transforms(it));
        let mut writes = Writes { found: Vec::new() };
        walk::stmt(self.program, last.body, &mut writes);
        for it in &self.loops {
            if let Some((_, span)) = writes.found.iter().find(|(var, _)| *var == it.var) {
                self.faults.push(messages::loop_variable_changed(
                    self.program,
                    self.region,
                    it,
                    *span,
                ));
            }
            if is_transformed {
                continue;
            }
            for part in [Some(it.bound), it.step].into_iter().flatten() {
                let used = variables(self.program, part);
                let change = writes.found.iter().find(|(var, _)| used.contains(var));
                if let Some((var, span)) = change {
                    let place = self.program.exprs[part].span;
                    self.faults.push(messages::bound_changes(self.program, *var, place, *span));
                }
            }
        }
    }
}

/// Whole variables that are written by name.
struct Writes {
    found: Vec<(VarId, Span)>,
}

impl Visit for Writes {
    fn access(&mut self, var: VarId, access: Access, span: Span) {
        if access.write && access.whole && !access.by_address {
            self.found.push((var, span));
        }
    }
}

/// The variables that an expression speaks of.
pub(super) fn variables(program: &Program, id: ExprId) -> FxHashSet<VarId> {
    struct All(FxHashSet<VarId>);
    impl Visit for All {
        fn access(&mut self, var: VarId, _: Access, _: Span) {
            self.0.insert(var);
        }
    }
    let mut all = All(FxHashSet::default());
    walk::expr(program, id, &mut all);
    all.0
}
