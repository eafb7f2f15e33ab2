//! Which device is current, how many there are, preparing them and letting go of them.
//!
//! The current device of a thread is the default device of the other standard too. Devices of one maker are numbered
//! among themselves. The type of a maker of whom there is no device here stands for the devices that there are: a
//! program that names it runs, and `FERRY_INFO` says where.

use std::cell::Cell;
use std::ffi::c_int;

use super::kind::{self, Kind};
use super::{current, place, routine};
use crate::args::Place;
use crate::devices::{self, DeviceState, Target, all};
use crate::error::Error;
use crate::profile;
use crate::watch::Watch;
use crate::{host, queue, registry, report, runner, settings};

thread_local! {
    /// The device that was current before the host became it.
    static BEFORE_HOST: Cell<c_int> = const { Cell::new(0) };
}

/// The type of the calling thread's current device, and its number among those of the type.
pub(super) fn current_kind() -> (c_int, c_int) {
    let (kinds, number) = (devices::kinds(), host::default_device());
    let index = usize::try_from(number).unwrap_or(usize::MAX);
    match kinds.get(index) {
        None if index == kinds.len() => (kind::HOST, 0),
        None => (kind::NOT_HOST, number),
        Some(kind) => {
            let of_type = kind::type_of(kind);
            let before = kinds.iter().take(index).filter(|it| kind::type_of(it) == of_type).count();
            (of_type, c_int::try_from(before).unwrap_or(c_int::MAX))
        }
    }
}

/// What a type means to the calling thread: the current one where none is named, any device where the maker has none
/// here.
fn meant(kind: Kind) -> Result<Kind, Error> {
    let kind = if kind == Kind::Unsaid { Kind::numbered(current_kind().0)? } else { kind };
    if let Kind::Maker(word) = kind
        && kind.count() == 0
    {
        stand_in(word);
        return Ok(Kind::Default);
    }
    Ok(kind)
}

/// Makes a device of a type current; without a number the one that was.
pub(crate) fn select(kind: Kind, number: Option<c_int>) -> Result<(), Error> {
    let kinds = devices::kinds();
    let host_number = c_int::try_from(kinds.len()).unwrap_or(c_int::MAX);
    let is_host = current_kind().0 == kind::HOST;
    let current = if is_host { BEFORE_HOST.get() } else { host::default_device() };
    // Negative numbers say that it does not matter.
    let number = number.filter(|it| *it >= 0);
    // With a number the current type is that of a device where there are some.
    let is_default = kind == Kind::Unsaid && is_host && number.is_some();
    let kind = if is_default { Kind::Default } else { meant(kind)? };
    let wants_host = match kind {
        Kind::Host => true,
        Kind::Default => kinds.is_empty(),
        Kind::Unsaid | Kind::Device | Kind::Maker(_) => false,
    };
    if wants_host {
        if let Some(number) = number.filter(|it| *it != 0) {
            return Err(Error::NoSuchDevice { number: i64::from(number), count: 1 });
        }
        if !is_host {
            BEFORE_HOST.set(current);
        }
        host::set_default_device(host_number);
        return Ok(());
    }
    let numbers = kind.numbers(&kinds);
    let chosen = match number {
        Some(number) => usize::try_from(number).ok().and_then(|it| numbers.get(it)),
        None => numbers.iter().find(|it| **it == current).or(numbers.first()),
    };
    let Some(chosen) = chosen else {
        let number = i64::from(number.unwrap_or(current));
        return Err(Error::NoSuchDevice { number, count: numbers.len() });
    };
    host::set_default_device(*chosen);
    Ok(())
}

/// Says that our devices stand for those of a maker.
fn stand_in(word: &str) {
    if settings::info() {
        report::info(&format!("there is no device of type {word}: the default device is used"));
    }
}

/// The devices that a call means: one, or all of a type.
pub(crate) fn chosen(
    kind: Kind,
    number: Option<c_int>,
) -> Result<Vec<&'static DeviceState>, Error> {
    // What is current may be any of several.
    let is_any = kind == Kind::Unsaid && !matches!(current()?, Target::Host);
    let kind = if is_any { Kind::Device } else { meant(kind)? };
    let devices = all();
    let is_host = match kind {
        Kind::Host => true,
        Kind::Unsaid | Kind::Default | Kind::Device | Kind::Maker(_) => devices.is_empty(),
    };
    let numbers = kind.numbers(&devices::kinds());
    let of_type: Vec<&DeviceState> = numbers
        .into_iter()
        .filter_map(|it| usize::try_from(it).ok().and_then(|it| devices.get(it)))
        .collect();
    let Some(number) = number.filter(|it| *it >= 0) else { return Ok(of_type) };
    let count = if is_host { 1 } else { of_type.len() };
    let index = usize::try_from(number).unwrap_or(usize::MAX);
    if index >= count {
        return Err(Error::NoSuchDevice { number: i64::from(number), count });
    }
    Ok(of_type.get(index).into_iter().copied().collect())
}

