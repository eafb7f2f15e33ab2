//! Calls of the offload interface that the caller does not wait for.
//!
//! - [`deferred`]: a call that is kept until its turn
//! - [`staged`]: one of which only copies and launches are
//! - [`tasks`]: order by dependences
//!
//! The order itself, and who works it off, is in [`crate::queue`].

pub(crate) mod deferred;
pub(crate) mod staged;
pub(crate) mod tasks;
