//! A design, run cycle by cycle.

use std::collections::VecDeque;

use crate::block::{Act, Block, Function, Node, Number, Operand};
use crate::design::{Chip, Design, Next};
use crate::group::{Group, Queues, Waiting};

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
    /// Kernels wait for each other's channels: which, and what for.
    Deadlock(Vec<Waiting>),
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
    let plans = plans(design);
    let mut machine = Machine::new(design, &plans, registers.to_vec());
    let mut queues = Queues::default();
    let ended = loop {
        if machine.cycle >= most {
            break Err(Fault::Long);
        }
        match machine.step(memory, &mut queues) {
            Ok(Step::Went) => {}
            Ok(Step::Ended) => break Ok(machine.cycle),
            // It has a channel, and nobody is at the other end.
            Ok(Step::Waits(channel, is_full)) => {
                break Err(Fault::Deadlock(vec![Waiting { member: 0, channel, is_full }]));
            }
            Err(fault) => break Err(fault),
        }
    };
    registers.copy_from_slice(&machine.registers);
    ended
}

/// Runs the kernels of a group, whose registers are as they begin. Answers the cycles until the last has ended, of at most
/// `most`.
///
/// # Errors
/// If they take longer, reach outside of the memory, or wait for each other.
pub fn together<M: Memory + ?Sized>(
    group: &Group,
    registers: &[Vec<u64>],
    memory: &mut M,
    most: u64,
) -> Result<u64, Fault> {
    let plans: Vec<Vec<Plan<'_>>> = group.members.iter().map(|it| plans(&it.design)).collect();
    let members = group.members.iter().zip(&plans).zip(registers);
    let begun = members.map(|((it, plans), own)| Machine::new(&it.design, plans, own.clone()));
    let mut machines: Vec<Option<Machine<'_>>> = begun.map(Some).collect();
    let (mut queues, mut cycle) = (Queues::new(&group.channels), 0);
    loop {
        let (mut went, mut waiting) = (false, Vec::new());
        queues.begin();
        for (member, place) in machines.iter_mut().enumerate() {
            let Some(machine) = place else { continue };
            match machine.step(memory, &mut queues)? {
                Step::Went => went = true,
                Step::Ended => *place = None,
                Step::Waits(channel, is_full) => {
                    waiting.push(Waiting { member, channel, is_full });
                }
            }
        }
        // Nothing has changed in this cycle, so nothing will.
        match (went, waiting.is_empty()) {
            (false, true) => return Ok(cycle),
            (false, false) => return Err(Fault::Deadlock(waiting)),
            (true, _) => cycle += 1,
        }
        if cycle > most {
            return Err(Fault::Long);
        }
    }
}

fn plans(design: &Design) -> Vec<Plan<'_>> {
    design.states.iter().map(|it| Plan::new(&it.block)).collect()
}

/// What a machine has done in a cycle.
enum Step {
    Went,
    /// Nothing: this channel has no room, or no value.
    Waits(usize, bool),
    /// It had ended before.
    Ended,
}

/// A design that is run.
struct Machine<'d> {
    design: &'d Design,
    plans: &'d [Plan<'d>],
    registers: Vec<u64>,
    /// Cycles in which it has not stood still.
    cycle: u64,
    /// What will be in memory: when, where, what, and how many bytes.
    writes: VecDeque<(u64, u64, u64, usize)>,
    /// What memories on the chip have.
    chips: Vec<Vec<u64>>,
    /// What they will have: from which cycle on, which, where, and what.
    kept: Vec<(u64, usize, usize, u64)>,
    /// The block that is at work or comes next.
    state: usize,
    at: Phase,
}

/// How far it is.
enum Phase {
    /// A block begins in this cycle.
    Begins,
    Works(Box<Work>),
    /// In this cycle it is found which block is next: the test of the last.
    Chooses(u64),
}

