//! What a call does to the memory of a device, kept as steps until its turn in a queue.
//!
//! A call that goes into a queue changes the mapping table when it is made: data are there, or gone, as
//! soon as it returns. What the queue is for comes later: copies, launches, and giving memory back.
//! They name addresses of the device, which nobody else gets until the last step has given them back, so
//! no step asks the table. A range remembers the last use of each queue ([`Later::uses`]): its memory is
//! given back after all of them, whoever takes it out of the table. Their turn comes in [`crate::perform`].

use std::cell::RefCell;
use std::sync::Arc;

use device::DevicePtr;

use crate::args::Name;
use crate::graph::{Reserved, Ticket};
use crate::piece::Piece;
use crate::prepared::Kept;
use crate::registry::Region;
use crate::table::Mapped;

/// One thing that is done later.
#[derive(Debug)]
pub(crate) enum Step {
    CopyIn(Piece),
    CopyOut(Piece),
    /// A pointer on the device gets this value.
    Point(Piece, DevicePtr),
    /// So many bytes become zeros.
    Clear(DevicePtr, usize),
    Free(DevicePtr, usize, Option<Name>),
    Launch(Box<Kept>),
}

impl Step {
    /// How many bytes the caller would move if it took the step itself; a launch is never the caller's.
    fn cost(&self) -> usize {
        match self {
            Step::CopyIn(piece) | Step::CopyOut(piece) => piece.size,
            Step::Clear(_, bytes) => *bytes,
            Step::Point(..) | Step::Free(..) => 0,
            Step::Launch(_) => usize::MAX,
        }
    }
}

/// Where a call leaves its steps, and what it knows of its place in the queue.
#[derive(Debug)]
pub(crate) struct Later {
    queue: i64,
    ticket: Ticket,
    /// What was not done when the call came.
    pub(crate) before: Vec<Ticket>,
    steps: RefCell<Vec<Step>>,
    /// What the steps come after: the end of the queue, and the last uses of data that have gone.
    after: RefCell<Vec<Ticket>>,
    /// Keys of ranges that the call has made.
    made: RefCell<Vec<usize>>,
}

impl Later {
    pub(crate) fn new(queue: i64, reserved: Reserved) -> Later {
        let Reserved { ticket, end, before } = reserved;
        let (steps, made) = <_>::default();
        let after = RefCell::new(end.into_iter().collect());
        Later { queue, ticket, before, steps, after, made }
    }

    pub(crate) fn put(&self, step: Step) {
        self.steps.borrow_mut().push(step);
    }

    /// Steps of the call use a range that stays.
    pub(crate) fn uses(&self, mapped: &mut Mapped) {
        mapped.uses.retain(|(queue, _)| *queue != self.queue);
        mapped.uses.push((self.queue, self.ticket));
    }

    /// The call has taken a range out of the table.
    pub(crate) fn removed(&self, mapped: &Mapped) {
        self.after.borrow_mut().extend(mapped.uses.iter().map(|it| it.1));
    }

    /// The call makes a range, whose data come later.
    pub(crate) fn makes(&self, mapped: &mut Mapped) {
        mapped.staged = true;
        self.made.borrow_mut().push(mapped.begin);
    }

    /// Keys of what it has made.
    pub(crate) fn made(&self) -> Vec<usize> {
        self.made.take()
    }

    /// The steps, and what they come after.
    pub(crate) fn take(&self) -> (Steps, Vec<Ticket>) {
        (Steps(self.steps.take()), self.after.take())
    }
}

/// All steps of a call, in their order.
#[derive(Debug)]
pub(crate) struct Steps(pub(crate) Vec<Step>);

impl Steps {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn cost(&self) -> usize {
        self.0.iter().map(Step::cost).fold(0, usize::saturating_add)
    }

    /// The region that they launch.
    pub(crate) fn region(&self) -> Option<Arc<Region>> {
        self.0.iter().find_map(|it| match it {
            Step::Launch(kept) => Some(Arc::clone(&kept.region)),
            Step::CopyIn(_)
            | Step::CopyOut(_)
            | Step::Point(..)
            | Step::Clear(..)
            | Step::Free(..) => None,
        })
    }

    /// How many bytes move before the launch.
    pub(crate) fn before_launch(&self) -> usize {
        let before = self.0.iter().take_while(|it| !matches!(it, Step::Launch(_)));
        before.map(Step::cost).fold(0, usize::saturating_add)
    }

    /// Some of them read what the host has.
    pub(crate) fn read_host(&self) -> bool {
        self.0.iter().any(|it| matches!(it, Step::CopyIn(_)))
    }

    /// Some of them write what the host has.
    pub(crate) fn copy_out(&self) -> bool {
        self.0.iter().any(|it| matches!(it, Step::CopyOut(_)))
    }

    /// Up to the launch, and the rest.
    pub(crate) fn split(mut self) -> (Steps, Steps) {
        let launch = self.0.iter().position(|it| matches!(it, Step::Launch(_)));
        let rest = self.0.split_off(launch.map_or(0, |it| it + 1));
        (self, Steps(rest))
    }
}
