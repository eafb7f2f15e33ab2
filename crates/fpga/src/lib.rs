//! Kernels as pipelines of an FPGA: what each loop costs, and why, without a vendor's tools.
//!
//! A kernel in which one thread runs everything (`opt::passes::pipeline::run_pipelined`) is read loop by loop ([`plan`]): an
//! iteration becomes a graph of operations ([`graph`]), whose operators and memories take what a device says ([`device`]); a
//! schedule ([`schedule`]) tells how soon the next iteration may start. Kernels with channels may run at the same time
//! ([`channels`]). All that comes out is modelled.

#[allow(clippy::wildcard_enum_match_arm, reason = "an analysis names the code it is about")]
pub mod channels;
pub mod device;
#[allow(clippy::wildcard_enum_match_arm, reason = "an analysis names the code it is about")]
mod flow;
pub mod graph;
#[allow(clippy::wildcard_enum_match_arm, reason = "an analysis names the code it is about")]
pub mod hardware;
pub mod pins;
#[allow(clippy::wildcard_enum_match_arm, reason = "an analysis names the code it is about")]
pub mod plan;
pub mod schedule;
pub mod search;

pub use flow::Obstacle;
