//! The names of GCC's runtime that `libferry` stands before: each passes its call on to `__wrap_NAME`,
//! which crate `runtime` defines and which calls the function of that name that comes next.
//!
//! A crate of its own, because in a shared library these names are what is wanted, and in a program
//! without shared libraries they must not be: there GCC's runtime defines the same names, and the
//! linker's `--wrap` leads to the same functions. An archive member that nobody asks for is left out.
//!
//! Memory that the calling thread has kept is taken and given here, without passing anything on.
#![allow(unsafe_code, reason = "names of another library, passed on")]
#![allow(non_snake_case, reason = "names are the interface's")]

use std::ffi::{c_int, c_long, c_uint, c_ulong, c_void};

/// The function of a task, and the one that copies its arguments.
type Body = unsafe extern "C" fn(*mut c_void);
type CopyArgs = Option<unsafe extern "C" fn(*mut c_void, *mut c_void)>;

macro_rules! pass_on {
    ($($name:ident = $to:ident($($param:ident: $type:ty),*) $(-> $result:ty)?;)*) => {$(
        unsafe extern "C" {
            fn $to($($param: $type),*) $(-> $result)?;
        }

        /// Passed on.
        ///
        /// # Safety
        /// Called by compiled code.
        #[unsafe(no_mangle)]
        #[allow(clippy::too_many_arguments, reason = "the interface's")]
        pub unsafe extern "C" fn $name($($param: $type),*) $(-> $result)? {
            // SAFETY: the caller's promise.
            unsafe { $to($($param),*) }
        }
    )*};
}

pass_on! {
    GOMP_task = __wrap_GOMP_task(
        body: Body, data: *mut c_void, copy: CopyArgs, bytes: c_long, align: c_long,
        is_deferred: bool, flags: c_uint, depend: *mut *mut c_void, priority: c_int,
        detach: *mut c_void
    );
    GOMP_taskloop = __wrap_GOMP_taskloop(
        body: Body, data: *mut c_void, copy: CopyArgs, bytes: c_long, align: c_long,
        flags: c_uint, tasks: c_ulong, priority: c_int, begin: u64, end: u64, step: u64
    );
    GOMP_taskloop_ull = __wrap_GOMP_taskloop_ull(
        body: Body, data: *mut c_void, copy: CopyArgs, bytes: c_long, align: c_long,
        flags: c_uint, tasks: c_ulong, priority: c_int, begin: u64, end: u64, step: u64
    );
    GOMP_taskwait = __wrap_GOMP_taskwait();
    GOMP_taskwait_depend = __wrap_GOMP_taskwait_depend(depend: *mut *mut c_void);
    GOMP_taskgroup_end = __wrap_GOMP_taskgroup_end();
    GOMP_barrier = __wrap_GOMP_barrier();
    omp_get_default_device = __wrap_omp_get_default_device() -> c_int;
    omp_set_default_device = __wrap_omp_set_default_device(number: c_int);
    omp_init_allocator = __wrap_omp_init_allocator(
        space: usize, count: c_int, traits: *const c_void
    ) -> usize;
    omp_destroy_allocator = __wrap_omp_destroy_allocator(allocator: usize);
    omp_get_default_allocator = __wrap_omp_get_default_allocator() -> usize;
    omp_set_default_allocator = __wrap_omp_set_default_allocator(allocator: usize);
    omp_aligned_alloc = __wrap_omp_aligned_alloc(
        alignment: usize, size: usize, allocator: usize
    ) -> *mut c_void;
    omp_calloc = __wrap_omp_calloc(count: usize, size: usize, allocator: usize) -> *mut c_void;
    omp_aligned_calloc = __wrap_omp_aligned_calloc(
        alignment: usize, count: usize, size: usize, allocator: usize
    ) -> *mut c_void;
    omp_realloc = __wrap_omp_realloc(
        at: *mut c_void, size: usize, allocator: usize, old: usize
    ) -> *mut c_void;
    omp_get_wtime = __wrap_omp_get_wtime() -> f64;
    GOMP_alloc = __wrap_GOMP_alloc(
        alignment: usize, size: usize, allocator: usize
    ) -> *mut c_void;
    GOMP_free = __wrap_GOMP_free(at: *mut c_void, allocator: usize);
}

unsafe extern "C" {
    fn __wrap_omp_alloc(size: usize, allocator: usize) -> *mut c_void;
    fn __wrap_omp_free(at: *mut c_void, allocator: usize);
}

/// Makes memory.
///
/// # Safety
/// Called by compiled code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn omp_alloc(size: usize, allocator: usize) -> *mut c_void {
    let at = memory::allocator::kept(allocator, size);
    if at.is_null() {
        // SAFETY: the caller's promise.
        unsafe { __wrap_omp_alloc(size, allocator) }
    } else {
        at.cast()
    }
}

/// Gives memory back.
///
/// # Safety
/// Memory of the allocator, or of any if that is none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn omp_free(at: *mut c_void, allocator: usize) {
    // SAFETY: the caller's promise.
    unsafe {
        if !memory::allocator::keep(at.cast(), allocator) {
            __wrap_omp_free(at, allocator);
        }
    }
}
