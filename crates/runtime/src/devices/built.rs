//! The devices of a program that is not told which: those it was built for, as far as they are here.
//!
//! Each file of a program says what it was built for. What all of them were built for counts, in the order of the file
//! that was registered first. Kinds that are not here are left out; if nothing is left `cpu` stands in, with a line
//! that says so, or there is no device where offload must happen.

use std::collections::VecDeque;
use std::sync::OnceLock;

use device::{DeviceError, PLUGINS, Plugin, separate};

use super::{DeviceState, opened_device, stand_in, unusable};
use crate::error::Error;
use crate::registry::Registry;
use crate::settings::{self, Policy};
use crate::{registry, report};

/// A kind of device, with the number of them where one was given.
type Wanted = (&'static Plugin, Option<usize>);

/// Why there is no device, where there is none.
static WHY_NONE: OnceLock<String> = OnceLock::new();

/// Says that, where offload must happen.
pub(crate) fn why_none() -> Option<&'static str> {
    WHY_NONE.get().map(String::as_str)
}

/// What all files were built for; if that is nothing, what the first was built for as the error.
fn common(registry: &Registry) -> Result<Vec<Wanted>, String> {
    let mut lists = registry.built_for().map(|it| (it, settings::kinds_of(it).unwrap_or_default()));
    let Some((first, mut wanted)) = lists.next() else { return Ok(Vec::new()) };
    for (_, list) in lists {
        wanted.retain(|(it, _)| list.iter().any(|(that, _)| that.name() == it.name()));
    }
    if wanted.is_empty() { Err(first.to_owned()) } else { Ok(wanted) }
}

/// Opens the devices: the first at once, others when they are first used.
pub(super) fn open() -> Result<Vec<DeviceState>, Error> {
    let wanted = match common(&registry::current()) {
        Ok(wanted) => wanted,
        Err(first) => {
            return fall_back(format!(
                "its files are built for different devices (one for `{first}`, another for none of these)"
            ));
        }
    };
    let mut missing: Vec<String> = Vec::new();
    let mut present: VecDeque<(&'static Plugin, usize)> = VecDeque::new();
    for (kind, asked) in &wanted {
        match number(kind, *asked) {
            Ok(count) => present.extend((0..count).map(|nth| (*kind, nth))),
            Err(error) => missing.push(absent(kind, error)),
        }
    }
    while let Some((kind, nth)) = present.pop_front() {
        separate::tell_number(present.len() + 1);
        let plugin = stand_in(kind, nth);
        let device = match opened_device(plugin, 0, nth) {
            Ok(device) => device,
            Err(error) => {
                missing.push(absent(kind, error));
                continue;
            }
        };
        if wanted.first().is_some_and(|(it, _)| it.name() != kind.name()) {
            let missing = missing.join("; ");
            report::warn(&format!("the program runs on `{}`; not here is {missing}", kind.name()));
        }
        let first = DeviceState::new(0, plugin.name(), device);
        let others = present
            .iter()
            .enumerate()
            .map(|(index, (kind, nth))| DeviceState::later(index + 1, stand_in(kind, *nth), *nth));
        return Ok([first].into_iter().chain(others).collect());
    }
    if missing.is_empty() {
        cpu()
    } else {
        fall_back(format!("not here is {}", missing.join("; ")))
    }
}

/// Says why there is none of a kind.
fn absent(kind: &Plugin, error: DeviceError) -> String {
    let why = if let DeviceError::Failed(why) = error { why } else { error.to_string() };
    format!("`{}`: {why}", kind.name())
}

/// How many devices of a kind are here, of those that are asked for: all of them where no number is given.
fn number(kind: &Plugin, asked: Option<usize>) -> device::Result<usize> {
    Ok(match (kind.found)()? {
        Some(names) => asked.unwrap_or(names.len()).min(names.len()),
        None => asked.unwrap_or(1),
    })
}

/// No device that the program was built for can be used: `cpu` instead, which is said, or none at all.
fn fall_back(why: String) -> Result<Vec<DeviceState>, Error> {
    if settings::policy() == Policy::Mandatory {
        let _ = WHY_NONE.set(why);
        return Ok(Vec::new());
    }
    report::warn(&format!("the program runs on `cpu`, for which it was not built: {why}"));
    cpu()
}

/// What every program can run on.
fn cpu() -> Result<Vec<DeviceState>, Error> {
    let Some(cpu) = PLUGINS.first() else { return Ok(Vec::new()) };
    let device = opened_device(cpu, 0, 0).map_err(|error| unusable(cpu, 0, error))?;
    Ok(vec![DeviceState::new(0, cpu.name(), device)])
}
