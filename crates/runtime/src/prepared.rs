//! A launch as a value: what a call says of it, the kernel, the arguments; [`crate::launch`] makes it.

use std::sync::Arc;

use device::{Convention, Kernel};
use smallvec::SmallVec;

use crate::registry::Region;

/// Arguments of most kernels need no allocation.
pub(crate) type Words = SmallVec<[u64; 24]>;

/// What a call says besides its arrays.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    /// Version of the caller's structure.
    pub(crate) version: u32,
    pub(crate) teams: u32,
    pub(crate) limit: u32,
    pub(crate) trip_count: u64,
    /// Bytes of memory that each team has of its own, besides what its kernel says.
    pub(crate) group_memory: u32,
}

/// A launch but for its arguments.
#[derive(Debug)]
pub(crate) struct Prepared {
    pub(crate) kernel: Kernel,
    pub(crate) convention: Convention,
    pub(crate) shape: Shape,
}

/// A launch that is kept for later.
#[derive(Debug)]
pub(crate) struct Kept {
    pub(crate) prepared: Prepared,
    pub(crate) words: Words,
    pub(crate) region: Arc<Region>,
    /// Which entries were mapped when it was prepared.
    pub(crate) mapped: Vec<bool>,
}
