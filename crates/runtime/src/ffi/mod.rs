//! The C border: every function that programs call, each one `guard` around safe code.
//!
//! - `register`: binaries come and go
//! - `choose`: what a device is, for code that depends on it
//! - `data`: mapping and updating data, mappers
//! - `kernel`: regions
//! - `flang`: what host images of flang call
//! - `legacy`: entry points of older compilers, thin
//! - `inside`: what the process of a device calls
//! - `omp`: the routines of the standard
#![allow(unsafe_code, reason = "the C border")]
#![allow(non_snake_case, reason = "names are the interface's")]

pub mod choose;
pub mod data;
pub mod flang;
pub mod inside;
pub mod kernel;
pub mod legacy;
pub mod omp;
pub mod register;

use std::fmt::Display;
use std::mem;
use std::panic::{self, AssertUnwindSafe};

use crate::error::Error;
use crate::report;

/// Runs `body`; a failure or a panic ends the program with a message, as no value can tell the caller.
pub(crate) fn guard<T>(
    place: &dyn Display,
    in_kernel: bool,
    body: impl FnOnce() -> Result<T, Error>,
) -> T {
    match caught(body) {
        Ok(value) => value,
        Err(error) => report::fail(place, in_kernel, &error),
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
