//! The emulated hardware that host and accelerator cores share: queues of descriptors, uncached memory, doorbells.
//!
//! One block of memory, shared by the processes. A queue takes descriptors at both ends and gives them at its tail; this
//! is all that cores use to agree upon something: what else is in here is written by one of them only. Inside, a queue has a
//! lock that outlives a process which is killed while it holds it, and every operation takes effect with one store.
#![allow(unsafe_code, reason = "memory of several processes, and a lock of the system's in it")]

use std::cell::UnsafeCell;
use std::ffi::{c_char, c_void};
use std::ptr;
use std::sync::atomic::{AtomicI32, AtomicU8, AtomicU32, AtomicU64, AtomicUsize, Ordering};

use crate::idle::Idle;
use crate::sync::fence;
use crate::view::LINE;

/// Most accelerator cores.
pub(crate) const CORES: usize = 32;
/// Descriptors of all queues together.
pub(crate) const DESCRIPTORS: usize = 4096;
/// Finish scopes that a core can have open.
pub(crate) const SCOPES: usize = 256;
/// Arguments that lie in a descriptor; longer ones lie in memory of their own.
pub(crate) const INSIDE: usize = 256;
/// No descriptor, no scope, no core.
pub(crate) const NONE: u32 = u32::MAX;

/// The function of a task.
pub(crate) type Body = unsafe extern "C" fn(*mut c_void);

/// Nanoseconds, the same in all processes.
pub(crate) fn clock() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the structure lives during the call.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// A queue of descriptors.
#[repr(C, align(128))]
pub(crate) struct Queue {
    lock: UnsafeCell<libc::pthread_mutex_t>,
    head: AtomicU32,
    tail: AtomicU32,
    ring: [AtomicU32; DESCRIPTORS],
}

// SAFETY: the lock is one of the system's for several processes, and all else is atomic.
unsafe impl Sync for Queue {}

impl Queue {
    /// Before its first use, in zeroed memory.
    fn prepare(&self) {
        // SAFETY: nobody uses the lock yet; the attribute lives during the calls.
        unsafe {
            let mut kind: libc::pthread_mutexattr_t = std::mem::zeroed();
            libc::pthread_mutexattr_init(&raw mut kind);
            libc::pthread_mutexattr_setpshared(&raw mut kind, libc::PTHREAD_PROCESS_SHARED);
            libc::pthread_mutexattr_setrobust(&raw mut kind, libc::PTHREAD_MUTEX_ROBUST);
            libc::pthread_mutex_init(self.lock.get(), &raw const kind);
            libc::pthread_mutexattr_destroy(&raw mut kind);
        }
    }

    fn locked<T>(&self, work: impl FnOnce() -> T) -> T {
        // SAFETY: a lock that was prepared; it is freed below, by the same thread.
        unsafe {
            if libc::pthread_mutex_lock(self.lock.get()) == libc::EOWNERDEAD {
                // What its owner had begun has taken effect or not: there is nothing to repair.
                libc::pthread_mutex_consistent(self.lock.get());
            }
        }
        let result = work();
        // SAFETY: locked above.
        unsafe { libc::pthread_mutex_unlock(self.lock.get()) };
        result
    }

    fn slot(&self, at: u32) -> &AtomicU32 {
        const { assert!(DESCRIPTORS.is_power_of_two()) };
        let at = at as usize & (DESCRIPTORS - 1);
        // There are as many slots as descriptors, and the index is below that.
        self.ring.get(at).unwrap_or(&self.head)
    }

    /// How many there are now.
    pub(crate) fn len(&self) -> usize {
        self.tail.load(Ordering::Acquire).wrapping_sub(self.head.load(Ordering::Acquire)) as usize
    }

    /// Adds one that is taken next.
    pub(crate) fn push_tail(&self, descriptor: u32) {
        self.locked(|| {
            let tail = self.tail.load(Ordering::Relaxed);
            self.slot(tail).store(descriptor, Ordering::Relaxed);
            self.tail.store(tail.wrapping_add(1), Ordering::Release);
        });
    }

    /// Adds one that is taken after all others.
    pub(crate) fn push_head(&self, descriptor: u32) {
        self.locked(|| {
            let head = self.head.load(Ordering::Relaxed).wrapping_sub(1);
            self.slot(head).store(descriptor, Ordering::Relaxed);
            self.head.store(head, Ordering::Release);
        });
    }

