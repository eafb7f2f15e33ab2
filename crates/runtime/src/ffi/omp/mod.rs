//! The device routines of the standard, as C programs call them.
//!
//! - [`allocators`]: memory of the host by allocators
//! - [`devices`]: numbers and places
//! - [`memory`]: allocation and presence
//! - [`clock`]: time, when regions are done
//! - [`copy`]: copies and fills, contiguous and rectangular
//! - [`associate`]: pointers that the program maps itself
//! - [`explicit`]: whether a thread runs an explicit task
//! - [`interop`]: interoperability objects
//! - [`partitions`]: parts of memory that the program decides on
//! - [`requested`]: teams and threads of regions that say no numbers
//! - [`spaces`]: memory spaces and allocators of devices
//! - [`tasks`]: locks, tasks and tools, as far as the host's runtime lacks them
//! - [`waiting`]: host directives that wait for work of ours too
//! - [`vendor`]: additions that LLVM's runtime has

pub mod allocators;
pub mod associate;
pub mod clock;
pub mod copy;
pub mod devices;
pub mod explicit;
pub mod interop;
pub mod memory;
pub mod partitions;
pub mod requested;
pub mod spaces;
pub mod tasks;
pub mod vendor;
pub mod waiting;

use std::ffi::c_int;

use crate::devices::{Target, all, numbered};
use crate::error::Error;
use crate::ffi::EntryPoint;

/// Where a tool's user sees an operation.
pub(super) static ENTRY_POINTS: [EntryPoint; 26] = [
    EntryPoint(memory::omp_target_alloc as *const ()),
    EntryPoint(memory::omp_target_free as *const ()),
    EntryPoint(copy::omp_target_memcpy as *const ()),
    EntryPoint(copy::omp_target_memcpy_async as *const ()),
    EntryPoint(copy::omp_target_memcpy_rect as *const ()),
    EntryPoint(copy::omp_target_memcpy_rect_async as *const ()),
    EntryPoint(associate::omp_target_associate_ptr as *const ()),
    EntryPoint(associate::omp_target_disassociate_ptr as *const ()),
    EntryPoint(tasks::omp_control_tool as *const ()),
    EntryPoint(vendor::llvm_omp_target_alloc_device as *const ()),
    EntryPoint(vendor::llvm_omp_target_alloc_host as *const ()),
    EntryPoint(vendor::llvm_omp_target_alloc_shared as *const ()),
    EntryPoint(allocators::__wrap_omp_init_allocator as *const ()),
    EntryPoint(allocators::__wrap_omp_destroy_allocator as *const ()),
    EntryPoint(allocators::__wrap_omp_get_default_allocator as *const ()),
    EntryPoint(allocators::__wrap_omp_set_default_allocator as *const ()),
    EntryPoint(allocators::__wrap_omp_alloc as *const ()),
    EntryPoint(allocators::not_kept as *const ()),
    EntryPoint(allocators::give_back_plain as *const ()),
    EntryPoint(allocators::__wrap_omp_aligned_alloc as *const ()),
    EntryPoint(allocators::__wrap_omp_calloc as *const ()),
    EntryPoint(allocators::__wrap_omp_aligned_calloc as *const ()),
    EntryPoint(allocators::__wrap_omp_realloc as *const ()),
    EntryPoint(allocators::__wrap_omp_free as *const ()),
    EntryPoint(allocators::__wrap_GOMP_alloc as *const ()),
    EntryPoint(allocators::__wrap_GOMP_free as *const ()),
];

/// The constant of the standard for the host, beside the number after the last device.
const INITIAL_DEVICE: c_int = -1;

/// The device that a routine means; routines do not ask the policy.
fn device(number: c_int) -> Result<Target, Error> {
    match number {
        INITIAL_DEVICE => Ok(Target::Host),
        number => numbered(i64::from(number)),
    }
}

/// The number of the host.
fn initial_device() -> c_int {
    c_int::try_from(all().len()).unwrap_or(c_int::MAX)
}
