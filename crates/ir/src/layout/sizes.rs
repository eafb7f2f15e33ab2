//! Sizes and alignments of types, with a memory of the records already laid out.
//!
//! Neither nesting of arrays nor of records recurses: a chain of ten thousand typedefs, each a
//! record around the one before, costs no stack.

use std::cell::RefCell;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::record::{self, Member, RecordLayout};
use super::{DataModel, Extent};
use crate::types::{ArrayLen, RecordId, Ty, TypeKind, Types};

/// Why a type has no size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NoSize {
    /// `void`, which GNU C counts as one byte where that is asked for.
    Void,
    /// A function, likewise.
    Function,
    /// Declared but not defined, or an array without length.
    Incomplete,
    /// Known only when the program runs.
    Variable,
    /// More than the machine can address.
    TooLarge,
    /// Has been reported already.
    Error,
}

/// Layouts of one model, each record computed once.
///
/// A record that is complete does not change, so an answer once given stays true; refusals are
/// not remembered, since a type may be completed later. One of these serves one [`Types`] table.
#[derive(Clone, Debug)]
pub struct Layouts {
    model: &'static DataModel,
    /// A memory only: what is in it could as well be computed anew.
    records: RefCell<FxHashMap<RecordId, Arc<RecordLayout>>>,
}

/// A type down to the scalar or record that it is made of.
struct Core<'a> {
    kind: &'a TypeKind,
    /// How many of them.
    count: Result<u64, NoSize>,
    /// The alignment that a typedef asks for.
    align: Option<u64>,
    atomic: bool,
}

impl Layouts {
    /// Nothing laid out yet.
    pub fn new(model: &'static DataModel) -> Layouts {
        Layouts { model, records: RefCell::default() }
    }

