//! Regions: the one entry point that runs code.

use std::ffi::{c_int, c_void};

use abi::{Ident, KernelArgs};

use crate::args::{MapArgs, Place};
use crate::directives::{self, DONE};
use crate::ending;
use crate::error::Error;
use crate::guard::guard;
use crate::nowait::deferred::{self, Call};
use crate::prepared::Shape;

/// Runs a region. The answer is 0 when it has run; otherwise the caller runs the host's version.
/// Regions of ours always have run: the host's version is known here too.
///
/// # Safety
/// `arguments` and its arrays are valid during the call, the location is null or valid, and
/// what is mapped is the program's own.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tgt_target_kernel(
    location: *const Ident,
    device: i64,
    teams: i32,
    limit: i32,
    region: *const c_void,
    arguments: *const KernelArgs,
) -> c_int {
    // SAFETY: the caller's promise.
    let (place, call) = unsafe { (Place::new(location), arguments.as_ref()) };
    let _inside = ending::enter();
    guard(&place, true, || {
        let call = call.ok_or(Error::BadCall("a region without arguments"))?;
        let [lists, numbers, texts] = [
            [call.bases, call.begins],
            [call.sizes.cast(), call.types.cast()],
            [call.names, call.mappers],
        ];
        // SAFETY: the caller's promise.
        let args = unsafe {
            let numbers = [numbers[0].cast(), numbers[1].cast()];
            MapArgs::new(i64::from(call.count), lists, numbers, texts)
        };
        let args = args.ok_or(Error::BadCall("a map array is null, misaligned or too long"))?;
        let shape = Shape {
            version: call.version,
            teams: if teams < 0 { 1 } else { teams as u32 },
            limit: limit.max(0) as u32,
            trip_count: call.trip_count,
            group_memory: call.group_memory,
        };
        if deferred::is_on() {
            args.check()?;
            let call = Call::Kernel { region: region as usize, shape };
            deferred::keep(call, place, device, &args)?;
            return Ok(DONE);
        }
        directives::run_region(place, device, region as usize, &args, &shape)
    })
}
