//! The arrays of a call, read one entry at a time.
//!
//! In: the raw arrays that compiled programs hand over. Out: [`Item`]s, plain values. Also the texts
//! that come with them: names of variables and places in the source.
#![allow(unsafe_code, reason = "the arrays and texts are the caller's")]

use std::ffi::{CStr, c_char, c_void};
use std::fmt;
use std::ptr::{self, NonNull};

use abi::call::MapperFn;
use abi::map::GAPS;
use abi::{Ident, MapType};

use crate::error::Error;

/// One entry of a call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Item {
    pub(crate) base: usize,
    pub(crate) begin: usize,
    pub(crate) size: usize,
    pub(crate) map: MapType,
    pub(crate) name: Option<Name>,
    pub(crate) mapper: Option<MapperFn>,
}

impl Item {
    /// Passed by value or private: not in the table.
    pub(crate) fn is_unmapped(&self) -> bool {
        self.map.has_any(MapType::LITERAL | MapType::PRIVATE)
    }
}

/// The arrays of a call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MapArgs {
    pub(crate) count: usize,
    pub(crate) bases: *mut *mut c_void,
    pub(crate) begins: *mut *mut c_void,
    pub(crate) sizes: *mut i64,
    pub(crate) types: *mut i64,
    /// Null as a whole, or entry by entry.
    pub(crate) names: *mut *mut c_void,
    /// Null as a whole, or entry by entry.
    pub(crate) mappers: *mut *mut c_void,
}

impl MapArgs {
    /// Of a call without entries.
    pub(crate) const NONE: MapArgs = MapArgs {
        count: 0,
        bases: ptr::null_mut(),
        begins: ptr::null_mut(),
        sizes: ptr::null_mut(),
        types: ptr::null_mut(),
        names: ptr::null_mut(),
        mappers: ptr::null_mut(),
    };

    /// Arrays that can be read; `None` if one of them cannot be what it should be.
    ///
    /// # Safety
    /// Each array that is not null has `count` elements, which nobody else writes while this value
    /// is used; mappers are [`MapperFn`]s and names end with a zero byte.
    pub(crate) unsafe fn new(
        count: i64,
        [bases, begins]: [*mut *mut c_void; 2],
        [sizes, types]: [*mut i64; 2],
        [names, mappers]: [*mut *mut c_void; 2],
    ) -> Option<MapArgs> {
        let count = usize::try_from(count).ok()?;
        let args = MapArgs { count, bases, begins, sizes, types, names, mappers };
        let is_usable = |it: *const c_void| !it.is_null() && it.cast::<u64>().is_aligned();
        let arrays = [bases.cast_const().cast(), begins.cast_const().cast()];
        let numbers = [sizes.cast_const().cast(), types.cast_const().cast()];
        let usable = arrays.into_iter().chain(numbers).all(is_usable);
        (count == 0 || usable).then_some(args)
    }

    /// An error if the size of an entry is that of no data: a length was negative, or its bytes were more than can be
    /// counted.
    pub(crate) fn check(&self) -> Result<(), Error> {
        for index in 0..self.count {
            // SAFETY: `new` was promised `count` elements.
            let (size, begin) = unsafe { (*self.sizes.add(index), *self.begins.add(index)) };
            let is_wrong = usize::try_from(size).map_or(true, |it| !fits(begin as usize, it));
            let item = self.item(index);
            if is_wrong && !item.map.has(MapType::LITERAL) {
                return Err(Error::Size { name: item.name.map(|it| it.to_string()), size });
            }
        }
        Ok(())
    }

    /// The entry with that index, which is below `count`.
    pub(crate) fn item(&self, index: usize) -> Item {
        debug_assert!(index < self.count);
        // SAFETY: `new` was promised `count` elements in each array that is not null. A mapper that
        // is not null is a function of this type by the same promise.
        unsafe {
            let mapper = element(self.mappers, index)
                .map(|it| std::mem::transmute::<*mut c_void, MapperFn>(it.as_ptr()));
            Item {
                base: *self.bases.add(index) as usize,
                begin: *self.begins.add(index) as usize,
                size: usize::try_from(*self.sizes.add(index)).unwrap_or(usize::MAX),
                map: MapType(*self.types.add(index) as u64),
                name: element(self.names, index).map(|it| Name(it.cast())),
                mapper,
            }
        }
    }

