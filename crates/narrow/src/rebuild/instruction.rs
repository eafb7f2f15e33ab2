//! Instructions other than calls and accesses to memory.

use crate::error::Error;
use crate::llvm::{Opcode, Predicate, Type, Value};

use super::{Kind, Rebuild};

impl Rebuild<'_> {
    /// Translates one instruction; phis are completed when all values are there.
    pub(super) fn instruction(&mut self, it: Value) -> Result<Option<Value>, Error> {
        let opcode = it.opcode();
        let value = match opcode {
            Opcode::LLVMAlloca => self.alloca(it)?,
            Opcode::LLVMGetElementPtr => self.element(it)?,
            Opcode::LLVMLoad => self.load(it)?,
            Opcode::LLVMStore => return self.store(it).map(|()| None),
            Opcode::LLVMAtomicRMW => self.update(it)?,
            Opcode::LLVMAtomicCmpXchg => self.compare_exchange(it)?,
            Opcode::LLVMFence => self.builder.fence(it.ordering()),
            Opcode::LLVMCall => return self.call(it),
            Opcode::LLVMPHI => {
                let ty = self.value_type(it);
                self.builder.phi(ty)
            }
            Opcode::LLVMSelect => self.select(it)?,
            Opcode::LLVMICmp => self.compare(it)?,
            Opcode::LLVMAddrSpaceCast => self.pointer_as(it.operand(0), self.kind(it))?,
            Opcode::LLVMPtrToInt => {
                let address = self.pointer_as(it.operand(0), Kind::Generic)?;
                self.builder.resize(address, it.ty())
            }
            Opcode::LLVMIntToPtr => {
                let number = self.operand(it.operand(0))?;
                let number = self.builder.resize(number, self.double_word());
                self.as_kind(number, self.kind(it))
            }
            Opcode::LLVMFreeze => {
                let ty = self.value_type(it);
                let value = self.operand_as(it.operand(0), ty)?;
                self.builder.freeze(value)
            }
            Opcode::LLVMExtractValue => self.extract(it)?,
            Opcode::LLVMInsertValue => self.insert(it)?,
            Opcode::LLVMBr | Opcode::LLVMSwitch | Opcode::LLVMRet | Opcode::LLVMUnreachable => {
                return self.terminator(it).map(Some);
            }
            Opcode::LLVMBitCast if it.is_pointer() => {
                self.pointer_as(it.operand(0), self.kind(it))?
            }
            Opcode::LLVMUDiv | Opcode::LLVMSDiv | Opcode::LLVMURem | Opcode::LLVMSRem
                if it.ty() == self.double_word() =>
            {
                self.divide(it)?
            }
            _ => self.arithmetic(it)?,
        };
        Ok(Some(value))
    }

    /// A division of 64 bits takes hundreds of cycles; most are of numbers that have 32, which is seen in two.
    fn divide(&mut self, it: Value) -> Result<Value, Error> {
        let (left, right) = (self.operand(it.operand(0))?, self.operand(it.operand(1))?);
        if left.is_constant() && right.is_constant() || right.is_power_of_two() {
            return self.arithmetic(it);
        }
        let is_quotient = matches!(it.opcode(), Opcode::LLVMUDiv | Opcode::LLVMSDiv);
        let function = self.builder.block().function();
        let [short, long, done] = [(); 3].map(|()| self.builder.add_block(function));
        let both = self.builder.binary(Opcode::LLVMOr, left, right);
        let upper = self.double_word().constant(32);
        let upper = self.builder.binary(Opcode::LLVMLShr, both, upper);
        let is_short = self.builder.compare(Predicate::LLVMIntEQ, upper, self.double_word().null());
        self.builder.branch_if(is_short, short, long);
        self.builder.at_end(short);
        let opcode = if is_quotient { Opcode::LLVMUDiv } else { Opcode::LLVMURem };
        let (low, by) =
            (self.builder.resize(left, self.word()), self.builder.resize(right, self.word()));
        let word = self.builder.binary(opcode, low, by);
        let word = self.builder.resize(word, self.double_word());
        self.builder.branch(done);
        self.builder.at_end(long);
        let double_word = self.builder.binary(it.opcode(), left, right);
        double_word.copy_flags(it);
        self.builder.branch(done);
        self.builder.at_end(done);
        let value = self.builder.phi(self.double_word());
        value.add_incoming(word, short);
        value.add_incoming(double_word, long);
        Ok(value)
    }

    /// What concerns no pointers stays as it is.
    fn arithmetic(&mut self, it: Value) -> Result<Value, Error> {
        let opcode = it.opcode();
        if matches!(
            opcode,
            Opcode::LLVMIndirectBr | Opcode::LLVMInvoke | Opcode::LLVMCallBr | Opcode::LLVMVAArg
        ) {
            let message = format!("an instruction that is not understood: {}", it.text());
            return Err(Error::at(it, message));
        }
        let operands: Vec<Value> =
            it.operands().into_iter().map(|it| self.operand(it)).collect::<Result<_, _>>()?;
        let refuse =
            || Error::at(it, format!("an instruction that is not understood: {}", it.text()));
        let value = match (opcode, operands.as_slice()) {
            (Opcode::LLVMFNeg, [value]) => self.builder.negate_float(*value),
            (Opcode::LLVMFCmp, [left, right]) => self.builder.compare_floats(it, *left, *right),
            (Opcode::LLVMExtractElement, [vector, index]) => {
                self.builder.extract_lane(*vector, *index)
            }
            (Opcode::LLVMInsertElement, [vector, value, index]) => {
                self.builder.insert_lane(*vector, *value, *index)
            }
            (Opcode::LLVMShuffleVector, [left, right, ..]) => {
                self.builder.shuffle(*left, *right, &it.mask())
            }
            (
                Opcode::LLVMTrunc
                | Opcode::LLVMZExt
                | Opcode::LLVMSExt
                | Opcode::LLVMFPTrunc
                | Opcode::LLVMFPExt
                | Opcode::LLVMUIToFP
                | Opcode::LLVMSIToFP
                | Opcode::LLVMFPToUI
                | Opcode::LLVMFPToSI
                | Opcode::LLVMBitCast,
                [value],
            ) => {
                let ty = self.memory_type(it.ty());
                self.builder.cast(opcode, *value, ty)
            }
            (
                Opcode::LLVMAdd
                | Opcode::LLVMSub
                | Opcode::LLVMMul
                | Opcode::LLVMUDiv
                | Opcode::LLVMSDiv
                | Opcode::LLVMURem
                | Opcode::LLVMSRem
                | Opcode::LLVMShl
                | Opcode::LLVMLShr
                | Opcode::LLVMAShr
                | Opcode::LLVMAnd
                | Opcode::LLVMOr
                | Opcode::LLVMXor
                | Opcode::LLVMFAdd
                | Opcode::LLVMFSub
                | Opcode::LLVMFMul
                | Opcode::LLVMFDiv
                | Opcode::LLVMFRem,
                [left, right],
            ) => self.builder.binary(opcode, *left, *right),
            _ => return Err(refuse()),
        };
        value.copy_flags(it);
        Ok(value)
    }

    fn alloca(&mut self, it: Value) -> Result<Value, Error> {
        let ty = self.memory_type(it.allocated_type());
        let count = it.operand(0);
        let new = match count.unsigned() {
            Some(1) => self.builder.alloca(ty),
            _ => {
                let count = self.operand(count)?;
                let count = self.builder.resize(count, self.word());
                self.builder.alloca_many(ty, count)
            }
        };
        new.set_alignment(it.alignment());
        Ok(new)
    }

    /// `getelementptr`: of a device pointer the same with 32 bits; of any other a sum of 64 bits.
    pub(super) fn element(&mut self, it: Value) -> Result<Value, Error> {
        let operands = it.operands();
        let (Some(base), Some(indices)) = (operands.first().copied(), operands.get(1..)) else {
            return Err(Error::new("an address without base"));
        };
        let base_kind = self.kind(base);
        let kind = if it.is_instruction() { self.kind(it) } else { base_kind };
        if base_kind == Kind::Device && kind == Kind::Device {
            return self.device_element(it, base, indices);
        }
        let mut address = self.pointer_as(base, Kind::Generic)?;
        let mut ty = it.source_type();
        for (number, index) in indices.iter().enumerate() {
            if number > 0 && ty.is_struct() {
                let field = index.unsigned().unwrap_or(0) as u32;
                let offset = self.layout.offset(ty, field);
                ty = ty.field(field);
                if offset != 0 {
                    address = self.builder.add(address, self.double_word().constant(offset));
                }
                continue;
            }
            if number > 0 {
                ty = ty.element();
            }
            let bytes = self.layout.size(ty);
            let size = self.double_word().constant(bytes);
            if self.near.contains(&it) && !index.is_constant() {
                let index = self.operand(*index)?;
                let index = self.builder.resize(index, self.word());
                let size = self.word().constant(bytes);
                let offset = self.builder.binary(Opcode::LLVMMul, index, size);
                let offset = self.builder.resize(offset, self.double_word());
                address = self.builder.add(address, offset);
                continue;
            }
            let index = self.operand(*index)?;
            let index = self.builder.resize_signed(index, self.double_word());
            let offset = self.builder.binary(Opcode::LLVMMul, index, size);
            address = self.builder.add(address, offset);
        }
        Ok(self.as_kind(address, kind))
    }

    fn device_element(
        &mut self,
        it: Value,
        base: Value,
        indices: &[Value],
    ) -> Result<Value, Error> {
        let pointer = self.device(base)?;
        let ty = self.memory_type(it.source_type());
        let mut current = it.source_type();
        let mut new = Vec::new();
        for (number, index) in indices.iter().enumerate() {
            if number > 0 && current.is_struct() {
                current = current.field(index.unsigned().unwrap_or(0) as u32);
                new.push(*index);
                continue;
            }
            if number > 0 {
                current = current.element();
            }
            let index = self.operand(*index)?;
            let is_long = index.ty().bits() > 32;
            new.push(if is_long { self.builder.resize(index, self.word()) } else { index });
        }
        Ok(self.builder.element(ty, pointer, &new, it.is_in_bounds()))
    }

    fn select(&mut self, it: Value) -> Result<Value, Error> {
        let ty = self.value_type(it);
        let condition = self.operand(it.operand(0))?;
        let yes = self.operand_as(it.operand(1), ty)?;
        let no = self.operand_as(it.operand(2), ty)?;
        let new = self.builder.select(condition, yes, no);
        new.copy_flags(it);
        Ok(new)
    }

    fn compare(&mut self, it: Value) -> Result<Value, Error> {
        let (left, right) = (it.operand(0), it.operand(1));
        let (left, right) = match left.is_pointer() {
            true => {
                let are_device =
                    self.kind(left) == Kind::Device && self.kind(right) == Kind::Device;
                let kind = if are_device { Kind::Device } else { Kind::Generic };
                (self.pointer_as(left, kind)?, self.pointer_as(right, kind)?)
            }
            false => (self.operand(left)?, self.operand(right)?),
        };
        Ok(self.builder.compare(it.predicate(), left, right))
    }

    fn extract(&mut self, it: Value) -> Result<Value, Error> {
        let mut value = self.operand(it.operand(0))?;
        for index in it.indices() {
            value = self.builder.extract(value, index);
        }
        Ok(if it.is_pointer() { self.as_kind(value, self.kind(it)) } else { value })
    }

    fn insert(&mut self, it: Value) -> Result<Value, Error> {
        let whole = self.operand(it.operand(0))?;
        let part = it.operand(1);
        let part = if part.is_pointer() { self.wide(part)? } else { self.operand(part)? };
        Ok(self.insert_at(whole, part, &it.indices()))
    }

    fn insert_at(&self, whole: Value, part: Value, indices: &[u32]) -> Value {
        match indices {
            [] => part,
            [index, rest @ ..] => {
                let inner = match rest {
                    [] => part,
                    _ => self.insert_at(self.builder.extract(whole, *index), part, rest),
                };
                self.builder.insert(whole, inner, *index)
            }
        }
    }

    fn terminator(&mut self, it: Value) -> Result<Value, Error> {
        let missing = || Error::at(it, "a branch to nowhere");
        let target = |this: &Self, index: usize| {
            let block = it.successors().get(index).copied().ok_or_else(missing)?;
            this.blocks.get(&block).copied().ok_or_else(missing)
        };
        let new = match it.opcode() {
            Opcode::LLVMBr if it.is_conditional() => {
                let condition = self.operand(it.operand(0))?;
                let (yes, no) = (target(self, 0)?, target(self, 1)?);
                self.builder.branch_if(condition, yes, no)
            }
            Opcode::LLVMBr => self.builder.branch(target(self, 0)?),
            Opcode::LLVMSwitch => {
                let value = self.operand(it.operand(0))?;
                let default = target(self, 0)?;
                let mut cases = Vec::new();
                for index in 1..it.successors().len() {
                    cases.push((it.operand(2 * index as u32), target(self, index)?));
                }
                self.builder.switch(value, default, &cases)
            }
            Opcode::LLVMRet => {
                let function = self.builder.block().function();
                let ty: Type = function.value_type().result();
                match it.operands().first() {
                    Some(value) => {
                        let value = self.operand_as(*value, ty)?;
                        self.builder.ret(Some(value))
                    }
                    None => self.builder.ret(None),
                }
            }
            _ => self.builder.unreachable(),
        };
        if let Some(hint) = it.metadata("llvm.loop") {
            new.set_metadata("llvm.loop", hint);
        }
        Ok(new)
    }
}
