//! Loops and arithmetic that have 64 bits where 32 are enough.
//!
//! `long` and `size_t` have 64 bits in the host's data model; LLVM never narrows a loop's counter, and a comparison
//! of 64 bits costs a 32-bit core four instructions in every iteration. Here the test at the end of a loop is replaced: the number of
//! iterations is computed once before it, and a counter of 32 bits goes down to zero. The old counter then serves
//! addresses only, whose upper half nobody asks for, and [`crate::trim`] makes it 32 bits wide.
//!
//! It must be known that the iterations fit in 32 bits. Either proves it: the bounds are constants or extended from 32 bits; or
//! every iteration accesses another element of one object in the accelerator's memory, which is smaller than 4 GiB.
//!
//! Arithmetic and comparisons whose operands and result fit in 32 bits are done with 32.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::error::Error;
use crate::extract::Facts;
use crate::llvm::{Block, Builder, Context, Layout, Opcode, Predicate, Value};
use crate::loops::{Loop, Test, loops};
use crate::prepare::{Model, Program};
use crate::ranges::Ranges;

/// How deep an index is looked into.
const DEPTH: u32 = 8;

/// An index that moves by less takes more than 2^32 different values before it wraps around in 64 bits.
const FARTHEST: u64 = 1 << 30;

/// What was done and found.
#[derive(Default)]
pub(crate) struct Shortened {
    /// How many loops count in 32 bits.
    pub(crate) loops: u32,
    /// Elements that lie less than 4 GiB behind their base: 32 bits of offset are enough for an address of 64.
    pub(crate) near: FxHashSet<Value>,
}

/// Shortens all loops that allow it, then arithmetic.
pub(crate) fn shorten(
    context: Context,
    program: &Program,
    facts: &Facts,
) -> Result<Shortened, Error> {
    let mut shortened = Shortened::default();
    if program.model == Model::Device {
        return Ok(shortened);
    }
    let builder = Builder::new(context);
    let wide = context.integer(64);
    for function in program.module.functions().into_iter().filter(|it| !it.is_declaration()) {
        let found: Vec<Loop> = loops(function);
        let tests: FxHashMap<Value, Test> =
            found.iter().filter_map(Loop::test).map(|it| (it.counter, it)).collect();
        let ranges = Ranges { trampolines: &program.trampolines, tests };
        for found in &found {
            if let Some(test) = found.test()
                && test.bound.ty() == wide
                && found.shorten(&builder, facts, &ranges, &test)
            {
                shortened.loops += 1;
            }
        }
        shorten_arithmetic(&builder, &ranges, function);
        let instructions = function.instructions().into_iter();
        let elements = instructions.filter(|it| it.opcode() == Opcode::LLVMGetElementPtr);
        let layout = program.module.layout();
        shortened.near.extend(elements.filter(|it| is_near(layout, &ranges, *it)));
    }
    // What was replaced must not keep alive what it used.
    let removed = program.module.run("function(dce)", None);
    removed.map_err(|it| Error::new(format!("a bug of ferry-narrow: after shortening: {it}")))?;
    Ok(shortened)
}

/// Whether an element whose one index is not constant lies from 0 to 4 GiB behind the beginning that index counts from.
fn is_near(layout: Layout, ranges: &Ranges<'_>, element: Value) -> bool {
    let mut ty = element.source_type();
    let mut variable = 0;
    let mut is_near = true;
    for (number, index) in element.operands().into_iter().skip(1).enumerate() {
        if number > 0 && ty.is_struct() {
            ty = ty.field(index.unsigned().unwrap_or(0) as u32);
            continue;
        }
        if number > 0 {
            ty = ty.element();
        }
        if !index.is_constant() {
            variable += 1;
            let (low, high) = ranges.range(index);
            is_near &= low >= 0 && high * i128::from(layout.size(ty)) < 1 << 32;
        }
    }
    variable == 1 && is_near
}

