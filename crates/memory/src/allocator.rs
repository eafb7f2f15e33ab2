//! Allocators: a memory space with traits. Small blocks come from heaps, others have pages of their own.
//!
//! Who owns a block is known by its address: by its heap, or by the table of blocks with pages of
//! their own. Allocators with a limit keep the size in front of each block; others keep nothing. A block that
//! came by a fall-back belongs to the allocator that gave it, and may be given back to the one that was asked.
#![allow(unsafe_code, reason = "memory that C programs use")]

use std::collections::{BTreeMap, HashMap};
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError, RwLock};

use crate::arena::{self, Heap, MOST_ALIGN, MOST_BYTES};
use crate::fault::Fault;
use crate::handles;
use crate::kept;
use crate::kinds::{KINDS, Kind, Pages, Place, Policy};
use crate::os;
use crate::slabs::{self, List};
use crate::topology::Machine;
use crate::traits::{self, BadTrait, Fallback, Partition, Trait, Traits};

/// No allocator.
pub const NONE: usize = 0;
/// The allocator of ordinary memory.
pub const DEFAULT: usize = 1;
/// That of high-bandwidth memory.
pub const HIGH_BANDWIDTH: usize = 4;

/// In front of blocks of allocators with a limit: their size, and a mark.
const HEADER: usize = 16;
const MARK: u64 = 0xfe44_a110_cb10_c001;

/// Fall-backs of fall-backs that are followed.
const MOST_FALLBACKS: usize = 64;

/// An allocator.
#[derive(Debug)]
pub struct Allocator {
    /// Its handle.
    pub handle: usize,
    /// Its memory space.
    pub kind: Kind,
    /// Its traits.
    pub traits: Traits,
    place: OnceLock<Place>,
    /// Its heap if blocks come from there without more ado; 0 if not, or not yet.
    fast: AtomicUsize,
    /// All of its heaps, the last one is in use.
    heaps: Mutex<Vec<Heap>>,
    /// Bytes that count against its limit.
    used: AtomicUsize,
    /// How often its memory was not there.
    pub fallen: AtomicU64,
    is_ended: AtomicBool,
}

/// Allocators of the standard, by handle less one: five spaces, then memory for groups of threads.
static PREDEFINED: [Allocator; 8] = [
    Allocator::new(1, Kind::Default, PLAIN),
    Allocator::new(2, Kind::LargeCapacity, FALLS_BACK),
    Allocator::new(3, Kind::Constant, FALLS_BACK),
    Allocator::new(4, Kind::HighBandwidth, FALLS_BACK),
    Allocator::new(5, Kind::LowLatency, FALLS_BACK),
    Allocator::new(6, Kind::Default, PLAIN),
    Allocator::new(7, Kind::Default, PLAIN),
    Allocator::new(8, Kind::Default, PLAIN),
];

const FALLS_BACK: Traits = Traits { fallback: Fallback::DefaultMemory, ..PLAIN };

const PLAIN: Traits = Traits {
    alignment: 1,
    pool: usize::MAX,
    fallback: Fallback::Null,
    is_pinned: false,
    pin_device: None,
    partition: Partition::Environment,
    part_size: 0,
};

/// A block with pages of its own.
#[derive(Clone, Copy, Debug)]
struct Direct {
    bytes: usize,
    asked: usize,
    owner: usize,
    lock: Lock,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lock {
    None,
    /// By the kernel; it ends with the pages.
    Kernel,
    /// By a device, which gave this number.
    Device(usize),
}

static DIRECT: Mutex<BTreeMap<usize, Direct>> = Mutex::new(BTreeMap::new());
/// Heaps of allocators that a program has made, and who they belong to.
static OWNERS: RwLock<Option<HashMap<Heap, usize>>> = RwLock::new(None);

/// How devices lock pages: for the device of that number, or for any. The answer is handed back to unlock.
#[derive(Clone, Copy, Debug)]
pub struct Pinning {
    /// Locks.
    pub lock: fn(*mut u8, usize, Option<i32>) -> Option<usize>,
    /// Unlocks.
    pub unlock: fn(*mut u8, usize),
}

static PINNING: OnceLock<Pinning> = OnceLock::new();
static TELL: OnceLock<fn(&str)> = OnceLock::new();

/// Says how devices lock pages. The first says it.
pub fn set_pinning(how: Pinning) {
    let _ = PINNING.set(how);
}

/// Says who is told of memory that was not there. The first says it.
pub fn set_teller(tell: fn(&str)) {
    let _ = TELL.set(tell);
}

/// This machine, as it was when it was asked for first.
pub fn machine() -> &'static Machine {
    static MACHINE: OnceLock<Machine> = OnceLock::new();
    MACHINE.get_or_init(Machine::here)
}