/// Loads all that is known onto devices.
pub(crate) fn prepare(
    devices: impl IntoIterator<Item = &'static DeviceState>,
) -> Result<(), Error> {
    let registry = registry::current();
    devices.into_iter().try_for_each(|it| registry.resolve(it))
}

/// Lets go of all that is mapped to devices; they begin anew when they are next used.
pub(crate) fn release(
    place: Place,
    devices: impl IntoIterator<Item = &'static DeviceState>,
) -> Result<(), Error> {
    let watch = Watch::now();
    for device in devices {
        let event = profile::Event::DeviceShutdownStart;
        let _span = profile::construct(watch, event, device.number, place);
        queue::wait(device.number, None);
        device.unmap_all()?;
    }
    runner::end_idle();
    Ok(())
}

/// How many devices of a type there are.
#[unsafe(no_mangle)]
pub extern "C" fn acc_get_num_devices(kind: c_int) -> c_int {
    routine(place!(acc_get_num_devices), || {
        let kind = match kind {
            kind::CURRENT => current_kind().0,
            kind => kind,
        };
        Ok(Kind::numbered(kind)?.count())
    })
}

/// Chooses the type of the current device.
#[unsafe(no_mangle)]
pub extern "C" fn acc_set_device_type(kind: c_int) {
    routine(place!(acc_set_device_type), || select(Kind::numbered(kind)?, None));
}

/// The type of the current device.
#[unsafe(no_mangle)]
pub extern "C" fn acc_get_device_type() -> c_int {
    routine(place!(acc_get_device_type), || Ok(current_kind().0))
}

/// Chooses the current device.
#[unsafe(no_mangle)]
pub extern "C" fn acc_set_device_num(number: c_int, kind: c_int) {
    routine(place!(acc_set_device_num), || {
        select(Kind::numbered(kind)?, Some(number.max(-1)).map(|it| if it < 0 { 0 } else { it }))
    });
}

/// The number of the device that is used where its type is current.
#[unsafe(no_mangle)]
pub extern "C" fn acc_get_device_num(kind: c_int) -> c_int {
    routine(place!(acc_get_device_num), || {
        let asked = Kind::numbered(kind)?;
        let (of_type, number) = current_kind();
        let current =
            if of_type == kind::HOST { BEFORE_HOST.get() } else { host::default_device() };
        Ok(match asked {
            Kind::Host => 0,
            Kind::Unsaid => number,
            Kind::Default if of_type == kind::HOST => 0,
            Kind::Default | Kind::Device => current,
            Kind::Maker(_) => {
                let numbers = asked.numbers(&devices::kinds());
                let among = numbers.iter().position(|it| *it == current);
                // Without devices of the maker ours stand in.
                let otherwise = if numbers.is_empty() { current } else { 0 };
                among.map_or(otherwise, |it| c_int::try_from(it).unwrap_or(c_int::MAX))
            }
        })
    })
}

/// Prepares all devices of a type.
#[unsafe(no_mangle)]
pub extern "C" fn acc_init(kind: c_int) {
    routine(place!(acc_init), || prepare(chosen(Kind::numbered(kind)?, None)?));
}

/// Prepares one device.
#[unsafe(no_mangle)]
pub extern "C" fn acc_init_device(number: c_int, kind: c_int) {
    routine(place!(acc_init_device), || prepare(chosen(Kind::numbered(kind)?, Some(number))?));
}

/// Lets go of all devices of a type.
#[unsafe(no_mangle)]
pub extern "C" fn acc_shutdown(kind: c_int) {
    {
        let place = place!(acc_shutdown);
        routine(place, || release(place, chosen(Kind::numbered(kind)?, None)?));
    }
}

/// Lets go of one device.
#[unsafe(no_mangle)]
pub extern "C" fn acc_shutdown_device(number: c_int, kind: c_int) {
    {
        let place = place!(acc_shutdown_device);
        routine(place, || release(place, chosen(Kind::numbered(kind)?, Some(number))?));
    }
}

/// Does the calling thread run on a device of that type?
#[unsafe(no_mangle)]
pub extern "C" fn acc_on_device(kind: c_int) -> c_int {
    // Called in kernels, where nothing of the environment matters, and often: no `routine`.
    let is_device = host::current_device().is_some();
    c_int::from(match kind {
        kind::CURRENT => true,
        kind::NONE | kind::HOST => !is_device,
        kind::DEFAULT | kind::NOT_HOST => is_device,
        _ => false,
    })
}
