//! Nests whose outer loop every thread runs whole, while all threads share the loop inside and none waits for another.
//!
//! Of what all iterations of the outer loop read a thread then reads its share only, the same each time. That pays
//! where the whole is more than a core's caches hold and a share is not: products of matrices. It may be done if iterations of
//! both loops are independent of each other, nothing stands between the loops and nothing is combined over them.

use ir::construct::{ClauseKind, Construct, Leaf};
use ir::program::{Program, Typed, VarId};

use super::cost::{Model, Scale, real};
use crate::marks::{AccessMark, Check, LoopMark, LoopTree, Parallel, Stride, TripsFrom};
use crate::profile::Kind;

/// What every iteration of an outer loop reads.
pub(super) struct Again {
    pub(super) var: Option<VarId>,
    /// How much it is.
    pub(super) bytes: f64,
}

/// The loop that threads may share while each runs `root` whole.
pub fn shared_inside(program: &Program, tree: &LoopTree, root: usize) -> Option<usize> {
    let outer = tree.loop_at(root)?;
    let [at] = *outer.children.as_slice() else { return None };
    let inner = tree.loop_at(at)?;
    let is_alone = inner.is_tight && inner.is_rectangular;
    let fits = is_alone && [outer, inner].into_iter().all(has_no_terms);
    (fits && outer_directive_allows(program, outer) && inner_directive_allows(program, inner))
        .then_some(at)
}

/// Whether iterations need nothing but variables of their own.
fn has_no_terms(mark: &LoopMark) -> bool {
    let is_known = match mark.parallel {
        Parallel::Proved | Parallel::User(Check::Confirmed | Check::Incomplete) => true,
        Parallel::User(Check::Open) => mark.finding.is_settled,
        Parallel::User(Check::Doubtful | Check::Refuted)
        | Parallel::ProvedIf
        | Parallel::Ordered
        | Parallel::No(_) => false,
    };
    is_known
        && mark.finding.reductions.is_empty()
        && mark.finding.last_private.is_empty()
        && mark.said.collapsed <= 1
}

/// Whether threads begin at the outer loop, and its clauses mean the same if they do not share it.
fn outer_directive_allows(program: &Program, mark: &LoopMark) -> bool {
    let finds = |id| program.around(id).any(|it| program.regions[it].construct.has(Leaf::Kernels));
    match *mark.said.regions.as_slice() {
        [id] => {
            let construct = &program.regions[id].construct;
            (construct.has(Leaf::Offload) || finds(id)) && is_plain(construct)
        }
        [] => {
            let span = mark.finding.span;
            program.regions.iter().any(|(_, it)| {
                let body = it.body.map(|it| program.stmts[it].span);
                it.construct.has(Leaf::Kernels)
                    && body.is_some_and(|it| it.start <= span.start && span.end <= it.end)
            })
        }
        _ => false,
    }
}

fn inner_directive_allows(program: &Program, mark: &LoopMark) -> bool {
    match *mark.said.regions.as_slice() {
        [] => true,
        [id] => {
            let construct = &program.regions[id].construct;
            let is_own = |it: &ClauseKind<Typed>| {
                matches!(it, ClauseKind::FirstPrivate { .. } | ClauseKind::If(_))
            };
            is_plain(construct) && !construct.kinds().any(is_own)
        }
        _ => false,
    }
}

/// Whether no clause counts on how the iterations of its loop are dealt.
fn is_plain(construct: &Construct<Typed>) -> bool {
    let counts = |it: &ClauseKind<Typed>| {
        let has_args = matches!(it, ClauseKind::Gang(args) if !args.is_empty());
        has_args
            || matches!(
                it,
                ClauseKind::Reduction(_)
                    | ClauseKind::InReduction(_)
                    | ClauseKind::TaskReduction(_)
                    | ClauseKind::Induction(_)
                    | ClauseKind::LastPrivate { .. }
                    | ClauseKind::Linear(_)
                    | ClauseKind::Ordered(_)
                    | ClauseKind::Allocate(_)
                    | ClauseKind::CopyIn(_)
                    | ClauseKind::TileLoop(_)
                    | ClauseKind::Safelen(_)
                    | ClauseKind::Simdlen(_)
                    | ClauseKind::Aligned(..)
                    | ClauseKind::Nontemporal(_)
                    | ClauseKind::Seq
            )
    };
    construct.groups.is_empty() && !construct.kinds().any(counts)
}

