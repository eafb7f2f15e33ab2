//! Work that crosses between host workers and cores: three queues, and descriptors that carry a task and the scope it belongs to.
//!
//! - The host sends: a task of a deque goes into a descriptor with its scope, and that into the first queue. A core runs it in
//!   a scope of its own and puts the descriptor into the third queue; a host worker that finds it there counts the task as done.
//! - The host takes: a task from a core's own queue is run in a scope of the host's, and its descriptor goes into the second queue;
//!   a core that finds it there counts the task as done.
//!
//! No scope is touched by the other side. What a core had when it was killed is sent again, if nothing of it could be seen yet.
#![allow(unsafe_code, reason = "tasks become descriptors, and functions of the program are called")]

use std::ffi::{c_char, c_void};
use std::ptr;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use crate::check;
use crate::core::{SHARED, UNFLUSHED};
use crate::deque::Stolen;
use crate::finish::Finish;
use crate::gate::{Gate, Sends};
use crate::hardware::{Body, Core, Descriptor, ENDED, Hardware, INSIDE, NONE, clock};
use crate::memory::{Where, memory};
use crate::pool::{Worker, count};
use crate::report;
use crate::settings::Crossing;
use crate::task::Task;
use crate::view::{self, Fault};

/// Cores that are killed are started again so often.
const RESTARTS: u32 = 10_000;

/// The host's side of crossing.
pub(crate) struct Cross {
    hardware: &'static Hardware,
    pub(crate) gate: Gate,
    /// Deaths that were dealt with.
    deaths: AtomicU32,
    burying: Mutex<u32>,
}

impl Cross {
    pub(crate) fn new(hardware: &'static Hardware, crossing: Crossing) -> Self {
        let (gate, deaths) = (Gate::new(crossing), AtomicU32::new(0));
        Self { hardware, gate, deaths, burying: Mutex::new(0) }
    }

    /// Whether cores may have something for the host.
    pub(crate) fn is_any(&self) -> bool {
        self.hardware.is_any_for_host()
            || self.hardware.deaths.load(Ordering::Acquire) != self.deaths.load(Ordering::Relaxed)
    }

    /// Between two tasks of a worker: what cores have done is counted; and if tasks wait, cores have nothing to do and it pays, some
    /// go there.
    #[inline]
    pub(crate) fn offer(&self, worker: &'static Worker, key: usize, tries: bool) {
        if self.hardware.done_by_cores.len() != 0 {
            self.count_done(worker);
        }
        if worker.deque.len() != 0 {
            let free = self.hardware.free_cores().saturating_sub(self.hardware.to_cores.len());
            for _ in 0..free {
                if !self.send_one(worker, key, tries) {
                    break;
                }
            }
        }
    }

    #[cold]
    fn count_done(&self, worker: &'static Worker) {
        let take = |it: u32| self.hardware.mark(it, NONE);
        while let Some(number) = self.hardware.done_by_cores.pop_tail(take) {
            self.returned(worker, number);
        }
    }

    /// Sends a task; says whether another may follow.
    #[cold]
    fn send_one(&self, worker: &'static Worker, key: usize, tries: bool) -> bool {
        let waiting = worker.deque.len();
        let task = match self.gate.sends(key, waiting, worker.pool.width(), tries, clock) {
            Sends::Nothing => return false,
            Sends::Newest => worker.deque.pop(),
            Sends::Oldest => match worker.deque.steal() {
                Stolen::Task(task) => Some(task),
                Stolen::Nothing | Stolen::Lost => None,
            },
        };
        let Some(task) = task else { return false };
        // SAFETY: taken from the deque: it is this worker's alone.
        unsafe {
            let (body, finish, size, place) =
                ((*task).body, (*task).finish, (*task).size, (*task).place);
            let arguments = (*task).arguments();
            let is_sent =
                body.is_some_and(|body| self.send(body, arguments, size, place, finish, false));
            if is_sent {
                count(&worker.facts.sent);
                Task::free(task, &worker.frames);
            } else {
                worker.run(task);
            }
            is_sent
        }
    }

