//! Work that the caller does not wait for: queues, and tasks with dependences.
//!
//! A queue belongs to a device and has a number; what is put into it runs in order, and different
//! queues run at the same time. Tasks ([`crate::nowait::tasks`]) are ordered by the data they name instead. Both are chains in
//! one [`crate::graph`], worked off by a few threads that sleep when there is nothing to do. Work is finished
//! before the program ends, unless it ends by a failure or out of such work; a child of fork has none.
//!
//! Here is what a piece of work comes after and who takes it; which calls become such work is in [`crate::nowait`].
#![allow(unsafe_code, reason = "asks the C library to call back at exit")]

use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Once};
use std::thread;

use abi::queue;
use device::{Event, Held};
use smallvec::SmallVec;

use crate::args::Place;
use crate::devices::{self, Target};
use crate::error::Error;
use crate::graph::{self, Graph, Hire, Key, Reserved, Ticket};
use crate::registry::Region;
use crate::report;
use crate::running::{self, Running};

/// What may be known of a region that was started and is not finished.
#[derive(Debug)]
pub(crate) struct Note {
    /// The number of its device.
    pub(crate) device: usize,
    pub(crate) event: Event,
    /// Nobody else holds some of its data: they go when it is finished.
    pub(crate) is_sole: bool,
    /// When it is finished data are copied to the host, or were to be by one that it comes after.
    pub(crate) writes_host: bool,
    pub(crate) region: Arc<Region>,
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

/// What is done when its turn has come. It reports its own failures.
pub(crate) type Work = Box<dyn FnOnce() + Send>;

/// So many queues are worked off at the same time: each may use all cores.
const MOST_THREADS: usize = 8;

static GRAPH: Graph<(Option<i64>, Work), Note> = Graph::new(MOST_THREADS);

/// The queue of work without a number, as long as nobody sets another. Programs wait for it by the
/// number that they are told.
const FIRST: i64 = 0;

thread_local! {
    /// The queue that `async` without a number means to this thread.
    static DEFAULT: Cell<i64> = const { Cell::new(FIRST) };
    /// This thread takes work from queues.
    static IS_WORKER: Cell<bool> = const { Cell::new(false) };
}

/// Does something that belongs to a queue, in the caller's own time.
pub(crate) fn on_behalf_of<T>(queue: i64, work: impl FnOnce() -> T) -> T {
    let _running = Running { ticket: running::own(), queue: Some(queue) }.begin();
    work()
}

/// The queue of this thread for work without a number.
pub(crate) fn default_queue() -> i64 {
    DEFAULT.get()
}

/// Sets it; [`queue::DEFAULT`] brings back what it was at first.
pub(crate) fn set_default_queue(number: i64) -> Result<(), Error> {
    check(number)?;
    DEFAULT.set(match number {
        queue::DEFAULT | queue::NOVAL => FIRST,
        number => number,
    });
    Ok(())
}

fn check(number: i64) -> Result<(), Error> {
    match number {
        queue::NOVAL | queue::SYNC | queue::DEFAULT | 0.. => Ok(()),
        number => Err(Error::NoSuchQueue { number }),
    }
}

/// The queue that a number of the program means; `None`: the caller itself does the work.
pub(crate) fn meant(number: i64) -> Result<Option<i64>, Error> {
    check(number)?;
    let number = match number {
        queue::NOVAL | queue::DEFAULT => DEFAULT.get(),
        number => number,
    };
    Ok((number != queue::SYNC).then_some(number))
}

/// The number under which queues know a device; the host's own comes after the last.
pub(crate) fn device_of(target: Target) -> usize {
    match target {
        Target::Device(device) => device.number,
        Target::Host => devices::all().len(),
    }
}

/// Something has been put into a queue.
static IS_USED: AtomicBool = AtomicBool::new(false);

/// Has anything ever been put into a queue?
pub(crate) fn is_used() -> bool {
    IS_USED.load(Ordering::Relaxed)
}

/// Puts work into a queue of a device. The queue is one that [`meant`] has answered.
pub(crate) fn put(device: usize, queue: i64, work: impl FnOnce() + Send + 'static) {
    IS_USED.store(true, Ordering::Relaxed);
    let key = Key { device, queue };
    let (_, hire) = GRAPH.add(Some(key), &[], Some((Some(queue), Box::new(work))));
    started(hire);
}

/// A place in a queue for work that is not known yet.
pub(crate) fn reserve(device: usize, queue: i64) -> Reserved {
    IS_USED.store(true, Ordering::Relaxed);
    GRAPH.reserve(Key { device, queue })
}

/// Work for a place that was reserved, after others; `None`: it is done already.
pub(crate) fn fill(ticket: Ticket, queue: i64, others: &[Ticket], work: Option<Work>) {
    started(GRAPH.fill(ticket, others, work.map(|it| (Some(queue), it))));
}

/// Runs work in no queue, and sleeps until it is done.
pub(crate) fn run_elsewhere(work: Work) {
    wait_for(&[put_after(&[], work)]);
}

/// Runs such work in the calling thread.
pub(crate) fn run_here(work: Work) {
    let _running = Running { ticket: running::own(), queue: None }.begin();
    work();
}

/// Runs work after others, in no queue.
pub(crate) fn put_after(others: &[Ticket], work: impl FnOnce() + Send + 'static) -> Ticket {
    let (ticket, hire) = GRAPH.add(None, others, Some((None, Box::new(work))));
    started(hire);
    ticket
}

/// Queue `on` of device `on_device` goes on when what is now in these queues is done; `None`: in all of
/// `device`. The caller goes on at once.
pub(crate) fn join(on_device: usize, on: i64, device: usize, queues: Option<&[i64]>) {
    let key = Key { device: on_device, queue: on };
    let (_, hire) = GRAPH.add_after_queues(key, device, queues);
    started(hire);
}

/// Sleeps until what is now in these queues is done; `None`: in all of the device.
pub(crate) fn wait(device: usize, queues: Option<&[i64]>) {
    wait_for(&GRAPH.ask(|it| it.ends(device, queues)));
}

/// Sleeps until one of these queues has nothing more to do; answers which. `None` if there is none.
pub(crate) fn wait_any(queues: &[Key]) -> Option<usize> {
    let ends = GRAPH.ask(|pending| {
        let end = |it: &Key| pending.ends(it.device, Some(&[it.queue])).first().copied();
        queues.iter().map(end).collect::<Vec<_>>()
    });
    if ends.is_empty() {
        return None;
    }
    want(&ends.iter().copied().flatten().collect::<Vec<_>>());
    let done = |it: &Option<Ticket>, pending: &graph::Pending<'_, _, _>| {
        it.is_none_or(|it| !pending.has(it))
    };
    GRAPH.wait(IS_WORKER.get(), |pending| !ends.iter().any(|it| done(it, pending)), hire);
    GRAPH.ask(|pending| ends.iter().position(|it| done(it, pending)))
}

