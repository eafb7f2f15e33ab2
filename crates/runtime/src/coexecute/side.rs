//! The side of one device: its copy of the data, its sums, and its parts of the loop.
#![allow(unsafe_code, reason = "copies data of the program, calls functions of it")]

use std::ffi::c_void;
use std::time::Instant;

use abi::MapType;
use device::DevicePtr;

use super::deal::Deal;
use super::{Arrays, Call};
use crate::args::Item;
use crate::directives::{self, Walk};
use crate::error::Error;
use crate::mapping::{Cx, transfer};
use crate::piece::Piece;
use crate::prepared::Shape;

/// What the host had of entries that it gets back and of which it is not known what iterations touch.
pub(crate) struct Kept {
    entries: Vec<(usize, Vec<u8>)>,
    /// Of which entries it is known, and which number their windows have.
    windows: Vec<(usize, usize)>,
}

impl Kept {
    /// Copies what is there when the region begins.
    pub(crate) fn of(call: &Call<'_>) -> Kept {
        let windows = windows(call);
        let is_kept = |index: usize, item: &Item| {
            !item.is_unmapped()
                && item.size > 0
                && item.map.has(MapType::FROM)
                && !call.parts.is_sum(index)
                && !windows.iter().any(|it| it.0 == index)
        };
        let copied = |(index, item): (usize, Item)| {
            // SAFETY: the program maps these bytes from there, so they are its own.
            let bytes = unsafe { std::slice::from_raw_parts(item.begin as *const u8, item.size) };
            (index, bytes.to_vec())
        };
        let entries = call.args.items().filter(|it| is_kept(it.0, &it.1)).map(copied).collect();
        Kept { entries, windows }
    }
}

/// Entries of which it is known what iterations touch, and which number that has.
fn windows(call: &Call<'_>) -> Vec<(usize, usize)> {
    // Regions of other threads may find the data on the device, and want all of them.
    if call.has_team {
        return Vec::new();
    }
    let last = call.parts.trips;
    let all = bytes(call, &mut Arrays::of(call.args), 0, last);
    let known = |(number, entry): (usize, &i32)| {
        let entry = usize::try_from(*entry).ok().filter(|it| *it < call.args.count)?;
        let item = call.args.item(entry);
        let [low, high] = *all.get(number)?;
        let is_inside =
            low < high && low >= item.begin && high <= item.begin.checked_add(item.size)?;
        (is_inside && !item.is_unmapped()).then_some((entry, number))
    };
    call.parts.windows.iter().enumerate().filter_map(known).collect()
}

/// The addresses that iterations touch of each array of which that is known.
fn bytes(call: &Call<'_>, arrays: &mut Arrays, first: u64, last: u64) -> Vec<[usize; 2]> {
    let Some(window) = call.parts.window else { return Vec::new() };
    arrays.run_between(call.parts.ends, call.parts.values(first, last));
    let mut found = vec![[0i64; 2]; call.parts.windows.len()];
    // SAFETY: made with the call: it reads values of the call's entries, and writes two numbers for each array.
    unsafe { window(arrays.bases.as_ptr(), found.as_mut_ptr().cast()) };
    let base = |entry: &i32| {
        let base = usize::try_from(*entry).ok().and_then(|it| arrays.bases.get(it));
        base.map_or(0, |it| *it as usize)
    };
    let entries = call.parts.windows.iter().map(base);
    let place = |([low, high], base): ([i64; 2], usize)| match low < high {
        true => [base.wrapping_add(low as usize), base.wrapping_add(high as usize)],
        false => [0, 0],
    };
    found.into_iter().zip(entries).map(place).collect()
}

/// Sums of a device.
pub(crate) struct Sums(Vec<Box<[u128]>>);

