//! Streams to do things in: each call has one that nobody else uses meanwhile.
//!
//! A call waits for its work, unless its thread has asked to go ahead ([`Lanes::go_ahead`]): then it has
//! one stream for all its calls, and waits when it must ([`Lanes::catch_up`]). What such a thread has
//! copied to the device is there for all who come later: their streams wait for those copies, not for
//! the kernels behind them.
//!
//! A thread may also leave its work alone ([`Lanes::take_off`], [`Lanes::leave`]): that is a flight. A few
//! streams are kept for these, each has several, one after another; who waits for one waits for its stream.
//! A stream may gather flights that need not follow one another, to start them together.
//!
//! What a stream is, a plugin says ([`Stream`]).

use std::any::Any;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::ffi::c_void;
use std::fmt::Debug;
use std::mem::ManuallyDrop;
use std::ptr;
use std::sync::atomic::{AtomicU8, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::{DeviceError, Flight, Held, Result};

/// What a driver does things in, in their order. It is made once and never given back.
pub(crate) trait Stream: Debug + Send + Sync {
    /// As the driver knows it, which has been told by then of all that is in it.
    fn handle(&self) -> *mut c_void;

    /// Whether it has work that the driver has not been told of, and takes more of the kind.
    fn gathers(&self) -> bool {
        false
    }

    /// Itself, for the plugin that has made it.
    fn as_any(&self) -> &dyn Any;

    /// Waits until all is done that was put into it. `what` was being done.
    fn wait(&self, what: &'static str) -> Result<()>;

    /// Remembers that it has come this far.
    fn mark(&self) -> Result<()>;

    /// What is put into it from now on comes after all that another had when it was marked last.
    fn follow_mark(&self, other: &dyn Stream) -> Result<()>;

    /// The same for all that another has now.
    fn follow(&self, other: &dyn Stream) -> Result<()>;

    /// Hands its mark to a call of the driver, during which it stays.
    fn with_mark(&self, act: &mut dyn FnMut(*mut c_void) -> Result<()>) -> Result<()>;
}

/// Makes streams.
pub(crate) trait Maker: Debug + Send + Sync {
    /// A new one.
    fn stream(&self) -> Result<Box<dyn Stream>>;

    /// Memory of the host that the device copies from and to without the processor, where there is such:
    /// [`STAGED`] bytes, or null.
    fn stage(&self) -> *mut u8;
}

/// A stream, and memory of the host to pass small things through.
#[derive(Debug)]
pub(crate) struct Lane {
    pub(crate) line: Arc<Line>,
    /// [`STAGED`] bytes; null where there was no such memory.
    stage: *mut u8,
    /// So many of them wait to be copied.
    staged: usize,
    /// The last kernel that its thread has started; empty if there was none.
    kernel: String,
    /// Its thread leaves it before its work is done.
    is_left: bool,
    /// A kernel may be left for later: its flight comes after none, others are under way, and nothing was put
    /// into the stream for it.
    may_gather: bool,
}

/// What others may know of a lane.
#[derive(Debug)]
pub(crate) struct Line {
    stream: Box<dyn Stream>,
    /// One of the numbers below: copies to the device that were not waited for.
    copies: AtomicU8,
    /// Its place among all.
    number: AtomicUsize,
    /// How many flights it has had.
    begun: AtomicU64,
    /// How many of them are done, as far as anybody has looked.
    landed: AtomicU64,
}

impl Line {
    fn is_clear(&self) -> bool {
        self.landed.load(Ordering::Acquire) == self.begun.load(Ordering::Acquire)
    }
}

/// There are none.
const NONE: u8 = 0;
/// There are some, at the end of the stream.
const SOME: u8 = 1;
/// There are some, up to the event.
const MARKED: u8 = 2;

/// Copies of so many bytes go by way of such memory: the driver would do that too, with more ado.
pub(crate) const STAGED: usize = 64 << 10;

// SAFETY: the memory is used by the one who has the lane.
#[allow(unsafe_code, reason = "an address of memory that is owned")]
unsafe impl Send for Lane {}

#[allow(unsafe_code, reason = "places in memory that is owned")]
impl Lane {
    fn make(maker: &dyn Maker) -> Result<Lane> {
        let line = Arc::new(Line {
            stream: maker.stream()?,
            copies: AtomicU8::new(NONE),
            number: AtomicUsize::new(0),
            begun: AtomicU64::new(0),
            landed: AtomicU64::new(0),
        });
        let (stage, kernel) = (maker.stage(), String::new());
        Ok(Lane { line, stage, staged: 0, kernel, is_left: false, may_gather: false })
    }

    /// The stream, as the driver knows it.
    pub(crate) fn handle(&self) -> *mut c_void {
        self.line.stream.handle()
    }

    /// The stream, as its plugin knows it, if a kernel may be left for later.
    pub(crate) fn gatherer<T: 'static>(&self) -> Option<&T> {
        if self.may_gather { self.line.stream.as_any().downcast_ref() } else { None }
    }

    /// Whether its thread goes away before its work is done, so that what it reads must be read by then.
    pub(crate) fn is_left(&self) -> bool {
        self.is_left
    }

    /// Room for so many bytes of the host that the GPU can reach, until the stream was waited for.
    pub(crate) fn room(&mut self, len: usize) -> Option<*mut u8> {
        if self.stage.is_null() || len > STAGED - self.staged {
            return None;
        }
        // SAFETY: the memory has `STAGED` bytes, and as many are left as are wanted.
        let at = unsafe { self.stage.add(self.staged) };
        self.staged += len;
        Some(at)
    }

    /// The same; where there is none and what is copied must be read before the thread goes on, room is
    /// waited for.
    pub(crate) fn room_to_read(&mut self, len: usize) -> Result<Option<*mut u8>> {
        let found = self.room(len);
        if found.is_some() || !self.is_left || len > STAGED {
            return Ok(found);
        }
        self.wait("copying to the device")?;
        Ok(self.room(len))
    }

    /// The last kernel that its thread has started.
    fn kernel(&self) -> Option<String> {
        (!self.kernel.is_empty()).then(|| self.kernel.clone())
    }

    /// Waits until all is done that was put into the stream.
    pub(crate) fn wait(&mut self, what: &'static str) -> Result<()> {
        let waited = self.line.stream.wait(what);
        self.staged = 0;
        waited
    }
}

/// A thread that goes ahead of its work.
struct Ahead {
    /// The lanes it took one from, by their address.
    of: usize,
    lane: Lane,
    /// There is work that was not waited for.
    is_behind: bool,
    /// What the driver was told stays so meanwhile: to tell it again costs as much as an event.
    _here: Box<dyn Held>,
}

thread_local! {
    /// Not dropped with its thread: what a program does at its very end looks here too.
    static AHEAD: RefCell<ManuallyDrop<Option<Ahead>>> =
        const { RefCell::new(ManuallyDrop::new(None)) };
}

/// What the calling thread has not waited for.
fn of_thread<R>(act: impl FnOnce(&mut Option<Ahead>) -> R) -> R {
    AHEAD.with_borrow_mut(|it| act(it))
}

/// How a call treats its work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Work<'a> {
    /// It is done when the call returns.
    Done,
    /// Data for the device, which others may look for.
    Copy,
    /// Data for the device of which nobody else knows.
    Own,
    /// A kernel of this name; others may not look for what it writes before its region ends.
    Kernel(&'a str),
}

/// So many streams have flights: that is how many of these run at the same time at most.
const MOST_ALOFT: usize = 16;

/// The streams of a device; there are as many as threads were at work at once, and some for flights.
#[derive(Debug)]
pub(crate) struct Lanes {
    maker: Box<dyn Maker>,
    /// Those that nobody uses at the moment.
    idle: Mutex<Vec<Lane>>,
    /// Those of flights that no thread adds to at the moment, the one that was longest ago first.
    aloft: Mutex<VecDeque<Lane>>,
    /// All of them.
    all: Mutex<Vec<Arc<Line>>>,
    /// How many these are.
    count: AtomicUsize,
    /// How many have copies that were not waited for.
    copying: AtomicUsize,
}

impl Lanes {
    pub(crate) fn new(maker: Box<dyn Maker>) -> Lanes {
        Lanes {
            maker,
            idle: Mutex::default(),
            aloft: Mutex::default(),
            all: Mutex::default(),
            count: AtomicUsize::new(0),
            copying: AtomicUsize::new(0),
        }
    }

    fn taken(&self) -> Result<Lane> {
        let idle = self.idle().pop();
        if let Some(lane) = idle {
            return Ok(lane);
        }
        let lane = Lane::make(&*self.maker)?;
        let mut all = self.all();
        lane.line.number.store(all.len(), Ordering::Relaxed);
        all.push(Arc::clone(&lane.line));
        drop(all);
        self.count.fetch_add(1, Ordering::Relaxed);
        Ok(lane)
    }

    /// The list of those that nobody uses.
    pub(crate) fn idle(&self) -> MutexGuard<'_, Vec<Lane>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The list of those of flights.
    pub(crate) fn aloft(&self) -> MutexGuard<'_, VecDeque<Lane>> {
        self.aloft.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The list of all.
    pub(crate) fn all(&self) -> MutexGuard<'_, Vec<Arc<Line>>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Itself, as a thread remembers it.
    fn number(&self) -> usize {
        ptr::from_ref(self) as usize
    }

    /// Does something with a stream that nobody else uses meanwhile, behind the copies of all others, and
    /// waits for it unless the thread goes ahead; `then` follows when it was waited for, before anybody
    /// else gets the stream.
    pub(crate) fn with(
        &self,
        what: &'static str,
        work: Work<'_>,
        act: impl FnOnce(&mut Lane) -> Result<()>,
        then: impl FnOnce(),
    ) -> Result<()> {
        of_thread(|ahead| {
            let Some(ahead) = ahead.as_mut().filter(|it| it.of == self.number()) else {
                let mut lane = self.taken()?;
                let done = self
                    .follow(&lane.line)
                    .and_then(|()| act(&mut lane))
                    // What was begun is waited for in any case: its memory is the caller's.
                    .and(lane.wait(what))
                    .map(|()| then());
                self.idle().push(lane);
                return done;
            };
            self.follow(&ahead.lane.line)?;
            match work {
                Work::Copy => self.note(&ahead.lane.line),
                Work::Kernel(name) => {
                    // Who is alone needs no mark; who comes later makes one, behind the kernel.
                    if self.count.load(Ordering::Relaxed) > 1 {
                        mark(&ahead.lane.line)?;
                    }
                    name.clone_into(&mut ahead.lane.kernel);
                }
                Work::Own | Work::Done => {}
            }
            ahead.lane.may_gather &= matches!(work, Work::Kernel(_));
            ahead.is_behind = true;
            act(&mut ahead.lane)?;
            if work == Work::Done {
                self.wait_for(ahead, what)?;
                then();
            }
            Ok(())
        })
    }

    /// Makes a stream wait for the copies of others.
    fn follow(&self, own: &Arc<Line>) -> Result<()> {
        let is_own = usize::from(own.copies.load(Ordering::Relaxed) != NONE);
        if self.copying.load(Ordering::Acquire) == is_own {
            return Ok(());
        }
        let all = self.all().clone();
        for other in all.iter().filter(|it| !Arc::ptr_eq(it, own)) {
            // One that is marked again meanwhile is behind the same copies.
            match other.copies.load(Ordering::Acquire) {
                NONE => {}
                MARKED => own.stream.follow_mark(&*other.stream)?,
                _ => own.stream.follow(&*other.stream)?,
            }
        }
        Ok(())
    }

    /// The stream gets a copy that others may look for.
    fn note(&self, line: &Line) {
        if line.copies.swap(SOME, Ordering::AcqRel) == NONE {
            self.copying.fetch_add(1, Ordering::AcqRel);
        }
    }

    /// The copies of the stream are there.
    fn forget(&self, line: &Line) {
        if line.copies.swap(NONE, Ordering::AcqRel) != NONE {
            self.copying.fetch_sub(1, Ordering::AcqRel);
        }
    }

    fn wait_for(&self, ahead: &mut Ahead, what: &'static str) -> Result<()> {
        let waited = ahead.lane.wait(what);
        ahead.is_behind = false;
        self.forget(&ahead.lane.line);
        waited
    }

    /// From now on this thread goes ahead of its work, behind these flights; false as in
    /// [`Lanes::go_ahead`].
    pub(crate) fn take_off(&self, here: Box<dyn Held>, after: &[Flight]) -> Result<bool> {
        if of_thread(|it| it.is_some()) {
            return Ok(false);
        }
        let mut lane = self.taken_behind(after)?;
        if lane.stage.is_null() {
            // What is passed by value could not be read in time.
            self.idle().push(lane);
            return Ok(false);
        }
        lane.is_left = true;
        lane.kernel.clear();
        lane.may_gather &= after.is_empty();
        if let Err(error) = self.queue_behind(&lane.line, after) {
            self.aloft().push_back(lane);
            return Err(error);
        }
        let of = self.number();
        let ahead = Ahead { of, lane, is_behind: false, _here: here };
        of_thread(|it| *it = Some(ahead));
        Ok(true)
    }

    /// A stream for a flight: that of one it comes after, or one that is clear, a new one if there are
    /// not too many, or the one that was used longest ago.
    fn taken_behind(&self, after: &[Flight]) -> Result<Lane> {
        let mut aloft = self.aloft();
        // Only where it is the last: those behind it need not be waited for.
        let is_behind = |lane: &Lane| {
            let number = lane.line.number.load(Ordering::Relaxed);
            let last = lane.line.begun.load(Ordering::Relaxed);
            after.iter().any(|it| it.lane == number && it.number == last)
        };
        let others = aloft.iter().any(|it| !it.line.is_clear());
        let place = match aloft.iter().rposition(is_behind) {
            Some(place) => Some(place),
            None if after.is_empty() && aloft.back().is_some_and(|it| it.line.stream.gathers()) => {
                Some(aloft.len() - 1)
            }
            None if aloft.front().is_some_and(|it| it.line.is_clear()) => Some(0),
            None if aloft.len() < MOST_ALOFT => None,
            None => Some(0),
        };
        let lane = place.and_then(|it| aloft.remove(it));
        drop(aloft);
        let mut lane = lane.map_or_else(|| self.taken(), Ok)?;
        if lane.line.is_clear() {
            lane.staged = 0;
        }
        lane.may_gather = others;
        Ok(lane)
    }

    /// Makes a stream wait for flights in others.
    fn queue_behind(&self, own: &Line, after: &[Flight]) -> Result<()> {
        let number = own.number.load(Ordering::Relaxed);
        let mut done = None;
        for it in after.iter().filter(|it| it.lane != number) {
            let other = self.all().get(it.lane).cloned();
            let Some(other) = other.filter(|_| done != Some(it.lane)) else { continue };
            if other.landed.load(Ordering::Acquire) >= it.number {
                continue;
            }
            own.stream.follow(&*other.stream)?;
            done = Some(it.lane);
        }
        Ok(())
    }

    /// The work of this thread goes on without it.
    pub(crate) fn leave(&self) -> Option<Flight> {
        of_thread(|ahead| {
            let ahead = ahead.take_if(|it| it.of == self.number())?;
            let line = &ahead.lane.line;
            let lane = line.number.load(Ordering::Relaxed);
            let number = line.begun.fetch_add(1, Ordering::AcqRel) + 1;
            self.aloft().push_back(ahead.lane);
            Some(Flight { lane, number })
        })
    }

    /// The stream of a flight, unless that is known to be done.
    pub(crate) fn under_way(&self, flight: Flight) -> Option<Arc<Line>> {
        let line = self.all().get(flight.lane).cloned();
        line.filter(|it| it.landed.load(Ordering::Acquire) < flight.number)
    }

    /// Waits for the flights of a stream.
    pub(crate) fn land(&self, line: &Arc<Line>) -> Result<()> {
        let begun = line.begun.load(Ordering::Acquire);
        line.stream.wait("running a kernel")?;
        self.landed(line, begun);
        Ok(())
    }

    /// Waits for flights in several streams: one stream follows all of them and is waited for, as to wait
    /// costs five times what it costs to follow.
    pub(crate) fn land_together(&self, flights: &[Flight]) -> Result<()> {
        let mut lines: Vec<_> = flights.iter().filter_map(|it| self.under_way(*it)).collect();
        lines.sort_unstable_by_key(|it| it.number.load(Ordering::Relaxed));
        lines.dedup_by(|a, b| Arc::ptr_eq(a, b));
        if lines.len() < 2 {
            return Ok(());
        }
        let mut lane = self.taken()?;
        let begun: Vec<u64> = lines.iter().map(|it| it.begun.load(Ordering::Acquire)).collect();
        let followed = lines.iter().try_for_each(|it| lane.line.stream.follow(&*it.stream));
        let waited = lane.wait("running a kernel");
        self.idle().push(lane);
        followed.and(waited)?;
        lines.iter().zip(begun).for_each(|(line, begun)| self.landed(line, begun));
        Ok(())
    }

    /// So many flights of a stream are done.
    fn landed(&self, line: &Arc<Line>, begun: u64) {
        line.landed.fetch_max(begun, Ordering::AcqRel);
        // Who adds to it now may have copies that others look for.
        let aloft = self.aloft();
        if line.is_clear() && aloft.iter().any(|it| Arc::ptr_eq(&it.line, line)) {
            self.forget(line);
        }
    }

    /// From now on this thread goes ahead of its work; false if it does so already, here or elsewhere.
    pub(crate) fn go_ahead(&self, here: Box<dyn Held>) -> Result<bool> {
        of_thread(|ahead| {
            if ahead.is_some() {
                return Ok(false);
            }
            let (of, mut lane) = (self.number(), self.taken()?);
            lane.kernel.clear();
            *ahead = Some(Ahead { of, lane, is_behind: false, _here: here });
            Ok(true)
        })
    }

    /// Whether this thread goes ahead of its work here: then what the driver was told holds.
    pub(crate) fn is_ahead(&self) -> bool {
        of_thread(|it| it.as_ref().is_some_and(|it| it.of == self.number()))
    }

    /// Waits for everything that anybody has asked for.
    pub(crate) fn wait_for_all(&self) -> Result<()> {
        let all = self.all().clone();
        all.iter().try_for_each(|it| it.stream.wait("waiting"))
    }

    /// Whether this thread has work here that it has not waited for.
    pub(crate) fn is_behind(&self) -> bool {
        of_thread(|it| it.as_ref().is_some_and(|it| it.of == self.number() && it.is_behind))
    }

    /// Waits for all work of this thread.
    pub(crate) fn catch_up(&self) -> Result<()> {
        of_thread(|ahead| match ahead {
            Some(ahead) if ahead.of == self.number() && ahead.is_behind => {
                self.wait_for(ahead, "waiting")
            }
            _ => Ok(()),
        })
    }

    /// Waits for all work of this thread, whose calls wait from now on. An error comes with the last kernel.
    pub(crate) fn stay(&self) -> std::result::Result<(), (DeviceError, Option<String>)> {
        of_thread(|ahead| {
            let Some(mut ahead) = ahead.take_if(|it| it.of == self.number()) else { return Ok(()) };
            let waited = match ahead.is_behind {
                true => self.wait_for(&mut ahead, "waiting"),
                false => Ok(()),
            };
            let waited = waited.map_err(|error| (error, ahead.lane.kernel()));
            (ahead.lane.is_left, ahead.lane.may_gather) = (false, false);
            self.idle().push(ahead.lane);
            waited
        })
    }

    /// The kernel that a thread which goes ahead has started last.
    pub(crate) fn kernel(&self) -> Option<String> {
        of_thread(|it| it.as_ref().and_then(|it| it.lane.kernel()))
    }
}

/// The copies of a stream end here: what comes now is a kernel, for which others need not wait.
fn mark(line: &Line) -> Result<()> {
    if line.copies.load(Ordering::Relaxed) != SOME {
        return Ok(());
    }
    line.stream.mark()?;
    line.copies.store(MARKED, Ordering::Release);
    Ok(())
}
