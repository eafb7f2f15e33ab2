//! Small blocks that threads keep: what a thread gives back it gets again, without a call and without a lock.
//!
//! Each thread has a list of free blocks for each predefined allocator and size class, in two stacks: one is taken from, the other one
//! given to, so that the processor need not wait for what was given last to be written. When the first is empty they change places. What
//! is full goes to the depot, where threads whose lists are empty look; so blocks that one thread makes and another one gives back
//! travel in numbers. Where the depot is full or empty blocks go to slabs and come from there (`slabs`, which also knows the list of a
//! block).
//!
//! What a thread keeps it finds by a pointer of its own (`own`).
#![allow(unsafe_code, reason = "memory that C programs use, and caches of threads by address")]

use std::cell::Cell;
use std::sync::{Mutex, TryLockError};
use std::{hint, ptr, slice};

use crate::arena::Heap;
use crate::kinds::Pages;
use crate::slabs::{self, GRAIN, GRAINS, LISTS, List, OWNERS};
use crate::{os, own};

/// Words of a stack: a null, then blocks. Stacks begin at multiples of their bytes, so that the address of the next word says whether
/// there is one.
const WORDS: usize = 32;
const MOST: usize = WORDS - 1;
const STACK: usize = WORDS * size_of::<*mut u8>();
/// Bytes of the blocks of one list that a stack has, that come from slabs at once, and that lie in the depot; there also blocks.
const MOST_BYTES: usize = 12 << 10;
const BYTES_AT_ONCE: usize = 8 << 10;
const STORED_BYTES: usize = 16 << 10;
const STORED: usize = 256;
/// How often a thread that finds another one at the depot looks again.
const LOOKS: usize = 50;

/// What one thread keeps: tables by list, then the stacks of each. All zeros but for the lists that have room.
#[repr(C)]
struct Kept {
    /// The list of a request by its allocator and grains, if it has room.
    of: [[u16; ROW]; OWNERS + 1],
    /// The allocator of a list.
    owners: [usize; LISTS],
    /// The word of the block that is given out next.
    taken: [*mut *mut u8; LISTS],
    /// The word where the next block goes that is given back.
    given: [*mut *mut u8; LISTS],
    /// Which word of its stacks is the null: those of large blocks have room for few.
    nulls: [u8; LISTS],
    stacks: [Stacks; LISTS],
}

/// Grains of a table: a power of two is fast.
const ROW: usize = GRAINS.next_power_of_two();

/// The two stacks of a list.
#[repr(C, align(256))]
struct Stacks([[*mut u8; WORDS]; 2]);

const _: () = assert!(align_of::<Stacks>() == STACK);

/// Room of a stack of a list.
fn most(list: List) -> usize {
    (MOST_BYTES / list.bytes).min(MOST)
}

impl Kept {
    /// Null where there is no memory for it.
    fn new() -> *mut Kept {
        // What is not used of it takes no memory.
        let made =
            Kept::bytes().and_then(|it| os::pages(it, align_of::<Kept>(), Pages::System).ok());
        let made = made.map_or(ptr::null_mut(), <*mut u8>::cast::<Kept>);
        // SAFETY: made above for us alone; zeros are tables of lists without room.
        let Some(kept) = (unsafe { made.as_mut() }) else { return made };
        // What is of no list has nothing to take.
        if let (Some(taken), Some(stacks)) = (kept.taken.first_mut(), kept.stacks.first_mut()) {
            *taken = stacks.0.as_flattened_mut().as_mut_ptr();
        }
        made
    }

    fn bytes() -> Option<usize> {
        os::round_up(size_of::<Kept>(), os::page_size())
    }

    /// Gives its memory back.
    ///
    /// # Safety
    /// Made by [`Kept::new`], and nobody uses it.
    unsafe fn end(kept: *mut Kept) {
        if let Some(bytes) = Kept::bytes() {
            // SAFETY: the caller's promise.
            unsafe { os::unmap(kept.cast(), bytes) };
        }
    }

