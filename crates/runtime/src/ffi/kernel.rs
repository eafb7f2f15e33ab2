//! Regions: the one entry point that runs code.

use std::ffi::{c_int, c_void};
use std::sync::Arc;

use abi::{DEVICE_ANCESTOR, Ident, KernelArgs};

use super::guard;
use crate::account::Account;
use crate::args::{MapArgs, Place};
use crate::devices::{self, Target};
use crate::error::Error;
use crate::launch::{self, Shape};
use crate::mapping::Cx;
use crate::queue::deferred::{self, Call};
use crate::registry::Region;
use crate::tool::{self, Kind};
use crate::watch::Watch;
use crate::{ancestor, ending, llvm, registry};

/// What the caller is told: done, or run the host's version yourself.
const DONE: c_int = 0;
const RUN_ON_HOST: c_int = -1;

/// Runs a region. The answer is 0 when it has run; otherwise the caller runs the host's version.
/// Regions of ours always have run: the host's version is known here too.
///
/// # Safety
/// `arguments` and its arrays are valid during the call, the location is null or valid, and
/// what is mapped is the program's own.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tgt_target_kernel(
    location: *const Ident,
    device: i64,
    teams: i32,
    limit: i32,
    region: *const c_void,
    arguments: *const KernelArgs,
) -> c_int {
    // SAFETY: the caller's promise.
    let (place, call) = unsafe { (Place::new(location), arguments.as_ref()) };
    let _inside = ending::enter();
    guard(&place, true, || {
        let call = call.ok_or(Error::BadCall("a region without arguments"))?;
        let [lists, numbers, texts] = [
            [call.bases, call.begins],
            [call.sizes.cast(), call.types.cast()],
            [call.names, call.mappers],
        ];
        // SAFETY: the caller's promise.
        let args = unsafe {
            let numbers = [numbers[0].cast(), numbers[1].cast()];
            MapArgs::new(i64::from(call.count), lists, numbers, texts)
        };
        let args = args.ok_or(Error::BadCall("a map array is null, misaligned or too long"))?;
        let shape = Shape {
            version: call.version,
            teams: if teams < 0 { 1 } else { teams as u32 },
            limit: limit.max(0) as u32,
            trip_count: call.trip_count,
        };
        if deferred::is_on() {
            args.check()?;
            let call = Call::Kernel { region: region as usize, shape };
            deferred::keep(call, place, device, &args)?;
            return Ok(DONE);
        }
        run(place, device, region as usize, &args, &shape)
    })
}

pub(crate) fn run(
    place: Place,
    device: i64,
    id: usize,
    args: &MapArgs,
    shape: &Shape,
) -> Result<c_int, Error> {
    if device == DEVICE_ANCESTOR
        && let Some(host) = ancestor::host()
    {
        return ancestor::run(host, place, id, args).map(|()| DONE);
    }
    let registry = registry::current();
    let target = devices::target(device)?;
    let watch = Watch::now();
    let timer = watch.start();
    let region = registry.region(id);
    let device = match target {
        Target::Device(device) => device,
        Target::Host => {
            let Some(region) = region.filter(|it| it.host.is_some()) else {
                return Ok(RUN_ON_HOST);
            };
            launch::launch_on_host(region, args)?;
            if watch.is_on() {
                watch.finished(timer, &place, "region", &format!("{} on the host", region.name));
            }
            return Ok(DONE);
        }
    };
    registry.resolve(device)?;
    let cx = Cx { device, place, watch, unified: registry.is_unified(), later: None, stream: None };
    let region = region.ok_or(Error::UnknownRegion { id })?;
    begin(&cx, region, args, shape)?.close(&cx, timer);
    Ok(DONE)
}

/// Runs a region on a device, as far as the context does not leave it for later.
pub(crate) fn begin(
    cx: &Cx<'_>,
    region: &Arc<Region>,
    args: &MapArgs,
    shape: &Shape,
) -> Result<Account, Error> {
    args.check()?;
    let (number, watch) = (cx.device.number, cx.watch);
    if watch.has_llvm(llvm::info::ARGUMENTS) {
        llvm::info::arguments(number, &cx.place, llvm::info::KERNEL, args);
    }
    let scope = tool::scope(watch, Kind::Target, number, cx.place);
    launch::launch(cx, region, args, shape)?;
    let what = match watch.is_on() {
        true => {
            let (name, device) = (&region.name, cx.device.kind);
            let memory = if cx.device.shares_memory { ", nothing copied" } else { "" };
            let entries = args.count;
            format!("{name} on device {number} ({device}), {entries} entries{memory}")
        }
        false => String::new(),
    };
    Ok(Account { scope, kind: "region", what, is_of_table: true })
}
