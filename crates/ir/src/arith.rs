//! Arithmetic types: ranges, ranks, promotions and the usual arithmetic conversions.
//!
//! In: kinds of types and a data model. Out: kinds of types, since making a [`crate::types::Ty`]
//! of one needs the table. Nothing where a kind is not arithmetic. Vectors are not here: they are
//! not converted.

use crate::layout::DataModel;
use crate::types::{FloatKind, IntKind, Ty, TypeKind, Types};

/// All integer kinds from low to high rank, each signed one with its unsigned relative.
const BY_RANK: [(IntKind, IntKind); 6] = [
    (IntKind::SChar, IntKind::UChar),
    (IntKind::Short, IntKind::UShort),
    (IntKind::Int, IntKind::UInt),
    (IntKind::Long, IntKind::ULong),
    (IntKind::LongLong, IntKind::ULongLong),
    (IntKind::Int128, IntKind::UInt128),
];

impl IntKind {
    /// Rank of an integer: types of lower rank are converted to types of higher rank.
    pub fn rank(self) -> u8 {
        match self {
            IntKind::Char | IntKind::SChar | IntKind::UChar => 1,
            IntKind::Short | IntKind::UShort => 2,
            IntKind::Int | IntKind::UInt => 3,
            IntKind::Long | IntKind::ULong => 4,
            IntKind::LongLong | IntKind::ULongLong => 5,
            IntKind::Int128 | IntKind::UInt128 => 6,
        }
    }

    /// The unsigned type of the same rank.
    #[must_use]
    pub fn unsigned(self) -> IntKind {
        match self {
            IntKind::Char | IntKind::SChar | IntKind::UChar => IntKind::UChar,
            IntKind::Short | IntKind::UShort => IntKind::UShort,
            IntKind::Int | IntKind::UInt => IntKind::UInt,
            IntKind::Long | IntKind::ULong => IntKind::ULong,
            IntKind::LongLong | IntKind::ULongLong => IntKind::ULongLong,
            IntKind::Int128 | IntKind::UInt128 => IntKind::UInt128,
        }
    }

    /// The signed type of the same rank.
    #[must_use]
    pub fn signed(self) -> IntKind {
        match self {
            IntKind::Char | IntKind::SChar | IntKind::UChar => IntKind::SChar,
            IntKind::Short | IntKind::UShort => IntKind::Short,
            IntKind::Int | IntKind::UInt => IntKind::Int,
            IntKind::Long | IntKind::ULong => IntKind::Long,
            IntKind::LongLong | IntKind::ULongLong => IntKind::LongLong,
            IntKind::Int128 | IntKind::UInt128 => IntKind::Int128,
        }
    }
}

impl DataModel {
    /// Bits of an integer.
    pub fn int_bits(&self, kind: IntKind) -> u32 {
        (self.int_extent(kind).size * 8) as u32
    }

    /// Whether an integer is signed; of plain `char` the model decides.
    pub fn int_signed(&self, kind: IntKind) -> bool {
        if kind == IntKind::Char { self.char_signed } else { kind.unsigned() != kind }
    }

    /// Least and greatest value. The greatest of `unsigned __int128` does not fit an `i128`: it is
    /// given as `i128::MAX`.
    pub fn int_range(&self, kind: IntKind) -> (i128, i128) {
        let bits = self.int_bits(kind).min(128);
        if self.int_signed(kind) {
            (i128::MIN >> (128 - bits), i128::MAX >> (128 - bits))
        } else {
            (0, i128::MAX >> 127u32.saturating_sub(bits))
        }
    }

    /// `value` as an object of this kind would hold it.
    pub fn int_wrap(&self, kind: IntKind, value: i128) -> i128 {
        let spare = 128 - self.int_bits(kind).min(128);
        let top = value << spare;
        if self.int_signed(kind) { top >> spare } else { ((top as u128) >> spare) as i128 }
    }

    /// The integer with so many bits, the one of least rank where there are several.
    pub fn int_of(&self, bits: u32, signed: bool) -> Option<IntKind> {
        let (of_bits, unsigned) =
            BY_RANK.into_iter().find(|(kind, _)| self.int_bits(*kind) == bits)?;
        Some(if signed { of_bits } else { unsigned })
    }

    /// The integer kind behind a type that is one, enumerations and `_Bool` aside.
    fn promoted_int(&self, kind: IntKind) -> IntKind {
        if kind.rank() >= IntKind::Int.rank() {
            return kind;
        }
        let (_, most) = self.int_range(kind);
        if most <= self.int_range(IntKind::Int).1 { IntKind::Int } else { IntKind::UInt }
    }

