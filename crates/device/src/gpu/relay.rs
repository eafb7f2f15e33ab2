//! Large copies between a device and memory that it does not reach by itself: in pieces, which threads of the
//! host carry to or from places in locked memory while others are on the bus.
//!
//! Drivers do the same with one thread, and a bus is several times faster than one thread carries. The thread
//! that wants the copy speaks to the driver, and carries while it has nothing to say; the others only carry,
//! and sleep between copies. A copy that finds others at it goes the driver's way, and so does all until the
//! making of places and threads is worth it.
//!
//! Pieces are numbered through all copies: the place of one is that of its number, so a place that is still on
//! the bus when its copy is forgotten is waited for by the next who wants it. After a failure the relay is not
//! used again.
//!
//! What a bus is, a plugin says ([`Bus`]).

use std::ffi::c_void;
use std::fmt::Debug;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError, TryLockError};
use std::{env, process, ptr, thread};

use crate::{DeviceError, Result};

/// So many threads carry, the one that wants the copy among them; one: none is made.
pub(crate) const THREADS_VARIABLE: &str = "FERRY_COPY_THREADS";

/// Copies of fewer bytes go the driver's way: it is as fast.
pub(crate) const LEAST: usize = 4 << 20;

/// Bytes of a piece.
const PIECE: usize = 1 << 20;

/// How many pieces are on their way at most.
pub(crate) const PLACES: usize = 32;

/// Bytes of all places.
pub(crate) const BYTES: usize = PIECE * PLACES;

/// So many bytes go the driver's way before places are made: to lock these takes as long as to copy those.
const WORTH: usize = 64 << 20;

/// More threads do not carry more.
const MOST_THREADS: usize = 9;

/// Fewer do not carry more than the driver.
const FEWEST_THREADS: usize = 3;

/// What a driver does for a relay. Each place has a mark.
#[allow(unsafe_code, reason = "addresses of two memories")]
pub(crate) trait Bus: Debug + Send + Sync {
    /// Whether the device reaches this memory of the host by itself.
    fn reaches(&self, at: *const u8) -> bool;

    /// Makes the marks and the places: locked memory of [`BYTES`] bytes, which is never given back. `None`: there
    /// is no such.
    fn places(&self) -> Option<*mut u8>;

    /// Puts a copy from a place to the device into a stream, and the place's mark behind it.
    ///
    /// # Safety
    /// Both have `len` bytes, and the place's stay as they are until the mark is reached.
    unsafe fn put_in(&self, on: On, device: u64, place: *const u8, len: usize) -> Result<()>;

    /// The same from the device to a place.
    ///
    /// # Safety
    /// As above.
    unsafe fn put_out(&self, on: On, place: *mut u8, device: u64, len: usize) -> Result<()>;

    /// Whether the mark of a place is reached.
    fn is_done(&self, mark: usize) -> Result<bool>;

    /// Waits for it.
    fn wait(&self, mark: usize) -> Result<()>;
}

/// Where a copy is put.
#[derive(Clone, Copy, Debug)]
pub(crate) struct On {
    /// A stream, as the driver knows it.
    pub(crate) stream: *mut c_void,
    /// The number of a place.
    pub(crate) mark: usize,
}

/// The way of large copies.
#[derive(Debug)]
pub(crate) struct Relay {
    bus: Box<dyn Bus>,
    /// How many carry; none where the user or the machine does not want that.
    threads: Option<usize>,
    /// The process that the threads belong to: a fork leaves them behind.
    process: u32,
    /// Bytes that went the driver's way and would have come here.
    missed: AtomicUsize,
    station: OnceLock<Option<Station>>,
}

/// What a relay has when it is worth it.
#[derive(Debug)]
struct Station {
    crew: Arc<Crew>,
    /// Whose turn it is.
    turn: Mutex<Turn>,
}

/// What is known between copies.
#[derive(Debug, Default)]
struct Turn {
    /// Pieces before this one are not on the bus any more.
    cleared: u64,
    /// The number of the next piece.
    next: u64,
    has_failed: bool,
}

