//! Work that calls leave on a device: the program cannot tell that it goes on, so nobody waits for it in place.
//!
//! All that is asked of the device later comes after such work, whoever asks; plugins see to that
//! ([`device::Stream::leave`]). Here is what else could tell: who watches or measures, a program that knows addresses of
//! the device and may hand them to other libraries, and the end of the program, which a crash must not miss.
#![allow(unsafe_code, reason = "asks the C library to call back at exit")]

use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering, fence};

use device::Stream;

use crate::devices::{self, DeviceState};
use crate::error::Error;
use crate::guard::guard;
use crate::report;

/// Some call may have left work.
static IS_LEFT: AtomicBool = AtomicBool::new(false);

/// Leaves what is in a stream.
pub(crate) fn leave(stream: &dyn Stream) {
    at_end();
    IS_LEFT.store(true, Ordering::Relaxed);
    stream.leave();
    // Who learns an address of the device at the same time finds what is left, or is found.
    fence(Ordering::SeqCst);
}

impl DeviceState {
    /// The program learns an address of the device, which it may hand to other libraries at any time: from now on every
    /// call is waited for.
    pub(crate) fn make_known(&self) -> Result<(), Error> {
        if self.shares_memory || self.know() {
            return Ok(());
        }
        fence(Ordering::SeqCst);
        waited(self)
    }
}

fn waited(device: &DeviceState) -> Result<(), Error> {
    let waited = device.plugin.wait_for_left();
    waited.map_err(|error| Error::Device { doing: "waiting for regions", what: None, error })
}

/// Waits for all that was left, on all devices; not in a program that ends by a failure.
pub(crate) fn wait() -> Result<(), Error> {
    if !IS_LEFT.load(Ordering::Relaxed) || report::is_failing() {
        return Ok(());
    }
    IS_LEFT.store(false, Ordering::SeqCst);
    devices::opened().iter().filter(|it| !it.shares_memory && it.is_open()).try_for_each(waited)
}

/// In a process that was forked: what was left is its parent's.
pub(crate) fn forget() {
    IS_LEFT.store(false, Ordering::Relaxed);
}

fn at_end() {
    static AT_EXIT: Once = Once::new();
    // SAFETY: `end` is a C function without arguments that never unwinds.
    AT_EXIT.call_once(|| unsafe {
        libc::atexit(end);
    });
}

extern "C" fn end() {
    guard(&"the end of the program", true, wait);
}
