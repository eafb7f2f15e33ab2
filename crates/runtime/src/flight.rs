//! Regions that the calling thread starts on a device and leaves alone: nobody waits in place, and no
//! other thread is asked.
//!
//! What a region maps is mapped when it is started and counted until it has *landed*: until somebody has
//! waited for it and ended its maps. So what other regions find meanwhile is what they would find while
//! another thread runs it. Of a call in a queue the maps were ended when it was made; there the steps
//! behind its launch wait until it has landed. Who lands it is decided elsewhere ([`crate::queue`]).
//!
//! Only what is soon done is started so: see [`may_fly`] and [`Steps::split`].

use std::sync::Arc;

use abi::MapType;
use device::Flight;

use crate::args::{MapArgs, Place};
use crate::devices::DeviceState;
use crate::error::Error;
use crate::launch::{self, Ahead, Arguments, Prepared, Private, Shape};
use crate::mapping::present::Present;
use crate::mapping::{Cx, begin, end, transfer};
use crate::queue::deferred::Arrays;
use crate::registry::Region;
use crate::steps::Steps;
use crate::watch::Watch;

/// So many bytes of data may be new to the device, or private: they are copied while the caller waits.
const MOST_BYTES: usize = 1 << 16;

/// A region that was started and has not landed.
#[derive(Debug)]
pub(crate) struct Aloft {
    pub(crate) place: Place,
    device: &'static DeviceState,
    unified: bool,
    region: Arc<Region>,
    flight: Flight,
    rest: Rest,
}

/// What remains to be done when the device has done its part.
#[derive(Debug)]
enum Rest {
    /// Maps end (none, if there are none), private memory goes.
    Maps(Option<Box<(Arrays, Option<Present>)>>, Private),
    /// Steps of a call with these arrays.
    Steps(Arrays, Steps),
}

/// What others may know of it.
#[derive(Debug)]
pub(crate) struct Note {
    /// The number of its device.
    pub(crate) device: usize,
    pub(crate) flight: Flight,
    /// Nobody else holds some of its data: they go when it lands.
    pub(crate) is_sole: bool,
    /// When it lands data are copied to the host, or were to be by one that it comes after.
    pub(crate) writes_host: bool,
    region: Arc<Region>,
}

impl Note {
    pub(crate) fn name(&self) -> &str {
        &self.region.name
    }

    /// `` `kernel` (a.c:3:9) ``
    pub(crate) fn words(&self) -> String {
        format!("`{}` ({})", self.region.name, self.region.source(&Place::NONE))
    }
}

