//! Kernels for devices made of a grid of threads, which no compiler of directives serves.
//!
//! In: the kernels that the host's text calls, and their arguments. Out: one text in OpenCL C with
//! them, every function they reach and the variables that live on devices ([`unit`]).
//!
//! Kernels come from passes: teams are groups, threads are theirs, and every thread runs the kernel from the beginning
//! ([`spmd`]). A region that asks for nobody else, or that cannot be outlined, is run by one thread, and every construct
//! in it means what it means to a team of one ([`solo`]); the report names the reason.
//!
//! Pointers are flat: memory of the device behind one kind of pointer. Where the driver's C has no
//! such pointers, the device is the host's processor, and all its pointers are.

mod aligned;
mod arrays;
mod atomic;
mod builtins;
mod calls;
mod lent;
mod linked;
mod literals;
mod pipelined;
mod refused;
mod solo;
mod spmd;
pub(in crate::lower) mod statics;
mod told;
mod unit;
mod user;
mod variables;

pub(super) use crate::c::library::known;
pub(super) use lent::StackPlace;
pub use pipelined::{Given, Pipeline, Pipelines, no_hardware};
pub(super) use spmd::Kernels;
pub(crate) use spmd::{bug, groups};
pub(super) use unit::by_clock;
pub(super) use variables::Placed;

use ir::program::{RegionId, VarId};
use source::{Diagnostic, Span};

use super::Lowering;
use crate::c::{Out, Printer};

impl Lowering<'_> {
    /// A copy of a variable for one thread, which the printer then names.
    pub(super) fn thread_copy(
        &self,
        outside: &Printer<'_>,
        inside: &mut Printer<'_>,
        var: VarId,
        is_copied: bool,
        out: &mut Out<'_>,
    ) -> String {
        let program = self.program;
        let ty = program.vars[var].ty.plain();
        if program.types.is_vla(ty) {
            let original = outside.var_name(var);
            let from = Some(original.as_str()).filter(|_| is_copied);
            return self.array_copy(outside, inside, var, from, out);
        }
        let name = match self.is_on_stack(var) {
            true => self.stack_copy(outside, inside, var),
            false => {
                let name = format!("__ferry_own{}", self.fresh());
                self.declare_own(outside, var, &name, "", out)
            }
        };
        if is_copied {
            let original = outside.var_name(var);
            match program.types.is_array(ty) {
                true => out.line(&format!("__ferry_copy(&{name}, &{original}, sizeof({name}));")),
                false => out.line(&format!("{name} = {original};")),
            }
        }
        inside.substitute(var, name.clone());
        name
    }

    /// What this device cannot do is said, with the place, and nothing is made of it.
    pub(super) fn not_for_grid(&self, span: Span, what: &str) {
        self.not_for(self.grid.map_or("", crate::c::Grid::device), span, what);
    }

    /// The same for any device.
    pub(super) fn not_for(&self, device: &str, span: Span, what: &str) {
        let fault =
            Diagnostic::error("F0710", format!("{what} cannot be compiled for `{device}` yet"))
                .at(span, "needed on the device here")
                .help("compile for other devices: `--device cpu` or `--device cpu:separate`");
        let mut state = self.state.borrow_mut();
        if !state.faults.iter().any(|it| *it == fault) {
            state.faults.push(fault);
        }
    }

    /// A region inside a kernel, or in a function that kernels call.
    pub(super) fn on_grid(&self, printer: &Printer<'_>, id: RegionId, out: &mut Out<'_>) {
        if self.program.regions[id].construct.goes_back() {
            return self.ask_from_grid(printer, id, out);
        }
        let leaves = self.program.regions[id].construct.leaves.clone();
        self.alone(printer, id, &leaves, out);
    }
}