/// A block at work.
struct Work {
    values: Values,
    /// Rounds that were begun, and whether there are more.
    rounds: u64,
    is_on: bool,
    /// The test, as it was asked last.
    test: u64,
    /// The cycle since it has begun, and within the interval.
    at: u64,
    slot: u64,
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
    /// Ends of channels: the cycle of an iteration, which, and whether values are put in.
    ends: Vec<(u64, usize, bool)>,
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
            Act::Compute(_)
            | Act::Load
            | Act::Store
            | Act::Look(_)
            | Act::Keep(_)
            | Act::Pop(_)
            | Act::Push(_) => None,
        };
        let nexts = block.nodes.iter().map(next).collect();
        let end = |(node, it): (usize, &Node)| {
            it.act.channel().map(|(channel, pushes)| (start(node), channel, pushes))
        };
        let ends = block.nodes.iter().enumerate().filter_map(end).collect();
        Plan { block, interval, window, late, asked, accesses, nexts, ends }
    }

    /// Nodes that work in a cycle of a block, so many rounds of which were begun, with the round that each belongs to.
    fn due(&self, at: u64, slot: u64, rounds: u64) -> impl Iterator<Item = (usize, u64)> {
        let late = usize::try_from(slot).ok().and_then(|it| self.late.get(it));
        let interval = self.interval;
        let round = move |start: u64| {
            let since = at.checked_sub(start)?;
            Some(if interval == 1 { since } else { since / interval })
        };
        let due = move |(start, node): &(u64, usize)| Some((*node, round(*start)?));
        late.into_iter().flatten().filter_map(due).filter(move |it| it.1 < rounds)
    }

    fn is_pure(&self, node: usize) -> bool {
        let act = self.block.nodes.get(node).map(|it| it.act);
        matches!(act, Some(Act::Begin(_) | Act::Compute(_)))
    }
}

