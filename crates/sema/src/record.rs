//! Structures and unions: tags, members, bit-fields.

use ir::types::{Field, Record, RecordId, Ty, TypeKind};
use rustc_hash::{FxHashMap, FxHashSet};
use source::{Name, Span};
use syntax::ast;

use crate::Cx;
use crate::attrs::Attrs;
use crate::messages;
use crate::scope::Tag;
use crate::types::Place;

impl Cx<'_> {
    /// `struct tag { … }`; `used` is false where nothing is declared with it.
    pub(crate) fn record(&mut self, id: ast::RecordId, used: bool) -> Ty {
        let tree = self.tree;
        let spec = &tree.records[id];
        let record = self.tagged_record(spec, used);
        let ty = self.program.types.get(TypeKind::Record(record));
        if let Some(members) = &spec.members {
            let first = &self.program.types.records[record];
            if first.fields.is_some() || self.defining.contains(&record) {
                let name = spec.tag.map(|it| self.program.names.text(it.name));
                let span = spec.tag.map_or(spec.span, |it| it.span);
                let fault = messages::redefined(name.unwrap_or_default(), span, first.span);
                self.report(fault);
                return ty;
            }
            self.defining.push(record);
            self.define_record(record, spec, members);
            self.defining.pop();
        }
        ty
    }

    fn tagged_record(&mut self, spec: &ast::RecordSpec, used: bool) -> RecordId {
        let span = spec.tag.map_or(spec.span, |it| it.span);
        if let Some(tag) = spec.tag {
            let declares = spec.members.is_some() || !used;
            let found = match declares {
                true => self.scopes.tag_here(tag.name),
                false => self.scopes.tag(tag.name),
            };
            match found {
                Some(Tag::Record(record))
                    if self.program.types.records[record].is_union == spec.is_union =>
                {
                    return record;
                }
                Some(other) => {
                    let first = match other {
                        Tag::Record(it) => self.program.types.records[it].span,
                        Tag::Enum(it) => self.program.types.enums[it].span,
                    };
                    let fault = messages::other_tag(self.program.names.text(tag.name), span, first);
                    self.report(fault);
                }
                None => {}
            }
        }
        let record = self.program.types.records.push(Record {
            tag: spec.tag.map(|it| it.name),
            is_union: spec.is_union,
            fields: None,
            packed: false,
            pack: spec.pack,
            align: None,
            transparent: false,
            span,
        });
        if let Some(tag) = spec.tag {
            self.scopes.set_tag(tag.name, Tag::Record(record));
        }
        record
    }

    fn define_record(&mut self, record: RecordId, spec: &ast::RecordSpec, members: &[ast::Member]) {
        let mut attrs = Attrs::default();
        self.read_attrs(&spec.attrs, &mut attrs);
        let mut fields = Vec::new();
        let mut seen = FxHashMap::default();
        for member in members {
            match member {
                ast::Member::Fields(specs, declarators) => {
                    self.members(*specs, declarators, &mut fields, &mut seen);
                }
                ast::Member::StaticAssert(cond, text) => self.static_assert(*cond, *text),
            }
        }
        self.check_flexible(&fields, spec.is_union);
        self.index_members(record, &fields);
        let it = &mut self.program.types.records[record];
        it.fields = Some(fields);
        it.packed = attrs.packed;
        it.pack = spec.pack;
        it.align = attrs.align;
        it.transparent = attrs.transparent;
    }

    /// Notes where each name is found, so that large records are not searched for every access.
    fn index_members(&mut self, record: RecordId, fields: &[Field]) {
        for (at, field) in (0..).zip(fields) {
            if let Some(name) = field.name {
                self.members.entry((record, name)).or_insert(at);
                continue;
            }
            // A record that was defined twice may hold itself: each is looked into once.
            let mut known = FxHashSet::from_iter([record]);
            let mut inside: Vec<RecordId> =
                self.program.types.record_of(field.ty).into_iter().collect();
            while let Some(inner) = inside.pop() {
                if !known.insert(inner) {
                    continue;
                }
                for field in self.program.types.records[inner].fields.iter().flatten() {
                    match field.name {
                        Some(name) => _ = self.members.entry((record, name)).or_insert(at),
                        None => inside.extend(self.program.types.record_of(field.ty)),
                    }
                }
            }
        }
    }

    fn members(
        &mut self,
        specs: ast::SpecsId,
        declarators: &[ast::Field],
        fields: &mut Vec<Field>,
        seen: &mut FxHashMap<Name, Span>,
    ) {
        let tree = self.tree;
        let base = self.specs(specs, !declarators.is_empty());
        let span = tree.specs[specs].span;
        if declarators.is_empty() {
            self.anonymous_member(base.ty, span, fields, seen);
            return;
        }
        for field in declarators {
            let declarator = &tree.declarators[field.declarator];
            let mut attrs = base.attrs;
            self.read_attrs(&declarator.attrs, &mut attrs);
            let ty = self.shaped_by(base.ty, attrs);
            let ty = self.declarator(ty, declarator, Place::Member, None);
            let name = declarator.name.map(|it| it.name);
            let span = declarator.name.map_or(declarator.span, |it| it.span);
            let bits = field.width.and_then(|it| self.bit_width(it, ty, name, span));
            let ty = if field.width.is_none() { self.member_type(ty, name, span) } else { ty };
            if let Some(name) = name {
                self.note_member(name, span, seen);
            }
            let (align, packed) = (attrs.align, attrs.packed);
            fields.push(Field { name, ty, bits, align, packed, span });
        }
    }

    /// `struct { … };` or `union { … };` among members: its members count as ours.
    fn anonymous_member(
        &mut self,
        ty: Ty,
        span: Span,
        fields: &mut Vec<Field>,
        seen: &mut FxHashMap<Name, Span>,
    ) {
        let TypeKind::Record(inner) = *self.shape(ty) else { return };
        // A tagged one declares its tag only.
        if self.program.types.records[inner].tag.is_some() {
            return;
        }
        let mut names = Vec::new();
        self.names_within(inner, &mut names);
        for (name, span) in names {
            self.note_member(name, span, seen);
        }
        fields.push(Field { name: None, ty, bits: None, align: None, packed: false, span });
    }

    fn names_within(&self, record: RecordId, names: &mut Vec<(Name, Span)>) {
        for field in self.program.types.records[record].fields.iter().flatten() {
            match (field.name, self.shape(field.ty)) {
                (Some(name), _) => names.push((name, field.span)),
                (None, TypeKind::Record(inner)) => self.names_within(*inner, names),
                (None, _) => {}
            }
        }
    }

    fn note_member(&mut self, name: Name, span: Span, seen: &mut FxHashMap<Name, Span>) {
        if let Some(first) = seen.insert(name, span) {
            let fault = messages::duplicate_member(self.program.names.text(name), span, first);
            self.report(fault);
        }
    }

    fn member_type(&mut self, ty: Ty, name: Option<Name>, span: Span) -> Ty {
        let text = name.map_or("", |it| self.program.names.text(it)).to_owned();
        if matches!(self.shape(ty), TypeKind::Function(_)) {
            let what = format!("member `{text}` is a function");
            self.report(messages::bad_derivation(&what, span));
            return self.basics.error;
        }
        if self.is_void(ty) {
            self.report(messages::void_object(&text, span));
            return self.basics.error;
        }
        let is_flexible =
            self.array(ty).is_some_and(|(_, len)| len == ir::types::ArrayLen::Unknown);
        if !is_flexible && !self.require_complete(ty, &format!("member `{text}`"), span) {
            return self.basics.error;
        }
        ty
    }

    /// Only the last member of a structure may be an array without length.
    fn check_flexible(&mut self, fields: &[Field], is_union: bool) {
        let before_last = fields.len().saturating_sub(1);
        for field in fields.iter().take(if is_union { 0 } else { before_last }) {
            let is_flexible =
                self.array(field.ty).is_some_and(|(_, len)| len == ir::types::ArrayLen::Unknown);
            if is_flexible {
                let name = field.name.map_or("", |it| self.program.names.text(it));
                let what = format!("flexible array member `{name}` is not the last member");
                self.report(messages::bad_derivation(&what, field.span));
            }
        }
    }

    fn bit_width(
        &mut self,
        width: ast::ExprId,
        ty: Ty,
        name: Option<Name>,
        span: Span,
    ) -> Option<u32> {
        let width = self.value(width);
        if self.is_error(self.ty(width)) || self.is_error(ty) {
            return Some(1);
        }
        let text = name.map_or("", |it| self.program.names.text(it));
        let fault = if !self.is_integer(ty) {
            format!("bit-field `{text}` has type `{}`, not an integer type", self.show(ty))
        } else {
            let most = self.bits_of(ty);
            match self.constant(width) {
                None => format!("width of bit-field `{text}` is not a constant"),
                Some(value) if value < 0 => format!("width of bit-field `{text}` is negative"),
                Some(value) if value > i128::from(most) => {
                    format!("width of bit-field `{text}` is more than its type has")
                }
                Some(0) if name.is_some() => format!("width of bit-field `{text}` is zero"),
                Some(value) => return u32::try_from(value).ok(),
            }
        };
        self.report(messages::bad_bit_field(&fault, span));
        Some(1)
    }
}
