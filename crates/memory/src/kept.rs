//! Small blocks that threads keep: what a thread gives back it gets again, without a call of the allocator of small blocks.
//!
//! Each thread has a list of free blocks for each predefined allocator and size class, in two stacks: one is taken from, the other one
//! given to, so that the processor need not wait for what was given last to be written. When the first is empty they change places. What
//! is full goes to the depot, where threads whose lists are empty look; so blocks that one thread makes and another one gives back
//! travel in numbers.
//!
//! Which list a block belongs to its address says: the allocator cuts each slice of addresses into blocks of one size, and a table has the
//! list of each slice. Every block is noted there before it is handed out, and a slice is cut anew only when none of its blocks is used
//! or kept: so what the table says of a block in use is true. Slices with blocks that do not begin where the allocator has cut are not
//! kept.
//!
//! A thread is found by the number that the processor has of it, which takes no call, unlike a variable of a thread in a shared library.
#![allow(unsafe_code, reason = "memory that C programs use, and caches of threads by address")]

use std::alloc::{self, Layout};
use std::cell::Cell;
use std::sync::atomic::{AtomicPtr, AtomicU8, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, TryLockError};
use std::{mem, ptr, slice};

use crate::arena::{self, Heap};

/// Blocks of more bytes are not kept.
const LARGEST: usize = 1024;
/// Bytes of one request more may be another class.
const GRAIN: usize = 8;
const GRAINS: usize = LARGEST / GRAIN + 1;
/// Classes that an allocator may have; the first and the last one have no blocks.
const CLASSES: usize = 32;
/// Allocators whose blocks are kept: those that the standard has.
const OWNERS: usize = 8;
/// A list is a number of eight bits: of its owner, and of its class.
const LISTS: usize = OWNERS * CLASSES;
/// In the table of slices: nothing is kept; no block of the slice may ever be. These lists have no room.
const UNKNOWN: u8 = 0;
const NEVER: u8 = u8::MAX;

/// Blocks of a stack, and how many come from the heap at once.
const MOST: usize = 32;
const AT_ONCE: usize = 16;
/// Blocks of one list that lie in the depot.
const STORED: usize = 512;

/// Addresses of one slice, and slices of one part of the table.
const SLICE: usize = 16;
const PART: usize = 16;
const PARTS: usize = 1 << (48 - SLICE - PART);

type Part = [AtomicU8; 1 << PART];

/// The list of each slice; parts are made when they are needed.
static TABLE: [AtomicPtr<Part>; PARTS] = [const { AtomicPtr::new(ptr::null_mut()) }; PARTS];

#[inline]
fn part(at: *const u8) -> Option<&'static AtomicPtr<Part>> {
    TABLE.get(at as usize >> (SLICE + PART))
}

#[inline]
fn place(part: &Part, at: *const u8) -> Option<&AtomicU8> {
    part.get(at as usize >> SLICE & ((1 << PART) - 1))
}

/// What the table says of the slice of an address.
#[inline]
fn noted(at: *const u8) -> u8 {
    let Some(found) = part(at) else { return UNKNOWN };
    // SAFETY: parts are made once and never go.
    let found = unsafe { found.load(Ordering::Acquire).as_ref() };
    found.and_then(|it| place(it, at)).map_or(UNKNOWN, |it| it.load(Ordering::Relaxed))
}

/// Notes a block before it is handed out.
fn note(at: *const u8, list: u8) {
    let Some(room) = part(at) else { return };
    let mut found = room.load(Ordering::Acquire);
    if found.is_null() {
        if list == UNKNOWN {
            return;
        }
        // SAFETY: it has a size; zeros are numbers of which each is `UNKNOWN`.
        let made = unsafe { alloc::alloc_zeroed(Layout::new::<Part>()) }.cast::<Part>();
        if made.is_null() {
            return;
        }
        found = match room.compare_exchange(found, made, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => made,
            Err(first) => {
                // SAFETY: made above, and nobody else knows it.
                unsafe { alloc::dealloc(made.cast(), Layout::new::<Part>()) };
                first
            }
        };
    }
    // SAFETY: parts are made once and never go.
    let Some(place) = place(unsafe { &*found }, at) else { return };
    let before = place.load(Ordering::Relaxed);
    if before != list && before != NEVER {
        place.store(list, Ordering::Relaxed);
    }
}

