//! Whether the calling thread runs an explicit task, which GCC's runtime cannot say.
//!
//! These functions stand before that runtime's (crate `interpose` has the names): they pass a task on with a note
//! behind its arguments, and a function in front of its own that remembers, while the task runs, at
//! which level of nesting it was begun. Tasks with more arguments than [`MOST_WORDS`] are passed on as
//! they are, and so are detached ones that copy their arguments: inside of these the answer is no. Where no file of
//! the process asks, all are passed on as they are; a file that is loaded later gets the right answer in tasks that are made
//! after it has asked once.

use std::ffi::{c_int, c_long, c_uint, c_ulong, c_void};
use std::io::Write;
use std::mem;
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU8, Ordering};

use smallvec::SmallVec;

use super::waiting;
use crate::guard::guard;
use crate::{host, loaded};

type Body = unsafe extern "C" fn(*mut c_void);
type CopyArgs = unsafe extern "C" fn(*mut c_void, *mut c_void);

/// The note behind the arguments.
#[derive(Clone, Copy)]
#[repr(C)]
struct Note {
    body: Body,
    /// How the compiler wants the arguments copied, and from where.
    copy: Option<CopyArgs>,
    from: *mut c_void,
}

const NOTE_WORDS: usize = size_of::<Note>() / size_of::<u64>();
/// Tasks with more words of arguments are not followed.
const MOST_WORDS: usize = 63;
/// The words that the runtime itself reads and writes at the front of a loop's arguments.
const HEAD_WORDS: usize = 3;
/// The flag of a task with dependences.
const HAS_DEPENDENCES: c_uint = 1 << 3;
/// The flag of a detached task.
const DETACHED: c_uint = 1 << 13;

/// The task's function: `WORDS` words of arguments, then the note.
unsafe extern "C" fn run<const WORDS: usize>(arguments: *mut c_void) {
    // SAFETY: `Wrapped` has put the note there, or the runtime has copied it there.
    let note = unsafe { arguments.cast::<u64>().add(WORDS).cast::<Note>().read() };
    let outer = host::enter_task();
    // SAFETY: the compiler's function with its own arguments in front.
    unsafe { (note.body)(arguments) };
    drop(outer);
}

/// Copies the arguments as the compiler wants it, then the note.
unsafe extern "C" fn copy<const WORDS: usize>(to: *mut c_void, from: *mut c_void) {
    // SAFETY: both blocks have room for the arguments and the note, see `Wrapped`.
    unsafe {
        let note = from.cast::<u64>().add(WORDS).cast::<Note>().read();
        if let Some(copy) = note.copy {
            copy(to, note.from);
        }
        to.cast::<u64>().add(WORDS).cast::<Note>().write(note);
    }
}

/// Arguments with the note behind them.
#[repr(C, align(16))]
struct Noted<const WORDS: usize> {
    arguments: mem::MaybeUninit<[u64; WORDS]>,
    note: Note,
}

/// What a task is made with, besides its arguments.
struct Made {
    task: Task,
    align: c_long,
    is_deferred: bool,
    flags: c_uint,
    depend: *mut *mut c_void,
    priority: c_int,
    detach: *mut c_void,
}

/// Makes a task whose arguments are whole words. Their number is known here, so that they are copied without a call.
unsafe fn make<const WORDS: usize>(body: Body, data: *mut c_void, made: &Made) {
    let note = Note { body, copy: None, from: data };
    // SAFETY: so many words are the program's; they may have less alignment.
    let arguments = unsafe { data.cast::<mem::MaybeUninit<[u64; WORDS]>>().read_unaligned() };
    let mut noted = Noted { arguments, note };
    let bytes = ((WORDS + NOTE_WORDS) * size_of::<u64>()) as c_long;
    let align = made.align.max(align_of::<u64>() as c_long);
    let Made { task, is_deferred, flags, depend, priority, detach, .. } = *made;
    let data = (&raw mut noted).cast();
    // SAFETY: as the program calls it, with a note behind the arguments.
    unsafe {
        task(run::<WORDS>, data, None, bytes, align, is_deferred, flags, depend, priority, detach)
    };
}

type Make = unsafe fn(Body, *mut c_void, &Made);

macro_rules! sizes {
    ($($words:literal)*) => {
        [$((run::<$words> as Body, copy::<$words> as CopyArgs, make::<$words> as Make)),*]
    };
}

/// One pair of functions for each number of words.
static SIZES: [(Body, CopyArgs, Make); MOST_WORDS + 1] = sizes!(
    0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31
    32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63
);

