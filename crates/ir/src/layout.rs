//! Sizes, alignments and offsets: questions to a data model.
//!
//! In: types and a [`DataModel`], the description of a machine's C. Out: what `sizeof`, `_Alignof`
//! and `offsetof` say there, or [`NoSize`] with the reason why there is no answer. [`Layouts`]
//! remembers records it has laid out; the methods of [`DataModel`] answer single questions.
//!
//! Models are compared with compilers by test. Not here: conversions between types
//! ([`crate::arith`]) and types whose size is computed when the program runs.

mod record;
mod sizes;

pub use record::{FieldPlace, RecordLayout};
pub use sizes::{Layouts, NoSize};

use crate::types::{FloatKind, IntKind};

/// Size and alignment of a scalar, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Extent {
    /// Size.
    pub size: u64,
    /// Alignment.
    pub align: u64,
}

/// A size that is its own alignment.
const fn natural(size: u64) -> Extent {
    Extent { size, align: size }
}

/// How floating values are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FloatFormat {
    /// 8 bits of precision, 16 of storage.
    Brain,
    /// IEEE binary16.
    Half,
    /// IEEE binary32.
    Single,
    /// IEEE binary64.
    Double,
    /// The x87's 80 bits.
    Extended,
    /// IEEE binary128.
    Quad,
}

/// Where bit-fields go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BitFieldRule {
    /// System V: as many as fit without crossing a unit of the declared type, among other members.
    SysV,
    /// Microsoft: runs of fields whose declared types have one size share units of that size.
    Microsoft,
}

/// How C types are laid out on a machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataModel {
    /// Its name, as users write it.
    pub name: &'static str,
    /// Plain `char` is signed.
    pub char_signed: bool,
    /// `short`
    pub short: Extent,
    /// `int`
    pub int: Extent,
    /// `long`
    pub long: Extent,
    /// `long long`; as a member, where that differs.
    pub long_long: Extent,
    /// `double`; as a member, where that differs.
    pub double: Extent,
    /// `long double`
    pub long_double: Extent,
    /// How `long double` stores its values.
    pub long_double_format: FloatFormat,
    /// Pointers to objects and functions.
    pub pointer: Extent,
    /// `__builtin_va_list`
    pub va_list: Extent,
    /// What `size_t` is.
    pub size_kind: IntKind,
    /// What `ptrdiff_t` and `intptr_t` are.
    pub ptrdiff_kind: IntKind,
    /// What `wchar_t` is.
    pub wchar_kind: IntKind,
    /// The alignment that suits every scalar: `__attribute__((aligned))` without a number.
    pub max_align: u64,
    /// The most that a vector is aligned to by itself.
    pub max_vector_align: u64,
    /// Where bit-fields go.
    pub bit_fields: BitFieldRule,
}

/// 64-bit Unix on x86-64 (System V): `long` and pointers have 64 bits.
pub static LP64: DataModel = DataModel {
    name: "lp64",
    char_signed: true,
    short: natural(2),
    int: natural(4),
    long: natural(8),
    long_long: natural(8),
    double: natural(8),
    long_double: natural(16),
    long_double_format: FloatFormat::Extended,
    pointer: natural(8),
    va_list: Extent { size: 24, align: 8 },
    size_kind: IntKind::ULong,
    ptrdiff_kind: IntKind::Long,
    wchar_kind: IntKind::Int,
    max_align: 16,
    max_vector_align: 1 << 28,
    bit_fields: BitFieldRule::SysV,
};

/// The same, told that plain `char` has no sign.
pub static LP64_UNSIGNED_CHAR: DataModel =
    DataModel { name: "lp64-unsigned-char", char_signed: false, ..LP64 };

/// 64-bit Unix on ARM (AAPCS64): `wchar_t` has no sign either, and no vector is aligned to more than 16. Records with
/// bit-fields that have no name are aligned to those there, which this does not say.
pub static LP64_ARM: DataModel = DataModel {
    name: "lp64-arm",
    char_signed: false,
    long_double_format: FloatFormat::Quad,
    va_list: Extent { size: 32, align: 8 },
    wchar_kind: IntKind::UInt,
    max_vector_align: 16,
    ..LP64
};

