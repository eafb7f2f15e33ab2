//! The routines of the standard that has queues, as C programs call them.
//!
//! - [`devices`]: which device is current, preparing devices and letting go of them
//! - [`property`]: what a device is
//! - [`data`]: data that live on a device: create, copy in and out, update, map, ask
//! - [`memory`]: device memory by hand, copies to and from it
//! - [`attach`]: pointers on the device
//! - [`queues`]: asking and waiting for queues
//! - [`control`]: what directives ask for
//! - [`kind`]: types of devices
//! - [`start`]: what the environment says
//!
//! Where the standard speaks of an error, the program ends with a message: no routine can answer one.

pub mod attach;
pub mod control;
pub mod data;
pub mod devices;
pub mod kind;
pub mod memory;
pub mod property;
pub mod queues;
pub mod start;

use std::ffi::c_int;

use crate::args::Place;
use crate::devices::{DeviceState, Target, all, numbered};
use crate::error::Error;
use crate::guard::guard;
use crate::mapping::Cx;
use crate::watch::Watch;
use crate::{host, profile, registry};

/// The place of a routine in messages: its name.
macro_rules! place {
    ($name:expr) => {{
        static IDENT: abi::Ident = abi::Ident::routine(
            concat!(";", stringify!($name), ";", stringify!($name), ";0;0;;15;\0").as_bytes(),
        );
        // SAFETY: a constant, whose text ends with a zero byte.
        unsafe { crate::args::Place::new(&raw const IDENT) }
    }};
}
pub(crate) use place;

/// Runs a routine.
pub(super) fn routine<T>(place: Place, body: impl FnOnce() -> Result<T, Error>) -> T {
    guard(&place, false, || {
        start::start()?;
        profile::routine(Watch::now(), place);
        body()
    })
}

/// The current device of the calling thread.
fn current() -> Result<Target, Error> {
    if all().is_empty() {
        return Ok(Target::Host);
    }
    numbered(i64::from(host::default_device()))
}

/// The device with that number, of those that regions can go to; the host if there are none.
fn device(number: c_int) -> Result<Target, Error> {
    if all().is_empty() && number == 0 {
        return Ok(Target::Host);
    }
    match numbered(i64::from(number))? {
        Target::Host => Err(Error::NoSuchDevice { number: i64::from(number), count: all().len() }),
        device @ Target::Device(_) => Ok(device),
    }
}

/// What every step of a call on a device knows; loads what the device has not loaded yet.
fn context(device: &'static DeviceState, place: Place) -> Result<Cx<'static>, Error> {
    let registry = registry::current();
    registry.resolve(device)?;
    let (watch, unified) = (Watch::now(), registry.is_unified());
    Ok(Cx { device, place, watch, unified, later: None, stream: None })
}
