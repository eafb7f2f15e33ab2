//! Where a kernel of a device in this process runs: here, or on a thread of its own.
//!
//! Outside of parallel regions the calling thread runs it: no thread is created, and the threads the
//! kernel asks for are those of the host runtime's own pool. Inside one, a kept thread runs it and the
//! caller sleeps, so that levels of nesting begin at zero as they do on any device.
#![allow(unsafe_code, reason = "lends work of one thread to another while it sleeps")]

use std::panic::{self, AssertUnwindSafe};
use std::process;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use device::Held;

use crate::host;

/// Runs `work` for device `number` and returns when it is done.
pub(crate) fn run<T: Send>(number: usize, work: impl FnOnce() -> T + Send) -> T {
    let marked = || {
        let _mark = host::mark(Some(number));
        let _task = host::leave_task();
        work()
    };
    if host::is_in_parallel() { elsewhere(marked) } else { marked() }
}

/// Runs `work` as the host, also when the current thread runs for a device.
pub(crate) fn run_on_host<T>(work: impl FnOnce() -> T) -> T {
    let _mark = host::mark(None);
    work()
}

/// A thread that sleeps until it gets work.
#[derive(Default)]
struct Worker {
    job: Mutex<Order>,
    changed: Condvar,
}

/// What a thread is to do.
#[derive(Default)]
enum Order {
    #[default]
    Sleep,
    Run(Job),
    End,
}

/// Work of a sleeping caller.
struct Job(*mut (dyn FnMut() + Send));

// SAFETY: the caller sleeps until the job is done and what it points to is `Send`.
unsafe impl Send for Job {}

/// Threads without work, and the process they belong to: a fork leaves them behind.
static IDLE: Mutex<(u32, Vec<Arc<Worker>>)> = Mutex::new((0, Vec::new()));

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn idle() -> MutexGuard<'static, (u32, Vec<Arc<Worker>>)> {
    let mut idle = lock(&IDLE);
    let process = process::id();
    if idle.0 != process {
        *idle = (process, Vec::new());
    }
    idle
}

fn elsewhere<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    let mut work = Some(work);
    let mut result = None;
    let kept = idle().1.pop();
    let worker = match kept.or_else(hire) {
        Some(worker) => worker,
        // No thread can be had: nested levels are then one deeper, and all else is the same.
        None => return finish(work.take().map(|work| Ok(work()))),
    };
    let mut job = || {
        let work = work.take();
        result = work.map(|work| panic::catch_unwind(AssertUnwindSafe(work)));
    };
    let job: &mut (dyn FnMut() + Send) = &mut job;
    // SAFETY: only the lifetime changes; below we wait until the worker has let go of it.
    let job: &'static mut (dyn FnMut() + Send) = unsafe { std::mem::transmute(job) };
    *lock(&worker.job) = Order::Run(Job(job));
    worker.changed.notify_all();
    let mut pending = lock(&worker.job);
    while matches!(*pending, Order::Run(_)) {
        pending = worker.changed.wait(pending).unwrap_or_else(PoisonError::into_inner);
    }
    drop(pending);
    idle().1.push(worker);
    finish(result)
}

/// Lets nobody take a thread until the answer is dropped.
pub(crate) fn hold() -> Box<dyn Held> {
    Box::new(lock(&IDLE))
}

/// Ends all threads that have no work.
pub(crate) fn end_idle() {
    let workers = std::mem::take(&mut idle().1);
    for worker in workers {
        *lock(&worker.job) = Order::End;
        worker.changed.notify_all();
    }
}

/// What the work answered; its panic goes on here.
fn finish<T>(result: Option<thread::Result<T>>) -> T {
    match result {
        Some(Ok(result)) => result,
        Some(Err(payload)) => panic::resume_unwind(payload),
        // The worker has run the job, which always leaves a result.
        None => process::abort(),
    }
}

/// A new thread; it stays until [`end_idle`] or the end of the process.
fn hire() -> Option<Arc<Worker>> {
    let worker = Arc::new(Worker::default());
    let theirs = Arc::clone(&worker);
    let work = move || loop {
        let mut job = lock(&theirs.job);
        let current = loop {
            match &*job {
                Order::Sleep => {
                    job = theirs.changed.wait(job).unwrap_or_else(PoisonError::into_inner);
                }
                Order::Run(it) => break it.0,
                Order::End => return,
            }
        };
        drop(job);
        // SAFETY: the caller sleeps until the order is another, which is done last.
        unsafe { (*current)() };
        *lock(&theirs.job) = Order::Sleep;
        theirs.changed.notify_all();
    };
    let builder = thread::Builder::new().name("ferry-kernel".into()).stack_size(8 << 20);
    builder.spawn(work).ok().map(|_| worker)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};

    #[test]
    fn work_runs_elsewhere_and_threads_are_kept() {
        let here = thread::current().id();
        let there: Vec<_> = (0..3).map(|_| elsewhere(|| thread::current().id())).collect();
        assert!(there.iter().all(|it| *it != here));
    }

    #[test]
    fn many_callers_at_once_all_get_their_answer() {
        let sum = AtomicU32::new(0);
        thread::scope(|scope| {
            for number in 0..16 {
                let sum = &sum;
                scope.spawn(move || {
                    for _ in 0..50 {
                        sum.fetch_add(elsewhere(move || number), Ordering::Relaxed);
                    }
                });
            }
        });
        assert_eq!(sum.load(Ordering::Relaxed), 50 * (0..16).sum::<u32>());
    }

    #[test]
    fn ended_threads_are_replaced() {
        elsewhere(|| ());
        end_idle();
        assert_eq!(elsewhere(|| 7), 7);
    }

    #[test]
    fn a_thread_knows_where_it_runs() {
        assert_eq!(host::current_device(), None);
        assert_eq!(run(3, host::current_device), Some(3));
        assert_eq!(run(3, || run_on_host(host::current_device)), None);
        assert_eq!(host::current_device(), None);
    }
}
