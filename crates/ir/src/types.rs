//! C types, interned: equal types have equal handles.
//!
//! A [`Ty`] is a type with its qualifiers. Names given by `typedef` are kept as [`TypeKind::Alias`]
//! so that messages and generated code can use the user's words; [`Types::resolve`] looks through
//! them. Records and enumerations are told apart by their definition, not by their shape.
//!
//! No size is known here: that is a question to a data model, see [`crate::layout`].

use rustc_hash::FxHashMap;
use source::{Arena, Id, Name, Span};

use crate::program::ExprId;

/// Handle of a type.
pub type TypeId = Id<TypeKind>;
/// Handle of a structure or union.
pub type RecordId = Id<Record>;
/// Handle of an enumeration.
pub type EnumId = Id<Enum>;
/// Handle of a typedef.
pub type AliasId = Id<Alias>;

/// Qualifiers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs, reason = "the names are the documentation")]
pub struct Quals {
    pub is_const: bool,
    pub is_volatile: bool,
    pub is_restrict: bool,
}

impl Quals {
    /// None.
    pub const NONE: Quals = Quals { is_const: false, is_volatile: false, is_restrict: false };

    /// Those of either.
    #[must_use]
    pub fn with(self, other: Quals) -> Quals {
        Quals {
            is_const: self.is_const || other.is_const,
            is_volatile: self.is_volatile || other.is_volatile,
            is_restrict: self.is_restrict || other.is_restrict,
        }
    }

    /// Whether all of `other` are among these.
    pub fn covers(self, other: Quals) -> bool {
        self.with(other) == self
    }
}

/// A qualified type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Ty {
    /// The type.
    pub id: TypeId,
    /// Its qualifiers.
    pub quals: Quals,
}

impl Ty {
    /// The same type without qualifiers on top.
    #[must_use]
    pub fn plain(self) -> Ty {
        Ty { id: self.id, quals: Quals::NONE }
    }

    /// The same type with more qualifiers.
    #[must_use]
    pub fn qualified(self, quals: Quals) -> Ty {
        Ty { id: self.id, quals: self.quals.with(quals) }
    }
}

/// The kinds of types.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum TypeKind {
    /// Something that was reported; fits everywhere.
    Error,
    /// `void`
    Void,
    /// `_Bool`
    Bool,
    /// Integers that are not enumerations.
    Int(IntKind),
    /// Real floating types.
    Float(FloatKind),
    /// `_Complex` floating types.
    Complex(FloatKind),
    /// GNU `_Complex int` and relatives.
    ComplexInt(IntKind),
    /// `enum`
    Enum(EnumId),
    /// Pointer to.
    Pointer(Ty),
    /// Array of.
    Array(Ty, ArrayLen),
    /// Function.
    Function(FunctionType),
    /// `struct` or `union`
    Record(RecordId),
    /// A typedef's name.
    Alias(AliasId),
    /// `_Atomic(T)`
    Atomic(Ty),
    /// GNU vector: element and number of lanes.
    Vector(Ty, u32),
    /// `__builtin_va_list`
    VaList,
}

/// Integer types with keywords of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs, reason = "the names are the documentation")]
pub enum IntKind {
    Char,
    SChar,
    UChar,
    Short,
    UShort,
    Int,
    UInt,
    Long,
    ULong,
    LongLong,
    ULongLong,
    Int128,
    UInt128,
}

/// Floating types. `Float32` and relatives are types of their own in C.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs, reason = "the names are the documentation")]
pub enum FloatKind {
    Float16,
    BFloat16,
    Float,
    Double,
    LongDouble,
    Float32,
    Float64,
    Float128,
    Float32x,
    Float64x,
}

/// Length of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ArrayLen {
    /// A constant.
    Known(u64),
    /// `[]`: incomplete, or flexible as the last member.
    Unknown,
    /// Computed when the declaration is reached; nothing for `[*]`.
    Variable(Option<ExprId>),
}

/// Type of a function.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FunctionType {
    /// What it returns.
    pub ret: Ty,
    /// Its parameters, after adjustment to pointers.
    pub params: Box<[Ty]>,
    /// `, ...`
    pub variadic: bool,
    /// Parameters were declared; `()` is not.
    pub prototyped: bool,
}