    /// The stacks of a list; nothing if it has no room.
    fn list(&mut self, number: u16) -> Option<Pair<'_>> {
        let number = usize::from(number);
        let given = self.given.get_mut(number).filter(|it| !it.is_null())?;
        Some(Pair { taken: self.taken.get_mut(number)?, given, null: *self.nulls.get(number)? })
    }

    /// The list of a request, if it has room; one without blocks if not.
    #[inline]
    fn list_of(&self, handle: usize, bytes: usize) -> u16 {
        let Some(of) = self.of.get(handle) else { return unlikely(slabs::NONE) };
        // So many bytes that they cannot be counted have no grains, and no list has blocks of those.
        let grains = bytes.wrapping_add(GRAIN - 1) / GRAIN;
        of.get(grains).copied().unwrap_or_else(|| unlikely(slabs::NONE))
    }

    /// A block; null if there is none to take.
    #[inline]
    fn take(&mut self, number: u16) -> *mut u8 {
        let Some(top) = self.taken.get_mut(usize::from(number) & (LISTS - 1)) else {
            return ptr::null_mut();
        };
        // SAFETY: a word of a stack; the lowest one holds null.
        unsafe {
            let at = top.read();
            if !at.is_null() {
                *top = top.sub(1);
            }
            at
        }
    }

    /// The stacks change places; a block that was given back, null if there is none.
    fn change(&mut self, number: u16) -> *mut u8 {
        let Some(list) = self.list(number) else { return ptr::null_mut() };
        // SAFETY: words of stacks; in front of where the next block goes is the last one, or the null.
        unsafe {
            let last = list.given.sub(1);
            *list.given = list.begin(*list.taken);
            let at = last.read();
            *list.taken = if at.is_null() { last } else { last.sub(1) };
            at
        }
    }

    /// Whether there was room for a block of an allocator.
    #[inline]
    fn put(&mut self, at: *mut u8, handle: usize, number: u16) -> bool {
        let number = usize::from(number) & (LISTS - 1);
        let (Some(owner), Some(given)) = (self.owners.get(number), self.given.get_mut(number))
        else {
            return false;
        };
        if *owner != handle || given.addr().is_multiple_of(STACK) {
            return false;
        }
        // SAFETY: not behind the stack.
        unsafe {
            given.write(at);
            *given = given.add(1);
        }
        true
    }

    /// Room for a list: it has none before its first block.
    fn make_stacks(&mut self, list: List) {
        let number = usize::from(list.number);
        let Some(Stacks([one, other])) = self.stacks.get_mut(number) else { return };
        let (Some(taken), Some(given), Some(null), Some(owner)) = (
            self.taken.get_mut(number),
            self.given.get_mut(number),
            self.nulls.get_mut(number),
            self.owners.get_mut(number),
        ) else {
            return;
        };
        if !given.is_null() {
            return;
        }
        let lowest = MOST - most(list);
        *null = u8::try_from(lowest).unwrap_or_default();
        *taken = one.as_mut_ptr().wrapping_add(lowest);
        *given = other.as_mut_ptr().wrapping_add(lowest + 1);
        *owner = list.handle;
        let Some(of) = self.of.get_mut(list.handle) else { return };
        for grains in list.grains() {
            if let Some(place) = of.get_mut(grains) {
                *place = list.number;
            }
        }
    }

    /// Makes room for blocks that are given back to a list.
    fn make_room(&mut self, list: List) {
        let Some(stacks) = self.list(list.number) else { return };
        // SAFETY: words of stacks.
        unsafe {
            if stacks.taken.read().is_null() {
                let empty = *stacks.taken;
                *stacks.taken = stacks.given.sub(1);
                *stacks.given = empty.add(1);
                return;
            }
            let begin = stacks.begin(stacks.given.sub(1));
            let count = stacks.given.offset_from_unsigned(begin);
            let next = stacks.taken.add(1);
            let room = most(list) - next.offset_from_unsigned(stacks.begin(*stacks.taken));
            if room == 0 {
                store(list, slice::from_raw_parts(begin, count));
                *stacks.given = begin;
            } else {
                // Few are left to take: what was given last is, again.
                let moved = room.min(count);
                let left = begin.add(count - moved);
                next.copy_from_nonoverlapping(left, moved);
                *stacks.taken = next.add(moved - 1);
                *stacks.given = left;
            }
        }
    }

    /// Takes what others were given, or blocks of slabs, where none is left to take of a list.
    fn fill(&mut self, list: List, heap: Heap) {
        let Some(stacks) = self.list(list.number) else { return };
        let mut push = |at| {
            // SAFETY: at most so many as there are words above the null, on which it is.
            unsafe {
                *stacks.taken = stacks.taken.add(1);
                stacks.taken.write(at);
            }
        };
        let stored = depot(list, |stored| {
            let some = stored.len().saturating_sub(most(list))..;
            stored.drain(some).map(|it| push(it.0)).count()
        });
        if stored.is_none_or(|it| it == 0) {
            let some = (BYTES_AT_ONCE / list.bytes).clamp(1, most(list));
            slabs::take(list, heap, some, push);
        }
    }

    /// Puts all blocks into the depot.
    fn empty(&mut self) {
        for list in (0..=u16::MAX).take(LISTS).filter_map(List::of_number) {
            let Some(stacks) = self.list(list.number) else { continue };
            // SAFETY: words of stacks; above the null lie blocks, up to these.
            unsafe {
                for end in [stacks.taken.add(1), *stacks.given] {
                    let begin = stacks.begin(end.sub(1));
                    store(list, slice::from_raw_parts(begin, end.offset_from_unsigned(begin)));
                }
            }
        }
    }
}