    /// The model it answers for.
    pub fn model(&self) -> &'static DataModel {
        self.model
    }

    /// `sizeof(ty)`
    pub fn size_of(&self, types: &Types, ty: Ty) -> Result<u64, NoSize> {
        let core = Core::of(types, ty);
        let count = core.count?;
        let extent = self.core_extent(types, &core)?;
        let size = extent.size.checked_mul(count).ok_or(NoSize::TooLarge)?;
        if size > self.model.max_object() { Err(NoSize::TooLarge) } else { Ok(size) }
    }

    /// `_Alignof(ty)`; an array's is its element's, whatever its length.
    pub fn align_of(&self, types: &Types, ty: Ty) -> Result<u64, NoSize> {
        let core = Core::of(types, ty);
        Ok(self.core_extent(types, &core)?.align)
    }

    /// Where the members of a record are.
    pub fn record(&self, types: &Types, id: RecordId) -> Result<Arc<RecordLayout>, NoSize> {
        // Innermost records first; `open` guards against a record that contains itself.
        let mut pending = vec![id];
        let mut open = FxHashSet::default();
        while let Some(&top) = pending.last() {
            if self.knows(top) {
                pending.pop();
                continue;
            }
            open.insert(top);
            match self.first_unknown(types, top)? {
                Some(inner) if open.contains(&inner) => return Err(NoSize::Incomplete),
                Some(inner) => pending.push(inner),
                None => {
                    let layout = self.lay_out(types, top)?;
                    self.records.borrow_mut().insert(top, Arc::new(layout));
                    pending.pop();
                }
            }
        }
        self.records.borrow().get(&id).cloned().ok_or(NoSize::Incomplete)
    }

    fn knows(&self, id: RecordId) -> bool {
        self.records.borrow().contains_key(&id)
    }

    /// A record among the members of `id` that must be laid out before it.
    fn first_unknown(&self, types: &Types, id: RecordId) -> Result<Option<RecordId>, NoSize> {
        let fields = types.records[id].fields.as_ref().ok_or(NoSize::Incomplete)?;
        for field in fields {
            if let TypeKind::Record(inner) = Core::of(types, field.ty).kind
                && !self.knows(*inner)
            {
                return Ok(Some(*inner));
            }
        }
        Ok(None)
    }

    fn lay_out(&self, types: &Types, id: RecordId) -> Result<RecordLayout, NoSize> {
        let record = &types.records[id];
        let fields = record.fields.as_ref().ok_or(NoSize::Incomplete)?;
        let mut members = Vec::with_capacity(fields.len());
        for field in fields {
            let core = Core::of(types, field.ty);
            let extent = self.core_extent(types, &core)?;
            // A flexible array adds its alignment but no bytes.
            let count = match core.count {
                Err(NoSize::Incomplete) => 0,
                count => count?,
            };
            let size = extent.size.checked_mul(count).ok_or(NoSize::TooLarge)?;
            members.push(Member {
                size,
                type_align: extent.align,
                is_named: field.name.is_some(),
                bits: field.bits,
                asked_align: field.align,
                is_packed: field.packed || (record.packed && has_room(field.bits, extent)),
            });
        }
        record::place(self.model, record, &members)
    }

    /// Size and alignment of the innermost type.
    fn core_extent(&self, types: &Types, core: &Core<'_>) -> Result<Extent, NoSize> {
        let model = self.model;
        let twice = |it: Extent| Extent { size: it.size * 2, align: it.align };
        let mut extent = match core.kind {
            TypeKind::Error => return Err(NoSize::Error),
            TypeKind::Void => return Err(NoSize::Void),
            TypeKind::Function(_) => return Err(NoSize::Function),
            TypeKind::Bool => Extent { size: 1, align: 1 },
            TypeKind::Int(kind) => model.int_extent(*kind),
            TypeKind::Float(kind) => model.float_extent(*kind),
            TypeKind::Complex(kind) => twice(model.float_extent(*kind)),
            TypeKind::ComplexInt(kind) => twice(model.int_extent(*kind)),
            TypeKind::Enum(id) => {
                let known = &types.enums[*id];
                if known.constants.is_none() {
                    return Err(NoSize::Incomplete);
                }
                model.int_extent(known.underlying)
            }
            TypeKind::Pointer(_) => model.pointer,
            TypeKind::Record(id) => {
                let layout = self.record(types, *id)?;
                Extent { size: layout.size, align: layout.align }
            }
            TypeKind::Vector(element, lanes) => {
                // Lanes are scalars; this also keeps the recursion flat.
                if !types.is_scalar(*element) {
                    return Err(NoSize::Error);
                }
                let element = self.core_extent(types, &Core::of(types, *element))?;
                let size = element.size.checked_mul(u64::from(*lanes)).ok_or(NoSize::TooLarge)?;
                Extent { size, align: size.clamp(1, model.max_vector_align) }
            }
            TypeKind::VaList => model.va_list,
            // `Core::of` has gone through these.
            TypeKind::Array(..) | TypeKind::Alias(_) | TypeKind::Atomic(_) => {
                return Err(NoSize::Error);
            }
        };
        if core.atomic && extent.size.is_power_of_two() && extent.size <= 16 {
            extent.align = extent.align.max(extent.size);
        }
        if let Some(align) = core.align {
            extent.align = align;
        }
        Ok(extent)
    }
}

/// Whether packing a member changes anything: bytes are as dense as they can be.
fn has_room(bits: Option<u32>, extent: Extent) -> bool {
    bits.is_some() || extent.align > 1
}

impl<'a> Core<'a> {
    fn of(types: &'a Types, ty: Ty) -> Core<'a> {
        let mut core = Core { kind: types.kind(ty.id), count: Ok(1), align: None, atomic: false };
        loop {
            let inner = if let TypeKind::Array(element, len) = core.kind {
                core.count = match (core.count, len) {
                    (Ok(count), ArrayLen::Known(len)) => {
                        count.checked_mul(*len).ok_or(NoSize::TooLarge)
                    }
                    (Ok(_), ArrayLen::Unknown) => Err(NoSize::Incomplete),
                    (Ok(_), ArrayLen::Variable(_)) => Err(NoSize::Variable),
                    (refusal, _) => refusal,
                };
                *element
            } else if let TypeKind::Alias(alias) = core.kind {
                let alias = &types.aliases[*alias];
                core.align = core.align.or(alias.align);
                alias.ty
            } else if let TypeKind::Atomic(inner) = core.kind {
                core.atomic = true;
                *inner
            } else {
                return core;
            };
            core.kind = types.kind(inner.id);
        }
    }
}

impl DataModel {
    /// `sizeof(ty)`; nothing is remembered between calls, see [`Layouts`].
    pub fn size_of(&'static self, types: &Types, ty: Ty) -> Result<u64, NoSize> {
        Layouts::new(self).size_of(types, ty)
    }

