//! Kernels as pipelines: one thread runs the code of each.
//!
//! In: the program for a grid and its regions. Out: the same program in which the bodies of those regions are what the passes
//! for FPGAs have made of them ([`opt::passes::pipeline::run_pipelined`]). Regions that are no pipelines stay as they are.

use ir::construct::Leaf;
use ir::program::{Program, RegionId, StmtId, StmtKind};
use opt::passes::{Fabric, pipeline};
use outline::outline;
use source::{Diagnostic, Diagnostics, Span};

use super::bug;
use crate::c::vendor;
use crate::lower::offload::thread_limit;
use crate::lower::{Lowering, device};

impl Lowering<'_> {
    /// The program with pipelines, and which regions are none (warnings).
    pub(in crate::lower) fn pipelined(
        &self,
        launched: &[device::Kernel],
        fabric: Fabric,
    ) -> (Program, Diagnostics) {
        let goes = |it: &RegionId| {
            let construct = &self.program.regions[*it].construct;
            let leaves_host = construct.has(Leaf::Offload) || construct.has(Leaf::Kernels);
            leaves_host && !construct.goes_back()
        };
        let ids: Vec<RegionId> = self.program.regions.iter().map(|it| it.0).filter(goes).collect();
        let limits = launched.iter().filter(|it| it.limit.is_some());
        let limits = limits.filter_map(|it| thread_limit(&self.program.regions[it.region]));
        let computed = launched.iter().flat_map(|it| &it.entries.computed).map(|it| it.0);
        let outlined = outline(self.program, &ids, &computed.chain(limits).collect());
        let mut program = outlined.module.program;
        let mut said = Diagnostics::new();
        for (_, refusal) in &outlined.refused {
            said.push(stays(refusal.why, refusal.span));
        }
        for kernel in &outlined.module.kernels {
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
