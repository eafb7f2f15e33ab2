//! What a user-defined mapper pushes: the entries that stand for one object.
//!
//! A mapper is a function of the compiled program. It gets a handle and calls back, through the two
//! entry points at the end of [`crate::ffi::data`], once per component; then the same walk goes over
//! the components. No lock is held while it runs.
#![allow(unsafe_code, reason = "mappers are functions of the program and call back by handle")]

use std::ffi::c_void;
use std::ptr;

use abi::call::MapperFn;

use crate::args::{Item, MapArgs, Name};
use crate::error::Error;

/// The list behind a handle.
#[derive(Debug, Default)]
pub(crate) struct Components {
    bases: Vec<*mut c_void>,
    begins: Vec<*mut c_void>,
    sizes: Vec<i64>,
    types: Vec<i64>,
    names: Vec<*mut c_void>,
}

impl Components {
    pub(crate) fn push(&mut self, [base, begin, name]: [*mut c_void; 3], size: i64, map_type: i64) {
        self.bases.push(base);
        self.begins.push(begin);
        self.sizes.push(size);
        self.types.push(map_type);
        self.names.push(name);
    }

    pub(crate) fn len(&self) -> usize {
        self.bases.len()
    }
}

/// Lets the mapper push the components of `item`, then walks over them.
pub(crate) fn expand(
    mapper: MapperFn,
    item: &Item,
    walk: impl FnOnce(&MapArgs) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut parts = Components::default();
    let handle = (&raw mut parts).cast::<c_void>();
    let (base, begin) = (item.base as *mut c_void, item.begin as *mut c_void);
    let size = i64::try_from(item.size).unwrap_or(i64::MAX);
    let name = item.name.map_or(ptr::null_mut(), Name::as_ptr);
    // SAFETY: a mapper of the program, called as its contract says; the handle lives until it
    // returns, and nothing else touches the list meanwhile.
    unsafe { mapper(handle, base, begin, size, item.map.0 as i64, name) };
    let args = MapArgs {
        count: parts.len(),
        bases: parts.bases.as_mut_ptr(),
        begins: parts.begins.as_mut_ptr(),
        sizes: parts.sizes.as_mut_ptr(),
        types: parts.types.as_mut_ptr(),
        names: parts.names.as_mut_ptr(),
        mappers: ptr::null_mut(),
    };
    walk(&args)
}
