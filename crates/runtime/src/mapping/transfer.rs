//! Copies between the host and one device, reported where somebody watches.
//!
//! Attached pointers are never copied: the device's copy of such a pointer holds a device address
//! and the host's a host address, and each keeps its own. So a copy goes around them, piece by piece.
#![allow(unsafe_code, reason = "addresses of both memories")]

use abi::POINTER_SIZE;
use device::{DeviceError, DevicePtr, MemoryKind};

use crate::args::Name;
use crate::error::{Error, Section};
use crate::mapping::Cx;
use crate::piece::Piece;
use crate::queue;
use crate::roster::host_number;
use crate::steps::Step;
use crate::tool::{self, DataOp, Operation};
use crate::watch::Direction;

/// Copies to the device. The caller has made the range busy, so nobody else copies to or from it.
pub(crate) fn copy_in(cx: &Cx<'_>, piece: &Piece) -> Result<(), Error> {
    // SAFETY: the program says that these bytes are its own (it maps them), and the table says that the
    // device has room for them there.
    runs_in(cx, piece, |to, from, len| unsafe {
        match cx.stream {
            Some(stream) => stream.copy_in(to, from, len),
            None => cx.device.plugin.copy_in(to, from, len),
        }
    })
}

/// The same to memory that only this call knows.
pub(crate) fn copy_in_own(cx: &Cx<'_>, piece: &Piece) -> Result<(), Error> {
    // SAFETY: as above.
    runs_in(cx, piece, |to, from, len| unsafe {
        match cx.stream {
            Some(stream) => stream.copy_in_own(to, from, len),
            None => cx.device.plugin.copy_in(to, from, len),
        }
    })
}

fn runs_in(
    cx: &Cx<'_>,
    piece: &Piece,
    copy: impl Fn(DevicePtr, *const u8, usize) -> Result<(), DeviceError>,
) -> Result<(), Error> {
    if let Some(later) = cx.later {
        later.put(Step::CopyIn(piece.clone()));
        return Ok(());
    }
    let timer = cx.watch.start();
    let op = DataOp {
        operation: Operation::ToDevice,
        from: (piece.host as u64, host_number()),
        to: (piece.device.0, cx.device.number),
        bytes: piece.size,
        name: piece.name,
    };
    let copies = || {
        for (offset, len) in piece.runs() {
            let (to, from) = (piece.device.offset(offset), piece.host.wrapping_add(offset));
            copy(to, from as *const u8, len)
                .map_err(|error| Error::device("copying to the device", piece.section(), error))?;
        }
        Ok(())
    };
    tool::operation(cx.watch, op, |_| None, copies)?;
    cx.watch.transfer(timer, (cx.device.number, cx.place), Direction::In, piece);
    Ok(())
}

/// Copies to the host; otherwise as [`copy_in`].
pub(crate) fn copy_out(cx: &Cx<'_>, piece: &Piece) -> Result<(), Error> {
    if let Some(later) = cx.later {
        later.put(Step::CopyOut(piece.clone()));
        return Ok(());
    }
    let timer = cx.watch.start();
    let op = DataOp {
        operation: Operation::FromDevice,
        from: (piece.device.0, cx.device.number),
        to: (piece.host as u64, host_number()),
        bytes: piece.size,
        name: piece.name,
    };
    tool::operation(cx.watch, op, |_| None, || runs_out(cx, piece))?;
    cx.watch.transfer(timer, (cx.device.number, cx.place), Direction::Out, piece);
    Ok(())
}

fn runs_out(cx: &Cx<'_>, piece: &Piece) -> Result<(), Error> {
    for (offset, len) in piece.runs() {
        let (to, from) = (piece.host.wrapping_add(offset), piece.device.offset(offset));
        // SAFETY: as in `copy_in`.
        let copied = unsafe {
            match cx.stream {
                Some(stream) => stream.copy_out(to as *mut u8, from, len),
                None => cx.device.plugin.copy_out(to as *mut u8, from, len),
            }
        };
        copied.map_err(|error| Error::device("copying from the device", piece.section(), error))?;
    }
    Ok(())
}

