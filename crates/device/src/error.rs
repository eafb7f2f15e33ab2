//! What a device could not do, and why: values, for the runtime to report with names and lines.

use std::fmt;

/// A kernel that was started.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Started {
    /// What people call it: `main:8`.
    pub name: String,
    /// `file:line:column` of its region.
    pub source: String,
}

/// `` `main:8` (a.c:8:3) ``
impl fmt::Display for Started {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`", self.name)?;
        if self.source.is_empty() { Ok(()) } else { write!(f, " ({})", self.source) }
    }
}

/// Why a device did not do what it was told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeviceError {
    /// This device cannot do that at all; names the feature, `copies between devices`.
    Unsupported(&'static str),
    /// No memory for so many bytes.
    OutOfMemory {
        /// Bytes asked for.
        bytes: usize,
    },
    /// The image cannot be loaded; the reason is the loader's.
    BadImage(String),
    /// The image has no such symbol.
    NotFound(String),
    /// A kernel touched memory it must not touch, or died otherwise.
    Fault {
        /// The address it touched, where known.
        address: Option<u64>,
        /// What happened: `read of an unmapped address`, `division by zero`.
        what: String,
    },
    /// A kernel did that which nobody had waited for; found by a call that came later.
    Earlier {
        /// Those that it may have been.
        kernels: Vec<Started>,
        /// What happened.
        what: String,
    },
    /// A kernel has written behind the end of memory that is given back.
    Overrun {
        /// The first changed byte, counted from the end.
        behind: usize,
    },
    /// A kernel was stopped, and the device with it.
    Stopped {
        /// Why: `it ran longer than …`.
        what: String,
    },
    /// A kernel has ended its process on purpose.
    Exited {
        /// With this status.
        status: i32,
    },
    /// The device is gone; every later call fails too.
    Lost(String),
    /// The device refuses for a reason of its own.
    Failed(String),
}

impl fmt::Display for DeviceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DeviceError::Unsupported(what) => write!(f, "the device does not support {what}"),
            DeviceError::OutOfMemory { bytes } => {
                write!(f, "the device has no memory for {bytes} more bytes")
            }
            DeviceError::BadImage(why) => write!(f, "the device image cannot be loaded: {why}"),
            DeviceError::NotFound(name) => write!(f, "the device image has no `{name}`"),
            DeviceError::Fault { address: Some(address), what } => {
                write!(f, "the kernel crashed: {what} at {address:#x}")
            }
            DeviceError::Fault { address: None, what } => write!(f, "the kernel crashed: {what}"),
            DeviceError::Earlier { kernels, what } => {
                let names: Vec<String> = kernels.iter().map(ToString::to_string).collect();
                let one = if kernels.len() > 1 { "one of the kernels" } else { "the kernel" };
                write!(f, "{one} of {} crashed: {what}", names.join(", "))
            }
            DeviceError::Overrun { behind } => {
                write!(f, "a kernel has written behind its end, beginning with byte {behind} there")
            }
            DeviceError::Stopped { what } => write!(f, "the kernel was stopped: {what}"),
            DeviceError::Exited { status } => write!(f, "the kernel has called exit({status})"),
            DeviceError::Lost(why) => write!(f, "the device is lost: {why}"),
            DeviceError::Failed(why) => write!(f, "the device failed: {why}"),
        }
    }
}

impl std::error::Error for DeviceError {}
