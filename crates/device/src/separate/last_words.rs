//! What a dying helper leaves for the host, on the first page of the device's memory.
//!
//! Written in signal handlers, so by single stores; read by the host when the channel ends.
#![allow(unsafe_code, reason = "signal handlers, by their C interface")]

use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::mem;
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, Ordering};

use crate::arena::Arena;

/// Nothing was said.
const NOTHING: u32 = 0;
/// One thread is writing.
const WRITING: u32 = 1;
/// A signal came.
const SIGNAL: u32 = 2;
/// Code of the program has ended the process.
const EXIT: u32 = 3;

/// The record.
#[derive(Debug)]
#[repr(C)]
pub(super) struct LastWords {
    kind: AtomicU32,
    /// Number of the signal, or status of the exit.
    number: AtomicU32,
    /// What the signal says of its reason.
    code: AtomicU32,
    /// The address has a meaning.
    has_address: AtomicU32,
    address: AtomicU64,
    /// The launch that the thread ran; 0: the thread was one that a kernel had started.
    launch: AtomicU64,
}

/// How the helper ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// Without a word: killed from outside, or without stack to speak on.
    Silent,
    /// By a signal.
    Signal { signal: i32, code: i32, address: Option<u64>, launch: u64 },
    /// By a call of `exit`.
    Exit { status: i32, launch: u64 },
}

impl LastWords {
    fn read(&self) -> End {
        let number = self.number.load(Ordering::Acquire) as i32;
        let launch = self.launch.load(Ordering::Acquire);
        match self.kind.load(Ordering::Acquire) {
            SIGNAL => {
                let address = self.address.load(Ordering::Acquire);
                let has_address = self.has_address.load(Ordering::Acquire) != 0;
                End::Signal {
                    signal: number,
                    code: self.code.load(Ordering::Acquire) as i32,
                    address: has_address.then_some(address),
                    launch,
                }
            }
            EXIT => End::Exit { status: number, launch },
            _ => End::Silent,
        }
    }

    /// What the helper has left on the first page of a device's memory.
    pub(super) fn of(arena: &Arena) -> End {
        let page = arena.first_page().map(<*mut u8>::cast::<LastWords>);
        // SAFETY: the first page of the view, which stays mapped as long as the arena; the structure consists of atomic
        // numbers, for which all values are valid.
        page.map_or(End::Silent, |it| unsafe { (*it).read() })
    }

    /// Whether this thread is the one that speaks.
    fn begins(&self) -> bool {
        let taken =
            self.kind.compare_exchange(NOTHING, WRITING, Ordering::AcqRel, Ordering::Acquire);
        taken.is_ok()
    }
}

/// Where the record of this process is.
static RECORD: AtomicPtr<LastWords> = AtomicPtr::new(ptr::null_mut());

/// In place of a signal's own code: the stack of the thread was used up.
pub(crate) const NO_STACK: i32 = i32::MIN;
/// So far from the end of a stack, on either side, a fault is taken for its end.
const NEAR_END: u64 = 1 << 20;

thread_local! {
    /// Where the stack of this thread ends; 0 if nobody has looked.
    static STACK_END: Cell<u64> = const { Cell::new(0) };
    /// The launch that this thread runs; 0 for none.
    static LAUNCH: Cell<u64> = const { Cell::new(0) };
}

/// From now on this thread runs that launch.
pub(super) fn runs(launch: u64) {
    LAUNCH.set(launch);
}

/// Speaks from now on when a kernel dies, through the record at that address.
pub(super) fn listen(record: *mut c_void) {
    RECORD.store(record.cast(), Ordering::Release);
    for signal in [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL, libc::SIGABRT] {
        // SAFETY: a zeroed action is valid; the handler has the type that the flags say and calls
        // nothing that must not be called in one.
        unsafe {
            let mut action: libc::sigaction = mem::zeroed();
            action.sa_sigaction = on_signal as *const () as usize;
            action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
            libc::sigaction(signal, &raw const action, ptr::null_mut());
        }
    }
    // SAFETY: the function has the type that `on_exit` calls.
    unsafe { on_exit(exiting, ptr::null_mut()) };
}

/// A stack for handlers of this thread: its own may be what ran out.
pub(super) fn keep_a_stack() {
    let stack = vec![0u8; 64 << 10].into_boxed_slice();
    let size = stack.len();
    let at = Box::leak(stack).as_mut_ptr();
    let stack = libc::stack_t { ss_sp: at.cast(), ss_flags: 0, ss_size: size };
    // SAFETY: memory that stays for ever, told once for this thread; the attributes are made and
    // destroyed by the library, and asked for two numbers.
    unsafe {
        libc::sigaltstack(&raw const stack, ptr::null_mut());
        let mut attributes: libc::pthread_attr_t = mem::zeroed();
        if libc::pthread_getattr_np(libc::pthread_self(), &raw mut attributes) == 0 {
            let (mut end, mut size) = (ptr::null_mut(), 0);
            if libc::pthread_attr_getstack(&raw const attributes, &raw mut end, &raw mut size) == 0
            {
                STACK_END.set(end as u64);
            }
            libc::pthread_attr_destroy(&raw mut attributes);
        }
    }
}

/// The launch of this thread, also where thread variables are gone.
fn launch() -> u64 {
    LAUNCH.try_with(Cell::get).unwrap_or(0)
}

extern "C" fn on_signal(signal: c_int, info: *mut libc::siginfo_t, _context: *mut c_void) {
    // SAFETY: the record is on a page that stays mapped; the system hands a valid description over.
    unsafe {
        if let Some(record) = RECORD.load(Ordering::Acquire).as_ref()
            && record.begins()
        {
            let is_fault = matches!(signal, libc::SIGSEGV | libc::SIGBUS);
            record.number.store(signal as u32, Ordering::Release);
            let end = STACK_END.try_with(Cell::get).unwrap_or(0);
            let is_stack =
                is_fault && end != 0 && end.abs_diff((*info).si_addr() as u64) < NEAR_END;
            let code = if is_stack { NO_STACK } else { (*info).si_code };
            record.code.store(code as u32, Ordering::Release);
            // An address that no address bus has comes without its value.
            let has_address = is_fault && (*info).si_code > 0 && (*info).si_code != libc::SI_KERNEL;
            record.has_address.store(u32::from(has_address), Ordering::Release);
            record.address.store((*info).si_addr() as u64, Ordering::Release);
            record.launch.store(launch(), Ordering::Release);
            record.kind.store(SIGNAL, Ordering::Release);
        }
        libc::_exit(128 + signal);
    }
}

extern "C" fn exiting(status: c_int, _argument: *mut c_void) {
    // SAFETY: as above; a handler of `exit` may flush. It runs after all that the kernel registered.
    unsafe {
        libc::fflush(ptr::null_mut());
        if let Some(record) = RECORD.load(Ordering::Acquire).as_ref()
            && record.begins()
        {
            record.number.store(status as u32, Ordering::Release);
            record.launch.store(launch(), Ordering::Release);
            record.kind.store(EXIT, Ordering::Release);
        }
        libc::_exit(status);
    }
}

unsafe extern "C" {
    /// As `atexit`, with the status; of the GNU library.
    fn on_exit(function: extern "C" fn(c_int, *mut c_void), argument: *mut c_void) -> c_int;
}
