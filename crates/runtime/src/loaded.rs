//! Files of which the process is made.
#![allow(unsafe_code, reason = "asks the loader")]

use std::ffi::{CStr, c_void};

/// The file that an address of this process comes from.
pub(crate) fn file_of(address: usize) -> String {
    // SAFETY: the structure is plain numbers and pointers, for which zero is valid; the loader fills
    // it in, with a text of its own that stays as long as the binary.
    unsafe {
        let mut info: libc::Dl_info = std::mem::zeroed();
        if libc::dladdr(address as *const c_void, &raw mut info) == 0 || info.dli_fname.is_null() {
            return "the program".into();
        }
        CStr::from_ptr(info.dli_fname).to_string_lossy().into_owned()
    }
}

/// Where what is called so lies for code of every binary; nothing if none shows it to others.
pub(crate) fn address_of(name: &CStr) -> Option<usize> {
    // SAFETY: the name ends with a zero byte.
    let at = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
    (!at.is_null()).then_some(at as usize)
}

/// Whether the runtime is part of the program's own file.
pub(crate) fn is_in_program() -> bool {
    let base = |address: usize| {
        // SAFETY: as above.
        unsafe {
            let mut info: libc::Dl_info = std::mem::zeroed();
            let found = libc::dladdr(address as *const c_void, &raw mut info) != 0;
            found.then_some(info.dli_fbase as usize)
        }
    };
    // SAFETY: asks what the kernel has told the process of its program.
    let program = unsafe { libc::getauxval(libc::AT_PHDR) } as usize;
    let here: fn() -> bool = is_in_program;
    base(program).is_some_and(|it| Some(it) == base(here as usize))
}

/// Whether a file of the process uses what is called so and does not have it itself. A program without shared libraries does not tell.
pub(crate) fn uses(name: &CStr) -> bool {
    let mut question = Question { name, is_used: false };
    // SAFETY: the loader calls back while this call lasts, with what it knows of each file.
    unsafe { libc::dl_iterate_phdr(Some(look), (&raw mut question).cast()) };
    question.is_used
}

struct Question<'a> {
    name: &'a CStr,
    is_used: bool,
}

/// The tables of a file's symbols.
#[derive(Default)]
struct Symbols {
    symbols: usize,
    texts: usize,
    /// Of names that others find here: those that they do not find come first.
    found: usize,
    /// The older one, of all names.
    all: usize,
}

unsafe extern "C" fn look(
    file: *mut libc::dl_phdr_info,
    _: libc::size_t,
    question: *mut c_void,
) -> libc::c_int {
    // SAFETY: what the loader passes on, and what `uses` has passed to it.
    let (file, question) = unsafe { (&*file, &mut *question.cast::<Question<'_>>()) };
    // SAFETY: the loader has mapped these tables as the file says.
    unsafe {
        let headers = std::slice::from_raw_parts(file.dlpi_phdr, usize::from(file.dlpi_phnum));
        let dynamic = headers.iter().find(|it| it.p_type == libc::PT_DYNAMIC);
        let Some(dynamic) = dynamic else { return 0 };
        let base = file.dlpi_addr as usize;
        let symbols = symbols(base, base.wrapping_add(dynamic.p_vaddr as usize));
        question.is_used = has_open(&symbols, question.name);
    }
    libc::c_int::from(question.is_used)
}

/// # Safety
/// There is the dynamic section of a file that is loaded so far behind its own addresses.
unsafe fn symbols(base: usize, dynamic: usize) -> Symbols {
    const END: u64 = 0;
    const HASH: u64 = 4;
    const TEXTS: u64 = 5;
    const SYMBOLS: u64 = 6;
    const GNU_HASH: u64 = 0x6fff_fef5;
    let mut found = Symbols::default();
    let mut at = dynamic as *const [u64; 2];
    loop {
        // SAFETY: the section ends with a row of zeros.
        let [tag, value] = unsafe { at.read() };
        // Most loaders have added where the file lies, some not.
        let value = value as usize;
        let place = if value < base { value.wrapping_add(base) } else { value };
        match tag {
            END => return found,
            HASH => found.all = place,
            TEXTS => found.texts = place,
            SYMBOLS => found.symbols = place,
            GNU_HASH => found.found = place,
            _ => {}
        }
        // SAFETY: as above.
        at = unsafe { at.add(1) };
    }
}

/// Whether the name is among those that the file does not have itself.
///
/// # Safety
/// Tables of a file that is loaded.
unsafe fn has_open(tables: &Symbols, name: &CStr) -> bool {
    if tables.symbols == 0 || tables.texts == 0 {
        return false;
    }
    let table = if tables.found == 0 { tables.all } else { tables.found };
    if table == 0 {
        return false;
    }
    // SAFETY: the second word of either table is a number of symbols.
    let count = unsafe { (table as *const u32).add(1).read() };
    let symbols = tables.symbols as *const libc::Elf64_Sym;
    (1..count as usize).any(|at| {
        // SAFETY: so many symbols are there, each with a text that ends with a zero byte.
        unsafe {
            let symbol = &*symbols.add(at);
            let text = (tables.texts + symbol.st_name as usize) as *const std::ffi::c_char;
            symbol.st_shndx == 0 && CStr::from_ptr(text) == name
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_is_a_program_with_the_runtime_in_it() {
        assert!(is_in_program());
    }

    #[test]
    fn what_a_file_uses_is_seen() {
        assert!(uses(c"dl_iterate_phdr"));
        assert!(!uses(c"nobody_uses_this"));
    }
}
