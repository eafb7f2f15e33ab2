//! The devices of this process, and which of them a call means.
//!
//! The list is made when it is first needed, from `FERRY_DEVICE` or from what the program was built for
//! ([`built`]), and then stays. The number after the last device is the host.

#![allow(unsafe_code, reason = "frees memory of devices")]

pub(crate) mod built;

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Deref;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use abi::{DEVICE_ANCESTOR, DEVICE_DEFAULT, DEVICE_HOST, requires};
use device::{Device, DeviceError, DevicePtr, Held, PLUGINS, Plugin, separate};

use crate::error::Error;
use crate::ranges::Mapping;
use crate::roster::{self, Facts};
use crate::settings::{self, Policy};
use crate::watch::Watch;
use crate::{fork, host, llvm, registry, report};

/// A device with what is known of it.
pub(crate) struct DeviceState {
    pub(crate) number: usize,
    /// The kind, as the user writes it: `cpu:separate`.
    pub(crate) kind: &'static str,
    pub(crate) plugin: Plugged,
    pub(crate) shares_memory: bool,
    /// It is the host, to which kernels hand regions back.
    pub(crate) is_ancestor: bool,
    /// What is mapped to it lies on another machine, and only its plugin can read that.
    pub(crate) maps_from_elsewhere: bool,
    pub(crate) mapping: Mapping,
    /// The state of the registry whose images this device has loaded.
    pub(crate) resolved: AtomicU64,
    /// What those may know of it who cannot use it.
    pub(crate) facts: Arc<Facts>,
    /// What the program has allocated here by hand: address and bytes.
    allocated: Mutex<BTreeMap<u64, usize>>,
    /// The program knows addresses of it.
    is_known: AtomicBool,
}

impl DeviceState {
    /// One that is open.
    pub(crate) fn new(number: usize, kind: &'static str, plugin: Box<dyn Device>) -> DeviceState {
        let shares_memory = plugin.shares_host_memory();
        let plugin = Plugged { device: OnceLock::from(plugin), open: None };
        DeviceState::with(number, kind, shares_memory, plugin)
    }

    /// One that is opened when it is first used: the `nth` of its kind.
    fn later(number: usize, kind: &'static Plugin, nth: usize) -> DeviceState {
        let plugin = Plugged { device: OnceLock::new(), open: Some((kind, number, nth)) };
        DeviceState::with(number, kind.name(), kind.target().shares_host_memory, plugin)
    }

    fn with(
        number: usize,
        kind: &'static str,
        shares_memory: bool,
        plugin: Plugged,
    ) -> DeviceState {
        DeviceState {
            number,
            kind,
            shares_memory,
            is_ancestor: false,
            maps_from_elsewhere: false,
            plugin,
            mapping: Mapping::default(),
            resolved: AtomicU64::new(0),
            facts: Facts::new(number, kind),
            allocated: Mutex::default(),
            is_known: AtomicBool::new(false),
        }
    }

    /// Whether the program knows addresses of it.
    pub(crate) fn is_known(&self) -> bool {
        self.is_known.load(Ordering::SeqCst)
    }

    /// From now on it does; whether it did before.
    pub(crate) fn know(&self) -> bool {
        self.is_known.swap(true, Ordering::SeqCst)
    }

    /// Whether it was used.
    pub(crate) fn is_open(&self) -> bool {
        self.plugin.device.get().is_some()
    }

    /// Takes all locks of the device until the answers are dropped.
    pub(crate) fn hold(&'static self) -> Vec<Box<dyn Held>> {
        let allocated = self.allocated.lock().unwrap_or_else(PoisonError::into_inner);
        let mut held: Vec<Box<dyn Held>> = vec![self.mapping.hold(), Box::new(allocated)];
        held.extend(self.plugin.device.get().and_then(|it| it.hold()));
        held
    }

    /// The program has allocated memory by hand.
    pub(crate) fn remember(&self, at: DevicePtr, bytes: usize) {
        self.allocated.lock().unwrap_or_else(PoisonError::into_inner).insert(at.0, bytes);
    }

    /// The program frees such memory; `None` if it is none.
    pub(crate) fn forget(&self, at: u64) -> Option<DevicePtr> {
        let removed = self.allocated.lock().unwrap_or_else(PoisonError::into_inner).remove(&at);
        removed.map(|_| DevicePtr(at))
    }

