//! The DMA engine: channels that move transfers in bursts while cores go on.
//!
//! Bytes are moved when their burst ends, so who reads a buffer before the transfer is waited for sees what the
//! hardware could show. Channels share one path to memory; bursts of different channels take turns on it.

use std::collections::VecDeque;

use crate::config::{Config, Dma as Timing};
use crate::fault::{FaultKind, Wait};
use crate::shared::Done;
use crate::sleep::Sleepers;

/// A cycle beyond all others; keys of cores have room for it.
pub(crate) const NEVER: u64 = u64::MAX >> 6;

/// What a core has written into the registers.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Staging {
    pub(crate) from: u64,
    pub(crate) to: u64,
    /// Bytes of a row.
    pub(crate) len: u32,
    /// From row to row.
    pub(crate) from_stride: u32,
    pub(crate) to_stride: u32,
    pub(crate) rows: u32,
    /// The transfer that is asked about.
    pub(crate) selected: u32,
}

/// Bytes on their way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Transfer {
    pub(crate) id: u32,
    pub(crate) core: u32,
    /// The instruction that started it.
    pub(crate) pc: u32,
    what: Staging,
    row: u32,
    column: u32,
}

/// Bytes that are moved at once.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Burst {
    pub(crate) from: u64,
    pub(crate) to: u64,
    pub(crate) len: u32,
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) channel: usize,
}

#[derive(Clone, Debug, Default)]
struct Channel {
    transfer: Option<Transfer>,
    burst: Option<Burst>,
    /// When its last transfer ended.
    free: u64,
}

#[derive(Clone, Debug)]
pub(crate) struct Dma {
    timing: Timing,
    wake: u64,
    staging: Vec<Staging>,
    channels: Vec<Channel>,
    /// Accepted, not begun.
    queue: VecDeque<Transfer>,
    /// Their cores sleep until there is a place in the queue.
    refused: VecDeque<Transfer>,
    /// Accepted and not at their end: number and core.
    unfinished: Vec<(u32, u32)>,
    /// Cores that wait, and for which.
    waiting: Vec<(u32, u32)>,
    last_id: u32,
    /// When the path to memory is free.
    path_free: u64,
    /// When the next burst ends.
    pub(crate) due: u64,
}

impl Dma {
    pub(crate) fn new(config: &Config) -> Dma {
        let staging = Staging { rows: 1, ..Staging::default() };
        Dma {
            timing: config.dma.clone(),
            wake: u64::from(config.events.wake),
            staging: vec![staging; config.cores.count as usize],
            channels: vec![Channel::default(); config.dma.channels as usize],
            queue: VecDeque::new(),
            refused: VecDeque::new(),
            unfinished: Vec::new(),
            waiting: Vec::new(),
            last_id: 0,
            path_free: 0,
            due: NEVER,
        }
    }

    pub(crate) fn staging(&mut self, core: u32) -> Option<&mut Staging> {
        self.staging.get_mut(core as usize)
    }

    /// Starts what the core has staged: the transfer with its number, and whether the core goes on.
    pub(crate) fn launch(
        &mut self,
        core: u32,
        pc: u32,
        time: u64,
    ) -> Result<(Transfer, Done), FaultKind> {
        let what = self.staging.get(core as usize).copied().unwrap_or_default();
        if let Some(it) = self.staging(core) {
            it.rows = 1;
        }
        self.last_id = self.last_id.wrapping_add(1).max(1);
        let transfer = Transfer { id: self.last_id, core, pc, what, row: 0, column: 0 };
        let beyond = [what.from, what.to].into_iter().find(|it| it >> 32 != 0);
        if let Some(address) = beyond.filter(|_| self.timing.address_bits == 32) {
            return Err(FaultKind::TransferBeyond { address });
        }
        if transfer.bytes() == 0 {
            return Ok((transfer, Done::Value(u64::from(transfer.id))));
        }
        if !self.has_place(core) {
            self.refused.push_back(transfer);
            return Ok((transfer, Done::Asleep(Wait::DmaQueue)));
        }
        self.accept(transfer, time);
        Ok((transfer, Done::Value(u64::from(transfer.id))))
    }

    fn has_place(&self, core: u32) -> bool {
        let own = self.unfinished.iter().filter(|it| it.1 == core).count();
        own < self.timing.queue_per_core as usize
            && self.unfinished.len() < self.timing.queue as usize
    }

    fn accept(&mut self, transfer: Transfer, time: u64) {
        self.unfinished.push((transfer.id, transfer.core));
        self.queue.push_back(transfer);
        self.begin(time);
    }

