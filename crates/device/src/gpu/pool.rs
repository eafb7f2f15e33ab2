//! The streams of a device: who has which, and what comes after what.
//!
//! A stream is one caller's at a time ([`Own`]); a call that waits for its work takes one for itself. What was
//! copied to the device is there for all who come later: their streams wait for those copies, not for the
//! kernels behind them ([`Pool::order`]).
//!
//! Work may also be submitted ([`Pool::submit`]): its caller goes away, and others wait for its [`Event`]. A few
//! streams are kept for that, each has several such pieces of work, one after another; who waits for one waits for
//! its stream. A stream may gather kernels that nobody waits for, to start them together.
//!
//! And work may be left ([`Pool::leave`]): nobody waits for it, and everything that comes later, in whichever stream,
//! comes after it. Who comes next mostly gets the stream that it is in, and so pays nothing for the order. Only a
//! thread that has the device for itself may leave work: the work of several would stand in one line.
//!
//! What a stream is, a plugin says ([`DriverStream`]).

use std::any::Any;
use std::collections::{BTreeSet, VecDeque};
use std::ffi::c_void;
use std::fmt::Debug;
use std::process;
use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::error::Started;
use crate::{Event, Result};

/// What a driver does things in, in their order. It is made once and never given back.
pub(crate) trait DriverStream: Debug + Send + Sync {
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
    fn follow_mark(&self, other: &dyn DriverStream) -> Result<()>;

    /// The same for all that another has now.
    fn follow(&self, other: &dyn DriverStream) -> Result<()>;

    /// Hands its mark to a call of the driver, during which it stays.
    fn with_mark(&self, act: &mut dyn FnMut(*mut c_void) -> Result<()>) -> Result<()>;
}

/// Makes streams.
pub(crate) trait Maker: Debug + Send + Sync {
    /// A new one.
    fn stream(&self) -> Result<Box<dyn DriverStream>>;

    /// Memory of the host that the device copies from and to without the processor, where there is such:
    /// [`STAGED`] bytes, or null.
    fn stage(&self) -> *mut u8;
}

/// In which order kernels run that are started together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// In any.
    Any,
    /// Each after the one before.
    Chain,
}

/// A stream as the one has it whose it is, with memory of the host to pass small things through.
#[derive(Debug)]
pub(crate) struct Own {
    shared: Arc<Shared>,
    /// [`STAGED`] bytes; null where there was no such memory.
    stage: *mut u8,
    /// So many of them wait to be copied.
    staged: usize,
    /// Its work is to be submitted, so that what it reads must be read by then.
    is_submitted: bool,
    /// A kernel may be left for later: its work comes after none, other work is under way, and nothing was put
    /// into the stream for it.
    may_gather: bool,
    /// A copy may not have read its source, which is the caller's.
    reads_host: bool,
    /// So many kernels were left since it was waited for.
    left: usize,
    /// Which change of [`Pool::changes`] it has followed last.
    followed: u64,
}

/// A stream as others know it.
#[derive(Debug)]
pub(crate) struct Shared {
    stream: Box<dyn DriverStream>,
    /// One of the numbers below: copies to the device that were not waited for.
    copies: AtomicU8,
    /// Its place among all.
    number: AtomicUsize,
    /// How many pieces of work were submitted in it.
    submitted: AtomicU64,
    /// How many of them are done, as far as anybody has looked.
    done: AtomicU64,
    /// Kernels that were left since it was waited for, each of a name once.
    left: Mutex<BTreeSet<Started>>,
}

impl Shared {
    fn left(&self) -> MutexGuard<'_, BTreeSet<Started>> {
        self.left.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_clear(&self) -> bool {
        self.done.load(Ordering::Acquire) == self.submitted.load(Ordering::Acquire)
    }
}

/// There are none.
const NONE: u8 = 0;
/// There are some, at the end of the stream.
const SOME: u8 = 1;
/// There are some, up to the mark.
const MARKED: u8 = 2;
/// There is work that was left, at the end of the stream.
const LEFT: u8 = 3;

/// So many kernels are left in a stream: a driver's list of what is to be done has an end.
const MOST_LEFT: usize = 1000;