/// Notes a block of a heap; `owner`: the allocator if its blocks may be kept, `is_cut`: whether it begins where the heap has cut.
pub(crate) fn note_block(at: *const u8, owner: Option<usize>, bytes: usize, is_cut: bool) {
    let list = owner.and_then(|it| list_of(it, bytes)).unwrap_or(UNKNOWN);
    note(at, if is_cut { list } else { NEVER });
}

/// Size classes of the allocator.
struct Classes {
    /// By bytes in grains.
    of: [u8; GRAINS],
    bytes: [usize; CLASSES],
}

fn classes() -> &'static Classes {
    static CLASSES_OF: OnceLock<Classes> = OnceLock::new();
    CLASSES_OF.get_or_init(|| {
        let mut made = Classes { of: [UNKNOWN; GRAINS], bytes: [0; CLASSES] };
        let mut sizes = vec![0];
        for (grains, place) in made.of.iter_mut().enumerate().skip(1) {
            let bytes = arena::cut(grains * GRAIN);
            if sizes.last() != Some(&bytes) {
                sizes.push(bytes);
            }
            let class = sizes.len() - 1;
            *place = u8::try_from(class).ok().filter(|_| class < CLASSES - 1).unwrap_or(UNKNOWN);
        }
        made.bytes.iter_mut().zip(sizes).for_each(|(to, from)| *to = from);
        made
    })
}

/// The list of an allocator for so many bytes.
fn list_of(owner: usize, bytes: usize) -> Option<u8> {
    let class = *classes().of.get(bytes.div_ceil(GRAIN)).filter(|it| **it != UNKNOWN)?;
    u8::try_from(owner * CLASSES).ok().map(|it| it + class)
}

/// Free blocks of one allocator and size.
#[repr(C)]
struct List {
    taken: Stack,
    given: Stack,
    room: [[*mut u8; MOST]; 2],
}

/// A stack of blocks: where the next one goes, its begin and its end. Without room all are null.
#[repr(C)]
struct Stack {
    top: *mut *mut u8,
    begin: *mut *mut u8,
    end: *mut *mut u8,
}

impl Stack {
    fn of(room: &mut [*mut u8; MOST]) -> Stack {
        let range = room.as_mut_ptr_range();
        Stack { top: range.start, begin: range.start, end: range.end }
    }

    /// The last block; null if there is none.
    #[inline]
    fn pop(&mut self) -> *mut u8 {
        if self.top == self.begin {
            return ptr::null_mut();
        }
        // SAFETY: behind the begin of the room, up to the top, lie blocks.
        unsafe {
            self.top = self.top.sub(1);
            self.top.read()
        }
    }

    /// Whether there was room for a block.
    #[inline]
    fn push(&mut self, at: *mut u8) -> bool {
        if self.top == self.end {
            return false;
        }
        // SAFETY: the top lies in the room.
        unsafe {
            self.top.write(at);
            self.top = self.top.add(1);
        }
        true
    }

    /// All blocks, which are not there any more then.
    fn emptied(&mut self) -> &[*mut u8] {
        if self.top == self.begin {
            return &[];
        }
        // SAFETY: both lie in the room, the top not before its begin; so many blocks were there, and are until the next one
        // is pushed.
        unsafe {
            let count = self.top.offset_from_unsigned(self.begin);
            self.top = self.begin;
            slice::from_raw_parts(self.begin, count)
        }
    }
}

