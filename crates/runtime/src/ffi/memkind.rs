//! Variables with a memory kind, and what programs ask about memory: `ferry_memory.h`.

use std::ffi::{CStr, c_char, c_int, c_long, c_void};
use std::path::Path;
use std::sync::Once;

use memory::instance::{self, Variable};
use memory::{allocator, named, proof};

use crate::error::Error;
use crate::guard::{answer, guard};
use crate::{host, report, settings};

/// How the compiler describes such a variable.
#[derive(Debug)]
#[repr(C)]
pub struct Kind {
    origin: *const u8,
    size: usize,
    align: usize,
    kind: *const c_char,
    name: *const c_char,
    file: *const c_char,
    line: u32,
    is_reference: u32,
}

/// The first variable: what the environment says, and what is done when the program ends.
fn begin() -> Result<(), Error> {
    static BEGUN: Once = Once::new();
    let mut problem = None;
    BEGUN.call_once(|| {
        if let Some(folder) = settings::persistent() {
            instance::set_folder(&folder);
        }
        if let Some(file) = settings::kinds() {
            problem = define_file(&file).err();
        }
        // SAFETY: a C function without arguments that never unwinds.
        unsafe { libc::atexit(end) };
    });
    problem.map_or(Ok(()), Err)
}

fn define_file(file: &Path) -> Result<(), Error> {
    let text = std::fs::read_to_string(file).map_err(|it| it.to_string());
    text.and_then(|it| named::define(&it)).map_err(|why| Error::Setting {
        message: format!("FERRY_MEMORY_KINDS: `{}`: {why}", file.display()),
        help: "write a table for each kind, as in [scratch] nodes = [1]".into(),
    })
}

/// The program ends: data that persist are committed, and each variable is told of.
extern "C" fn end() {
    if report::is_failing() || instance::is_copy() {
        return;
    }
    // SAFETY: the program ends; who still writes has lost the race that every end is.
    if let Err(problem) = unsafe { instance::commit() } {
        let error = Error::Argument { message: problem.to_string(), help: problem.help().into() };
        report::failed_call("data that persist", &error);
        // SAFETY: what is told must be seen by who started the program.
        unsafe { libc::_exit(report::FAILED) };
    }
    if settings::info() {
        for it in instance::reports() {
            let lie: Vec<String> =
                it.lie.iter().map(|it| it.describe(allocator::machine())).collect();
            let lie = if lie.is_empty() { "ended".to_owned() } else { lie.join("; ") };
            let file = it.file.map_or_else(String::new, |it| format!(", kept in {}", it.display()));
            let (now, before) = it.threads;
            report::info(&format!(
                "{}: `{}` ({}, {} bytes): {now} threads have one, {before} had one: {lie}{file}",
                it.place, it.name, it.kind, it.size
            ));
        }
    }
}

/// Text of the program.
///
/// # Safety
/// Null, or text that ends with a zero byte.
unsafe fn text<'a>(at: *const c_char) -> &'a str {
    if at.is_null() {
        return "";
    }
    // SAFETY: the caller's promise.
    unsafe { CStr::from_ptr(at) }.to_str().unwrap_or("")
}

/// The calling thread's own of a variable with a memory kind.
///
/// # Safety
/// Called by compiled code: a description that stays, and a slot of the thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __ferry_instance(
    kind: *const Kind,
    slot: *mut *mut c_void,
) -> *mut c_void {
    // SAFETY: the caller's promise.
    let (kind, variable) = unsafe {
        let kind = &*kind;
        let variable = Variable {
            origin: kind.origin,
            size: kind.size,
            align: kind.align,
            kind: text(kind.kind),
            name: text(kind.name),
            file: text(kind.file),
            line: kind.line,
            is_reference: kind.is_reference != 0,
        };
        (kind, variable)
    };
    let place = format!("{}:{}: `{}`", variable.file, variable.line, variable.name);
    let at = guard(&place, false, || {
        begin()?;
        let number = usize::try_from(host::thread_number()).unwrap_or(0);
        // SAFETY: the caller's promise.
        let made = unsafe { instance::own(&variable, number, report::warn) };
        made.map_err(|it| Error::Argument { message: it.to_string(), help: it.help().into() })
    });
    debug_assert!(!kind.origin.is_null());
    // SAFETY: the caller's promise.
    unsafe { slot.write(at.cast()) };
    at.cast()
}

