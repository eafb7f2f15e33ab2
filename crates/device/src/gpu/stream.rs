//! Streams of GPUs, over what a maker's driver puts into one ([`Gpu`]): [`Open`] is the stream of one caller.
//!
//! Calls that wait are streams too: opened, used once, waited for ([`waited`]).

use std::cell::{Cell, RefCell};
use std::ptr;

use super::pool::{Own, Pool, Work};
use crate::memory::DevicePtr;
use crate::{DeviceError, Event, Held, Kernel, Launch, Result, Started, Stream};

/// What the driver of a GPU does. Each call puts something into a stream and returns; the GPU is the current
/// one of the thread.
#[allow(unsafe_code, reason = "addresses of two memories: what they mean is the caller's promise")]
pub(crate) trait Gpu: Sync {
    /// Its streams.
    fn pool(&self) -> &Pool;

    /// Makes it the current one of the thread until the answer is dropped.
    fn enter(&self) -> Result<Box<dyn Held>>;

    /// Copies to the device.
    ///
    /// # Safety
    /// As [`Stream::copy_in`].
    unsafe fn put_copy_in(
        &self,
        on: &mut Own,
        dst: DevicePtr,
        src: *const u8,
        len: usize,
    ) -> Result<()>;

    /// Copies to the host; answers where the bytes come if that is not `dst`, until the stream is used again.
    ///
    /// # Safety
    /// As [`Stream::copy_out`], until the stream was waited for.
    unsafe fn put_copy_out(
        &self,
        on: &mut Own,
        dst: *mut u8,
        src: DevicePtr,
        len: usize,
    ) -> Result<Option<*const u8>>;

    /// Fills memory.
    ///
    /// # Safety
    /// As [`Stream::fill`].
    unsafe fn put_fill(&self, on: &mut Own, dst: DevicePtr, byte: u8, len: usize) -> Result<()>;

    /// Starts a kernel; arguments are read when it returns.
    ///
    /// # Safety
    /// As [`Stream::launch`].
    unsafe fn put_launch(
        &self,
        on: &mut Own,
        kernel: Kernel,
        args: &[u64],
        launch: &Launch<'_>,
    ) -> Result<()>;

    /// Whether kernels may hand regions back to the host: they are waited for when they are started, as the host must not be at
    /// work on their data for anybody else.
    fn calls_host(&self) -> bool {
        false
    }

    /// Whether the program cannot tell when a kernel runs.
    fn may_leave(&self) -> bool {
        true
    }

    /// What an error means for the device. `kernel` is the one that was started last, if one was.
    fn noted(&self, error: DeviceError, kernel: Option<&str>) -> DeviceError {
        let _ = kernel;
        error
    }
}

/// The stream of one caller. Dropped, it is waited for.
pub(crate) struct Open<'a, G: Gpu + ?Sized> {
    gpu: &'a G,
    /// None when its work goes on without the caller.
    own: RefCell<Option<Own>>,
    /// There is work that was not waited for.
    is_behind: Cell<bool>,
    /// The last kernel that was started, if there was one.
    started: RefCell<Option<Started>>,
    /// Nobody needs to wait for it.
    is_left: Cell<bool>,
    _here: Box<dyn Held>,
}