    /// Refuses an entry whose size no object has: what was computed for it was negative, or did not fit.
    pub(crate) fn check_size(&self, index: usize, item: &Item) -> Result<(), Error> {
        if item.size < i64::MAX as usize {
            return Ok(());
        }
        debug_assert!(index < self.count);
        // SAFETY: `new` was promised `count` elements.
        let size = unsafe { *self.sizes.add(index) };
        let name = item.name.map_or_else(|| "unknown".to_owned(), |it| it.to_string());
        if size == GAPS {
            return Err(Error::Size { name: Some(name), size });
        }
        let message = match size < 0 {
            true => format!("`{name}` has a negative size ({size} bytes)"),
            false => format!("`{name}` has more bytes than there are addresses"),
        };
        let help = "look at what its length is computed from".to_owned();
        Err(Error::Argument { message, help })
    }

    /// The map type alone, if there is such an entry.
    pub(crate) fn map_type(&self, index: usize) -> Option<MapType> {
        // SAFETY: `new` was promised `count` elements.
        (index < self.count).then(|| MapType(unsafe { *self.types.add(index) } as u64))
    }

    /// Answers the caller in its own array.
    pub(crate) fn set_base(&self, index: usize, base: u64) {
        debug_assert!(index < self.count);
        // SAFETY: `new` was promised `count` elements that nobody else uses during the call.
        unsafe { *self.bases.add(index) = base as *mut c_void };
    }

    pub(crate) fn items(&self) -> impl DoubleEndedIterator<Item = (usize, Item)> {
        (0..self.count).map(|index| (index, self.item(index)))
    }
}

/// Addresses of programs end here.
const HIGHEST: usize = 1 << 57;

/// Can so many bytes lie at that address?
pub(crate) fn fits(at: usize, size: usize) -> bool {
    // Whatever lies there, some bytes may.
    size < HIGHEST && at.checked_add(size).is_some()
}

/// # Safety
/// The array is null or has more than `index` elements.
unsafe fn element(array: *mut *mut c_void, index: usize) -> Option<NonNull<c_void>> {
    if array.is_null() {
        return None;
    }
    // SAFETY: the caller's promise.
    NonNull::new(unsafe { *array.add(index) })
}

/// The name of a mapped variable: `;name;file;line;column;;`, in the constants of the program. flang has the file first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Name(NonNull<c_char>);

// SAFETY: points to a constant that nobody writes.
unsafe impl Send for Name {}
// SAFETY: as above.
unsafe impl Sync for Name {}

impl Name {
    /// The name of a variable that its binary has registered; it stays as long as the binary.
    pub(crate) fn of_variable(name: &CStr) -> Name {
        Name(NonNull::from(name).cast())
    }

    /// Where the variable was mapped: file, line and column, when known.
    pub(crate) fn place(self) -> Option<(String, u32, u32)> {
        // SAFETY: as in `fmt` below.
        let text = unsafe { CStr::from_ptr(self.0.as_ptr()) }.to_string_lossy();
        let mut parts = text.strip_prefix(';')?.split(';');
        let (_, file) = in_order(parts.next()?, parts.next()?);
        let file = Some(file).filter(|it| !it.is_empty() && *it != "unknown")?;
        let line = parts.next()?.parse().ok()?;
        let column = parts.next().and_then(|it| it.parse().ok()).unwrap_or(0);
        Some((file.to_owned(), line, column))
    }

    /// As programs pass it on.
    pub(crate) fn as_ptr(self) -> *mut c_void {
        self.0.as_ptr().cast()
    }
}

/// A name and its file, told apart by the ending of a file of Fortran's. No name in Fortran has a dot.
fn in_order<'a>(first: &'a str, second: &'a str) -> (&'a str, &'a str) {
    const ENDINGS: [&str; 8] = ["f", "for", "ftn", "f77", "f90", "f95", "f03", "f08"];
    let ending = first.rsplit_once('.').map(|it| it.1.to_ascii_lowercase());
    let is_file = ending.is_some_and(|it| ENDINGS.contains(&it.as_str()));
    if is_file && !second.is_empty() && !second.contains('.') {
        (second, first)
    } else {
        (first, second)
    }
}

