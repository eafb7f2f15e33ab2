//! Order between streams, on a driver that does everything when it is waited for and not before.
#![allow(unsafe_code, reason = "the contract's")]

use std::any::Any;
use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use super::pool::{self, DriverStream, Maker, Own, Pool, STAGED};
use super::stream::{self, Gpu, Open};
use crate::memory::DevicePtr;
use crate::{Convention, DeviceError, Event, Held, Kernel, Launch, Result, Stream};

/// What a stream has to do: something with a number, or what others have up to some place.
#[derive(Clone, Copy, Debug)]
enum Deed {
    Do(u64),
    Follow(usize, usize),
}

#[derive(Debug, Default)]
struct State {
    streams: Vec<(Vec<Deed>, usize)>,
    done: Vec<u64>,
    follows: usize,
    /// What waiting ends with.
    failure: Option<DeviceError>,
}

impl State {
    fn run(&mut self, stream: usize, until: usize) {
        while self.streams[stream].1 < until {
            let next = self.streams[stream].1;
            self.streams[stream].1 += 1;
            match self.streams[stream].0[next] {
                Deed::Do(number) => self.done.push(number),
                Deed::Follow(other, until) => self.run(other, until),
            }
        }
    }
}

#[derive(Clone, Debug, Default)]
struct Driver(Arc<Mutex<State>>);

#[derive(Debug)]
struct Line {
    driver: Driver,
    number: usize,
    mark: AtomicUsize,
    /// Kernels that the driver was not told of.
    gathered: Mutex<Vec<u64>>,
}

impl Line {
    fn flush(&self) {
        let gathered = std::mem::take(&mut *self.gathered.lock().unwrap());
        let mut state = self.driver.0.lock().unwrap();
        state.streams[self.number].0.extend(gathered.into_iter().map(Deed::Do));
    }

    fn len(&self) -> usize {
        self.driver.0.lock().unwrap().streams[self.number].0.len()
    }
}

impl DriverStream for Line {
    fn handle(&self) -> *mut c_void {
        self.flush();
        std::ptr::without_provenance_mut(self.number)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn wait(&self, _: &'static str) -> Result<()> {
        self.flush();
        let until = self.len();
        let mut state = self.driver.0.lock().unwrap();
        if let Some(failure) = &state.failure {
            return Err(failure.clone());
        }
        state.run(self.number, until);
        Ok(())
    }

    fn mark(&self) -> Result<()> {
        self.mark.store(self.len(), Ordering::SeqCst);
        Ok(())
    }

    fn follow_mark(&self, other: &dyn DriverStream) -> Result<()> {
        other.with_mark(&mut |until| {
            let mut state = self.driver.0.lock().unwrap();
            let deed = Deed::Follow(other.handle().addr(), until.addr());
            state.streams[self.number].0.push(deed);
            state.follows += 1;
            Ok(())
        })
    }

    fn follow(&self, other: &dyn DriverStream) -> Result<()> {
        let other = other.handle().addr();
        let mut state = self.driver.0.lock().unwrap();
        let until = state.streams[other].0.len();
        state.streams[self.number].0.push(Deed::Follow(other, until));
        state.follows += 1;
        Ok(())
    }

    fn with_mark(&self, act: &mut dyn FnMut(*mut c_void) -> Result<()>) -> Result<()> {
        act(std::ptr::without_provenance_mut(self.mark.load(Ordering::SeqCst)))
    }
}

impl Maker for Driver {
    fn stream(&self) -> Result<Box<dyn DriverStream>> {
        let mut state = self.0.lock().unwrap();
        state.streams.push((Vec::new(), 0));
        let number = state.streams.len() - 1;
        let (mark, gathered) = (AtomicUsize::new(0), Mutex::default());
        Ok(Box::new(Line { driver: self.clone(), number, mark, gathered }))
    }

    fn stage(&self) -> *mut u8 {
        Box::leak(vec![0; STAGED].into_boxed_slice()).as_mut_ptr()
    }
}

struct Fake {
    driver: Driver,
    pool: Pool,
    prints: AtomicBool,
}

impl Fake {
    fn new() -> Fake {
        let driver = Driver::default();
        let pool = Pool::new(Box::new(driver.clone()));
        Fake { driver, pool, prints: AtomicBool::new(false) }
    }

    fn put(&self, on: &Own, number: u64) {
        let stream = on.handle().addr();
        let mut state = self.driver.0.lock().unwrap();
        state.streams[stream].0.push(Deed::Do(number));
    }

    fn done(&self) -> Vec<u64> {
        self.driver.0.lock().unwrap().done.clone()
    }

    fn follows(&self) -> usize {
        self.driver.0.lock().unwrap().follows
    }
}

impl Gpu for Fake {
    fn pool(&self) -> &Pool {
        &self.pool
    }

    fn enter(&self) -> Result<Box<dyn Held>> {
        Ok(Box::new(()))
    }

