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

use std::fmt::Display;
use std::mem;
use std::panic::{self, AssertUnwindSafe};

use crate::error::Error;
use crate::report;

pub(crate) use acc::prof as profile;

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

/// Reads what the environment says of the first device, once: there are devices of these kinds.
pub(crate) fn choose_first(kinds: &[&str]) -> Result<(), Error> {
    acc::start::choose(kinds)
}

/// The address of a function.
pub(crate) struct EntryPoint(*const ());

// SAFETY: an address that is only compared.
unsafe impl Sync for EntryPoint {}

/// Runs `body`; a failure or a panic ends the program with a message, as no value can tell the caller.
pub(crate) fn guard<T>(
    place: &dyn Display,
    in_kernel: bool,
    body: impl FnOnce() -> Result<T, Error>,
) -> T {
    match caught(body) {
        Ok(value) => value,
        Err(error) => {
            profile::failed(&error);
            report::fail(place, in_kernel, &error)
        }
    }
}

/// Runs `body`; a failure or a panic is reported and answered with `otherwise`.
pub(crate) fn answer<T>(
    routine: &'static str,
    otherwise: T,
    body: impl FnOnce() -> Result<T, Error>,
) -> T {
    match caught(body) {
        Ok(value) => value,
        Err(error) => {
            report::failed_call(routine, &error);
            otherwise
        }
    }
}

fn caught<T>(body: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
    match panic::catch_unwind(AssertUnwindSafe(body)) {
        Ok(result) => result,
        Err(payload) => {
            // Its destructor may panic again.
            mem::forget(payload);
            Err(Error::Panicked)
        }
    }
}
