//! Kernels as hardware: from the same code and the same table of operators as the estimates, a design ([`rtl::Design`]) that is
//! run cycle by cycle or printed as Verilog.
//!
//! `design` finds which blocks there are, `data` makes operators of code, `places` of what it reads and writes, and `calls` of
//! calls; `block` gives each its cycle, `shape` tells what all take.

mod block;
mod calls;
mod data;
mod design;
mod places;
mod shape;

pub use design::{Hardware, Passed, Touch, design, piped};
pub use shape::{End, Shape};
