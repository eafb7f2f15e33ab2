//! What the environment says of the first current device.
//!
//! Read when the first binary registers, or, where devices must be looked for first, when they are. `ACC_DEVICE_TYPE`
//! and `ACC_DEVICE_NUM` hold for every thread until it chooses a device itself; words and numbers that
//! mean no device end the program, as with `FERRY_DEVICE`.

use std::ffi::c_int;
use std::sync::OnceLock;

use super::kind::Kind;
use crate::error::Error;
use crate::{devices, fork, host, profile, settings};

/// A binary registers.
pub(crate) fn register() -> Result<(), Error> {
    profile::register::start();
    // Other binaries, which may say what devices there are, may follow.
    if devices::is_settled() { choose(&devices::kinds()) } else { Ok(()) }
}

/// A routine is called.
pub(crate) fn start() -> Result<(), Error> {
    profile::register::start();
    if !devices::is_settled() {
        devices::all();
    }
    choose(&devices::kinds())
}

/// Reads the environment, once; there are devices of these kinds.
pub(crate) fn choose(kinds: &[&str]) -> Result<(), Error> {
    static CHOSEN: OnceLock<Result<(), Error>> = OnceLock::new();
    fork::once(&CHOSEN, || read(kinds)).clone()
}

fn read(kinds: &[&str]) -> Result<(), Error> {
    let (word, number) = (settings::device_type(), settings::device_number());
    if word.is_none() && number.is_none() {
        return Ok(());
    }
    let kind = match word {
        None => Kind::Default,
        Some(word) => Kind::named(&word).ok_or_else(|| Error::Setting {
            message: format!("ACC_DEVICE_TYPE: there is no type of devices `{word}`"),
            help: "choose among host, default, not_host".into(),
        })?,
    };
    let numbers = kind.numbers(kinds);
    let is_host = match kind {
        Kind::Host => true,
        Kind::Unsaid | Kind::Default => kinds.is_empty(),
        Kind::Device | Kind::Maker(_) if !numbers.is_empty() => false,
        Kind::Device | Kind::Maker(_) => {
            return Err(Error::Setting {
                message: format!(
                    "ACC_DEVICE_TYPE: there is no device of type `{}`",
                    settings::device_type().unwrap_or_default()
                ),
                help:
                    "choose among host, default, not_host; FERRY_DEVICE says which devices there \
                       are"
                    .into(),
            });
        }
    };
    let host = [c_int::try_from(kinds.len()).unwrap_or(c_int::MAX)];
    let numbers = if is_host { &host[..] } else { &numbers };
    let word = number.unwrap_or_else(|| "0".into());
    let index = word.trim().parse::<usize>().ok();
    let Some(number) = index.and_then(|it| numbers.get(it)) else {
        return Err(Error::Setting {
            message: format!("ACC_DEVICE_NUM: there is no device `{word}`"),
            help: format!("numbers from 0 to {} are valid", numbers.len() - 1),
        });
    };
    host::set_initial_device(*number);
    Ok(())
}
