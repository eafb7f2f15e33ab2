//! What stops a cluster, and where.

use std::fmt;

use crate::host::Refusal;

/// What was asked of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// A load.
    Read,
    /// A store.
    Write,
    /// Both, at once.
    Atomic,
    /// An instruction.
    Fetch,
}

impl fmt::Display for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Access::Read => "read",
            Access::Write => "write",
            Access::Atomic => "atomic access",
            Access::Fetch => "fetch",
        })
    }
}

/// What a core waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// The other cores, at this barrier.
    Barrier(u32),
    /// An event.
    Event,
    /// The end of this transfer.
    Dma(u32),
    /// A place in the queue of transfers.
    DmaQueue,
}

impl fmt::Display for Wait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Wait::Barrier(number) => write!(f, "barrier {number}"),
            Wait::Event => f.write_str("an event"),
            Wait::Dma(id) => write!(f, "transfer {id}"),
            Wait::DmaQueue => f.write_str("a place in the queue of transfers"),
        }
    }
}

/// What went wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// There is no memory at this address.
    Unmapped {
        /// Of the first byte.
        address: u64,
        /// How many bytes.
        bytes: u32,
        /// What was asked.
        access: Access,
    },
    /// The host's memory may be read only here.
    ReadOnly {
        /// Of the first byte.
        address: u64,
    },
    /// An address that is not a multiple of the size.
    Misaligned {
        /// Of the first byte.
        address: u64,
        /// How many bytes.
        bytes: u32,
        /// What was asked.
        access: Access,
    },
    /// There is memory, but it cannot do this.
    NoReservations {
        /// Of the word.
        address: u64,
    },
    /// A register of an engine that does not exist, or cannot be accessed like this.
    NoRegister {
        /// Its address.
        address: u64,
        /// What was asked.
        access: Access,
    },
    /// The stack pointer left the stack.
    StackOverflow {
        /// Where it points.
        pointer: u32,
        /// The lowest address of the stack.
        low: u32,
        /// The end of the stack.
        high: u32,
    },
    /// No instruction of this cluster.
    Illegal {
        /// Its bits.
        bits: u32,
    },
    /// `ebreak`.
    Breakpoint,
    /// A transfer that memory refuses.
    Transfer {
        /// Its number.
        id: u32,
        /// The address that was refused.
        address: u64,
        /// How many bytes were asked for there.
        bytes: u32,
        /// Why.
        refusal: Refusal,
    },
    /// The DMA engine does not reach this address.
    TransferBeyond {
        /// The address.
        address: u64,
    },
    /// A descriptor that is in a queue already, or 0, was pushed.
    Queued {
        /// The descriptor.
        descriptor: u32,
    },
    /// Checked: bytes were read that another core has written and not written back.
    NotFlushed {
        /// Of the first byte.
        address: u64,
        /// The core that has written them.
        writer: u32,
    },
    /// Checked: bytes were read from a copy that is older than what is in memory.
    OldCopy {
        /// Of the first byte.
        address: u64,
    },
    /// Checked: a line was written that another core has written and not written back.
    SharedLine {
        /// Of the line.
        address: u64,
        /// The other core.
        other: u32,
    },
    /// All cores wait, and nothing is under way that would wake one.
    Deadlock {
        /// Each core and what it waits for.
        waiting: Vec<(u32, Wait)>,
    },
}

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FaultKind::Unmapped { address, bytes, access } => {
                write!(f, "{access} of {bytes} bytes at {address:#x}: nothing is there")
            }
            FaultKind::ReadOnly { address } => {
                write!(f, "write at {address:#x}: the host's memory may be read only there")
            }
            FaultKind::Misaligned { address, bytes, access } => {
                write!(f, "{access} of {bytes} bytes at {address:#x}: not aligned")
            }
            FaultKind::NoReservations { address } => {
                write!(f, "`lr.w` or `sc.w` at {address:#x}: this memory has no reservations")
            }
            FaultKind::NoRegister { address, access } => {
                write!(f, "{access} at {address:#x}: there is no such register")
            }
            FaultKind::StackOverflow { pointer, low, high } => {
                write!(f, "the stack pointer {pointer:#x} left the stack, {low:#x} to {high:#x}")
            }
            FaultKind::Illegal { bits } => write!(f, "no instruction: {bits:#010x}"),
            FaultKind::Breakpoint => f.write_str("a breakpoint"),
            FaultKind::Transfer { id, address, bytes, refusal } => {
                let why = match refusal {
                    Refusal::Unmapped => "nothing is there",
                    Refusal::ReadOnly => "it may be read only",
                };
                write!(f, "transfer {id}, {bytes} bytes at {address:#x}: {why}")
            }
            FaultKind::TransferBeyond { address } => {
                write!(f, "a transfer at {address:#x}: the DMA engine has 32 address bits")
            }
            FaultKind::Queued { descriptor } => {
                write!(f, "descriptor {descriptor:#x} was pushed, and is in a queue or is none")
            }
            FaultKind::NotFlushed { address, writer } => write!(
                f,
                "read at {address:#x}: core {writer} has written there, and has not written it back"
            ),
            FaultKind::OldCopy { address } => write!(
                f,
                "read at {address:#x}: an old copy, which was not invalidated before it was used"
            ),
            FaultKind::SharedLine { address, other } => write!(
                f,
                "write to the line at {address:#x}: core {other} has written to the same line, and has not written it back"
            ),
            FaultKind::Deadlock { waiting } => {
                f.write_str("all cores wait for ever:")?;
                for (core, wait) in waiting {
                    write!(f, " core {core} for {wait};")?;
                }
                Ok(())
            }
        }
    }
}

/// A place in the source of the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// As the compiler wrote it.
    pub file: String,
    /// From 1.
    pub line: u32,
    /// From 1; 0 where it is not known.
    pub column: u32,
}

/// A cluster that cannot go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What went wrong.
    pub kind: FaultKind,
    /// Which core did it; for a transfer, the one that started it.
    pub core: u32,
    /// The instruction.
    pub pc: u32,
    /// When.
    pub cycle: u64,
    /// `x0` to `x31` before the instruction.
    pub registers: [u32; 32],
    /// `f0` to `f31`, absent where there are none.
    pub floats: Option<[u64; 32]>,
    /// The function it is in, where the program tells.
    pub function: Option<String>,
    /// Where it was written, where the program tells.
    pub place: Option<Place>,
}

/// Names of the integer registers.
pub const NAMES: [&str; 32] = [
    "zero", "ra", "sp", "gp", "tp", "t0", "t1", "t2", "s0", "s1", "a0", "a1", "a2", "a3", "a4",
    "a5", "a6", "a7", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "t3", "t4",
    "t5", "t6",
];

impl fmt::Display for Fault {
    /// The fault in one line, then the registers.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "core {}, cycle {}, pc {:#010x}", self.core, self.cycle, self.pc)?;
        if let Some(function) = &self.function {
            write!(f, " in {function}")?;
        }
        if let Some(Place { file, line, .. }) = &self.place {
            write!(f, " ({file}:{line})")?;
        }
        write!(f, ": {}", self.kind)?;
        for (index, (name, value)) in NAMES.iter().zip(self.registers).enumerate() {
            let begin = if index % 4 == 0 { "\n " } else { "" };
            write!(f, "{begin} {name:>4} {value:08x}")?;
        }
        for (index, value) in self.floats.iter().flatten().enumerate() {
            let begin = if index % 4 == 0 { "\n " } else { "" };
            write!(f, "{begin} f{index:<2} {value:016x}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Fault {}
