//! Host workers: each has a deque, runs its newest task, and takes the oldest of others when it has none.
//!
//! The thread that first uses tasks is a worker, and so is every other thread of the program that does; the rest are threads of this
//! library. What goes to cores and comes from them is in [`crate::cross`].
#![allow(
    unsafe_code,
    reason = "tasks are memory that moves between threads; calls functions of the program"
)]

use std::cell::Cell;
use std::ffi::{c_char, c_void};
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::Instant;

use crate::cross::{Cross, key};
use crate::deque::{CAPACITY, Deque, Stolen};
use crate::finish::Finish;
use crate::hardware::{Body, Hardware};
use crate::idle::Idle;
use crate::memory::memory;
use crate::newest::Newest;
use crate::settings::{self, Settings};
use crate::task::{Frames, Task};
use crate::view::{self, View};
use crate::{check, cluster, memory, report, sync, trace};

/// Rounds of looking for work before a worker sleeps.
const ROUNDS: u32 = 256;
/// One of so many rounds looks at what workers keep to themselves.
const CLAIM: u32 = 16;
/// One of so many tasks is timed.
const TIMED: u64 = 16;
/// Scopes in which a worker that waits takes tasks of others: deeper stacks wait.
const DEEPEST: u32 = 512;
/// Threads of the program that may use tasks, besides the workers.
const GUESTS: usize = 256;
const STACK: usize = 64 << 20;

/// A host worker.
#[repr(C, align(128))]
pub(crate) struct Worker {
    pub(crate) pool: &'static Pool,
    pub(crate) number: usize,
    /// Where others wait for work, and whether there are cores.
    idle: &'static Idle,
    pub(crate) crosses: bool,
    pub(crate) deque: Deque<Task>,
    pub(crate) newest: Newest<Task>,
    pub(crate) frames: Frames,
    /// The scope that new tasks belong to.
    pub(crate) finish: Cell<*const Finish>,
    /// Scopes to be used again.
    spare: Cell<*const Finish>,
    /// The scope that the running task belongs to. Not beside the first one: both would be loaded at once, which waits for their stores.
    floor: Cell<*const Finish>,
    depth: Cell<u32>,
    random: Cell<u32>,
    pub(crate) facts: Facts,
}

/// What a worker has done; only it writes here.
#[derive(Default)]
pub(crate) struct Facts {
    pub(crate) tasks: AtomicU64,
    pub(crate) steals: AtomicU64,
    pub(crate) sent: AtomicU64,
    pub(crate) taken: AtomicU64,
    pub(crate) flushes: AtomicU64,
}

pub(crate) fn count(to: &AtomicU64) {
    to.store(to.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
}

// SAFETY: cells are used by the worker's own thread; others use the deque, returned frames and facts.
unsafe impl Sync for Worker {}
// SAFETY: as above.
unsafe impl Send for Worker {}

/// All workers.
pub(crate) struct Pool {
    pub(crate) settings: Settings,
    pub(crate) hardware: &'static Hardware,
    pub(crate) cross: Option<Cross>,
    workers: Box<[OnceLock<Worker>]>,
    number: AtomicUsize,
    /// Workers whose thread has ended.
    left: Mutex<Vec<usize>>,
    /// This process is a copy of the one that had the workers.
    is_copy: AtomicBool,
    /// There is a trace for counts.
    is_traced: AtomicBool,
}

static POOL: OnceLock<Pool> = OnceLock::new();

thread_local! {
    static WORKER: Cell<*const Worker> = const { Cell::new(ptr::null()) };
    static LEAVES: Leaves = const { Leaves };
}

/// Gives the place of a thread's worker back when the thread ends.
struct Leaves;

impl Drop for Leaves {
    fn drop(&mut self) {
        // SAFETY: a worker that lives as long as the process, or null.
        let worker = unsafe { WORKER.replace(ptr::null()).as_ref() };
        if let (Some(worker), Some(pool)) = (worker, POOL.get()) {
            pool.left.lock().unwrap_or_else(PoisonError::into_inner).push(worker.number);
        }
    }
}

/// The worker that this thread is.
pub(crate) fn worker() -> &'static Worker {
    let worker = WORKER.get();
    // SAFETY: a worker that lives as long as the process, or null.
    if let Some(worker) = unsafe { worker.as_ref() } {
        return worker;
    }
    let mut is_first = false;
    let pool = POOL.get_or_init(|| {
        is_first = true;
        Pool::new()
    });
    if is_first {
        pool.start();
    }
    LEAVES.with(|_| ());
    let worker = pool.join();
    WORKER.set(worker);
    worker
}

