//! Kernels as values: what a region is on a device, before any language has spelt it.
//!
//! A [`Module`] holds a typed program and kernels over it. Expressions, types and serial code are the
//! program's own (`ir`); a kernel is a tree of [`Stmt`]s around them in which parallelism is said and not
//! implied: who runs what, which iterations are dealt to whom and how, where all wait, what is combined, and
//! in which memory each variable lies. [`build`] makes typed expressions, [`copy`] copies code with other
//! variables in it, [`verify`] knows the laws, [`text`] reads kernels from text.

pub mod build;
#[allow(clippy::wildcard_enum_match_arm, reason = "only what names variables is changed")]
pub mod copy;
#[allow(clippy::wildcard_enum_match_arm, reason = "constants are made of few kinds of expressions")]
pub mod count;
pub mod interpret;
pub mod intrinsic;
mod module;
pub mod text;
pub mod verify;
pub mod walk;

pub use module::{
    Block, Crew, Dim, Elements, Join, Kernel, Launch, Loop, LoopKind, Module, Parallel, Prefix,
    Range, Reduce, Scan, Schedule, Share, Shuffle, Space, Stmt, StmtKind, Teams, Who,
};