    /// Takes the one at the tail, if it is wanted; `take` marks whose it is before it leaves the queue.
    pub(crate) fn pop_tail(&self, take: impl FnOnce(u32) -> bool) -> Option<u32> {
        if self.len() == 0 {
            return None;
        }
        self.locked(|| {
            let tail = self.tail.load(Ordering::Relaxed);
            if tail == self.head.load(Ordering::Relaxed) {
                return None;
            }
            let last = tail.wrapping_sub(1);
            let descriptor = self.slot(last).load(Ordering::Relaxed);
            if !take(descriptor) {
                return None;
            }
            self.tail.store(last, Ordering::Release);
            Some(descriptor)
        })
    }

    /// Whether it holds this one.
    pub(crate) fn holds(&self, descriptor: u32) -> bool {
        self.locked(|| {
            let (head, tail) =
                (self.head.load(Ordering::Relaxed), self.tail.load(Ordering::Relaxed));
            (0..tail.wrapping_sub(head))
                .any(|it| self.slot(head.wrapping_add(it)).load(Ordering::Relaxed) == descriptor)
        })
    }
}

/// A task on its way between host and cores, or among cores. Who owns it may change it, one at a time.
#[repr(C, align(128))]
pub(crate) struct Descriptor {
    /// The function; its address is the same in all processes.
    pub(crate) body: AtomicUsize,
    /// Where the task was made, as C text.
    pub(crate) place: AtomicUsize,
    /// Length of the arguments.
    pub(crate) size: AtomicUsize,
    /// Arguments that are too long for [`INSIDE`].
    pub(crate) outside: AtomicUsize,
    /// The host's finish scope it belongs to; 0 if it belongs to one of a core.
    pub(crate) host_scope: AtomicUsize,
    /// The core's finish scope it belongs to, or [`NONE`].
    pub(crate) core_scope: AtomicU32,
    /// The host's scope that the work on cores came from: it names the buffers that are written.
    pub(crate) root: AtomicUsize,
    /// The core that made it, or [`NONE`].
    pub(crate) maker: AtomicU32,
    /// The core that has it, or [`NONE`].
    pub(crate) owner: AtomicU32,
    /// Only cores may run it.
    pub(crate) is_for_cores: AtomicU8,
    /// Something of it can be seen outside of the core: it cannot be run a second time.
    pub(crate) is_seen: AtomicU8,
    /// All that it has written is in the log of its core: it is done, whatever becomes of the core.
    pub(crate) is_logged: AtomicU8,
    /// When it was sent and how long it was away until it was done; how long it ran, and as how many tasks.
    pub(crate) sent: AtomicU64,
    pub(crate) away: AtomicU64,
    pub(crate) busy: AtomicU64,
    pub(crate) tasks: AtomicU64,
    inside: UnsafeCell<Inside>,
}

/// Arguments of any alignment that C has.
#[repr(C, align(64))]
struct Inside([u8; INSIDE]);

// SAFETY: the arguments are written by who owns the descriptor and read by who takes it from a queue.
unsafe impl Sync for Descriptor {}

impl Descriptor {
    /// What the function is called with.
    pub(crate) fn arguments(&self) -> *mut c_void {
        match self.outside.load(Ordering::Relaxed) {
            // SAFETY: within the descriptor.
            0 => unsafe { (&raw mut (*self.inside.get()).0).cast() },
            it => it as *mut c_void,
        }
    }

    /// The function.
    pub(crate) fn function(&self) -> Option<Body> {
        let at = self.body.load(Ordering::Relaxed);
        // SAFETY: it was one when it was stored; null is none.
        unsafe { std::mem::transmute::<usize, Option<Body>>(at) }
    }

    /// Fills it in; the arguments must fit, or be outside already.
    ///
    /// # Safety
    /// So many bytes can be read there, and the caller owns the descriptor.
    pub(crate) unsafe fn fill(
        &self,
        body: Body,
        from: *const c_void,
        size: usize,
        place: *const c_char,
    ) {
        self.body.store(body as usize, Ordering::Relaxed);
        self.place.store(place as usize, Ordering::Relaxed);
        self.size.store(size, Ordering::Relaxed);
        self.is_seen.store(0, Ordering::Relaxed);
        self.is_logged.store(0, Ordering::Relaxed);
        // SAFETY: the caller's promise; there is room for so many.
        unsafe { ptr::copy_nonoverlapping(from.cast::<u8>(), self.arguments().cast(), size) };
    }
}

