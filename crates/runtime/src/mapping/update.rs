//! Updating: data that are mapped are copied one way or the other; counts stay.
//!
//! What is not mapped, or not wholly, is left alone, unless the program says that it must be there; it
//! may also say that it must be there wholly or not at all. Where it names no length, what was mapped is
//! moved as a whole.

use abi::{Dimension, MapType};

use crate::args::{Item, MapArgs};
use crate::error::{Error, Section};
use crate::mapping::begin::shared_part;
use crate::mapping::strided;
use crate::mapping::{Cx, components, transfer};
use crate::table::Fit;

/// Copies all entries as their types say.
pub(crate) fn update(cx: &Cx<'_>, args: &MapArgs) -> Result<(), Error> {
    for (index, item) in args.items() {
        args.check_size(index, &item)?;
        let is_null = item.map.has(MapType::OBJECT) && item.begin == 0;
        if item.is_unmapped() || is_null {
            continue;
        }
        if let Some(mapper) = item.mapper {
            components::expand(cx, mapper, &item, |parts| update(cx, parts))?;
        } else if item.map.has(MapType::NON_CONTIG) {
            let dimensions = dimensions(&item);
            strided::check(dimensions, item.name)?;
            for (offset, size) in strided::runs(dimensions) {
                let begin = item.base.wrapping_add(offset);
                move_contiguous(cx, &Item { begin, size, ..item })?;
            }
        } else {
            move_contiguous(cx, &item)?;
        }
    }
    Ok(())
}

fn move_contiguous(cx: &Cx<'_>, item: &Item) -> Result<(), Error> {
    let mapping = &cx.device.mapping;
    let (mut table, found) = mapping.look_up(item.begin, item.size);
    if let Some(found) = found.filter(|it| it.fit == Fit::Partial)
        && item.map.has(MapType::WHOLE)
        && let Some(mapped) = table.get_mut(found.key)
    {
        return Err(super::overlap(item, mapped));
    }
    let found = found.filter(|it| it.fit == Fit::Contained);
    let Some(mapped) = found.and_then(|it| table.get_mut(it.key)) else {
        let is_error = item.map.has(MapType::PRESENT) && !(cx.unified && item.size > 0);
        return match is_error {
            true => Err(Error::NotPresent { what: Section::of(item), is_motion: true }),
            false => Ok(()),
        };
    };
    let all = Item { begin: mapped.begin, size: mapped.end.saturating_sub(mapped.begin), ..*item };
    let item = if item.map.has(MapType::OBJECT) { &all } else { item };
    let moves = item.map.has_any(MapType::TO | MapType::FROM) && item.size > 0;
    if cx.is_in_place(mapped) || !moves {
        return Ok(());
    }
    let piece = shared_part(item, mapped).around(&mapped.attached);
    let key = mapped.begin;
    if let Some(later) = cx.later {
        later.uses(mapped);
    }
    mapped.busy = true;
    drop(table);
    let mut moved = Ok(());
    if item.map.has(MapType::TO) {
        moved = transfer::copy_in(cx, &piece);
    }
    if item.map.has(MapType::FROM) && moved.is_ok() {
        moved = transfer::copy_out(cx, &piece);
    }
    mapping.settle(key, |_| ());
    moved
}

/// The dimensions that the begin of a strided entry points to; its size is their number.
#[allow(unsafe_code, reason = "an array of the caller's")]
fn dimensions(item: &Item) -> &[Dimension] {
    let at = item.begin as *const Dimension;
    if at.is_null() || !at.is_aligned() || item.size > 64 {
        return &[];
    }
    // SAFETY: by the meaning of the type bit, so many dimensions stand there during the call.
    unsafe { std::slice::from_raw_parts(at, item.size) }
}