impl<'a, G: Gpu + ?Sized> Open<'a, G> {
    /// One whose work the caller waits for.
    pub(crate) fn new(gpu: &'a G) -> Result<Open<'a, G>> {
        let here = gpu.enter()?;
        Ok(Open::of(gpu, here, gpu.pool().take()?))
    }

    /// One whose work is submitted, behind these events.
    pub(crate) fn behind(gpu: &'a G, events: &[Event]) -> Result<Option<Open<'a, G>>> {
        let here = gpu.enter()?;
        Ok(gpu.pool().take_behind(events)?.map(|own| Open::of(gpu, here, own)))
    }

    fn of(gpu: &'a G, here: Box<dyn Held>, own: Own) -> Open<'a, G> {
        // What others have left in it was not waited for.
        let (is_behind, is_left) = (Cell::new(own.has_left()), Cell::new(false));
        let started = RefCell::default();
        Open { gpu, own: RefCell::new(Some(own)), is_behind, started, is_left, _here: here }
    }

    /// Puts something into the stream.
    pub(crate) fn put<T>(&self, work: Work, act: impl FnOnce(&mut Own) -> Result<T>) -> Result<T> {
        let mut own = self.own.borrow_mut();
        let Some(own) = own.as_mut() else { return Err(gone()) };
        let ordered = self.gpu.pool().order(own, work);
        self.is_behind.set(true);
        let done = ordered.and_then(|()| act(own)).map_err(|error| self.noted(error, When::Put));
        if work == Work::Copy {
            self.gpu.pool().changed(own);
        }
        done
    }

    fn noted(&self, error: DeviceError, when: When) -> DeviceError {
        let started = self.started.borrow();
        noted(self.gpu, (error, when), started.as_ref())
    }
}

/// When an error was found.
#[derive(Clone, Copy, PartialEq, Eq)]
enum When {
    /// While something was put into a stream: it may be the fault of that.
    Put,
    /// While work was waited for.
    Waited,
}

/// What an error means where kernels may be under way that nobody has waited for. `started` is the last one of who
/// has waited.
fn noted<G: Gpu + ?Sized>(
    gpu: &G,
    (error, when): (DeviceError, When),
    started: Option<&Started>,
) -> DeviceError {
    let what = if let DeviceError::Fault { what, .. } = &error {
        Some(what.clone())
    } else if let DeviceError::Failed(what) = &error {
        // Some drivers have other words for a crash.
        (when == When::Waited).then(|| what.clone())
    } else {
        None
    };
    let mut kernels = if what.is_some() { gpu.pool().left() } else { Vec::new() };
    kernels.extend(started.filter(|it| !kernels.contains(it)).cloned());
    let is_own = kernels.iter().all(|it| Some(it) == started);
    let error = match what {
        Some(what) if !is_own => DeviceError::Earlier { kernels, what },
        _ => error,
    };
    gpu.noted(error, started.map(|it| it.name.as_str()))
}

fn gone() -> DeviceError {
    DeviceError::Failed("a stream was used after its end".into())
}

#[allow(unsafe_code, reason = "addresses of two memories: what they mean is the caller's promise")]
impl<G: Gpu + ?Sized> Stream for Open<'_, G> {
    unsafe fn copy_in(&self, dst: DevicePtr, src: *const u8, len: usize) -> Result<()> {
        if len == 0 {
            return Ok(());
        }
        // SAFETY: the caller's promise.
        self.put(Work::Copy, |on| unsafe { self.gpu.put_copy_in(on, dst, src, len) })
    }

    unsafe fn copy_in_own(&self, dst: DevicePtr, src: *const u8, len: usize) -> Result<()> {
        if len == 0 {
            return Ok(());
        }
        // SAFETY: the caller's promise.
        self.put(Work::Own, |on| unsafe { self.gpu.put_copy_in(on, dst, src, len) })
    }

    unsafe fn copy_out(&self, dst: *mut u8, src: DevicePtr, len: usize) -> Result<()> {
        if len == 0 {
            return Ok(());
        }
        // SAFETY: the caller's promise.
        let put = self.put(Work::Own, |on| unsafe { self.gpu.put_copy_out(on, dst, src, len) });
        // What was begun is waited for in any case: its memory is the caller's.
        let waited = self.synchronise();
        if let Some(from) = put.and_then(|it| waited.map(|()| it))? {
            // SAFETY: `len` bytes have come there, and as many can be written at `dst` by contract.
            unsafe { ptr::copy_nonoverlapping(from, dst, len) };
        }
        Ok(())
    }

    unsafe fn fill(&self, dst: DevicePtr, byte: u8, len: usize) -> Result<()> {
        if len == 0 {
            return Ok(());
        }
        // SAFETY: the caller's promise.
        self.put(Work::Copy, |on| unsafe { self.gpu.put_fill(on, dst, byte, len) })
    }

    unsafe fn launch(&self, kernel: Kernel, args: &[u64], launch: &Launch<'_>) -> Result<()> {
        let (name, source) = (launch.name.to_owned(), launch.source.to_owned());
        self.started.replace(Some(Started { name, source }));
        // SAFETY: the caller's promise.
        self.put(Work::Kernel, |on| unsafe { self.gpu.put_launch(on, kernel, args, launch) })?;
        if self.gpu.calls_host() { self.synchronise() } else { Ok(()) }
    }

    fn is_idle(&self) -> bool {
        !self.is_behind.get()
    }

    fn synchronise(&self) -> Result<()> {
        let mut own = self.own.borrow_mut();
        let Some(own) = own.as_mut().filter(|_| self.is_behind.replace(false)) else {
            return Ok(());
        };
        self.gpu.pool().wait(own, "waiting").map_err(|error| self.noted(error, When::Waited))
    }

    fn leave(&self) -> bool {
        let mut own = self.own.borrow_mut();
        let Some(own) = own.as_mut().filter(|_| self.gpu.may_leave()) else { return false };
        let started = self.started.borrow();
        let is_left = !self.is_behind.get() || self.gpu.pool().leave(own, started.as_ref());
        self.is_left.set(is_left);
        is_left
    }

    fn is_left(&self) -> bool {
        let is_safe = |own: &Own| own.has_read() && (own.has_left() || !self.is_behind.get());
        self.is_left.get() && self.own.borrow().as_ref().is_some_and(is_safe)
    }

    fn submit(self: Box<Self>) -> Result<Event> {
        let own = self.own.take();
        own.map(|own| self.gpu.pool().submit(own)).ok_or_else(gone)
    }
}

impl<G: Gpu + ?Sized> Drop for Open<'_, G> {
    fn drop(&mut self) {
        if !self.is_left() {
            // Who wants to know what went wrong has waited.
            let _ = self.synchronise();
        }
        if let Some(own) = self.own.take() {
            self.gpu.pool().put(own);
        }
    }
}

/// What a [`crate::Device`] does that is a [`Gpu`]: calls that wait are streams of their own.
macro_rules! by_streams {
    () => {
        unsafe fn copy_in(&self, dst: DevicePtr, src: *const u8, len: usize) -> Result<()> {
            // SAFETY: the caller's promise.
            stream::waited(self, |it| unsafe { it.copy_in(dst, src, len) })
        }

        unsafe fn copy_out(&self, dst: *mut u8, src: DevicePtr, len: usize) -> Result<()> {
            // SAFETY: the caller's promise.
            stream::waited(self, |it| unsafe { it.copy_out(dst, src, len) })
        }

        unsafe fn fill(&self, dst: DevicePtr, byte: u8, len: usize) -> Result<()> {
            // SAFETY: the caller's promise.
            stream::waited(self, |it| unsafe { it.fill(dst, byte, len) })
        }

        unsafe fn launch(&self, kernel: Kernel, args: &[u64], launch: &Launch<'_>) -> Result<()> {
            // SAFETY: the caller's promise.
            stream::waited(self, |it| unsafe { it.launch(kernel, args, launch) })
        }

        fn stream(&self) -> Option<Box<dyn $crate::Stream + '_>> {
            // What fails here fails again in the next call, which says so.
            stream::Open::new(self).ok().map(|it| Box::new(it) as Box<dyn $crate::Stream>)
        }

        fn stream_behind(&self, events: &[$crate::Event]) -> Option<Box<dyn $crate::Stream + '_>> {
            // As above.
            let opened = stream::Open::behind(self, events).ok().flatten();
            opened.map(|it| Box::new(it) as Box<dyn $crate::Stream>)
        }

