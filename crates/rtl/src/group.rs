//! Kernels that run at the same time, and channels between them.
//!
//! A channel is a queue of values: one kernel puts them in ([`crate::block::Act::Push`]), another takes them out in the same
//! order ([`crate::block::Act::Pop`]). What is put in can be taken out a cycle later, and a place that becomes free can be used
//! a cycle later. A kernel whose channel has no room, or no value, stands still as a whole, with what it has asked of memory.

use std::collections::VecDeque;

use crate::block::Number;
use crate::design::Design;

/// A channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Channel {
    /// As the program calls it.
    pub name: String,
    /// The type of what goes through it.
    pub number: Number,
    /// So many values wait in it at most.
    pub depth: u64,
    /// Who puts values in, and which argument has the address of the array that it stands for.
    pub from: End,
    /// Who takes them out, and the same there.
    pub to: End,
}

/// An end of a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct End {
    /// Which kernel of the group.
    pub member: usize,
    /// Which argument of it.
    pub slot: usize,
}

/// A kernel with channels.
#[derive(Clone, Debug, PartialEq)]
pub struct Member {
    /// The kernel that it stands for.
    pub name: String,
    /// What works.
    pub design: Design,
}

/// Kernels that run at the same time, in the order in which they are launched.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Group {
    /// Between them.
    pub channels: Vec<Channel>,
    /// Which they are.
    pub members: Vec<Member>,
}

/// Why a kernel stands still.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// Which kernel of the group.
    pub member: usize,
    /// Which channel.
    pub channel: usize,
    /// It has no room; else it has no value.
    pub is_full: bool,
}

/// What is in channels.
#[derive(Debug, Default)]
pub(crate) struct Queues(Vec<Queue>);

#[derive(Debug)]
struct Queue {
    values: VecDeque<u64>,
    depth: usize,
    /// How many there were as the cycle began.
    was: usize,
}

impl Queues {
    pub(crate) fn new(channels: &[Channel]) -> Queues {
        let queue = |it: &Channel| Queue {
            values: VecDeque::new(),
            depth: usize::try_from(it.depth).unwrap_or(usize::MAX),
            was: 0,
        };
        Queues(channels.iter().map(queue).collect())
    }

    /// A cycle begins.
    pub(crate) fn begin(&mut self) {
        self.0.iter_mut().for_each(|it| it.was = it.values.len());
    }

    /// Whether an end can be used in this cycle.
    pub(crate) fn is_ready(&self, channel: usize, pushes: bool) -> bool {
        let ready = |it: &Queue| if pushes { it.was < it.depth } else { it.was > 0 };
        self.0.get(channel).is_some_and(ready)
    }

    pub(crate) fn push(&mut self, channel: usize, value: u64) {
        if let Some(it) = self.0.get_mut(channel) {
            it.values.push_back(value);
        }
    }

    pub(crate) fn pop(&mut self, channel: usize) -> u64 {
        self.0.get_mut(channel).and_then(|it| it.values.pop_front()).unwrap_or(0)
    }
}
