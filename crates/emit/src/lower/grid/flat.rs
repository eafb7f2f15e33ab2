//! Kernels whose loops all threads share.
//!
//! Threads side by side touch memory side by side ([`loops::deal`]). What they sum up is first combined in each group, through memory that its
//! threads share, and then with the variable itself: each group leaves its part in memory of the launch, and the last of them combines all parts,
//! so that numbers are rounded in the same order each time. Where no order can be told, and the language has such steps for all types, each
//! group does it in one step.

use ir::construct::ReductionOp;
use ir::program::{RegionId, Typed, VarId};
use ir::region::Sharing;

use super::forms::Form;
use crate::c::{Grid, Out, Printer};
use crate::lower::Lowering;
use crate::lower::loops::To;
use crate::lower::parts::{begin, combined};

/// Threads in a group at most, for the memory that reductions need.
pub(super) const MOST_THREADS: usize = 256;

/// What threads sum up.
pub(super) struct Sum {
    pub(super) var: VarId,
    /// The variable, as the kernel names it.
    pub(super) original: String,
    /// The thread's copy.
    pub(super) own: String,
    pub(super) ty: String,
    pub(super) op: ReductionOp<Typed>,
    /// What the copy begins with.
    start: String,
}

/// Copies that threads have.
pub(super) struct Copies {
    pub(super) sums: Vec<Sum>,
    /// What the last iteration does to the variables themselves.
    last: Vec<String>,
}

