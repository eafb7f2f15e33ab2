//! How long kernels take that run at the same time.
//!
//! Each goes through its blocks as if it were alone, but for cycles in which it stands still: before it takes a value out that
//! was not put in a cycle earlier, and before it puts one in where no place has become free a cycle earlier. Those cycles are
//! found value by value.

use std::collections::{BTreeMap, VecDeque};

use ir::program::StmtId;

use super::Group;
use crate::hardware::{End, Shape};

/// Values of one loop that are followed; beyond, each takes as long as the slower end asks for.
const MOST: u64 = 1 << 22;
/// Pieces of a kernel, at most.
const PIECES: usize = 1 << 18;

impl Group {
    /// Cycles until the last kernel has ended. `rounds`: how often loops run. None if they would wait for each other.
    pub fn cycles(&self, rounds: &BTreeMap<StmtId, u64>) -> Option<u64> {
        let trips = |it: StmtId| rounds.get(&it).copied().unwrap_or(1);
        let pace = self.pace();
        let mut queues: Vec<Queue> =
            self.queues.iter().map(|it| Queue { depth: it.depth, ..Queue::default() }).collect();
        let mut lines = Vec::new();
        let mut beyond = 0u64;
        for it in &self.designs {
            let mut pieces = Vec::new();
            expand(&it.shape, &trips, &mut pieces)?;
            let cut = pieces.iter().map(|it| it.beyond(&pace)).fold(0, u64::saturating_add);
            beyond = beyond.max(cut);
            lines.push(Line { pieces: pieces.into(), ..Line::default() });
        }
        loop {
            let (mut went, mut is_over) = (false, true);
            for line in &mut lines {
                while line.step(&mut queues) {
                    went = true;
                }
                is_over &= line.pieces.is_empty();
            }
            if is_over {
                let end = lines.iter().map(|it| it.begin + it.still).max();
                return end.map(|it| it.saturating_add(beyond));
            }
            if !went {
                return None;
            }
        }
    }

    /// The interval of the slower end of each channel.
    fn pace(&self) -> Vec<u64> {
        let mut pace = vec![1; self.queues.len()];
        for (channel, pace) in pace.iter_mut().enumerate() {
            let loops = self.designs.iter().flat_map(|it| super::loops(&it.shape, channel));
            *pace = loops.map(|it| it.0).max().unwrap_or(1);
        }
        pace
    }
}

/// A piece of a kernel.
enum Piece {
    /// So many cycles without channels.
    Plain(u64),
    Loop {
        interval: u64,
        rounds: u64,
        cycles: u64,
        ends: Vec<End>,
    },
}

impl Piece {
    /// Cycles that are not followed.
    fn beyond(&self, pace: &[u64]) -> u64 {
        let Piece::Loop { rounds, ends, .. } = self else { return 0 };
        let slow = ends.iter().filter_map(|it| pace.get(it.channel)).max().copied().unwrap_or(1);
        rounds.saturating_sub(MOST).saturating_mul(slow)
    }
}

/// The pieces of a shape in their order; none if there are too many.
fn expand(shape: &[Shape], trips: &dyn Fn(StmtId) -> u64, out: &mut Vec<Piece>) -> Option<()> {
    for it in shape {
        if out.len() > PIECES {
            return None;
        }
        let plain = |it: &Shape| Piece::Plain(it.cycles(trips));
        match it {
            Shape::Pipelined { stmt, interval, ends, .. } if !ends.is_empty() => {
                let (rounds, cycles) = (trips(*stmt), it.cycles(trips));
                let ends = ends.clone();
                out.push(Piece::Loop { interval: *interval, rounds, cycles, ends });
            }
            Shape::Serial { stmt, test, body } if uses(test) || uses(body) => {
                for _ in 0..trips(*stmt) {
                    expand(test, trips, out)?;
                    out.push(Piece::Plain(Shape::CHOICE));
                    expand(body, trips, out)?;
                }
                expand(test, trips, out)?;
                out.push(Piece::Plain(Shape::CHOICE));
            }
            Shape::Once(_) | Shape::Either(..) | Shape::Pipelined { .. } | Shape::Serial { .. } => {
                out.push(plain(it))
            }
        }
    }
    Some(())
}

/// Whether there are channels in a shape.
fn uses(shape: &[Shape]) -> bool {
    shape.iter().any(|it| match it {
        Shape::Once(_) => false,
        Shape::Either(a, b) => uses(a) || uses(b),
        Shape::Pipelined { ends, .. } => !ends.is_empty(),
        Shape::Serial { test, body, .. } => uses(test) || uses(body),
    })
}

/// Cycles in which values were put in that are still there, and in which places became free that are not used yet.
#[derive(Default)]
struct Queue {
    depth: u64,
    pushed: u64,
    values: VecDeque<u64>,
    places: VecDeque<u64>,
}

/// A kernel on its way.
#[derive(Default)]
struct Line {
    pieces: VecDeque<Piece>,
    /// The cycle in which the first piece begins, not counting those in which it stands still, and those.
    begin: u64,
    still: u64,
    /// How often each end of the piece was used.
    done: Vec<u64>,
}

impl Line {
    /// Goes on to the next use of channels, if it is known when that is.
    fn step(&mut self, queues: &mut [Queue]) -> bool {
        let (cycles, followed) = match self.pieces.front() {
            None => return false,
            Some(Piece::Plain(cycles)) => (*cycles, false),
            Some(Piece::Loop { interval, rounds, cycles, ends }) => {
                self.done.resize(ends.len(), 0);
                let followed = (*rounds).min(MOST);
                let due = |(end, done): (&End, &u64)| {
                    (*done < followed).then(|| done * interval + end.start)
                };
                let next = ends.iter().zip(&self.done).filter_map(due).min();
                let Some(next) = next else {
                    // What is not followed is added in the end.
                    let cut = (rounds - followed) * interval;
                    return self.leave(cycles - cut);
                };
                let mut cycle = self.begin + next + self.still;
                let is_due =
                    |end: &End, done: u64| done < followed && done * interval + end.start == next;
                for (end, _) in ends.iter().zip(&self.done).filter(|it| is_due(it.0, *it.1)) {
                    let Some(queue) = queues.get(end.channel) else { return false };
                    let known = match end.pushes {
                        true if queue.pushed < queue.depth => Some(0),
                        true => queue.places.front().map(|it| it + 1),
                        false => queue.values.front().map(|it| it + 1),
                    };
                    let Some(known) = known else { return false };
                    cycle = cycle.max(known);
                }
                for (end, done) in ends.iter().zip(&mut self.done) {
                    if !is_due(end, *done) {
                        continue;
                    }
                    *done += 1;
                    let Some(queue) = queues.get_mut(end.channel) else { return false };
                    if end.pushes {
                        if queue.pushed >= queue.depth {
                            queue.places.pop_front();
                        }
                        queue.pushed += 1;
                        queue.values.push_back(cycle);
                    } else {
                        queue.values.pop_front();
                        queue.places.push_back(cycle);
                    }
                }
                self.still = cycle - self.begin - next;
                (0, true)
            }
        };
        followed || self.leave(cycles)
    }

    /// The first piece has ended.
    fn leave(&mut self, cycles: u64) -> bool {
        self.begin += cycles;
        self.pieces.pop_front();
        self.done.clear();
        true
    }
}
