//! An accelerator core: takes tasks from its queue, from the host and from other cores, and runs them.
//!
//! It agrees with others through hardware queues only. It writes back what it has written, and forgets its copies, before it makes a task,
//! before it runs one that another made, when a scope ends, and before it counts a task as done that another waits for:
//! between these nobody else can tell. A task of the host runs in a scope of its own, and when that has ended its descriptor goes back to the host.
#![allow(unsafe_code, reason = "calls functions of the program, and handles signals")]

use std::cell::Cell;
use std::ffi::{c_char, c_int, c_void};
use std::mem;
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::hardware::{Body, Descriptor, Hardware, INSIDE, NONE, SCOPES, clock};
use crate::report;
use crate::view::{self, Fault, View};

/// The status of a core that checking mode ends, and what stands in the place of its signal.
pub(crate) const FOUND: c_int = 86;
pub(crate) const SHARED: c_int = -1;
pub(crate) const UNFLUSHED: c_int = -2;
/// Rounds of looking for work before a core sleeps.
const ROUNDS: u32 = 200;

/// A core, in its process.
pub(crate) struct Core {
    hardware: &'static Hardware,
    view: &'static View,
    pub(crate) number: u32,
    /// The innermost scope, and how many there are.
    scope: Cell<u32>,
    depth: Cell<u32>,
    /// The host's scope that the running task comes from.
    root: Cell<usize>,
    /// The descriptor that runs.
    task: Cell<u32>,
    /// Tasks that ran since the last one of the host's began.
    tasks: Cell<u64>,
    random: Cell<u32>,
}

thread_local! {
    static CORE: Cell<*const Core> = const { Cell::new(ptr::null()) };
}

/// The core that this process is, if it is one.
pub(crate) fn current() -> Option<&'static Core> {
    // SAFETY: a core that was leaked, or null.
    unsafe { CORE.get().as_ref() }
}

/// Runs until the accelerator ends.
pub(crate) fn run(hardware: &'static Hardware, view: &'static View, number: u32) -> ! {
    let core: &'static Core = Box::leak(Box::new(Core {
        hardware,
        view,
        number,
        scope: Cell::new(NONE),
        depth: Cell::new(0),
        root: Cell::new(0),
        task: Cell::new(NONE),
        tasks: Cell::new(0),
        random: Cell::new(number.wrapping_mul(0x9e37_79b9) | 1),
    }));
    CORE.set(core);
    catch_signals();
    if !view.install() {
        report::fail("an accelerator core has no memory", "lower FERRY_TASKS_CORES");
    }
    core.work_until(|| hardware.is_over.load(Ordering::Relaxed) != 0);
    // SAFETY: ends this process.
    unsafe { libc::_exit(0) }
}

fn add(to: &AtomicU64, number: u64) {
    to.store(to.load(Ordering::Relaxed) + number, Ordering::Relaxed);
}

impl Core {
    fn facts(&self) -> Option<&crate::hardware::Core> {
        self.hardware.core(self.number)
    }

    /// Looks for work and does it.
    fn work_until(&self, is_over: impl Fn() -> bool) {
        let mut rounds = 0;
        while !is_over() {
            if let Some(task) = self.find() {
                self.run(task);
                rounds = 0;
                continue;
            }
            rounds += 1;
            if rounds < ROUNDS {
                if rounds == 1 {
                    self.set_free(true);
                }
                std::hint::spin_loop();
                if rounds % 16 == 0 {
                    std::thread::yield_now();
                }
                continue;
            }
            let idle = &self.hardware.cores;
            idle.search();
            idle.rest(|| is_over() || self.is_any());
            idle.found();
            rounds = 0;
        }
        self.set_free(false);
    }

    fn set_free(&self, is: bool) {
        if let Some(it) = self.facts() {
            it.is_free.store(is.into(), Ordering::Relaxed);
        }
    }

    fn is_any(&self) -> bool {
        let hardware = self.hardware;
        let queues = hardware.own.iter().take(hardware.number.load(Ordering::Relaxed) as usize);
        queues.chain([&hardware.to_cores, &hardware.done_by_host]).any(|it| it.len() != 0)
    }

