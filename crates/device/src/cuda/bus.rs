//! The way between memory of the host and a GPU, for large copies ([`crate::gpu::relay`]).

use std::alloc::{self, Layout};
use std::ptr;
use std::sync::OnceLock;

use cudarc::driver::sys::{
    self, CUevent, CUevent_flags_enum, CUpointer_attribute_enum as Attribute, CUresult,
};

use super::driver::check;
use crate::Result;
use crate::gpu::relay::{BYTES, On, PLACES};

/// Of the context that is current.
#[derive(Debug, Default)]
pub(super) struct Bus {
    /// Where the copies of places end.
    marks: OnceLock<Box<[CUevent]>>,
}

// SAFETY: events may be used from all threads at once.
#[allow(unsafe_code, reason = "handles of a library that is safe for threads")]
unsafe impl Send for Bus {}
// SAFETY: as above.
#[allow(unsafe_code, reason = "handles of a library that is safe for threads")]
unsafe impl Sync for Bus {}

impl Bus {
    /// None is never asked for before there are all.
    fn mark(&self, number: usize) -> CUevent {
        let marks = self.marks.get();
        marks.and_then(|it| it.get(number)).copied().unwrap_or(ptr::null_mut())
    }

    #[allow(unsafe_code, reason = "asks the driver")]
    fn record(&self, on: On) -> Result<()> {
        // SAFETY: an event and a stream of the current context.
        let code = unsafe { sys::cuEventRecord(self.mark(on.mark), on.stream.cast()) };
        check("ordering copies", code)
    }
}

#[allow(unsafe_code, reason = "asks the driver")]
impl crate::gpu::relay::Bus for Bus {
    fn reaches(&self, at: *const u8) -> bool {
        let mut kind = 0_u32;
        let asked = Attribute::CU_POINTER_ATTRIBUTE_MEMORY_TYPE;
        // SAFETY: writes one number; the address may be any.
        let code = unsafe { sys::cuPointerGetAttribute((&raw mut kind).cast(), asked, at as u64) };
        code == CUresult::CUDA_SUCCESS
    }

    fn places(&self) -> Option<*mut u8> {
        /// Large pages: few are locked in a moment, many of the common size are not.
        const PAGE: usize = 2 << 20;
        let mut marks = [ptr::null_mut(); PLACES];
        let flags = CUevent_flags_enum::CU_EVENT_DISABLE_TIMING as u32;
        for mark in &mut marks {
            // SAFETY: writes one handle; the context is current.
            check("making an event", unsafe { sys::cuEventCreate(mark, flags) }).ok()?;
        }
        let layout = Layout::from_size_align(BYTES, PAGE).ok()?;
        // SAFETY: not of no bytes. The system is asked for large pages before there are any; what is written
        // then is memory of our own.
        let memory = unsafe { alloc::alloc(layout) };
        if memory.is_null() {
            return None;
        }
        // SAFETY: as above.
        unsafe {
            libc::madvise(memory.cast(), BYTES, libc::MADV_HUGEPAGE);
            memory.write_bytes(0, BYTES);
        }
        // SAFETY: memory of our own, which stays.
        let code = unsafe {
            sys::cuMemHostRegister_v2(memory.cast(), BYTES, sys::CU_MEMHOSTREGISTER_PORTABLE)
        };
        if check("locking memory", code).is_err() {
            // SAFETY: it was made above and nobody knows it.
            unsafe { alloc::dealloc(memory, layout) };
            return None;
        }
        self.marks.set(Box::new(marks)).ok().map(|()| memory)
    }

    unsafe fn put_in(&self, on: On, device: u64, place: *const u8, len: usize) -> Result<()> {
        // SAFETY: the caller's promise.
        let code =
            unsafe { sys::cuMemcpyHtoDAsync_v2(device, place.cast(), len, on.stream.cast()) };
        check("copying to the device", code)?;
        self.record(on)
    }

    unsafe fn put_out(&self, on: On, place: *mut u8, device: u64, len: usize) -> Result<()> {
        // SAFETY: the caller's promise.
        let code =
            unsafe { sys::cuMemcpyDtoHAsync_v2(place.cast(), device, len, on.stream.cast()) };
        check("copying from the device", code)?;
        self.record(on)
    }

    fn is_done(&self, mark: usize) -> Result<bool> {
        // SAFETY: an event of the current context.
        match unsafe { sys::cuEventQuery(self.mark(mark)) } {
            CUresult::CUDA_ERROR_NOT_READY => Ok(false),
            code => check("copying to the device", code).map(|()| true),
        }
    }

    fn wait(&self, mark: usize) -> Result<()> {
        // SAFETY: as above.
        let code = unsafe { sys::cuEventSynchronize(self.mark(mark)) };
        check("copying", code)
    }
}
