//! Loops that count in 64 bits where 32 are enough.
//!
//! `long` and `size_t` have 64 bits in the host's data model; LLVM never narrows a loop's counter, and a comparison
//! of 64 bits costs a 32-bit core four instructions in every iteration. Here the test at the end of a loop is replaced: the number of
//! iterations is computed once before it, and a counter of 32 bits goes down to zero. The old counter then serves
//! addresses only, whose upper half nobody asks for, and LLVM's passes make it 32 bits wide.
//!
//! It must be known that the iterations fit in 32 bits. Either proves it: the bounds are constants or extended from 32 bits; or
//! every iteration accesses another element of one object in the accelerator's memory, which is smaller than 4 GiB.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::extract::Facts;
use crate::llvm::{Block, Builder, Context, Opcode, Predicate, Type, Value};
use crate::prepare::{Model, Program};

/// How deep expressions are looked into.
const DEPTH: u32 = 8;

/// An index that moves by less takes more than 2^32 different values before it wraps around in 64 bits.
const FARTHEST: u64 = 1 << 30;

/// Shortens all loops that allow it; how many.
pub(crate) fn shorten(context: Context, program: &Program, facts: &Facts) -> u32 {
    if program.model == Model::Device {
        return 0;
    }
    let builder = Builder::new(context);
    let mut count = 0;
    for function in program.module.functions().into_iter().filter(|it| !it.is_declaration()) {
        for found in loops(function) {
            if let Some(test) = found.test(context)
                && found.shorten(&builder, facts, &test)
            {
                count += 1;
            }
        }
    }
    count
}

/// A loop with one entry, and a test at its end.
struct Loop {
    before: Block,
    header: Block,
    latch: Block,
    blocks: FxHashSet<Block>,
}

/// What is tested at the end: goes on while `counter + step * n` is in `predicate` to `bound`.
struct Test {
    branch: Value,
    /// The counter at the beginning of an iteration.
    counter: Value,
    step: Value,
    by: i64,
    start: Value,
    /// Whether the counter is tested before it steps.
    is_early: bool,
    /// Goes on while this holds.
    predicate: Predicate,
    bound: Value,
    goes_on_if_true: bool,
}

/// All loops of a function whose form is simple.
fn loops(function: Value) -> Vec<Loop> {
    let blocks = function.blocks();
    let mut predecessors: FxHashMap<Block, Vec<Block>> = FxHashMap::default();
    for block in &blocks {
        for next in block.successors() {
            predecessors.entry(next).or_default().push(*block);
        }
    }
    let mut found = Vec::new();
    for header in &blocks {
        let Some([one, other]) = predecessors.get(header).map(Vec::as_slice) else { continue };
        for (before, latch) in [(*one, *other), (*other, *one)] {
            let leads_here_only = before.successors() == [*header];
            let members = members(*header, latch, &predecessors);
            let Some(members) = members.filter(|it| leads_here_only && !it.contains(&before))
            else {
                continue;
            };
            // One entry: nothing outside leads into it but at its header.
            let has_one_entry = members.iter().filter(|it| *it != header).all(|it| {
                predecessors.get(it).is_some_and(|them| them.iter().all(|it| members.contains(it)))
            });
            if has_one_entry {
                found.push(Loop { before, header: *header, latch, blocks: members });
                break;
            }
        }
    }
    found
}

/// Blocks from which the latch is reached without passing the header; none if the entry of the function is among
/// them, for then the two are no loop.
fn members(
    header: Block,
    latch: Block,
    predecessors: &FxHashMap<Block, Vec<Block>>,
) -> Option<FxHashSet<Block>> {
    let mut members = FxHashSet::default();
    members.insert(header);
    let mut stack = vec![latch];
    while let Some(block) = stack.pop() {
        if members.insert(block) {
            let before = predecessors.get(&block)?;
            stack.extend(before);
        }
    }
    Some(members)
}

impl Loop {
    fn is_invariant(&self, value: Value) -> bool {
        !value.is_instruction() || !self.blocks.contains(&value.block())
    }

    /// `phi [start, before], [phi + constant, latch]`: start, what it steps to, by how much.
    fn counter(&self, phi: Value) -> Option<(Value, Value, i64)> {
        let is_phi = phi.is_instruction()
            && phi.opcode() == Opcode::LLVMPHI
            && phi.block() == self.header
            && phi.ty().is_integer();
        if !is_phi {
            return None;
        }
        let incoming = phi.incoming();
        let from = |block: Block| incoming.iter().find(|it| it.1 == block).map(|it| it.0);
        let (start, step) = (from(self.before)?, from(self.latch)?);
        let is_step =
            step.is_instruction() && step.opcode() == Opcode::LLVMAdd && step.operand(0) == phi;
        let by = if is_step { step.operand(1).signed()? } else { return None };
        Some((start, step, by))
    }

