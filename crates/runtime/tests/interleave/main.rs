//! The cores of the mapping table and of queues, in the orders that their threads may run in.
//!
//! The cores are built here a second time, upon locks that try these orders out ([`sync`]).
#![allow(unsafe_code, reason = "locks for threads that run one at a time")]
#![allow(dead_code, reason = "parts of the cores that no order depends on")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a test fails so"
)]

#[path = "../../src/graph.rs"]
mod graph;
mod mapping;
mod sync;
#[path = "../../src/table.rs"]
mod table;

mod args {
    /// Ranges have no names here.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) struct Name;
}

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use graph::{Graph, Hire, Key, Reserved, Ticket};
use sync::{Job, run};

/// So many executions at most.
const MOST: usize = 1500;

/// A thread that takes work.
fn worker(graph: Arc<Graph<Job>>) -> Job {
    Box::new(move || {
        let mut finished = None;
        loop {
            let (ticket, work, _) = graph.next(finished);
            work();
            finished = Some(ticket);
        }
    })
}

/// Adds work that must be the `turn`th of its queue.
fn add(graph: &Graph<Job>, key: Key, seen: &Arc<AtomicUsize>, turn: usize) {
    let seen = Arc::clone(seen);
    let work: Job = Box::new(move || {
        assert_eq!(seen.fetch_add(1, Ordering::Relaxed), turn, "work of a queue is out of order");
    });
    // The threads are there already.
    let (_, _hire): (_, Hire) = graph.add(Some(key), &[], Some(work));
}

#[test]
fn queues_keep_their_order_and_waits_end() {
    let tried = run(MOST, || {
        let graph = Arc::new(Graph::new(0));
        let user = |queue: i64| -> Job {
            let graph = Arc::clone(&graph);
            Box::new(move || {
                let seen = Arc::new(AtomicUsize::new(0));
                let key = Key { device: 0, queue };
                add(&graph, key, &seen, 0);
                add(&graph, key, &seen, 1);
                let ends = graph.ask(|it| it.ends(0, Some(&[queue])));
                graph.wait(false, |it| ends.iter().any(|end| it.has(*end)), || ());
                assert_eq!(seen.load(Ordering::Relaxed), 2, "a wait has ended too early");
            })
        };
        let workers = [worker(Arc::clone(&graph)), worker(Arc::clone(&graph))];
        (2, [user(1), user(2)].into_iter().chain(workers).collect())
    });
    assert!(tried.as_ref().is_ok_and(|it| *it > 100), "{tried:?}");
}

#[test]
fn a_place_that_is_reserved_keeps_its_turn() {
    let tried = run(MOST, || {
        let graph = Arc::new(Graph::new(0));
        let user: Job = {
            let graph = Arc::clone(&graph);
            Box::new(move || {
                let seen = Arc::new(AtomicUsize::new(0));
                let (first, second) = (Key { device: 0, queue: 1 }, Key { device: 0, queue: 2 });
                add(&graph, second, &seen, 0);
                let Reserved { ticket, before, .. } = graph.reserve(first);
                add(&graph, first, &seen, 2);
                let done = Arc::clone(&seen);
                let work: Job = Box::new(move || {
                    assert_eq!(done.fetch_add(1, Ordering::Relaxed), 1, "it is not its turn");
                });
                let _hire: Hire = graph.fill(ticket, &before, Some(work));
                graph.wait(false, |it| it.has_other(None), || ());
                assert_eq!(seen.load(Ordering::Relaxed), 3, "a wait has ended too early");
            })
        };
        (1, vec![user, worker(Arc::clone(&graph)), worker(Arc::clone(&graph))])
    });
    assert!(tried.as_ref().is_ok_and(|it| *it > 100), "{tried:?}");
}

#[test]
fn a_queue_that_waits_for_another_comes_after_it() {
    let tried = run(MOST, || {
        let graph = Arc::new(Graph::new(0));
        let user: Job = {
            let graph = Arc::clone(&graph);
            Box::new(move || {
                let seen = Arc::new(AtomicUsize::new(0));
                add(&graph, Key { device: 0, queue: 1 }, &seen, 0);
                let (_, _hire) = graph.add_after_queues(Key { device: 0, queue: 2 }, 0, Some(&[1]));
                add(&graph, Key { device: 0, queue: 2 }, &seen, 1);
                graph.wait(false, |it| it.has_other(None), || ());
                assert_eq!(seen.load(Ordering::Relaxed), 2, "a wait has ended too early");
            })
        };
        (1, vec![user, worker(Arc::clone(&graph)), worker(Arc::clone(&graph))])
    });
    assert!(tried.as_ref().is_ok_and(|it| *it > 100), "{tried:?}");
}

/// Leaves work that must be the `turn`th, and that only who comes for it does.
fn leave(graph: &Graph<Job>, behind: &[Ticket], seen: &Arc<AtomicUsize>, turn: usize) -> Ticket {
    let seen = Arc::clone(seen);
    let work: Job = Box::new(move || {
        assert_eq!(seen.fetch_add(1, Ordering::Relaxed), turn, "what was left is out of order");
    });
    graph.leave(behind, (), work)
}

