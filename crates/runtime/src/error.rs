//! Everything that can go wrong while a program runs, with what to do about it.
//!
//! An [`Error`] is a value until it reaches the C border; there [`crate::report`] prints it with the
//! place in the source and ends the program.

use std::fmt;

use abi::map::GAPS;
use device::{DeviceError, Started};

use crate::args::Item;

/// Some bytes of the host, as users know them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Section {
    /// As written in the program: `a[0:n]`.
    pub(crate) name: Option<String>,
    pub(crate) at: usize,
    pub(crate) size: usize,
}

impl Section {
    pub(crate) fn of(item: &Item) -> Section {
        Section { name: item.name.map(|it| it.to_string()), at: item.begin, size: item.size }
    }
}

/// `` `a[0:n]` (800 bytes at 0x7ffe…) ``
impl fmt::Display for Section {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.name {
            Some(name) => write!(f, "`{name}` ({} bytes at {:#x})", self.size, self.at),
            None => write!(f, "the range of {} bytes at {:#x}", self.size, self.at),
        }
    }
}

/// What went wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Error {
    /// Part of a range is mapped, and the rest cannot be added. `is_required`: the program says that
    /// all of it is mapped.
    Overlap { what: Section, mapped: Section, is_required: bool },
    /// The program says it is mapped, and it is not. `is_motion`: said by an update.
    NotPresent { what: Section, is_motion: bool },
    /// The device refused.
    Device { doing: &'static str, what: Option<Section>, error: DeviceError },
    /// The kernel died; `suspect` is what led it astray: `` `p` ``.
    Crash { region: String, suspect: Option<String>, error: DeviceError },
    /// The region has ended the program.
    Exited { region: String, status: i32 },
    /// The binary of a region has no code for the device.
    NoImage { region: String, binary: String, device: String },
    /// No data can have that size.
    Size { name: Option<String>, size: i64 },
    /// No binary has registered this region.
    UnknownRegion { id: usize },
    /// There is no such device.
    NoSuchDevice { number: i64, count: usize },
    /// No queue has such a number.
    NoSuchQueue { number: i64 },
    /// Offload must happen, and there is no device at all; `why` if it was built for some.
    NoDevices { why: Option<&'static str> },
    /// Two units of the program contradict each other.
    Requires { clause: &'static str },
    /// A variable of the environment cannot be understood.
    Setting { message: String, help: String },
    /// A routine was called with what it cannot be called with.
    Argument { message: String, help: String },
    /// A call that breaks the interface.
    BadCall(&'static str),
    /// A bug of ours.
    Panicked,
}

impl Error {
    pub(crate) fn device(doing: &'static str, what: Section, error: DeviceError) -> Error {
        Error::Device { doing, what: Some(what), error }
    }

    /// What the device has said, if it was that.
    fn of_device(&self) -> Option<&DeviceError> {
        if let Error::Crash { error, .. } | Error::Device { error, .. } = self {
            return Some(error);
        }
        None
    }

    /// Kernels that nobody had waited for, of which one has crashed.
    pub(crate) fn earlier(&self) -> Option<&[Started]> {
        match self.of_device() {
            Some(DeviceError::Earlier { kernels, .. }) => Some(kernels),
            _ => None,
        }
    }

    /// A kernel has crashed, and with it the device: which, if that is known.
    pub(crate) fn crash(&self) -> Option<Option<&str>> {
        let (region, error) = if let Error::Crash { region, error, .. } = self {
            (Some(region.as_str()), error)
        } else if let Error::Device { error, .. } = self {
            (None, error)
        } else {
            return None;
        };
        let is_lost = matches!(
            error,
            DeviceError::Fault { .. } | DeviceError::Stopped { .. } | DeviceError::Lost(_)
        );
        is_lost.then_some(region)
    }

    /// What the user can do about it; empty if nothing is known to help.
    pub(crate) fn help(&self) -> String {
        if self.earlier().is_some_and(|it| it.len() > 1) {
            return "with FERRY_WAIT=always each region is waited for, and the one is named".into();
        }
        match self {
            Error::Overlap { mapped, .. } => {
                format!("map the whole object at first, or unmap {mapped} before this")
            }
            Error::NotPresent { what, is_motion } => {
                let name = what.name.as_deref().unwrap_or("it");
                let or = if *is_motion { "say that it may be absent" } else { "drop `present`" };
                format!("map {name} before this, or {or}")
            }
            Error::Device { error: DeviceError::OutOfMemory { .. }, .. } => {
                "unmap what is not needed, or work in smaller pieces".into()
            }
            Error::Device { error: DeviceError::Overrun { .. }, .. } => {
                "look for an index that is too large in the regions that used it, or map more of it"
                    .into()
            }
            Error::Crash { suspect: Some(name), .. } => {
                format!("map the data behind {name}, with their length")
            }
            Error::Crash { error: DeviceError::Fault { address: Some(0..=0xffff), .. }, .. } => {
                "a null pointer was followed: give it its value inside the region, or map what it \
                 leads to and the pointer itself"
                    .into()
            }
            Error::Crash { error: DeviceError::Fault { address: Some(_), .. }, .. } => {
                "map every array that the region reads or writes, with its length".into()
            }
            Error::Crash { error: DeviceError::Stopped { .. }, .. } => {
                format!("look for a loop that does not end, or set {} higher", device::TIMEOUT_VARIABLE)
            }
            Error::Device { .. } | Error::Crash { .. } | Error::Exited { .. } => String::new(),
            Error::NoImage { device, .. } => {
                format!("build it again with `ferry cc --device {device}`, or set FERRY_DEVICE=cpu")
            }
            Error::Size { size: GAPS, .. } => {
                "map whole rows, `a[first:count][:]`; only updates may leave elements out".into()
            }
            Error::Size { .. } => {
                "look at the length of the section: it is negative, or its bytes are more than any \
                 memory has"
                    .into()
            }
            Error::UnknownRegion { .. } => {
                "link the program with `ferry cc`, and do not start regions after the library that \
                 holds them was closed"
                    .into()
            }
            Error::NoSuchDevice { count, .. } => format!(
                "numbers from 0 to {count} are valid, {count} is the host; FERRY_DEVICE=cpu*4 gives \
                 four devices"
            ),
            Error::NoSuchQueue { .. } => {
                "queues are numbered from 0; negative numbers are only those with a name in the header"
                    .into()
            }
            Error::NoDevices { .. } => {
                "set FERRY_DEVICE=cpu, or allow the host to run the region".into()
            }
            Error::Requires { clause } => {
                format!("write `{clause}` in every source file with target code, or in none")
            }
            Error::Setting { help, .. } | Error::Argument { help, .. } => help.clone(),
            Error::BadCall(_) => "the program was built by a compiler that does not fit".into(),
            Error::Panicked => "this is a bug of Ferry: please report it".into(),
        }
    }
}

/// Without place and help.
impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.of_device(), self.earlier()) {
            (Some(DeviceError::Earlier { what, .. }), Some([only])) => {
                return write!(f, "in `{}` the kernel crashed: {what}", only.name);
            }
            (Some(error), Some(_)) => return write!(f, "{error}"),
            _ => {}
        }
        match self {
            Error::Overlap { what, mapped, .. } => {
                write!(f, "{what} is mapped in part only: {mapped} is, the rest is not")
            }
            Error::NotPresent { what, .. } => write!(f, "{what} is not mapped to the device"),
            Error::Device { what: Some(what), error: DeviceError::Overrun { behind }, .. } => {
                write!(
                    f,
                    "a kernel has written behind the end of {what}, beginning with byte {behind} there"
                )
            }
            Error::Device { doing, what: Some(what), error } => {
                write!(f, "{doing} failed for {what}: {error}")
            }
            Error::Device { doing, what: None, error } => write!(f, "{doing} failed: {error}"),
            Error::Crash { region, suspect: None, error } => write!(f, "in `{region}` {error}"),
            Error::Crash { region, suspect: Some(name), error } => {
                write!(f, "in `{region}` {error}, which comes from {name}")
            }
            Error::Exited { region, status } => {
                write!(f, "`{region}` has called exit({status}), which ends the program")
            }
            Error::NoImage { region, binary, device } => {
                write!(f, "`{binary}` has no code of region `{region}` for device `{device}`")
            }
            Error::Size { name, size } => {
                let name = name.as_ref().map_or("data".to_owned(), |it| format!("`{it}`"));
                match *size {
                    GAPS => write!(f, "the elements of {name} do not follow each other"),
                    _ => write!(f, "{name} cannot have {size} bytes"),
                }
            }
            Error::UnknownRegion { id } => write!(f, "no binary has registered region {id:#x}"),
            Error::NoSuchDevice { number, count } => {
                write!(f, "there is no device {number}: the program has {count}")
            }
            Error::NoSuchQueue { number } => write!(f, "there is no queue {number}"),
            Error::NoDevices { why } => {
                f.write_str("the region must be offloaded, and there is no device")?;
                why.map_or(Ok(()), |why| write!(f, " that the program is built for: {why}"))
            }
            Error::Requires { clause } => {
                write!(f, "the program's source files disagree on `requires {clause}`")
            }
            Error::Setting { message, .. } | Error::Argument { message, .. } => {
                f.write_str(message)
            }
            Error::BadCall(what) => write!(f, "wrong call of the runtime: {what}"),
            Error::Panicked => f.write_str("the runtime failed"),
        }
    }
}
