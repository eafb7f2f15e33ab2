//! Mappings that the program makes itself: host data get device memory that it has allocated.

use std::ffi::{c_int, c_void};

use ::device::DevicePtr;

use super::device;
use crate::devices::{Target, all};
use crate::error::Error;
use crate::guard::answer;
use crate::table::{INFINITE, Mapped};
use crate::tool::{self, DataOp, Operation};
use crate::watch::Watch;
use crate::{llvm, report};

const OK: c_int = 0;
const REFUSED: c_int = 22;

/// Maps `size` bytes at `host` to the memory at `at` plus `offset`, for good; the same again is no
/// error.
#[unsafe(no_mangle)]
pub extern "C" fn omp_target_associate_ptr(
    host: *const c_void,
    at: *const c_void,
    size: usize,
    offset: usize,
    number: c_int,
) -> c_int {
    answer("omp_target_associate_ptr", REFUSED, || {
        if host.is_null() || at.is_null() || size == 0 {
            return Err(Error::BadCall("associating nothing, or with nothing"));
        }
        let Target::Device(device) = device(number)? else {
            return Err(Error::BadCall("associating with memory of the host"));
        };
        device.make_known()?;
        let at = DevicePtr(at as u64).offset(offset);
        let mapped = Mapped::permanent(host as usize, size, at);
        let op = DataOp {
            operation: Operation::Associate,
            from: (host as u64, all().len()),
            to: (at.0, device.number),
            bytes: size,
            name: None,
        };
        let add = || device.mapping.add_permanent(mapped);
        if tool::operation(Watch::now(), op, |_| None, add) {
            return Ok(OK);
        }
        let is_same = device
            .mapping
            .at(host as usize)
            .is_some_and(|it| it.device == at && it.size() == size && it.dynamic == INFINITE);
        match is_same {
            true => Ok(OK),
            false => Err(Error::BadCall("associating what is mapped already, to other memory")),
        }
    })
}

/// Ends such a mapping.
#[unsafe(no_mangle)]
pub extern "C" fn omp_target_disassociate_ptr(host: *const c_void, number: c_int) -> c_int {
    answer("omp_target_disassociate_ptr", REFUSED, || {
        if host.is_null() {
            return Err(Error::BadCall("disassociating a null pointer"));
        }
        let Target::Device(device) = device(number)? else {
            return Err(Error::BadCall("disassociating from memory of the host"));
        };
        let mut is_held = false;
        let op = DataOp {
            operation: Operation::Disassociate,
            from: (host as u64, all().len()),
            to: (0, device.number),
            bytes: 0,
            name: None,
        };
        let remove = || {
            device.mapping.remove_if(host as usize, |it| {
                is_held = it.hold > 0;
                it.hold == 0 && it.dynamic == INFINITE
            })
        };
        let removed = tool::operation(Watch::now(), op, |_| None, remove);
        if is_held && llvm::is_program() {
            report::raw(llvm::HELD_POINTER);
            return Ok(REFUSED);
        }
        match (removed, is_held) {
            (Some(_), _) => Ok(OK),
            (None, true) => {
                Err(Error::BadCall("disassociating a pointer that a region still holds"))
            }
            (None, false) => Err(Error::BadCall("disassociating what is not associated")),
        }
    })
}
