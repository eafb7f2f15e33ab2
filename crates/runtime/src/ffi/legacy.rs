//! Entry points that today's compilers no longer call, and hooks of LLVM's tools: all thin.

use std::ffi::{c_int, c_void};
use std::ptr::null_mut;

use abi::{Ident, KernelArgs};

use super::EntryPoint;
use super::data::{
    __tgt_target_data_begin_mapper, __tgt_target_data_end_mapper, __tgt_target_data_update_mapper,
};
use super::kernel::__tgt_target_kernel;
use crate::devices;
use crate::guard::guard;
use crate::report;
use crate::watch::Watch;

type List = *mut *mut c_void;

/// A region as versions before 3 of the structure describe it.
///
/// # Safety
/// As [`__tgt_target_kernel`].
#[allow(clippy::too_many_arguments, reason = "the interface's")]
unsafe fn old_kernel(
    location: *const Ident,
    device: i64,
    region: *const c_void,
    count: i32,
    lists: [List; 2],
    numbers: [*mut i64; 2],
    texts: [List; 2],
    teams: i32,
    limit: i32,
) -> c_int {
    let arguments = KernelArgs {
        version: 1,
        count: u32::try_from(count).unwrap_or(0),
        bases: lists[0],
        begins: lists[1],
        sizes: numbers[0],
        types: numbers[1],
        names: texts[0],
        mappers: texts[1],
        trip_count: 0,
        flags: 0,
        teams: [0; 3],
        limit: [0; 3],
        group_memory: 0,
    };
    // SAFETY: the caller's promise; the structure lives during the call.
    unsafe { __tgt_target_kernel(location, device, teams, limit, region, &raw const arguments) }
}

/// One function per old spelling: its parameters, in order, and what it passes on.
macro_rules! old_calls {
    ($($name:ident($($param:ident: $type:ty),*) -> $result:ty = $call:expr;)*) => {$(
        /// An older spelling.
        ///
        /// # Safety
        /// As the entry point it calls.
        #[unsafe(no_mangle)]
        #[allow(clippy::too_many_arguments, reason = "the interface's")]
        pub unsafe extern "C" fn $name($($param: $type),*) -> $result {
            // SAFETY: the caller's promise.
            unsafe { $call }
        }
    )*
        /// Where a tool's user sees a construct.
        pub(super) static ENTRY_POINTS: &[EntryPoint] = &[$(EntryPoint($name as *const ())),*];
    };
}