/// The stacks of a list with room.
struct Pair<'a> {
    taken: &'a mut *mut *mut u8,
    given: &'a mut *mut *mut u8,
    null: u8,
}

impl Pair<'_> {
    /// Where the first block goes of the stack in which a word lies.
    fn begin(&self, word: *mut *mut u8) -> *mut *mut u8 {
        word.map_addr(|it| it & !(STACK - 1)).wrapping_add(usize::from(self.null) + 1)
    }
}

/// Blocks that no thread has, by list.
static DEPOT: [Mutex<Vec<Block>>; LISTS] = [const { Mutex::new(Vec::new()) }; LISTS];

struct Block(*mut u8);

// SAFETY: a free block, which whoever has it has alone.
unsafe impl Send for Block {}

/// Blocks of a list in the depot; `None` where other threads are there, for which nobody waits long.
fn depot<T>(list: List, with: impl FnOnce(&mut Vec<Block>) -> T) -> Option<T> {
    let depot = DEPOT.get(usize::from(list.number))?;
    for _ in 0..LOOKS {
        match depot.try_lock() {
            Ok(mut stored) => return Some(with(&mut stored)),
            Err(TryLockError::Poisoned(it)) => return Some(with(&mut it.into_inner())),
            Err(TryLockError::WouldBlock) => hint::spin_loop(),
        }
    }
    None
}

/// Puts free blocks into the depot, or gives them back to their slabs where that is full.
fn store(list: List, blocks: &[*mut u8]) {
    let room = (STORED_BYTES / list.bytes).min(STORED);
    let is_stored = depot(list, |stored| {
        let has_room = stored.len() + blocks.len() <= room;
        if has_room {
            stored.extend(blocks.iter().map(|it| Block(*it)));
        }
        has_room
    });
    if is_stored != Some(true) {
        // SAFETY: free blocks that we alone have.
        unsafe { slabs::give(list, blocks) };
    }
}

/// Ends with its thread.
struct Own(Cell<bool>);

impl Drop for Own {
    fn drop(&mut self) {
        let at = own::get_anyway::<Kept>();
        // SAFETY: set in `begin`, and used by this thread alone, which does not find it any more then.
        unsafe {
            let Some(kept) = at.as_mut() else { return };
            own::set::<Kept>(ptr::null_mut());
            kept.empty();
            Kept::end(at);
        }
    }
}

thread_local! {
    /// Whether this thread has asked for what it keeps.
    static OWN: Own = const { Own(Cell::new(false)) };
}