    /// Gives idle channels something to do.
    fn begin(&mut self, time: u64) {
        while let Some(index) = self.channels.iter().position(|it| it.transfer.is_none()) {
            let (Some(transfer), Some(channel)) =
                (self.queue.pop_front(), self.channels.get_mut(index))
            else {
                return;
            };
            channel.transfer = Some(transfer);
            let after =
                if channel.free == 0 { 0 } else { channel.free + u64::from(self.timing.gap) };
            let earliest = (time + u64::from(self.timing.latency)).max(after);
            self.next_burst(index, earliest);
        }
    }

    fn next_burst(&mut self, index: usize, earliest: u64) {
        let Some(channel) = self.channels.get_mut(index) else { return };
        let Some(transfer) = &channel.transfer else { return };
        let (what, column) = (&transfer.what, transfer.column);
        let len = (what.len - column).min(self.timing.burst);
        let start = earliest.max(self.path_free);
        let end = start + u64::from(len.div_ceil(self.timing.bytes_per_cycle)).max(1);
        self.path_free = end;
        let at = |base: u64, stride: u32| {
            base.wrapping_add(u64::from(transfer.row).wrapping_mul(u64::from(stride)))
                .wrapping_add(u64::from(column))
        };
        let (from, to) = (at(what.from, what.from_stride), at(what.to, what.to_stride));
        channel.burst = Some(Burst { from, to, len, start, end, channel: index });
        self.find_due();
    }

    fn find_due(&mut self) {
        let ends = self.channels.iter().filter_map(|it| it.burst.map(|it| it.end));
        self.due = ends.min().unwrap_or(NEVER);
    }

    /// The bursts that are under way.
    pub(crate) fn bursts(&self) -> impl Iterator<Item = Burst> + '_ {
        self.channels.iter().filter_map(|it| it.burst)
    }

    /// The burst that ends at `due`, and its transfer.
    pub(crate) fn ending(&self) -> Option<(Burst, Transfer)> {
        self.channels
            .iter()
            .filter_map(|it| it.burst.zip(it.transfer))
            .find(|(burst, _)| burst.end == self.due)
    }

    /// A burst was moved; the path lost `lost` cycles to cores. Gives the transfer if that was its last one.
    pub(crate) fn finish_burst(
        &mut self,
        burst: Burst,
        lost: u64,
        sleepers: &mut Sleepers,
    ) -> Option<Transfer> {
        self.path_free = self.path_free.max(burst.end + lost);
        let channel = self.channels.get_mut(burst.channel)?;
        channel.burst = None;
        let transfer = channel.transfer.as_mut()?;
        transfer.column += burst.len;
        if transfer.column == transfer.what.len {
            transfer.column = 0;
            transfer.row += 1;
        }
        if transfer.row < transfer.what.rows {
            self.next_burst(burst.channel, burst.end + lost);
            return None;
        }
        let finished = channel.transfer.take();
        channel.free = burst.end;
        let id = finished.map_or(0, |it| it.id);
        self.unfinished.retain(|it| it.0 != id);
        for (core, _) in self.waiting.extract_if(.., |it| it.1 == id) {
            sleepers.wake(core, burst.end + self.wake, id);
        }
        // Who waited for a place goes on as soon as there is one.
        while let Some(index) = self.refused.iter().position(|it| self.has_place(it.core)) {
            let Some(transfer) = self.refused.remove(index) else { break };
            self.accept(transfer, burst.end);
            sleepers.wake(transfer.core, burst.end + 1, transfer.id);
        }
        self.begin(burst.end);
        self.find_due();
        finished
    }

    /// No core waits any more; transfers that were accepted go on.
    pub(crate) fn forget_waiting(&mut self) {
        self.waiting.clear();
        self.refused.clear();
    }

    /// Drops all transfers, wherever they are.
    pub(crate) fn abandon(&mut self) {
        self.forget_waiting();
        self.queue.clear();
        self.unfinished.clear();
        for channel in &mut self.channels {
            (channel.transfer, channel.burst) = (None, None);
        }
        self.due = NEVER;
    }

    /// Transfers of a core that are not at their end.
    pub(crate) fn busy(&self, core: u32) -> u32 {
        self.unfinished.iter().filter(|it| it.1 == core).count() as u32
    }

    /// Whether a transfer is at its end; one that never was is.
    pub(crate) fn is_done(&self, id: u32) -> bool {
        !self.unfinished.iter().any(|it| it.0 == id)
    }

    /// Waits for the transfer that the core has selected.
    pub(crate) fn wait(&mut self, core: u32) -> Done {
        let id = self.staging(core).map_or(0, |it| it.selected);
        if self.is_done(id) {
            return Done::Value(u64::from(id));
        }
        self.waiting.push((core, id));
        Done::Asleep(Wait::Dma(id))
    }
}

impl Transfer {
    pub(crate) fn from(&self) -> u64 {
        self.what.from
    }

    pub(crate) fn to(&self) -> u64 {
        self.what.to
    }

    pub(crate) fn bytes(&self) -> u64 {
        u64::from(self.what.len) * u64::from(self.what.rows)
    }
}