/// After so many kernels that were left in a row, more will follow.
const IN_A_ROW: usize = 3;

/// So many streams in a row one thread has taken before it may leave work.
const ALONE: u32 = 8;

thread_local! {
    /// Tells threads apart by its address.
    static ME: u8 = const { 0 };
}

/// Copies of so many bytes go by way of such memory: the driver would do that too, with more ado.
pub(crate) const STAGED: usize = 64 << 10;

// SAFETY: the memory is used by the one who has the stream.
#[allow(unsafe_code, reason = "an address of memory that is owned")]
unsafe impl Send for Own {}

#[allow(unsafe_code, reason = "places in memory that is owned")]
impl Own {
    fn make(maker: &dyn Maker) -> Result<Own> {
        let shared = Arc::new(Shared {
            stream: maker.stream()?,
            copies: AtomicU8::new(NONE),
            number: AtomicUsize::new(0),
            submitted: AtomicU64::new(0),
            done: AtomicU64::new(0),
            left: Mutex::default(),
        });
        let stage = maker.stage();
        let (is_submitted, may_gather, reads_host) = (false, false, false);
        let (left, followed) = (0, 0);
        Ok(Own { shared, stage, staged: 0, is_submitted, may_gather, reads_host, left, followed })
    }

    /// The stream, as the driver knows it.
    pub(crate) fn handle(&self) -> *mut c_void {
        self.shared.stream.handle()
    }

    /// The stream, as its plugin knows it, if a kernel may be left for later, and in which order with others.
    pub(crate) fn gatherer<T: 'static>(&self) -> Option<(&T, Order)> {
        let order = match self.may_gather {
            true => Order::Any,
            false if !self.is_submitted && self.left >= IN_A_ROW => Order::Chain,
            false => return None,
        };
        self.shared.stream.as_any().downcast_ref().map(|it| (it, order))
    }

    /// Whether its work is submitted, so that what it reads must be read before the call returns.
    pub(crate) fn is_submitted(&self) -> bool {
        self.is_submitted
    }

    /// Whether there is work in it that was left.
    pub(crate) fn has_left(&self) -> bool {
        self.left > 0
    }

    /// A copy is put into it whose source it may read later.
    pub(crate) fn reads_later(&mut self) {
        self.reads_host = true;
    }

    /// Whether all that the host has was read.
    pub(crate) fn has_read(&self) -> bool {
        !self.reads_host
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

    /// The same; where there is none and what is copied must be read before the call returns, room is waited
    /// for.
    pub(crate) fn room_to_read(&mut self, len: usize) -> Result<Option<*mut u8>> {
        let found = self.room(len);
        if found.is_some() || !self.is_submitted || len > STAGED {
            return Ok(found);
        }
        self.wait("copying to the device")?;
        Ok(self.room(len))
    }

    /// Waits until all is done that was put into the stream.
    pub(crate) fn wait(&mut self, what: &'static str) -> Result<()> {
        let waited = self.shared.stream.wait(what);
        (self.staged, self.reads_host) = (0, false);
        waited
    }
}

/// What is put into a stream, as far as others are concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Work {
    /// Nobody else looks for what it does before it was waited for.
    Own,
    /// Data for the device, which others may look for.
    Copy,
    /// A kernel; others may not look for what it writes before its region ends.
    Kernel,
}

/// So many streams have submitted work: that is how many pieces of it run at the same time at most.
const MOST_SUBMITTED: usize = 16;

/// Streams that nobody uses.
#[derive(Debug, Default)]
struct Idle {
    clear: Vec<Own>,
    /// With work that was left.
    left: Vec<Own>,
}

/// The streams of a device; there are as many as callers were at work at once, and some for submitted work.
#[derive(Debug)]
pub(crate) struct Pool {
    maker: Box<dyn Maker>,
    /// Those that nobody uses at the moment.
    idle: Mutex<Idle>,
    /// Those of submitted work that nobody adds to at the moment, the one that was longest ago first.
    submitted: Mutex<VecDeque<Own>>,
    /// All of them.
    all: Mutex<Vec<Arc<Shared>>>,
    /// How many these are.
    count: AtomicUsize,
    /// How many have copies, or work that was left, that were not waited for.
    copying: AtomicUsize,
    /// Grows when there is more of that.
    changes: AtomicU64,
    /// Whose streams they are.
    process: u32,
    /// The thread that has taken a stream last; 0 before the first.
    user: AtomicUsize,
    /// How many streams it has taken in a row.
    turns: AtomicU32,
}