impl List {
    /// The stacks change places; a block that was given back, null if there is none.
    #[cold]
    #[inline(never)]
    extern "C" fn change(&mut self) -> *mut u8 {
        mem::swap(&mut self.taken, &mut self.given);
        self.taken.pop()
    }

    /// Makes room for blocks that are given back.
    fn make_room(&mut self, number: u8) {
        if self.taken.top == self.taken.begin {
            mem::swap(&mut self.taken, &mut self.given);
        } else {
            store(number, self.given.emptied());
        }
    }

    /// Takes what others were given, or blocks of the heap, where none is left to take.
    fn fill(&mut self, number: u8, heap: Heap, bytes: usize) {
        let stack = &mut self.taken;
        if stack.top != stack.begin {
            return;
        }
        depot(number, |stored| {
            for block in stored.drain(stored.len().saturating_sub(MOST)..) {
                stack.push(block.0);
            }
        });
        if stack.top != stack.begin {
            return;
        }
        for _ in 0..AT_ONCE {
            let at = heap.block(bytes);
            if at.is_null() {
                return;
            }
            note(at, number);
            stack.push(at);
        }
    }
}

/// What one thread keeps.
#[repr(C)]
struct Kept {
    of: [u8; GRAINS],
    lists: [List; LISTS],
}

impl Kept {
    /// Null where there is no memory for it.
    fn new() -> *mut Kept {
        // SAFETY: it has a size; lists of zeros are those without room.
        let made = unsafe { alloc::alloc_zeroed(Layout::new::<Kept>()) }.cast::<Kept>();
        // SAFETY: made above for us alone.
        let Some(kept) = (unsafe { made.as_mut() }) else { return made };
        kept.of = classes().of;
        made
    }

    fn list(&mut self, number: u8) -> Option<&mut List> {
        self.lists.get_mut(usize::from(number))
    }

    /// A block; null if none is kept.
    #[inline]
    fn take(&mut self, owner: usize, bytes: usize) -> *mut u8 {
        let class = usize::from(*self.of.get(bytes.div_ceil(GRAIN)).unwrap_or(&UNKNOWN));
        let Some(list) = self.lists.get_mut(owner * CLASSES + class) else {
            return ptr::null_mut();
        };
        let at = list.taken.pop();
        if at.is_null() { list.change() } else { at }
    }

    /// A list with room: it has none before its first block.
    fn roomy(&mut self, number: u8) -> Option<&mut List> {
        let list = self.list(number)?;
        if list.given.end.is_null() {
            let [one, other] = &mut list.room;
            (list.taken, list.given) = (Stack::of(one), Stack::of(other));
        }
        Some(list)
    }
}

/// Blocks that no thread has, by list.
static DEPOT: [Mutex<Vec<Block>>; LISTS] = [const { Mutex::new(Vec::new()) }; LISTS];

struct Block(*mut u8);

// SAFETY: a free block, which whoever has it has alone.
unsafe impl Send for Block {}

/// Blocks of a list in the depot; `None` where another thread is there, which nobody waits for.
fn depot<T>(list: u8, with: impl FnOnce(&mut Vec<Block>) -> T) -> Option<T> {
    match DEPOT.get(usize::from(list))?.try_lock() {
        Ok(mut stored) => Some(with(&mut stored)),
        Err(TryLockError::Poisoned(it)) => Some(with(&mut it.into_inner())),
        Err(TryLockError::WouldBlock) => None,
    }
}

/// Puts free blocks into the depot, or gives them back where that is full.
fn store(list: u8, blocks: &[*mut u8]) {
    let is_stored = depot(list, |stored| {
        let has_room = stored.len() + blocks.len() <= STORED;
        if has_room {
            stored.extend(blocks.iter().map(|it| Block(*it)));
        }
        has_room
    });
    if is_stored != Some(true) {
        // SAFETY: free blocks of heaps that we alone have.
        blocks.iter().for_each(|it| unsafe { arena::free(*it) });
    }
}

