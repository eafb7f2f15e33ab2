//! Variables that each thread has for itself, in a memory of some kind.
//!
//! A thread finds its own in a table of its own, by the address of the variable as the program declares it, which
//! holds the first value. It is made when the thread asks for the first time, and goes when the thread ends. Data
//! that persist belong to a number and not to a thread: a thread gets the number that it asks for, or the
//! lowest that is free, and what it leaves is there for the next one.
#![allow(unsafe_code, reason = "memory that C programs use")]

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;
use std::mem;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use crate::allocator;
use crate::fault::Fault;
use crate::named;
use crate::persist::{Data, Problem, Store};
use crate::proof::{self, Whereabouts};

/// A variable, as the program declares it.
#[derive(Clone, Copy, Debug)]
pub struct Variable<'a> {
    /// Where its first value lies; with a reference, where the pointer lies.
    pub origin: *const u8,
    /// Bytes of what lives in the memory.
    pub size: usize,
    /// Its alignment.
    pub align: usize,
    /// The name of the kind.
    pub kind: &'a str,
    /// The name of the variable.
    pub name: &'a str,
    /// Where it is declared.
    pub file: &'a str,
    /// On which line.
    pub line: u32,
    /// Whether it is what a pointer leads to.
    pub is_reference: bool,
}

/// Why a thread cannot have its own.
#[derive(Debug)]
pub enum Failure {
    /// There is no memory.
    Memory(Fault),
    /// Data that persist cannot be had.
    Data(Problem),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Memory(fault) => fault.fmt(f),
            Failure::Data(problem) => problem.fmt(f),
        }
    }
}

impl Failure {
    /// What to do about it.
    pub fn help(&self) -> &'static str {
        match self {
            Failure::Memory(fault) => fault.help(),
            Failure::Data(problem) => problem.help(),
        }
    }
}

/// A thread's own.
#[derive(Clone, Copy)]
struct Own {
    /// What the program uses as the variable.
    at: usize,
    /// What lives in the memory.
    data: usize,
    /// Its number, where data persist.
    number: Option<usize>,
}

thread_local! {
    static TABLE: RefCell<Table> = RefCell::default();
}

#[derive(Default)]
struct Table(BTreeMap<usize, Own>);

impl Drop for Table {
    fn drop(&mut self) {
        // The end of the first thread is the end of the program, whose exit handlers may still use its own.
        // SAFETY: asks for numbers.
        if unsafe { libc::gettid() == libc::getpid() } {
            return;
        }
        let mut known = known();
        for (origin, own) in mem::take(&mut self.0) {
            let Some(variable) = known.get_mut(&origin) else { continue };
            variable.ended += 1;
            variable.live.retain(|it| *it != own.data);
            if own.at != own.data {
                // SAFETY: the cell of a pointer, which only this thread had.
                let _ = unsafe { allocator::free(own.at as *mut u8, allocator::NONE) };
            }
            match own.number {
                Some(number) => {
                    variable.taken.retain(|it| *it != number);
                }
                None => {
                    // SAFETY: made for this thread, which ends.
                    let _ = unsafe { allocator::free(own.data as *mut u8, allocator::NONE) };
                }
            }
        }
    }
}

/// What is known of a variable in the process.
#[derive(Default)]
struct Known {
    name: String,
    place: String,
    kind: String,
    size: usize,
    /// Data of threads that have not ended.
    live: Vec<usize>,
    ended: usize,
    /// Numbers that threads have.
    taken: Vec<usize>,
    /// Data that persist, by number: where they are now, and their file.
    kept: BTreeMap<usize, (usize, Data)>,
}

static KNOWN: OnceLock<Mutex<BTreeMap<usize, Known>>> = OnceLock::new();
static STORE: Mutex<Option<Store>> = Mutex::new(None);
static FOLDER: OnceLock<PathBuf> = OnceLock::new();

fn known() -> MutexGuard<'static, BTreeMap<usize, Known>> {
    KNOWN.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner)
}

/// Says where data that persist are kept. The first says it.
pub fn set_folder(folder: &Path) {
    let _ = FOLDER.set(folder.to_owned());
}

/// The calling thread's own of a variable. `number`: which it asks for, where data persist. `tell` hears of a kind that
/// nobody has defined.
///
/// # Safety
/// A variable of the program as it is.
pub unsafe fn own(
    variable: &Variable<'_>,
    number: usize,
    tell: impl Fn(&str),
) -> Result<*mut u8, Failure> {
    let origin = variable.origin as usize;
    let found = TABLE.with_borrow(|it| it.0.get(&origin).map(|it| it.at));
    if let Some(at) = found {
        return Ok(at as *mut u8);
    }
    // SAFETY: the caller's promise.
    let own = unsafe { make(variable, number, tell)? };
    TABLE.with_borrow_mut(|it| it.0.insert(origin, own));
    Ok(own.at as *mut u8)
}

