//! One core: its registers, its time, and what it has done.

use crate::counters::Counters;
use crate::fault::Wait;
use crate::isa::op::Op;

/// Instructions before this one were fetched from no line.
pub(crate) const NO_LINE: u32 = u32::MAX;

/// Lines that a core remembers to be in the cache.
const RECENT: usize = 16;

/// Interrupts are taken: a bit of the status.
const TAKES_INTERRUPTS: u32 = 1 << 3;
/// The same, before the interrupt that is being handled.
const TOOK_INTERRUPTS: u32 = 1 << 7;

/// One core.
#[derive(Clone, Debug)]
pub(crate) struct Hart {
    pub(crate) id: u32,
    /// When its next instruction begins.
    pub(crate) time: u64,
    pub(crate) pc: u32,
    /// The line that instructions come from.
    pub(crate) line: u32,
    /// Registers whose values may not be there yet, a bit each.
    pub(crate) pending: u64,
    /// Lines that were found in the cache, as long as no other was put there.
    recent: [u32; RECENT],
    /// What the cache's generation was then.
    recent_in: u64,
    /// `x0` to `x31`; what is written to `x0` goes to [`crate::isa::op::SINK`].
    x: [u32; 128],
    /// Single precision has ones above it.
    f: [u64; 32],
    /// When the value of each register is there; floating-point registers from [`crate::isa::op::FLOAT`] on.
    ready: [u64; 128],
    /// Upper half of the next address; 0 is none.
    pub(crate) extension: u32,
    /// What the host refused since this was last read.
    pub(crate) errors: u32,
    /// Set flags of floating-point arithmetic.
    pub(crate) flags: u32,
    /// Rounding mode, as its register has it.
    pub(crate) rounding: u8,
    pub(crate) status: u32,
    pub(crate) scratch: u32,
    /// Where it goes on behind an interrupt.
    pub(crate) resume: u32,
    /// Where the stack may be; any place if `stack_high` is 0.
    pub(crate) stack_low: u32,
    pub(crate) stack_high: u32,
    /// What it sleeps for, and the register that gets the answer.
    pub(crate) asleep: Option<(Wait, u8)>,
    /// The instruction that it sleeps in.
    pub(crate) waits_at: u32,
    /// The register that the instruction before wrote.
    pub(crate) last_written: u8,
    /// First byte and number of bytes of what its data cache is asked for next.
    pub(crate) cache_work: (u32, u32),
    pub(crate) counters: Counters,
}

impl Hart {
    pub(crate) fn new(id: u32) -> Hart {
        Hart {
            id,
            time: 0,
            pc: 0,
            line: NO_LINE,
            pending: 0,
            recent: [NO_LINE; RECENT],
            recent_in: 0,
            x: [0; 128],
            f: [boxed(0); 32],
            ready: [0; 128],
            extension: 0,
            errors: 0,
            flags: 0,
            rounding: 0,
            status: 8,
            scratch: 0,
            resume: 0,
            stack_low: 0,
            stack_high: 0,
            asleep: None,
            waits_at: 0,
            last_written: 0,
            cache_work: (0, 0),
            counters: Counters::default(),
        }
    }

    /// Goes to `handler` before its next instruction; false if it takes no interrupts now.
    pub(crate) fn enter_interrupt(&mut self, handler: u32) -> bool {
        let is_taken = self.status & TAKES_INTERRUPTS != 0 && self.asleep.is_none();
        if is_taken {
            self.resume = self.pc;
            self.pc = handler & !1;
            self.line = NO_LINE;
            self.status = self.status & !TAKES_INTERRUPTS | TOOK_INTERRUPTS;
        }
        is_taken
    }

    /// Where it goes on.
    pub(crate) fn leave_interrupt(&mut self) -> u32 {
        let took = self.status & TOOK_INTERRUPTS != 0;
        self.status = match took {
            true => self.status | TAKES_INTERRUPTS,
            false => self.status & !TAKES_INTERRUPTS | TOOK_INTERRUPTS,
        };
        self.resume
    }

