//! Atomic accesses.
//!
//! The cores change a word in one instruction, for the operations that the `a` extension has; words of the host too, where a
//! register makes the upper half of the address. All else (bytes, halves, 64 bits, floats, comparisons) is done under a lock of the
//! runtime, `ferry_lock_host` and `ferry_unlock_host`. Words that are changed under the lock anywhere
//! are changed under it everywhere: one instruction could come between. The host's own threads know nothing of that lock.

use crate::error::Error;
use crate::llvm::{AtomicOp, Opcode, Predicate, Type, Value};
use crate::prepare::{LOCK, UNLOCK};
use crate::stats::Access;

use super::{Kind, Rebuild};

/// Begins the names of functions that change a word at an address of 64 bits; the instruction follows.
pub(crate) const UPDATE: &str = "ferry.wide.update.";

impl Rebuild<'_> {
    /// Whether an access of 4 bytes anywhere needs the lock.
    pub(super) fn are_words_locked(&mut self) -> bool {
        let functions = self.program.module.functions();
        let mut instructions = functions
            .into_iter()
            .filter(|it| !self.is_lock(*it))
            .flat_map(Value::instructions)
            .filter(|it| matches!(it.opcode(), Opcode::LLVMAtomicRMW | Opcode::LLVMAtomicCmpXchg));
        instructions.any(|it| {
            let ty = it.operand(1).ty();
            self.layout.stored(ty) == 4 && !self.is_one_instruction(it)
        })
    }

    /// Whether the cores do it by themselves.
    fn is_one_instruction(&self, it: Value) -> bool {
        let is_word = it.opcode() == Opcode::LLVMAtomicRMW
            && it.operand(1).ty().is_integer()
            && it.operand(1).ty().bits() == 32;
        let is_reached = self.kind(it.operand(0)) == Kind::Device || self.wide_atomics;
        is_word && is_reached && instruction(it.atomic_op()).is_some()
    }

    pub(super) fn needs_lock_to_load(&self, it: Value) -> bool {
        self.layout.stored(it.ty()) > 4
    }

    pub(super) fn needs_lock_to_store(&self, it: Value) -> bool {
        let bytes = self.layout.stored(it.operand(0).ty());
        let in_lock = self.is_lock(it.function());
        !in_lock && (bytes != 4 || self.words_are_locked)
    }

    fn lock(&mut self, name: &str) {
        let ty = self.context.void().function(&[]);
        let known = self.program.module.function(name).and_then(|it| self.values.get(&it).copied());
        let function = known
            .or_else(|| self.module.function(name))
            .unwrap_or_else(|| self.module.add_function(name, ty));
        self.builder.call(ty, function, &[]);
    }

    /// Reads memory under the lock.
    fn read(&mut self, it: Value, pointer: Value, ty: Type) -> Result<Value, Error> {
        let alignment = it.alignment();
        if self.kind(pointer) == Kind::Device {
            let pointer = self.device(pointer)?;
            let new = self.builder.load(ty, pointer);
            new.set_alignment(alignment);
            new.set_volatile(true);
            return Ok(new);
        }
        let address = self.wide(pointer)?;
        self.wide_load(it, address, ty, alignment, true)
    }

    fn write(&mut self, it: Value, pointer: Value, value: Value) -> Result<(), Error> {
        let alignment = it.alignment();
        if self.kind(pointer) == Kind::Device {
            let pointer = self.device(pointer)?;
            let new = self.builder.store(value, pointer);
            new.set_alignment(alignment);
            new.set_volatile(true);
            return Ok(());
        }
        let address = self.wide(pointer)?;
        self.wide_store(it, address, value, alignment, true)
    }

    pub(super) fn locked_load(&mut self, it: Value, ty: Type) -> Result<Value, Error> {
        self.lock(LOCK);
        let value = self.read(it, it.operand(0), ty)?;
        self.lock(UNLOCK);
        Ok(if it.is_pointer() { self.as_kind(value, self.kind(it)) } else { value })
    }

    pub(super) fn locked_store(&mut self, it: Value) -> Result<(), Error> {
        let (value, pointer) = (it.operand(0), it.operand(1));
        let value = if value.is_pointer() { self.wide(value)? } else { self.operand(value)? };
        self.lock(LOCK);
        self.write(it, pointer, value)?;
        self.lock(UNLOCK);
        Ok(())
    }

    pub(super) fn update(&mut self, it: Value) -> Result<Value, Error> {
        let (pointer, operand) = (it.operand(0), it.operand(1));
        self.count(it, pointer, Access::Atomic);
        let in_lock = self.is_lock(it.function());
        let is_one = self.is_one_instruction(it) && !self.words_are_locked;
        if is_one && !in_lock && self.kind(pointer) == Kind::Generic {
            return self.wide_update(it);
        }
        if in_lock || is_one {
            let (pointer, operand) = (self.device(pointer)?, self.operand(operand)?);
            let new = self.builder.update(it.atomic_op(), pointer, operand, it.ordering());
            new.set_volatile(it.is_volatile());
            return Ok(new);
        }
        let ty = self.memory_type(it.ty());
        let value = if operand.is_pointer() { self.wide(operand)? } else { self.operand(operand)? };
        self.lock(LOCK);
        let old = self.read(it, pointer, ty)?;
        let new = self.combine(it, old, value)?;
        self.write(it, pointer, new)?;
        self.lock(UNLOCK);
        Ok(if it.is_pointer() { self.as_kind(old, self.kind(it)) } else { old })
    }

    /// `i32 @ferry.wide.update.amoadd(i64, i32)`, in the order of the program.
    fn wide_update(&mut self, it: Value) -> Result<Value, Error> {
        let address = self.wide(it.operand(0))?;
        let operand = self.operand(it.operand(1))?;
        let operand = match it.atomic_op() {
            AtomicOp::LLVMAtomicRMWBinOpSub => {
                self.builder.binary(Opcode::LLVMSub, self.word().null(), operand)
            }
            _ => operand,
        };
        let name = format!("{UPDATE}{}", instruction(it.atomic_op()).unwrap_or_default());
        let ty = self.word().function(&[self.double_word(), self.word()]);
        let known = self.module.function(&name);
        let function = known.unwrap_or_else(|| self.module.add_function(&name, ty));
        Ok(self.builder.call(ty, function, &[address, operand]))
    }

    fn combine(&mut self, it: Value, old: Value, value: Value) -> Result<Value, Error> {
        let builder = &self.builder;
        let choose = |predicate| {
            let keeps = builder.compare(predicate, old, value);
            builder.select(keeps, old, value)
        };
        Ok(match it.atomic_op() {
            AtomicOp::LLVMAtomicRMWBinOpXchg => value,
            AtomicOp::LLVMAtomicRMWBinOpAdd => builder.add(old, value),
            AtomicOp::LLVMAtomicRMWBinOpSub => builder.binary(Opcode::LLVMSub, old, value),
            AtomicOp::LLVMAtomicRMWBinOpAnd => builder.binary(Opcode::LLVMAnd, old, value),
            AtomicOp::LLVMAtomicRMWBinOpOr => builder.binary(Opcode::LLVMOr, old, value),
            AtomicOp::LLVMAtomicRMWBinOpXor => builder.binary(Opcode::LLVMXor, old, value),
            AtomicOp::LLVMAtomicRMWBinOpNand => {
                let both = builder.binary(Opcode::LLVMAnd, old, value);
                builder.binary(Opcode::LLVMXor, both, old.ty().constant(u64::MAX))
            }
            AtomicOp::LLVMAtomicRMWBinOpMax => choose(Predicate::LLVMIntSGT),
            AtomicOp::LLVMAtomicRMWBinOpMin => choose(Predicate::LLVMIntSLT),
            AtomicOp::LLVMAtomicRMWBinOpUMax => choose(Predicate::LLVMIntUGT),
            AtomicOp::LLVMAtomicRMWBinOpUMin => choose(Predicate::LLVMIntULT),
            AtomicOp::LLVMAtomicRMWBinOpFAdd => builder.binary(Opcode::LLVMFAdd, old, value),
            AtomicOp::LLVMAtomicRMWBinOpFSub => builder.binary(Opcode::LLVMFSub, old, value),
            // Of what is no number the object keeps its value, as in `x < e ? e : x`.
            AtomicOp::LLVMAtomicRMWBinOpFMax => {
                builder.select(builder.is_less_float(old, value), value, old)
            }
            AtomicOp::LLVMAtomicRMWBinOpFMin => {
                builder.select(builder.is_less_float(value, old), value, old)
            }
            AtomicOp::LLVMAtomicRMWBinOpUIncWrap | AtomicOp::LLVMAtomicRMWBinOpUDecWrap => {
                return Err(Error::at(it, "an atomic operation that is not understood"));
            }
        })
    }

    /// `{ old, whether it was as expected }`
    pub(super) fn compare_exchange(&mut self, it: Value) -> Result<Value, Error> {
        let (pointer, expected, new) = (it.operand(0), it.operand(1), it.operand(2));
        self.count(it, pointer, Access::Atomic);
        let ty = self.memory_type(expected.ty());
        let in_memory = |this: &mut Self, value: Value| match value.is_pointer() {
            true => this.wide(value),
            false => this.operand(value),
        };
        let (expected, new) = (in_memory(self, expected)?, in_memory(self, new)?);
        self.lock(LOCK);
        let old = self.read(it, pointer, ty)?;
        let is_same = self.builder.compare(Predicate::LLVMIntEQ, old, expected);
        // Written in any case: nobody else changes it under the lock.
        let value = self.builder.select(is_same, new, old);
        self.write(it, pointer, value)?;
        self.lock(UNLOCK);
        let pair = self.memory_type(it.ty()).poison();
        let pair = self.builder.insert(pair, old, 0);
        Ok(self.builder.insert(pair, is_same, 1))
    }
}

