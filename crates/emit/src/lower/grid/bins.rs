//! Elements of a small array that are changed by many threads: each group changes its own copy.
//!
//! An array whose elements a kernel only ever adds to, or joins with values in another such way, atomically and without
//! looking at them, need not be the array itself until the kernel ends: histograms. The threads of a group
//! change elements in memory that is near them, and at the end the array; elements beyond that memory are changed where they
//! are, and so are all if it is known that there is no room for them.

use ir::construct::{ClauseKind, Leaf, Motion};
use ir::program::{ExprId, ExprKind, RegionId, VarId};
use ir::types::{ArrayLen, TypeKind};
use ir::walk::Part;
use rustc_hash::FxHashMap;

use super::atomic::{Blind, Join};
use crate::c::{Grid, Out, Printer};
use crate::lower::Lowering;
use crate::lower::kernel::regions_in;

/// Bytes of a group for all such copies: what leaves room for many groups, and for what else groups have.
const ROOM: u64 = 14 << 10;

/// An array that is only joined with values, as the kernel names it.
pub(super) struct Bins(String);

impl Lowering<'_> {
    /// Copies for arrays that a kernel only joins with values, which the printer then names.
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
        let mut left = ROOM;
        for (var, join) in self.only_joined(printer, id) {
            let types = &self.program.types;
            let ty = self.program.vars[var].ty;
            let Some(element) = types.pointee(ty).or_else(|| types.element(ty)) else { continue };
            let size = self.program.model.size_of(types, element).unwrap_or(0);
            let Some(most) = left.checked_div(size).filter(|it| *it > 0) else { continue };
            let (room_for, length) = match types.shape(ty) {
                TypeKind::Array(_, ArrayLen::Known(count)) if *count <= most => {
                    (*count, count.to_string())
                }
                TypeKind::Array(..) => continue,
                // What nobody knows the length of has at least those elements that are changed.
                _ => match self.mapped_length(printer, id, var) {
                    Some(length) => (most, printer.expr(length)),
                    None => (most, most.to_string()),
                },
            };
            left -= room_for * size;
            let number = self.fresh();
            let [room, bins] = ["room", "bins"].map(|it| format!("__ferry_{it}{number}"));
            let ty = printer.type_name(element.plain());
            let word = word(join);
            out.line(&format!("__shared__ {ty} {room}[{room_for}];"));
            out.line(&format!(
                "const __ferry_bins<{ty}, {word}> {bins}({}, {room}, {room_for}, {length});",
                printer.var_name(var)
            ));
            inside.substitute(var, bins.clone());
            made.push(Bins(bins));
        }
        made
    }

    /// What a group has, into the array.
    pub(super) fn add_bins(&self, bins: &[Bins], out: &mut Out<'_>) {
        bins.iter().for_each(|Bins(name)| out.line(&format!("{name}.pour();")));
    }

    /// Arrays, and pointers that came as values, whose elements are joined with values in one way, and nothing else.
    fn only_joined(&self, printer: &Printer<'_>, id: RegionId) -> Vec<(VarId, Join)> {
        let program = self.program;
        let Some(body) = program.regions[id].body else { return Vec::new() };
        let named = |part: Part| {
            let mut named: FxHashMap<VarId, usize> = FxHashMap::default();
            let mut open = vec![part];
            while let Some(part) = open.pop() {
                if let Part::Expr(e) = part
                    && let ExprKind::Var(var) = program.exprs[e].kind
                {
                    *named.entry(var).or_default() += 1;
                }
                program.parts(part, &mut |it| open.push(it));
            }
            named
        };
        // How each is joined, if always in one way, and how often it is named there.
        let mut joined: FxHashMap<VarId, (Option<Join>, usize)> = FxHashMap::default();
        for inner in regions_in(program, body) {
            if program.regions[inner].construct.has(Leaf::Atomic)
                && let Some(Blind { object, join, operands }) = self.blind(printer, inner)
                && let ExprKind::Index(base, index) = program.exprs[object].kind
                && let ExprKind::Var(var) = self.kind(base)
                && self.has_instruction(object)
                && !operands
                    .iter()
                    .chain([&index])
                    .any(|it| named(Part::Expr(*it)).contains_key(var))
                && let Some(inside) = program.regions[inner].body
            {
                let times = named(Part::Stmt(inside)).get(var).copied().unwrap_or(0);
                let known = joined.entry(*var).or_insert((Some(join), 0));
                known.0 = known.0.filter(|it| *it == join);
                known.1 += times;
            }
        }
        if joined.is_empty() {
            return Vec::new();
        }
        let named = named(Part::Stmt(body));
        let is_fit = |var: &VarId| {
            let ty = program.vars[*var].ty;
            let is_value = !printer.var_name(*var).starts_with('(');
            program.types.is_pointer(ty) && is_value || program.types.is_array(ty) && !is_value
        };
        let mut found: Vec<(VarId, Join)> = joined
            .into_iter()
            .filter(|(var, (_, times))| named.get(var) == Some(times) && is_fit(var))
            .filter_map(|(var, (join, _))| Some((var, join?)))
            .collect();
        found.sort_by_key(|it| it.0);
        found
    }

    /// Types that the device exchanges in one instruction.
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

/// What a way to join is called in the text.
fn word(join: Join) -> &'static str {
    match join {
        Join::Add => "__ferry_joined_add",
        Join::Mul => "__ferry_joined_mul",
        Join::And => "__ferry_joined_and",
        Join::Or => "__ferry_joined_or",
        Join::Xor => "__ferry_joined_xor",
        Join::Min => "__ferry_joined_min",
        Join::Max => "__ferry_joined_max",
    }
}
