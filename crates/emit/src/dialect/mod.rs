//! Languages that kernels are spelt in.

pub mod kernel;
mod outlined;

pub use outlined::{Kernels, Outlined, kernels, outlined};