/// A structure or union.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// Its tag, if it has one.
    pub tag: Option<Name>,
    /// `union`
    pub is_union: bool,
    /// Its members, once defined.
    pub fields: Option<Vec<Field>>,
    /// `__attribute__((packed))`
    pub packed: bool,
    /// The largest alignment that `#pragma pack` allows its members.
    pub pack: Option<u32>,
    /// `__attribute__((aligned(n)))`, `_Alignas` on the type.
    pub align: Option<u64>,
    /// `__attribute__((transparent_union))`
    pub transparent: bool,
    /// Where it was first named.
    pub span: Span,
}

/// A member.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// Its name; absent for anonymous records and padding bit-fields.
    pub name: Option<Name>,
    /// Its type.
    pub ty: Ty,
    /// Width of a bit-field.
    pub bits: Option<u32>,
    /// `_Alignas`, `__attribute__((aligned(n)))` on the member.
    pub align: Option<u64>,
    /// `__attribute__((packed))` on the member.
    pub packed: bool,
    /// Where.
    pub span: Span,
}

/// An enumeration.
#[derive(Clone, Debug, PartialEq)]
pub struct Enum {
    /// Its tag, if it has one.
    pub tag: Option<Name>,
    /// Its constants, once defined.
    pub constants: Option<Vec<(Name, i128)>>,
    /// The integer type it is compatible with.
    pub underlying: IntKind,
    /// `__attribute__((packed))`
    pub packed: bool,
    /// Where it was first named.
    pub span: Span,
}

/// A typedef.
#[derive(Clone, Debug, PartialEq)]
pub struct Alias {
    /// Its name.
    pub name: Name,
    /// What it stands for.
    pub ty: Ty,
    /// `__attribute__((aligned(n)))` on the typedef.
    pub align: Option<u64>,
    /// Where.
    pub span: Span,
}

/// All types of one program.
#[derive(Clone, Debug)]
pub struct Types {
    kinds: Arena<TypeKind>,
    known: FxHashMap<TypeKind, TypeId>,
    /// Structures and unions.
    pub records: Arena<Record>,
    /// Enumerations.
    pub enums: Arena<Enum>,
    /// Typedefs.
    pub aliases: Arena<Alias>,
}

impl Default for Types {
    fn default() -> Self {
        Types::new()
    }
}

impl Types {
    /// An empty table.
    pub fn new() -> Types {
        Types {
            kinds: Arena::new(),
            known: FxHashMap::default(),
            records: Arena::new(),
            enums: Arena::new(),
            aliases: Arena::new(),
        }
    }

    /// The type of this kind, unqualified.
    pub fn get(&mut self, kind: TypeKind) -> Ty {
        let id = match self.known.get(&kind) {
            Some(&id) => id,
            None => {
                let id = self.kinds.push(kind.clone());
                self.known.insert(kind, id);
                id
            }
        };
        Ty { id, quals: Quals::NONE }
    }

    /// `T *`
    pub fn pointer_to(&mut self, to: Ty) -> Ty {
        self.get(TypeKind::Pointer(to))
    }

    /// What a type is, aliases included.
    pub fn kind(&self, id: TypeId) -> &TypeKind {
        &self.kinds[id]
    }

    /// The type behind all typedef names, with the qualifiers met on the way.
    pub fn resolve(&self, ty: Ty) -> Ty {
        let mut ty = ty;
        while let TypeKind::Alias(alias) = self.kind(ty.id) {
            ty = self.aliases[*alias].ty.qualified(ty.quals);
        }
        ty
    }

    /// What a type is, seen through typedef names and `_Atomic`.
    pub fn shape(&self, ty: Ty) -> &TypeKind {
        let mut ty = self.resolve(ty);
        while let TypeKind::Atomic(inner) = self.kind(ty.id) {
            ty = self.resolve(*inner);
        }
        self.kind(ty.id)
    }

    /// How many distinct types there are.
    pub fn len(&self) -> usize {
        self.kinds.len()
    }

    /// Whether none was made.
    pub fn is_empty(&self) -> bool {
        self.kinds.is_empty()
    }
}
