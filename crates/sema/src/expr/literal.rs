//! Literals: which type a number, a character or a string has.

use ir::program::{ExprId, ExprKind};
use ir::types::{ArrayLen, FloatKind, IntKind, Ty, TypeKind};
use source::{Name, Span};
use syntax::literal::{self, Base, FloatSuffix, Number, Prefix};

use crate::Cx;
use crate::messages;

impl Cx<'_> {
    pub(super) fn number(&mut self, spelling: Name, span: Span) -> ExprId {
        let text = self.program.names.text(spelling);
        // By far the most numbers are short and plain.
        if let Some(value) = small_decimal(text) {
            let ty = self.basics.int;
            return self.int(value, ty, span);
        }
        match literal::number(text) {
            Ok(Number::Int(it)) => self.integer(it, spelling, span),
            Ok(Number::Float(it)) => {
                let kind = float_kind(it.suffix);
                let kind =
                    if it.imaginary { TypeKind::Complex(kind) } else { TypeKind::Float(kind) };
                let ty = self.program.types.get(kind);
                self.make(ExprKind::Float(spelling), ty, span)
            }
            Err(why) => {
                let fault = messages::bad_literal(&why.to_string(), span);
                self.refuse(fault, span)
            }
        }
    }

    fn integer(&mut self, it: literal::Int, spelling: Name, span: Span) -> ExprId {
        let kind = self.integer_kind(&it);
        if it.suffix.imaginary {
            let ty = self.program.types.get(TypeKind::ComplexInt(kind));
            return self.make(ExprKind::Float(spelling), ty, span);
        }
        let ty = self.program.types.get(TypeKind::Int(kind));
        match i64::try_from(it.value) {
            Ok(value) => self.int(value, ty, span),
            // Of unsigned 64-bit types the upper half: wrapped, the type says how to read it.
            Err(_) if it.value <= u128::from(u64::MAX) && self.size_of(ty) == Some(8) => {
                self.int((it.value as u64).cast_signed(), ty, span)
            }
            Err(_) => self.make(ExprKind::WideInt(Box::new(it.value.cast_signed())), ty, span),
        }
    }

    /// The first type of C's list that holds the value.
    fn integer_kind(&self, it: &literal::Int) -> IntKind {
        const ALL: [(IntKind, IntKind); 4] = [
            (IntKind::Int, IntKind::UInt),
            (IntKind::Long, IntKind::ULong),
            (IntKind::LongLong, IntKind::ULongLong),
            (IntKind::Int128, IntKind::UInt128),
        ];
        let both = it.base != Base::Decimal;
        for (signed, unsigned) in ALL.into_iter().skip(usize::from(it.suffix.long)) {
            let bits = self.int_bits(signed);
            let fits = |bits: u32| bits >= 128 || it.value >> bits == 0;
            if !it.suffix.unsigned && fits(bits - 1) {
                return signed;
            }
            if (it.suffix.unsigned || both) && fits(bits) {
                return unsigned;
            }
        }
        IntKind::UInt128
    }

    pub(super) fn character(&mut self, spelling: Name, span: Span) -> ExprId {
        match literal::character(self.program.names.text(spelling)) {
            Ok(it) => {
                let ty = match it.prefix {
                    Prefix::None => self.basics.int,
                    Prefix::Utf8 => self.basics.uchar,
                    Prefix::Utf16 => self.basics.char16,
                    Prefix::Utf32 => self.basics.char32,
                    Prefix::Wide => self.basics.wchar,
                };
                // An upper half without a sign is more than an `int` holds.
                let value = self.wrap(it.value(self.char_is_signed()).into(), ty) as i64;
                self.int(value, ty, span)
            }
            Err(why) => {
                let fault = messages::bad_literal(&why.to_string(), span);
                self.refuse(fault, span)
            }
        }
    }

    pub(crate) fn string(&mut self, pieces: &[Name], span: Span) -> ExprId {
        match literal::string(pieces.iter().map(|it| self.program.names.text(*it))) {
            Ok(it) => {
                let elem = self.string_element(it.prefix);
                let length = ArrayLen::Known(it.units.len() as u64 + 1);
                let ty = self.program.types.get(TypeKind::Array(elem, length));
                self.make(ExprKind::Str(pieces.into()), ty, span)
            }
            Err(why) => {
                let fault = messages::bad_literal(&why.to_string(), span);
                self.refuse(fault, span)
            }
        }
    }

    fn string_element(&self, prefix: Prefix) -> Ty {
        match prefix {
            Prefix::None | Prefix::Utf8 => self.basics.char,
            Prefix::Utf16 => self.basics.char16,
            Prefix::Utf32 => self.basics.char32,
            Prefix::Wide => self.basics.wchar,
        }
    }
}

fn float_kind(suffix: FloatSuffix) -> FloatKind {
    match suffix {
        FloatSuffix::None => FloatKind::Double,
        FloatSuffix::F => FloatKind::Float,
        FloatSuffix::L | FloatSuffix::W => FloatKind::LongDouble,
        FloatSuffix::F16 => FloatKind::Float16,
        FloatSuffix::F32 => FloatKind::Float32,
        FloatSuffix::F64 => FloatKind::Float64,
        FloatSuffix::F128 | FloatSuffix::Q => FloatKind::Float128,
        FloatSuffix::F32x => FloatKind::Float32x,
        FloatSuffix::F64x => FloatKind::Float64x,
        FloatSuffix::Bf16 => FloatKind::BFloat16,
    }
}

/// `0`, `42`: decimal digits that fit every `int`.
fn small_decimal(text: &str) -> Option<i64> {
    let is_plain = text == "0" || !text.starts_with('0');
    if text.len() > 4 || !is_plain {
        return None;
    }
    text.bytes().try_fold(0, |value, digit| {
        digit.is_ascii_digit().then(|| value * 10 + i64::from(digit - b'0'))
    })
}
