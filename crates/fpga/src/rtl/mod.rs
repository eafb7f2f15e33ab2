//! Kernels as hardware: from the same code and the same table of operators as the estimates, a design that is run cycle by
//! cycle here ([`run`]) and printed as Verilog ([`verilog`]).
//!
//! A [`Design`] is a sequence of blocks ([`block`]): code that runs once, or a loop whose iterations start every so many cycles.
//! A block is a graph of operators with the cycle in which each works. Between blocks variables are registers. Operators on
//! floating-point numbers are circuits of ours ([`float`]).

pub mod block;
pub mod circuit;
mod data;
pub mod design;
pub mod float;
pub mod run;
pub mod verilog;

pub use design::{Design, design};