    /// Sends a task that is counted in its scope; says whether there was a descriptor for it.
    ///
    /// # Safety
    /// So many bytes can be read at the arguments, and the function takes them; the scope lives.
    pub(crate) unsafe fn send(
        &self,
        body: Body,
        arguments: *const c_void,
        size: usize,
        place: *const c_char,
        finish: *const Finish,
        is_for_cores: bool,
    ) -> bool {
        let Some((number, descriptor)) = self.hardware.take_unused(NONE) else { return false };
        if size > INSIDE {
            let Some(block) = memory().and_then(|it| it.take(size, Where::Far)) else {
                self.hardware.give_back(number);
                return false;
            };
            descriptor.outside.store(block, Ordering::Relaxed);
        }
        // SAFETY: the caller's promise; arguments outside of the descriptor are in memory that was just taken.
        unsafe {
            descriptor.fill(body, arguments, size, place);
            (*finish).has_crossed.store(true, Ordering::Relaxed);
        }
        descriptor.host_scope.store(finish as usize, Ordering::Relaxed);
        descriptor.root.store(finish as usize, Ordering::Relaxed);
        descriptor.is_for_cores.store(is_for_cores.into(), Ordering::Relaxed);
        descriptor.sent.store(clock(), Ordering::Relaxed);
        if let Some(view) = view::current() {
            if let Some((from, bytes)) = memory()
                .filter(|_| size > INSIDE)
                .and_then(|it| it.part(descriptor.arguments() as usize, size))
            {
                view.flush_part(from, bytes);
            }
            view.mark_unflushed();
        }
        self.hardware.to_cores.push_head(number);
        self.hardware.cores.publish_across();
        true
    }

    /// Looks for something that cores have for the host, and does it. Says whether there was something.
    pub(crate) fn look(&self, worker: &'static Worker, found: impl FnOnce()) -> bool {
        let take = |it: u32| self.hardware.mark(it, NONE);
        if let Some(number) = self.hardware.done_by_cores.pop_tail(take) {
            found();
            self.returned(worker, number);
            return true;
        }
        if self.hardware.deaths.load(Ordering::Acquire) != self.deaths.load(Ordering::Relaxed) {
            self.bury();
        }
        if !self.gate.takes() {
            return false;
        }
        let begin = Instant::now();
        let is_ours = |it: u32| {
            let descriptor = self.hardware.descriptor(it);
            descriptor.is_some_and(|it| it.is_for_cores.load(Ordering::Relaxed) == 0)
                && self.hardware.mark(it, NONE)
        };
        let mut queues = self.hardware.cores().filter_map(|(it, _)| self.hardware.own(it));
        let Some(number) = queues.find_map(|it| it.pop_tail(is_ours)) else { return false };
        found();
        self.run(worker, number, begin);
        true
    }

    /// A core has done a task of the host's.
    fn returned(&self, worker: &'static Worker, number: u32) {
        let Some(descriptor) = self.hardware.descriptor(number) else { return };
        let away = descriptor.away.load(Ordering::Relaxed);
        let (busy, tasks) =
            (descriptor.busy.load(Ordering::Relaxed), descriptor.tasks.load(Ordering::Relaxed));
        let (place, body) = (&descriptor.place, &descriptor.body);
        let key = key(place.load(Ordering::Relaxed), body.load(Ordering::Relaxed));
        self.gate.on_core(key, away, busy, tasks);
        let finish = descriptor.host_scope.load(Ordering::Relaxed) as *const Finish;
        self.release(number, descriptor);
        // SAFETY: the scope waits for this task.
        if let Some(finish) = unsafe { finish.as_ref() } {
            worker.done(finish);
        }
    }

    fn release(&self, number: u32, descriptor: &Descriptor) {
        let outside = descriptor.outside.swap(0, Ordering::Relaxed);
        if let Some(memory) = memory().filter(|_| outside != 0) {
            memory.give(outside);
        }
        self.hardware.give_back(number);
    }

    /// Runs a task of a core's, in a scope of the host's.
    fn run(&self, worker: &'static Worker, number: u32, begin: Instant) {
        let Some(descriptor) = self.hardware.descriptor(number) else { return };
        count(&worker.facts.taken);
        count(&worker.facts.tasks);
        let taking = begin.elapsed();
        let scope = worker.start_finish();
        let root = descriptor.root.load(Ordering::Relaxed) as *const Finish;
        // SAFETY: that scope waits for the work that this task is a part of.
        let written = unsafe { root.as_ref() }.map_or(&[][..], Finish::written);
        scope.set_written(written.iter().copied());
        if let Some(body) = descriptor.function() {
            worker.call(body, descriptor.arguments(), scope);
        }
        // What waits in the scope is of the host again.
        scope.has_crossed.store(true, Ordering::Relaxed);
        worker.end(false);
        let begin = Instant::now();
        self.hardware.done_by_host.push_head(number);
        self.hardware.cores.publish_across();
        if self.hardware.cores.is_anybody() {
            self.hardware.cores.ring_all();
        }
        self.gate.on_taking((taking + begin.elapsed()).as_nanos() as u64);
    }

