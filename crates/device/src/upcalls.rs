//! What kernels may ask of the host: to run a region of the program there.
//!
//! The host is then the device, and the memory of the device what it maps from. Data that the host had
//! mapped to the device are there already: the host's own.

use crate::{Device, DeviceError, DevicePtr, Result};

/// Data of the host that a part of device memory was mapped from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Original {
    /// Where the host has what begins at the address that was asked for.
    pub address: u64,
    /// All bytes that were asked for are mapped, not only some.
    pub is_whole: bool,
}

/// A region as a kernel of another machine hands it back: nothing of it is mapped yet.
#[derive(Debug)]
pub struct HandedBack<'a> {
    /// Its name.
    pub region: String,
    /// The text of its place, as an [`abi::Ident`] has it.
    pub place: String,
    /// Base, begin, size, type and mapper of each entry; addresses are the other machine's.
    pub entries: &'a [[u64; 5]],
}

/// Who answers kernels. Called from threads that belong to no region.
pub trait Upcalls: Send + Sync {
    /// The host's own version of what lies there on the device; `None` if the host has not mapped it.
    fn original(&self, at: DevicePtr, size: usize) -> Option<Original>;

    /// Runs a region, named as its kernel is, with arguments that are good on the host.
    fn run(&self, region: &str, source: &str, args: &[u64]) -> Result<()>;

    /// Maps the data of a region to the host, which `host` makes a device of, and runs it.
    fn hand_back(&self, region: &HandedBack<'_>, host: &dyn Fn() -> Box<dyn Device>) -> Result<()> {
        let _ = (region, host);
        Err(DeviceError::Unsupported("regions whose data are not mapped"))
    }
}
