//! What programs say about devices and defaults outside of regions.

/// What is to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum Action {
    /// Devices are prepared; what is said of their type and number becomes current.
    Init = 0,
    /// Devices are let go of.
    Shutdown = 1,
    /// The current device and the default queue are set.
    Set = 2,
}

/// A number that was not said.
pub const UNSAID: i64 = i64::MIN;
