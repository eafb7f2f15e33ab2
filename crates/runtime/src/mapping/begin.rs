//! Entering: every entry of a call gets its place on the device.
//!
//! Entries come in the order the compiler gave them. A member is not counted (its parent is), a
//! pointee is, and it is attached: the device's pointer is made to point to it.

use abi::{MapType, POINTER_SIZE};
use device::{DeviceError, DevicePtr, Original};

use crate::args::{Item, MapArgs};
use crate::error::{Error, Section};
use crate::llvm;
use crate::llvm_info::{self, Change};
use crate::mapping::attach::Counting;
use crate::mapping::transfer;
use crate::mapping::{Cx, attach, components, counter};
use crate::piece::Piece;
use crate::ranges::early::Lead;
use crate::table::{Fit, Mapped};
use crate::tool;

/// Where something that was asked for lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Placed {
    /// At this address of the device.
    Device(DevicePtr),
    /// Used in place, by its host address.
    InPlace,
    /// Nowhere: no bytes were asked for, and none of them is mapped.
    Absent,
}

/// Maps all entries. `in_mapper`: they are what a mapper pushed, so the first is not counted.
pub(crate) fn begin(cx: &Cx<'_>, args: &MapArgs, in_mapper: bool) -> Result<(), Error> {
    for (index, mut item) in args.items() {
        if item.is_unmapped() {
            continue;
        }
        args.check_size(index, &item)?;
        if let Some(mapper) = item.mapper {
            components::expand(cx, mapper, &item, |parts| begin(cx, parts, true))?;
            continue;
        }
        if item.map.has(MapType::PTR_AND_OBJ | MapType::UNCOUNTED) {
            attach::attach_pointee(cx, item.base)?;
            continue;
        }
        // Of an array that is there in part, and that no clause names, nothing more is mapped.
        if is_of_partial(cx, args, &item) {
            item.map |= MapType::OPTIONAL;
        }
        let is_first_of_mapper = in_mapper && index == 0;
        let mut update =
            item.map.parent().is_none() && !is_first_of_mapper && !item.map.has(MapType::UNCOUNTED);
        let pointer = item.base;
        if item.map.has(MapType::PTR_AND_OBJ) {
            let map = item.map.without(MapType::TO | MapType::ALWAYS);
            let size = POINTER_SIZE;
            let slot = Item { begin: pointer, size, map, ..item };
            if !item.map.has(MapType::ATTACH) {
                acquire(cx, &slot, 0, update)?;
            }
            item.base = transfer::pointer(cx, pointer)?;
            update = !is_first_of_mapper;
        }
        let placed = acquire(cx, &item, padding(args, index, &item), update)?;
        let before = item.begin.wrapping_sub(item.base) as u64;
        let base = match placed {
            Placed::Device(at) => at.0.wrapping_sub(before),
            // What is not mapped keeps its value; LLVM's runtime makes it null.
            Placed::Absent if item.map.has(MapType::RETURN_PARAM) && llvm::is_program() => {
                cx.watch.without_counterpart(cx.device.number, item.name);
                0u64.wrapping_sub(before)
            }
            Placed::InPlace | Placed::Absent => item.base as u64,
        };
        if item.map.has(MapType::RETURN_PARAM) {
            cx.device.make_known()?;
            args.set_base(index, base);
        }
        let is_attached = item.map.has(MapType::PTR_AND_OBJ)
            && (!item.map.has(MapType::ATTACH) || is_mapped(cx, pointer));
        let comes_late = item.map.has(MapType::ATTACH) && !item.map.has(MapType::DETACH);
        if comes_late && matches!(placed, Placed::Device(_)) {
            remember(cx, pointer, &item, DevicePtr(base));
        }
        if is_attached && matches!(placed, Placed::Device(_)) {
            let counting = match item.map.has(MapType::DETACH) {
                true => Counting::Each,
                false => Counting::Once,
            };
            attach::attach(cx, pointer, DevicePtr(base), counting)?;
        }
    }
    Ok(())
}

/// Whether an entry is part of one that no clause names and of which only some is mapped.
fn is_of_partial(cx: &Cx<'_>, args: &MapArgs, item: &Item) -> bool {
    let Some(parent) = item.map.parent().filter(|it| *it < args.count) else { return false };
    let parent = args.item(parent);
    parent.map.has(MapType::IMPLICIT)
        && cx
            .device
            .mapping
            .look_up(parent.begin, parent.size)
            .1
            .is_some_and(|it| it.fit == Fit::Partial)
}

