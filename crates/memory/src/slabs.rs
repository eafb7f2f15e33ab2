//! Small blocks of one size, cut from slices of address space: where threads get what they keep, and give back what they have too much of.
//!
//! A heap gives a run of slices. A slice is a slab while it has blocks of a list (an allocator and a size); empty ones serve any list of
//! the allocator, but the kernel gets the pages of all but a few, and a run of empty ones goes back to its heap. Blocks come from the fullest slab that has some: so those with few
//! blocks in use become empty, and memory for each byte in use stays low. Threads come here with many blocks at once; each list has a lock
//! of its own.
//!
//! A table says which list a slice belongs to, and so every block.
#![allow(unsafe_code, reason = "memory that C programs use")]

use std::alloc::{self, Layout};
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicU16, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::allocator::{self, Allocator};
use crate::arena::{self, Heap};
use crate::kinds::{Pages, Policy};
use crate::os;

/// Larger blocks are the heap's.
pub(crate) const LARGEST: usize = 2048;
/// Bytes of one request more may be another class.
pub(crate) const GRAIN: usize = 8;
pub(crate) const GRAINS: usize = LARGEST / GRAIN + 1;
/// Classes that an allocator may have; the first one has no blocks.
pub(crate) const CLASSES: usize = 64;
/// Allocators with lists: those that the standard has.
pub(crate) const OWNERS: usize = 8;
/// A list is a number: of its owner, and of its class.
pub(crate) const LISTS: usize = OWNERS * CLASSES;
/// In place of a list: of what is not in a run; of a slice in a run that is no slab.
pub(crate) const NONE: u16 = 0;
const EMPTY: u16 = LISTS as u16 - 1;

/// Addresses of one slice, and slices of one part of the table.
const SLICE_BITS: usize = 16;
const SLICE: usize = 1 << SLICE_BITS;
const PART: usize = 16;
const PARTS: usize = 1 << (48 - SLICE_BITS - PART);
/// Slices that a heap gives at once, and a bit for each.
const RUN: usize = 16;
const ALL: usize = (1 << RUN) - 1;

/// Sizes of classes are a word, then multiples of this until there are so many between a power of two and the next.
const STEP: usize = 16;
const STEPS: usize = 8;

type Part = [AtomicU16; 1 << PART];

/// The list of each slice; parts are made when they are needed.
static TABLE: [AtomicPtr<Part>; PARTS] = [const { AtomicPtr::new(ptr::null_mut()) }; PARTS];

#[inline]
fn part(at: *const u8) -> Option<&'static AtomicPtr<Part>> {
    TABLE.get(at as usize >> (SLICE_BITS + PART))
}

#[inline]
fn place(part: &Part, at: *const u8) -> Option<&AtomicU16> {
    part.get(at as usize >> SLICE_BITS & ((1 << PART) - 1))
}

/// The number of the list whose blocks lie at an address; [`NONE`] if none do.
#[inline]
pub(crate) fn noted(at: *const u8) -> u16 {
    let Some(found) = part(at) else { return NONE };
    // SAFETY: parts are made once and never go.
    let found = unsafe { found.load(Ordering::Acquire).as_ref() };
    found.and_then(|it| place(it, at)).map_or(NONE, |it| it.load(Ordering::Relaxed))
}

