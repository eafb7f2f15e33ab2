//! Loops that go wrong for certain when their iterations run at once, as their directives say.
//!
//! In: a program. Out: [`Race`]s, at most one for each loop: two accesses of different iterations to one place of
//! an array, or a variable of which all iterations share one copy. Only what is proven is told: accesses that
//! meet as soon as the loop has a second iteration ([`crate::certain`]), with no condition before them but the bounds
//! of loops; in an object that the threads do share; in a loop that more than one of them may run. A body with
//! anything in it that orders iterations, or of which nothing is known, is left alone.

use std::collections::BTreeSet;

use ir::construct::{ClauseKind, Construct, Leaf, ReductionOp};
use ir::program::{ExprId, ExprKind, RegionId, StmtId, StmtKind, Typed, VarId};
use ir::region::{Origin, Region, Rule, Sharing};
use ir::walk::Part;
use source::Span;

use crate::access::{Base, Step, Touch};
use crate::certain::Certain;
use crate::dependence::Analysis;
use crate::finding::DependenceKind;
use crate::poly::{Atom, Poly, Value};
use crate::scan::Scan;
use crate::sharing::{Marked, crew, variable};
use crate::walk::{self, Body};
use crate::{normal, reduction};

/// A loop that goes wrong.
#[derive(Clone, Debug, PartialEq)]
pub struct Race {
    /// The directive that shares its iterations.
    pub region: RegionId,
    /// The loop.
    pub stmt: StmtId,
    /// What goes wrong.
    pub what: What,
}

/// What goes wrong.
#[derive(Clone, Debug, PartialEq)]
pub enum What {
    /// An iteration does something to an array that a later one undoes or needs.
    Memory {
        /// The array, or the pointer to it.
        var: VarId,
        /// What the accesses do to each other.
        kind: DependenceKind,
        /// The one in the earlier iteration.
        first: Span,
        /// The one in the later iteration.
        second: Span,
    },
    /// All iterations combine something into one variable, and no clause says so.
    Sum {
        /// The variable.
        var: VarId,
        /// How it is combined.
        op: ReductionOp<Typed>,
        /// Where.
        at: Span,
    },
    /// All iterations write one variable, and read it.
    Scalar {
        /// The variable.
        var: VarId,
        /// Where it is written.
        written: Span,
        /// Where what an earlier iteration has left in it is read; none if each writes it first.
        read: Option<Span>,
    },
}

/// More pairs of accesses than this are not compared.
const MAX_PAIRS: usize = 4_096;

