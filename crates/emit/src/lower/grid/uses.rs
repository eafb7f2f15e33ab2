//! What a kernel does with an array of which a team brings a part near.
//!
//! Two copies of an element must not be told apart: the array is used by naming elements and in no other way, nothing
//! else that the kernel names may be the same memory, and an element that is written is in the part of one team only.

use ir::construct::Leaf;
use ir::program::{BinaryOp, ExprId, ExprKind, RegionId, VarId};
use ir::walk::Part;

use super::cached::Dimension;
use super::forms::is_value;
use crate::c::subscripted;
use crate::lower::{Lowering, loops};

/// Why a part cannot be near.
const NOT_ELEMENTS: &str = "the kernel does not only read and write elements of the array";
const NOT_ONLY_READ: &str = "`readonly` is said of an array that the kernel writes";
const MAYBE_WRITTEN: &str =
    "what the kernel writes may be the same memory: `readonly` says that it is not";
const MAYBE_USED: &str =
    "the array is written, and what else the kernel names may be the same memory";
const NOT_OF_ONE: &str = "the array is written, and teams may have parts in common";

/// Which teams run a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Who {
    /// There is only one.
    One,
    /// Each iteration of this construct's loops is one team's.
    Sharers(RegionId),
    /// All of them do, or it is not known which.
    Each,
}

/// How often a part of the program names an array.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Count {
    names: usize,
    elements: usize,
    written: usize,
}

