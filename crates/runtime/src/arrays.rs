//! The arrays of a call, copied: the call is made when those of its caller may be gone.
//!
//! What is passed by value is copied along; names and places are constants of the program and need no copies.
#![allow(unsafe_code, reason = "copies of the program's data")]

use std::ffi::c_void;

use abi::{Dimension, MapType};

use crate::args::MapArgs;

/// The arrays of a call, copied.
#[derive(Debug, Default)]
pub(crate) struct Arrays {
    count: usize,
    bases: Vec<usize>,
    begins: Vec<usize>,
    sizes: Vec<i64>,
    types: Vec<i64>,
    names: Vec<usize>,
    mappers: Vec<usize>,
    /// What is passed by value, and descriptors: entries point into it.
    _bytes: Vec<Box<[u128]>>,
}

impl Arrays {
    pub(crate) fn new(args: &MapArgs) -> Arrays {
        let mut to = Arrays { count: args.count, ..Arrays::default() };
        for (_, item) in args.items() {
            let (mut base, mut begin) = (item.base, item.begin);
            let is_value =
                item.map.has(MapType::PRIVATE | MapType::TO) && !item.map.has(MapType::LITERAL);
            let size = match item.map.has(MapType::NON_CONTIG) {
                true => item.size * size_of::<Dimension>(),
                false if is_value => item.size,
                false => 0,
            };
            if size > 0 && begin != 0 {
                let copy = copied(begin, size);
                let at = copy.1;
                if is_value {
                    base = at.wrapping_add(base.wrapping_sub(begin));
                }
                begin = at;
                to._bytes.push(copy.0);
            }
            to.bases.push(base);
            to.begins.push(begin);
            to.sizes.push(item.size as i64);
            to.types.push(item.map.0 as i64);
            to.names.push(item.name.map_or(0, |it| it.as_ptr() as usize));
            to.mappers.push(item.mapper.map_or(0, |it| it as usize));
        }
        to
    }

    pub(crate) fn args(&mut self) -> MapArgs {
        let pointers = |it: &mut Vec<usize>| it.as_mut_ptr().cast::<*mut c_void>();
        MapArgs {
            count: self.count,
            bases: pointers(&mut self.bases),
            begins: pointers(&mut self.begins),
            sizes: self.sizes.as_mut_ptr(),
            types: self.types.as_mut_ptr(),
            names: pointers(&mut self.names),
            mappers: pointers(&mut self.mappers),
        }
    }
}

/// Bytes of the program in memory of our own, aligned as they were as far as kernels may rely on it,
/// and where they begin there.
fn copied(from: usize, size: usize) -> (Box<[u128]>, usize) {
    /// Private copies are aligned to this at most, see `launch`.
    const ALIGN: usize = 128;
    let mut copy = vec![0u128; (size + ALIGN).div_ceil(16)].into_boxed_slice();
    let at = copy.as_ptr() as usize;
    // The same distance from the next boundary.
    let shift = (from.wrapping_sub(at)) % ALIGN;
    // SAFETY: the program says that its data lie there; the copy has room for them behind `shift`.
    unsafe {
        let to = copy.as_mut_ptr().cast::<u8>().add(shift);
        std::ptr::copy_nonoverlapping(from as *const u8, to, size);
    }
    (copy, at + shift)
}
