//! Loads, stores and copies.
//!
//! Through a generic pointer each is a call of `ferry.wide.load32` and its like, with an address of 64 bits and memory
//! attributes, so that LLVM can move and merge it as any access until it is put in place. No access is wider than
//! its alignment: one that crosses 4 GiB would need a carry that not all hardware has.

use crate::error::Error;
use crate::llvm::{Opcode, Ordering, Type, TypeKind, Value};
use crate::prepare::GENERIC_COPIES;
use crate::stats::{Access, Where};

use super::{Kind, Rebuild};

/// Begins the names of wide loads; bits follow.
pub(crate) const LOAD: &str = "ferry.wide.load";
/// Begins the names of wide stores.
pub(crate) const STORE: &str = "ferry.wide.store";
/// Ends the names of those that must stay as they are written.
pub(crate) const VOLATILE: &str = ".volatile";

/// Copies of at most so many bytes are done in place.
const SMALL_COPY: u64 = 32;

/// All memory may be read, as LLVM encodes it.
const READS: u64 = 0b01_01_01;
/// All memory may be written.
const WRITES: u64 = 0b10_10_10;

impl Rebuild<'_> {
    pub(super) fn count(&mut self, it: Value, pointer: Value, access: Access) {
        let (kind, reason) = match self.kind(pointer) {
            Kind::Device => (Where::Device, None),
            Kind::Generic => (Where::Generic, Some(self.facts.reason(pointer))),
        };
        let function = it.function().name();
        self.stats.count(access, kind, &function, it.place(), reason);
    }

    pub(super) fn load(&mut self, it: Value) -> Result<Value, Error> {
        let pointer = it.operand(0);
        self.count(it, pointer, Access::Load);
        let ty = self.memory_type(it.ty());
        if it.is_atomic() && self.needs_lock_to_load(it) {
            return self.locked_load(it, ty);
        }
        let is_checked = self.check && it.is_pointer() && !self.is_flat();
        let wanted = if is_checked { ty } else { self.value_type(it) };
        if self.kind(pointer) == Kind::Device {
            let pointer = self.device(pointer)?;
            let new = self.builder.load(wanted, pointer);
            new.set_alignment(it.alignment());
            new.set_volatile(it.is_volatile());
            if it.is_atomic() {
                new.set_ordering(it.ordering());
            }
            if let Some(tag) = it.metadata("tbaa") {
                new.set_metadata("tbaa", tag);
            }
            return Ok(if is_checked { self.as_kind(new, self.kind(it)) } else { new });
        }
        let address = self.wide(pointer)?;
        let is_fixed = it.is_volatile() || it.is_atomic();
        let value = self.wide_load(it, address, ty, it.alignment(), is_fixed)?;
        if it.is_atomic() {
            self.fence_for(it.ordering());
        }
        Ok(if it.is_pointer() { self.as_kind(value, self.kind(it)) } else { value })
    }

    pub(super) fn fence_for(&self, ordering: Ordering) {
        match ordering {
            Ordering::LLVMAtomicOrderingNotAtomic
            | Ordering::LLVMAtomicOrderingUnordered
            | Ordering::LLVMAtomicOrderingMonotonic => {}
            _ => {
                self.builder.fence(ordering);
            }
        }
    }

    pub(super) fn store(&mut self, it: Value) -> Result<(), Error> {
        let (value, pointer) = (it.operand(0), it.operand(1));
        self.count(it, pointer, Access::Store);
        if it.is_atomic() && self.needs_lock_to_store(it) {
            return self.locked_store(it);
        }
        if self.kind(pointer) == Kind::Device {
            return self.device_store(it, value, pointer);
        }
        let value = match value.is_pointer() {
            true => self.wide(value)?,
            false => self.operand(value)?,
        };
        let address = self.wide(pointer)?;
        if it.is_atomic() {
            self.fence_for(it.ordering());
        }
        let is_fixed = it.is_volatile() || it.is_atomic();
        self.wide_store(it, address, value, it.alignment(), is_fixed)
    }

    fn device_store(&mut self, it: Value, value: Value, pointer: Value) -> Result<(), Error> {
        let is_pair = value.is_pointer()
            && self.kind(value) == Kind::Device
            && !self.is_flat()
            && !it.is_volatile()
            && !it.is_atomic();
        let tag = it.metadata("tbaa");
        let needs_zeros = self.check || self.facts.is_read_whole(pointer);
        let pointer = self.device(pointer)?;
        let mut stores = Vec::new();
        if is_pair {
            // As a pointer, so that LLVM knows what is read again.
            let value = self.pointer_as(value, Kind::Device)?;
            let low = self.builder.store(value, pointer);
            low.set_alignment(it.alignment());
            stores.push(low);
        }
        if is_pair && needs_zeros {
            let four = self.word().constant(4);
            let upper = self.builder.byte_offset(pointer, four);
            let high = self.builder.store(self.word().null(), upper);
            high.set_alignment(it.alignment().min(4));
            stores.push(high);
        }
        if !is_pair {
            let value = if value.is_pointer() { self.wide(value)? } else { self.operand(value)? };
            let new = self.builder.store(value, pointer);
            new.set_alignment(it.alignment());
            new.set_volatile(it.is_volatile());
            if it.is_atomic() {
                new.set_ordering(it.ordering());
            }
            stores.push(new);
        }
        if let Some(tag) = tag {
            stores.into_iter().for_each(|it| it.set_metadata("tbaa", tag));
        }
        Ok(())
    }

    /// Reads a value of any type, in pieces that are aligned.
    pub(super) fn wide_load(
        &mut self,
        it: Value,
        address: Value,
        ty: Type,
        alignment: u32,
        is_fixed: bool,
    ) -> Result<Value, Error> {
        if ty.is_struct() || ty.is_array() {
            let mut whole = ty.poison();
            for (index, (offset, part)) in self.parts(ty).into_iter().enumerate() {
                let place = self.add_to(address, offset);
                let value =
                    self.wide_load(it, place, part, alignment_at(alignment, offset), is_fixed)?;
                whole = self.builder.insert(whole, value, index as u32);
            }
            return Ok(whole);
        }
        let bytes = self.checked_bytes(it, ty)?;
        let whole_type = self.context.integer(bytes as u32 * 8);
        let mut whole: Option<Value> = None;
        for (offset, size) in pieces(bytes, alignment) {
            let place = self.add_to(address, offset);
            let piece = self.wide_load_of(place, size * 8, is_fixed);
            let piece = self.builder.resize(piece, whole_type);
            let shift = whole_type.constant(offset * 8);
            whole = Some(match whole {
                None => piece,
                Some(it) => {
                    let piece = self.builder.binary(Opcode::LLVMShl, piece, shift);
                    self.builder.binary(Opcode::LLVMOr, it, piece)
                }
            });
        }
        let whole = whole.unwrap_or_else(|| whole_type.null());
        Ok(match ty.is_integer() {
            true => self.builder.resize(whole, ty),
            false => self.builder.cast(Opcode::LLVMBitCast, whole, ty),
        })
    }

    /// The other way.
    pub(super) fn wide_store(
        &mut self,
        it: Value,
        address: Value,
        value: Value,
        alignment: u32,
        is_fixed: bool,
    ) -> Result<(), Error> {
        let ty = value.ty();
        if ty.is_struct() || ty.is_array() {
            for (index, (offset, _)) in self.parts(ty).into_iter().enumerate() {
                let part = self.builder.extract(value, index as u32);
                let place = self.add_to(address, offset);
                self.wide_store(it, place, part, alignment_at(alignment, offset), is_fixed)?;
            }
            return Ok(());
        }
        let bytes = self.checked_bytes(it, ty)?;
        let whole_type = self.context.integer(bytes as u32 * 8);
        let whole = match ty.is_integer() {
            true => self.builder.resize(value, whole_type),
            false => self.builder.cast(Opcode::LLVMBitCast, value, whole_type),
        };
        for (offset, size) in pieces(bytes, alignment) {
            let place = self.add_to(address, offset);
            let shift = whole_type.constant(offset * 8);
            let piece = match offset {
                0 => whole,
                _ => self.builder.binary(Opcode::LLVMLShr, whole, shift),
            };
            let piece = self.builder.resize(piece, self.context.integer(size as u32 * 8));
            self.wide_store_of(place, piece, is_fixed);
        }
        Ok(())
    }

    fn parts(&self, ty: Type) -> Vec<(u64, Type)> {
        let layout = self.module.layout();
        match ty.is_struct() {
            true => {
                let fields = ty.fields().into_iter().enumerate();
                fields.map(|(index, it)| (layout.offset(ty, index as u32), it)).collect()
            }
            false => {
                let size = layout.size(ty.element());
                (0..ty.len()).map(|it| (it * size, ty.element())).collect()
            }
        }
    }

    fn checked_bytes(&self, it: Value, ty: Type) -> Result<u64, Error> {
        let is_simple = ty.is_integer()
            || matches!(
                ty.kind(),
                TypeKind::LLVMFloatTypeKind
                    | TypeKind::LLVMDoubleTypeKind
                    | TypeKind::LLVMHalfTypeKind
            )
            || ty.is_vector() && ty.element().kind() != TypeKind::LLVMPointerTypeKind;
        let bytes = self.module.layout().stored(ty);
        let is_whole =
            !ty.is_vector() || !ty.element().is_integer() || ty.element().bits().is_multiple_of(8);
        if is_simple && is_whole {
            return Ok(bytes);
        }
        let message = format!("`{}` is read or written through a pointer of the host", ty.text());
        Err(Error::at(it, message))
    }

    fn add_to(&self, address: Value, offset: u64) -> Value {
        match offset {
            0 => address,
            _ => self.builder.add(address, self.double_word().constant(offset)),
        }
    }

    /// `i32 @ferry.wide.load32(i64)`
    pub(super) fn wide_load_of(&self, address: Value, bits: u64, is_fixed: bool) -> Value {
        let suffix = if is_fixed { VOLATILE } else { "" };
        let name = format!("{LOAD}{bits}{suffix}");
        let ty = self.context.integer(bits as u32).function(&[self.double_word()]);
        let function = self.wide_function(&name, ty, if is_fixed { None } else { Some(READS) });
        self.builder.call(ty, function, &[address])
    }

    /// `void @ferry.wide.store32(i64, i32)`
    pub(super) fn wide_store_of(&self, address: Value, value: Value, is_fixed: bool) {
        let suffix = if is_fixed { VOLATILE } else { "" };
        let name = format!("{STORE}{}{suffix}", value.ty().bits());
        let ty = self.context.void().function(&[self.double_word(), value.ty()]);
        let function = self.wide_function(&name, ty, if is_fixed { None } else { Some(WRITES) });
        self.builder.call(ty, function, &[address, value]);
    }

    fn wide_function(&self, name: &str, ty: Type, memory: Option<u64>) -> Value {
        if let Some(known) = self.module.function(name) {
            return known;
        }
        let function = self.module.add_function(name, ty);
        for word in ["nounwind", "willreturn", "nofree", "nocallback"] {
            function.add_attribute(crate::llvm::FUNCTION, word, 0);
        }
        if let Some(memory) = memory {
            function.add_attribute(crate::llvm::FUNCTION, "memory", memory);
            function.add_attribute(crate::llvm::FUNCTION, "nosync", 0);
        }
        function
    }

    /// `memcpy`, `memmove`, `memset`.
    pub(super) fn copy(&mut self, it: Value, name: &str) -> Result<(), Error> {
        let arguments = it.arguments();
        let [to, second, len, ..] = arguments.as_slice() else {
            return Err(Error::at(it, "a copy without operands"));
        };
        let is_fill = name == "memset";
        let (from_kind, to_kind) =
            (if is_fill { Kind::Device } else { self.kind(*second) }, self.kind(*to));
        self.count(it, *to, Access::Copy);
        if !is_fill {
            self.count(it, *second, Access::Copy);
        }
        if from_kind == Kind::Device && to_kind == Kind::Device {
            return self.device_copy(name, *to, *second, *len, &arguments);
        }
        let is_volatile = arguments.get(3).is_some_and(|it| it.unsigned() == Some(1));
        if let Some(bytes) = len.unsigned().filter(|it| *it <= SMALL_COPY) {
            return self.small_copy(it, *to, *second, bytes, is_volatile);
        }
        let own = GENERIC_COPIES.iter().find(|it| it.0 == name).map_or(name, |it| it.1);
        let len = self.operand(*len)?;
        let len = self.builder.resize(len, self.double_word());
        if let Some(source) = self.program.module.function(own) {
            // The runtime's own, narrowed like all of the program.
            let Some(function) = self.values.get(&source).copied() else {
                return Err(Error::at(it, format!("{name} is not there")));
            };
            let types = function.value_type().parameters();
            let pointer_type = self.context.pointer();
            let to = self.operand_as(*to, types.first().copied().unwrap_or(pointer_type))?;
            let second = match is_fill {
                true => {
                    let byte = self.operand(*second)?;
                    self.builder.resize(byte, self.word())
                }
                false => self.operand_as(*second, types.get(1).copied().unwrap_or(pointer_type))?,
            };
            self.builder.call(function.value_type(), function, &[to, second, len]);
            return Ok(());
        }
        let to = self.pointer_as(*to, Kind::Generic)?;
        let second = match is_fill {
            true => self.operand(*second)?,
            false => self.pointer_as(*second, Kind::Generic)?,
        };
        let types = [to.ty(), second.ty(), len.ty()];
        let ty = self.context.void().function(&types);
        let function =
            self.module.function(own).unwrap_or_else(|| self.module.add_function(own, ty));
        self.builder.call(ty, function, &[to, second, len]);
        Ok(())
    }

    /// Between device pointers: LLVM's own, with a length of 32 bits.
    fn device_copy(
        &mut self,
        name: &str,
        to: Value,
        second: Value,
        len: Value,
        arguments: &[Value],
    ) -> Result<(), Error> {
        let to = self.device(to)?;
        let (intrinsic, second) = match second.is_pointer() {
            true => (format!("llvm.{name}.p0.p0.i32"), self.device(second)?),
            false => ("llvm.memset.p0.i32".to_owned(), self.operand(second)?),
        };
        let len = self.operand(len)?;
        let len = self.builder.resize(len, self.word());
        let bit = self.context.integer(1);
        let is_volatile = arguments.get(3).copied().unwrap_or_else(|| bit.null());
        let ty = self.context.void().function(&[to.ty(), second.ty(), len.ty(), bit]);
        let function = self
            .module
            .function(&intrinsic)
            .unwrap_or_else(|| self.module.add_function(&intrinsic, ty));
        self.builder.call(ty, function, &[to, second, len, is_volatile]);
        Ok(())
    }

    /// All is read before anything is written: the two may overlap.
    fn small_copy(
        &mut self,
        it: Value,
        to: Value,
        second: Value,
        bytes: u64,
        is_volatile: bool,
    ) -> Result<(), Error> {
        let is_fill = !second.is_pointer();
        let to_alignment = it.call_alignment(1);
        let from_alignment = if is_fill { 8 } else { it.call_alignment(2) };
        let all = pieces(bytes, to_alignment.min(from_alignment));
        let mut values = Vec::new();
        for (offset, size) in &all {
            let ty = self.context.integer(*size as u32 * 8);
            values.push(match is_fill {
                true => {
                    let byte = self.operand(second)?;
                    let byte = self.builder.resize(byte, ty);
                    let ones = ty.constant(0x0101_0101_0101_0101);
                    self.builder.binary(Opcode::LLVMMul, byte, ones)
                }
                false => self.piece_load(second, *offset, ty, is_volatile)?,
            });
        }
        for ((offset, _), value) in all.into_iter().zip(values) {
            if self.kind(to) == Kind::Device {
                let pointer = self.device(to)?;
                let pointer = self.builder.byte_offset(pointer, self.word().constant(offset));
                let new = self.builder.store(value, pointer);
                new.set_alignment(value.ty().bits() / 8);
                new.set_volatile(is_volatile);
            } else {
                let address = self.wide(to)?;
                self.wide_store_of(self.add_to(address, offset), value, is_volatile);
            }
        }
        Ok(())
    }

    fn piece_load(
        &mut self,
        pointer: Value,
        offset: u64,
        ty: Type,
        is_volatile: bool,
    ) -> Result<Value, Error> {
        if self.kind(pointer) == Kind::Device {
            let pointer = self.device(pointer)?;
            let pointer = self.builder.byte_offset(pointer, self.word().constant(offset));
            let new = self.builder.load(ty, pointer);
            new.set_alignment(ty.bits() / 8);
            new.set_volatile(is_volatile);
            return Ok(new);
        }
        let address = self.wide(pointer)?;
        Ok(self.wide_load_of(self.add_to(address, offset), u64::from(ty.bits()), is_volatile))
    }
}

