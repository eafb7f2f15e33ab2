//! What the environment says of the first current device.
//!
//! Read when the first binary registers, or by the first routine. `ACC_DEVICE_TYPE` and
//! `ACC_DEVICE_NUM` hold for every thread until it chooses a device itself; words and numbers that
//! mean no device end the program, as with `FERRY_DEVICE`.

use std::sync::OnceLock;

use super::kind::Kind;
use crate::error::Error;
use crate::{devices, fork, host, settings};

/// Reads the environment, once.
pub(crate) fn start() -> Result<(), Error> {
    static STARTED: OnceLock<Result<(), Error>> = OnceLock::new();
    let read = fork::once(&STARTED, read);
    super::prof::register::start();
    read.clone()
}

fn read() -> Result<(), Error> {
    let (word, number) = (settings::device_type(), settings::device_number());
    if word.is_none() && number.is_none() {
        return Ok(());
    }
    let count = devices::count();
    let kind = match word {
        None => Kind::Default,
        Some(word) => Kind::named(&word).ok_or_else(|| Error::Setting {
            message: format!("ACC_DEVICE_TYPE: there is no type of devices `{word}`"),
            help: "choose among host, default, not_host".into(),
        })?,
    };
    let is_host = match kind {
        Kind::Host => true,
        Kind::Unsaid | Kind::Default => count == 0,
        Kind::Device if count > 0 => false,
        Kind::Device | Kind::Foreign(_) => {
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
    let number = match number {
        None => 0,
        Some(word) => match word.trim().parse::<i32>() {
            Ok(number) if (0..if is_host { 1 } else { count }).contains(&number) => number,
            _ => {
                let count = if is_host { 1 } else { count };
                return Err(Error::Setting {
                    message: format!("ACC_DEVICE_NUM: there is no device `{word}`"),
                    help: format!("numbers from 0 to {} are valid", count - 1),
                });
            }
        },
    };
    host::set_initial_device(if is_host { count } else { number });
    Ok(())
}
