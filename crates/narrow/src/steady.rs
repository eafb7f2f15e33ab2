//! Loops over the host's memory whose addresses keep their upper half.
//!
//! In: the program after LLVM's passes, where accesses to the host are still calls with an address of 64 bits. An address that goes up by
//! steps costs a sum of 64 bits in each iteration, though its upper half changes at multiples of 4 GiB only. So the first and the
//! last address are computed before the loop; where their upper halves are equal, all between them have the same. Out: in the loop
//! the address is chosen by that answer, from one that counts in 32 bits and the one that was there; LLVM makes of it two loops.
//!
//! Nothing is taken for granted: what is not known of wrapping around is asked at run time too.

use crate::llvm::{Builder, Context, Module, Opcode, Predicate, Value};
use crate::loops::{Loop, Test, loops};
use crate::rebuild::{LOAD, STORE};

/// The passes that make two loops of one.
pub(crate) const SPLIT: &str = "function(loop-mssa(simple-loop-unswitch<nontrivial>),\
                                instcombine<no-verify-fixpoint>,simplifycfg)";
/// What must be done before: every loop has a block before it.
pub(crate) const PREPARE: &str = "function(loop-simplify)";

/// A loop of more instructions is not copied.
const LARGEST: usize = 40;
/// A loop that is known to run less often is not worth the question.
const SHORTEST: u64 = 8;
/// How deep an address is looked into.
const DEPTH: u32 = 8;

/// Asks the question before all loops where it pays; whether there was one.
pub(crate) fn ask(context: Context, module: Module) -> bool {
    let mut found_any = false;
    for function in module.functions().into_iter().filter(|it| !it.is_declaration()) {
        let found = loops(function);
        for it in &found {
            let is_innermost = !found
                .iter()
                .any(|other| other.header != it.header && it.blocks.contains(&other.header));
            if is_innermost && let Some(test) = it.test().filter(Test::has_known_count) {
                found_any |= Asking::new(context, it, &test).is_some_and(Asking::ask);
            }
        }
    }
    found_any
}

/// A value in the first and in the last iteration, and by how much it steps, modulo the size of its type.
#[derive(Clone, Copy)]
struct Ends {
    first: Value,
    last: Value,
    by: i64,
}

/// The question of one loop, whose instructions are put before it.
struct Asking<'a> {
    it: &'a Loop,
    builder: Builder,
    /// Iterations but one.
    steps: Value,
    /// What must hold.
    conditions: Vec<Value>,
    /// The longest step of those that must not wrap around.
    longest: u64,
}

