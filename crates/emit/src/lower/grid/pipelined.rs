//! Kernels as pipelines: one thread runs the code of each.
//!
//! In: the program for a grid and its regions. Out: the same program in which the bodies of those regions are what the passes
//! for FPGAs have made of them ([`opt::passes::pipeline::run_pipelined`]). Regions that are no pipelines stay as they are.

use ir::construct::Leaf;
use ir::program::{ExprKind, Program, RegionId, StmtId, StmtKind, VarId};
use kernel::copy::callee_of;
use kernel::count::constant;
use opt::passes::{Fabrics, pipeline};
use outline::outline;
use source::{Diagnostic, Diagnostics, Span};

use super::bug;
use crate::c::vendor;
use crate::lower::entries::{Access, Captured, Entries};
use crate::lower::offload::thread_limit;
use crate::lower::{Lowering, device};

impl Lowering<'_> {
    /// The program with pipelines, and which regions are none (warnings).
    pub(in crate::lower) fn pipelined(
        &self,
        launched: &[device::Kernel],
        fabrics: &Fabrics,
    ) -> (Program, Diagnostics) {
        let outlined = self.outlined(launched);
        let mut program = outlined.module.program;
        let mut said = Diagnostics::new();
        for (_, refusal) in &outlined.refused {
            said.push(stays(refusal.why, refusal.span));
        }
        for kernel in &outlined.module.kernels {
            let fabric = fabrics.of(kernel.span);
            let made = pipeline::run_pipelined(&mut program, kernel, fabric, None);
            match made {
                Ok(made) if self.grid.is_some_and(|it| it.vendor().is_some()) => {
                    made.launch.independent.iter().for_each(|it| side_by_side(&mut program, *it));
                }
                Ok(_) => {}
                Err(refusal) => {
                    said.push(bug(&refusal).unwrap_or_else(|| stays(refusal.why, refusal.span)));
                }
            }
        }
        (program, said)
    }

    fn outlined(&self, launched: &[device::Kernel]) -> outline::Outlined {
        let goes = |it: &RegionId| {
            let construct = &self.program.regions[*it].construct;
            let leaves_host = construct.has(Leaf::Offload) || construct.has(Leaf::Kernels);
            leaves_host && !construct.goes_back()
        };
        let ids: Vec<RegionId> = self.program.regions.iter().map(|it| it.0).filter(goes).collect();
        let limits = launched.iter().filter(|it| it.limit.is_some());
        let limits = limits.filter_map(|it| thread_limit(&self.program.regions[it.region]));
        let computed = launched.iter().flat_map(|it| &it.entries.computed).map(|it| it.0);
        let mut outlined = outline(self.program, &ids, &computed.chain(limits).collect());
        crate::joined::keep(self.written, &mut outlined.module.kernels);
        outlined
    }

    /// Kernels as pipelines with what they are given; what cannot be one is an error.
    pub(in crate::lower) fn pipelines(
        &self,
        launched: &[device::Kernel],
        back: &[device::Kernel],
        fabrics: &Fabrics,
    ) -> (Option<Pipelines>, Diagnostics) {
        let outlined = self.outlined(launched);
        let mut said = Diagnostics::new();
        for it in back {
            said.push(no_hardware(
                "it goes back to the host",
                self.program.regions[it.region].span,
            ));
        }
        for it in launched.iter().flat_map(|it| &it.entries.captured) {
            let var = &self.program.vars[it.var];
            if var.device.is_some() {
                said.push(no_hardware("a variable that lives on the device", var.span));
            }
        }
        let is_launched = |id: RegionId| launched.iter().find(|it| it.region == id);
        for (id, refusal) in &outlined.refused {
            if is_launched(*id).is_some() {
                said.push(no_hardware(refusal.why, refusal.span));
            }
        }
        let mut pipelines = Pipelines { program: outlined.module.program, list: Vec::new() };
        for kernel in &outlined.module.kernels {
            let Some(launched) = is_launched(kernel.region) else { continue };
            let fabric = fabrics.of(kernel.span);
            match pipeline::run_pipelined(&mut pipelines.program, kernel, fabric, None) {
                Ok(kernel) => {
                    let (name, given) = (launched.name.clone(), given(&launched.entries));
                    pipelines.list.push(Pipeline { kernel, name, given });
                }
                Err(refusal) => {
                    let no = || no_hardware(refusal.why, refusal.span);
                    said.push(bug(&refusal).unwrap_or_else(no));
                }
            }
        }
        answer(&mut pipelines.program);
        (Some(pipelines).filter(|it| !it.list.is_empty()), said)
    }
}

/// Calls that ask for numbers of the runtime become what one thread of a device is told.
fn answer(program: &mut Program) {
    let mut answers = Vec::new();
    for (id, expr) in program.exprs.iter() {
        if let ExprKind::Call(callee, args) = &expr.kind
            && let Some(function) = callee_of(program, *callee)
            && program.functions[function].body.is_none()
        {
            let name = program.names.text(program.functions[function].name);
            let args: Vec<_> = args.iter().map(|it| constant(program, *it)).collect();
            answers.extend(directive::alone_number(name, &args).map(|it| (id, it)));
        }
    }
    for (id, number) in answers {
        program.exprs[id].kind = ExprKind::Int(number);
    }
}

/// Kernels of a program, each run by one thread.
#[derive(Clone, Debug)]
pub struct Pipelines {
    /// What they are made of.
    pub program: Program,
    /// Those that there are.
    pub list: Vec<Pipeline>,
}

/// One of them.
#[derive(Clone, Debug)]
pub struct Pipeline {
    /// Its code.
    pub kernel: kernel::Kernel,
    /// As the host's text calls it.
    pub name: String,
    /// Variables of the program, and how it gets at them.
    pub given: Vec<(VarId, Given)>,
}

/// How a kernel gets at a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Given {
    /// This argument is its value.
    Value(usize),
    /// This argument is its address.
    Address(usize),
    /// It has one of its own.
    Own,
}

fn given(entries: &Entries) -> Vec<(VarId, Given)> {
    let given = |it: &Captured| match (&it.access, it.slot) {
        (Access::Own, _) => Some((it.var, Given::Own)),
        (Access::Value, Some(slot)) => Some((it.var, Given::Value(slot))),
        (Access::Reference, Some(slot)) => Some((it.var, Given::Address(slot))),
        (Access::Name, _) | (Access::Value | Access::Reference, None) => None,
    };
    entries.captured.iter().filter_map(given).collect()
}

/// What is said of a region that is no hardware: an error.
pub fn no_hardware(why: &str, span: Span) -> Diagnostic {
    Diagnostic::error("F0737", format!("this region is no hardware yet: {why}"))
        .at(span, "this stands in the way")
        .help("compile for another device: `fpga-intel` emulates pipelines; `ferry explain --fpga` tells what it would cost")
}

/// Says of a loop that its iterations do not meet in memory; arrays of registers are what they meet in.
fn side_by_side(program: &mut Program, id: StmtId) {
    let StmtKind::For(it) = &program.stmts[id].kind else { return };
    let is_apart = vendor::arrays(program, it.body).is_empty();
    if let StmtKind::For(it) = &mut program.stmts[id].kind {
        it.lanes = is_apart;
    }
}

fn stays(why: &str, span: Span) -> Diagnostic {
    Diagnostic::warning("F0736", format!("this region is no pipeline: {why}"))
        .at(span, "this stands in the way")
        .help("its loops run as on other devices")
}
