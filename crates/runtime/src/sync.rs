//! The locks that the cores of mapping and queues are built on.
//!
//! These cores name no other, so that `tests/interleave.rs` can build them upon locks that try out
//! the orders in which threads may run.

pub(crate) use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