/// Threads that carry, and what they are to do.
#[derive(Debug)]
struct Crew {
    /// [`BYTES`] bytes.
    places: *mut u8,
    state: Mutex<State>,
    /// There is something to carry.
    work: Condvar,
    /// Something was carried.
    news: Condvar,
}

// SAFETY: a piece of the memory is used by one thread at a time, the one that has taken it.
#[allow(unsafe_code, reason = "an address of memory that is owned")]
unsafe impl Send for Crew {}
// SAFETY: as above.
#[allow(unsafe_code, reason = "an address of memory that is owned")]
unsafe impl Sync for Crew {}

#[derive(Debug)]
struct State {
    load: Load,
    /// The next piece that is to be carried, if it is before `limit`.
    next: u64,
    limit: u64,
    /// How many pieces threads have in hand.
    in_hand: usize,
    /// The pieces that were carried, by their places, until somebody has taken note.
    carried: [bool; PLACES],
}

/// What is copied.
#[derive(Clone, Copy, Debug)]
struct Load {
    host: *mut u8,
    len: usize,
    /// The number of its first piece.
    first: u64,
    is_in: bool,
}

// SAFETY: the memory stays until the copy is done, and nobody else uses it: its caller's promise.
#[allow(unsafe_code, reason = "an address of memory that a caller lends")]
unsafe impl Send for Load {}

impl Load {
    /// The bytes of a piece.
    fn range(&self, piece: u64) -> Range<usize> {
        let start = usize::try_from(piece - self.first).unwrap_or(usize::MAX).saturating_mul(PIECE);
        start.min(self.len)..start.saturating_add(PIECE).min(self.len)
    }

    /// The number behind its last piece.
    fn end(&self) -> u64 {
        self.first + self.len.div_ceil(PIECE) as u64
    }
}

/// The place of a piece.
fn place_of(piece: u64) -> usize {
    usize::try_from(piece % PLACES as u64).unwrap_or(0)
}

impl Relay {
    /// With as many threads as the user wants or the machine has room for. Nothing is made yet.
    pub(crate) fn new(bus: Box<dyn Bus>) -> Result<Relay> {
        let word = env::var(THREADS_VARIABLE).unwrap_or_default();
        let threads = threads_of(word.trim())?;
        Ok(Relay::with_threads(bus, threads))
    }

    fn with_threads(bus: Box<dyn Bus>, threads: Option<usize>) -> Relay {
        let (missed, station) = (AtomicUsize::new(0), OnceLock::new());
        Relay { bus, threads, process: process::id(), missed, station }
    }

    /// Copies to the device, in a stream; the source was read when this returns. `None`: nothing was done, the
    /// driver may do it.
    ///
    /// # Safety
    /// As [`crate::Device::copy_in`].
    #[allow(unsafe_code, reason = "addresses of two memories")]
    pub(crate) unsafe fn copy_in(
        &self,
        stream: *mut c_void,
        dst: u64,
        src: *const u8,
        len: usize,
    ) -> Option<Result<()>> {
        // Nothing is written to it.
        self.copy(src.cast_mut(), len, true, |station, turn, load| {
            station.bring_in(&*self.bus, stream, dst, turn, load)
        })
    }

    /// Copies from the device, in a stream; all has arrived when this returns. `None` as above.
    ///
    /// # Safety
    /// As [`crate::Device::copy_out`].
    #[allow(unsafe_code, reason = "addresses of two memories")]
    pub(crate) unsafe fn copy_out(
        &self,
        stream: *mut c_void,
        dst: *mut u8,
        src: u64,
        len: usize,
    ) -> Option<Result<()>> {
        self.copy(dst, len, false, |station, turn, load| {
            station.bring_out(&*self.bus, stream, src, turn, load)
        })
    }