/// What fits in 32 bits on both sides is computed with 32.
fn shorten_arithmetic(builder: &Builder, ranges: &Ranges<'_>, function: Value) {
    let (word, wide) = (builder.context().integer(32), builder.context().integer(64));
    for it in function.instructions() {
        let operands = it.operands();
        let fits = |values: &[Value]| values.iter().all(|it| ranges.is_short(*it));
        if it.opcode() == Opcode::LLVMICmp && operands.iter().all(|it| it.ty() == wide) {
            let is_worth_it = !operands.iter().all(|it| it.is_constant());
            if let [left, right] = operands.as_slice()
                && is_worth_it
                && fits(&operands)
            {
                builder.before(it);
                builder.set_location(it.debug_location());
                let (left, right) = (builder.resize(*left, word), builder.resize(*right, word));
                it.replace_by(builder.compare(it.predicate(), left, right));
            }
            continue;
        }
        if it.ty() != wide || !ranges.is_short(it) {
            continue;
        }
        let positive = |values: &[Value]| values.iter().all(|it| ranges.range(*it).0 >= 0);
        builder.before(it);
        builder.set_location(it.debug_location());
        let new = match (it.opcode(), operands.as_slice()) {
            (
                Opcode::LLVMAdd | Opcode::LLVMSub | Opcode::LLVMMul | Opcode::LLVMShl,
                [left, right],
            ) if fits(&operands) => builder.binary(
                it.opcode(),
                builder.resize(*left, word),
                builder.resize(*right, word),
            ),
            (
                Opcode::LLVMSDiv | Opcode::LLVMUDiv | Opcode::LLVMSRem | Opcode::LLVMURem,
                [left, right],
            ) if fits(&operands) && positive(&operands) => builder.binary(
                it.opcode(),
                builder.resize(*left, word),
                builder.resize(*right, word),
            ),
            (Opcode::LLVMSelect, [condition, yes, no]) if fits(&[*yes, *no]) => {
                builder.select(*condition, builder.resize(*yes, word), builder.resize(*no, word))
            }
            (Opcode::LLVMCall, _) => match short_extreme(builder, ranges, it) {
                Some(new) => new,
                None => continue,
            },
            _ => continue,
        };
        it.replace_by(builder.cast(Opcode::LLVMSExt, new, wide));
    }
}

/// The smaller or larger of two numbers.
fn short_extreme(builder: &Builder, ranges: &Ranges<'_>, it: Value) -> Option<Value> {
    let word = builder.context().integer(32);
    let is_known = it.called().is_function();
    let name = if is_known { it.called().name() } else { String::new() };
    let predicate = match name.as_str() {
        "llvm.smin.i64" => Predicate::LLVMIntSLT,
        "llvm.smax.i64" => Predicate::LLVMIntSGT,
        _ => return None,
    };
    let (left, right) = (it.operand(0), it.operand(1));
    if !ranges.is_short(left) || !ranges.is_short(right) {
        return None;
    }
    let (left, right) = (builder.resize(left, word), builder.resize(right, word));
    let is_first = builder.compare(predicate, left, right);
    Some(builder.select(is_first, left, right))
}

impl Loop {
    /// Replaces the test; false if that is not known to be right.
    fn shorten(&self, builder: &Builder, facts: &Facts, ranges: &Ranges<'_>, test: &Test) -> bool {
        let Some(end) = self.before.terminator() else { return false };
        let is_small = test.is_small(ranges);
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
    pub(crate) fn has_known_count(&self) -> bool {
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
    pub(crate) fn count(&self, builder: &Builder) -> Value {
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
    fn is_small(&self, ranges: &Ranges<'_>) -> bool {
        let (start, bound) = (ranges.range(self.start), ranges.range(self.bound));
        let is_signed = !matches!(
            self.predicate,
            Predicate::LLVMIntULT
                | Predicate::LLVMIntULE
                | Predicate::LLVMIntUGT
                | Predicate::LLVMIntUGE
        );
        // Without sign, a step below zero leads to the largest numbers.
        let lowest = if self.by < 0 && !self.is_early { i128::from(-self.by) } else { 0 };
        let is_positive = start.0 >= lowest && bound.0 >= 0;
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
