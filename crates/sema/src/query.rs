//! Questions about types that every file of this crate asks, and the types that have a name here.

use ir::layout::{DataModel, NoSize};
use ir::program::{ExprId, ExprKind};
use ir::types::{ArrayLen, FloatKind, IntKind, Quals, RecordId, Ty, TypeKind, Types};
use source::{Name, Span};

use crate::Cx;
use crate::messages;

/// Types that are needed again and again.
#[derive(Clone, Debug)]
pub(crate) struct Basics {
    pub(crate) error: Ty,
    pub(crate) void: Ty,
    pub(crate) bool: Ty,
    pub(crate) char: Ty,
    pub(crate) uchar: Ty,
    pub(crate) ushort: Ty,
    pub(crate) int: Ty,
    pub(crate) uint: Ty,
    pub(crate) long: Ty,
    pub(crate) ulong: Ty,
    pub(crate) llong: Ty,
    pub(crate) ullong: Ty,
    pub(crate) float: Ty,
    pub(crate) double: Ty,
    pub(crate) ldouble: Ty,
    pub(crate) float128: Ty,
    pub(crate) size: Ty,
    pub(crate) ptrdiff: Ty,
    pub(crate) wchar: Ty,
    pub(crate) char16: Ty,
    pub(crate) char32: Ty,
    pub(crate) va_list: Ty,
    pub(crate) void_ptr: Ty,
    pub(crate) const_void_ptr: Ty,
    pub(crate) char_ptr: Ty,
    pub(crate) const_char_ptr: Ty,
}

impl Basics {
    pub(crate) fn new(types: &mut Types, model: &DataModel) -> Basics {
        let constant = Quals { is_const: true, ..Quals::NONE };
        let mut int = |kind| types.get(TypeKind::Int(kind));
        let (char, uchar) = (int(IntKind::Char), int(IntKind::UChar));
        let ushort = int(IntKind::UShort);
        let (plain, unsigned) = (int(IntKind::Int), int(IntKind::UInt));
        let (long, ulong) = (int(IntKind::Long), int(IntKind::ULong));
        let (llong, ullong) = (int(IntKind::LongLong), int(IntKind::ULongLong));
        let (size, ptrdiff) = (int(model.size_kind), int(model.ptrdiff_kind));
        let wchar = int(model.wchar_kind);
        let void = types.get(TypeKind::Void);
        Basics {
            error: types.get(TypeKind::Error),
            void,
            bool: types.get(TypeKind::Bool),
            char,
            uchar,
            ushort,
            int: plain,
            uint: unsigned,
            long,
            ulong,
            llong,
            ullong,
            float: types.get(TypeKind::Float(FloatKind::Float)),
            double: types.get(TypeKind::Float(FloatKind::Double)),
            ldouble: types.get(TypeKind::Float(FloatKind::LongDouble)),
            float128: types.get(TypeKind::Float(FloatKind::Float128)),
            size,
            ptrdiff,
            wchar,
            char16: ushort,
            char32: unsigned,
            va_list: types.get(TypeKind::VaList),
            void_ptr: types.pointer_to(void),
            const_void_ptr: types.pointer_to(void.qualified(constant)),
            char_ptr: types.pointer_to(char),
            const_char_ptr: types.pointer_to(char.qualified(constant)),
        }
    }
}