impl Pool {
    pub(crate) fn new(maker: Box<dyn Maker>) -> Pool {
        Pool {
            maker,
            idle: Mutex::default(),
            submitted: Mutex::default(),
            all: Mutex::default(),
            count: AtomicUsize::new(0),
            copying: AtomicUsize::new(0),
            changes: AtomicU64::new(0),
            process: process::id(),
            user: AtomicUsize::new(0),
            turns: AtomicU32::new(ALONE),
        }
    }

    /// A stream whose work is waited for by the caller, or left.
    pub(crate) fn take(&self) -> Result<Own> {
        let me = ME.with(|it| std::ptr::from_ref(it).addr());
        match self.user.swap(me, Ordering::Relaxed) {
            before if before == me || before == 0 => {
                // More than enough is enough.
                if self.turns.load(Ordering::Relaxed) < ALONE {
                    self.turns.fetch_add(1, Ordering::Relaxed);
                }
            }
            _ => self.turns.store(0, Ordering::Relaxed),
        }
        // One with work that was left: what is put into it comes after that.
        let left = self.idle().left.pop();
        left.map_or_else(|| self.take_clear(), Ok)
    }

    /// A stream with nothing in it.
    fn take_clear(&self) -> Result<Own> {
        let clear = self.idle().clear.pop();
        if let Some(own) = clear {
            return Ok(own);
        }
        let own = Own::make(&*self.maker)?;
        let mut all = self.all();
        own.shared.number.store(all.len(), Ordering::Relaxed);
        all.push(Arc::clone(&own.shared));
        drop(all);
        self.count.fetch_add(1, Ordering::Relaxed);
        Ok(own)
    }

    /// Takes a stream back whose work was waited for, or left.
    pub(crate) fn put(&self, mut own: Own) {
        (own.is_submitted, own.may_gather) = (false, false);
        let mut idle = self.idle();
        match own.has_left() {
            true => idle.left.push(own),
            false => idle.clear.push(own),
        }
    }

    /// Everything that comes later comes after what is in the stream, the kernels that were started among it.
    /// False: it must be waited for.
    pub(crate) fn leave(&self, own: &mut Own, started: Option<&Started>) -> bool {
        if own.left >= MOST_LEFT || self.turns.load(Ordering::Relaxed) < ALONE {
            return false;
        }
        own.left += 1;
        if let Some(it) = started {
            let mut left = own.shared.left();
            if !left.contains(it) {
                left.insert(it.clone());
            }
        }
        if own.shared.copies.swap(LEFT, Ordering::AcqRel) == NONE {
            self.copying.fetch_add(1, Ordering::AcqRel);
        }
        self.changed(own);
        true
    }

    /// Others have more to come after, which was put into this stream.
    pub(crate) fn changed(&self, own: &mut Own) {
        let before = self.changes.fetch_add(1, Ordering::AcqRel);
        if own.followed == before {
            own.followed = before + 1;
        }
    }

    /// Kernels that were left and not waited for, each of a name once.
    pub(crate) fn left(&self) -> Vec<Started> {
        let all = self.all().clone();
        let left: BTreeSet<Started> = all.iter().flat_map(|it| it.left().clone()).collect();
        left.into_iter().collect()
    }

    /// Whether there may be work that was left, by this process and not by the one that it was forked from.
    pub(crate) fn has_left(&self) -> bool {
        self.copying.load(Ordering::Acquire) > 0 && self.process == process::id()
    }

    /// Waits for all work that was left.
    pub(crate) fn wait_for_left(&self) -> Result<()> {
        let what = "running a kernel";
        while let Some(mut own) = { self.idle().left.pop() } {
            let waited = self.wait(&mut own, what);
            self.put(own);
            waited?;
        }
        // Others may have some in streams that they use now, with copies behind it.
        let all = self.all().clone();
        let is_used = |it: &&Arc<Shared>| it.copies.load(Ordering::Acquire) != NONE;
        all.iter().filter(is_used).try_for_each(|it| it.stream.wait(what))
    }

