//! `cpu:separate`: the host's processor with memory of its own, in a process of its own.
//!
//! Device memory is one range of addresses, backed by a memory file that both processes map: the
//! device's process where device addresses say, the host's somewhere else, with nothing to be read
//! or written at the device addresses themselves. So a copy is a copy of bytes and no message, and a
//! pointer that was not mapped faults on either side instead of being read.
//!
//! The range and its two views are [`crate::arena`]'s.
//!
//! - [`protocol`]: the messages between the two processes
//! - [`process`]: starting the helper, and the channels to it
//! - [`proxy`]: the device as the runtime sees it
//! - [`upward`]: what kernels ask of the host; [`ancestor`]: the host as they see it
//! - [`silence`]: how long the helper may take to show that it lives
//! - [`serve`]: the helper's side; [`last_words`]: what it says when a kernel dies

pub mod ancestor;
pub(crate) mod last_words;
pub(crate) mod process;
mod protocol;
pub(crate) mod proxy;
pub mod serve;
pub(crate) mod silence;
mod upward;

pub use process::tell_number;
pub use proxy::Separate;

use crate::Result;

/// There can be as many as are asked for, where the helper is.
pub(crate) fn found() -> Result<Option<Vec<String>>> {
    process::find().map(|_| None)
}

/// The helper's file name.
pub const HELPER: &str = "ferry-cpu-device";
/// A folder to look for the helper in before all others.
pub const FOLDER_VARIABLE: &str = "FERRY_LIBEXEC";
/// Set in the helper's process, and only there, to the number of devices that the program has: they are not to
/// be opened once more.
pub const INSIDE_VARIABLE: &str = "FERRY_INSIDE_DEVICE";
/// What the library exports for the helper: `void (int device)`, marks the calling thread.
pub const ENTER: &str = "__ferry_enter_device";
/// Likewise `void (int descriptor)`: a channel on which kernels ask the host.
pub const HEAR: &str = "__ferry_host_channel";