fn directs() -> MutexGuard<'static, BTreeMap<usize, Direct>> {
    DIRECT.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Allocator {
    const fn new(handle: usize, kind: Kind, traits: Traits) -> Allocator {
        Allocator {
            handle,
            kind,
            traits,
            place: OnceLock::new(),
            fast: AtomicUsize::new(0),
            heaps: Mutex::new(Vec::new()),
            used: AtomicUsize::new(0),
            fallen: AtomicU64::new(0),
            is_ended: AtomicBool::new(false),
        }
    }

    /// Where its memory is to lie.
    pub fn place(&self) -> &Place {
        self.place.get_or_init(|| place(machine(), self.kind, &self.traits))
    }

    fn has_header(&self) -> bool {
        self.traits.pool != usize::MAX
    }

    /// Whether every block has pages of its own.
    fn is_direct(&self) -> bool {
        self.traits.is_pinned || self.place().policy == Policy::Blocked || self.traits.part_size > 0
    }

    /// Its heap; `full`: beside the one that has no room.
    fn heap(&self, full: Option<Heap>) -> Option<Heap> {
        let mut heaps = self.heaps.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(last) = heaps.last()
            && Some(*last) != full
        {
            return Some(*last);
        }
        let place = self.place();
        // Memory of the system is not in arenas of ours: another heap would have no more.
        if full.is_some() && *place == Place::default() {
            return None;
        }
        let heap =
            if self.handle == DEFAULT { Heap::main() } else { Heap::new(place, full.is_some())? };
        OWNERS
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .get_or_insert_default()
            .insert(heap, self.handle);
        heaps.push(heap);
        if self.traits.alignment <= 8 && !self.has_header() && !self.is_direct() {
            self.fast.store(heap.address(), Ordering::Release);
        }
        Some(heap)
    }

    /// A block of its memory space; null if there is no room.
    /// `spare`: bytes behind it that nobody has asked for.
    fn block(&self, bytes: usize, spare: usize, align: usize, is_zero: bool) -> *mut u8 {
        let front = if self.has_header() { HEADER } else { 0 };
        let Some(whole) = bytes.checked_add(front + spare) else { return ptr::null_mut() };
        if front > 0 && !self.takes(bytes) {
            return ptr::null_mut();
        }
        let is_direct = self.is_direct()
            || (*self.place() != Place::default() && (whole > MOST_BYTES || align > MOST_ALIGN));
        let at = if is_direct {
            self.direct(bytes, spare, align)
        } else {
            let at = self.small(whole, align, front, is_zero);
            if at.is_null() || front == 0 {
                at
            } else {
                // SAFETY: the block has so much in front; it is aligned to 8 bytes at least.
                unsafe {
                    at.cast::<u64>().write(bytes as u64);
                    at.cast::<u64>().add(1).write(MARK);
                    at.add(front)
                }
            }
        };
        if at.is_null() && front > 0 {
            self.used.fetch_sub(bytes, Ordering::Relaxed);
        }
        at
    }

    /// Counts bytes against the limit, if it allows them.
    fn takes(&self, bytes: usize) -> bool {
        let limit = self.traits.pool;
        let take = |used: usize| used.checked_add(bytes).filter(|it| *it <= limit);
        self.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_ok()
    }

    fn small(&self, bytes: usize, align: usize, front: usize, is_zero: bool) -> *mut u8 {
        let mut full = None;
        // A second arena has room, or there is none.
        for _ in 0..2 {
            let Some(heap) = self.heap(full) else { return ptr::null_mut() };
            let at = heap.aligned(bytes, align, front, is_zero);
            if !at.is_null() {
                return at;
            }
            full = Some(heap);
        }
        ptr::null_mut()
    }

    fn direct(&self, bytes: usize, spare: usize, align: usize) -> *mut u8 {
        let place = self.place();
        let page = match place.pages {
            Pages::Huge(size) => size,
            Pages::System | Pages::Transparent => os::page_size(),
        };
        let whole = bytes.max(1).checked_add(spare).and_then(|it| os::round_up(it, page));
        let Some(whole) = whole else { return ptr::null_mut() };
        let must = arena::must(place);
        if !arena::has_room(&must, whole) {
            return ptr::null_mut();
        }
        let Ok(at) = os::pages(whole, align.max(page), place.pages) else { return ptr::null_mut() };
        // SAFETY: pages that were mapped just now.
        let is_brought = || must.is_empty() || unsafe { os::bring(at, whole, &must) };
        let is_put = os::put(at, whole, place, self.traits.part_size).is_ok() && is_brought();
        let lock =
            if self.traits.is_pinned { lock(at, whole, &self.traits) } else { Some(Lock::None) };
        let Some(lock) = lock.filter(|_| is_put) else {
            // SAFETY: mapped above.
            unsafe { os::unmap(at, whole) };
            return ptr::null_mut();
        };
        let block = Direct { bytes: whole, asked: bytes, owner: self.handle, lock };
        directs().insert(at as usize, block);
        at
    }
}

