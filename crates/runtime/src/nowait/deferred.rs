//! Calls of the offload interface that are not made in place.
//!
//! Between [`begin`] and [`take`] the calls of a thread are the work of a task: they are kept here, with
//! copies of their arrays and of the bytes that are passed by value; [`Deferred::run`] makes them. Names
//! and places are constants of the program and need no copies. A region that can be started at once is not
//! kept ([`tasks::start_region`]). With a [`Goal`] they go into that queue instead, in two stages (see
//! [`super::staged`]).

use std::cell::{Cell, RefCell};

use abi::queue::Dependence;

use super::staged::Goal;
use super::tasks::{self, Start};
use crate::args::{MapArgs, Place};
use crate::arrays::Arrays;
use crate::devices::{self, Target};
use crate::directives::{self, Walk};
use crate::error::Error;
use crate::guard::guard;
use crate::prepared::Shape;
use crate::{registry, tool};

thread_local! {
    /// Calls of this thread are kept.
    static IS_ON: Cell<bool> = const { Cell::new(false) };
    static KEPT: RefCell<Vec<Deferred>> = const { RefCell::new(Vec::new()) };
    /// The queue that calls go into; `None`: they are kept.
    static GOAL: Cell<Option<Goal>> = const { Cell::new(None) };
    /// What calls that are kept come after.
    static DEPENDENCES: RefCell<Vec<Dependence>> = const { RefCell::new(Vec::new()) };
}

/// Which call it is.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Call {
    Kernel { region: usize, shape: Shape },
    Data(Walk),
}

/// A call that is kept.
#[derive(Debug)]
pub(crate) struct Deferred {
    call: Call,
    place: Place,
    device: i64,
    /// Where in the program the call stands, if a tool wants to know.
    code: usize,
    arrays: Arrays,
}

/// Are calls of this thread kept?
#[inline]
pub(crate) fn is_on() -> bool {
    IS_ON.get()
}

/// From now on the calls of this thread are put into a queue.
pub(crate) fn begin(goal: Goal) {
    IS_ON.set(true);
    GOAL.set(Some(goal));
}

/// From now on they are a task that comes after others.
pub(crate) fn begin_task(dependences: Vec<Dependence>) {
    IS_ON.set(true);
    DEPENDENCES.set(dependences);
}

/// Ends that; answers what was kept, and what it comes after.
pub(crate) fn take() -> (Vec<Deferred>, Vec<Dependence>) {
    IS_ON.set(false);
    GOAL.set(None);
    (KEPT.take(), DEPENDENCES.take())
}

/// Keeps a call, or puts it into the queue.
pub(crate) fn keep(call: Call, place: Place, device: i64, args: &MapArgs) -> Result<(), Error> {
    if let Some(goal) = GOAL.get() {
        return match call {
            Call::Kernel { region, shape } => {
                let registry = registry::current();
                let known = registry.region(region).ok_or(Error::UnknownRegion { id: region })?;
                goal.put(place, args, true, |cx, args| {
                    directives::begin_region(cx, known, args, &shape)
                })
            }
            Call::Data(walk) => {
                goal.put(place, args, false, |cx, args| directives::begin_data(cx, walk, args))
            }
        };
    }
    if let Call::Kernel { region, shape } = &call
        && KEPT.with_borrow(Vec::is_empty)
    {
        let start = Start { place, device, region: *region, args, shape };
        if DEPENDENCES.with_borrow(|it| tasks::start_region(&start, it))? {
            return Ok(());
        }
    }
    // The default device is that of the caller, now.
    let device = match devices::target(device) {
        Ok(Target::Device(it)) => it.number as i64,
        Ok(Target::Host) => abi::DEVICE_HOST,
        // Reported when the call is made.
        Err(_) => device,
    };
    let kept = Deferred { call, place, device, code: tool::code(), arrays: Arrays::new(args) };
    KEPT.with_borrow_mut(|it| it.push(kept));
    Ok(())
}

impl Deferred {
    /// What it runs, it does not run in this process.
    pub(crate) fn only_asks_a_device(&self) -> bool {
        match (self.call, devices::target(self.device)) {
            (Call::Data(_), _) => true,
            (Call::Kernel { .. }, Ok(Target::Device(it))) => !it.plugin.runs_in_process(),
            (Call::Kernel { .. }, _) => false,
        }
    }

    /// Makes the call. A failure ends the program as it would in place.
    pub(crate) fn run(mut self) {
        let _code = tool::called_from(self.code);
        let args = self.arrays.args();
        let (place, device) = (self.place, self.device);
        match self.call {
            Call::Kernel { region, shape } => {
                guard(&place, true, || {
                    directives::run_region(place, device, region, &args, &shape)
                });
            }
            Call::Data(walk) => directives::run_data(walk, place, device, Some(args)),
        }
    }
}

/// Runs calls one after another.
pub(crate) fn run_all(calls: Vec<Deferred>) {
    calls.into_iter().for_each(Deferred::run);
}
