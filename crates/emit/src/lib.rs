//! Programs as text: what the typed program becomes before another compiler reads it.
//!
//! In: an [`ir::program::Program`] without errors. Out: text. Printers spell and do not decide; what
//! is to be printed, and what a construct becomes, is said by the caller.

pub mod c;
#[allow(clippy::wildcard_enum_match_arm, reason = "a rule names the clauses it is about")]
pub mod dialect;
#[allow(clippy::wildcard_enum_match_arm, reason = "a rule names the clauses it is about")]
mod joined;
#[allow(clippy::wildcard_enum_match_arm, reason = "a rule names the clauses it is about")]
mod lower;

pub use c::Grid;
pub use lower::{
    About, Chosen, Lowered, Note, Options, Standalone, Verdict, is_optimized, lower, lower_with,
};
pub use lower::{Given, Pipeline, Pipelines, no_hardware};
pub use lower::{host_file, host_header, kernel_ending};
