//! Compiles a program of a 64-bit host for a 32-bit accelerator that shares the host's memory.
//!
//! In: LLVM's intermediate code for riscv64, so that `long`, pointers and structures are as the host has them. Out:
//! code for riscv32 in which a pointer of the accelerator's own memory has 32 bits, and one that may be the host's has
//! 64 and is followed by the special accesses of the hardware. Which pointer is which is found, not written.
//!
//! `prepare` makes one program of the inputs; `extract` says what it does with pointers, `points` where they may lead (`paper`: the same as others have it);
//! `shorten` lets loops count in 32 bits where that is enough; `rebuild` makes the new program, `trim` what is left of long arithmetic in it; `finish` makes code of it. `llvm` is the library underneath.
//!
//! ```text
//! clang-19 --target=riscv64-unknown-elf -march=rv64imafd -mabi=lp64d -fsigned-char -O2 -Xclang -disable-llvm-passes \
//!     -ffreestanding -emit-llvm -c kernel.c -o kernel.bc
//! ferry-narrow kernel.bc runtime.bc -o program.o
//! ```
//!
//! Copies between device pointers become calls of `memcpy`, `memmove` and `memset` with 32-bit lengths where LLVM does
//! not write them out: the output defines these itself, weakly. A runtime that defines functions of these names in the host's data
//! model has them used for all other copies, under names of their own.

#![allow(
    clippy::wildcard_enum_match_arm,
    reason = "enums here are LLVM's: what is not named concerns no pointer, or is refused"
)]

mod error;
mod extract;
mod finish;
mod llvm;
mod loops;
mod nest;
mod options;
mod paper;
mod points;
mod prepare;
mod ranges;
mod rebuild;
mod shorten;
mod stats;
mod steady;
mod trim;

pub use error::Error;
pub use options::{Assign, Atomics, Emit, Hardware, Options};
pub use stats::Stats;

use llvm::{Context, Machine};

/// Compiles `inputs`, names with bytes, as one program.
///
/// # Errors
/// What in them cannot be compiled, by name.
pub fn compile(inputs: &[(String, Vec<u8>)], options: &Options) -> Result<(Vec<u8>, Stats), Error> {
    let (features, abi) = options::machine(&options.march).map_err(Error::new)?;
    let machine = Machine::riscv(rebuild::TRIPLE, &features, abi, options.level)
        .map_err(|it| Error::new(format!("LLVM cannot make code for riscv32: {it}")))?;
    let context = Context::new();
    let program = prepare::prepare(context, inputs, options)?;
    let facts = extract::extract(&program, options.assign);
    let shortened = match options.level {
        0 => shorten::Shortened::default(),
        _ => shorten::shorten(context, &program, &facts)?,
    };
    let wishes = rebuild::Wishes {
        layout: machine.layout_text(),
        check: options.check,
        near: shortened.near,
        wide_atomics: options.atomics() != Atomics::Lock,
    };
    let (module, mut stats) = rebuild::rebuild(context, &program, &facts, wishes)?;
    stats.set_shortened(shortened.loops);
    if options.level > 0 {
        trim::trim(context, module);
    }
    program.module.dispose();
    let output = finish::finish(context, module, &machine, abi, options)?;
    Ok((output, stats))
}
