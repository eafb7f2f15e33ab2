//! What a device is: its memory, its name.
//!
//! Free memory is the device's memory less what the program has on it: the system's own idea of it
//! would change under the program's feet.

use std::ffi::{CStr, CString, c_char, c_int};
use std::ptr;
use std::sync::OnceLock;

use super::kind::{self, Kind};
use super::{devices::current_kind, place, routine};
use crate::devices::{DeviceState, all, kinds};
use crate::error::Error;

const MEMORY: c_int = 1;
const FREE_MEMORY: c_int = 2;
const SHARED_MEMORY: c_int = 3;
const NAME: c_int = 0x10001;
const VENDOR: c_int = 0x10002;
const DRIVER: c_int = 0x10003;

/// Of whom something is asked.
enum Asked {
    Host,
    Device(&'static DeviceState),
    /// Nobody: questions about devices that are not there have empty answers.
    Nobody,
}

fn asked(number: c_int, kind: c_int) -> Result<Asked, Error> {
    let kind = if kind == kind::CURRENT { current_kind().0 } else { kind };
    let devices = all();
    let kind = Kind::numbered(kind)?;
    let is_host = match kind {
        Kind::Host => true,
        Kind::Default => devices.is_empty(),
        Kind::Device | Kind::Maker(_) => false,
        Kind::Unsaid => return Ok(Asked::Nobody),
    };
    let numbers = kind.numbers(&kinds());
    Ok(match (is_host, usize::try_from(number)) {
        (true, Ok(0)) => Asked::Host,
        (false, Ok(index)) => {
            let number = numbers.get(index).and_then(|it| usize::try_from(*it).ok());
            number.and_then(|it| devices.get(it)).map_or(Asked::Nobody, Asked::Device)
        }
        (_, Ok(_) | Err(_)) => Asked::Nobody,
    })
}

/// A number that describes a device; 0 if there is no such device or property.
#[unsafe(no_mangle)]
pub extern "C" fn acc_get_property(number: c_int, kind: c_int, property: c_int) -> usize {
    routine(place!(acc_get_property), || {
        Ok(match (asked(number, kind)?, property) {
            (Asked::Host, MEMORY | FREE_MEMORY) => ::device::memory::of_machine(),
            (Asked::Host, SHARED_MEMORY) => 1,
            (Asked::Device(device), MEMORY) => device.plugin.memory(),
            (Asked::Device(device), FREE_MEMORY) => {
                let used = device.allocated_bytes().saturating_add(device.mapping.owned_bytes());
                device.plugin.memory().saturating_sub(used)
            }
            (Asked::Device(device), SHARED_MEMORY) => usize::from(device.shares_memory),
            (Asked::Host | Asked::Device(_) | Asked::Nobody, _) => 0,
        })
    })
}

/// A text that describes a device; null if there is no such device or property.
#[unsafe(no_mangle)]
pub extern "C" fn acc_get_property_string(
    number: c_int,
    kind: c_int,
    property: c_int,
) -> *const c_char {
    const HOST_NAME: &CStr = c"host";
    const OURS: &CStr = c"Ferry";
    let version = concat!("libferry ", env!("CARGO_PKG_VERSION"), "\0");
    routine(place!(acc_get_property_string), || {
        let asked = asked(number, kind)?;
        Ok(match (asked, property) {
            (Asked::Nobody, _) => ptr::null(),
            (Asked::Host, NAME) => HOST_NAME.as_ptr(),
            (Asked::Device(device), NAME) => {
                names().get(device.number).map_or(ptr::null(), |it| it.as_ptr())
            }
            (Asked::Host | Asked::Device(_), VENDOR) => OURS.as_ptr(),
            (Asked::Host | Asked::Device(_), DRIVER) => version.as_ptr().cast(),
            (Asked::Host | Asked::Device(_), _) => ptr::null(),
        })
    })
}

/// The names of all devices, for as long as the program runs.
fn names() -> &'static [CString] {
    static NAMES: OnceLock<Vec<CString>> = OnceLock::new();
    let name = |it: &DeviceState| CString::new(it.kind).unwrap_or_default();
    NAMES.get_or_init(|| all().iter().map(name).collect())
}