/// Threads by their number of the processor.
static THREADS: [Thread; 1 << THREAD_BITS] = [const { Thread::nobody() }; 1 << THREAD_BITS];
const THREAD_BITS: u32 = 9;

/// A thread and what it keeps, which is there while the number is the thread's.
struct Thread {
    number: AtomicUsize,
    kept: AtomicPtr<Kept>,
}

/// In place of a number: nobody; somebody who is about to have the place.
const NOBODY: usize = 0;
const SOMEBODY: usize = 1;

impl Thread {
    const fn nobody() -> Thread {
        Thread { number: AtomicUsize::new(NOBODY), kept: AtomicPtr::new(ptr::null_mut()) }
    }
}

/// A number that no other thread has while this one lives: that by which its variables are found.
#[inline]
fn own_number() -> usize {
    let number: usize;
    // SAFETY: reads a register, or the first word of what it leads to, which is its own address.
    unsafe {
        #[cfg(target_arch = "x86_64")]
        std::arch::asm!(
            "mov {}, fs:0",
            out(reg) number,
            options(pure, readonly, nostack, preserves_flags)
        );
        #[cfg(target_arch = "aarch64")]
        std::arch::asm!(
            "mrs {}, tpidr_el0",
            out(reg) number,
            options(pure, nomem, nostack, preserves_flags)
        );
        #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
        {
            number = libc::pthread_self() as usize;
        }
    }
    number
}

#[inline]
fn thread(number: usize) -> Option<&'static Thread> {
    const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;
    let spread = (number as u64).wrapping_mul(SPREAD) >> (u64::BITS - THREAD_BITS);
    THREADS.get(spread as usize)
}

/// What this thread keeps; nothing if it has no place.
#[inline]
fn own() -> Option<&'static mut Kept> {
    let number = own_number();
    let thread = thread(number).filter(|it| it.number.load(Ordering::Relaxed) == number)?;
    // SAFETY: it is there while the number is this thread's, which alone uses it.
    Some(unsafe { &mut *thread.kept.load(Ordering::Relaxed) })
}

/// Ends with its thread.
struct Own(Cell<bool>);

impl Drop for Own {
    fn drop(&mut self) {
        let Some(kept) = own() else { return };
        if let Some(thread) = thread(own_number()) {
            thread.number.store(NOBODY, Ordering::Release);
        }
        for (number, list) in (0..=u8::MAX).zip(&mut kept.lists) {
            store(number, list.taken.emptied());
            store(number, list.given.emptied());
        }
        // SAFETY: made in `begin` for this thread alone, which does not find it any more.
        unsafe { alloc::dealloc(ptr::from_mut(kept).cast(), Layout::new::<Kept>()) };
    }
}

thread_local! {
    /// Whether this thread has asked for a place.
    static OWN: Own = const { Own(Cell::new(false)) };
}

/// The first call of a thread: a place for it, if that is free.
#[cold]
fn begin() -> Option<&'static mut Kept> {
    let is_new = OWN.try_with(|it| !it.0.replace(true)).unwrap_or(false);
    let number = own_number();
    let thread = thread(number).filter(|_| is_new)?;
    let order = (Ordering::Acquire, Ordering::Relaxed);
    thread.number.compare_exchange(NOBODY, SOMEBODY, order.0, order.1).ok()?;
    let kept = Kept::new();
    thread.kept.store(kept, Ordering::Relaxed);
    thread.number.store(if kept.is_null() { NOBODY } else { number }, Ordering::Release);
    own()
}

/// A block that this thread has kept, of a predefined allocator (by handle less one); null if there is none.
#[inline]
pub(crate) fn take(owner: usize, bytes: usize) -> *mut u8 {
    if owner >= OWNERS || bytes > LARGEST {
        return ptr::null_mut();
    }
    own().map_or(ptr::null_mut(), |it| it.take(owner, bytes))
}

