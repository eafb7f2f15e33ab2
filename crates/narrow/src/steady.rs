//! Loops over the host's memory, in parts in which addresses keep their upper half.
//!
//! In: the program after LLVM's passes, where accesses to the host are still calls with an address of 64 bits. An address that goes up by
//! steps costs a sum of 64 bits in each iteration, though its upper half changes at multiples of 4 GiB only. So the loop is done in
//! parts: from where it stands up to the next multiple that one of its addresses comes to, which is nearly always all of it. Out: in
//! a part an address counts in 32 bits below an upper half that stays. What must hold for that is asked once, before the loop; where it
//! does not, there is one part, with the addresses that were there. LLVM makes two loops of that choice.
//!
//! Nothing is taken for granted: what is not known of wrapping around is asked at run time too.

use crate::llvm::{Builder, Context, Module, Opcode, Predicate, Value};
use crate::loops::{Loop, Test, loops};
use crate::nest::Nest;
use crate::rebuild::{LOAD, STORE};

/// The passes that make two loops of one.
pub(crate) const SPLIT: &str = "function(loop-mssa(simple-loop-unswitch<nontrivial>),\
                                instcombine<no-verify-fixpoint>,adce,simplifycfg)";
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

/// An address that moves by steps, and the accesses to it.
struct Stream {
    address: Value,
    ends: Ends,
    accesses: Vec<Value>,
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

    /// Puts the question before the loop and makes parts of it; false if no address moves by steps.
    fn ask(mut self) -> bool {
        let streams = self.streams();
        let Some(is_known) = self.is_known(&streams) else { return false };
        let builder = &self.builder;
        // What is computed before the loop may come from values that the loop itself never looks at.
        let is_known = builder.freeze(is_known);
        let left = builder.freeze(builder.resize(self.steps, builder.context().integer(32)));
        let starts: Vec<Value> = streams.iter().map(|it| builder.freeze(it.ends.first)).collect();
        let Some(nest) = Nest::around(builder, self.it) else { return false };
        let left = nest.counter(builder, left);
        let at: Vec<Value> = starts.iter().map(|it| nest.counter(builder, *it)).collect();
        let part = self.part(&nest, left, &streams, &at);
        self.use_halves(&nest, is_known, &streams, &at, part);
        self.go_on(&nest, is_known, left, part);
        for (stream, at) in streams.iter().zip(&at) {
            nest.step(*at, self.behind(part, *at, stream.ends.by));
        }
        true
    }

    /// Addresses that move by steps, with the accesses to them.
    fn streams(&mut self) -> Vec<Stream> {
        let mut streams: Vec<Stream> = Vec::new();
        for access in accesses(self.it) {
            let address = access.operand(0);
            if let Some(known) = streams.iter_mut().find(|it| it.address == address) {
                known.accesses.push(access);
            } else if !self.it.is_invariant(address)
                && let Some(ends) = self.ends(address, DEPTH)
                && ends.by != 0
                && i32::try_from(ends.by).is_ok()
            {
                self.longest = self.longest.max(ends.by.unsigned_abs());
                streams.push(Stream { address, ends, accesses: vec![access] });
            }
        }
        streams
    }

    /// Whether all these addresses move by these steps indeed, and by less than 4 GiB in all; none if there is no address.
    fn is_known(&self, streams: &[Stream]) -> Option<Value> {
        let builder = &self.builder;
        let most = u64::from(u32::MAX).checked_div(self.longest)?;
        let most = self.steps.ty().constant(most);
        let is_near = builder.compare(Predicate::LLVMIntULE, self.steps, most);
        let all = |one, other: &Value| builder.binary(Opcode::LLVMAnd, one, *other);
        (!streams.is_empty()).then(|| self.conditions.iter().fold(is_near, all))
    }

    /// How many steps the part takes that begins here: until the loop ends, or the next one would change an upper half.
    fn part(&self, nest: &Nest, left: Value, streams: &[Stream], at: &[Value]) -> Value {
        let (builder, word) = (&self.builder, left.ty());
        nest.in_head(builder);
        streams.iter().zip(at).fold(left, |part, (stream, at)| {
            let low = builder.resize(*at, word);
            let by = stream.ends.by;
            let bytes = match by > 0 {
                true => builder.binary(Opcode::LLVMXor, low, word.constant(u64::MAX)),
                false => low,
            };
            let size = word.constant(by.unsigned_abs());
            let room = builder.binary(Opcode::LLVMUDiv, bytes, size);
            let is_less = builder.compare(Predicate::LLVMIntULT, room, part);
            builder.select(is_less, room, part)
        })
    }

    /// In the loop addresses count in 32 bits, and the first of them says when the part is over.
    fn use_halves(
        &self,
        nest: &Nest,
        is_known: Value,
        streams: &[Stream],
        at: &[Value],
        part: Value,
    ) {
        let (builder, word) = (&self.builder, part.ty());
        let mut is_tested = false;
        for (Stream { ends, accesses, .. }, at) in streams.iter().zip(at) {
            nest.in_head(builder);
            let low = builder.resize(*at, word);
            let upper = at.ty().constant(u64::MAX << 32);
            let high = builder.binary(Opcode::LLVMAnd, *at, upper);
            // Frozen, LLVM does not see how far it is to the end, and needs no other counter for that.
            let end = builder.freeze(self.behind(part, low, ends.by));
            let (counter, next) = nest.inner_counter(builder, low, ends.by);
            for access in accesses {
                builder.before(*access);
                builder.set_location(access.debug_location());
                let steady = builder.resize(counter, at.ty());
                let steady = builder.binary(Opcode::LLVMOr, high, steady);
                let address = builder.select(is_known, steady, access.operand(0));
                access.set_operand(0, address);
            }
            if !is_tested {
                nest.test(builder, |goes_on| {
                    let is_inside = builder.compare(Predicate::LLVMIntNE, next, end);
                    builder.select(is_known, is_inside, goes_on)
                });
                is_tested = true;
            }
        }
    }

    /// Behind a part, the next one begins if anything is left.
    fn go_on(&self, nest: &Nest, is_known: Value, left: Value, part: Value) {
        let builder = &self.builder;
        nest.in_tail(builder);
        let is_some_left = builder.compare(Predicate::LLVMIntNE, part, left);
        nest.again_if(builder, builder.binary(Opcode::LLVMAnd, is_known, is_some_left));
        nest.in_again(builder);
        let rest = builder.binary(Opcode::LLVMSub, left, part);
        nest.step(left, builder.add(rest, left.ty().constant(u64::MAX)));
    }

    /// Where an address is behind a part.
    fn behind(&self, part: Value, at: Value, by: i64) -> Value {
        let (builder, by) = (&self.builder, at.ty().constant(by as u64));
        let last = builder.binary(Opcode::LLVMMul, builder.resize(part, at.ty()), by);
        builder.add(builder.add(at, last), by)
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