    /// Deals with cores that have ended.
    #[cold]
    fn bury(&self) {
        let mut restarts = self.burying.lock().unwrap_or_else(PoisonError::into_inner);
        self.deaths.store(self.hardware.deaths.load(Ordering::Acquire), Ordering::Relaxed);
        for (number, core) in self.hardware.cores() {
            let ending = core.ending.swap(0, Ordering::AcqRel);
            if ending == 0 || self.hardware.is_over.load(Ordering::Relaxed) != 0 {
                continue;
            }
            self.judge(number, core, ending & !ENDED);
            *restarts += 1;
            if *restarts > RESTARTS {
                report::fail(
                    "accelerator cores end again and again",
                    "look for what kills them: the system's log says more",
                );
            }
            core.restart.store(1, Ordering::Release);
        }
    }

    /// What a core's end means: the program's end, or that its tasks are sent again.
    fn judge(&self, number: u32, core: &Core, status: i32) {
        let (signal, address) =
            (core.signal.load(Ordering::Acquire), core.address.load(Ordering::Relaxed));
        if libc::WIFEXITED(status) {
            let status = libc::WEXITSTATUS(status);
            match signal {
                SHARED => check::fail(Fault::Shared(address), &self.place(core)),
                UNFLUSHED => check::fail(Fault::Unflushed(address), &self.place(core)),
                _ => report::error(
                    &format!(
                        "{}a task on accelerator core {number} has called `exit({status})`",
                        self.place(core)
                    ),
                    "tasks return; what ends the program belongs behind `end_finish`",
                ),
            }
            // SAFETY: ends the process.
            unsafe { libc::_exit(status) }
        }
        if signal != 0 {
            let at = core.instruction.load(Ordering::Relaxed);
            let (what, help) = words(signal);
            report::fail(
                &format!(
                    "{}a task on accelerator core {number} crashed in `{}`: {what} at {address:#x}",
                    self.place(core),
                    report::function(at)
                ),
                help,
            );
        }
        let mut again = 0;
        for (it, descriptor) in (0..).zip(&self.hardware.descriptors) {
            if descriptor.owner.load(Ordering::Relaxed) != number {
                continue;
            }
            self.hardware.mark(it, NONE);
            let hardware = self.hardware;
            let queues = [
                &hardware.unused,
                &hardware.to_cores,
                &hardware.done_by_host,
                &hardware.done_by_cores,
            ];
            if queues.into_iter().chain(&hardware.own).any(|queue| queue.holds(it)) {
                continue;
            }
            if descriptor.is_logged.load(Ordering::Acquire) != 0 {
                self.complete(it, number, descriptor);
                continue;
            }
            if descriptor.is_seen.load(Ordering::Relaxed) != 0 {
                report::fail(
                    &format!(
                        "{}accelerator core {number} was killed while it ran a task that had made others, or had written back",
                        report::place(descriptor.place.load(Ordering::Relaxed) as *const c_char)
                            + ": "
                    ),
                    "such a task cannot be run again: run the program again",
                );
            }
            again += 1;
            hardware.to_cores.push_head(it);
        }
        report::info(&format!(
            "accelerator core {number} was killed: it is started again, and {again} of its tasks sent again"
        ));
        self.hardware.cores.ring_all();
    }

    /// A core was killed when all that a task has written was logged: the task is done.
    fn complete(&self, it: u32, core: u32, descriptor: &Descriptor) {
        if let (Some(memory), Some(log)) = (memory(), self.hardware.logs.get(core as usize)) {
            view::replay(memory, log);
        }
        if descriptor.host_scope.load(Ordering::Relaxed) != 0 {
            self.hardware.done_by_cores.push_head(it);
            return;
        }
        let scope = descriptor.core_scope.load(Ordering::Relaxed);
        self.hardware.give_back(it);
        if let Some(scope) = self.hardware.scope(scope) {
            scope.finish(core);
        }
    }

    /// Where the task that a core ran was made.
    fn place(&self, core: &Core) -> String {
        let descriptor = self.hardware.descriptor(core.task.load(Ordering::Relaxed));
        let place =
            descriptor.map_or(ptr::null(), |it| it.place.load(Ordering::Relaxed) as *const c_char);
        report::place(place) + ": "
    }
}

/// What tasks are told apart by: where they were made, or their function where that is not known.
pub(crate) fn key(place: usize, body: usize) -> usize {
    if place != 0 { place } else { body }
}

/// A signal in words, and what to do.
fn words(signal: i32) -> (&'static str, &'static str) {
    match signal {
        libc::SIGSEGV | libc::SIGBUS => (
            "memory that is not there, or is the host's alone, was used",
            "cores see buffers of `ws_malloc`, and global variables as they were when tasks were first used",
        ),
        libc::SIGFPE => {
            ("wrong arithmetic, as a division by zero,", "look at the task's arguments")
        }
        libc::SIGABRT => (
            "the task has called `abort`, or an assertion failed,",
            "what was printed before says more",
        ),
        _ => {
            ("an instruction that does not exist", "build for the processor that runs the program")
        }
    }
}