    fn may_leave(&self) -> bool {
        !self.prints.load(Ordering::Relaxed)
    }

    /// A copy is the number of its place; what does not fit into the stage is read later.
    unsafe fn put_copy_in(
        &self,
        on: &mut Own,
        dst: DevicePtr,
        _: *const u8,
        len: usize,
    ) -> Result<()> {
        if on.room_to_read(len)?.is_none() {
            on.reads_later();
        }
        self.put(on, dst.0);
        Ok(())
    }

    unsafe fn put_copy_out(
        &self,
        on: &mut Own,
        _: *mut u8,
        src: DevicePtr,
        _: usize,
    ) -> Result<Option<*const u8>> {
        self.put(on, src.0);
        Ok(None)
    }

    unsafe fn put_fill(&self, on: &mut Own, dst: DevicePtr, _: u8, _: usize) -> Result<()> {
        self.put(on, dst.0);
        Ok(())
    }

    unsafe fn put_launch(
        &self,
        on: &mut Own,
        kernel: Kernel,
        _: &[u64],
        _: &Launch<'_>,
    ) -> Result<()> {
        if let Some((line, pool::Order::Chain)) = on.gatherer::<Line>() {
            line.gathered.lock().unwrap().push(kernel.0);
            return Ok(());
        }
        self.put(on, kernel.0);
        Ok(())
    }
}

fn open(gpu: &Fake) -> Box<dyn Stream + '_> {
    Box::new(Open::new(gpu).unwrap())
}

fn launch(stream: &dyn Stream, number: u64) {
    let name = format!("main:{number}");
    let source = format!("a.c:{number}:1");
    let launch = Launch {
        convention: Convention::Slots,
        teams: 0,
        limit: 0,
        trip_count: 0,
        group_memory: 0,
        name: &name,
        source: &source,
    };
    // SAFETY: kernels of the fake take nothing.
    unsafe { stream.launch(Kernel(number), &[], &launch) }.unwrap();
}

fn copy_in(stream: &dyn Stream, number: u64, len: usize) {
    let bytes = vec![0; len];
    // SAFETY: the fake does not touch memory of the device.
    unsafe { stream.copy_in(DevicePtr(number), bytes.as_ptr(), len) }.unwrap();
}

fn copy_out(stream: &dyn Stream, number: u64) {
    // SAFETY: as above.
    unsafe { stream.copy_out([0].as_mut_ptr(), DevicePtr(number), 1) }.unwrap();
}

/// Starts a kernel that nobody waits for.
fn left(gpu: &Fake, number: u64) {
    let stream = open(gpu);
    launch(&*stream, number);
    assert!(stream.leave() && stream.is_left());
}

#[test]
fn what_is_left_is_not_waited_for_and_comes_before_all_that_follows() {
    let gpu = Fake::new();
    left(&gpu, 1);
    left(&gpu, 2);
    assert!(gpu.done().is_empty(), "nobody has waited");
    assert_eq!(gpu.driver.0.lock().unwrap().streams.len(), 1, "both are in one stream");
    let stream = open(&gpu);
    assert!(!stream.is_idle(), "what was left in it was not waited for");
    copy_out(&*stream, 3);
    drop(stream);
    assert_eq!(gpu.done(), [1, 2, 3]);
    assert_eq!(gpu.follows(), 0, "one stream needs no event");
    assert!(open(&gpu).is_idle());
}

