//! Work that waits for other work: the core of queues.
//!
//! A piece of work is known by its [`Ticket`] from when it is added until it is done; what it comes
//! after is said when it is added. A queue is a chain: its newest piece is its end. Threads take what
//! is ready with [`Graph::next`] and sleep when there is nothing; callers sleep in [`Graph::wait`].
//!
//! Some work is *left*: nobody does it before somebody wants it done. Who waits for it does it
//! ([`Graph::claim`]); threads do it when other work comes after it ([`Graph::want`]). It may be done at
//! any time, but has an end only when the left work before it has.
//!
//! Pure but for its locks: it knows neither threads nor what work is.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

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

struct Piece<W, N> {
    /// `None`: there is nothing to do, it only comes after others.
    work: Option<W>,
    /// How many pieces it comes after that are not done.
    blockers: usize,
    followers: Vec<Ticket>,
    /// Of work that was left.
    left: Option<Left<N>>,
}

/// What is known of work that was left.
struct Left<N> {
    /// Nobody has taken it, and no thread is to.
    is_unwanted: bool,
    /// What it came after.
    behind: Vec<Ticket>,
    note: N,
}

struct State<W, N> {
    newest: u64,
    pieces: BTreeMap<Ticket, Piece<W, N>>,
    ready: VecDeque<Ticket>,
    ends: BTreeMap<Key, Ticket>,
    /// Threads that take work, but for those that wait for other work.
    threads: usize,
    /// Those of them that sleep.
    idle: usize,
    waiting: usize,
    /// How many pieces are left that nobody wants.
    unwanted: usize,
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

/// A place in a queue whose work is not known yet.
#[derive(Clone, Debug)]
pub(crate) struct Reserved {
    pub(crate) ticket: Ticket,
    /// What was the end of the queue before, if that was not done.
    pub(crate) end: Option<Ticket>,
    /// What was not done then in all queues of the device.
    pub(crate) before: Vec<Ticket>,
}

/// All work that is not done: `W` is the work, `N` what is noted of work that is left.
pub(crate) struct Graph<W, N = ()> {
    state: Mutex<State<W, N>>,
    /// Something is ready.
    ready: Condvar,
    /// Something is done.
    done: Condvar,
    /// So many threads at most.
    most: usize,
}

impl<W, N> Graph<W, N> {
    pub(crate) const fn new(most: usize) -> Graph<W, N> {
        Graph {
            state: Mutex::new(State {
                newest: 0,
                pieces: BTreeMap::new(),
                ready: VecDeque::new(),
                ends: BTreeMap::new(),
                threads: 0,
                idle: 0,
                waiting: 0,
                unwanted: 0,
            }),
            ready: Condvar::new(),
            done: Condvar::new(),
            most,
        }
    }