    fn copy(
        &self,
        host: *mut u8,
        len: usize,
        is_in: bool,
        bring: impl FnOnce(&Station, &mut Turn, Load) -> Result<()>,
    ) -> Option<Result<()>> {
        let threads = self.threads.filter(|_| len >= LEAST && self.process == process::id())?;
        if self.bus.reaches(host) {
            return None;
        }
        if self.station.get().is_none()
            && self.missed.fetch_add(len, Ordering::Relaxed).saturating_add(len) < WORTH
        {
            return None;
        }
        let station = self.station.get_or_init(|| Station::make(&*self.bus, threads)).as_ref()?;
        let mut turn = match station.turn.try_lock() {
            Ok(turn) => turn,
            Err(TryLockError::Poisoned(it)) => it.into_inner(),
            Err(TryLockError::WouldBlock) => return None,
        };
        if turn.has_failed {
            return None;
        }
        let load = Load { host, len, first: turn.next, is_in };
        turn.next = load.end();
        let done = bring(station, &mut turn, load);
        if done.is_err() {
            turn.has_failed = true;
            station.crew.stop();
        }
        Some(done)
    }
}

/// How many threads carry, by the user's word or the machine.
fn threads_of(word: &str) -> Result<Option<usize>> {
    if word.is_empty() {
        let cores = thread::available_parallelism().map_or(1, Into::into);
        return Ok(Some(cores.min(MOST_THREADS)).filter(|it| *it >= FEWEST_THREADS));
    }
    let number: usize = word.parse().map_err(|_| {
        DeviceError::Failed(format!("{THREADS_VARIABLE}: `{word}` is no number of threads"))
    })?;
    /// There are no more pieces at a time.
    const ALL: usize = PLACES;
    Ok(Some(number.min(ALL)).filter(|it| *it > 1))
}

impl Station {
    fn make(bus: &dyn Bus, threads: usize) -> Option<Station> {
        let load = Load { host: ptr::null_mut(), len: 0, first: 0, is_in: true };
        let state = State { load, next: 0, limit: 0, in_hand: 0, carried: [false; PLACES] };
        let crew = Arc::new(Crew {
            places: bus.places()?,
            state: Mutex::new(state),
            work: Condvar::new(),
            news: Condvar::new(),
        });
        /// They call nothing but a copy.
        const STACK: usize = 256 << 10;
        for _ in 1..threads {
            let member = Arc::clone(&crew);
            let builder = thread::Builder::new().name("ferry-copies".into()).stack_size(STACK);
            // With fewer it takes longer, with none the caller carries.
            let _ = builder.spawn(move || member.carry_for_ever());
        }
        Some(Station { crew, turn: Mutex::default() })
    }

    /// Pieces are carried to their places in any order, and put on the bus in theirs.
    fn bring_in(
        &self,
        bus: &dyn Bus,
        stream: *mut c_void,
        device: u64,
        turn: &mut Turn,
        load: Load,
    ) -> Result<()> {
        let crew = &*self.crew;
        let free = |cleared: u64| load.end().min(cleared + PLACES as u64);
        crew.begin(load, free(turn.cleared).max(load.first));
        for piece in load.first..load.end() {
            while !crew.is_carried(piece) {
                // Its place is that of a piece which is on the bus.
                if free(turn.cleared) <= piece {
                    bus.wait(place_of(turn.cleared))?;
                    turn.cleared += 1;
                    crew.allow(free(turn.cleared));
                }
            }
            let (mark, range) = (place_of(piece), load.range(piece));
            let at = device.wrapping_add(range.start as u64);
            let place = crew.place(mark);
            // SAFETY: the range is the caller's promise, the place has a whole piece and is free.
            #[allow(unsafe_code, reason = "a piece of the caller's memory on the device")]
            unsafe {
                bus.put_in(On { stream, mark }, at, place, range.len())?;
            }
            let before = turn.cleared;
            while turn.cleared <= piece && bus.is_done(place_of(turn.cleared))? {
                turn.cleared += 1;
            }
            if turn.cleared > before {
                crew.allow(free(turn.cleared));
            }
        }
        Ok(())
    }