/// Waits as callers do: what was left they do themselves.
fn wait(graph: &Graph<Job>, tickets: &[Ticket]) {
    let (claimed, all) = graph.claim(tickets);
    for (ticket, work) in claimed {
        work();
        let _hire: Hire = graph.finish(ticket);
    }
    graph.wait(false, |it| all.iter().any(|at| it.has(*at)), || ());
}

#[test]
fn what_is_left_is_done_once_by_one_of_those_who_wait() {
    let tried = run(MOST, || {
        let graph = Arc::new(Graph::new(0));
        let seen = Arc::new(AtomicUsize::new(0));
        let left = leave(&graph, &[], &seen, 0);
        let user = || -> Job {
            let (graph, seen) = (Arc::clone(&graph), Arc::clone(&seen));
            Box::new(move || {
                wait(&graph, &[left]);
                assert_eq!(seen.load(Ordering::Relaxed), 1, "a wait has ended too early");
            })
        };
        (2, vec![user(), user()])
    });
    assert!(tried.as_ref().is_ok_and(|it| *it > 10), "{tried:?}");
}

#[test]
fn work_behind_what_is_left_has_threads_do_that_first() {
    let tried = run(MOST, || {
        let graph = Arc::new(Graph::new(0));
        let seen = Arc::new(AtomicUsize::new(0));
        let first = leave(&graph, &[], &seen, 0);
        let done = Arc::clone(&seen);
        let user: Job = {
            let graph = Arc::clone(&graph);
            Box::new(move || {
                let seen = Arc::clone(&done);
                let work: Job = Box::new(move || {
                    assert_eq!(seen.fetch_add(1, Ordering::Relaxed), 1, "it is not its turn");
                });
                let (ticket, _hire): (_, Hire) = graph.add(None, &[first], Some(work));
                wait(&graph, &[ticket]);
                assert_eq!(done.load(Ordering::Relaxed), 2, "a wait has ended too early");
            })
        };
        let other: Job = {
            let graph = Arc::clone(&graph);
            Box::new(move || wait(&graph, &[first]))
        };
        (2, vec![user, other, worker(Arc::clone(&graph)), worker(Arc::clone(&graph))])
    });
    assert!(tried.as_ref().is_ok_and(|it| *it > 100), "{tried:?}");
}

#[test]
fn what_was_left_before_has_ended_too_when_a_wait_ends() {
    let tried = run(MOST, || {
        let graph = Arc::new(Graph::new(0));
        let ended = Arc::new(AtomicUsize::new(0));
        let leave = |behind: &[Ticket], bit: usize| {
            let ended = Arc::clone(&ended);
            let work: Job = Box::new(move || {
                ended.fetch_or(bit, Ordering::Relaxed);
            });
            graph.leave(behind, (), work)
        };
        let first = leave(&[], 1);
        let second = leave(&[first], 2);
        let third = leave(&[second], 4);
        // Somebody else is in the middle of the first one.
        let other: Job = {
            let graph = Arc::clone(&graph);
            Box::new(move || wait(&graph, &[first]))
        };
        let user: Job = {
            let (graph, ended) = (Arc::clone(&graph), Arc::clone(&ended));
            Box::new(move || {
                wait(&graph, &[third]);
                assert_eq!(ended.load(Ordering::Relaxed), 7, "something before has not ended");
                assert!(graph.ask(|it| !it.has_other(None)), "something is still known");
            })
        };
        (2, vec![other, user])
    });
    assert!(tried.as_ref().is_ok_and(|it| *it > 10), "{tried:?}");
}

#[test]
fn a_place_in_a_queue_that_is_left_is_done_before_what_came_behind_it() {
    let tried = run(MOST, || {
        let graph = Arc::new(Graph::new(0));
        let key = Key { device: 0, queue: 1 };
        let seen = Arc::new(AtomicUsize::new(0));
        let reserved = graph.reserve(key);
        let filler: Job = {
            let (graph, seen) = (Arc::clone(&graph), Arc::clone(&seen));
            Box::new(move || {
                let work: Job = Box::new(move || {
                    assert_eq!(seen.fetch_add(1, Ordering::Relaxed), 0, "it is not its turn");
                });
                let _hire: Hire = graph.leave_at(reserved.ticket, &[], (), work);
            })
        };
        let user: Job = {
            let (graph, seen) = (Arc::clone(&graph), Arc::clone(&seen));
            Box::new(move || {
                add(&graph, key, &seen, 1);
                let ends = graph.ask(|it| it.ends(0, Some(&[1])));
                wait(&graph, &ends);
                assert_eq!(seen.load(Ordering::Relaxed), 2, "a wait has ended too early");
            })
        };
        (2, vec![filler, user, worker(Arc::clone(&graph))])
    });
    assert!(tried.as_ref().is_ok_and(|it| *it > 10), "{tried:?}");
}