    /// Bytes of all such memory.
    pub(crate) fn allocated_bytes(&self) -> usize {
        self.allocated.lock().unwrap_or_else(PoisonError::into_inner).values().sum()
    }

    /// Takes everything off the device but variables of the program; data there are lost.
    pub(crate) fn unmap_all(&self) -> Result<(), Error> {
        for mapped in self.mapping.clear().iter().filter(|it| !it.owned.is_null()) {
            if self.shares_memory {
                self.mapping.left(mapped);
            }
            // SAFETY: it came from this device, and the range that owned it is out of the table.
            unsafe { self.plugin.free(mapped.owned) }.map_err(|error| Error::Device {
                doing: "freeing device memory",
                what: None,
                error,
            })?;
        }
        Ok(())
    }

    /// All these bytes are such memory.
    pub(crate) fn has_allocated(&self, at: u64, size: usize) -> bool {
        let allocated = self.allocated.lock().unwrap_or_else(PoisonError::into_inner);
        let below = allocated.range(..=at).next_back();
        below.is_some_and(|(begin, bytes)| ((at - begin) as usize).saturating_add(size) <= *bytes)
    }
}

impl fmt::Debug for DeviceState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "device {} ({})", self.number, self.kind)
    }
}

/// A device of a plugin, open or to be opened when it is first used.
pub(crate) struct Plugged {
    device: OnceLock<Box<dyn Device>>,
    /// Its kind, its number, and its number among its kind.
    open: Option<(&'static Plugin, usize, usize)>,
}

impl Deref for Plugged {
    type Target = dyn Device;

    fn deref(&self) -> &Self::Target {
        let device = fork::once(&self.device, || {
            let opened = match self.open {
                Some((kind, number, nth)) => {
                    opened_device(kind, number, nth).map_err(|error| unusable(kind, number, error))
                }
                None => Err(Error::BadCall("a device that is not there")),
            };
            opened.unwrap_or_else(|error| report::fail(&"starting", false, &error))
        });
        device.as_ref()
    }
}

/// What a device argument means.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Target {
    Host,
    Device(&'static DeviceState),
}

static DEVICES: OnceLock<Vec<DeviceState>> = OnceLock::new();

/// The devices that are open: none before they are needed.
pub(crate) fn opened() -> &'static [DeviceState] {
    DEVICES.get().map_or(&[], Vec::as_slice)
}

/// Lets nobody begin a call whose copies wait in a queue, on any device.
pub(crate) fn hold_stages(held: &mut Vec<Box<dyn Held>>) {
    held.extend(opened().iter().filter_map(|it| it.mapping.hold_stage()));
}

/// Takes all locks of all devices.
pub(crate) fn hold_all(held: &mut Vec<Box<dyn Held>>) {
    held.extend(opened().iter().flat_map(DeviceState::hold));
}

/// In a process that was forked: the threads are gone that worked on ranges.
pub(crate) fn settle_all() {
    opened().iter().for_each(|it| it.mapping.settle_all());
}

/// How many devices there are, or will be once they are needed.
pub(crate) fn count() -> i32 {
    i32::try_from(kinds().len()).unwrap_or(i32::MAX)
}

/// The kinds of all devices, in the order of their numbers.
pub(crate) fn kinds() -> Vec<&'static str> {
    if DEVICES.get().is_none() && is_settled() {
        // A wrong list is an error where the devices are needed.
        let asked = asked_for().ok().flatten().unwrap_or_default();
        return asked.into_iter().map(|it| it.name()).collect();
    }
    all().iter().map(|it| it.kind).collect()
}

/// How many devices there are is known without looking for them.
pub(crate) fn is_settled() -> bool {
    DEVICES.get().is_some() || !matches!(asked_for(), Ok(None))
}

/// All devices, in the order of their numbers.
pub(crate) fn all() -> &'static [DeviceState] {
    let devices = fork::once(&DEVICES, || {
        let opened = open().and_then(|devices| {
            let kinds: Vec<&str> = devices.iter().map(|it| it.kind).collect();
            (crate::BORDER.opened)(&kinds)?;
            roster::list(devices.iter().map(|it| Arc::clone(&it.facts)));
            Ok(devices)
        });
        opened.unwrap_or_else(|error| report::fail(&"starting", false, &error))
    });
    devices.as_slice()
}

