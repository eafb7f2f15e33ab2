//! Kernels of a program, as outlined or after a pass.
//!
//! In: a program, a device, and the last pass. Out: the kernels of all regions that leave the host, and which have no kernel
//! or lose theirs in a pass. What the host computes for a region (numbers of teams and threads) comes with the launch.

use ir::construct::{ClauseKind, Leaf};
use ir::program::{ExprId, Program, RegionId};
use kernel::Module;
use opt::passes::{Fabric, Free, pipeline};
use outline::outline;
use rustc_hash::FxHashSet;
use source::{Diagnostic, Diagnostics, FileId, Locator, SourceMap};

use crate::c::Grid;
use crate::lower::groups;

/// The FPGA for which pipelines are printed: floating-point operators of a Stratix V.
const FABRIC: Fabric = Fabric {
    add: [1, 1, 8, 11],
    multiply: [3, 4, 6, 16],
    extreme: [1, 1, 3, 2],
    reads: 0,
    lanes: 1,
    units: 1,
    memory: 1 << 20,
    without: &[],
};

/// Kernels after passes.
#[derive(Debug)]
pub struct Outlined {
    /// Those that there are.
    pub module: Module,
    /// Regions without one (warnings), and laws that are broken (errors).
    pub diagnostics: Diagnostics,
}

/// Kernels as values.
#[derive(Debug)]
pub struct Kernels {
    /// Those that there are.
    pub module: Module,
    /// Regions without one, and what stood in the way.
    pub refused: Vec<(RegionId, outline::Refusal)>,
}

/// The kernels of a program as outlined.
pub fn kernels(program: &Program, map: &SourceMap, file: FileId, locator: &Locator<'_>) -> Kernels {
    let written = program;
    let program = &crate::lower::grid_program(program, map, file, locator);
    let goes = |it: &RegionId| {
        let construct = &program.regions[*it].construct;
        let leaves_host = construct.has(Leaf::Offload) || construct.has(Leaf::Kernels);
        leaves_host && !construct.goes_back()
    };
    let regions: Vec<RegionId> = program.regions.iter().map(|it| it.0).filter(goes).collect();
    let computed: FxHashSet<ExprId> = regions.iter().flat_map(|it| sizes(program, *it)).collect();
    let mut made = outline(program, &regions, &computed);
    crate::joined::keep(written, &mut made.module.kernels);
    Kernels { module: made.module, refused: made.refused }
}

/// The kernels of a program after `last` and the passes before it; as outlined if that is none.
pub fn outlined(
    program: &Program,
    map: &SourceMap,
    file: FileId,
    locator: &Locator<'_>,
    (grid, last): (Grid, Option<&str>),
) -> Outlined {
    let Kernels { mut module, refused } = kernels(program, map, file, locator);
    let mut diagnostics = Diagnostics::new();
    for (_, refusal) in &refused {
        diagnostics.push(without(refusal.why).at(refusal.span, "this stands in the way"));
    }
    let kernels = std::mem::take(&mut module.kernels);
    for kernel in kernels {
        let program = &mut module.program;
        let run = last.map(|name| match pipeline::is_pipelined(name) {
            true => pipeline::run_pipelined(program, &kernel, FABRIC, last),
            false => pipeline::run(program, &kernel, groups(grid, false), &Free::default(), last),
        });
        match run {
            None => module.kernels.push(kernel),
            Some(Ok(kernel)) => module.kernels.push(kernel),
            Some(Err(refusal)) => diagnostics.push(match crate::lower::bug(&refusal) {
                Some(bug) => bug,
                None => without(refusal.why).at(refusal.span, "this stands in the way"),
            }),
        }
    }
    Outlined { module, diagnostics }
}

fn without(why: &str) -> Diagnostic {
    Diagnostic::warning("F0735", format!("this region has no kernel in this form: {why}"))
        .help("one thread runs such a region where threads of a grid run others")
}

/// What a region itself asks for in numbers.
fn sizes(program: &Program, id: RegionId) -> Vec<ExprId> {
    let mut found = Vec::new();
    for kind in program.regions[id].construct.kinds() {
        match kind {
            ClauseKind::NumTeams { counts, .. } => found.extend(counts),
            ClauseKind::ThreadLimit(limit) => found.push(*limit),
            _ => {}
        }
    }
    found
}
