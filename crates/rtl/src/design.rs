//! A kernel as hardware: blocks, and which follows which.

use crate::block::{Block, Number};

/// A kernel as hardware.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Design {
    /// Registers between blocks, by the type of what they hold.
    pub registers: Vec<Number>,
    /// Blocks, and which is next. The first is begun with.
    pub states: Vec<State>,
    /// Arguments of a launch that registers have when the kernel begins.
    pub parameters: Vec<Parameter>,
    /// Cycles until a load has its value, and until a store is seen.
    pub memory: (u64, u64),
    /// Memories on the chip.
    pub chips: Vec<Chip>,
}

/// A memory on the chip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chip {
    /// The type of its elements.
    pub number: Number,
    /// How many there are.
    pub elements: u64,
}

/// An argument of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Which.
    pub slot: usize,
    /// The register that begins with it.
    pub register: usize,
}

/// A block and what follows it.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    /// What is done.
    pub block: Block,
    /// What follows.
    pub next: Next,
}

/// What follows a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// This block; behind the last the kernel ends.
    Goto(usize),
    /// One of two: as the block's test is not zero, or zero.
    Choose(usize, usize),
}

impl Design {
    /// Registers as the kernel begins with these arguments.
    pub fn begin(&self, arguments: &[u64]) -> Vec<u64> {
        let mut registers = vec![0; self.registers.len()];
        for it in &self.parameters {
            let number = self.registers.get(it.register).copied().unwrap_or(Number::ADDRESS);
            if let (Some(place), Some(value)) =
                (registers.get_mut(it.register), arguments.get(it.slot))
            {
                *place = value & number.mask();
            }
        }
        registers
    }
}