/// Locks pages: by a device that copies from them by itself, else by the kernel.
fn lock(at: *mut u8, bytes: usize, traits: &Traits) -> Option<Lock> {
    let by_device = PINNING.get().and_then(|it| (it.lock)(at, bytes, traits.pin_device));
    match by_device {
        Some(number) => Some(Lock::Device(number)),
        // SAFETY: pages of ours.
        None => unsafe { os::lock(at, bytes) }.then_some(Lock::Kernel),
    }
}

/// Where memory of a space with traits is to lie.
fn place(machine: &Machine, kind: Kind, traits: &Traits) -> Place {
    let mut place = machine.place(kind);
    let spread = match traits.partition {
        Partition::Environment => {
            // Who wants to know that there is no room must not be given other memory by the system.
            if place.policy == Policy::Prefer && traits.fallback != Fallback::DefaultMemory {
                place.policy = Policy::Bind;
            }
            return place;
        }
        Partition::Nearest => Policy::Prefer,
        Partition::Blocked => Policy::Blocked,
        Partition::Interleaved => Policy::Interleave,
    };
    place.policy = spread;
    if place.nodes.is_empty() {
        place.nodes = machine.serves(kind).nodes;
    }
    place
}

/// The allocator of a handle; `None` if there is none, or none any more.
pub fn find(handle: usize) -> Option<&'static Allocator> {
    match PREDEFINED.get(handle.wrapping_sub(1)) {
        Some(found) => Some(found),
        None => handles::find(handle).filter(|it| !it.is_ended.load(Ordering::Relaxed)),
    }
}

/// Makes an allocator.
pub fn make(space: usize, list: &[Trait]) -> Result<usize, BadTrait> {
    let Some(kind) = KINDS.get(space).copied() else {
        let allowed = "it is one of the standard's memory spaces".to_owned();
        return Err(BadTrait {
            name: "memory space".to_owned(),
            value: space.to_string(),
            allowed,
        });
    };
    let traits = traits::read(kind, list)?;
    if let Fallback::Allocator(other) = traits.fallback
        && find(other).is_none()
    {
        let allowed = "it names no allocator".to_owned();
        return Err(BadTrait { name: "fb_data".to_owned(), value: format!("{other:#x}"), allowed });
    }
    handles::insert(|handle| Allocator::new(handle, kind, traits)).ok_or_else(|| BadTrait {
        name: "allocators".to_owned(),
        value: "made".to_owned(),
        allowed: "there are too many that were not destroyed".to_owned(),
    })
}

