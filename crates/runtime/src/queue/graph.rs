//! Work that waits for other work: the core of queues.
//!
//! A piece of work is known by its [`Ticket`] from when it is added until it is done; what it comes
//! after is said when it is added. A queue is a chain: its newest piece is its end. Threads take what
//! is ready with [`Graph::next`] and sleep when there is nothing; callers sleep in [`Graph::wait`].
//!
//! Pure but for its locks: it knows neither threads nor what work is.

use std::collections::{BTreeMap, VecDeque};

use crate::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// A piece of work. One that the graph does not know is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Ticket(u64);

/// A queue: the number of a device and a number on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Key {
    pub(crate) device: usize,
    pub(crate) queue: i64,
}

struct Piece<W> {
    /// `None`: there is nothing to do, it only comes after others.
    work: Option<W>,
    /// How many pieces it comes after that are not done.
    blockers: usize,
    followers: Vec<Ticket>,
}

struct State<W> {
    /// The process that all this belongs to: a child has none of its parent's work.
    process: u32,
    newest: u64,
    pieces: BTreeMap<Ticket, Piece<W>>,
    ready: VecDeque<Ticket>,
    ends: BTreeMap<Key, Ticket>,
    /// Threads that take work, but for those that wait for other work.
    threads: usize,
    /// Those of them that sleep.
    idle: usize,
    waiting: usize,
}

/// What follows for whoever has made work ready.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "ready work may wait for a thread"]
pub(crate) enum Hire {
    /// There are threads enough.
    None,
    /// One more thread is wanted; it has been counted.
    One,
}

/// All work that is not done.
pub(crate) struct Graph<W> {
    state: Mutex<State<W>>,
    /// Something is ready.
    ready: Condvar,
    /// Something is done.
    done: Condvar,
    /// So many threads at most.
    most: usize,
}

impl<W> Graph<W> {
    pub(crate) const fn new(most: usize) -> Graph<W> {
        Graph {
            state: Mutex::new(State {
                process: 0,
                newest: 0,
                pieces: BTreeMap::new(),
                ready: VecDeque::new(),
                ends: BTreeMap::new(),
                threads: 0,
                idle: 0,
                waiting: 0,
            }),
            ready: Condvar::new(),
            done: Condvar::new(),
            most,
        }
    }

    /// The state as it is, also another process's.
    pub(crate) fn hold(&self) -> MutexGuard<'_, impl Sized> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock(&self) -> MutexGuard<'_, State<W>> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let process = std::process::id();
        if state.process != process {
            state.process = process;
            // Not dropped: what it refers to may be in the middle of a change.
            std::mem::forget(std::mem::take(&mut state.pieces));
            state.ready.clear();
            state.ends.clear();
            (state.threads, state.idle, state.waiting) = (0, 0, 0);
        }
        state
    }

    /// Adds work after the end of `queue` and after `others`; `work` may be nothing, then it is done
    /// when all before it is. With `queue` it is that queue's new end.
    pub(crate) fn add(
        &self,
        queue: Option<Key>,
        others: &[Ticket],
        work: Option<W>,
    ) -> (Ticket, Hire) {
        self.insert(queue, |_| others.to_vec(), work)
    }

    /// The place of work in a queue, before it is known what the work is: see [`Graph::fill`]. Also what
    /// was not done then, of all queues of the device.
    pub(crate) fn reserve(&self, queue: Key) -> (Ticket, Vec<Ticket>) {
        let mut state = self.lock();
        let before = state.ends_of(queue.device, None);
        let (ticket, blockers) = state.insert(Some(queue), &[], None);
        if let Some(piece) = state.pieces.get_mut(&ticket) {
            piece.blockers = blockers + 1;
        }
        (ticket, before)
    }

    /// Says what the work is whose place was reserved, and what it comes after besides: work that was added
    /// before, so that nothing waits in a circle.
    pub(crate) fn fill(&self, ticket: Ticket, others: &[Ticket], work: Option<W>) -> Hire {
        let mut state = self.lock();
        let others = others.iter().filter(|it| **it < ticket);
        let blockers = state.follow(ticket, others.copied().collect());
        if let Some(piece) = state.pieces.get_mut(&ticket) {
            piece.work = work;
            piece.blockers = piece.blockers + blockers - 1;
            if piece.blockers == 0 {
                state.now_ready(ticket);
            }
        }
        self.call(state, false)
    }

    /// As [`Graph::add`], after the ends of other queues: of all with `None`.
    pub(crate) fn add_after_queues(
        &self,
        queue: Key,
        device: usize,
        others: Option<&[i64]>,
    ) -> (Ticket, Hire) {
        self.insert(Some(queue), |state| state.ends_of(device, others), None)
    }

    fn insert(
        &self,
        queue: Option<Key>,
        others: impl FnOnce(&State<W>) -> Vec<Ticket>,
        work: Option<W>,
    ) -> (Ticket, Hire) {
        let mut state = self.lock();
        let others = others(&state);
        let (ticket, blockers) = state.insert(queue, &others, work);
        if blockers == 0 {
            state.now_ready(ticket);
        }
        (ticket, self.call(state, false))
    }

    /// Wakes or asks for a thread if there is ready work for it. `is_taker`: the caller takes one.
    fn call(&self, mut state: MutexGuard<'_, State<W>>, is_taker: bool) -> Hire {
        let is_awaited = state.waiting > 0;
        let wanted = state.ready.len().saturating_sub(usize::from(is_taker));
        let (wake, hire) = (wanted > 0 && state.idle > 0, wanted > state.idle);
        let hire = if hire && state.threads < self.most { Hire::One } else { Hire::None };
        if hire == Hire::One {
            state.threads += 1;
        }
        drop(state);
        if wake {
            self.ready.notify_one();
        }
        if is_awaited {
            self.done.notify_all();
        }
        hire
    }

    /// A thread takes work and sleeps until there is some. What it took before is done.
    pub(crate) fn next(&self, finished: Option<Ticket>) -> (Ticket, W, Hire) {
        let mut state = self.lock();
        if let Some(ticket) = finished {
            state.finish(ticket);
        }
        let mut is_woken = false;
        loop {
            if let Some((ticket, work)) = state.take() {
                return (ticket, work, self.call(state, false));
            }
            if !is_woken && state.waiting > 0 {
                self.done.notify_all();
            }
            is_woken = true;
            state.idle += 1;
            state = self.ready.wait(state).unwrap_or_else(PoisonError::into_inner);
            state.idle = state.idle.saturating_sub(1);
        }
    }

    /// Takes work without sleeping, for a caller that stands in for a thread that cannot be had.
    pub(crate) fn try_next(&self) -> Option<(Ticket, W)> {
        self.lock().take()
    }

    /// Work that was taken without a thread is done.
    pub(crate) fn finish(&self, ticket: Ticket) -> Hire {
        let mut state = self.lock();
        state.finish(ticket);
        self.call(state, false)
    }

    /// A thread that was asked for could not be had: is there none at all?
    pub(crate) fn not_hired(&self) -> bool {
        let mut state = self.lock();
        state.threads = state.threads.saturating_sub(1);
        state.threads == 0
    }

    /// Sleeps until all of these are done. `is_thread`: the caller is a thread that takes work, in
    /// whose place another may now be hired.
    pub(crate) fn wait(
        &self,
        is_thread: bool,
        what: impl Fn(&Pending<'_, W>) -> bool,
        hire: impl FnOnce(),
    ) {
        let mut state = self.lock();
        if !what(&Pending(&state)) {
            return;
        }
        if is_thread {
            state.threads = state.threads.saturating_sub(1);
            if self.call(state, false) == Hire::One {
                hire();
            }
            state = self.lock();
        }
        while what(&Pending(&state)) {
            state.waiting += 1;
            state = self.done.wait(state).unwrap_or_else(PoisonError::into_inner);
            state.waiting = state.waiting.saturating_sub(1);
        }
        if is_thread {
            state.threads += 1;
        }
    }

    /// Asks what is not done.
    pub(crate) fn ask<T>(&self, question: impl FnOnce(&Pending<'_, W>) -> T) -> T {
        question(&Pending(&self.lock()))
    }
}

/// What is not done, at one moment.
pub(crate) struct Pending<'a, W>(&'a State<W>);

