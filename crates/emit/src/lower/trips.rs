//! How often the loops of a kernel run, as far as the host can tell before the call.
//!
//! A hint for devices that choose how many threads to start: kernels are right with any number. So only
//! bounds are looked at that cost nothing to compute and cannot fail: constants, and sums, differences
//! and products of integers that the region gets as values.

use ir::construct::Leaf;
use ir::program::{BinaryOp, ExprId, ExprKind, RegionId};
use ir::region::{Loop, LoopTest, Region};
use rustc_hash::FxHashMap;

use super::grid::{Form, is_value};
use super::{Lowering, loops};
use crate::c::Printer;

impl Lowering<'_> {
    /// The regions whose iterations all threads of a grid share, and of how many loops.
    pub(super) fn shared_by_all(&self) -> FxHashMap<RegionId, usize> {
        let goes = |it: &Region| it.construct.has(Leaf::Offload) || it.construct.has(Leaf::Kernels);
        let regions = self.program.regions.iter().filter(|(_, it)| goes(it)).map(|it| it.0);
        let shared = |id: RegionId| match self.form(id) {
            Form::Flat(whole) => Some((id, loops::collapsed(self.program, whole))),
            Form::Spmd => {
                let launch = self.launch(id).filter(|it| it.spread.is_some());
                launch.map(|it| (id, it.loops))
            }
            Form::Team(_) | Form::Solo(_) => None,
        };
        regions.filter_map(shared).collect()
    }

    /// The number of iterations as C, or `0`.
    pub(super) fn trips(&self, printer: &Printer<'_>, id: RegionId) -> String {
        let region = &self.program.regions[id];
        let count = loops::collapsed(self.program, id);
        // For a grid other loops may have been chosen than for the host.
        if self.shared.get(&id) != Some(&count) || region.loops.len() < count {
            return "0".to_owned();
        }
        let nest = region.loops.iter().take(count);
        let trips: Option<Vec<String>> =
            nest.map(|it| self.trips_of(printer, region, it)).collect();
        trips.map_or_else(|| "0".to_owned(), |it| it.join(" * "))
    }

    fn trips_of(&self, printer: &Printer<'_>, region: &Region, one: &Loop) -> Option<String> {
        let bounds = [Some(one.begin), Some(one.bound), one.step];
        if !one.rectangular || !bounds.iter().flatten().all(|it| self.is_free(region, *it)) {
            return None;
        }
        let [begin, bound] = [one.begin, one.bound].map(|it| printer.primary(it));
        let step = one.step.map_or_else(|| "1".to_owned(), |it| printer.primary(it));
        let sign = if one.descending { "-" } else { "" };
        let beyond = match one.test {
            LoopTest::Lt | LoopTest::Gt | LoopTest::Ne => "",
            LoopTest::Le => " + 1",
            LoopTest::Ge => " - 1",
        };
        Some(format!(
            "(__ferry_u64)__ferry_trips({begin}, (__ferry_i64){bound}{beyond}, {sign}(__ferry_i64){step})"
        ))
    }

    /// Whether the host may compute it, more often than the program says.
    fn is_free(&self, region: &Region, id: ExprId) -> bool {
        let program = self.program;
        let expr = &program.exprs[id];
        if !program.types.is_integer(expr.ty) {
            return false;
        }
        match &expr.kind {
            ExprKind::Int(_) | ExprKind::EnumConst(..) => true,
            ExprKind::Var(var) => {
                let is_plain = !program.vars[*var].ty.quals.is_volatile;
                is_plain && region.vars.iter().any(|it| it.var == *var && is_value(it))
            }
            ExprKind::Cast(_, inner) => self.is_free(region, *inner),
            ExprKind::Binary(BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul, left, right) => {
                self.is_free(region, *left) && self.is_free(region, *right)
            }
            _ => false,
        }
    }
}
