//! Asking and waiting for queues.
//!
//! Forms with a device mean its queues, the others those of the current device. A negative number that
//! has no name in the header is an error.

use std::ffi::c_int;
use std::slice;

use super::{context, current, device, place, routine};
use crate::account::Account;
use crate::args::{MapArgs, Place};
use crate::devices::{DeviceState, Target};
use crate::error::Error;
use crate::graph::Key;
use crate::guard::guard;
use crate::mapping::Cx;
use crate::nowait::staged::Goal;
use crate::profile;
use crate::queue;
use crate::watch::Watch;

/// No queue: the caller waits.
pub(super) const SYNC: c_int = abi::queue::SYNC as c_int;

/// Does work on a device: now, or when its turn comes in a queue.
pub(super) fn on_queue(
    place: Place,
    device: &'static DeviceState,
    number: c_int,
    work: impl FnOnce() -> Result<(), Error> + Send + 'static,
) -> Result<(), Error> {
    match queue::meant(i64::from(number))? {
        None => work(),
        Some(number) => {
            queue::put(device.number, number, move || guard(&place, false, work));
            Ok(())
        }
    }
}

/// Makes a call on a device, now or in two stages, of which the second has its turn in a queue.
pub(super) fn staged(
    place: Place,
    device: &'static DeviceState,
    number: c_int,
    args: &MapArgs,
    begin: impl FnOnce(&Cx<'_>, &MapArgs) -> Result<Account, Error>,
) -> Result<(), Error> {
    match queue::meant(i64::from(number))? {
        Some(number) => Goal { device, number }.put(place, args, false, begin),
        None => {
            let cx = context(device, place)?;
            let timer = cx.watch.start();
            begin(&cx, args)?.close(&cx, timer);
            Ok(())
        }
    }
}

/// Has all been done in a queue, or in all of them?
fn is_done(target: Target, number: Option<c_int>) -> Result<c_int, Error> {
    let device = queue::device_of(target);
    let is_done = match number {
        None => queue::test(device, None),
        Some(number) => match queue::meant(i64::from(number))? {
            None => true,
            Some(number) => queue::test(device, Some(&[number])),
        },
    };
    Ok(c_int::from(is_done))
}

/// Waits for a queue, or for all of them: the caller, or another queue.
fn wait(place: Place, target: Target, number: Option<c_int>, on: c_int) -> Result<(), Error> {
    let device = queue::device_of(target);
    let list = match number {
        None => None,
        Some(number) => match queue::meant(i64::from(number))? {
            None => return Ok(()),
            Some(number) => Some([number]),
        },
    };
    let list = list.as_ref().map(<[i64; 1]>::as_slice);
    let awaited = list.and_then(<[i64]>::first).copied();
    let _span = profile::waiting(Watch::now(), device, place, awaited);
    match queue::meant(i64::from(on))? {
        None => queue::wait(device, list),
        Some(on) => queue::join(device, on, device, list),
    }
    Ok(())
}

/// Waits for one of several queues; negative if there is none to wait for.
///
/// # Safety
/// The list has `count` elements, or is null.
unsafe fn wait_any(target: Target, count: c_int, list: *const c_int) -> Result<c_int, Error> {
    const NONE: c_int = -1;
    let count = usize::try_from(count).unwrap_or(0);
    if count == 0 {
        return Ok(NONE);
    }
    if list.is_null() || !list.is_aligned() {
        return Err(Error::Argument {
            message: format!("a list of {count} queues at a null pointer"),
            help: "give the address of the list, or no queues".into(),
        });
    }
    // SAFETY: the caller's promise.
    let list = unsafe { slice::from_raw_parts(list, count) };
    let device = queue::device_of(target);
    let (mut keys, mut places) = (Vec::new(), Vec::new());
    for (place, number) in list.iter().enumerate() {
        // What the caller did itself is none of what it waits for.
        if let Some(queue) = queue::meant(i64::from(*number))? {
            keys.push(Key { device, queue });
            places.push(place as c_int);
        }
    }
    let found = queue::wait_any(&keys).and_then(|it| places.get(it).copied());
    Ok(found.unwrap_or(NONE))
}

fn wait_at(place: Place, body: impl FnOnce(Place) -> Result<(), Error>) {
    routine(place, || body(place));
}

/// Has all been done that was put into a queue?
#[unsafe(no_mangle)]
pub extern "C" fn acc_async_test(queue: c_int) -> c_int {
    routine(place!(acc_async_test), || is_done(current()?, Some(queue)))
}

/// The same on another device.
#[unsafe(no_mangle)]
pub extern "C" fn acc_async_test_device(queue: c_int, number: c_int) -> c_int {
    routine(place!(acc_async_test_device), || is_done(device(number)?, Some(queue)))
}

/// Has all been done that was put into any queue?
#[unsafe(no_mangle)]
pub extern "C" fn acc_async_test_all() -> c_int {
    routine(place!(acc_async_test_all), || is_done(current()?, None))
}

/// The same on another device.
#[unsafe(no_mangle)]
pub extern "C" fn acc_async_test_all_device(number: c_int) -> c_int {
    routine(place!(acc_async_test_all_device), || is_done(device(number)?, None))
}

/// Waits until one of several queues has nothing to do, and answers its place in the list; -1 if no
/// queue is in it.
///
/// # Safety
/// The list has `count` elements.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn acc_wait_any(count: c_int, queues: *mut c_int) -> c_int {
    // SAFETY: the caller's promise.
    routine(place!(acc_wait_any), || unsafe { wait_any(current()?, count, queues) })
}

