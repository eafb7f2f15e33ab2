//! Data directives: begin, end, update, and what user-defined mappers call.

use std::ffi::c_void;

use abi::Ident;

use super::EntryPoint;
use crate::args::{MapArgs, Place};
use crate::devices;
use crate::directives::{self, Walk};
use crate::guard::guard;
use crate::mapping::components::{Component, Components};
use crate::nowait::deferred::{self, Call};
use crate::{ending, queue};

/// Runs a data directive, or keeps it until its turn.
fn run_or_keep(walk: Walk, place: Place, device: i64, args: Option<MapArgs>) {
    let _inside = ending::enter();
    match args {
        Some(args) if deferred::is_on() => {
            guard(&place, false, || {
                args.check()?;
                deferred::keep(Call::Data(walk), place, device, &args)
            });
        }
        args => {
            // Data that a queue still works on do not go from under it.
            if walk == Walk::End && queue::is_used() {
                guard(&place, false, || {
                    queue::wait(queue::device_of(devices::target(device)?), None);
                    Ok(())
                });
            }
            directives::run_data(walk, place, device, args);
        }
    }
}

/// The two spellings of each data directive; dependences were made tasks by the compiler.
macro_rules! data_calls {
    ($walk:expr, $plain:ident, $nowait:ident) => {
        /// Maps, unmaps or updates `count` entries.
        ///
        /// # Safety
        /// The arrays have `count` elements each, `names` and `mappers` may be null; the location is
        /// null or valid; what is mapped is the program's own.
        #[unsafe(no_mangle)]
        #[allow(clippy::too_many_arguments, reason = "the interface's")]
        pub unsafe extern "C" fn $plain(
            location: *const Ident,
            device: i64,
            count: i32,
            bases: *mut *mut c_void,
            begins: *mut *mut c_void,
            sizes: *mut i64,
            types: *mut i64,
            names: *mut *mut c_void,
            mappers: *mut *mut c_void,
        ) {
            // SAFETY: the caller's promise.
            let (place, args) = unsafe {
                let arrays = ([bases, begins], [sizes, types], [names, mappers]);
                let args = MapArgs::new(i64::from(count), arrays.0, arrays.1, arrays.2);
                (Place::new(location), args)
            };
            run_or_keep($walk, place, device, args);
        }

        /// As the plain form; returns when all is done.
        ///
        /// # Safety
        /// As the plain form.
        #[unsafe(no_mangle)]
        #[allow(clippy::too_many_arguments, reason = "the interface's")]
        pub unsafe extern "C" fn $nowait(
            location: *const Ident,
            device: i64,
            count: i32,
            bases: *mut *mut c_void,
            begins: *mut *mut c_void,
            sizes: *mut i64,
            types: *mut i64,
            names: *mut *mut c_void,
            mappers: *mut *mut c_void,
            _dependences: i32,
            _list: *mut c_void,
            _unaliased: i32,
            _unaliased_list: *mut c_void,
        ) {
            // SAFETY: the caller's promise.
            unsafe {
                $plain(location, device, count, bases, begins, sizes, types, names, mappers);
            }
        }
    };
}

data_calls!(Walk::Begin, __tgt_target_data_begin_mapper, __tgt_target_data_begin_nowait_mapper);
data_calls!(Walk::End, __tgt_target_data_end_mapper, __tgt_target_data_end_nowait_mapper);
data_calls!(Walk::Update, __tgt_target_data_update_mapper, __tgt_target_data_update_nowait_mapper);

/// Where a tool's user sees a construct.
pub(super) static ENTRY_POINTS: [EntryPoint; 6] = [
    EntryPoint(__tgt_target_data_begin_mapper as *const ()),
    EntryPoint(__tgt_target_data_begin_nowait_mapper as *const ()),
    EntryPoint(__tgt_target_data_end_mapper as *const ()),
    EntryPoint(__tgt_target_data_end_nowait_mapper as *const ()),
    EntryPoint(__tgt_target_data_update_mapper as *const ()),
    EntryPoint(__tgt_target_data_update_nowait_mapper as *const ()),
];

/// Adds one component: called by a mapper.
///
/// # Safety
/// `handle` is the one that the mapper got, and this is during its call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tgt_push_mapper_component(
    handle: *mut c_void,
    base: *mut c_void,
    begin: *mut c_void,
    size: i64,
    map_type: i64,
    name: *mut c_void,
) {
    // SAFETY: the caller's promise: a handle is the address of such a list.
    if let Some(parts) = unsafe { handle.cast::<Components>().as_mut() } {
        parts.push(Component { base, begin, size, map_type, name });
    }
}

/// How many components there are: called by a mapper.
///
/// # Safety
/// As [`__tgt_push_mapper_component`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tgt_mapper_num_components(handle: *mut c_void) -> i64 {
    // SAFETY: the caller's promise: a handle is the address of such a list.
    unsafe { handle.cast::<Components>().as_ref() }.map_or(0, |it| it.len() as i64)
}
