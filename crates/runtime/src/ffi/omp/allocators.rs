//! Memory of the host by allocators: the routines of the standard, and what compiled code calls for its clauses.
//!
//! Crate `memory` does it; here handles are checked, faults become messages, and devices lock pages for the trait `pinned`.
//! Which allocator is the default of a thread is kept in the host's threading runtime, since threads inherit it there.

use std::ffi::{c_int, c_void};
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

use memory::allocator::{self, DEFAULT, NONE};
use memory::checked;
use memory::fault::Fault;
use memory::traits::{Named, Trait, from_text};

use super::explicit::next;
use crate::devices;
use crate::error::Error;
use crate::guard::guard;
use crate::tool::caller;
use crate::{report, settings};

/// An allocator, as the header has it; 0 is none.
type Allocator = usize;

/// How blocks are made: not known yet, plainly, or with every wrong use found.
static MODE: AtomicU8 = AtomicU8::new(UNKNOWN);
const UNKNOWN: u8 = 0;
const PLAIN: u8 = 1;
const CHECKED: u8 = 2;

#[inline]
fn mode() -> u8 {
    match MODE.load(Ordering::Acquire) {
        UNKNOWN => begin(),
        mode => mode,
    }
}

/// The first call: what the environment says, and who locks pages and tells.
#[cold]
fn begin() -> u8 {
    allocator::set_pinning(allocator::Pinning { lock, unlock });
    if settings::info() {
        allocator::set_teller(report::info);
    }
    let mode = if settings::checks_memory() { CHECKED } else { PLAIN };
    if MODE.swap(mode, Ordering::AcqRel) == UNKNOWN && (mode == CHECKED || settings::info()) {
        // SAFETY: a C function without arguments that never unwinds.
        unsafe { libc::atexit(end) };
    }
    mode
}

/// The program ends: what was not found before, and what was not there.
extern "C" fn end() {
    if report::is_failing() {
        return;
    }
    if settings::info() {
        for (memory, times) in allocator::fallen() {
            report::info(&format!("{memory} was not there {times} times: its fall-back was taken"));
        }
    }
    if let Err(fault) = checked::at_end() {
        report::failed_call("at the end of the program", &argument(&fault));
        // SAFETY: the program ends; other handlers have run or will not.
        unsafe { libc::_exit(report::FAILED) };
    }
}

/// Locks pages for the first device that can, or for the one that is named.
fn lock(at: *mut u8, bytes: usize, device: Option<i32>) -> Option<usize> {
    guard(&"locking memory", false, || {
        let named = device.and_then(|it| usize::try_from(it).ok());
        let can = |(number, it): &(usize, &devices::DeviceState)| {
            let is_meant = named.is_none_or(|named| named == *number);
            // SAFETY: memory of that size which nobody else knows yet, and which is unlocked before it goes.
            is_meant && unsafe { it.plugin.lock_host(at.cast(), bytes) }.is_ok()
        };
        Ok(devices::all().iter().enumerate().find(can).map(|it| it.0))
    })
}

fn unlock(at: *mut u8, number: usize) {
    if let Some(device) = devices::all().get(number) {
        // SAFETY: it was locked by this device, once.
        let _ = unsafe { device.plugin.unlock_host(at.cast()) };
    }
}

fn argument(fault: &Fault) -> Error {
    Error::Argument { message: fault.to_string(), help: fault.help().into() }
}

/// The routine, and where in the program it was called.
fn place(routine: &str) -> String {
    match caller::describe(caller::caller()) {
        Some(at) => format!("{routine}, called at {at}"),
        None => routine.to_owned(),
    }
}

/// Ends the program with what is wrong.
#[cold]
fn fail(routine: &str, fault: &Fault) -> ! {
    report::fail(&place(routine), false, &argument(fault))
}

/// The allocator that is meant: none is the default of the thread.
fn meant(allocator: Allocator) -> Allocator {
    if allocator == NONE { __wrap_omp_get_default_allocator() } else { allocator }
}