/// The instruction of the `a` extension; what is subtracted is negated before.
fn instruction(op: AtomicOp) -> Option<&'static str> {
    match op {
        AtomicOp::LLVMAtomicRMWBinOpXchg => Some("amoswap"),
        AtomicOp::LLVMAtomicRMWBinOpAdd | AtomicOp::LLVMAtomicRMWBinOpSub => Some("amoadd"),
        AtomicOp::LLVMAtomicRMWBinOpAnd => Some("amoand"),
        AtomicOp::LLVMAtomicRMWBinOpOr => Some("amoor"),
        AtomicOp::LLVMAtomicRMWBinOpXor => Some("amoxor"),
        AtomicOp::LLVMAtomicRMWBinOpMax => Some("amomax"),
        AtomicOp::LLVMAtomicRMWBinOpMin => Some("amomin"),
        AtomicOp::LLVMAtomicRMWBinOpUMax => Some("amomaxu"),
        AtomicOp::LLVMAtomicRMWBinOpUMin => Some("amominu"),
        AtomicOp::LLVMAtomicRMWBinOpNand
        | AtomicOp::LLVMAtomicRMWBinOpFAdd
        | AtomicOp::LLVMAtomicRMWBinOpFSub
        | AtomicOp::LLVMAtomicRMWBinOpFMax
        | AtomicOp::LLVMAtomicRMWBinOpFMin
        | AtomicOp::LLVMAtomicRMWBinOpUIncWrap
        | AtomicOp::LLVMAtomicRMWBinOpUDecWrap => None,
    }
}
