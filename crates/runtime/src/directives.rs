//! Regions and data directives, from their entry points or from a queue: which device is meant, who is told, and the
//! walks and launches that make them.

use std::ffi::c_int;
use std::sync::Arc;

use abi::DEVICE_ANCESTOR;

use crate::account::Account;
use crate::args::{MapArgs, Place};
use crate::devices::{self, Target};
use crate::error::Error;
use crate::guard::guard;
use crate::launch;
use crate::mapping::{Cx, begin, end, update};
use crate::prepared::Shape;
use crate::registry::Region;
use crate::tool::{self, Kind, Phase};
use crate::watch::Watch;
use crate::{ancestor, llvm_info, registry};

/// What the caller is told: done, or run the host's version yourself.
pub(crate) const DONE: c_int = 0;
const RUN_ON_HOST: c_int = -1;

/// Runs a region; what the caller is told.
pub(crate) fn run_region(
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
    begin_region(&cx, region, args, shape)?.close(&cx, timer);
    Ok(DONE)
}

/// Runs a region on a device, as far as the context does not leave it for later.
pub(crate) fn begin_region(
    cx: &Cx<'_>,
    region: &Arc<Region>,
    args: &MapArgs,
    shape: &Shape,
) -> Result<Account, Error> {
    args.check()?;
    let (number, watch) = (cx.device.number, cx.watch);
    if watch.has_llvm(llvm_info::ARGUMENTS) {
        llvm_info::arguments(number, &cx.place, llvm_info::KERNEL, args);
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

/// Which directive it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Walk {
    Begin,
    End,
    Update,
}

/// Runs a data directive on a device, or does nothing if its device is the host.
pub(crate) fn run_data(walk: Walk, place: Place, device: i64, args: Option<MapArgs>) {
    guard(&place, false, || {
        let args = args.ok_or(Error::BadCall("a map array is null, misaligned or too long"))?;
        let Target::Device(device) = devices::target(device)? else { return Ok(()) };
        let registry = registry::current();
        registry.resolve(device)?;
        let watch = Watch::now();
        let timer = watch.start();
        let cx =
            Cx { device, place, watch, unified: registry.is_unified(), later: None, stream: None };
        begin_data(&cx, walk, &args)?.close(&cx, timer);
        Ok(())
    });
}

/// Makes a data directive, as far as the context does not leave it for later.
pub(crate) fn begin_data(cx: &Cx<'_>, walk: Walk, args: &MapArgs) -> Result<Account, Error> {
    args.check()?;
    let (construct, words, kind) = match walk {
        Walk::Begin => (Kind::EnterData, llvm_info::BEGIN, "map"),
        Walk::End => (Kind::ExitData, llvm_info::END, "unmap"),
        Walk::Update => (Kind::Update, llvm_info::UPDATE, "update"),
    };
    let number = cx.device.number;
    if cx.watch.has_llvm(llvm_info::ARGUMENTS) {
        llvm_info::arguments(number, &cx.place, words, args);
    }
    let scope = tool::scope(cx.watch, construct, number, cx.place);
    // One copy need not wait for the other.
    let stream = cx.open_stream();
    let cx = &Cx { stream: stream.as_deref().or(cx.stream), ..*cx };
    match walk {
        Walk::Begin => {
            begin::begin(cx, args, false)?;
            cx.tell_mapped(args, Phase::Begin);
        }
        Walk::End => {
            // Regions that were left come before all that others do with the memory that is given back.
            cx.leave();
            cx.tell_mapped(args, Phase::End);
            end::end(cx, args)?;
        }
        Walk::Update => update::update(cx, args)?,
    }
    if walk != Walk::End {
        cx.leave();
    }
    cx.wait_unless_left().map_err(|error| Error::Device {
        doing: "copying to the device",
        what: None,
        error,
    })?;
    let what = match cx.watch.is_on() {
        true => format!("of {} entries on device {number}", args.count),
        false => String::new(),
    };
    Ok(Account { scope, kind, what, is_of_table: walk != Walk::Update })
}