/// A task with its note.
struct Wrapped {
    body: Body,
    copy: Option<CopyArgs>,
    block: SmallVec<[u128; 8]>,
    bytes: c_long,
    align: c_long,
}

impl Wrapped {
    /// `None` where the task must be passed on as it is.
    ///
    /// # Safety
    /// The arguments of a task as the compiler passes them.
    unsafe fn new(
        body: Body,
        data: *mut c_void,
        copy: Option<CopyArgs>,
        bytes: c_long,
        align: c_long,
    ) -> Option<Wrapped> {
        let len = usize::try_from(bytes).ok()?;
        let words = len.div_ceil(size_of::<u64>());
        let (run, copy_noted, _) = *SIZES.get(words)?;
        if align > align_of::<u128>() as c_long || (data.is_null() && len > 0) {
            return None;
        }
        let mut block: SmallVec<[u128; 8]> = SmallVec::new();
        block.resize((words + NOTE_WORDS).div_ceil(2), 0);
        let at = block.as_mut_ptr().cast::<u64>();
        let known = match copy {
            None => len,
            // The block is only copied from; but a loop's first words are read where they stand.
            Some(_) => len.min(HEAD_WORDS * size_of::<u64>()),
        };
        // SAFETY: the block has room for the arguments and the note; so many bytes are the program's.
        unsafe {
            ptr::copy_nonoverlapping(data.cast::<u8>(), at.cast::<u8>(), known);
            at.add(words).cast::<Note>().write(Note { body, copy, from: data });
        }
        let bytes = ((words + NOTE_WORDS) * size_of::<u64>()) as c_long;
        let align = align.max(align_of::<u64>() as c_long);
        Some(Wrapped { body: run, copy: copy.map(|_| copy_noted), block, bytes, align })
    }

    fn data(&mut self) -> *mut c_void {
        self.block.as_mut_ptr().cast()
    }
}

/// Whether somebody asks: 0 if that is not known yet.
static ASKED: AtomicU8 = AtomicU8::new(0);
const NOBODY: u8 = 1;
const SOMEBODY: u8 = 2;

/// Whether tasks are to be passed on with a note.
#[inline]
fn is_asked() -> bool {
    match ASKED.load(Ordering::Relaxed) {
        0 => find_out(),
        known => known == SOMEBODY,
    }
}

#[cold]
fn find_out() -> bool {
    // A program without shared libraries does not tell.
    // What the program's own file has, it does not ask others for.
    let is_asked =
        host::is_linked() || loaded::is_in_program() || loaded::uses(c"omp_in_explicit_task");
    let known = if is_asked { SOMEBODY } else { NOBODY };
    let _ = ASKED.compare_exchange(0, known, Ordering::Relaxed, Ordering::Relaxed);
    is_asked
}

/// No task can be made: to run its function at once would be another program.
pub(super) fn missing() {
    let said = b"ferry: error: the program makes tasks, but `libgomp.so.1` cannot be loaded\n";
    let _ = std::io::stderr().write_all(said);
    std::process::abort();
}

/// The runtime's function that ours stands before.
pub(super) fn next<F: Copy>(slot: &OnceLock<usize>, name: &'static std::ffi::CStr) -> Option<F> {
    // A linker that keeps only libraries which answer something leaves that runtime out of a program
    // whose only calls of it are these: then it is loaded now.
    let at = *slot.get_or_init(|| host::find_or_load(name).map_or(0, |it| it as usize));
    // SAFETY: a function of that name has that type in GCC's runtime.
    (at != 0).then(|| unsafe { mem::transmute_copy::<usize, F>(&at) })
}

type Task = unsafe extern "C" fn(
    Body,
    *mut c_void,
    Option<CopyArgs>,
    c_long,
    c_long,
    bool,
    c_uint,
    *mut *mut c_void,
    c_int,
    *mut c_void,
);