    fn idle(&self) -> MutexGuard<'_, Idle> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn submitted(&self) -> MutexGuard<'_, VecDeque<Own>> {
        self.submitted.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn all(&self) -> MutexGuard<'_, Vec<Arc<Shared>>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// All locks, for one who makes a copy of the process.
    pub(crate) fn hold(&self) -> impl Sized + '_ {
        (self.idle(), self.submitted(), self.all())
    }

    /// Something is about to be put into a stream: behind the copies of all others.
    pub(crate) fn order(&self, own: &mut Own, work: Work) -> Result<()> {
        self.follow(own)?;
        match work {
            Work::Copy => self.note(&own.shared),
            // Who is alone needs no mark; who comes later makes one, behind the kernel.
            Work::Kernel if self.count.load(Ordering::Relaxed) > 1 => mark(&own.shared)?,
            Work::Own | Work::Kernel => {}
        }
        own.may_gather &= work == Work::Kernel;
        Ok(())
    }

    /// Makes a stream wait for the copies of others, and for work that was left.
    fn follow(&self, own: &mut Own) -> Result<()> {
        let is_own = usize::from(own.shared.copies.load(Ordering::Relaxed) != NONE);
        if self.copying.load(Ordering::Acquire) == is_own {
            return Ok(());
        }
        let changes = self.changes.load(Ordering::Acquire);
        if own.followed == changes {
            return Ok(());
        }
        let all = self.all().clone();
        for other in all.iter().filter(|it| !Arc::ptr_eq(it, &own.shared)) {
            // One that is marked again meanwhile is behind the same copies.
            match other.copies.load(Ordering::Acquire) {
                NONE => {}
                MARKED => own.shared.stream.follow_mark(&*other.stream)?,
                _ => own.shared.stream.follow(&*other.stream)?,
            }
        }
        own.followed = changes;
        Ok(())
    }

    /// The stream gets a copy that others may look for.
    fn note(&self, shared: &Shared) {
        if shared.copies.swap(SOME, Ordering::AcqRel) == NONE {
            self.copying.fetch_add(1, Ordering::AcqRel);
        }
    }

    /// The copies of the stream are there.
    fn forget(&self, shared: &Shared) {
        if shared.copies.swap(NONE, Ordering::AcqRel) != NONE {
            self.copying.fetch_sub(1, Ordering::AcqRel);
        }
    }

    /// Waits for all that is in a stream.
    pub(crate) fn wait(&self, own: &mut Own, what: &'static str) -> Result<()> {
        let waited = own.wait(what);
        if waited.is_ok() {
            own.left = 0;
            own.shared.left().clear();
        }
        self.forget(&own.shared);
        waited
    }

    /// A stream for work that is submitted, behind these events; `None`: there is none that could read in time
    /// what is passed by value.
    pub(crate) fn take_behind(&self, events: &[Event]) -> Result<Option<Own>> {
        let mut own = self.taken_behind(events)?;
        if own.stage.is_null() {
            self.put(own);
            return Ok(None);
        }
        own.is_submitted = true;
        own.may_gather &= events.is_empty();
        if let Err(error) = self.queue_behind(&own.shared, events) {
            self.submitted().push_back(own);
            return Err(error);
        }
        Ok(Some(own))
    }

    /// The stream of an event it comes after, or one that is clear, a new one if there are not too many, or the
    /// one that was used longest ago.
    fn taken_behind(&self, events: &[Event]) -> Result<Own> {
        let mut submitted = self.submitted();
        // Only where it is the last: those behind it need not be waited for.
        let is_behind = |own: &Own| {
            let number = own.shared.number.load(Ordering::Relaxed);
            let last = own.shared.submitted.load(Ordering::Relaxed);
            events.iter().any(|it| it.stream == number && it.number == last)
        };
        let others = submitted.iter().any(|it| !it.shared.is_clear());
        let gathers = |it: &Own| it.shared.stream.gathers();
        let place = match submitted.iter().rposition(is_behind) {
            Some(place) => Some(place),
            None if events.is_empty() && submitted.back().is_some_and(gathers) => {
                Some(submitted.len() - 1)
            }
            None if submitted.front().is_some_and(|it| it.shared.is_clear()) => Some(0),
            None if submitted.len() < MOST_SUBMITTED => None,
            None => Some(0),
        };
        let own = place.and_then(|it| submitted.remove(it));
        drop(submitted);
        let mut own = own.map_or_else(|| self.take_clear(), Ok)?;
        if own.shared.is_clear() {
            own.staged = 0;
        }
        own.may_gather = others;
        Ok(own)
    }