/// A block that was kept, or else of the heap; null if there is none.
pub(crate) fn fetch(owner: usize, bytes: usize, heap: Heap) -> *mut u8 {
    let number = if owner < OWNERS { list_of(owner, bytes) } else { None };
    let class = number.and_then(|it| classes().bytes.get(usize::from(it) % CLASSES)).copied();
    if let (Some(number), Some(class)) = (number, class)
        && let Some(kept) = own().or_else(begin)
    {
        if let Some(list) = kept.roomy(number) {
            list.fill(number, heap, class);
        }
        return kept.take(owner, bytes);
    }
    let at = heap.block(class.unwrap_or(bytes));
    if !at.is_null() {
        note(at, number.unwrap_or(UNKNOWN));
    }
    at
}

/// Keeps a block of an allocator that nobody uses, if it is one of those and there is room.
#[inline]
pub(crate) fn put(at: *mut u8, owner: usize) -> bool {
    let number = usize::from(noted(at));
    let is_its_own = number / CLASSES == owner;
    is_its_own
        && own().is_some_and(|it| it.lists.get_mut(number).is_some_and(|it| it.given.push(at)))
}

/// The same where there is no room yet.
pub(crate) fn put_anyway(at: *mut u8, owner: usize) -> bool {
    let number = noted(at);
    if matches!(number, UNKNOWN | NEVER) || usize::from(number) / CLASSES != owner {
        return false;
    }
    own().or_else(begin).and_then(|it| it.roomy(number)).is_some_and(|list| {
        list.given.push(at) || {
            list.make_room(number);
            list.given.push(at)
        }
    })
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::sync::mpsc;

    use super::*;
    use crate::allocator::{self, DEFAULT};

    /// As the routines of the standard do it.
    fn get(handle: usize, bytes: usize) -> *mut u8 {
        let kept = allocator::kept(handle, bytes);
        let fast = if kept.is_null() { allocator::fast(handle, bytes) } else { kept };
        let at =
            if fast.is_null() { allocator::alloc(handle, bytes, 1, false).unwrap() } else { fast };
        assert!(!at.is_null());
        // SAFETY: so many bytes are the test's.
        unsafe { at.write_bytes(bytes as u8, bytes) };
        at
    }

    fn give(at: *mut u8, handle: usize) {
        // SAFETY: blocks of tests.
        unsafe {
            if !allocator::keep(at, handle) && !allocator::free_fast(at, handle) {
                allocator::free(at, handle).unwrap();
            }
        }
    }

    fn has(at: *const u8, bytes: usize) -> bool {
        // SAFETY: so many bytes are the test's.
        let all = unsafe { std::slice::from_raw_parts(at, bytes) };
        all.iter().all(|it| *it == bytes as u8)
    }

    #[test]
    fn classes_are_those_of_the_allocator() {
        let all = classes();
        assert_eq!(all.bytes.iter().max(), Some(&LARGEST));
        for bytes in 1..=LARGEST {
            let class = usize::from(all.of[bytes.div_ceil(GRAIN)]);
            assert!(class > 0);
            assert_eq!(all.bytes[class], arena::cut(bytes), "{bytes}");
            let at = Heap::main().block(bytes);
            // SAFETY: a block of the test.
            unsafe {
                assert_eq!(arena::usable(at), all.bytes[class], "{bytes}");
                arena::free(at);
            }
        }
    }

    #[test]
    fn what_was_given_back_comes_again_without_the_heap() {
        let mut known: HashSet<usize> = HashSet::new();
        for _ in 0..2 {
            let all: Vec<_> = (0..AT_ONCE).map(|it| get(3, 33 + it % 8)).collect();
            known.extend(all.iter().map(|it| *it as usize));
            all.into_iter().for_each(|it| give(it, 3));
        }
        let all: Vec<_> = (0..AT_ONCE).map(|_| allocator::kept(3, 40)).collect();
        assert!(all.iter().all(|it| known.contains(&(*it as usize))), "{all:?} {known:?}");
        all.into_iter().for_each(|it| give(it, 3));
    }

    #[test]
    fn blocks_of_one_allocator_are_not_kept_for_another() {
        give(get(DEFAULT, 40), DEFAULT);
        give(get(2, 40), 2);
        let (one, other) = (get(DEFAULT, 40), get(2, 40));
        // SAFETY: blocks of the test.
        unsafe {
            assert!(!allocator::keep(one, 2) && !allocator::keep(other, DEFAULT));
            assert!(allocator::free(other, DEFAULT).is_err());
            assert!(allocator::keep(one, DEFAULT) && allocator::keep(other, 2));
            let mut local = 0_u64;
            assert!(!allocator::keep((&raw mut local).cast(), DEFAULT));
            assert!(!allocator::keep(ptr::null_mut(), DEFAULT));
        }
    }

    #[test]
    fn blocks_that_begin_within_others_are_not_kept() {
        for bytes in [24, 100, 1000] {
            let plain: Vec<_> = (0..100).map(|_| get(DEFAULT, bytes)).collect();
            let aligned: Vec<_> =
                (0..100).map(|_| allocator::alloc(DEFAULT, bytes, 256, false).unwrap()).collect();
            let more: Vec<_> = (0..100).map(|_| get(DEFAULT, bytes)).collect();
            for at in aligned {
                assert_eq!(at as usize % 256, 0);
                // SAFETY: a block of the test.
                assert!(!unsafe { allocator::keep(at, DEFAULT) }, "{bytes}");
                give(at, DEFAULT);
            }
            for at in plain.into_iter().chain(more) {
                assert!(has(at, bytes));
                give(at, DEFAULT);
            }
        }
    }

    /// Many sizes and allocators, in an order that looks random: no two blocks overlap, whoever had their memory before.
    #[test]
    fn blocks_in_use_never_overlap() {
        let turn = |seed: u64| {
            let mut state = seed;
            let mut next = move |most: usize| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                (state >> 33) as usize % most
            };
            let mut live: Vec<(*mut u8, usize, usize)> = Vec::new();
            for round in 0..60_000 {
                // Most is given back at times, so that slices are cut anew.
                if live.len() > 400 || (round % 5000 < 1500 && !live.is_empty()) {
                    let (at, bytes, handle) = live.swap_remove(next(live.len()));
                    assert!(has(at, bytes));
                    give(at, if round % 3 == 0 && handle == DEFAULT { 0 } else { handle });
                } else {
                    let (bytes, handle) = (1 + next(2000), 1 + next(8));
                    live.push((get(handle, bytes), bytes, handle));
                }
            }
            for (at, bytes, handle) in live {
                assert!(has(at, bytes));
                give(at, handle);
            }
        };
        std::thread::scope(|scope| {
            (1..=3).for_each(|seed| {
                scope.spawn(move || turn(seed));
            });
        });
    }

    #[test]
    fn what_another_thread_gives_back_comes_again() {
        const COUNT: usize = 5000;
        let (to, from) = mpsc::channel::<usize>();
        let first: HashSet<usize> = (0..COUNT).map(|_| get(5, 64) as usize).collect();
        assert_eq!(first.len(), COUNT);
        std::thread::spawn(move || from.into_iter().for_each(|it| give(it as *mut u8, 5)));
        first.iter().for_each(|it| to.send(*it).unwrap());
        drop(to);
        std::thread::sleep(std::time::Duration::from_millis(300));
        let again: HashSet<usize> = (0..COUNT).map(|_| get(5, 64) as usize).collect();
        assert_eq!(again.len(), COUNT);
        assert!(again.intersection(&first).count() >= COUNT / 3);
        again.into_iter().for_each(|it| give(it as *mut u8, 5));
    }
}