/// The workers, if there are any yet.
pub(crate) fn pool() -> Option<&'static Pool> {
    POOL.get()
}

impl Pool {
    fn new() -> Self {
        let settings = settings::read();
        sync::prepare_barriers();
        let Some(hardware) = Hardware::new(settings.cores, settings.is_fifo) else {
            report::fail("there is no memory for tasks", "free some, or raise `ulimit -v`");
        };
        let mut cross = None;
        if settings.cores != 0 {
            let Some(memory) = memory::make(true) else {
                report::fail(
                    "the memory that host and accelerator cores share cannot be placed below 4 GiB",
                    "unset FERRY_TASKS_CORES, or free the addresses from 0x40000000 on",
                );
            };
            if let Err(reason) = cluster::start(hardware, memory, &settings) {
                report::fail(
                    &format!("accelerator cores cannot be started: {reason}"),
                    "unset FERRY_TASKS_CORES",
                );
            }
            if settings.is_checked {
                // SAFETY: the signal is used for memory of this library; others end the process as before.
                unsafe { crate::core::catch(&[libc::SIGSEGV]) };
                if !View::new(memory, true, true).is_some_and(View::install) {
                    report::fail("there is no memory for checking", "unset FERRY_TASKS_CHECK");
                }
            }
            cross = Some(Cross::new(hardware, settings.crossing));
        }
        let workers = (0..settings.workers + GUESTS).map(|_| OnceLock::new()).collect();
        let (number, left, is_copy) =
            (AtomicUsize::new(0), Mutex::default(), AtomicBool::new(false));
        let is_traced = AtomicBool::new(false);
        Self { settings, hardware, cross, workers, number, left, is_copy, is_traced }
    }

    /// Starts the other workers.
    fn start(&'static self) {
        extern "C" fn at_end() {
            if let Some(pool) = pool() {
                pool.end();
            }
        }
        extern "C" fn in_copy() {
            if let Some(pool) = pool() {
                pool.is_copy.store(true, Ordering::Relaxed);
            }
        }
        // Before `at_end` is known: what is known later is called earlier, and the trace is to end last.
        self.is_traced.store(trace::begin(), Ordering::Relaxed);
        // SAFETY: functions that live as long as this library, which is never unloaded with workers in it.
        unsafe {
            libc::atexit(at_end);
            libc::pthread_atfork(None, None, Some(in_copy));
        }
        for number in 1..self.settings.workers {
            let thread =
                thread::Builder::new().name(format!("ferry-worker-{number}")).stack_size(STACK);
            let started = thread.spawn(move || {
                let worker = self.join();
                WORKER.set(worker);
                worker.serve();
            });
            if started.is_err() {
                report::warn(&format!("only {number} host workers could be started"));
                break;
            }
        }
    }

    fn end(&self) {
        if self.is_copy.load(Ordering::Relaxed) {
            return;
        }
        self.hardware.is_over.store(1, Ordering::Relaxed);
        self.hardware.cores.ring_all();
        if self.settings.info {
            self.tell();
        }
        if self.is_traced.load(Ordering::Relaxed) {
            self.trace();
        }
    }

    fn trace(&self) {
        let get = |it: &AtomicU64| it.load(Ordering::Relaxed);
        for worker in self.workers() {
            let Facts { tasks, steals, sent, taken, flushes } = &worker.facts;
            trace::counts(
                &format!("host worker {}", worker.number),
                &[
                    ("tasks", get(tasks)),
                    ("stolen", get(steals)),
                    ("sent to cores", get(sent)),
                    ("taken from cores", get(taken)),
                    ("flushes", get(flushes)),
                ],
            );
        }
        for (number, core) in self.hardware.cores() {
            trace::counts(
                &format!("accelerator core {number}"),
                &[
                    ("tasks", get(&core.tasks)),
                    ("stolen", get(&core.steals)),
                    ("of the host", get(&core.from_host)),
                    ("flushes", get(&core.flushes)),
                    ("lines", get(&core.lines)),
                ],
            );
        }
    }

    fn tell(&self) {
        let get = |it: &AtomicU64| it.load(Ordering::Relaxed);
        for worker in self.workers() {
            let Facts { tasks, steals, sent, taken, flushes } = &worker.facts;
            report::info(&format!(
                "host worker {}: {} tasks, {} stolen from host workers, {} sent to cores, {} taken from cores, {} flushes",
                worker.number,
                get(tasks),
                get(steals),
                get(sent),
                get(taken),
                get(flushes)
            ));
        }
        for (number, core) in self.hardware.cores() {
            report::info(&format!(
                "accelerator core {number}: {} tasks, {} stolen from cores, {} of the host's, {} flushes of {} lines",
                get(&core.tasks),
                get(&core.steals),
                get(&core.from_host),
                get(&core.flushes),
                get(&core.lines)
            ));
        }
    }