old_calls! {
    __tgt_target_data_begin(dev: i64, n: i32, b: List, p: List, s: *mut i64, t: *mut i64) -> () =
        __tgt_target_data_begin_mapper(null_mut(), dev, n, b, p, s, t, null_mut(), null_mut());
    __tgt_target_data_end(dev: i64, n: i32, b: List, p: List, s: *mut i64, t: *mut i64) -> () =
        __tgt_target_data_end_mapper(null_mut(), dev, n, b, p, s, t, null_mut(), null_mut());
    __tgt_target_data_update(dev: i64, n: i32, b: List, p: List, s: *mut i64, t: *mut i64) -> () =
        __tgt_target_data_update_mapper(null_mut(), dev, n, b, p, s, t, null_mut(), null_mut());
    __tgt_target_data_begin_nowait(
        dev: i64, n: i32, b: List, p: List, s: *mut i64, t: *mut i64,
        _d: i32, _l: *mut c_void, _u: i32, _m: *mut c_void
    ) -> () = __tgt_target_data_begin(dev, n, b, p, s, t);
    __tgt_target_data_end_nowait(
        dev: i64, n: i32, b: List, p: List, s: *mut i64, t: *mut i64,
        _d: i32, _l: *mut c_void, _u: i32, _m: *mut c_void
    ) -> () = __tgt_target_data_end(dev, n, b, p, s, t);
    __tgt_target_data_update_nowait(
        dev: i64, n: i32, b: List, p: List, s: *mut i64, t: *mut i64,
        _d: i32, _l: *mut c_void, _u: i32, _m: *mut c_void
    ) -> () = __tgt_target_data_update(dev, n, b, p, s, t);
    __tgt_target(
        dev: i64, id: *const c_void, n: i32, b: List, p: List, s: *mut i64, t: *mut i64
    ) -> c_int = old_kernel(null_mut(), dev, id, n, [b, p], [s, t], [null_mut(); 2], -1, -1);
    __tgt_target_nowait(
        dev: i64, id: *const c_void, n: i32, b: List, p: List, s: *mut i64, t: *mut i64,
        _d: i32, _l: *mut c_void, _u: i32, _m: *mut c_void
    ) -> c_int = __tgt_target(dev, id, n, b, p, s, t);
    __tgt_target_mapper(
        loc: *const Ident, dev: i64, id: *const c_void, n: i32, b: List, p: List, s: *mut i64,
        t: *mut i64, names: List, mappers: List
    ) -> c_int = old_kernel(loc, dev, id, n, [b, p], [s, t], [names, mappers], -1, -1);
    __tgt_target_nowait_mapper(
        loc: *const Ident, dev: i64, id: *const c_void, n: i32, b: List, p: List, s: *mut i64,
        t: *mut i64, names: List, mappers: List, _d: i32, _l: *mut c_void, _u: i32, _m: *mut c_void
    ) -> c_int = __tgt_target_mapper(loc, dev, id, n, b, p, s, t, names, mappers);
    __tgt_target_teams(
        dev: i64, id: *const c_void, n: i32, b: List, p: List, s: *mut i64, t: *mut i64,
        teams: i32, limit: i32
    ) -> c_int =
        old_kernel(null_mut(), dev, id, n, [b, p], [s, t], [null_mut(); 2], teams, limit);
    __tgt_target_teams_nowait(
        dev: i64, id: *const c_void, n: i32, b: List, p: List, s: *mut i64, t: *mut i64,
        teams: i32, limit: i32, _d: i32, _l: *mut c_void, _u: i32, _m: *mut c_void
    ) -> c_int = __tgt_target_teams(dev, id, n, b, p, s, t, teams, limit);
    __tgt_target_teams_mapper(
        loc: *const Ident, dev: i64, id: *const c_void, n: i32, b: List, p: List, s: *mut i64,
        t: *mut i64, names: List, mappers: List, teams: i32, limit: i32
    ) -> c_int = old_kernel(loc, dev, id, n, [b, p], [s, t], [names, mappers], teams, limit);
    __tgt_target_teams_nowait_mapper(
        loc: *const Ident, dev: i64, id: *const c_void, n: i32, b: List, p: List, s: *mut i64,
        t: *mut i64, names: List, mappers: List, teams: i32, limit: i32,
        _d: i32, _l: *mut c_void, _u: i32, _m: *mut c_void
    ) -> c_int =
        __tgt_target_teams_mapper(loc, dev, id, n, b, p, s, t, names, mappers, teams, limit);
    __tgt_target_kernel_nowait(
        loc: *const Ident, dev: i64, teams: i32, limit: i32, id: *const c_void,
        arguments: *const KernelArgs, _d: i32, _l: *mut c_void, _u: i32, _m: *mut c_void
    ) -> c_int = __tgt_target_kernel(loc, dev, teams, limit, id, arguments);
}

/// Nothing to do: the number of iterations comes with the arguments.
#[unsafe(no_mangle)]
pub extern "C" fn __kmpc_push_target_tripcount(_device: i64, _count: u64) {}

/// Nothing to do, as above.
#[unsafe(no_mangle)]
pub extern "C" fn __kmpc_push_target_tripcount_mapper(_at: *const Ident, _dev: i64, _count: u64) {}

/// Asked by the host's threading runtime about a call that returned early; none does.
///
/// # Safety
/// Null, or the place of a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tgt_target_nowait_query(handle: *mut *mut c_void) {
    // SAFETY: the caller's promise.
    if let Some(handle) = unsafe { handle.as_mut() } {
        *handle = null_mut();
    }
}

/// Prints what a device is; 1 as in LLVM.
#[unsafe(no_mangle)]
pub extern "C" fn __tgt_print_device_info(device: i64) -> c_int {
    guard(&"device information", false, || {
        let found = usize::try_from(device).ok().and_then(|it| devices::all().get(it));
        report::info(&match found {
            Some(device) => format!("device {}: {}", device.number, device.kind),
            None => format!("device {device}: there is none"),
        });
        Ok(1)
    })
}

/// Sets which lines LLVM's runtime would print.
#[unsafe(no_mangle)]
pub extern "C" fn __tgt_set_info_flag(bits: u32) {
    Watch::set_llvm(bits);
}

/// Recording of launches is not offered: nonzero says so.
#[unsafe(no_mangle)]
pub extern "C" fn __tgt_activate_record_replay(
    _device: i64,
    _bytes: u64,
    _at: *mut c_void,
    _record: bool,
    _save: bool,
    _offset: *mut u64,
) -> c_int {
    -1
}

/// Replay of launches is not offered: nonzero says so.
#[unsafe(no_mangle)]
pub extern "C" fn __tgt_target_kernel_replay() -> c_int {
    -1
}
