//! Memory of devices that share no addresses with the host: a few large buffers, cut into blocks here.
//!
//! Before version 2.0 memory is buffers, of which a kernel sees those that it is passed, and an address means nothing
//! outside of kernels. But pointers in data must lead somewhere. So there are few buffers, every kernel is passed all of
//! them, and a kernel tells where each is; an address is then a place in a buffer, for kernels and for us. The standard
//! does not promise that a buffer stays where it is between kernels. Drivers keep it there; kernels look, and do nothing
//! where that is not so ([`Moved`]).

use std::collections::BTreeMap;
use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use abi::image::OPENCL_MEMORIES;
use abi::names::{FAULT_ABORT, FAULT_ASSERT, FAULT_ERROR, FAULT_FUNCTION, FAULT_MEMORY};
use cl3::command_queue as queue;
use cl3::kernel;
use cl3::memory::{self, CL_MEM_READ_WRITE};
use cl3::program;
use cl3::types::{
    CL_BLOCKING, CL_NON_BLOCKING, cl_bool, cl_command_queue, cl_context, cl_event, cl_int, cl_mem,
};

use super::choose::Chosen;
use super::program::WORD;
use super::{failure, queues};
use crate::memory::DevicePtr;
use crate::{DeviceError, Result};

/// Blocks begin at multiples of this.
const GRAIN: usize = 256;
/// The first buffer has so many bytes, each next one four times as many.
const FIRST: usize = 256 << 20;
const GROWTH: usize = 4;

/// Tells where a buffer is.
const WHERE: &str =
    "__kernel void ferry_where(__global char *m, __global ulong *at) { *at = (ulong)m; }";

/// Whether a kernel has found a buffer elsewhere than before, or another fault in itself: a word that the driver copies here
/// behind every kernel.
#[derive(Debug, Default)]
pub(super) struct Moved(AtomicU64);

impl Moved {
    /// An error if one has.
    pub(super) fn check(&self) -> Result<()> {
        match self.0.load(Ordering::Acquire) {
            0 => Ok(()),
            FAULT_FUNCTION..=FAULT_ERROR => found(self.0.load(Ordering::Acquire)),
            _ => Err(DeviceError::Failed(
                "OpenCL: the driver moves memory between kernels, so pointers in data lead nowhere: this device \
                 cannot be used"
                    .into(),
            )),
        }
    }
}

/// What a kernel says of a fault that it has found in itself; zero for none.
pub(super) fn found(fault: u64) -> Result<()> {
    let what = match fault {
        0 => return Ok(()),
        FAULT_MEMORY => "it has no memory left for an array whose length is computed",
        FAULT_ABORT => "abort() was called",
        FAULT_ASSERT => "an assertion failed",
        FAULT_ERROR => "an `error` directive was reached",
        _ => "it called a function of which the device knows nothing",
    };
    Err(DeviceError::Fault { address: None, what: what.into() })
}

/// The buffers of a device.
#[derive(Debug)]
pub(super) struct Buffers {
    context: cl_context,
    /// The largest that the driver hands out.
    most: usize,
    chosen: cl3::types::cl_device_id,
    all: Mutex<Vec<Buffer>>,
    /// Two words that kernels share: whether a buffer has moved, and the lock.
    table: cl_mem,
    pub(super) moved: Arc<Moved>,
}

/// One of them.
#[derive(Debug)]
struct Buffer {
    handle: cl_mem,
    /// Where kernels see it.
    base: u64,
    size: usize,
    /// What is not handed out: places and sizes. Neighbours are one.
    free: BTreeMap<usize, usize>,
    used: BTreeMap<usize, usize>,
}

impl Buffer {
    fn take(&mut self, size: usize) -> Option<u64> {
        let (at, room) = self.free.iter().find(|it| *it.1 >= size).map(|it| (*it.0, *it.1))?;
        self.free.remove(&at);
        if room > size {
            self.free.insert(at + size, room - size);
        }
        self.used.insert(at, size);
        Some(self.base + at as u64)
    }

    fn put(&mut self, at: usize) -> bool {
        let Some(mut size) = self.used.remove(&at) else { return false };
        let mut at = at;
        if let Some((before, room)) = self.free.range(..at).next_back().map(|it| (*it.0, *it.1))
            && before + room == at
        {
            self.free.remove(&before);
            (at, size) = (before, size + room);
        }
        if let Some(room) = self.free.remove(&(at + size)) {
            size += room;
        }
        self.free.insert(at, size);
        true
    }

    fn offset(&self, at: u64) -> Option<usize> {
        let offset = usize::try_from(at.checked_sub(self.base)?).ok()?;
        (offset < self.size).then_some(offset)
    }
}

impl Buffers {
    /// None yet.
    pub(super) fn new(context: cl_context, chosen: &Chosen) -> Result<Buffers> {
        let table = made(context, 2 * WORD)?;
        let buffers = Buffers {
            context,
            most: chosen.largest,
            chosen: chosen.id,
            all: Mutex::default(),
            table,
            moved: Arc::default(),
        };
        buffers.write_now(table, &[0, 0])?;
        Ok(buffers)
    }