/// The pointer may be mapped later than its data.
fn remember(cx: &Cx<'_>, pointer: usize, item: &Item, device: DevicePtr) {
    let mapping = &cx.device.mapping;
    if cx.device.shares_memory {
        return;
    }
    if let Some(found) = mapping.look_up(item.begin, item.size).1 {
        mapping.early.add(pointer, Lead { host: item.base, device, data: found.key });
    }
}

/// Attaches the pointers of a new range whose data came before.
fn attach_early(cx: &Cx<'_>, begin: usize, size: usize) -> Result<(), Error> {
    for (pointer, lead) in cx.device.mapping.early.within(begin, size) {
        if transfer::pointer(cx, pointer)? == lead.host {
            attach::attach(cx, pointer, lead.device, Counting::Once)?;
        }
    }
    Ok(())
}

/// Whether the pointer at that host address is on the device.
fn is_mapped(cx: &Cx<'_>, pointer: usize) -> bool {
    cx.device.mapping.look_up(pointer, POINTER_SIZE).1.is_some_and(|it| it.fit != Fit::Partial)
}

/// Bytes to leave free before a structure of which only the tail is mapped, so that its members
/// are aligned on the device as they are on the host.
fn padding(args: &MapArgs, index: usize, item: &Item) -> usize {
    let is_parent = args.map_type(index + 1).and_then(MapType::parent) == Some(index);
    if item.map.parent().is_some() || !is_parent || item.base == 0 {
        return 0;
    }
    let align = 1usize << item.base.trailing_zeros().min(4);
    item.begin % align
}

/// Finds or makes the place of one entry and copies to it as its type says.
pub(crate) fn acquire(
    cx: &Cx<'_>,
    item: &Item,
    padding: usize,
    update: bool,
) -> Result<Placed, Error> {
    // Behind a null pointer there is nothing.
    if item.begin == 0 {
        return Ok(Placed::Absent);
    }
    let mapping = &cx.device.mapping;
    let (mut table, found) = mapping.look_up(item.begin, item.size);
    let wants_copy = item.map.has(MapType::TO) && item.size > 0;
    if let Some(found) = found {
        let Some(mapped) = table.get_mut(found.key) else { return Ok(Placed::Absent) };
        let wants_all = item.map.has(MapType::EXACT) && !cx.device.shares_memory;
        if found.fit == Fit::Partial && (wants_all || !item.map.has(MapType::IMPLICIT)) {
            return Err(super::overlap(item, mapped));
        }
        if update {
            mapped.acquire(counter(item.map));
        }
        if cx.watch.has_llvm(llvm_info::EXISTING) {
            let change = if update { Change::Incremented } else { Change::Suppressed };
            llvm_info::exists(cx.device.number, item, mapped, counter(item.map), change);
        }
        let is_new = !update && mapped.is_fresh() && !mapped.is_original;
        if wants_copy && (is_new || item.map.has(MapType::ALWAYS)) && !cx.is_in_place(mapped) {
            let piece = shared_part(item, mapped).around(&mapped.attached);
            mapped.busy = true;
            drop(table);
            let copied = transfer::copy_in(cx, &piece);
            mapping.settle(found.key, |_| ());
            copied?;
        }
        return Ok(Placed::Device(found.device));
    }
    if cx.unified && !item.map.has(MapType::CLOSE) && item.size > 0 {
        return Ok(Placed::InPlace);
    }
    let mut known = None;
    if cx.device.is_ancestor {
        drop(table);
        known = original(cx, item)?.filter(|_| item.size > 0);
        let (again, found) = mapping.look_up(item.begin, item.size);
        table = again;
        // Another thread came first while we asked.
        if found.is_some() {
            drop(table);
            return acquire(cx, item, padding, update);
        }
    }
    if item.map.has(MapType::PRESENT) && known.is_none() {
        return Err(Error::NotPresent { what: Section::of(item), is_motion: false });
    }
    let is_own =
        item.map.has(MapType::EXACT) && cx.device.plugin.owns(DevicePtr(item.begin as u64));
    if item.size == 0 || item.map.has(MapType::OPTIONAL) || is_own {
        return Ok(Placed::Absent);
    }
    let mut mapped = Mapped::new(item.base, item.begin, item.size, counter(item.map));
    mapped.name = item.name;
    if let Some(known) = known {
        let device = DevicePtr(known.address);
        mapped.is_original = true;
        mapped.device = device;
        mapped.busy = item.map.has(MapType::ALWAYS) && wants_copy;
        let is_copied = mapped.busy;
        table.insert(mapped);
        drop(table);
        if is_copied {
            let (host, name) = (item.begin, item.name);
            let piece = Piece { host, device, size: item.size, name, skip: Vec::new() };
            let copied = transfer::copy_in(cx, &piece);
            mapping.settle(item.begin, |_| ());
            copied?;
        }
        return Ok(Placed::Device(device));
    }
    // What is to begin as zeros must not end the host's values: it gets storage of its own.
    let moves_away = cx.device.shares_memory && item.map.has(MapType::ZERO);
    if cx.device.shares_memory && !moves_away {
        mapped.device = DevicePtr(item.begin as u64);
        table.insert(mapped);
        return Ok(Placed::Device(DevicePtr(item.begin as u64)));
    }
    mapped.busy = true;
    if let Some(later) = cx.later {
        later.makes(&mut mapped);
    }
    table.insert(mapped);
    drop(table);
    let made = make(cx, item, padding, wants_copy);
    match made {
        Ok((owned, device)) => {
            mapping.settle(item.begin, |mapped| {
                mapped.owned = owned;
                mapped.device = device;
            });
            if moves_away {
                mapping.moved_away();
            }
            attach_early(cx, item.begin, item.size)?;
            Ok(Placed::Device(device))
        }
        Err(error) => {
            mapping.drop_busy(item.begin);
            Err(error)
        }
    }
}

