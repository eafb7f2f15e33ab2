//! Queues: what generated code calls around offload calls that are not waited for.

use std::slice;

use abi::Ident;
use abi::queue::{Dependence, SYNC};

use crate::args::Place;
use crate::devices::{self, Target};
use crate::error::Error;
use crate::guard::guard;
use crate::host;
use crate::nowait::staged::Goal;
use crate::nowait::{deferred, tasks};
use crate::profile;
use crate::queue;
use crate::watch::Watch;

/// Until [`__ferry_queue_end`] the offload calls of this thread are put into a queue of a device: what
/// they map is mapped at once, the rest is done in its turn. All is done at once if the queue is none, or
/// the device the host: then after what the queue holds.
///
/// # Safety
/// The location is null or valid for as long as the program.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __ferry_queue_begin(location: *const Ident, device: i64, queue: i64) {
    // SAFETY: the caller's promise.
    let place = unsafe { Place::new(location) };
    guard(&place, false, || {
        let Some(number) = queue::meant(queue)? else { return Ok(()) };
        match devices::target(device)? {
            Target::Device(device) => deferred::begin(Goal { device, number }),
            Target::Host => {
                for device in devices::opened() {
                    queue::wait(device.number, Some(&[number]));
                }
            }
        }
        Ok(())
    });
}

/// See [`__ferry_queue_begin`].
#[unsafe(no_mangle)]
pub extern "C" fn __ferry_queue_end() {
    let _ = deferred::take();
}

/// Waits for queues of a device, for all if `count` is 0; or lets a queue wait, and goes on.
///
/// # Safety
/// The list has `count` elements; the location is null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __ferry_queue_wait(
    location: *const Ident,
    device: i64,
    count: i32,
    queues: *const i64,
    on_device: i64,
    on_queue: i64,
) {
    // SAFETY: the caller's promise.
    let place = unsafe { Place::new(location) };
    guard(&place, false, || {
        let count = usize::try_from(count).unwrap_or(0);
        let list = match queues.is_null() {
            true => &[][..],
            // SAFETY: the caller's promise.
            false => unsafe { slice::from_raw_parts(queues, count) },
        };
        let mut numbers = Vec::with_capacity(count);
        for it in list {
            // The caller has done what was not put into a queue.
            numbers.extend(queue::meant(*it)?);
        }
        if count > 0 && numbers.is_empty() {
            return Ok(());
        }
        let numbers = (!numbers.is_empty()).then_some(numbers.as_slice());
        // Nothing waits on the host's behalf: its work is done in place.
        let Target::Device(device) = devices::target(device)? else { return Ok(()) };
        let on = if on_queue == SYNC { None } else { queue::meant(on_queue)? };
        let awaited = numbers.and_then(<[i64]>::first).copied();
        let _span = profile::waiting(Watch::now(), device.number, place, awaited);
        match (on, devices::target(on_device)?) {
            (Some(on), Target::Device(on_device)) => {
                queue::join(on_device.number, on, device.number, numbers);
            }
            _ => queue::wait(device.number, numbers),
        }
        Ok(())
    });
}

/// Until [`__ferry_task_end`] the offload calls of this thread are one task, if it is deferred. Otherwise
/// only what it depends on is waited for, and the calls are made in place.
///
/// # Safety
/// The list has `count` elements, those of objects are addresses of such; the location is null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __ferry_task_begin(
    location: *const Ident,
    is_deferred: i32,
    count: i32,
    dependences: *const Dependence,
) {
    // SAFETY: the caller's promise.
    let place = unsafe { Place::new(location) };
    guard(&place, false, || {
        let count = usize::try_from(count).ok().filter(|it| *it == 0 || !dependences.is_null());
        let count = count.ok_or(Error::BadCall("the dependences are null or too many"))?;
        let list = match count {
            0 => Vec::new(),
            // SAFETY: the caller's promise.
            _ => unsafe { tasks::resolved(slice::from_raw_parts(dependences, count)) },
        };
        // The host's runtime knows no task that all others of its parent stand before or behind.
        let stands_alone = list.iter().any(|it| it.at == 0) && host::is_in_parallel();
        if stands_alone {
            host::wait_for_tasks();
        }
        if is_deferred == 0 || stands_alone {
            tasks::wait_before(&list);
        } else {
            deferred::begin_task(list);
        }
        Ok(())
    });
}

/// See [`__ferry_task_begin`].
#[unsafe(no_mangle)]
pub extern "C" fn __ferry_task_end() {
    guard(&"a task", false, || {
        let (calls, dependences) = deferred::take();
        if !calls.is_empty() {
            let is_light = calls.iter().all(deferred::Deferred::only_asks_a_device);
            tasks::submit(|| deferred::run_all(calls), &dependences, is_light);
        }
        Ok(())
    });
}
