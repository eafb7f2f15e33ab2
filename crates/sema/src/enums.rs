//! Enumerations: their constants and the integer type behind them, by gcc's rules.

use ir::types::{Enum, EnumId, IntKind, Ty, TypeKind};
use source::Span;
use syntax::ast;

use crate::Cx;
use crate::attrs::Attrs;
use crate::messages;
use crate::scope::{Entity, Tag};

impl Cx<'_> {
    /// `enum tag { … }`; `used` is false where nothing is declared with it.
    pub(crate) fn enumeration(&mut self, id: ast::EnumId, used: bool) -> Ty {
        let tree = self.tree;
        let spec = &tree.enums[id];
        let found = self.tagged_enum(spec, used);
        let ty = self.program.types.get(TypeKind::Enum(found));
        if let Some(constants) = &spec.constants {
            let first = &self.program.types.enums[found];
            if first.constants.is_some() {
                let name = spec.tag.map(|it| self.program.names.text(it.name));
                let span = spec.tag.map_or(spec.span, |it| it.span);
                let fault = messages::redefined(name.unwrap_or_default(), span, first.span);
                self.report(fault);
                return ty;
            }
            self.define_enum(found, spec, constants);
        }
        ty
    }

    fn tagged_enum(&mut self, spec: &ast::EnumSpec, used: bool) -> EnumId {
        let span = spec.tag.map_or(spec.span, |it| it.span);
        if let Some(tag) = spec.tag {
            let declares = spec.constants.is_some() || !used;
            let found = match declares {
                true => self.scopes.tag_here(tag.name),
                false => self.scopes.tag(tag.name),
            };
            match found {
                Some(Tag::Enum(it)) => return it,
                Some(Tag::Record(it)) => {
                    let first = self.program.types.records[it].span;
                    let fault = messages::other_tag(self.program.names.text(tag.name), span, first);
                    self.report(fault);
                }
                None => {}
            }
        }
        let id = self.program.types.enums.push(Enum {
            tag: spec.tag.map(|it| it.name),
            constants: None,
            underlying: IntKind::UInt,
            packed: false,
            span,
        });
        if let Some(tag) = spec.tag {
            self.scopes.set_tag(tag.name, Tag::Enum(id));
        }
        id
    }

    fn define_enum(&mut self, id: EnumId, spec: &ast::EnumSpec, list: &[ast::EnumConstant]) {
        let mut attrs = Attrs::default();
        self.read_attrs(&spec.attrs, &mut attrs);
        self.program.types.enums[id].constants = Some(Vec::with_capacity(list.len()));
        let mut next: i128 = 0;
        let (mut least, mut most) = (0, 0);
        for (at, constant) in list.iter().enumerate() {
            if let Some(value) = constant.value {
                next = self.enum_value(value).unwrap_or(next);
            }
            let ident = constant.ident;
            if let Some(first) = self.scopes.here(ident.name) {
                let first = self.entity_span(first);
                let text = self.program.names.text(ident.name);
                let fault = messages::redefined(text, ident.span, first);
                self.report(fault);
            }
            if let Some(constants) = &mut self.program.types.enums[id].constants {
                constants.push((ident.name, next));
            }
            self.scopes.set(ident.name, Entity::Constant(id, at as u32));
            (least, most) = (least.min(next), most.max(next));
            next = next.wrapping_add(1);
        }
        let underlying = self.enum_underlying(least, most, attrs.packed);
        let it = &mut self.program.types.enums[id];
        it.underlying = underlying;
        it.packed = attrs.packed;
    }

    fn enum_value(&mut self, value: ast::ExprId) -> Option<i128> {
        let value = self.value(value);
        let (ty, span) = (self.ty(value), self.span(value));
        if self.is_error(ty) {
            return None;
        }
        let constant = self.constant(value).filter(|_| self.is_integer(ty));
        if constant.is_none() {
            self.report(messages::not_constant("value of an enumeration constant", span));
        }
        constant
    }

    /// The narrowest of the candidates that holds all constants: `int` wide at least, unless packed.
    fn enum_underlying(&self, least: i128, most: i128, packed: bool) -> IntKind {
        const ALL: [(IntKind, IntKind); 5] = [
            (IntKind::SChar, IntKind::UChar),
            (IntKind::Short, IntKind::UShort),
            (IntKind::Int, IntKind::UInt),
            (IntKind::Long, IntKind::ULong),
            (IntKind::LongLong, IntKind::ULongLong),
        ];
        let model = self.program.model;
        for (signed, unsigned) in ALL.into_iter().skip(if packed { 0 } else { 2 }) {
            let kind = if least < 0 { signed } else { unsigned };
            let (low, high) = model.int_range(kind);
            if low <= least && most <= high {
                return kind;
            }
        }
        if least < 0 { IntKind::Int128 } else { IntKind::UInt128 }
    }

    /// A constant is an `int` if that holds it, else of the enumeration's own type.
    pub(crate) fn constant_ty(&mut self, of: EnumId, at: u32) -> Ty {
        let value = self.constant_value(of, at);
        let (least, most) = self.program.model.int_range(IntKind::Int);
        if (least..=most).contains(&value) {
            return self.basics.int;
        }
        self.program.types.get(TypeKind::Enum(of))
    }

    pub(crate) fn constant_value(&self, of: EnumId, at: u32) -> i128 {
        let constants = self.program.types.enums[of].constants.as_ref();
        constants.and_then(|it| it.get(at as usize)).map_or(0, |it| it.1)
    }

    /// Where an entity was declared.
    pub(crate) fn entity_span(&self, entity: Entity) -> Span {
        match entity {
            Entity::Var(it) => self.program.vars[it].span,
            Entity::Function(it) => self.program.functions[it].span,
            Entity::Typedef(it) => self.program.types.aliases[it].span,
            Entity::Constant(it, _) => self.program.types.enums[it].span,
            Entity::Error => Span::NONE,
        }
    }
}
