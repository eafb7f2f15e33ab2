//! Address space of a place, handed to the allocator of small blocks, and that allocator's heaps on it.
//!
//! A heap is used by all threads; each has size classes of its own in it, other threads give blocks back without a
//! lock, and what ended threads leave is taken over. A place without wishes needs no arena: its heaps take
//! from what the allocator has of the system.
#![allow(unsafe_code, reason = "calls of the allocator, which is written in C")]

use std::ffi::{c_int, c_void};
use std::ptr;
use std::sync::{Mutex, PoisonError};

use libmimalloc_sys as _;

use crate::kinds::{Pages, Place, Policy};
use crate::os;
use crate::topology::Machine;

/// A heap of the allocator; opaque.
#[repr(C)]
pub(crate) struct RawHeap {
    _opaque: [u8; 0],
}

type Commit = unsafe extern "C" fn(bool, *mut c_void, usize, *mut bool, *mut c_void) -> bool;
type Visit =
    unsafe extern "C" fn(*mut RawHeap, *const c_void, *mut c_void, usize, *mut c_void) -> bool;

unsafe extern "C" {
    fn mi_manage_memory(
        start: *mut c_void,
        size: usize,
        is_committed: bool,
        is_pinned: bool,
        is_zero: bool,
        node: c_int,
        is_exclusive: bool,
        commit: Option<Commit>,
        argument: *mut c_void,
        arena: *mut *mut c_void,
    ) -> bool;
    fn mi_heap_new() -> *mut RawHeap;
    fn mi_heap_new_in_arena(arena: *mut c_void) -> *mut RawHeap;
    fn mi_heap_destroy(heap: *mut RawHeap);
    fn mi_heap_main() -> *mut RawHeap;
    fn mi_heap_of(at: *const c_void) -> *mut RawHeap;
    fn mi_heap_malloc(heap: *mut RawHeap, size: usize) -> *mut u8;
    fn mi_heap_zalloc(heap: *mut RawHeap, size: usize) -> *mut u8;
    fn mi_heap_malloc_aligned_at(
        heap: *mut RawHeap,
        size: usize,
        align: usize,
        offset: usize,
    ) -> *mut u8;
    fn mi_heap_zalloc_aligned_at(
        heap: *mut RawHeap,
        size: usize,
        align: usize,
        offset: usize,
    ) -> *mut u8;
    fn mi_heap_visit_blocks(
        heap: *mut RawHeap,
        blocks: bool,
        visit: Visit,
        argument: *mut c_void,
    ) -> bool;
    fn mi_free(at: *mut u8);
    fn mi_usable_size(at: *const u8) -> usize;
}

/// Address space of one arena.
const ARENA: usize = 4 << 30;
/// The same where pages must be there at once.
const HUGE_ARENA: usize = 64 << 20;
/// The allocator wants arenas to begin at a multiple of this, and aligns no block beyond it.
pub(crate) const MOST_ALIGN: usize = 64 << 10;
/// Larger blocks get pages of their own.
pub(crate) const MOST_BYTES: usize = 256 << 20;

/// What the allocator hands to [`commit`].
struct Room {
    /// Nodes that must have the memory: it is refused where they have none.
    must: Vec<usize>,
}

struct Arena {
    place: Place,
    id: usize,
}

static ARENAS: Mutex<Vec<Arena>> = Mutex::new(Vec::new());

/// Makes pages of an arena usable, or gives them back.
unsafe extern "C" fn commit(
    is_wanted: bool,
    at: *mut c_void,
    bytes: usize,
    is_zero: *mut bool,
    room: *mut c_void,
) -> bool {
    // SAFETY: leaked in `new_arena`.
    let room = unsafe { &*room.cast::<Room>() };
    if !is_wanted {
        // SAFETY: the allocator asks for pages of its own that it does not use.
        unsafe { os::decommit(at.cast(), bytes) };
        return true;
    }
    if !has_room(&room.must, bytes) {
        return false;
    }
    if !is_zero.is_null() {
        // SAFETY: the allocator's variable. Nothing is said of what the pages hold.
        unsafe { is_zero.write(false) };
    }
    // SAFETY: pages of the arena, which are not used yet.
    unsafe {
        if !os::commit(at.cast(), bytes) {
            return false;
        }
        let is_there = room.must.is_empty() || os::bring(at.cast(), bytes, &room.must);
        if !is_there {
            os::decommit(at.cast(), bytes);
        }
        is_there
    }
}

/// Whether nodes have so much free memory; without nodes there is.
pub(crate) fn has_room(nodes: &[usize], bytes: usize) -> bool {
    if nodes.is_empty() {
        return true;
    }
    let machine = Machine::here();
    let free = nodes.iter().filter_map(|it| machine.node(*it)).map(|it| it.free).sum::<u64>();
    free >= bytes as u64
}

/// The nodes without which there is no memory for a place.
pub(crate) fn must(place: &Place) -> Vec<usize> {
    if place.policy == Policy::Bind { place.nodes.clone() } else { Vec::new() }
}

