//! The net between safe code and C: an error ends the program or becomes a value, and no panic passes.

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
        Err(error) => {
            report::tell_failure(&error);
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