    #[inline(always)]
    #[allow(clippy::indexing_slicing, reason = "a mask keeps the index in the array")]
    pub(crate) fn x(&self, register: u8) -> u32 {
        self.x[usize::from(register & 127)]
    }

    /// `register` is not 0: decoding replaces that by [`crate::isa::op::SINK`].
    #[inline(always)]
    #[allow(clippy::indexing_slicing, reason = "a mask keeps the index in the array")]
    pub(crate) fn set_x(&mut self, register: u8, value: u32) {
        self.x[usize::from(register & 127)] = value;
    }

    #[inline(always)]
    #[allow(clippy::indexing_slicing, reason = "a mask keeps the index in the array")]
    pub(crate) fn double(&self, register: u8) -> u64 {
        self.f[usize::from(register & 31)]
    }

    #[inline(always)]
    #[allow(clippy::indexing_slicing, reason = "a mask keeps the index in the array")]
    pub(crate) fn set_double(&mut self, register: u8, value: u64) {
        self.f[usize::from(register & 31)] = value;
    }

    /// Single precision; what has not ones above it is no number.
    #[inline(always)]
    pub(crate) fn single(&self, register: u8) -> u32 {
        let value = self.double(register);
        if value >> 32 == 0xffff_ffff { value as u32 } else { 0x7fc0_0000 }
    }

    #[inline(always)]
    pub(crate) fn set_single(&mut self, register: u8, value: u32) {
        self.set_double(register, boxed(value));
    }

    pub(crate) fn registers(&self) -> [u32; 32] {
        std::array::from_fn(|it| self.x(it as u8))
    }

    pub(crate) fn floats(&self) -> [u64; 32] {
        self.f
    }

    /// Says when the value of a register will be there.
    #[inline(always)]
    #[allow(clippy::indexing_slicing, reason = "a mask keeps the index in the array")]
    pub(crate) fn set_ready(&mut self, register: u8, time: u64) {
        self.ready[usize::from(register & 127)] = time;
        self.pending |= 1 << (register & 63);
    }

    /// Waits for the registers that an instruction reads; those that are there are not asked for again.
    #[inline]
    #[allow(clippy::indexing_slicing, reason = "a mask keeps the index in the array")]
    pub(crate) fn wait_for_operands(&mut self, op: &Op) {
        let mut asked = self.pending & op.reads;
        self.pending &= !asked;
        let mut all = self.time;
        while asked != 0 {
            all = all.max(self.ready[asked.trailing_zeros() as usize & 127]);
            asked &= asked - 1;
        }
        self.counters.stalls.data += all - self.time;
        self.time = all;
    }

    /// Whether a line was found in the cache before, and is still there.
    #[inline(always)]
    #[allow(clippy::indexing_slicing, reason = "the remainder keeps the index in the array")]
    pub(crate) fn has_recent(&self, line: u32, generation: u64) -> bool {
        self.recent[line as usize % RECENT] == line && self.recent_in == generation
    }

    /// A line was found in the cache.
    #[allow(clippy::indexing_slicing, reason = "the remainder keeps the index in the array")]
    pub(crate) fn set_recent(&mut self, line: u32, generation: u64) {
        if self.recent_in != generation {
            self.recent = [NO_LINE; RECENT];
            self.recent_in = generation;
        }
        self.recent[line as usize % RECENT] = line;
    }

    /// Its place in the order of all cores: time first; within a cycle each pair takes turns.
    #[inline(always)]
    pub(crate) fn key(&self) -> u64 {
        key(self.time, self.id)
    }
}

/// A floating-point register that holds single precision.
#[inline(always)]
fn boxed(value: u32) -> u64 {
    0xffff_ffff_0000_0000 | u64::from(value)
}

/// See [`Hart::key`].
#[inline(always)]
pub(crate) fn key(time: u64, core: u32) -> u64 {
    time << 6 | (time ^ u64::from(core)) & 63
}

/// The core of a key.
#[inline(always)]
pub(crate) fn core_of(key: u64) -> u32 {
    ((key ^ key >> 6) & 63) as u32
}

/// The cycle of a key.
#[inline(always)]
pub(crate) fn cycle_of(key: u64) -> u64 {
    key >> 6
}
