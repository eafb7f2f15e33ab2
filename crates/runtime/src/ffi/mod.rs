//! The C border: every function that programs call, each one `guard` around safe code.
//!
//! - `register`: binaries come and go
//! - `choose`: what a device is, for code that depends on it
//! - `data`: mapping and updating data, mappers
//! - `kernel`: regions
//! - `flang`: what host images of flang call
//! - `legacy`: entry points of older compilers, thin
//! - `memkind`: variables with a memory kind, where memory lies
//! - `inside`: what the process of a device calls
//! - `queue`: calls that are not waited for
//! - `omp`, `acc`: the routines of the standards
//! - `scratchpad`: `ferry_cluster.h` where there is none
//! - `hand`: memory that the program handles itself, for both
#![allow(unsafe_code, reason = "the C border")]
#![allow(non_snake_case, reason = "names are the interface's")]

pub mod acc;
pub mod choose;
pub mod coexecute;
pub mod counters;
pub mod data;
pub mod flang;
mod hand;
pub mod inside;

pub mod kernel;
pub mod legacy;
pub mod memkind;
pub mod notes;
pub mod omp;
pub mod queue;
pub mod register;
pub mod scratchpad;

use crate::error::Error;
use crate::fork::{self, Part};
use crate::{devices, left, profile, queue as queues, registry, runner, trace};

/// Does a function of the border that tools see begin at this address?
pub(crate) fn is_entry_point(address: usize) -> bool {
    let all = data::ENTRY_POINTS.iter().chain(legacy::ENTRY_POINTS).chain(&omp::ENTRY_POINTS);
    let mut all = all.map(|it| it.0 as usize);
    address != 0
        && (address == kernel::__tgt_target_kernel as *const () as usize
            || all.any(|it| it == address))
}

/// A binary registers.
fn begin() -> Result<(), Error> {
    acc::start::register()
}

/// Devices of these kinds are there, for the first time: reads what the environment says of the first one.
pub(crate) fn opened(kinds: &[&str]) -> Result<(), Error> {
    watch_forks();
    acc::start::choose(kinds)
}

/// All that has locks, in the order in which threads take one inside another: the stage of each device (a call that is
/// not through with the mapping table); the registry; of each device table, early pointers, rooms, memory by hand and
/// the locks of its plugin; then those inside of which no other is taken.
static AROUND_FORK: [Part; 7] = [
    Part { is_stage: true, hold: devices::hold_stages, in_child: || () },
    Part { is_stage: false, hold: |held| held.push(registry::hold()), in_child: || () },
    Part { is_stage: false, hold: devices::hold_all, in_child: devices::settle_all },
    Part { is_stage: false, hold: |held| held.push(queues::hold()), in_child: queues::forget_all },
    Part { is_stage: false, hold: |held| held.push(runner::hold()), in_child: left::forget },
    Part { is_stage: false, hold: |held| held.push(profile::hold()), in_child: || () },
    Part { is_stage: false, hold: |held| held.extend(trace::hold()), in_child: trace::leave },
];

/// From now on forks are prepared for.
fn watch_forks() {
    fork::watch(&AROUND_FORK);
}

/// The address of a function.
pub(crate) struct EntryPoint(*const ());

// SAFETY: an address that is only compared.
unsafe impl Sync for EntryPoint {}
