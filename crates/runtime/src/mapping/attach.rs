//! Pointers whose copy on the device is made to point to device data.
//!
//! Each is attached so and so often; when it was detached as often, the device's copy holds the
//! host's value again and is copied like all other bytes. Pointers in memory that both sides share
//! are left alone: there they are right already.

use std::sync::MutexGuard;

use abi::POINTER_SIZE;
use device::DevicePtr;

use crate::error::Error;
use crate::mapping::Cx;
use crate::mapping::transfer;
use crate::piece::Piece;
use crate::ranges::Found;
use crate::table::{Attached, Fit, Table};

/// What it means to attach a pointer that points to the right data already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Counting {
    /// Nothing: it is attached or not.
    Once,
    /// It must be detached once more.
    Each,
}

/// Makes the device's copy of the pointer at host address `pointer` point to `value`; nothing happens
/// if it has no copy.
pub(crate) fn attach(
    cx: &Cx<'_>,
    pointer: usize,
    value: DevicePtr,
    counting: Counting,
) -> Result<(), Error> {
    let Some((mut table, found)) = look_up(cx, pointer) else { return Ok(()) };
    let Some(mapped) = table.get_mut(found.key) else { return Ok(()) };
    if let Some(attached) = mapped.attached.get_mut(&pointer)
        && attached.value == value
    {
        if counting == Counting::Each {
            attached.count = attached.count.saturating_add(1);
        }
        return Ok(());
    }
    mapped.attached.insert(pointer, Attached { value, count: 1 });
    write(cx, table, &found, pointer, value)
}

/// Attaches the pointer at host address `pointer` to the device's copy of what it points to, once
/// more. Nothing happens if one of both is not on the device; a null pointer becomes null there.
pub(crate) fn attach_pointee(cx: &Cx<'_>, pointer: usize) -> Result<(), Error> {
    let target = transfer::pointer(cx, pointer)?;
    if target == 0 {
        return forget(cx, pointer, |_| true);
    }
    let found = cx.device.mapping.look_up(target, 0).1;
    match found {
        Some(found) => attach(cx, pointer, found.device, Counting::Each),
        None => Ok(()),
    }
}

/// Undoes one attachment, or all of them (`finalize`): the device's copy gets the host's value when
/// none is left. Nothing happens to a pointer that is not attached.
pub(crate) fn detach(cx: &Cx<'_>, pointer: usize, finalize: bool) -> Result<(), Error> {
    forget(cx, pointer, |attached| {
        let Some(attached) = attached else { return false };
        attached.count = if finalize { 0 } else { attached.count.saturating_sub(1) };
        attached.count == 0
    })
}

/// If `agrees`, the device's copy of a pointer gets the host's value, and is not attached any more.
fn forget(
    cx: &Cx<'_>,
    pointer: usize,
    agrees: impl FnOnce(Option<&mut Attached>) -> bool,
) -> Result<(), Error> {
    let Some((mut table, found)) = look_up(cx, pointer) else { return Ok(()) };
    let Some(mapped) = table.get_mut(found.key) else { return Ok(()) };
    if !agrees(mapped.attached.get_mut(&pointer)) {
        return Ok(());
    }
    mapped.attached.remove(&pointer);
    let value = DevicePtr(transfer::pointer(cx, pointer)? as u64);
    write(cx, table, &found, pointer, value)
}

/// The range of a pointer that the device has a copy of.
fn look_up<'a>(cx: &Cx<'a>, pointer: usize) -> Option<(MutexGuard<'a, Table>, Found)> {
    let (mut table, found) = cx.device.mapping.look_up(pointer, POINTER_SIZE);
    let found = found.filter(|it| it.fit == Fit::Contained)?;
    // The pointer is the host's own, or the device's: it points to where its owner wants it.
    let mapped = table.get_mut(found.key)?;
    if cx.is_in_place(mapped) || mapped.is_original {
        return None;
    }
    Some((table, found))
}

/// Writes the device's copy of a pointer, with its range busy.
fn write(
    cx: &Cx<'_>,
    mut table: MutexGuard<'_, Table>,
    found: &Found,
    pointer: usize,
    value: DevicePtr,
) -> Result<(), Error> {
    let Some(mapped) = table.get_mut(found.key) else { return Ok(()) };
    mapped.busy = true;
    let (host, device, name) = (pointer, found.device, mapped.name);
    drop(table);
    let slot = Piece { host, device, size: POINTER_SIZE, name, skip: Vec::new() };
    let written = transfer::write_pointer(cx, &slot, value);
    cx.device.mapping.settle(found.key, |_| ());
    written
}