    /// Pieces come from the bus in their order, and are carried away in any.
    fn bring_out(
        &self,
        bus: &dyn Bus,
        stream: *mut c_void,
        device: u64,
        turn: &mut Turn,
        load: Load,
    ) -> Result<()> {
        let crew = &*self.crew;
        while turn.cleared < load.first {
            bus.wait(place_of(turn.cleared))?;
            turn.cleared += 1;
        }
        crew.begin(load, load.first);
        let mut asked = load.first;
        for piece in load.first..load.end() {
            // Places are free again in the order of the bus.
            while turn.cleared < piece && crew.was_carried(turn.cleared) {
                turn.cleared += 1;
            }
            while asked <= piece && asked >= turn.cleared + PLACES as u64 {
                if crew.is_carried(turn.cleared) {
                    turn.cleared += 1;
                }
            }
            while asked < load.end() && asked < turn.cleared + PLACES as u64 {
                let (mark, range) = (place_of(asked), load.range(asked));
                let at = device.wrapping_add(range.start as u64);
                let place = crew.place(mark);
                // SAFETY: as above.
                #[allow(unsafe_code, reason = "a piece of the caller's memory on the device")]
                unsafe {
                    bus.put_out(On { stream, mark }, place, at, range.len())?;
                }
                asked += 1;
            }
            bus.wait(place_of(piece))?;
            crew.allow(piece + 1);
        }
        while turn.cleared < load.end() {
            if crew.is_carried(turn.cleared) {
                turn.cleared += 1;
            }
        }
        Ok(())
    }
}

impl Crew {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Where a place is.
    #[allow(unsafe_code, reason = "a place in memory that is owned")]
    fn place(&self, number: usize) -> *mut u8 {
        // SAFETY: there are `PLACES` of them.
        unsafe { self.places.add(number % PLACES * PIECE) }
    }

    /// A copy begins; its pieces before this one may be carried.
    fn begin(&self, load: Load, limit: u64) {
        let mut state = self.state();
        (state.load, state.next, state.limit) = (load, load.first, limit);
        self.wake(state);
    }

    /// Pieces before this one may be carried.
    fn allow(&self, limit: u64) {
        let mut state = self.state();
        state.limit = limit;
        self.wake(state);
    }

    fn wake(&self, state: MutexGuard<'_, State>) {
        let pieces = state.limit - state.next.min(state.limit);
        drop(state);
        match pieces {
            0 => {}
            1 => self.work.notify_one(),
            _ => self.work.notify_all(),
        }
    }

    /// Nothing more is carried; what threads have in hand is waited for, as it is the caller's.
    fn stop(&self) {
        let mut state = self.state();
        state.limit = state.next;
        while state.in_hand > 0 {
            state = self.news.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Whether a piece was carried, which is said once.
    fn was_carried(&self, piece: u64) -> bool {
        self.state().note(piece)
    }

    /// The same; if it was not, this thread has carried another or waited a while.
    fn is_carried(&self, piece: u64) -> bool {
        let mut state = self.state();
        if state.note(piece) {
            return true;
        }
        if state.next < state.limit {
            drop(self.carry(state));
        } else if piece < state.limit {
            state = self.news.wait(state).unwrap_or_else(PoisonError::into_inner);
            return state.note(piece);
        }
        false
    }

    fn carry_for_ever(&self) {
        let mut state = self.state();
        loop {
            state = match state.next < state.limit {
                true => self.carry(state),
                false => self.work.wait(state).unwrap_or_else(PoisonError::into_inner),
            };
        }
    }

    /// Carries the next piece; there is one.
    #[allow(unsafe_code, reason = "a piece of memory that a caller lends")]
    fn carry<'a>(&'a self, mut state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        let (piece, load) = (state.next, state.load);
        state.next += 1;
        state.in_hand += 1;
        drop(state);
        let (place, range) = (self.place(place_of(piece)), load.range(piece));
        // SAFETY: the range is of the caller's memory, who waits for all that is in hand; the place is free,
        // or full, until the piece is said to be carried, and has as many bytes.
        unsafe {
            let host = load.host.add(range.start);
            match load.is_in {
                true => ptr::copy_nonoverlapping(host, place, range.len()),
                false => ptr::copy_nonoverlapping(place, host, range.len()),
            }
        }
        let mut state = self.state();
        state.in_hand -= 1;
        if let Some(it) = state.carried.get_mut(place_of(piece)) {
            *it = true;
        }
        self.news.notify_one();
        state
    }
}

impl State {
    /// Whether a piece was carried, which is forgotten then.
    fn note(&mut self, piece: u64) -> bool {
        self.carried.get_mut(place_of(piece)).is_some_and(std::mem::take)
    }
}

#[cfg(test)]
mod tests;
