//! The blocks of a design as they nest: how many cycles it takes is told from them before anything is run.

use ir::program::StmtId;

use super::Hardware;

/// A piece of a design.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// A block that runs once: its cycles.
    Once(u64),
    /// One of two, as the block before says.
    Either(Vec<Shape>, Vec<Shape>),
    /// A loop whose iterations overlap.
    Pipelined {
        /// Which.
        stmt: StmtId,
        /// Iterations start so many cycles after each other.
        interval: u64,
        /// Cycles of one.
        depth: u64,
        /// Ends of channels that each iteration uses.
        ends: Vec<End>,
    },
    /// A loop around others.
    Serial {
        /// Which.
        stmt: StmtId,
        /// What asks whether there is another iteration.
        test: Vec<Shape>,
        /// What an iteration does.
        body: Vec<Shape>,
    },
}

/// An end of a channel in a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct End {
    /// Which channel.
    pub channel: usize,
    /// Values are put in; else they are taken out.
    pub pushes: bool,
    /// In this cycle of an iteration.
    pub start: u64,
}

impl Shape {
    /// Cycles that a question takes for which block is next.
    pub(crate) const CHOICE: u64 = 1;

    /// A block of this depth: the last cycle hands on what it has set.
    pub(super) fn once(depth: u64) -> Shape {
        Shape::Once(depth.saturating_add(1))
    }

    /// The loops of pieces.
    pub fn loops(shape: &[Shape]) -> Vec<StmtId> {
        let mut found = Vec::new();
        for it in shape {
            match it {
                Shape::Once(_) => {}
                Shape::Either(a, b) => {
                    found.extend(Shape::loops(a).into_iter().chain(Shape::loops(b)));
                }
                Shape::Pipelined { stmt, .. } => found.push(*stmt),
                Shape::Serial { stmt, test, body } => {
                    found.push(*stmt);
                    found.extend(Shape::loops(test).into_iter().chain(Shape::loops(body)));
                }
            }
        }
        found
    }

    /// Cycles from its beginning to its end. `trips`: how often a loop runs.
    pub fn cycles(&self, trips: &dyn Fn(StmtId) -> u64) -> u64 {
        match self {
            Shape::Once(cycles) => *cycles,
            Shape::Either(a, b) => Shape::CHOICE.saturating_add(sum(a, trips).max(sum(b, trips))),
            Shape::Pipelined { stmt, interval, depth, .. } => {
                let rounds = trips(*stmt);
                let starts = rounds.saturating_sub(1).saturating_mul(*interval);
                let last = if rounds == 0 { 0 } else { starts.saturating_add(*depth) };
                // The question that is answered with no comes when one more iteration would begin.
                let told = rounds.saturating_mul(*interval).saturating_add(1);
                last.max(told).saturating_add(1)
            }
            Shape::Serial { stmt, test, body } => {
                let rounds = trips(*stmt);
                let asked = sum(test, trips).saturating_add(Shape::CHOICE);
                let asked = rounds.saturating_add(1).saturating_mul(asked);
                rounds.saturating_mul(sum(body, trips)).saturating_add(asked)
            }
        }
    }
}

fn sum(list: &[Shape], trips: &dyn Fn(StmtId) -> u64) -> u64 {
    list.iter().fold(0, |sum, it| sum.saturating_add(it.cycles(trips)))
}

impl Hardware {
    /// Cycles from its beginning to its end. `trips`: how often a loop runs.
    pub fn cycles(&self, trips: &dyn Fn(StmtId) -> u64) -> u64 {
        sum(&self.shape, trips)
    }
}
