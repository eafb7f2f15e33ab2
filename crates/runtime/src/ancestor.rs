//! Regions that a kernel hands back to the host.
//!
//! In the process of a device the host is the device: its memory is what data are mapped to, by the
//! same rules and the same code as everywhere ([`run`]). What the host had mapped to the kernel's device
//! is there already, as the host's own. In the program [`Answers`] runs such regions.
#![allow(unsafe_code, reason = "a region's name, by address; regions, by address")]

use std::collections::BTreeMap;
use std::ffi::{CStr, CString, c_int, c_void};
use std::os::fd::{FromRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use abi::Ident;
use abi::entry::{FerryRegion, KernelFn};
use abi::names::region_of;
use device::separate::ancestor::Ancestor;
use device::{Convention, Device, DevicePtr, HandedBack, Kernel, Launch, Original, Upcalls};

use crate::args::{MapArgs, Place};
use crate::devices::{self, DeviceState};
use crate::error::Error;
use crate::guard::guard;
use crate::mapping::Cx;
use crate::watch::Watch;
use crate::{launch, registry, runner};

/// The host of the program whose kernels this process runs.
static HOST: OnceLock<DeviceState> = OnceLock::new();

/// This process runs kernels, and they reach the host through that descriptor, which is ours now.
pub(crate) fn hear(descriptor: c_int) {
    // SAFETY: the helper hands it over, and uses it no more.
    let channel = UnixStream::from(unsafe { OwnedFd::from_raw_fd(descriptor) });
    // The number behind the last device is the host's.
    let number = usize::try_from(devices::count()).unwrap_or(0);
    let mut host = DeviceState::new(number, "host", Box::new(Ancestor::new(channel)));
    host.is_ancestor = true;
    let _ = HOST.set(host);
}

/// The host, if this process is that of a device.
pub(crate) fn host() -> Option<&'static DeviceState> {
    HOST.get()
}

/// Runs a region of a kernel on the host.
pub(crate) fn run(
    host: &'static DeviceState,
    place: Place,
    id: usize,
    args: &MapArgs,
) -> Result<(), Error> {
    // SAFETY: compiled kernels pass the address of such a constant, with a name.
    let name = unsafe {
        let region = (id as *const FerryRegion).as_ref();
        let name = region.filter(|it| it.version == FerryRegion::VERSION).map(|it| it.name);
        name.filter(|it| !it.is_null()).map(|it| CStr::from_ptr(it).to_string_lossy())
    };
    let name = name.ok_or(Error::BadCall("a region without a name"))?;
    run_named(host, place, &name, args)
}

/// The same by name.
fn run_named(
    host: &'static DeviceState,
    place: Place,
    name: &str,
    args: &MapArgs,
) -> Result<(), Error> {
    let cx =
        Cx { device: host, place, watch: Watch::now(), unified: false, later: None, stream: None };
    let source = place.to_string();
    let launch = Launch {
        convention: Convention::Slots,
        teams: 0,
        limit: 0,
        trip_count: 0,
        group_memory: 0,
        name,
        source: &source,
    };
    // SAFETY: the arguments are what the region's compiler said it takes, mapped to the host.
    let go = |words: &[u64]| unsafe { host.plugin.launch(Kernel(0), words, &launch) };
    let crash = |error| Error::Crash { region: region_of(name), suspect: None, error };
    launch::with_data(&cx, args, None, |words| go(words).map_err(crash))
}

/// Answers the kernels of one device.
struct Answers {
    /// Its number.
    device: usize,
}

/// Who answers the kernels of the device with that number.
pub(crate) fn answers(number: usize) -> Arc<dyn Upcalls> {
    Arc::new(Answers { device: number })
}

impl Upcalls for Answers {
    fn original(&self, at: DevicePtr, size: usize) -> Option<Original> {
        let device = devices::opened().get(self.device)?;
        // What lies outside of such a device is the host's.
        let is_own = device.shares_memory && at.0 > u64::from(u32::MAX) && !device.plugin.owns(at);
        match is_own {
            true => Some(Original { address: at.0, is_whole: true }),
            false => device.mapping.original(at, size),
        }
    }

    fn run(&self, region: &str, source: &str, args: &[u64]) -> device::Result<()> {
        guard(&source, false, || {
            let watch = Watch::now();
            let timer = watch.start();
            let function = find(region)?;
            // SAFETY: the function takes one word per parameter, as its compiler said.
            runner::run_on_host(|| unsafe { function(args.as_ptr().cast()) });
            let number = self.device;
            watch.finished(
                timer,
                &source,
                "region",
                &format!("{} on the host for device {number}", region_of(region)),
            );
            Ok(())
        });
        Ok(())
    }

    fn hand_back(
        &self,
        region: &HandedBack<'_>,
        host: &dyn Fn() -> Box<dyn Device>,
    ) -> device::Result<()> {
        let text = CString::new(region.place.as_str()).unwrap_or_default();
        let length = i32::try_from(region.place.len()).unwrap_or(0);
        let ident = Ident { reserved_1: 0, flags: 2, reserved_2: 0, length, text: text.as_ptr() };
        // SAFETY: both live until the call returns.
        let place = unsafe { Place::new(&raw const ident) };
        guard(&place, false, || handed_back(host_of(self.device, host), place, region));
        Ok(())
    }
}

/// The host as each device of another machine sees it.
fn host_of(number: usize, made: &dyn Fn() -> Box<dyn Device>) -> &'static DeviceState {
    static HOSTS: Mutex<BTreeMap<usize, &'static DeviceState>> = Mutex::new(BTreeMap::new());
    let mut hosts = HOSTS.lock().unwrap_or_else(PoisonError::into_inner);
    hosts.entry(number).or_insert_with(|| {
        let behind = usize::try_from(devices::count()).unwrap_or(0);
        let mut host = DeviceState::new(behind, "host", made());
        host.is_ancestor = true;
        host.maps_from_elsewhere = true;
        Box::leak(Box::new(host))
    })
}

/// Runs a region whose data are on another machine.
fn handed_back(
    host: &'static DeviceState,
    place: Place,
    region: &HandedBack<'_>,
) -> Result<(), Error> {
    let word = |index: usize| region.entries.iter().filter_map(move |it| it.get(index).copied());
    let addresses = |index| word(index).map(|it| it as *mut c_void).collect::<Vec<_>>();
    let numbers = |index| word(index).map(|it| it as i64).collect::<Vec<_>>();
    let (mut bases, mut begins, mut mappers) = (addresses(0), addresses(1), addresses(4));
    let (mut sizes, mut types) = (numbers(2), numbers(3));
    let lists = [bases.as_mut_ptr(), begins.as_mut_ptr()];
    let numbers = [sizes.as_mut_ptr(), types.as_mut_ptr()];
    let texts = [std::ptr::null_mut(), mappers.as_mut_ptr()];
    let count = i64::try_from(region.entries.len()).unwrap_or(i64::MAX);
    // SAFETY: lists of that length, which live until the call returns; who maps from elsewhere calls no mapper by its
    // address.
    let args = unsafe { MapArgs::new(count, lists, numbers, texts) };
    let args = args.ok_or(Error::BadCall("a map array is null, misaligned or too long"))?;
    args.check()?;
    run_named(host, place, &region.region, &args)
}

/// The host's version of a region.
fn find(name: &str) -> Result<KernelFn, Error> {
    let registry = registry::current();
    let found = registry.named(name).and_then(|it| it.host);
    found.ok_or_else(|| Error::Argument {
        message: format!("a kernel asks for region `{name}`, which the program does not have"),
        help: "build the program and its device code from the same sources".into(),
    })
}
