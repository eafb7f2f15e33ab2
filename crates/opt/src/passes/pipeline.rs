//! The order of passes. In builds with debug assertions the laws are asked for before the first and after each.

use ir::program::Program;
use ir::verify::Looked;
use kernel::Kernel;
use kernel::verify::verify_after;

use super::{
    Cores, Cx, Fabric, Free, Groups, Refusal, Result, aggregate, boxes, branches, cache_block,
    checks, counters, deepen, flatten, interchange, jam, lanes, lines, localize, partial,
    privatize, promote, records, rectangularize, reduce, register_block, rows, scan, scatter,
    single, spmdize, stage, subgroups, tile, transpose, units, unroll, vector_rows, window,
    workshare,
};

/// A pass by its name.
pub struct Pass {
    /// As users write it.
    pub name: &'static str,
    run: fn(&mut Cx<'_>) -> Result<()>,
}

impl std::fmt::Debug for Pass {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

/// The pass after which a kernel is in SPMD form.
const SPMD: &str = "spmdize";

/// All passes for groups of threads, in order.
pub const PASSES: &[Pass] = &[
    Pass { name: "flatten", run: flatten::run },
    Pass { name: "localize", run: localize::run },
    Pass { name: "deepen", run: deepen::run },
    Pass { name: "rectangularize", run: rectangularize::run },
    Pass { name: "promote", run: promote::run },
    Pass { name: "tile", run: tile::run },
    Pass { name: "interchange", run: interchange::run },
    Pass { name: "transpose", run: transpose::run },
    Pass { name: "records", run: records::run },
    Pass { name: "jam", run: jam::run },
    Pass { name: "boxes", run: boxes::run },
    Pass { name: "rows", run: rows::run },
    Pass { name: "stage", run: stage::run },
    Pass { name: "unroll", run: unroll::run },
    Pass { name: "scatter", run: scatter::run },
    Pass { name: "privatize", run: privatize::run },
    Pass { name: "aggregate", run: aggregate::run },
    Pass { name: "scan", run: scan::run },
    Pass { name: "subgroups", run: subgroups::run },
    Pass { name: "workshare", run: workshare::run },
    Pass { name: "reduce", run: reduce::run },
    Pass { name: SPMD, run: spmdize::run },
];

/// Those for cores: what they leave are loops that all cores share.
pub const CORE_PASSES: &[Pass] = &[
    Pass { name: "flatten", run: flatten::run },
    Pass { name: "deepen", run: deepen::run },
    Pass { name: "register_block", run: register_block::run },
    Pass { name: "cache_block", run: cache_block::run },
    Pass { name: "vector_rows", run: vector_rows::run },
    Pass { name: "privatize", run: privatize::run },
];

/// Those for processors whose groups are one thread: what is fast there is left to the compiler.
pub const LONE_PASSES: &[Pass] = &[
    Pass { name: "flatten", run: flatten::run },
    Pass { name: "scan", run: scan::run },
    Pass { name: "workshare", run: workshare::run },
    Pass { name: "reduce", run: reduce::run },
    Pass { name: SPMD, run: spmdize::run },
];

/// Passes that make a pipeline of a kernel, in order.
pub const PIPELINED: &[Pass] = &[
    Pass { name: "single", run: single::run },
    Pass { name: "checks", run: checks::run },
    Pass { name: "units", run: units::run },
    Pass { name: "lanes", run: lanes::run },
    Pass { name: "lines", run: lines::run },
    Pass { name: "counters", run: counters::run },
    Pass { name: "window", run: window::run },
    Pass { name: "branches", run: branches::run },
    Pass { name: "partial", run: partial::run },
];

/// Whether a pass of this name makes pipelines.
pub fn is_pipelined(name: &str) -> bool {
    PIPELINED.iter().any(|it| it.name == name)
}

/// One thread of one group, which has all memory to itself.
const ONE: Groups = Groups {
    most_threads: 1,
    lanes: 1,
    memory: u64::MAX,
    words: 0,
    questions: 0,
    posts: 0,
    many: 0,
    at_once: 1,
    atomics: false,
};

/// Operators that take a cycle each.
const QUICK: Fabric = Fabric {
    add: [1; 4],
    multiply: [1; 4],
    extreme: [1; 4],
    reads: 0,
    lanes: 1,
    units: 1,
    memory: 0,
    without: &[],
};

/// Runs one of the passes for groups on a kernel that went through those before it.
pub fn step(
    pass: &Pass,
    program: &mut Program,
    kernel: &mut Kernel,
    groups: Groups,
    independent: &Free,
) -> Result<()> {
    let cores = Cores::default();
    apply(pass, program, kernel, &Target { groups, fabric: QUICK, cores: &cores, independent })
}

/// The same of those that make a pipeline.
pub fn step_pipelined(
    pass: &Pass,
    program: &mut Program,
    kernel: &mut Kernel,
    fabric: Fabric,
) -> Result<()> {
    let cores = Cores::default();
    let independent = &cores.independent;
    apply(pass, program, kernel, &Target { groups: ONE, fabric, cores: &cores, independent })
}

/// Runs the passes up to the one named, or all; the kernel is in SPMD form after all. Loops that are worth being shared too
/// are named, with the terms on which they may.
pub fn run(
    program: &mut Program,
    kernel: &Kernel,
    groups: Groups,
    independent: &Free,
    last: Option<&str>,
) -> Result<Kernel> {
    let cores = Cores::default();
    let passes = if groups.most_threads == 1 { LONE_PASSES } else { PASSES };
    let target = Target { groups, fabric: QUICK, cores: &cores, independent };
    run_list(passes, program, kernel, &target, last)
}

/// The same for a pipeline: the kernel is code that one thread runs, and the body of its region.
pub fn run_pipelined(
    program: &mut Program,
    kernel: &Kernel,
    fabric: Fabric,
    last: Option<&str>,
) -> Result<Kernel> {
    let cores = Cores::default();
    let independent = &cores.independent;
    let target = Target { groups: ONE, fabric, cores: &cores, independent };
    run_list(PIPELINED, program, kernel, &target, last)
}

/// The same of the passes for cores.
pub fn run_for_cores(
    program: &mut Program,
    kernel: &Kernel,
    cores: &Cores,
    last: Option<&str>,
) -> Result<Kernel> {
    let groups = Groups { memory: 0, ..ONE };
    let independent = &cores.independent;
    let target = Target { groups, fabric: QUICK, cores, independent };
    run_list(CORE_PASSES, program, kernel, &target, last)
}

/// What passes are told of the device.
struct Target<'a> {
    groups: Groups,
    fabric: Fabric,
    cores: &'a Cores,
    /// Loops that may be shared too, and on what terms.
    independent: &'a Free,
}

fn run_list(
    passes: &[Pass],
    program: &mut Program,
    kernel: &Kernel,
    target: &Target<'_>,
    last: Option<&str>,
) -> Result<Kernel> {
    let mut made = kernel.clone();
    let mut looked = Looked::default();
    lawful(program, &made, "outline", false, &mut looked)?;
    for pass in passes {
        if target.fabric.without.contains(&pass.name) {
            continue;
        }
        // With debug assertions: a kernel that a pass leaves alone keeps the laws.
        let before = cfg!(debug_assertions).then(|| made.clone());
        apply(pass, program, &mut made, target)?;
        let is_spmd =
            PASSES.iter().chain(LONE_PASSES).chain(PIPELINED).any(|it| std::ptr::eq(it, pass));
        let is_last = passes.last().is_some_and(|it| std::ptr::eq(it, pass));
        if is_last || before.is_none_or(|it| it != made) {
            lawful(program, &made, pass.name, is_spmd && is_last, &mut looked)?;
        }
        if last == Some(pass.name) {
            break;
        }
    }
    Ok(made)
}

fn apply(
    pass: &Pass,
    program: &mut Program,
    kernel: &mut Kernel,
    target: &Target<'_>,
) -> Result<()> {
    let function = program.regions[kernel.region].function;
    let Target { groups, fabric, cores, independent } = *target;
    let Cores { vector, ref summing, .. } = *cores;
    (pass.run)(&mut Cx { program, kernel, function, groups, fabric, vector, independent, summing })
}

/// Whether a kernel keeps all laws after a pass; asked only with debug assertions.
fn lawful(
    program: &Program,
    kernel: &Kernel,
    after: &str,
    is_spmd: bool,
    looked: &mut Looked,
) -> Result<()> {
    if !cfg!(debug_assertions) {
        return Ok(());
    }
    let faults = verify_after(program, std::slice::from_ref(kernel), is_spmd, looked);
    match faults.into_iter().next() {
        Some(fault) => Err(Refusal {
            why: "a bug of ferry",
            span: fault.span,
            bug: Some(format!(
                "after `{after}` a kernel breaks the law {:?}: {}",
                fault.law, fault.text
            )),
        }),
        None => Ok(()),
    }
}