    /// `_Alignof(ty)`
    pub fn align_of(&'static self, types: &Types, ty: Ty) -> Result<u64, NoSize> {
        Layouts::new(self).align_of(types, ty)
    }

    /// Where the members of a record are.
    pub fn record(&'static self, types: &Types, id: RecordId) -> Result<Arc<RecordLayout>, NoSize> {
        Layouts::new(self).record(types, id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::{ILP32, LP64};
    use crate::types::{Field, IntKind, Record};
    use source::Span;

    fn record(fields: Option<&[Ty]>) -> Record {
        let field = |ty: &Ty| Field {
            name: None,
            ty: *ty,
            bits: None,
            align: None,
            packed: false,
            span: Span::NONE,
        };
        Record {
            tag: None,
            is_union: false,
            fields: fields.map(|it| it.iter().map(field).collect()),
            packed: false,
            pack: None,
            align: None,
            transparent: false,
            span: Span::NONE,
        }
    }

    #[test]
    fn refusals_say_why() {
        let mut types = Types::new();
        let int = types.get(TypeKind::Int(IntKind::Int));
        let void = types.get(TypeKind::Void);
        let open = types.get(TypeKind::Array(int, ArrayLen::Unknown));
        let computed = types.get(TypeKind::Array(int, ArrayLen::Variable(None)));
        let huge = types.get(TypeKind::Array(int, ArrayLen::Known(1 << 61)));
        let half = types.get(TypeKind::Array(int, ArrayLen::Known(1 << 29)));
        assert_eq!(LP64.size_of(&types, void), Err(NoSize::Void));
        assert_eq!(LP64.size_of(&types, open), Err(NoSize::Incomplete));
        assert_eq!(LP64.size_of(&types, computed), Err(NoSize::Variable));
        assert_eq!(LP64.size_of(&types, huge), Err(NoSize::TooLarge));
        assert_eq!(LP64.size_of(&types, half), Ok(1 << 31));
        assert_eq!(ILP32.size_of(&types, half), Err(NoSize::TooLarge));
        assert_eq!(LP64.align_of(&types, computed), Ok(4));
    }

    #[test]
    fn a_record_that_is_completed_later_gets_its_size_then() {
        let mut types = Types::new();
        let int = types.get(TypeKind::Int(IntKind::Int));
        let inner = types.records.push(record(None));
        let inner_ty = types.get(TypeKind::Record(inner));
        let outer = types.records.push(record(Some(&[int, inner_ty])));
        let layouts = Layouts::new(&LP64);
        assert_eq!(layouts.record(&types, outer), Err(NoSize::Incomplete));
        types.records[inner] = record(Some(&[int]));
        assert_eq!(layouts.record(&types, outer).map(|it| it.size), Ok(8));
    }

    #[test]
    fn a_record_inside_itself_has_no_size() {
        let mut types = Types::new();
        let first = types.records.push(record(None));
        let first_ty = types.get(TypeKind::Record(first));
        let second = types.records.push(record(Some(&[first_ty])));
        let second_ty = types.get(TypeKind::Record(second));
        types.records[first] = record(Some(&[second_ty]));
        assert_eq!(LP64.size_of(&types, first_ty), Err(NoSize::Incomplete));
    }

    #[test]
    fn deep_nesting_costs_no_stack() {
        let mut types = Types::new();
        let mut ty = types.get(TypeKind::Int(IntKind::Int));
        for _ in 0..200_000 {
            let id = types.records.push(record(Some(&[ty])));
            ty = types.get(TypeKind::Record(id));
        }
        assert_eq!(LP64.size_of(&types, ty), Ok(4));
    }
}