    fn all(&self) -> MutexGuard<'_, Vec<Buffer>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The lock of all buffers, for one who makes a copy of the process.
    pub(super) fn hold(&self) -> impl Sized + '_ {
        self.all()
    }

    /// Memory for a block; none if there is no room.
    pub(super) fn take(&self, bytes: usize) -> Result<Option<u64>> {
        let size = bytes.max(1).checked_next_multiple_of(GRAIN);
        let Some(size) = size.filter(|it| *it <= self.most) else { return Ok(None) };
        let mut all = self.all();
        if let Some(at) = all.iter_mut().find_map(|it| it.take(size)) {
            return Ok(Some(at));
        }
        let wished = u32::try_from(all.len()).ok().and_then(|it| GROWTH.checked_pow(it));
        let wished = wished.and_then(|it| it.checked_mul(FIRST)).unwrap_or(usize::MAX);
        // The last one is as large as can be.
        let wished = if all.len() + 1 == OPENCL_MEMORIES { self.most } else { wished };
        if all.len() == OPENCL_MEMORIES {
            return Ok(None);
        }
        // A driver may have less than it says.
        let mut tried = wished.min(self.most).max(size);
        let buffer = loop {
            match self.buffer(tried) {
                Ok(buffer) => break buffer,
                Err(_) if tried > size => tried = (tried / 2).max(size),
                Err(_) => return Ok(None),
            }
        };
        all.push(buffer);
        Ok(all.last_mut().and_then(|it| it.take(size)))
    }

    /// Takes a block back.
    pub(super) fn put(&self, at: u64) {
        let put = |it: &mut Buffer| it.offset(at).is_some_and(|at| it.put(at));
        let _ = self.all().iter_mut().any(put);
    }

    /// A new buffer, and where kernels see it.
    fn buffer(&self, size: usize) -> Result<Buffer> {
        let handle = made(self.context, size)?;
        let base = self.address_of(handle).inspect_err(|_| {
            // SAFETY: nobody has it.
            #[allow(unsafe_code, reason = "a handle is given back")]
            let _ = unsafe { memory::release_mem_object(handle) };
        })?;
        let (free, used) = (BTreeMap::from([(0, size)]), BTreeMap::new());
        Ok(Buffer { handle, base, size, free, used })
    }

    /// Asks a kernel where a buffer is.
    #[allow(unsafe_code, reason = "a kernel and its arguments")]
    fn address_of(&self, buffer: cl_mem) -> Result<u64> {
        let failed = |code| failure("asking where memory is", code);
        let program =
            program::create_program_with_source(self.context, &[WHERE]).map_err(failed)?;
        program::build_program(program, &[self.chosen], c"-cl-std=CL1.2", None, ptr::null_mut())
            .map_err(failed)?;
        let kernel = kernel::create_kernel(program, c"ferry_where").map_err(failed)?;
        let answer = made(self.context, WORD)?;
        let mut at = [0_u64];
        let set = |index, it: &cl_mem| {
            // SAFETY: the kernel takes two buffers; the driver copies the handle now.
            unsafe { kernel::set_kernel_arg(kernel, index, WORD, ptr::from_ref(it).cast()) }
        };
        set(0, &buffer).and_then(|()| set(1, &answer)).map_err(failed)?;
        self.with_queue(|queue| {
            let one = [1];
            // SAFETY: one thread of a kernel whose arguments are set, and a copy of one word that is waited for.
            unsafe {
                let (from, none) = (ptr::null(), ptr::null());
                let sizes = (one.as_ptr(), one.as_ptr());
                let ran = queue::enqueue_nd_range_kernel(
                    queue, kernel, 1, from, sizes.0, sizes.1, 0, none,
                )?;
                queues::release(ran);
                let to = at.as_mut_ptr().cast();
                queue::enqueue_read_buffer(queue, answer, CL_BLOCKING, 0, WORD, to, 0, ptr::null())
            }
        })?;
        // SAFETY: handles of ours that are not used again.
        unsafe {
            let _ = kernel::release_kernel(kernel);
            let _ = program::release_program(program);
            let _ = memory::release_mem_object(answer);
        }
        let [at] = at;
        Ok(at)
    }

    #[allow(unsafe_code, reason = "memory by address")]
    fn write_now(&self, to: cl_mem, words: &[u64]) -> Result<()> {
        let len = words.len() * WORD;
        self.with_queue(|queue| {
            let from = words.as_ptr().cast();
            // SAFETY: the buffer was made for them, and the call waits.
            unsafe {
                queue::enqueue_write_buffer(queue, to, CL_BLOCKING, 0, len, from, 0, ptr::null())
            }
        })
    }

    /// Does something in a queue of its own, to its end.
    #[allow(unsafe_code, reason = "a queue of the driver's")]
    fn with_queue(
        &self,
        act: impl FnOnce(cl_command_queue) -> std::result::Result<cl_event, cl_int>,
    ) -> Result<()> {
        let failed = |code| failure("asking where memory is", code);
        // SAFETY: the device is the one of the context.
        let queue = unsafe { queue::create_command_queue(self.context, self.chosen, 0) };
        let queue = queue.map_err(failed)?;
        let done = act(queue).map(queues::release).and_then(|()| queue::finish(queue));
        // SAFETY: the handle is ours, and nothing is left in it.
        let _ = unsafe { queue::release_command_queue(queue) };
        done.map_err(failed)
    }

    /// From now on buffers are said to be elsewhere than they are.
    #[cfg(test)]
    pub(super) fn pretend_moved(&self) {
        self.all().iter_mut().for_each(|it| it.base += GRAIN as u64);
    }

    /// What a kernel is passed: each buffer and where it was, and the words that kernels share.
    pub(super) fn arguments(&self) -> Vec<u64> {
        let all = self.all();
        let places: Vec<[u64; 2]> = all.iter().map(|it| [it.handle as u64, it.base]).collect();
        let first = places.first().copied().unwrap_or([self.table as u64, 0]);
        let mut words: Vec<u64> = Vec::new();
        for number in 0..OPENCL_MEMORIES {
            words.extend(places.get(number).copied().unwrap_or(first));
        }
        words.push(self.table as u64);
        words
    }

    /// Asks for the word that kernels write if a buffer has moved, behind one of them.
    #[allow(unsafe_code, reason = "memory by address")]
    pub(super) fn look(&self, queue: cl_command_queue) -> std::result::Result<cl_event, cl_int> {
        let to = self.moved.0.as_ptr().cast();
        // SAFETY: the word lives as long as the queues do, which have a share in it; it is read as an atomic.
        unsafe {
            queue::enqueue_read_buffer(
                queue,
                self.table,
                CL_NON_BLOCKING,
                0,
                WORD,
                to,
                0,
                ptr::null(),
            )
        }
    }

    /// The buffer that an address is in, and where in it.
    fn place(&self, at: DevicePtr, len: usize) -> std::result::Result<(cl_mem, usize), cl_int> {
        let all = self.all();
        let found = all.iter().find_map(|it| {
            let offset = it.offset(at.0)?;
            (len <= it.size - offset).then_some((it.handle, offset))
        });
        found.ok_or(cl3::error_codes::CL_INVALID_VALUE)
    }

    /// Asks for a copy to the device, at its turn.
    ///
    /// # Safety
    /// There are `len` bytes at `from`, which stay until it is done.
    #[allow(unsafe_code, reason = "memory by address")]
    pub(super) unsafe fn write(
        &self,
        queue: cl_command_queue,
        how: cl_bool,
        to: DevicePtr,
        from: *const c_void,
        len: usize,
    ) -> std::result::Result<cl_event, cl_int> {
        let (buffer, at) = self.place(to, len)?;
        // SAFETY: the caller's promise.
        unsafe { queue::enqueue_write_buffer(queue, buffer, how, at, len, from, 0, ptr::null()) }
    }

    /// The same from the device.
    ///
    /// # Safety
    /// There are `len` bytes at `to`, which stay until it is done.
    #[allow(unsafe_code, reason = "memory by address")]
    pub(super) unsafe fn read(
        &self,
        queue: cl_command_queue,
        to: *mut c_void,
        from: DevicePtr,
        len: usize,
    ) -> std::result::Result<cl_event, cl_int> {
        let (buffer, at) = self.place(from, len)?;
        let how = CL_NON_BLOCKING;
        // SAFETY: the caller's promise.
        unsafe { queue::enqueue_read_buffer(queue, buffer, how, at, len, to, 0, ptr::null()) }
    }

    /// The same within the device.
    #[allow(unsafe_code, reason = "asks the driver")]
    pub(super) fn copy(
        &self,
        queue: cl_command_queue,
        to: DevicePtr,
        from: DevicePtr,
        len: usize,
    ) -> std::result::Result<cl_event, cl_int> {
        let ((to, to_at), (from, from_at)) = (self.place(to, len)?, self.place(from, len)?);
        // SAFETY: both ranges are in their buffers.
        unsafe { queue::enqueue_copy_buffer(queue, from, to, from_at, to_at, len, 0, ptr::null()) }
    }

    /// Fills memory of the device, at its turn.
    #[allow(unsafe_code, reason = "asks the driver")]
    pub(super) fn fill(
        &self,
        queue: cl_command_queue,
        at: DevicePtr,
        byte: u8,
        len: usize,
    ) -> std::result::Result<cl_event, cl_int> {
        let (buffer, at) = self.place(at, len)?;
        let pattern = (&raw const byte).cast();
        // SAFETY: the range is in the buffer; the pattern is one byte, which the driver copies now.
        unsafe { queue::enqueue_fill_buffer(queue, buffer, pattern, 1, at, len, 0, ptr::null()) }
    }
}

/// Memory of the driver's.
#[allow(unsafe_code, reason = "asks the driver")]
fn made(context: cl_context, size: usize) -> Result<cl_mem> {
    // SAFETY: asks for memory that nobody else has a share in.
    unsafe { memory::create_buffer(context, CL_MEM_READ_WRITE, size, ptr::null_mut()) }
        .map_err(|code| failure("asking for memory", code))
}