/// Makes an allocator of memory at a place, and of ordinary memory where there is none; `None` if there are too many.
pub fn make_at(place: Place) -> Option<usize> {
    handles::insert(|handle| {
        let made = Allocator::new(handle, Kind::Default, FALLS_BACK);
        let _ = made.place.set(place);
        made
    })
}

/// Ends an allocator that a program has made. Blocks that are still in use stay, until they are given back.
pub fn end(handle: usize) -> Result<(), Fault> {
    if handle <= PREDEFINED.len() {
        return Ok(());
    }
    let Some(allocator) =
        handles::find(handle).filter(|it| !it.is_ended.swap(true, Ordering::AcqRel))
    else {
        return Err(Fault::NoAllocator { handle });
    };
    allocator.fast.store(0, Ordering::Release);
    let has_directs = directs().values().any(|it| it.owner == handle);
    let heaps =
        std::mem::take(&mut *allocator.heaps.lock().unwrap_or_else(PoisonError::into_inner));
    if has_directs || heaps.iter().any(|it| it.live() > 0) {
        *allocator.heaps.lock().unwrap_or_else(PoisonError::into_inner) = heaps;
        return Ok(());
    }
    let mut owners = OWNERS.write().unwrap_or_else(PoisonError::into_inner);
    for heap in heaps {
        owners.get_or_insert_default().remove(&heap);
        // SAFETY: it has no blocks, and its allocator is not found any more.
        unsafe { heap.end() };
    }
    drop(owners);
    handles::remove(handle);
    Ok(())
}

/// A block that this thread has kept; null where [`kept_anyway`] must be asked.
#[inline]
pub fn kept(handle: usize, bytes: usize) -> *mut u8 {
    kept::take(handle, bytes)
}

/// The same, looked for with more care; null where [`fast`] must be asked.
pub fn kept_anyway(handle: usize, bytes: usize) -> *mut u8 {
    kept::take_anyway(handle, bytes)
}

/// A block without wishes that is not kept; null where [`alloc`] must be asked.
pub fn fast(handle: usize, bytes: usize) -> *mut u8 {
    let heap = match PREDEFINED.get(handle.wrapping_sub(1)) {
        Some(it) => it.fast.load(Ordering::Acquire),
        None => handles::find(handle).map_or(0, |it| it.fast.load(Ordering::Acquire)),
    };
    match Heap::at(heap) {
        Some(heap) if bytes.wrapping_sub(1) < MOST_BYTES => kept::fetch(handle, bytes, heap),
        _ => ptr::null_mut(),
    }
}

/// A block, with its fall-backs; null if there is none and that was asked for, or if nothing is asked for.
pub fn alloc(handle: usize, bytes: usize, align: usize, is_zero: bool) -> Result<*mut u8, Fault> {
    alloc_spare(handle, bytes, 0, align, is_zero)
}

