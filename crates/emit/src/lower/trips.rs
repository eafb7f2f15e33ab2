//! How often the loops of a kernel run, as far as the host can tell before the call.
//!
//! A hint for devices that choose how many threads to start: kernels are right with any number. So only
//! bounds are looked at that cost nothing to compute and cannot fail: constants, and sums, differences
//! and products of integers that the region gets as values.

use ir::construct::{Leaf, ReductionOp};
use ir::program::{BinaryOp, ExprId, ExprKind, Program, RegionId, VarId};
use ir::region::{Loop, LoopTest, Region, RegionVar, Sharing};
use ir::walk::Part;
use rustc_hash::FxHashMap;

use super::entries::is_value;
use super::{Lowering, in_order, loops};
use crate::c::{Grid, Printer};

/// The loops whose iterations all threads share.
#[derive(Clone, Debug)]
pub(super) struct Nest {
    /// How many of them directives name.
    written: usize,
    /// What has joined them.
    deeper: Vec<Loop>,
}

impl Lowering<'_> {
    /// The regions whose iterations all threads of a grid share, and of which loops.
    pub(super) fn shared_by_all(&self) -> FxHashMap<RegionId, Nest> {
        let is_cpp = self.grid.is_some_and(Grid::is_cpp);
        let goes = |it: &Region| it.construct.has(Leaf::Offload) || it.construct.has(Leaf::Kernels);
        let regions = self.program.regions.iter().filter(|(_, it)| goes(it)).map(|it| it.0);
        let shared = |id: RegionId| {
            let whole = match self.shares_iterations(id) {
                true => Some(id),
                false => self.only_region(id).filter(|it| self.shares_iterations(*it)),
            };
            if let Some(whole) = whole.filter(|it| self.is_for_threads(*it)) {
                let written = loops::collapsed(self.program, whole);
                return Some((id, Nest { written, deeper: self.loops_joined(whole).to_vec() }));
            }
            // Loops for threads that are all there is in loops for teams.
            if !is_cpp || !self.is_anonymous(id) || !self.shares_iterations(id) {
                return None;
            }
            let (own, (all, last)) = (loops::collapsed(self.program, id), self.depth(id));
            let deeper = last.map_or_else(Vec::new, |it| self.loops_joined(it).to_vec());
            (all > own).then_some((id, Nest { written: all, deeper }))
        };
        regions.filter_map(shared).collect()
    }

    /// The construct that is all there is in a region that only leaves the host.
    fn only_region(&self, id: RegionId) -> Option<RegionId> {
        let region = &self.program.regions[id];
        let goes = |it: &Leaf| matches!(it, Leaf::Offload | Leaf::Kernels);
        let goes = region.construct.leaves.iter().all(goes);
        loops::only_region(self.program, region.body.filter(|_| goes)?)
    }

    /// Whether a construct has loops as they stand, and several who share them.
    fn shares_iterations(&self, id: RegionId) -> bool {
        let region = &self.program.regions[id];
        let shares = |it: &Leaf| matches!(it, Leaf::Distribute | Leaf::For | Leaf::Loop);
        region.construct.leaves.iter().any(shares)
            && !region.loops.is_empty()
            && region.loops.iter().all(|it| it.rectangular)
            && region.vars.iter().all(|it| self.is_soon_combined(it))
            && !in_order::asks_one(self.program, id)
            && !loops::needs_loops_made(self.program, id)
    }

    /// Whether what threads combine of a variable, if they do, is one number: for more, groups had better be few.
    fn is_soon_combined(&self, it: &RegionVar) -> bool {
        let (types, ty) = (&self.program.types, self.program.vars[it.var].ty);
        match it.sharing.as_ref().map(|it| &it.value) {
            Some(Sharing::Reduction(ReductionOp::User(_)) | Sharing::Linear) => false,
            Some(Sharing::Reduction(_)) => types.is_scalar(ty) && !types.is_complex(ty),
            _ => true,
        }
    }

    /// Whether nothing inside of a construct is for several, and nobody can tell who runs an iteration.
    fn is_for_threads(&self, id: RegionId) -> bool {
        let inside = self.program.inside(id);
        let is_for_one =
            |it: &Leaf| matches!(it, Leaf::Simd | Leaf::Cache | Leaf::Nothing | Leaf::Atomic);
        self.is_anonymous(id)
            && inside
                .iter()
                .all(|it| self.program.regions[*it].construct.leaves.iter().all(is_for_one))
    }

    /// The number of iterations as C, or `0`.
    pub(super) fn trips(&self, printer: &Printer<'_>, id: RegionId) -> String {
        // For a grid other loops may have been chosen than for the host, whose passes may also have
        // made other loops of those that were written.
        let shared = self.shared.get(&id);
        let trips = [self.written, self.program].into_iter().find_map(|program| {
            let Nest { written, deeper } = shared?;
            let (nest, region) = (nest(program, id, *written)?, program.regions.find(id)?);
            let printer = printer.over(program);
            let nest: Vec<&Loop> = nest.into_iter().chain(deeper).collect();
            let trips = nest.iter().enumerate().map(|(at, one)| {
                trips_of(&printer, region, one, nest.get(..at).unwrap_or_default())
            });
            trips.collect::<Option<Vec<_>>>()
        });
        trips.map_or_else(|| "0".to_owned(), |it| it.join(" * "))
    }

    /// Loops that have joined the nest of a construct.
    pub(super) fn loops_joined(&self, id: RegionId) -> &[Loop] {
        let found = self.deeper.loops.get(&id).filter(|_| self.grid.is_some_and(Grid::is_cpp));
        found.map_or(&[], Vec::as_slice)
    }

    /// How many loops there are in a construct and in those that are all there is in its loops, and the last of these.
    fn depth(&self, id: RegionId) -> (usize, Option<RegionId>) {
        let (mut depth, mut at, mut inner) = (0, Some(id), None);
        while let Some(id) = at {
            inner = at;
            let own = loops::collapsed(self.program, id);
            let loops = self.program.regions[id].loops.get(..own).unwrap_or_default();
            depth += loops.len();
            at = loops.last().and_then(|it| loops::only_region(self.program, it.body));
            at = at.filter(|it| self.shares_iterations(*it));
        }
        (depth, inner)
    }
}

