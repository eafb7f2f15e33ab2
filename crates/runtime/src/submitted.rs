//! Regions that the calling thread submits to a device: nobody waits in place, and no other thread is asked.
//!
//! What a region maps is mapped when it is submitted and counted until it is *finished*: until somebody has
//! waited for it and ended its maps. So what other regions find meanwhile is what they would find while
//! another thread runs it. Of a call in a queue the maps were ended when it was made; there the steps
//! behind its launch wait until then. Who finishes it is decided elsewhere ([`crate::queue`]).
//!
//! Only what is soon done is submitted so: see [`is_quick`] and [`Steps::split`].

use std::sync::Arc;

use abi::MapType;
use device::{Event, Stream};

use crate::args::{MapArgs, Place};
use crate::arrays::Arrays;
use crate::devices::DeviceState;
use crate::error::Error;
use crate::guard::guard;
use crate::launch::{self, Arguments, Private};
use crate::mapping::present::Present;
use crate::mapping::{Cx, begin, end, transfer};
use crate::prepared::{Prepared, Shape};
use crate::queue::{Note, Work};
use crate::registry::Region;
use crate::steps::Steps;
use crate::watch::Watch;

/// So many bytes of data may be new to the device, or private: they are copied while the caller waits.
const MOST_BYTES: usize = 1 << 16;

/// A region that was submitted and is not finished.
#[derive(Debug)]
pub(crate) struct Submitted {
    place: Place,
    device: &'static DeviceState,
    unified: bool,
    region: Arc<Region>,
    event: Event,
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

/// Submits a region behind others of the same device; `None`: it must be run in another way, and nothing
/// was done.
pub(crate) fn submit(
    (device, place): (&'static DeviceState, Place),
    region: &Arc<Region>,
    args: &MapArgs,
    shape: &Shape,
    (unified, after): (bool, &[Event]),
) -> Result<Option<(Submitted, Note)>, Error> {
    let watch = Watch::now();
    let cx = Cx { device, place, watch, unified, later: None, stream: None };
    // Who watches wants to know when each thing begins and ends.
    let is_watched = watch.is_on() || watch.has_tools();
    if is_watched || !is_quick(&cx, args, !after.is_empty()) {
        return Ok(None);
    }
    let maps = args.items().any(|(_, it)| !it.is_unmapped());
    let mut present = Present::default();
    let present = (maps && present.acquire(&cx, args)).then_some(present);
    let Some(stream) = device.plugin.stream_behind(after) else {
        if present.is_some_and(|it| !it.release(&cx)) {
            end::end(&cx, args)?;
        }
        return Ok(None);
    };
    let cx = Cx { stream: Some(&*stream), ..cx };
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
    let event = submitted(stream)?;
    let maps = maps.then(|| (Arrays::new(args), present));
    let rest = Rest::Maps(maps.map(Box::new), arguments.private);
    let region = Arc::clone(region);
    let submitted = Submitted { place, device, unified, region, event, rest };
    let note = submitted.note(is_sole, is_sole);
    Ok(Some((submitted, note)))
}

/// Takes the first steps of a call in a queue, up to its launch, behind others of the same device. The
/// error gives all back: nothing was done.
#[allow(clippy::type_complexity, reason = "what came in, as it came in")]
pub(crate) fn submit_steps(
    cx: &Cx<'_>,
    device: &'static DeviceState,
    (mut arrays, steps): (Arrays, Steps),
    after: &[Event],
    writes_host: bool,
) -> Result<Result<(Submitted, Note), (Arrays, Steps)>, Error> {
    let is_watched = cx.watch.is_on() || cx.watch.has_tools();
    let (Some(region), false) = (steps.region(), is_watched) else {
        return Ok(Err((arrays, steps)));
    };
    let is_quick = steps.before_launch() <= MOST_BYTES;
    let Some(stream) = is_quick.then(|| device.plugin.stream_behind(after)).flatten() else {
        return Ok(Err((arrays, steps)));
    };
    let (first, rest) = steps.split();
    first.take_all(&Cx { stream: Some(&*stream), ..*cx }, &arrays.args())?;
    let event = submitted(stream)?;
    let writes_host = writes_host || rest.copy_out();
    let rest = Rest::Steps(arrays, rest);
    let submitted = Submitted { place: cx.place, device, unified: cx.unified, region, event, rest };
    let note = submitted.note(false, writes_host);
    Ok(Ok((submitted, note)))
}

/// The work of a stream goes on by itself.
fn submitted(stream: Box<dyn Stream + '_>) -> Result<Event, Error> {
    let submitted = stream.submit();
    submitted.map_err(|error| Error::Device { doing: "submitting a region", what: None, error })
}

/// Nothing of the call takes long, or has to wait for what is not done yet. `is_behind`: some regions that
/// it comes after are not finished, so data that they copy to the host at their end are not there.
fn is_quick(cx: &Cx<'_>, args: &MapArgs, is_behind: bool) -> bool {
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

impl Submitted {
    fn note(&self, is_sole: bool, writes_host: bool) -> Note {
        let (device, event) = (self.device.number, self.event);
        Note { device, event, is_sole, writes_host, region: Arc::clone(&self.region) }
    }

    /// What is done when it is waited for.
    pub(crate) fn finishing(self) -> Work {
        let place = self.place;
        Box::new(move || guard(&place, true, || self.finish()))
    }

    /// Waits for the region and does the rest.
    fn finish(self) -> Result<(), Error> {
        let Submitted { place, device, unified, region, event, rest } = self;
        let waited = device.plugin.wait(event, &region.name);
        waited.map_err(|error| launch::crash(&region, &MapArgs::NONE, error, |_, _| true))?;
        let cx = Cx { device, place, watch: Watch::now(), unified, later: None, stream: None };
        match rest {
            Rest::Steps(mut arrays, steps) => steps.run(&cx, &arrays.args()),
            Rest::Maps(maps, private) => {
                let is_released = |it: &(Arrays, Option<Present>)| {
                    it.1.as_ref().is_some_and(|it| it.release(&cx))
                };
                if let Some((mut arrays, _)) = maps.filter(|it| !is_released(it)).map(|it| *it) {
                    let stream = cx.open_stream();
                    let cx = Cx { stream: stream.as_deref(), ..cx };
                    end::end(&cx, &arrays.args())?;
                    cx.synchronise().map_err(|error| Error::Device {
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
