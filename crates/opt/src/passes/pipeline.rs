//! The order of passes.

use ir::program::Program;
use kernel::Kernel;

use super::{
    Cx, Groups, Result, flatten, interchange, jam, reduce, spmdize, tile, transpose, workshare,
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

/// All passes, in order.
pub const PASSES: &[Pass] = &[
    Pass { name: "flatten", run: flatten::run },
    Pass { name: "tile", run: tile::run },
    Pass { name: "interchange", run: interchange::run },
    Pass { name: "transpose", run: transpose::run },
    Pass { name: "jam", run: jam::run },
    Pass { name: "workshare", run: workshare::run },
    Pass { name: "reduce", run: reduce::run },
    Pass { name: "spmdize", run: spmdize::run },
];

/// Runs the passes up to the one named, or all; the kernel is in SPMD form after all.
pub fn run(
    program: &mut Program,
    kernel: &Kernel,
    groups: Groups,
    last: Option<&str>,
) -> Result<Kernel> {
    let mut made = kernel.clone();
    let function = program.regions[kernel.region].function;
    for pass in PASSES {
        (pass.run)(&mut Cx { program, kernel: &mut made, function, groups })?;
        if last == Some(pass.name) {
            break;
        }
    }
    Ok(made)
}