impl Sums {
    /// With the values that change nothing.
    pub(crate) fn new(call: &Call<'_>) -> Sums {
        let size = |it: &i32| {
            let entry = usize::try_from(*it).ok().filter(|it| *it < call.args.count);
            entry.map_or(0, |it| call.args.item(it).size)
        };
        let sums = call.parts.sums.iter().map(size);
        let sums = Sums(sums.map(|it| vec![0; it.div_ceil(16)].into_boxed_slice()).collect());
        sums.pass(call, true);
        sums
    }

    /// Has the entries of a call lead to them.
    pub(crate) fn lead(&self, call: &Call<'_>, arrays: &mut Arrays) {
        for (entry, part) in call.parts.sums.iter().zip(&self.0) {
            let Ok(entry) = usize::try_from(*entry) else { continue };
            for list in [&mut arrays.bases, &mut arrays.begins] {
                if let Some(it) = list.get_mut(entry) {
                    *it = part.as_ptr().cast_mut().cast();
                }
            }
        }
    }

    /// Joins them with those of the host.
    pub(crate) fn join(&self, call: &Call<'_>) {
        self.pass(call, false);
    }

    fn pass(&self, call: &Call<'_>, begins: bool) {
        let Some(join) = call.parts.join.filter(|_| !self.0.is_empty()) else { return };
        let original = |it: &i32| {
            let entry = usize::try_from(*it).ok().filter(|it| *it < call.args.count);
            entry.map_or(std::ptr::null_mut(), |it| call.args.item(it).begin as *mut c_void)
        };
        let to: Vec<*mut c_void> = call.parts.sums.iter().map(original).collect();
        let from: Vec<*mut c_void> =
            self.0.iter().map(|it| it.as_ptr().cast_mut().cast()).collect();
        // SAFETY: made with the call, for as many sums of these sizes; a device's sums are nobody else's.
        unsafe { join(to.as_ptr(), from.as_ptr(), i32::from(begins)) };
    }
}

/// Runs parts of the loop on a device until there are none; gives its sums.
pub(crate) fn run(
    call: &Call<'_>,
    cx: &Cx<'_>,
    kept: &Kept,
    deal: &Deal,
    at: usize,
) -> Result<Sums, Error> {
    let began = Instant::now();
    let sums = Sums::new(call);
    if !deal.is_wanted(at) {
        return Ok(sums);
    }
    let mut arrays = Arrays::of(call.args);
    sums.lead(call, &mut arrays);
    let mut data = of_data(call, kept, &mut arrays);
    directives::begin_data(cx, Walk::Begin, &data.args())?.close(cx, call.watch.start());
    for (entry, bytes) in &kept.entries {
        let item = call.args.item(*entry);
        copy(cx, &item, item.begin, item.size, |piece| {
            let piece = Piece { host: bytes.as_ptr() as usize, ..piece };
            transfer::copy_in(cx, &piece)
        })?;
    }
    wait(cx)?;
    let mut spent = began.elapsed();
    while let Some((first, last)) = deal.of_device(at) {
        let began = Instant::now();
        part(call, cx, kept, &mut arrays, (first, last))?;
        deal.did_device(at, last - first, began.elapsed());
    }
    let began = Instant::now();
    for (entry, bytes) in kept.entries.iter().filter(|_| deal.has_worked(at)) {
        let item = call.args.item(*entry);
        let mut now = vec![0u8; item.size];
        copy(cx, &item, item.begin, item.size, |piece| {
            transfer::copy_out(cx, &Piece { host: now.as_mut_ptr() as usize, ..piece })
        })?;
        take_over(&item, bytes, &now);
    }
    directives::begin_data(cx, Walk::End, &data.args())?.close(cx, call.watch.start());
    spent += began.elapsed();
    deal.spent(at, spent);
    Ok(sums)
}

