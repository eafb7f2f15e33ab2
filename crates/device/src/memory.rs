//! Addresses and kinds of device memory.

use std::fmt;

/// An address on a device. Arithmetic wraps, as a section's base may lie outside its object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
#[repr(transparent)]
pub struct DevicePtr(pub u64);

impl DevicePtr {
    /// No address.
    pub const NULL: DevicePtr = DevicePtr(0);

    /// Is this no address?
    pub fn is_null(self) -> bool {
        self == DevicePtr::NULL
    }

    /// So many bytes further.
    pub fn offset(self, bytes: usize) -> DevicePtr {
        DevicePtr(self.0.wrapping_add(bytes as u64))
    }
}

/// As in C, `0x7f…`
impl fmt::Display for DevicePtr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.0)
    }
}

/// What memory is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryKind {
    /// The device's own.
    Device,
    /// On the host, reached by the device.
    Host,
    /// Moves between both.
    Shared,
}

/// Bytes of memory that the machine has.
#[allow(unsafe_code, reason = "asks the C library")]
pub fn of_machine() -> usize {
    // SAFETY: asks for two numbers.
    let (pages, page) =
        unsafe { (libc::sysconf(libc::_SC_PHYS_PAGES), libc::sysconf(libc::_SC_PAGESIZE)) };
    let bytes = usize::try_from(pages).ok().zip(usize::try_from(page).ok());
    bytes.map_or(1 << 30, |(pages, page)| pages.saturating_mul(page))
}