impl Asking<'_> {
    fn new<'a>(context: Context, it: &'a Loop, test: &Test) -> Option<Asking<'a>> {
        let instructions: usize = it.blocks.iter().map(|it| it.instructions().len()).sum();
        let end = it.before.terminator()?;
        if instructions > LARGEST || accesses(it).is_empty() {
            return None;
        }
        let builder = Builder::new(context);
        builder.before(end);
        builder.set_location(test.branch.debug_location());
        let count = test.count(&builder);
        if count.unsigned().is_some_and(|it| it < SHORTEST) {
            return None;
        }
        let steps = builder.add(count, count.ty().constant(u64::MAX));
        Some(Asking { it, builder, steps, conditions: Vec::new(), longest: 0 })
    }

    /// Puts the question before the loop and its answer into it; false if no address moves by steps.
    fn ask(mut self) -> bool {
        let mut moving = Vec::new();
        for access in accesses(self.it) {
            let address = access.operand(0);
            if let Some(ends) = self.ends(address, DEPTH)
                && !self.it.is_invariant(address)
            {
                moving.push((access, address, ends));
            }
        }
        if moving.is_empty() {
            return false;
        }
        let (builder, Some(end)) = (&self.builder, self.it.before.terminator()) else {
            return false;
        };
        let (word, wide) = (builder.context().integer(32), builder.context().integer(64));
        let half = wide.constant(32);
        let upper = |it: Value| builder.resize(builder.binary(Opcode::LLVMLShr, it, half), word);
        for (_, _, Ends { first, last, by }) in &moving {
            let (first, last) = (upper(*first), upper(*last));
            self.conditions.push(builder.compare(Predicate::LLVMIntEQ, first, last));
            self.longest = self.longest.max(by.unsigned_abs());
        }
        // All steps together are less than 4 GiB.
        let most = self.steps.ty().constant(u64::from(u32::MAX) / self.longest.max(1));
        let mut is_steady = builder.compare(Predicate::LLVMIntULE, self.steps, most);
        for condition in &self.conditions {
            is_steady = builder.binary(Opcode::LLVMAnd, is_steady, *condition);
        }
        for (access, address, Ends { first, by, .. }) in moving {
            builder.before(end);
            let (low, high) = (builder.resize(first, word), upper(first));
            let high = builder.binary(Opcode::LLVMShl, builder.resize(high, wide), half);
            let low = self.counted(low, by);
            builder.before(access);
            builder.set_location(access.debug_location());
            let steady = builder.binary(Opcode::LLVMOr, high, builder.resize(low, wide));
            access.set_operand(0, builder.select(is_steady, steady, address));
        }
        true
    }

    /// A new counter of the loop, which steps by so much.
    fn counted(&self, first: Value, by: i64) -> Value {
        let (builder, ty) = (&self.builder, first.ty());
        if let Some(place) = self.it.header.instructions().first() {
            builder.before(*place);
        }
        builder.set_location(None);
        let counter = builder.phi(ty);
        if let Some(end) = self.it.latch.terminator() {
            builder.before(end);
        }
        let next = builder.add(counter, ty.constant(by as u64));
        counter.add_incoming(first, self.it.before);
        counter.add_incoming(next, self.it.latch);
        counter
    }

    /// A value at both ends; none if it does not move by equal steps. What it needs for that is among the conditions, which harms
    /// nobody where it turns out that it does not.
    fn ends(&mut self, value: Value, depth: u32) -> Option<Ends> {
        if self.it.is_invariant(value) {
            return Some(Ends { first: value, last: value, by: 0 });
        }
        if let Some((first, _, by)) = self.it.counter(value) {
            let ty = value.ty();
            let steps = self.builder.resize(self.steps, ty);
            let distance = self.builder.binary(Opcode::LLVMMul, steps, ty.constant(by as u64));
            return Some(Ends { first, last: self.builder.add(first, distance), by });
        }
        let depth = depth.checked_sub(1)?;
        let opcode = value.opcode();
        match opcode {
            Opcode::LLVMOr if !value.is_disjoint() => self.side_by_side(value, depth),
            Opcode::LLVMAdd | Opcode::LLVMSub | Opcode::LLVMOr => {
                let (left, right) =
                    (self.ends(value.operand(0), depth)?, self.ends(value.operand(1), depth)?);
                // Bits that do not meet are added too: in an iteration that is never reached they might meet.
                let (opcode, by) = match opcode {
                    Opcode::LLVMSub => (opcode, left.by.checked_sub(right.by)?),
                    _ => (Opcode::LLVMAdd, left.by.checked_add(right.by)?),
                };
                Some(self.both(opcode, left, right, by))
            }
            Opcode::LLVMMul | Opcode::LLVMShl => {
                let left = self.ends(value.operand(0), depth)?;
                let constant = value.operand(1);
                let times = match opcode {
                    Opcode::LLVMMul => constant.signed()?,
                    _ => 1 << constant.unsigned().filter(|it| *it < 31)?,
                };
                let right = Ends { first: constant, last: constant, by: 0 };
                Some(self.both(opcode, left, right, left.by.checked_mul(times)?))
            }
            Opcode::LLVMTrunc => {
                let Ends { first, last, by } = self.ends(value.operand(0), depth)?;
                let cut = |it: Value| self.builder.resize(it, value.ty());
                Some(Ends { first: cut(first), last: cut(last), by })
            }
            Opcode::LLVMZExt | Opcode::LLVMSExt if value.operand(0).ty().bits() == 32 => {
                let Ends { first, last, by } = self.ends(value.operand(0), depth)?;
                // Steps of less than 4 GiB in all have not wrapped around if they end on the right side.
                let is_signed = opcode == Opcode::LLVMSExt;
                let goes_right = match (is_signed, by >= 0) {
                    (false, true) => Predicate::LLVMIntULE,
                    (false, false) => Predicate::LLVMIntUGE,
                    (true, true) => Predicate::LLVMIntSLE,
                    (true, false) => Predicate::LLVMIntSGE,
                };
                self.conditions.push(self.builder.compare(goes_right, first, last));
                self.longest = self.longest.max(by.unsigned_abs());
                let widen = |it: Value| self.builder.cast(opcode, it, value.ty());
                Some(Ends { first: widen(first), last: widen(last), by })
            }
            _ => None,
        }
    }

    /// `moving | (fixed << bits)` or `(moving << bits) | fixed`: a sum, while the one that is not shifted has no more bits than these.
    fn side_by_side(&mut self, value: Value, depth: u32) -> Option<Ends> {
        let (left, right) = (value.operand(0), value.operand(1));
        let (moving, fixed) =
            if self.it.is_invariant(left) { (right, left) } else { (left, right) };
        if !self.it.is_invariant(fixed) {
            return None;
        }
        let ends = self.ends(moving, depth)?;
        let limit = |bits: u64| value.ty().constant(1 << bits);
        let builder = &self.builder;
        // Which of them lies above is what is shifted further.
        let (moving, above) = (shifted_by(moving), shifted_by(fixed));
        if let Some(bits) = moving.filter(|it| *it > above.unwrap_or(0)) {
            self.conditions.push(builder.compare(Predicate::LLVMIntULT, fixed, limit(bits)));
        } else {
            let limit = limit(above?);
            for end in [ends.first, ends.last] {
                self.conditions.push(builder.compare(Predicate::LLVMIntULT, end, limit));
            }
            let goes_right =
                if ends.by >= 0 { Predicate::LLVMIntULE } else { Predicate::LLVMIntUGE };
            self.conditions.push(builder.compare(goes_right, ends.first, ends.last));
            self.longest = self.longest.max(ends.by.unsigned_abs());
        }
        Some(self.both(Opcode::LLVMAdd, ends, Ends { first: fixed, last: fixed, by: 0 }, ends.by))
    }

    fn both(&self, opcode: Opcode, left: Ends, right: Ends, by: i64) -> Ends {
        let of = |left, right| self.builder.binary(opcode, left, right);
        Ends { first: of(left.first, right.first), last: of(left.last, right.last), by }
    }
}

/// By how many bits a value is shifted up, by a constant.
fn shifted_by(value: Value) -> Option<u64> {
    let is_shifted = value.is_instruction() && value.opcode() == Opcode::LLVMShl;
    is_shifted.then(|| value.operand(1).unsigned()).flatten().filter(|it| *it < 31)
}

/// Accesses of a loop to the host's memory.
fn accesses(it: &Loop) -> Vec<Value> {
    let is_access = |it: &Value| {
        let is_known = it.opcode() == Opcode::LLVMCall && it.called().is_function();
        is_known && [LOAD, STORE].iter().any(|prefix| it.called().name().starts_with(prefix))
    };
    // In the order of the function, so that the same program always becomes the same code.
    let blocks =
        it.header.function().blocks().into_iter().filter(|block| it.blocks.contains(block));
    blocks.flat_map(|it| it.instructions()).filter(is_access).collect()
}