/// Has everything been done that was put into these queues; `None`: into all of the device?
pub(crate) fn test(device: usize, queues: Option<&[i64]>) -> bool {
    let own = running::own();
    let ends = GRAPH.ask(|it| it.ends(device, queues));
    // Who asks again and again is told some time.
    want(&ends);
    ends.iter().all(|it| Some(*it) == own)
}

/// What was left of these is done from now on.
pub(crate) fn want(tickets: &[Ticket]) {
    if !tickets.is_empty() {
        started(GRAPH.want(tickets));
    }
}

/// What a thread outside of queues may wait for: all that is not done on a device.
pub(crate) fn pending(device: usize) -> Vec<Ticket> {
    match is_used() && running::own().is_none() {
        true => GRAPH.ask(|it| it.ends(device, None)),
        false => Vec::new(),
    }
}

/// Sleeps until all of these are done; what was left of them the caller does itself.
pub(crate) fn wait_for(tickets: &[Ticket]) {
    if tickets.is_empty() {
        return;
    }
    let (claimed, tickets) = GRAPH.claim(tickets);
    wait_together(&claimed);
    do_claimed(claimed);
    let own = running::own();
    let is_pending = |pending: &graph::Pending<'_, _, _>| {
        tickets.iter().any(|it| Some(*it) != own && pending.has(*it))
    };
    GRAPH.wait(IS_WORKER.get(), is_pending, hire);
}