/// What the device has of an entry by itself: only the host does, for data that it had mapped.
pub(crate) fn original(cx: &Cx<'_>, item: &Item) -> Result<Option<Original>, Error> {
    let found = cx.device.plugin.original(item.begin, item.size).map_err(|error| {
        Error::device("looking for the host's version", Section::of(item), error)
    })?;
    match found {
        Some(found) if !found.is_whole && !item.map.has(MapType::IMPLICIT) => {
            let mapped = Section { name: None, at: item.begin, size: 0 };
            Err(Error::Overlap { what: Section::of(item), mapped, is_required: false })
        }
        found => Ok(found),
    }
}

/// The part of an entry that the table holds: an implicit entry may reach beyond.
pub(crate) fn shared_part(item: &Item, mapped: &Mapped) -> Piece {
    let host = item.begin.max(mapped.begin);
    let end = item.begin.saturating_add(item.size).min(mapped.end);
    let device = mapped.translate(host);
    Piece { host, device, size: end.saturating_sub(host), name: item.name, skip: Vec::new() }
}

/// Allocates and fills; on failure nothing is left behind.
fn make(
    cx: &Cx<'_>,
    item: &Item,
    padding: usize,
    wants_copy: bool,
) -> Result<(DevicePtr, DevicePtr), Error> {
    let failed =
        |error: DeviceError| Error::device("allocating device memory", Section::of(item), error);
    // Data that are well aligned on the host are so on the device, within reason.
    let align = 1usize << item.begin.trailing_zeros().clamp(4, 7);
    let bytes = padding.saturating_add(item.size);
    let (owned, device) = match cx.device.mapping.rooms.find(item.begin, item.size) {
        Some(room) => (DevicePtr::NULL, room),
        None => {
            let owned = transfer::alloc(cx, item.begin, bytes, align).map_err(failed)?;
            (owned, owned.offset(padding))
        }
    };
    if cx.watch.has_llvm(llvm_info::CHANGES) || cx.watch.has_profiler() {
        let mapped = Mapped::new(item.base, item.begin, item.size, counter(item.map));
        let made = Mapped { owned, device, name: item.name, ..mapped };
        tool::created(cx.watch, &made);
        if cx.watch.has_llvm(llvm_info::CHANGES) {
            llvm_info::created(cx.device.number, &made);
        }
    }
    let filled = if wants_copy {
        let (host, name) = (item.begin, item.name);
        let piece = Piece { host, device, size: item.size, name, skip: Vec::new() };
        transfer::copy_in(cx, &piece)
    } else if item.map.has(MapType::ZERO) {
        let what = Section::of(item);
        transfer::clear(cx, owned, bytes)
            .map_err(|error| Error::device("clearing device memory", what, error))
    } else {
        Ok(())
    };
    if let Err(error) = filled {
        let _ = transfer::free(cx, owned, bytes, None);
        return Err(error);
    }
    Ok((owned, device))
}

impl Cx<'_> {
    /// The range is the host's own memory: copying would move it onto itself.
    pub(crate) fn is_in_place(&self, mapped: &Mapped) -> bool {
        self.device.shares_memory && mapped.device.0 == mapped.begin as u64
    }
}