/// So many loops of a construct, and of those that are all there is in its loops.
fn nest(program: &Program, id: RegionId, count: usize) -> Option<Vec<&Loop>> {
    let mut nest: Vec<&Loop> = Vec::new();
    let mut at = id;
    while nest.len() < count {
        let own = loops::collapsed(program, at);
        let loops = program.regions.find(at)?.loops.get(..own).filter(|it| !it.is_empty())?;
        nest.extend(loops);
        if nest.len() < count {
            at = loops::only_region(program, nest.last()?.body)?;
        }
    }
    (nest.len() == count).then_some(nest)
}

/// How often a loop runs, inside of others; of one that follows another loop, as often as at both ends of that together.
fn trips_of(printer: &Printer<'_>, region: &Region, one: &Loop, outer: &[&Loop]) -> Option<String> {
    let program = printer.program();
    let bounds = || [Some(one.begin), Some(one.bound), one.step].into_iter().flatten();
    let is_var = |it: &ExprKind, var| matches!(it, ExprKind::Var(v) if *v == var);
    let follows = |it: &&&Loop| {
        bounds().any(|e| program.any_expr(Part::Expr(e), |kind| is_var(kind, it.var)))
    };
    let mut followed = outer.iter().filter(follows);
    let Some(other) = followed.next() else {
        let is_plain = one.rectangular && bounds().all(|it| is_free(program, region, it, None));
        return is_plain.then(|| counted(printer, one));
    };
    let free = |it| is_free(program, region, it, Some(other.var));
    let is_plain = followed.next().is_none()
        && other.step.is_none()
        && other.test != LoopTest::Ne
        && bounds().all(free)
        && [other.begin, other.bound].into_iter().all(|it| is_free(program, region, it, None));
    if !is_plain {
        return None;
    }
    // The loop around it runs from one value to the other if it runs at all.
    let last = match other.test {
        LoopTest::Lt => " - 1",
        LoopTest::Gt => " + 1",
        LoopTest::Le | LoopTest::Ge | LoopTest::Ne => "",
    };
    let ends = [(other.begin, ""), (other.bound, last)].map(|(end, more)| {
        let mut printer = printer.over(program);
        printer.substitute(other.var, format!("({}{more})", printer.primary(end)));
        counted(&printer, one)
    });
    Some(format!("({} ? {} : 0)", counted(printer, other), ends.join(" + ")))
}

fn counted(printer: &Printer<'_>, one: &Loop) -> String {
    let [begin, bound] = [one.begin, one.bound].map(|it| printer.primary(it));
    let step = one.step.map_or_else(|| "1".to_owned(), |it| printer.primary(it));
    let sign = if one.descending { "-" } else { "" };
    let beyond = match one.test {
        LoopTest::Lt | LoopTest::Gt | LoopTest::Ne => "",
        LoopTest::Le => " + 1",
        LoopTest::Ge => " - 1",
    };
    format!(
        "(__ferry_u64)__ferry_trips({begin}, (__ferry_i64){bound}{beyond}, {sign}(__ferry_i64){step})"
    )
}

/// Whether the host may compute it, more often than the program says, from values of the region and this variable.
fn is_free(program: &Program, region: &Region, id: ExprId, other: Option<VarId>) -> bool {
    let expr = &program.exprs[id];
    if !program.types.is_integer(expr.ty) {
        return false;
    }
    match &expr.kind {
        ExprKind::Int(_) | ExprKind::EnumConst(..) => true,
        ExprKind::Var(var) => {
            let is_plain = !program.vars[*var].ty.quals.is_volatile;
            Some(*var) == other
                || is_plain && region.vars.iter().any(|it| it.var == *var && is_value(it))
        }
        ExprKind::Cast(_, inner) => is_free(program, region, *inner, other),
        ExprKind::Binary(BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul, left, right) => {
            is_free(program, region, *left, other) && is_free(program, region, *right, other)
        }
        _ => false,
    }
}