/// Writes one pointer on the device, at the place of `slot`.
pub(crate) fn write_pointer(cx: &Cx<'_>, slot: &Piece, value: DevicePtr) -> Result<(), Error> {
    if let Some(later) = cx.later {
        later.put(Step::Point(slot.clone(), value));
        return Ok(());
    }
    let timer = cx.watch.start();
    let bytes = value.0.to_ne_bytes();
    let op = DataOp {
        operation: Operation::ToDevice,
        from: (slot.host as u64, host_number()),
        to: (slot.device.0, cx.device.number),
        bytes: bytes.len(),
        name: slot.name,
    };
    // SAFETY: the table says that a pointer lies there; the bytes are ours. Where data are mapped from elsewhere the
    // memory of the device is this process's.
    let write = || unsafe {
        if cx.device.maps_from_elsewhere {
            (slot.device.0 as *mut u64).write_unaligned(value.0);
            return Ok(());
        }
        match cx.stream {
            Some(stream) => stream.copy_in(slot.device, bytes.as_ptr(), bytes.len()),
            None => cx.device.plugin.copy_in(slot.device, bytes.as_ptr(), bytes.len()),
        }
    };
    tool::operation(cx.watch, op, |_| None, write)
        .map_err(|error| Error::device("attaching a pointer", slot.section(), error))?;
    cx.watch.transfer(timer, (cx.device.number, cx.place), Direction::In, slot);
    Ok(())
}

/// Memory of the device for data of the host at `begin`.
pub(crate) fn alloc(
    cx: &Cx<'_>,
    begin: usize,
    bytes: usize,
    align: usize,
) -> Result<DevicePtr, DeviceError> {
    let op = DataOp {
        operation: Operation::Alloc,
        from: (begin as u64, host_number()),
        to: (0, cx.device.number),
        bytes,
        name: None,
    };
    let at = |made: &Result<DevicePtr, DeviceError>| made.as_ref().ok().map(|it| it.0);
    let alloc = || cx.device.plugin.alloc(bytes, align, MemoryKind::Device);
    tool::operation(cx.watch, op, at, || match alloc() {
        // Queues may have memory to give back. Their work never waits for this thread.
        Err(DeviceError::OutOfMemory { .. }) => {
            match cx.later {
                Some(later) => queue::wait_for(&later.before),
                None => queue::wait_for(&queue::pending(cx.device.number)),
            }
            alloc()
        }
        made => made,
    })
}

/// Fills new device memory with zeros.
pub(crate) fn clear(cx: &Cx<'_>, at: DevicePtr, bytes: usize) -> Result<(), DeviceError> {
    if let Some(later) = cx.later {
        later.put(Step::Clear(at, bytes));
        return Ok(());
    }
    // SAFETY: the caller has just allocated it.
    unsafe {
        match cx.stream {
            Some(stream) => stream.fill(at, 0, bytes),
            None => cx.device.plugin.fill(at, 0, bytes),
        }
    }
}

/// Gives device memory back that a range owned.
pub(crate) fn free(
    cx: &Cx<'_>,
    owned: DevicePtr,
    bytes: usize,
    name: Option<Name>,
) -> Result<(), Error> {
    if owned.is_null() {
        return Ok(());
    }
    if let Some(later) = cx.later {
        later.put(Step::Free(owned, bytes, name));
        return Ok(());
    }
    let op = DataOp {
        operation: Operation::Delete,
        from: (owned.0, cx.device.number),
        to: (0, host_number()),
        bytes,
        name: None,
    };
    // A kernel in the stream may still use it. SAFETY: it came from this device's `alloc`, and the range that
    // owned it is out of the table.
    let free = || cx.wait_unless_left().and_then(|()| unsafe { cx.device.plugin.free(owned) });
    tool::operation(cx.watch, op, |_| None, free).map_err(|error| Error::Device {
        doing: "freeing device memory",
        what: name.map(|it| {
            let name = Some(it.to_string());
            Section { name, at: owned.0 as usize, size: bytes }
        }),
        error,
    })
}

/// Reads a pointer of the program that maps: the host's, or that of another machine.
pub(crate) fn pointer(cx: &Cx<'_>, at: usize) -> Result<usize, Error> {
    if !cx.device.maps_from_elsewhere || at == 0 {
        return Ok(host_pointer(at));
    }
    let mut value = 0usize;
    let to = DevicePtr(std::ptr::from_mut(&mut value) as u64);
    // SAFETY: the plugin's memory is this process's: a place for one pointer.
    let read = unsafe { cx.device.plugin.copy_in(to, at as *const u8, POINTER_SIZE) };
    let error = |error| Error::Device { doing: "reading a pointer", what: None, error };
    read.map(|()| value).map_err(error)
}

/// Reads a pointer of the host program.
///
/// An address that cannot be a pointer's (null, odd) reads as null.
pub(crate) fn host_pointer(at: usize) -> usize {
    if at == 0 {
        return 0;
    }
    // SAFETY: the compiled program says that a pointer lies there. Members of packed structures
    // need not be aligned.
    unsafe { (at as *const usize).read_unaligned() }
}