/// Notes the list of a slice, before a block of it is handed out and after the last one came back. Whether there was room.
fn note(at: *const u8, list: u16) -> bool {
    let Some(room) = part(at) else { return false };
    let mut found = room.load(Ordering::Acquire);
    if found.is_null() {
        // SAFETY: it has a size; zeros are numbers of which each is `NONE`.
        let made = unsafe { alloc::alloc_zeroed(Layout::new::<Part>()) }.cast::<Part>();
        if made.is_null() {
            return false;
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
    let Some(place) = place(unsafe { &*found }, at) else { return false };
    place.store(list, Ordering::Relaxed);
    true
}

/// Bytes of the blocks of each class, by its number; 0 where there is no class.
#[allow(clippy::indexing_slicing, reason = "computed when this is compiled")]
static BYTES: [usize; CLASSES] = {
    let mut made = [0; CLASSES];
    let (mut class, mut bytes) = (1, GRAIN);
    while bytes <= LARGEST {
        made[class] = bytes;
        class += 1;
        let step = (1 << bytes.ilog2()) / STEPS;
        bytes = if bytes < STEP { STEP } else { bytes + if step < STEP { STEP } else { step } };
    }
    made
};

/// The class of each number of grains.
#[allow(clippy::indexing_slicing, reason = "computed when this is compiled")]
static CLASS: [u16; GRAINS] = {
    let mut made = [0; GRAINS];
    let (mut class, mut grains) = (1, 1);
    while grains < GRAINS {
        if BYTES[class as usize] < grains * GRAIN {
            class += 1;
        }
        made[grains] = class;
        grains += 1;
    }
    made
};

/// A list: its number, the handle of its allocator, bytes of its blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct List {
    pub(crate) number: u16,
    pub(crate) handle: usize,
    pub(crate) bytes: usize,
    /// Blocks of a slab.
    capacity: usize,
}

impl List {
    /// That of an allocator for so many bytes.
    pub(crate) fn of(handle: usize, bytes: usize) -> Option<List> {
        let class = usize::from(*CLASS.get(bytes.div_ceil(GRAIN))?);
        let owner = handle.checked_sub(1).filter(|it| *it < OWNERS)?;
        List::of_number(u16::try_from(owner * CLASSES + class).ok()?)
    }

    /// That of a number, if it is one of a list.
    pub(crate) fn of_number(number: u16) -> Option<List> {
        let (owner, class) = (usize::from(number) / CLASSES, usize::from(number) % CLASSES);
        let bytes = BYTES.get(class).copied().filter(|it| *it > 0 && owner < OWNERS)?;
        Some(List { number, handle: owner + 1, bytes, capacity: (SLICE - FRONT) / bytes })
    }

    /// That of a block; nothing if the address is not the beginning of one.
    pub(crate) fn at(at: *const u8) -> Option<List> {
        let list = List::of_number(noted(at))?;
        let front = (at as usize % SLICE).checked_sub(FRONT)?;
        let is_block = front % list.bytes == 0 && front / list.bytes < list.capacity;
        is_block.then_some(list)
    }

    /// Numbers of all lists of an allocator with as many bytes as this one, by grains.
    pub(crate) fn grains(self) -> impl Iterator<Item = usize> {
        let class = usize::from(self.number) % CLASSES;
        let of = CLASS.iter().enumerate();
        of.filter(move |it| usize::from(*it.1) == class).map(|it| it.0)
    }

    fn slabs(self) -> Option<&'static Mutex<Slabs>> {
        SLABS.get(usize::from(self.number))
    }
}

/// A slab, at the beginning of its slice. Others are told apart by how many blocks are in use.
#[repr(C, align(64))]
struct Slab {
    next: *mut Slab,
    before: *mut Slab,
    /// The block that came back last; each holds the address of the one before it.
    free: *mut *mut u8,
    /// Blocks in use, and how many have ever been.
    used: usize,
    begun: usize,
    run: *mut Run,
}

/// What a slab takes of its slice.
const FRONT: usize = size_of::<Slab>();

/// Slices that a heap has given.
struct Run {
    at: *mut u8,
    /// A bit for each that is no slab, and for those of them whose pages the kernel has.
    free: usize,
    bare: usize,
    owner: usize,
}

/// Slices of an owner that are no slabs and have pages.
const MOST_IDLE: usize = 8;

/// Slabs with so many of these parts of their blocks in use are alike.
const PARTS_USED: usize = 16;

/// Slabs of a list that have blocks, by the parts in use.
struct Slabs([*mut Slab; PARTS_USED]);