/// Blocks that may have wishes, or that the default does not have.
#[inline(never)]
fn made(
    routine: &'static str,
    bytes: Option<usize>,
    align: usize,
    is_zero: bool,
    allocator: Allocator,
) -> *mut c_void {
    let Some(bytes) = bytes else { return ptr::null_mut() };
    let allocator = meant(allocator);
    let answer = guard(&routine, false, || {
        Ok(match mode() {
            CHECKED => checked::alloc(allocator, bytes, align, is_zero, &place(routine)),
            _ => allocator::alloc(allocator, bytes, align, is_zero),
        })
    });
    match answer {
        Ok(at) => at.cast(),
        Err(fault) => fail(routine, &fault),
    }
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
    mode();
    let given: &[Trait] = match usize::try_from(count) {
        // SAFETY: the caller's promise.
        Ok(count) if count > 0 && !traits.is_null() => unsafe {
            std::slice::from_raw_parts(traits, count)
        },
        _ => &[],
    };
    match allocator::make(space, given) {
        Ok(handle) => handle,
        Err(bad) => {
            let help = "no allocator is made: omp_null_allocator is the answer".into();
            let error = Error::Argument { message: bad.to_string(), help };
            report::failed_call(&place("omp_init_allocator"), &error);
            NONE
        }
    }
}

/// Ends an allocator.
///
/// # Safety
/// Its memory is not used any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __wrap_omp_destroy_allocator(allocator: Allocator) {
    if let Err(fault) = allocator::end(allocator) {
        fail("omp_destroy_allocator", &fault);
    }
}

/// The default of the thread, where no runtime keeps it.
fn from_environment() -> Allocator {
    static MADE: OnceLock<Allocator> = OnceLock::new();
    *MADE.get_or_init(|| {
        let Some(text) = settings::allocator() else { return DEFAULT };
        let made = match from_text(&text) {
            Ok(Named::Predefined(handle)) => Ok(handle),
            Ok(Named::Made(kind, traits)) => {
                allocator::make(kind as usize, &traits).map_err(|it| it.to_string())
            }
            Err(why) => Err(why),
        };
        made.unwrap_or_else(|why| {
            report::warn(&format!("OMP_ALLOCATOR={text} is not understood and ignored: {why}"));
            DEFAULT
        })
    })
}

/// The default allocator of the thread.
#[unsafe(no_mangle)]
pub extern "C" fn __wrap_omp_get_default_allocator() -> Allocator {
    static NEXT: OnceLock<usize> = OnceLock::new();
    let theirs = next::<unsafe extern "C" fn() -> Allocator>(&NEXT, c"omp_get_default_allocator");
    // SAFETY: a function of the runtime that takes nothing.
    let said = theirs.map_or(DEFAULT, |get| unsafe { get() });
    // What it made of the environment is its own, or less than was asked for.
    let is_asked = said != DEFAULT || IS_SET.load(Ordering::Relaxed);
    if is_asked && allocator::find(said).is_some() { said } else { from_environment() }
}

/// Some thread has said its default. Threads that inherit it do not say so themselves.
static IS_SET: AtomicBool = AtomicBool::new(false);

/// Sets it.
#[unsafe(no_mangle)]
pub extern "C" fn __wrap_omp_set_default_allocator(allocator: Allocator) {
    type Set = unsafe extern "C" fn(Allocator);
    static NEXT: OnceLock<usize> = OnceLock::new();
    let allocator = if allocator == NONE { DEFAULT } else { allocator };
    if allocator::find(allocator).is_none() {
        fail("omp_set_default_allocator", &Fault::NoAllocator { handle: allocator });
    }
    IS_SET.store(true, Ordering::Relaxed);
    if let Some(theirs) = next::<Set>(&NEXT, c"omp_set_default_allocator") {
        // SAFETY: a function of the runtime that keeps a number.
        unsafe { theirs(allocator) };
    }
}

/// Makes memory.
#[unsafe(no_mangle)]
pub extern "C" fn __wrap_omp_alloc(size: usize, allocator: Allocator) -> *mut c_void {
    // Nothing is kept where every wrong use is to be found.
    let at = allocator::kept(allocator, size);
    if at.is_null() { not_kept(size, allocator) } else { at.cast() }
}

/// What [`__wrap_omp_alloc`] goes on as, without coming back: messages say where the one that is on the stack was called.
#[cold]
#[inline(never)]
pub(super) extern "C" fn not_kept(size: usize, allocator: Allocator) -> *mut c_void {
    let at = allocator::kept_anyway(allocator, size);
    if !at.is_null() {
        return at.cast();
    }
    if MODE.load(Ordering::Acquire) == PLAIN {
        let at = allocator::fast(allocator, size);
        if !at.is_null() {
            return at.cast();
        }
    }
    made("omp_alloc", Some(size), 1, false, allocator)
}

