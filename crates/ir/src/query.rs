//! What kind of type is this, and what is it made of.
//!
//! All questions look through typedef names and `_Atomic`. Types that were reported
//! ([`TypeKind::Error`]) are none of the kinds asked for, except where said.

use crate::types::{ArrayLen, FunctionType, IntKind, RecordId, Ty, TypeKind, Types};

impl Types {
    /// Has been reported; fits everywhere.
    pub fn is_error(&self, ty: Ty) -> bool {
        matches!(self.shape(ty), TypeKind::Error)
    }

    /// `void`
    pub fn is_void(&self, ty: Ty) -> bool {
        matches!(self.shape(ty), TypeKind::Void)
    }

    /// `_Bool`
    pub fn is_bool(&self, ty: Ty) -> bool {
        matches!(self.shape(ty), TypeKind::Bool)
    }

    /// Integers, `_Bool` and enumerations.
    pub fn is_integer(&self, ty: Ty) -> bool {
        matches!(self.shape(ty), TypeKind::Bool | TypeKind::Int(_) | TypeKind::Enum(_))
    }

    /// The kind of an integer; an enumeration's is that of its values. `_Bool` has none.
    pub fn integer_kind(&self, ty: Ty) -> Option<IntKind> {
        if let TypeKind::Enum(id) = self.shape(ty) {
            return Some(self.enums[*id].underlying);
        }
        if let TypeKind::Int(kind) = self.shape(ty) { Some(*kind) } else { None }
    }

    /// Real floating types.
    pub fn is_real_floating(&self, ty: Ty) -> bool {
        matches!(self.shape(ty), TypeKind::Float(_))
    }

    /// Complex types, those of integers included.
    pub fn is_complex(&self, ty: Ty) -> bool {
        matches!(self.shape(ty), TypeKind::Complex(_) | TypeKind::ComplexInt(_))
    }

    /// Integers and real floating types.
    pub fn is_real(&self, ty: Ty) -> bool {
        self.is_integer(ty) || self.is_real_floating(ty)
    }

    /// Integers, floating and complex types.
    pub fn is_arithmetic(&self, ty: Ty) -> bool {
        self.is_real(ty) || self.is_complex(ty)
    }

    /// Pointers, to functions too.
    pub fn is_pointer(&self, ty: Ty) -> bool {
        matches!(self.shape(ty), TypeKind::Pointer(_))
    }

    /// What can be tested for zero: arithmetic types and pointers.
    pub fn is_scalar(&self, ty: Ty) -> bool {
        self.is_arithmetic(ty) || self.is_pointer(ty)
    }

    /// Arrays of any length.
    pub fn is_array(&self, ty: Ty) -> bool {
        matches!(self.shape(ty), TypeKind::Array(..))
    }

    /// Functions.
    pub fn is_function(&self, ty: Ty) -> bool {
        matches!(self.shape(ty), TypeKind::Function(_))
    }

    /// Structures and unions.
    pub fn is_record(&self, ty: Ty) -> bool {
        matches!(self.shape(ty), TypeKind::Record(_))
    }

    /// Arrays, structures and unions.
    pub fn is_aggregate(&self, ty: Ty) -> bool {
        matches!(self.shape(ty), TypeKind::Array(..) | TypeKind::Record(_))
    }

    /// GNU vectors.
    pub fn is_vector(&self, ty: Ty) -> bool {
        matches!(self.shape(ty), TypeKind::Vector(..))
    }

    /// `_Atomic`, on top.
    pub fn is_atomic(&self, ty: Ty) -> bool {
        matches!(self.kind(self.resolve(ty).id), TypeKind::Atomic(_))
    }

    /// Whether an object of this type can be made here: its size is known or will be computed.
    /// Reported types count as complete.
    pub fn is_complete(&self, ty: Ty) -> bool {
        let mut ty = ty;
        loop {
            match self.shape(ty) {
                TypeKind::Void | TypeKind::Function(_) => return false,
                TypeKind::Array(_, ArrayLen::Unknown) => return false,
                TypeKind::Array(element, ArrayLen::Known(_) | ArrayLen::Variable(_)) => {
                    ty = *element;
                }
                TypeKind::Record(id) => return self.records[*id].fields.is_some(),
                TypeKind::Enum(id) => return self.enums[*id].constants.is_some(),
                TypeKind::Error
                | TypeKind::Bool
                | TypeKind::Int(_)
                | TypeKind::Float(_)
                | TypeKind::Complex(_)
                | TypeKind::ComplexInt(_)
                | TypeKind::Pointer(_)
                | TypeKind::Alias(_)
                | TypeKind::Atomic(_)
                | TypeKind::Vector(..)
                | TypeKind::VaList => return true,
            }
        }
    }

    /// An array whose size is computed when the program runs, in any of its dimensions.
    pub fn is_vla(&self, ty: Ty) -> bool {
        let mut ty = ty;
        while let TypeKind::Array(element, len) = self.shape(ty) {
            if matches!(len, ArrayLen::Variable(_)) {
                return true;
            }
            ty = *element;
        }
        false
    }

    /// Whether a variable length occurs behind arrays, pointers or in what a function returns.
    pub fn is_variably_modified(&self, ty: Ty) -> bool {
        let mut ty = ty;
        loop {
            let shape = self.shape(ty);
            if let TypeKind::Array(_, ArrayLen::Variable(_)) = shape {
                return true;
            } else if let TypeKind::Array(inner, _) | TypeKind::Pointer(inner) = shape {
                ty = *inner;
            } else if let TypeKind::Function(function) = shape {
                ty = function.ret;
            } else {
                return false;
            }
        }
    }

    /// What a pointer points to.
    pub fn pointee(&self, ty: Ty) -> Option<Ty> {
        if let TypeKind::Pointer(to) = self.shape(ty) { Some(*to) } else { None }
    }

    /// What an array or vector is made of, with the qualifiers of the whole.
    pub fn element(&self, ty: Ty) -> Option<Ty> {
        let (TypeKind::Array(element, _) | TypeKind::Vector(element, _)) = self.shape(ty) else {
            return None;
        };
        Some(element.qualified(self.resolve(ty).quals))
    }

    /// What is left of an array when all its dimensions are taken away, with their qualifiers.
    pub fn innermost_element(&self, ty: Ty) -> Ty {
        let mut ty = ty;
        while let TypeKind::Array(element, _) = self.shape(ty) {
            ty = element.qualified(self.resolve(ty).quals);
        }
        ty
    }

    /// The function behind a function type or a pointer to one.
    pub fn callee(&self, ty: Ty) -> Option<&FunctionType> {
        let ty = self.pointee(ty).unwrap_or(ty);
        if let TypeKind::Function(function) = self.shape(ty) { Some(function) } else { None }
    }

    /// The structure or union.
    pub fn record_of(&self, ty: Ty) -> Option<RecordId> {
        if let TypeKind::Record(id) = self.shape(ty) { Some(*id) } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::Quals;

    #[test]
    fn elements_carry_the_qualifiers_of_their_array() {
        let mut types = Types::new();
        let constant = Quals { is_const: true, ..Quals::NONE };
        let int = types.get(TypeKind::Int(IntKind::Int));
        let row = types.get(TypeKind::Array(int, ArrayLen::Known(2)));
        let rows = types.get(TypeKind::Array(row, ArrayLen::Unknown)).qualified(constant);
        assert_eq!(types.element(rows), Some(row.qualified(constant)));
        assert_eq!(types.innermost_element(rows), int.qualified(constant));
        assert!(!types.is_complete(rows) && types.is_complete(row));
    }
}
