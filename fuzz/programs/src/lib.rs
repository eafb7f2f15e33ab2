//! Random C programs with directives of OpenMP and OpenACC that know their own results.
//!
//! A *program* here is one C function with a seed of its own ([`check::Check`]): directives, and comparisons with what the
//! standard says must come out, computed by the generator's own model of host and device memory (`memory`). They fail where
//! directives are ignored. [`file::text`] puts several into one file, to compile them at once; [`run`] compiles files for
//! devices, runs them and sorts out who failed. Races, overflow, numbers of teams and threads and whatever else a standard
//! leaves open are not generated.

#![allow(
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm,
    missing_docs,
    reason = "a tool of developers: a fault in it may end it"
)]

pub mod check;
mod families;
pub mod file;
mod memory;
pub mod rng;
pub mod run;

pub use families::{check as generate, names};
