//! A design, run cycle by cycle.

use std::collections::VecDeque;

use super::block::{Act, Block, Function, Number, Operand};
use super::design::{Design, Next};

/// Why a run has ended before its kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// An access outside of the memory: its address.
    Outside(u64),
    /// It takes more cycles than were allowed.
    Long,
}

/// Runs a design: registers and memory are as it begins, and then as it ends. Answers how many cycles that takes, of at most
/// `most`.
pub fn run(
    design: &Design,
    registers: &mut [u64],
    memory: &mut [u8],
    most: u64,
) -> Result<u64, Fault> {
    let mut machine = Machine { design, memory, cycle: 0, most, writes: VecDeque::new() };
    let mut at = 0;
    while let Some(state) = design.states.get(at) {
        let test = machine.block(&state.block, registers)?;
        at = match state.next {
            Next::Goto(next) => next,
            Next::Choose(yes, no) => {
                machine.cycle += 1;
                if test != 0 { yes } else { no }
            }
        };
    }
    machine.written(u64::MAX)?;
    Ok(machine.cycle)
}

struct Machine<'m> {
    design: &'m Design,
    memory: &'m mut [u8],
    cycle: u64,
    most: u64,
    /// What will be in memory: when, where, what, and how many bytes.
    writes: VecDeque<(u64, u64, u64, u32)>,
}

/// Values of nodes in the iterations that are under way.
struct Values {
    /// Registers as the block began.
    first: Vec<u64>,
    window: u64,
    values: Vec<u64>,
}

impl Values {
    fn slot(&self, node: usize, round: u64) -> usize {
        let at = node as u64 * self.window + round % self.window;
        usize::try_from(at).unwrap_or(usize::MAX)
    }

    fn get(&self, operand: Operand, round: u64) -> u64 {
        match operand {
            Operand::Constant(value) => value,
            Operand::Node(node) => self.values.get(self.slot(node, round)).copied().unwrap_or(0),
        }
    }

    fn put(&mut self, node: usize, round: u64, value: u64) {
        let slot = self.slot(node, round);
        if let Some(place) = self.values.get_mut(slot) {
            *place = value;
        }
    }
}