    /// A worker for the calling thread.
    fn join(&'static self) -> &'static Worker {
        let left = self.left.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let number = left.unwrap_or_else(|| self.number.fetch_add(1, Ordering::AcqRel));
        let Some(place) = self.workers.get(number) else {
            report::fail(
                &format!("more than {GUESTS} threads of the program use tasks"),
                "make tasks in fewer threads",
            );
        };
        place.get_or_init(|| Worker {
            pool: self,
            number,
            idle: &self.hardware.host,
            crosses: self.cross.is_some(),
            deque: Deque::new(CAPACITY),
            newest: Newest::new(),
            frames: Frames::new(),
            finish: Cell::new(ptr::null()),
            floor: Cell::new(ptr::null()),
            spare: Cell::new(ptr::null()),
            depth: Cell::new(0),
            random: Cell::new((number as u32).wrapping_mul(0x9e37_79b9) | 1),
            facts: Facts::default(),
        })
    }

    pub(crate) fn workers(&self) -> impl Iterator<Item = &Worker> {
        self.workers.iter().take(self.number.load(Ordering::Acquire)).filter_map(OnceLock::get)
    }

    /// How many host workers there are.
    pub(crate) fn width(&self) -> usize {
        self.settings.workers
    }
}

#[cold]
fn wrong_end() -> ! {
    report::fail(
        "`end_finish` without `start_finish` in the same task",
        "a scope ends in the task and on the level that has opened it",
    )
}

impl Worker {
    /// Makes a task.
    ///
    /// # Safety
    /// So many bytes can be read at the arguments, and the function takes them.
    #[inline(always)]
    pub(crate) unsafe fn make(
        &'static self,
        body: Body,
        from: *mut c_void,
        size: usize,
        place: *const c_char,
    ) {
        let finish = self.finish.get();
        // Where somebody has nothing to do, or a core may want it, it is put where others find it.
        let is_wanted = self.idle.is_anybody() || self.crosses || !sync::is_asymmetric();
        // SAFETY: the scope lives until its tasks are done; the caller's promise.
        unsafe {
            let Some(scope) = finish.as_ref().filter(|_| !is_wanted) else {
                return self.make_public(body, from, size, place);
            };
            let Some(task) = self.frames.take_short(from, size) else {
                return self.make_public(body, from, size, place);
            };
            (*task).body = Some(body);
            (*task).finish = finish;
            (*task).place = place;
            self.count_in(scope);
            if !self.newest.try_push(task) {
                return self.put_oldest(task);
            }
        }
        self.idle.publish();
    }

    /// A task of the scope is made.
    #[inline(always)]
    pub(crate) fn count_in(&self, scope: &Finish) {
        if ptr::eq(scope.home, self) {
            scope.count.add_at_home(1);
        } else {
            scope.count.add_away();
        }
    }

    /// Makes a task that is put where others find it.
    ///
    /// # Safety
    /// As [`Worker::make`].
    #[inline(never)]
    unsafe fn make_public(
        &'static self,
        body: Body,
        from: *mut c_void,
        size: usize,
        place: *const c_char,
    ) {
        let finish = self.finish.get();
        // SAFETY: the scope lives until its tasks are done; the caller's promise.
        unsafe {
            let Some(scope) = finish.as_ref() else { return body(from) };
            let task = self.frames.take(from, size);
            (*task).body = Some(body);
            (*task).finish = finish;
            (*task).place = place;
            self.count_in(scope);
            self.put(task, key(place as usize, body as usize));
        }
    }

    /// Keeps a task among the newest, and puts the oldest of them where others find it.
    ///
    /// # Safety
    /// As [`Worker::run`].
    #[inline(never)]
    unsafe fn put_oldest(&'static self, task: *mut Task) {
        match self.newest.push(task) {
            // SAFETY: the caller's promise.
            Some(oldest) => unsafe { self.put(oldest, 0) },
            None => self.idle.publish(),
        }
    }

    /// Puts a task where others find it.
    ///
    /// # Safety
    /// As [`Worker::run`].
    #[inline(never)]
    unsafe fn put(&'static self, task: *mut Task, key: usize) {
        if let Err(task) = self.deque.push(task) {
            // SAFETY: the caller's promise.
            return unsafe { self.run(task) };
        }
        self.idle.publish();
        if let Some(cross) = &self.pool.cross {
            cross.offer(self, key, false);
        }
    }