impl Analysis<'_> {
    /// The loops of a program that go wrong for certain.
    pub fn races(&self) -> Vec<Race> {
        let mut found = Vec::new();
        for (id, region) in self.program.regions.iter() {
            if region.loops.is_empty() || !self.shares(id) {
                continue;
            }
            let Some(crew) = crew(self.program, id) else { continue };
            let chain: Vec<RegionId> = self
                .program
                .around(id)
                .scan(false, |is_done, it| {
                    let before = std::mem::replace(is_done, *is_done || it == crew);
                    (!before).then_some(it)
                })
                .collect();
            if chain.iter().any(|it| self.is_alone(&self.program.regions[*it].construct)) {
                continue;
            }
            let own = self.copied_in(&chain, region);
            for it in &region.loops {
                let what = self.race_of(it.stmt, region, &chain, &own);
                if let Some(what) = what {
                    found.push(Race { region: id, stmt: it.stmt, what });
                    break;
                }
            }
        }
        found.sort_by_key(|it| self.program.regions[it.region].span.start);
        found
    }

    /// Whether a directive has the iterations of its loops run at once, by its own word.
    fn shares(&self, id: RegionId) -> bool {
        let construct = &self.program.regions[id].construct;
        let leaves = [Leaf::For, Leaf::Distribute, Leaf::Loop, Leaf::Simd];
        let mut is_vouched = leaves.into_iter().any(|it| construct.has(it));
        let mut is_said = false;
        for kind in construct.kinds() {
            if let ClauseKind::Independent = kind {
                is_said = true;
            }
            // In order, or in an order that is asked for.
            is_vouched &= !matches!(
                kind,
                ClauseKind::Seq
                    | ClauseKind::Auto
                    | ClauseKind::Ordered(_)
                    | ClauseKind::Safelen(_)
                    | ClauseKind::Inclusive(_)
                    | ClauseKind::Induction(_)
            );
            if let ClauseKind::Reduction(it) = kind {
                is_vouched &= it.modifier.is_none();
            }
            let chunk = if let ClauseKind::Schedule(it) = kind {
                it.chunk
            } else if let ClauseKind::DistSchedule(it) = kind {
                *it
            } else {
                None
            };
            // One who takes many iterations may take all of them.
            is_vouched &= chunk.is_none_or(|it| self.number(it) == Some(1));
        }
        let mut around = self.program.around(id);
        let proves = around.any(|it| self.program.regions[it].construct.has(Leaf::Kernels));
        is_vouched && (is_said || !proves)
    }

    fn number(&self, expr: ExprId) -> Option<i64> {
        let kind = &self.program.exprs[expr].kind;
        if let ExprKind::Int(it) = kind {
            Some(*it)
        } else if let ExprKind::Cast(_, inner) = kind {
            self.number(*inner)
        } else if let ExprKind::EnumConst(id, at) = kind {
            let constants = self.program.types.enums.find(*id)?.constants.as_ref()?;
            constants.get(*at as usize).and_then(|it| i64::try_from(it.1).ok())
        } else {
            None
        }
    }

    /// Whether a construct starts one thread or team only, or may.
    fn is_alone(&self, construct: &Construct<Typed>) -> bool {
        construct.kinds().any(|kind| {
            let counts: &[ExprId] = if let ClauseKind::NumThreads { counts, .. }
            | ClauseKind::NumTeams { counts, .. } = kind
            {
                counts
            } else if let ClauseKind::ThreadLimit(it)
            | ClauseKind::NumWorkers(it)
            | ClauseKind::VectorLength(it) = kind
            {
                std::slice::from_ref(it)
            } else {
                &[]
            };
            let is_one = !counts.is_empty() && counts.iter().any(|it| self.number(*it) == Some(1));
            is_one || matches!(kind, ClauseKind::If(_) | ClauseKind::SelfExec(_))
        })
    }

    /// Variables of which a clause around or inside of a loop makes copies.
    fn copied_in(&self, chain: &[RegionId], region: &Region) -> BTreeSet<VarId> {
        let mut regions: Vec<RegionId> = chain.to_vec();
        let mut open: Vec<Part> = region.body.map(Part::Stmt).into_iter().collect();
        while let Some(part) = open.pop() {
            if let Part::Stmt(stmt) = part
                && let StmtKind::Region(id) = self.program.stmts[stmt].kind
            {
                regions.push(id);
            }
            self.program.parts(part, &mut |it| open.push(it));
        }
        let mut own = BTreeSet::new();
        for kind in regions.iter().flat_map(|it| self.program.regions[*it].construct.kinds()) {
            let items: &[ExprId] = if let ClauseKind::Private(items)
            | ClauseKind::FirstPrivate { items, .. }
            | ClauseKind::LastPrivate { items, .. } = kind
            {
                items
            } else if let ClauseKind::Reduction(it) = kind {
                &it.items
            } else if let ClauseKind::Linear(it) = kind {
                &it.items
            } else {
                &[]
            };
            own.extend(items.iter().filter_map(|it| variable(self.program, *it)));
        }
        own
    }

    fn race_of(
        &self,
        stmt: StmtId,
        region: &Region,
        chain: &[RegionId],
        own: &BTreeSet<VarId>,
    ) -> Option<What> {
        let program = self.program;
        let scan = Scan::new(program, stmt);
        let form = normal::loop_form(program, stmt)?;
        if scan.has_jumps || self.aliases.is_exposed(program, form.var) {
            return None;
        }
        let marked = Marked::new(program, self.outline.governing(stmt));
        let reduced: BTreeSet<VarId> = marked.reductions.iter().map(|it| it.0).collect();
        let around = self.outline.around(stmt);
        let question = walk::Question {
            program,
            aliases: &self.aliases,
            effects: &self.effects,
            outline: &self.outline,
            stmt,
            form: Some(&form),
            scan: &scan,
            reduced: &reduced,
            private: &marked.private,
            around: &around,
        };
        let body = walk::run(&question);
        if !body.obstacles.is_empty() || !has_second(&body) {
            return None;
        }
        let sums = reduction::recognise(program, stmt, &scan, &form);
        for (&var, uses) in &body.scalars {
            let Some(written) = uses.plain_write else { continue };
            if var == form.var || own.contains(&var) || reduced.contains(&var) {
                continue;
            }
            let sum = sums.iter().find(|it| it.0 == var);
            if let (Some((_, op)), Some(at)) = (sum, uses.plain_read) {
                if self.is_shared(var, chain) || self.is_lost(var, region, chain) {
                    return Some(What::Sum { var, op: op.clone(), at });
                }
                continue;
            }
            // Compilers of levels give each iteration its own.
            if region.construct.rules.orders_refuted || !self.is_shared(var, chain) {
                continue;
            }
            let writes = scan.writes.get(&var).map_or(0, Vec::len);
            let is_read = scan.mentions.get(&var).is_some_and(|it| *it > writes);
            match uses.exposed {
                Some(_) => {
                    if let Some(read) = uses.plain_read {
                        return Some(What::Scalar { var, written, read: Some(read) });
                    }
                }
                None if uses.always_written && is_read => {
                    return Some(What::Scalar { var, written, read: None });
                }
                None => {}
            }
        }
        self.memory(&body, region, chain, own)
    }

    /// Two accesses that meet.
    fn memory(
        &self,
        body: &Body,
        region: &Region,
        chain: &[RegionId],
        own: &BTreeSet<VarId>,
    ) -> Option<What> {
        let construct = &region.construct;
        let only_lanes = construct.has(Leaf::Simd)
            && ![Leaf::For, Leaf::Distribute, Leaf::Loop].into_iter().any(|it| construct.has(it));
        let written: Vec<&Touch> = body.touches.iter().filter(|it| it.writes).collect();
        let read: Vec<&Touch> = body.touches.iter().filter(|it| !it.writes).collect();
        if written.len().saturating_mul(read.len()) > MAX_PAIRS {
            return None;
        }
        let certain = Certain::new(self.program, &body.around);
        for write in &written {
            let Some(var) = object(write) else { continue };
            if own.contains(&var) || !self.is_common(write, var, chain) {
                continue;
            }
            for read in read.iter().filter(|it| it.place.base == write.place.base) {
                let distance = distance(write, read);
                let meet = |first: &Touch, second: &Touch| certain.meet(first, second, distance);
                let what = |kind, first: &Touch, second: &Touch| {
                    Some(What::Memory { var, kind, first: first.span, second: second.span })
                };
                if meet(write, read) {
                    return what(DependenceKind::Flow, write, read);
                }
                // Lanes that go together read before they write.
                if !only_lanes && meet(read, write) {
                    return what(DependenceKind::Anti, read, write);
                }
            }
        }
        None
    }

    /// Whether those who share a loop have one of what an access reaches.
    fn is_common(&self, touch: &Touch, var: VarId, chain: &[RegionId]) -> bool {
        let Some(crew) = chain.last().map(|it| &self.program.regions[*it]) else { return false };
        let Some(it) = crew.vars.iter().find(|it| it.var == var) else { return false };
        let sharing = it.sharing.as_ref().map(|it| &it.value);
        match touch.place.base {
            Base::Var(_) => self.is_shared(var, chain),
            // The pointer may be each one's own, if all lead to the same place.
            Base::Pointee(_) | Base::Held(_) | Base::Unknown | Base::Nowhere => {
                let is_alike =
                    matches!(sharing, None | Some(Sharing::Shared | Sharing::FirstPrivate));
                is_alike && !it.written
            }
        }
    }

    /// Whether those who share a loop have one copy of a variable.
    fn is_shared(&self, var: VarId, chain: &[RegionId]) -> bool {
        let of = |id: &RegionId| {
            let vars = &self.program.regions[*id].vars;
            vars.iter().find(|it| it.var == var)
        };
        let is_listed = chain.last().is_some_and(|it| of(it).is_some());
        is_listed
            && chain.iter().filter_map(of).all(|it| {
                matches!(it.sharing.as_ref().map(|it| &it.value), None | Some(Sharing::Shared))
            })
            && !self.program.vars[var].thread_local
    }

    /// Whether each team has a copy of a variable that nobody asked for, and what is combined into it is lost.
    fn is_lost(&self, var: VarId, region: &Region, chain: &[RegionId]) -> bool {
        let crew = chain.last().map(|it| &self.program.regions[*it]);
        let it = crew.and_then(|it| it.vars.iter().find(|it| it.var == var));
        region.construct.rules.orders_refuted
            && it.is_some_and(|it| {
                let rule = it.mappings.first().map(|it| it.origin);
                rule == Some(Origin::Rule(Rule::ScalarDefault))
            })
    }
}