// SAFETY: what it leads to is used by whoever has the lock.
unsafe impl Send for Slabs {}

static SLABS: [Mutex<Slabs>; LISTS] =
    [const { Mutex::new(Slabs([ptr::null_mut(); PARTS_USED])) }; LISTS];

/// Runs of an owner with slices that are no slabs, and how many of these slices have pages.
struct Runs {
    all: Vec<*mut Run>,
    idle: usize,
}

// SAFETY: as above.
unsafe impl Send for Runs {}

static RUNS: [Mutex<Runs>; OWNERS] =
    [const { Mutex::new(Runs { all: Vec::new(), idle: 0 }) }; OWNERS];

/// Takes at most so many blocks.
pub(crate) fn take(list: List, heap: Heap, most: usize, mut each: impl FnMut(*mut u8)) {
    let Some(slabs) = list.slabs() else { return };
    let mut slabs = slabs.lock().unwrap_or_else(PoisonError::into_inner);
    let mut left = most;
    while left > 0 {
        let fullest = slabs.0.iter().rev().find(|it| !it.is_null()).copied();
        let Some(at) = fullest.or_else(|| new_slab(list, heap)) else { return };
        // SAFETY: a slab of this list, whose lock is held.
        unsafe {
            if fullest.is_some() {
                slabs.unlink(list, at);
            }
            let slab = &mut *at;
            while left > 0 && slab.used < list.capacity {
                let block = slab.free;
                if block.is_null() {
                    each(at.cast::<u8>().add(FRONT + slab.begun * list.bytes));
                    slab.begun += 1;
                } else {
                    slab.free = block.read().cast();
                    each(block.cast());
                }
                slab.used += 1;
                left -= 1;
            }
            slabs.link(list, at);
        }
    }
}

/// Gives blocks back.
///
/// # Safety
/// Blocks of the list that nobody uses.
pub(crate) unsafe fn give(list: List, blocks: &[*mut u8]) {
    let Some(slabs) = list.slabs() else { return };
    let mut slabs = slabs.lock().unwrap_or_else(PoisonError::into_inner);
    for block in blocks {
        let at = block.map_addr(|it| it & !(SLICE - 1)).cast::<Slab>();
        // SAFETY: the caller's promise; slabs of this list, whose lock is held.
        unsafe {
            let slab = &mut *at;
            block.cast::<*mut u8>().write(slab.free.cast());
            slab.free = block.cast();
            let used = slab.used - 1;
            if used > 0 && Slabs::place(list, used) == Slabs::place(list, slab.used) {
                slab.used = used;
                continue;
            }
            slabs.unlink(list, at);
            (*at).used = used;
            if used > 0 {
                slabs.link(list, at);
            } else {
                end_slab(at);
            }
        }
    }
}

impl Slabs {
    /// Where slabs with so many blocks in use are; nowhere if that is all.
    fn place(list: List, used: usize) -> usize {
        used * PARTS_USED / list.capacity
    }

    /// Puts a slab to those like it, if it has blocks.
    ///
    /// # Safety
    /// A slab of this list that is not among them.
    unsafe fn link(&mut self, list: List, at: *mut Slab) {
        // SAFETY: the caller's promise; slabs that are linked are there.
        unsafe {
            let Some(first) = self.0.get_mut(Slabs::place(list, (*at).used)) else { return };
            (*at).before = ptr::null_mut();
            (*at).next = *first;
            if let Some(next) = first.as_mut() {
                next.before = at;
            }
            *first = at;
        }
    }

    /// Takes a slab away from those like it, if it has blocks.
    ///
    /// # Safety
    /// A slab of this list that is among them if it has blocks.
    unsafe fn unlink(&mut self, list: List, at: *mut Slab) {
        // SAFETY: as above.
        unsafe {
            let Some(first) = self.0.get_mut(Slabs::place(list, (*at).used)) else { return };
            let Slab { next, before, .. } = *at;
            match before.as_mut() {
                Some(before) => before.next = next,
                None => *first = next,
            }
            if let Some(next) = next.as_mut() {
                next.before = before;
            }
        }
    }
}