/// The devices that the user, or a program of clang, asks for.
fn asked_for() -> Result<Option<Vec<&'static Plugin>>, Error> {
    // With offload switched off the host is the only device; LLVM's runtime still counts them.
    if settings::policy() == Policy::Disabled && !llvm::is_program() {
        return Ok(Some(Vec::new()));
    }
    match settings::devices()? {
        None if llvm::is_program() => settings::devices_of(llvm::DEVICES).map(Some),
        asked => Ok(asked),
    }
}

fn open() -> Result<Vec<DeviceState>, Error> {
    let Some(plugins) = asked_for()? else { return built::open() };
    let mut devices: Vec<DeviceState> = Vec::with_capacity(plugins.len());
    separate::tell_number(plugins.len());
    for (number, plugin) in plugins.into_iter().enumerate() {
        let among = |name: &str| devices.iter().filter(|it| it.kind == name).count();
        let plugin = stand_in(plugin, among(plugin.name()));
        let device = opened_device(plugin, number, among(plugin.name()))
            .map_err(|error| unusable(plugin, number, error))?;
        devices.push(DeviceState::new(number, plugin.name(), device));
    }
    Ok(devices)
}

/// Opens the `nth` device of a kind.
fn opened_device(kind: &Plugin, number: usize, nth: usize) -> device::Result<Box<dyn Device>> {
    let device = (kind.open)(nth)?;
    let calls_back = registry::current().requires & requires::REVERSE_OFFLOAD != 0;
    if calls_back && !device.runs_in_process() {
        device.answer((crate::BORDER.answers)(number))?;
    }
    if device.stream().is_some() {
        Watch::now().opened(number, kind.name());
    }
    Ok(device)
}

fn unusable(kind: &Plugin, number: usize, error: DeviceError) -> Error {
    Error::Setting {
        message: format!("device {number}, `{}`, cannot be used: {error}", kind.name()),
        help: "choose another with FERRY_DEVICE, or FERRY_DEVICE=cpu".into(),
    }
}

/// The kind of device to open where one was asked for: another if the program requires what this
/// kind cannot give, nor the one with that number among its kind, which is said aloud.
fn stand_in(plugin: &'static Plugin, number: usize) -> &'static Plugin {
    // Programs of clang know only what their own device can do.
    let missing =
        if llvm::is_program() { 0 } else { registry::current().requires & plugin.target().lacks };
    let missing = if missing == 0 { 0 } else { missing & !(plugin.gives)(number) };
    let clause = match missing {
        it if it & requires::UNIFIED_SHARED_MEMORY != 0 => "unified_shared_memory",
        it if it & requires::REVERSE_OFFLOAD != 0 => "reverse_offload",
        _ => return plugin,
    };
    // The same device, whose kernels see the host's memory, is what was asked for.
    let shared = format!("{}:shared", plugin.name());
    let is_shared = |it: &&Plugin| it.name() == shared && it.target().lacks & missing == 0;
    if let Some(shared) = PLUGINS.iter().find(is_shared) {
        return shared;
    }
    let Some(other) = PLUGINS.first() else { return plugin };
    report::warn(&format!(
        "the program requires `{clause}`, which device `{}` does not offer: `{}` is used instead",
        plugin.name(),
        other.name()
    ));
    other
}

/// The device that a call of a compiled program means, as the policy allows.
pub(crate) fn target(device: i64) -> Result<Target, Error> {
    // In process the device that launched a kernel is the host.
    if matches!(device, DEVICE_HOST | DEVICE_ANCESTOR) || settings::policy() == Policy::Disabled {
        return Ok(Target::Host);
    }
    let devices = all();
    if devices.is_empty() {
        return match settings::policy() {
            Policy::Mandatory => Err(Error::NoDevices { why: built::why_none() }),
            Policy::Default | Policy::Disabled => Ok(Target::Host),
        };
    }
    let number = match device {
        DEVICE_DEFAULT => i64::from(host::default_device()),
        number => number,
    };
    numbered(number)
}

/// The device with that number; the number of devices is the host.
pub(crate) fn numbered(number: i64) -> Result<Target, Error> {
    let devices = all();
    let index = usize::try_from(number).ok();
    match index.and_then(|it| devices.get(it)) {
        Some(device) => Ok(Target::Device(device)),
        None if index == Some(devices.len()) => Ok(Target::Host),
        None => Err(Error::NoSuchDevice { number, count: devices.len() }),
    }
}
