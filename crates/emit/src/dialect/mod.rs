//! Languages that kernels are spelt in.

pub mod kernel;