/// A finish scope of a core: how many tasks each core has made and done in it. Each number has one writer.
#[repr(C, align(128))]
pub(crate) struct Scope {
    made: [AtomicU64; CORES],
    done: [AtomicU64; CORES],
}

impl Scope {
    /// A scope without tasks.
    pub(crate) fn clear(&self) {
        for it in self.made.iter().chain(&self.done) {
            it.store(0, Ordering::Relaxed);
        }
    }

    fn count(at: Option<&AtomicU64>) {
        if let Some(at) = at {
            at.store(at.load(Ordering::Relaxed) + 1, Ordering::Release);
        }
    }

    pub(crate) fn make(&self, core: u32) {
        Self::count(self.made.get(core as usize));
    }

    pub(crate) fn finish(&self, core: u32) {
        Self::count(self.done.get(core as usize));
    }

    /// Whether there was any task.
    pub(crate) fn is_used(&self) -> bool {
        self.made.iter().any(|it| it.load(Ordering::Relaxed) != 0)
    }

    /// Whether all are done. What is done is read before what was made: if they are equal, nothing was pending in between, and
    /// only what is pending makes tasks.
    pub(crate) fn is_zero(&self) -> bool {
        let sum = |of: &[AtomicU64]| of.iter().map(|it| it.load(Ordering::Acquire)).sum::<u64>();
        let done = sum(&self.done);
        fence(Ordering::SeqCst);
        done == sum(&self.made)
    }
}

/// Lines that a log has room for.
pub(crate) const LOGGED: usize = 512;

/// A line that a core has written: where, what it holds now, and what it held.
#[repr(C)]
pub(crate) struct Entry {
    pub(crate) offset: usize,
    pub(crate) now: [u8; LINE],
    pub(crate) then: [u8; LINE],
}

/// What a core is about to write back. It is written before anything of it, and read when the core is dead.
#[repr(C, align(128))]
pub(crate) struct Log {
    pub(crate) number: AtomicUsize,
    entries: UnsafeCell<[Entry; LOGGED]>,
}

// SAFETY: written by its core alone, and read by the host when that has ended.
unsafe impl Sync for Log {}

impl Log {
    /// The place of an entry.
    pub(crate) fn entry(&self, at: usize) -> Option<*mut Entry> {
        // SAFETY: within the array.
        (at < LOGGED).then(|| unsafe { self.entries.get().cast::<Entry>().add(at) })
    }
}

/// What is known of a core.
#[repr(C, align(128))]
pub(crate) struct Core {
    /// It has nothing to do.
    pub(crate) is_free: AtomicU8,
    /// The host wants it to be started again.
    pub(crate) restart: AtomicU8,
    /// Its process; 0 while there is none.
    pub(crate) process: AtomicI32,
    /// How its process ended, with [`ENDED`] set; 0 while it runs.
    pub(crate) ending: AtomicI32,
    /// A signal that its task caused, the address it was about, the address of the instruction, the task.
    pub(crate) signal: AtomicI32,
    pub(crate) address: AtomicUsize,
    pub(crate) instruction: AtomicUsize,
    pub(crate) task: AtomicU32,
    /// What it has done.
    pub(crate) tasks: AtomicU64,
    pub(crate) steals: AtomicU64,
    pub(crate) from_host: AtomicU64,
    pub(crate) flushes: AtomicU64,
    pub(crate) lines: AtomicU64,
}

/// Set in [`Core::ending`].
pub(crate) const ENDED: i32 = 1 << 24;

