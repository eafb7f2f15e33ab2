//! Everything that cores share: memories, banks, caches and engines.
//!
//! Addresses have 64 bits here: below 4 GiB lie the scratchpad, the accelerator's memory and the registers of
//! engines; everything else is the host's.

use crate::banks::{Banks, Stream};
use crate::config::{Config, Errors, Misaligned, Timing};
use crate::csr::Registers;
use crate::data_cache::{Cost, DataCaches};
use crate::dma::{Burst, Dma, Transfer};
use crate::event::{EventUnit, TRANSFER_EVENT};
use crate::fault::{FaultKind, Wait};
use crate::host::{HostMemory, Refusal};
use crate::icache::Cache;
use crate::isa::Isa;
use crate::queues::Queues;
use crate::sleep::Sleepers;
use crate::trace::Event;

/// What became of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Done {
    /// The value that was read; nothing for a store.
    Value(u64),
    /// The core sleeps; it is told the value when it wakes.
    Asleep(Wait),
}

/// Whose memory an address is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Region {
    L1,
    L2,
    Host,
}

/// What cores share.
#[derive(Clone, Debug)]
pub(crate) struct Shared {
    pub(crate) timing: Timing,
    pub(crate) l1: Memory,
    pub(crate) l2: Memory,
    pub(crate) l2_latency: u64,
    pub(crate) host_latency: u64,
    pub(crate) l1_atomic: u64,
    pub(crate) l1_reservations: bool,
    pub(crate) misaligned: Misaligned,
    pub(crate) extension_register: bool,
    pub(crate) carry: bool,
    pub(crate) wide_instruction: u64,
    pub(crate) errors: Errors,
    pub(crate) dma_rate: u32,
    pub(crate) cores: u32,
    pub(crate) banks: Banks,
    pub(crate) icache: Cache,
    /// Pieces of the accelerator's memory that were written, and may have been instructions.
    pub(crate) code_written: Vec<(u32, u32)>,
    pub(crate) csr: Registers,
    pub(crate) events: EventUnit,
    pub(crate) dma: Dma,
    pub(crate) data_caches: Option<Box<DataCaches>>,
    pub(crate) queues: Queues,
    pub(crate) sleepers: Sleepers,
    /// When the way out of the cluster is free.
    pub(crate) port_free: u64,
    /// The word that each core has reserved; `reserved` says whether there is any.
    pub(crate) reservations: Vec<Option<u64>>,
    pub(crate) reserved: bool,
    /// The program's status, once it has ended.
    pub(crate) exit: Option<u32>,
    /// What happened since somebody looked; absent if nobody does.
    pub(crate) log: Option<Vec<Event>>,
}

/// A memory of the accelerator.
#[derive(Clone, Debug)]
pub(crate) struct Memory {
    pub(crate) base: u32,
    pub(crate) bytes: Vec<u8>,
}

impl Memory {
    fn new(base: u32, size: u32) -> Memory {
        Memory { base, bytes: vec![0; size as usize] }
    }

    /// The offset of an address, if it and the bytes behind are inside.
    #[inline(always)]
    fn offset(&self, address: u64, len: usize) -> Option<usize> {
        let offset = usize::try_from(address.checked_sub(u64::from(self.base))?).ok()?;
        (offset.checked_add(len)? <= self.bytes.len()).then_some(offset)
    }

    pub(crate) fn get(&self, address: u64, len: usize) -> Option<&[u8]> {
        let offset = self.offset(address, len)?;
        self.bytes.get(offset..offset + len)
    }

    pub(crate) fn get_mut(&mut self, address: u64, len: usize) -> Option<&mut [u8]> {
        let offset = self.offset(address, len)?;
        self.bytes.get_mut(offset..offset + len)
    }

    /// `N` aligned bytes; `None` if they are elsewhere.
    #[inline(always)]
    pub(crate) fn array<const N: usize>(&self, address: u32) -> Option<[u8; N]> {
        let offset = address.wrapping_sub(self.base) as usize;
        self.bytes.get(offset..)?.first_chunk::<N>().copied()
    }

    #[inline(always)]
    pub(crate) fn array_mut<const N: usize>(&mut self, address: u32) -> Option<&mut [u8; N]> {
        let offset = address.wrapping_sub(self.base) as usize;
        self.bytes.get_mut(offset..)?.first_chunk_mut::<N>()
    }
}

impl Shared {
    pub(crate) fn new(config: &Config) -> Shared {
        let cores = config.cores.count;
        Shared {
            timing: config.timing.clone(),
            l1: Memory::new(config.l1.base, config.l1.size),
            l2: Memory::new(config.l2.base, config.l2.size),
            l2_latency: u64::from(config.l2.latency),
            host_latency: u64::from(config.host.latency),
            l1_atomic: u64::from(config.l1.atomic),
            l1_reservations: config.l1.reservations,
            misaligned: config.cores.misaligned,
            extension_register: config.extension.register,
            carry: config.extension.carry,
            wide_instruction: u64::from(config.extension.wide_instruction),
            errors: config.extension.errors,
            dma_rate: config.dma.bytes_per_cycle.div_ceil(4),
            cores,
            banks: Banks::new(config.l1.banks, config.dma.channels),
            icache: Cache::new(config.instruction_cache.as_ref()),
            code_written: Vec::new(),
            csr: Registers {
                isa: Isa::of(config),
                extension: config.extension.csr,
                status_cost: config.timing.status_csr,
                cost: config.timing.csr,
            },
            events: EventUnit::new(cores, &config.events),
            dma: Dma::new(config),
            data_caches: config.data_cache.as_ref().map(|it| Box::new(DataCaches::new(it, cores))),
            queues: Queues::new(config.queues.as_ref()),
            sleepers: Sleepers::new(cores),
            port_free: 0,
            reservations: vec![None; cores as usize],
            reserved: false,
            exit: None,
            log: None,
        }
    }