/// The same, told that plain `char` has a sign.
pub static LP64_ARM_SIGNED_CHAR: DataModel =
    DataModel { name: "lp64-arm-signed-char", char_signed: true, ..LP64_ARM };

/// 32-bit RISC-V (psABI `ilp32`): 64-bit types are aligned to 8, plain `char` is unsigned.
pub static ILP32: DataModel = DataModel {
    name: "ilp32",
    char_signed: false,
    long: natural(4),
    long_double_format: FloatFormat::Quad,
    pointer: natural(4),
    va_list: natural(4),
    size_kind: IntKind::UInt,
    ptrdiff_kind: IntKind::Int,
    ..LP64
};

/// 32-bit Unix on x86 (System V): 64-bit members are aligned to 4.
pub static ILP32_X86: DataModel = DataModel {
    name: "ilp32-x86",
    char_signed: true,
    long_long: Extent { size: 8, align: 4 },
    double: Extent { size: 8, align: 4 },
    long_double: Extent { size: 12, align: 4 },
    long_double_format: FloatFormat::Extended,
    wchar_kind: IntKind::Long,
    ..ILP32
};

/// 64-bit Windows on x86-64 as gcc (mingw-w64) has it: `long` has 32 bits, bit-fields follow
/// Microsoft, `long double` is the x87's (Microsoft's own compiler takes it for a `double`).
pub static LLP64: DataModel = DataModel {
    name: "llp64",
    long: natural(4),
    va_list: natural(8),
    size_kind: IntKind::ULongLong,
    ptrdiff_kind: IntKind::LongLong,
    wchar_kind: IntKind::UShort,
    bit_fields: BitFieldRule::Microsoft,
    ..LP64
};

/// All models.
pub static MODELS: [&DataModel; 4] = [&LP64, &ILP32, &ILP32_X86, &LLP64];

impl DataModel {
    /// The model with this name.
    pub fn named(name: &str) -> Option<&'static DataModel> {
        MODELS.into_iter().find(|it| it.name == name)
    }

    /// Size and alignment of an integer.
    pub fn int_extent(&self, kind: IntKind) -> Extent {
        match kind {
            IntKind::Char | IntKind::SChar | IntKind::UChar => natural(1),
            IntKind::Short | IntKind::UShort => self.short,
            IntKind::Int | IntKind::UInt => self.int,
            IntKind::Long | IntKind::ULong => self.long,
            IntKind::LongLong | IntKind::ULongLong => self.long_long,
            IntKind::Int128 | IntKind::UInt128 => natural(16),
        }
    }

    /// How a floating type stores its values.
    pub fn float_format(&self, kind: FloatKind) -> FloatFormat {
        match kind {
            FloatKind::Float16 => FloatFormat::Half,
            FloatKind::BFloat16 => FloatFormat::Brain,
            FloatKind::Float | FloatKind::Float32 => FloatFormat::Single,
            FloatKind::Double | FloatKind::Float64 | FloatKind::Float32x => FloatFormat::Double,
            FloatKind::LongDouble | FloatKind::Float64x => self.long_double_format,
            FloatKind::Float128 => FloatFormat::Quad,
        }
    }

    /// Size and alignment of a floating type.
    pub fn float_extent(&self, kind: FloatKind) -> Extent {
        match kind {
            FloatKind::Float16 | FloatKind::BFloat16 => natural(2),
            FloatKind::Float | FloatKind::Float32 => natural(4),
            FloatKind::Double | FloatKind::Float64 | FloatKind::Float32x => self.double,
            FloatKind::LongDouble | FloatKind::Float64x => self.long_double,
            FloatKind::Float128 => natural(16),
        }
    }

    /// The size of the largest object, in bytes.
    pub fn max_object(&self) -> u64 {
        u64::MAX >> (65 - (self.pointer.size * 8).min(64))
    }
}
