//! The typed program and its offload regions; the centre of the compiler.

pub mod construct;