    /// The test, if it is one of 64 bits.
    fn test(&self, context: Context) -> Option<Test> {
        let branch = self.latch.terminator()?;
        if branch.opcode() != Opcode::LLVMBr || !branch.is_conditional() {
            return None;
        }
        let successors = branch.successors();
        let goes_on_if_true = successors.first() == Some(&self.header);
        let is_exit = successors.iter().filter(|it| !self.blocks.contains(it)).count() == 1;
        let condition = branch.operand(0);
        let is_test = is_exit
            && condition.is_instruction()
            && condition.opcode() == Opcode::LLVMICmp
            && condition.operand(0).ty() == context.integer(64);
        if !is_test || !successors.contains(&self.header) {
            return None;
        }
        let (left, right) = (condition.operand(0), condition.operand(1));
        let holds = condition.predicate();
        let goes_on = if goes_on_if_true { holds } else { opposite(holds)? };
        let tested = |it: Value| -> Option<(Value, bool)> {
            if self.counter(it).is_some() {
                return Some((it, true));
            }
            let is_step = it.is_instruction() && it.opcode() == Opcode::LLVMAdd;
            let phi = is_step.then(|| it.operand(0))?;
            self.counter(phi).filter(|known| known.1 == it).map(|_| (phi, false))
        };
        let (counter, is_early, predicate, bound) = match (tested(left), tested(right)) {
            (Some((phi, early)), _) if self.is_invariant(right) => (phi, early, goes_on, right),
            (_, Some((phi, early))) if self.is_invariant(left) => {
                (phi, early, swapped(goes_on), left)
            }
            _ => return None,
        };
        let (start, step, by) = self.counter(counter)?;
        Some(Test { branch, counter, step, by, start, is_early, predicate, bound, goes_on_if_true })
    }

    /// Replaces the test; false if that is not known to be right.
    fn shorten(&self, builder: &Builder, facts: &Facts, test: &Test) -> bool {
        let Some(end) = self.before.terminator() else { return false };
        let is_small = test.is_small();
        if !test.has_known_count() || !is_small && !self.walks_an_object(facts, test) {
            return false;
        }
        builder.before(end);
        builder.set_location(test.branch.debug_location());
        let word = builder.context().integer(32);
        let count = test.count(builder);
        let low = builder.resize(count, word);
        let count = match is_small {
            true => low,
            false => {
                // The loop ends otherwise before it has run so often; it must not end earlier by this test.
                let most = count.ty().constant(u64::from(u32::MAX));
                let is_more = builder.compare(Predicate::LLVMIntUGT, count, most);
                builder.select(is_more, word.constant(u64::from(u32::MAX)), low)
            }
        };
        let Some(first) = self.header.instructions().first().copied() else { return false };
        builder.before(first);
        builder.set_location(None);
        let left = builder.phi(word);
        builder.before(test.branch);
        builder.set_location(test.branch.debug_location());
        let next = builder.add(left, word.constant(u64::from(u32::MAX)));
        left.add_incoming(count, self.before);
        left.add_incoming(next, self.latch);
        let predicate =
            if test.goes_on_if_true { Predicate::LLVMIntNE } else { Predicate::LLVMIntEQ };
        let condition = builder.compare(predicate, next, word.null());
        test.branch.set_condition(condition);
        true
    }

    /// Whether every iteration accesses another element of one object of the accelerator: then there are fewer than
    /// its bytes. The access must be in a block that every iteration runs through.
    fn walks_an_object(&self, facts: &Facts, test: &Test) -> bool {
        let mut blocks = vec![self.header];
        if self.latch != self.header {
            blocks.push(self.latch);
        }
        blocks.into_iter().flat_map(Block::instructions).any(|it| {
            let pointer = match it.opcode() {
                Opcode::LLVMLoad => it.operand(0),
                Opcode::LLVMStore => it.operand(1),
                _ => return false,
            };
            if !pointer.is_instruction() || pointer.opcode() != Opcode::LLVMGetElementPtr {
                return false;
            }
            let base = pointer.operand(0);
            let indices: Vec<Value> = pointer.operands().split_off(1);
            let mut moving = indices.iter().filter(|it| !self.is_invariant(**it));
            let (Some(index), None) = (moving.next(), moving.next()) else { return false };
            let by = self.moves(*index, test.counter, DEPTH);
            let by = by.and_then(|it| it.checked_mul(test.by.unsigned_abs()));
            pointer.is_in_bounds()
                && self.is_invariant(base)
                && facts.is_device(base)
                && by.is_some_and(|it| it != 0 && it < FARTHEST)
        })
    }

