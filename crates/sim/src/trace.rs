//! What happens in a cluster, told to whoever looks on.
//!
//! An [`Observer`] is a parameter of the run, so that a run nobody looks at does not pay for it.

use std::fmt;

use crate::fault::{NAMES, Wait};
use crate::isa::name::mnemonic;
use crate::isa::op::{FLOAT, Op, SINK};

/// Something that looks on.
pub trait Observer {
    /// Whether it wants to hear anything.
    const LOOKS: bool;

    /// An instruction is done.
    fn step(&mut self, step: &Step);

    /// Something else happened. Within a run, events of one core are in order.
    fn event(&mut self, event: &Event);
}

/// Nobody looks on.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unobserved;

impl Observer for Unobserved {
    const LOOKS: bool = false;

    #[inline(always)]
    fn step(&mut self, _: &Step) {}

    #[inline(always)]
    fn event(&mut self, _: &Event) {}
}

/// An instruction that is done.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// When it began, after all it had to wait for before.
    pub cycle: u64,
    /// When the next one of this core can begin.
    pub until: u64,
    /// The core.
    pub core: u32,
    /// Where it stands.
    pub pc: u32,
    /// What its register holds now; 0 where it has none.
    pub value: u64,
    op: Op,
}

impl Step {
    pub(crate) fn new(core: u32, cycle: u64, until: u64, pc: u32, op: Op, value: u64) -> Step {
        Step { cycle, until, core, pc, value, op }
    }

    /// As an assembler spells it.
    pub fn mnemonic(&self) -> String {
        mnemonic(&self.op)
    }

    /// Name of the register that it writes.
    pub fn register(&self) -> Option<String> {
        match self.op.rd {
            SINK => None,
            it if it >= FLOAT => Some(format!("f{}", it - FLOAT)),
            it => NAMES.get(usize::from(it)).map(|it| (*it).to_owned()),
        }
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Step { cycle, core, pc, value, .. } = self;
        write!(f, "{cycle:>10} core {core} {pc:08x} {}", self.mnemonic())?;
        match self.register() {
            Some(register) => write!(f, " {register}={value:#x}"),
            None => Ok(()),
        }
    }
}

/// Something besides instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A core waits.
    Sleeps {
        /// When.
        cycle: u64,
        /// Which core.
        core: u32,
        /// For what.
        wait: Wait,
    },
    /// A core goes on.
    Wakes {
        /// When.
        cycle: u64,
        /// Which core.
        core: u32,
    },
    /// A transfer is asked for.
    TransferStarts {
        /// When.
        cycle: u64,
        /// By which core.
        core: u32,
        /// Its number.
        id: u32,
        /// Where bytes come from.
        from: u64,
        /// Where they go.
        to: u64,
        /// How many.
        bytes: u64,
    },
    /// Its last byte is there.
    TransferEnds {
        /// When.
        cycle: u64,
        /// Its number.
        id: u32,
    },
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Event::Sleeps { cycle, core, wait } => {
                write!(f, "{cycle:>10} core {core} waits for {wait}")
            }
            Event::Wakes { cycle, core } => write!(f, "{cycle:>10} core {core} goes on"),
            Event::TransferStarts { cycle, core, id, from, to, bytes } => write!(
                f,
                "{cycle:>10} core {core} starts transfer {id}: {bytes} bytes from {from:#x} to {to:#x}"
            ),
            Event::TransferEnds { cycle, id } => write!(f, "{cycle:>10} transfer {id} ends"),
        }
    }
}

/// A trace as text, a line for each instruction and event.
#[derive(Debug, Default)]
pub struct TextTrace<W> {
    /// Where lines go.
    pub out: W,
}

impl<W: fmt::Write> Observer for TextTrace<W> {
    const LOOKS: bool = true;

    fn step(&mut self, step: &Step) {
        // A writer that is full ends the trace, not the run.
        let _ = writeln!(self.out, "{step}");
    }

    fn event(&mut self, event: &Event) {
        let _ = writeln!(self.out, "{event}");
    }
}