/// The same with bytes behind the block that count against no limit.
pub(crate) fn alloc_spare(
    handle: usize,
    bytes: usize,
    spare: usize,
    align: usize,
    is_zero: bool,
) -> Result<*mut u8, Fault> {
    if bytes == 0 {
        return Ok(ptr::null_mut());
    }
    let mut handle = handle;
    for _ in 0..MOST_FALLBACKS {
        let Some(allocator) = find(handle) else { return Err(Fault::NoAllocator { handle }) };
        let align = align.max(allocator.traits.alignment);
        if !align.is_power_of_two() {
            return Err(Fault::Alignment { align });
        }
        let at = allocator.block(bytes, spare, align, is_zero);
        if !at.is_null() {
            return Ok(at);
        }
        if allocator.traits.fallback != Fallback::Null {
            allocator.fallen.fetch_add(1, Ordering::Relaxed);
        }
        let next = match allocator.traits.fallback {
            Fallback::Null => return Ok(ptr::null_mut()),
            Fallback::Abort => {
                return Err(Fault::Aborted {
                    bytes,
                    kind: allocator.kind,
                    pool: allocator.traits.pool,
                });
            }
            Fallback::DefaultMemory if handle == DEFAULT => return Ok(ptr::null_mut()),
            Fallback::DefaultMemory => DEFAULT,
            Fallback::Allocator(next) => next,
        };
        if let (Some(tell), Some(other)) = (TELL.get(), find(next)) {
            tell(&format!(
                "{bytes} bytes of {} are not there: {} instead",
                allocator.describe(),
                other.describe()
            ));
        }
        handle = next;
    }
    Ok(ptr::null_mut())
}

impl Allocator {
    /// For people.
    pub fn describe(&self) -> String {
        let mut text = self.kind.name().to_owned();
        if self.kind == Kind::Default && !self.place().nodes.is_empty() {
            text = format!("memory of nodes {:?}", self.place().nodes);
        }
        if let Pages::Huge(size) = self.place().pages {
            text.push_str(&format!(" on pages of {} KiB", size / 1024));
        }
        if self.traits.is_pinned {
            text = format!("pinned {text}");
        }
        if self.has_header() {
            text.push_str(&format!(" (at most {} bytes)", self.traits.pool));
        }
        text
    }

    /// Whether blocks of another may come from here by fall-backs.
    fn reaches(&self, other: usize) -> bool {
        let mut at = self.traits.fallback;
        for _ in 0..MOST_FALLBACKS {
            let next = match at {
                Fallback::Null | Fallback::Abort => return false,
                Fallback::DefaultMemory => DEFAULT,
                Fallback::Allocator(next) => next,
            };
            if next == other {
                return true;
            }
            match find(next) {
                Some(it) => at = it.traits.fallback,
                None => return false,
            }
        }
        false
    }
}

/// The owner of a heap.
fn owner(heap: Heap) -> Option<&'static Allocator> {
    let is_fast = |it: &&Allocator| it.fast.load(Ordering::Acquire) == heap.address();
    if let Some(found) = PREDEFINED.iter().find(is_fast) {
        return Some(found);
    }
    let owners = OWNERS.read().unwrap_or_else(PoisonError::into_inner);
    let handle = owners.as_ref()?.get(&heap).copied()?;
    PREDEFINED.get(handle.wrapping_sub(1)).or_else(|| handles::find(handle))
}

/// A block: who gave it, its bytes, and whether it has pages of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// The handle of its allocator.
    pub owner: usize,
    /// Bytes that may be used.
    pub bytes: usize,
    /// Whether its pages hold nothing else.
    pub is_direct: bool,
}

/// Whether an allocator counts what its blocks have: they must be given back when they are.
pub(crate) fn is_limited(handle: usize) -> bool {
    find(handle)
        .is_none_or(|it| it.has_header() || matches!(it.traits.fallback, Fallback::Allocator(_)))
}

/// What is known of a block by its beginning; `None` if it is none.
///
/// # Safety
/// If the address is in memory of an allocator, it is the beginning of a block.
pub unsafe fn block(at: *const u8) -> Option<Block> {
    if slabs::noted(at) != slabs::NONE {
        let list = List::at(at)?;
        return Some(Block { owner: list.handle, bytes: list.bytes, is_direct: false });
    }
    if let Some(heap) = Heap::of(at) {
        let owner = owner(heap)?;
        // SAFETY: the caller's promise.
        let bytes = unsafe { if owner.has_header() { header(at)? } else { arena::usable(at) } };
        return Some(Block { owner: owner.handle, bytes, is_direct: false });
    }
    let found = *directs().get(&(at as usize))?;
    Some(Block { owner: found.owner, bytes: found.asked, is_direct: true })
}

