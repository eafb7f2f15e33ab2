//! Regions whose iterations host and devices share.

use std::ffi::c_void;

use abi::{Ident, KernelArgs, Split};

use crate::args::{MapArgs, Place};
use crate::coexecute::{self, Parts};
use crate::ending;
use crate::error::Error;
use crate::guard::guard;
use crate::nowait::deferred;
use crate::prepared::Shape;

/// Runs a region on the host and on devices together, or on one device where that is not possible or takes longer.
///
/// # Safety
/// As of `__tgt_target_kernel`; the split is valid during the call, and its lists have as many elements as it says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __ferry_coexecute(
    location: *const Ident,
    device: i64,
    region: *const c_void,
    arguments: *const KernelArgs,
    split: *const Split,
) {
    // SAFETY: the caller's promise.
    let (place, call, split) =
        unsafe { (Place::new(location), arguments.as_ref(), split.as_ref()) };
    // SAFETY: as above.
    let on_one = || unsafe {
        super::kernel::__tgt_target_kernel(location, device, 0, 0, region, arguments);
    };
    // What waits in a queue is run when its turn comes, by whoever runs the queue.
    let Some(split) = split.filter(|_| !deferred::is_on()) else { return on_one() };
    let _inside = ending::enter();
    guard(&place, true, || {
        let call = call.ok_or(Error::BadCall("a region without arguments"))?;
        // SAFETY: as above.
        let args = unsafe {
            MapArgs::new(
                i64::from(call.count),
                [call.bases, call.begins],
                [call.sizes, call.types],
                [call.names, call.mappers],
            )
        };
        let args = args.ok_or(Error::BadCall("a map array is null, misaligned or too long"))?;
        let shape = Shape {
            version: call.version,
            teams: 0,
            limit: 0,
            trip_count: call.trip_count,
            group_memory: call.group_memory,
        };
        // SAFETY: as above.
        let (sums, windows) =
            unsafe { (list(split.sums, split.sum_count), list(split.windows, split.window_count)) };
        let entry = |it: i32| {
            let entry = usize::try_from(it).ok().filter(|it| *it < args.count);
            entry.ok_or(Error::BadCall("an entry of a co-executed region that is not there"))
        };
        let parts = Parts {
            trips: u64::try_from(split.trips).unwrap_or(0),
            begin: split.begin,
            step: split.step,
            behind: split.behind,
            ends: [entry(split.begin_entry)?, entry(split.bound_entry)?],
            sums,
            join: split.join,
            windows,
            window: split.window,
        };
        coexecute::run(place, device, region as usize, &args, &shape, &parts)
    });
}

/// # Safety
/// Null, or so many elements.
unsafe fn list<'a>(at: *const i32, count: i32) -> &'a [i32] {
    let count = usize::try_from(count).unwrap_or(0);
    if at.is_null() || count == 0 {
        return &[];
    }
    // SAFETY: the caller's promise.
    unsafe { std::slice::from_raw_parts(at, count) }
}