/// An empty slab, which is linked nowhere.
fn new_slab(list: List, heap: Heap) -> Option<*mut Slab> {
    let owner = list.handle - 1;
    let mut runs = RUNS.get(owner)?.lock().unwrap_or_else(PoisonError::into_inner);
    // Of runs that are begun the lowest one: so the others may become empty.
    // SAFETY: runs are there while they have slices; the lock of their owner is held.
    let lowest =
        (0..runs.all.len()).min_by_key(|it| runs.all.get(*it).map(|it| unsafe { (**it).at }));
    let place = match lowest {
        Some(place) => place,
        None => {
            let at = heap.aligned(RUN * SLICE, SLICE, 0, false);
            if at.is_null() {
                return None;
            }
            if !(0..RUN).all(|it| note(at.wrapping_add(it * SLICE), EMPTY)) {
                // SAFETY: a block of the heap that nobody has.
                unsafe { arena::free(at) };
                return None;
            }
            let run = Run { at, free: ALL, bare: ALL, owner };
            runs.all.push(Box::into_raw(Box::new(run)));
            0
        }
    };
    let run = *runs.all.get(place)?;
    // SAFETY: as above; a slice that is no slab is used by nobody else.
    unsafe {
        let Run { at, free, bare, .. } = &mut *run;
        let idle = *free & !*bare;
        let number = if idle == 0 { free.trailing_zeros() } else { idle.trailing_zeros() } as usize;
        let at = at.add(number * SLICE);
        note(at, list.number);
        if idle != 0 {
            runs.idle -= 1;
        }
        *free &= !(1 << number);
        *bare &= !(1 << number);
        if *free == 0 {
            runs.all.swap_remove(place);
        }
        let slab = at.cast::<Slab>();
        slab.write(Slab {
            next: ptr::null_mut(),
            before: ptr::null_mut(),
            free: ptr::null_mut(),
            used: 0,
            begun: 0,
            run,
        });
        Some(slab)
    }
}

/// Makes a slice of an empty slab, and gives its run back if all others are that too.
///
/// # Safety
/// A slab without blocks in use that is linked nowhere.
unsafe fn end_slab(at: *mut Slab) {
    // SAFETY: the caller's promise; runs are there while they have slabs; their lock is held.
    unsafe {
        let run = (*at).run;
        let Some(runs) = RUNS.get((*run).owner) else { return };
        let mut runs = runs.lock().unwrap_or_else(PoisonError::into_inner);
        note(at.cast(), EMPTY);
        if (*run).free == 0 {
            runs.all.push(run);
        }
        let Run { at: begin, free, bare, owner } = &mut *run;
        let bit = 1 << ((at.addr() - begin.addr()) / SLICE);
        *free |= bit;
        if runs.idle < MOST_IDLE || !can_shrink(*owner) {
            runs.idle += 1;
        } else {
            os::decommit(at.cast(), SLICE);
            *bare |= bit;
        }
        // One that others could be taken from stays.
        if *free == ALL && runs.all.len() > 1 {
            runs.idle -= (ALL & !*bare).count_ones() as usize;
            runs.all.retain(|it| *it != run);
            let run = Box::from_raw(run);
            for it in 0..RUN {
                note(run.at.add(it * SLICE), NONE);
            }
            arena::free(run.at);
        }
    }
}

