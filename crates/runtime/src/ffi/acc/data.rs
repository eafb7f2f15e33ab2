//! Data that live on a device from one routine to another.
//!
//! They count with the dynamic counter of the mapping table, as data directives without a body do.
//! Where the host itself is current there is nothing to do: its data are where they are used.

use std::ffi::{c_int, c_void};
use std::ptr;

use ::device::DevicePtr;
use abi::MapType;

use super::queues::{SYNC, staged};
use super::{context, current, place, routine};
use crate::args::{MapArgs, Place};
use crate::devices::{DeviceState, Target};
use crate::directives::{self, Walk};
use crate::error::{Error, Section};
use crate::ffi::hand;
use crate::mapping::Cx;
use crate::queue;
use crate::table::{Fit, INFINITE, Mapped};

/// Some bytes of the host. Of a null pointer there are none.
#[derive(Clone, Copy)]
struct Bytes {
    at: usize,
    size: usize,
}

impl Bytes {
    fn new(host: *const c_void, size: usize) -> Result<Bytes, Error> {
        if host.is_null() && size > 0 {
            return Err(Error::Argument {
                message: format!("{size} bytes at a null pointer"),
                help: "call it with the address of data, or with no bytes".into(),
            });
        }
        hand::check(host as u64, size)?;
        Ok(Bytes { at: host as usize, size })
    }

    fn section(self) -> Section {
        Section { name: None, at: self.at, size: self.size }
    }
}

/// Bytes of which only a part is on the device are an error wherever they occur.
fn check_whole(cx: &Cx<'_>, bytes: Bytes, is_required: bool) -> Result<bool, Error> {
    let (mut table, found) = cx.device.mapping.look_up(bytes.at, bytes.size);
    let Some(found) = found else { return Ok(false) };
    match (found.fit, table.get_mut(found.key)) {
        (Fit::Partial, Some(mapped)) => {
            let (what, mapped) = (bytes.section(), crate::mapping::section(mapped));
            Err(Error::Overlap { what, mapped, is_required })
        }
        _ => Ok(true),
    }
}

/// Gives data a place, ends their life or copies them; on a queue, the copies wait for their turn.
/// Answers the place of data that have got one.
fn change(
    walk: Walk,
    place: Place,
    host: *mut c_void,
    size: usize,
    map: MapType,
    queue: c_int,
) -> Result<*mut c_void, Error> {
    let bytes = Bytes::new(host, size)?;
    let Target::Device(device) = current()? else { return Ok(host) };
    if size == 0 {
        let place = (walk == Walk::Begin).then(|| address(device, bytes.at, 0)).flatten();
        return Ok(place.unwrap_or(ptr::null_mut()));
    }
    // Data that a queue still works on do not go from under it.
    if walk == Walk::End && queue::is_used() && queue::meant(i64::from(queue))?.is_none() {
        queue::wait(device.number, None);
    }
    let (mut base, mut begin) = ([host], [host]);
    let (mut size, mut types) = ([size as i64], [map.0 as i64]);
    // SAFETY: arrays of one element each, which live during the call and are nobody else's.
    let args = unsafe {
        let [base, begin] = [&mut base, &mut begin].map(|it| it.as_mut_ptr());
        let [size, types] = [&mut size, &mut types].map(|it| it.as_mut_ptr());
        MapArgs::new(1, [base, begin], [size, types], [ptr::null_mut(); 2])
    };
    let args = args.ok_or(Error::BadCall("an entry that cannot be read"))?;
    staged(place, device, queue, &args, |cx, args| {
        match walk {
            Walk::Begin => {}
            Walk::End => _ = check_whole(cx, bytes, false)?,
            Walk::Update => _ = check_whole(cx, bytes, true)?,
        }
        directives::begin_data(cx, walk, args)
    })?;
    Ok(args.item(0).base as *mut c_void)
}

/// Routines that give data a place, each with its old names.
macro_rules! entering {
    ($($map:expr, $later:ident, [$($now:ident),*];)*) => {$(
        $(
            /// Gives data a place on the current device and answers where.
            #[unsafe(no_mangle)]
            pub extern "C" fn $now(host: *mut c_void, size: usize) -> *mut c_void {
                let place = place!($now);
                let map = $map | MapType::RETURN_PARAM;
                routine(place, || change(Walk::Begin, place, host, size, map, SYNC))
            }
        )*

        /// The same, on a queue.
        #[unsafe(no_mangle)]
        pub extern "C" fn $later(host: *mut c_void, size: usize, queue: c_int) {
            let place = place!($later);
            routine(place, || change(Walk::Begin, place, host, size, $map, queue).map(|_| ()));
        }
    )*};
}

entering! {
    MapType::TO, acc_copyin_async, [acc_copyin, acc_present_or_copyin, acc_pcopyin];
    MapType::ALLOC, acc_create_async, [acc_create, acc_present_or_create, acc_pcreate];
}

