//! What `libferry` is made of: all that compiled programs call while they run.
//!
//! A program hands over its regions and data; this library decides on which device they go, keeps
//! track of what is mapped there, copies, launches and reports. The interface is LLVM 19's offload
//! interface plus the routines of the standard; structures and bits are in crate `abi`.
//!
//! - [`ffi`]: the C entry points, which validate; [`guard`]: the net that no panic passes
//! - [`directives`]: regions and data directives as a whole, from an entry point or a queue
//! - [`registry`]: binaries, regions, images; [`loaded`]: files of the process
//! - [`devices`], [`settings`]: which devices there are, and what the environment says
//! - [`mapping`]: the mapping table of a device and the walks over map entries; [`table`], [`piece`]: its ranges
//! - [`launch`], [`runner`], [`host`], [`host_task`]: regions, the threads they run on, the host's threading runtime
//! - [`coexecute`]: regions whose iterations host and devices share
//! - [`ancestor`]: regions that kernels hand back to the host
//! - [`queue`]: work that the caller does not wait for, in an order ([`graph`], [`running`]); [`steps`]: what of a call waits in a queue;
//!   [`submitted`]: regions that are started at once and finished later; [`left`]: work that nobody waits for
//! - [`fork`]: locks while the process is copied; [`ending`]: threads that use devices while it ends
//! - [`watch`], [`trace`], [`report`], [`llvm`], [`llvm_info`], [`account`]: what users read; [`tool`], [`profile`]: what their tools are told
//!
//! Nothing unwinds into C, and no lock is held across a call of a device.

// Only for its names.
use interpose as _;

mod account;
mod ancestor;
mod args;
mod coexecute;
mod devices;
mod directives;
mod ending;
mod error;
pub mod ffi;
mod fork;
mod graph;
mod guard;
mod host;
mod host_task;
mod launch;
mod left;
mod llvm;
mod llvm_info;
mod loaded;
mod mapping;
mod piece;
pub mod profile;
mod queue;
mod registry;
mod report;
mod runner;
mod running;
mod settings;
mod steps;
mod submitted;
mod sync;
mod table;
mod team;
mod tool;
mod trace;
mod watch;

/// What the entry points answer to parts below them, which do not import them.
pub(crate) struct Border {
    /// Devices of these kinds are there, for the first time.
    pub(crate) opened: fn(&[&str]) -> Result<(), error::Error>,
    /// Whether a function that tools see begins at this address.
    pub(crate) is_entry_point: fn(usize) -> bool,
}

pub(crate) static BORDER: Border =
    Border { opened: ffi::opened, is_entry_point: ffi::is_entry_point };