/// Whether the loop may have a second iteration.
fn has_second(body: &Body) -> bool {
    let Some(room) = &body.around.room else { return false };
    let second = |atom: Atom| {
        if atom.value == Value::Trip(0) { Poly::constant(1) } else { Poly::from(atom) }
    };
    room.replace(&second).is_some_and(|it| it.as_constant().is_none_or(|it| it >= 0))
}

/// The variable by which an access reaches memory.
fn object(touch: &Touch) -> Option<VarId> {
    if let Base::Var(var) | Base::Pointee(var) = touch.place.base { Some(var) } else { None }
}

/// How many iterations lie between two accesses, by the first subscript in which they differ.
fn distance(a: &Touch, b: &Touch) -> Option<u64> {
    for (x, y) in a.place.path.iter().zip(&b.place.path) {
        let (Step::Index { by: x, .. }, Step::Index { by: y, .. }) = (x, y) else { continue };
        let apart = x.sub(y)?.as_constant()?;
        let is_counter = |it: &Atom| it.value == Value::Trip(0);
        let factor = x.terms().find(|it| it.0.len() == 1 && it.0.iter().all(is_counter));
        let Some((_, factor)) = factor.filter(|_| apart != 0) else { continue };
        let is_whole = factor != 0 && apart % factor == 0;
        return is_whole.then(|| u64::try_from((apart / factor).abs()).ok()).flatten();
    }
    None
}
