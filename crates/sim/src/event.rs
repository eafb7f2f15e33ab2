//! The event unit: barriers, and events that one core raises for others.

use crate::config::Events;
use crate::fault::Wait;
use crate::shared::Done;
use crate::sleep::Sleepers;

/// Events that programs raise; above them is the end of a transfer.
pub(crate) const PROGRAM_EVENTS: u32 = 16;

/// The bit of the end of a transfer.
pub(crate) const TRANSFER_EVENT: u32 = 1 << PROGRAM_EVENTS;

#[derive(Clone, Debug)]
pub(crate) struct EventUnit {
    cores: Vec<Core>,
    barriers: Vec<Barrier>,
    config: Events,
}

#[derive(Clone, Debug)]
struct Core {
    /// Events that came and were not waited for.
    pending: u32,
    /// Events that end a wait.
    mask: u32,
    is_waiting: bool,
}

#[derive(Clone, Debug)]
struct Barrier {
    /// Cores that it waits for.
    expected: u32,
    arrived: Vec<u32>,
}

impl EventUnit {
    pub(crate) fn new(cores: u32, config: &Events) -> EventUnit {
        let core = Core { pending: 0, mask: TRANSFER_EVENT - 1, is_waiting: false };
        let barrier = Barrier { expected: cores, arrived: Vec::new() };
        EventUnit {
            cores: vec![core; cores as usize],
            barriers: vec![barrier; config.barriers as usize],
            config: config.clone(),
        }
    }

    /// Raises `events` for a core.
    pub(crate) fn raise(&mut self, core: u32, events: u32, time: u64, sleepers: &mut Sleepers) {
        let Some(it) = self.cores.get_mut(core as usize) else { return };
        it.pending |= events;
        if it.is_waiting && it.pending & it.mask != 0 {
            it.is_waiting = false;
            let value = it.take();
            sleepers.wake(core, time + u64::from(self.config.wake), value);
        }
    }

    /// Raises `event` for every core in `cores`, a bit each; those above 31 have no bit.
    pub(crate) fn raise_all(
        &mut self,
        cores: u32,
        events: u32,
        time: u64,
        sleepers: &mut Sleepers,
    ) {
        for core in (0..32).filter(|it| cores >> it & 1 == 1) {
            self.raise(core, events, time, sleepers);
        }
    }

    /// Waits for an event; gives those that came, and the cycles it takes to find one there.
    pub(crate) fn wait(&mut self, core: u32) -> (Done, u32) {
        let Some(it) = self.cores.get_mut(core as usize) else { return (Done::Value(0), 0) };
        if it.pending & it.mask != 0 {
            return (Done::Value(u64::from(it.take())), self.config.event_load - 1);
        }
        it.is_waiting = true;
        (Done::Asleep(Wait::Event), 0)
    }

    pub(crate) fn mask(&mut self, core: u32) -> Option<&mut u32> {
        self.cores.get_mut(core as usize).map(|it| &mut it.mask)
    }

    /// A core arrives at a barrier; `None` if there is none of this number.
    pub(crate) fn arrive(
        &mut self,
        number: u32,
        core: u32,
        time: u64,
        sleepers: &mut Sleepers,
    ) -> Option<Done> {
        let barrier = self.barriers.get_mut(number as usize)?;
        barrier.arrived.push(core);
        barrier.release(time + u64::from(self.config.barrier).max(1), sleepers);
        Some(Done::Asleep(Wait::Barrier(number)))
    }

    /// How many cores a barrier waits for.
    pub(crate) fn expected(&self, number: u32) -> Option<u32> {
        self.barriers.get(number as usize).map(|it| it.expected)
    }

    /// Sets how many; 0 stands for all.
    pub(crate) fn expect(
        &mut self,
        number: u32,
        count: u32,
        time: u64,
        sleepers: &mut Sleepers,
    ) -> Option<()> {
        let all = self.cores.len() as u32;
        let barrier = self.barriers.get_mut(number as usize)?;
        barrier.expected = if count == 0 { all } else { count };
        barrier.release(time + u64::from(self.config.barrier).max(1), sleepers);
        Some(())
    }
}

impl Core {
    /// The events that end a wait; they are over then.
    fn take(&mut self) -> u32 {
        let events = self.pending & self.mask;
        self.pending &= !events;
        events
    }
}

impl Barrier {
    /// Lets all go on if all are there.
    fn release(&mut self, time: u64, sleepers: &mut Sleepers) {
        if self.arrived.is_empty() || (self.arrived.len() as u32) < self.expected {
            return;
        }
        for core in self.arrived.drain(..) {
            sleepers.wake(core, time, 0);
        }
    }
}