    /// Lets nobody change anything while it lives.
    pub(crate) fn hold(&self) -> MutexGuard<'_, impl Sized> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock(&self) -> MutexGuard<'_, State<W, N>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// In a process that was forked: it has none of its parent's work, nor its threads.
    pub(crate) fn forget(&self) {
        let mut state = self.lock();
        // Not dropped: what it refers to may be in the middle of a change.
        std::mem::forget(std::mem::take(&mut state.pieces));
        state.ready.clear();
        state.ends.clear();
        (state.threads, state.idle, state.waiting, state.unwanted) = (0, 0, 0, 0);
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

    /// The place of work in a queue, before it is known what the work is: see [`Graph::fill`] and
    /// [`Graph::leave_at`].
    pub(crate) fn reserve(&self, queue: Key) -> Reserved {
        let mut state = self.lock();
        let before = state.ends_of(queue.device, None);
        let end = state.ends.get(&queue).copied();
        let (ticket, _) = state.insert(None, &[], None);
        state.ends.insert(queue, ticket);
        if let Some(piece) = state.pieces.get_mut(&ticket) {
            piece.blockers = 1;
        }
        Reserved { ticket, end: end.filter(|it| state.pieces.contains_key(it)), before }
    }

    /// Says what the work is whose place was reserved, and what it comes after, the old end of the queue
    /// too: work that was added before, so that nothing waits in a circle.
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

    /// Adds work that nobody does before somebody wants it, and which may be done at once; `behind`: left
    /// work that must have ended before it counts as done.
    pub(crate) fn leave(&self, behind: &[Ticket], note: N, work: W) -> Ticket {
        let mut state = self.lock();
        let (ticket, _) = state.insert(None, &[], None);
        let _none = self.left(state, ticket, behind, note, work);
        ticket
    }

    /// The same at a place that was reserved.
    pub(crate) fn leave_at(&self, ticket: Ticket, behind: &[Ticket], note: N, work: W) -> Hire {
        self.left(self.lock(), ticket, behind, note, work)
    }

    fn left(
        &self,
        mut state: MutexGuard<'_, State<W, N>>,
        ticket: Ticket,
        behind: &[Ticket],
        note: N,
        work: W,
    ) -> Hire {
        let behind = behind.iter().copied().filter(|it| state.pieces.contains_key(it)).collect();
        if let Some(piece) = state.pieces.get_mut(&ticket) {
            piece.left = Some(Left { is_unwanted: true, behind, note });
            (piece.work, piece.blockers) = (Some(work), 0);
            state.unwanted += 1;
            // Somebody came after the place before it was known what is done there.
            if state.pieces.get(&ticket).is_some_and(|it| !it.followers.is_empty()) {
                state.with_behind(vec![ticket]).into_iter().for_each(|it| state.want(it));
            }
        }
        self.call(state, false)
    }

    /// Threads do what was left of these now.
    pub(crate) fn want(&self, tickets: &[Ticket]) -> Hire {
        let mut state = self.lock();
        for it in state.with_behind(tickets.to_vec()) {
            state.want(it);
        }
        self.call(state, false)
    }

    /// The caller does what was left of these, in this order, and says [`Graph::finish`] after each. Also
    /// all that has to end before these have.
    pub(crate) fn claim(&self, tickets: &[Ticket]) -> (Vec<(Ticket, W)>, Vec<Ticket>) {
        let mut state = self.lock();
        if state.unwanted == 0 && state.pieces.is_empty() {
            return (Vec::new(), Vec::new());
        }
        let all = state.with_behind(tickets.to_vec());
        let claimed = all.iter().filter_map(|it| state.claim(*it)).collect();
        (claimed, all)
    }

    /// The same of all that was left.
    pub(crate) fn claim_all(&self) -> Vec<(Ticket, W)> {
        let mut state = self.lock();
        if state.unwanted == 0 {
            return Vec::new();
        }
        let all: Vec<Ticket> = state.pieces.keys().copied().collect();
        all.into_iter().filter_map(|it| state.claim(it)).collect()
    }

    fn insert(
        &self,
        queue: Option<Key>,
        others: impl FnOnce(&State<W, N>) -> Vec<Ticket>,
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
    fn call(&self, mut state: MutexGuard<'_, State<W, N>>, is_taker: bool) -> Hire {
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
        what: impl Fn(&Pending<'_, W, N>) -> bool,
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
    pub(crate) fn ask<T>(&self, question: impl FnOnce(&Pending<'_, W, N>) -> T) -> T {
        question(&Pending(&self.lock()))
    }
}

/// What is not done, at one moment.
pub(crate) struct Pending<'a, W, N>(&'a State<W, N>);

impl<W, N> Pending<'_, W, N> {
    pub(crate) fn has(&self, ticket: Ticket) -> bool {
        self.0.pieces.contains_key(&ticket)
    }

    /// Anything but `own`, the piece that the caller itself is.
    pub(crate) fn has_other(&self, own: Option<Ticket>) -> bool {
        self.0.pieces.keys().any(|it| Some(*it) != own)
    }

    /// Something is left that nobody wants.
    pub(crate) fn has_unwanted(&self) -> bool {
        self.0.unwanted > 0
    }

    /// What is noted of work that was left and has not ended.
    pub(crate) fn note(&self, ticket: Ticket) -> Option<&N> {
        Some(&self.0.pieces.get(&ticket)?.left.as_ref()?.note)
    }

    /// All such notes.
    pub(crate) fn notes(&self) -> impl Iterator<Item = &N> {
        self.0.pieces.values().filter_map(|it| it.left.as_ref()).map(|it| &it.note)
    }

    /// The newest work of these queues of a device that is not done, of all with `None`.
    pub(crate) fn ends(&self, device: usize, queues: Option<&[i64]>) -> Vec<Ticket> {
        self.0.ends_of(device, queues)
    }
}

impl<W, N> State<W, N> {
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
        self.pieces.insert(ticket, Piece { work, blockers, followers: Vec::new(), left: None });
        (ticket, blockers)
    }

    /// Lets a piece come after others, and answers how many of them are not done. Of those nothing is
    /// left any more.
    fn follow(&mut self, ticket: Ticket, others: Vec<Ticket>) -> usize {
        let mut blockers = 0;
        for it in self.with_behind(others) {
            self.want(it);
            if let Some(before) = self.pieces.get_mut(&it) {
                before.followers.push(ticket);
                blockers += 1;
            }
        }
        blockers
    }

    /// These, and what left work among them came after; ascending, so that nothing stands before what it
    /// comes after.
    fn with_behind(&self, mut tickets: Vec<Ticket>) -> Vec<Ticket> {
        let mut seen = 0;
        let mut known: BTreeSet<Ticket> = BTreeSet::new();
        while let Some(ticket) = tickets.get(seen).copied() {
            seen += 1;
            let left = self.pieces.get(&ticket).and_then(|it| it.left.as_ref());
            let behind = left.iter().flat_map(|it| &it.behind);
            tickets.extend(behind.filter(|it| known.insert(**it)));
        }
        tickets.sort_unstable();
        tickets.dedup();
        tickets
    }

    /// A thread does what was left.
    fn want(&mut self, ticket: Ticket) {
        let left = self.pieces.get_mut(&ticket).and_then(|it| it.left.as_mut());
        if left.is_some_and(|it| std::mem::take(&mut it.is_unwanted)) {
            self.unwanted -= 1;
            self.ready.push_back(ticket);
        }
    }

    /// Takes what was left, unless somebody has.
    fn claim(&mut self, ticket: Ticket) -> Option<(Ticket, W)> {
        let piece = self.pieces.get_mut(&ticket)?;
        if !std::mem::take(&mut piece.left.as_mut()?.is_unwanted) {
            return None;
        }
        self.unwanted -= 1;
        piece.work.take().map(|work| (ticket, work))
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
