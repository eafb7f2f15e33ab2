//! What a construct maps, as tools are told: all of its entries at once.
//!
//! That is told when the entries have got their places, or before they lose them; what is then allocated and
//! copied are operations of their own. Entries of mappers are told as what they are parts of.

use std::ffi::{c_uint, c_void};

use abi::MapType;

use super::{CURRENT, Event, Place, caller, typed};
use crate::args::{Item, MapArgs};
use crate::watch::Watch;

/// Which end of the life of data on the device it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    Begin,
    End,
}

type List = *mut *mut c_void;
type MapFn = unsafe extern "C" fn(u64, c_uint, List, List, *mut usize, *mut c_uint, Place);
type MapEmiFn = unsafe extern "C" fn(*mut u64, c_uint, List, List, *mut usize, *mut c_uint, Place);

/// What the standard's bits say of a map type, and the bits.
const BITS: [(MapType, c_uint); 7] = [
    (MapType::TO, 0x1),
    (MapType::FROM, 0x2),
    (MapType::DELETE, 0x10),
    (MapType::IMPLICIT, 0x20),
    (MapType::ALWAYS, 0x40),
    (MapType::PRESENT, 0x80),
    (MapType::CLOSE, 0x100),
];
/// Nothing is copied at the begin.
const ALLOC: c_uint = 0x4;
/// Nothing is copied at the end.
const RELEASE: c_uint = 0x8;
/// Both sides use the same memory.
const SHARED: c_uint = 0x200;

fn bits(map: MapType, phase: Phase, is_shared: bool) -> c_uint {
    let said = BITS.iter().filter(|(bit, _)| map.has(*bit)).map(|(_, bit)| bit);
    let plain = match phase {
        Phase::Begin => ALLOC,
        Phase::End => RELEASE,
    };
    let moves = map.has_any(MapType::TO | MapType::FROM | MapType::DELETE);
    let plain = if moves { 0 } else { plain };
    said.fold(plain, |all, bit| all | bit) | if is_shared { SHARED } else { 0 }
}

/// Tells the tool what a construct maps; `place_of` is where an entry lies on the device, 0 for nowhere.
pub(crate) fn mapped(watch: Watch, args: &MapArgs, phase: Phase, place_of: impl Fn(&Item) -> u64) {
    if !watch.has_tool() {
        return;
    }
    // SAFETY: the types are the standard's.
    let (old, new) =
        unsafe { (typed::<MapFn>(Event::TargetMap), typed::<MapEmiFn>(Event::TargetMapEmi)) };
    if old.is_none() && new.is_none() {
        return;
    }
    let (mut hosts, mut devices) = (Vec::new(), Vec::new());
    let (mut sizes, mut flags) = (Vec::new(), Vec::new());
    for (_, item) in args.items().filter(|(_, it)| !it.is_unmapped() && it.begin != 0) {
        let device = place_of(&item);
        hosts.push(item.begin as *mut c_void);
        devices.push(device as *mut c_void);
        sizes.push(item.size);
        flags.push(bits(item.map, phase, device == item.begin as u64));
    }
    if hosts.is_empty() {
        return;
    }
    let current = CURRENT.get();
    let mut own = 0u64;
    let data = if current.data.is_null() { &raw mut own } else { current.data };
    let code = if current.code == 0 { caller() } else { current.code } as Place;
    let count = hosts.len() as c_uint;
    let (hosts, devices) = (hosts.as_mut_ptr(), devices.as_mut_ptr());
    let (sizes, flags) = (sizes.as_mut_ptr(), flags.as_mut_ptr());
    // SAFETY: as above; the lists have so many elements and live during the call.
    unsafe {
        if let Some(call) = new {
            call(data, count, hosts, devices, sizes, flags, code);
        } else if let Some(call) = old {
            call(current.id, count, hosts, devices, sizes, flags, code);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(map: MapType, phase: Phase, expect: c_uint) {
        assert_eq!(bits(map, phase, false), expect, "{map:?}");
    }

    #[test]
    fn flags_are_the_standards() {
        check(MapType::TO | MapType::FROM, Phase::Begin, 0x3);
        check(MapType::ALLOC, Phase::Begin, 0x4);
        check(MapType::ALLOC, Phase::End, 0x8);
        check(MapType::DELETE, Phase::End, 0x10);
        check(MapType::TO | MapType::IMPLICIT | MapType::ALWAYS, Phase::Begin, 0x61);
        assert_eq!(bits(MapType::ALLOC, Phase::Begin, true), 0x204);
    }
}