#[test]
fn kernels_that_are_left_in_a_row_are_started_together_in_their_order() {
    let gpu = Fake::new();
    (1..=6).for_each(|it| left(&gpu, it));
    let put = || gpu.driver.0.lock().unwrap().streams[0].0.len();
    assert_eq!(put(), 3, "the others wait for more of them");
    let stream = open(&gpu);
    copy_in(&*stream, 7, 8);
    assert_eq!(put(), 7, "a copy comes after all of them");
    launch(&*stream, 8);
    assert!(stream.leave() && stream.is_left());
    drop(stream);
    // Another stream comes after what was not started yet.
    let (first, second) = (open(&gpu), open(&gpu));
    launch(&*first, 9);
    assert!(first.leave());
    launch(&*second, 10);
    second.synchronise().unwrap();
    assert_eq!(gpu.done(), [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
}

#[test]
fn a_stream_beside_one_with_work_that_is_left_comes_after_it() {
    let gpu = Fake::new();
    let first = open(&gpu);
    launch(&*first, 1);
    assert!(first.leave());
    // The first is still in somebody's hands.
    let second = open(&gpu);
    launch(&*second, 2);
    launch(&*second, 3);
    second.synchronise().unwrap();
    assert_eq!(gpu.done(), [1, 2, 3]);
    assert_eq!(gpu.follows(), 1, "once is enough");
    launch(&*first, 4);
    assert!(first.leave());
    copy_out(&*second, 5);
    assert_eq!(gpu.done(), [1, 2, 3, 4, 5], "what is left later is followed anew");
}

#[test]
fn submitted_work_comes_after_what_is_left() {
    let gpu = Fake::new();
    left(&gpu, 1);
    let stream: Box<dyn Stream> = Box::new(Open::behind(&gpu, &[]).unwrap().unwrap());
    launch(&*stream, 2);
    let event: Event = stream.submit().unwrap();
    stream::wait_for(&gpu, event, "main:2").unwrap();
    assert_eq!(gpu.done(), [1, 2]);
    left(&gpu, 3);
    stream::wait_for_left(&gpu).unwrap();
    assert_eq!(gpu.done(), [1, 2, 3]);
}

#[test]
fn a_copy_that_reads_later_is_waited_for() {
    let gpu = Fake::new();
    let stream = open(&gpu);
    copy_in(&*stream, 1, STAGED / 2);
    assert!(stream.leave() && stream.is_left(), "it was put aside");
    copy_in(&*stream, 2, STAGED);
    assert!(!stream.is_left(), "there is no room for it");
    drop(stream);
    assert_eq!(gpu.done(), [1, 2]);
}

#[test]
fn kernels_that_print_are_waited_for() {
    let gpu = Fake::new();
    gpu.prints.store(true, Ordering::Relaxed);
    let stream = open(&gpu);
    launch(&*stream, 1);
    assert!(!stream.leave());
    drop(stream);
    assert_eq!(gpu.done(), [1]);
}

#[test]
fn only_a_thread_that_is_alone_leaves_work() {
    let gpu = Fake::new();
    left(&gpu, 1);
    let turns = || {
        let mut count = 0;
        loop {
            let stream = open(&gpu);
            launch(&*stream, 2);
            count += 1;
            if stream.leave() {
                return count;
            }
        }
    };
    let count = thread::scope(|it| it.spawn(turns).join().unwrap());
    assert!(count > 2, "the first of another thread are waited for: {count}");
    assert_eq!(gpu.done().first(), Some(&1));
    assert!(turns() > 2, "and then those of this one");
}

#[test]
fn there_is_an_end_to_what_is_left() {
    let gpu = Fake::new();
    for _ in 0..5000 {
        let stream = open(&gpu);
        launch(&*stream, 1);
        if !stream.leave() {
            drop(stream);
            assert!(gpu.done().len() < 2000);
            return;
        }
    }
    panic!("a driver's list would have no end");
}

#[test]
fn a_crash_is_told_with_the_kernels_that_were_left() {
    let fail = |gpu: &Fake, with| gpu.driver.0.lock().unwrap().failure = Some(with);
    let die = |gpu: &Fake| fail(gpu, DeviceError::Fault { address: None, what: "it died".into() });
    let names = |error: DeviceError| {
        let DeviceError::Earlier { kernels, .. } = &error else { return vec![error.to_string()] };
        kernels.iter().map(ToString::to_string).collect()
    };
    let gpu = Fake::new();
    left(&gpu, 1);
    left(&gpu, 1);
    left(&gpu, 2);
    die(&gpu);
    let error = stream::wait_for_left(&gpu).unwrap_err();
    assert_eq!(names(error), ["`main:1` (a.c:1:1)", "`main:2` (a.c:2:1)"]);

    let gpu = Fake::new();
    left(&gpu, 1);
    die(&gpu);
    let stream = open(&gpu);
    launch(&*stream, 1);
    let error = stream.synchronise().unwrap_err();
    assert_eq!(names(error), ["the kernel crashed: it died"], "it is the same region");

    let gpu = Fake::new();
    left(&gpu, 1);
    die(&gpu);
    let (holder, other) = (open(&gpu), open(&gpu));
    launch(&*other, 2);
    let error = other.synchronise().unwrap_err();
    assert_eq!(names(error), ["`main:1` (a.c:1:1)", "`main:2` (a.c:2:1)"], "in any stream");
    drop(holder);

    let gpu = Fake::new();
    left(&gpu, 1);
    fail(&gpu, DeviceError::Failed("out of resources".into()));
    let error = stream::wait_for_left(&gpu).unwrap_err();
    assert_eq!(names(error), ["`main:1` (a.c:1:1)"], "drivers have other words for it");
}

#[test]
fn who_waits_for_what_is_left_finds_it_in_streams_of_others() {
    let gpu = Fake::new();
    left(&gpu, 1);
    let stream = open(&gpu);
    copy_in(&*stream, 2, 8);
    stream::wait_for_left(&gpu).unwrap();
    assert_eq!(gpu.done(), [1, 2]);
}

#[test]
fn what_is_put_behind_an_empty_stream_that_was_left_is_waited_for() {
    let gpu = Fake::new();
    let stream = open(&gpu);
    assert!(stream.leave() && stream.is_left(), "there is nothing to wait for");
    copy_in(&*stream, 1, 8);
    assert!(!stream.is_left(), "others do not know of it");
    drop(stream);
    assert_eq!(gpu.done(), [1]);
}