impl Lowering<'_> {
    /// Whether a kernel writes elements of an array; an error if two copies of one could be told apart. `subscripts`:
    /// so many make an element; `is_promised`: the user says that nobody writes.
    pub(super) fn is_written(
        &self,
        kernel: RegionId,
        var: VarId,
        subscripts: usize,
        is_promised: bool,
    ) -> Result<bool, &'static str> {
        let program = self.program;
        let body = program.regions[kernel].body.ok_or(NOT_ELEMENTS)?;
        let count = self.uses(Part::Stmt(body), var, subscripts)?;
        if count.names != count.elements {
            return Err(NOT_ELEMENTS);
        }
        let is_written = count.written > 0;
        if is_promised {
            return if is_written { Err(NOT_ONLY_READ) } else { Ok(false) };
        }
        let mut open = vec![Part::Stmt(body)];
        while let Some(part) = open.pop() {
            if let Part::Expr(e) = part {
                match &program.exprs[e].kind {
                    ExprKind::Call(callee, _) if !self.is_mathematical(*callee) => {
                        return Err(if is_written { MAYBE_USED } else { MAYBE_WRITTEN });
                    }
                    ExprKind::Assign(to, _)
                    | ExprKind::AssignOp(_, to, ..)
                    | ExprKind::Step(_, to)
                        if !self.is_other(kernel, var, *to) =>
                    {
                        return Err(if is_written { MAYBE_USED } else { MAYBE_WRITTEN });
                    }
                    ExprKind::Var(_) | ExprKind::Index(..) | ExprKind::Deref(_)
                        if is_written && !self.is_other(kernel, var, e) =>
                    {
                        return Err(MAYBE_USED);
                    }
                    _ => {}
                }
            }
            program.parts(part, &mut |it| open.push(it));
        }
        Ok(is_written)
    }

    /// Counts names of an array; an error if something is done to an element that only one place suits.
    fn uses(&self, within: Part, var: VarId, subscripts: usize) -> Result<Count, &'static str> {
        let program = self.program;
        let element = |e: ExprId| match program.exprs[e].kind {
            ExprKind::Index(of, last) => subscripted(program, of, last)
                .filter(|(of, list)| *of == var && list.len() == subscripts)
                .map(|it| it.1),
            _ => None,
        };
        let is_var = |it: &ExprKind| matches!(it, ExprKind::Var(it) if *it == var);
        let mut count = Count::default();
        let mut open = vec![within];
        while let Some(part) = open.pop() {
            match part {
                Part::Expr(e) => {
                    if let Some(subscripts) = element(e) {
                        // They are computed more than once.
                        if !subscripts.iter().all(|it| self.is_calm(*it)) {
                            return Err(NOT_ELEMENTS);
                        }
                        count.elements += 1;
                    }
                    match &program.exprs[e].kind {
                        ExprKind::Var(it) => count.names += usize::from(*it == var),
                        ExprKind::AddrOf(of) if element(*of).is_some() => return Err(NOT_ELEMENTS),
                        ExprKind::Assign(to, _)
                        | ExprKind::AssignOp(_, to, ..)
                        | ExprKind::Step(_, to) => {
                            count.written += usize::from(element(*to).is_some());
                        }
                        _ => {}
                    }
                }
                // What is done at one time only, or by one team after the other, is done to the element itself.
                Part::Region(id) if !self.is_of_loops(id) && program.any_expr(part, is_var) => {
                    return Err(NOT_ELEMENTS);
                }
                Part::Region(_) | Part::Stmt(_) | Part::Local(_) | Part::Init(_) => {}
            }
            program.parts(part, &mut |it| open.push(it));
        }
        Ok(count)
    }

    /// Whether all that a construct does is to share iterations.
    fn is_of_loops(&self, id: RegionId) -> bool {
        self.program.regions[id].construct.leaves.iter().all(|it| {
            matches!(
                it,
                Leaf::Distribute
                    | Leaf::Parallel
                    | Leaf::For
                    | Leaf::Simd
                    | Leaf::Loop
                    | Leaf::Cache
                    | Leaf::Nothing
            )
        })
    }

    /// Whether an expression can be computed more than once.
    pub(super) fn is_calm(&self, e: ExprId) -> bool {
        let acts = |it: &ExprKind| match it {
            ExprKind::Assign(..)
            | ExprKind::AssignOp(..)
            | ExprKind::Step(..)
            | ExprKind::StmtExpr(_)
            | ExprKind::VaArg(_)
            | ExprKind::CompoundLiteral(_) => true,
            ExprKind::Call(callee, _) => !self.is_mathematical(*callee),
            _ => false,
        };
        !self.program.any_expr(Part::Expr(e), acts)
    }

    /// Whether an object that a kernel names is an element of this array by that name, or certainly no element of it.
    fn is_other(&self, kernel: RegionId, var: VarId, object: ExprId) -> bool {
        let program = self.program;
        let is_restrict = |var: VarId| program.vars[var].ty.quals.is_restrict;
        let is_pointer = program.types.is_pointer(program.vars[var].ty);
        let from_outside = &program.regions[kernel].vars;
        match (self.object(object), self.led_by(object)) {
            // Two names of arrays are two arrays; of pointers only the user knows.
            (Some(of), _) => {
                let is_of_kernel = !from_outside.iter().any(|it| it.var == of && !is_value(it));
                of == var || is_of_kernel || !is_pointer || is_restrict(var)
            }
            (None, Some(by)) => by == var || is_restrict(var) || !is_pointer && is_restrict(by),
            (None, None) => is_restrict(var),
        }
    }

    /// The pointer that leads to an object.
    fn led_by(&self, object: ExprId) -> Option<VarId> {
        match self.program.exprs[object].kind {
            ExprKind::Index(of, _) | ExprKind::Deref(of) => {
                let of = self.peeled(of);
                match self.program.exprs[of].kind {
                    ExprKind::Var(var) => Some(var),
                    _ if self.program.types.is_array(self.program.exprs[of].ty) => self.led_by(of),
                    _ => None,
                }
            }
            ExprKind::Member(of, ..) => self.led_by(of),
            _ => None,
        }
    }

    /// Whether an array that is written is so by who has the part: no two teams have an element in common, and no
    /// other code names the array. `is_fixed`: whether a variable has the same value all the time.
    pub(super) fn is_of_one_team(
        &self,
        kernel: RegionId,
        var: VarId,
        dimensions: &[Dimension],
        who: Who,
        is_fixed: &impl Fn(VarId) -> bool,
    ) -> Result<(), &'static str> {
        let program = self.program;
        let sharers = match who {
            Who::One => return Ok(()),
            Who::Each => return Err(NOT_OF_ONE),
            Who::Sharers(id) => id,
        };
        let names = |id: RegionId| {
            let body = program.regions[id].body.map(Part::Stmt);
            body.and_then(|it| self.uses(it, var, dimensions.len()).ok()).map(|it| it.names)
        };
        // Two iterations differ in the variable of a loop, and that moves the part by more than its length.
        let is_apart = program.regions[sharers].loops.iter().all(|one| {
            let step = one.step.map_or(Some(1), |it| loops::constant(program, it));
            dimensions.iter().any(|it| {
                let slope = it.first.and_then(|it| self.slope(it, one.var, is_fixed));
                let moved = slope.zip(step).and_then(|(slope, step)| slope.checked_mul(step));
                moved.is_some_and(|moved| moved.unsigned_abs() >= it.count)
            })
        });
        if is_apart && names(sharers) == names(kernel) { Ok(()) } else { Err(NOT_OF_ONE) }
    }

    /// How much more an expression is if a variable is one more, and all others are fixed.
    fn slope(&self, e: ExprId, var: VarId, is_fixed: &impl Fn(VarId) -> bool) -> Option<i64> {
        let program = self.program;
        if loops::constant(program, e).is_some() {
            return Some(0);
        }
        let node = &program.exprs[e];
        if let ExprKind::Var(it) = node.kind {
            return if it == var { Some(1) } else { is_fixed(it).then_some(0) };
        }
        // Narrow ones without a sign begin anew where they end.
        let kind = program.types.integer_kind(node.ty)?;
        let is_long = program.model.size_of(&program.types, node.ty) == Ok(8);
        if !is_long && !program.model.int_signed(kind) {
            return None;
        }
        let slope = |e: ExprId| self.slope(e, var, is_fixed);
        match node.kind {
            ExprKind::Cast(_, inner) => {
                let size = |ty| program.model.size_of(&program.types, ty).ok();
                let from = program.exprs[inner].ty;
                let is_kept = program.types.is_integer(from) && size(from) <= size(node.ty);
                slope(inner).filter(|_| is_kept)
            }
            ExprKind::Binary(BinaryOp::Add, a, b) => slope(a)?.checked_add(slope(b)?),
            ExprKind::Binary(BinaryOp::Sub, a, b) => slope(a)?.checked_sub(slope(b)?),
            ExprKind::Binary(BinaryOp::Mul, a, b) => {
                match (loops::constant(program, a), loops::constant(program, b)) {
                    (Some(factor), _) => slope(b)?.checked_mul(factor),
                    (None, Some(factor)) => slope(a)?.checked_mul(factor),
                    (None, None) => None,
                }
            }
            _ => None,
        }
    }
}
