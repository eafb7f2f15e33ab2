//! How many teams and threads regions of a device ask for that name no numbers.
//!
//! For the host these are the routines of its threading runtime. Other devices choose by what there is to do, launch by
//! launch, and take no number for all of their regions: that is refused by name.

use std::ffi::{CStr, c_int};
use std::sync::OnceLock;

use super::device;
use super::explicit::next;
use crate::devices::Target;
use crate::error::Error;
use crate::guard::{answer, guard};

type Get = unsafe extern "C" fn() -> c_int;
type Set = unsafe extern "C" fn(c_int);

/// What the host's runtime answers; 0, which is no number, where it does not know the question, and of other devices.
fn get(
    routine: &'static str,
    number: c_int,
    slot: &OnceLock<usize>,
    of_host: &'static CStr,
) -> c_int {
    answer(routine, 0, || {
        let Target::Host = device(number)? else { return Ok(0) };
        // SAFETY: a function of the runtime that takes nothing.
        Ok(next::<Get>(slot, of_host).map_or(0, |get| unsafe { get() }))
    })
}

fn set(
    routine: &'static str,
    (told, clause): (c_int, &str),
    number: c_int,
    slot: &OnceLock<usize>,
    of_host: &'static CStr,
) {
    guard(&routine, false, || match device(number)? {
        Target::Host => {
            if let Some(set) = next::<Set>(slot, of_host) {
                // SAFETY: a function of the runtime that keeps a number.
                unsafe { set(told) };
            }
            Ok(())
        }
        Target::Device(it) => {
            let message =
                format!("device {number} (`{}`) takes no number for all its regions", it.kind);
            let help = format!("write `{clause}({told})` on the regions that need it");
            Err(Error::Argument { message, help })
        }
    });
}

/// How many teams regions of a device ask for that say no number; 0: as many as it likes, or there is no such device.
#[unsafe(no_mangle)]
pub extern "C" fn omp_get_device_num_teams(number: c_int) -> c_int {
    static NEXT: OnceLock<usize> = OnceLock::new();
    get("omp_get_device_num_teams", number, &NEXT, c"omp_get_max_teams")
}

/// Sets it.
#[unsafe(no_mangle)]
pub extern "C" fn omp_set_device_num_teams(teams: c_int, number: c_int) {
    static NEXT: OnceLock<usize> = OnceLock::new();
    let routine = "omp_set_device_num_teams";
    set(routine, (teams, "num_teams"), number, &NEXT, c"omp_set_num_teams");
}

/// How many threads a team of a device may have; 0: as many as it likes, or there is no such device.
#[unsafe(no_mangle)]
pub extern "C" fn omp_get_device_teams_thread_limit(number: c_int) -> c_int {
    static NEXT: OnceLock<usize> = OnceLock::new();
    get("omp_get_device_teams_thread_limit", number, &NEXT, c"omp_get_teams_thread_limit")
}

/// Sets it.
#[unsafe(no_mangle)]
pub extern "C" fn omp_set_device_teams_thread_limit(threads: c_int, number: c_int) {
    static NEXT: OnceLock<usize> = OnceLock::new();
    let routine = "omp_set_device_teams_thread_limit";
    set(routine, (threads, "thread_limit"), number, &NEXT, c"omp_set_teams_thread_limit");
}
