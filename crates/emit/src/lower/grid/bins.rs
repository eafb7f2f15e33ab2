//! Sums in the elements of a small array: each group adds up its own copy.
//!
//! An array that a kernel only ever adds to, atomically and without looking at it, need not be the
//! array itself until the kernel ends: histograms. If it is small while the kernel runs, the threads
//! of a group add to elements in memory that is near them, and at the end to the array; otherwise the
//! same code adds to the array. How many elements it has is what was mapped.

use ir::construct::{ClauseKind, Leaf, Motion};
use ir::program::{BinaryOp, ExprId, ExprKind, RegionId, VarId};
use ir::types::TypeKind;
use ir::walk::Part;
use rustc_hash::FxHashMap;

use crate::c::{Grid, Out, Printer};
use crate::lower::Lowering;
use crate::lower::kernel::regions_in;

/// Bytes of a group for copies of one array: what leaves room for many groups.
const ROOM: u64 = 16384;

/// An array that is only added to, as the kernel names it.
pub(super) struct Bins(String);

impl Lowering<'_> {
    /// Copies for arrays that a kernel only adds to, which the printer then names.
    pub(super) fn bins(
        &self,
        printer: &Printer<'_>,
        inside: &mut Printer<'_>,
        id: RegionId,
        out: &mut Out<'_>,
    ) -> Vec<Bins> {
        if !self.grid.is_some_and(Grid::is_cpp) {
            return Vec::new();
        }
        let mut made = Vec::new();
        for var in self.only_added(printer, id) {
            let Some(length) = self.mapped_length(printer, id, var) else { continue };
            let Some(element) = self.program.types.pointee(self.program.vars[var].ty) else {
                continue;
            };
            let size = self.program.model.size_of(&self.program.types, element).unwrap_or(0);
            let Some(most) = ROOM.checked_div(size) else { continue };
            let number = self.fresh();
            let [room, bins] = ["room", "bins"].map(|it| format!("__ferry_{it}{number}"));
            let ty = printer.type_name(element.plain());
            out.line(&format!("__shared__ {ty} {room}[{most}];"));
            out.line(&format!(
                "const __ferry_bins<{ty}> {bins}({}, {room}, {most}, {});",
                printer.var_name(var),
                printer.expr(length)
            ));
            inside.substitute(var, bins.clone());
            made.push(Bins(bins));
        }
        made
    }

    /// What a group has added up, into the array.
    pub(super) fn add_bins(&self, bins: &[Bins], out: &mut Out<'_>) {
        bins.iter().for_each(|Bins(name)| out.line(&format!("{name}.pour();")));
    }

    /// Pointers that came as values and whose elements are added to, and nothing else.
    fn only_added(&self, printer: &Printer<'_>, id: RegionId) -> Vec<VarId> {
        let program = self.program;
        let Some(body) = program.regions[id].body else { return Vec::new() };
        let mut added: FxHashMap<VarId, usize> = FxHashMap::default();
        for inner in regions_in(program, body) {
            if program.regions[inner].construct.has(Leaf::Atomic)
                && let Some((object, BinaryOp::Add | BinaryOp::Sub)) =
                    self.bare_update(printer, inner)
                && let ExprKind::Index(base, _) = program.exprs[object].kind
                && let ExprKind::Var(var) = self.kind(base)
                && self.has_instruction(object)
            {
                *added.entry(*var).or_default() += 1;
            }
        }
        if added.is_empty() {
            return Vec::new();
        }
        let mut named: FxHashMap<VarId, usize> = FxHashMap::default();
        let mut open = vec![Part::Stmt(body)];
        while let Some(part) = open.pop() {
            if let Part::Expr(e) = part
                && let ExprKind::Var(var) = program.exprs[e].kind
            {
                *named.entry(var).or_default() += 1;
            }
            program.parts(part, &mut |it| open.push(it));
        }
        let is_value = |var: &VarId| {
            program.types.is_pointer(program.vars[*var].ty)
                && !printer.var_name(*var).starts_with('(')
        };
        let mut found: Vec<VarId> = added
            .into_iter()
            .filter(|(var, times)| named.get(var) == Some(times) && is_value(var))
            .map(|it| it.0)
            .collect();
        found.sort();
        found
    }

    /// Types that the device adds to in one instruction.
    fn has_instruction(&self, object: ExprId) -> bool {
        let types = &self.program.types;
        let ty = self.program.exprs[object].ty;
        let size = self.program.model.size_of(types, ty).unwrap_or(0);
        [4, 8].contains(&size) && matches!(types.shape(ty), TypeKind::Int(_) | TypeKind::Float(_))
    }

    /// How many elements of a pointer's data were mapped from the first on, if the kernel can tell.
    fn mapped_length(&self, printer: &Printer<'_>, id: RegionId, var: VarId) -> Option<ExprId> {
        let program = self.program;
        let region = &program.regions[id];
        region.construct.kinds().find_map(|kind| {
            let ClauseKind::Map(map) = kind else { return None };
            if map.motion == Motion::Unsaid || !map.iterators.is_empty() {
                return None;
            }
            map.items.iter().find_map(|item| {
                let ExprKind::Section(section) = &program.exprs[*item].kind else { return None };
                let ExprKind::Var(base) = self.kind(section.base) else { return None };
                let from_first =
                    section.lower.is_none_or(|it| matches!(self.kind(it), ExprKind::Int(0)));
                let length = section.length.filter(|_| *base == var && from_first)?;
                (section.stride.is_none() && self.is_known_inside(printer, id, length))
                    .then_some(length)
            })
        })
    }

    /// Whether an expression is made of numbers and values that the kernel has.
    fn is_known_inside(&self, printer: &Printer<'_>, id: RegionId, expr: ExprId) -> bool {
        let program = self.program;
        let mut open = vec![Part::Expr(expr)];
        while let Some(part) = open.pop() {
            let Part::Expr(e) = part else { return false };
            let is_fit = match &program.exprs[e].kind {
                ExprKind::Var(var) => {
                    let is_there = program.regions[id].vars.iter().any(|it| it.var == *var);
                    is_there && !printer.var_name(*var).starts_with('(')
                }
                ExprKind::Int(_)
                | ExprKind::Cast(..)
                | ExprKind::Sizeof(_)
                | ExprKind::EnumConst(..)
                | ExprKind::Binary(..) => true,
                _ => false,
            };
            if !is_fit {
                return false;
            }
            program.parts(part, &mut |it| open.push(it));
        }
        true
    }
}
