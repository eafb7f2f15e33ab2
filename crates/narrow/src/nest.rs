//! A loop around a loop, which runs the inner one in parts.
//!
//! In: a loop of a simple form, with one block before it and a test at its end. Out: between that block and the loop a block in which a part
//! begins (`head`), behind the test one in which it has ended (`tail`), and one that leads from there back to the head (`again`). All that the
//! loop carries from one iteration to the next it carries from one part to the next. Who makes it says when a part ends, and
//! when there is another: until then there is one part, and the program is what it was.

use crate::llvm::{Block, Builder, Opcode, Value};
use crate::loops::Loop;

/// The blocks of the outer loop.
pub(crate) struct Nest<'a> {
    it: &'a Loop,
    head: Block,
    tail: Block,
    again: Block,
    exit: Block,
}

impl<'a> Nest<'a> {
    /// Puts a loop around this one; none if its test is not one of two ways.
    pub(crate) fn around(builder: &Builder, it: &'a Loop) -> Option<Nest<'a>> {
        let (entry, test) = (it.before.terminator()?, it.latch.terminator()?);
        let exit = test.successors().into_iter().find(|next| *next != it.header)?;
        let function = it.header.function();
        let new_block = || builder.add_block(function);
        let nest = Nest { it, head: new_block(), tail: new_block(), again: new_block(), exit };
        builder.set_location(entry.debug_location());
        for old in phis(it.header) {
            nest.carry(builder, old);
        }
        for old in phis(exit) {
            nest.leave(builder, old);
        }
        builder.at_end(it.before);
        entry.erase();
        builder.branch(nest.head);
        for (from, to) in [(nest.head, it.header), (nest.tail, exit), (nest.again, nest.head)] {
            builder.at_end(from);
            builder.branch(to);
        }
        builder.set_location(test.debug_location());
        builder.before(test);
        let goes_on = nest.goes_on(builder, test);
        builder.branch_if(goes_on, it.header, nest.tail);
        test.erase();
        Some(nest)
    }

    /// What the inner loop carries comes from the part before.
    fn carry(&self, builder: &Builder, old: Value) {
        builder.at_end(self.head);
        let outer = builder.phi(old.ty());
        builder.before(old);
        let inner = builder.phi(old.ty());
        for (value, from) in old.incoming() {
            if from == self.it.before {
                outer.add_incoming(value, from);
                inner.add_incoming(outer, self.head);
            } else {
                outer.add_incoming(value, self.again);
                inner.add_incoming(value, from);
            }
        }
        old.replace_by(inner);
        old.erase();
    }

    /// What came from the test comes from the tail.
    fn leave(&self, builder: &Builder, old: Value) {
        builder.before(old);
        let new = builder.phi(old.ty());
        for (value, from) in old.incoming() {
            new.add_incoming(value, if from == self.it.latch { self.tail } else { from });
        }
        old.replace_by(new);
        old.erase();
    }

    /// Whether the inner loop goes on, by its own test.
    fn goes_on(&self, builder: &Builder, test: Value) -> Value {
        let condition = test.operand(0);
        if test.successors().first() == Some(&self.it.header) {
            return condition;
        }
        builder.binary(Opcode::LLVMXor, condition, condition.ty().constant(1))
    }

    /// A value of the outer loop that begins with `first`; [`Nest::step`] says what it is in the next part.
    pub(crate) fn counter(&self, builder: &Builder, first: Value) -> Value {
        before_first(builder, self.head);
        let counter = builder.phi(first.ty());
        counter.add_incoming(first, self.it.before);
        counter
    }

    /// Says what a [`Nest::counter`] is in the next part.
    pub(crate) fn step(&self, counter: Value, next: Value) {
        counter.add_incoming(next, self.again);
    }

    /// A counter of the inner loop that begins each part with `first`, and what it steps to.
    pub(crate) fn inner_counter(&self, builder: &Builder, first: Value, by: i64) -> (Value, Value) {
        before_first(builder, self.it.header);
        builder.set_location(None);
        let counter = builder.phi(first.ty());
        before_last(builder, self.it.latch);
        let next = builder.add(counter, first.ty().constant(by as u64));
        counter.add_incoming(first, self.head);
        counter.add_incoming(next, self.it.latch);
        (counter, next)
    }

    /// Builds where a part begins.
    pub(crate) fn in_head(&self, builder: &Builder) {
        before_last(builder, self.head);
    }

    /// Builds where a part has ended.
    pub(crate) fn in_tail(&self, builder: &Builder) {
        before_last(builder, self.tail);
    }

    /// Builds on the way to the next part.
    pub(crate) fn in_again(&self, builder: &Builder) {
        before_last(builder, self.again);
    }

    /// Makes another test of that at the end of the inner loop.
    pub(crate) fn test(&self, builder: &Builder, of: impl FnOnce(Value) -> Value) {
        if let Some(branch) = self.it.latch.terminator() {
            builder.before(branch);
            branch.set_condition(of(branch.operand(0)));
        }
    }

    /// In the tail: if this holds there is another part.
    pub(crate) fn again_if(&self, builder: &Builder, condition: Value) {
        if let Some(branch) = self.tail.terminator() {
            builder.before(branch);
            builder.branch_if(condition, self.again, self.exit);
            branch.erase();
        }
    }
}

/// Values that depend on where a block was come from.
fn phis(block: Block) -> Vec<Value> {
    let instructions = block.instructions();
    instructions.into_iter().take_while(|it| it.opcode() == Opcode::LLVMPHI).collect()
}

fn before_first(builder: &Builder, block: Block) {
    if let Some(first) = block.instructions().first() {
        builder.before(*first);
    }
}

fn before_last(builder: &Builder, block: Block) {
    if let Some(last) = block.terminator() {
        builder.before(last);
    }
}