/// Entries whose data the device has while the region runs: copied to it at once are those that are only read, and of which
/// it is not known what iterations touch; and the device's sums.
fn of_data(call: &Call<'_>, kept: &Kept, arrays: &mut Arrays) -> Arrays {
    let mut made = Arrays {
        bases: Vec::new(),
        begins: Vec::new(),
        sizes: Vec::new(),
        types: Vec::new(),
        names: Vec::new(),
    };
    let (sizes, names) = (&arrays.sizes, &arrays.names);
    let rest = sizes.iter().zip(names);
    let places = arrays.bases.iter().zip(&arrays.begins);
    for ((index, item), ((base, begin), (size, name))) in call.args.items().zip(places.zip(rest)) {
        if item.is_unmapped() {
            continue;
        }
        let copies = MapType::TO | MapType::FROM;
        let is_apart = kept.entries.iter().any(|it| it.0 == index)
            || kept.windows.iter().any(|it| it.0 == index);
        let map = if is_apart { item.map.without(copies) } else { item.map };
        made.bases.push(*base);
        made.begins.push(*begin);
        made.sizes.push(*size);
        made.types.push(map.0 as i64);
        made.names.push(*name);
    }
    made
}

/// One part of the loop.
fn part(
    call: &Call<'_>,
    cx: &Cx<'_>,
    kept: &Kept,
    arrays: &mut Arrays,
    (first, last): (u64, u64),
) -> Result<(), Error> {
    let touched = bytes(call, arrays, first, last);
    let pieces = kept.windows.iter().filter_map(|(entry, number)| {
        let [low, high] = *touched.get(*number)?;
        let item = call.args.item(*entry);
        let low = low.max(item.begin);
        let high = high.min(item.begin.saturating_add(item.size));
        (low < high).then_some((item, low, high - low))
    });
    let pieces: Vec<(Item, usize, usize)> = pieces.collect();
    for (item, low, size) in pieces.iter().filter(|it| it.0.map.has(MapType::TO)) {
        copy(cx, item, *low, *size, |piece| transfer::copy_in(cx, &piece))?;
    }
    arrays.run_between(call.parts.ends, call.parts.values(first, last));
    let share = u128::from(call.shape.trip_count) * u128::from(last - first);
    let trip_count = u64::try_from(share / u128::from(call.parts.trips.max(1))).unwrap_or(0);
    let shape = Shape { trip_count, ..*call.shape };
    let timer = call.watch.start();
    directives::begin_region(cx, call.region, &arrays.args(), &shape)?.close(cx, timer);
    wait(cx)?;
    for (item, low, size) in pieces.iter().filter(|it| it.0.map.has(MapType::FROM)) {
        copy(cx, item, *low, *size, |piece| transfer::copy_out(cx, &piece))?;
    }
    Ok(())
}

/// Waits for what the device was asked for: otherwise it is not known how long that takes.
fn wait(cx: &Cx<'_>) -> Result<(), Error> {
    let waited = cx.device.plugin.wait_for_left();
    waited.map_err(|error| Error::Device { doing: "waiting for the region", what: None, error })
}

/// Copies bytes of an entry that the device has.
fn copy(
    cx: &Cx<'_>,
    item: &Item,
    at: usize,
    size: usize,
    go: impl FnOnce(Piece) -> Result<(), Error>,
) -> Result<(), Error> {
    let device = cx.device.mapping.translate(at, size);
    let device: DevicePtr =
        device.ok_or(Error::BadCall("data of a co-executed region are gone from the device"))?;
    go(Piece { host: at, device, size, name: item.name, skip: Vec::new() })
}

/// Gives the host what the device has changed.
fn take_over(item: &Item, before: &[u8], now: &[u8]) {
    let to = item.begin as *mut u8;
    let mut at = 0;
    for (before, now) in before.chunks(64).zip(now.chunks(64)) {
        if before != now {
            for (offset, (before, now)) in before.iter().zip(now).enumerate() {
                if before != now {
                    // SAFETY: the program maps these bytes back; iterations of others do not touch what this device's have
                    // written.
                    unsafe { to.add(at + offset).write(*now) };
                }
            }
        }
        at += before.len();
    }
}