/// Whether pages of an owner that were given back to the kernel come again when they are touched.
fn can_shrink(owner: usize) -> bool {
    let place = allocator::find(owner + 1).map(Allocator::place);
    place.is_some_and(|it| it.policy != Policy::Bind && !matches!(it.pages, Pages::Huge(_)))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    fn blocks(list: List, count: usize) -> Vec<*mut u8> {
        let mut all = Vec::new();
        take(list, Heap::main(), count, |it| all.push(it));
        assert_eq!(all.len(), count);
        all
    }

    /// Gives blocks back that the test does not use any more.
    fn back(list: List, blocks: &[*mut u8]) {
        // SAFETY: blocks of the test.
        unsafe { give(list, blocks) };
    }

    #[test]
    fn classes_waste_less_than_a_ninth_and_are_aligned() {
        for bytes in 1..=LARGEST {
            let list = List::of(1, bytes).unwrap();
            assert!(list.bytes >= bytes && list.bytes < bytes + bytes.div_ceil(8).max(STEP));
            assert!(list.bytes.is_multiple_of(STEP) || list.bytes == GRAIN);
            assert!(list.grains().any(|it| it == bytes.div_ceil(GRAIN)));
            assert_eq!(List::of_number(list.number), Some(list));
        }
        assert_eq!([0, LARGEST + 1, usize::MAX].map(|it| List::of(1, it)), [None; 3]);
        assert_eq!([0, OWNERS + 1, usize::MAX].map(|it| List::of(it, 8)), [None; 3]);
        assert_eq!([NONE, EMPTY, u16::MAX].map(List::of_number), [None; 3]);
    }

    #[test]
    fn an_address_says_the_list_of_a_block_and_of_nothing_else() {
        let list = List::of(7, 100).unwrap();
        let all = blocks(list, 3000);
        assert_eq!(all.iter().collect::<HashSet<_>>().len(), all.len());
        for at in &all {
            assert_eq!(List::at(*at), Some(list));
            assert_eq!(at.addr() % STEP, 0);
            for within in [1, 8, list.bytes - 1] {
                assert_eq!(List::at(at.wrapping_add(within)), None);
            }
            // SAFETY: so many bytes are the test's.
            unsafe { at.write_bytes(0xa5, list.bytes) };
        }
        let slab = all[0].map_addr(|it| it & !(SLICE - 1));
        assert_eq!(List::at(slab), None);
        assert_eq!(List::at(slab.wrapping_add(SLICE - 1)), None);
        assert_eq!(noted(&raw const list as *const u8), NONE);
        assert_eq!(noted(usize::MAX as *const u8), NONE);
        back(list, &all);
    }

    #[test]
    fn blocks_come_from_the_fullest_slab() {
        let list = List::of(7, 2000).unwrap();
        let per_slab = list.capacity;
        let all = blocks(list, 3 * per_slab);
        // The first slab loses one block, the second half of its blocks, the third one all but one.
        let (one, rest) = all.split_at(per_slab);
        let (two, three) = rest.split_at(per_slab);
        back(list, &one[..1]);
        back(list, &two[..per_slab / 2]);
        back(list, &three[1..]);
        let again = blocks(list, 1 + per_slab / 2);
        let gone: HashSet<_> = one[..1].iter().chain(&two[..per_slab / 2]).collect();
        assert!(again.iter().all(|it| gone.contains(it)), "{again:?}");
        // What is empty serves blocks of another size.
        back(list, &three[..1]);
        let other = List::of(7, 48).unwrap();
        let slab = blocks(other, 1)[0].map_addr(|it| it & !(SLICE - 1));
        assert_eq!(slab, three[0].map_addr(|it| it & !(SLICE - 1)));
    }

    #[test]
    fn runs_of_empty_slices_go_back() {
        let list = List::of(6, 1024).unwrap();
        let all = blocks(list, 10 * RUN * list.capacity);
        let slices: HashSet<_> = all.iter().map(|it| it.map_addr(|it| it & !(SLICE - 1))).collect();
        assert_eq!(slices.len(), 10 * RUN);
        back(list, &all);
        let left = slices.iter().filter(|it| noted(**it) == EMPTY).count();
        assert_eq!(left, RUN);
        assert_eq!(slices.iter().filter(|it| noted(**it) == NONE).count(), 9 * RUN);
    }
}
