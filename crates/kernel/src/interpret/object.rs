//! Objects: what expressions name in memory, how they are read and written, and initialisers.

use ir::program::{Init, InitId, Program};
use ir::types::{RecordId, Ty, TypeKind};
use source::Name;

use super::value::{Scalar, Value, wrap};
use super::{Cx, Result, fail};

/// An object, or a part of one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) at: u64,
    pub(super) ty: Ty,
    /// First bit and number of bits, of a bit-field.
    pub(super) bits: Option<(u32, u32)>,
}

impl Cx<'_, '_> {
    pub(super) fn load(&mut self, place: &Place) -> Result<Value> {
        let scalar = self.scalar(place.ty)?;
        let who = self.access();
        if let Some((first, width)) = place.bits {
            let raw = self.field_bytes(place, first, width, true)?;
            let value = (raw >> first) as i128;
            let is_signed = matches!(scalar, Scalar::Int { is_signed: true, .. });
            return Ok(Value::Int(wrap(value, width, is_signed)));
        }
        let size = self.size_of(place.ty)?;
        let (bytes, known) = self.m.memory.read(place.at, size, who)?;
        Value::load(bytes, known, scalar)
    }

    /// The bytes that a bit-field lies in.
    fn field_bytes(&mut self, place: &Place, first: u32, width: u32, reads: bool) -> Result<u128> {
        let size = u64::from((first + width).div_ceil(8));
        let who = self.access();
        let (bytes, known) = self.m.memory.read(place.at, size, who)?;
        if reads && known.contains(&false) {
            return fail("memory is read that has no value");
        }
        let mut wide = [0; 16];
        wide.iter_mut().zip(&bytes).for_each(|(to, from)| *to = *from);
        Ok(u128::from_le_bytes(wide))
    }

    pub(super) fn store(&mut self, place: &Place, value: &Value) -> Result<()> {
        let who = self.access();
        if let Some((first, width)) = place.bits {
            let old = self.field_bytes(place, first, width, false)?;
            let mask = (u128::MAX >> (128 - width.clamp(1, 128))) << first;
            let new = (old & !mask) | (((value.int()? as u128) << first) & mask);
            let size = (first + width).div_ceil(8) as usize;
            let bytes: Vec<u8> = new.to_le_bytes().into_iter().take(size).collect();
            return self.m.memory.write(place.at, &bytes, &vec![true; size], who);
        }
        let scalar = self.scalar(place.ty)?;
        let size = self.size_of(place.ty)?;
        let (bytes, known) = value.store(scalar, size)?;
        self.m.memory.write(place.at, &bytes, &known, who)
    }

    /// A member of a record at an address.
    pub(super) fn member(&mut self, at: u64, record: RecordId, index: u32) -> Result<Place> {
        let types = &self.program().types;
        let fields = types.records[record].fields.as_ref();
        let field = fields.and_then(|it| it.get(index as usize));
        let layout = self.m.layouts.record(types, record).ok();
        let place = layout.and_then(|it| it.fields.get(index as usize).copied());
        let (Some(field), Some(place)) = (field, place) else { return fail("no such member") };
        let bits = place.bit_width.map(|width| (place.bit_offset, width));
        Ok(Place { at: at + place.offset, ty: field.ty, bits })
    }

    /// Gives an object its first value.
    pub(super) fn initialise(&mut self, at: u64, ty: Ty, init: InitId) -> Result<()> {
        self.initialise_place(&Place { at, ty, bits: None }, init)
    }

    fn initialise_place(&mut self, place: &Place, init: InitId) -> Result<()> {
        let program = self.program();
        let ty = place.ty;
        match &program.inits[init] {
            Init::Expr(e) => {
                let expr = &program.exprs[*e];
                if program.types.is_array(ty) {
                    let from = self.place(*e)?;
                    let size = self.size_of(expr.ty)?.min(self.size_of(ty)?);
                    self.zero(place.at, ty)?;
                    return self.copy(place.at, from.at, size);
                }
                let value = self.eval(*e)?;
                self.store(place, &value)
            }
            Init::List(_, elements) => {
                if place.bits.is_none() {
                    self.zero(place.at, ty)?;
                }
                for element in elements {
                    for index in element.first..=element.last {
                        let inner = if let TypeKind::Record(id) = program.types.shape(ty) {
                            self.member(place.at, *id, index as u32)?
                        } else if let Some(inner) = program.types.element(ty) {
                            let size = self.size_of(inner)?;
                            Place { at: place.at + index * size, ty: inner, bits: None }
                        } else {
                            *place
                        };
                        self.initialise_place(&inner, element.value)?;
                    }
                }
                Ok(())
            }
        }
    }

    fn zero(&mut self, at: u64, ty: Ty) -> Result<()> {
        let size = usize::try_from(self.size_of(ty)?).unwrap_or(0);
        let who = self.access();
        self.m.memory.write(at, &vec![0; size], &vec![true; size], who)
    }

    /// Copies bytes with or without a value.
    pub(super) fn copy(&mut self, to: u64, from: u64, size: u64) -> Result<()> {
        let (bytes, known) = self.bytes(from, size)?;
        self.put_bytes(to, &bytes, &known)
    }

    /// Bytes, and which of them have a value.
    pub(super) fn bytes(&mut self, from: u64, size: u64) -> Result<(Vec<u8>, Vec<bool>)> {
        let who = self.access();
        self.m.memory.read(from, size, who)
    }

    pub(super) fn put_bytes(&mut self, to: u64, bytes: &[u8], known: &[bool]) -> Result<()> {
        let who = self.access();
        self.m.memory.write(to, bytes, known, who)
    }
}

/// The bytes of a string literal with its end; none for other kinds than plain ones.
pub(super) fn string(program: &Program, pieces: &[Name]) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    for piece in pieces {
        let text = program.names.text(*piece).strip_prefix('"')?.strip_suffix('"')?;
        let mut chars = text.bytes();
        while let Some(byte) = chars.next() {
            if byte != b'\\' {
                bytes.push(byte);
                continue;
            }
            bytes.push(match chars.next()? {
                b'n' => b'\n',
                b't' => b'\t',
                b'r' => b'\r',
                b'0' => 0,
                it @ (b'\\' | b'"' | b'\'' | b'?') => it,
                _ => return None,
            });
        }
    }
    bytes.push(0);
    Some(bytes)
}
