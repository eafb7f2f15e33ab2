//! The cores of host workers in all orders that their threads may run in, with the weak memory that they may see.
//!
//! The cores are built here a second time, upon atomics that try these orders out ([`sync`]).
#![allow(dead_code, reason = "parts of the cores that no order depends on")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails so")]

#[path = "../../src/count.rs"]
mod count;
#[path = "../../src/deque.rs"]
mod deque;
#[path = "../../src/idle.rs"]
mod idle;
#[path = "../../src/newest.rs"]
mod newest;
mod sync;

use std::sync::atomic::{AtomicUsize, Ordering};

use count::Count;
use deque::{Deque, Stolen};
use idle::Idle;
use loom::sync::Arc;
use loom::thread;
use newest::Newest;

/// Threads are switched so often without need.
fn check(switches: usize, model: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(switches);
    builder.check(model);
}

/// Tasks that are counted: each must be run once. Loom does not look into these counters.
struct Tasks(Vec<AtomicUsize>);

impl Tasks {
    fn new(number: usize) -> Self {
        Self((0..number).map(|_| AtomicUsize::new(0)).collect())
    }

    fn pointer(&self, at: usize) -> *mut AtomicUsize {
        std::ptr::from_ref(self.0.get(at).unwrap()).cast_mut()
    }

    fn run(&self, task: *mut AtomicUsize) {
        let at =
            (0..self.0.len()).find(|it| self.pointer(*it) == task).expect("a task that was pushed");
        self.0.get(at).unwrap().fetch_add(1, Ordering::Relaxed);
    }

    fn check(&self) {
        for it in &self.0 {
            assert_eq!(it.load(Ordering::Relaxed), 1, "a task is run once");
        }
    }
}

/// The owner pushes and pops, two thieves steal: of three tasks each is had once.
#[test]
fn a_deque_gives_each_task_once() {
    check(3, || {
        let deque = Arc::new(Deque::new(4));
        let tasks = std::sync::Arc::new(Tasks::new(3));
        let thieves: Vec<_> = (0..2)
            .map(|_| {
                let (deque, tasks) = (Arc::clone(&deque), std::sync::Arc::clone(&tasks));
                thread::spawn(move || {
                    if let Stolen::Task(task) = deque.steal() {
                        tasks.run(task);
                    }
                })
            })
            .collect();
        for at in 0..2 {
            deque.push(tasks.pointer(at)).unwrap();
        }
        deque.pop().into_iter().for_each(|it| tasks.run(it));
        deque.push(tasks.pointer(2)).unwrap();
        while let Some(task) = deque.pop() {
            tasks.run(task);
        }
        thieves.into_iter().for_each(|it| it.join().unwrap());
        // A thief that lost may have left one.
        while let Some(task) = deque.pop() {
            tasks.run(task);
        }
        tasks.check();
    });
}

/// What a task's maker has written is seen by the thief that runs it.
#[test]
fn a_thief_sees_what_was_written_before_the_task_was_made() {
    check(3, || {
        let deque = Arc::new(Deque::<usize>::new(2));
        let value = Arc::new(loom::cell::UnsafeCell::new(0));
        let thief = {
            let (deque, value) = (Arc::clone(&deque), Arc::clone(&value));
            thread::spawn(move || {
                if let Stolen::Task(_) = deque.steal() {
                    // Loom fails if this may happen at the same time as the write.
                    value.with(|it| assert!(!it.is_null()));
                }
            })
        };
        value.with_mut(|it| assert!(!it.is_null()));
        deque.push(std::ptr::without_provenance_mut(8)).unwrap();
        thief.join().unwrap();
    });
}

/// Something of which a part is home's alone.
struct Shared<T>(T);

// What home alone uses of it, home alone uses here.
#[allow(unsafe_code, reason = "as in the pool")]
// SAFETY: the thread that makes it is the only one that does what home does.
unsafe impl<T> Sync for Shared<T> {}
#[allow(unsafe_code, reason = "as in the pool")]
// SAFETY: as above.
unsafe impl<T> Send for Shared<T> {}

/// Two tasks of home's are run by others; one of them makes a third. Home waits, and sleeps if it likes: it wakes, and all are done then.
#[test]
fn a_scope_ends_after_its_last_task_and_its_home_wakes() {
    check(2, || {
        let (scope, idle) = (Arc::new(Shared(Count::new())), Arc::new(Idle::new()));
        let done = std::sync::Arc::new(AtomicUsize::new(0));
        scope.0.add_at_home(2);
        let others: Vec<_> = (0..2)
            .map(|number| {
                let (scope, idle, done) =
                    (Arc::clone(&scope), Arc::clone(&idle), std::sync::Arc::clone(&done));
                thread::spawn(move || {
                    let finish = || {
                        done.fetch_add(1, Ordering::Relaxed);
                        if scope.0.done_away() {
                            idle.ring_all();
                        }
                    };
                    if number == 0 {
                        scope.0.add_away();
                        finish();
                    }
                    finish();
                })
            })
            .collect();
        while !scope.0.is_zero() {
            idle.search();
            if !scope.0.fall_asleep() {
                idle.rest(|| scope.0.is_zero_asleep());
            }
            scope.0.wake_up();
            idle.found();
        }
        assert_eq!(done.load(Ordering::Relaxed), 3, "a scope ends after all of its tasks");
        others.into_iter().for_each(|it| it.join().unwrap());
    });
}

/// A worker publishes two tasks; two others sleep when they find none. Nobody sleeps while a task waits.
#[test]
fn no_wake_up_is_lost() {
    check(2, || {
        let (deque, idle) = (Arc::new(Deque::<usize>::new(4)), Arc::new(Idle::new()));
        let workers: Vec<_> = (0..2)
            .map(|_| {
                let (deque, idle) = (Arc::clone(&deque), Arc::clone(&idle));
                thread::spawn(move || {
                    idle.search();
                    loop {
                        match deque.steal() {
                            Stolen::Task(_) => break idle.found(),
                            Stolen::Lost => thread::yield_now(),
                            // Loom finds threads that sleep for ever.
                            Stolen::Nothing => idle.rest(|| deque.len() != 0),
                        }
                    }
                })
            })
            .collect();
        for at in 1..=2 {
            deque.push(std::ptr::without_provenance_mut(8 * at)).unwrap();
            idle.publish();
        }
        workers.into_iter().for_each(|it| it.join().unwrap());
    });
}

/// The owner adds and takes tasks that another claims: each is had once.
#[test]
fn the_newest_tasks_are_had_once() {
    check(2, || {
        let newest = Arc::new(Shared(Newest::new()));
        let tasks = std::sync::Arc::new(Tasks::new(2));
        let other = {
            let (newest, tasks) = (Arc::clone(&newest), std::sync::Arc::clone(&tasks));
            thread::spawn(move || newest.0.claim().into_iter().for_each(|it| tasks.run(it)))
        };
        for at in 0..2 {
            if !newest.0.try_push(tasks.pointer(at)) {
                assert!(newest.0.push(tasks.pointer(at)).is_none());
            }
        }
        while let Some(task) = newest.0.pop() {
            tasks.run(task);
        }
        other.join().unwrap();
        tasks.check();
    });
}
