//! Hardware queues: managers that keep descriptors in order, which cores push and pop with one access each.
//!
//! A descriptor is the address of what it describes. It goes in at either end and comes out at the tail: pushed at the tail it is a stack,
//! at the head a queue. Who comes first is served first, so cores agree through them without atomic instructions. A descriptor
//! is in one queue at most: hardware links them through the descriptors themselves.

use std::collections::{HashSet, VecDeque};

use crate::config;
use crate::fault::FaultKind;

/// One end of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// What is pushed here comes out last.
    Head,
    /// What is pushed here comes out first.
    Tail,
}

#[derive(Clone, Debug)]
struct Manager {
    queues: Vec<VecDeque<u32>>,
    /// When it can serve again.
    free: u64,
}

/// All managers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Queues {
    managers: Vec<Manager>,
    queued: HashSet<u32>,
    latency: u64,
    busy: u64,
}

impl Queues {
    pub(crate) fn new(config: Option<&config::Queues>) -> Queues {
        let Some(config) = config else { return Queues::default() };
        let manager =
            || Manager { queues: vec![VecDeque::new(); config.per_manager as usize], free: 0 };
        Queues {
            managers: (0..config.managers).map(|_| manager()).collect(),
            queued: HashSet::new(),
            latency: u64::from(config.latency),
            busy: u64::from(config.busy),
        }
    }

    /// Cycles that a request waits for its manager and for the answer.
    pub(crate) fn wait(&mut self, manager: usize, time: u64) -> u64 {
        let (latency, busy) = (self.latency, self.busy);
        self.managers.get_mut(manager).map_or(0, |it| {
            let start = it.free.max(time);
            it.free = start + busy;
            start - time + latency
        })
    }

    fn queue(&mut self, manager: usize, number: usize) -> Option<&mut VecDeque<u32>> {
        self.managers.get_mut(manager)?.queues.get_mut(number)
    }

    /// Pushes a descriptor; `None` if there is no such queue.
    pub(crate) fn push(
        &mut self,
        (manager, number): (usize, usize),
        end: End,
        descriptor: u32,
    ) -> Option<Result<(), FaultKind>> {
        self.queue(manager, number)?;
        if descriptor == 0 || !self.queued.insert(descriptor) {
            return Some(Err(FaultKind::Queued { descriptor }));
        }
        let queue = self.queue(manager, number)?;
        match end {
            End::Head => queue.push_front(descriptor),
            End::Tail => queue.push_back(descriptor),
        }
        Some(Ok(()))
    }

    /// Pops the descriptor at the tail, 0 if there is none; `None` if there is no such queue.
    pub(crate) fn pop(&mut self, (manager, number): (usize, usize)) -> Option<u32> {
        let descriptor = self.queue(manager, number)?.pop_back().unwrap_or(0);
        self.queued.remove(&descriptor);
        Some(descriptor)
    }

    /// How many descriptors a queue has.
    pub(crate) fn len(&mut self, (manager, number): (usize, usize)) -> Option<u32> {
        self.queue(manager, number).map(|it| it.len() as u32)
    }
}
