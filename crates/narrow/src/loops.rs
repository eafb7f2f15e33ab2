//! Loops of a simple form, and the tests they end with.
//!
//! In: a function after the first clean-up, which puts tests at the ends of loops. Out: loops with one entry whose test at the end
//! compares a counter, which steps by a constant, with something that does not change. All others are left out.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::llvm::{Block, Opcode, Predicate, Value};

/// A loop with one entry, and a test at its end.
pub(crate) struct Loop {
    pub(crate) before: Block,
    pub(crate) header: Block,
    pub(crate) latch: Block,
    pub(crate) blocks: FxHashSet<Block>,
}

/// What is tested at the end: goes on while `counter + step * n` is in `predicate` to `bound`.
pub(crate) struct Test {
    pub(crate) branch: Value,
    /// The counter at the beginning of an iteration.
    pub(crate) counter: Value,
    pub(crate) step: Value,
    pub(crate) by: i64,
    pub(crate) start: Value,
    /// Whether the counter is tested before it steps.
    pub(crate) is_early: bool,
    /// Goes on while this holds.
    pub(crate) predicate: Predicate,
    pub(crate) bound: Value,
    pub(crate) goes_on_if_true: bool,
}

/// All loops of a function whose form is simple.
pub(crate) fn loops(function: Value) -> Vec<Loop> {
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
    pub(crate) fn is_invariant(&self, value: Value) -> bool {
        !value.is_instruction() || !self.blocks.contains(&value.block())
    }

    /// `phi [start, before], [phi + constant, latch]`: start, what it steps to, by how much.
    pub(crate) fn counter(&self, phi: Value) -> Option<(Value, Value, i64)> {
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

    /// The test at its end.
    pub(crate) fn test(&self) -> Option<Test> {
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
            && condition.operand(0).ty().is_integer();
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