impl Model<'_> {
    /// The loop that threads share while each runs `root` whole, where that could pay.
    pub(super) fn within(&self, root: usize) -> Option<usize> {
        if self.profile.kind != Kind::Cores || !self.terms.may_share_inside {
            return None;
        }
        let inner = shared_inside(self.program, self.tree, root)?;
        // With fewer columns than that threads would be without work.
        let is_guessed = |it: usize| {
            self.tree.loop_at(it).is_none_or(|it| match it.trips.from {
                TripsFrom::Constant | TripsFrom::Given | TripsFrom::Values => false,
                TripsFrom::Declared | TripsFrom::Guess => true,
            })
        };
        let pays = !self.tree.nest(root).into_iter().any(is_guessed)
            && self.has_whole_lines(inner)
            && !self.again(root, inner, Scale::Estimate).is_empty();
        pays.then_some(inner)
    }

    /// Whether what a thread writes in a round is a line at least: lines would go to and fro between cores.
    fn has_whole_lines(&self, inner: usize) -> bool {
        let share = self.trips(inner, Scale::Estimate) / real(self.profile.slots);
        let mut writes = self.tree.strides(inner).filter(|it| it.0.writes);
        writes.all(|(access, stride)| match stride {
            Stride::Same => false,
            Stride::Elements(by) => {
                share * real(access.bytes.saturating_mul(by.unsigned_abs()))
                    >= real(self.profile.line)
            }
            Stride::Row | Stride::Irregular => true,
        })
    }

    /// What all iterations of `root` read, if it is too much for a core and the share of a thread is not.
    pub(super) fn again(&self, root: usize, inner: usize, scale: Scale) -> Vec<Again> {
        let found = self.apart(root).into_iter().filter(|it| self.is_again(it, root, inner, scale));
        found.map(|it| Again { var: it.var, bytes: self.extent(it, root, scale) }).collect()
    }

    pub(super) fn is_again(
        &self,
        access: &AccessMark,
        root: usize,
        inner: usize,
        scale: Scale,
    ) -> bool {
        let moves =
            |at: usize| matches!(access.stride(at), Some(Stride::Elements(_) | Stride::Row));
        let is_known = access.strides.iter().all(|it| it.1 != Stride::Irregular);
        let whole = self.extent(access, root, scale);
        let threads = self.trips(inner, scale).min(real(self.profile.slots));
        let cache = real(self.profile.cache);
        !access.writes
            && is_known
            && access.stride(root) == Some(&Stride::Same)
            && moves(inner)
            && whole > cache
            && whole / threads <= cache
    }

    /// Bytes that an access reaches in one iteration of a loop.
    fn extent(&self, access: &AccessMark, root: usize, scale: Scale) -> f64 {
        let inside = access.strides.iter().skip_while(|it| it.0 != root).skip(1);
        let moving: Vec<&(usize, Stride)> = inside.filter(|it| it.1 != Stride::Same).collect();
        let step = |it: &Stride| match it {
            Stride::Elements(by) => access.bytes.saturating_mul(by.unsigned_abs()),
            Stride::Same | Stride::Row | Stride::Irregular => self.profile.line,
        };
        // Neighbours share a line, whichever loop comes to them.
        let each = moving.iter().map(|it| step(&it.1)).min().unwrap_or(0).min(self.profile.line);
        real(each) * moving.iter().map(|it| self.trips(it.0, scale)).product::<f64>()
    }
}

/// Bytes in words: `1.2 MiB`.
pub(super) fn size(bytes: f64) -> String {
    const KIB: f64 = 1024.0;
    match bytes {
        _ if bytes < KIB * KIB => format!("{:.0} KiB", bytes / KIB),
        _ => format!("{:.1} MiB", bytes / (KIB * KIB)),
    }
}
