//! What each core did, and what it waited for.

/// What a core waited for while it was busy, in cycles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stalls {
    /// For the result of a load or of floating-point arithmetic.
    pub data: u64,
    /// Behind branches that were taken, and jumps.
    pub branch: u64,
    /// For arithmetic of several cycles.
    pub arithmetic: u64,
    /// For control registers and fences.
    pub control: u64,
    /// For a bank of the scratchpad that served another core, or the DMA engine.
    pub conflict: u64,
    /// For the second half of misaligned accesses.
    pub misaligned: u64,
    /// For the accelerator's memory.
    pub l2: u64,
    /// For the host's memory.
    pub host: u64,
    /// For instructions.
    pub fetch: u64,
    /// For the second cycle of wide loads and stores.
    pub wide: u64,
    /// For the event unit, where the event was there already.
    pub event: u64,
    /// For managers of queues.
    pub queue: u64,
}

impl Stalls {
    /// All of them.
    pub fn total(&self) -> u64 {
        let Stalls {
            data,
            branch,
            arithmetic,
            control,
            conflict,
            misaligned,
            l2,
            host,
            fetch,
            wide,
            event,
            queue,
        } = *self;
        let memory = [conflict, misaligned, l2, host, fetch, wide, queue];
        [data, branch, arithmetic, control, event].iter().chain(&memory).sum()
    }
}

/// What a core waited for while it slept, in cycles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sleeps {
    /// At barriers.
    pub barrier: u64,
    /// For events.
    pub event: u64,
    /// For transfers.
    pub dma: u64,
}

/// How many addresses of 64 bits were made, by their kind. Those whose upper half is 0 count too: what a compiler
/// cannot tell costs the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wide {
    /// Writes of the register beside the core.
    pub register: u64,
    /// Writes of the control register.
    pub csr: u64,
    /// Wide loads and stores.
    pub instruction: u64,
}

/// What one core did. `instructions + stalls.total()` and what it slept are all of its cycles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Instructions that were finished.
    pub instructions: u64,
    /// Cycles it waited while busy.
    pub stalls: Stalls,
    /// Cycles it slept.
    pub sleeps: Sleeps,
    /// Accesses to the scratchpad.
    pub l1: u64,
    /// Accesses to the accelerator's memory.
    pub l2: u64,
    /// Descriptors pushed and popped, and tries.
    pub queue: u64,
    /// Accesses to the host's memory.
    pub host: u64,
    /// Addresses of 64 bits.
    pub wide: Wide,
    /// Accesses to the scratchpad that found their bank busy.
    pub conflicts: u64,
    /// Lines of instructions that were not in the cache.
    pub fetch_misses: u64,
    /// Transfers it has started.
    pub dma_transfers: u64,
    /// Bytes of these.
    pub dma_bytes: u64,
}

impl Counters {
    /// Cycles from the start to its last instruction.
    pub fn cycles(&self) -> u64 {
        let Sleeps { barrier, event, dma } = self.sleeps;
        self.instructions + self.stalls.total() + barrier + event + dma
    }
}
