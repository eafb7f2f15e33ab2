//! How a process sees the memory of buffers: through copies of its own of what it writes, which others see when they are
//! written back.
//!
//! The view is a private mapping of that memory. The first write to a page is trapped, and the page as it was (its twin) is
//! kept: what differs from the twin is dirty. Cores have a view always. In checking mode ([`View::is_strict`]) pages are trapped when they are
//! first read, too, and are copies from then on; whole lines of [`LINE`] bytes are written back, as hardware does it; the host has a
//! view as well; and what would go wrong on hardware is found: two that write to one line, and lines that the host has
//! written and not flushed.
#![allow(unsafe_code, reason = "pages of this process, and the signal that tells of them")]

use std::ptr;
use std::slice;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU8, AtomicU32, AtomicUsize, Ordering};

use crate::hardware::{Entry, Log};
use crate::memory::Memory;

/// Bytes of a line of the cores' caches.
pub(crate) const LINE: usize = 128;
pub(crate) const PAGE: usize = 4096;
/// Most pages that are made writable at once, where they are written one after the other.
const MOST_AHEAD: u32 = 64;

const CLEAN: u8 = 0;
const COPIED: u8 = 1;
/// A copy of which each access is looked at.
const WATCHED: u8 = 2;

/// A view of the memory.
pub(crate) struct View {
    memory: &'static Memory,
    /// Pages as they were.
    twins: usize,
    /// Pages that are copies.
    list: usize,
    count: AtomicU32,
    pages: usize,
    last: AtomicU32,
    ahead: AtomicU32,
    lock: AtomicBool,
    watched: AtomicUsize,
    /// See the file's header.
    pub(crate) is_strict: bool,
    /// Whether this is the host's.
    is_host: bool,
}

/// What was found in checking mode.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Fault {
    /// A line that somebody else has written too.
    Shared(usize),
    /// A line that the host has written and not flushed.
    Unflushed(usize),
}

static VIEW: AtomicPtr<View> = AtomicPtr::new(ptr::null_mut());

/// The view of this process, if it has one.
pub(crate) fn current() -> Option<&'static View> {
    // SAFETY: a view that was leaked, or null.
    unsafe { VIEW.load(Ordering::Acquire).as_ref() }
}

fn map(bytes: usize) -> Option<usize> {
    let kind = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    // SAFETY: new memory.
    let at = unsafe {
        libc::mmap(ptr::null_mut(), bytes, libc::PROT_READ | libc::PROT_WRITE, kind, -1, 0)
    };
    (at != libc::MAP_FAILED).then_some(at as usize)
}