/// The alignment that is known `offset` bytes behind one.
fn alignment_at(alignment: u32, offset: u64) -> u32 {
    match offset {
        0 => alignment,
        _ => alignment.min(1 << offset.trailing_zeros().min(16)),
    }
}

/// Offsets and sizes of accesses that read or write `bytes`: powers of two, at most 8, none wider than its alignment.
fn pieces(bytes: u64, alignment: u32) -> Vec<(u64, u64)> {
    let most = u64::from(alignment.clamp(1, 8));
    let mut pieces = Vec::new();
    let mut offset = 0;
    while offset < bytes {
        let mut size = most;
        while size > bytes - offset || offset % size != 0 {
            size /= 2;
        }
        pieces.push((offset, size));
        offset += size;
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_piece_is_wider_than_its_alignment() {
        assert_eq!(pieces(8, 8), [(0, 8)]);
        assert_eq!(pieces(8, 4), [(0, 4), (4, 4)]);
        assert_eq!(pieces(3, 4), [(0, 2), (2, 1)]);
        assert_eq!(pieces(4, 1), [(0, 1), (1, 1), (2, 1), (3, 1)]);
        assert_eq!(pieces(0, 8), []);
        assert_eq!(pieces(16, 16), [(0, 8), (8, 8)]);
    }

    #[test]
    fn alignment_behind_an_offset_is_never_claimed() {
        assert_eq!(alignment_at(8, 0), 8);
        assert_eq!(alignment_at(8, 4), 4);
        assert_eq!(alignment_at(8, 6), 2);
        assert_eq!(alignment_at(2, 8), 2);
    }
}
