//! What kernels may ask of the host: to run a region of the program there.
//!
//! The host is then the device, and the memory of the device what it maps from. Data that the host had
//! mapped to the device are there already: the host's own.

use crate::{DevicePtr, Result};

/// Data of the host that a part of device memory was mapped from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Original {
    /// Where the host has what begins at the address that was asked for.
    pub address: u64,
    /// All bytes that were asked for are mapped, not only some.
    pub is_whole: bool,
}

/// Who answers kernels. Called from threads that belong to no region.
pub trait Upcalls: Send + Sync {
    /// The host's own version of what lies there on the device; `None` if the host has not mapped it.
    fn original(&self, at: DevicePtr, size: usize) -> Option<Original>;

    /// Runs a region, named as its kernel is, with arguments that are good on the host.
    fn run(&self, region: &str, source: &str, args: &[u64]) -> Result<()>;
}