impl<W> Pending<'_, W> {
    pub(crate) fn has(&self, ticket: Ticket) -> bool {
        self.0.pieces.contains_key(&ticket)
    }

    /// Anything but `own`, the piece that the caller itself is.
    pub(crate) fn has_other(&self, own: Option<Ticket>) -> bool {
        self.0.pieces.keys().any(|it| Some(*it) != own)
    }

    /// The newest work of these queues of a device that is not done, of all with `None`.
    pub(crate) fn ends(&self, device: usize, queues: Option<&[i64]>) -> Vec<Ticket> {
        self.0.ends_of(device, queues)
    }
}

impl<W> State<W> {
    /// A new piece, after the end of `queue` and after `others`, and how many of them are not done.
    fn insert(
        &mut self,
        queue: Option<Key>,
        others: &[Ticket],
        work: Option<W>,
    ) -> (Ticket, usize) {
        self.newest += 1;
        let ticket = Ticket(self.newest);
        let mut after = others.to_vec();
        after.extend(queue.and_then(|it| self.ends.insert(it, ticket)));
        let blockers = self.follow(ticket, after);
        self.pieces.insert(ticket, Piece { work, blockers, followers: Vec::new() });
        (ticket, blockers)
    }

    /// Lets a piece come after others, and answers how many of them are not done.
    fn follow(&mut self, ticket: Ticket, mut others: Vec<Ticket>) -> usize {
        others.sort_unstable();
        others.dedup();
        let mut blockers = 0;
        for it in others {
            if let Some(before) = self.pieces.get_mut(&it) {
                before.followers.push(ticket);
                blockers += 1;
            }
        }
        blockers
    }

    fn ends_of(&self, device: usize, queues: Option<&[i64]>) -> Vec<Ticket> {
        let is_meant = |key: &Key| {
            key.device == device && queues.is_none_or(|queues| queues.contains(&key.queue))
        };
        let ends = self.ends.iter().filter(|(key, _)| is_meant(key));
        ends.map(|(_, it)| *it).filter(|it| self.pieces.contains_key(it)).collect()
    }

    fn now_ready(&mut self, ticket: Ticket) {
        match self.pieces.get(&ticket) {
            Some(Piece { work: Some(_), .. }) => self.ready.push_back(ticket),
            Some(Piece { work: None, .. }) => self.finish(ticket),
            None => {}
        }
    }

    fn take(&mut self) -> Option<(Ticket, W)> {
        let ticket = self.ready.pop_front()?;
        let work = self.pieces.get_mut(&ticket)?.work.take()?;
        Some((ticket, work))
    }

    /// Takes out what is done, and what came after it and has nothing to do.
    fn finish(&mut self, ticket: Ticket) {
        let mut done = vec![ticket];
        while let Some(ticket) = done.pop() {
            let Some(piece) = self.pieces.remove(&ticket) else { continue };
            for follower in piece.followers {
                let Some(it) = self.pieces.get_mut(&follower) else { continue };
                it.blockers -= 1;
                match (it.blockers, &it.work) {
                    (0, Some(_)) => self.ready.push_back(follower),
                    (0, None) => done.push(follower),
                    _ => {}
                }
            }
        }
    }
}
