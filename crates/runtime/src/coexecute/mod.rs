//! Regions whose iterations host and devices share (`ompx_coexecute`).
//!
//! In: a region whose loop runs from one argument to another, and what is known of it ([`Parts`]). The calling thread runs parts of the
//! loop as the host, from its first iteration on; a thread for each device runs parts on that ([`side`]), from the
//! last on ([`deal`]). Who runs anything at all is what took the least time before ([`model`]).
//!
//! A device has the data for itself: it is sent what the host had when the region began, and the host gets what
//! the device has changed of it. Sums begin anew on each device and are joined at the end. In a parallel region the host's parts are tasks
//! of the team ([`here`]). Where data are on a device
//! already, or are not mapped plainly, the region runs on one device, as it does without the clause.
#![allow(unsafe_code, reason = "threads share the arrays of a call")]

mod deal;
mod here;
mod model;
mod side;

use std::ffi::c_void;
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Instant;

use abi::MapType;
use abi::call::{JoinFn, WindowFn};

use crate::args::{MapArgs, Place};
use crate::devices::{self, DeviceState, Target};
use crate::directives;
use crate::error::Error;
use crate::host;
use crate::mapping::Cx;
use crate::prepared::Shape;
use crate::registry::{self, Region};
use crate::settings;
use crate::watch::Watch;
use deal::Deal;
use model::Plan;

/// What a call says of its loop.
#[derive(Clone, Copy)]
pub(crate) struct Parts<'a> {
    pub(crate) trips: u64,
    /// The value of the first iteration, what each adds, and what is behind the last.
    pub(crate) begin: i64,
    pub(crate) step: i64,
    pub(crate) behind: i64,
    /// The entries of the values that the loop runs from and to.
    pub(crate) ends: [usize; 2],
    /// The entries of sums, and what joins them.
    pub(crate) sums: &'a [i32],
    pub(crate) join: Option<JoinFn>,
    /// The entries of arrays of which a part of the loop touches a part, and what says which.
    pub(crate) windows: &'a [i32],
    pub(crate) window: Option<WindowFn>,
}

impl Parts<'_> {
    /// The values that iterations from `first` up to `last` run from and to.
    fn values(&self, first: u64, last: u64) -> [usize; 2] {
        let value = |number: u64| self.begin.wrapping_add((number as i64).wrapping_mul(self.step));
        [value(first) as usize, value(last.wrapping_sub(1)).wrapping_add(self.behind) as usize]
    }

    fn is_sum(&self, entry: usize) -> bool {
        self.sums.iter().any(|it| usize::try_from(*it) == Ok(entry))
    }
}

/// The arrays of a call, to be changed.
pub(crate) struct Arrays {
    bases: Vec<*mut c_void>,
    begins: Vec<*mut c_void>,
    sizes: Vec<i64>,
    types: Vec<i64>,
    names: Vec<*mut c_void>,
}

impl Arrays {
    fn of(args: &MapArgs) -> Arrays {
        let items: Vec<_> = args.items().map(|it| it.1).collect();
        Arrays {
            bases: items.iter().map(|it| it.base as *mut c_void).collect(),
            begins: items.iter().map(|it| it.begin as *mut c_void).collect(),
            sizes: items.iter().map(|it| i64::try_from(it.size).unwrap_or(i64::MAX)).collect(),
            types: items.iter().map(|it| it.map.0 as i64).collect(),
            names: items
                .iter()
                .map(|it| it.name.map_or(std::ptr::null_mut(), |it| it.as_ptr()))
                .collect(),
        }
    }

    fn args(&mut self) -> MapArgs {
        MapArgs {
            count: self.bases.len(),
            bases: self.bases.as_mut_ptr(),
            begins: self.begins.as_mut_ptr(),
            sizes: self.sizes.as_mut_ptr(),
            types: self.types.as_mut_ptr(),
            names: self.names.as_mut_ptr(),
            mappers: std::ptr::null_mut(),
        }
    }

