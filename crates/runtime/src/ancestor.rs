//! Regions that a kernel hands back to the host.
//!
//! In the process of a device the host is the device: its memory is what data are mapped to, by the
//! same rules and the same code as everywhere ([`run`]). What the host had mapped to the kernel's device
//! is there already, as the host's own. In the program [`Answers`] runs such regions.
#![allow(unsafe_code, reason = "a region's name, by address; regions, by address")]

use std::ffi::{CStr, c_int};
use std::os::fd::{FromRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::sync::{Arc, OnceLock};

use abi::entry::{FerryRegion, KernelFn};
use abi::names::region_of;
use device::separate::ancestor::Ancestor;
use device::{Convention, Device, DeviceError, DevicePtr, Kernel, Launch, Original, Upcalls};

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
    let cx =
        Cx { device: host, place, watch: Watch::now(), unified: false, later: None, stream: None };
    let source = place.to_string();
    let launch = Launch {
        convention: Convention::Slots,
        teams: 0,
        limit: 0,
        trip_count: 0,
        name: &name,
        source: &source,
    };
    // SAFETY: the arguments are what the region's compiler said it takes, mapped to the host.
    let go = |words: &[u64]| unsafe { host.plugin.launch(Kernel(0), words, &launch) };
    let crash = |error| Error::Crash { region: region_of(&name), suspect: None, error };
    launch::with_data(&cx, args, None, |words| go(words).map_err(crash))
}

/// Answers the kernels of one device.
pub(crate) struct Answers {
    /// Its number.
    pub(crate) device: usize,
}

impl Answers {
    /// Lets kernels of the device with that number ask.
    pub(crate) fn start(number: usize, device: &dyn Device) -> Result<(), DeviceError> {
        device.answer(Arc::new(Answers { device: number }))
    }
}

impl Upcalls for Answers {
    fn original(&self, at: DevicePtr, size: usize) -> Option<Original> {
        devices::opened().get(self.device)?.mapping.original(at, size)
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
