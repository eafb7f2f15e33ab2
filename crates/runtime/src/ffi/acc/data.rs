//! Data that live on a device from one routine to another.
//!
//! They count with the dynamic counter of the mapping table, as data directives without a body do.
//! Where the host itself is current there is nothing to do: its data are where they are used.

use std::ffi::{c_int, c_void};
use std::ptr;

use ::device::DevicePtr;
use abi::MapType;

use super::queues::{SYNC, on_queue};
use super::{context, current, place, routine};
use crate::args::{Item, MapArgs, Place};
use crate::devices::{DeviceState, Target};
use crate::error::{Error, Section};
use crate::mapping::begin::{self, Placed};
use crate::mapping::table::{Fit, INFINITE, Mapped};
use crate::mapping::{Cx, end, update};
use crate::{queue, tool};

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
        Ok(Bytes { at: host as usize, size })
    }

    fn section(self) -> Section {
        Section { name: None, at: self.at, size: self.size }
    }
}

/// Runs a walk over one entry.
fn walk(
    cx: &Cx<'_>,
    bytes: Bytes,
    map: MapType,
    run: impl FnOnce(&Cx<'_>, &MapArgs) -> Result<(), Error>,
) -> Result<(), Error> {
    let (mut base, mut begin) = ([bytes.at as *mut c_void], [bytes.at as *mut c_void]);
    let (mut size, mut types) = ([bytes.size as i64], [map.0 as i64]);
    // SAFETY: arrays of one element each, which live during the call and are nobody else's.
    let args = unsafe {
        let [base, begin] = [&mut base, &mut begin].map(|it| it.as_mut_ptr());
        let [size, types] = [&mut size, &mut types].map(|it| it.as_mut_ptr());
        MapArgs::new(1, [base, begin], [size, types], [ptr::null_mut(); 2])
    };
    let args = args.ok_or(Error::BadCall("an entry that cannot be read"))?;
    run(cx, &args)
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

/// Gives the bytes a place on the device, or counts once more; answers the place.
fn enter(
    place: Place,
    host: *mut c_void,
    size: usize,
    map: MapType,
    queue: c_int,
) -> Result<*mut c_void, Error> {
    let bytes = Bytes::new(host, size)?;
    let Target::Device(device) = current()? else { return Ok(host) };
    if size == 0 {
        return Ok(address(device, bytes.at, 0).unwrap_or(ptr::null_mut()));
    }
    if queue::meant(i64::from(queue))?.is_none() {
        return acquire(place, device, bytes, map);
    }
    // The place is there at once; only the copy waits for its turn.
    let is_new = address(device, bytes.at, size).is_none();
    let at = acquire(place, device, bytes, map.without(MapType::TO))?;
    if is_new && map.has(MapType::TO) {
        on_queue(place, device, queue, move || {
            walk(&context(device, place)?, bytes, MapType::TO, update::update)
        })?;
    }
    Ok(at)
}

fn acquire(
    place: Place,
    device: &'static DeviceState,
    bytes: Bytes,
    map: MapType,
) -> Result<*mut c_void, Error> {
    let cx = context(device, place)?;
    let _scope = tool::scope(cx.watch, tool::Kind::EnterData, device.number, place);
    let Bytes { at, size } = bytes;
    let item = Item { base: at, begin: at, size, map, name: None, mapper: None };
    Ok(match begin::acquire(&cx, &item, 0, true)? {
        Placed::Device(at) => at.0 as *mut c_void,
        Placed::InPlace => at as *mut c_void,
        Placed::Absent => ptr::null_mut(),
    })
}

/// Counts once less; data that are counted no more leave the device.
fn leave(
    place: Place,
    host: *mut c_void,
    size: usize,
    map: MapType,
    queue: c_int,
) -> Result<(), Error> {
    let bytes = Bytes::new(host, size)?;
    let Target::Device(device) = current()? else { return Ok(()) };
    if size == 0 {
        return Ok(());
    }
    on_queue(place, device, queue, move || {
        let cx = context(device, place)?;
        let _scope = tool::scope(cx.watch, tool::Kind::ExitData, device.number, place);
        check_whole(&cx, bytes, false)?;
        walk(&cx, bytes, map, end::end)
    })
}

/// Copies data that are on the device.
fn refresh(
    place: Place,
    host: *mut c_void,
    size: usize,
    map: MapType,
    queue: c_int,
) -> Result<(), Error> {
    let bytes = Bytes::new(host, size)?;
    let Target::Device(device) = current()? else { return Ok(()) };
    if size == 0 {
        return Ok(());
    }
    on_queue(place, device, queue, move || {
        let cx = context(device, place)?;
        let _scope = tool::scope(cx.watch, tool::Kind::Update, device.number, place);
        check_whole(&cx, bytes, true)?;
        walk(&cx, bytes, map | MapType::PRESENT, update::update)
    })
}

/// Routines that give data a place, each with its old names.
macro_rules! entering {
    ($($map:expr, $later:ident, [$($now:ident),*];)*) => {$(
        $(
            /// Gives data a place on the current device and answers where.
            #[unsafe(no_mangle)]
            pub extern "C" fn $now(host: *mut c_void, size: usize) -> *mut c_void {
                let place = place!($now);
                routine(place, || enter(place, host, size, $map, SYNC))
            }
        )*

        /// The same, on a queue.
        #[unsafe(no_mangle)]
        pub extern "C" fn $later(host: *mut c_void, size: usize, queue: c_int) {
            let place = place!($later);
            routine(place, || enter(place, host, size, $map, queue).map(|_| ()));
        }
    )*};
}

entering! {
    MapType::TO, acc_copyin_async, [acc_copyin, acc_present_or_copyin, acc_pcopyin];
    MapType::ALLOC, acc_create_async, [acc_create, acc_present_or_create, acc_pcreate];
}

/// Routines that answer nothing, each with its form for queues.
macro_rules! plain {
    ($($run:ident, $map:expr, $now:ident, $later:ident;)*) => {$(
        /// Ends the life of data on the current device, or copies them.
        #[unsafe(no_mangle)]
        pub extern "C" fn $now(host: *mut c_void, size: usize) {
            let place = place!($now);
            routine(place, || $run(place, host, size, $map, SYNC));
        }

        /// The same, on a queue.
        #[unsafe(no_mangle)]
        pub extern "C" fn $later(host: *mut c_void, size: usize, queue: c_int) {
            let place = place!($later);
            routine(place, || $run(place, host, size, $map, queue));
        }
    )*};
}

const FROM_ALL: MapType = MapType(MapType::FROM.0 | MapType::DELETE.0);

plain! {
    leave, MapType::FROM, acc_copyout, acc_copyout_async;
    leave, FROM_ALL, acc_copyout_finalize, acc_copyout_finalize_async;
    leave, MapType::ALLOC, acc_delete, acc_delete_async;
    leave, MapType::DELETE, acc_delete_finalize, acc_delete_finalize_async;
    refresh, MapType::TO, acc_update_device, acc_update_device_async;
    refresh, MapType::FROM, acc_update_self, acc_update_self_async;
    refresh, MapType::FROM, acc_update_host, acc_update_host_async;
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
        let bytes = Bytes { at: host as usize, size };
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