impl View {
    /// A view that nobody sees through yet. Made before cores are copied from one process, it is at one place in all of them.
    pub(crate) fn new(
        memory: &'static Memory,
        is_strict: bool,
        is_host: bool,
    ) -> Option<&'static Self> {
        let (twins, list) = (map(memory.length)?, map(memory.length / PAGE * 4)?);
        let pages = map(memory.length / PAGE)?;
        Some(Box::leak(Box::new(Self {
            memory,
            twins,
            list,
            count: AtomicU32::new(0),
            pages,
            last: AtomicU32::new(u32::MAX - 1),
            ahead: AtomicU32::new(1),
            lock: AtomicBool::new(false),
            watched: AtomicUsize::new(0),
            is_strict,
            is_host,
        })))
    }

    /// Puts it in the place of the memory, for the whole process.
    pub(crate) fn install(&'static self) -> bool {
        VIEW.store(ptr::from_ref(self).cast_mut(), Ordering::Release);
        self.refresh(0, self.memory.length)
    }

    fn access(&self) -> i32 {
        if self.is_strict { libc::PROT_NONE } else { libc::PROT_READ }
    }

    /// What lies there is what is in memory.
    fn refresh(&self, from: usize, bytes: usize) -> bool {
        let kind = libc::MAP_PRIVATE | libc::MAP_FIXED | libc::MAP_NORESERVE;
        // SAFETY: the place of the memory, which this library has mapped; nobody holds references into it.
        let at = unsafe {
            let to = (self.memory.base + from) as *mut _;
            libc::mmap(to, bytes, self.access(), kind, self.memory.file, from as i64)
        };
        at != libc::MAP_FAILED
    }

    fn state(&self, page: usize) -> &AtomicU8 {
        // SAFETY: one byte per page.
        unsafe { &*((self.pages + page) as *const AtomicU8) }
    }

    fn here(&self, page: usize) -> *mut u8 {
        (self.memory.base + page * PAGE) as *mut u8
    }

    fn twin(&self, page: usize) -> *mut u8 {
        (self.twins + page * PAGE) as *mut u8
    }

    fn enter(&self) {
        while self
            .lock
            .compare_exchange_weak(false, true, Ordering::Acquire, Ordering::Relaxed)
            .is_err()
        {
            std::hint::spin_loop();
        }
    }

    fn leave(&self) {
        self.lock.store(false, Ordering::Release);
    }

    /// A signal tells that this address was used. Says whether the access can be repeated, and what was found.
    pub(crate) fn touch(&self, address: usize) -> (bool, Option<Fault>) {
        let Some(offset) =
            address.checked_sub(self.memory.base).filter(|it| *it < self.memory.length)
        else {
            return (false, None);
        };
        let page = offset / PAGE;
        let mut fault = None;
        self.enter();
        let done = match (self.is_strict, self.state(page).load(Ordering::Relaxed)) {
            (false, CLEAN) => self.open(page as u32),
            (true, CLEAN) => self.copy(page),
            (true, WATCHED) => true,
            // Another thread was quicker, or the page is not to be written.
            (_, _) => self.is_host,
        };
        if done && self.is_strict && !self.is_host && self.memory.is_unflushed(offset / LINE) {
            fault = Some(Fault::Unflushed(address));
        }
        self.leave();
        (done, fault)
    }

    /// Makes pages writable and keeps them as they are: as many as were written one after the other.
    fn open(&self, page: u32) -> bool {
        let is_next = page == self.last.load(Ordering::Relaxed).wrapping_add(1);
        let ahead =
            if is_next { (self.ahead.load(Ordering::Relaxed) * 2).min(MOST_AHEAD) } else { 1 };
        let end = (page as usize + ahead as usize).min(self.memory.length / PAGE);
        let is_clean = |it: &usize| self.state(*it).load(Ordering::Relaxed) == CLEAN;
        let pages = (page as usize..end).take_while(is_clean).count();
        // SAFETY: pages of the view. A write of what is there makes a page a copy, and the twin is made of the copy.
        unsafe {
            let bytes = pages * PAGE;
            if libc::mprotect(
                self.here(page as usize).cast(),
                bytes,
                libc::PROT_READ | libc::PROT_WRITE,
            ) != 0
            {
                return false;
            }
            for it in page as usize..page as usize + pages {
                let first = self.here(it);
                first.write_volatile(first.read_volatile());
                ptr::copy_nonoverlapping(first, self.twin(it), PAGE);
                self.note(it, COPIED);
            }
        }
        self.last.store(page + pages as u32 - 1, Ordering::Relaxed);
        self.ahead.store(ahead, Ordering::Relaxed);
        true
    }

    fn note(&self, page: usize, state: u8) {
        self.state(page).store(state, Ordering::Relaxed);
        let at = self.count.fetch_add(1, Ordering::Relaxed) as usize;
        // SAFETY: the list has an entry per page, and a page is noted once.
        unsafe { (self.list as *mut u32).add(at).write(page as u32) };
    }

    /// Puts a copy in the place of a page, at once: other threads of the host may write to it from then on.
    fn copy(&self, page: usize) -> bool {
        let Some(new) = map(PAGE) else { return false };
        let main = (self.memory.main + page * PAGE) as *const u8;
        let first = page * PAGE / LINE;
        let is_watched =
            !self.is_host && (first..first + PAGE / LINE).any(|it| self.memory.is_unflushed(it));
        let access = if is_watched { libc::PROT_NONE } else { libc::PROT_READ | libc::PROT_WRITE };
        // SAFETY: pages of this library; the new one replaces the view's.
        unsafe {
            // Others may write there meanwhile: each word is read once, and both copies get the same.
            for at in 0..PAGE / size_of::<u64>() {
                let word = main.cast::<u64>().add(at).read_volatile();
                (new as *mut u64).add(at).write(word);
                self.twin(page).cast::<u64>().add(at).write(word);
            }
            libc::mprotect(new as *mut _, PAGE, access);
            let fixed = libc::MREMAP_MAYMOVE | libc::MREMAP_FIXED;
            let to = self.here(page);
            if libc::mremap(new as *mut _, PAGE, PAGE, fixed, to) == libc::MAP_FAILED {
                return false;
            }
        }
        self.note(page, if is_watched { WATCHED } else { COPIED });
        true
    }

    /// Whether the access must be done alone, with its page open, and the page closed again after it.
    pub(crate) fn begin_step(&self, address: usize) -> bool {
        let page = address.wrapping_sub(self.memory.base) / PAGE;
        let is_watched =
            page < self.memory.length / PAGE && self.state(page).load(Ordering::Relaxed) == WATCHED;
        if is_watched {
            self.protect(page, libc::PROT_READ | libc::PROT_WRITE);
            // An access may be to two pages: both are closed after it.
            self.watched.store(page + 1, Ordering::Relaxed);
        }
        is_watched
    }

    /// Closes what [`View::begin_step`] has opened.
    pub(crate) fn end_step(&self) -> bool {
        let page = self.watched.swap(0, Ordering::Relaxed);
        if page != 0 {
            self.protect(page - 1, libc::PROT_NONE);
        }
        page != 0
    }

    fn protect(&self, page: usize, access: i32) {
        // SAFETY: a page of the view.
        unsafe { libc::mprotect(self.here(page).cast(), PAGE, access) };
    }

    /// Pages that are copies. The lock is held, or this is the only thread.
    fn copied(&self) -> &[u32] {
        let count = self.count.load(Ordering::Relaxed) as usize;
        // SAFETY: so many were noted.
        unsafe { slice::from_raw_parts(self.list as *const u32, count) }
    }

    /// Whether any page is a copy.
    pub(crate) fn has_copies(&self) -> bool {
        self.count.load(Ordering::Relaxed) != 0
    }

    /// A core writes back what is dirty and forgets its copies. Answers with the number of lines, and with what was found.
    pub(crate) fn flush(&self) -> (usize, Option<Fault>) {
        let (mut lines, mut fault) = (0, None);
        let mut list = self.copied().to_vec();
        list.sort_unstable();
        let mut rest = &*list;
        while let Some(first) = rest.first().map(|it| *it as usize) {
            // Pages side by side are forgotten together.
            let run =
                rest.iter().enumerate().take_while(|(at, it)| first + at == **it as usize).count();
            for page in first..first + run {
                if self.state(page).load(Ordering::Relaxed) == WATCHED {
                    self.protect(page, libc::PROT_READ);
                }
                for at in (0..PAGE).step_by(LINE) {
                    lines += usize::from(self.write_back(page * PAGE + at, &mut fault));
                }
                self.state(page).store(CLEAN, Ordering::Relaxed);
            }
            self.refresh(first * PAGE, run * PAGE);
            rest = rest.get(run..).unwrap_or_default();
        }
        self.count.store(0, Ordering::Relaxed);
        (lines, fault)
    }

    /// Writes down what [`View::flush`] would write back; says whether the log has room for it.
    pub(crate) fn log(&self, log: &Log) -> bool {
        let mut number = 0;
        for offset in self.lines_between(0, self.memory.length) {
            let (here, twin, _) = self.line(offset);
            // SAFETY: a line in two mappings, and an entry of this core's log.
            unsafe {
                let now = here.cast::<[u8; LINE]>().read_volatile();
                let then = twin.cast::<[u8; LINE]>().read();
                if now != then {
                    let Some(entry) = log.entry(number) else { return false };
                    entry.write(Entry { offset, now, then });
                    number += 1;
                }
            }
        }
        log.number.store(number, Ordering::Release);
        true
    }

    /// The same line in the view, as it was, and in memory.
    fn line(&self, offset: usize) -> (*mut u8, *mut u8, *mut u8) {
        let at = |base: usize| (base + offset) as *mut u8;
        (at(self.memory.base), at(self.twins), at(self.memory.main))
    }

    /// Writes a line back, if it is dirty.
    fn write_back(&self, offset: usize, fault: &mut Option<Fault>) -> bool {
        let (here, twin, main) = self.line(offset);
        // SAFETY: a line in three mappings. Other processes may write to memory, and other threads to the view: what was read
        // is what is written.
        unsafe {
            let now = here.cast::<[u8; LINE]>().read_volatile();
            let then = twin.cast::<[u8; LINE]>().read();
            if now == then {
                return false;
            }
            if !self.is_strict {
                merge(&now, &then, main);
                return true;
            }
            if main.cast::<[u8; LINE]>().read_volatile() != then {
                *fault = fault.or(Some(Fault::Shared(self.memory.base + offset)));
            }
            main.cast::<[u8; LINE]>().write_volatile(now);
            twin.cast::<[u8; LINE]>().write(now);
        }
        self.memory.set_unflushed(offset / LINE, false);
        true
    }

    /// The host writes back what is dirty in a part of the memory, and takes what others have written there.
    pub(crate) fn flush_part(&self, from: usize, bytes: usize) -> Option<Fault> {
        let mut fault = None;
        self.enter();
        for offset in self.lines_between(from, from + bytes) {
            if !self.write_back(offset, &mut fault) {
                let (here, twin, main) = self.line(offset);
                // SAFETY: a line in three mappings; nobody else on the host writes to it, or it would be dirty.
                unsafe {
                    let new = main.cast::<[u8; LINE]>().read_volatile();
                    if twin.cast::<[u8; LINE]>().read() != new {
                        twin.cast::<[u8; LINE]>().write(new);
                        here.cast::<[u8; LINE]>().write_volatile(new);
                    }
                }
            }
        }
        self.leave();
        fault
    }

    /// The lines of copied pages between two offsets.
    fn lines_between(&self, from: usize, to: usize) -> impl Iterator<Item = usize> {
        let from = from / LINE * LINE;
        let pages = self.copied().iter().map(|it| *it as usize * PAGE);
        let pages = pages.filter(move |it| it + PAGE > from && *it < to);
        pages.flat_map(move |it| (it.max(from)..to.min(it + PAGE)).step_by(LINE))
    }

    /// In checking mode, before work goes to the cores: marks the lines that the host has written and not flushed.
    pub(crate) fn mark_unflushed(&self) {
        self.enter();
        for offset in self.lines_between(0, self.memory.length) {
            let (here, twin, _) = self.line(offset);
            // SAFETY: a line in two mappings.
            let is_dirty = unsafe {
                here.cast::<[u8; LINE]>().read_volatile() != twin.cast::<[u8; LINE]>().read()
            };
            self.memory.set_unflushed(offset / LINE, is_dirty);
        }
        self.leave();
    }

    /// In checking mode, when a scope ends: a line that somebody else has written while the host keeps an old copy.
    pub(crate) fn stale(&self) -> Option<usize> {
        self.enter();
        let stale = self.lines_between(0, self.memory.length).find(|offset| {
            let (_, twin, main) = self.line(*offset);
            // SAFETY: a line in two mappings.
            unsafe { main.cast::<[u8; LINE]>().read_volatile() != twin.cast::<[u8; LINE]>().read() }
        });
        let stale = stale.map(|it| self.memory.base + it);
        self.leave();
        stale
    }
}

/// Writes back what a core has logged that was killed.
pub(crate) fn replay(memory: &Memory, log: &Log) {
    for entry in (0..log.number.load(Ordering::Acquire)).filter_map(|it| log.entry(it)) {
        // SAFETY: the core that wrote it has ended; the line is within the memory.
        unsafe { merge(&(*entry).now, &(*entry).then, (memory.main + (*entry).offset) as *mut u8) };
    }
}

/// Writes the bytes that differ.
///
/// # Safety
/// A line can be written there.
unsafe fn merge(now: &[u8], then: &[u8], to: *mut u8) {
    for (at, (new, old)) in now.iter().zip(then).enumerate() {
        if new != old {
            // SAFETY: within the line.
            unsafe { to.add(at).write_volatile(*new) };
        }
    }
}