    pub(crate) fn note(&mut self, event: Event) {
        if let Some(log) = &mut self.log {
            log.push(event);
        }
    }

    /// Whose memory these bytes are in; bytes across an edge of one are nobody's, and the host refuses them.
    pub(crate) fn region(&self, address: u64, len: usize) -> Region {
        if self.l1.offset(address, len).is_some() {
            Region::L1
        } else if self.l2.offset(address, len).is_some() {
            Region::L2
        } else {
            Region::Host
        }
    }

    /// Whether bytes lie partly in a memory of the accelerator.
    fn touches_own(&self, address: u64, len: usize) -> bool {
        [&self.l1, &self.l2].iter().any(|it| {
            let (start, size) = (u64::from(it.base), it.bytes.len() as u64);
            address < start + size && address.saturating_add(len as u64) > start
        })
    }

    pub(crate) fn read(
        &self,
        host: &mut dyn HostMemory,
        address: u64,
        into: &mut [u8],
    ) -> Result<(), Refusal> {
        let len = into.len();
        if let Some(bytes) = self.l1.get(address, len).or_else(|| self.l2.get(address, len)) {
            into.copy_from_slice(bytes);
            return Ok(());
        }
        if self.touches_own(address, len) {
            return Err(Refusal::Unmapped);
        }
        host.read(address, into)
    }

    pub(crate) fn write(
        &mut self,
        host: &mut dyn HostMemory,
        address: u64,
        from: &[u8],
    ) -> Result<(), Refusal> {
        let len = from.len();
        if let Some(bytes) = self.l1.get_mut(address, len) {
            bytes.copy_from_slice(from);
        } else if let Some(bytes) = self.l2.get_mut(address, len) {
            bytes.copy_from_slice(from);
            self.code_written.push((address as u32, len as u32));
            self.sleepers.disturbed = true;
        } else if self.touches_own(address, len) {
            return Err(Refusal::Unmapped);
        } else {
            host.write(address, from)?;
        }
        if self.reserved {
            self.unreserve(address, len as u64);
        }
        Ok(())
    }

    /// Ends the reservations of words that were written.
    #[cold]
    pub(crate) fn unreserve(&mut self, address: u64, len: u64) {
        for it in &mut self.reservations {
            if it.is_some_and(|word| word < address.saturating_add(len) && address < word + 4) {
                *it = None;
            }
        }
        self.reserved = self.reservations.iter().any(Option::is_some);
    }

    /// Cycles that an access out of the cluster waits: for its turn, and for the answer.
    pub(crate) fn leave(&mut self, time: u64, latency: u64) -> u64 {
        let start = self.port_free.max(time);
        self.port_free = start + 1;
        start - time + latency
    }

    /// Cycles that a core waits for its data cache.
    pub(crate) fn fill(&mut self, time: u64, cost: Cost) -> u64 {
        let transfer = self.data_caches.as_ref().map_or(0, |it| it.transfer());
        // What is written goes when it can, but takes the way out of the cluster.
        for _ in 0..cost.writes {
            let _ = self.leave(time, 0);
        }
        (0..cost.misses).map(|_| self.leave(time, self.l2_latency + transfer)).sum()
    }

    /// Tells the banks which bursts move through them.
    pub(crate) fn show_bursts(&mut self) {
        let (base, size) = (u64::from(self.l1.base), self.l1.bytes.len() as u64);
        let inside = |address: u64| (base..base + size).contains(&address);
        for Burst { from, to, start, end, channel, .. } in self.dma.bursts() {
            let Some(address) = [to, from].into_iter().find(|it| inside(*it)) else { continue };
            let word = ((address - base) / 4) as u32;
            let stream = Stream { from: start, until: end, word, rate: self.dma_rate };
            self.banks.set_stream(channel, stream);
        }
    }

    /// Moves the burst that ends now.
    ///
    /// # Errors
    /// Its transfer, and what went wrong.
    pub(crate) fn move_burst(
        &mut self,
        host: &mut dyn HostMemory,
    ) -> Result<(), (Transfer, FaultKind)> {
        let Some((burst, transfer)) = self.dma.ending() else { return Ok(()) };
        let fault = |address, refusal| {
            let (id, bytes) = (transfer.id, burst.len);
            (transfer, FaultKind::Transfer { id, address, bytes, refusal })
        };
        let mut bytes = vec![0; burst.len as usize];
        self.read(host, burst.from, &mut bytes).map_err(|it| fault(burst.from, it))?;
        self.write(host, burst.to, &bytes).map_err(|it| fault(burst.to, it))?;
        self.banks.set_stream(burst.channel, Stream::default());
        let lost = self.banks.take_lost();
        if let Some(it) = self.dma.finish_burst(burst, lost, &mut self.sleepers) {
            self.note(Event::TransferEnds { cycle: burst.end, id: it.id });
            self.events.raise(it.core, TRANSFER_EVENT, burst.end, &mut self.sleepers);
        }
        self.show_bursts();
        Ok(())
    }
}
