//! Pointers whose copy on the device points to device data.

use std::ffi::{c_int, c_void};

use super::queues::staged;
use super::{current, place, routine};
use crate::account::Account;
use crate::args::{MapArgs, Place};
use crate::devices::Target;
use crate::error::Error;
use crate::mapping::attach;

/// What is done to a pointer.
#[derive(Clone, Copy)]
enum Change {
    Attach,
    Detach,
    DetachAll,
}

/// Changes the pointer at that host address, now or on a queue.
fn change(
    place: Place,
    pointer: *mut *mut c_void,
    change: Change,
    queue: c_int,
) -> Result<(), Error> {
    if pointer.is_null() {
        return Ok(());
    }
    let Target::Device(device) = current()? else { return Ok(()) };
    let pointer = pointer as usize;
    staged(place, device, queue, &MapArgs::NONE, |cx, _| {
        match change {
            Change::Attach => attach::attach_pointee(cx, pointer),
            Change::Detach => attach::detach(cx, pointer, false),
            Change::DetachAll => attach::detach(cx, pointer, true),
        }?;
        Ok(Account::NONE)
    })
}

/// The two spellings of one change.
macro_rules! changes {
    ($($what:expr, $now:ident, $later:ident;)*) => {$(
        /// Changes the device's copy of a pointer.
        #[unsafe(no_mangle)]
        pub extern "C" fn $now(pointer: *mut *mut c_void) {
            let place = place!($now);
            routine(place, || change(place, pointer, $what, super::queues::SYNC));
        }

        /// The same, on a queue.
        #[unsafe(no_mangle)]
        pub extern "C" fn $later(pointer: *mut *mut c_void, queue: c_int) {
            let place = place!($later);
            routine(place, || change(place, pointer, $what, queue));
        }
    )*};
}

changes! {
    Change::Attach, acc_attach, acc_attach_async;
    Change::Detach, acc_detach, acc_detach_async;
    Change::DetachAll, acc_detach_finalize, acc_detach_finalize_async;
}
