//! Leaving: entries are released in reverse order, copied back when the last reference goes.
//!
//! Members come before their parent, see its count still at one, and so copy back what is theirs.

use abi::{MapType, POINTER_SIZE};
use smallvec::SmallVec;

use crate::args::{Item, MapArgs};
use crate::error::{Error, Section};
use crate::graph::Ticket;
use crate::llvm_info::{self, Change};
use crate::mapping::begin::shared_part;
use crate::mapping::{Cx, attach, components, counter, transfer};
use crate::table::{Fit, Mapped};
use crate::{queue, tool};

/// Ranges that have left the table; most calls remove few.
type Removed = SmallVec<[Mapped; 4]>;

/// Releases all entries. Memory is given back when all copies are made.
pub(crate) fn end(cx: &Cx<'_>, args: &MapArgs) -> Result<(), Error> {
    let mut removed = Removed::new();
    let released = release_all(cx, args, false, &mut removed);
    for range in removed.drain(..) {
        cx.device.mapping.early.forget(range.begin);
        if cx.device.shares_memory {
            cx.device.mapping.left(&range);
        }
        if cx.watch.has_llvm(llvm_info::CHANGES) {
            llvm_info::removed(cx.device.number, &range);
        }
        if !cx.is_in_place(&range) {
            tool::deleted(cx.watch, &range);
        }
        if cx.later.is_none() && !range.uses.is_empty() {
            queue::wait_for(&range.uses.iter().map(|it| it.1).collect::<Vec<_>>());
        }
        transfer::free(cx, range.owned, range.size(), range.name)?;
    }
    released
}

/// `in_mapper` as in [`super::begin::begin`].
fn release_all(
    cx: &Cx<'_>,
    args: &MapArgs,
    in_mapper: bool,
    removed: &mut Removed,
) -> Result<(), Error> {
    for (index, item) in args.items().rev() {
        if item.is_unmapped() {
            continue;
        }
        args.check_size(index, &item)?;
        let Some(item) = as_entered(cx, item) else { continue };
        if let Some(mapper) = item.mapper {
            components::expand(cx, mapper, &item, |parts| release_all(cx, parts, true, removed))?;
            continue;
        }
        if item.map.has(MapType::PTR_AND_OBJ | MapType::UNCOUNTED) {
            attach::detach(cx, item.base, item.map.has(MapType::DELETE))?;
            continue;
        }
        if item.map.has(MapType::PTR_AND_OBJ | MapType::DETACH) && is_held(cx, &item) {
            attach::detach(cx, item.base, false)?;
        }
        removed.extend(release(cx, &item, in_mapper && index == 0)?);
    }
    Ok(())
}

/// What an entry without a length stands for: the data that its pointer leads to, or else that pointer.
fn as_entered(cx: &Cx<'_>, item: Item) -> Option<Item> {
    if !item.map.has(MapType::OBJECT) {
        return Some(item);
    }
    let mapping = &cx.device.mapping;
    if item.begin != 0 {
        let (mut table, found) = mapping.look_up(item.begin, 0);
        if let Some(data) = found.and_then(|it| table.get_mut(it.key)) {
            let size = data.end.saturating_sub(data.begin);
            return Some(Item { begin: data.begin, size, ..item });
        }
    }
    let map = item.map.without(MapType::OBJECT | MapType::PTR_AND_OBJ);
    let pointer = Item { begin: item.base, size: POINTER_SIZE, map, ..item };
    let (_table, found) = mapping.look_up(pointer.begin, pointer.size);
    found.filter(|it| it.fit == Fit::Contained).map(|_| pointer)
}

/// Whether the entry's own count holds its data: if not, its end is of no effect.
fn is_held(cx: &Cx<'_>, item: &Item) -> bool {
    let (mut table, found) = cx.device.mapping.look_up(item.begin, item.size);
    let mapped = found.and_then(|it| table.get_mut(it.key));
    mapped.is_some_and(|it| it.count(counter(item.map)) > 0)
}

/// Releases one entry, and answers the range that is mapped no more.
fn release(cx: &Cx<'_>, item: &Item, is_first_of_mapper: bool) -> Result<Option<Mapped>, Error> {
    let mapping = &cx.device.mapping;
    let is_member = item.map.parent().is_some() && !item.map.has(MapType::PTR_AND_OBJ);
    let update = !is_member && !is_first_of_mapper && !item.map.has(MapType::UNCOUNTED);
    if item.begin == 0 {
        return Ok(None);
    }
    let (mut table, found) = mapping.look_up(item.begin, item.size);
    let is_implicit = item.map.has(MapType::IMPLICIT);
    if let Some(found) = found.filter(|it| it.fit == Fit::Partial && !is_implicit)
        && item.map.has(MapType::WHOLE)
        && let Some(mapped) = table.get_mut(found.key)
    {
        return Err(super::overlap(item, mapped));
    }
    let found = found.filter(|it| it.fit == Fit::Contained || is_implicit);
    let mapped = found.and_then(|it| table.get_mut(it.key));
    let Some(mapped) = mapped else {
        let is_error = item.map.has(MapType::PRESENT) && !(cx.unified && item.size > 0);
        return match is_error {
            true => Err(Error::NotPresent { what: Section::of(item), is_motion: false }),
            false => Ok(None),
        };
    };
    let is_last = mapped.release(counter(item.map), item.map.has(MapType::DELETE), update);
    if cx.watch.has_llvm(llvm_info::EXISTING) {
        let change = match (update, item.map.has(MapType::DELETE)) {
            (false, _) => Change::Suppressed,
            (true, true) => Change::Reset,
            (true, false) => Change::Decremented,
        };
        llvm_info::exists(cx.device.number, item, mapped, counter(item.map), change);
    }
    let key = mapped.begin;
    let wants_copy = item.map.has(MapType::FROM)
        && (item.map.has(MapType::ALWAYS) || (is_last && !mapped.is_original))
        && item.size > 0
        && !cx.is_in_place(mapped);
    let leaves = !is_member && mapped.is_unreferenced();
    if let Some(later) = cx.later {
        match leaves {
            true => later.removed(mapped),
            false => later.uses(mapped),
        }
    }
    // A kernel that may still use the data must be done before anybody else can take them away, or before all that
    // comes later.
    let wants_wait = !wants_copy && cx.stream.is_some_and(|it| !it.is_idle() && !it.is_left());
    if wants_copy || wants_wait {
        let piece = shared_part(item, mapped).around(&mapped.attached);
        // What a queue still does with the data is done before they are copied.
        let uses: Vec<Ticket> = match cx.later {
            Some(_) => Vec::new(),
            None => mapped.uses.iter().map(|it| it.1).collect(),
        };
        mapped.busy = true;
        drop(table);
        queue::wait_for(&uses);
        let copied = match wants_copy {
            true => transfer::copy_out(cx, &piece),
            false => cx.wait_unless_left().map_err(|error| Error::Device {
                doing: "waiting for the region",
                what: None,
                error,
            }),
        };
        if let Err(error) = copied {
            mapping.settle(key, |_| ());
            return Err(error);
        }
        if !leaves {
            mapping.settle(key, |_| ());
            return Ok(None);
        }
        // Still busy, so nobody has taken a reference meanwhile.
        return Ok(mapping.drop_busy(key));
    }
    let removed = if leaves { table.remove(key) } else { None };
    // Where memory is shared there is nothing to give back, and mostly nobody to tell.
    let matters = !cx.device.shares_memory || cx.watch.has_llvm(llvm_info::CHANGES);
    Ok(removed.filter(|_| matters))
}
