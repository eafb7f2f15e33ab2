//! What a user-defined mapper pushes: the entries that stand for one object.
//!
//! A mapper is a function of the compiled program. It gets a handle and calls back, through the two
//! entry points at the end of [`crate::ffi::data`], once per component; then the same walk goes over
//! the components. No lock is held while it runs.
#![allow(unsafe_code, reason = "mappers are functions of the program and call back by handle")]

use std::ffi::c_void;
use std::ptr;

use abi::MapType;
use abi::call::MapperFn;

use crate::args::{Item, MapArgs, Name};
use crate::error::Error;
use crate::mapping::Cx;

/// One component.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct Component {
    pub(crate) base: *mut c_void,
    pub(crate) begin: *mut c_void,
    pub(crate) size: i64,
    pub(crate) map_type: i64,
    pub(crate) name: *mut c_void,
}

impl Component {
    /// Whether `next` follows in the same array, to be mapped in the same way.
    fn is_before(&self, next: &Component) -> bool {
        let end = (self.begin as usize).checked_add_signed(self.size as isize);
        MapType(self.map_type as u64).has(MapType::PTR_AND_OBJ)
            && (self.base, self.map_type) == (next.base, next.map_type)
            && self.size > 0
            && end == Some(next.begin as usize)
    }
}

/// The list behind a handle: begin, end and end of the room, in memory of the C library.
///
/// That is the layout LLVM's runtime has, and one of its tests makes a handle by itself.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Components {
    begin: *mut Component,
    end: *mut Component,
    room: *mut Component,
}

impl Components {
    fn new() -> Components {
        Components { begin: ptr::null_mut(), end: ptr::null_mut(), room: ptr::null_mut() }
    }

    pub(crate) fn push(&mut self, component: Component) {
        // Elements one by one (an iterator) lie on the device side by side, as what they are.
        if let Some(last) = self.last_mut().filter(|it| it.is_before(&component)) {
            last.size = last.size.saturating_add(component.size);
            return;
        }
        if self.end == self.room {
            self.grow();
        }
        // SAFETY: there is room for one more.
        unsafe {
            self.end.write(component);
            self.end = self.end.add(1);
        }
    }

    fn last_mut(&mut self) -> Option<&mut Component> {
        if self.begin == self.end {
            return None;
        }
        // SAFETY: all elements before the end were written.
        unsafe { self.end.sub(1).as_mut() }
    }

    fn grow(&mut self) {
        let len = self.len();
        let room = (len * 2).max(8);
        let layout = std::alloc::Layout::array::<Component>(room);
        let bytes = layout.map_or(usize::MAX, |it| it.size());
        // SAFETY: null or memory of the C library; what is moved are plain values.
        let begin = unsafe { libc::realloc(self.begin.cast(), bytes) }.cast::<Component>();
        if begin.is_null() {
            // As everywhere in Rust when memory for a list runs out.
            std::process::abort();
        }
        // SAFETY: both are within the memory just allocated.
        unsafe { (self.begin, self.end, self.room) = (begin, begin.add(len), begin.add(room)) };
    }

    pub(crate) fn len(&self) -> usize {
        self.as_slice().len()
    }

    fn as_slice(&self) -> &[Component] {
        if self.begin.is_null() {
            return &[];
        }
        // SAFETY: begin and end are of one array, all of whose elements were written.
        unsafe {
            let len = usize::try_from(self.end.offset_from(self.begin)).unwrap_or(0);
            std::slice::from_raw_parts(self.begin, len)
        }
    }
}

impl Drop for Components {
    fn drop(&mut self) {
        // SAFETY: null or memory of the C library, not used again.
        unsafe { libc::free(self.begin.cast()) };
    }
}

/// Lets the mapper push the components of `item`, then walks over them.
pub(crate) fn expand(
    cx: &Cx<'_>,
    mapper: MapperFn,
    item: &Item,
    walk: impl FnOnce(&MapArgs) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut parts = Components::new();
    let handle = (&raw mut parts).cast::<c_void>();
    let (base, begin) = (item.base as *mut c_void, item.begin as *mut c_void);
    let size = i64::try_from(item.size).unwrap_or(i64::MAX);
    let name = item.name.map_or(ptr::null_mut(), Name::as_ptr);
    if cx.device.maps_from_elsewhere {
        let entry = [item.base as u64, item.begin as u64, size as u64, item.map.0];
        let pushed = cx.device.plugin.components(mapper as usize as u64, entry);
        let error = |error| Error::Device { doing: "asking a mapper", what: None, error };
        for [base, begin, size, map_type] in pushed.map_err(error)? {
            let (base, begin) = (base as *mut c_void, begin as *mut c_void);
            let (size, map_type) = (size as i64, map_type as i64);
            parts.push(Component { base, begin, size, map_type, name: ptr::null_mut() });
        }
    } else {
        // SAFETY: a mapper of the program, called as its contract says; the handle lives until it
        // returns, and nothing else touches the list meanwhile.
        unsafe { mapper(handle, base, begin, size, item.map.0 as i64, name) };
    }
    let parts = parts.as_slice();
    let list = |part: fn(&Component) -> *mut c_void| parts.iter().map(part).collect::<Vec<_>>();
    let number = |part: fn(&Component) -> i64| parts.iter().map(part).collect::<Vec<_>>();
    let (mut bases, mut begins) = (list(|it| it.base), list(|it| it.begin));
    let (mut sizes, mut types) = (number(|it| it.size), number(|it| it.map_type));
    let mut names = list(|it| it.name);
    let parts = MapArgs {
        count: parts.len(),
        bases: bases.as_mut_ptr(),
        begins: begins.as_mut_ptr(),
        sizes: sizes.as_mut_ptr(),
        types: types.as_mut_ptr(),
        names: names.as_mut_ptr(),
        mappers: ptr::null_mut(),
    };
    parts.check()?;
    walk(&parts)
}
