//! Operands: values in the form that is asked for, constants, and what variables hold at the beginning.

use crate::error::Error;
use crate::extract::is_free;
use crate::llvm::{Opcode, Type, Value};

use super::{Kind, Rebuild};

/// Cuts a pointer and looks that nothing is lost.
pub(crate) const CHECK: &str = "ferry.check";

impl Rebuild<'_> {
    /// A pointer in the other form: zeros above it, or its lower half.
    pub(super) fn as_kind(&self, value: Value, kind: Kind) -> Value {
        match (kind, value.is_pointer()) {
            (Kind::Device, true) | (Kind::Generic, false) => value,
            (Kind::Generic, true) => {
                if value.is_null_pointer() {
                    return self.double_word().null();
                }
                let number = self.builder.cast(Opcode::LLVMPtrToInt, value, self.word());
                self.builder.resize(number, self.double_word())
            }
            (Kind::Device, false) => {
                let number = match self.check && !value.is_constant() {
                    true => self.checked(value),
                    false => self.builder.resize(value, self.word()),
                };
                self.builder.cast(Opcode::LLVMIntToPtr, number, self.context.pointer())
            }
        }
    }

    /// The lower half, and a stop if there is anything above it.
    fn checked(&self, value: Value) -> Value {
        let ty = self.word().function(&[self.double_word()]);
        let function =
            self.module.function(CHECK).unwrap_or_else(|| self.module.add_function(CHECK, ty));
        self.builder.call(ty, function, &[value])
    }

    /// An operand in the form it has.
    pub(super) fn operand(&mut self, value: Value) -> Result<Value, Error> {
        if let Some(known) = self.values.get(&value) {
            return Ok(*known);
        }
        if value.is_constant() {
            return self.constant(value);
        }
        Err(Error::new(format!("a value is used before it is made: {}", value.text())))
    }

    /// A pointer as 32 bits.
    pub(super) fn device(&mut self, value: Value) -> Result<Value, Error> {
        let it = self.operand(value)?;
        Ok(self.as_kind(it, Kind::Device))
    }

    /// A pointer as it lies in memory.
    pub(super) fn wide(&mut self, value: Value) -> Result<Value, Error> {
        let kind = if self.is_flat() { Kind::Device } else { Kind::Generic };
        self.pointer_as(value, kind)
    }

    /// A pointer in a form of choice.
    pub(super) fn pointer_as(&mut self, value: Value, kind: Kind) -> Result<Value, Error> {
        if is_free(value) {
            let ty = self.kind_type(kind);
            return Ok(match (value.is_poison(), value.is_null_pointer()) {
                (true, _) => ty.poison(),
                (false, true) => ty.null(),
                (false, false) => ty.undefined(),
            });
        }
        let it = self.operand(value)?;
        Ok(self.as_kind(it, kind))
    }

    /// An operand for a place of type `ty`.
    pub(super) fn operand_as(&mut self, value: Value, ty: Type) -> Result<Value, Error> {
        if !value.is_pointer() {
            return self.operand(value);
        }
        let kind = if ty.is_pointer() { Kind::Device } else { Kind::Generic };
        self.pointer_as(value, kind)
    }

    /// A constant as an operand; instructions are made for addresses as numbers.
    fn constant(&mut self, value: Value) -> Result<Value, Error> {
        if is_free(value) {
            return self.pointer_or_nothing(value);
        }
        refuse_unknown(value)?;
        if value.is_expression() {
            return self.expression(value);
        }
        if value.is_zero() {
            return Ok(self.memory_type(value.ty()).null());
        }
        if !value.ty().has_pointer() && !has_expression(value) {
            return Ok(value);
        }
        // An aggregate with addresses in it, part by part.
        let ty = self.memory_type(value.ty());
        let mut whole = ty.poison();
        for (index, part) in value.operands().into_iter().enumerate() {
            let part = match part.is_pointer() {
                true => self.wide(part)?,
                false => self.operand(part)?,
            };
            whole = self.builder.insert(whole, part, index as u32);
        }
        Ok(whole)
    }

    fn pointer_or_nothing(&mut self, value: Value) -> Result<Value, Error> {
        if value.is_null_pointer() {
            return Ok(self.context.pointer().null());
        }
        let ty = match value.is_pointer() {
            true => self.context.pointer(),
            false => self.memory_type(value.ty()),
        };
        Ok(if value.is_poison() { ty.poison() } else { ty.undefined() })
    }

    fn expression(&mut self, value: Value) -> Result<Value, Error> {
        let first = value.operand(0);
        match value.expression() {
            Opcode::LLVMGetElementPtr => self.element(value),
            Opcode::LLVMBitCast | Opcode::LLVMAddrSpaceCast => self.operand(first),
            Opcode::LLVMPtrToInt => {
                let address = self.pointer_as(first, Kind::Generic)?;
                Ok(self.builder.resize(address, value.ty()))
            }
            Opcode::LLVMIntToPtr => {
                let number = self.operand(first)?;
                let number = self.builder.resize(number, self.double_word());
                Ok(self.as_kind(number, self.kind(value)))
            }
            Opcode::LLVMTrunc => {
                let number = self.operand(first)?;
                Ok(self.builder.resize(number, value.ty()))
            }
            opcode @ (Opcode::LLVMAdd | Opcode::LLVMSub | Opcode::LLVMXor) => {
                let (left, right) = (self.operand(first)?, self.operand(value.operand(1))?);
                Ok(self.builder.binary(opcode, left, right))
            }
            _ => Err(Error::new(format!("a constant that is not understood: {}", value.text()))),
        }
    }

    /// What a variable holds at the beginning. Pointers become pairs of an address and zero, so the constant's type is
    /// its own: packed, with padding where the host has it.
    pub(super) fn initial(&mut self, global: Value, value: Value) -> Result<Value, Error> {
        if self.is_flat() || !value.ty().has_pointer() && !has_expression(value) {
            return self.initial_as_it_is(global, value);
        }
        let bytes = |this: &Self, count: u64| this.context.integer(8).array(count).null();
        let ty = value.ty();
        let size = self.layout.size(ty);
        if value.is_zero() || is_free(value) {
            return Ok(self.memory_type(ty).null());
        }
        if value.is_pointer() || value.is_expression() {
            let address = self.static_address(global, value)?;
            if !address.is_pointer() {
                return Ok(address);
            }
            let parts = [address, self.word().null()];
            return Ok(self.context.constant_structure(&parts, true));
        }
        let mut parts = Vec::new();
        let mut end = 0;
        for (index, part) in value.operands().into_iter().enumerate() {
            let offset = match ty.is_struct() {
                true => self.layout.offset(ty, index as u32),
                false => self.layout.size(ty.element()) * index as u64,
            };
            if offset > end {
                parts.push(bytes(self, offset - end));
            }
            parts.push(self.initial(global, part)?);
            end = offset + self.layout.size(part.ty());
        }
        if size > end {
            parts.push(bytes(self, size - end));
        }
        Ok(self.context.constant_structure(&parts, true))
    }

    /// Of a program for 32 bits: the same constant, with the new variables in it.
    fn initial_as_it_is(&mut self, global: Value, value: Value) -> Result<Value, Error> {
        if !value.ty().has_pointer() && !has_expression(value) || value.is_zero() || is_free(value)
        {
            return Ok(match is_free(value) || value.is_zero() {
                true => self.memory_type(value.ty()).null(),
                false => value,
            });
        }
        if value.is_pointer() || value.is_expression() {
            return self.static_address(global, value);
        }
        let mut parts = Vec::new();
        for part in value.operands() {
            parts.push(self.initial_as_it_is(global, part)?);
        }
        Ok(self
            .context
            .constant_structure(&parts, value.ty().is_struct() && value.ty().is_packed()))
    }

    /// An address that the linker knows.
    fn static_address(&mut self, global: Value, value: Value) -> Result<Value, Error> {
        if value.is_null_pointer() {
            return Ok(self
                .kind_type(if self.is_flat() { Kind::Device } else { Kind::Generic })
                .null());
        }
        if let Some(known) = self.values.get(&value) {
            return Ok(*known);
        }
        refuse_unknown(value)?;
        if !value.is_expression() {
            return Ok(value);
        }
        let first = value.operand(0);
        match value.expression() {
            Opcode::LLVMGetElementPtr => {
                let base = self.static_address(global, first)?;
                let offset = crate::extract::constant_offset(self.layout, value).unwrap_or(0);
                let offset = self.word().constant(offset as u64);
                Ok(crate::llvm::constant_offset_of(self.context, base, offset))
            }
            Opcode::LLVMBitCast | Opcode::LLVMAddrSpaceCast => self.static_address(global, first),
            Opcode::LLVMIntToPtr => match first.unsigned() {
                Some(number) if self.is_flat() => {
                    Ok(crate::llvm::constant_pointer(self.context, self.word().constant(number)))
                }
                Some(number) => Ok(self.double_word().constant(number)),
                None => Err(Error::of(global, "holds an address that is computed")),
            },
            Opcode::LLVMPtrToInt => {
                let address = self.static_address(global, first)?;
                match value.ty().bits() {
                    64 => Ok(address),
                    32 => Ok(crate::llvm::constant_number(address, self.word())),
                    _ => Err(Error::of(global, "holds a part of an address")),
                }
            }
            _ => Err(Error::of(global, "holds an address that is computed")),
        }
    }
}

/// Addresses that belong to the program as it came: of labels, and of functions that are chosen when it is loaded.
fn refuse_unknown(value: Value) -> Result<(), Error> {
    if value.is_block_address() {
        return Err(Error::new("the address of a label is taken"));
    }
    if value.is_global() {
        return Err(Error::of(value, "neither a function nor a variable of one kind"));
    }
    Ok(())
}

/// Whether an address is in a constant, as a number perhaps.
fn has_expression(value: Value) -> bool {
    if value.is_expression() || value.is_global() || value.is_block_address() {
        return true;
    }
    let is_aggregate = value.ty().is_struct() || value.ty().is_array();
    is_aggregate
        && !value.is_zero()
        && !value.is_data_sequence()
        && !value.is_undefined()
        && value.operands().into_iter().any(has_expression)
}