/// As the user wrote it: `a[0:n]`.
impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // SAFETY: ended by a zero byte, by the promise given to `MapArgs::new`; tables forget names
        // when the binary that holds them goes.
        let text = unsafe { CStr::from_ptr(self.0.as_ptr()) }.to_string_lossy();
        let mut parts = text.strip_prefix(';').unwrap_or(&text).split(';');
        let (name, _) = in_order(parts.next().unwrap_or(&text), parts.next().unwrap_or_default());
        f.write_str(if name.is_empty() { "unknown" } else { name })
    }
}

/// Everything that a place says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Described {
    pub(crate) file: String,
    pub(crate) function: String,
    pub(crate) line: u32,
    /// Which directive stands there: an [`abi::call::Directive`], or that of a routine.
    pub(crate) construct: i32,
    /// The last line of the construct, and the first and last of the function; 0 if not known.
    pub(crate) lines: [u32; 3],
}

/// Where in the source a call stands; empty if nobody knows.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Place(Option<NonNull<Ident>>);

// SAFETY: points to a constant that nobody writes.
unsafe impl Send for Place {}
// SAFETY: as above.
unsafe impl Sync for Place {}

impl Place {
    /// Nobody knows.
    pub(crate) const NONE: Place = Place(None);

    /// # Safety
    /// Null, or an [`Ident`] whose text is null or ends with a zero byte, for the whole call.
    pub(crate) unsafe fn new(ident: *const Ident) -> Place {
        Place(NonNull::new(ident.cast_mut()))
    }

    /// All that is known.
    pub(crate) fn described(&self) -> Option<Described> {
        // SAFETY: the promise of `new`.
        let text = unsafe { self.0?.as_ref().text };
        if text.is_null() {
            return None;
        }
        // SAFETY: as above.
        let text = unsafe { CStr::from_ptr(text) }.to_string_lossy();
        let mut parts = text.strip_prefix(';')?.split(';');
        let mut word = || parts.next().unwrap_or_default().to_owned();
        let (file, function) = (word(), word());
        let line = word().parse().ok()?;
        let _column = word();
        let _end = word();
        let construct = word().parse().unwrap_or(abi::call::Directive::Parallel as i32);
        let lines = [word(), word(), word()].map(|it| it.parse().unwrap_or(0));
        // A routine that is called by hand: the file is not known.
        let file = if line == 0 { String::new() } else { file };
        Some(Described { file, function, line, construct, lines })
    }

    /// The file, line and column, when known.
    pub(crate) fn parts(&self) -> Option<(String, u32, u32)> {
        // SAFETY: the promise of `new`.
        let text = unsafe { self.0?.as_ref().text };
        if text.is_null() {
            return None;
        }
        // SAFETY: as above.
        let text = unsafe { CStr::from_ptr(text) }.to_string_lossy();
        let mut parts = text.strip_prefix(';')?.split(';');
        let file = parts.next().filter(|it| !it.is_empty() && *it != "unknown")?;
        let line = parts.nth(1)?.parse().ok()?;
        let column = parts.next().and_then(|it| it.parse().ok()).unwrap_or(0);
        Some((file.to_owned(), line, column))
    }
}

/// `a.c:12:3`, or `unknown place`
impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.parts() {
            // A routine of the library, which knows its own name only.
            Some((routine, 0, _)) => f.write_str(&routine),
            Some((file, line, 0)) => write!(f, "{file}:{line}"),
            Some((file, line, column)) => write!(f, "{file}:{line}:{column}"),
            None => f.write_str("unknown place"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_both_compilers_are_read() {
        for (text, name, file) in [
            (c";a[0:n];main.cpp;1;12;;", "a[0:n]", "main.cpp"),
            (c";s.f;main.cpp;1;12;;", "s.f", "main.cpp"),
            (c";/home/me/nm.f90;aa(5:20);1;12;;", "aa(5:20)", "/home/me/nm.f90"),
            (c";OLD.F;k;1;12;;", "k", "OLD.F"),
        ] {
            let read = Name::of_variable(text);
            assert_eq!(read.to_string(), name);
            assert_eq!(read.place(), Some((file.to_owned(), 1, 12)));
        }
        // Of Ferry's own tables: a name alone.
        assert_eq!(Name::of_variable(c"table").to_string(), "table");
        assert_eq!(Name::of_variable(c"table").place(), None);
    }
}