    /// The newest task that waits here.
    #[inline(always)]
    fn next(&self) -> Option<*mut Task> {
        self.newest.pop().or_else(|| self.deque.pop())
    }

    /// Runs a task and frees it.
    ///
    /// # Safety
    /// The task was made by a worker, and taken from where it waited.
    #[inline(always)]
    pub(crate) unsafe fn run(&'static self, task: *mut Task) {
        // SAFETY: the caller's promise: it is this worker's alone.
        let (body, arguments, finish) =
            unsafe { ((*task).body, (*task).arguments(), (*task).finish) };
        count(&self.facts.tasks);
        if let Some(body) = body {
            self.call(body, arguments, finish);
        }
        // SAFETY: it was run; its scope lives until it is counted.
        unsafe {
            Task::free(task, &self.frames);
            if let Some(finish) = finish.as_ref() {
                self.done(finish);
            }
        }
    }

    /// Calls the function of a task that belongs to a scope.
    #[inline(always)]
    pub(crate) fn call(&'static self, body: Body, arguments: *mut c_void, finish: *const Finish) {
        let outer = self.finish.replace(finish);
        let floor = self.floor.replace(finish);
        if self.crosses {
            self.call_timed(body, arguments);
        } else {
            // SAFETY: a function of the program with its arguments.
            unsafe { body(arguments) };
        }
        if self.finish.get() != finish {
            self.close_open(finish);
        }
        self.finish.set(outer);
        self.floor.set(floor);
    }

    /// Some tasks are timed; one that ran others while it waited says nothing.
    #[inline(never)]
    fn call_timed(&self, body: Body, arguments: *mut c_void) {
        let tasks = self.facts.tasks.load(Ordering::Relaxed);
        let begin = (tasks % TIMED == 1).then(Instant::now);
        // SAFETY: a function of the program with its arguments.
        unsafe { body(arguments) };
        let begin = begin.filter(|_| self.facts.tasks.load(Ordering::Relaxed) == tasks);
        if let (Some(begin), Some(cross)) = (begin, &self.pool.cross) {
            cross.gate.on_host(begin.elapsed().as_nanos() as u64);
        }
    }

    /// A task ends with scopes open.
    #[cold]
    fn close_open(&'static self, finish: *const Finish) {
        while self.finish.get() != finish {
            self.end_finish();
        }
    }

    /// A task of the scope is done.
    #[inline(always)]
    pub(crate) fn done(&self, finish: &Finish) {
        if ptr::eq(finish.home, self) {
            finish.count.add_at_home(-1);
        } else if finish.count.done_away() {
            // The scope may be gone; its home sleeps like all others.
            self.pool.hardware.host.ring_all();
        }
    }