    /// By how much an index moves when the counter steps by one: it is `counter * constant + invariant`.
    fn moves(&self, index: Value, counter: Value, depth: u32) -> Option<u64> {
        if index == counter {
            return Some(1);
        }
        if depth == 0 || !index.is_instruction() || self.is_invariant(index) {
            return None;
        }
        let inner = |it: u32| self.moves(index.operand(it), counter, depth - 1);
        match index.opcode() {
            Opcode::LLVMAdd | Opcode::LLVMSub if self.is_invariant(index.operand(1)) => inner(0),
            Opcode::LLVMAdd | Opcode::LLVMSub if self.is_invariant(index.operand(0)) => inner(1),
            Opcode::LLVMMul => {
                let by = index.operand(1).signed()?.unsigned_abs();
                inner(0)?.checked_mul(by)
            }
            Opcode::LLVMShl => {
                let by = index.operand(1).unsigned().filter(|it| *it < 32)?;
                inner(0)?.checked_mul(1 << by)
            }
            _ => None,
        }
    }
}

impl Test {
    /// Whether the steps can be counted: by one, or by a power of two without wrapping around.
    fn has_known_count(&self) -> bool {
        let is_up = self.by > 0;
        let fits = match self.predicate {
            Predicate::LLVMIntNE => true,
            Predicate::LLVMIntSLT
            | Predicate::LLVMIntSLE
            | Predicate::LLVMIntULT
            | Predicate::LLVMIntULE => is_up,
            Predicate::LLVMIntSGT
            | Predicate::LLVMIntSGE
            | Predicate::LLVMIntUGT
            | Predicate::LLVMIntUGE => !is_up,
            Predicate::LLVMIntEQ => false,
        };
        let size = self.by.unsigned_abs();
        // Steps of more than one may jump over the end of the numbers.
        let is_exact = match self.predicate {
            Predicate::LLVMIntULT
            | Predicate::LLVMIntULE
            | Predicate::LLVMIntUGT
            | Predicate::LLVMIntUGE => self.step.is_unsigned_exact(),
            _ => self.step.is_signed_exact(),
        };
        fits && size != 0 && (size == 1 || size.is_power_of_two() && is_exact)
    }

    /// Instructions that compute how often the loop runs.
    fn count(&self, builder: &Builder) -> Value {
        let ty = self.bound.ty();
        let number = |it: u64| ty.constant(it);
        let first = match self.is_early {
            true => self.start,
            false => builder.add(self.start, number(self.by as u64)),
        };
        let distance = match self.by > 0 {
            true => builder.binary(Opcode::LLVMSub, self.bound, first),
            false => builder.binary(Opcode::LLVMSub, first, self.bound),
        };
        let shift = number(u64::from(self.by.unsigned_abs().trailing_zeros()));
        let steps = |distance| builder.binary(Opcode::LLVMLShr, distance, shift);
        let passed = match self.predicate {
            Predicate::LLVMIntNE => steps(distance),
            // How many of first, first + by, … lie before the bound: one, and one for each whole step behind it.
            Predicate::LLVMIntSLT
            | Predicate::LLVMIntULT
            | Predicate::LLVMIntSGT
            | Predicate::LLVMIntUGT => {
                let less = builder.add(distance, number(u64::MAX));
                builder.add(steps(less), number(1))
            }
            _ => builder.add(steps(distance), number(1)),
        };
        let passed = match self.predicate {
            Predicate::LLVMIntNE => passed,
            _ => {
                let goes_on = builder.compare(self.predicate, first, self.bound);
                builder.select(goes_on, passed, number(0))
            }
        };
        builder.add(passed, number(1))
    }

    /// Whether the bounds are so near that the iterations fit in 32 bits.
    fn is_small(&self) -> bool {
        let (Some(start), Some(bound)) = (range(self.start, DEPTH), range(self.bound, DEPTH))
        else {
            return false;
        };
        let is_signed = !matches!(
            self.predicate,
            Predicate::LLVMIntULT
                | Predicate::LLVMIntULE
                | Predicate::LLVMIntUGT
                | Predicate::LLVMIntUGE
        );
        let is_positive = start.0 >= 0 && bound.0 >= 0;
        // From one side to the other, and not past the bound: without wrapping that is what `!=` means.
        let distance = match self.by > 0 {
            true => bound.1 - start.0,
            false => start.1 - bound.0,
        };
        let arrives = match self.predicate {
            Predicate::LLVMIntNE => {
                let ahead = if self.by > 0 { bound.0 - start.1 } else { start.0 - bound.1 };
                self.step.is_signed_exact() || ahead >= 0
            }
            _ => true,
        };
        arrives && (is_signed || is_positive) && distance < i128::from(u32::MAX) - 2
    }
}

