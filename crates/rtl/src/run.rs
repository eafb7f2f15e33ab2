//! A design, run cycle by cycle.

use std::collections::VecDeque;

use crate::block::{Act, Block, Function, Node, Number, Operand};
use crate::design::{Chip, Design, Next};

/// Why a run has ended before its kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// A read outside of the memory: its address.
    Read(u64),
    /// A write outside of it.
    Write(u64),
    /// An element of a memory on the chip that it does not have.
    Element(u64),
    /// It takes more cycles than were allowed.
    Long,
}

/// What loads and stores reach.
pub trait Memory {
    /// Reads a number of so many bytes, the lowest first; none if it is not there.
    fn load(&mut self, address: u64, bytes: usize) -> Option<u64>;
    /// Writes it; none if there is no such place.
    fn store(&mut self, address: u64, bytes: usize, value: u64) -> Option<()>;
}

impl Memory for [u8] {
    fn load(&mut self, address: u64, bytes: usize) -> Option<u64> {
        let begin = usize::try_from(address).ok()?;
        let mut word = [0; 8];
        word.get_mut(..bytes)?.copy_from_slice(self.get(begin..begin.checked_add(bytes)?)?);
        Some(u64::from_le_bytes(word))
    }

    fn store(&mut self, address: u64, bytes: usize, value: u64) -> Option<()> {
        let begin = usize::try_from(address).ok()?;
        let place = self.get_mut(begin..begin.checked_add(bytes)?)?;
        place.copy_from_slice(value.to_le_bytes().get(..bytes)?);
        Some(())
    }
}

/// Runs a design: registers and memory are as it begins, and then as it ends. Answers how many cycles that takes, of at most
/// `most`.
///
/// # Errors
/// If it takes longer, or reaches outside of the memory.
pub fn run<M: Memory + ?Sized>(
    design: &Design,
    registers: &mut [u64],
    memory: &mut M,
    most: u64,
) -> Result<u64, Fault> {
    let room = |it: &Chip| vec![0; usize::try_from(it.elements).unwrap_or(0)];
    let mut machine = Machine {
        store: design.memory.1,
        memory,
        cycle: 0,
        most,
        writes: VecDeque::new(),
        chips: design.chips.iter().map(room).collect(),
        kept: Vec::new(),
    };
    let plans: Vec<Plan<'_>> = design.states.iter().map(|it| Plan::new(&it.block)).collect();
    let mut at = 0;
    while let (Some(state), Some(plan)) = (design.states.get(at), plans.get(at)) {
        let test = machine.block(plan, registers)?;
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

struct Machine<'m, M: ?Sized> {
    /// Cycles until a store is seen.
    store: u64,
    memory: &'m mut M,
    cycle: u64,
    most: u64,
    /// What will be in memory: when, where, what, and how many bytes.
    writes: VecDeque<(u64, u64, u64, usize)>,
    /// What memories on the chip have.
    chips: Vec<Vec<u64>>,
    /// What they will have: from which cycle on, which, where, and what.
    kept: Vec<(u64, usize, usize, u64)>,
}

/// A block, and which of its nodes work in which cycle.
struct Plan<'d> {
    block: &'d Block,
    interval: u64,
    /// Iterations that are under way at once, or more: a power of two.
    window: u64,
    /// Nodes that work after the first cycle of their iteration, by the cycle of the interval. What belongs to earlier
    /// iterations is first: later ones may use it in the same cycle.
    late: Vec<Vec<(u64, usize)>>,
    /// Nodes of the first cycle: what the test may wait for, and what happens only in iterations that there are.
    asked: Vec<usize>,
    accesses: Vec<usize>,
    /// What registers that nodes begin with get in each iteration.
    nexts: Vec<Option<Operand>>,
}

impl Plan<'_> {
    fn new(block: &Block) -> Plan<'_> {
        let interval = block.interval.max(1);
        let start = |node: usize| block.starts.get(node).copied().unwrap_or(0);
        let is_pure = |node: usize| {
            let act = block.nodes.get(node).map(|it| it.act);
            matches!(act, Some(Act::Begin(_) | Act::Compute(_)))
        };
        let mut late = vec![Vec::new(); usize::try_from(interval).unwrap_or(1)];
        let (mut asked, mut accesses) = (Vec::new(), Vec::new());
        for node in 0..block.nodes.len() {
            let start = start(node);
            let slot = usize::try_from(start % interval).unwrap_or(0);
            match late.get_mut(slot) {
                Some(list) if start > 0 => list.push((start, node)),
                _ if is_pure(node) => asked.push(node),
                _ => accesses.push(node),
            }
        }
        late.iter_mut().for_each(|it| it.sort_by_key(|it| (std::cmp::Reverse(it.0), it.1)));
        let window = (block.depth / interval + 3).next_power_of_two();
        let next = |it: &Node| match it.act {
            Act::Begin(register) => block.next(register),
            Act::Compute(_) | Act::Load | Act::Store | Act::Look(_) | Act::Keep(_) => None,
        };
        let nexts = block.nodes.iter().map(next).collect();
        Plan { block, interval, window, late, asked, accesses, nexts }
    }
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
        let at = node as u64 * self.window + (round & (self.window - 1));
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

