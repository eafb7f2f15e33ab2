//! Analyses of the typed program: what is known of it that was not written.
//!
//! In: an [`ir::program::Program`]. Out: facts, each with what it rests on; the program is not changed.
//! [`dependence`] answers which loops may run in parallel, [`carried`] how far apart iterations are that meet in memory, [`extent`] how much of the data behind a pointer
//! a region touches, [`tiles`] which elements each round of a loop does, [`transfer`] what moves between host and device and need not, [`atomic`] what atomic constructs change, [`races`] which loops go wrong for certain, [`mod@marks`] all that a
//! mapping of loops rests on. [`passes`] change kernels.

mod access;
mod alias;
#[allow(clippy::wildcard_enum_match_arm, reason = "an analysis names the code it is about")]
pub mod atomic;
mod bounds;
#[allow(clippy::wildcard_enum_match_arm, reason = "an analysis names the code it is about")]
pub mod carried;
mod certain;
mod conditions;
pub mod decisions;
pub mod dependence;
mod effects;
pub mod extent;
mod far;
mod finding;
mod liveness;
pub mod marks;
mod normal;
pub mod occupancy;
mod outline;
mod pairs;
pub mod passes;
mod poly;
mod privatise;
pub mod profile;
pub mod races;
mod ready;
mod reduction;
#[allow(clippy::wildcard_enum_match_arm, reason = "an analysis names the code it is about")]
pub mod registers;
mod scan;
pub mod shape;
mod sharing;
mod sum;
mod system;
pub mod tiles;
pub mod transfer;
mod values;
mod walk;
pub mod window;

pub use marks::marks;
pub use reduction::extreme_of;