    /// What the integer promotions make of a type; other types stay as they are.
    pub fn promote(&self, types: &Types, ty: Ty) -> TypeKind {
        match types.integer_kind(ty) {
            Some(kind) => TypeKind::Int(self.promoted_int(kind)),
            None if types.is_bool(ty) => TypeKind::Int(IntKind::Int),
            None => types.shape(ty).clone(),
        }
    }

    /// What the integer promotions make of a bit-field: `int` if that holds all its values.
    /// (A field wider than `int` keeps the type it was declared with.)
    pub fn promote_bit_field(&self, types: &Types, ty: Ty, bits: u32) -> TypeKind {
        let signed = types.integer_kind(ty).is_some_and(|kind| self.int_signed(kind));
        let int_bits = self.int_bits(IntKind::Int);
        if !types.is_integer(ty) {
            return types.shape(ty).clone();
        }
        if bits < int_bits || (bits == int_bits && signed) {
            TypeKind::Int(IntKind::Int)
        } else if bits == int_bits {
            TypeKind::Int(IntKind::UInt)
        } else {
            self.promote(types, ty)
        }
    }

    /// What the default argument promotions make of a type.
    pub fn promote_argument(&self, types: &Types, ty: Ty) -> TypeKind {
        if *types.shape(ty) == TypeKind::Float(FloatKind::Float) {
            return TypeKind::Float(FloatKind::Double);
        }
        self.promote(types, ty)
    }

    /// The common type of two arithmetic operands (C11 6.3.1.8); nothing if one is not arithmetic.
    pub fn usual(&self, types: &Types, a: Ty, b: Ty) -> Option<TypeKind> {
        let (a, b) = (self.promote(types, a), self.promote(types, b));
        self.common(&a, &b)
    }

    /// The same for kinds that are promoted already.
    pub fn common(&self, a: &TypeKind, b: &TypeKind) -> Option<TypeKind> {
        let (a, b) = (Operand::of(a)?, Operand::of(b)?);
        let is_complex = a.is_complex || b.is_complex;
        Some(match (a.real, b.real) {
            (Real::Float(x), Real::Float(y)) => float(self.common_float(x, y), is_complex),
            (Real::Float(it), Real::Int(_)) | (Real::Int(_), Real::Float(it)) => {
                float(it, is_complex)
            }
            (Real::Int(x), Real::Int(y)) if is_complex => {
                TypeKind::ComplexInt(self.common_int(x, y))
            }
            (Real::Int(x), Real::Int(y)) => TypeKind::Int(self.common_int(x, y)),
        })
    }

    fn common_float(&self, a: FloatKind, b: FloatKind) -> FloatKind {
        let key = |it: FloatKind| (self.float_format(it), preference(it));
        if key(a) >= key(b) { a } else { b }
    }

    fn common_int(&self, a: IntKind, b: IntKind) -> IntKind {
        if self.int_signed(a) == self.int_signed(b) {
            return if a.rank() >= b.rank() { a } else { b };
        }
        let (signed, unsigned) = if self.int_signed(a) { (a, b) } else { (b, a) };
        if unsigned.rank() >= signed.rank() {
            unsigned
        } else if self.int_bits(signed) > self.int_bits(unsigned) {
            signed
        } else {
            signed.unsigned()
        }
    }
}

/// Of two types with the same values the one with the more particular name wins.
fn preference(kind: FloatKind) -> u8 {
    match kind {
        FloatKind::Float => 0,
        FloatKind::Double => 1,
        FloatKind::LongDouble => 2,
        FloatKind::Float32x | FloatKind::Float64x => 3,
        FloatKind::Float16
        | FloatKind::BFloat16
        | FloatKind::Float32
        | FloatKind::Float64
        | FloatKind::Float128 => 4,
    }
}

#[derive(Clone, Copy)]
enum Real {
    Int(IntKind),
    Float(FloatKind),
}

#[derive(Clone, Copy)]
struct Operand {
    real: Real,
    is_complex: bool,
}