impl Cx<'_> {
    pub(crate) fn shape(&self, ty: Ty) -> &TypeKind {
        self.program.types.shape(ty)
    }

    pub(crate) fn is_error(&self, ty: Ty) -> bool {
        self.program.types.is_error(ty)
    }

    pub(crate) fn is_void(&self, ty: Ty) -> bool {
        self.program.types.is_void(ty)
    }

    pub(crate) fn is_integer(&self, ty: Ty) -> bool {
        self.program.types.is_integer(ty)
    }

    pub(crate) fn is_complex(&self, ty: Ty) -> bool {
        self.program.types.is_complex(ty)
    }

    pub(crate) fn is_arithmetic(&self, ty: Ty) -> bool {
        self.program.types.is_arithmetic(ty)
    }

    pub(crate) fn is_scalar(&self, ty: Ty) -> bool {
        self.program.types.is_scalar(ty)
    }

    pub(crate) fn is_array(&self, ty: Ty) -> bool {
        self.program.types.is_array(ty)
    }

    pub(crate) fn is_vector(&self, ty: Ty) -> bool {
        self.program.types.is_vector(ty)
    }

    pub(crate) fn is_complete(&self, ty: Ty) -> bool {
        self.program.types.is_complete(ty)
    }

    pub(crate) fn is_compatible(&self, a: Ty, b: Ty) -> bool {
        a == b || self.program.types.compatible(a, b)
    }

    pub(crate) fn pointee(&self, ty: Ty) -> Option<Ty> {
        self.program.types.pointee(ty)
    }

    pub(crate) fn vector_element(&self, ty: Ty) -> Option<Ty> {
        if let TypeKind::Vector(elem, _) = self.shape(ty) { Some(*elem) } else { None }
    }

    /// Element, with the qualifiers of the whole, and length.
    pub(crate) fn array(&self, ty: Ty) -> Option<(Ty, ArrayLen)> {
        let TypeKind::Array(elem, length) = self.shape(ty) else { return None };
        Some((elem.qualified(self.program.types.resolve(ty).quals), *length))
    }

    pub(crate) fn composite(&mut self, a: Ty, b: Ty) -> Ty {
        self.program.types.composite(a, b)
    }

    pub(crate) fn promote(&self, ty: Ty) -> Ty {
        match self.shape(ty) {
            TypeKind::Int(kind) if kind.rank() >= IntKind::Int.rank() => ty,
            TypeKind::Int(_) | TypeKind::Bool | TypeKind::Enum(_) => {
                self.known(&self.program.model.promote(&self.program.types, ty))
            }
            _ => ty,
        }
    }

    pub(crate) fn promote_bits(&self, ty: Ty, bits: u32) -> Ty {
        let kind = self.program.model.promote_bit_field(&self.program.types, ty, bits);
        self.known(&kind)
    }

    /// The type that promotion gives: always one of the basic ones.
    fn known(&self, kind: &TypeKind) -> Ty {
        match kind {
            TypeKind::Int(IntKind::UInt) => self.basics.uint,
            TypeKind::Int(IntKind::Long) => self.basics.long,
            TypeKind::Int(IntKind::ULong) => self.basics.ulong,
            TypeKind::Int(IntKind::LongLong) => self.basics.llong,
            TypeKind::Int(IntKind::ULongLong) => self.basics.ullong,
            _ => self.basics.int,
        }
    }

    /// The usual arithmetic conversions of two promoted types.
    pub(crate) fn usual(&mut self, a: Ty, b: Ty) -> Ty {
        if a.id == b.id {
            return a.plain();
        }
        let model = self.program.model;
        match model.common(self.program.types.shape(a), self.program.types.shape(b)) {
            Some(kind) => self.program.types.get(kind),
            None => self.basics.error,
        }
    }

    pub(crate) fn size_of(&self, ty: Ty) -> Option<u64> {
        match self.layouts.size_of(&self.program.types, ty) {
            Ok(size) => Some(size),
            // GNU C counts them as one byte.
            Err(NoSize::Void | NoSize::Function) => Some(1),
            Err(NoSize::Incomplete | NoSize::Variable | NoSize::TooLarge | NoSize::Error) => None,
        }
    }

    pub(crate) fn align_of(&self, ty: Ty) -> Option<u64> {
        match self.layouts.align_of(&self.program.types, ty) {
            Ok(align) => Some(align),
            Err(NoSize::Void | NoSize::Function) => Some(1),
            Err(NoSize::Incomplete | NoSize::Variable | NoSize::TooLarge | NoSize::Error) => None,
        }
    }

    pub(crate) fn int_bits(&self, kind: IntKind) -> u32 {
        self.program.model.int_bits(kind)
    }

    pub(crate) fn char_is_signed(&self) -> bool {
        self.program.model.char_signed
    }

    /// Bits of an integer type; `_Bool` has one.
    pub(crate) fn bits_of(&self, ty: Ty) -> u32 {
        match self.shape(ty) {
            TypeKind::Bool => 1,
            TypeKind::Int(kind) => self.int_bits(*kind),
            TypeKind::Enum(id) => self.int_bits(self.program.types.enums[*id].underlying),
            _ => 0,
        }
    }

    /// A value as an object of this integer type holds it; the bits of a pointer likewise.
    pub(crate) fn wrap(&self, value: i128, ty: Ty) -> i128 {
        let model = self.program.model;
        match self.shape(ty) {
            TypeKind::Bool => i128::from(value != 0),
            TypeKind::Int(kind) => model.int_wrap(*kind, value),
            TypeKind::Enum(id) => model.int_wrap(self.program.types.enums[*id].underlying, value),
            TypeKind::Pointer(_) => model.int_wrap(model.size_kind, value),
            _ => value,
        }
    }

    /// Whether an integer type (or pointer) has no sign.
    pub(crate) fn is_unsigned(&self, ty: Ty) -> bool {
        let model = self.program.model;
        match self.shape(ty) {
            TypeKind::Int(kind) => !model.int_signed(*kind),
            TypeKind::Enum(id) => !model.int_signed(self.program.types.enums[*id].underlying),
            TypeKind::Bool | TypeKind::Pointer(_) => true,
            _ => false,
        }
    }

    /// Reports a type without size, unless that was done; says whether it is complete.
    pub(crate) fn require_complete(&mut self, ty: Ty, what: &str, span: Span) -> bool {
        if self.is_complete(ty) {
            return true;
        }
        // GNU C gives these a size of one byte.
        if what.starts_with("operand of `sizeof`")
            && matches!(self.shape(ty), TypeKind::Void | TypeKind::Function(_))
        {
            return true;
        }
        self.report_incomplete(ty, what, span);
        false
    }

    /// Reports an incomplete type; a record that nobody defines is one fault, however often used.
    pub(crate) fn report_incomplete(&mut self, ty: Ty, what: &str, span: Span) {
        let declared = self.tag_span(ty);
        if declared != Span::NONE && !self.undefined.insert(declared) {
            return;
        }
        let fault = messages::incomplete(what, &self.show(ty), span, declared);
        self.report(fault);
    }

    /// What a pointer steps over must have a size; `void` and functions count as bytes.
    pub(crate) fn require_known_size(&mut self, to: Ty, span: Span) {
        if !matches!(self.shape(to), TypeKind::Void | TypeKind::Function(_)) {
            self.require_complete(to, "what this points to", span);
        }
    }

    fn tag_span(&self, ty: Ty) -> Span {
        match self.shape(ty) {
            TypeKind::Record(id) => self.program.types.records[*id].span,
            TypeKind::Enum(id) => self.program.types.enums[*id].span,
            TypeKind::Array(elem, _) => self.tag_span(*elem),
            _ => Span::NONE,
        }
    }

    /// The way to a member: steps through records without name, the member itself last.
    pub(crate) fn find_member(&self, record: RecordId, name: Name) -> Option<Vec<(RecordId, u32)>> {
        let mut path = Vec::new();
        let mut record = record;
        loop {
            let at = *self.members.get(&(record, name))?;
            // A record that was defined twice may hold itself.
            if path.iter().any(|&(known, _)| known == record) {
                return None;
            }
            path.push((record, at));
            let field = self.program.types.records[record].fields.as_ref()?.get(at as usize)?;
            if field.name == Some(name) {
                return Some(path);
            }
            record = self.program.types.record_of(field.ty)?;
        }
    }

    /// Whether a value is a null pointer constant: an integer constant 0, or that cast to `void *`.
    pub(crate) fn is_null(&self, expr: ExprId) -> bool {
        let node = &self.program.exprs[expr];
        match &node.kind {
            ExprKind::Int(value) => *value == 0,
            ExprKind::Cast(_, inner) if self.pointee(node.ty).is_some() => {
                let is_void = self.pointee(node.ty).is_some_and(|it| {
                    let to = self.program.types.resolve(it);
                    self.is_void(to) && to.quals == Quals::NONE
                });
                is_void && self.is_null(*inner)
            }
            ExprKind::Var(_) | ExprKind::Call(..) | ExprKind::Function(_) => false,
            _ => self.is_integer(node.ty) && self.constant(expr) == Some(0),
        }
    }

    /// The type in C's words.
    pub(crate) fn show(&self, ty: Ty) -> String {
        self.program.types.spell(&self.program.names, ty)
    }

    /// A declared name that may have been meant.
    pub(crate) fn nearest_name(&self, name: Name) -> Option<String> {
        let program = &self.program;
        let functions = program.functions.iter().map(|(_, it)| it.name);
        let vars = program.vars.iter().filter_map(|(_, it)| it.name);
        let constants = program.types.enums.iter().flat_map(|(_, it)| it.constants.iter());
        let constants = constants.flatten().map(|it| it.0);
        let visible = functions
            .chain(vars)
            .chain(constants)
            .filter(|it| *it != name && self.scopes.get(*it).is_some())
            .map(|it| program.names.text(it))
            // A leading underscore is not ours to suggest.
            .filter(|it| !it.starts_with('_'));
        directive::nearest(program.names.text(name), visible).map(str::to_owned)
    }
}