    /// Has the loop run from and to these values.
    fn run_between(&mut self, ends: [usize; 2], values: [usize; 2]) {
        for (entry, value) in ends.into_iter().zip(values) {
            for list in [&mut self.bases, &mut self.begins] {
                if let Some(it) = list.get_mut(entry) {
                    *it = value as *mut c_void;
                }
            }
        }
    }
}

/// A call, as all its threads see it.
#[derive(Clone, Copy)]
pub(crate) struct Call<'a> {
    place: Place,
    region: &'a Arc<Region>,
    args: &'a MapArgs,
    shape: &'a Shape,
    parts: &'a Parts<'a>,
    watch: Watch,
    /// Other threads run beside the calling one: they help with the host's parts, and may use what is mapped.
    has_team: bool,
}

// SAFETY: the arrays are the caller's, who waits; nobody writes them meanwhile.
unsafe impl Send for Call<'_> {}
// SAFETY: as above.
unsafe impl Sync for Call<'_> {}

/// One region at a time is shared: devices have the data of two in one table.
struct Turn;

/// The process that has it: one that was forked meanwhile has not.
static TAKEN: AtomicU32 = AtomicU32::new(0);

impl Turn {
    fn take() -> Option<Turn> {
        let (own, held) = (process::id(), TAKEN.load(Ordering::Relaxed));
        let is_free = held != own;
        let taken = is_free
            .then(|| TAKEN.compare_exchange(held, own, Ordering::Acquire, Ordering::Relaxed));
        taken?.ok().map(|_| Turn)
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        TAKEN.store(0, Ordering::Release);
    }
}

/// Runs a region on the host and on devices.
pub(crate) fn run(
    place: Place,
    device: i64,
    id: usize,
    args: &MapArgs,
    shape: &Shape,
    parts: &Parts<'_>,
) -> Result<(), Error> {
    let registry = registry::current();
    let on_one = || directives::run_region(place, device, id, args, shape).map(|_| ());
    let Some(region) = registry.region(id).filter(|it| it.host.is_some()) else { return on_one() };
    let watch = Watch::now();
    let found = match settings::coexecute() {
        settings::Coexecute::Never => Err("FERRY_COEXECUTE says so"),
        settings::Coexecute::Gate | settings::Coexecute::Always => {
            devices(device, args, parts, registry.is_unified())?
        }
    };
    let found =
        found.and_then(|it| Turn::take().map(|turn| (it, turn)).ok_or("another one is shared now"));
    let (devices, _turn) = match found {
        Ok(found) => found,
        Err(why) => {
            if watch.is_on() {
                let what = format!("{} on one device: {why}", region.name);
                watch.finished(watch.start(), &place, "region", &what);
            }
            return on_one();
        }
    };
    args.check()?;
    let has_team = host::is_in_parallel();
    let call = Call { place, region, args, shape, parts, watch, has_team };
    let key = model::key(id, args, parts.trips);
    let plan = match settings::coexecute() {
        settings::Coexecute::Gate => model::plan(key, devices.len(), parts.trips),
        settings::Coexecute::Always | settings::Coexecute::Never => Plan::Equal,
    };
    let timer = watch.start();
    let began = Instant::now();
    match plan {
        Plan::Host => here::all(&call)?,
        Plan::Device(at) => {
            let number = devices.get(at).map_or(device, |it| it.number as i64);
            directives::run_region(place, number, id, args, shape)?;
        }
        Plan::Together { .. } | Plan::Equal => {
            let deal = Deal::new(parts.trips, &plan, devices.len());
            together(&call, &devices, &deal)?;
            if watch.is_on() {
                watch.finished(timer, &place, "region", &told(region, &devices, &deal));
            }
            model::learn(key, &deal);
        }
    }
    model::took(key, &plan, parts.trips, began.elapsed());
    if watch.is_on() && plan == Plan::Host {
        let what = format!("{} on the host, which is faster alone", region.name);
        watch.finished(timer, &place, "region", &what);
    }
    Ok(())
}