impl Lowering<'_> {
    /// The body of such a kernel.
    pub(in crate::lower) fn flat(&self, printer: &Printer<'_>, id: RegionId, out: &mut Out<'_>) {
        let mut inside = printer.clone();
        let Copies { sums, last } = self.copies_of_threads(printer, &mut inside, id, out);
        self.deal(&inside, id, To::All, &last, out);
        for (place, sum) in sums.iter().enumerate() {
            let memory = self.group_memory(&sum.ty, out);
            self.combine_threads(sum, memory.as_ref(), out);
            self.join(sum, place, memory, out);
        }
    }

    /// Memory of a group for values of its threads, where the language does not find it by itself; it is
    /// declared where the kernel begins.
    pub(super) fn group_memory(&self, ty: &str, out: &mut Out<'_>) -> Option<String> {
        (self.grid.is_some_and(Grid::is_opencl)).then(|| {
            let name = format!("__ferry_group{}", self.fresh());
            out.line(&format!("__local {ty} {name}[{MOST_THREADS}];"));
            name
        })
    }

    /// How many sums a kernel leaves parts of: it takes a place for each as one argument more.
    pub(in crate::lower) fn parts_of_sums(&self, id: RegionId, form: &Form) -> usize {
        let summing = match form {
            Form::Flat(inner) => *inner,
            Form::Team(_) => id,
            Form::Spmd => {
                let words = self.launch(id).map_or(0, |it| it.words);
                let places = if self.grid == Some(Grid::Cuda) { words.min(1) } else { words };
                return usize::try_from(places).unwrap_or(0);
            }
            Form::Solo(_) => return 0,
        };
        let region = &self.program.regions[summing];
        let is_sum = |it: &&ir::region::RegionVar| {
            matches!(it.sharing.as_ref().map(|it| &it.value), Some(Sharing::Reduction(_)))
                && !region.loops.iter().any(|one| one.var == it.var)
        };
        let is_kept = match self.grid {
            Some(Grid::OpenCl | Grid::OpenCl12 | Grid::Fpga(_)) => true,
            Some(Grid::Cuda) if !self.standalone => {
                region.vars.iter().filter(is_sum).any(|it| self.is_rounded(it))
            }
            Some(Grid::Cuda | Grid::Hip) | None => false,
        };
        match form {
            Form::Team(_) if region.loops.is_empty() => 0,
            Form::Flat(_) | Form::Team(_) | Form::Spmd | Form::Solo(_) if is_kept => {
                region.vars.iter().filter(is_sum).count()
            }
            Form::Flat(_) | Form::Team(_) | Form::Spmd | Form::Solo(_) => 0,
        }
    }

    /// Whether the order can be told in which a sum is made.
    fn is_rounded(&self, var: &ir::region::RegionVar) -> bool {
        let Some(Sharing::Reduction(op)) = var.sharing.as_ref().map(|it| &it.value) else {
            return false;
        };
        matches!(op, ReductionOp::Add | ReductionOp::Sub | ReductionOp::Mul)
            && !self.program.types.is_integer(self.program.vars[var.var].ty)
    }

    /// Each thread's copies of the variables of a construct that deals iterations.
    pub(super) fn copies_of_threads(
        &self,
        printer: &Printer<'_>,
        inside: &mut Printer<'_>,
        id: RegionId,
        out: &mut Out<'_>,
    ) -> Copies {
        let region = &self.program.regions[id];
        // What came to the kernel as a value is the thread's own already, and so is what those have who
        // run a construct inside of it.
        let is_kernel = region.construct.leaves.iter().any(|it| super::forms::goes_there(*it));
        let own = self.own_alone(id);
        let is_given = |var: VarId| match is_kernel {
            true => !printer.var_name(var).starts_with('('),
            false => !own.iter().any(|it| it.0 == var),
        };
        let (mut sums, mut last) = (Vec::new(), Vec::new());
        let of = (!is_kernel).then_some(id);
        let is_in_block = |var: VarId| {
            self.state.borrow().team.as_ref().is_some_and(|it| it.is_in_block(var, of))
        };
        for var in &region.vars {
            if region.loops.iter().any(|it| it.var == var.var) || is_in_block(var.var) {
                continue;
            }
            match var.sharing.as_ref().map(|it| &it.value) {
                Some(Sharing::Reduction(op)) => {
                    sums.push(self.sum(printer, inside, var.var, op, out));
                }
                Some(Sharing::Private | Sharing::FirstPrivate) if is_given(var.var) => {}
                Some(Sharing::Private) => {
                    self.thread_copy(printer, inside, var.var, false, out);
                }
                Some(Sharing::FirstPrivate) => {
                    self.thread_copy(printer, inside, var.var, true, out);
                }
                Some(Sharing::LastPrivate | Sharing::FirstLastPrivate) => {
                    let original = printer.var_name(var.var);
                    let own = self.thread_copy(printer, inside, var.var, true, out);
                    last.push(format!("{original} = {own};"));
                }
                Some(Sharing::Shared | Sharing::Linear | Sharing::ThreadPrivate) | None => {}
            }
        }
        Copies { sums, last }
    }

    fn sum(
        &self,
        printer: &Printer<'_>,
        inside: &mut Printer<'_>,
        var: VarId,
        op: &ReductionOp<Typed>,
        out: &mut Out<'_>,
    ) -> Sum {
        let ty = self.program.vars[var].ty.plain();
        let is_floating = !self.program.types.is_integer(ty);
        let original = printer.var_name(var);
        let own = self.thread_copy(printer, inside, var, false, out);
        let ty = printer.type_name(ty);
        let start = begin(op, &ty, is_floating);
        out.line(&format!("{own} = {start};"));
        Sum { var, original, own, ty, op: op.clone(), start }
    }

    /// The copies of all threads of a group as one, which all of them then have. `memory` is for one
    /// value of each, where the language does not find it by itself.
    pub(super) fn combine_threads(&self, sum: &Sum, memory: Option<&String>, out: &mut Out<'_>) {
        let Sum { own, ty, op, .. } = sum;
        let Some(memory) = memory else {
            let join = format!(
                "[]({ty} __ferry_x, {ty} __ferry_y) {{ return ({ty})({}); }}",
                combined(op, "__ferry_x", "__ferry_y")
            );
            return out.line(&format!("{own} = __ferry_combine({own}, {join});"));
        };
        out.line(&format!("{memory}[__ferry_place()] = {own};"));
        out.line("__ferry_meet();");
        out.line("for (unsigned __ferry_left = __ferry_places(); __ferry_left > 1; __ferry_left = (__ferry_left + 1) / 2)");
        out.line("{");
        out.indented(|out| {
            let mine = format!("{memory}[__ferry_place()]");
            let other = format!("{memory}[__ferry_place() + (__ferry_left + 1) / 2]");
            out.line("if (__ferry_place() < __ferry_left / 2)");
            out.line(&format!("  {mine} = {};", combined(op, &mine, &other)));
            out.line("__ferry_meet();");
        });
        out.line("}");
        out.line(&format!("{own} = {memory}[0];"));
        out.line("__ferry_meet();");
    }

    /// What a group has, into the variable itself. `place`: which of the kernel's sums it is.
    pub(super) fn join(&self, sum: &Sum, place: usize, memory: Option<String>, out: &mut Out<'_>) {
        let Sum { original, own, ty, op, start, .. } = sum;
        let is_cpp = self.grid.is_some_and(Grid::is_cpp);
        if is_cpp && self.state.borrow().parts == 0 {
            out.line("if (__ferry_place() == 0)");
            return out.line(&match op {
                ReductionOp::Add | ReductionOp::Sub => {
                    format!("  __ferry_add(&{original}, {own});")
                }
                _ => format!(
                    "  __ferry_change(&{original}, [=]({ty} __ferry_x) {{ return ({ty})({}); }});",
                    combined(op, "__ferry_x", own)
                ),
            });
        }
        let memory = memory.or_else(|| self.group_memory(ty, out));
        let last = format!("__ferry_is_last{}", self.fresh());
        let parts = format!("__ferry_parts{place}");
        out.line(&format!("{} int {last};", if is_cpp { "__shared__" } else { "__local" }));
        out.line("if (__ferry_place() == 0)");
        out.line("{");
        out.indented(|out| {
            out.line(&format!("__ferry_part({ty}, {parts}, __ferry_team()) = {own};"));
            out.line(&format!("{last} = __ferry_is_last({parts});"));
        });
        out.line("}");
        out.line("__ferry_meet();");
        out.line(&format!("if ({last})"));
        out.line("{");
        out.indented(|out| {
            out.line(&format!("{own} = {start};"));
            out.line("for (unsigned long __ferry_at = __ferry_place(); __ferry_at < __ferry_teams(); __ferry_at += __ferry_places())");
            let part = format!("__ferry_part({ty}, {parts}, __ferry_at)");
            out.line(&format!("  {own} = {};", combined(op, own, &part)));
            self.combine_threads(sum, memory.as_ref(), out);
            out.line("if (__ferry_place() == 0)");
            out.line(&format!("  {original} = {};", combined(op, original, own)));
        });
        out.line("}");
    }
}
