//! Compatible and composite types (C11 6.2.7).
//!
//! Two compatible types may declare one object; their composite is what both say together.
//! Qualifiers count, on top too: ask with [`Ty::plain`] where they should not.

use crate::types::{ArrayLen, FloatKind, FunctionType, IntKind, Ty, TypeKind, Types};

/// Composites of types nested deeper than this are their first operand.
const DEEPEST: usize = 256;

impl Types {
    /// Whether two types are compatible. A reported type is compatible with every type.
    pub fn compatible(&self, a: Ty, b: Ty) -> bool {
        // All pairs on the list must agree; types built of types add pairs.
        let mut pairs = vec![(a, b)];
        while let Some((a, b)) = pairs.pop() {
            let (a, b) = (self.resolve(a), self.resolve(b));
            if !self.agree(a, b, &mut pairs) {
                return false;
            }
        }
        true
    }

    fn agree(&self, a: Ty, b: Ty, pairs: &mut Vec<(Ty, Ty)>) -> bool {
        use TypeKind as K;
        if let (K::Array(x, x_len), K::Array(y, y_len)) = (self.kind(a.id), self.kind(b.id)) {
            // An array's qualifiers are its elements'.
            pairs.push((x.qualified(a.quals), y.qualified(b.quals)));
            return match (x_len, y_len) {
                (ArrayLen::Known(x), ArrayLen::Known(y)) => x == y,
                (ArrayLen::Unknown | ArrayLen::Variable(_), _)
                | (_, ArrayLen::Unknown | ArrayLen::Variable(_)) => true,
            };
        }
        match (self.kind(a.id), self.kind(b.id)) {
            (K::Error, _) | (_, K::Error) => true,
            _ if a.quals != b.quals => false,
            _ if a.id == b.id => true,
            (K::Enum(id), K::Int(kind)) | (K::Int(kind), K::Enum(id)) => {
                self.enums[*id].underlying == *kind
            }
            (K::Pointer(x), K::Pointer(y)) | (K::Atomic(x), K::Atomic(y)) => {
                pairs.push((*x, *y));
                true
            }
            (K::Vector(x, x_lanes), K::Vector(y, y_lanes)) => {
                pairs.push((*x, *y));
                x_lanes == y_lanes
            }
            (K::Function(x), K::Function(y)) => {
                pairs.push((x.ret, y.ret));
                self.parameters_agree(x, y, pairs)
            }
            _ => false,
        }
    }

    fn parameters_agree(
        &self,
        x: &FunctionType,
        y: &FunctionType,
        pairs: &mut Vec<(Ty, Ty)>,
    ) -> bool {
        if x.prototyped && y.prototyped {
            let both = x.params.iter().zip(&*y.params);
            pairs.extend(both.map(|(x, y)| (self.parameter(*x), self.parameter(*y))));
            return x.params.len() == y.params.len() && x.variadic == y.variadic;
        }
        // An old-style function takes what the default argument promotions give.
        let fits = |it: &FunctionType| {
            !it.prototyped || (!it.variadic && it.params.iter().all(|&ty| self.passes_as_is(ty)))
        };
        fits(x) && fits(y)
    }

    /// A parameter's type as far as callers are concerned.
    fn parameter(&self, ty: Ty) -> Ty {
        self.resolve(ty).plain()
    }

    /// Whether the default argument promotions leave a type alone.
    fn passes_as_is(&self, ty: Ty) -> bool {
        if matches!(self.shape(ty), TypeKind::Bool | TypeKind::Float(FloatKind::Float)) {
            return false;
        }
        self.integer_kind(ty).is_none_or(|kind| kind.rank() >= IntKind::Int.rank())
    }

    /// What two compatible types say together; the first where they are not compatible.
    pub fn composite(&mut self, a: Ty, b: Ty) -> Ty {
        self.composite_within(a, b, DEEPEST)
    }