fn told(region: &Region, devices: &[&DeviceState], deal: &Deal) -> String {
    let done = deal.done();
    let mut text =
        format!("{} on the host ({} iterations)", region.name, done.first().unwrap_or(&0));
    for (device, count) in devices.iter().zip(done.iter().skip(1)) {
        text += &format!(", device {} ({}, {count})", device.number, device.kind);
    }
    text
}

/// The devices that take part, or why none do.
fn devices(
    device: i64,
    args: &MapArgs,
    parts: &Parts<'_>,
    is_unified: bool,
) -> Result<Result<Vec<&'static DeviceState>, &'static str>, Error> {
    let Target::Device(meant) = devices::target(device)? else {
        return Ok(Err("it stays on the host"));
    };
    if host::current_device().is_some() {
        return Ok(Err("it is inside another region"));
    }
    if is_unified {
        return Ok(Err("memory is shared"));
    }
    if parts.trips < 2 {
        return Ok(Err("there is no more than one iteration"));
    }
    let is_plain = |item: &crate::args::Item| {
        let plain = MapType::TO
            | MapType::FROM
            | MapType::TARGET_PARAM
            | MapType::PRIVATE
            | MapType::LITERAL
            | MapType::IMPLICIT
            | MapType::CLOSE;
        item.map.without(plain).0 == 0 && item.mapper.is_none()
    };
    if !args.items().all(|it| is_plain(&it.1)) {
        return Ok(Err("its data are not mapped plainly"));
    }
    let all: Vec<&DeviceState> = match device {
        abi::DEVICE_DEFAULT => devices::all().iter().collect(),
        _ => vec![meant],
    };
    let can = |it: &&DeviceState| !it.shares_memory && !it.is_ancestor && !it.maps_from_elsewhere;
    let all: Vec<&DeviceState> = all.into_iter().filter(can).collect();
    if all.is_empty() {
        return Ok(Err("no device has memory of its own"));
    }
    let is_there = |device: &&DeviceState| {
        let mapped = |item: &crate::args::Item| {
            !item.is_unmapped() && device.mapping.look_up(item.begin, item.size.max(1)).1.is_some()
        };
        args.items().any(|it| mapped(&it.1))
    };
    if all.iter().any(is_there) {
        return Ok(Err("some data are on a device already"));
    }
    Ok(Ok(all))
}

/// Runs the host's parts here, and those of devices on threads of theirs.
fn together(call: &Call<'_>, devices: &[&'static DeviceState], deal: &Deal) -> Result<(), Error> {
    let registry = registry::current();
    for device in devices {
        registry.resolve(device)?;
    }
    let kept = side::Kept::of(call);
    let failed: Mutex<Option<Error>> = Mutex::new(None);
    let fail = |error: Error| {
        deal.stop();
        failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
    };
    let sums = thread::scope(|scope| {
        let start = |(at, device): (usize, &&'static DeviceState)| {
            let (kept, fail, device) = (&kept, &fail, *device);
            let run = move || {
                let cx = Cx {
                    device,
                    place: call.place,
                    watch: call.watch,
                    unified: false,
                    later: None,
                    stream: None,
                };
                side::run(call, &cx, kept, deal, at).map_err(fail).ok()
            };
            // Without a thread the others run all of it.
            thread::Builder::new().name("ferry-device".into()).spawn_scoped(scope, run).ok()
        };
        let threads: Vec<_> = devices.iter().enumerate().map(start).collect();
        // Those who wait for devices need a processor too.
        let _spared = host::spare_threads(devices.len());
        if let Err(error) = here::run(call, deal) {
            fail(error);
        }
        let joined = threads.into_iter().flatten().map(|it| it.join());
        joined.filter_map(|it| it.ok().flatten()).collect::<Vec<_>>()
    });
    if let Some(error) = failed.lock().unwrap_or_else(PoisonError::into_inner).take() {
        return Err(error);
    }
    sums.iter().for_each(|it| it.join(call));
    Ok(())
}
