//! The device routines of the standard, as C programs call them.
//!
//! - [`devices`]: numbers and places
//! - [`memory`]: allocation and presence
//! - [`copy`]: copies and fills, contiguous and rectangular
//! - [`associate`]: pointers that the program maps itself
//! - [`interop`]: interoperability objects
//! - [`vendor`]: additions that LLVM's runtime has

pub mod associate;
pub mod copy;
pub mod devices;
pub mod interop;
pub mod memory;
pub mod vendor;

use std::ffi::c_int;

use crate::devices::{Target, all, numbered};
use crate::error::Error;

/// The constant of the standard for the host, beside the number after the last device.
const INITIAL_DEVICE: c_int = -1;

/// The device that a routine means; routines do not ask the policy.
fn device(number: c_int) -> Result<Target, Error> {
    match number {
        INITIAL_DEVICE => Ok(Target::Host),
        number => numbered(i64::from(number)),
    }
}

/// The number of the host.
fn initial_device() -> c_int {
    c_int::try_from(all().len()).unwrap_or(c_int::MAX)
}