/// All that is shared.
#[repr(C)]
pub(crate) struct Hardware {
    /// Host workers that search or sleep.
    pub(crate) host: Idle,
    /// Cores that do.
    pub(crate) cores: Idle,
    /// How many there are.
    pub(crate) number: AtomicU32,
    /// Processes that have ended, counted by who started them.
    pub(crate) deaths: AtomicU32,
    /// No core starts anything any more.
    pub(crate) is_over: AtomicU8,
    pub(crate) is_fifo: AtomicU8,
    /// Descriptors that nobody uses.
    pub(crate) unused: Queue,
    /// Work of the host for cores.
    pub(crate) to_cores: Queue,
    /// Work of cores that the host has done.
    pub(crate) done_by_host: Queue,
    /// Work of the host that cores have done.
    pub(crate) done_by_cores: Queue,
    /// What each core has to do.
    pub(crate) own: [Queue; CORES],
    pub(crate) core: [Core; CORES],
    pub(crate) logs: [Log; CORES],
    pub(crate) descriptors: [Descriptor; DESCRIPTORS],
    pub(crate) scopes: [[Scope; SCOPES]; CORES],
}

impl Hardware {
    /// New memory for it; nothing if there is none.
    pub(crate) fn new(cores: u32, is_fifo: bool) -> Option<&'static Self> {
        let (access, kind) =
            (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED | libc::MAP_ANONYMOUS);
        // SAFETY: a new mapping, zeroed: as such all of it is valid. It is never unmapped.
        let this: &'static Self = unsafe {
            let at = libc::mmap(
                ptr::null_mut(),
                size_of::<Self>(),
                access,
                kind | libc::MAP_NORESERVE,
                -1,
                0,
            );
            if at == libc::MAP_FAILED {
                return None;
            }
            &*at.cast::<Self>()
        };
        for it in [&this.unused, &this.to_cores, &this.done_by_host, &this.done_by_cores] {
            it.prepare();
        }
        this.own.iter().for_each(Queue::prepare);
        for number in 0..DESCRIPTORS as u32 {
            this.unused.push_tail(number);
        }
        this.number.store(cores, Ordering::Relaxed);
        this.is_fifo.store(is_fifo.into(), Ordering::Relaxed);
        Some(this)
    }

    /// The cores that there are.
    pub(crate) fn cores(&self) -> impl Iterator<Item = (u32, &Core)> {
        (0..).zip(self.core.iter().take(self.number.load(Ordering::Relaxed) as usize))
    }

    pub(crate) fn core(&self, number: u32) -> Option<&Core> {
        self.core.get(number as usize)
    }

    pub(crate) fn own(&self, core: u32) -> Option<&Queue> {
        self.own.get(core as usize)
    }

    pub(crate) fn descriptor(&self, number: u32) -> Option<&Descriptor> {
        self.descriptors.get(number as usize)
    }

    /// A scope by its number.
    pub(crate) fn scope(&self, number: u32) -> Option<&Scope> {
        self.scopes.get(number as usize / SCOPES)?.get(number as usize % SCOPES)
    }

    /// Cores with nothing to do.
    pub(crate) fn free_cores(&self) -> usize {
        self.cores().filter(|(_, it)| it.is_free.load(Ordering::Relaxed) != 0).count()
    }

    /// Whether a core may have something for the host, or wants something of it.
    pub(crate) fn is_any_for_host(&self) -> bool {
        self.done_by_cores.len() != 0
            || self.cores().any(|(it, _)| self.own(it).is_some_and(|it| it.len() != 0))
    }

    /// Takes a descriptor that nobody uses, for a core or ([`NONE`]) for the host.
    pub(crate) fn take_unused(&self, owner: u32) -> Option<(u32, &Descriptor)> {
        let number = self.unused.pop_tail(|it| self.mark(it, owner))?;
        let descriptor = self.descriptor(number)?;
        descriptor.outside.store(0, Ordering::Relaxed);
        descriptor.host_scope.store(0, Ordering::Relaxed);
        descriptor.core_scope.store(NONE, Ordering::Relaxed);
        descriptor.maker.store(owner, Ordering::Relaxed);
        descriptor.is_for_cores.store(0, Ordering::Relaxed);
        descriptor.busy.store(0, Ordering::Relaxed);
        descriptor.tasks.store(0, Ordering::Relaxed);
        Some((number, descriptor))
    }

    /// Marks whose a descriptor is, while it is taken from a queue.
    pub(crate) fn mark(&self, descriptor: u32, owner: u32) -> bool {
        if let Some(it) = self.descriptor(descriptor) {
            it.owner.store(owner, Ordering::Relaxed);
        }
        true
    }

    /// Puts one that is done back; it has no arguments outside any more.
    pub(crate) fn give_back(&self, descriptor: u32) {
        self.unused.push_tail(descriptor);
    }
}
