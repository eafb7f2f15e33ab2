//! Kernels as hardware: a design is a value that is run cycle by cycle ([`run`]), printed as Verilog ([`verilog`]) and
//! carried in images as text ([`text`]).
//!
//! A [`Design`] is a sequence of blocks ([`block`]): code that runs once, or a loop whose iterations start every so many cycles.
//! A block is a graph of operators with the cycle in which each works. Between blocks variables are registers. Operators on
//! floating-point numbers are circuits of ours ([`float`]). Kernels may run at the same time ([`group`]). Crate `fpga` makes designs of kernels.

pub mod block;
pub mod circuit;
pub mod design;
#[allow(clippy::wildcard_enum_match_arm, reason = "an operator has its types")]
pub mod float;
pub mod group;
#[allow(clippy::wildcard_enum_match_arm, reason = "an operator has its types")]
pub mod run;
pub mod text;
#[allow(clippy::wildcard_enum_match_arm, reason = "an operator has its types")]
pub mod verilog;

pub use design::{Chip, Design, Next, Parameter, State};