/// # Safety
/// As for [`own`].
unsafe fn make(
    variable: &Variable<'_>,
    number: usize,
    tell: impl Fn(&str),
) -> Result<Own, Failure> {
    let mut known = known();
    let is_first = !known.contains_key(&(variable.origin as usize));
    let tell = |text: &str| {
        if is_first {
            tell(text)
        }
    };
    let kind = named::find(variable.kind).unwrap_or_else(|| {
        tell(&format!(
            "{}:{}: there is no memory kind `{}`: `{}` lies in ordinary memory",
            variable.file, variable.line, variable.kind, variable.name
        ));
        named::NamedKind { handle: allocator::DEFAULT, is_persistent: false }
    });
    let entry = known.entry(variable.origin as usize).or_insert_with(|| Known {
        name: variable.name.to_owned(),
        place: format!("{}:{}", variable.file, variable.line),
        kind: variable.kind.to_owned(),
        size: variable.size,
        ..Known::default()
    });
    let number = kind.is_persistent.then(|| {
        let is_free = |it: &usize| !entry.taken.contains(it);
        Some(number).filter(is_free).or_else(|| (0..).find(is_free)).unwrap_or(number)
    });
    let kept = number.and_then(|it| entry.kept.get(&it)).map(|it| it.0);
    let data = match kept {
        Some(data) => data,
        None => {
            let data = block(kind.handle, variable.size, variable.align)?;
            // SAFETY: the caller's promise.
            unsafe { first_value(variable, data) };
            data as usize
        }
    };
    if let Some(number) = number {
        if kept.is_none() {
            let name = format!("{}.{number}", variable.name);
            // SAFETY: a block of that size, which nobody else has.
            let bytes = unsafe { std::slice::from_raw_parts_mut(data as *mut u8, variable.size) };
            let file = with_store(|store| store.data(&name, bytes)).map_err(Failure::Data)?;
            entry.kept.insert(number, (data, file));
        }
        entry.taken.push(number);
    }
    let at = if variable.is_reference {
        let cell = block(allocator::DEFAULT, size_of::<usize>(), align_of::<usize>())?;
        // SAFETY: a block of a pointer's size and alignment.
        unsafe { cell.cast::<usize>().write(data) };
        cell as usize
    } else {
        data
    };
    entry.live.push(data);
    Ok(Own { at, data, number })
}

fn block(handle: usize, bytes: usize, align: usize) -> Result<*mut u8, Failure> {
    let bytes = bytes.max(1);
    match allocator::alloc(handle, bytes, align, false) {
        Ok(at) if at.is_null() => {
            let kind = allocator::find(handle).map_or(crate::kinds::Kind::Default, |it| it.kind);
            Err(Failure::Memory(Fault::Aborted { bytes, kind, pool: usize::MAX }))
        }
        Ok(at) => Ok(at),
        Err(fault) => Err(Failure::Memory(fault)),
    }
}

/// Gives a new block the first value of the variable, or of what it points to at first; else zeros.
///
/// # Safety
/// As for [`own`]; a block of that size.
unsafe fn first_value(variable: &Variable<'_>, to: *mut u8) {
    // SAFETY: the caller's promise; the pointer is the program's, and leads to an object of its type or nowhere.
    unsafe {
        let from = match variable.is_reference {
            true => variable.origin.cast::<*const u8>().read(),
            false => variable.origin,
        };
        if from.is_null() {
            to.write_bytes(0, variable.size);
        } else {
            to.copy_from_nonoverlapping(from, variable.size);
        }
    }
}

fn with_store<T>(call: impl FnOnce(&mut Store) -> Result<T, Problem>) -> Result<T, Problem> {
    let mut store = STORE.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(store) = store.as_mut() {
        return call(store);
    }
    let folder = FOLDER.get().map_or(Path::new("ferry.persistent"), PathBuf::as_path);
    call(store.insert(Store::open(folder)?))
}

/// Whether the process is a copy of the one that has opened the data: they are not its own.
pub fn is_copy() -> bool {
    let store = STORE.lock().unwrap_or_else(PoisonError::into_inner);
    store.as_ref().is_some_and(|it| !it.is_ours())
}

/// Makes all data that persist count as they are now.
///
/// # Safety
/// Nobody writes them meanwhile.
pub unsafe fn commit() -> Result<(), Problem> {
    let mut known = known();
    let mut all: Vec<(&mut Data, &[u8])> = Vec::new();
    for variable in known.values_mut() {
        let size = variable.size;
        for (data, file) in variable.kept.values_mut() {
            // SAFETY: a block of that size; the caller's promise.
            all.push((file, unsafe { std::slice::from_raw_parts(*data as *const u8, size) }));
        }
    }
    if all.is_empty() {
        return Ok(());
    }
    with_store(|store| store.commit(&mut all))
}