impl Machine<'_> {
    /// Runs a block; answers its test, as it was asked last.
    fn block(&mut self, block: &Block, registers: &mut [u64]) -> Result<u64, Fault> {
        let interval = block.interval.max(1);
        // Iterations that are under way at once.
        let window = block.depth / interval + 3;
        let mut round_values = Values {
            first: registers.to_vec(),
            window,
            values: vec![0; block.nodes.len() * usize::try_from(window).unwrap_or(1)],
        };
        let start = |node: usize| block.starts.get(node).copied().unwrap_or(0);
        let is_pure = |node: usize| {
            let act = block.nodes.get(node).map(|it| it.act);
            matches!(act, Some(Act::Begin(_) | Act::Compute(_)))
        };
        // What belongs to earlier iterations first: later ones may use it in the same cycle.
        let (mut late, at_once): (Vec<usize>, Vec<usize>) =
            (0..block.nodes.len()).partition(|it| start(*it) > 0);
        late.sort_by_key(|it| (std::cmp::Reverse(start(*it)), *it));
        let (asked, accesses): (Vec<usize>, Vec<usize>) =
            at_once.into_iter().partition(|it| is_pure(*it));
        // Rounds that were begun, and whether there are more.
        let (mut rounds, mut is_on, mut test) = (0u64, true, 1u64);
        let mut at = 0u64;
        loop {
            if self.cycle >= self.most {
                return Err(Fault::Long);
            }
            for node in &late {
                let Some(since) = at.checked_sub(start(*node)) else { continue };
                if since.is_multiple_of(interval) && since / interval < rounds {
                    self.node(block, &mut round_values, *node, since / interval)?;
                }
            }
            if is_on && at.is_multiple_of(interval) {
                for node in &asked {
                    self.node(block, &mut round_values, *node, rounds)?;
                }
                let asks = block.test.filter(|_| block.is_loop);
                test = asks.map_or(1, |it| round_values.get(it, rounds));
                if test != 0 {
                    for node in &accesses {
                        self.node(block, &mut round_values, *node, rounds)?;
                    }
                    rounds += 1;
                }
                is_on = test != 0 && block.is_loop;
            }
            let last = rounds.checked_sub(1).map_or(0, |it| it * interval + block.depth);
            let told = if block.is_loop { rounds * interval + 1 } else { 0 };
            self.cycle += 1;
            if !is_on && at >= last.max(told) {
                break;
            }
            at += 1;
        }
        if let Some(last) = rounds.checked_sub(1) {
            for (register, operand) in &block.sets {
                if let Some(place) = registers.get_mut(*register) {
                    *place = round_values.get(*operand, last);
                }
            }
            if !block.is_loop {
                test = block.test.map_or(0, |it| round_values.get(it, last));
            }
        }
        Ok(test)
    }

    /// What a node does in its cycle of an iteration.
    fn node(
        &mut self,
        block: &Block,
        values: &mut Values,
        at: usize,
        round: u64,
    ) -> Result<(), Fault> {
        let Some(node) = block.nodes.get(at) else { return Ok(()) };
        let operands: Vec<u64> = node.operands.iter().map(|it| values.get(*it, round)).collect();
        let is_left_out = node.guard.is_some_and(|it| values.get(it, round) == 0);
        let value = match node.act {
            Act::Begin(register) => match (block.next(register), round.checked_sub(1)) {
                (Some(next), Some(before)) => values.get(next, before),
                (_, _) => values.first.get(register).copied().unwrap_or(0),
            },
            Act::Compute(function) => computed(function, &operands, node.of, node.gives),
            Act::Load if is_left_out => 0,
            Act::Load => self.load(operands.first().copied().unwrap_or(0), node.gives)?,
            Act::Store => {
                if let ([address, value], false) = (operands.as_slice(), is_left_out) {
                    let when = self.cycle + self.design.memory.1;
                    self.writes.push_back((when, *address, *value, node.of.bits / 8));
                }
                0
            }
        };
        values.put(at, round, value);
        Ok(())
    }

    /// Puts into memory what is there by now.
    fn written(&mut self, now: u64) -> Result<(), Fault> {
        while let Some((when, address, value, size)) = self.writes.front().copied() {
            if when > now {
                break;
            }
            self.writes.pop_front();
            for (at, byte) in (0u64..).zip(value.to_le_bytes()).take(size as usize) {
                let place = usize::try_from(address.wrapping_add(at)).ok();
                match place.and_then(|it| self.memory.get_mut(it)) {
                    Some(place) => *place = byte,
                    None => return Err(Fault::Outside(address)),
                }
            }
        }
        Ok(())
    }

    fn load(&mut self, address: u64, number: Number) -> Result<u64, Fault> {
        self.written(self.cycle)?;
        let mut value = 0;
        for at in (0..u64::from(number.bits / 8)).rev() {
            let place = usize::try_from(address.wrapping_add(at)).ok();
            let byte = place.and_then(|it| self.memory.get(it)).ok_or(Fault::Outside(address))?;
            value = value << 8 | u64::from(*byte);
        }
        Ok(value)
    }
}

/// The value of an integer with its sign.
fn signed(value: u64, number: Number) -> i64 {
    let spare = 64 - number.bits.min(64);
    let moved = (value << spare).cast_signed();
    if number.is_signed() { moved >> spare } else { value.cast_signed() }
}

/// What an operator gives.
pub fn computed(function: Function, operands: &[u64], of: Number, gives: Number) -> u64 {
    let at = |it: usize| operands.get(it).copied().unwrap_or(0);
    let (a, b) = (at(0), at(1));
    let value = match function {
        Function::Select => {
            if a != 0 {
                b
            } else {
                at(2)
            }
        }
        Function::Convert => converted(a, of, gives),
        _ if of.is_float() && of.bits == 32 => {
            single(function, [a, b].map(|it| f32::from_bits(it as u32)))
        }
        _ if of.is_float() => double(function, [a, b].map(f64::from_bits)),
        _ => integer(function, [a, b], of),
    };
    value & gives.mask()
}