    fn composite_within(&mut self, a: Ty, b: Ty, depth: usize) -> Ty {
        if a == b || depth == 0 {
            return a;
        }
        let (ra, rb) = (self.resolve(a), self.resolve(b));
        let made = match (self.kind(ra.id).clone(), self.kind(rb.id).clone()) {
            (TypeKind::Error, _) => return b,
            (TypeKind::Pointer(x), TypeKind::Pointer(y)) => {
                TypeKind::Pointer(self.composite_within(x, y, depth - 1))
            }
            (TypeKind::Atomic(x), TypeKind::Atomic(y)) => {
                TypeKind::Atomic(self.composite_within(x, y, depth - 1))
            }
            (TypeKind::Array(x, x_len), TypeKind::Array(y, y_len)) => {
                let element = self.composite_within(x, y, depth - 1);
                let len = match (x_len, y_len) {
                    (ArrayLen::Known(len), _) | (_, ArrayLen::Known(len)) => ArrayLen::Known(len),
                    (ArrayLen::Variable(Some(len)), _) | (_, ArrayLen::Variable(Some(len))) => {
                        ArrayLen::Variable(Some(len))
                    }
                    (ArrayLen::Variable(None), _) | (_, ArrayLen::Variable(None)) => {
                        ArrayLen::Variable(None)
                    }
                    (ArrayLen::Unknown, ArrayLen::Unknown) => ArrayLen::Unknown,
                };
                TypeKind::Array(element, len)
            }
            (TypeKind::Function(x), TypeKind::Function(y)) => {
                let ret = self.composite_within(x.ret, y.ret, depth - 1);
                let (first, other) = if x.prototyped { (x, y) } else { (y, x) };
                let params = if other.prototyped && other.params.len() == first.params.len() {
                    let both = first.params.iter().zip(&*other.params);
                    both.map(|(x, y)| self.composite_within(*x, *y, depth - 1)).collect()
                } else {
                    first.params
                };
                let (variadic, prototyped) = (first.variadic, first.prototyped);
                TypeKind::Function(FunctionType { ret, params, variadic, prototyped })
            }
            _ => return a,
        };
        let made = self.get(made).qualified(ra.quals);
        // Keep the user's name for it where nothing was added.
        if made == ra { a } else { made }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::Quals;

    struct Table {
        types: Types,
        int: Ty,
    }

    fn table() -> Table {
        let mut types = Types::new();
        let int = types.get(TypeKind::Int(IntKind::Int));
        Table { types, int }
    }

    fn function(types: &mut Types, ret: Ty, params: &[Ty], prototyped: bool) -> Ty {
        let params = params.into();
        types.get(TypeKind::Function(FunctionType { ret, params, variadic: false, prototyped }))
    }

    #[test]
    fn arrays_agree_where_one_has_no_length() {
        let Table { mut types, int } = table();
        let open = types.get(TypeKind::Array(int, ArrayLen::Unknown));
        let three = types.get(TypeKind::Array(int, ArrayLen::Known(3)));
        let four = types.get(TypeKind::Array(int, ArrayLen::Known(4)));
        assert!(types.compatible(open, three));
        assert!(!types.compatible(three, four));
        assert_eq!(types.composite(open, three), three);
        let (to_open, to_three) = (types.pointer_to(open), types.pointer_to(three));
        assert!(types.compatible(to_open, to_three));
        assert_eq!(types.composite(to_open, to_three), to_three);
    }

    #[test]
    fn qualifiers_count_below_pointers_and_not_on_parameters() {
        let Table { mut types, int } = table();
        let constant = int.qualified(Quals { is_const: true, ..Quals::NONE });
        let (to_int, to_const) = (types.pointer_to(int), types.pointer_to(constant));
        assert!(!types.compatible(int, constant));
        assert!(!types.compatible(to_int, to_const));
        let (f, g) =
            (function(&mut types, int, &[int], true), function(&mut types, int, &[constant], true));
        assert!(types.compatible(f, g));
    }

    #[test]
    fn old_style_functions_take_promoted_parameters_only() {
        let Table { mut types, int } = table();
        let float = types.get(TypeKind::Float(FloatKind::Float));
        let old = function(&mut types, int, &[], false);
        let with_int = function(&mut types, int, &[int], true);
        let with_float = function(&mut types, int, &[float], true);
        assert!(types.compatible(old, with_int));
        assert!(!types.compatible(old, with_float));
        assert_eq!(types.composite(old, with_int), with_int);
        assert_eq!(types.composite(with_int, old), with_int);
    }
}
