//! Binaries come and go: called by constructors and exit handlers of the program.

use std::ffi::{c_int, c_void};

use abi::BinaryDescriptor;

use crate::error::Error;
use crate::guard::guard;
use crate::{devices, ending, images, left, queue, registry, tool};

/// Adds the regions, variables and images of a binary.
///
/// # Safety
/// The descriptor and all it leads to stay until [`__tgt_unregister_lib`] gets the same address.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tgt_register_lib(descriptor: *const BinaryDescriptor) {
    guard(&"starting", false, || {
        // SAFETY: the caller's promise, for a pointer that is not null.
        let descriptor = unsafe { descriptor.as_ref() };
        let descriptor = descriptor.ok_or(Error::BadCall("registration without descriptor"))?;
        // SAFETY: the caller's promise.
        unsafe { registry::register(descriptor) }?;
        super::watch_forks();
        ending::watch();
        super::begin()?;
        tool::start(devices::count);
        Ok(())
    });
}

/// Takes a binary out again; one that is not known is ignored.
#[unsafe(no_mangle)]
pub extern "C" fn __tgt_unregister_lib(descriptor: *const BinaryDescriptor) {
    guard(&"ending", false, || {
        // Work that is left needs the binary.
        queue::finish_all();
        left::wait()?;
        // And so do other threads, which end with the program.
        if ending::is_crowded() {
            return Ok(());
        }
        images::unregister(descriptor as usize);
        Ok(())
    });
}

/// Nothing to do: requirements come as entries of a table.
#[unsafe(no_mangle)]
pub extern "C" fn __tgt_register_requires(_bits: i64) {}

/// Nothing to do: the runtime begins when it is first used.
#[unsafe(no_mangle)]
pub extern "C" fn __tgt_rtl_init() {}

/// Nothing to do: devices end with the process.
#[unsafe(no_mangle)]
pub extern "C" fn __tgt_rtl_deinit() {}

/// Opens all devices.
#[unsafe(no_mangle)]
pub extern "C" fn __tgt_init_all_rtls() {
    guard(&"starting", false, || Ok(devices::all().len()));
}

/// How many devices there are: asked by the host's threading runtime.
#[unsafe(no_mangle)]
pub extern "C" fn __tgt_get_num_devices() -> c_int {
    guard(&"starting", false, || Ok(devices::all().len() as c_int))
}

/// Hook of LLVM's tools interface for its plugins; we have none of these.
#[unsafe(no_mangle)]
pub extern "C" fn ompt_libomptarget_connect(_result: *mut c_void) {}
