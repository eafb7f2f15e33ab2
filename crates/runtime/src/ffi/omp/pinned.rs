//! Memory of the host that devices copy from and to by themselves: allocators with the trait `pinned`.
//!
//! The host's runtime makes allocators and memory as ever, without that trait, which it does not know or
//! does not grant; what comes from such an allocator is then locked for the first device that can.
//! Where none can, or where pages are locked already, the memory is as good as any.

use std::ffi::{c_int, c_void};
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use rustc_hash::{FxHashMap, FxHashSet};

use super::explicit::next;
use crate::devices::{self, DeviceState};
use crate::guard::guard;

/// A trait, as the header has it.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Trait {
    key: c_int,
    value: usize,
}

const PINNED: c_int = 7;
const TRUE: usize = 1;

/// An allocator, as the header has it; 0 is none.
type Allocator = usize;

#[derive(Default)]
struct Known {
    allocators: FxHashSet<Allocator>,
    /// What is locked, and for which device.
    blocks: FxHashMap<usize, &'static DeviceState>,
}

static KNOWN: OnceLock<Mutex<Known>> = OnceLock::new();
/// There was such an allocator: most programs have none.
static IS_USED: AtomicBool = AtomicBool::new(false);

fn known() -> MutexGuard<'static, Known> {
    KNOWN.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner)
}

fn is_pinned(allocator: Allocator) -> bool {
    IS_USED.load(Ordering::Acquire) && known().allocators.contains(&allocator)
}

/// Locks memory that has just been made, if its allocator says so.
fn locked(at: *mut c_void, bytes: usize, allocator: Allocator) -> *mut c_void {
    if at.is_null() || bytes == 0 || !is_pinned(allocator) {
        return at;
    }
    guard(&"locking memory", false, || {
        // SAFETY: memory of that size which nobody else knows yet, and which is unlocked before it goes.
        let lock = |it: &&DeviceState| unsafe { it.plugin.lock_host(at.cast(), bytes) }.is_ok();
        if let Some(device) = devices::all().iter().find(lock) {
            known().blocks.insert(at as usize, device);
        }
        Ok(())
    });
    at
}

/// Unlocks memory that goes; says whether it was locked.
fn unlocked(at: *mut c_void) -> bool {
    if !IS_USED.load(Ordering::Acquire) {
        return false;
    }
    let device = known().blocks.remove(&(at as usize));
    if let Some(device) = device {
        // SAFETY: it was locked by this device, once.
        let _ = unsafe { device.plugin.unlock_host(at.cast()) };
    }
    device.is_some()
}

/// Makes an allocator.
///
/// # Safety
/// `traits` has `count` elements.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __wrap_omp_init_allocator(
    space: usize,
    count: c_int,
    traits: *const Trait,
) -> Allocator {
    type Init = unsafe extern "C" fn(usize, c_int, *const Trait) -> Allocator;
    static NEXT: OnceLock<usize> = OnceLock::new();
    let Some(theirs) = next::<Init>(&NEXT, c"omp_init_allocator") else { return 0 };
    let given: &[Trait] = match usize::try_from(count) {
        // SAFETY: the caller's promise.
        Ok(count) if count > 0 && !traits.is_null() => unsafe {
            std::slice::from_raw_parts(traits, count)
        },
        _ => &[],
    };
    let wants_lock = given.iter().any(|it| it.key == PINNED && it.value == TRUE);
    if !wants_lock {
        // SAFETY: the caller's promise.
        return unsafe { theirs(space, count, traits) };
    }
    let others: Vec<Trait> = given.iter().copied().filter(|it| it.key != PINNED).collect();
    let count = c_int::try_from(others.len()).unwrap_or(0);
    // SAFETY: as many traits as is said; with none of them there is an allocator too.
    let made = unsafe { theirs(space, count, others.as_ptr()) };
    if made != 0 {
        known().allocators.insert(made);
        IS_USED.store(true, Ordering::Release);
    }
    made
}

/// Ends an allocator.
///
/// # Safety
/// Its memory is not used any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __wrap_omp_destroy_allocator(allocator: Allocator) {
    static NEXT: OnceLock<usize> = OnceLock::new();
    let theirs = next::<unsafe extern "C" fn(Allocator)>(&NEXT, c"omp_destroy_allocator");
    let Some(theirs) = theirs else { return };
    if IS_USED.load(Ordering::Acquire) {
        known().allocators.remove(&allocator);
    }
    // SAFETY: the caller's promise.
    unsafe { theirs(allocator) }
}

/// Functions that make memory: their parameters, and the bytes that they make.
macro_rules! makes {
    ($($name:ident $next:literal($($param:ident),*) = $bytes:expr;)*) => {$(
        /// Makes memory.
        ///
        /// # Safety
        /// An allocator that was made, or one of the standard's.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($param: usize,)* allocator: Allocator) -> *mut c_void {
            type Make = unsafe extern "C" fn($(makes!(@word $param),)* Allocator) -> *mut c_void;
            static NEXT: OnceLock<usize> = OnceLock::new();
            let Some(theirs) = next::<Make>(&NEXT, $next) else { return ptr::null_mut() };
            // SAFETY: the caller's promise.
            locked(unsafe { theirs($($param,)* allocator) }, $bytes, allocator)
        }
    )*};
    (@word $param:ident) => { usize };
}

makes! {
    __wrap_omp_alloc c"omp_alloc"(size) = size;
    __wrap_omp_aligned_alloc c"omp_aligned_alloc"(alignment, size) = size;
    __wrap_omp_calloc c"omp_calloc"(count, size) = count.saturating_mul(size);
    __wrap_omp_aligned_calloc c"omp_aligned_calloc"(alignment, count, size) = count.saturating_mul(size);
}

/// Makes memory larger or smaller.
///
/// # Safety
/// Memory of `old`, and allocators that were made or are the standard's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __wrap_omp_realloc(
    at: *mut c_void,
    size: usize,
    allocator: Allocator,
    old: Allocator,
) -> *mut c_void {
    type Change = unsafe extern "C" fn(*mut c_void, usize, Allocator, Allocator) -> *mut c_void;
    static NEXT: OnceLock<usize> = OnceLock::new();
    let Some(theirs) = next::<Change>(&NEXT, c"omp_realloc") else { return ptr::null_mut() };
    // Where there is no more memory the old stays, no longer locked: slower, and as right.
    let was_locked = unlocked(at);
    // SAFETY: the caller's promise.
    let made = unsafe { theirs(at, size, allocator, old) };
    let meant = match (allocator, was_locked) {
        (0, true) => old,
        (allocator, _) => allocator,
    };
    locked(made, size, meant)
}

/// Gives memory back.
///
/// # Safety
/// Memory of the allocator, or of any if that is none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __wrap_omp_free(at: *mut c_void, allocator: Allocator) {
    static NEXT: OnceLock<usize> = OnceLock::new();
    let theirs = next::<unsafe extern "C" fn(*mut c_void, Allocator)>(&NEXT, c"omp_free");
    let Some(theirs) = theirs else { return };
    unlocked(at);
    // SAFETY: the caller's promise.
    unsafe { theirs(at, allocator) }
}