/// Waits for regions that were started, in one go. Those that then copy something to the host are waited
/// for one by one: each copies while the next is still at work.
fn wait_together(claimed: &[(Ticket, (Option<i64>, Work))]) {
    if claimed.len() < 2 {
        return;
    }
    let events: Vec<(usize, Event)> = GRAPH.ask(|pending| {
        let notes = claimed.iter().filter_map(|it| pending.note(it.0));
        notes.filter(|it| !it.writes_host).map(|it| (it.device, it.event)).collect()
    });
    for device in devices::opened() {
        let of_device = events.iter().filter(|it| it.0 == device.number);
        let events: Vec<Event> = of_device.map(|it| it.1).collect();
        if events.len() > 1 {
            // What fails here fails again when they are waited for one by one, and is told then.
            let _ = device.plugin.wait_for_all(&events);
        }
    }
}

/// Does what was left and is claimed.
fn do_claimed(claimed: Vec<(Ticket, (Option<i64>, Work))>) {
    for (ticket, (queue, work)) in claimed {
        run(ticket, queue, work);
        started(GRAPH.finish(ticket));
    }
}

/// Leaves a region that was started until somebody waits for it, or has other work come after it.
///
/// `finish`: what is then done.
pub(crate) fn leave(behind: &[Ticket], note: Note, finish: Work) -> Ticket {
    let ticket = GRAPH.leave(behind, note, (None, finish));
    started(Hire::None);
    ticket
}

/// The same for a place that was reserved in a queue.
pub(crate) fn leave_at(ticket: Ticket, queue: i64, behind: &[Ticket], note: Note, finish: Work) {
    started(GRAPH.leave_at(ticket, behind, note, (Some(queue), finish)));
}

/// Some of these copy to the host when they are waited for.
pub(crate) fn write_host(tickets: &[Ticket]) -> bool {
    GRAPH.ask(|it| tickets.iter().any(|at| it.note(*at).is_some_and(|it| it.writes_host)))
}

/// Asks of many pieces of work which are not done yet.
pub(crate) fn ask_pending<T>(ask: impl FnOnce(&dyn Fn(Ticket) -> bool) -> T) -> T {
    GRAPH.ask(|pending| ask(&|it| pending.has(it)))
}

/// The events of those among these that are not done, which a region of that device can be started behind; `None`
/// if something else is among them, or something that does not `agree`.
pub(crate) fn events(
    tickets: impl Iterator<Item = Ticket>,
    device: usize,
    agree: impl Fn(&Note) -> bool,
) -> Option<SmallVec<[Event; 8]>> {
    GRAPH.ask(|pending| {
        let pending_ones = tickets.filter(|it| pending.has(*it));
        let event = |it: Ticket| {
            let note = pending.note(it).filter(|it| it.device == device && agree(it));
            note.map(|it| it.event)
        };
        pending_ones.map(event).collect()
    })
}

/// Regions but this one that were started and left, each once, as messages name them.
pub(crate) fn under_way(but: Option<&str>) -> Vec<String> {
    let mut names: Vec<String> = GRAPH.ask(|pending| {
        pending.notes().filter(|it| Some(it.name()) != but).map(Note::words).collect()
    });
    names.sort_unstable();
    names.dedup();
    names
}

/// Sleeps until nothing is left of any queue or task. Out of such work, and in a program that ends by a
/// failure, it answers at once: what comes after the failure is not done any more.
pub(crate) fn finish_all() {
    if IS_WORKER.get() || report::is_failing() {
        return;
    }
    let own = running::own();
    loop {
        do_claimed(GRAPH.claim_all());
        GRAPH.wait(false, |it| it.has_other(own) && !it.has_unwanted(), hire);
        // Another thread may have left something meanwhile.
        if GRAPH.ask(|it| !it.has_other(own)) {
            return;
        }
    }
}

/// Lets nobody change anything until the answer is dropped.
pub(crate) fn hold() -> Box<dyn Held> {
    Box::new(GRAPH.hold())
}

/// In a process that was forked.
pub(crate) fn forget_all() {
    GRAPH.forget();
}

fn started(hire: Hire) {
    static AT_EXIT: Once = Once::new();
    AT_EXIT.call_once(|| {
        report::on_crash(under_way);
        // SAFETY: `at_exit` is a C function without arguments that never unwinds.
        unsafe { libc::atexit(at_exit) };
    });
    if hire == Hire::One {
        self::hire();
    }
}

extern "C" fn at_exit() {
    finish_all();
}