impl<M: Memory + ?Sized> Machine<'_, M> {
    /// Runs a block; answers its test, as it was asked last.
    fn block(&mut self, plan: &Plan<'_>, registers: &mut [u64]) -> Result<u64, Fault> {
        let (block, interval, window) = (plan.block, plan.interval, plan.window);
        let mut values = Values {
            first: registers.to_vec(),
            window,
            values: vec![0; block.nodes.len() * usize::try_from(window).unwrap_or(1)],
        };
        // Rounds that were begun, and whether there are more.
        let (mut rounds, mut is_on, mut test) = (0u64, true, 1u64);
        let (mut at, mut slot) = (0u64, 0u64);
        loop {
            if self.cycle >= self.most {
                return Err(Fault::Long);
            }
            let late = usize::try_from(slot).ok().and_then(|it| plan.late.get(it));
            for (start, node) in late.into_iter().flatten() {
                let Some(since) = at.checked_sub(*start) else { continue };
                let round = if interval == 1 { since } else { since / interval };
                if round < rounds {
                    self.node(plan, &mut values, *node, round)?;
                }
            }
            if is_on && slot == 0 {
                for node in &plan.asked {
                    self.node(plan, &mut values, *node, rounds)?;
                }
                let asks = block.test.filter(|_| block.is_loop);
                test = asks.map_or(1, |it| values.get(it, rounds));
                if test != 0 {
                    for node in &plan.accesses {
                        self.node(plan, &mut values, *node, rounds)?;
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
            slot = if slot + 1 == interval { 0 } else { slot + 1 };
        }
        if let Some(last) = rounds.checked_sub(1) {
            for (register, operand) in &block.sets {
                if let Some(place) = registers.get_mut(*register) {
                    *place = values.get(*operand, last);
                }
            }
            if !block.is_loop {
                test = block.test.map_or(0, |it| values.get(it, last));
            }
        }
        Ok(test)
    }

    /// What a node does in its cycle of an iteration.
    fn node(
        &mut self,
        plan: &Plan<'_>,
        values: &mut Values,
        at: usize,
        round: u64,
    ) -> Result<(), Fault> {
        let Some(node) = plan.block.nodes.get(at) else { return Ok(()) };
        let of = |it: usize| node.operands.get(it).map_or(0, |it| values.get(*it, round));
        let is_left_out = |node: &Node| node.guard.is_some_and(|it| values.get(it, round) == 0);
        let value = match node.act {
            Act::Begin(register) => match (plan.nexts.get(at), round.checked_sub(1)) {
                (Some(Some(next)), Some(before)) => values.get(*next, before),
                (_, _) => values.first.get(register).copied().unwrap_or(0),
            },
            Act::Compute(function) => {
                computed(function, &[of(0), of(1), of(2)], node.of, node.gives)
            }
            Act::Load if is_left_out(node) => 0,
            Act::Load => self.load(of(0), node.gives)?,
            Act::Store if is_left_out(node) => 0,
            Act::Store => {
                let when = self.cycle.saturating_add(self.store);
                self.writes.push_back((when, of(0), of(1), node.of.bits as usize / 8));
                0
            }
            Act::Look(_) | Act::Keep(_) if is_left_out(node) => 0,
            Act::Look(chip) => {
                let place = self.place(chip, of(0))?;
                *self.chips.get(chip).and_then(|it| it.get(place)).unwrap_or(&0)
            }
            Act::Keep(chip) => {
                let place = self.place(chip, of(0))?;
                self.kept.push((self.cycle.saturating_add(1), chip, place, of(1)));
                0
            }
        };
        values.put(at, round, value);
        Ok(())
    }

    /// An element of a memory on the chip, which has what it has by now.
    fn place(&mut self, chip: usize, element: u64) -> Result<usize, Fault> {
        let now = self.cycle;
        if self.kept.first().is_some_and(|it| it.0 <= now) {
            for (when, chip, place, value) in std::mem::take(&mut self.kept) {
                match self.chips.get_mut(chip).and_then(|it| it.get_mut(place)) {
                    Some(old) if when <= now => *old = value,
                    _ => self.kept.push((when, chip, place, value)),
                }
            }
        }
        let known = self.chips.get(chip).map_or(0, Vec::len);
        let place = usize::try_from(element).ok().filter(|it| *it < known);
        place.ok_or(Fault::Element(element))
    }

    /// Puts into memory what is there by now.
    fn written(&mut self, now: u64) -> Result<(), Fault> {
        while let Some((when, address, value, bytes)) = self.writes.front().copied() {
            if when > now {
                break;
            }
            self.writes.pop_front();
            self.memory.store(address, bytes, value).ok_or(Fault::Write(address))?;
        }
        Ok(())
    }

    fn load(&mut self, address: u64, number: Number) -> Result<u64, Fault> {
        self.written(self.cycle)?;
        self.memory.load(address, number.bits as usize / 8).ok_or(Fault::Read(address))
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
