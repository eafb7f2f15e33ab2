//! Work that is ordered by the data it names: what a program does not wait for, and may wait for later.
//!
//! Inside of a parallel region the host's threading runtime keeps dependences: the work becomes one of
//! its tasks, which ends when the work has. Outside of one that runtime runs every task at once; there
//! the dependences are kept here, for each thread its own, as only work of one task is ordered so.
//! [`wait`] is what ends such work for its thread.
//!
//! A region on a device that works by itself needs no other thread: it is started at once
//! ([`start_region`]) if all it comes after is work of that device too, or done, and left until somebody
//! waits for it.
#![allow(unsafe_code, reason = "reads dependence objects of the program")]

use std::cell::{Cell, RefCell};

use abi::queue::{Dependence, DependenceKind};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::args::{MapArgs, Place};
use crate::devices::{self, Target};
use crate::error::Error;
use crate::graph::Ticket;
use crate::prepared::Shape;
use crate::queue::{self, Note, Work, leave, put_after, wait_for, want};
use crate::{host, host_task, registry, submitted};

thread_local! {
    /// There is something in `WORK`.
    static HAS_WORK: Cell<bool> = const { Cell::new(false) };
    static WORK: RefCell<Siblings> = RefCell::default();
}

/// What the current thread has begun outside of parallel regions and not waited for.
#[derive(Debug, Default)]
struct Siblings {
    tickets: Vec<Ticket>,
    accesses: FxHashMap<usize, Access>,
    /// The last that depends on all memory.
    all: Option<Ticket>,
    /// From when to look for what is done.
    swept: usize,
}

/// Who has last used some data.
#[derive(Debug, Default)]
struct Access {
    writer: Option<Ticket>,
    readers: SmallVec<[Ticket; 2]>,
}

impl Siblings {
    /// What work with these dependences comes after.
    fn before(&self, dependences: &[Dependence]) -> Vec<Ticket> {
        if dependences.iter().any(|it| it.at == 0) {
            return self.tickets.clone();
        }
        let mut before = Vec::new();
        for it in dependences {
            before.extend(self.all);
            let Some(access) = self.accesses.get(&it.at) else { continue };
            before.extend(access.writer);
            if is_writer(it.kind) {
                before.extend(access.readers.iter().copied());
            }
        }
        before
    }

    fn add(&mut self, ticket: Ticket, dependences: &[Dependence]) {
        self.sweep();
        self.tickets.push(ticket);
        for it in dependences {
            if it.at == 0 {
                // On everything: all that was before is before this one now.
                self.accesses.clear();
                self.all = Some(ticket);
                continue;
            }
            let access = self.accesses.entry(it.at).or_default();
            if is_writer(it.kind) {
                *access = Access { writer: Some(ticket), readers: SmallVec::new() };
            } else if !access.readers.contains(&ticket) && access.writer != Some(ticket) {
                access.readers.push(ticket);
            }
        }
    }

    /// Forgets what is done, each time the list has doubled.
    fn sweep(&mut self) {
        if self.tickets.len() <= self.swept.max(32) * 2 {
            return;
        }
        queue::ask_pending(|is_pending| {
            self.tickets.retain(|it| is_pending(*it));
            self.accesses.retain(|_, it| {
                it.writer = it.writer.filter(|it| is_pending(*it));
                it.readers.retain(|it| is_pending(*it));
                it.writer.is_some() || !it.readers.is_empty()
            });
        });
        self.swept = self.tickets.len();
    }
}

/// Others come before and after it. Sets whose members may run in any order run one after another.
fn is_writer(kind: i64) -> bool {
    kind != DependenceKind::In as i64
}

/// The dependences that objects stand for, among the others.
///
/// # Safety
/// Those with that kind are addresses of dependence objects.
pub(crate) unsafe fn resolved(dependences: &[Dependence]) -> Vec<Dependence> {
    let one = |it: &Dependence| match it.kind == DependenceKind::Object as i64 {
        // SAFETY: the caller's promise: an object is two words, of which these are the same.
        true => unsafe { (it.at as *const Dependence).read_unaligned() },
        false => *it,
    };
    dependences.iter().map(one).collect()
}

/// Does this work after what it depends on; the caller goes on. `is_light`: it only asks a device.
pub(crate) fn submit(
    work: impl FnOnce() + Send + 'static,
    dependences: &[Dependence],
    is_light: bool,
) {
    let work: Work = Box::new(work);
    let work = match host::is_in_parallel() {
        true => match host_task::submit(work, dependences, is_light) {
            Ok(()) => return,
            Err(work) => work,
        },
        false => work,
    };
    HAS_WORK.set(true);
    let before = WORK.with_borrow(|it| it.before(dependences));
    let ticket = put_after(&before, work);
    WORK.with_borrow_mut(|it| it.add(ticket, dependences));
}

/// A region that the caller does not wait for.
pub(crate) struct Start<'a> {
    pub(crate) place: Place,
    pub(crate) device: i64,
    pub(crate) region: usize,
    pub(crate) args: &'a MapArgs,
    pub(crate) shape: &'a Shape,
}

/// So many regions of a thread are started before it looks for those that are done.
const MOST_STARTED: usize = 1024;

/// Starts a region at once, behind what it depends on. False: it has to be submitted.
pub(crate) fn start_region(start: &Start<'_>, dependences: &[Dependence]) -> Result<bool, Error> {
    if host::is_in_parallel() {
        return Ok(false);
    }
    let Target::Device(device) = devices::target(start.device)? else { return Ok(false) };
    let registry = registry::current();
    let Some(region) = registry.region(start.region).filter(|_| !device.shares_memory) else {
        return Ok(false);
    };
    registry.resolve(device)?;
    let before = WORK.with_borrow(|it| it.before(dependences));
    // Data that go when a region is finished must have gone before the next one looks for them.
    let after = queue::events(before.iter().copied(), device.number, |it: &Note| !it.is_sole);
    let Some(after) = after else { return Ok(false) };
    let here = (device, start.place);
    let order = (registry.is_unified(), after.as_slice());
    let Some((region, note)) = submitted::submit(here, region, start.args, start.shape, order)?
    else {
        return Ok(false);
    };
    let is_sole = note.is_sole;
    let ticket = leave(&before, note, region.finishing());
    if is_sole {
        // What it copies to the host need not wait for who asks for it.
        want(&[ticket]);
    }
    HAS_WORK.set(true);
    let oldest = WORK.with_borrow_mut(|it| {
        it.add(ticket, dependences);
        (it.tickets.len() > MOST_STARTED).then(|| it.tickets.clone())
    });
    oldest.iter().for_each(|it| wait_for(it.get(..it.len() / 2).unwrap_or_default()));
    Ok(true)
}

/// Sleeps until what work with these dependences comes after is done.
pub(crate) fn wait_before(dependences: &[Dependence]) {
    wait_before_own(|| dependences.to_vec());
    if host::is_in_parallel() {
        host_task::wait_before(dependences);
    }
}

/// The same, for work that is kept here.
#[inline]
pub(crate) fn wait_before_own(dependences: impl FnOnce() -> Vec<Dependence>) {
    if HAS_WORK.get() {
        wait_for(&WORK.with_borrow(|it| it.before(&dependences())));
    }
}

/// Sleeps until all is done that this thread has submitted outside of parallel regions.
#[inline]
pub(crate) fn wait() {
    if HAS_WORK.get() {
        HAS_WORK.set(false);
        wait_for(&WORK.take().tickets);
    }
}