/// Starts a thread that takes work. Where none can be had and none is there, the caller does it.
fn hire() {
    let builder = thread::Builder::new().name("ferry-queue".into()).stack_size(8 << 20);
    if builder.spawn(take_work).is_err() && GRAPH.not_hired() {
        while let Some((ticket, (queue, work))) = GRAPH.try_next() {
            run(ticket, queue, work);
            // One that is to be hired now could not be had either; it is done in the next turn.
            if GRAPH.finish(ticket) == Hire::One {
                let _ = GRAPH.not_hired();
            }
        }
    }
}

fn take_work() {
    IS_WORKER.set(true);
    let mut finished = None;
    loop {
        let (ticket, (queue, work), more) = GRAPH.next(finished);
        if more == Hire::One {
            hire();
        }
        run(ticket, queue, work);
        finished = Some(ticket);
    }
}

fn run(ticket: Ticket, queue: Option<i64>, work: Work) {
    let _running = Running { ticket: Some(ticket), queue }.begin();
    // Work reports its own failures; what is left is a bug of ours.
    if let Err(payload) = panic::catch_unwind(AssertUnwindSafe(work)) {
        std::mem::forget(payload);
        report::fail(&"a queue", false, &Error::Panicked);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;
    use std::sync::mpsc;

    /// No other test uses these devices.
    const DEVICE: usize = 1000;

    #[test]
    fn a_queue_works_in_order_and_a_wait_sees_all_of_it() {
        let seen = Arc::new(Mutex::new(Vec::new()));
        for number in 0..100 {
            let seen = Arc::clone(&seen);
            put(DEVICE, 1, move || seen.lock().unwrap().push(number));
        }
        wait(DEVICE, Some(&[1]));
        assert_eq!(*seen.lock().unwrap(), (0..100).collect::<Vec<_>>());
        assert!(test(DEVICE, Some(&[1])));
    }

    #[test]
    fn queues_run_at_the_same_time() {
        let (to_second, first) = mpsc::channel::<()>();
        let (to_first, second) = mpsc::channel::<()>();
        // Each waits for the other: one after the other they would never end.
        put(DEVICE + 1, 1, move || {
            to_second.send(()).unwrap();
            second.recv().unwrap();
        });
        put(DEVICE + 1, 2, move || {
            first.recv().unwrap();
            to_first.send(()).unwrap();
        });
        wait(DEVICE + 1, None);
    }

    #[test]
    fn a_queue_waits_for_another_and_the_caller_goes_on() {
        let (go, gate) = mpsc::channel::<()>();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let (first, second) = (Arc::clone(&seen), Arc::clone(&seen));
        put(DEVICE + 2, 1, move || {
            gate.recv().unwrap();
            first.lock().unwrap().push(1);
        });
        join(DEVICE + 2, 2, DEVICE + 2, Some(&[1]));
        put(DEVICE + 2, 2, move || second.lock().unwrap().push(2));
        assert!(!test(DEVICE + 2, Some(&[2])));
        let key = |queue| Key { device: DEVICE + 2, queue };
        assert_eq!(wait_any(&[key(1), key(7)]), Some(1));
        go.send(()).unwrap();
        wait(DEVICE + 2, Some(&[2]));
        assert_eq!(*seen.lock().unwrap(), [1, 2]);
    }

    #[test]
    fn work_that_waits_leaves_its_place_to_others() {
        for queue in 0..2 * MOST_THREADS as i64 {
            put(DEVICE + 3, queue, move || {
                put(DEVICE + 4, queue, || ());
                wait(DEVICE + 4, Some(&[queue]));
            });
        }
        wait(DEVICE + 3, None);
        assert!(test(DEVICE + 4, None));
    }

    #[test]
    fn numbers_without_a_meaning_are_refused() {
        assert_eq!(meant(queue::SYNC), Ok(None));
        assert_eq!(meant(queue::NOVAL), Ok(Some(FIRST)));
        assert_eq!(meant(-9), Err(Error::NoSuchQueue { number: -9 }));
        set_default_queue(5).unwrap();
        assert_eq!((meant(queue::NOVAL), default_queue()), (Ok(Some(5)), 5));
        set_default_queue(queue::DEFAULT).unwrap();
        assert_eq!(default_queue(), FIRST);
    }
}