/// Numbers that a value may be, with sign, if they are fewer than all.
fn range(value: Value, depth: u32) -> Option<(i128, i128)> {
    if let Some(number) = value.signed() {
        return Some((i128::from(number), i128::from(number)));
    }
    if depth == 0 || !value.is_instruction() || !value.ty().is_integer() {
        return None;
    }
    let all = |ty: Type| {
        let half = 1_i128 << (ty.bits() - 1);
        (-half, half - 1)
    };
    let inner = |index: u32| {
        let operand = value.operand(index);
        range(operand, depth - 1).unwrap_or_else(|| all(operand.ty()))
    };
    let fitting = |it: (i128, i128)| {
        let bounds = all(value.ty());
        (it.0 >= bounds.0 && it.1 <= bounds.1).then_some(it)
    };
    match value.opcode() {
        Opcode::LLVMSExt => Some(inner(0)),
        Opcode::LLVMZExt => {
            let (low, high) = inner(0);
            let bits = value.operand(0).ty().bits();
            Some(if low >= 0 { (low, high) } else { (0, (1_i128 << bits) - 1) })
        }
        Opcode::LLVMAnd => {
            let mask = value.operand(1).signed().filter(|it| *it >= 0)?;
            Some((0, i128::from(mask)))
        }
        Opcode::LLVMLShr => {
            let shift = value.operand(1).unsigned().filter(|it| (1..64).contains(it))?;
            let bits = u64::from(value.ty().bits());
            Some((0, (1_i128 << (bits.saturating_sub(shift))) - 1))
        }
        Opcode::LLVMAdd => fitting((inner(0).0 + inner(1).0, inner(0).1 + inner(1).1)),
        Opcode::LLVMSub => fitting((inner(0).0 - inner(1).1, inner(0).1 - inner(1).0)),
        Opcode::LLVMMul => {
            let (left, right) = (inner(0), inner(1));
            let products = [left.0 * right.0, left.0 * right.1, left.1 * right.0, left.1 * right.1];
            fitting((products.into_iter().min()?, products.into_iter().max()?))
        }
        Opcode::LLVMShl => {
            let shift = value.operand(1).unsigned().filter(|it| *it < 63)?;
            let (low, high) = inner(0);
            fitting((low << shift, high << shift))
        }
        Opcode::LLVMSelect => {
            let (yes, no) = (inner(1), inner(2));
            Some((yes.0.min(no.0), yes.1.max(no.1)))
        }
        Opcode::LLVMCall if value.called().is_function() => {
            let name = value.called().name();
            let (left, right) = (|| inner(0), || inner(1));
            if name.starts_with("llvm.smin") {
                Some((left().0.min(right().0), left().1.min(right().1)))
            } else if name.starts_with("llvm.smax") {
                Some((left().0.max(right().0), left().1.max(right().1)))
            } else {
                None
            }
        }
        _ => None,
    }
}

/// What holds if `predicate` does not; none for tests that a loop cannot end with.
fn opposite(predicate: Predicate) -> Option<Predicate> {
    Some(match predicate {
        Predicate::LLVMIntEQ => Predicate::LLVMIntNE,
        Predicate::LLVMIntNE => return None,
        Predicate::LLVMIntUGT => Predicate::LLVMIntULE,
        Predicate::LLVMIntUGE => Predicate::LLVMIntULT,
        Predicate::LLVMIntULT => Predicate::LLVMIntUGE,
        Predicate::LLVMIntULE => Predicate::LLVMIntUGT,
        Predicate::LLVMIntSGT => Predicate::LLVMIntSLE,
        Predicate::LLVMIntSGE => Predicate::LLVMIntSLT,
        Predicate::LLVMIntSLT => Predicate::LLVMIntSGE,
        Predicate::LLVMIntSLE => Predicate::LLVMIntSGT,
    })
}

/// The same test with its sides exchanged.
fn swapped(predicate: Predicate) -> Predicate {
    match predicate {
        Predicate::LLVMIntEQ | Predicate::LLVMIntNE => predicate,
        Predicate::LLVMIntUGT => Predicate::LLVMIntULT,
        Predicate::LLVMIntUGE => Predicate::LLVMIntULE,
        Predicate::LLVMIntULT => Predicate::LLVMIntUGT,
        Predicate::LLVMIntULE => Predicate::LLVMIntUGE,
        Predicate::LLVMIntSGT => Predicate::LLVMIntSLT,
        Predicate::LLVMIntSGE => Predicate::LLVMIntSLE,
        Predicate::LLVMIntSLT => Predicate::LLVMIntSGT,
        Predicate::LLVMIntSLE => Predicate::LLVMIntSGE,
    }
}
