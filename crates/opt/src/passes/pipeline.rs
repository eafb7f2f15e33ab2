//! The order of passes. In builds with debug assertions the laws are asked for before the first and after each.

use ir::program::Program;
use kernel::Kernel;
use kernel::verify::verify_kernels;

use super::{
    Cores, Cx, Groups, Refusal, Result, cache_block, deepen, flatten, interchange, jam,
    rectangularize, reduce, register_block, spmdize, tile, transpose, vector_rows, workshare,
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
    Pass { name: "rectangularize", run: rectangularize::run },
    Pass { name: "tile", run: tile::run },
    Pass { name: "interchange", run: interchange::run },
    Pass { name: "transpose", run: transpose::run },
    Pass { name: "jam", run: jam::run },
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
];

/// Runs the passes up to the one named, or all; the kernel is in SPMD form after all.
pub fn run(
    program: &mut Program,
    kernel: &Kernel,
    groups: Groups,
    last: Option<&str>,
) -> Result<Kernel> {
    run_all(program, kernel, PASSES, (groups, &Cores::default()), last)
}

/// The same of the passes for cores.
pub fn run_for_cores(
    program: &mut Program,
    kernel: &Kernel,
    cores: &Cores,
    last: Option<&str>,
) -> Result<Kernel> {
    let groups = Groups { most_threads: 1, memory: 0, words: 0, questions: 0, many: 0 };
    run_all(program, kernel, CORE_PASSES, (groups, cores), last)
}

fn run_all(
    program: &mut Program,
    kernel: &Kernel,
    passes: &[Pass],
    (groups, cores): (Groups, &Cores),
    last: Option<&str>,
) -> Result<Kernel> {
    let mut made = kernel.clone();
    let function = program.regions[kernel.region].function;
    lawful(program, &made, "outline", false)?;
    for pass in passes {
        let Cores { vector, independent } = cores;
        let (kernel, vector) = (&mut made, *vector);
        (pass.run)(&mut Cx { program, kernel, function, groups, vector, independent })?;
        lawful(program, &made, pass.name, pass.name == SPMD)?;
        if last == Some(pass.name) {
            break;
        }
    }
    Ok(made)
}

/// Whether a kernel keeps all laws after a pass; asked only with debug assertions.
fn lawful(program: &Program, kernel: &Kernel, after: &str, is_spmd: bool) -> Result<()> {
    if !cfg!(debug_assertions) {
        return Ok(());
    }
    match verify_kernels(program, std::slice::from_ref(kernel), is_spmd).into_iter().next() {
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