/// Makes an arena; `None` where the system gives no such memory.
fn new_arena(place: &Place) -> Option<usize> {
    let is_huge = matches!(place.pages, Pages::Huge(_));
    let (at, bytes) = match place.pages {
        Pages::Huge(size) => {
            let bytes = os::round_up(HUGE_ARENA, size)?;
            if !has_room(&must(place), bytes) {
                return None;
            }
            (os::pages(bytes, size.max(MOST_ALIGN), place.pages).ok()?, bytes)
        }
        Pages::System | Pages::Transparent => (reserved(ARENA)?, ARENA),
    };
    let undo = || {
        // SAFETY: mapped above, and not used.
        unsafe { os::unmap(at, bytes) };
        None
    };
    if os::put(at, bytes, place, 0).is_err() {
        return undo();
    }
    if place.pages == Pages::Transparent {
        // SAFETY: a wish about pages of ours.
        unsafe { libc::madvise(at.cast(), bytes, libc::MADV_HUGEPAGE) };
    }
    let must = must(place);
    // SAFETY: pages that were mapped just now. Others come when they are asked for.
    if is_huge && !must.is_empty() && !unsafe { os::bring(at, bytes, &must) } {
        return undo();
    }
    let room: *mut Room = Box::leak(Box::new(Room { must }));
    let mut id = ptr::null_mut();
    // SAFETY: memory of ours that is never given back, and a function that lives as long.
    let is_made = unsafe {
        mi_manage_memory(
            at.cast(),
            bytes,
            is_huge,
            is_huge,
            true,
            -1,
            true,
            if is_huge { None } else { Some(commit) },
            room.cast(),
            &raw mut id,
        )
    };
    if is_made { Some(id as usize) } else { undo() }
}

/// Reserved address space at the alignment of arenas.
fn reserved(bytes: usize) -> Option<*mut u8> {
    let at = os::reserve(bytes + MOST_ALIGN).ok()?;
    let front = (at as usize).next_multiple_of(MOST_ALIGN) - at as usize;
    Some(at.wrapping_add(front))
}

/// A heap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Heap(*mut RawHeap);

// SAFETY: heaps of the allocator are used by all threads.
unsafe impl Send for Heap {}
// SAFETY: as above.
unsafe impl Sync for Heap {}

impl Heap {
    /// The heap that memory without wishes comes from.
    pub(crate) fn main() -> Heap {
        // SAFETY: takes nothing.
        Heap(unsafe { mi_heap_main() })
    }

    /// A heap on a place; `is_another`: on an arena beside those that are there, which are full.
    pub(crate) fn new(place: &Place, is_another: bool) -> Option<Heap> {
        // SAFETY: takes nothing; an arena that was made.
        let heap = unsafe {
            if *place == Place::default() {
                mi_heap_new()
            } else {
                mi_heap_new_in_arena(arena(place, is_another)? as *mut c_void)
            }
        };
        (!heap.is_null()).then_some(Heap(heap))
    }

    /// The heap of a block; `None` if the address is not in any.
    #[inline]
    pub(crate) fn of(at: *const u8) -> Option<Heap> {
        // SAFETY: any address may be asked for.
        let heap = unsafe { mi_heap_of(at.cast()) };
        (!heap.is_null()).then_some(Heap(heap))
    }

    /// From and to a number that is not zero.
    pub(crate) fn address(self) -> usize {
        self.0 as usize
    }

    pub(crate) fn at(address: usize) -> Option<Heap> {
        (address != 0).then_some(Heap(address as *mut RawHeap))
    }

    /// A block; null if there is none.
    #[inline]
    pub(crate) fn block(self, bytes: usize) -> *mut u8 {
        // SAFETY: a heap that is there.
        unsafe { mi_heap_malloc(self.0, bytes) }
    }

    /// A block whose byte at `front` is aligned.
    pub(crate) fn aligned(
        self,
        bytes: usize,
        align: usize,
        front: usize,
        is_zero: bool,
    ) -> *mut u8 {
        // SAFETY: a heap that is there.
        unsafe {
            match (is_zero, align <= NATURAL && front.is_multiple_of(NATURAL)) {
                (true, true) => mi_heap_zalloc(self.0, bytes),
                (false, true) => mi_heap_malloc(self.0, bytes),
                (true, false) => mi_heap_zalloc_aligned_at(self.0, bytes, align, front),
                (false, false) => mi_heap_malloc_aligned_at(self.0, bytes, align, front),
            }
        }
    }

    /// Blocks that are in use.
    pub(crate) fn live(self) -> usize {
        unsafe extern "C" fn visit(
            _: *mut RawHeap,
            _: *const c_void,
            block: *mut c_void,
            _: usize,
            count: *mut c_void,
        ) -> bool {
            if !block.is_null() {
                // SAFETY: the variable below.
                unsafe { *count.cast::<usize>() += 1 };
            }
            true
        }
        let mut count = 0_usize;
        // SAFETY: a heap that is there; the variable outlives the calls.
        unsafe { mi_heap_visit_blocks(self.0, true, visit, (&raw mut count).cast()) };
        count
    }

    /// Ends it with all of its blocks.
    ///
    /// # Safety
    /// Nobody uses it or its blocks.
    pub(crate) unsafe fn end(self) {
        // SAFETY: the caller's promise.
        unsafe { mi_heap_destroy(self.0) }
    }
}

/// Blocks of the allocator are aligned to this if they are as large.
const NATURAL: usize = 8;

/// Gives a block back.
///
/// # Safety
/// A block of a heap that is in use.
#[inline]
pub(crate) unsafe fn free(at: *mut u8) {
    // SAFETY: the caller's promise.
    unsafe { mi_free(at) }
}

/// Bytes that a block has.
///
/// # Safety
/// A block of a heap that is in use.
pub(crate) unsafe fn usable(at: *const u8) -> usize {
    // SAFETY: the caller's promise.
    unsafe { mi_usable_size(at) }
}

fn arena(place: &Place, is_another: bool) -> Option<usize> {
    let mut arenas = ARENAS.lock().unwrap_or_else(PoisonError::into_inner);
    let last = arenas.iter().rev().find(|it| it.place == *place).map(|it| it.id);
    if let Some(id) = last
        && !is_another
    {
        return Some(id);
    }
    let id = new_arena(place)?;
    arenas.push(Arena { place: place.clone(), id });
    Some(id)
}