impl Operand {
    fn of(kind: &TypeKind) -> Option<Operand> {
        let (real, is_complex) = match kind {
            TypeKind::Bool => (Real::Int(IntKind::Int), false),
            TypeKind::Int(kind) => (Real::Int(*kind), false),
            TypeKind::ComplexInt(kind) => (Real::Int(*kind), true),
            TypeKind::Float(kind) => (Real::Float(*kind), false),
            TypeKind::Complex(kind) => (Real::Float(*kind), true),
            TypeKind::Error
            | TypeKind::Void
            | TypeKind::Enum(_)
            | TypeKind::Pointer(_)
            | TypeKind::Array(..)
            | TypeKind::Function(_)
            | TypeKind::Record(_)
            | TypeKind::Alias(_)
            | TypeKind::Atomic(_)
            | TypeKind::Vector(..)
            | TypeKind::VaList => return None,
        };
        Some(Operand { real, is_complex })
    }
}

fn float(kind: FloatKind, is_complex: bool) -> TypeKind {
    if is_complex { TypeKind::Complex(kind) } else { TypeKind::Float(kind) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::{ILP32, LLP64, LP64};
    use FloatKind::{Double, Float, Float32x, Float64, Float128, LongDouble};
    use IntKind::{Char, Int, Int128, Long, LongLong, Short, UInt, ULong, ULongLong, UShort};

    #[track_caller]
    fn check(model: &DataModel, a: TypeKind, b: TypeKind, expect: TypeKind) {
        let mut types = Types::new();
        let (a, b) = (types.get(a), types.get(b));
        assert_eq!(model.usual(&types, a, b), Some(expect.clone()));
        assert_eq!(model.usual(&types, b, a), Some(expect));
    }

    #[test]
    fn integers_meet_at_the_type_that_holds_both() {
        use TypeKind::{Bool, Int as I};
        check(&LP64, I(Char), I(Short), I(Int));
        check(&LP64, Bool, Bool, I(Int));
        check(&LP64, I(UShort), I(Int), I(Int));
        check(&LP64, I(UInt), I(Int), I(UInt));
        check(&LP64, I(UInt), I(Long), I(Long));
        // Where `long` is no wider than `int`, it cannot hold all of `unsigned`.
        check(&ILP32, I(UInt), I(Long), I(ULong));
        check(&LLP64, I(UInt), I(Long), I(ULong));
        check(&LP64, I(ULong), I(LongLong), I(ULongLong));
        check(&LP64, I(ULongLong), I(Int128), I(Int128));
    }

    #[test]
    fn floating_types_win_over_integers_and_complex_over_real() {
        use TypeKind::{Complex, ComplexInt, Float as F, Int as I};
        check(&LP64, F(Float), I(ULongLong), F(Float));
        check(&LP64, F(Float), F(Double), F(Double));
        check(&LP64, Complex(Float), F(Double), Complex(Double));
        check(&LP64, ComplexInt(Int), F(Float), Complex(Float));
        check(&LP64, ComplexInt(Int), I(Long), ComplexInt(Long));
        check(&LP64, F(Float64), F(Double), F(Float64));
        check(&LP64, F(Float32x), F(Double), F(Float32x));
        check(&LP64, F(LongDouble), F(Float128), F(Float128));
    }

    #[test]
    fn ranges_follow_the_model() {
        assert_eq!(LP64.int_range(Char), (-128, 127));
        assert_eq!(ILP32.int_range(Char), (0, 255));
        assert_eq!(LLP64.int_range(Long).1, i128::from(i32::MAX));
        assert_eq!(LP64.int_range(ULong), (0, i128::from(u64::MAX)));
        assert_eq!(LP64.int_range(Int128), (i128::MIN, i128::MAX));
        assert_eq!(LP64.int_wrap(UInt, -1), i128::from(u32::MAX));
        assert_eq!(LP64.int_wrap(Char, 200), -56);
        assert_eq!(ILP32.int_wrap(Char, 200), 200);
        assert_eq!((LP64.int_of(64, true), ILP32.int_of(64, true)), (Some(Long), Some(LongLong)));
        assert_eq!(LP64.int_of(24, true), None);
    }

    #[test]
    fn bit_fields_promote_by_width() {
        let mut types = Types::new();
        let unsigned = types.get(TypeKind::Int(UInt));
        let long = types.get(TypeKind::Int(ULong));
        let of = |ty, bits| LP64.promote_bit_field(&types, ty, bits);
        assert_eq!(of(unsigned, 31), TypeKind::Int(Int));
        assert_eq!(of(unsigned, 32), TypeKind::Int(UInt));
        assert_eq!(of(long, 32), TypeKind::Int(UInt));
        assert_eq!(of(long, 40), TypeKind::Int(ULong));
    }
}
