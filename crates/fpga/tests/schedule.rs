//! Schedules of random loops: each keeps every dependence and port, and none is shorter than what bounds it.

#![allow(missing_docs, clippy::unwrap_used, clippy::indexing_slicing, reason = "a test")]

use fpga::schedule::{Bound, CYCLE, Delay, Dependence, Operation, Problem};
use proptest::prelude::*;

fn delay() -> impl Strategy<Value = Delay> {
    prop_oneof![(0..=CYCLE).prop_map(Delay::Combinational), (1u64..12).prop_map(Delay::Registered),]
}

/// Loops of some operations: within an iteration they wait for earlier ones, across iterations for any.
fn problem() -> impl Strategy<Value = Problem> {
    let operation = (delay(), prop::option::weighted(0.4, 0usize..3));
    (prop::collection::vec(operation, 1..24), prop::collection::vec(1u64..3, 3))
        .prop_flat_map(|(operations, ports)| {
            let count = operations.len();
            let edge = (0..count, 0..count, 0u64..4, 0u64..4);
            (Just(operations), Just(ports), prop::collection::vec(edge, 0..48))
        })
        .prop_map(|(operations, ports, edges)| {
            let operations: Vec<Operation> = operations
                .into_iter()
                .map(|(delay, port)| match delay {
                    Delay::Registered(_) => Operation { delay, port },
                    Delay::Combinational(_) => Operation { delay, port: None },
                })
                .collect();
            let dependences = edges
                .into_iter()
                .map(|(a, b, distance, extra)| {
                    let (from, to) = if distance == 0 { (a.min(b), a.max(b)) } else { (a, b) };
                    let distance = if from == to { distance.max(1) } else { distance };
                    let ticks = operations[from].delay.ticks() + extra;
                    Dependence { from, to, distance, ticks }
                })
                .collect();
            Problem { operations, dependences, ports }
        })
}

/// The interval of the worst circle, tried one by one.
fn by_hand(problem: &Problem) -> u64 {
    let count = problem.operations.len();
    (1..)
        .find(|interval| {
            let mut far = vec![vec![i64::MIN / 4; count]; count];
            for it in &problem.dependences {
                let ticks = it.ticks as i64 - (interval * CYCLE * it.distance) as i64;
                far[it.from][it.to] = far[it.from][it.to].max(ticks);
            }
            for k in 0..count {
                for i in 0..count {
                    for j in 0..count {
                        far[i][j] = far[i][j].max(far[i][k] + far[k][j]);
                    }
                }
            }
            (0..count).all(|it| far[it][it] <= 0)
        })
        .unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn a_schedule_keeps_every_dependence_and_port(problem in problem()) {
        let schedule = problem.schedule().unwrap();
        prop_assert_eq!(problem.fault(&schedule), None);
        let least = problem.resource_bound().0.max(problem.recurrence_bound().unwrap().0);
        prop_assert_eq!(schedule.least, least);
        prop_assert!(schedule.interval >= least);
        prop_assert!((schedule.bound == Bound::None) == (least == 1));
        // One iteration after the other is always possible.
        let serial: u64 = problem.operations.iter().map(|it| it.delay.ticks() + CYCLE + 4).sum();
        prop_assert!(schedule.interval <= 2 * (least + serial / CYCLE) + 16);
    }

    #[test]
    fn the_bound_by_recurrences_is_that_of_the_worst_circle(problem in problem()) {
        let (bound, why) = problem.recurrence_bound().unwrap();
        prop_assert_eq!(bound, by_hand(&problem));
        if let Bound::Recurrence(circle) = why {
            // The circle that is named asks for more than one cycle less.
            let next = circle.iter().cycle().skip(1);
            let mut ticks = 0;
            let mut distance = 0;
            for (&from, &to) in circle.iter().zip(next) {
                let most = problem.dependences.iter().filter(|it| it.from == from && it.to == to);
                let worst = most.max_by_key(|it| {
                    it.ticks as i64 - (it.distance * (bound - 1) * CYCLE) as i64
                });
                let worst = worst.unwrap();
                ticks += worst.ticks;
                distance += worst.distance;
            }
            prop_assert!(ticks > (bound - 1) * CYCLE * distance);
        }
    }

    #[test]
    fn without_ports_and_parts_of_cycles_the_bound_is_reached(problem in problem()) {
        let mut problem = problem;
        for it in &mut problem.operations {
            it.port = None;
            it.delay = Delay::Registered(it.delay.ticks().div_ceil(CYCLE));
        }
        for it in &mut problem.dependences {
            it.ticks = problem.operations[it.from].delay.ticks();
        }
        let schedule = problem.schedule().unwrap();
        prop_assert_eq!(schedule.interval, problem.recurrence_bound().unwrap().0);
        prop_assert_eq!(problem.fault(&schedule), None);
    }
}

fn operation(cycles: u64, port: Option<usize>) -> Operation {
    Operation { delay: Delay::Registered(cycles), port }
}

#[test]
fn a_sum_waits_for_its_adder() {
    let add = operation(8, None);
    let itself = Dependence { from: 0, to: 0, distance: 1, ticks: 8 * CYCLE };
    let sum = Problem { operations: vec![add], dependences: vec![itself], ports: Vec::new() };
    let made = sum.schedule().unwrap();
    assert_eq!((made.interval, made.bound), (8, Bound::Recurrence(vec![0])));
    // Eight partial sums: each addition waits for the one of eight iterations before.
    let far = Dependence { distance: 8, ..itself };
    let partial = Problem { dependences: vec![far], ..sum };
    assert_eq!(partial.schedule().unwrap().interval, 1);
}

#[test]
fn five_loads_take_a_port_five_cycles() {
    let loads = Problem {
        operations: vec![operation(100, Some(0)); 5],
        dependences: Vec::new(),
        ports: vec![1],
    };
    let made = loads.schedule().unwrap();
    assert_eq!((made.interval, made.bound), (5, Bound::Port { port: 0, uses: 5 }));
    assert_eq!(made.depth, 104);
}

#[test]
fn short_operations_follow_each_other_within_a_cycle() {
    let short = Operation { delay: Delay::Combinational(8), port: None };
    let edge = |from, to, distance| Dependence { from, to, distance, ticks: 8 };
    let two = Problem {
        operations: vec![short; 2],
        dependences: vec![edge(0, 1, 0), edge(1, 0, 1)],
        ports: Vec::new(),
    };
    assert_eq!(two.schedule().unwrap().interval, 1);
    let three = Problem {
        operations: vec![short; 3],
        dependences: vec![edge(0, 1, 0), edge(1, 2, 0), edge(2, 0, 1)],
        ports: Vec::new(),
    };
    assert_eq!(three.schedule().unwrap().interval, 2);
}

#[test]
fn an_operation_that_waits_for_itself_has_no_schedule() {
    let itself = Dependence { from: 0, to: 0, distance: 0, ticks: CYCLE };
    let never = Problem {
        operations: vec![operation(1, None)],
        dependences: vec![itself],
        ports: Vec::new(),
    };
    assert_eq!(never.schedule(), None);
}
