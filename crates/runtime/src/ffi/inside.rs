//! What the helper of `cpu:separate` calls, in its own process.

use std::ffi::c_int;

use crate::guard::guard;
use crate::{ancestor, host};

/// From now on the calling thread, and every thread and task that it creates, runs for the device.
#[unsafe(no_mangle)]
pub extern "C" fn __ferry_enter_device(number: c_int) {
    guard(&"entering a device", false, || {
        host::stay(usize::try_from(number).unwrap_or(0));
        Ok(())
    });
}

/// Kernels of this process ask the host through that descriptor, which is the library's now.
#[unsafe(no_mangle)]
pub extern "C" fn __ferry_host_channel(descriptor: c_int) {
    guard(&"greeting the host", false, || {
        ancestor::hear(descriptor);
        Ok(())
    });
}