/// The same on another device.
///
/// # Safety
/// The list has `count` elements.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn acc_wait_any_device(
    count: c_int,
    queues: *mut c_int,
    number: c_int,
) -> c_int {
    // SAFETY: the caller's promise.
    routine(place!(acc_wait_any_device), || unsafe { wait_any(device(number)?, count, queues) })
}

/// Waits for a queue.
#[unsafe(no_mangle)]
pub extern "C" fn acc_wait(queue: c_int) {
    wait_at(place!(acc_wait), |place| wait(place, current()?, Some(queue), SYNC));
}

/// As [`acc_wait`], by its first name.
#[unsafe(no_mangle)]
pub extern "C" fn acc_async_wait(queue: c_int) {
    wait_at(place!(acc_async_wait), |place| wait(place, current()?, Some(queue), SYNC));
}

/// The same on another device.
#[unsafe(no_mangle)]
pub extern "C" fn acc_wait_device(queue: c_int, number: c_int) {
    wait_at(place!(acc_wait_device), |place| wait(place, device(number)?, Some(queue), SYNC));
}

/// Lets queue `on` wait for a queue.
#[unsafe(no_mangle)]
pub extern "C" fn acc_wait_async(queue: c_int, on: c_int) {
    wait_at(place!(acc_wait_async), |place| wait(place, current()?, Some(queue), on));
}

/// The same on another device.
#[unsafe(no_mangle)]
pub extern "C" fn acc_wait_device_async(queue: c_int, on: c_int, number: c_int) {
    wait_at(place!(acc_wait_device_async), |place| wait(place, device(number)?, Some(queue), on));
}

/// Waits for all queues.
#[unsafe(no_mangle)]
pub extern "C" fn acc_wait_all() {
    wait_at(place!(acc_wait_all), |place| wait(place, current()?, None, SYNC));
}

/// As [`acc_wait_all`], by its first name.
#[unsafe(no_mangle)]
pub extern "C" fn acc_async_wait_all() {
    wait_at(place!(acc_async_wait_all), |place| wait(place, current()?, None, SYNC));
}

/// The same on another device.
#[unsafe(no_mangle)]
pub extern "C" fn acc_wait_all_device(number: c_int) {
    wait_at(place!(acc_wait_all_device), |place| wait(place, device(number)?, None, SYNC));
}

/// Lets queue `on` wait for all queues.
#[unsafe(no_mangle)]
pub extern "C" fn acc_wait_all_async(on: c_int) {
    wait_at(place!(acc_wait_all_async), |place| wait(place, current()?, None, on));
}

/// The same on another device.
#[unsafe(no_mangle)]
pub extern "C" fn acc_wait_all_device_async(on: c_int, number: c_int) {
    wait_at(place!(acc_wait_all_device_async), |place| wait(place, device(number)?, None, on));
}

/// The queue of this thread for work without a number.
#[unsafe(no_mangle)]
pub extern "C" fn acc_get_default_async() -> c_int {
    routine(place!(acc_get_default_async), || {
        Ok(c_int::try_from(queue::default_queue()).unwrap_or(0))
    })
}

/// Sets it; the constant for the default brings back what it was at first.
#[unsafe(no_mangle)]
pub extern "C" fn acc_set_default_async(queue: c_int) {
    routine(place!(acc_set_default_async), || queue::set_default_queue(i64::from(queue)));
}
