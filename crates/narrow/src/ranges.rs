//! Which numbers values may be.
//!
//! Least and most, with sign, from constants, extensions, arithmetic that cannot overflow, and the tests of loops. What is not
//! known may be any number of its type.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::llvm::{Opcode, Predicate, Type, Value};
use crate::loops::Test;

/// How deep expressions are looked into.
const DEPTH: u32 = 8;

/// All numbers of a type.
fn all(ty: Type) -> (i128, i128) {
    let half = 1_i128 << (ty.bits() - 1);
    (-half, half - 1)
}

/// Threads that a region may have at most: the first numbers that a trampoline is given point to their own.
const MOST_THREADS: i128 = 1 << 16;

/// Of one function.
pub(crate) struct Ranges<'a> {
    pub(crate) trampolines: &'a FxHashSet<Value>,
    /// The tests of its loops, by their counters.
    pub(crate) tests: FxHashMap<Value, Test>,
}

impl Ranges<'_> {
    /// Least and most that a value may be, with sign.
    pub(crate) fn range(&self, value: Value) -> (i128, i128) {
        self.of(value, DEPTH)
    }

    /// Whether 32 bits with sign hold it.
    pub(crate) fn is_short(&self, value: Value) -> bool {
        let (low, high) = self.range(value);
        low >= i128::from(i32::MIN) && high <= i128::from(i32::MAX)
    }

    fn of(&self, value: Value, depth: u32) -> (i128, i128) {
        let known = self.known(value, depth);
        known.unwrap_or_else(|| all(value.ty()))
    }

    fn known(&self, value: Value, depth: u32) -> Option<(i128, i128)> {
        if let Some(number) = value.signed() {
            return Some((i128::from(number), i128::from(number)));
        }
        if depth == 0 || !value.is_instruction() || !value.ty().is_integer() {
            return None;
        }
        let inner = |index: u32| self.of(value.operand(index), depth - 1);
        let both = || (inner(0), inner(1));
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
            Opcode::LLVMAdd => {
                let (left, right) = both();
                fitting((left.0 + right.0, left.1 + right.1))
            }
            Opcode::LLVMSub => {
                let (left, right) = both();
                fitting((left.0 - right.1, left.1 - right.0))
            }
            Opcode::LLVMOr => {
                let (left, right) = both();
                let most = u128::try_from(left.1.max(right.1)).ok()? + 1;
                let is_positive = left.0 >= 0 && right.0 >= 0;
                is_positive.then_some((0, most.next_power_of_two() as i128 - 1))
            }
            Opcode::LLVMMul => {
                let (left, right) = both();
                let products =
                    [left.0 * right.0, left.0 * right.1, left.1 * right.0, left.1 * right.1];
                fitting((products.into_iter().min()?, products.into_iter().max()?))
            }
            Opcode::LLVMShl => {
                let shift = value.operand(1).unsigned().filter(|it| *it < 63)?;
                let (low, high) = inner(0);
                fitting((low << shift, high << shift))
            }
            Opcode::LLVMSDiv | Opcode::LLVMUDiv | Opcode::LLVMSRem | Opcode::LLVMURem => {
                let (left, right) = both();
                let is_positive = left.0 >= 0 && right.0 > 0;
                let is_quotient = matches!(value.opcode(), Opcode::LLVMSDiv | Opcode::LLVMUDiv);
                is_positive.then(|| match is_quotient {
                    true => (left.0 / right.1, left.1 / right.0),
                    false => (0, left.1.min(right.1 - 1)),
                })
            }
            Opcode::LLVMSelect => {
                let (yes, no) = (inner(1), inner(2));
                Some((yes.0.min(no.0), yes.1.max(no.1)))
            }
            Opcode::LLVMPHI => self.of_counter(value, depth),
            Opcode::LLVMLoad => {
                let pointer = value.operand(0);
                let ids = self.trampolines.contains(&value.function());
                let mut ids =
                    value.function().parameters().into_iter().take(if ids { 2 } else { 0 });
                ids.any(|it| it == pointer).then_some((0, MOST_THREADS))
            }
            Opcode::LLVMCall if value.called().is_function() => {
                let name = value.called().name();
                let is_least = name.starts_with("llvm.smin");
                if !is_least && !name.starts_with("llvm.smax") {
                    return None;
                }
                let (left, right) = both();
                Some(match is_least {
                    true => (left.0.min(right.0), left.1.min(right.1)),
                    false => (left.0.max(right.0), left.1.max(right.1)),
                })
            }
            _ => None,
        }
    }

    /// What only grows is never below where it began, and the other way round.
    fn of_counter(&self, phi: Value, depth: u32) -> Option<(i128, i128)> {
        let incoming = phi.incoming();
        let is_step = |it: &Value| {
            it.is_instruction()
                && it.opcode() == Opcode::LLVMAdd
                && it.operand(0) == phi
                && it.is_signed_exact()
        };
        let step = incoming.iter().map(|it| it.0).find(is_step)?;
        let by = step.operand(1).signed()?;
        let mut range: Option<(i128, i128)> = None;
        for (start, _) in incoming.iter().filter(|it| it.0 != step) {
            let (low, high) = self.of(*start, depth - 1);
            let so_far = range.unwrap_or((low, high));
            range = Some((so_far.0.min(low), so_far.1.max(high)));
        }
        let (low, high) = range?;
        let (least, most) = all(phi.ty());
        // In a loop that goes on only before its bound, the counter is there or at its start.
        let bound = self.tests.get(&phi).and_then(|test| {
            let (least, most) = self.of(test.bound, depth - 1);
            let early = i128::from(if test.is_early { by } else { 0 });
            // Of numbers without sign the same is true while none of them is negative.
            let is_positive = low >= 0 && least >= 0;
            match test.predicate {
                Predicate::LLVMIntSLT | Predicate::LLVMIntNE if by > 0 => Some(most - 1 + early),
                Predicate::LLVMIntSLE if by > 0 => Some(most + early),
                Predicate::LLVMIntULT if by > 0 && is_positive => Some(most - 1 + early),
                Predicate::LLVMIntULE if by > 0 && is_positive => Some(most + early),
                Predicate::LLVMIntSGT | Predicate::LLVMIntNE if by < 0 => Some(least + 1 + early),
                Predicate::LLVMIntSGE if by < 0 => Some(least + early),
                _ => None,
            }
        });
        Some(match bound {
            Some(bound) if by > 0 => (low, bound.max(high).min(most)),
            Some(bound) => (bound.min(low).max(least), high),
            None if by > 0 => (low, most),
            None => (least, high),
        })
    }
}