    /// The next task: the newest of its own, one of the host's, one of another core's.
    fn find(&self) -> Option<u32> {
        let hardware = self.hardware;
        let take = |it: u32| hardware.mark(it, self.number);
        while let Some(done) = hardware.done_by_host.pop_tail(take) {
            self.end_descriptor(done);
        }
        if let Some(task) = hardware.own(self.number).and_then(|it| it.pop_tail(take)) {
            return Some(task);
        }
        if let Some(task) = hardware.to_cores.pop_tail(take) {
            if let Some(facts) = self.facts() {
                add(&facts.from_host, 1);
            }
            return Some(task);
        }
        let cores = hardware.number.load(Ordering::Relaxed);
        let random = self.random.get().wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        self.random.set(random);
        for step in 0..cores {
            let victim = ((random >> 16) + step) % cores;
            let found = hardware
                .own(victim)
                .filter(|_| victim != self.number)
                .and_then(|it| it.pop_tail(take));
            if found.is_some() {
                if let Some(facts) = self.facts() {
                    add(&facts.steals, 1);
                }
                return found;
            }
        }
        None
    }

    /// Counts a task of a core's scope as done and frees its descriptor.
    fn end_descriptor(&self, number: u32) {
        let Some(descriptor) = self.hardware.descriptor(number) else { return };
        let scope = descriptor.core_scope.load(Ordering::Relaxed);
        self.hardware.give_back(number);
        if let Some(it) = self.hardware.scope(scope) {
            it.finish(self.number);
        }
        // Its home may sleep.
        if scope / SCOPES as u32 != self.number && self.hardware.cores.is_anybody() {
            self.hardware.cores.ring_all();
        }
    }

    fn run(&self, number: u32) {
        let Some(descriptor) = self.hardware.descriptor(number) else { return };
        let Some(body) = descriptor.function() else { return };
        self.set_free(false);
        if descriptor.maker.load(Ordering::Relaxed) != self.number {
            self.flush();
        }
        let outer_root = self.root.replace(descriptor.root.load(Ordering::Relaxed));
        let (outer_task, outer_scope) = (self.task.replace(number), self.scope.get());
        if let Some(facts) = self.facts() {
            facts.task.store(number, Ordering::Relaxed);
            add(&facts.tasks, 1);
        }
        self.tasks.set(self.tasks.get() + 1);
        let is_hosts = descriptor.host_scope.load(Ordering::Relaxed) != 0;
        if is_hosts {
            let (begin, tasks) = (clock(), self.tasks.get());
            self.start_finish();
            // SAFETY: a function of the program with its arguments.
            unsafe { body(descriptor.arguments()) };
            self.wait_finish();
            self.commit(descriptor);
            self.close_finish();
            let end = clock();
            descriptor.busy.store(end - begin, Ordering::Relaxed);
            let away = end.saturating_sub(descriptor.sent.load(Ordering::Relaxed));
            descriptor.away.store(away, Ordering::Relaxed);
            descriptor.tasks.store(self.tasks.get() - tasks + 1, Ordering::Relaxed);
            // SAFETY: what the task has printed is written.
            unsafe { libc::fflush(ptr::null_mut()) };
            self.hardware.done_by_cores.push_head(number);
            self.hardware.host.publish_across();
        } else {
            self.scope.set(descriptor.core_scope.load(Ordering::Relaxed));
            // SAFETY: as above.
            unsafe { body(descriptor.arguments()) };
            if self.scope.get() / SCOPES as u32 != self.number {
                self.commit(descriptor);
            }
            self.end_descriptor(number);
        }
        self.root.set(outer_root);
        self.task.set(outer_task);
        self.scope.set(outer_scope);
        if let Some(facts) = self.facts() {
            facts.task.store(outer_task, Ordering::Relaxed);
        }
    }

    /// Writes back what is dirty and forgets copies.
    pub(crate) fn flush(&self) {
        if !self.view.has_copies() {
            return;
        }
        if let Some(current) = self.hardware.descriptor(self.task.get()) {
            current.is_seen.store(1, Ordering::Relaxed);
        }
        self.write_back();
    }

