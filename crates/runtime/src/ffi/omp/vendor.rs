//! Additions of LLVM's runtime: kinds of memory, and the dump of all tables.

use std::ffi::{c_int, c_void};
use std::io::Write as _;
use std::ptr;

use ::device::MemoryKind;

use super::memory::{allocate, release};
use crate::args::Place;
use crate::guard::guard;
use crate::{devices, llvm_info};

/// Allocation and release of one kind of memory.
macro_rules! kind {
    ($alloc:ident, $free:ident, $kind:expr) => {
        /// Allocates memory of this kind.
        #[unsafe(no_mangle)]
        pub extern "C" fn $alloc(bytes: usize, number: c_int) -> *mut c_void {
            allocate(stringify!($alloc), bytes, number, $kind)
        }

        /// Frees memory of this kind.
        #[unsafe(no_mangle)]
        pub extern "C" fn $free(at: *mut c_void, number: c_int) {
            release(stringify!($free), at, number);
        }
    };
}

kind!(llvm_omp_target_alloc_device, llvm_omp_target_free_device, MemoryKind::Device);
kind!(llvm_omp_target_alloc_host, llvm_omp_target_free_host, MemoryKind::Host);
kind!(llvm_omp_target_alloc_shared, llvm_omp_target_free_shared, MemoryKind::Shared);

/// Memory of the host needs no locking for our devices.
#[unsafe(no_mangle)]
pub extern "C" fn llvm_omp_target_lock_mem(
    at: *mut c_void,
    _size: usize,
    _number: c_int,
) -> *mut c_void {
    at
}

/// As above.
#[unsafe(no_mangle)]
pub extern "C" fn llvm_omp_target_unlock_mem(_at: *mut c_void, _number: c_int) {}

/// There is none on the host.
#[unsafe(no_mangle)]
pub extern "C" fn llvm_omp_target_dynamic_shared_alloc() -> *mut c_void {
    ptr::null_mut()
}

/// Prints the mapping tables of all devices to standard output.
#[unsafe(no_mangle)]
pub extern "C" fn ompx_dump_mapping_tables() {
    guard(&"ompx_dump_mapping_tables", false, || {
        let table = |it: &devices::DeviceState| {
            llvm_info::table_text(it.number, &it.mapping.snapshot(), &Place::default())
        };
        let text: String = devices::all().iter().map(table).collect();
        let _ = std::io::stdout().write_all(text.as_bytes());
        Ok(())
    });
}