/// Makes memory that begins at a multiple.
#[unsafe(no_mangle)]
pub extern "C" fn __wrap_omp_aligned_alloc(
    alignment: usize,
    size: usize,
    allocator: Allocator,
) -> *mut c_void {
    made("omp_aligned_alloc", Some(size), alignment, false, allocator)
}

/// Makes memory of zeros.
#[unsafe(no_mangle)]
pub extern "C" fn __wrap_omp_calloc(
    count: usize,
    size: usize,
    allocator: Allocator,
) -> *mut c_void {
    made("omp_calloc", count.checked_mul(size), 1, true, allocator)
}

/// Makes memory of zeros that begins at a multiple.
#[unsafe(no_mangle)]
pub extern "C" fn __wrap_omp_aligned_calloc(
    alignment: usize,
    count: usize,
    size: usize,
    allocator: Allocator,
) -> *mut c_void {
    made("omp_aligned_calloc", count.checked_mul(size), alignment, true, allocator)
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
    let routine = "omp_realloc";
    if at.is_null() {
        return made(
            routine,
            Some(size),
            1,
            false,
            if allocator == NONE { old } else { allocator },
        );
    }
    if size == 0 {
        // SAFETY: the caller's promise.
        unsafe { give_back(routine, at, old) };
        return ptr::null_mut();
    }
    let known = match mode() {
        CHECKED => checked::block(at.cast()),
        // SAFETY: the caller's promise.
        _ => unsafe { allocator::block(at.cast()) }.map(|it| (it.bytes, it.owner)),
    };
    let Some((bytes, owner)) = known else {
        fail(routine, &Fault::NotAllocated { at: at as usize });
    };
    let to = [allocator, old, owner].into_iter().find(|it| *it != NONE).unwrap_or(owner);
    let made = made(routine, Some(size), 1, false, to);
    if !made.is_null() {
        // SAFETY: two blocks, each with so many bytes; then the caller's promise.
        unsafe {
            ptr::copy_nonoverlapping(at.cast::<u8>(), made.cast::<u8>(), bytes.min(size));
            give_back(routine, at, old);
        }
    }
    made
}

/// Gives memory back.
///
/// # Safety
/// Memory of the allocator, or of any if that is none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __wrap_omp_free(at: *mut c_void, allocator: Allocator) {
    // SAFETY: the caller's promise.
    unsafe {
        if !allocator::keep(at.cast(), allocator) {
            give_back_plain(at, allocator);
        }
    }
}

/// What [`__wrap_omp_free`] goes on as, like [`not_kept`].
///
/// # Safety
/// Nobody uses the memory.
#[cold]
#[inline(never)]
pub(super) unsafe extern "C" fn give_back_plain(at: *mut c_void, allocator: Allocator) {
    // SAFETY: the caller's promise.
    unsafe {
        if MODE.load(Ordering::Acquire) != PLAIN || !allocator::free_fast(at.cast(), allocator) {
            give_back("omp_free", at, allocator);
        }
    }
}

/// # Safety
/// Nobody uses the memory.
#[cold]
#[inline(never)]
unsafe fn give_back(routine: &'static str, at: *mut c_void, allocator: Allocator) {
    // SAFETY: the caller's promise.
    let answer = unsafe {
        match mode() {
            CHECKED => checked::free(at.cast(), allocator, &place(routine)),
            _ => allocator::free(at.cast(), allocator),
        }
    };
    if let Err(fault) = answer {
        fail(routine, &fault);
    }
}

/// Memory of a variable that a clause puts there; the program ends where there is none.
#[unsafe(no_mangle)]
pub extern "C" fn __wrap_GOMP_alloc(
    alignment: usize,
    size: usize,
    allocator: Allocator,
) -> *mut c_void {
    let at = made("allocate", Some(size), alignment, false, allocator);
    if at.is_null() && size > 0 {
        let kind =
            allocator::find(meant(allocator)).map_or(memory::kinds::Kind::Default, |it| it.kind);
        fail("allocate", &Fault::Aborted { bytes: size, kind, pool: usize::MAX });
    }
    at
}

/// Gives it back.
///
/// # Safety
/// What [`__wrap_GOMP_alloc`] has given.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __wrap_GOMP_free(at: *mut c_void, allocator: Allocator) {
    // SAFETY: the caller's promise.
    unsafe { give_back("allocate", at, allocator) }
}