/// The size in front of a block; `None` if there is no mark.
///
/// # Safety
/// A block of an allocator with a limit.
unsafe fn header(at: *const u8) -> Option<usize> {
    // SAFETY: the caller's promise; blocks begin at multiples of 8 bytes.
    unsafe {
        let front = at.sub(HEADER).cast::<u64>();
        (front.add(1).read() == MARK).then(|| front.read() as usize)
    }
}

/// Keeps a block of the allocator that is named for this thread, if it is a plain one; else [`free_fast`] must be asked.
///
/// # Safety
/// As for [`free`].
#[inline]
pub unsafe fn keep(at: *mut u8, handle: usize) -> bool {
    kept::put(at, handle)
}

/// Gives a block back to the allocator that is named, if it is a plain block of it; else [`free`] must be asked. Without a
/// name the first allocator is tried.
///
/// # Safety
/// As for [`free`].
pub unsafe fn free_fast(at: *mut u8, handle: usize) -> bool {
    if slabs::noted(at) != slabs::NONE {
        let list = List::at(at).filter(|it| handle == NONE || handle == it.handle);
        if let Some(list) = list {
            // SAFETY: the caller's promise.
            unsafe { kept::put_anyway(at, list) };
        }
        return list.is_some();
    }
    let Some(heap) = Heap::of(at) else { return false };
    let named = PREDEFINED.get(handle.max(DEFAULT) - 1).or_else(|| handles::find(handle));
    let is_its_own = named.is_some_and(|it| it.fast.load(Ordering::Acquire) == heap.address());
    if is_its_own {
        // SAFETY: a block of that heap; the caller's promise.
        unsafe { arena::free(at) };
    }
    is_its_own
}

/// Gives a block back to the allocator that gave it. `handle`: the one that was asked, if that is said.
///
/// # Safety
/// If it is a block, nobody uses it.
pub unsafe fn free(at: *mut u8, handle: usize) -> Result<(), Fault> {
    if at.is_null() {
        return Ok(());
    }
    if slabs::noted(at) != slabs::NONE {
        let list = List::at(at).ok_or(Fault::NotAllocated { at: at as usize })?;
        may_free(at, list.handle, handle)?;
        // SAFETY: the caller's promise.
        unsafe { kept::put_anyway(at, list) };
        return Ok(());
    }
    let Some(heap) = Heap::of(at) else {
        return give_back_direct(at, handle);
    };
    let Some(owner) = owner(heap) else { return Err(Fault::NotAllocated { at: at as usize }) };
    may_free(at, owner.handle, handle)?;
    // SAFETY: the caller's promise.
    unsafe {
        if owner.has_header() {
            let Some(bytes) = header(at) else {
                return Err(Fault::NotAllocated { at: at as usize });
            };
            at.sub(HEADER).cast::<u64>().add(1).write(0);
            owner.used.fetch_sub(bytes, Ordering::Relaxed);
            arena::free(at.sub(HEADER));
        } else {
            arena::free(at);
        }
    }
    Ok(())
}

fn give_back_direct(at: *mut u8, handle: usize) -> Result<(), Fault> {
    let Some(block) = directs().get(&(at as usize)).copied() else {
        return Err(Fault::NotAllocated { at: at as usize });
    };
    may_free(at, block.owner, handle)?;
    if directs().remove(&(at as usize)).is_none() {
        return Err(Fault::NotAllocated { at: at as usize });
    }
    if let (Lock::Device(number), Some(pinning)) = (block.lock, PINNING.get()) {
        (pinning.unlock)(at, number);
    }
    if let Some(owner) = handles::find(block.owner)
        && owner.has_header()
    {
        owner.used.fetch_sub(block.asked, Ordering::Relaxed);
    }
    // SAFETY: mapped by `direct`, and nobody else takes it out of the table.
    unsafe { os::unmap(at, block.bytes) };
    Ok(())
}