        fn wait(&self, event: $crate::Event, kernel: &str) -> Result<()> {
            stream::wait_for(self, event, kernel)
        }

        fn wait_for_all(&self, events: &[$crate::Event]) -> Result<()> {
            stream::wait_for_all(self, events)
        }

        fn wait_for_left(&self) -> Result<()> {
            stream::wait_for_left(self)
        }
    };
}
pub(crate) use by_streams;

/// Does something in a stream of its own, and waits for it.
pub(crate) fn waited<G: Gpu + ?Sized>(
    gpu: &G,
    act: impl FnOnce(&Open<'_, G>) -> Result<()>,
) -> Result<()> {
    let stream = Open::new(gpu)?;
    let done = act(&stream);
    // What was begun is waited for in any case: its memory is the caller's.
    done.and(stream.synchronise())
}

/// Waits for an event; a crash is one of `kernel`.
pub(crate) fn wait_for<G: Gpu + ?Sized>(gpu: &G, event: Event, kernel: &str) -> Result<()> {
    let Some(stream) = gpu.pool().under_way(event) else { return Ok(()) };
    let _here = gpu.enter()?;
    let started = Started { name: kernel.to_owned(), source: String::new() };
    let waited = gpu.pool().wait_for(&stream);
    waited.map_err(|error| noted(gpu, (error, When::Waited), Some(&started)))
}

/// Waits for all work that was left.
pub(crate) fn wait_for_left<G: Gpu + ?Sized>(gpu: &G) -> Result<()> {
    if !gpu.pool().has_left() {
        return Ok(());
    }
    let _here = gpu.enter()?;
    gpu.pool().wait_for_left().map_err(|error| noted(gpu, (error, When::Waited), None))
}

/// Waits for several at once.
pub(crate) fn wait_for_all<G: Gpu + ?Sized>(gpu: &G, events: &[Event]) -> Result<()> {
    let _here = gpu.enter()?;
    gpu.pool().wait_for_all(events)
}