/// Starts a region behind others of the same device; `None`: it must be run in another way, and nothing
/// was done.
pub(crate) fn start(
    (device, place): (&'static DeviceState, Place),
    region: &Arc<Region>,
    args: &MapArgs,
    shape: &Shape,
    (unified, after): (bool, &[Flight]),
) -> Result<Option<(Aloft, Note)>, Error> {
    let watch = Watch::now();
    let cx = Cx { device, place, watch, unified, later: None };
    // Who watches wants to know when each thing begins and ends.
    let is_watched = watch.is_on() || watch.has_tools();
    if is_watched || !may_fly(&cx, args, !after.is_empty()) {
        return Ok(None);
    }
    let maps = args.items().any(|(_, it)| !it.is_unmapped());
    let mut present = Present::default();
    let present = (maps && present.acquire(&cx, args)).then_some(present);
    if !device.plugin.take_off(after) {
        if present.is_some_and(|it| !it.release(&cx)) {
            end::end(&cx, args)?;
        }
        return Ok(None);
    }
    // However this ends, the thread waits again.
    let mut ahead = Ahead(Some(&*device.plugin));
    let (prepared, first) = Prepared::new(&cx, region, shape)?;
    let mut arguments = Arguments::default();
    arguments.words.extend(first);
    let is_new = maps && present.is_none();
    if is_new {
        begin::begin(&cx, args, false)?;
    }
    let is_sole = is_new && holds_alone(&cx, args);
    arguments.build(&cx, args, present.as_ref())?;
    prepared.run(&cx, region, (args, &arguments.words), |_, _| true)?;
    let Some(flight) = device.plugin.leave() else {
        return Err(Error::BadCall("a region that was started is not there"));
    };
    ahead.0 = None;
    let maps = maps.then(|| (Arrays::new(args), present));
    let rest = Rest::Maps(maps.map(Box::new), arguments.private);
    let region = Arc::clone(region);
    let aloft = Aloft { place, device, unified, region, flight, rest };
    let note = aloft.note(is_sole, is_sole);
    Ok(Some((aloft, note)))
}

/// Takes the first steps of a call in a queue, up to its launch, behind others of the same device. The
/// error gives all back: nothing was done.
#[allow(clippy::type_complexity, reason = "what came in, as it came in")]
pub(crate) fn start_steps(
    cx: &Cx<'_>,
    device: &'static DeviceState,
    (mut arrays, steps): (Arrays, Steps),
    after: &[Flight],
    writes_host: bool,
) -> Result<Result<(Aloft, Note), (Arrays, Steps)>, Error> {
    let is_watched = cx.watch.is_on() || cx.watch.has_tools();
    let (Some(region), false) = (steps.region(), is_watched) else {
        return Ok(Err((arrays, steps)));
    };
    if steps.before_launch() > MOST_BYTES || !device.plugin.take_off(after) {
        return Ok(Err((arrays, steps)));
    }
    let mut ahead = Ahead(Some(&*device.plugin));
    let (first, rest) = steps.split();
    first.take_all(cx, &arrays.args())?;
    let Some(flight) = device.plugin.leave() else {
        return Err(Error::BadCall("a region that was started is not there"));
    };
    ahead.0 = None;
    let writes_host = writes_host || rest.copy_out();
    let rest = Rest::Steps(arrays, rest);
    let aloft = Aloft { place: cx.place, device, unified: cx.unified, region, flight, rest };
    let note = aloft.note(false, writes_host);
    Ok(Ok((aloft, note)))
}

/// Nothing of the call takes long, or has to wait for what is not done yet. `is_behind`: some regions that
/// it comes after have not landed, so data that they copy to the host at their end are not there.
fn may_fly(cx: &Cx<'_>, args: &MapArgs, is_behind: bool) -> bool {
    let mut bytes = 0usize;
    args.items().all(|(_, item)| {
        let is_late = is_behind && item.map.has(MapType::ALWAYS | MapType::TO);
        if item.mapper.is_some() || item.map.has(MapType::NON_CONTIG) || is_late {
            return false;
        }
        if item.map.has(MapType::LITERAL) {
            return true;
        }
        let is_there = item.size > MOST_BYTES
            && !item.is_unmapped()
            && !item.map.has(MapType::ALWAYS)
            && cx.device.mapping.translate(item.begin, item.size).is_some();
        bytes = bytes.saturating_add(if is_there { 0 } else { item.size });
        bytes <= MOST_BYTES
    })
}

/// Whether some of the data, which were just mapped, have no other reference.
fn holds_alone(cx: &Cx<'_>, args: &MapArgs) -> bool {
    args.items().filter(|(_, it)| !it.is_unmapped()).any(|(_, item)| {
        let (mut table, found) = cx.device.mapping.look_up(item.begin, item.size);
        found.and_then(|it| table.get_mut(it.key)).is_some_and(|it| it.is_fresh())
    })
}

impl Aloft {
    fn note(&self, is_sole: bool, writes_host: bool) -> Note {
        let (device, flight) = (self.device.number, self.flight);
        Note { device, flight, is_sole, writes_host, region: Arc::clone(&self.region) }
    }

    /// Waits for the region and does the rest.
    pub(crate) fn land(self) -> Result<(), Error> {
        let Aloft { place, device, unified, region, flight, rest } = self;
        let landed = device.plugin.land(flight, &region.name);
        landed.map_err(|error| launch::crash(&region, &MapArgs::NONE, error, |_, _| true))?;
        let cx = Cx { device, place, watch: Watch::now(), unified, later: None };
        match rest {
            Rest::Steps(mut arrays, steps) => steps.run(&cx, &arrays.args()),
            Rest::Maps(maps, private) => {
                let is_released = |it: &(Arrays, Option<Present>)| {
                    it.1.as_ref().is_some_and(|it| it.release(&cx))
                };
                if let Some((mut arrays, _)) = maps.filter(|it| !is_released(it)).map(|it| *it) {
                    let ahead = Ahead::go(&cx);
                    end::end(&cx, &arrays.args())?;
                    ahead.stay().map_err(|error| Error::Device {
                        doing: "waiting",
                        what: None,
                        error,
                    })?;
                }
                private.iter().try_for_each(|(at, bytes)| transfer::free(&cx, *at, *bytes, None))
            }
        }
    }
}