fn integer(function: Function, [a, b]: [u64; 2], of: Number) -> u64 {
    let (x, y) = (signed(a, of), signed(b, of));
    let is_less = if of.is_signed() { x < y } else { a < b };
    let shift = u32::try_from(b).unwrap_or(u32::MAX);
    match function {
        Function::Add => a.wrapping_add(b),
        Function::Sub => a.wrapping_sub(b),
        Function::Mul => a.wrapping_mul(b),
        // What C does not say is nothing.
        Function::Div if of.is_signed() => x.checked_div(y).unwrap_or(0).cast_unsigned(),
        Function::Rem if of.is_signed() => x.checked_rem(y).unwrap_or(0).cast_unsigned(),
        Function::Div => a.checked_div(b).unwrap_or(0),
        Function::Rem => a.checked_rem(b).unwrap_or(0),
        Function::Left => a.checked_shl(shift).unwrap_or(0),
        Function::Right if of.is_signed() => {
            x.checked_shr(shift).unwrap_or(x >> 63).cast_unsigned()
        }
        Function::Right => a.checked_shr(shift).unwrap_or(0),
        Function::And => a & b,
        Function::Or => a | b,
        Function::Xor => a ^ b,
        Function::Less => u64::from(is_less),
        Function::LessOrEqual => u64::from(is_less || a == b),
        Function::Equal => u64::from(a == b),
        Function::Least => {
            if is_less {
                a
            } else {
                b
            }
        }
        Function::Most => {
            if is_less {
                b
            } else {
                a
            }
        }
        Function::Select
        | Function::Convert
        | Function::Negate
        | Function::Absolute
        | Function::Sqrt => a,
    }
}

fn single(function: Function, [a, b]: [f32; 2]) -> u64 {
    let number = |it: f32| u64::from(if it.is_nan() { 0x7fc0_0000 } else { it.to_bits() });
    match function {
        Function::Add => number(a + b),
        Function::Sub => number(a - b),
        Function::Mul => number(a * b),
        Function::Div => number(a / b),
        Function::Sqrt => number(a.sqrt()),
        Function::Negate => u64::from(a.to_bits() ^ 1 << 31),
        Function::Absolute => u64::from(a.to_bits() & !(1 << 31)),
        Function::Less => u64::from(a < b),
        Function::LessOrEqual => u64::from(a <= b),
        Function::Equal => u64::from(a == b),
        _ => 0,
    }
}

fn double(function: Function, [a, b]: [f64; 2]) -> u64 {
    let number = |it: f64| if it.is_nan() { 0x7ff8 << 48 } else { it.to_bits() };
    match function {
        Function::Add => number(a + b),
        Function::Sub => number(a - b),
        Function::Mul => number(a * b),
        Function::Div => number(a / b),
        Function::Sqrt => number(a.sqrt()),
        Function::Negate => a.to_bits() ^ 1 << 63,
        Function::Absolute => a.to_bits() & !(1 << 63),
        Function::Less => u64::from(a < b),
        Function::LessOrEqual => u64::from(a <= b),
        Function::Equal => u64::from(a == b),
        _ => 0,
    }
}

#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "conversions as C has them"
)]
fn converted(value: u64, of: Number, gives: Number) -> u64 {
    let narrow = |it: f32| u64::from(if it.is_nan() { 0x7fc0_0000 } else { it.to_bits() });
    let wide = |it: f64| if it.is_nan() { 0x7ff8 << 48 } else { it.to_bits() };
    match (of.is_float(), gives.is_float()) {
        (false, false) => signed(value, of).cast_unsigned(),
        (false, true) => match (gives.bits, of.is_signed()) {
            (32, true) => narrow(signed(value, of) as f32),
            (32, false) => narrow(value as f32),
            (_, true) => wide(signed(value, of) as f64),
            (_, false) => wide(value as f64),
        },
        (true, true) => match (of.bits, gives.bits) {
            (32, 64) => wide(f64::from(f32::from_bits(value as u32))),
            (64, 32) => narrow(f64::from_bits(value) as f32),
            (_, _) => value,
        },
        (true, false) => {
            let number = match of.bits {
                32 => f64::from(f32::from_bits(value as u32)),
                _ => f64::from_bits(value),
            };
            match (gives.is_signed(), gives.bits) {
                (true, 64) => (number as i64).cast_unsigned(),
                (true, _) => i64::from(number as i32).cast_unsigned(),
                (false, 64) => number as u64,
                (false, _) => u64::from(number as u32),
            }
        }
    }
}
