//! Streams to do things in: each call has one that nobody else uses meanwhile.
//!
//! A call waits for its work, unless its thread has asked to go ahead ([`Lanes::go_ahead`]): then it has
//! one stream for all its calls, and waits when it must ([`Lanes::catch_up`]). What such a thread has
//! copied to the device is there for all who come later: their streams wait for those copies, not for
//! the kernels behind them.
//!
//! A thread may also leave its work alone ([`Lanes::take_off`], [`Lanes::leave`]): that is a flight. A few
//! streams are kept for these, each has several, one after another; who waits for one waits for its stream.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::ffi::c_void;
use std::mem::ManuallyDrop;
use std::ptr;
use std::sync::atomic::{AtomicU8, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cudarc::driver::sys::{
    self, CUevent, CUevent_flags_enum, CUresult, CUstream, CUstream_flags_enum,
};

use super::context::Entered;
use super::driver::check;
use crate::{Flight, Result};

/// A stream, and memory of the host that the GPU can copy from and to without the processor.
#[derive(Debug)]
pub(super) struct Lane {
    pub(super) line: Arc<Line>,
    /// [`STAGED`] bytes; null where there was no such memory.
    stage: *mut u8,
    /// So many of them wait to be copied.
    staged: usize,
    /// Its thread leaves it before its work is done.
    is_left: bool,
}

/// What others may know of a lane.
#[derive(Debug)]
pub(super) struct Line {
    pub(super) stream: CUstream,
    /// Where its copies end, if they are marked.
    event: CUevent,
    /// Where another stream was when this one was to follow it.
    turn: CUevent,
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
const STAGED: usize = 64 << 10;

// SAFETY: a stream may be used from all threads; the memory is used by the one who has the lane.
#[allow(unsafe_code, reason = "handles of a library that is safe for threads")]
unsafe impl Send for Lane {}
// SAFETY: streams and events may be used from all threads at once.
#[allow(unsafe_code, reason = "handles of a library that is safe for threads")]
unsafe impl Send for Line {}
// SAFETY: as above.
#[allow(unsafe_code, reason = "handles of a library that is safe for threads")]
unsafe impl Sync for Line {}

#[allow(unsafe_code, reason = "asks the driver")]
impl Lane {
    /// A new one, of the current context.
    fn make() -> Result<Lane> {
        let (mut stream, mut event, mut turn) = (ptr::null_mut(), ptr::null_mut(), ptr::null_mut());
        let flags = CUstream_flags_enum::CU_STREAM_NON_BLOCKING as u32;
        // SAFETY: writes one handle; the context is current.
        check("making a stream", unsafe { sys::cuStreamCreate(&raw mut stream, flags) })?;
        let flags = CUevent_flags_enum::CU_EVENT_DISABLE_TIMING as u32;
        // SAFETY: as above.
        check("making an event", unsafe { sys::cuEventCreate(&raw mut event, flags) })?;
        // SAFETY: as above.
        check("making an event", unsafe { sys::cuEventCreate(&raw mut turn, flags) })?;
        let mut stage: *mut c_void = ptr::null_mut();
        // SAFETY: writes one address. Without such memory copies go the driver's way.
        let made =
            unsafe { sys::cuMemHostAlloc(&raw mut stage, STAGED, sys::CU_MEMHOSTALLOC_PORTABLE) };
        if check("locking memory", made).is_err() {
            stage = ptr::null_mut();
        }
        let line = Arc::new(Line {
            stream,
            event,
            turn,
            copies: AtomicU8::new(NONE),
            number: AtomicUsize::new(0),
            begun: AtomicU64::new(0),
            landed: AtomicU64::new(0),
        });
        Ok(Lane { line, stage: stage.cast(), staged: 0, is_left: false })
    }

    pub(super) fn stream(&self) -> CUstream {
        self.line.stream
    }

    /// Room for so many bytes of the host that the GPU can reach, until the stream was waited for.
    pub(super) fn room(&mut self, len: usize) -> Option<*mut u8> {
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
    pub(super) fn room_to_read(&mut self, len: usize) -> Result<Option<*mut u8>> {
        let found = self.room(len);
        if found.is_some() || !self.is_left || len > STAGED {
            return Ok(found);
        }
        self.wait("copying to the device")?;
        Ok(self.room(len))
    }

    /// Waits until all is done that was put into the stream.
    pub(super) fn wait(&mut self, what: &'static str) -> Result<()> {
        // SAFETY: a stream of the current context.
        let waited = check(what, unsafe { sys::cuStreamSynchronize(self.stream()) });
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
    /// The last kernel among it.
    kernel: Option<String>,
    /// The context stays current meanwhile: to ask the driver for it again costs as much as an event.
    _here: Entered,
}

thread_local! {
    /// Not dropped with its thread: what a program does at its very end looks here too.
    static AHEAD: RefCell<ManuallyDrop<Option<Ahead>>> =
        const { RefCell::new(ManuallyDrop::new(None)) };
}

/// How a call treats its work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Work<'a> {
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
#[derive(Debug, Default)]
pub(super) struct Lanes {
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
    fn taken(&self) -> Result<Lane> {
        let idle = self.idle().pop();
        if let Some(lane) = idle {
            return Ok(lane);
        }
        let lane = Lane::make()?;
        let mut all = self.all();
        lane.line.number.store(all.len(), Ordering::Relaxed);
        all.push(Arc::clone(&lane.line));
        drop(all);
        self.count.fetch_add(1, Ordering::Relaxed);
        Ok(lane)
    }

    /// The list of those that nobody uses.
    pub(super) fn idle(&self) -> MutexGuard<'_, Vec<Lane>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The list of those of flights.
    pub(super) fn aloft(&self) -> MutexGuard<'_, VecDeque<Lane>> {
        self.aloft.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The list of all.
    pub(super) fn all(&self) -> MutexGuard<'_, Vec<Arc<Line>>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Itself, as a thread remembers it.
    fn number(&self) -> usize {
        ptr::from_ref(self) as usize
    }

    /// Does something with a stream that nobody else uses meanwhile, behind the copies of all others, and
    /// waits for it unless the thread goes ahead; `then` follows when it was waited for, before anybody
    /// else gets the stream. The context is current.
    pub(super) fn with(
        &self,
        what: &'static str,
        work: Work<'_>,
        act: impl FnOnce(&mut Lane) -> Result<()>,
        then: impl FnOnce(),
    ) -> Result<()> {
        AHEAD.with_borrow_mut(|ahead| {
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
                    ahead.kernel = Some(name.to_owned());
                }
                Work::Own | Work::Done => {}
            }
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
    #[allow(unsafe_code, reason = "asks the driver")]
    fn follow(&self, own: &Arc<Line>) -> Result<()> {
        let is_own = usize::from(own.copies.load(Ordering::Relaxed) != NONE);
        if self.copying.load(Ordering::Acquire) == is_own {
            return Ok(());
        }
        let all = self.all().clone();
        for other in all.iter().filter(|it| !Arc::ptr_eq(it, own)) {
            // SAFETY: streams and events of this device, which are never given back. An event that is
            // marked again meanwhile is behind the same copies.
            let code = unsafe {
                match other.copies.load(Ordering::Acquire) {
                    NONE => continue,
                    MARKED => sys::cuStreamWaitEvent(own.stream, other.event, 0),
                    _ => {
                        let recorded = sys::cuEventRecord(own.turn, other.stream);
                        check("ordering copies", recorded)?;
                        sys::cuStreamWaitEvent(own.stream, own.turn, 0)
                    }
                }
            };
            check("ordering copies", code)?;
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
    pub(super) fn take_off(&self, here: Entered, after: &[Flight]) -> Result<bool> {
        if AHEAD.with_borrow(|it| it.is_some()) {
            return Ok(false);
        }
        let mut lane = self.taken_behind(after)?;
        if lane.stage.is_null() {
            // What is passed by value could not be read in time.
            self.idle().push(lane);
            return Ok(false);
        }
        lane.is_left = true;
        if let Err(error) = self.queue_behind(&lane.line, after) {
            self.aloft().push_back(lane);
            return Err(error);
        }
        let of = self.number();
        AHEAD.with_borrow_mut(|ahead| {
            **ahead = Some(Ahead { of, lane, is_behind: false, kernel: None, _here: here });
        });
        Ok(true)
    }

    /// A stream for a flight: that of one it comes after, or one that is clear, a new one if there are
    /// not too many, or the one that was used longest ago.
    fn taken_behind(&self, after: &[Flight]) -> Result<Lane> {
        let mut aloft = self.aloft();
        let is_behind = |lane: &Lane| {
            let number = lane.line.number.load(Ordering::Relaxed);
            after.iter().any(|it| it.lane == number)
        };
        let place = match aloft.iter().rposition(is_behind) {
            Some(place) => Some(place),
            None if aloft.front().is_some_and(|it| it.line.is_clear()) => Some(0),
            None if aloft.len() < MOST_ALOFT => None,
            None => Some(0),
        };
        let lane = place.and_then(|it| aloft.remove(it));
        drop(aloft);
        let Some(mut lane) = lane else { return self.taken() };
        if lane.line.is_clear() {
            lane.staged = 0;
        }
        Ok(lane)
    }

    /// Makes a stream wait for flights in others.
    #[allow(unsafe_code, reason = "asks the driver")]
    fn queue_behind(&self, own: &Line, after: &[Flight]) -> Result<()> {
        let number = own.number.load(Ordering::Relaxed);
        let mut done = None;
        for it in after.iter().filter(|it| it.lane != number) {
            let other = self.all().get(it.lane).cloned();
            let Some(other) = other.filter(|_| done != Some(it.lane)) else { continue };
            if other.landed.load(Ordering::Acquire) >= it.number {
                continue;
            }
            // SAFETY: streams and an event of this device, which are never given back.
            check("ordering regions", unsafe { sys::cuEventRecord(own.turn, other.stream) })?;
            // SAFETY: as above.
            let code = unsafe { sys::cuStreamWaitEvent(own.stream, own.turn, 0) };
            check("ordering regions", code)?;
            done = Some(it.lane);
        }
        Ok(())
    }

    /// The work of this thread goes on without it.
    pub(super) fn leave(&self) -> Option<Flight> {
        AHEAD.with_borrow_mut(|ahead| {
            let ahead = ahead.take_if(|it| it.of == self.number())?;
            let line = &ahead.lane.line;
            let lane = line.number.load(Ordering::Relaxed);
            let number = line.begun.fetch_add(1, Ordering::AcqRel) + 1;
            self.aloft().push_back(ahead.lane);
            Some(Flight { lane, number })
        })
    }

    /// The stream of a flight, unless that is known to be done.
    pub(super) fn under_way(&self, flight: Flight) -> Option<Arc<Line>> {
        let line = self.all().get(flight.lane).cloned();
        line.filter(|it| it.landed.load(Ordering::Acquire) < flight.number)
    }

    /// Waits for the flights of a stream. The context is current.
    #[allow(unsafe_code, reason = "asks the driver")]
    pub(super) fn land(&self, line: &Arc<Line>) -> Result<()> {
        let begun = line.begun.load(Ordering::Acquire);
        // SAFETY: a stream of the current context.
        check("running a kernel", unsafe { sys::cuStreamSynchronize(line.stream) })?;
        self.landed(line, begun);
        Ok(())
    }

    /// Waits for flights in several streams: one stream follows all of them and is waited for, as to wait
    /// costs five times what it costs to follow. The context is current.
    #[allow(unsafe_code, reason = "asks the driver")]
    pub(super) fn land_together(&self, flights: &[Flight]) -> Result<()> {
        let mut lines: Vec<_> = flights.iter().filter_map(|it| self.under_way(*it)).collect();
        lines.sort_unstable_by_key(|it| it.number.load(Ordering::Relaxed));
        lines.dedup_by(|a, b| Arc::ptr_eq(a, b));
        if lines.len() < 2 {
            return Ok(());
        }
        let mut lane = self.taken()?;
        let begun: Vec<u64> = lines.iter().map(|it| it.begun.load(Ordering::Acquire)).collect();
        let followed = lines.iter().try_for_each(|it| {
            // SAFETY: streams and an event of the current context.
            let code = unsafe {
                match sys::cuEventRecord(lane.line.turn, it.stream) {
                    CUresult::CUDA_SUCCESS => {
                        sys::cuStreamWaitEvent(lane.stream(), lane.line.turn, 0)
                    }
                    code => code,
                }
            };
            check("ordering regions", code)
        });
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
    pub(super) fn go_ahead(&self, here: Entered) -> Result<bool> {
        AHEAD.with_borrow_mut(|ahead| {
            if ahead.is_some() {
                return Ok(false);
            }
            let (of, lane) = (self.number(), self.taken()?);
            **ahead = Some(Ahead { of, lane, is_behind: false, kernel: None, _here: here });
            Ok(true)
        })
    }

    /// Whether this thread goes ahead of its work here: then the context is current.
    pub(super) fn is_ahead(&self) -> bool {
        AHEAD.with_borrow(|it| it.as_ref().is_some_and(|it| it.of == self.number()))
    }

    /// Whether this thread has work here that it has not waited for.
    pub(super) fn is_behind(&self) -> bool {
        AHEAD.with_borrow(|it| it.as_ref().is_some_and(|it| it.of == self.number() && it.is_behind))
    }

    /// Waits for all work of this thread.
    pub(super) fn catch_up(&self) -> Result<()> {
        AHEAD.with_borrow_mut(|ahead| match &mut **ahead {
            Some(ahead) if ahead.of == self.number() && ahead.is_behind => {
                self.wait_for(ahead, "waiting")
            }
            _ => Ok(()),
        })
    }

    /// From now on its calls wait; what there is must be waited for before.
    pub(super) fn stay(&self) {
        AHEAD.with_borrow_mut(|ahead| {
            if let Some(mut ahead) = ahead.take_if(|it| it.of == self.number()) {
                ahead.lane.is_left = false;
                self.idle().push(ahead.lane);
            }
        });
    }

    /// The kernel that a thread which goes ahead has started last.
    pub(super) fn kernel(&self) -> Option<String> {
        AHEAD.with_borrow(|it| it.as_ref().and_then(|it| it.kernel.clone()))
    }
}

/// The copies of a stream end here: what comes now is a kernel, for which others need not wait.
#[allow(unsafe_code, reason = "asks the driver")]
fn mark(line: &Line) -> Result<()> {
    if line.copies.load(Ordering::Relaxed) != SOME {
        return Ok(());
    }
    // SAFETY: an event and a stream of the current context.
    check("ordering copies", unsafe { sys::cuEventRecord(line.event, line.stream) })?;
    line.copies.store(MARKED, Ordering::Release);
    Ok(())
}
