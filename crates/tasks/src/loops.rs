//! `forasync`: a loop of one to three dimensions as tasks of a tile each, or as halves that are halved again.
#![allow(unsafe_code, reason = "calls functions of the program, with arguments behind the loop")]

use std::ffi::{c_char, c_int, c_void};
use std::mem;
use std::ptr;

use crate::ffi::make;
use crate::hardware::Body;
use crate::report;

/// One dimension: from `low` to below `high`, in steps, with so many iterations for a task.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Domain {
    /// The first iteration.
    pub low: c_int,
    /// The end.
    pub high: c_int,
    /// From one iteration to the next.
    pub stride: c_int,
    /// Iterations of a task.
    pub tile: c_int,
}

/// A part of a loop; the user's arguments lie behind it.
#[repr(C, align(16))]
#[derive(Clone, Copy)]
struct Part {
    kernel: usize,
    place: *const c_char,
    size: usize,
    dimensions: u32,
    is_chunked: u32,
    domain: [Domain; 3],
}

impl Domain {
    /// How many iterations there are.
    fn iterations(&self) -> i64 {
        let (low, high, stride) =
            (i64::from(self.low), i64::from(self.high), i64::from(self.stride));
        if high <= low { 0 } else { (high - low + stride - 1) / stride }
    }

    /// How many tiles.
    fn tiles(&self) -> i64 {
        let tile = i64::from(self.tile);
        (self.iterations() + tile - 1) / tile
    }

    /// The first so many tiles, and the rest.
    fn split(&self, tiles: i64) -> (Self, Self) {
        let middle = i64::from(self.low) + tiles * i64::from(self.tile) * i64::from(self.stride);
        // There are more tiles, so it is below `high`.
        let middle = middle as c_int;
        (Self { high: middle, ..*self }, Self { low: middle, ..*self })
    }

    fn values(self) -> impl Iterator<Item = c_int> + Clone {
        let low = i64::from(self.low);
        (0..self.iterations()).map(move |it| (low + it * i64::from(self.stride)) as c_int)
    }
}

/// Starts a loop.
///
/// # Safety
/// So many bytes can be read at the arguments; the kernel takes them, and as many numbers as there are dimensions.
pub(crate) unsafe fn start(
    kernel: usize,
    (arguments, size): (*const c_void, usize),
    domains: &[Domain],
    is_chunked: bool,
    width: usize,
    place: *const c_char,
) {
    let mut domain = [Domain { low: 0, high: 1, stride: 1, tile: 1 }; 3];
    for (to, from) in domain.iter_mut().zip(domains) {
        if from.stride <= 0 {
            report::fail(
                &format!("{}: `forasync` with a stride of {}", report::place(place), from.stride),
                "a loop counts upwards: its stride is 1 or more",
            );
        }
        *to = *from;
        if from.tile <= 0 {
            // Enough tasks for all workers, with some to spare.
            to.tile =
                (to.iterations() / (8 * width as i64)).clamp(1, i64::from(c_int::MAX)) as c_int;
        }
    }
    if domain.iter().any(|it| it.iterations() == 0) {
        return;
    }
    let dimensions = domains.len() as u32;
    let part = Part { kernel, place, size, dimensions, is_chunked: is_chunked.into(), domain };
    // SAFETY: the caller's promise.
    unsafe { spawn(&part, arguments) };
}

/// Makes a task of a part.
///
/// # Safety
/// As [`start`].
unsafe fn spawn(part: &Part, arguments: *const c_void) {
    let head = size_of::<Part>();
    let mut short = [mem::MaybeUninit::<Part>::uninit(); 4];
    let bytes = head + part.size;
    let mut long = Vec::<mem::MaybeUninit<Part>>::new();
    let room = if bytes <= size_of_val(&short) {
        short.as_mut_ptr()
    } else {
        long.reserve(bytes.div_ceil(head));
        long.as_mut_ptr()
    };
    // SAFETY: there is room for the part and for the arguments behind it; the caller's promise.
    unsafe {
        room.cast::<Part>().write(*part);
        ptr::copy_nonoverlapping(arguments.cast::<u8>(), room.cast::<u8>().add(head), part.size);
        make(run as Body, room.cast(), bytes, part.place, false);
    }
}

/// A task of a loop: gives parts away until a tile is left, and runs that.
unsafe extern "C" fn run(task: *mut c_void) {
    // SAFETY: the arguments of `spawn`.
    unsafe {
        let mut part = task.cast::<Part>().read();
        let arguments = task.cast::<u8>().add(size_of::<Part>()).cast::<c_void>();
        loop {
            let tiles = part.domain.map(|it| it.tiles());
            let largest = (0..3).max_by_key(|it| tiles.get(*it).copied()).unwrap_or(0);
            let Some(domain) = part.domain.get_mut(largest) else { return };
            let tiles = domain.tiles();
            if tiles <= 1 {
                break;
            }
            let half = if part.is_chunked != 0 { 1 } else { tiles / 2 };
            let (first, rest) = domain.split(half);
            if part.is_chunked != 0 {
                // This task hands out tile after tile.
                *domain = first;
                spawn(&part, arguments);
                if let Some(domain) = part.domain.get_mut(largest) {
                    *domain = rest;
                }
            } else {
                *domain = rest;
                spawn(&part, arguments);
                if let Some(domain) = part.domain.get_mut(largest) {
                    *domain = first;
                }
            }
        }
        tile(&part, arguments);
    }
}

/// Runs a tile.
///
/// # Safety
/// The kernel takes these arguments, and as many numbers as there are dimensions.
unsafe fn tile(part: &Part, arguments: *mut c_void) {
    type One = unsafe extern "C" fn(*mut c_void, c_int);
    type Two = unsafe extern "C" fn(*mut c_void, c_int, c_int);
    type Three = unsafe extern "C" fn(*mut c_void, c_int, c_int, c_int);
    let [first, second, third] = part.domain;
    // SAFETY: the caller's promise.
    unsafe {
        match part.dimensions {
            1 => {
                let kernel = mem::transmute::<usize, One>(part.kernel);
                first.values().for_each(|i| kernel(arguments, i));
            }
            2 => {
                let kernel = mem::transmute::<usize, Two>(part.kernel);
                first.values().for_each(|i| second.values().for_each(|j| kernel(arguments, i, j)));
            }
            _ => {
                let kernel = mem::transmute::<usize, Three>(part.kernel);
                first.values().for_each(|i| {
                    second
                        .values()
                        .for_each(|j| third.values().for_each(|k| kernel(arguments, i, j, k)));
                });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(domain: Domain, iterations: i64, tiles: i64) {
        assert_eq!((domain.iterations(), domain.tiles()), (iterations, tiles));
        let mut rest = domain;
        let mut seen = Vec::new();
        while rest.tiles() > 1 {
            let (first, more) = rest.split(1);
            assert_eq!(first.tiles(), 1);
            seen.extend(first.values());
            rest = more;
        }
        seen.extend(rest.values());
        assert_eq!(seen, domain.values().collect::<Vec<_>>(), "{domain:?}");
    }

    #[test]
    fn tiles_are_all_iterations_once_in_order() {
        let domain = |low, high, stride, tile| Domain { low, high, stride, tile };
        check(domain(0, 100, 1, 32), 100, 4);
        check(domain(-7, 20, 3, 2), 9, 5);
        check(domain(5, 5, 1, 1), 0, 0);
        check(domain(9, 5, 1, 1), 0, 0);
        check(domain(c_int::MAX - 5, c_int::MAX, 4, 1), 2, 2);
        check(domain(c_int::MIN, c_int::MIN + 3, 1, 100), 3, 1);
    }
}