/// Whether a block of `owner` may be given back to `named`.
fn may_free(at: *const u8, owner: usize, named: usize) -> Result<(), Fault> {
    if named == NONE || named == owner {
        return Ok(());
    }
    let asked = PREDEFINED.get(named.wrapping_sub(1)).or_else(|| handles::find(named));
    if asked.is_some_and(|it| it.reaches(owner)) {
        return Ok(());
    }
    Err(Fault::WrongAllocator { at: at as usize, owner, named })
}

/// Allocators with memory that was not there, and how often: for the report at the end.
pub fn fallen() -> Vec<(String, u64)> {
    let of = |it: &Allocator| (it.describe(), it.fallen.load(Ordering::Relaxed));
    let mut all: Vec<(String, u64)> = PREDEFINED.iter().map(of).collect();
    handles::each(|it| all.push(of(it)));
    all.retain(|it| it.1 > 0);
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(space: usize, list: &[(i32, usize)]) -> usize {
        let list: Vec<Trait> = list.iter().map(|it| Trait { key: it.0, value: it.1 }).collect();
        make(space, &list).unwrap()
    }

    #[track_caller]
    fn get(handle: usize, bytes: usize, align: usize) -> *mut u8 {
        let at = alloc(handle, bytes, align, false).unwrap();
        assert!(!at.is_null());
        at
    }

    fn owner_of(at: *const u8) -> usize {
        // SAFETY: blocks of tests.
        unsafe { block(at) }.unwrap().owner
    }

    /// Gives back a block that the test does not use any more.
    fn give(at: *mut u8, handle: usize) -> Result<(), Fault> {
        // SAFETY: blocks of tests.
        unsafe { free(at, handle) }
    }

    #[test]
    fn every_predefined_allocator_gives_memory_that_is_its_own() {
        for handle in 1..=8 {
            for (bytes, align) in
                [(1, 1), (8, 8), (24, 16), (1000, 64), (100_000, 4096), (5, 1 << 17)]
            {
                let at = get(handle, bytes, align);
                assert_eq!(at as usize % align, 0, "{handle} {bytes} {align}");
                // SAFETY: so many bytes are the test's.
                unsafe { at.write_bytes(0xab, bytes) };
                // SAFETY: a block of the test.
                let known = unsafe { block(at) }.unwrap();
                assert_eq!(known.owner, handle);
                assert!(known.bytes >= bytes);
                give(at, if bytes % 2 == 0 { handle } else { NONE }).unwrap();
            }
        }
    }

    #[test]
    fn zero_bytes_are_null_and_zeroed_memory_is_zero() {
        assert!(alloc(1, 0, 1, false).unwrap().is_null());
        let pool = made(0, &[(4, 1 << 20)]);
        let pinned = made(0, &[(7, 1)]);
        for handle in [1, 4, pool, pinned] {
            for _ in 0..3 {
                let at = alloc(handle, 5000, 32, true).unwrap();
                // SAFETY: so many bytes are the test's.
                unsafe {
                    assert!(std::slice::from_raw_parts(at, 5000).iter().all(|it| *it == 0));
                    at.write_bytes(0xff, 5000);
                }
                give(at, handle).unwrap();
            }
        }
        end(pool).unwrap();
        end(pinned).unwrap();
    }

    #[test]
    fn a_limit_is_for_what_is_asked_for() {
        let pool = made(0, &[(4, 1000), (5, 12)]);
        let one = get(pool, 600, 1);
        assert!(alloc(pool, 401, 1, false).unwrap().is_null());
        let other = get(pool, 400, 256);
        assert_eq!(other as usize % 256, 0);
        give(one, pool).unwrap();
        let again = get(pool, 600, 1);
        for at in [other, again] {
            give(at, NONE).unwrap();
        }
        end(pool).unwrap();
    }

    #[test]
    fn fall_backs_are_followed_to_their_end() {
        let null = made(0, &[(4, 100), (5, 12)]);
        let chained = made(3, &[(4, 50), (5, 14), (6, null)]);
        let abort = made(0, &[(4, 10), (5, 13)]);
        let ordinary = made(1, &[(4, 10), (5, 11)]);
        let at = get(chained, 80, 1);
        assert_eq!(owner_of(at), null);
        assert!(alloc(chained, 80, 1, false).unwrap().is_null());
        give(at, chained).unwrap();
        assert!(matches!(alloc(abort, 11, 1, false), Err(Fault::Aborted { bytes: 11, .. })));
        let at = get(ordinary, 11, 1);
        assert_eq!(owner_of(at), DEFAULT);
        give(at, ordinary).unwrap();
        assert!(fallen().iter().any(|it| it.0.contains("large-capacity") && it.1 == 1));
        for it in [chained, null, abort, ordinary] {
            end(it).unwrap();
        }
    }

    #[test]
    fn two_allocators_that_fall_back_to_each_other_end() {
        let one = made(0, &[(4, 1), (5, 12)]);
        let two = made(0, &[(4, 1), (5, 14), (6, one)]);
        assert!(alloc(two, 5, 1, false).unwrap().is_null());
        end(one).unwrap();
        assert_eq!(alloc(two, 5, 1, false), Err(Fault::NoAllocator { handle: one }));
        end(two).unwrap();
    }

    #[test]
    fn what_is_wrong_with_giving_back_is_told() {
        let other = made(0, &[]);
        let at = get(1, 40, 1);
        assert_eq!(
            give(at, other),
            Err(Fault::WrongAllocator { at: at as usize, owner: 1, named: other })
        );
        give(at, 1).unwrap();
        let mut local = 0_u64;
        let at = (&raw mut local).cast::<u8>();
        assert_eq!(give(at, NONE), Err(Fault::NotAllocated { at: at as usize }));
        let pinned = made(0, &[(7, 1)]);
        let at = get(pinned, 40, 1);
        assert!(matches!(give(at, other), Err(Fault::WrongAllocator { .. })));
        give(at, pinned).unwrap();
        assert!(matches!(give(at, pinned), Err(Fault::NotAllocated { .. })));
        end(pinned).unwrap();
        end(other).unwrap();
        assert_eq!(end(other), Err(Fault::NoAllocator { handle: other }));
        assert!(matches!(alloc(other, 1, 1, false), Err(Fault::NoAllocator { .. })));
    }

    #[test]
    fn blocks_outlive_their_allocator_until_they_are_given_back() {
        let it = made(3, &[(2, 64)]);
        let at = get(it, 100, 1);
        end(it).unwrap();
        // SAFETY: so many bytes are the test's.
        unsafe { at.write_bytes(1, 100) };
        give(at, it).unwrap();
    }

    #[test]
    fn memory_of_a_place_is_in_its_arena() {
        // One node is the whole machine here; the arena is real all the same.
        let near = made(0, &[(8, 16)]);
        let turns = made(0, &[(8, 18)]);
        let parts = made(0, &[(8, 17), (14, 4096)]);
        for handle in [near, turns, parts] {
            let blocks: Vec<*mut u8> = (1..200).map(|it| get(handle, it * 100, 32)).collect();
            let large = get(handle, MOST_BYTES + 1, 1);
            // SAFETY: its last byte.
            unsafe { large.add(MOST_BYTES).write(1) };
            for at in blocks.into_iter().chain([large]) {
                assert_eq!(owner_of(at), handle);
                give(at, handle).unwrap();
            }
            end(handle).unwrap();
        }
    }

    #[test]
    fn threads_give_back_what_others_made() {
        let it = made(0, &[(8, 16)]);
        let (to, from) = std::sync::mpsc::sync_channel::<usize>(100);
        let maker = std::thread::spawn(move || {
            for round in 0..20_000_usize {
                to.send(get(it, 1 + round % 3000, 1) as usize).unwrap();
            }
        });
        let taker = std::thread::spawn(move || {
            for at in from {
                give(at as *mut u8, it).unwrap();
            }
        });
        maker.join().unwrap();
        taker.join().unwrap();
        end(it).unwrap();
    }
}