    /// The last flush of a task. If the log has room for it the task is done from then on, even if this core is killed.
    fn commit(&self, descriptor: &Descriptor) {
        let log = self.hardware.logs.get(self.number as usize);
        let is_first = descriptor.is_seen.load(Ordering::Relaxed) == 0 && !self.view.is_strict;
        if log.is_some_and(|it| is_first && self.view.log(it)) {
            descriptor.is_logged.store(1, Ordering::Release);
            self.write_back();
        } else {
            self.flush();
        }
    }

    fn write_back(&self) {
        let (lines, fault) = self.view.flush();
        if let Some(facts) = self.facts().filter(|_| lines != 0) {
            add(&facts.flushes, 1);
            add(&facts.lines, lines as u64);
        }
        if let Some(fault) = fault {
            self.tell(fault);
        }
    }

    /// Checking mode has found something: the host says it, which knows the buffers.
    fn tell(&self, fault: Fault) -> ! {
        if let Some(facts) = self.facts() {
            let (kind, address) = match fault {
                Fault::Shared(it) => (SHARED, it),
                Fault::Unflushed(it) => (UNFLUSHED, it),
            };
            facts.address.store(address, Ordering::Relaxed);
            facts.signal.store(kind, Ordering::Release);
        }
        // SAFETY: ends this process; the host learns of it.
        unsafe { libc::_exit(FOUND) }
    }

    /// Opens a scope.
    pub(crate) fn start_finish(&self) {
        let depth = self.depth.get();
        if depth as usize >= SCOPES - 1 {
            report::fail(
                &format!(
                    "more than {} finish scopes inside of each other on an accelerator core",
                    SCOPES - 1
                ),
                "let the recursion stop earlier, or use fewer scopes",
            );
        }
        let scope = self.number * SCOPES as u32 + depth;
        if let Some(it) = self.hardware.scope(scope) {
            it.clear();
        }
        self.depth.set(depth + 1);
        // The scope outside is kept where only this core looks.
        self.outer(depth, Some(self.scope.get()));
        self.scope.set(scope);
    }

    /// Waits for the tasks of the scope, and works meanwhile; what others have written is seen then.
    pub(crate) fn end_finish(&self) {
        if self.wait_finish() {
            self.flush();
        }
        self.close_finish();
    }

    /// Waits for the tasks of the scope, and works meanwhile; says whether there were any.
    fn wait_finish(&self) -> bool {
        let Some(scope) = self.hardware.scope(self.scope.get()) else { return false };
        if !scope.is_zero() {
            self.flush();
            self.work_until(|| scope.is_zero());
        }
        scope.is_used()
    }

    fn close_finish(&self) {
        let Some(depth) = self.depth.get().checked_sub(1) else { return };
        self.depth.set(depth);
        self.scope.set(self.outer(depth, None));
    }

    fn outer(&self, depth: u32, scope: Option<u32>) -> u32 {
        thread_local! {
            static OUTER: [Cell<u32>; SCOPES] = const { [const { Cell::new(NONE) }; SCOPES] };
        }
        OUTER.with(|it| {
            let Some(slot) = it.get(depth as usize) else { return NONE };
            if let Some(scope) = scope {
                slot.set(scope);
            }
            slot.get()
        })
    }

