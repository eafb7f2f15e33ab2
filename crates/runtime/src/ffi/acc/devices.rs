//! Which device is current, how many there are, preparing them and letting go of them.
//!
//! The current device of a thread is the default device of the other standard too. A type of one
//! maker, of which there is no device here, stands for the devices that there are: a program that
//! names it runs, and `FERRY_INFO` says where.

use std::cell::Cell;
use std::ffi::c_int;

use super::kind::{self, Kind};
use super::{current, place, prof, routine};
use crate::args::Place;
use crate::devices::{self, DeviceState, Target, all};
use crate::error::Error;
use crate::watch::Watch;
use crate::{host, queue, registry, report, runner, settings};

thread_local! {
    /// The device that was current before the host became it.
    static BEFORE_HOST: Cell<c_int> = const { Cell::new(0) };
}

/// The type and number of the calling thread's current device.
pub(super) fn current_kind() -> (c_int, c_int) {
    let (count, number) = (devices::count(), host::default_device());
    match number {
        number if number == count => (kind::HOST, 0),
        number => (kind::NOT_HOST, number),
    }
}

/// Makes a device of a type current; without a number the one that was.
pub(crate) fn select(kind: Kind, number: Option<c_int>) -> Result<(), Error> {
    let count = devices::count();
    let (is_host, current) = match current_kind() {
        (kind::HOST, _) => (true, BEFORE_HOST.get()),
        (_, number) => (false, number),
    };
    // Negative numbers say that it does not matter.
    let number = number.filter(|it| *it >= 0);
    let wants_host = match kind {
        Kind::Host => true,
        Kind::Unsaid => is_host && (number.is_none() || count == 0),
        Kind::Default => count == 0,
        Kind::Device => false,
        Kind::Foreign(word) => {
            stand_in(word);
            count == 0
        }
    };
    let no_device = |number: c_int, count: c_int| Error::NoSuchDevice {
        number: i64::from(number),
        count: usize::try_from(count).unwrap_or(0),
    };
    if wants_host {
        if let Some(number) = number.filter(|it| *it != 0) {
            return Err(no_device(number, 1));
        }
        if !is_host {
            BEFORE_HOST.set(current);
        }
        host::set_default_device(count);
        return Ok(());
    }
    let number = number.unwrap_or(current);
    if number >= count {
        return Err(no_device(number, count));
    }
    host::set_default_device(number);
    Ok(())
}

/// Says that our devices stand for those of a maker.
fn stand_in(word: &str) {
    if settings::info() {
        report::info(&format!("there is no device of type {word}: the default device is used"));
    }
}

/// The devices that a call means: one, or all of a type.
pub(crate) fn chosen(kind: Kind, number: Option<c_int>) -> Result<&'static [DeviceState], Error> {
    let devices = all();
    let is_host = match kind {
        Kind::Host => true,
        Kind::Unsaid => matches!(current()?, Target::Host),
        Kind::Default | Kind::Device | Kind::Foreign(_) => devices.is_empty(),
    };
    let (range, count) = if is_host { (&[][..], 1) } else { (devices, devices.len()) };
    let Some(number) = number.filter(|it| *it >= 0) else { return Ok(range) };
    let index = usize::try_from(number).unwrap_or(usize::MAX);
    if index >= count {
        return Err(Error::NoSuchDevice { number: i64::from(number), count });
    }
    Ok(if is_host { range } else { range.get(index..=index).unwrap_or_default() })
}

/// Loads all that is known onto devices.
pub(crate) fn prepare(devices: &'static [DeviceState]) -> Result<(), Error> {
    let registry = registry::current();
    devices.iter().try_for_each(|it| registry.resolve(it))
}

/// Lets go of all that is mapped to devices; they begin anew when they are next used.
pub(crate) fn release(place: Place, devices: &'static [DeviceState]) -> Result<(), Error> {
    let watch = Watch::now();
    for device in devices {
        let event = prof::Event::DeviceShutdownStart;
        let _span = prof::construct(watch, event, device.number, place);
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
        let (current, number) = current_kind();
        Ok(match Kind::numbered(kind)? {
            Kind::Host => 0,
            Kind::Unsaid | Kind::Default => number,
            Kind::Device | Kind::Foreign(_) if current == kind::HOST => BEFORE_HOST.get(),
            Kind::Device | Kind::Foreign(_) => number,
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