/// Routines that answer nothing, each with its form for queues.
macro_rules! plain {
    ($($walk:expr, $map:expr, $now:ident, $later:ident;)*) => {$(
        /// Ends the life of data on the current device, or copies them.
        #[unsafe(no_mangle)]
        pub extern "C" fn $now(host: *mut c_void, size: usize) {
            let place = place!($now);
            routine(place, || change($walk, place, host, size, $map, SYNC).map(|_| ()));
        }

        /// The same, on a queue.
        #[unsafe(no_mangle)]
        pub extern "C" fn $later(host: *mut c_void, size: usize, queue: c_int) {
            let place = place!($later);
            routine(place, || change($walk, place, host, size, $map, queue).map(|_| ()));
        }
    )*};
}

const FROM_ALL: MapType = MapType(MapType::FROM.0 | MapType::DELETE.0);
const PRESENT_TO: MapType = MapType(MapType::PRESENT.0 | MapType::TO.0);
const PRESENT_FROM: MapType = MapType(MapType::PRESENT.0 | MapType::FROM.0);

plain! {
    Walk::End, MapType::FROM, acc_copyout, acc_copyout_async;
    Walk::End, FROM_ALL, acc_copyout_finalize, acc_copyout_finalize_async;
    Walk::End, MapType::ALLOC, acc_delete, acc_delete_async;
    Walk::End, MapType::DELETE, acc_delete_finalize, acc_delete_finalize_async;
    Walk::Update, PRESENT_TO, acc_update_device, acc_update_device_async;
    Walk::Update, PRESENT_FROM, acc_update_self, acc_update_self_async;
    Walk::Update, PRESENT_FROM, acc_update_host, acc_update_host_async;
}

/// Lets host data have device memory that the program has allocated.
#[unsafe(no_mangle)]
pub extern "C" fn acc_map_data(host: *mut c_void, at: *mut c_void, size: usize) {
    let place = place!(acc_map_data);
    routine(place, || {
        if host.is_null() || at.is_null() {
            return Err(Error::Argument {
                message: "mapping a null pointer".into(),
                help: "map host data to memory of acc_malloc".into(),
            });
        }
        let Target::Device(device) = current()? else { return Ok(()) };
        if size == 0 {
            return Ok(());
        }
        let cx = context(device, place)?;
        device.make_known()?;
        let bytes = Bytes::new(host, size)?;
        let mapped = Mapped::permanent(bytes.at, size, DevicePtr(at as u64));
        if device.mapping.add_permanent(mapped) {
            return Ok(());
        }
        check_whole(&cx, bytes, false)?;
        Err(Error::Argument {
            message: format!("{} is on the device already", bytes.section()),
            help: "end its life there before this call".into(),
        })
    });
}

/// Ends a mapping of [`acc_map_data`].
#[unsafe(no_mangle)]
pub extern "C" fn acc_unmap_data(host: *mut c_void) {
    let place = place!(acc_unmap_data);
    routine(place, || {
        let Target::Device(device) = current()? else { return Ok(()) };
        let is_ours = |it: &Mapped| it.hold == 0 && it.dynamic == INFINITE;
        if !host.is_null() && device.mapping.remove_if(host as usize, is_ours).is_some() {
            return Ok(());
        }
        Err(Error::Argument {
            message: format!("{host:p} was not mapped by acc_map_data, or a region still uses it"),
            help: "give the host address of that call, after all regions that use it".into(),
        })
    });
}

/// Where the device has a byte of the host.
fn address(device: &DeviceState, at: usize, size: usize) -> Option<*mut c_void> {
    let (_table, found) = device.mapping.look_up(at, size);
    found.filter(|it| it.fit == Fit::Contained).map(|it| it.device.0 as *mut c_void)
}

/// Where the current device has what lies at a host address; null if it has not.
#[unsafe(no_mangle)]
pub extern "C" fn acc_deviceptr(host: *mut c_void) -> *mut c_void {
    let place = place!(acc_deviceptr);
    routine(place, || {
        let Target::Device(device) = current()? else { return Ok(host) };
        if host.is_null() {
            return Ok(host);
        }
        context(device, place)?;
        device.make_known()?;
        Ok(address(device, host as usize, 1).unwrap_or(ptr::null_mut()))
    })
}

/// The host data that lie at an address of the current device; null if none do.
#[unsafe(no_mangle)]
pub extern "C" fn acc_hostptr(at: *mut c_void) -> *mut c_void {
    routine(place!(acc_hostptr), || {
        let Target::Device(device) = current()? else { return Ok(at) };
        let host = device.mapping.host_of(DevicePtr(at as u64));
        Ok(host.map_or(ptr::null_mut(), |it| it as *mut c_void))
    })
}

/// Does the current device have all of these bytes? No bytes count as one.
#[unsafe(no_mangle)]
pub extern "C" fn acc_is_present(host: *mut c_void, size: usize) -> c_int {
    let place = place!(acc_is_present);
    routine(place, || {
        let Target::Device(device) = current()? else { return Ok(1) };
        if host.is_null() {
            return Ok(0);
        }
        context(device, place)?;
        Ok(c_int::from(address(device, host as usize, size.max(1)).is_some()))
    })
}
