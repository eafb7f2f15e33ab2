//! Says what was decided in the words of the compiler that gets the text.

use directive::HOST_DIALECT;
use ir::construct::{
    Args, Clause, ClauseKind, Construct, Leaf, Motion, Presence, Reduction, ReductionOp, Rules,
    Schedule, ScheduleKind,
};
use ir::program::{
    BinaryOp, Expr, ExprId, ExprKind, RegionId, Stmt, StmtId, StmtKind, Typed, VarId,
};
use ir::region::{Attribute, LoopTest, Mapping, Origin, Rule, Sharing};
use ir::types::{IntKind, TypeKind};
use source::{Diagnostic, Span};

use super::asked::Asked;
use super::choose::How;
use super::compute::{Crew, Region};
use super::{Machine, Pass};
use crate::combined::needs_copy;
use crate::items::{base, plain};
use crate::note::ADVICE;

/// Tiles where the user leaves the size to the compiler.
const TILE: i64 = 32;
/// So many short iterations are sooner done than dealt to threads.
const FEW: i64 = 512;

impl Pass<'_> {
    pub(super) fn construct(&mut self, id: RegionId) -> &mut Construct<Typed> {
        self.leveled.changed.insert(id);
        let construct = &mut self.leveled.program.regions[id].construct;
        construct.dialect = HOST_DIALECT;
        construct
    }

    /// The same access, in the other words.
    pub(super) fn atomic(&mut self, id: RegionId) {
        self.construct(id);
    }

    /// A directive that says nothing to this device.
    pub(super) fn nothing(&mut self, id: RegionId) {
        let construct = self.construct(id);
        construct.leaves = vec![Leaf::Nothing];
        construct.args = Args::None;
        construct.clauses.clear();
    }

    /// Advice on how to build what follows for hardware that this is not; what follows stays.
    pub(super) fn hint(&mut self, id: RegionId) {
        let name = directive::directive_name(&self.program().regions[id].construct);
        let construct = self.construct(id);
        construct.leaves.clear();
        construct.clauses.clear();
        let span = construct.span;
        let fault = Diagnostic::warning(ADVICE, format!("`{name}` has no effect on this device"))
            .at(span, "advice for other hardware");
        self.leveled.faults.push(fault);
    }

    /// A construct that leaves the host. Its clauses keep their numbers: variables refer to them.
    pub(super) fn restate_compute(&mut self, region: &Region) {
        let id = region.id;
        let own = region.chosen.get(&id).copied();
        if self.machine == Machine::League {
            return self.restate_league(region);
        }
        let mut leaves = vec![Leaf::Offload];
        match own {
            Some(How::Threads { lanes } | How::NewThreads { lanes }) => {
                leaves.extend([Leaf::Parallel, Leaf::For]);
                if lanes {
                    leaves.push(Leaf::Simd);
                }
            }
            Some(How::Teams | How::Lanes | How::InOrder(_)) | None => match region.crew {
                Crew::Serial | Crew::One => {}
                Crew::Threads => leaves.push(Leaf::Parallel),
                Crew::Counted => leaves.push(Leaf::Teams),
            },
        }
        let copies = match leaves.contains(&Leaf::Parallel) {
            true => self.own_scalars(id),
            false => Vec::new(),
        };
        let is_dealt = leaves.contains(&Leaf::For);
        let span = self.program().regions[id].construct.span;
        let asked = Asked::of(&self.program().regions[id].construct);
        let tiles = if is_dealt { self.tiles(id) } else { None };
        let counts_more = is_dealt && tiles.is_none();
        self.bring_parts(id);
        let construct = self.construct(id);
        construct.leaves = leaves;
        construct.groups.clear();
        for clause in &mut construct.clauses {
            match &mut clause.kind {
                // For the whole, never for a part that is left to the compiler.
                ClauseKind::If(_) => clause.on = Some(Leaf::Offload),
                ClauseKind::Collapse { .. } if !counts_more => clause.on = Some(Leaf::Offload),
                ClauseKind::Collapse { force, .. } => *force = false,
                _ => {}
            }
        }
        if !copies.is_empty() {
            let kind = ClauseKind::FirstPrivate { saved: false, items: copies };
            construct.clauses.push(plain(kind, span));
        }
        if is_dealt {
            construct.clauses.push(plain(by_turns(&asked), span));
        }
        if is_dealt {
            self.if_worth_it(id);
            self.plain_sums(id);
        }
        if let Some(sizes) = tiles {
            self.tile(id, sizes);
        }
    }

    /// Parts of arrays that are copied on the device must get there first.
    pub(super) fn bring_parts(&mut self, id: RegionId) {
        let program = &self.leveled.program;
        let mut parts: Vec<(VarId, ExprId)> = Vec::new();
        for kind in program.regions[id].construct.kinds() {
            let ClauseKind::FirstPrivate { items, .. } = kind else { continue };
            let is_part = |it: &&ExprId| !matches!(program.exprs[**it].kind, ExprKind::Var(_));
            let named = items.iter().filter(is_part);
            parts.extend(named.filter_map(|it| Some((base(program, *it)?, *it))));
        }
        for var in &mut self.leveled.program.regions[id].vars {
            let Some((_, item)) = parts.iter().find(|it| it.0 == var.var) else { continue };
            let value = Mapping::Map(Motion::To, Presence::Any, Some(*item));
            let origin = Origin::Rule(Rule::CombinedClause);
            var.mappings = vec![Attribute { value, origin }];
        }
    }

    /// Variables that each team has for itself without a clause that says so. Those that nobody
    /// changes may stay shared.
    pub(super) fn own_scalars(&mut self, id: RegionId) -> Vec<ExprId> {
        let region = &self.program().regions[id];
        let own: Vec<(VarId, Span)> = region
            .vars
            .iter()
            .filter(|it| it.written)
            .filter(|it| {
                it.sharing.as_ref().is_some_and(|it| {
                    it.value == Sharing::FirstPrivate && !matches!(it.origin, Origin::Clause(_))
                })
            })
            .map(|it| (it.var, it.span))
            .collect();
        own.into_iter().map(|(var, span)| self.name_of(var, span)).collect()
    }

    pub(super) fn name_of(&mut self, var: VarId, span: Span) -> ExprId {
        let ty = self.program().vars[var].ty;
        self.leveled.program.exprs.push(Expr { kind: ExprKind::Var(var), ty, span })
    }

    /// A loop inside such a construct, or in a function that is called there.
    pub(super) fn restate_loop(&mut self, region: Option<&Region>, id: RegionId, how: How) {
        if self.machine == Machine::League {
            return self.restate_league_loop(region, id, how);
        }
        let construct = &self.program().regions[id].construct;
        let span = construct.span;
        let asked = Asked::of(construct);
        let tiles = match how {
            How::Threads { .. } | How::NewThreads { .. } => self.tiles(id),
            How::Teams | How::Lanes | How::InOrder(_) => None,
        };
        let mut clauses: Vec<Clause<Typed>> = Vec::new();
        let construct = &self.program().regions[id].construct;
        for clause in construct.clauses.iter().filter(|it| it.group.is_none()) {
            let kind = match &clause.kind {
                ClauseKind::Private(items) => Some(ClauseKind::Private(items.clone())),
                ClauseKind::LastPrivate { .. } if how.is_dealt() => Some(clause.kind.clone()),
                ClauseKind::Reduction(it) => self.reduction(region, id, how, it),
                ClauseKind::Collapse { count, .. } if counts(how) && tiles.is_none() => {
                    Some(ClauseKind::Collapse { force: false, count: *count })
                }
                ClauseKind::Gang(args) if how == How::Teams => Some(ClauseKind::Gang(args.clone())),
                _ => None,
            };
            clauses.extend(kind.map(|kind| plain(kind, clause.span)));
        }
        let leaves = match how {
            How::Threads { lanes } => with_lanes(vec![Leaf::For], lanes),
            How::NewThreads { lanes } => with_lanes(vec![Leaf::Parallel, Leaf::For], lanes),
            How::Teams => vec![Leaf::Distribute],
            How::Lanes => vec![Leaf::Simd],
            How::InOrder(_) => Vec::new(),
        };
        if matches!(how, How::Threads { .. } | How::NewThreads { .. }) {
            clauses.push(plain(by_turns(&asked), span));
        }
        if matches!(how, How::Threads { .. }) && !region.is_some_and(|it| self.meets(it.id, id)) {
            clauses.push(plain(ClauseKind::Nowait(None), span));
        }
        let construct = self.construct(id);
        construct.leaves = leaves;
        construct.clauses = clauses;
        construct.groups.clear();
        construct.rules.plain_nests = false;
        if matches!(how, How::NewThreads { .. }) {
            self.if_worth_it(id);
        }
        self.plain_sums(id);
        if let Some(sizes) = tiles {
            self.tile(id, sizes);
        }
    }

    /// Threads are started only for as many short iterations as pay for that.
    fn if_worth_it(&mut self, id: RegionId) {
        if !super::effects::is_short(self.program(), id) {
            return;
        }
        let region = &self.program().regions[id];
        let [one] = region.loops.as_slice() else { return };
        let ascends = matches!(one.test, LoopTest::Lt | LoopTest::Le) && one.step.is_none();
        let is_small = |it: Option<u64>| it.is_some_and(|it| it <= FEW.unsigned_abs());
        if !ascends || (one.trips.is_some() && !is_small(one.trips)) {
            return;
        }
        let (begin, bound) = (one.begin, one.bound);
        self.only_if_many(id, begin, bound);
    }

    /// Threads are started only if there are many iterations between two values.
    pub(super) fn only_if_many(&mut self, id: RegionId, begin: ExprId, bound: ExprId) {
        let span = self.program().regions[id].construct.span;
        let exprs = &self.program().exprs;
        let ty = exprs[bound].ty;
        if exprs[begin].ty != ty && !matches!(exprs[begin].kind, ExprKind::Int(_)) {
            return;
        }
        let number = self.number(FEW, span);
        let int = self.program().exprs[number].ty;
        let first = self.program().exprs[begin].kind.clone();
        let mut push = |kind, ty| self.leveled.program.exprs.push(Expr { kind, ty, span });
        // All in one type.
        let begin = if let ExprKind::Int(_) = first { push(first, ty.plain()) } else { begin };
        let few = push(ExprKind::Int(FEW), ty.plain());
        let distance = push(ExprKind::Binary(BinaryOp::Sub, bound, begin), ty.plain());
        let condition = push(ExprKind::Binary(BinaryOp::Gt, distance, few), int);
        let clause = Clause {
            kind: ClauseKind::If(condition),
            on: Some(Leaf::Parallel),
            group: None,
            switch: None,
            span,
        };
        self.leveled.program.regions[id].construct.clauses.push(clause);
    }

    /// Sums of truth values are truth values: gcc 12 would add them up as numbers.
    pub(super) fn plain_sums(&mut self, id: RegionId) {
        let program = &mut self.leveled.program;
        let (types, exprs) = (&program.types, &program.exprs);
        let is_truth = |it: &ExprId| matches!(types.shape(exprs[*it].ty), TypeKind::Bool);
        let clauses = &mut program.regions[id].construct.clauses;
        let mut added = Vec::new();
        for clause in clauses.iter_mut() {
            let ClauseKind::Reduction(it) = &mut clause.kind else { continue };
            let op = match it.op {
                ReductionOp::Add | ReductionOp::Max | ReductionOp::BitOr => ReductionOp::Or,
                ReductionOp::Mul | ReductionOp::Min | ReductionOp::BitAnd => ReductionOp::And,
                ReductionOp::Sub
                | ReductionOp::BitXor
                | ReductionOp::And
                | ReductionOp::Or
                | ReductionOp::User(_) => continue,
            };
            let (truths, others): (Vec<ExprId>, Vec<ExprId>) =
                it.items.iter().partition(|it| is_truth(it));
            if others.is_empty() {
                it.op = op;
            } else if !truths.is_empty() {
                it.items = others;
                let (modifier, original) = (None, None);
                let kind = Reduction { modifier, original, op, items: truths };
                added.push(plain(ClauseKind::Reduction(kind), clause.span));
            }
        }
        clauses.extend(added);
    }

    /// Whether teams wait for each other behind a loop. They need not: but programs count on what a
    /// loop has done when the next begins. Only where all teams come by, and something follows.
    fn meets(&self, region: RegionId, id: RegionId) -> bool {
        let program = self.program();
        let Some(body) = program.regions[region].body else { return false };
        let mut at = body;
        let mut follows = false;
        loop {
            match &program.stmts[at].kind {
                StmtKind::Block(list) => {
                    let Some(place) = list.iter().position(|it| self.holds(*it, id)) else {
                        return false;
                    };
                    follows |= place + 1 < list.len();
                    let Some(inner) = list.get(place) else { return false };
                    at = *inner;
                }
                StmtKind::For(it) => {
                    // Its next round.
                    follows = true;
                    at = it.body;
                }
                StmtKind::Region(inner) if *inner == id => return follows,
                StmtKind::Region(inner) => match program.regions[*inner].body {
                    Some(body) => at = body,
                    None => return false,
                },
                _ => return false,
            }
        }
    }

    /// Whether a region stands in a statement.
    fn holds(&self, stmt: StmtId, id: RegionId) -> bool {
        ir::walk::regions_in(self.program(), stmt).contains(&id)
    }

    /// What a reduction of a loop asks of those who share it.
    pub(super) fn reduction(
        &self,
        region: Option<&Region>,
        id: RegionId,
        how: How,
        it: &Reduction<Typed>,
    ) -> Option<ClauseKind<Typed>> {
        let items: Vec<ExprId> = match how {
            // A copy of the team's own is combined with those of others where the team's copies are.
            How::Threads { .. } | How::Teams => {
                let is_shared = |it: &ExprId| region.is_some_and(|at| self.is_shared(at.id, *it));
                it.items.iter().copied().filter(is_shared).collect()
            }
            How::NewThreads { .. } | How::Lanes => it.items.clone(),
            // One thread has a copy where it does more than combine.
            How::InOrder(_) if self.machine == Machine::Cores || self.is_ours => {
                let is_needed = |item: &&ExprId| needs_copy(self.program(), id, **item, &it.op);
                it.items.iter().filter(is_needed).copied().collect()
            }
            How::InOrder(_) => Vec::new(),
        };
        if items.is_empty() {
            return None;
        }
        let (modifier, original, op) = (None, None, it.op.clone());
        Some(ClauseKind::Reduction(Reduction { modifier, original, op, items }))
    }

    /// What a loop that is shared by all sums up comes back, though no clause says so: nobody sums up
    /// something to throw it away.
    pub(super) fn bring_sums(&mut self, region: &Region, id: RegionId) {
        let items: Vec<ExprId> = self.program().regions[id]
            .construct
            .kinds()
            .filter_map(|it| match it {
                ClauseKind::Reduction(it) => Some(it.items.clone()),
                _ => None,
            })
            .flatten()
            .collect();
        let vars: Vec<VarId> = items.iter().filter_map(|it| base(self.program(), *it)).collect();
        for it in &mut self.leveled.program.regions[region.id].vars {
            let origin = it.mappings.first().and_then(|it| match it.origin {
                Origin::Rule(rule) => Some(rule),
                Origin::Clause(_) | Origin::Enclosing(..) | Origin::Declared(_) => None,
            });
            if !vars.contains(&it.var)
                || !matches!(origin, Some(Rule::ScalarDefault | Rule::ScalarRead))
            {
                continue;
            }
            let value = Mapping::Map(Motion::ToFrom, Presence::Any, None);
            let origin = Origin::Rule(Rule::ReductionMapped);
            it.mappings = vec![Attribute { value, origin }];
            // A construct that is the loop itself says how it is shared.
            if id != region.id {
                let origin = Origin::Rule(Rule::SharedDefault);
                it.sharing = Some(Attribute { value: Sharing::Shared, origin });
            }
        }
    }

    /// Whether all teams of a construct have one of it.
    fn is_shared(&self, id: RegionId, item: ExprId) -> bool {
        let program = self.program();
        let Some(var) = base(program, item) else { return true };
        let var = program.regions[id].vars.iter().find(|it| it.var == var);
        var.is_some_and(|it| {
            !matches!(
                it.sharing.as_ref().map(|it| &it.value),
                Some(Sharing::Private | Sharing::FirstPrivate | Sharing::Reduction(_))
            )
        })
    }

    /// The sizes of tiles that a loop asks for.
    pub(super) fn tiles(&mut self, id: RegionId) -> Option<Vec<ExprId>> {
        let construct = &self.program().regions[id].construct;
        let (sizes, span) = construct.clauses.iter().find_map(|it| match &it.kind {
            ClauseKind::TileLoop(sizes) if it.group.is_none() => Some((sizes.clone(), it.span)),
            _ => None,
        })?;
        let sizes = sizes.into_iter().map(|it| it.unwrap_or_else(|| self.number(TILE, span)));
        Some(sizes.collect())
    }

    pub(super) fn number(&mut self, value: i64, span: Span) -> ExprId {
        let ty = self.leveled.program.types.get(TypeKind::Int(IntKind::Int));
        self.leveled.program.exprs.push(Expr { kind: ExprKind::Int(value), ty, span })
    }

    /// Puts a transformation between a construct and its loops, and deals the loops over tiles.
    fn tile(&mut self, id: RegionId, sizes: Vec<ExprId>) {
        let outer = &self.program().regions[id];
        let Some(body) = outer.body else { return };
        let (span, count) = (outer.construct.span, sizes.len());
        let inner = ir::region::Region {
            construct: Construct {
                dialect: HOST_DIALECT,
                leaves: vec![Leaf::Tile],
                args: Args::None,
                clauses: vec![plain(ClauseKind::Sizes(sizes), span)],
                groups: Vec::new(),
                rules: Rules::NONE,
                span,
            },
            parent: Some(id),
            vars: Vec::new(),
            ..outer.clone()
        };
        let stmt_span = self.program().stmts[body].span;
        let inner = self.leveled.program.regions.push(inner);
        self.leveled.changed.insert(inner);
        let kind = StmtKind::Region(inner);
        let stmt = self.leveled.program.stmts.push(Stmt { kind, span: stmt_span });
        let count = self.number(i64::try_from(count).unwrap_or(1), span);
        let region = &mut self.leveled.program.regions[id];
        region.body = Some(stmt);
        let kind = ClauseKind::Collapse { force: false, count };
        region.construct.clauses.push(plain(kind, span));
    }
}

fn with_lanes(mut leaves: Vec<Leaf>, lanes: bool) -> Vec<Leaf> {
    if lanes {
        leaves.push(Leaf::Simd);
    }
    leaves
}

fn counts(how: How) -> bool {
    match how {
        How::Threads { .. } | How::NewThreads { .. } | How::Teams | How::Lanes => true,
        How::InOrder(_) => false,
    }
}

/// Iterations go to teams in equal shares, or in turns of the size asked for.
fn by_turns(asked: &Asked) -> ClauseKind<Typed> {
    let (kind, chunk) = (ScheduleKind::Static, asked.chunk);
    ClauseKind::Schedule(Schedule { kind, monotonic: None, simd: false, chunk })
}
