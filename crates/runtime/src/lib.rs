//! What `libferry` is made of: all that compiled programs call while they run.
//!
//! A program hands over its regions and data; this library decides on which device they go, keeps
//! track of what is mapped there, copies, launches and reports. The interface is LLVM 19's offload
//! interface plus the routines of the standard; structures and bits are in crate `abi`.
//!
//! - [`ffi`]: the C entry points, which validate; [`guard`]: the net that no panic passes
//! - [`directives`]: regions and data directives as a whole, from an entry point or a queue
//! - [`registry`]: binaries and their regions; [`images`]: their code on devices; [`loaded`]: files of the process
//! - [`devices`], [`settings`]: which devices there are, and what the environment says; [`roster`]: as facts
//! - [`ranges`], [`table`], [`piece`]: what is mapped to a device; [`mapping`]: the walks over map entries
//! - [`launch`], [`prepared`], [`runner`], [`host`]: regions, the threads they run on, the host's threading runtime
//! - [`coexecute`]: regions whose iterations host and devices share
//! - [`ancestor`]: regions that kernels hand back to the host
//! - [`nowait`]: calls that the caller does not wait for ([`arrays`] are theirs); [`queue`]: their order ([`graph`], [`running`]), or
//!   that of the host's tasks ([`host_task`]); [`steps`], [`perform`]: what of a call waits in a queue; [`submitted`]: regions
//!   that are started at once and finished later; [`left`]: work that nobody waits for
//! - [`fork`]: locks while the process is copied; [`ending`]: threads that use devices while it ends
//! - [`watch`], [`trace`], [`report`], [`llvm`], [`llvm_info`], [`account`]: what users read; [`tool`], [`profile`]: what their tools are told
//!
//! What watches lies below what it watches and is called with plain values; what is called back is in one table ([`BORDER`]).
//! Nothing unwinds into C, and no lock is held across a call of a device.

use std::sync::Arc;

use device::Upcalls;
// Only for its names.
use interpose as _;

mod account;
mod ancestor;
mod args;
mod arrays;
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
mod images;
mod launch;
mod left;
mod llvm;
mod llvm_info;
mod loaded;
mod mapping;
mod nowait;
mod perform;
mod piece;
mod prepared;
pub mod profile;
mod queue;
mod ranges;
mod registry;
mod report;
mod roster;
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

/// What is asked of the parts above by those below, which do not import them.
pub(crate) struct Border {
    /// Devices of these kinds are there, for the first time.
    pub(crate) opened: fn(&[&str]) -> Result<(), error::Error>,
    /// Who answers the kernels of the device with that number.
    pub(crate) answers: fn(usize) -> Arc<dyn Upcalls>,
    /// Whether a function that tools see begins at this address.
    pub(crate) is_entry_point: fn(usize) -> bool,
}

pub(crate) static BORDER: Border =
    Border { opened: ffi::opened, answers: ancestor::answers, is_entry_point: ffi::is_entry_point };