    /// Opens a scope.
    #[inline(always)]
    pub(crate) fn start_finish(&'static self) -> &'static Finish {
        let spare = self.spare.get();
        // SAFETY: scopes are never freed.
        let scope = match unsafe { spare.as_ref() } {
            Some(it) => it,
            None => self.new_scope(),
        };
        self.spare.set(if spare.is_null() { ptr::null() } else { scope.outer.get() });
        scope.outer.set(self.finish.get());
        self.finish.set(scope);
        scope
    }

    #[cold]
    fn new_scope(&'static self) -> &'static Finish {
        Box::leak(Box::new(Finish::new(self)))
    }

    /// Waits for the tasks of the innermost scope, and works meanwhile.
    #[inline(always)]
    pub(crate) fn end_finish(&'static self) {
        self.end(true);
    }

    /// The same; `is_programs`: the program has opened it.
    #[inline(always)]
    pub(crate) fn end(&'static self, is_programs: bool) {
        let finish = self.finish.get();
        if finish == self.floor.get() {
            wrong_end();
        }
        // SAFETY: opened by this worker, and not ended.
        let Some(scope) = (unsafe { finish.as_ref() }) else { return };
        while !scope.count.is_zero() {
            match self.next() {
                // SAFETY: taken from where it waited.
                Some(task) => unsafe { self.run_next(task) },
                None => self.wait(Some(scope)),
            }
        }
        if self.crosses {
            self.flush_written(scope, is_programs);
        }
        self.finish.set(scope.outer.get());
        scope.outer.set(self.spare.get());
        self.spare.set(scope);
    }

    /// Runs the next task; if more wait, a core may have one.
    ///
    /// # Safety
    /// As [`Worker::run`].
    #[inline(always)]
    unsafe fn run_next(&'static self, task: *mut Task) {
        // SAFETY: the task is this worker's; the caller's promise.
        unsafe {
            if self.crosses {
                let body = (*task).body.map_or(0, |it| it as usize);
                self.offer(key((*task).place as usize, body));
            }
            self.run(task);
        }
    }

    #[inline(never)]
    fn offer(&'static self, key: usize) {
        if let Some(cross) = &self.pool.cross {
            cross.offer(self, key, true);
        }
    }

    /// Buffers that were written become visible on both sides, if anything of the scope has crossed.
    #[inline(never)]
    fn flush_written(&'static self, scope: &Finish, is_programs: bool) {
        if !scope.has_crossed.swap(false, Ordering::Relaxed) {
            return;
        }
        for (from, bytes) in scope.written() {
            self.flush(*from, *bytes);
        }
        // SAFETY: the scope outside of one that is open, or null.
        if let Some(outer) = unsafe { scope.outer.get().as_ref() } {
            outer.has_crossed.store(true, Ordering::Relaxed);
        }
        // In checking mode: nothing else may be left old when the outermost scope ends.
        let view = view::current().filter(|_| scope.outer.get().is_null() && is_programs);
        if let Some(address) = view.and_then(View::stale) {
            check::fail_stale(address);
        }
    }

    /// Writes back a part of a buffer and takes what cores have written there.
    pub(crate) fn flush(&self, at: usize, bytes: usize) {
        let part = memory().and_then(|it| it.part(at, bytes));
        let Some((from, bytes)) = part else {
            report::fail(
                &format!("{bytes} bytes at {at:#x} are not within a buffer of `ws_malloc`"),
                "take the buffer from `ws_malloc`, and name no more bytes than it has",
            );
        };
        count(&self.facts.flushes);
        if let Some(fault) = view::current().and_then(|it| it.flush_part(from, bytes)) {
            check::fail(fault, "");
        }
    }

    /// What a library thread does.
    fn serve(&'static self) {
        loop {
            match self.next() {
                // SAFETY: taken from the deque.
                Some(task) => unsafe { self.run_next(task) },
                None => self.wait(None),
            }
        }
    }

    /// Looks for work until it has run some, or the scope has ended.
    #[cold]
    #[inline(never)]
    fn wait(&'static self, scope: Option<&Finish>) {
        let is_over = || scope.is_some_and(|it| it.count.is_zero());
        let depth = self.depth.get();
        self.depth.set(depth + 1);
        let idle = &self.pool.hardware.host;
        idle.search();
        let mut rounds = 0;
        loop {
            if is_over() {
                idle.found();
                break;
            }
            if depth < DEEPEST && self.look(rounds % CLAIM == CLAIM - 1, || idle.found()) {
                break;
            }
            rounds += 1;
            std::hint::spin_loop();
            if rounds % 32 == 0 {
                thread::yield_now();
            }
            let is_tired = rounds >= ROUNDS;
            if is_tired && !self.pool.is_copy.load(Ordering::Relaxed) {
                rounds = 0;
                let is_done = scope.is_some_and(|it| it.count.fall_asleep());
                if !is_done {
                    let is_done = || scope.is_some_and(|it| it.count.is_zero_asleep());
                    idle.rest(|| is_done() || self.is_any());
                }
                if let Some(it) = scope {
                    it.count.wake_up();
                }
            }
        }
        self.depth.set(depth);
    }

    /// Whether there may be work somewhere.
    fn is_any(&self) -> bool {
        self.pool.workers().any(|it| it.deque.len() + it.newest.len() != 0)
            || self.pool.cross.as_ref().is_some_and(Cross::is_any)
    }

    /// Takes something from somebody and runs it; `found` is called before that. Says whether there was something.
    /// `claims`: also among what others have kept to themselves, which is dearer.
    fn look(&'static self, claims: bool, found: impl FnOnce()) -> bool {
        let random = self.random.get().wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        self.random.set(random);
        let number = self.pool.number.load(Ordering::Acquire);
        let others = || {
            let places = (0..number).map(|step| ((random >> 8) as usize + step) % number.max(1));
            let workers = places.filter_map(|it| self.pool.workers.get(it).and_then(OnceLock::get));
            workers.filter(|it| it.number != self.number)
        };
        let mut stolen = others().find_map(|victim| {
            loop {
                match victim.deque.steal() {
                    Stolen::Task(task) => return Some(task),
                    Stolen::Nothing => return None,
                    Stolen::Lost => (),
                }
            }
        });
        if stolen.is_none() && claims {
            stolen = others().find_map(|it| it.newest.claim());
        }
        let Some(task) = stolen else {
            return self.pool.cross.as_ref().is_some_and(|it| it.look(self, found));
        };
        found();
        count(&self.facts.steals);
        // SAFETY: taken from where it waited.
        unsafe { self.run_next(task) };
        true
    }
}