/// What this thread keeps, made when it is asked for first; nothing when the thread ends.
fn own_or_new() -> Option<&'static mut Kept> {
    let mut at = own::get_anyway::<Kept>();
    if at.is_null() {
        if OWN.try_with(|it| it.0.replace(true)).unwrap_or(true) {
            return None;
        }
        at = Kept::new();
        own::set(at);
    }
    // SAFETY: it is there while the thread's pointer leads to it; that thread alone uses it.
    unsafe { at.as_mut() }
}

/// A block that this thread has kept, of a predefined allocator; null where [`take_anyway`] must be asked.
#[inline]
pub(crate) fn take(handle: usize, bytes: usize) -> *mut u8 {
    // SAFETY: as in `own_or_new`.
    match unsafe { own::get::<Kept>().as_mut() } {
        Some(kept) => kept.take(kept.list_of(handle, bytes)),
        None => unlikely(ptr::null_mut()),
    }
}

/// A block that this thread has kept, of a predefined allocator; null if there is none.
pub(crate) fn take_anyway(handle: usize, bytes: usize) -> *mut u8 {
    let mut own = own::get::<Kept>();
    if own.is_null() {
        own = own::get_anyway();
    }
    // SAFETY: as in `own_or_new`.
    let Some(kept) = (unsafe { own.as_mut() }) else { return ptr::null_mut() };
    let number = kept.list_of(handle, bytes);
    let at = kept.take(number);
    if at.is_null() { kept.change(number) } else { at }
}

/// A block of a slab, or of the heap where it is too large for those; null if there is none.
pub(crate) fn fetch(handle: usize, bytes: usize, heap: Heap) -> *mut u8 {
    let Some(list) = List::of(handle, bytes) else { return heap.block(bytes) };
    if let Some(kept) = own_or_new() {
        kept.make_stacks(list);
        kept.fill(list, heap);
        return kept.take(list.number);
    }
    let mut at = ptr::null_mut();
    slabs::take(list, heap, 1, |it| at = it);
    at
}

/// A value that is hardly ever asked for: what leads here is kept out of the way.
#[cold]
#[inline]
fn unlikely<T>(value: T) -> T {
    value
}

/// Keeps a block of an allocator that nobody uses, if it is one of those and there is room.
#[inline]
pub(crate) fn put(at: *mut u8, handle: usize) -> bool {
    let number = slabs::noted(at);
    // SAFETY: as in `own_or_new`.
    unsafe { own::get::<Kept>().as_mut() }.is_some_and(|it| it.put(at, handle, number))
}

/// Gives a block of a list back, where there is no room yet.
///
/// # Safety
/// A block of the list that nobody uses.
pub(crate) unsafe fn put_anyway(at: *mut u8, list: List) {
    let is_kept = own_or_new().is_some_and(|kept| {
        kept.make_stacks(list);
        kept.put(at, list.handle, list.number) || {
            kept.make_room(list);
            kept.put(at, list.handle, list.number)
        }
    });
    if !is_kept {
        // SAFETY: the caller's promise.
        unsafe { slabs::give(list, &[at]) };
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::sync::mpsc;

    use super::*;
    use crate::allocator::{self, DEFAULT};

    const AT_ONCE: usize = 16;

    /// As the routines of the standard do it.
    fn get(handle: usize, bytes: usize) -> *mut u8 {
        let mut at = allocator::kept(handle, bytes);
        for other in [allocator::kept_anyway, allocator::fast] {
            if at.is_null() {
                at = other(handle, bytes);
            }
        }
        if at.is_null() {
            at = allocator::alloc(handle, bytes, 1, false).unwrap();
        }
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
    fn what_was_given_back_comes_again_without_the_heap() {
        let mut known: HashSet<usize> = HashSet::new();
        for _ in 0..2 {
            let all: Vec<_> = (0..AT_ONCE).map(|it| get(3, 33 + it % 8)).collect();
            known.extend(all.iter().map(|it| *it as usize));
            all.into_iter().for_each(|it| give(it, 3));
        }
        let all: Vec<_> = (0..AT_ONCE).map(|_| allocator::kept_anyway(3, 40)).collect();
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