/// Makes all data that persist count as they are now: 0, or -1 with a message.
///
/// # Safety
/// No other thread writes them meanwhile.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferry_memkind_commit() -> c_int {
    answer("ferry_memkind_commit", -1, || {
        // SAFETY: the caller's promise.
        let done = unsafe { instance::commit() };
        done.map(|()| 0)
            .map_err(|it| Error::Argument { message: it.to_string(), help: it.help().into() })
    })
}

/// Defines kinds by a text as in a file of `FERRY_MEMORY_KINDS`: 0, or -1 with a message.
///
/// # Safety
/// Text that ends with a zero byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferry_memkind_define(definition: *const c_char) -> c_int {
    answer("ferry_memkind_define", -1, || {
        // SAFETY: the caller's promise.
        named::define(unsafe { text(definition) }).map(|()| 0).map_err(|message| Error::Argument {
            message,
            help: "write a table for each kind, as in [scratch] nodes = [1]".into(),
        })
    })
}

/// Where memory lies, as the header has it.
#[derive(Debug)]
#[repr(C)]
pub struct Where {
    /// The node of most pages; -1 if none has come.
    node: c_int,
    /// The memory tier of that node; -1 if the kernel tells none.
    tier: c_int,
    /// Pages that have come, of so many.
    present: usize,
    pages: usize,
    /// Bytes of a page.
    page_size: usize,
    /// Bytes of the mapping on huge pages.
    huge: usize,
    /// Whether the kernel keeps the pages in memory.
    is_locked: c_int,
    /// Nodes that have pages.
    nodes: c_int,
}

/// Asks the kernel where memory lies: 0, or -1 with a message.
///
/// # Safety
/// Room for the answer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferry_memkind_where(
    at: *const c_void,
    bytes: usize,
    found: *mut Where,
) -> c_int {
    answer("ferry_memkind_where", -1, || {
        let lies = proof::of(at as usize, bytes).map_err(|error| Error::Argument {
            message: format!("the kernel does not tell where {at:p} lies: {error}"),
            help: "ask about memory of this program".into(),
        })?;
        let number = |it: Option<usize>| it.and_then(|it| c_int::try_from(it).ok()).unwrap_or(-1);
        let tier = lies.node().and_then(|it| allocator::machine().node(it)?.tier);
        let answer = Where {
            node: number(lies.node()),
            tier: number(tier.map(|it| it as usize)),
            present: lies.present(),
            pages: lies.pages,
            page_size: lies.page_size,
            huge: lies.huge,
            is_locked: c_int::from(lies.is_locked),
            nodes: number(Some(lies.nodes.len())),
        };
        // SAFETY: the caller's promise.
        unsafe { found.write(answer) };
        Ok(0)
    })
}

/// The same as text for people; the length that it has, of which as much is written as there is room. -1 with a message.
///
/// # Safety
/// Room for so many bytes, or none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferry_memkind_describe(
    at: *const c_void,
    bytes: usize,
    to: *mut c_char,
    room: usize,
) -> c_long {
    answer("ferry_memkind_describe", -1, || {
        let lies = proof::of(at as usize, bytes).map_err(|error| Error::Argument {
            message: format!("the kernel does not tell where {at:p} lies: {error}"),
            help: "ask about memory of this program".into(),
        })?;
        let text = lies.describe(allocator::machine());
        if room > 0 && !to.is_null() {
            let len = text.len().min(room - 1);
            // SAFETY: the caller's promise; a zero byte behind the text.
            unsafe {
                text.as_ptr().copy_to_nonoverlapping(to.cast(), len);
                to.add(len).write(0);
            }
        }
        Ok(c_long::try_from(text.len()).unwrap_or(c_long::MAX))
    })
}