/// Makes a task.
///
/// # Safety
/// Called by compiled code.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments, reason = "the interface's")]
pub unsafe extern "C" fn __wrap_GOMP_task(
    body: Body,
    data: *mut c_void,
    copy: Option<CopyArgs>,
    bytes: c_long,
    align: c_long,
    is_deferred: bool,
    flags: c_uint,
    depend: *mut *mut c_void,
    priority: c_int,
    detach: *mut c_void,
) {
    static NEXT: OnceLock<usize> = OnceLock::new();
    let Some(task) = next::<Task>(&NEXT, c"GOMP_task") else {
        return missing();
    };
    if !is_asked() {
        // SAFETY: as the program calls it; with this flag there is a list.
        unsafe {
            if flags & HAS_DEPENDENCES != 0 {
                waiting::before(depend);
            }
            return task(
                body,
                data,
                copy,
                bytes,
                align,
                is_deferred,
                flags,
                depend,
                priority,
                detach,
            );
        }
    }
    let is_followed = flags & DETACHED == 0 || copy.is_none();
    let words = bytes / size_of::<u64>() as c_long;
    let is_plain = copy.is_none() && words > 0 && words * size_of::<u64>() as c_long == bytes;
    let size = usize::try_from(words).ok().and_then(|it| SIZES.get(it)).filter(|_| is_plain);
    if let Some((_, _, make)) =
        size.filter(|_| align <= align_of::<u128>() as c_long && !data.is_null())
    {
        let made = Made { task, align, is_deferred, flags, depend, priority, detach };
        // SAFETY: the caller's promise: with this flag there is a list.
        unsafe {
            if flags & HAS_DEPENDENCES != 0 {
                waiting::before(depend);
            }
            return make(body, data, &made);
        }
    }
    // SAFETY: the caller's promise.
    let wrapped = unsafe { Wrapped::new(body, data, copy, bytes, align) };
    let mut wrapped = wrapped.filter(|_| is_followed);
    let (body, data, copy, bytes, align) = match &mut wrapped {
        Some(it) => (it.body, it.data(), it.copy, it.bytes, it.align),
        None => (body, data, copy, bytes, align),
    };
    // SAFETY: the caller's promise: with this flag there is a list; and the same with a note behind the
    // arguments.
    unsafe {
        if flags & HAS_DEPENDENCES != 0 {
            waiting::before(depend);
        }
        task(body, data, copy, bytes, align, is_deferred, flags, depend, priority, detach);
    }
}

type Taskloop = unsafe extern "C" fn(
    Body,
    *mut c_void,
    Option<CopyArgs>,
    c_long,
    c_long,
    c_uint,
    c_ulong,
    c_int,
    u64,
    u64,
    u64,
);

/// The two forms of a loop made of tasks.
macro_rules! taskloop {
    ($name:ident, $text:literal) => {
        /// Makes the tasks of a loop.
        ///
        /// # Safety
        /// Called by compiled code.
        #[unsafe(no_mangle)]
        #[allow(clippy::too_many_arguments, reason = "the interface's")]
        pub unsafe extern "C" fn $name(
            body: Body,
            data: *mut c_void,
            copy: Option<CopyArgs>,
            bytes: c_long,
            align: c_long,
            flags: c_uint,
            tasks: c_ulong,
            priority: c_int,
            begin: u64,
            end: u64,
            step: u64,
        ) {
            static NEXT: OnceLock<usize> = OnceLock::new();
            let Some(make) = next::<Taskloop>(&NEXT, $text) else { return missing() };
            // SAFETY: the caller's promise.
            unsafe {
                match Wrapped::new(body, data, copy, bytes, align).filter(|_| is_asked()) {
                    Some(mut it) => {
                        let (run, data, copy) = (it.body, it.data(), it.copy);
                        let (bytes, align) = (it.bytes, it.align);
                        make(
                            run, data, copy, bytes, align, flags, tasks, priority, begin, end, step,
                        );
                    }
                    None => {
                        make(
                            body, data, copy, bytes, align, flags, tasks, priority, begin, end,
                            step,
                        );
                    }
                }
            }
        }
    };
}

taskloop!(__wrap_GOMP_taskloop, c"GOMP_taskloop");
taskloop!(__wrap_GOMP_taskloop_ull, c"GOMP_taskloop_ull");

/// Does the calling thread run an explicit task?
#[unsafe(no_mangle)]
pub extern "C" fn omp_in_explicit_task() -> c_int {
    type Ask = unsafe extern "C" fn() -> c_int;
    static NEXT: OnceLock<Option<Ask>> = OnceLock::new();
    guard(&"omp_in_explicit_task", false, || {
        ASKED.store(SOMEBODY, Ordering::Relaxed);
        // SAFETY: a function of that name has that type.
        let find = || unsafe {
            host::find(c"omp_in_explicit_task").map(|it| mem::transmute::<*mut c_void, Ask>(it))
        };
        Ok(match NEXT.get_or_init(find) {
            // SAFETY: takes nothing.
            Some(theirs) => unsafe { theirs() },
            None => c_int::from(host::is_in_task()),
        })
    })
}