    /// Makes a task.
    ///
    /// # Safety
    /// So many bytes can be read at the arguments, and the function takes them.
    pub(crate) unsafe fn make(
        &self,
        body: Body,
        from: *mut c_void,
        size: usize,
        place: *const c_char,
        is_for_cores: bool,
    ) {
        let scope = self.scope.get();
        // From here on the task that runs cannot be run again.
        if let Some(current) = self.hardware.descriptor(self.task.get()) {
            current.is_seen.store(1, Ordering::Relaxed);
        }
        let unused = if size <= INSIDE { self.hardware.take_unused(self.number) } else { None };
        let (Some((number, descriptor)), Some(at)) = (unused, self.hardware.scope(scope)) else {
            // No descriptor has room for it: it is done at once.
            // SAFETY: the caller's promise.
            return unsafe { body(from) };
        };
        // SAFETY: the caller's promise; the descriptor was taken.
        unsafe { descriptor.fill(body, from, size, place) };
        descriptor.core_scope.store(scope, Ordering::Relaxed);
        descriptor.root.store(self.root.get(), Ordering::Relaxed);
        descriptor.is_for_cores.store(is_for_cores.into(), Ordering::Relaxed);
        // Who takes the task sees what this core has written before.
        self.flush();
        at.make(self.number);
        if let Some(own) = self.hardware.own(self.number) {
            match self.hardware.is_fifo.load(Ordering::Relaxed) {
                0 => own.push_tail(number),
                _ => own.push_head(number),
            }
        }
        self.hardware.cores.publish_across();
        if !is_for_cores && !self.hardware.cores.is_anybody() {
            self.hardware.host.publish_across();
        }
    }
}

/// The memory's traps, and crashes.
fn catch_signals() {
    // SAFETY: handlers of this process, on a stack of their own.
    unsafe {
        let bytes = 1 << 16;
        let stack = libc::mmap(
            ptr::null_mut(),
            bytes,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
            -1,
            0,
        );
        let stack = libc::stack_t { ss_sp: stack, ss_flags: 0, ss_size: bytes };
        libc::sigaltstack(&raw const stack, ptr::null_mut());
        catch(&[
            libc::SIGSEGV,
            libc::SIGBUS,
            libc::SIGILL,
            libc::SIGFPE,
            libc::SIGABRT,
            libc::SIGTRAP,
        ]);
    }
}

/// Lets [`on_signal`] have these.
///
/// # Safety
/// The process can do without its handlers of them.
pub(crate) unsafe fn catch(signals: &[c_int]) {
    // SAFETY: the caller's promise; the structure lives during the call.
    unsafe {
        let mut action: libc::sigaction = mem::zeroed();
        action.sa_sigaction = on_signal as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_NODEFER;
        for signal in signals {
            libc::sigaction(*signal, &raw const action, ptr::null_mut());
        }
    }
}

/// One instruction only, then a trap; says whether the processor can.
///
/// # Safety
/// The context of a signal.
unsafe fn set_step(context: *mut c_void, is_on: bool) -> bool {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: the caller's promise.
    unsafe {
        const TRAP: i64 = 1 << 8;
        let context = &mut *context.cast::<libc::ucontext_t>();
        if let Some(flags) = context.uc_mcontext.gregs.get_mut(libc::REG_EFL as usize) {
            *flags = if is_on { *flags | TRAP } else { *flags & !TRAP };
        }
        true
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        let _ = (context, is_on);
        false
    }
}

unsafe extern "C" fn on_signal(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: as the system calls it.
    let address = unsafe { (*info).si_addr() } as usize;
    if let Some(view) = view::current() {
        if signal == libc::SIGSEGV {
            let (is_done, fault) = view.touch(address);
            if let (Some(fault), Some(core)) = (fault, current()) {
                core.tell(fault);
            }
            if is_done {
                if view.is_strict && view.begin_step(address) {
                    // SAFETY: this signal's context.
                    unsafe { set_step(context, true) };
                }
                return;
            }
        } else if signal == libc::SIGTRAP && view.end_step() {
            // SAFETY: this signal's context.
            unsafe { set_step(context, false) };
            return;
        }
    }
    let instruction = {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: this signal's context.
        unsafe {
            let context = &*context.cast::<libc::ucontext_t>();
            context.uc_mcontext.gregs.get(libc::REG_RIP as usize).map_or(0, |it| *it as usize)
        }
        #[cfg(not(target_arch = "x86_64"))]
        0
    };
    if let Some(facts) = current().and_then(Core::facts) {
        facts.address.store(address, Ordering::Relaxed);
        facts.instruction.store(instruction, Ordering::Relaxed);
        facts.signal.store(signal, Ordering::Release);
    }
    // SAFETY: the signal comes again, and ends the process.
    unsafe {
        libc::signal(signal, libc::SIG_DFL);
        libc::raise(signal);
    }
}