    /// Makes a stream wait for events in others.
    fn queue_behind(&self, own: &Shared, events: &[Event]) -> Result<()> {
        let number = own.number.load(Ordering::Relaxed);
        let mut followed = None;
        for it in events.iter().filter(|it| it.stream != number) {
            let other = self.all().get(it.stream).cloned();
            let Some(other) = other.filter(|_| followed != Some(it.stream)) else { continue };
            if other.done.load(Ordering::Acquire) >= it.number {
                continue;
            }
            own.stream.follow(&*other.stream)?;
            followed = Some(it.stream);
        }
        Ok(())
    }

    /// The work of a stream goes on without its caller.
    pub(crate) fn submit(&self, own: Own) -> Event {
        let stream = own.shared.number.load(Ordering::Relaxed);
        let number = own.shared.submitted.fetch_add(1, Ordering::AcqRel) + 1;
        self.submitted().push_back(own);
        Event { stream, number }
    }

    /// The stream of an event, unless that is known to have come.
    pub(crate) fn under_way(&self, event: Event) -> Option<Arc<Shared>> {
        let shared = self.all().get(event.stream).cloned();
        shared.filter(|it| it.done.load(Ordering::Acquire) < event.number)
    }

    /// Waits for what was submitted in a stream.
    pub(crate) fn wait_for(&self, shared: &Arc<Shared>) -> Result<()> {
        let submitted = shared.submitted.load(Ordering::Acquire);
        shared.stream.wait("running a kernel")?;
        self.came(shared, submitted);
        Ok(())
    }

    /// Waits for events of several streams: one stream follows all of them and is waited for, as to wait
    /// costs five times what it costs to follow.
    pub(crate) fn wait_for_all(&self, events: &[Event]) -> Result<()> {
        let mut streams: Vec<_> = events.iter().filter_map(|it| self.under_way(*it)).collect();
        streams.sort_unstable_by_key(|it| it.number.load(Ordering::Relaxed));
        streams.dedup_by(|a, b| Arc::ptr_eq(a, b));
        if streams.len() < 2 {
            return Ok(());
        }
        let mut own = self.take_clear()?;
        let submitted: Vec<u64> =
            streams.iter().map(|it| it.submitted.load(Ordering::Acquire)).collect();
        let followed = streams.iter().try_for_each(|it| own.shared.stream.follow(&*it.stream));
        let waited = own.wait("running a kernel");
        self.put(own);
        followed.and(waited)?;
        streams.iter().zip(submitted).for_each(|(shared, submitted)| self.came(shared, submitted));
        Ok(())
    }

    /// So much of what was submitted in a stream is done.
    fn came(&self, shared: &Arc<Shared>, submitted: u64) {
        shared.done.fetch_max(submitted, Ordering::AcqRel);
        // Who adds to it now may have copies that others look for.
        let adds_nobody = self.submitted();
        if shared.is_clear() && adds_nobody.iter().any(|it| Arc::ptr_eq(&it.shared, shared)) {
            self.forget(shared);
        }
    }

    /// Waits for everything that anybody has asked for.
    pub(crate) fn wait_for_everything(&self) -> Result<()> {
        let all = self.all().clone();
        all.iter().try_for_each(|it| it.stream.wait("waiting"))
    }
}

/// The copies of a stream end here: what comes now is a kernel, for which others need not wait.
fn mark(shared: &Shared) -> Result<()> {
    if shared.copies.load(Ordering::Relaxed) != SOME {
        return Ok(());
    }
    shared.stream.mark()?;
    shared.copies.store(MARKED, Ordering::Release);
    Ok(())
}