impl Work {
    fn new(plan: &Plan<'_>, registers: &[u64]) -> Work {
        let room = plan.block.nodes.len() * usize::try_from(plan.window).unwrap_or(1);
        let first = registers.to_vec();
        let values = Values { first, window: plan.window, values: vec![0; room] };
        Work { values, rounds: 0, is_on: true, test: 1, at: 0, slot: 0 }
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

impl<'d> Machine<'d> {
    fn new(design: &'d Design, plans: &'d [Plan<'d>], registers: Vec<u64>) -> Machine<'d> {
        let room = |it: &Chip| vec![0; usize::try_from(it.elements).unwrap_or(0)];
        Machine {
            design,
            plans,
            registers,
            cycle: 0,
            writes: VecDeque::new(),
            chips: design.chips.iter().map(room).collect(),
            kept: Vec::new(),
            state: 0,
            at: Phase::Begins,
        }
    }

    /// One cycle.
    fn step<M: Memory + ?Sized>(
        &mut self,
        memory: &mut M,
        queues: &mut Queues,
    ) -> Result<Step, Fault> {
        let (design, plans) = (self.design, self.plans);
        let (Some(state), Some(plan)) = (design.states.get(self.state), plans.get(self.state))
        else {
            self.written(memory, u64::MAX)?;
            return Ok(Step::Ended);
        };
        let mut work = match std::mem::replace(&mut self.at, Phase::Begins) {
            Phase::Begins => Box::new(Work::new(plan, &self.registers)),
            Phase::Works(work) => work,
            Phase::Chooses(test) => {
                self.cycle += 1;
                if let Next::Choose(yes, no) = state.next {
                    self.state = if test != 0 { yes } else { no };
                }
                return Ok(Step::Went);
            }
        };
        if !plan.ends.is_empty()
            && let Some((channel, is_full)) = self.waits(plan, &mut work, memory, queues)?
        {
            self.at = Phase::Works(work);
            return Ok(Step::Waits(channel, is_full));
        }
        if !self.works(plan, &mut work, memory, queues)? {
            self.at = Phase::Works(work);
            return Ok(Step::Went);
        }
        let test = self.leaves(plan, &work);
        match state.next {
            Next::Goto(next) => self.state = next,
            Next::Choose(..) => self.at = Phase::Chooses(test),
        }
        Ok(Step::Went)
    }

    /// The channel that is not ready for what this cycle does. What only computes is asked first, since the test of a loop
    /// says whether its next iteration is there; to compute it again changes nothing.
    fn waits<M: Memory + ?Sized>(
        &mut self,
        plan: &Plan<'_>,
        work: &mut Work,
        memory: &mut M,
        queues: &mut Queues,
    ) -> Result<Option<(usize, bool)>, Fault> {
        let mut begins = false;
        if work.is_on && work.slot == 0 && plan.ends.iter().any(|it| it.0 == 0) {
            let due = plan.due(work.at, work.slot, work.rounds);
            for (node, round) in due.filter(|it| plan.is_pure(it.0)) {
                self.node(plan, &mut work.values, (node, round), memory, queues)?;
            }
            for node in &plan.asked {
                let round = work.rounds;
                self.node(plan, &mut work.values, (*node, round), memory, queues)?;
            }
            let asks = plan.block.test.filter(|_| plan.block.is_loop);
            begins = asks.is_none_or(|it| work.values.get(it, work.rounds) != 0);
        }
        let is_used = |start: u64| match work.at.checked_sub(start) {
            Some(since) if since % plan.interval == 0 => {
                since / plan.interval < work.rounds + u64::from(start == 0 && begins)
            }
            Some(_) | None => false,
        };
        let used = plan.ends.iter().filter(|it| is_used(it.0));
        let mut late = used.filter(|it| !queues.is_ready(it.1, it.2));
        Ok(late.next().map(|(_, channel, pushes)| (*channel, *pushes)))
    }

    /// What a block does in a cycle; whether that was its last.
    fn works<M: Memory + ?Sized>(
        &mut self,
        plan: &Plan<'_>,
        work: &mut Work,
        memory: &mut M,
        queues: &mut Queues,
    ) -> Result<bool, Fault> {
        let (block, interval) = (plan.block, plan.interval);
        for (node, round) in plan.due(work.at, work.slot, work.rounds) {
            self.node(plan, &mut work.values, (node, round), memory, queues)?;
        }
        if work.is_on && work.slot == 0 {
            let round = work.rounds;
            for node in &plan.asked {
                self.node(plan, &mut work.values, (*node, round), memory, queues)?;
            }
            let asks = block.test.filter(|_| block.is_loop);
            work.test = asks.map_or(1, |it| work.values.get(it, round));
            if work.test != 0 {
                for node in &plan.accesses {
                    self.node(plan, &mut work.values, (*node, round), memory, queues)?;
                }
                work.rounds += 1;
            }
            work.is_on = work.test != 0 && block.is_loop;
        }
        let last = work.rounds.checked_sub(1).map_or(0, |it| it * interval + block.depth);
        let told = if block.is_loop { work.rounds * interval + 1 } else { 0 };
        self.cycle += 1;
        if !work.is_on && work.at >= last.max(told) {
            return Ok(true);
        }
        work.at += 1;
        work.slot = if work.slot + 1 == interval { 0 } else { work.slot + 1 };
        Ok(false)
    }

    /// Registers get what the block leaves; answers its test.
    fn leaves(&mut self, plan: &Plan<'_>, work: &Work) -> u64 {
        let block = plan.block;
        let Some(last) = work.rounds.checked_sub(1) else { return work.test };
        for (register, operand) in &block.sets {
            if let Some(place) = self.registers.get_mut(*register) {
                *place = work.values.get(*operand, last);
            }
        }
        match block.is_loop {
            true => work.test,
            false => block.test.map_or(0, |it| work.values.get(it, last)),
        }
    }

    /// What a node does in its cycle of an iteration.
    fn node<M: Memory + ?Sized>(
        &mut self,
        plan: &Plan<'_>,
        values: &mut Values,
        (at, round): (usize, u64),
        memory: &mut M,
        queues: &mut Queues,
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
            Act::Load => self.load(memory, of(0), node.gives)?,
            Act::Store if is_left_out(node) => 0,
            Act::Store => {
                let when = self.cycle.saturating_add(self.design.memory.1);
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
            Act::Pop(channel) => queues.pop(channel),
            Act::Push(channel) => {
                queues.push(channel, of(0));
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
    fn written<M: Memory + ?Sized>(&mut self, memory: &mut M, now: u64) -> Result<(), Fault> {
        while let Some((when, address, value, bytes)) = self.writes.front().copied() {
            if when > now {
                break;
            }
            self.writes.pop_front();
            memory.store(address, bytes, value).ok_or(Fault::Write(address))?;
        }
        Ok(())
    }

    fn load<M: Memory + ?Sized>(
        &mut self,
        memory: &mut M,
        address: u64,
        number: Number,
    ) -> Result<u64, Fault> {
        self.written(memory, self.cycle)?;
        memory.load(address, number.bits as usize / 8).ok_or(Fault::Read(address))
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