/// What is told of a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// Its name.
    pub name: String,
    /// Where it is declared.
    pub place: String,
    /// Its kind.
    pub kind: String,
    /// Bytes of each thread's own.
    pub size: usize,
    /// How many threads have one, and how many had one.
    pub threads: (usize, usize),
    /// Where the first ones lie, as the kernel tells.
    pub lie: Vec<Whereabouts>,
    /// The file of the first one, if data persist.
    pub file: Option<PathBuf>,
}

/// Most instances of a variable that the kernel is asked about.
const MOST_ASKED: usize = 8;

/// What is known of all variables.
pub fn reports() -> Vec<Report> {
    let known = known();
    let report = |it: &Known| Report {
        name: it.name.clone(),
        place: it.place.clone(),
        kind: it.kind.clone(),
        size: it.size,
        threads: (it.live.len(), it.ended),
        lie: it
            .live
            .iter()
            .take(MOST_ASKED)
            .filter_map(|at| proof::of(*at, it.size).ok())
            .collect(),
        file: it.kept.values().next().map(|it| it.1.path().to_owned()),
    };
    known.values().map(report).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variable<T>(of: &T, kind: &'static str, name: &'static str) -> Variable<'static> {
        Variable {
            origin: (&raw const *of).cast(),
            size: size_of::<T>(),
            align: align_of::<T>(),
            kind,
            name,
            file: "a.c",
            line: 3,
            is_reference: false,
        }
    }

    fn own_of<T>(it: &Variable<'_>, number: usize) -> *mut T {
        // SAFETY: variables of tests, of that type.
        unsafe { own(it, number, |_| ()) }.unwrap().cast()
    }

    #[test]
    fn each_thread_begins_with_the_first_value_and_keeps_its_own() {
        static FIRST: [u64; 100] = [5; 100];
        let run = |number: u64| {
            let it = variable(&FIRST, "fastmem", "first");
            let mine: *mut [u64; 100] = own_of(&it, 0);
            // SAFETY: the thread's own.
            unsafe {
                assert_eq!((*mine)[99], 5);
                (*mine)[99] = number;
                assert_eq!(own_of::<[u64; 100]>(&it, 0), mine);
                assert_eq!((*mine)[99], number);
            }
        };
        let threads: Vec<_> = (0..4).map(|it| std::thread::spawn(move || run(it))).collect();
        threads.into_iter().for_each(|it| it.join().unwrap());
        assert_eq!(FIRST[99], 5);
        let all = reports();
        let told = all.iter().find(|it| it.name == "first").unwrap();
        assert_eq!((told.threads, told.size, told.kind.as_str()), ((0, 4), 800, "fastmem"));
    }

    #[test]
    fn a_pointer_leads_to_its_own_object() {
        static NONE: usize = 0;
        let it = Variable { is_reference: true, size: 24, ..variable(&NONE, "volatile", "none") };
        let mine: *mut *mut u64 = own_of(&it, 0);
        // SAFETY: the thread's own, of three words.
        unsafe {
            assert_eq!((**mine, *(*mine).add(2)), (0, 0));
            *(*mine).add(2) = 4;
            *mine = std::ptr::null_mut();
        }
        assert_eq!(own_of::<*mut u64>(&it, 0), mine);
    }

    #[test]
    fn a_kind_that_nobody_defined_is_told() {
        static X: u32 = 9;
        let told = RefCell::new(String::new());
        // SAFETY: a variable of the test.
        let mine = unsafe {
            own(&variable(&X, "scratch", "x"), 0, |it| told.borrow_mut().push_str(it)).unwrap()
        };
        // SAFETY: as above.
        assert_eq!(unsafe { mine.cast::<u32>().read() }, 9);
        assert!(told.borrow().contains("a.c:3: there is no memory kind `scratch`"), "{told:?}");
    }

    #[test]
    fn data_that_persist_belong_to_numbers() {
        static COUNT: u64 = 0;
        let folder = tempfile::tempdir().unwrap();
        set_folder(folder.path());
        let it = variable(&COUNT, "persistent", "count");
        // SAFETY: the thread's own.
        unsafe { *own_of::<u64>(&it, 0) = 40 };
        for round in 1..4_u64 {
            let next = std::thread::spawn(move || {
                let it = variable(&COUNT, "persistent", "count");
                // Number 0 is taken: the lowest that is free is 1, and each thread goes on with it.
                // SAFETY: the thread's own.
                unsafe {
                    let mine = own_of::<u64>(&it, 0);
                    assert_eq!(*mine, round - 1);
                    *mine = round;
                }
            });
            next.join().unwrap();
        }
        // SAFETY: nobody else writes.
        unsafe { commit() }.unwrap();
        let mut names: Vec<_> = std::fs::read_dir(folder.path())
            .unwrap()
            .map(|it| it.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        assert_eq!(names, ["committed", "count.0.data", "count.1.data", "lock"]);
    }
}
